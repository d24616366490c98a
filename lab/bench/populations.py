# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fabrics that are not filled evenly, at one LID per server: phases beside the lower bound, the lump and what the tables allow.

Random trees of at least 50 servers, healthy or with some cables dead; half of them with free ports among the servers. Three families: no leaf has
more servers than lanes, all have more, both kinds mixed.
"""
import json
import pathlib
import random
import subprocess
import tempfile

import harness

FAMILIES = {"n <= lanes": lambda lanes: (1, lanes), "n > lanes": lambda lanes: (lanes + 1, 3 * lanes),
            "mixed": lambda lanes: (1, 2 * lanes)}


class Population(harness.FatTree):
    """leaves[a]: the ports of leaf a that have a server; uplinks come after `ports`."""

    def __init__(self, source, family):
        while True:
            nleaves, nspines, ncables = source.randint(4, 24), source.randint(4, 24), source.randint(1, 2)
            least, most = FAMILIES[family](nspines * ncables)
            usual = source.randint(least, most)
            sizes = [source.randint(least, most) if source.random() < .6 else usual for _ in range(nleaves)]
            if nspines * ncables <= 36 and 50 <= sum(sizes) <= 632:
                break
        ports = max(sizes) + (source.randint(0, 6) if source.random() < .5 else 0)
        used = [set(source.sample(range(ports), size)) for size in sizes]
        super().__init__(nspines, nleaves, servers=ports, cables=ncables,
                         empty=[(a, s) for a in range(nleaves) for s in range(ports) if s not in used[a]])


def plan(tree, dead):
    """status.json's keys, or None where there is no plan."""
    with tempfile.TemporaryDirectory() as folder:
        net = pathlib.Path(folder) / "net"
        net.write_text(tree.text())
        down = [word for cable in dead for word in ("--down", f"{cable.leaf}[{cable.leaf_port}]")]
        done = subprocess.run([*harness.fors_command("plan"), "--fabric", str(net), "--lmc", "0", "--json", *down],
                              capture_output=True, text=True)
    if done.returncode == 2:
        raise harness.HarnessError(done.stderr)
    return json.loads(done.stdout) if done.returncode == 0 else None


def _row(family, share, plans):
    over = sorted(p["phases"] / max(p["lower_bound"], p["lump_bound"]) for p in plans)
    worst = max(plans, key=lambda p: p["phases"] / max(p["lower_bound"], p["lump_bound"]))

    def mean(key):
        return sum(p[key] / p["lower_bound"] for p in plans) / len(plans)
    return {"family": family, "dead": share, "fabrics": len(plans), "lump": mean("lump_bound"), "tables": mean("tables_bound"),
            "phases": mean("phases"), "mean": sum(over) / len(over), "p90": over[int(len(over) * .9)], "worst": over[-1],
            "worst_is": [worst[key] for key in ("phases", "lower_bound", "lump_bound", "tables_bound")]}


def measure(each, shares=(0, .05)):
    """Rows per family and share of dead cables."""
    rows = []
    for family in FAMILIES:
        for share in shares:
            source, plans = random.Random(f"{family} {share}"), []
            while len(plans) < each:
                tree = Population(source, family)
                cables = [tree.uplink(a, k, c) for a in range(tree.nleaves) for k in range(tree.nspines)
                          for c in range(tree.ncables)]
                status = plan(tree, source.sample(cables, int(len(cables) * share)))
                plans += [status] if status else []
            rows.append(_row(family, share, plans))
    return rows
