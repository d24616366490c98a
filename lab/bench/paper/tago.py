# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paper 004, "TAGO: Rethinking Routing Design in High Performance Reconfigurable Networks" (Teh et al.): figure 2 by linear programs at
block level; figures 5 to 8 and 10 by packets on networks of the paper's size: 17 blocks of 32 switches with 15 servers each, 4 global cables a
switch. A Flexfly's and a Flexspander's cables follow the pattern's traffic. Fewer switches in as many blocks would be another network: each pair of
blocks keeps one cable, which is an eighth of a block's 128, but half of 32.
"""
import json
import pathlib
import re
import subprocess
import tempfile

import harness
import rates
from simulator import arrived, side_by_side, simulate

BLOCKS, SWITCHES, GLOBAL, SERVERS, INSIDE = 17, 32, 4, 15, 20  # INSIDE: of a Flexspander's switch
PER_BLOCK = SWITCHES * SERVERS
GRID = (20, 17, 24)
GBITS, BYTES = 100, 4096
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


def _demand(pattern):
    """What blocks send to one another, in cables of servers: {(i, j): sum over servers of i of the part that goes to j}."""
    phases = {"to the next block": lambda: [[(s, (s + PER_BLOCK) % (BLOCKS * PER_BLOCK)) for s in range(BLOCKS * PER_BLOCK)]], "two blocks exchange": _exchange,
              "27-point stencil": _stencil}.get(pattern)
    if not phases:
        part = PER_BLOCK * PER_BLOCK / (BLOCKS * PER_BLOCK - 1)
        return {(i, j): part for i in range(BLOCKS) for j in range(BLOCKS) if i != j}
    pairs, found = [pair for phase in phases() for pair in phase], {}
    sent = len(pairs) / len({source for source, _ in pairs})
    for i, j in ((source // PER_BLOCK, destination // PER_BLOCK) for source, destination in pairs):
        found[i, j] = found.get((i, j), 0) + 1 / sent
    return found


def networks(traffic):
    follows = f";traffic={traffic}" if traffic else ""
    return {"Dragonfly": f"DRAGONFLY({SWITCHES},{GLOBAL},{BLOCKS};{SERVERS})", "Flexfly": f"FLEXFLY({SWITCHES},{GLOBAL},{BLOCKS};{SERVERS}{follows})",
            "Flexspander": f"FLEXSPANDER({SWITCHES},{INSIDE},{GLOBAL},{BLOCKS};{SERVERS};seed=1{follows})"}


# --- what blocks can carry ---

def _cables(spec):
    """Cables from each block to each other one: {(i, j): number}."""
    text = subprocess.run(harness.fors_command("fabric", "--synthetic", spec), capture_output=True, text=True, check=True).stdout
    found, block = {}, None
    for line in text.splitlines():
        if own := re.match(r'Switch\t.*"Switch(\d+)"\t', line):
            block = int(own[1]) // SWITCHES
        elif line.startswith("Ca\t"):
            break
        elif (peer := re.match(r'\[\d+\]\t"Switch(\d+)"', line)) and int(peer[1]) // SWITCHES != block:
            found[block, int(peer[1]) // SWITCHES] = found.get((block, int(peer[1]) // SWITCHES), 0) + 1
    return found


def carried(spec, pattern):
    """The largest load at which cables between blocks carry all of each pair's traffic, by direct ways and by all ways over one other block, whatever is
    inside of blocks; linear programs. None: built without lp_solve."""
    cables, demand = _cables(spec), _demand(pattern)
    numbers = [matrix.get((i, j), 0) for matrix in (cables, demand) for i in range(BLOCKS) for j in range(BLOCKS)]
    found = rates.paper_model("carry", BLOCKS, limit=120, given=" ".join(f"{number:.9g}" for number in numbers))
    return {"direct": found[0]["direct"], "all": found[0]["all"]} if found else None


# --- figures 5 to 8 and 10 ---

def _run(spec, pattern, load, policy, messages, has_page=False):
    return simulate("--synthetic", spec, "--routing", "shortest", *pattern, "--load", load, "--messages", messages, "--message", BYTES, "--speed", GBITS, "--wire-time", "30ns",
                    "--lanes", "hops", "--vls", "8", "--policy", policy, has_page=has_page)


def _share(result, load, messages):
    """Part of senders' cables that arrives while nearly all still send: from a quarter to six tenths of the time in which they send on average."""
    time = messages * BYTES * 8 / (load * GBITS)
    return arrived(result, 0.25 * time, 0.6 * time) * 8 / (0.35 * time) / GBITS / result["senders"]


def _row(network, pattern, load, most, results, messages):
    """One row of `results` {policy: what the command says}."""
    return {"network": network, "pattern": pattern, "load": load, "carried": most, "share": {k: _share(r, load, messages) for k, r in results.items()},
            "rate": {k: r["message_gbits"] for k, r in results.items()}, "latency": {k: r["packet_latency"]["mean_ns"] for k, r in results.items()}}


def shares(loads, messages, names=("Dragonfly", "Flexfly", "Flexspander"), chosen=None):
    """Part of the cable that gets through, mean of messages' own rates (Gbit/s), and mean time of packets in the network (ns)."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as folder:
        cases = [(pattern, options, name, spec) for pattern, (options, traffic) in patterns(folder).items() if pattern in (chosen or [pattern])
                 for name, spec in networks(traffic).items() if name in names]
        for pattern, options, name, spec in cases:
            most = carried(spec, pattern)
            runs = [(load, policy) for load in loads for policy in POLICIES]
            results = dict(zip(runs, side_by_side(lambda run: _run(spec, options, *run, messages), runs)))
            rows += [_row(name, pattern, load, most, {policy: results[load, policy] for policy in POLICIES}, messages) for load in loads]
    return rows


def _global_use(data, time):
    """Five quartiles of one page."""
    block = {s[0]: int(s[1][len("Switch"):]) // SWITCHES for s in data["page"]["switches"]}
    used = sorted(min(1, part * data["time_ns"] / time) for c in data["page"]["cables"] if block[c[0]] != block[c[2]] for part in c[6:8])
    return [used[round(q * (len(used) - 1) / 4)] for q in range(5)]


def global_use(load, messages):
    """Figure 10: quartiles of the part of the time that global cables of a Flexfly are busy, each direction for itself: {policy: [least, quarter, half, three quarters, most]}.
    Of the time in which servers send on average, so 1 is also a cable that is busy for longer."""
    time = messages * BYTES * 8 / (load * GBITS)
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as folder:
        options, traffic = patterns(folder)["27-point stencil"]
        spec = networks(traffic)["Flexfly"]
        found = side_by_side(lambda policy: _global_use(_run(spec, options, load, policy, messages, has_page=True), time), POLICIES)
    return dict(zip(POLICIES, found))


def measure(is_quick):
    if is_quick:
        return {"figure2": figure_2(steps=4), "shares": shares([0.1], 2, ("Flexfly",), ("to the next block",))}
    return {"figure2": figure_2(), "shares": shares([0.1, 0.2, 0.3], 16), "use": global_use(0.2, 16)}
