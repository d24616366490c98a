# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paper 004, "TAGO: Rethinking Routing Design in High Performance Reconfigurable Networks" (Teh et al.): figure 2 by linear programs at
block level; figures 5, 6, 8 and 10 by packets on a quarter of the paper's switches: 17 blocks of 8 switches with 15 servers each, 4 global
cables a switch as there, 2,040 servers instead of 8,160. A Flexfly's and a Flexspander's cables follow the pattern's traffic.
"""
import json
import pathlib
import re
import tempfile

import rates
from simulator import simulate

BLOCKS, SWITCHES, GLOBAL, SERVERS, INSIDE = 17, 8, 4, 15, 5  # INSIDE: of a Flexspander's switch; the paper has 20 of 31
PER_BLOCK = SWITCHES * SERVERS
GRID = (20, 17, 6)
POLICIES = {"tables": [], "hashed": [], "random": [], "vlb": [], "ugal-l": [], "ugal-g": [], "tago": []}


# --- figure 2 ---

def figure_2(n=15, steps=8):
    """The most that indirect ways can add, as a part of what all ways give, for traffic at least as skewed as the topology: {topology's skew: part}. None:
    built without lp_solve."""
    found = rates.paper_model("blocks", n, steps, limit=600)
    if not found:
        return None
    gains = {}
    for row in found:
        if row["dc"] >= row["dt"]:
            gains[str(row["dt"])] = max(gains.get(str(row["dt"]), 0), 1 - row["direct"] / row["all"])
    return {"n": n, "steps": steps, "gains": gains}


# --- patterns: pairs of servers, and weights of pairs of blocks ---

def _stencil():
    """Each server to its 26 neighbours in a grid without edges, one after the other: [[(source, destination)] for each of 26 phases]."""
    x, y, z = GRID
    place = {(i, j, k): (k * y + j) * x + i for i in range(x) for j in range(y) for k in range(z)}
    steps = [(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if a or b or c]
    return [[(number, place[(i + a) % x, (j + b) % y, (k + c) % z]) for (i, j, k), number in place.items()] for a, b, c in steps]


def _exchange():
    """Blocks 0 and 1, 2 and 3, ...; the last one is alone."""
    return [[(s, s + (PER_BLOCK if s // PER_BLOCK % 2 == 0 else -PER_BLOCK)) for s in range((BLOCKS - 1) * PER_BLOCK)]]


def _weights(phases):
    """"I-J:W,...": how many pairs of servers each pair of blocks has, in 255 steps."""
    count = {}
    for source, destination in (pair for phase in phases for pair in phase):
        i, j = sorted((source // PER_BLOCK, destination // PER_BLOCK))
        if i != j:
            count[i, j] = count.get((i, j), 0) + 1
    most = max(count.values())
    return ",".join(f"{i}-{j}:{max(1, 255 * n // most)}" for (i, j), n in sorted(count.items()))


def patterns(folder):
    """{name: (options, traffic)}"""
    found = {"to the next block": (["--pattern", f"shift({PER_BLOCK})"], "+1:1")}
    for name, phases in ("two blocks exchange", _exchange()), ("27-point stencil", _stencil()):
        file = pathlib.Path(folder) / name.replace(" ", "-")
        file.write_text("".join("phase\n" + "".join(f"{a} {b}\n" for a, b in phase) for phase in phases))
        found[name] = (["--pattern-file", file], _weights(phases))
    return {**found, "uniform": (["--pattern", "all-to-all"], "")}


def networks(traffic):
    follows = f";traffic={traffic}" if traffic else ""
    return {"Dragonfly": f"DRAGONFLY({SWITCHES},{GLOBAL},{BLOCKS};{SERVERS})", "Flexfly": f"FLEXFLY({SWITCHES},{GLOBAL},{BLOCKS};{SERVERS}{follows})",
            "Flexspander": f"FLEXSPANDER({SWITCHES},{INSIDE},{GLOBAL},{BLOCKS};{SERVERS};seed=1{follows})"}


# --- figures 5, 6, 8 and 10 ---

def _run(spec, pattern, load, policy, messages, *more):
    return simulate("--synthetic", spec, "--routing", "shortest", *pattern, "--load", load, "--messages", messages, "--message", "4KiB", "--speed", "100", "--wire-time", "30ns",
                    "--lanes", "hops", "--vls", "8", "--policy", policy, *more)


def shares(loads, messages, names=("Dragonfly", "Flexfly", "Flexspander")):
    """Part of the cable that gets through until the last packet has arrived, and the mean time of packets in the network."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as folder:
        for pattern, (options, traffic) in patterns(folder).items():
            for name, spec in networks(traffic).items():
                for load in loads if name in names else []:
                    row = {"network": name, "pattern": pattern, "load": load, "share": {}, "latency": {}}
                    for policy in POLICIES:
                        result = _run(spec, options, load, policy, messages)
                        row["share"][policy] = result["line_share"]
                        row["latency"][policy] = result["packet_latency"]["mean_ns"]
                    rows.append(row)
    return rows


def global_use(load, messages):
    """Figure 10: quartiles of the part of the time that global cables of a Flexfly are busy, each direction for itself: {policy: [least, quarter, half, three quarters, most]}."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as folder:
        options, traffic = patterns(folder)["27-point stencil"]
        for policy in POLICIES:
            page = pathlib.Path(folder) / "page"
            _run(networks(traffic)["Flexfly"], options, load, policy, messages, "--html", page)
            data = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
            block = {s[0]: int(s[1][len("Switch"):]) // SWITCHES for s in data["switches"]}
            used = sorted(part for c in data["cables"] if block[c[0]] != block[c[2]] for part in c[6:8])
            found[policy] = [used[round(q * (len(used) - 1) / 4)] for q in range(5)]
    return found


def measure(is_quick):
    if is_quick:
        return {"figure2": figure_2(steps=4), "shares": shares([0.1], 5, ("Flexfly",))}
    return {"figure2": figure_2(), "shares": shares([0.1, 0.2, 0.3], 40), "use": global_use(0.2, 40)}
