"""The watched side of bench/overhead: an ordinary loop over rows in memory. Prints, as its last line, the thread CPU time
and the wall time per step of its steady part, in microseconds, as JSON."""
import argparse
import json
import time

from torch.utils.data import DataLoader


class Rows:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return index


def busy_until(deadline):
    while time.perf_counter() < deadline:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--step-ms", type=float, default=0.0, help="the loop body keeps its core busy for so long")
    args = parser.parse_args()
    loader = DataLoader(Rows(args.steps * args.batch_size), batch_size=args.batch_size, num_workers=args.workers, collate_fn=list)
    warm_up = args.steps // 2
    step, total = 0, 0
    for batch in loader:
        total += len(batch)
        if args.step_ms:
            busy_until(time.perf_counter() + args.step_ms / 1e3)
        step += 1
        if step == warm_up:
            cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
    steps = step - warm_up
    print(json.dumps({"cpu_us": (time.thread_time_ns() - cpu) / steps / 1e3,
                      "wall_us": (time.perf_counter_ns() - wall) / steps / 1e3, "samples": total}))


if __name__ == "__main__":
    main()
