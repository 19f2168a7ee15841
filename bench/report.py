"""Tables of the results: for the terminal, as JSON, and for RESULTS.md, which python3 bench/report.py renders."""
import json
import math
from pathlib import Path

COLUMNS = ("work", "size", "dtype", "T", "ours", "best peer", "", "default", "ratio", "collected", "bar", "beside", "to own", "over T1", "limit", "of limit", "commit")


def size(n):
    """1000 as 1e3, but 1024 as itself."""
    e = len(str(n)) - 1
    return f"1e{e}" if e >= 3 and n == 10**e else str(n)


def duration(ns):
    if ns is None:
        return "-"
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1000 * scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns / 1e9:.3g} s"


def limit_ns(work, n, dtype, limits, element):
    """The time that the machine's measured limits alone would take, or None.

    What must be moved is moved once, at the bandwidth of a copy (or of reading)
    with the same working set; products are bound by the multiply-add units.
    """
    bounds = []
    if work.moved:
        moved = work.moved(n, element[dtype])
        measured = {int(k.split("^")[1]): v for k, v in limits.items() if k.startswith(work.stream + " 2^")}
        if measured:
            level = min(measured, key=lambda k: abs(k - math.log2(moved)))
            bounds.append(moved / measured[level])
    if work.flops and f"fma {dtype}" in limits:
        bounds.append(work.flops(n) / limits[f"fma {dtype}"])
    return max(bounds, default=None)


def judged(value, bar, shown, least=True):
    """A value with the word on its bar; nothing where there is no bar."""
    if bar is None:
        return shown
    good = value >= bar if least else value <= bar
    return shown + (" ok" if good else " BELOW" if least else " ABOVE")


def cells(row, one=None):
    """The cells of a row; one is the same row on one thread, if there is one."""
    ours, best, default = row.get("ours"), row.get("best"), row.get("default")
    ratio, bar, limit = row.get("ratio"), row["bar"], row.get("limit_ns")
    own, over = row.get("own"), one["ours"]["ns"] / ours["ns"] if one and ours and one.get("ours") else None
    of_limit = limit / ours["ns"] if limit and ours else None
    least = row.get("of_limit_bar")
    beside, most = row.get("beside"), row.get("most")
    noisy = lambda r: "~" if r["spread"] > 0.2 else ""
    show = lambda r: noisy(r) + duration(r["ns"]) if r else "-"
    return (
        row["case"], size(row["n"]), row["dtype"], str(row["threads"]), show(ours), show(best),
        best["name"] if best else "-", show(default), f"{ratio:.2f}" if ratio is not None else "-",
        f"{row['collected']:.2f}" if row.get("collected") else "-",
        judged(ours["ns"], most, duration(most), least=False) if most and ours
        else "-" if bar is None else f"{bar:g}" if ratio is None else judged(ratio, bar, f"{bar:g}"),
        judged(beside, row["beside_bar"], f"{beside:.2f} {row['shown']['lib']} of {row['beside_bar']:g}") if beside else "-",
        judged(own, row["own_bar"], f"{own:.2f} of {row['own_bar']:g}", least=False) if own else "-",
        judged(over, row.get("over_t1_bar"), f"{over:.2f}") if over else "-", duration(limit),
        judged(of_limit, least, f"{100 * of_limit:.0f} %" + (f" of {100 * least:.0f}" if least else "")) if of_limit else "-",
        row["commit"],
    )  # fmt: skip


def startup_lines(s):
    if not s:
        return []
    if "error" in s:
        return [f"start-up of `weft info --short`: not measured ({s['error']})"]
    ratio = s["weft"] / s["empty"]
    megabytes = s["bytes"] / 1e6
    return [
        f"start-up of `weft info --short` {duration(s['weft'])}, of an empty Go program {duration(s['empty'])}: "
        f"{ratio:.2f} times (bar: under 5) {'ok' if ratio < 5 else 'MISSED'}",
        f"binary {megabytes:.1f} MB (bar: under 25) {'ok' if megabytes < 25 else 'MISSED'}, "
        + {True: "static", False: "NOT static", None: "static or not: unknown format"}[s["static"]],
    ] + script_lines(s.get("script"))


