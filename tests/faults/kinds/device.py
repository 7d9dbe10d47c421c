"""A GPU that waits, for copies or for whoever launches its kernels, and one that is the limit. Without a GPU they are
not run. The accelerator is real here: steps take what they take on one H200 with 16 cores."""

from .. import conditions, materials
from ..case import Case, Expected, between, one_of, vary

BUSY = Expected("compute_bound", healthy=True)


def _on_gpu(name, expected, variations=(), **more):
    """`variations` besides the script as it stands."""
    return Case(
        name,
        expected,
        conditions=lambda cache: [conditions.nvidia_gpu()],
        variations=[vary(""), *variations],
        **more,
    )


CASES = (
    _on_gpu(
        "gpu_no_workers",
        Expected("no_workers", "decode", at="loader = DataLoader(", silent=["host_sync", "launch_bound"]),
        [vary("small_batch", batch_size=8, steps=120), vary("long_steps", batch_size=128, steps=32)],
        materials=[materials.photos],
        fix=True,
    ),
    _on_gpu("pageable_copy", Expected("pageable_copy", at="images = images.to(")),
    _on_gpu("blocking_copy", Expected("blocking_copy", at="images = images.to(")),
    _on_gpu("unoverlapped_copy", Expected("unoverlapped_copy", at="images = images.to(")),
    _on_gpu(
        "small_copies",
        Expected("small_copies", at="columns = [column.to(", silent=["blocking_copy", "host_sync"]),
        [vary("pinned", pinned=1), vary("more", columns=400, batch_size=1024)],
        ranges={"columns": between(150, 400), "pinned": one_of(0, 1), "batch_size": between(512, 4096)},
    ),
    _on_gpu(
        "wide_dtype",
        Expected("wide_dtype", at="images = images.to(", silent=["pageable_copy"]),
        [
            vary("float32", kind="float32", stride=16, steps=900),
            # an eighth of the maps' bytes and copying ahead gain about the same here
            vary("maps", {"at": None, "instead": ("unoverlapped_copy",)}, kind="maps", steps=900),
        ],
        ranges={"kind": one_of("float64", "float32"), "batch_size": between(128, 256)},
    ),
    _on_gpu(
        "gpu_host_sync",
        Expected("host_sync", at="mean += (loss.item()", silent=["launch_bound", "no_workers"]),
        [
            vary("cpu", {"at": "mean += (loss.detach().cpu()"}, read="cpu"),
            vary("work_after", rows=256),
        ],
        ranges={"length": between(48, 72), "batch_size": between(64, 96), "rows": between(0, 256)},
    ),
    _on_gpu(
        "launch_bound",
        Expected("launch_bound", silent=["no_workers", "host_sync", "launcher_starved", "pin_thread"]),
        [vary("unrolled", net="unrolled", length=96, steps=500), vary("deep", layers=24, width=128, steps=200)],
        ranges={"layers": between(8, 24), "width": one_of(128, 256), "batch_size": between(1, 8)},
    ),
    _on_gpu(
        "launcher_starved",
        Expected("launcher_starved", silent=["launch_bound", "no_workers", "host_sync"]),
        [vary("threads", {"instead": ("gil_contention",)}, how="threads", net="resnet50", batch_size=128, steps=100)],
        materials=[materials.photos, materials.web_photos],
        ranges={"busy": between(2, 4), "batch_size": between(192, 320)},
    ),
    _on_gpu(
        "allocator_churn",
        Expected("allocator_churn", at="torch.cuda.empty_cache()", silent=["launch_bound", "host_sync"]),
        ranges={"batch_size": between(64, 160)},
    ),
    _on_gpu(
        "gpu_pin_thread",
        Expected("pin_thread", at="loader = DataLoader(", silent=["handoff", "too_few_workers", "pageable_copy"]),
        [vary("larger", batch_size=768, steps=350)],
    ),
    _on_gpu(
        "gpu_checkpoint",
        Expected("checkpoint_pause", at="torch.save(", silent=["launch_bound", "no_workers"]),
        [vary("rare", embeddings=400_000, every=50)],
        judged_on="whole",
    ),
    _on_gpu(
        "gpu_warmup",
        Expected("warmup", silent=["launch_bound", "no_workers", "host_sync"]),
        judged_on="whole",
        ranges={"each": between(8, 14), "layers": between(16, 30)},
    ),
    # Only where the machine has several nodes and says which one the GPU hangs on.
    Case(
        "numa_remote",
        Expected("unoverlapped_copy", at="images = images.to(", second="numa_remote"),
        script="unoverlapped_copy",
        conditions=lambda cache: [conditions.nvidia_gpu(), conditions.far_from_the_gpu()],
    ),
    _on_gpu("gpu_compute_bound", BUSY),
    _on_gpu("gpu_resnet", BUSY, [vary("read_every_step", read_every=1)], ranges={"batch_size": between(192, 384)}),
    _on_gpu("gpu_loader", BUSY, [vary("one_stream", ahead=0)], ranges={"workers": between(6, 12)}),
    _on_gpu("gpu_hidden_wait", BUSY, [vary("read_late", read_late=1)], ranges={"columns": between(1024, 2048)}),
)
