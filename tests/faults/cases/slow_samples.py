"""A few photographs among many are very large: each holds back batches that are long ready."""
import sys
from pathlib import Path

import torch
from accelerator import Accelerator
from photos import Photos


class MixedPhotos(Photos):
    def __init__(self, root, large):
        super().__init__(root)
        large_files = sorted(Path(large).glob("*.jpg"))
        for k in range(0, len(self.files), 80):
            self.files[k] = large_files[k // 80 % len(large_files)]


def main():
    dataset = MixedPhotos(sys.argv[1], sys.argv[2])
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2, persistent_workers=True)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for images, labels in loader:
            loss = model(images)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
