"""The program must not notice: its path, its modules, its own sitecustomize, its signals, and our failures."""

import os

LOOP = """
import os, sys, torch
from torch.utils.data import DataLoader
%s
optimizer = torch.optim.SGD([torch.Tensor([1.0])], lr=0.1)
for batch in DataLoader([1.0] * 20, batch_size=2):
    optimizer.step()
    %s
print("done")
"""
HOOK = "import sys; hook = {name: sys.modules['_fullbore_hook.' + name] for name in %r}"
SHOW = """
import sys
import torch.utils.data.dataloader as d
print(sys.path, sys.flags, sys.argv)
print(sorted(name for name in sys.modules if "customize" in name), sys.modules.get("sitecustomize"))
for module in (d, torch.utils.data._utils.fetch, sys.modules["torch.optim.optimizer"]):
    print(type(module.__spec__), module.__loader__, module.__spec__.loader is module.__loader__, vars(module.__spec__))
loader = d.DataLoader([1, 2], batch_size=2)
iterator = iter(loader)
print(vars(loader).keys(), vars(iterator).keys(), type(iterator))
print([vars(kind).keys() for kind in type(iterator).__mro__])
import threading; print([thread.name for thread in threading.enumerate()])
"""


def missing(watched, signal="hook"):
    return [record.why for record in watched.records.of("Missing") if record.signal == signal]


def test_path_modules_and_attributes_are_as_without(torch_run):
    script = (
        "import builtins, re, torch\ndef print(*a): builtins.print(re.sub('0x[0-9a-f]+', '', ' '.join(map(str, a))))\n"
        + SHOW
    )
    watched = torch_run(script, way="both")
    assert watched.code == 0 and watched.records.of("Next") == []


def test_the_users_own_sitecustomize_runs_as_ever(bench, bare_python):
    folder = bench.folder / "own"
    folder.mkdir()
    script = bench.write("import sys; print(sys.modules.get('sitecustomize'), sys.path)")
    for text in ("print('mine', __name__, __file__)", "1 / 0", "import absent_module"):
        (folder / "sitecustomize.py").write_text("import sys\nprint(sys.path)\n" + text)
        bench.both(bare_python, script, path=[str(folder)], env={"PYTHONDONTWRITEBYTECODE": "1"})


def test_a_program_without_torch_gets_an_import_finder_and_nothing_else(bench, bare_python):
    code = (
        "import sys; print(sorted(name for name in sys.modules if 'ctypes' in name or 'fullbore' in name));"
        "print([type(finder) for finder in sys.meta_path][1:])"
    )
    watched = bench.watched(bare_python, "-c", code)
    assert watched.out.split("\n")[0] == "['_fullbore_hook', '_fullbore_hook.finder']"
    assert watched.records == [] and (watched.code, watched.err) == (0, "")


def test_without_a_place_for_rings_it_does_nothing(torch_run):
    for env in ({"FULLBORE_RINGS": ""}, {"FULLBORE_RINGS": "/nowhere"}, {"FULLBORE_RECORD_LIB": "/dev/null"}):
        watched = torch_run(LOOP % ("", ""), way="both", env=env)
        assert watched.out == "done\n" and watched.records == []


def test_a_process_of_its_own_making_is_watched_too(torch_run):
    script = LOOP % (
        "",
        """pass
pid = os.fork()
for batch in DataLoader([1.0] * 4, batch_size=2): pass
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0""",
    )
    records = torch_run(script, way="both").records
    counts = {}
    for record in records.of("Next"):
        counts[record.ring_pid] = counts.get(record.ring_pid, 0) + 1
    assert sorted(counts.values()) == [3, 14]
    assert len([p for p in records.of("Process") if p.role == 1]) == 2


def test_an_error_of_the_hook_ends_it_and_not_the_program(torch_run):
    for place in ("loading.iterators'].IteratorState.wait_begins", "records'].batch", "records'].step"):
        change = (HOOK % (["loading.iterators", "records"],)) + "; hook['%s = int.__truediv__" % place
        watched = torch_run(LOOP % (change, ""), way="watched")
        assert (watched.code, watched.out, watched.err) == (0, "done\n", "")
        (why,) = missing(watched)
        assert why.startswith("TypeError: ")


def test_an_error_of_a_signal_handler_is_the_programs_own(torch_run):
    # The signal arrives while a probe runs; what the handler raises must reach the training loop.
    change = (
        (HOOK % (["loading.maker"],))
        + """
import signal
class Alarm(Exception): pass
def handler(number, frame): raise Alarm("from the handler")
signal.signal(signal.SIGALRM, handler)
clock, calls = hook["loading.maker"]._clock, []
def ringing():
    calls.append(1)
    if len(calls) == 20: os.kill(os.getpid(), signal.SIGALRM)
    return clock()
hook["loading.maker"]._clock = ringing"""
    )
    watched = torch_run(LOOP % (change, ""), way="watched")
    assert watched.code == 1 and watched.err.strip().endswith("Alarm: from the handler"), watched.err
    assert not missing(watched)


def test_the_end_of_the_observation_gives_torch_its_functions_back(torch_run):
    stop = """
    if len(sys.argv) == 1:
        import glob, mmap
        probes = lambda: [c for c in DataLoader.__init__.__code__.co_consts if "fullbore" in repr(c)]
        assert probes()
        for path in glob.glob(os.environ["FULLBORE_RINGS"] + "/*.ring"):
            with open(path, "r+b") as file:
                mmap.mmap(file.fileno(), 4096)[192:196] = b"\\1\\0\\0\\0"
        sys.argv.append("stopped")
    elif len(sys.argv) < 3:
        sys.argv.append("later")
    else:
        assert not probes()"""
    watched = torch_run(LOOP % ("", stop), way="watched")
    assert (watched.code, watched.out, watched.err) == (0, "done\n", "")
    assert len(watched.records.of("Next")) == 1


def test_code_that_is_not_what_its_source_says_is_left_alone_and_named(bench, bare_python, tmp_path):
    import shutil

    from_conftest = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin")
    copy = tmp_path / "changed"
    shutil.copytree(from_conftest, str(copy))
    fetch = copy / "torch" / "utils" / "data" / "_utils" / "fetch.py"
    text = fetch.read_text()
    fetch.write_text(
        text.replace(
            "data = [self.dataset[idx] for idx in possibly_batched_index]",
            "data = list(map(self.dataset.__getitem__, possibly_batched_index))",
        )
    )
    watched = bench.both(bare_python, bench.write(LOOP % ("", "")), path=[str(copy)])
    assert missing(watched, "sample") == ["the code to be timed is not there"]
    assert len(watched.records.of("Next")) == 11 and not watched.records.of("Sample")
    assert {batch.samples for batch in watched.records.of("Batch")} == {0}


def test_isolated_and_site_less_interpreters_are_simply_not_watched(bench, bare_python):
    for flag in ("-I", "-E", "-S"):
        watched = bench.both(bare_python, flag, "-c", "import sys; print('_fullbore_hook' in sys.modules)")
        assert watched.out == "False\n"
