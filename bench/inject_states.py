"""What each call of CUPTI leaves behind: a step of 2,000 tiny kernels, bound by launching, is timed while one thing is
switched on and off again in turn. Each line is a process of its own, forked before CUDA is initialised, so a cost that
cannot be undone stays in its line.

    python bench/inject_states.py [--pairs 10] [NAME ...]

Columns are ratios to the same process before anything of CUPTI was called: `set` after the set-up, `on` and `off` in
turn, `end` after cuptiFinalize; then ms of the calls that switch on and off, and what one block of 6,000 launches leaves
behind, by kind of record, in one more turn that is not timed."""

import argparse
import ctypes
import gc
import os
import statistics
import sys
import time

import torch

MEMCPY, SERIAL_KERNEL, DRIVER, RUNTIME, KERNEL, OVERHEAD, SYNC = 1, 3, 4, 5, 10, 17, 38
KINDS = {MEMCPY: "copies", SERIAL_KERNEL: "kernels", DRIVER: "driver calls", RUNTIME: "runtime calls", KERNEL: "kernels",
         OVERHEAD: "overheads", SYNC: "waits"}  # fmt: skip
LAUNCH_RUNTIME, LAUNCH_DRIVER, COPY_RUNTIME = 211, 307, 41
LAUNCHES = {31, 41, 211, 214, 269, 311, 312, 430, 431, 505, 506}  # calls of the run time that put work on a device
RUNTIME_CALLS = 523  # all its numbers are below
BUFFER = 1 << 20
REQUEST = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t))
COMPLETE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Cupti:
    """The libcupti that torch has brought; every call's result that is not 0 is remembered."""

    def __init__(self):
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libcupti.so" in line}
        self.path = min(paths)
        self.library = ctypes.CDLL(self.path)
        self.failed = {}
        self.bytes = 0
        self.counts = None  # {kind: records}, where they are counted
        self.free = [ctypes.create_string_buffer(BUFFER + 8) for _ in range(16)]
        self.out = {}
        self.request, self.complete = REQUEST(self._request), COMPLETE(self._complete)
        self.subscriber = ctypes.c_void_p()

    def _request(self, buffer, size, most):
        memory = self.free.pop() if self.free else ctypes.create_string_buffer(BUFFER + 8)
        address = (ctypes.addressof(memory) + 7) & ~7
        self.out[address] = memory
        buffer[0], size[0], most[0] = address, BUFFER, 0

    def _complete(self, context, stream, buffer, size, valid):
        self.bytes += valid
        if self.counts is not None:
            self._count(buffer, valid)
        self.free.append(self.out.pop(buffer))

    def _count(self, buffer, valid):
        next_record, record = self.library.cuptiActivityGetNextRecord, ctypes.c_void_p()
        while next_record(ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)) == 0:
            kind = ctypes.c_uint32.from_address(record.value).value
            self.counts[kind] = self.counts.get(kind, 0) + 1

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            self.failed[name] = result

    def register(self):
        self.call("cuptiActivityRegisterCallbacks", self.request, self.complete)

    def enable(self, *kinds):
        for kind in kinds:
            self.call("cuptiActivityEnable", kind)

    def disable(self, *kinds):
        for kind in kinds:
            self.call("cuptiActivityDisable", kind)

    def flush(self, flag=0):
        self.call("cuptiActivityFlushAll", flag)

    def subscribe(self):
        # A callback that does nothing, of the C library.
        nothing = ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p)
        self.call("cuptiSubscribe", ctypes.byref(self.subscriber), nothing, None)

    def unsubscribe(self):
        self.call("cuptiUnsubscribe", self.subscriber)

    def one_buffer(self):
        flag, size = ctypes.c_uint8(0), ctypes.c_size_t(1)
        self.call("cuptiActivitySetAttribute", 9, ctypes.byref(size), ctypes.byref(flag))

    def calls(self, on):
        self.call("cuptiActivityEnableRuntimeApi", LAUNCH_RUNTIME, on)
        self.call("cuptiActivityEnableDriverApi", LAUNCH_DRIVER, on)

    def callback(self, domain, identity):
        self.call("cuptiEnableCallback", 1, self.subscriber, domain, identity)

    def finalize(self):
        self.call("cuptiFinalize")


def window_on(cupti):
    cupti.enable(SYNC, OVERHEAD, KERNEL)
    cupti.calls(1)


def window_off(cupti):
    cupti.calls(0)
    cupti.disable(KERNEL, SYNC, OVERHEAD)
    cupti.flush()


def attach_window(cupti):
    cupti.register()
    cupti.enable(MEMCPY)
    window_on(cupti)


def detach_window(cupti):
    window_off(cupti)
    cupti.disable(MEMCPY)
    cupti.flush(1)
    cupti.finalize()


def nothing(cupti):
    pass


def both(*actions):
    def run(cupti):
        for action in actions:
            action(cupti)

    return run


def kinds(*which):
    return (Cupti.register, lambda cupti: cupti.enable(*which), lambda cupti: (cupti.disable(*which), cupti.flush()))


