"""Hard examples more often: each batch is drawn from two million weights, in the training process, one batch at a time."""
import torch
from accelerator import Accelerator


class HardExamples(torch.utils.data.Sampler):
    def __init__(self, weights, batch_size, batches):
        self.weights = weights
        self.batch_size = batch_size
        self.batches = batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            yield torch.multinomial(self.weights, self.batch_size).tolist()


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 2_000_000

    def __getitem__(self, index):
        return torch.full((256,), float(index))


def main():
    sampler = HardExamples(torch.rand(2_000_000), batch_size=32, batches=120)
    loader = torch.utils.data.DataLoader(Rows(), batch_sampler=sampler, num_workers=1)
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
