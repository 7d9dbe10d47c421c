"""--fix on every Python that is installed, with a stand-in for torch: its modules run where the hook runs."""

from pythons import STANDIN
from rings import UNKNOWN
from test_fix_hooked import changes, fix_file

SCRIPT = """
import multiprocessing, os, sys, time
from torch.utils.data import DataLoader, Dataset

PARENT = os.getpid()

class Slow(Dataset):
    def __len__(self):
        return 512
    def __getitem__(self, index):
        if len(sys.argv) > 1 and multiprocessing.current_process().name != "MainProcess":
            raise RuntimeError("only in workers")  # a probe child is no process of multiprocessing
        time.sleep(0.002)
        return [index, os.getpid()]

loader = DataLoader(Slow(), batch_size=32, collate_fn=list)
for epoch in range(2):
    rows = [row for batch in loader for row in batch]
    print([row[0] for row in rows] == list(range(512)))
assert (PARENT in {row[1] for row in rows}) == (len(sys.argv) > 1)
"""


def test_a_loader_gets_workers(bench, bare_python):
    script = bench.write(SCRIPT)
    watched = bench.watched(bare_python, script, path=[STANDIN], env=fix_file(bench.folder))
    assert (watched.code, watched.out, watched.err) == (0, "True\nTrue\n", "")
    assert changes(watched)[:3] == [
        ("keep_freed_memory", 0, 1, 1),
        ("num_workers", 0, 2, 1),
        ("persistent_workers", 0, 1, 1),
    ]


def test_workers_that_raise_are_taken_back(bench, bare_python):
    script = bench.write(SCRIPT)
    watched = bench.watched(bare_python, script, "raise", path=[STANDIN], env=fix_file(bench.folder))
    assert (watched.code, watched.out, watched.err) == (0, "True\nTrue\n", "")
    assert ("num_workers", 0, 2, 2) in changes(watched)
    assert not [record.why for record in watched.records.of("Missing") if record.signal == "hook"]
    assert {record.batch for record in watched.records.of("Next") if record.batch != UNKNOWN} >= {0, 1}
