"""What speaks against giving a loader workers, and how they would be started. Every answer is a reason to print, or ""."""

import ast
import multiprocessing
import sys
import threading

from . import handles


def why_left_alone(view, method):
    data = sys.modules["torch.utils.data"]
    if multiprocessing.current_process().daemon:
        return "this process is daemonic and may not start workers"
    if view.loader_type is not None and _own_iterators(view.loader_type, data.DataLoader):
        return "%s makes iterators of its own kind" % view.loader_type.__name__
    if not view.auto_collation:
        return "batch_size=None: the dataset makes the batches itself"
    pipe = _datapipe(view.dataset)
    if pipe:
        return pipe
    if view.iterable:
        why = _why_iterable(view)
        if why:
            return why
    if method != "fork" and _in_unreachable_main(view):
        return "the dataset is defined in a program that a worker started by %s cannot import" % method
    parts = ((view.dataset, "dataset"), (view.collate, "collate_fn"), (view.worker_init, "worker_init_fn"))
    for part, name in parts:
        why = handles.why_not_shared(part, name) if part is not None else None
        if why:
            return why
    return _why_sampler(view.index_sampler)


def _why_iterable(view):
    if not handles.shards_itself(view.dataset):
        return "an iterable dataset that does not share its samples out between workers: each would give all of them"
    if view.drop_last:
        return "drop_last with an iterable dataset: every worker would drop its own last batch"
    if any("__len__" in vars(cls) for cls in type(view.dataset).__mro__):
        return "an iterable dataset with a length: the number of batches would differ from len(loader)"
    return ""


def _why_sampler(sampler):
    for path, node in handles.walk(sampler, "sampler") if sampler is not None else ():
        what = None if handles.is_random_generator(node) else handles.describe(node)
        if what is not None:
            return "%s is %s" % (path, what)
    return ""


def _datapipe(dataset):
    for cls in type(dataset).__mro__:
        if cls.__name__ in ("IterDataPipe", "MapDataPipe"):
            return "a DataPipe: how it shares samples out between workers is not looked into"
    return ""


def _own_iterators(kind, base):
    return kind._get_iterator is not base._get_iterator or kind.__module__.startswith("torchdata.")


def start_method(view):
    """(start method, context to set instead of the default or None, reason against workers)."""
    chosen = view.context
    if chosen is not None:
        method = chosen if isinstance(chosen, str) else chosen.get_start_method()
    else:
        # With allow_none this does not settle the default, which the script may still want to set.
        method = multiprocessing.get_start_method(allow_none=True)
    explicit = method is not None
    method = method or multiprocessing.get_all_start_methods()[0]
    if method == "fork" or not main_runs_again():
        return method, None, ""
    if not explicit and threading.active_count() == 1:
        return "fork", sys.modules["torch"].multiprocessing.get_context("fork"), ""
    return (
        method,
        None,
        ('a worker started by %s would run the script again: it has no `if __name__ == "__main__"`' % method),
    )


def main_runs_again():
    """True if a spawned process that imports the script would do its work a second time."""
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    if path is None:
        return False
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return True
    return not any(_is_guard(node) for node in body) and any(_works(node) for node in body)


def _is_guard(node):
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def _works(node):
    """A statement that does more than define: a loop, a call for its effect, a with block."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.For, ast.While, ast.With, ast.Try, ast.If))


def _in_unreachable_main(view):
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None) is not None or getattr(main, "__spec__", None) is not None:
        return False
    return any(getattr(part, "__module__", None) == "__main__" for part in (type(view.dataset), view.collate))
