"""A full validation pass after every twenty training steps."""
import torch
from accelerator import Accelerator


@torch.no_grad()
def validate(model, loader):
    model.eval()
    total = 0.0
    for (batch,) in loader:
        total += float(model(batch))
    model.train()
    return total / len(loader)


def main():
    train = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(1600, 256)), batch_size=16, shuffle=True)
    test = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(192, 256)), batch_size=16)
    model = Accelerator(step_ms=50)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(train, start=1):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            validate(model, test)


if __name__ == "__main__":
    main()
