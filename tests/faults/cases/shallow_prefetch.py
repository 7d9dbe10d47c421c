"""Gradients of eight small batches are accumulated quickly, then comes a long optimiser step: batches are wanted in
bursts, and only two per worker are kept ready."""
import time

import torch
from accelerator import Accelerator


class Remote(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        time.sleep(0.005)  # one round trip to the store
        return torch.full((256,), float(index))


def main():
    loader = torch.utils.data.DataLoader(Remote(), batch_size=8, num_workers=2)
    model = Accelerator(step_ms=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    reduce = Accelerator(step_ms=300)
    for step, batch in enumerate(loader, start=1):
        loss = model(batch)
        loss.backward()
        if step % 8 == 0:
            reduce(batch)
            optimizer.step()
            optimizer.zero_grad()
        if step == 280:
            break


if __name__ == "__main__":
    main()
