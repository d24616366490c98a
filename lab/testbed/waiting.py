#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Whom servers wait for, with real packets and in `fors simulate` side by side, see lab/doc/waiting.md.

    lab/testbed/waiting.py [--repeats N] [--cases NAME...] [--json]          (as root; FORS_BUILDDIR names a build)

FT(2;4,4) under fors, LMC 2. The simulation has the speed, the packets and the queues of the testbed, and tokens that take no time. What the
machine makes a message wait before it begins is not known: it is a random part of the message's time (--message-jitter), and that part is
the one number that is fitted, to the healthy exchange of the same run. All other cases follow. Each is the median of some exchanges; beside it
the median of simulations of the same schedule with some seeds.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

import stage  # noqa: E402
from harness import fors_command  # noqa: E402
from namespaces import MTU, RATE, batch  # noqa: E402

PAYLOAD = MTU - 52     # of a packet: TCP with time stamps
FRAME = MTU + 14       # on a cable
ACKNOWLEDGED = 66 / 2  # bytes that go back for each packet: an acknowledgement for two
HEADER = 30            # of a packet of fors simulate
ONE = ["--window", "1"]  # one message of a server at a time
SEEDS = range(1, 6)
HEALTHY = "healthy, all"

# name: (which cables are dead, options of the exchange, options of fors simulate)
CASES = {
    HEALTHY: ("healthy", ["--wait", "tree"], ["--wait", "tree", *ONE]),
    "1 cable, all": ("1 cable", ["--wait", "tree"], ["--wait", "tree", *ONE]),
    "1 cable, 2 ahead": ("1 cable", ["--wait", "tree", "--ahead", 2], ["--wait", "tree", "--ahead", "2", *ONE]),
    "1 cable, own": ("1 cable", ["--wait", "own"], ["--wait", "own"]),
    "1 cable, nobody": ("1 cable", ["--wait", "nobody"], ["--barrier", "none", "--idle", "skipped", *ONE]),
    "1 cable, chunks": ("1 cable", ["--wait", "nobody", "--chunk", 50000], ["--wait", "chunks", "--chunk", "50000", *ONE]),
    "3 cables, all": ("3 cables", ["--wait", "tree"], ["--wait", "tree", *ONE]),
    "3 cables, own": ("3 cables", ["--wait", "own"], ["--wait", "own"]),
    "slow server, all": ("slow", ["--wait", "tree"], ["--wait", "tree", *ONE]),
    "slow server, own": ("slow", ["--wait", "own"], ["--wait", "own"]),
}
SLOW = 0.8  # of a cable


def dead(tree, state):
    return {"1 cable": [tree.uplink(1, 2)], "3 cables": [tree.uplink(leaf, leaf) for leaf in range(3)]}.get(state, [])


def real(on, options, repeats):
    done = subprocess.run(on.argv("--warm-up", 1, "--iterations", repeats, *options), capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise stage.StageError(done.stderr.strip())
    return [row["seconds"] for row in json.loads(done.stdout)["iterations"]]


def simulated(on, cables, options, jitter, has_slow):
    """Seconds. The cable's rate is shared by packets, headers and what is acknowledged; fors simulate counts a header of its own."""
    speed = RATE / 1e9 * (PAYLOAD + HEADER) / (FRAME + ACKNOWLEDGED)
    down = [word for cable in cables for word in ("--down", f"{cable.leaf}[{cable.leaf_port}]")]
    slow = ["--straggler", f"5={SLOW}"] if has_slow else []
    tokens = ["--token-time", "0"] if "own" in options or "tree" in options else []
    command = fors_command("simulate", "--fabric", on.sim.net_file, *down, "--routing", "fors", "--lmc", "2", "--schedule", on.osm.schedule_file,
                           "--message", on.message, "--mtu", PAYLOAD, "--speed", f"{speed:.9f}", "--buffer", "1MiB", "--store-and-forward",
                           "--message-jitter", f"{jitter:.6f}", *tokens, *slow, *options, "--json")
    return statistics.median(_seconds(command + ["--seed", str(seed)]) for seed in SEEDS)


def _seconds(command):
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        raise stage.StageError(said.stderr.strip())
    return json.loads(said.stdout)["time_ns"] / 1e9


def fit(on, seconds):
    """The jitter with which the healthy exchange takes so long."""
    low, high = 1e-6, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        if simulated(on, [], CASES[HEALTHY][2], middle, False) < seconds:
            low = middle
        else:
            high = middle
    return low


def slow_down(on, rate):
    """Both directions of the cable of the sixth server, in the schedule's order."""
    name = sorted(on.live.servers)[5]
    peer, port = on.live.cable[name, 1]
    for node, number in ((name, 1), (peer, port)):
        batch("tc", [f"qdisc replace dev p{number} root tbf rate {int(rate)} burst 2100 limit 1000000"], on.net.name(node))


def measure(on, name, repeats, jitter):
    """One case; jitter None: it is fitted to this one."""
    state, options, simulation = CASES[name]
    cables, has_slow = dead(on.tree, state), state == "slow"
    on.after(on.cut, cables)
    if has_slow:
        slow_down(on, SLOW * RATE)
    row = {"case": name, "seconds": real(on, options, repeats)}
    row["median"] = statistics.median(row["seconds"])
    row["jitter"] = fit(on, row["median"]) if jitter is None else jitter
    row["simulated"] = simulated(on, cables, simulation, row["jitter"], has_slow)
    row["off"] = row["simulated"] / row["median"] - 1
    if has_slow:
        slow_down(on, RATE)
    on.after(on.mend, cables)
    return row


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/waiting.py", allow_abbrev=False, description="Ways to wait over real packets, and simulated.")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="exchanges of each case (default 3)")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES), metavar="NAME", help="only these: " + "; ".join(CASES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fors-waiting-") as scratch, stage.Stage(stage.FORS, Path(scratch)) as on:
        jitter = None
        for name in [HEALTHY, *(case for case in options.cases if case != HEALTHY)]:
            row = measure(on, name, options.repeats, jitter)
            jitter = row["jitter"]
            if options.json:
                print(json.dumps(row), flush=True)
            else:
                print(f"{row['case']:20} {row['median']:.3f} s ({min(row['seconds']):.3f} to {max(row['seconds']):.3f}), simulated "
                      f"{row['simulated']:.3f} s: {100 * row['off']:+.1f} %{f', jitter {jitter:.3f} fitted' if name == HEALTHY else ''}", flush=True)


if __name__ == "__main__":
    main()
