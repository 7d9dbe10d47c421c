"""Every batch is kept, to look at the hard ones after the epoch."""
import torch
from accelerator import Accelerator


class Points(torch.utils.data.Dataset):
    def __len__(self):
        return 40000

    def __getitem__(self, index):
        return torch.full((8,), float(index)), index % 3


def main():
    loader = torch.utils.data.DataLoader(Points(), batch_size=4, num_workers=2)
    model = Accelerator(step_ms=5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = []
    for points, labels in loader:
        loss = model(points)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append((points, labels, loss.item()))


if __name__ == "__main__":
    main()
