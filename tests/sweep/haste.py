#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""haste.py COMMAND HASTE [--count N] [--seed S] [--trees LIST] - phases over the tables that the plugin makes while OpenSM waits, beside those of `fors plan`.

HASTE is the program of tests/sweep/haste.c. The trees: two (two levels, 144 servers), three (three levels, regular), director (planes share
their tops), bundle (two cables to each middle switch, and to each top), with 64 servers, and with 288. N states of each, 30: a dead cable, a dead switch
above leaves, 2 to 5 cables, sets of 1 to 10 % of the cables. LIST may also name kinds of kinds.py: then each state has a random tree of that kind.

A row for each tree and for all: T over the plugin's tables / T of the command, on average, the 95th of a hundred, the worst, how many are within a hundredth.
It fails when fewer than 95 of 100 are within a hundredth, or one is above 1.03.
"""
import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from kinds import KINDS, Flat, Tree, draw_tree, run

TREES = {
    "two": lambda: Flat(12, 12, 12, 1),
    "three": lambda: Tree((4, 4, 4), (4, 4), (1, 1)),
    "three-288": lambda: Tree((6, 6, 8), (6, 6), (1, 1)),
    "director": lambda: Tree((4, 4, 4), (4, 4), (1, 1), shared=4),
    "bundle": lambda: Tree((4, 4, 4), (2, 4), (2, 2)),
    "director-288": lambda: Tree((6, 6, 8), (6, 6), (1, 1), shared=6),
    "bundle-288": lambda: Tree((6, 6, 8), (3, 6), (2, 2)),
}
NEAR, MOST, SHARE = 1.01, 1.03, 0.95


def draw_dead(tree, draw):
    ends = sorted((a for a, b in tree.cable.items() if a < b and not {a[0][:4], b[0][:4]} & {"Node"}), key=str)
    kind = draw.choice(("cable", "switch", "2-5 cables", "1-10 %"))
    if kind == "switch":
        return [draw.choice([name for name in sorted(tree.switches) if not name.startswith("Leaf")])]
    count = {"cable": 1, "2-5 cables": draw.randint(2, 5)}.get(kind, max(1, round(draw.uniform(0.01, 0.1) * len(ends))))
    return [f"{node}[{port}]" for node, port in draw.sample(ends, min(count, len(ends)))]


def try_state(name, case, options, net):
    """(plugin's T, command's T, LB, ms under the lock, ms of the plan, what is dead), None: somebody is cut off."""
    draw = random.Random(f"{options.seed}.{name}.{case}")
    tree = TREES[name]() if name in TREES else draw_tree(name, draw)
    dead = draw_dead(tree, draw)
    Path(net).write_text(tree.text())
    out, _ = run(options.command, "plan", "--fabric", net, *(word for one in dead for word in ("--down", one)), "--json")
    if out is None:
        return None
    status = json.loads(out)
    hasty, _ = run(options.haste, net, *dead)
    if hasty is None:
        raise SystemExit(f"{options.haste} has no plan for {tree.spec} without {' '.join(dead)}")
    phases, tables, planned = hasty.split()
    return int(phases), status["phases"], status["lower_bound"], float(tables), float(planned), dead


def states(name, options, net):
    rows, case = [], 0
    while len(rows) < options.count:
        row = try_state(name, case, options, net)
        rows += [row] if row else []
        case += 1
    return rows


def tell(name, rows):
    shares = sorted(row[0] / row[1] for row in rows)
    near = sum(share <= NEAR for share in shares)
    print(f"{name:12} {len(rows):4} states: mean {sum(shares) / len(shares):.4f}, 95 % {shares[len(shares) * 95 // 100]:.4f}, worst {shares[-1]:.4f}; "
          f"within {NEAR}: {near}; shorter than the command's: {sum(share < 1 for share in shares)}; "
          f"T / LB {sum(row[0] / row[2] for row in rows) / len(rows):.4f}, the command's {sum(row[1] / row[2] for row in rows) / len(rows):.4f}; "
          f"tables {sum(row[3] for row in rows) / len(rows):.1f} ms, at most {max(row[3] for row in rows):.1f}; "
          f"plan {sum(row[4] for row in rows) / len(rows):.1f} ms, at most {max(row[4] for row in rows):.1f}")
    for phases, command, bound, spent, _, dead in rows:
        if phases > NEAR * command:
            print(f"    {phases} for {command}, LB {bound}, {spent:.1f} ms: {' '.join(dead)}")
    sys.stdout.flush()
    return near >= SHARE * len(rows) and shares[-1] <= MOST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("haste")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--trees", default=",".join(TREES))
    options = parser.parse_args()
    if unknown := set(options.trees.split(",")) - {*TREES, *KINDS}:
        parser.error(f"--trees: {' '.join(sorted(unknown))} is none of {' '.join((*TREES, *KINDS))}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.trees.split(","):
            one = states(name, options, f"{folder}/net")
            tell(name, one)
            rows += one
    return 0 if tell("all", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
