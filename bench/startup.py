"""Start-up of the command beside an empty Go program, and facts of the binary."""
import os
import struct
import subprocess
import time

PT_DYNAMIC, PT_INTERP = 2, 3
RUNS = 60


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


def run_ns(argv):
    start = time.perf_counter_ns()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status = os.waitpid(pid, 0)
    elapsed = time.perf_counter_ns() - start
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), argv)
    return elapsed


def measure(weft, empty):
    """Medians in ns of both programs, run in turn, and the binary's facts."""
    commands = {"weft": [str(weft), "info", "--short"], "empty": [str(empty)]}
    times = {k: [] for k in commands}
    for k in range(RUNS + 2):
        for name, argv in commands.items():
            elapsed = run_ns(argv)
            if k >= 2:  # the first two warm the page cache
                times[name].append(elapsed)
    medians = {k: sorted(v)[len(v) // 2] for k, v in times.items()}
    return medians | {"bytes": os.path.getsize(weft), "static": is_static(weft)}
