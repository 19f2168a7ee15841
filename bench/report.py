"""Tables of the results: for the terminal and for RESULTS.md."""
import math

COLUMNS = ("work", "size", "dtype", "T", "ours", "best peer", "", "default", "ratio", "collected", "bar", "to own", "limit", "of limit", "commit")


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


def cells(row):
    ours, best, default = row.get("ours"), row.get("best"), row.get("default")
    ratio, bar, limit = row.get("ratio"), row["bar"], row.get("limit_ns")
    verdict = ""
    if ratio is not None and bar is not None:
        verdict = " ok" if ratio >= bar else " BELOW"
    own = f"{row['own']:.2f} of {row['own_bar']:g}" + (" ABOVE" if row["own"] > row["own_bar"] else " ok") if row.get("own") else "-"
    noisy = lambda r: "~" if r["spread"] > 0.2 else ""
    show = lambda r: noisy(r) + duration(r["ns"]) if r else "-"
    return (
        row["case"], size(row["n"]), row["dtype"], str(row["threads"]), show(ours), show(best),
        best["name"] if best else "-", show(default), f"{ratio:.2f}" if ratio is not None else "-",
        f"{row['collected']:.2f}" if row.get("collected") else "-", (f"{bar:g}" if bar is not None else "-") + verdict, own, duration(limit),
        f"{100 * limit / ours['ns']:.0f} %" if limit and ours else "-", row["commit"],
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
    ]


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


def text(rows, kept, pattern):
    table = [COLUMNS[:-1]] + [cells(r)[:-1] for r in rows]
    widths = [max(len(r[k]) for r in table) for k in range(len(table[0]))]
    out = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in table] if rows else ["no row of the table matches"]
    if not pattern or "startup" in kept and any(w in "startup" for w in pattern):
        out += startup_lines(kept.get("startup"))
    for title, lines in (
        ("limits", limit_lines(kept.get("limits", {}))),
        ("faster, though no bar names them", shown_lines(rows)),
        ("problems", problem_lines(rows)),
    ):
        out += [f"\n{title}:"] * bool(lines) + lines
    load = kept["load"]
    return "\n".join(out + [f"\nload average before and after: {load[0]:.2f}, {load[1]:.2f}"])


def markdown(rows, kept, settings, cache):
    escape = lambda c: c.replace("|", "\\|").replace("*", "\\*")
    m, load = kept["machine"], kept["load"]
    out = [
        "# Results", "",
        "Written by `bench/run`; README.md beside this file says how the figures are made. Times are medians; ratio is the best peer's time",
        "over ours; `~` marks a row whose middle half of samples spreads over more than a fifth of the median. The default column is the",
        "best peer's library as it comes, in its plainest formulation. The ratio is of a loop that gives its results back with Release, as",
        "reference counts do; the collected column is the ratio where results are left to Go's collector.", "",
        f"Machine: {m['cpu']}, {m['processors']} processors, {m['system']}. Load average before and after the last run: {load[0]:.2f}, {load[1]:.2f}.", "",
        "| " + " | ".join(COLUMNS).replace("|  |", "| which |") + " |", "|---" * len(COLUMNS) + "|",
    ]  # fmt: skip
    out += ["| " + " | ".join(map(escape, cells(r))) + " |" for r in rows]
    for title, lines in (
        ("Start-up and binary", startup_lines(kept.get("startup"))),
        ("Limits of the machine", limit_lines(kept.get("limits", {}))),
        ("Faster, though no bar names them", shown_lines(rows)),
        ("Problems", problem_lines(rows)),
        ("Versions", [f"{k}: " + ", ".join(f"{a} {b}" for a, b in v.items()) for k, v in kept["versions"].items()]),
        ("Settings", [f"{name} ({libs}): " + (" ".join(f"{k}={v}" for k, v in env.items()).replace(cache, "CACHE") or "nothing set")
                      for name, libs, env in settings]),
    ):  # fmt: skip
        if lines:
            out += ["", f"## {title}", ""] + [f"- {escape(line)}" for line in lines]
    return "\n".join(out) + "\n"
