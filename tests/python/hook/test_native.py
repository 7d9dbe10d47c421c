"""The probes in C by themselves: what they write for a made-up iterator, when they call on line timing, and what they do
when the world is not as torch makes it."""

import ctypes
import importlib.machinery
import os
import struct
import subprocess
import sys
import threading
import types
import weakref

import pytest

UNKNOWN, UNKNOWN32 = -(1 << 63), -(1 << 31)
NEXT = struct.Struct("<HHI qqqqqqqqqqq IIiiiiII".replace(" ", ""))
STOP, ERROR, FIRST, TRACED = 1, 2, 4, 8
NAMES = (
    "kind size reserved begin end queue_wait sampler pin cpu runq loop_cpu loop_runq batch bytes loader iterator ready "
    "ready_later worker samples flags reserved2"
).split()

BATCH = [1, 2, 3, 4]


class Queue:
    def __init__(self, length):
        self.length = length

    def qsize(self):
        if isinstance(self.length, BaseException):
            raise self.length
        return self.length


class Iterator:
    """Batch 5 is asked for and not there, 6 is; worker 1 makes the one, worker 0 made the other."""

    _in_order = True

    def __init__(self, length=2):
        self._data_queue = Queue(length)
        self._task_info = {5: (1,), 6: (0, "data")}
        self._rcvd_idx = 5


@pytest.fixture
def world(package, tmp_path):
    return World(os.path.join(package, "lib"), tmp_path)


class World:
    def __init__(self, libraries, rings):
        path = os.path.join(libraries, "_fullbore_probes.abi3.so")
        library = ctypes.CDLL(os.path.join(libraries, "libfullbore_record.so"))
        library.fullbore_record_open(str(rings).encode(), ctypes.c_uint64(1 << 16), 0)
        loader = importlib.machinery.ExtensionFileLoader("_fullbore_probes", path)
        self.probes = loader.create_module(importlib.machinery.ModuleSpec("_fullbore_probes", loader, origin=path))
        loader.exec_module(self.probes)
        self.written, self.failures, self.asked, self.ended = [], [], [], []
        self.answer, self.result = 0, 1
        self.states = {}
        outer = self

        class State(self.probes.NextState):
            def begin(self):
                self.restart(7, 3, hasattr(self.iterator(), "_data_queue"))

            def wait_begins(self, frame, since_ns, skipped):
                outer.asked.append((frame.f_code.co_name, since_ns, skipped))
                return outer.answer() if callable(outer.answer) else outer.answer

            def wait_ends(self, told, stopped):
                outer.ended.append((told, stopped))

        self.State = State

        def failed(error, starting):
            if isinstance(error, KeyboardInterrupt):
                raise error
            self.failures.append((type(error), starting))

        self._write = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32)(self._store)
        self._usage = library.fullbore_thread_usage_now
        self.probes.forget()
        self.probes.bind(self.states, self.add, failed, lambda: self.written.append("ended"))
        self.probes.open(*(ctypes.cast(call, ctypes.c_void_p).value for call in (self._write, self._usage)))

    def _store(self, address, size, count):
        values = NEXT.unpack(ctypes.string_at(address, size))
        self.written.append(types.SimpleNamespace(**dict(zip(NAMES, values))))
        return self.result

    def add(self, iterator):
        state = self.states[id(iterator)] = self.State()
        state.iterator = weakref.ref(iterator)
        return state

    def next(self, iterator, body=lambda: BATCH):
        with self.probes.next(iterator):
            return self.probes.yielded(body())


def take(world, iterator):
    """What torch does within next(): waits for batch 5 from worker 1, and goes on to 6."""

    def body():
        assert world.probes.waiting() is None
        assert world.probes.arrived("data") == "data"
        iterator._rcvd_idx += 1
        world.probes.processing(1)
        world.probes.sampling()
        assert world.probes.sampled("index") == "index"
        return BATCH

    return world.next(iterator, body)


def test_a_batch_from_a_worker_is_told_in_full(world):
    assert take(world, Iterator()) is BATCH
    (record,) = world.written
    assert (record.kind, record.loader, record.iterator, record.batch, record.worker) == (5, 7, 3, 5, 1)
    assert (record.samples, record.bytes, record.ready, record.ready_later) == (4, UNKNOWN, 3, 1)
    assert record.begin <= record.end and record.queue_wait >= 0 and record.sampler >= 0 and record.cpu >= 0
    assert (record.pin, record.loop_cpu, record.flags) == (UNKNOWN, UNKNOWN, FIRST)


def test_the_loop_in_between_is_known_from_the_second_call_on(world):
    iterator = Iterator()
    take(world, iterator), take(world, iterator)
    assert world.written[1].loop_cpu >= 0 and world.written[1].flags == 0


def test_another_thread_has_no_loop_in_between(world):
    iterator = Iterator()
    take(world, iterator)
    thread = threading.Thread(target=take, args=(world, iterator))
    thread.start(), thread.join()
    assert world.written[1].loop_cpu == UNKNOWN


def test_the_end_and_an_error_carry_no_batch(world):
    def raises(error):
        raise error

    iterator = Iterator()
    for error in (StopIteration(), ValueError("of the user's")):
        with pytest.raises(type(error)):
            world.next(iterator, lambda: raises(error))
    assert [record.flags & (STOP | ERROR) for record in world.written] == [STOP, ERROR]
    assert (world.written[0].batch, world.written[0].worker) == (UNKNOWN, UNKNOWN32)
    assert world.probes.running() is None and not world.failures


@pytest.mark.parametrize("error", [NotImplementedError(), OSError(38, "no semaphores")])
def test_a_queue_without_a_length_leaves_that_unknown(world, error):
    take(world, Iterator(error))
    assert world.written[0].ready == UNKNOWN32 and not world.failures


