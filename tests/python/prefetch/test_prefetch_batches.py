"""P14 to P16: batches of any type and tensors of any kind come out as they went in, on the device."""

import collections
import dataclasses
import enum
import types
from typing import Any, NamedTuple

import _fullbore_fake as fake
import numpy as np
import pytest
import torch
from fake_device import FakeDevice
from torch.nn.utils.rnn import pack_sequence

import fullbore


@pytest.fixture
def move():
    fake.reset()

    def one(batch):
        with fullbore.PrefetchDataLoader([batch], FakeDevice()) as loader:
            (moved,) = loader
        fake.run_until_idle()
        return moved

    return one


T = torch.arange(6.0)


class Pair(NamedTuple):
    x: Any
    name: str


class TaggedDict(dict):
    def __init__(self, required):
        super().__init__()
        self.tag = required


class TaggedList(list):
    pass


class TaggedTuple(tuple):
    pass


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    label: str = "a"
    derived: Any = dataclasses.field(init=False, default=None)


@dataclasses.dataclass
class Slotted:
    __slots__ = ("x", "n")
    x: Any
    n: int


class ImmutableMapping(collections.abc.Mapping):
    def __init__(self, items):
        self._items = dict(items)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


def is_copy_of(new, old):
    return type(new) is type(old) and new is not old and torch.equal(new, old) and new.data_ptr() != old.data_ptr()


def test_p14_containers_keep_their_type_and_attributes(move):
    tagged = TaggedDict("tag")
    tagged["x"] = T
    plain = TaggedList([T, 1])
    plain.note = "n"
    tup = TaggedTuple((T, 2))
    tup.note = "t"
    default = collections.defaultdict(list, x=T)
    batch = {
        "tagged": tagged, "list": plain, "tuple": tup, "default": default, "pair": Pair(T, "p"),
        "ordered": collections.OrderedDict(b=T, a=1), "proxy": types.MappingProxyType({"x": T}),
        "immutable": ImmutableMapping({"x": T}), "user": collections.UserDict(x=T), "deque": collections.deque([T], maxlen=3),
        "frozen": Frozen(T), "slotted": Slotted(T, 3),
    }  # fmt: skip
    moved = move(batch)
    assert {key: type(value) for key, value in moved.items()} == {key: type(value) for key, value in batch.items()}
    assert moved["tagged"].tag == "tag" and moved["list"].note == "n" and moved["tuple"].note == "t"
    assert moved["default"].default_factory is list and moved["pair"].name == "p" and moved["deque"].maxlen == 3
    assert list(moved["ordered"]) == ["b", "a"] and moved["frozen"].label == "a" and moved["slotted"].n == 3
    inside = [moved["tagged"]["x"], moved["list"][0], moved["tuple"][0], moved["default"]["x"], moved["pair"].x,
              moved["ordered"]["b"], moved["proxy"]["x"], moved["immutable"]["x"], moved["user"]["x"], moved["deque"][0],
              moved["frozen"].x, moved["slotted"].x]  # fmt: skip
    assert all(is_copy_of(tensor, T) for tensor in inside)
    assert len({tensor.data_ptr() for tensor in inside}) == 1  # one tensor stays one
    assert batch["tagged"]["x"] is T and batch["list"][0] is T  # the loader's own batch is untouched


def test_p14_what_holds_no_tensor_is_handed_through_as_it_is(move):
    class Color(enum.Enum):
        RED = 1

    class Odd:
        __slots__ = ()

    odd = [None, "s", b"b", 1, 2.5, True, np.arange(3), Color.RED, Odd(), Odd, len, {"a": [1, (2,)]}, {1, 2}, range(3)]
    moved = move([*odd, T])
    assert all(new is old for new, old in zip(moved, odd))
    batch = {"only": ["text"]}
    assert move(batch) is batch


def test_p14_cycles_lead_back_to_the_new_objects(move):
    batch = {"x": T, "inner": []}
    batch["inner"].append(batch)
    moved = move(batch)
    assert moved["inner"][0] is moved and moved is not batch and is_copy_of(moved["x"], T)


