# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Whom should a server wait for? The ways of `fors simulate --wait` side by side, for lab/doc/waiting.md (`make bench-waiting`).

Each simulation is a line of results.jsonl, and is not done again while the line is there and the command is the same: the run may be
stopped at any time. At the end the tables (tables.md) and the pictures are written anew from all lines.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import svg

WAYS = {"tree": ["--wait", "tree"], "tree, 2 ahead": ["--wait", "tree", "--ahead", "2"], "tree, 4 ahead": ["--wait", "tree", "--ahead", "4"],
        "own": ["--wait", "own"], "tokens": ["--wait", "tokens"], "chunks": ["--wait", "chunks"],
        "nobody": ["--barrier", "none", "--idle", "skipped"]}
FABRICS = {"two levels": "FT(2;10,9)", "three levels": "XGFT(3;4,4,4;1,4,4)"}
CABLE = {"two levels": ["Leaf00[11]"], "three levels": ["Leaf00[5]"]}
SPINES = {"two levels": [f"Spine0{i}" for i in range(4)], "three levels": ["Spine00", "Spine05", "Spine10", "Spine15"]}
SIZES = ["64KiB", "256KiB", "1MiB", "4MiB"]
USUAL = ["--message-jitter", "0.05", "--skew", "10us"]  # of the main part: 5 % of each message, and starts up to 10 us apart
SIGMA = 0.5
TROUBLES = {"none": [], "jitter 5 %": ["--message-jitter", "0.05"], "jitter 20 %": ["--message-jitter", "0.2"],
            "one server at 80 %": ["--straggler", "7=0.8"], "starts up to 100 us apart": ["--skew", "100us"],
            "two ranks each": ["--ranks", "2"], "tokens of 5 us": ["--token-time", "5us"], "tokens of 0.2 us": ["--token-time", "200ns"]}

# Cables that are dead at random: (fabric, leaves, spines, servers below a leaf)
DRAWN = (("FT(2;10,9)", 9, 10, 10), ("FT(2;6,6)", 6, 6, 6), ("FT(2;8,12)", 12, 8, 8), ("FT(2;12,10;servers=8)", 10, 12, 8))
DRAWS = 12
SHARES = (0.03, 0.1, 0.3, 0.6, 1)  # the time of a barrier's tokens over that of a message
LONG = 41943  # ns that 1 MiB takes at 200 Gbit/s


def down(levels, state):
    names = {"healthy": [], "one cable": CABLE[levels], "four spines": SPINES[levels]}[state]
    return [word for name in names for word in ("--down", name)]


# With these the plan of LMC 5 is that of LMC 0.
SAME_PLAN = {("two levels", "healthy"), ("three levels", "healthy"), ("two levels", "one cable"), ("three levels", "four spines")}


def main_cases():
    for levels, state, lmc, size, sigma in itertools.product(FABRICS, ("healthy", "one cable", "four spines"), (0, 5), SIZES, (0, SIGMA)):
        if lmc and (size == "4MiB" or (levels, state) in SAME_PLAN) or size == "4MiB" and state == "healthy":
            continue  # the longest messages at LMC 0 only
        yield {"part": "main", "levels": levels, "state": state, "lmc": lmc, "size": size, "sigma": sigma, "more": USUAL}


def trouble_cases():
    for name, more in TROUBLES.items():
        for size in ("64KiB", "256KiB"):
            if "--token-time" in more or name == "none" or size == "256KiB":
                yield {"part": "trouble", "levels": "two levels", "state": "one cable", "lmc": 0, "size": size, "sigma": 0, "trouble": name,
                       "more": more}


def draw(number):
    """(fabric, servers, dead cables)"""
    dice = random.Random(number)
    spec, leaves, spines, below = dice.choice(DRAWN)
    cables = [f"Leaf{leaf:02}[{below + 1 + spine}]" for leaf in range(leaves) for spine in range(spines)]
    return spec, leaves * below, dice.sample(cables, dice.choice((2, 3, 5, 8)))


