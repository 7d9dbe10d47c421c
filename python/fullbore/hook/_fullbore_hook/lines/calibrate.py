"""Measures what the interpreter itself adds to each traced event, to be taken off what lies between two events.

Without it code of many short lines or calls would look several times slower, next to one long C call, than it is.
"""

from . import stages
from .ledger import NS, Ledger

_ROUNDS = 3
_REPEATS = 40
_NEVER = 1 << 62
_MOST_NS = 3000  # more was another process in every round


def calibrate(tracer, clock):
    """Sets the tracer's dispatch_ns and skip_ns as they are on this machine; takes about two milliseconds."""
    ledger = Ledger(stages.DATASET)
    tracer.adopt((_calling,), ledger, lines=False)
    tracer.adopt((_work, _inner), ledger, lines=True)
    tracer.dispatch_ns = tracer.skip_ns = 0
    tracer.skip_ns = min(_added_ns(tracer, ledger, clock, _calling) // max(tracer.skipped, 1), _MOST_NS)
    tracer.dispatch_ns = min(_added_ns(tracer, ledger, clock, _work) // max(tracer.events, 1), _MOST_NS)
    tracer.release(ledger.where)


def _added_ns(tracer, ledger, clock, function):
    """What tracing adds to the account of `function`; the least disturbed of a few rounds."""
    plain, charged = [], []
    for _ in range(_ROUNDS):
        begin = clock()
        function(_REPEATS)
        plain.append(clock() - begin)
        tracer.begin(ledger, (), _NEVER, _NEVER)
        function(_REPEATS)
        tracer.end()
        charged.append(ledger.window_ns() + ledger.nowhere[NS])
        ledger.discard()
        ledger.nowhere[NS] = 0
    return max(0, min(charged) - min(plain))


def _work(repeats):
    total = 0
    for number in range(repeats):
        total += _inner(number)
        total -= 1
    return total


def _inner(number):
    return number + 1


def _calling(repeats):
    for number in range(repeats):
        abs(number)
        abs(number)
