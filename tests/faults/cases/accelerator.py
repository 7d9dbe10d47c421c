"""An emulated accelerator: a training step of fixed length during which the host sleeps to a deadline."""

import time

import torch


class Accelerator(torch.nn.Module):
    def __init__(self, step_ms):
        super().__init__()
        self.step_s = step_ms / 1e3
        self.weight = torch.nn.Parameter(torch.zeros(16, 16))

    def forward(self, batch):
        deadline = time.perf_counter() + self.step_s
        loss = self.weight.square().sum()
        time.sleep(max(0.0, deadline - time.perf_counter()))
        return loss