def script_lines(s):
    if not s:
        return []
    if "error" in s:
        return [f"a LeNet program: not measured ({s['error']})"]
    show = lambda x: f"{duration(x['ns'])} and {x['bytes'] / 1e6:.0f} MB"
    return [f"a LeNet program from its start to the end of its second training step, time and most memory: {show(s['weft'])}, in PyTorch {show(s['torch'])}"]


def limit_lines(limits):
    unit = lambda k: f"{1 << (k - 10)} KiB" if k < 20 else f"{1 << (k - 20)} MiB"
    lines = []
    for threads, values in sorted(limits.items()):
        for kind, title in (("copy", "copy, GB/s read and written"), ("read", "read, GB/s")):
            rates = sorted((int(k.split("^")[1]), v) for k, v in values.items() if k.startswith(kind + " 2^"))
            if rates:
                lines.append(f"{threads}, {title}, by working set: " + ", ".join(f"{unit(k)} {v:.0f}" for k, v in rates))
        lines += [f"{threads}, {k}: {v:.3g} GFLOP/s" for k, v in sorted(values.items()) if k.startswith("fma ")]
    return lines


def shown_lines(rows):
    """Peers that the bars do not name, where they are faster than those they do."""
    lines = []
    for r in rows:
        other, best = r.get("shown"), r.get("best")
        if other and (not best or other["ns"] < best["ns"]):
            lines.append(f"{r['case']} {size(r['n'])} {r['dtype']} T{r['threads']}: {other['name']} {duration(other['ns'])}")
    return lines


def problem_lines(rows):
    """One line for a problem of a work, with the rows that it was met in."""
    met = {}
    for r in rows:
        for p in r["problems"]:
            met.setdefault((r["case"], p), []).append(f"{size(r['n'])} {r['dtype']} T{r['threads']}")
    return [f"{case}: {p} ({', '.join(where)})" for (case, p), where in met.items()]


def exported_line(name, v):
    """A line of bench/ours/exported.go, with the peer's figures under each of its settings."""
    peers = sorted({k.split(", ", 1)[1] for k in v if ", " in k})
    beside = lambda show: "".join(f", {p} {show(p)}" for p in peers)
    if name == "onnx, new length":
        return (
            "MiniLM from ONNX, a text of a length not seen before takes longer than the next by "
            + judged(v["median"], 2e6, f"{duration(v['median'])} (median; at most {duration(v['most'])}; bar: 2 ms)", least=False)
            + beside(lambda p: duration(v[f"median, {p}"]))
        )
    times = lambda key: v[key] / v["file"]
    return (
        "ResNet-50 from its ONNX file to the first result: "
        + judged(v["first"], 150e6, f"{duration(v['first'])} (bar: 150 ms)", least=False)
        + beside(lambda p: duration(v[f"first, {p}"]))
        + "; resident more than before, after six results: "
        + judged(times("resident"), 1.2, f"{times('resident'):.2f} times the file (bar: 1.2)", least=False)
        + beside(lambda p: f"{times(f'resident, {p}'):.2f}")
    )


