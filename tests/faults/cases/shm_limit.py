"""Batches of 12 MB in a container with the shared memory that containers have."""
import torch
from accelerator import Accelerator


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        return torch.full((3, 512, 512), float(index % 7))


def main():
    loader = torch.utils.data.DataLoader(Pictures(), batch_size=4, num_workers=4, prefetch_factor=4)
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
