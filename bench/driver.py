"""Runs the table of works, ours and the peers' interleaved, and reports.

Usage: driver.py CACHE OURS_BINARIES [--quick] [PATTERN...]; bench/run calls it.
"""
import datetime
import fcntl
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import report
import startup
from settings import settings
from table import SIZE, WORKS
from workers import Crew

HEAT_MS = 10  # time of one request in the heat
FINAL_MS = 25  # and in each round of the final
ROUNDS = 7
CLOSE = 1.3  # peers within this factor of the best of the heat reach the final
FINALISTS = 4
QUICK_ROUNDS = 3  # of ours and the best peer alone
STALLED = 1.2  # see ratio
FACTS = ("memory, scope", "memory, no scope", "stop the world", "planning", "compiling", "tracked, beside ragged", "plain attention", "plain attention, scope", "plain new sizes",
         "onnx, first result", "onnx, new length")  # values of bench/ours/process.go, planning.go, compiling.go, tracked.go, plain.go and exported.go
BESIDE_PEER = {"onnx, first result": "onnx", "onnx, new length": "onnx"}  # facts that a peer has too, and the subject of its setting
THREADS_OF_FACTS = 2
NOT_FOR = "not for "  # is in the error of a formulation that there is not for a row
COLLECTED, YARDSTICK = "left to the collector", "yardstick"  # as in bench/ours/registry.go
TOLERANCE = {"float32": 1e-4, "complex64": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}  # others 1e-9


