"""Run by test_rewrite.py on every Python: calls each function of zoo.py with good and bad arguments before and after it
was changed, and compares results, whole tracebacks, warnings and what introspection shows. Prints "same" at the end."""

import inspect
import os
import pickle
import sys
import traceback
import warnings

sys.path[:0] = [sys.argv[1], os.path.dirname(os.path.abspath(__file__))]
import zoo  # noqa: E402
from _fullbore_hook import rewrite  # noqa: E402


class Probe:
    def __init__(self):
        self.calls = []

    def around(self, *given):
        self.calls.append("call")
        return self

    def __enter__(self):
        self.calls.append("enter")

    def __exit__(self, kind, error, trace):
        self.calls.append("exit " + (kind.__name__ if kind else "well"))

    def returned(self, value):
        self.calls.append("returned")
        return value

    def before(self, *given):
        self.calls.append("before")

    def after(self, value):
        self.calls.append("after")
        return value

    def assign(self, names, targets, *values):
        self.calls.append("assign %s" % (names,))
        given = dict(zip(names, values))
        return tuple(given[name] for name in targets)


GOOD, SHORT, ZERO, KEYED, DEEP = [4, 5, 6], [], [0, 0], {"key": 1}, [(1,), (2,), (0,)]
ARGUMENTS = [GOOD, SHORT, ZERO, KEYED, DEEP, None, [3, 3], 7]


def functions():
    inner = zoo.Zoo.Inner
    return {
        "plain": (zoo.plain, zoo.plain),
        "decorated": (zoo.decorated.__wrapped__.__wrapped__, zoo.decorated),
        "closure": (zoo.closure, zoo.closure),
        "method": (zoo.Zoo.method, zoo.Zoo().method),
        "static": (zoo.Zoo.static, zoo.Zoo.static),
        "size": (zoo.Zoo.size.fget, lambda a: (setattr(z, "_table", a), setattr(z, "_row", 0), z.size)[2]),
        "deep": (inner.deep, inner().deep),
        "conditional": (zoo.conditional, zoo.conditional),
        "with_match": (zoo.with_match, zoo.with_match),
    }


z = zoo.Zoo()


def observe(call):
    seen = []
    for argument in ARGUMENTS:
        argument = list(argument) if isinstance(argument, list) else argument
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcome = repr(call(argument))
            except Exception:
                outcome = traceback.format_exc()
        seen.append((outcome, [(str(w.message), w.filename, w.lineno) for w in caught]))
    return seen


def shown(function):
    code = function.__code__
    return (
        inspect.getsource(function),
        inspect.signature(function),
        function.__doc__,
        function.__defaults__,
        function.__kwdefaults__,
        code.co_name,
        code.co_filename,
        code.co_firstlineno,
        code.co_varnames,
        code.co_freevars,
        code.co_flags,
    )


def reset():
    zoo.GLOBAL = 0
    if zoo.closure.__closure__:
        for name, cell in zip(zoo.closure.__code__.co_freevars, zoo.closure.__closure__):
            if name == "counter":
                cell.cell_contents = 0


zoo_functions = functions()
before = {}
for name, (function, call) in zoo_functions.items():
    reset()
    before[name] = (observe(call), shown(function))
pickled = pickle.dumps(zoo.plain)

probe = Probe()
wanted = []
for name, (function, _) in zoo_functions.items():
    first = rewrite.parameters(function)[0]
    rules = rewrite.Rules(
        probe,
        context=("around", (first,)),
        assign=("assign", rewrite.parameters(function)[-1:]),
        returns="returned",
        around=[("index", "a[0]", "before", "after", ("a",)), ("any_call", "a[i]", None, "after", ())],
    )
    wanted.append((function, rules))
done, problems = rewrite.instrument(zoo, wanted)
assert len(done) == len(wanted), problems
unmatched = [signal for signal, _ in problems]
assert unmatched.count("index") == 6, problems

for name, (function, call) in zoo_functions.items():
    reset()
    del probe.calls[:]
    after = (observe(call), shown(function))
    assert "enter" in probe.calls and any(entry.startswith("exit") for entry in probe.calls), name
    if after != before[name]:
        for one, other in zip(before[name][0] + list(before[name][1]), after[0] + list(after[1])):
            if one != other:
                print("%s differs\n--- before\n%s\n--- after\n%s" % (name, one, other))
        sys.exit(1)
assert pickle.loads(pickled) is zoo.plain

rewrite.restore(done)
for name, (function, call) in zoo_functions.items():
    reset()
    del probe.calls[:]
    assert observe(call) == before[name][0] and not probe.calls, name

# Code that is not what the source says is left alone.
namespace = {}
exec(
    compile(
        "\n" * (zoo.plain.__code__.co_firstlineno - 1) + "def plain(a, b=2):\n    return a\n", zoo.__file__, "exec"
    ),
    namespace,
)
other = namespace["plain"]
done, problems = rewrite.instrument(zoo, [(other, rewrite.Rules(probe, returns="returned"))])
assert not done and problems == [("plain", "the source does not match the code that runs")], problems
print("same")
