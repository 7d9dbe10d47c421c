"""All cases, in the order in which they run and are printed. One file per family; a new case is one entry there and a
script in cases/."""

from . import device, handover, healthy, loop, pairs, processors, storage, workers


def all_cases():
    return (
        *workers.CASES,
        *processors.CASES,
        *storage.CASES,
        *handover.CASES,
        *loop.CASES,
        *device.CASES,
        *healthy.CASES,
        *pairs.CASES,
    )