def median(v):
    return sorted(v)[len(v) // 2]


class Contestant:
    """One formulation in one setting."""

    def __init__(self, worker, form, setting=None):
        self.worker, self.setting = worker, setting
        self.form, self.lib, self.counts = form["form"], form["lib"], form.get("counts", True)
        self.heat, self.check, self.error = None, None, None
        self.rounds, self.samples = [], []

    def name(self):
        return f"{self.form} [{self.setting.name}]" if self.setting else self.form

    def run(self, row, budget_ms):
        reply = self.worker.ask(op="run", form=self.form, budget_ms=budget_ms, **row)
        self.error = reply.get("error")
        if not self.error:
            self.check = reply.get("check")
            return reply
        return None

    def play_heat(self, row):
        reply = self.run(row, HEAT_MS)
        self.heat = reply and reply["median_ns"]

    def play_round(self, row):
        reply = self.run(row, FINAL_MS)
        if reply:
            self.rounds.append(reply["median_ns"])
            self.samples += reply["samples"]

    def result(self):
        s = sorted(self.samples)
        return {
            "name": self.name(), "lib": self.lib, "ns": median(s),
            "spread": (s[len(s) * 3 // 4] - s[len(s) // 4]) / median(s),
        }  # fmt: skip


def differs(a, b, tolerance):
    """Whether two checks disagree, beyond rounding; a NaN agrees with nothing."""
    return len(a) != len(b) or any(not abs(x - y) <= tolerance * (1 + abs(y)) for x, y in zip(a, b))


def finalists(peers):
    """The peers of the heat that may be the best, and each library's default for show."""
    counted = sorted((p for p in peers if p.heat and p.counts), key=lambda p: p.heat)
    others = sorted((p for p in peers if p.heat and not p.counts), key=lambda p: p.heat)
    chosen = [p for p in counted if p.heat <= CLOSE * counted[0].heat][:FINALISTS]
    for lib in {p.lib for p in chosen}:
        defaults = [p for p in peers if p.lib == lib and p.heat and p.setting.default]
        chosen += [p for p in defaults[:1] if p not in chosen]
    return chosen + others[:1]


def measure_row(crew, work, n, dtype, threads, quick):
    """The result of one row, or None where neither side has it."""
    row = {"case": work.name, "n": n, "dtype": dtype, "threads": threads}
    worker = crew.our_worker(threads)
    forms = [Contestant(worker, f) for f in worker.ask(op="forms", case=work.name).get("forms", [])] if worker else []
    own_bar = work.own and work.own(n, dtype, threads)
    beside_bar = work.beside and work.beside(n, dtype, threads)
    ours, also = forms[0] if forms else None, {f.form: f for f in forms[1:]}
    collected, yardstick = None if quick else also.get(COLLECTED), also.get(YARDSTICK) if own_bar else None
    peers = [
        Contestant(w, f, s)
        for s, w in crew.peers(work.subject, threads)
        for f in w.ask(op="forms", case=work.name).get("forms", [])
        if work.compilers or not (quick and f.get("slow_start"))
    ]
    for c in [ours] * bool(ours) + peers:
        c.play_heat(row)
    problems = [f"{c.name()}: {c.error}" for c in [ours] * bool(ours) + peers if c.error and NOT_FOR not in c.error]
    if ours and ours.error:
        ours = collected = yardstick = None
    best = finalists(peers)
    final = [c for c in (ours, collected, yardstick) if c] + ([c for k, c in enumerate(best) if not k or beside_bar and not c.counts] if quick else best)
    reference = next((c.check for c in ([ours] * bool(ours) + peers) if c.check), None)
    for c in final:
        if c.check and differs(c.check, reference, work.tolerance or TOLERANCE.get(dtype, 1e-9)):
            problems.append(f"{c.name()}: another result: {c.check}, not {reference}")
    for k in range(QUICK_ROUNDS if quick else ROUNDS):
        for c in final[k % len(final):] + final[: k % len(final)]:  # no one always follows the same neighbour
            c.play_round(row)
    heat = {p.name(): p.heat for p in peers if p.heat}  # kept in the cache, for a closer look
    libs = {}
    for p in peers:
        if p.heat:
            libs[p.lib] = min(libs.get(p.lib, p.heat), median(p.samples) if p.samples else p.heat)
    result = row | {"bar": work.bar_of(n, dtype, threads), "problems": problems, "heat_ns": heat, "lib_ns": libs}
    result["of_limit_bar"] = work.of_limit and work.of_limit(n, threads)
    result["most"] = work.most
    result["over_t1_bar"] = work.over_t1 and threads > 1 and work.over_t1(n) or None
    if ours:
        result["ours"] = ours.result()
    counted = [c for c in final if c not in forms and c.counts and c.samples]
    if counted:
        best = min(counted, key=lambda c: median(c.samples))
        result["best"] = best.result()
        default = next((c for c in final if c is not ours and c.lib == best.lib and c.setting.default), None)
        if default:
            result["default"] = default.result()
        if ours:
            result["ratio"] = ratio(best, ours)
        if collected and collected.samples:
            result["collected"] = ratio(best, collected)
    if yardstick and yardstick.samples:
        result["own"] = median([o / y for o, y in zip(ours.rounds, yardstick.rounds)])
        result["own_bar"] = own_bar
    uncounted = [c for c in final if c not in forms and not c.counts and c.samples]
    if uncounted:
        other = min(uncounted, key=lambda c: median(c.samples))
        result["shown"] = other.result()
        if ours and beside_bar:
            result["beside"], result["beside_bar"] = ratio(other, ours), beside_bar
    return result if final else None


def ratio(peer, ours):
    """The peer's time over ours: within each round, since the load of a machine drifts,
    but by all samples where that says much less, as when a peer's threads wait for
    each other in most rounds."""
    by_round = median([p / o for p, o in zip(peer.rounds, ours.rounds)])
    by_sample = median(peer.samples) / median(ours.samples)
    return by_sample if by_round > STALLED * by_sample else by_round


def measure_startup(binaries):
    weft = binaries / "weft"
    if not weft.exists():
        return {"error": "no ./cmd/weft to build yet"}
    try:
        return startup.measure(weft, binaries / "empty")
    except (OSError, subprocess.CalledProcessError) as err:
        return {"error": str(err)}


def measure_script(binaries):
    try:
        return startup.measure_script(binaries / "script")
    except (OSError, subprocess.CalledProcessError) as err:
        return {"error": str(err)}


def measure_process(crew, name):
    """What our program says of itself, from a process of its own."""
    worker = crew.our_worker(THREADS_OF_FACTS, name)
    reply = worker.ask(op="values", case=name, threads=THREADS_OF_FACTS) if worker else {"error": "no worker"}
    if worker:
        worker.close()
    if "error" in reply:
        return {"error": reply["error"]}
    found = reply["values"]
    for s, w in crew.peers(BESIDE_PEER.get(name), THREADS_OF_FACTS, name) if name in BESIDE_PEER else ():
        found |= {f"{k}, {s.name}": v for k, v in w.ask(op="values", case=name, threads=THREADS_OF_FACTS).get("values", {}).items()}
        w.close()
    return found


def write_models(cache):
    """Makes the files of the rows onnx, unless they are there, and says where they are."""
    os.environ["WEFT_BENCH_MODELS"] = os.fspath(cache / "models")
    subprocess.run([sys.executable, str(Path(__file__).with_name("peers") / "exporting.py"), os.environ["WEFT_BENCH_MODELS"]], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def selected(pattern, *tokens):
    """Whether each word of the pattern is one of the tokens or part of the first."""
    return all(word in tokens[0] or word in tokens for word in pattern)


def chosen_rows(pattern):
    """The rows that match, one subject after the other and in it by threads, since
    each of both has workers of its own. The word summary names those of README.md's table."""
    shown = {tuple(key) for _, *key in report.SUMMARY}
    rows = [
        (work, n, dtype, t)
        for work in WORKS for t in work.threads for dtype in work.dtypes for n in work.sizes
        if selected(pattern, work.name, report.size(n), str(n), dtype, f"T{t}", work.subject, *["summary"] * ((work.name, n, dtype) in shown))
    ]  # fmt: skip
    subjects = list(dict.fromkeys(w.subject for w in WORKS))
    return sorted(rows, key=lambda row: (subjects.index(row[0].subject), row[3]))


# Processors whose model name does not tell them apart, by vendor, family and model.
GENERATIONS = (
    ("AuthenticAMD", 25, range(0x00, 0x10), "amd-zen3"),
    ("AuthenticAMD", 25, range(0x10, 0x20), "amd-zen4"),
    ("AuthenticAMD", 25, range(0xA0, 0xB0), "amd-zen4"),
    ("AuthenticAMD", 26, range(0x00, 0x100), "amd-zen5"),
    ("GenuineIntel", 6, range(0xCF, 0xD0), "intel-emerald-rapids"),
)


def machine_name():
    """The name of the file with this machine's results."""
    found = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
        vendor, family, model = found["vendor_id"], int(found["cpu family"]), int(found["model"])
    except (OSError, KeyError, ValueError):
        return "-".join(re.findall(r"[a-z0-9]+", f"{platform.system()} {platform.machine()}".lower()))
    for of, number, models, name in GENERATIONS:
        if (of, number) == (vendor, family) and model in models:
            return name
    return f"{vendor.lower()}-{family}-{model}"


def machine():
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "cpu family", "model\t")):
                key, value = (t.strip() for t in line.split(":", 1))
                model = value if key == "model name" else f"{model}, {key} {value}"
                if key == "model name":
                    break
    except OSError:
        pass
    return {"name": machine_name(), "cpu": model, "processors": os.cpu_count(), "system": f"{platform.system()} {platform.release()}"}


def commit():
    here = Path(__file__).resolve().parent
    out = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=here, capture_output=True, text=True)
    return out.stdout.strip() or "?"


def locked(cache):
    """Holds the lock of the benchmarks for the life of the process."""
    lock = open(cache / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("waiting for another run of the benchmarks to end", file=sys.stderr)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def progress(line):
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def machine_limits(crew, threads):
    """The best of what both sides reach: a limit that a peer exceeds is none."""
    limits = {}
    for worker in [crew.our_worker(threads)] + [w for s, w in crew.peers("limits", threads)]:
        for k, v in (worker.ask(op="values", case="limits", threads=threads).get("values", {}) if worker else {}).items():
            limits[k] = max(v, limits.get(k, 0))
    return limits


def main():
    cache, binaries, words = Path(sys.argv[1]), Path(sys.argv[2]), [w for a in sys.argv[3:] for w in a.split()]
    quick, pattern = "--quick" in words, [w for w in words if w != "--quick"]
    lock = locked(cache)
    store = cache / "results.json"
    kept = json.loads(store.read_text()) if store.exists() else {"rows": {}}
    stamp = {"commit": commit(), "date": datetime.date.today().isoformat()}
    crew = Crew(binaries / "ours", cache, [s for s in settings(cache, binaries) if s.quick or not quick])
    if any(work.subject == "onnx" for work, *_ in chosen_rows(pattern)) or any(selected(pattern, f) for f in BESIDE_PEER):
        write_models(cache)
    load_before = os.getloadavg()[0]
    kept["limits"] = limits = {t: v for t, v in kept.get("limits", {}).items() if t in ("T1", "T2")}
    try:
        kept["machine"] = machine()
        works = chosen_rows(pattern)
        for threads in sorted({t for *_, t in works}) if not quick else ():
            found = machine_limits(crew, threads)
            if threads > 1:  # which may also leave one idle
                found |= {k: max(v, found.get(k, 0)) for k, v in limits.get("T1", {}).items()}
            limits[f"T{threads}"] = found
        rows = []
        for work, n, dtype, threads in works:
            crew.keep_only(work.subject, threads)
            progress(f"{work.name} {report.size(n)} {dtype} T{threads}")
            row = measure_row(crew, work, n, dtype, threads, quick)
            if row:
                row |= stamp | {"limit_ns": report.limit_ns(work, n, dtype, limits.get(f"T{threads}", {}), SIZE)}
                rows.append(row)
                if not quick:
                    kept["rows"][f"{work.name} {n} {dtype} T{threads}"] = row
                    store.write_text(json.dumps(kept))
        progress("")
        if quick:
            facts = {name: measure_process(crew, name) for name in BESIDE_PEER if selected(pattern, name)}
            print(report.text(rows, {"facts": facts, "load": [load_before, os.getloadavg()[0]]}, pattern))
            print(report.QUICK)
            return
        if selected(pattern, "startup"):
            kept["startup"] = measure_startup(binaries) | {"script": measure_script(binaries)} | stamp
        for name in FACTS:
            if selected(pattern, name):
                progress(name)
                kept.setdefault("facts", {})[name] = measure_process(crew, name) | stamp
        progress("")
        kept["versions"] = kept.get("versions", {}) | crew.hello
        kept["load"] = [load_before, os.getloadavg()[0]]
        store.write_text(json.dumps(kept))
    finally:
        crew.close()
    print(report.text(rows, kept, pattern))
    order = {w.name: k for k, w in enumerate(WORKS)}
    everything = sorted(kept["rows"].values(), key=lambda r: (order.get(r["case"], 99), r["threads"], r["dtype"], r["n"]))
    everything = [r for r in everything if r["case"] in order]
    settings_shown = [(s.name, s.libs, s.env) for s in crew.settings]
    here = Path(__file__).resolve().parent
    results = here / "results"
    report.write(results / (kept["machine"]["name"] + ".json"), report.results(everything, kept, settings_shown, os.fspath(cache)))
    (here / "RESULTS.md").write_text(report.page(results))
    page = here.parent / "README.md"
    page.write_text(report.with_summary(page.read_text(), everything, kept["machine"]))
    lock.close()


if __name__ == "__main__":
    main()
