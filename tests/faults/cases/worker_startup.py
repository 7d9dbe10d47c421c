"""One pass over the data with spawned workers, each of which is sent a vocabulary of a million words as Python objects."""
import torch
from accelerator import Accelerator


class Sentences(torch.utils.data.Dataset):
    def __init__(self, words):
        self.numbers = {"word%07d" % k: [k, k % 17] for k in range(words)}

    def __len__(self):
        return 4000

    def __getitem__(self, index):
        return torch.tensor(self.numbers["word%07d" % index])


def main():
    loader = torch.utils.data.DataLoader(Sentences(1_000_000), batch_size=16, num_workers=2, multiprocessing_context="spawn")
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 150:
            break


if __name__ == "__main__":
    main()
