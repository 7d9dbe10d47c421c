"""Six steps, then the end: too little to judge."""
import torch
from accelerator import Accelerator


def main():
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(96, 256)), batch_size=16)
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (batch,) in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
