"""Tells when a module of torch has been imported, without standing in its way: the module is found, loaded and executed
as ever. Only the class of its spec is ours until the import system marks it as complete; no frame of ours can be in a
traceback out of the import, and nothing remains.
"""

import sys
from importlib.machinery import ModuleSpec

# Module to wait for: (module of this package, function called with it).
TRIGGERS = {
    "torch.utils.data.dataloader": ("loading.loader", "install"),
    "torch.utils.data.dataset": ("loading.worker", "install_dataset"),
    "torch.utils.data._utils.fetch": ("loading.worker", "install_fetch"),
    "torch.utils.data._utils.worker": ("loading.worker", "install_worker"),
    "torchdata.stateful_dataloader.worker": ("loading.worker", "install_worker"),
    "torchdata.stateful_dataloader.stateful_dataloader": ("loading.loader", "install_stateful"),
    "torch.optim.optimizer": ("training", "install_optimizer"),
    "torch.serialization": ("training", "install_save"),
    "torch.distributed.checkpoint.state_dict_saver": ("training", "install_save"),
    "safetensors.torch": ("training", "install_save"),
    "torch.autograd.profiler": ("training", "install_profiler"),
    "torch.nn.parallel.distributed": ("parallel", "install"),
    "torch.cuda.graphs": ("graphs", "install"),
}

_done = set()


class _Spec(ModuleSpec):
    """A spec that reports the end of its module's import. `_initializing` is set by importlib around the execution."""

    @property
    def _initializing(self):
        return self.__dict__.get("_initializing", False)

    @_initializing.setter
    def _initializing(self, value):
        self.__dict__["_initializing"] = value
        if not value:
            self.__class__ = ModuleSpec
            _imported(self.name)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in TRIGGERS or name in _done:
            return None
        for finder in sys.meta_path:
            find_spec = None if finder is _Finder else getattr(finder, "find_spec", None)
            spec = find_spec(name, path, target) if find_spec else None
            if spec is not None:
                if type(spec) is ModuleSpec:
                    spec.__class__ = _Spec
                return spec
        return None


def install():
    """Waits for the modules; those that are there already are taken at once (a hook started late)."""
    sys.meta_path.insert(0, _Finder)
    for name in TRIGGERS:
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            _imported(name)


def uninstall(keep=()):
    """Gives torch's functions their own code back, except those that the parts in `keep` have changed."""
    try:
        sys.meta_path.remove(_Finder)
    except ValueError:
        pass
    for name in ("loading.loader", "loading.worker", "training", "parallel", "graphs", "process"):
        module = sys.modules.get(__package__ + "." + name)
        if module is not None and name not in keep:
            module.uninstall()
    _done.clear()


def _imported(name):
    from . import fail, part

    module = sys.modules.get(name)
    if module is None or name in _done:
        return
    _done.add(name)
    hook, function = TRIGGERS[name]
    try:
        hook = part(hook)
        if hook is not None:
            getattr(hook, function)(module)
    except Exception as error:
        fail(error)
