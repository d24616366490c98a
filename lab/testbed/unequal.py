#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What libforsched-mpi makes of messages of unequal sizes: MPI over FT(2;4,4) of real packets, see doc/applications.md.

    lab/testbed/unequal.py [--sigmas S...] [--cut] [--calls N] [--mean BYTES] [--rate BITS] [--each RANKS] [--alltoall] [--events]
                       [--library LABEL=FILE]... [--setting LABEL:NAME=VALUE]... [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

Ranks in the network namespaces of sixteen servers, usually one in each, call MPI_Alltoallv with messages of lognormal sizes. Printed is the
time of a call over that which the fullest port needs for its bytes, the median of the calls but the first ones: by plain MPI, by the
library of the build, and by those that --library names. With --cut the cable of a leaf is dead. With --events the servers of three leaves
send, to those of the last one, which has the dead cable.
"""
import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import build_dir  # noqa: E402
from namespaces import PAYLOAD  # noqa: E402
from ranks import add_alltoallv_options, following, other_libraries, stage  # noqa: E402

FIRST = 3  # calls that are not counted: connections, and what the library learns


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/unequal.py", allow_abbrev=False,
                                     description="MPI_Alltoallv with unequal sizes over real packets: time over the port bound.")
    add_alltoallv_options(parser)
    parser.add_argument("--calls", type=int, default=5, metavar="N", help="that are counted (default 5)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--events", action="store_true", help="senders on three leaves, receivers on the fourth")
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
    for text in options.setting:
        label, name, value = re.fullmatch(r"([^:]+):(\w+)=(.*)", text).groups()
        ways[label] = {**ways.get(label, own), name: value}
    return ways


# ---- all of it ----

def measure(options, folder):
    with stage(folder, options.rate, options.cut, options.each, leaf=3 if options.events else 1, by_name=options.events) as (ranks, schedule):
        for sigma in options.sigmas:
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