def fact_lines(facts):
    """The lines of bench/ours/process.go, planning.go, compiling.go, tracked.go, plain.go and exported.go."""
    lines = []
    for name, v in facts.items():
        if "error" in v:
            lines.append(f"{name}: not measured ({v['error']})")
        elif name.startswith("memory"):
            drift, times = v["last 1000 steps"] / v["steps 1000-2000"] - 1, v["peak of the pool"] / v["live"]
            lines.append(
                f"10,000 training steps of 784-500-10, {'a Scope each' if name == 'memory, scope' else 'no Scope'}: resident "
                f"{v['steps 1000-2000'] / 1e6:.1f} MB in steps 1,000 to 2,000, {v['last 1000 steps'] / 1e6:.1f} MB in the last 1,000 "
                + judged(abs(drift), 0.02, f"({100 * drift:+.1f} %; bar: within 2 %)", least=False)
                + f"; at most {v['peak'] / 1e6:.1f} MB more than before the first, tensors {v['peak of the pool'] / 1e6:.1f} MB, where "
                + judged(times, 2, f"{v['live'] / 1e6:.1f} MB are live: {times:.1f} times (bar: 2)", least=False)
            )
        elif name.startswith("tracked"):
            lines.append(
                "a flush of 1,000 random items of 1,000,000: "
                + judged(v["over the least"], 1.2, f"{v['over the least']:.3f} times the least cost (bar: 1.2)", least=False)
                + "; one interval sends "
                + judged(v["one interval"], 10, f"{v['one interval']:.0f} times as many bytes (bar: 10)")
                + "; marking a write takes "
                + judged(max(v["marking, in order"], v["marking, at random"]), 50, f"{v['marking, in order']:.0f} ns in order, {v['marking, at random']:.0f} ns at random (bar: 50 ns)", least=False)
            )
        elif name == "plain attention":
            scope = facts.get("plain attention, scope", {})
            lines.append(
                "attention forward and backward over lengths 1 to 200, no Scope: resident "
                + judged(v["resident"], 150e6, f"{v['resident'] / 1e6:.0f} MB (bar: 150)", least=False)
                + (f", with one {scope['resident'] / 1e6:.0f} MB; time " + judged(v["pass"] / scope["pass"], 1.3, f"{v['pass'] / scope['pass']:.2f} times (bar: 1.3)", least=False) if "pass" in scope else "")
            )
        elif name == "plain attention, scope":
            continue
        elif name == "plain new sizes":
            lines.append(
                f"ever new sizes up to {v['live'] / 2e3:.0f} KB, dropped: tensors at most {v['tensors'] / 1e6:.1f} MB, mapped {v['reserved'] / 1e6:.1f} MB, "
                f"the process {v['resident'] / 1e6:.1f} MB more than before, where {v['live'] / 1e6:.2f} MB are live and {v['plans'] / 1e6:.1f} MB of plans are kept: "
                + judged(v["resident"] / (v["live"] + v["plans"]), 4, f"{v['resident'] / (v['live'] + v['plans']):.1f} times (bar: 4)", least=False)
            )
        elif name.startswith("onnx"):
            lines.append(exported_line(name, v))
        elif name in ("planning", "compiling"):
            what, bar = ("planning", 25) if name == "planning" else ("rewriting by all rules and planning", 50)
            if name == "compiling":
                lines.append(
                    "making a program of the training step 784-500-10 where nothing was compiled before: "
                    + judged(v["step"], 20e6, f"{duration(v['step'])}, {v['step, kernels']:.0f} kernels (bar: 20 ms)", least=False)
                    + "; for another batch "
                    + judged(v["new batch"], 2e6, f"{duration(v['new batch'])} (bar: 2 ms)", least=False)
                    + ", "
                    + judged(v["new batch, kernels"], 0, f"{v['new batch, kernels']:.0f} kernels (bar: none)", least=False)
                )
            kinds = {}
            for key, ns in v.items():
                kind, _, nodes = key.rpartition(" ")
                if nodes.isdigit():
                    kinds.setdefault(kind, {})[int(nodes)] = ns
            for kind, by_size in kinds.items():
                sizes = sorted(by_size)
                growth = by_size[sizes[-1]] / by_size[sizes[0]]
                lines.append(
                    f"{what}, {kind} with its gradient, an operation: "
                    + judged(max(by_size.values()), 1e3 * bar, ", ".join(f"{duration(by_size[n])} of {n:,}" for n in sizes) + f" (bar: {bar} us)", least=False)
                    + "; "
                    + judged(growth, 2, f"{growth:.2f} times as much in the largest graph as in the smallest (bar: 2)", least=False)
                )
        else:
            lines.append(
                f"stop of the world, 99th percentile of 1,050: {duration(v['kernels p99'])} while two goroutines run kernels, "
                + judged(v["kernels p99"], v["loops p99"], f"{duration(v['loops p99'])} while they run plain loops", least=False)
                + f"; medians {duration(v['kernels p50'])}, {duration(v['loops p50'])}"
            )
    return lines


def over_one(rows):
    """Each row with the same one on one thread, or None."""
    single = {(r["case"], r["n"], r["dtype"]): r for r in rows if r["threads"] == 1}
    return [(r, single.get((r["case"], r["n"], r["dtype"])) if r["threads"] > 1 else None) for r in rows]


