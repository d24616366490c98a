#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What a ranking of homes costs traffic that runs meanwhile: FT(2;4,4) of real packets, see lab/doc/testbed.md.

    lab/testbed/reorder.py [--seconds N] [--window N] [--json]      (as root; FORS_BUILDDIR names a build)

All servers send messages over reliable connections, each with at most `window` packets on the way. Every second the tables turn from those
of hosts that came late to those of all ranked afresh, or back, switch by switch as OpenSM writes them: many more rankings than the
one an hour that fors allows itself. Beside it the same without any change.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

import harness  # noqa: E402
from harness import FatTree, Ibsim, OpenSM  # noqa: E402
from namespaces import Namespaces, address  # noqa: E402
from queue_pair import START  # noqa: E402

RATE = 2_000_000  # bits per second of a cable: Python sends the packets
EVERY = 3         # each such server comes late


def two_tables(folder):
    """The fabric, and its tables when every third host has come late and when all are ranked afresh."""
    tree = FatTree(4, 4)
    late = [name for i, name in enumerate(tree.servers()) if i % EVERY == EVERY - 1]
    with Ibsim(tree, folder / "sim") as sim:
        for name in late:
            sim.unlink(name, 1)
        with OpenSM(sim, folder / "first", sweep_interval=1) as osm:
            osm.wait_status(state="active", servers=len(tree.servers()) - len(late))
            for name in late:
                sim.relink(name, 1)
            osm.wait_status(state="active", servers=len(tree.servers()))
            before = harness.read_tables(sim)
        with OpenSM(sim, folder / "second", sweep_interval=1) as osm:  # it sees all for the first time: as a ranking has it
            osm.wait_status(state="active", servers=len(tree.servers()))
            return harness.read_live(sim), before, harness.read_tables(sim)


def run(net, tables, seconds, window):
    """All servers send for a while; `tables` take turns, each for a second. The sums of what they count."""
    servers = sorted(net.live.servers)
    at = {name: address(net.live.servers[name].lid) for name in servers}
    script = str(Path(__file__).with_name("queue_pair.py"))
    running = [subprocess.Popen(["ip", "netns", "exec", net.name(name), sys.executable, script, at[name], str(seconds), str(window), str(i),
                                 *[at[other] for other in servers if other != name]], stdout=subprocess.PIPE, text=True)
               for i, name in enumerate(servers)]
    time.sleep(START)
    changes, end = 0, time.monotonic() + seconds - 1
    while time.monotonic() < end:
        time.sleep(1)
        changes += bool(net.apply(tables[(changes + 1) % len(tables)]))
    rows = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    net.apply(tables[0])
    return {"changes": changes, **{key: sum(row[key] for row in rows) for key in rows[0]}}


def measure(seconds, window):
    with tempfile.TemporaryDirectory(prefix="fors-reorder-") as folder:
        live, before, after = two_tables(Path(folder))
        with Namespaces(live, RATE) as net:
            net.apply(before)
            return {"moved": len(harness.changed_entries(before, after)), "window": window, "seconds": seconds,
                    "still": run(net, [before], seconds, window), "turning": run(net, [before, after], seconds, window)}


def main():
    parser = argparse.ArgumentParser(description="What a ranking of homes costs traffic that runs meanwhile.")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--window", type=int, default=16, help="packets of a connection that may be on the way")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.seconds, options.window)
    if options.json:
        print(json.dumps(found))
        return
    print(f"FT(2;4,4), 16 servers, window {found['window']} packets, {found['seconds']} s; {found['moved']} entries move at each change")
    for name in ("still", "turning"):
        row = found[name]
        print(f"{name:8} {row['changes']} changes: {row['messages']} messages, {row['accepted']} packets, {row['early']} early, {row['naks']} NAKs, "
              f"{row['resent']} sent again ({100 * row['resent'] / max(row['accepted'], 1):.2f} %), {row['lost']} times a packet was lost")


if __name__ == "__main__":
    main()
