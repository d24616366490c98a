#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An event builder over FT(2;4,4) of real packets: the schedule of a demand against a linear shift without barriers, see doc/demands.md.

    lab/testbed/events.py [--states NAME...] [--mean BYTES] [--sigma S] [--rate BITS] [--seed N] [--events N] [--repeats N] [--own] [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

Twelve servers on three leaves are sources, the four on the last leaf are builders; sizes are lognormal. The demand is planned by fors under
a real opensm (demand_file). examples/event_builder runs both ways by turns. Printed is the median time of an event over that of the plan's
bound, the most bytes of a port or of the cables of a leaf. The dead cable is one of the builders' leaf.
"""
import argparse
import json
import random
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import FatTree, Ibsim, OpenSM, build_dir, read_live, read_tables  # noqa: E402
from namespaces import PAYLOAD, Namespaces  # noqa: E402
from ranks import Ranks  # noqa: E402

TREE = FatTree(4, 4)
STATES = ("healthy", "dead cable")
SOURCES = [TREE.server(leaf, slot) for leaf in range(3) for slot in range(4)]
BUILDERS = [TREE.server(3, slot) for slot in range(4)]


def sizes_of(options):
    rng = random.Random(options.seed)
    return {(source, builder): 1 + int(rng.lognormvariate(0, options.sigma) * options.mean) for source in SOURCES for builder in BUILDERS}


def bound(sizes, cables):
    """Bytes over the fullest port, or by all cables of the builders' leaf."""
    ports = [sum(size for pair, size in sizes.items() if name in pair) for name in SOURCES + BUILDERS]
    return max(*ports, sum(sizes.values()) / cables)


def measure(options, state, folder):
    sizes, file = sizes_of(options), folder / "events.demand"
    file.write_text("".join(f"{source} {builder} {size}\n" for (source, builder), size in sizes.items()))
    with Ibsim(TREE, folder / "sim") as sim, OpenSM(sim, folder / "opensm", routing_engine="fors", lmc="0", fors_conf=f"demand_file = {file}\n") as osm:
        epoch = osm.wait_status(demand_epoch=lambda epoch: epoch)["demand_epoch"]
        live = read_live(sim)
        if state != "healthy":
            sim.unlink(*TREE.uplink(3, 2)[:2])
            osm.wait_status(demand_epoch=lambda now: now and now > epoch)
        with Namespaces(live, options.rate) as net:
            net.apply(read_tables(sim))
            ranks, schedule = Ranks(net, folder), osm.state_dir / "demand" / "events" / "schedule"
            program = [build_dir().resolve() / "libforsched" / "examples" / "event_builder", schedule, options.events, *(["own"] if options.own else [])]
            rows = [ranks.run(program, {"FORSCHED_MAP": folder / "map"}) for _ in range(options.repeats)]
    for done in rows:
        if done.returncode:
            sys.exit(f"lab/testbed/events.py: {done.stderr[-2000:]}")
    found = [json.loads(done.stdout.splitlines()[-1]) for done in rows]
    least = bound(sizes, 4 if state == "healthy" else 3) / PAYLOAD * 8 / options.rate
    ways = {way: [seconds / least for row in found for seconds in row[way]] for way in ("schedule", "shift")}
    return {"state": state, "phases": found[0]["phases"], "bound": least, **ways}


def report(row, is_json):
    if is_json:
        print(json.dumps(row), flush=True)
        return
    schedule, shift = (statistics.median(row[way]) for way in ("schedule", "shift"))
    print(f"{row['state']:10}  {row['phases']} phases  schedule {schedule:.3f} of the bound  shift {shift:.3f}  schedule/shift {schedule / shift:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/events.py", allow_abbrev=False,
                                     description="An event builder over real packets: the schedule of a demand against a shift without barriers.")
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES), metavar="NAME", help="only these: " + ", ".join(STATES))
    parser.add_argument("--mean", type=int, default=100000, metavar="BYTES", help="the median of messages (default 100000)")
    parser.add_argument("--sigma", type=float, default=0.5, metavar="S", help="of the logarithm of sizes (default 0.5)")
    parser.add_argument("--rate", type=int, default=6_000_000, metavar="BITS", help="of a cable, a second (default 6000000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--events", type=int, default=3, metavar="N", help="that are timed in a run (default 3)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs (default 3)")
    parser.add_argument("--own", action="store_true", help="ranks wait for their own messages of a phase only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for state in options.states:
        with tempfile.TemporaryDirectory(prefix="fors-events-") as scratch:
            report(measure(options, state, Path(scratch)), options.json)


if __name__ == "__main__":
    main()