# What stands under every table of a quick run.
QUICK = "quick: torch.compile takes part in compiled steps alone, and of each library one setting; bench/run without --quick has all peers"

# The rows of README.md's table: title, work, size, element type.
SUMMARY = (
    ("`2*a+3*b`, 1e6 float32", "2*a+3*b", 1_000_000, "float32"),
    ("`exp(-x*x)*sin(x)+log1p(abs(x))`, 1e6 float32", "exp(-x*x)*sin(x)+log1p(abs(x))", 1_000_000, "float32"),
    ("the same, float64", "exp(-x*x)*sin(x)+log1p(abs(x))", 1_000_000, "float64"),
    ("softmax of 4096x1000", "softmax 4096x1000", 4096, "float32"),
    ("sum over the first axis of 4096x4096", "sum axis 0", 4096, "float32"),
    ("running sums over the first axis of 1024x1024", "cumsum axis 0", 1024, "float32"),
    ("means of 1000 groups of 1e6", "means of 1000 groups", 1_000_000, "float32"),
    ("grey picture of 1024x1024 RGB bytes", "rgb to grey", 1024, "uint8"),
    ("copy of a transposed 4096x4096", "transpose copy", 4096, "float32"),
    ("matrix product, 1024 float32", "matmul", 1024, "float32"),
    ("matrix product, 1024 float64", "matmul", 1024, "float64"),
    ("convolution of 16x64x56x56, 3x3, forward and backward", "conv 64x56^2 to 64 3x3 and back", 16, "float32"),
    ("LSTM, 64 to 128, 50 steps of 32, forward and backward", "lstm 64 to 128 and back", 32, "float32"),
    ("training step, 784-500-10, batch 60", "mlp step", 60, "float32"),
    ("training step, LeNet, batch 60", "lenet step", 60, "float32"),
    ("the first, as a compiled function", "compiled mlp step", 60, "float32"),
    ("the second, as a compiled function", "compiled lenet step", 60, "float32"),
)
SUMMARY_BEGIN, SUMMARY_END = "<!-- written by bench/run -->", "<!-- end -->"


def summary(rows, machine):
    """README.md's table and its caption: one number a cell, ratios in bold."""
    found = {(r["case"], r["n"], r["dtype"], r["threads"]): r for r in rows}
    dates = sorted({r["date"] for r in rows if "date" in r})
    out = ["", f"{machine['cpu']}, {machine['processors']} processors, {dates[-1] if dates else '?'}. A ratio is the best peer's time over ours: above 1 weft is faster.", "",
           "| work | weft | best peer | which | ratio, 1 thread | ratio, 2 threads |", "|---|---|---|---|---|---|"]  # fmt: skip
    bold = lambda r: f"**{r['ratio']:.2f}**" if r and r.get("ratio") is not None else "-"
    for title, *key in SUMMARY:
        one, two = (found.get((*key, t)) for t in (1, 2))
        if one and one.get("ours") and one.get("best"):
            out.append("| " + " | ".join([title, duration(one["ours"]["ns"]), duration(one["best"]["ns"]), one["best"]["name"].split(" [")[0], bold(one), bold(two)]) + " |")
    return out


def with_summary(page, rows, machine):
    """README.md with its table written again, or as it was where it has no place for one."""
    if SUMMARY_BEGIN not in page or SUMMARY_END not in page:
        return page
    head, rest = page.split(SUMMARY_BEGIN, 1)
    tail = rest.split(SUMMARY_END, 1)[1]
    return "\n".join([head + SUMMARY_BEGIN, *summary(rows, machine), SUMMARY_END + tail])


def text(rows, kept, pattern):
    table = [COLUMNS[:-1]] + [cells(*r)[:-1] for r in over_one(rows)]
    widths = [max(len(r[k]) for r in table) for k in range(len(table[0]))]
    out = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in table] if rows else ["no row of the table matches"]
    if not pattern or "startup" in kept and any(w in "startup" for w in pattern):
        out += startup_lines(kept.get("startup"))
    out += fact_lines({k: v for k, v in kept.get("facts", {}).items() if all(w in k for w in pattern)})
    for title, lines in (
        ("limits", limit_lines(kept.get("limits", {}))),
        ("faster, though no bar names them", shown_lines(rows)),
        ("problems", problem_lines(rows)),
    ):
        out += [f"\n{title}:"] * bool(lines) + lines
    load = kept["load"]
    return "\n".join(out + [f"\nload average before and after: {load[0]:.2f}, {load[1]:.2f}"])


