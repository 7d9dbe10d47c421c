"""A simulation makes the next batch within the loop: there is no loader, and next to nothing to load."""

import torch
from training import model_of, options


def main():
    asked = options(step_ms=50.0)
    model = model_of(asked)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    state = torch.randn(32, 256)
    for step in range(asked.steps):
        state = state.roll(1, 0) * 0.99
        loss = model(state)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
