"""Short clips of sound through a chain of filters, on eight threads in each of two workers: the number that was right for
the whole machine, when one process did it all."""
import torch
from accelerator import Accelerator


class Clips(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        wave = torch.linspace(0, 1 + index % 7, 40_000).sin()
        for band in range(50):
            wave = wave.mul(0.9).add(0.1)
        return wave[::40].contiguous()


def many_threads(worker):
    torch.set_num_threads(8)


def main():
    loader = torch.utils.data.DataLoader(Clips(), batch_size=8, num_workers=2, worker_init_fn=many_threads)
    model = Accelerator(step_ms=15)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 120:
            break


if __name__ == "__main__":
    main()