def results(rows, kept, settings, cache):
    """What a run found on this machine, as write stores it under results/."""
    m, load = kept["machine"], kept["load"]
    columns = ["which" if c == "" else c for c in COLUMNS]
    parts = [{"title": "All settings", "columns": columns, "rows": [list(cells(*r)) for r in over_one(rows)]}]
    for title, lines in (
        ("Start-up and binary", startup_lines(kept.get("startup"))),
        ("Memory, the collector and planning", fact_lines(kept.get("facts", {}))),
        ("Limits of the machine", limit_lines(kept.get("limits", {}))),
        ("Faster, though no bar names them", shown_lines(rows)),
        ("Problems", problem_lines(rows)),
        ("Versions", [f"{k}: " + ", ".join(f"{a} {b}" for a, b in v.items()) for k, v in kept["versions"].items()]),
        ("Settings", [f"{name} ({libs}): " + (" ".join(f"{k}={v}" for k, v in env.items()).replace(cache, "CACHE") or "nothing set")
                      for name, libs, env in settings]),
    ):  # fmt: skip
        if lines:
            parts.append({"title": title, "lines": lines})
    dates = sorted({r["date"] for r in rows if "date" in r})
    return {
        "machine": f"{m['cpu']}, {m['processors']} processors, {m['system']}, {dates[-1] if dates else '?'}",
        "about": f"Load average before and after the last run: {load[0]:.2f}, {load[1]:.2f}.",
        "parts": parts,
    }


def write(path, data):
    """Writes results as JSON with a row or line of theirs on each line, so that changes can be read."""
    show = lambda x: json.dumps(x, ensure_ascii=False)
    several = lambda xs: "[\n" + ",\n".join("    " + show(x) for x in xs) + "\n   ]"
    field = lambda k, v: f"{show(k)}: " + (several(v) if k in ("rows", "lines") else show(v))
    parts = ",\n".join("  {" + ",\n   ".join(field(k, v) for k, v in p.items()) + "}" for p in data["parts"])
    path.write_text(f'{{"machine": {show(data["machine"])},\n "about": {show(data["about"])},\n "parts": [\n{parts}\n ]}}\n')


PAGE = """# Results

Written by `bench/run` from the files in [results](results), one a machine. [README.md](README.md) says how figures are made.

- Times are medians. The ratio is the best peer's time over ours: above 1 weft is faster.
- `~` marks a row whose middle half of samples spreads over more than a fifth of the median.
- "default" is the best peer's library as it comes, in its plainest formulation.
- The ratio is of a loop that gives its results back with Release, as reference counts do. "collected" is the ratio where results are left to Go's collector.
- Quick runs have fewer rounds, and peers at their best settings alone.

| results | machine |
|---|---|
"""


def page(folder):
    """RESULTS.md, of all files with results in a folder."""
    escape = lambda c: c.replace("|", "\\|").replace("*", "\\*")
    head, body = [PAGE.rstrip("\n")], []
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        head.append(f"| [{path.stem}](#{path.stem}) | {escape(data['machine'])} |")
        body += ["", f"## {path.stem}", "", escape(data["machine"]) + ". " + escape(data["about"])]
        for part in data["parts"]:
            body += ["", f"### {path.stem}: {escape(part['title'])}"]
            if part.get("about"):
                body += ["", part["about"]]
            if part.get("rows"):
                columns = part["columns"]
                body += ["", "| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
                body += ["| " + " | ".join(map(escape, row)) + " |" for row in part["rows"]]
            if part.get("lines"):
                body += [""] + [f"- {escape(line)}" for line in part["lines"]]
    return "\n".join(head + body) + "\n"


if __name__ == "__main__":  # renders the page anew
    here = Path(__file__).resolve().parent
    (here / "RESULTS.md").write_text(page(here / "results"))
