"""Windows of tokens at random places of one mapped file."""
import sys

import numpy as np
import torch
from accelerator import Accelerator

WINDOW = 257


class Tokens(torch.utils.data.Dataset):
    def __init__(self, path):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")

    def __len__(self):
        return 600

    def __getitem__(self, index):
        start = int(torch.randint(len(self.tokens) - WINDOW, (1,)))
        return torch.from_numpy(self.tokens[start:start + WINDOW].astype(np.int64))


def main():
    loader = torch.utils.data.DataLoader(Tokens(sys.argv[1]), batch_size=4, num_workers=2)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        loss = model(batch[:, :-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
