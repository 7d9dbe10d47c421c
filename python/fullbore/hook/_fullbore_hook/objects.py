"""A bounded walk over what an object holds, without running a line of the user's code.

Only instance dictionaries, slots, containers, closures and partials are looked at: a property, a `__getattr__` or a
`__len__` of a dataset may open files or draw random numbers, and must not be called by someone who only watches.
"""

import collections
import functools
import types

# A dataset of a million paths is one list: its first and last elements stand for all of them.
_ITEMS = 24
_NODES = 4000
_DEPTH = 7

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, types.ModuleType, type)
_SEQUENCES = (list, tuple, set, frozenset, collections.deque)
_CODE = (types.FunctionType, types.MethodType, functools.partial)


def walk(root, name="dataset", nodes=_NODES, depth=_DEPTH):
    """Yields (path, object) for `root` and everything reachable from it, breadth first, within the bounds."""
    queue = collections.deque([(name, root, depth)])
    seen = set()
    while queue and len(seen) < nodes:
        path, node, left = queue.popleft()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield path, node
        if left > 0:
            queue.extend((child_path, child, left - 1) for child_path, child in children(path, node))


def children(path, node):
    """The (path, object) pairs one step below `node`; values without content of their own are left out."""
    kind = type(node)
    if issubclass(kind, _PLAIN) or _is_logger(kind):
        return []
    if issubclass(kind, _CODE):
        found = _code_children(path, node)
    else:
        found = _items(path, node) + [(path + "." + key, value) for key, value in attributes(node).items()]
    return [(child_path, child) for child_path, child in found if not isinstance_exactly(child, _PLAIN)]


def isinstance_exactly(node, kinds):
    """isinstance by the real type: `__class__` may be a property of the user's."""
    return issubclass(type(node), kinds)


def attributes(node):
    """Instance dictionary and slots of an object, read past any `__getattribute__` of its class."""
    found = {}
    for cls in type(node).__mro__:
        for key, member in list(vars(cls).items()):
            if isinstance_exactly(member, types.MemberDescriptorType):
                try:
                    found[key] = member.__get__(node, cls)
                except AttributeError:
                    pass  # a slot that was never filled
    try:
        instance = object.__getattribute__(node, "__dict__")
    except AttributeError:
        return found
    if type(instance) is dict:
        found.update((key, value) for key, value in list(instance.items()) if type(key) is str)
    return found


def _items(path, node):
    kind = type(node)
    if issubclass(kind, dict):
        values = list(_some(list(dict.items(node))))
        return [("%s[%s]" % (path, _key(key)), value) for key, value in values]
    for base in _SEQUENCES:
        if issubclass(kind, base):
            return [("%s[%d]" % (path, index), value) for index, value in _some(list(enumerate(base.__iter__(node))))]
    return []


def _some(pairs):
    return pairs if len(pairs) <= 2 * _ITEMS else pairs[:_ITEMS] + pairs[-_ITEMS:]


def _key(key):
    return repr(key)[:40] if type(key) in (str, int, bytes) else type(key).__name__


def _code_children(path, node):
    kind = type(node)
    if issubclass(kind, types.MethodType):
        return [(path, node.__self__)]
    if issubclass(kind, functools.partial):
        pairs = [("%s.args[%d]" % (path, index), value) for index, value in enumerate(node.args)]
        pairs += [("%s.keywords[%s]" % (path, key), value) for key, value in node.keywords.items()]
        return [(path + ".func", node.func)] + pairs
    pairs = []
    for key, cell in zip(node.__code__.co_freevars, node.__closure__ or ()):
        try:
            pairs.append(("%s (variable %s)" % (path, key), cell.cell_contents))
        except ValueError:
            pass  # an empty cell
    return pairs


def _is_logger(kind):
    # A logger leads to sys.stderr and to locks, which every forked worker shares without harm.
    return any(cls.__module__ == "logging" and cls.__name__ in ("Logger", "LoggerAdapter") for cls in kind.__mro__)