def drawn_cases():
    """Of a barrier the tree has 2 log2(servers) tokens one after another."""
    for number, lmc, jitter, share in itertools.product(range(DRAWS), (0, 5), (0.05, 0.2), SHARES):
        spec, servers, dead = draw(number)
        token = round(share * LONG / (2 * math.ceil(math.log2(servers))))
        yield {"part": "drawn", "spec": spec, "dead": dead, "number": number, "lmc": lmc, "size": "1MiB", "sigma": 0, "share": share, "jitter": jitter,
               "more": ["--message-jitter", str(jitter), "--skew", "10us", "--token-time", f"{token}ns"]}


def cases():
    for case in itertools.chain(main_cases(), trouble_cases()):
        for way in WAYS:
            yield {**case, "way": way}
    for case in drawn_cases():
        for way in ("tree", "own"):
            yield {**case, "way": way}


def fabric(case):
    if case["part"] == "drawn":
        return [case["spec"], *(word for cable in case["dead"] for word in ("--down", cable))]
    return [FABRICS[case["levels"]], *down(case["levels"], case["state"])]


def command(case):
    sigma = ["--sigma", str(case["sigma"])] if case["sigma"] else []
    more = list(case["more"])
    if "--token-time" in more and case["way"] in ("chunks", "nobody"):
        more = []
    size = {"64KiB": "32KiB", "256KiB": "128KiB"}[case["size"]] if "--ranks" in more else case["size"]
    return ["simulate", "--synthetic", *fabric(case), "--routing", "fors", "--lmc", str(case["lmc"]), "--pattern", "plan", "--message", size, *WAYS[case["way"]], *sigma, *more, "--json"]


class Results:
    """Command -> what became of it, on disk as it comes."""

    def __init__(self, folder):
        self.path = folder / "results.jsonl"
        self.known = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else ():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # stopped while it was written
            self.known[tuple(row["command"])] = row
        self.path.write_text("".join(json.dumps(row) + "\n" for row in self.known.values()))

    def find(self, fors, argv):
        if tuple(argv) not in self.known:
            said = subprocess.run([fors, *argv], capture_output=True, text=True)
            if said.returncode:
                sys.exit(f"fors {' '.join(argv)}: {said.stderr.strip()}")
            answer = json.loads(said.stdout)
            row = {"command": argv, "time_ns": answer["time_ns"], "bound_ns": answer["bound_ns"], "slots": answer["slots"], "servers": answer["servers"]}
            self.known[tuple(argv)] = row
            with self.path.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return self.known[tuple(argv)]


def without_way(case):
    return json.dumps({**case, "way": None}, sort_keys=True)


def run(folder, fors):
    """Every case with its time over the need of the fullest link."""
    results, todo = Results(folder), list(cases())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(lambda case: results.find(fors, command(case)), todo))
    bounds = {}  # of all ways of a case
    for case, row in zip(todo, rows):
        bounds.setdefault(without_way(case), []).append(row["bound_ns"])
    return [{**case, **row, "over": row["time_ns"] / min(bounds[without_way(case)])} for case, row in zip(todo, rows)]


# -- tables

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cells(rows):
    """The times of all ways of one case; the best one is bold."""
    by_way = {row["way"]: row["over"] for row in rows}
    best = min(by_way.values())
    return [f"**{by_way[way]:.2f}**" if by_way[way] <= 1.01 * best else f"{by_way[way]:.2f}" for way in WAYS]


def main_table(rows, levels, sigma):
    picked = [row for row in rows if row["part"] == "main" and row["levels"] == levels and row["sigma"] == sigma]
    keys = list(dict.fromkeys((row["state"], row["lmc"], row["size"]) for row in picked))
    return table(["dead", "LMC", "message", *WAYS], [[state, str(lmc), size, *cells([row for row in picked if (row["state"], row["lmc"], row["size"])
                                                                                 == (state, lmc, size)])] for state, lmc, size in keys])


