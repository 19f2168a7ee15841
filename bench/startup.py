"""Start-up of the command beside an empty Go program, facts of the binary, and a whole program
that trains beside the same in PyTorch."""
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

PT_DYNAMIC, PT_INTERP = 2, 3
RUNS = 60
SCRIPT_RUNS = 7
KIB = 1024 if sys.platform != "darwin" else 1  # the unit of the peak that the system tells


def is_static(path):
    """Whether an ELF file asks for no dynamic loader; None for another format."""
    with open(path, "rb") as f:
        head = f.read(64)
        if head[:4] != b"\x7fELF" or head[4] != 2:
            return None
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        f.seek(offset)
        table = f.read(size * count)
    kinds = {struct.unpack_from("<I", table, k * size)[0] for k in range(count)}
    return not kinds & {PT_DYNAMIC, PT_INTERP}


def run(argv):
    """How long a process took, in ns, and the most bytes that were resident."""
    start = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, use = os.wait4(pid, 0)
    elapsed = time.perf_counter_ns() - start
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), argv)
    return elapsed, use.ru_maxrss * KIB


def median(v):
    return sorted(v)[len(v) // 2]


def measure(weft, empty):
    """Medians in ns of both programs, run in turn, and the binary's facts."""
    commands = {"weft": [str(weft), "info", "--short"], "empty": [str(empty)]}
    times = {k: [] for k in commands}
    for k in range(RUNS + 2):
        for name, argv in commands.items():
            elapsed, _ = run(argv)
            if k >= 2:  # the first two warm the page cache
                times[name].append(elapsed)
    medians = {k: median(v) for k, v in times.items()}
    return medians | {"bytes": os.path.getsize(weft), "static": is_static(weft)}


def measure_script(script):
    """Medians of a training program from its start to the end of its second step, ours and
    PyTorch's in turn: ns and the most bytes resident."""
    commands = {"weft": [str(script)], "torch": [sys.executable, str(Path(__file__).with_name("script") / "lenet.py")]}
    seen = {k: [] for k in commands}
    for k in range(SCRIPT_RUNS + 1):
        for name, argv in commands.items():
            one = run(argv)
            if k:  # the first warms the page cache
                seen[name].append(one)
    return {name: {"ns": median([ns for ns, _ in v]), "bytes": median([b for _, b in v])} for name, v in seen.items()}
