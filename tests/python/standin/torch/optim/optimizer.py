import functools
from collections import OrderedDict
from itertools import chain

from ..autograd.profiler import record_function

_global_optimizer_pre_hooks = OrderedDict()
_global_optimizer_post_hooks = OrderedDict()


class _Handle:
    def __init__(self, hooks, key):
        self._hooks, self._key = hooks, key

    def remove(self):
        self._hooks.pop(self._key, None)


def register_optimizer_step_pre_hook(hook):
    _global_optimizer_pre_hooks[id(hook)] = hook
    return _Handle(_global_optimizer_pre_hooks, id(hook))


def register_optimizer_step_post_hook(hook):
    _global_optimizer_post_hooks[id(hook)] = hook
    return _Handle(_global_optimizer_post_hooks, id(hook))


class Optimizer:
    def __init__(self, params, lr=0.1):
        self.param_groups = [{"params": list(params), "lr": lr}]
        self._patch_step_function()

    @staticmethod
    def profile_hook_step(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            self, *_ = args
            with record_function("Optimizer.step"):
                for pre_hook in chain(_global_optimizer_pre_hooks.values()):
                    pre_hook(self, args, kwargs)
                out = func(*args, **kwargs)
                for post_hook in chain(_global_optimizer_post_hooks.values()):
                    post_hook(self, args, kwargs)
                return out

        return wrapper

    def _patch_step_function(self):
        hooked = getattr(self.__class__.step, "hooked", None)
        if not hooked:
            self.__class__.step = self.profile_hook_step(self.__class__.step)
            self.__class__.step.hooked = True

    def step(self, closure=None):
        raise NotImplementedError
