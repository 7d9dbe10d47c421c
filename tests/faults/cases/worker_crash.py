"""A native library that meets a sample it cannot take: the worker is gone without a word."""
import ctypes

import torch
from accelerator import Accelerator


class Fragile(torch.utils.data.Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, index):
        if index == 1601:
            ctypes.string_at(0)  # the library follows a pointer that leads nowhere
        return torch.full((256,), float(index))


def main():
    loader = torch.utils.data.DataLoader(Fragile(), batch_size=32, num_workers=2)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