def test_another_error_of_the_queue_ends_the_hook_and_not_the_loop(world):
    assert take(world, Iterator(ZeroDivisionError())) is BATCH
    assert world.failures == [(ZeroDivisionError, 1)] and not world.written and world.probes.running() is None


def test_what_is_not_ours_goes_on_its_way(world):
    with pytest.raises(KeyboardInterrupt):
        take(world, Iterator(KeyboardInterrupt()))
    assert world.probes.running() is None


def test_an_iterator_of_another_kind_is_reported(world):
    class Odd:
        _data_queue = None

    assert world.next(Odd()) is BATCH
    assert world.failures == [(AttributeError, 1)]


def test_line_timing_is_left_alone_for_as_long_as_it_says(world):
    iterator, world.answer = Iterator(), 2 * 3 + 1
    for _ in range(6):
        take(world, iterator)
    assert [skipped for _, _, skipped in world.asked] == [0, 3]
    assert world.asked[1][1] == world.written[3].begin, "the iteration that ends began with the last wait"
    assert [record.flags & TRACED for record in world.written] == [TRACED, 0, 0, 0, TRACED, 0]
    assert {name for name, _, _ in world.asked} == {"next"}


def test_line_timing_is_told_when_something_was_traced_meanwhile(world):
    iterator, world.answer = Iterator(), 2 * 1000
    take(world, iterator), take(world, iterator), world.probes.wake(), take(world, iterator)
    assert [skipped for _, _, skipped in world.asked] == [0, 1]


def test_the_end_is_always_told(world):
    iterator, world.answer = Iterator(), 2 * 1000
    take(world, iterator)
    with pytest.raises(StopIteration):
        world.next(iterator, lambda: next(iter(())))
    assert world.ended == [(1, 0), (0, 1)]


def test_a_next_within_a_next_is_told_if_the_outer_was(world):
    outer, inner = Iterator(), Iterator()
    for world.answer in (0, 2 * 1000):
        world.next(outer, lambda: take(world, inner))
    assert len(world.asked) == 4
    world.next(outer, lambda: take(world, inner))
    assert len(world.asked) == 4
    assert len(world.written) == 6 and world.probes.running() is None


def test_the_end_of_the_observation_is_passed_on(world):
    world.result = 2
    take(world, Iterator())
    assert world.written[1:] == ["ended"]


def test_closed_probes_write_nothing(world):
    iterator = Iterator()
    take(world, iterator)
    world.probes.close()
    take(world, iterator)
    assert len(world.written) == 1


def counted(world):
    return list((ctypes.c_uint64 * 2).from_address(world.probes.loop_counters()))


def test_batches_handed_to_the_loop_are_counted_for_the_tracer(world):
    iterator, inner, before = Iterator(), Iterator(), counted(world)
    take(world, iterator)
    with pytest.raises(StopIteration):
        world.next(iterator, lambda: next(iter(())))
    world.next(iterator, lambda: take(world, inner))
    assert counted(world)[0] - before[0] in (1, 2), "the first of a new iterator may not yet set the pace"
    before = counted(world)
    for _ in range(3):
        world.next(iterator, lambda: take(world, inner))
    world.probes.stepped()
    assert counted(world) == [before[0] + 3, before[1] + 1]


def test_of_two_loaders_read_in_turn_one_is_counted(world):
    for _ in range(2):  # two epochs
        first, second = Iterator(), Iterator()
        take(world, first), take(world, second)
        before = counted(world)[0]
        for _ in range(5):
            take(world, first), take(world, second)
        assert counted(world)[0] - before == 5


def test_batches_drawn_for_another_thread_are_not_counted(world):
    iterator = Iterator()
    take(world, iterator), take(world, iterator)
    before = counted(world)

    def draw():
        world.probes.draws_for_another()
        take(world, iterator)

    thread = threading.Thread(target=draw)
    thread.start(), thread.join()
    assert counted(world) == before
    world.probes.told(), world.probes.told(), world.probes.told()
    assert counted(world)[0] - before[0] >= 2


class Pair(tuple):
    _fields = ("images", "labels")


class Mine(list):
    def __len__(self):
        raise AssertionError("the user's code ran")


def test_the_size_of_a_batch_is_that_of_its_plain_tensors(world):
    torch = pytest.importorskip("torch")
    images, labels = torch.zeros(8, 3, 2), torch.zeros(8, dtype=torch.int64)
    for batch, expected in (
        (images, (8, 192)),
        ([images, labels], (8, 256)),
        ({"images": images, "more": {"labels": labels}}, (8, 256)),
        (Pair((images, labels)), (8, 256)),
        ([torch.tensor(1.0)] * 5, (5, 20)),
        ([[[[images]]]], (1, None)),
        ([1, 2, 3], (3, None)),
        (("a", "b"), (2, None)),
        (Mine([images]), (None, None)),
        ("text", (None, None)),
        (torch.nn.Parameter(images), (None, None)),
    ):
        assert world.probes.batch_size(batch) == expected, batch


def test_a_python_built_without_a_gil_is_refused_even_with_one(package):
    # Loading the module there would end the program: its objects are laid out in another way.
    script = (
        "import sys; sys.abiflags = 't'; sys._is_gil_enabled = lambda: True; sys.path.insert(0, sys.argv[1]); "
        "import _fullbore_hook.native"
    )
    env = dict(os.environ, FULLBORE_RECORD_LIB=os.path.join(package, "lib", "libfullbore_record.so"))
    command = [sys.executable, "-c", script, os.path.join(package, "hook")]
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and "ImportError: this Python was built to run without a GIL" in ended.stderr
