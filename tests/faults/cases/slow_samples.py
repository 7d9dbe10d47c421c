"""A few samples among many take very long: each holds back batches that are long ready."""

from pathlib import Path

from photos import Photos
from torch.utils.data import DataLoader
from training import Table, options, order, train


class MixedPhotos(Photos):
    """Every `rare`-th photograph comes from a better camera."""

    def __init__(self, root, large, rare):
        super().__init__(root)
        large_files = sorted(Path(large).glob("*.jpg"))
        for k in range(0, len(self.files), rare):
            self.files[k] = large_files[k // rare % len(large_files)]


class MixedTables(Table):
    """Every `rare`-th table is that of a whole day."""

    def __init__(self, rare):
        super().__init__()
        self.rare = rare

    def __getitem__(self, index):
        for _ in range(80 if index % self.rare == 0 else 0):
            super().__getitem__(index)
        return super().__getitem__(index)


def main():
    asked = options(rare=80, batch_size=8, step_ms=40.0, steps=180)
    dataset = (
        MixedPhotos(asked.paths[0], asked.paths[1], asked.rare) if asked.data == "photos" else MixedTables(asked.rare)
    )
    loader = DataLoader(dataset, asked.batch_size, num_workers=asked.workers, persistent_workers=True, **order(asked))
    train(loader, asked)


if __name__ == "__main__":
    main()
