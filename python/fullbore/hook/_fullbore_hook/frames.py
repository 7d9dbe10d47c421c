"""Tells the user's code from the library code around it, and finds the statement from which something was called."""

import ast
import collections
import os
import sys

# Where a call stands: absolute file, first and last line, and those lines of source as they are ("" if not found).
Location = collections.namedtuple("Location", "file line end_line code")

# The package that the hook lies in: its prefetching stands between the user's loop and the loader.
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_LIBRARY_PARTS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_NOTEBOOK = ("<ipython-input", "<stdin>")
_known = {}


def is_user_file(filename):
    """True for a file of the user's: not in an installed package, in torch, in the standard library, or here."""
    known = _known.get(filename)
    if known is None:
        known = _known[filename] = _judge(filename)
    return known


def is_user_frame(frame):
    # The program of `python -c` is "<string>", as is generated code, which has another module name.
    filename = frame.f_code.co_filename
    return is_user_file(filename) or (filename == "<string>" and frame.f_globals.get("__name__") == "__main__")


def _judge(filename):
    if filename.startswith("<"):
        return filename.startswith(_NOTEBOOK)
    path = os.path.abspath(filename)
    if path.startswith(_OWN) or any(part in path for part in _LIBRARY_PARTS):
        return False
    torch = sys.modules.get("torch")
    torch_file = getattr(torch, "__file__", None)
    if torch_file and path.startswith(os.path.dirname(os.path.abspath(torch_file)) + os.sep):
        return False
    return not path.startswith(_STANDARD_LIBRARY)


def asking(frame):
    """The frame that asked a loader for its next batch, from `frame` outwards: not torch's own, nor a `__next__` that a
    loader's own subclass puts in between.
    """
    while frame is not None and frame.f_globals.get("__name__", "").startswith(("torch.utils.data.", "torchdata.")):
        frame = frame.f_back
    return frame


def user_frame(frame):
    """(nearest frame of user code from `frame` outwards or None, whether library frames lay before it)."""
    passed = False
    while frame is not None:
        if is_user_frame(frame):
            return frame, passed
        # torch's own frame is expected in between
        passed = passed or not frame.f_globals.get("__name__", "").startswith("torch.")
        frame = frame.f_back
    return None, passed


def user_place(frame):
    """(absolute file, line) of the nearest user code from `frame` outwards; ("", None) if there is none."""
    user, _ = user_frame(frame)
    return ("", None) if user is None else (absolute(user.f_code.co_filename), user.f_lineno)


def absolute(filename):
    return filename if filename.startswith("<") else os.path.abspath(filename)


def call_location(frame, callee):
    """Location of the call that `frame` is executing; `callee` is the name it probably goes by."""
    line = frame.f_lineno
    end_line, code = line, ""
    source = source_of(frame)
    if source is not None:
        span = _running_span(frame) or _parsed_span(source, line, callee)
        if span is not None:
            line, end_line, code = span[0], span[2], _text(source, span)
    return Location(absolute(frame.f_code.co_filename), line, end_line, code)


def source_of(frame):
    filename = frame.f_code.co_filename
    try:
        with open(filename, "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, ValueError):
        linecache = sys.modules.get("linecache")  # where notebooks keep their cells
        return "".join(linecache.getlines(filename)) or None if linecache else None


def _running_span(frame):
    """(line, column, end line, end column) of the running instruction; columns count UTF-8 bytes. Python 3.11+."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    for number, (line, end_line, column, end_column) in enumerate(positions()):
        if number == frame.f_lasti // 2:
            return None if None in (line, end_line, column, end_column) else (line, column, end_line, end_column)
    return None


def _parsed_span(source, line, callee):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno <= line <= node.end_lineno:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            rank = (name != callee, node.lineno != line, node.end_lineno - node.lineno)
            if best is None or rank < best[0]:
                best = (rank, (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
    return None if best is None else best[1]


def _text(source, span):
    return "\n".join(source.split("\n")[span[0] - 1 : span[2]]).replace("\r", "")
