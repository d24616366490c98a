#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What libforsched-mpi makes of messages of unequal sizes: MPI over FT(2;4,4) of real packets, see doc/applications.md.

    lab/testbed/unequal.py [--sigmas S...] [--cut] [--calls N] [--mean BYTES] [--rate BITS] [--each RANKS] [--alltoall] [--events] [--demand]
                       [--library LABEL=FILE]... [--setting LABEL:NAME=VALUE]... [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

Ranks in the network namespaces of sixteen servers, usually one in each, call MPI_Alltoallv with messages of lognormal sizes. Printed is the
time of a call over that which the fullest port needs for its bytes, the median of the calls but the first ones: by plain MPI, by the
library of the build, and by those that --library names. With --cut the cable of a leaf is dead. With --events the servers of three leaves
send, to those of the last one, which has the dead cable. With --demand fors plans the calls as a demand: `library` does without it, `demand`
follows it in each call, and `auto` where that was the quickest way.
"""
import argparse
import json
import math
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import FatTree, build_dir  # noqa: E402
from namespaces import PAYLOAD  # noqa: E402
from ranks import add_alltoallv_options, following, other_libraries, stage  # noqa: E402

FIRST = 3  # calls that are not counted: connections, and what the library learns
TREE = FatTree(4, 4)
ALL_BITS = (1 << 64) - 1
SCALE = 20  # bytes of the demand for one of a call: a phase costs some 7 ms here, or 5 kB; plans are made for 4 us at 200 Gbit/s, 100 kB


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/unequal.py", allow_abbrev=False,
                                     description="MPI_Alltoallv with unequal sizes over real packets: time over the port bound.")
    add_alltoallv_options(parser)
    parser.add_argument("--calls", type=int, default=5, metavar="N", help="that are counted (default 5)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--events", action="store_true", help="senders on three leaves, receivers on the fourth")
    parser.add_argument("--demand", action="store_true", help="also along the schedule of a demand that has these sizes")
    parser.add_argument("--setting", action="append", default=[], metavar="LABEL:NAME=VALUE",
                        help="also the build's library, with this in the environment")
    parser.add_argument("--verbose", action="store_true", help="FORSCHED_VERBOSE=2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fors-unequal-") as scratch:
        measure(options, Path(scratch))


def ways_of(options, schedule, folder):
    """Label -> environment."""
    own = {**following(folder, schedule), **({"FORSCHED_VERBOSE": 2} if options.verbose else {})}
    ways = {"plain": {}, "library": own, **other_libraries(options, own)}
    if options.demand:
        ways = {**ways, "library": {**own, "FORSCHED_DEMAND": "none"}, "demand": {**own, "FORSCHED_WAY": "demand"}, "auto": own}
    for text in options.setting:
        label, name, value = re.fullmatch(r"([^:]+):(\w+)=(.*)", text).groups()
        ways[label] = {**ways.get(label, own), name: value}
    return ways


# ---- the sizes as lab/testbed/alltoallv makes them ----

def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & ALL_BITS
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & ALL_BITS
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & ALL_BITS
    return x ^ x >> 31


def between_0_and_1(x):
    return ((mix(x) >> 12) + 0.5) / 4503599627370496.0


def bytes_of(options, sigma, source, to, size):
    if options.events and (4 * source >= 3 * size or 4 * to < 3 * size):
        return 0
    key = mix(mix(options.seed) ^ (source << 32 | to))
    normal = math.sqrt(-2 * math.log(between_0_and_1(key))) * math.cos(2 * math.pi * between_0_and_1(key + 1))
    return int(options.mean * math.exp(sigma * normal - sigma * sigma / 2)) + 1


def demand_of(options, sigma):
    """The demand's file: bytes from server to server."""
    names, each = [TREE.server(leaf, slot) for leaf in range(4) for slot in range(4)], options.each
    text = []
    for s, source in enumerate(names):
        for d, to in enumerate(names):
            ranks = [(s * each + i, d * each + k) for i in range(each) for k in range(each)]
            size = sum(bytes_of(options, sigma, one, other, each * len(names)) for one, other in ranks)
            if s != d and size:
                text.append(f"{source} {to} {SCALE * size}\n")
    return "".join(text)


def plan_demand(options, sigma, file, osm):
    """Have it planned and published."""
    before = osm.status().get("demand_epoch") or 0
    file.with_suffix(".new").write_text(f"# sigma {sigma}\n" + demand_of(options, sigma))
    file.with_suffix(".new").rename(file)
    osm.wait_status(demand_epoch=lambda epoch: epoch and epoch > before)


# ---- all of it ----

def measure(options, folder):
    file = folder / "events.demand"
    if options.demand:
        file.write_text(demand_of(options, options.sigmas[0]))
    conf = f"demand_file = {file}\n" if options.demand else ""
    with stage(folder, options.rate, options.cut, options.each, leaf=3 if options.events else 1, fors_conf=conf,
               by_name=options.events or options.demand) as (ranks, schedule):
        if options.demand:
            ranks.manager.wait_status(demand_epoch=lambda epoch: epoch)
        for number, sigma in enumerate(options.sigmas):
            if options.demand and number:
                plan_demand(options, sigma, file, ranks.manager)
            report(options, sigma, {label: call(options, ranks, sigma, env)
                                    for label, env in ways_of(options, schedule, folder).items()})


def call(options, ranks, sigma, env):
    program = [os.environ.get("ALLTOALLV", build_dir().resolve() / "lab" / "testbed" / "alltoallv"), sigma, options.mean, options.seed, options.calls + FIRST,
               "alltoall" if options.alltoall else "events" if options.events else "alltoallv", options.each]
    done = ranks.run(program, env)
    if done.returncode:
        sys.exit(f"lab/testbed/unequal.py: {done.stderr[-2000:]}")
    if options.verbose:
        sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))
    row = json.loads(done.stdout)
    bound = row["port_bytes"] / PAYLOAD * 8 / options.rate
    row["over_bound"] = [seconds / bound for seconds in row["seconds"]]
    row["median"] = statistics.median(row["over_bound"][FIRST:])
    return row


def report(options, sigma, rows):
    if options.json:
        print(json.dumps({"sigma": sigma, "ways": rows}), flush=True)
        return
    cells = "  ".join(f"{label} {row['median']:.3f} ({min(row['over_bound'][FIRST:]):.3f}-{max(row['over_bound'][FIRST:]):.3f}; first "
                      f"{' '.join(f'{x:.2f}' for x in row['over_bound'][:FIRST])})" for label, row in rows.items())
    print(f"sigma {sigma}: {cells}", flush=True)


if __name__ == "__main__":
    main()