def call_kind(name, identity):
    return (Cupti.register, lambda cupti: cupti.call(name, identity, 1), lambda cupti: (cupti.call(name, identity, 0), cupti.flush()))


def copies_stay(cupti):
    cupti.register()
    cupti.enable(MEMCPY)


def only_launches(cupti):
    for call in range(1, RUNTIME_CALLS):
        if call not in LAUNCHES:
            cupti.call("cuptiActivityEnableRuntimeApi", call, 0)


def finalizing(*which, after=nothing):
    def on(cupti):
        cupti.register()
        cupti.enable(*which)
        after(cupti)

    def off(cupti):
        cupti.disable(*which)
        cupti.flush(1)
        cupti.finalize()

    return (nothing, on, off)


# set-up, on, off
STATES = {
    "control": (nothing, nothing, nothing),
    "probe": (both(Cupti.subscribe, Cupti.unsubscribe), nothing, nothing),
    "subscription": (nothing, Cupti.subscribe, Cupti.unsubscribe),
    "registered": (Cupti.register, nothing, nothing),
    "copies": kinds(MEMCPY),
    "copies_one_buffer": (both(Cupti.one_buffer, Cupti.register), kinds(MEMCPY)[1], kinds(MEMCPY)[2]),
    "copies_flush": (copies_stay, Cupti.flush, nothing),
    "kernels": kinds(KERNEL),
    "kernels_serial": kinds(SERIAL_KERNEL),
    "sync": kinds(SYNC),
    "overhead": kinds(OVERHEAD),
    "runtime": kinds(RUNTIME),
    "driver": kinds(DRIVER),
    "runtime_launch": call_kind("cuptiActivityEnableRuntimeApi", LAUNCH_RUNTIME),
    "driver_launch": call_kind("cuptiActivityEnableDriverApi", LAUNCH_DRIVER),
    "window": (copies_stay, window_on, window_off),
    "window_without_calls": (
        copies_stay,
        lambda cupti: cupti.enable(SYNC, OVERHEAD, KERNEL),
        lambda cupti: (cupti.disable(SYNC, OVERHEAD, KERNEL), cupti.flush()),
    ),
    "window_finalize": (nothing, attach_window, detach_window),
    "kernels_finalize": finalizing(KERNEL),
    "runtime_finalize": finalizing(KERNEL, RUNTIME),
    "driver_finalize": finalizing(KERNEL, DRIVER),
    "launches_finalize": finalizing(KERNEL, RUNTIME, after=only_launches),
    "copies_finalize": finalizing(MEMCPY),
    "copy_callback": (nothing, both(Cupti.subscribe, lambda cupti: cupti.callback(2, COPY_RUNTIME)), Cupti.unsubscribe),
    "launch_callback": (nothing, both(Cupti.subscribe, lambda cupti: cupti.callback(2, LAUNCH_RUNTIME)), Cupti.unsubscribe),
    "hardware_trace": (nothing, lambda cupti: cupti.call("cuptiActivityEnableHWTrace", 1), nothing),
}


def step(target):
    for _ in range(2000):
        target.add_(1)


def block(target, steps=3):
    begin = time.perf_counter()
    for _ in range(steps):
        step(target)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / steps * 1e3


def timed(action, cupti):
    begin = time.perf_counter()
    action(cupti)
    return (time.perf_counter() - begin) * 1e3


def measure(name, pairs):
    set_up, on, off = STATES[name]
    gc.disable()
    target = torch.zeros(1024, device="cuda")
    for _ in range(6):
        block(target)
    cupti = Cupti()
    base = [block(target) for _ in range(pairs)]
    set_up(cupti)
    after_set = [block(target) for _ in range(max(3, pairs // 2))]
    times = {"on": [], "off": []}
    switching = {"on": [], "off": []}
    for _ in range(pairs):
        switching["on"].append(timed(on, cupti))
        times["on"].append(block(target))
        switching["off"].append(timed(off, cupti))
        times["off"].append(block(target))
    cupti.counts = {}
    on(cupti)
    block(target)
    off(cupti)
    if "finalize" not in name and name != "control":
        cupti.finalize()
    end = [block(target) for _ in range(max(3, pairs // 2))]
    middle = statistics.median
    print(
        "%-22s base %6.2f ms  set %5.3f  on %5.3f  off %5.3f  end %5.3f  switch on %7.3f off %7.3f ms  first on %8.3f  records %4d KiB  %s  %s"
        % (
            name,
            middle(base),
            middle(after_set) / middle(base),
            middle(times["on"]) / middle(base),
            middle(times["off"]) / middle(base),
            middle(end) / middle(base),
            middle(switching["on"]),
            middle(switching["off"]),
            switching["on"][0],
            cupti.bytes // 1024,
            {KINDS.get(kind, kind): count for kind, count in sorted(cupti.counts.items())},
            cupti.failed or "",
        ),
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    for name in options.names or STATES:
        child = os.fork()
        if child == 0:
            try:
                measure(name, options.pairs)
            finally:
                sys.stdout.flush()
                os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            print("%-22s ended with %d" % (name, status), flush=True)


if __name__ == "__main__":
    main()
