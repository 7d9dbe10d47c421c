"""Line timing as a watched program meets it: through the hook, with workers, in the records."""

import os

import pytest

LOOP, DATASET = 0, 1
READ = 2
TRACED = 8

PROGRAM = """
import hashlib, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Files(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        with open(sys.argv[1], "rb") as file:
            data = file.read()
        return self.decode(data)
    def decode(self, data):
        hashlib.pbkdf2_hmac("sha256", b"1", b"2", 15000)
        return float(len(data)), index_of(data)

def index_of(data):
    return len(data)

def main():
    for batch in DataLoader(Files(), batch_size=4, num_workers=int(sys.argv[2])):
        time.sleep(0.02)

if __name__ == "__main__":
    main()
"""


def line_of(text):
    return next(number for number, line in enumerate(PROGRAM.split("\n"), 1) if text in line)


def shares(records, where):
    """Share of each (line, name) in the traced time."""
    rows = [record for record in records.of("Profile") if record.where == where]
    windows = {(row.ring_pid, row.window_ns, row.windows): row.window_ns for row in rows}
    total = sum(windows.values())
    found = {}
    for row in rows:
        found[row.line, row.name] = found.get((row.line, row.name), 0) + row.wall_ns / total
    return found


@pytest.mark.parametrize("workers", ["0", "2"])
def test_lines_of_dataset_and_loop_are_on_record(torch_run, tmp_path, workers):
    data = tmp_path / "data.bin"
    data.write_bytes(bytes(100000))
    records = torch_run(PROGRAM, str(data), workers).records
    assert not [record for record in records.of("Missing") if record.signal in ("lines", "profile", "hook")]
    assert {record.line_tier for record in records.of("Process")} <= {"monitoring", "windows"}

    dataset = shares(records, DATASET)
    assert dataset[line_of("pbkdf2"), ""] > 0.4
    stages = {(row.line, row.stage) for row in records.of("Profile") if row.name == "io.BufferedReader.read"}
    assert stages <= {(line_of("file.read"), READ)}  # a share below 0.1 % is left out

    loop = shares(records, LOOP)
    assert loop[line_of("time.sleep"), "time.sleep"] > 0.1
    assert loop[line_of("for batch"), "next"] > 0
    assert {os.path.basename(row.file) for row in records.of("Profile")} == {"train.py"}
    assert str(data) in {record.path for record in records.of("DataPath")}

    iterations = records.of("Next")
    assert sum(1 for record in iterations if record.flags & TRACED) <= len(iterations) // 3
