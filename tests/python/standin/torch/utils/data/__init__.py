from .dataset import Dataset, IterableDataset, Subset  # noqa: F401
from .sampler import BatchSampler, RandomSampler, SequentialSampler  # noqa: F401
from .dataloader import DataLoader  # noqa: F401
