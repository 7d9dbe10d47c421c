"""The image loader for a CUDA device: 8-bit pixels go over the bus, and the device normalises them.

A batch of 8-bit pixels is a quarter of its float32 size, for the bus and for the threads that make it.
"""

import torch

from fullbore.prefetch import PrefetchDataLoader
from fullbore.prefetch.devices import open_device

from .loader import ImageBatch, ImageLoader
from .pipeline import arrange, choose_dtype

__all__ = ["DeviceImageLoader", "Finish", "open_device"]


class Finish:
    """uint8 [samples, height, width, 3] to a loader's type and layout, with the values that it has on the CPU.

    torch's own operations on the stream that is current: the product also converts, so it is four kernels.
    """

    def __init__(self, dtype, layout, mean, std, scale):
        self._dtype = getattr(torch, dtype)
        self._layout = layout
        self._mean, self._std, self._scale = torch.tensor(mean), torch.tensor(std), scale

    def __call__(self, images):
        if self._dtype is not torch.uint8:
            if self._mean.device != images.device:
                self._mean, self._std = self._mean.to(images.device), self._std.to(images.device)
            images = torch.mul(images, self._scale).sub_(self._mean).div_(self._std).to(self._dtype)
        return images.permute(0, 3, 1, 2).contiguous() if self._layout == "NCHW" else images


class DeviceImageLoader(ImageLoader):
    """What ImageLoader(device="cuda") makes."""

    def __init__(self, data, batch_size, *, transform, device, dtype=None, layout="NCHW", output=None, **options):
        if output not in (None, "torch"):
            raise ValueError("output %r on a device; batches are torch tensors there" % (output,))
        pipeline = arrange(transform)
        dtype = choose_dtype(pipeline, dtype)
        if not isinstance(getattr(torch, dtype, None), torch.dtype) or layout not in ("NCHW", "NHWC"):
            raise ValueError("dtype %r, layout %r; use uint8 or a float type, and NCHW or NHWC" % (dtype, layout))
        super().__init__(data, batch_size, transform=pipeline.on_bytes(), dtype="uint8", layout="NHWC", output="torch",
                         **options)  # fmt: skip
        mean, std = pipeline.normalize or ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
        self._finish = Finish(dtype, layout, mean, std, 1.0 / 255 if pipeline.scale else 1.0)
        self._prefetch = PrefetchDataLoader(_Host(self), device, with_timing=True)

    def __iter__(self):
        self._opened()
        return _finished(iter(self._prefetch), self._finish)

    def state_dict(self):
        return self._prefetch.state_dict()

    def load_state_dict(self, state):
        self._prefetch.load_state_dict(state)

    def stats(self):
        """Sums of the copies: PrefetchDataLoader.stats()."""
        return self._prefetch.stats()

    def close(self):
        self._prefetch.close()
        super().close()


class _Host:
    """The loader as it is on the host, for the prefetcher to draw from."""

    gives_fresh_memory = True

    def __init__(self, loader):
        self._loader = loader

    def __iter__(self):
        return ImageLoader.__iter__(self._loader)

    def __len__(self):
        return len(self._loader)

    def state_dict(self):
        return ImageLoader.state_dict(self._loader)

    def load_state_dict(self, state):
        ImageLoader.load_state_dict(self._loader, state)


def _finished(batches, finish):
    for batch, timing in batches:
        done = ImageBatch(finish(batch.images), batch.labels, batch._raw, batch._core, batch._convert)
        done.transfer = timing
        del batch
        yield done
