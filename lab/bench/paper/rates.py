# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paper 002's tables 1, 2 and 4 and figures 9 and 10: runs paper_model, which prints one JSON object per line."""
import json
import math
import os
import resource
import signal
import subprocess

import harness
import published

SMALL = ["XGFT(2;2,4;1,2)", "XGFT(2;3,4;1,3)", "XGFT(2;3,6;1,3)", "XGFT(2;4,6;1,4)"]
QUICK_TREE = "XGFT(3;3,3,6;1,3,3)"
LIMIT = 60  # seconds of the processor that a slow algorithm may take


def paper_model(*arguments, limit, given=None):
    """Rows of one run, `given` its input; None when it took more than `limit` seconds of the processor, however busy that is, or lp_solve is not built in."""
    command = [str(harness.build_dir() / "lab" / "bench" / "paper" / "paper_model"), *map(str, arguments)]
    done = subprocess.run(command, input=given, capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)))
    if done.returncode in (3, -signal.SIGXCPU, -signal.SIGKILL):
        return None
    if done.returncode:
        raise harness.HarnessError(f"{' '.join(command)}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def table_1(trees, limit):
    """Rows (tree, pattern, algorithm -> seconds of the processor, which other programs do not disturb much); opt and dmk turn by turn in one process, the slow ones as far as they come."""
    rows = []
    for tree in trees:
        for pattern, problems in published.PROBLEMS.items():
            found = paper_model("run", tree, pattern, problems, 1, "opt", "dmk", limit=600)
            row = {"fabric": tree, "servers": found[0]["servers"], "pattern": pattern, "problems": problems,
                   "flows": found[0]["flows"], "rounds": found[0]["rounds"], "work": {k: found[0][f"work_{k}"] for k in ("pf", "lp")},
                   "seconds": {r["algorithm"]: r["cpu_seconds"] for r in found}, "difference": {}, "estimated": {},
                   "paper": published.TABLE_1.get((tree, pattern), {})}
            for algorithm in ("pf", "lp"):
                _slow(row, rows, algorithm, limit)
            rows.append(row)
    return rows


def _slow(row, before, algorithm, limit):
    """Measure a reference, or say how long it would take: by rounds times what a round looks at, from the largest case measured."""
    unit = [r for r in before if algorithm in r["seconds"] and r["pattern"] == row["pattern"]]
    if unit:
        last = max(unit, key=lambda r: r["work"][algorithm])
        row["estimated"][algorithm] = last["seconds"][algorithm] * row["work"][algorithm] / last["work"][algorithm]
        if row["estimated"][algorithm] > 4 * limit:
            return
    found = paper_model("run", row["fabric"], row["pattern"], row["problems"], 1, algorithm, limit=limit)
    if found:
        row["seconds"][algorithm] = found[0]["cpu_seconds"]
        row["difference"][algorithm] = found[0]["difference"]
        row["estimated"].pop(algorithm, None)


def generic(limit):
    """The generic program on trees that it can do, and what follows for the paper's smallest one by the slope of the last two."""
    rows = []
    for tree in SMALL:
        found = paper_model("run", tree, "permutation", 1, 1, "opt", "gen", limit=limit)
        if not found:
            break
        by_name = {r["algorithm"]: r for r in found}
        rows.append({"fabric": tree, "servers": found[0]["servers"], "flows": found[0]["flows"],
                     "variables": found[0]["flows"] * 2 * _cables(tree), "gen": by_name["gen"]["cpu_seconds"],
                     "opt": by_name["opt"]["cpu_seconds"], "difference": by_name["gen"]["difference"]})
    estimate = None
    if len(rows) > 1:
        a, b = rows[0], rows[-1]
        slope = math.log(b["gen"] / a["gen"]) / math.log(b["variables"] / a["variables"])
        estimate = b["gen"] * (288 * 2 * 576 / b["variables"]) ** slope
    return {"rows": rows, "estimate_288": estimate, "paper_288": published.GEN_SMALLEST}


def _cables(tree):
    """Of a two-level XGFT with w0 = 1."""
    _, m, w = tree[5:-1].split(";")
    m, w = [int(x) for x in m.split(",")], [int(x) for x in w.split(",")]
    return m[0] * m[1] + m[1] * w[1]


def table_2(keys):
    rows = []
    for tree, pattern in keys:
        times = {}
        for threads in (1, 2, 4):
            found = paper_model("run", tree, pattern, published.PROBLEMS[pattern], threads, "opt", limit=600)
            times[threads] = found[0]["seconds"]
        rows.append({"fabric": tree, "pattern": pattern, "seconds": times, "paper": published.TABLE_2.get((tree, pattern), {})})
    return rows


def indices(tree, samples, is_quick=False):
    """The rows of one table of throughput indices, D-mod-K against the optimum."""
    return paper_model("lfti", tree, "d-mod-k", samples, os.cpu_count(), *(["quick"] if is_quick else []), limit=600)


def part_of_optimum(rows, which):
    """Mean of routed / optimum over the patterns of one map."""
    parts = [row["routed"] / row["optimum"] for row in rows if row["map"] == which and row["optimum"]]
    return sum(parts) / len(parts)


def measure(is_quick):
    if is_quick:
        keys = [(published.TREES[0], pattern) for pattern in published.PROBLEMS]
        figures = {"figure9": indices(QUICK_TREE, 2, True)}
        return {"limit": 20, "table1": table_1(published.TREES[:1], 20), "generic": generic(5), "table2": table_2(keys), "indices": figures}
    figures = {name: indices(tree, 3) for name, (tree, _) in published.INDICES.items()}
    return {"limit": LIMIT, "table1": table_1(published.TREES, LIMIT), "generic": generic(LIMIT), "table2": table_2(published.TABLE_2), "indices": figures}
