"""Measures what the interpreter itself adds to each traced event, to be taken off what lies between two events.

Without it code of many short lines or calls would look several times slower, next to one long C call, than it is.
"""

from . import stages
from .ledger import Ledger

_ROUNDS = 3
_REPEATS = 50


def dispatch_ns(tracer, clock):
    """Nanoseconds per event on this machine with this tracer; takes about a millisecond."""
    ledger = Ledger(stages.DATASET)
    tracer.adopt((_work, _inner), ledger)
    plain, charged = [], []
    for _ in range(_ROUNDS):
        begin = clock()
        _work(_REPEATS)
        plain.append(clock() - begin)
        tracer.begin(ledger, (), 1 << 62, 1 << 62)
        _work(_REPEATS)
        tracer.end()
        charged.append(ledger.window_ns())
        ledger.discard()
    tracer.release(ledger.where)
    return max(0, (min(charged) - min(plain)) // max(tracer.events, 1))


def _work(repeats):
    total = 0
    for number in range(repeats):
        total += _inner(number)
        total -= abs(number)
    return total


def _inner(number):
    return number + 1
