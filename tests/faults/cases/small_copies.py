"""A table with a few hundred columns: each column of a batch is a tensor of its own, and is copied by itself."""

import torch
from torch.utils.data import DataLoader, Dataset
from training import options


class Columns(Dataset):
    """Batches cut from the table beforehand, each as {name of the column: its values}."""

    def __init__(self, asked):
        self.steps = asked.steps
        made = [{"column%03d" % k: torch.randn(asked.batch_size) for k in range(asked.columns)} for _ in range(8)]
        if asked.pinned:
            made = [{name: column.pin_memory() for name, column in batch.items()} for batch in made]
        self.batches = made

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        return self.batches[index % len(self.batches)]


def as_it_is(batch):
    return batch


def main():
    asked = options(batch_size=4096, columns=200, pinned=0, width=2048, steps=1200)
    loader = DataLoader(Columns(asked), batch_size=None, shuffle=True, collate_fn=as_it_is)
    model = torch.nn.Sequential(
        torch.nn.Linear(asked.columns, asked.width), torch.nn.ReLU(),
        torch.nn.Linear(asked.width, asked.width), torch.nn.ReLU(),
        torch.nn.Linear(asked.width, 1),
    ).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in loader:
        columns = [column.to("cuda", non_blocking=bool(asked.pinned)) for column in batch.values()]
        loss = model(torch.stack(columns, dim=1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
