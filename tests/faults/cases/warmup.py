"""A model that is compiled for each length of its sentences: they come sorted by length, dynamic shapes are off, and
every few steps the loop stands still until there is a program for the next length."""

import torch
from torch.utils.data import DataLoader
from training import options, order


class Sentences(torch.utils.data.Dataset):
    """Numbered words, the shorter sentences first; `same` of them have the same length."""

    def __init__(self, lengths, same):
        self.lengths, self.same = lengths, same

    def __len__(self):
        return self.lengths * self.same

    def __getitem__(self, index):
        words = torch.arange(64 + index // self.same)
        return (words * (index + 1)) % 1000, index % 10


class Classifier(torch.nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.words = torch.nn.Embedding(1000, width)
        blocks = []
        for _ in range(layers):
            blocks += [torch.nn.Conv1d(width, width, 3, padding=1), torch.nn.GELU()]
        self.blocks = torch.nn.Sequential(*blocks)
        self.head = torch.nn.Linear(width, 10)

    def forward(self, words):
        return self.head(self.blocks(self.words(words).transpose(1, 2)).mean(dim=2))


def main():
    asked = options(lengths=24, each=8, width=64, layers=12, batch_size=16, workers=0)
    torch._dynamo.config.recompile_limit = 10 * asked.lengths
    sentences = Sentences(asked.lengths, asked.each * asked.batch_size)
    loader = DataLoader(sentences, asked.batch_size, num_workers=asked.workers, **{**order(asked), "shuffle": False})
    network = Classifier(asked.width, asked.layers)
    model = torch.compile(network, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    for words, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
