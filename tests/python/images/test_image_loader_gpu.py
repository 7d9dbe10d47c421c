"""ImageLoader(device="cuda") on a real device: the CPU's values, the races made certain by kernels that spin, and a loop
that never waits for the device."""

import pytest
import torch

import fullbore

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device is here")]

SPIN = 15_000_000  # cycles, about 8 ms
NORMALIZE = fullbore.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def make(folder, device="cuda", dtype="float32", layout="NCHW", size=96, **options):
    transform = [fullbore.RandomResizedCrop(size), fullbore.RandomHorizontalFlip()]
    if dtype != "uint8":
        transform.append(NORMALIZE)
    return fullbore.ImageLoader(folder, 8, transform=transform, dtype=dtype, layout=layout, device=device, threads=2,
                                index=None, **options)  # fmt: skip


def bits(tensor):
    return tensor.cpu().contiguous().view(torch.uint8)


@pytest.mark.parametrize("size", [96, 31])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_values_are_those_of_the_cpu(folder, dtype, layout, size):
    with make(folder, "cuda", dtype, layout, size) as loader:
        for batch, (images, labels) in zip(loader, make(folder, "cpu", dtype, layout, size), strict=True):
            assert batch.images.is_cuda and torch.equal(bits(batch.images), bits(images))
            assert torch.equal(batch.labels.cpu(), labels)
        assert loader.stats()["no_kernel"] is None


def sums_of_a_delayed_consumer(loader):
    sums = []
    with torch.cuda.stream(torch.cuda.Stream()):
        for images, labels in loader:
            torch.cuda._sleep(SPIN)
            sums.append((images.double().sum(), labels.sum()))
            del images, labels
    torch.cuda.synchronize()
    return [(images.item(), labels.item()) for images, labels in sums]


def test_a_batch_dropped_at_once_is_read_whole_by_a_delayed_consumer(folder):
    wanted = [(images.cuda().double().sum().item(), labels.sum().item()) for images, labels in make(folder, "cpu")]
    with make(folder) as loader:
        assert sums_of_a_delayed_consumer(loader) == wanted


def test_without_record_stream_the_same_reads_wrong_data(folder):
    wanted = [(images.cuda().double().sum().item(), labels.sum().item()) for images, labels in make(folder, "cpu")]
    with make(folder) as loader:
        loader._device.record = lambda *_: None
        assert sums_of_a_delayed_consumer(loader) != wanted


def test_a_copy_stream_that_is_late_mixes_no_batches(folder):
    wanted = [bits(images) for images, _ in make(folder, "cpu")]
    with make(folder) as loader:
        got = []
        for images, _ in loader:
            got.append(images)
            with torch.cuda.stream(loader._device.copy_stream):
                torch.cuda._sleep(SPIN)
    assert all(torch.equal(bits(a), b) for a, b in zip(got, wanted, strict=True))


def test_it_goes_on_where_a_state_was_taken(folder):
    whole = [bits(images) for images, _ in make(folder, "cpu")]
    with make(folder) as loader:
        batches = iter(loader)
        got = [next(batches).images for _ in range(2)]
        state = loader.state_dict()
    with make(folder) as loader:
        loader.load_state_dict(state)
        got += [images for images, _ in loader]
    assert all(torch.equal(bits(a), b) for a, b in zip(got, whole, strict=True))


def test_a_graph_is_captured_in_the_middle_of_an_epoch(folder):
    with make(folder) as loader:
        batches = iter(loader)
        static, graph = next(batches).images.clone(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            doubled = static * 2
        for images, _ in batches:
            static.copy_(images)
            graph.replay()
            assert torch.equal(doubled, images * 2)


def test_the_loop_never_waits_for_the_device_and_takes_no_more_memory(folder):
    with make(folder, dtype="bfloat16") as loader:
        for _ in range(3):
            for images, labels in loader:
                pass
        torch.cuda.synchronize()
        reserved = torch.cuda.memory_reserved()
        torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(20):
                for images, labels in loader:
                    images.square_()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        torch.cuda.synchronize()
        # A consumer that is late by some batches takes as many; a leak would be 40 MB.
        assert torch.cuda.memory_reserved() - reserved < 10 << 20
        assert loader.stats()["batches"] >= 100


def test_a_network_learns_the_same_from_the_device_as_from_the_cpu(folder):
    def losses(loader):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 2)).cuda()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        seen = []
        for _ in range(3):
            for images, labels in loader:
                loss = torch.nn.functional.cross_entropy(net(images.cuda()), labels.cuda())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen.append(loss.detach())
        return torch.stack(seen).cpu()

    with make(folder, size=32) as loader:
        torch.testing.assert_close(losses(loader), losses(make(folder, "cpu", size=32)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("index", range(torch.cuda.device_count()))
def test_each_device_is_served_while_the_first_is_current(folder, index):
    device = torch.device("cuda", index)
    with make(folder, device) as loader:
        for batch, (images, _) in zip(loader, make(folder, "cpu"), strict=True):
            assert batch.images.device == device and torch.equal(bits(batch.images), bits(images))
        assert torch.cuda.current_device() == 0
