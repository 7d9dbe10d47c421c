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
    if "t" in sys.abiflags:
        # also with PYTHON_GIL=1: its objects are laid out in another way
        raise ImportError("this Python was built to run without a GIL; the probes need one that was not")
    path = os.path.join(os.path.dirname(environment.LIBRARY), "_fullbore_probes.abi3.so")
    name = __package__ + "._fullbore_probes"
    loader = ExtensionFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    module = loader.create_module(spec)
    loader.exec_module(module)
    return module


probes = _load()
