"""Run by every Python of a watched command at its start. Hands over to the hook, then runs the sitecustomize that would
have run without Fullbore, with its exceptions. Whatever goes wrong here must cost the user's program nothing.
"""


def _start():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    try:
        if os.path.isdir(os.environ.get("FULLBORE_RINGS", "")):
            import _fullbore_hook

            _fullbore_hook.start()
    except Exception:
        pass
    # The user's program sees the path it would have had; the hook's modules are found through their package.
    sys.path[:] = [entry for entry in sys.path if not isinstance(entry, str) or os.path.abspath(entry) != here]
    sys.path_importer_cache.pop(here, None)
    sys.modules.pop(__name__, None)


_start()
del _start

# If there is none, this fails just as site's own import would have; site knows what to do.
import sitecustomize  # noqa: E402,F401