class WithTo:
    def __init__(self):
        self.calls = []

    def to(self, device, non_blocking=False):
        moved = WithTo()
        moved.calls = [(str(device), non_blocking)]
        return moved


class WithPlainTo:
    moved = False

    def to(self, device):
        new = WithPlainTo()
        new.moved = True
        return new


def test_p14_objects_are_moved_by_their_own_to_with_and_without_non_blocking(move):
    moved = move([WithTo(), WithPlainTo(), pack_sequence([torch.ones(3), torch.ones(2)])])
    assert moved[0].calls == [("cpu", True)] and moved[1].moved
    assert torch.equal(moved[2].data, torch.ones(5))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(12.0).view(3, 4).t(),
        torch.arange(24.0).view(2, 3, 2, 2).contiguous(memory_format=torch.channels_last),
        torch.arange(20)[::2],
        torch.ones(1, 5).expand(4, 5),
        torch.empty(0, 3),
        torch.tensor(3.5),
        torch.tensor([True, False]),
        torch.tensor([1 + 2j]),
        torch.arange(8.0).to(torch.float8_e4m3fn),
        torch.arange(8.0).to(torch.bfloat16),
        torch.arange(100000)[5:99990],
    ],
    ids="transposed channels_last strided expanded empty scalar bool complex fp8 bf16 large_slice".split(),
)
def test_p15_a_tensor_arrives_as_to_would_make_it(move, tensor):
    expected = torch.empty_like(tensor).copy_(tensor)
    (moved,) = move([tensor])
    assert (moved.dtype, moved.shape, moved.stride()) == (tensor.dtype, tensor.shape, expected.stride())
    assert torch.equal(moved.contiguous().view(torch.uint8) if tensor.dim() else moved, expected.contiguous().view(torch.uint8) if tensor.dim() else expected)  # fmt: skip


def test_p15_tensors_that_share_memory_go_on_sharing_it(move):
    base = torch.arange(1000.0)
    batch = [base[:500], base[250:], base.view(10, 100), T, T]
    a, b, c, d, e = move(batch)
    assert [torch.equal(new, old) for new, old in zip((a, b, c, d), batch)] == [True] * 4
    a[300] = -1
    assert b[50] == -1 and c[3, 0] == -1 and d is e


def test_p15_two_corners_of_a_large_storage_are_copied_without_what_lies_between():
    fake.reset()
    base = torch.zeros(1 << 20)
    with fullbore.PrefetchDataLoader([[base[:10], base[-10:]]], FakeDevice(), with_timing=True) as loader:
        ((_, timing),) = loader
        assert timing.wait().bytes == 80


def test_p15_requires_grad_is_kept_without_a_graph_into_host_memory(move):
    leaf = torch.ones(3, requires_grad=True)
    (moved,) = move([leaf])
    assert moved.requires_grad and moved.is_leaf and moved.grad_fn is None


def test_p15_sparse_nested_subclassed_and_conjugated_tensors_move_by_their_own_rules(move):
    class Special(torch.Tensor):
        pass

    sparse = torch.eye(3).to_sparse()
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    special = torch.ones(2).as_subclass(Special)
    conjugated = torch.tensor([1 + 2j]).conj()
    moved = move([sparse, nested, special, conjugated, T])
    assert torch.equal(moved[0].to_dense(), torch.eye(3)) and moved[1].is_nested
    assert type(moved[2]) is Special and torch.equal(moved[3], conjugated.resolve_conj())


def test_p16_tensors_inside_a_moved_object_are_found():
    from fullbore.prefetch.batches import tensors_inside

    class Graph:
        __slots__ = ("edges", "nodes")

    graph = Graph()
    graph.edges, graph.nodes = torch.zeros(2), {"x": [torch.ones(3)]}
    holder = types.SimpleNamespace(graph=graph, sparse=torch.eye(2).to_sparse(), itself=None)
    holder.itself = holder
    assert sorted(tensor.numel() for tensor in tensors_inside(holder)) == [2, 2, 3, 4]
