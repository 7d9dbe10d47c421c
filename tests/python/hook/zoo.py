"""Functions of every make, for check_rewrite.py to change in place."""

from __future__ import annotations

import functools
import warnings


def plain(a, b=2):
    """Docstring."""
    return [a[i] for i in range(b)]


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@traced
@traced
def decorated(a):
    warnings.warn("from decorated", stacklevel=2)
    return a["key"]


def make_closure(zeta, alpha):
    counter = 0

    def inner(a):
        nonlocal counter
        counter += 1
        warnings.warn(
            "from inner %d" % counter,
            stacklevel=1,
        )
        return zeta + alpha(
            a[0],
            1 / a[1],
        )

    return inner


closure = make_closure(1, lambda x, y: x + y)
GLOBAL = 0


class Base:
    def method(self, a):
        return a[0]


class Zoo(Base):
    __secret = 5

    def method(self, a):
        global GLOBAL
        GLOBAL += self.__secret
        try:
            return super().method(a) + __class__.__secret
        except KeyError:
            raise ValueError("no such thing") from None
        finally:
            self.__done = True

    @staticmethod
    def static(a, *, scale=1, **rest):
        with open("/dev/null") as file:
            for x in a:
                if x == 3:
                    continue
                yield_nothing = file.read()
                if x > 3:
                    return (lambda y: y[x])(a)
        return scale, rest, yield_nothing

    @property
    def size(self):
        return self._table[self._row][0]

    class Inner:
        def deep(self, a):
            class Local(Zoo):
                def method(self, b):
                    return super().method(b)

            return Local().method(a)


if True:

    def conditional(a: int, /, b: str = "x") -> list[int]:
        while True:
            try:
                value = a[0]
            except IndexError as error:
                raise RuntimeError(f"wrapped {error!r} of {len(a)}") from error
            else:
                return value, [
                    other[0]
                    for other in a[1:]
                    if other[0]
                ]


def with_match(a):
    del a[0]
    assert a, "nothing left"
    return sum(x / a[0] for x in a)
