"""What a code object or a callable is to the account: the user's, a model, a stage, or nothing of interest."""

import sys
import types

from . import stages
from ..frames import is_user_file, is_user_frame
from .ledger import MODEL, PLAIN, USER

FALLBACK = 3  # carries lines when nothing of the user's is on the stack: the nearest frame outside torch

# Methods of the user's that frameworks call below a model's call (distributed wrappers do); they still carry lines.
LOOP_METHODS = frozenset(("training_step", "compute_loss", "train_step", "training_loop", "optimizer_step"))
_MODEL_CALLS = frozenset(
    ("Module._wrapped_call_impl", "Module._call_impl", "Module.__call__", "_wrapped_call_impl", "_call_impl")
)
_NOT_A_FALLBACK = frozenset(("torch", "torchdata", "accelerate", "threading", "tqdm"))


class Info:
    """kind, and the stage and name of a callee (stage None: its time is its caller's)."""

    __slots__ = ("kind", "stage", "name")

    def __init__(self, kind, stage=None, name=""):
        self.kind = kind
        self.stage = stage
        self.name = name


NOTHING = Info(PLAIN)


def of_code(code, module, qualname, where):
    """Info of a Python function: `module` is its globals' __name__, `qualname` as complete as the caller knows it."""
    if is_user_function(code, module):
        return Info(USER)
    if where == stages.LOOP and module == "torch.nn.modules.module" and qualname in _MODEL_CALLS:
        return Info(MODEL, stages.MODEL, "torch.nn.Module")
    hit = stages.classify(module, qualname, where)
    if hit:
        return Info(PLAIN, *hit)
    if where != stages.LOOP and not is_library_frame(code, module):
        return Info(FALLBACK)
    return NOTHING


def is_library_frame(code, module):
    """True for torch, this hook and the standard library: never the place a person would look at."""
    head = (module or "").split(".", 1)[0]
    return head in _NOT_A_FALLBACK or head == __name__.split(".", 1)[0] or _in_standard_library(code.co_filename)


def is_user_function(code, module):
    """True for the user's code, the program of `python -c` included."""
    return is_user_file(code.co_filename) or (code.co_filename == "<string>" and module == "__main__")


def _in_standard_library(filename):
    return not is_user_file(filename) and "-packages" not in filename


def of_frame(frame, where):
    """Info of a frame that has just begun."""
    code = frame.f_code
    return of_code(code, frame.f_globals.get("__name__") or "", qualname_of_frame(frame), where)


def qualname_of_frame(frame):
    """co_qualname, or before Python 3.11 the same from the class of the first argument."""
    code = frame.f_code
    name = getattr(code, "co_qualname", None)
    if name is not None or is_user_file(code.co_filename):
        return name or code.co_name
    if code.co_argcount and code.co_varnames[0] in ("self", "cls"):
        first = frame.f_locals.get(code.co_varnames[0])
        owner = first if issubclass(type(first), type) else type(first)
        for base in type.mro(owner) if owner is not type else ():
            function = base.__dict__.get(code.co_name)
            function = getattr(function, "__func__", function)
            if getattr(function, "__code__", None) is code:
                return base.__qualname__ + "." + code.co_name
    return code.co_name


def of_builtin(function, where):
    """Info of a C function or bound C method."""
    owner = getattr(function, "__self__", None)
    if owner is None or issubclass(type(owner), types.ModuleType):
        return _info(function.__module__ or getattr(owner, "__name__", ""), function.__name__, where)
    kind = owner if issubclass(type(owner), type) else type(owner)
    return of_method(kind, function.__name__, where)


def of_method(kind, name, where):
    """Info of the C method `name` of the type `kind`, found where it was defined."""
    for base in type.mro(kind) if kind is not type else (kind,):
        if name in base.__dict__:
            kind = base
            break
    return _info(kind.__module__, kind.__qualname__ + "." + name, where)


def of_class(kind, where):
    return _info(kind.__module__, kind.__qualname__, where)


def is_module_instance(value):
    """True for a torch.nn.Module, told by its class alone."""
    return any(
        base.__module__ == "torch.nn.modules.module" and base.__name__ == "Module" for base in type(value).__mro__
    )


def function_of(kind, name):
    """The Python function behind `kind.name`, or None. Looks in the classes' own dictionaries: runs no user code."""
    for base in kind.__mro__:
        if name in base.__dict__:
            function = base.__dict__[name]
            function = getattr(function, "__func__", function)
            return function if isinstance(function, types.FunctionType) else None
    return None


def _is_user_module(module):
    """True for a module of the user's that may share its name with a library ("datasets")."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return isinstance(file, str) and is_user_file(file)


def _info(module, qualname, where):
    if not isinstance(module, str) or _is_user_module(module):
        return NOTHING
    hit = stages.classify(module, qualname, where)
    return Info(PLAIN, *hit) if hit else NOTHING


def carriers(frame):
    """Frames on the stack from `frame` outwards that carry lines, outermost first: the user's, or the nearest other."""
    found = []
    nearest = None
    depth = 0
    while frame is not None and depth < 200:
        code = frame.f_code
        if is_user_frame(frame):
            found.append(frame)
        elif nearest is None and not found and not is_library_frame(code, frame.f_globals.get("__name__") or ""):
            nearest = frame
        frame = frame.f_back
        depth += 1
    if not found and nearest is not None:
        found.append(nearest)
    found.reverse()
    return found
