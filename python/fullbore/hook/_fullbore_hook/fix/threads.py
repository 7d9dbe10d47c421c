"""Limits the threads of the libraries that this process has loaded: torch, OpenCV, BLAS, OpenMP, MKL."""

import ctypes
import os
import sys

# In the file name of a library: what sets its number of threads.
_SETTERS = {
    "openblas": (
        "openblas_set_num_threads",
        "openblas_set_num_threads64_",
        "scipy_openblas_set_num_threads",
        "scipy_openblas_set_num_threads64_",
    ),
    "libblis": ("bli_thread_set_num_threads",),
    "libmkl_rt": ("MKL_Set_Num_Threads",),
    "libgomp": ("omp_set_num_threads",),
    "libiomp": ("omp_set_num_threads",),
    "libomp": ("omp_set_num_threads",),
}


def limit(count):
    """Lets each library use `count` threads from now on; those that cannot be told keep their own. Never raises."""
    for one in (_limit_torch, _limit_opencv, _limit_libraries):
        try:
            one(count)
        except Exception:
            pass


def _limit_torch(count):
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)


def _limit_opencv(count):
    cv2 = sys.modules.get("cv2")
    if cv2 is not None:
        cv2.setNumThreads(count if count > 1 else 0)  # 1 still starts a pool


def _limit_libraries(count):
    for path in sorted(_loaded()):
        name = os.path.basename(path)
        for part, setters in _SETTERS.items():
            if part in name:
                _call_first(ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 4)), setters, count)


def _call_first(library, setters, count):
    for setter in setters:
        function = getattr(library, setter, None)
        if function is not None:
            function(ctypes.c_int(count))
            return


def _loaded():
    """Paths of the shared libraries that are mapped."""
    with open("/proc/self/maps") as maps:
        fields = (line.split(None, 5) for line in maps)
        return {one[5].strip() for one in fields if len(one) == 6 and ".so" in one[5]}
