"""What stands between a probe and the program: a probe that fails ends the hook and never the training."""

from . import fail


def observes(function):
    """A probe that only looks. Returns None whatever happens, as `begin or x` needs it."""

    def probe(self, *arguments):
        try:
            function(self, *arguments)
        except Exception as error:
            fail(error)

    return probe


def passes(function):
    """A probe that is handed a value on its way; the value goes on unchanged."""

    def probe(self, value):
        try:
            function(self, value)
        except Exception as error:
            fail(error)
        return value

    return probe


class Nothing:
    """The context of a probe that has nothing to do."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return False


NOTHING = Nothing()


def contexts(function):
    """A probe that makes a context manager for the whole call."""

    def probe(self, *arguments):
        try:
            return function(self, *arguments) or NOTHING
        except Exception as error:
            fail(error)
            return NOTHING

    return probe
