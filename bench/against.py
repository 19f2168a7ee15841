"""Compares our time in two builds, row by row: against.py FOLDER [PATTERN...].

FOLDER has the binaries base and ours. bench/against calls it. Both take turns over the
rounds of a row. A row has moved if the times differ by more than 5 %, and again when the row is
measured a second time.
"""
import sys
from pathlib import Path

import report
from driver import chosen_rows, locked, median
from workers import Worker

BUDGET_MS = 15
ROUNDS = 5
MOVED = 0.05


def far(ratio):
    """How far a ratio is from 1."""
    return abs(ratio - 1)


def compare(workers, row):
    """Our time over the time of base: by the median of the rounds or by the best of all, whichever
    is nearer to 1, since a machine's load drifts. None where a side fails."""
    ratios, least = [], {}
    for k in range(ROUNDS + 1):
        times = {}
        for name in ("base", "ours") if k % 2 else ("ours", "base"):
            reply = workers[name].ask(op="run", form="weft", budget_ms=BUDGET_MS, **row)
            if "error" in reply:
                return None, f"{name}: {reply['error']}"
            times[name] = reply["median_ns"]
            least[name] = min(least.get(name, times[name]), times[name])
        if k:  # the first round warms up
            ratios.append(times["ours"] / times["base"])
    return min(median(ratios), least["ours"] / least["base"], key=far), None


def main():
    folder, pattern = Path(sys.argv[1]), [w for a in sys.argv[2:] for w in a.split()]
    lock = locked(folder)
    moved, failed, count = [], [], 0
    for threads in (1, 2):
        log = open(folder / "workers.log", "a")
        workers = {name: Worker(name, [str(folder / name)], {"GOMAXPROCS": str(threads)}, log) for name in ("base", "ours")}
        for work, n, dtype, t in chosen_rows(pattern):
            if t != threads:
                continue
            row = {"case": work.name, "n": n, "dtype": dtype, "threads": t}
            shown = f"{work.name} {report.size(n)} {dtype} T{t}"
            first, error = compare(workers, row)
            if error:
                failed.append(f"{shown}: {error}")
                continue
            count += 1
            if far(first) <= MOVED:
                continue
            again, _ = compare(workers, row)
            if again and far(again) > MOVED and (again > 1) == (first > 1):
                moved.append((min(first, again, key=far), shown))
                print(f"{moved[-1][0]:.2f}  {shown}", flush=True)
        for worker in workers.values():
            worker.close()
    print(f"{count} rows measured, {len(moved)} moved by more than 5 % twice: {sum(r > 1 for r, _ in moved)} slower, {sum(r < 1 for r, _ in moved)} faster")
    for line in failed:
        print("failed:", line)
    lock.close()


if __name__ == "__main__":
    main()
