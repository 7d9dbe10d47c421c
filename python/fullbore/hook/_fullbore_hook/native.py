"""The probes that run within every `next` of the user's loop, from the extension module beside libfullbore_record.so:
with cold caches, as after a training step, each Python function of ours would cost its microsecond. Importing this
fails where that module cannot be loaded (PyPy, a Python without a GIL); what needs it is then reported as missing.
"""

import os
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec

from . import environment


def _load():
    if sys.implementation.name != "cpython":
        raise ImportError("this Python is " + sys.implementation.name + "; the probes need CPython")
    if not getattr(sys, "_is_gil_enabled", bool)() and hasattr(sys, "_is_gil_enabled"):
        raise ImportError("this Python runs without a GIL; the probes need one")
    path = os.path.join(os.path.dirname(environment.LIBRARY), "_fullbore_probes.abi3.so")
    name = __package__ + "._fullbore_probes"
    loader = ExtensionFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    module = loader.create_module(spec)
    loader.exec_module(module)
    return module


probes = _load()