def trouble_table(rows):
    picked = [row for row in rows if row["part"] == "trouble"]
    keys = list(dict.fromkeys((row["trouble"], row["size"]) for row in picked))
    return table(["trouble", "message", *WAYS], [[trouble, size, *cells([row for row in picked if (row["trouble"], row["size"]) == (trouble, size)])]
                                             for trouble, size in keys])


def against_tree(rows, lmc, share):
    """How long `own` takes over what the tree takes: the least, the median, the most."""
    picked = [row for row in rows if row["part"] == "drawn" and (row["lmc"], row["share"]) == (lmc, share)]
    of_tree = {(row["number"], row["jitter"]): row["time_ns"] for row in picked if row["way"] == "tree"}
    ratios = [row["time_ns"] / of_tree[row["number"], row["jitter"]] for row in picked if row["way"] == "own"]
    return " to ".join(f"{value:.2f}" for value in (min(ratios), statistics.median(ratios), max(ratios)))


def drawn_table(rows):
    return table(["a barrier takes, of a message's time", "LMC 0", "LMC 5"],
                 [[f"{100 * share:.0f} %", against_tree(rows, 0, share), against_tree(rows, 5, share)] for share in SHARES])


def tables(rows):
    parts = []
    for levels in FABRICS:
        for sigma, name in ((0, "uniform"), (SIGMA, f"unequal (sigma {SIGMA})")):
            parts += [f"## {FABRICS[levels]}, {name}", main_table(rows, levels, sigma)]
    return "\n\n".join([*parts, "## Troubles, FT(2;10,9), one dead cable, LMC 0", trouble_table(rows),
                        "## 2 to 8 dead cables, own over tree", drawn_table(rows), ""])


# -- pictures

def picture(rows, title, **wanted):
    picked = [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
    groups = list(dict.fromkeys((row["state"], row["lmc"]) for row in picked))
    series = {way: [statistics.mean(row["over"] for row in picked if (row["state"], row["lmc"], row["way"]) == (*group, way)) for group in groups]
              for way in WAYS if way != "tree, 4 ahead"}
    return svg.bar_chart(title, "time / need of the fullest link", [f"{state}, LMC {lmc}" for state, lmc in groups], series, note=(
        "Messages of 256 KiB, 5 % jitter of each message, starts up to 10 us apart, tokens of 1 us. 1 is as fast as the fullest link can be."))


def sizes_picture(rows):
    picked = [row for row in rows if row["part"] == "main" and row["levels"] == "two levels" and (row["state"], row["lmc"], row["sigma"]) == ("one cable", 0, 0)]
    series = {way: [next(row["over"] for row in picked if row["way"] == way and row["size"] == size) for size in SIZES] for way in WAYS}
    return svg.bar_chart("One dead cable, equal messages: by the size of a message", "time / need of the fullest link", SIZES, series, note=(
        "FT(2;10,9), LMC 0, 5 % jitter of each message, starts up to 10 us apart, tokens of 1 us."))


def pictures(rows):
    two = {"part": "main", "levels": "two levels", "size": "256KiB"}
    return {"waiting-uniform.svg": picture(rows, "Equal messages, two levels: whom a server waits for", sigma=0, **two),
            "waiting-unequal.svg": picture(rows, "Unequal messages, two levels: whom a server waits for", sigma=SIGMA, **two),
            "waiting-sizes.svg": sizes_picture(rows)}


def main():
    parser = argparse.ArgumentParser(prog="lab/bench/waiting.py", description="Ways to wait, side by side; what is there already is not done again.",
                                     allow_abbrev=False)
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="DIR", help="results.jsonl, tables.md and pictures")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = run(options.output, pathlib.Path(os.environ["FORS_BUILDDIR"]) / "fors")
    (options.output / "tables.md").write_text(tables(rows))
    for name, text in pictures(rows).items():
        (options.output / name).write_text(text)
    print(f"{len(rows)} cases: {options.output / 'tables.md'}")


if __name__ == "__main__":
    main()
