"""The image loader for a CUDA device: threads decode into page-locked memory, 8-bit pixels go over the bus, and one
kernel makes of them what the model takes.

    draw:      memory on the copy stream -> copies and kernel queued -> event behind them
    hand out:  the stream that is current *now* waits for that event -> memory is kept until this stream is done with it

The next batch is drawn when one is handed out, if it is ready; so its copy runs beside the work on this one.
"""

import os
import warnings

import torch

from fullbore.prefetch.devices import open_device

from .loader import ImageBatch, ImageLoader, Pass, choice
from .pipeline import arrange, choose_dtype, compile_into

__all__ = ["DeviceImageLoader", "Finish", "open_device"]


class DeviceImageLoader(ImageLoader):
    """What ImageLoader(device="cuda") makes."""

    def __init__(self, data, batch_size, *, transform, device, dtype=None, layout="NCHW", output=None, **options):
        if output not in (None, "torch"):
            raise ValueError("output %r on a device; batches are torch tensors there" % (output,))
        pipeline = arrange(transform)
        dtype = choose_dtype(pipeline, dtype)
        self._device = open_device(device)
        self._device.start()
        core = self._extension()
        delivered = core.ImageLoaderOptions()
        compile_into(delivered, pipeline)
        delivered.batch_size = batch_size
        delivered.dtype = choice(core.ImageDType, dtype, "dtype")
        delivered.layout = choice(core.ImageLayout, layout, "layout")
        self._delivery = self._workspace = None
        super().__init__(data, batch_size, transform=pipeline.on_bytes(), dtype="uint8", layout="NHWC", output="torch",
                         **options)  # fmt: skip
        self._delivered = core.ImageDeliveryOptions(delivered, self._core)
        self._dtype, self._layout = getattr(torch, dtype), layout
        self._pipeline = pipeline
        self._finish = None  # where no kernel does it

    def stats(self):
        """Of the batches that are on the device: batches, bytes, h2d_ms, h2d_ms_per_batch, h2d_gb_per_s (1e9 bytes) and
        finish_ms of the kernel; None: not measured. no_kernel: why torch's operations finish batches; None: they do
        not."""
        sums = None if self._delivery is None else self._delivery.sums()
        measured = sums is not None and sums.batches > 0
        return {
            "batches": 0 if sums is None else sums.batches,
            "bytes": sums.bytes if measured else None,
            "h2d_ms": sums.h2d_ms if measured else None,
            "h2d_ms_per_batch": sums.h2d_ms / sums.batches if measured else None,
            "h2d_gb_per_s": sums.bytes / sums.h2d_ms / 1e6 if measured and sums.h2d_ms > 0 else None,
            "finish_ms": sums.finish_ms if measured else None,
            "no_kernel": None if self._delivery is None else self._delivery.no_kernel or None,
        }

    def close(self):
        delivery, self._delivery = self._delivery, None
        try:
            if delivery is not None and os.getpid() == self._pid:
                delivery.wait()
        finally:
            self._workspace = None
            super().close()

    def _extension(self):
        return self._device.core

    def _choose_memory(self, core, options):
        core.use_pinned_memory(options, self._device.index)

    def _new_pass(self, epoch, first):
        if self._delivery is None:
            self._open_delivery()
        return _DevicePass(self, epoch, first)

    def _open_delivery(self):
        device = self._device
        with device.copying():
            self._workspace = device.empty_strided((self._delivered.workspace_bytes,), (1,), torch.uint8)
        self._delivery = self._extension().ImageDelivery(
            device.index, device.handle(device.copy_stream), self._delivered, self._workspace.data_ptr()
        )
        if self._delivery.no_kernel:
            reason = self._delivery.no_kernel
            warnings.warn("torch's operations finish batches: " + reason, RuntimeWarning, stacklevel=4)
            pipeline, self._workspace = self._pipeline, None
            mean, std = pipeline.normalize or ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
            self._finish = Finish(self._dtype, self._layout, mean, std, 1.0 / 255 if pipeline.scale else 1.0)

    def _send(self, raw):
        height, width = self._delivered.picture
        planes = self._layout == "NCHW" and self._finish is None
        shape = (raw.samples, 3, height, width) if planes else (raw.samples, height, width, 3)
        columns = len(self._options.label_columns)
        with self._device.copying():
            images = self._empty(shape, torch.uint8 if self._finish else self._dtype)
            labels = self._empty((raw.samples,) if columns == 1 else (raw.samples, columns), torch.int64)
        return _Sent(images, labels, self._delivery.send(raw, images.data_ptr(), labels.data_ptr()))

    def _empty(self, shape, dtype):
        strides = [1]
        for size in reversed(shape[1:]):
            strides.append(strides[-1] * size)
        return self._device.empty_strided(shape, tuple(reversed(strides)), dtype)

    def _hand_out(self, sent, core):
        stream = self._device.current_stream()
        sent.delivered.hand_over(self._device.handle(stream))
        self._device.record(sent.images, stream)
        self._device.record(sent.labels, stream)
        images = sent.images if self._finish is None else self._finish(sent.images)
        return ImageBatch(images, sent.labels, sent.delivered, core, self._convert)


class _Sent:
    """A batch on its way: its memory on the device, and what the extension knows of it."""

    __slots__ = ("images", "labels", "delivered")

    def __init__(self, images, labels, delivered):
        self.images, self.labels, self.delivered = images, labels, delivered


class _DevicePass(Pass):
    def __init__(self, loader, epoch, first):
        super().__init__(loader, epoch, first)
        self._ahead = []  # one at most: a batch that was sent, None at the end, or the error instead of it

    def __next__(self):
        batch = super().__next__()
        core = self._loader._opened()
        if core.ready():
            self._ahead.append(self._draw(core))
        return batch

    def _take(self, core):
        drawn = self._ahead.pop() if self._ahead else self._draw(core)
        if isinstance(drawn, RuntimeError):
            raise drawn
        return drawn

    def _draw(self, core):
        try:
            raw = core.next()
            return None if raw is None else self._loader._send(raw)
        except RuntimeError as error:
            return error.with_traceback(None)  # its frames would hold the batch, and with it a slot


class Finish:
    """Where there is no kernel: uint8 [samples, height, width, 3] to a loader's type and layout, with the values that
    it has on the CPU.

    torch's own operations on the stream that is current: the product also converts, so it is four kernels.
    """

    def __init__(self, dtype, layout, mean, std, scale):
        self._dtype = dtype
        self._layout = layout
        self._mean, self._std, self._scale = torch.tensor(mean), torch.tensor(std), scale

    def __call__(self, images):
        if self._dtype is not torch.uint8:
            if self._mean.device != images.device:
                self._mean, self._std = self._mean.to(images.device), self._std.to(images.device)
            images = torch.mul(images, self._scale).sub_(self._mean).div_(self._std).to(self._dtype)
        return images.permute(0, 3, 1, 2).contiguous() if self._layout == "NCHW" else images
