"""Reads the ring files of watched processes, as the collector would, into named tuples. For tests alone: the struct
layouts are written down here a second time, so that a slip in the hook's packers shows."""

import collections
import os
import struct

_DATA_OFFSET = 4096
_HEADER = struct.Struct("<HHI")
UNKNOWN = -(1 << 63)
UNKNOWN32 = -(1 << 31)

_LAYOUTS = {
    2: (
        "Process",
        "q time_ns I pid I parent_pid i rank i local_rank i world_size I role i worker I start_method I python_version "
        "I reserved q base_seed N executable N script N torch_version N line_tier",
    ),
    3: (
        "Loader",
        "q time_ns I loader I flags q dataset_length q batches i batch_size i workers i prefetch_factor i line "
        "i end_line "
        "i dataset_line I start_method I replicas N file N code N dataset_type N dataset_file N collate N sampler",
    ),
    4: (
        "Iterator",
        "q begin_ns q end_ns I loader I iterator i workers i epoch I flags i line N file q base_seed",
    ),
    5: (
        "Next",
        "q begin_ns q end_ns q queue_wait_ns q sampler_ns q pin_ns q cpu_ns q runq_ns q loop_cpu_ns q loop_runq_ns q batch "
        "q batch_bytes I loader I iterator i ready i ready_later i worker i samples I flags I reserved",
    ),
    6: (
        "Batch",
        "q idle_ns q begin_ns q fetched_ns q collated_ns q put_ns q cpu_ns q runq_ns q read_chars q read_bytes "
        "q major_faults q batch q slowest_ns q slowest_index q slowest_begin_ns I loader i worker i epoch i samples "
        "I flags I content",
    ),
    7: ("Sample", "q begin_ns q wall_ns q cpu_ns q index q batch I loader i worker"),
    8: (
        "Profile",
        "q time_ns q wall_ns q window_ns I loader I where I stage i line I count I windows N file N name",
    ),
    9: ("Step", "q begin_ns q end_ns I optimizer I reserved"),
    10: (
        "Model",
        "q time_ns Q hash q parameters q bytes I tensors I optimizer N optimizer_type N device",
    ),
    11: ("Interval", "q begin_ns q end_ns I kind i line N name N file q bytes"),
    12: ("Missing", "q time_ns N signal N why"),
    13: ("Fix", "q time_ns I loader I applied q before q after N setting N why"),
    14: ("UserStep", "q begin_ns q end_ns i samples I observed"),
    15: ("DataPath", "q time_ns N path"),
    26: ("BatchTensor", "q time_ns q bytes q shape0 q shape1 q shape2 q shape3 I dimensions I loader N dtype"),
    16: ("GpuDevice", "q time_ns I device I reserved N pci_bus_id N name"),
    17: (
        "Copy",
        "q begin_ns q end_ns q busy_ns q bytes I device I context I stream I correlation I count "
        "B kind B source B destination B flags",
    ),
    18: ("Kernel", "q begin_ns q end_ns N name I device I context I stream I correlation"),
    19: ("Sync", "q begin_ns q end_ns I kind I context I stream I correlation"),
    20: ("LaunchCall", "q begin_ns q end_ns I kind I thread I correlation I reserved"),
    21: (
        "TraceWindow",
        "q begin_ns q end_ns q cost_ns q tracer_cpu_ns I kernels I calls I dropped I reserved N tier",
    ),
    22: ("ClockPair", "q monotonic_ns q device_ns q residual_ns q drift_ns"),
    23: ("TraceOverhead", "q time_ns q busy_ns I kind I count"),
    25: ("Failure", "q time_ns N type N text i error_number i worker"),
    24: ("WorkerExit", "q time_ns I pid i worker i exit_code I loader"),
}


def _layout(name, text):
    words = text.split()
    types, fields = words[0::2], words[1::2]
    packer = struct.Struct("<" + "".join(types).replace("N", "Q"))
    named = [field for kind, field in zip(types, fields) if kind == "N"]
    return packer, collections.namedtuple(name, ["ring_pid"] + fields), named


_PARSERS = {kind: _layout(*layout) for kind, layout in _LAYOUTS.items()}


class Records(list):
    """All records of all rings, in order of time within a ring."""

    def of(self, kind):
        return [record for record in self if type(record).__name__ == kind]

    def one(self, kind):
        (record,) = self.of(kind)
        return record


def read(folder):
    raw, names = [], {}
    for entry in sorted(os.listdir(str(folder))):
        with open(os.path.join(str(folder), entry), "rb") as file:
            content = file.read()
        pid = struct.unpack_from("<I", content, 12)[0]
        head = struct.unpack_from("<Q", content, 120)[0]
        capacity = struct.unpack_from("<Q", content, 32)[0]
        assert head <= capacity, "the ring of a test must not wrap"
        at, end = _DATA_OFFSET, _DATA_OFFSET + head
        while at < end:
            kind, size, _ = _HEADER.unpack_from(content, at)
            payload = content[at + 8 : at + size]
            if kind == 1:
                identity, length = struct.unpack_from("<QI", payload)
                names[identity] = payload[16 : 16 + length].decode()
            else:
                raw.append((pid, kind, payload))
            at += size
    records = Records()
    for pid, kind, payload in raw:
        packer, make, named = _PARSERS[kind]
        assert packer.size == len(payload), make.__name__
        record = make(pid, *packer.unpack(payload))
        records.append(
            record._replace(
                **{field: names[getattr(record, field)] if getattr(record, field) else "" for field in named}
            )
        )
    return records
