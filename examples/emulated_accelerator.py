"""A stand-in for a GPU on machines without one: a model whose forward pass takes a fixed time.

The host sleeps to an absolute deadline, as MLPerf Storage does, so the step has the length of a real accelerator's and
leaves the processor cores to the data loader, as a real accelerator would. The few parameters are real: loss, gradients
and optimizer behave as in any PyTorch program. What it cannot show is anything about copies to a device.
"""

import time

import torch


class EmulatedAccelerator(torch.nn.Module):
    """Classifies the mean colour of an image, and takes `step_ms` for each batch."""

    def __init__(self, classes, step_ms):
        super().__init__()
        self.step_seconds = step_ms / 1000
        self.head = torch.nn.Linear(3, classes)

    def forward(self, images):
        deadline = time.monotonic() + self.step_seconds
        scores = self.head(images[:, :, ::16, ::16].mean(dim=(2, 3)))
        time.sleep(max(0.0, deadline - time.monotonic()))
        return scores
