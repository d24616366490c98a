#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The OSU micro-benchmarks osu_alltoall and osu_alltoallv over sixteen servers of real packets, see doc/applications.md.

    lab/testbed/osu.py [--osu DIR] [--each RANKS...] [--leaves N] [--repeats N] [--states NAME...] [--setting NAME=VALUE]... [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

The fabric is FT(2;4,4), or FT(2;8,2) with --leaves 2: there a dead cable takes nothing from the exchange, for half of it stays below a leaf.

DIR, or OSU_DIR, is the folder of the two programs. Plain MPI and libforsched-mpi take turns, so whatever disturbs the machine meets both.
Each run is a new program: its first calls do not count, as OSU's own options say, and those that do are averaged by OSU. Printed is the
median of the runs over the time that the fullest port needs, and the median of library over plain, run by run.
"""
import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path

from namespaces import PAYLOAD
from ranks import following, stage

SERVERS = 16
PROGRAMS = ("osu_alltoall", "osu_alltoallv")
STATES = ("healthy", "dead cable")
# Ranks on a server: bytes of a message, bits that a cable carries a second, calls that do not count, and calls that do
SIZES = {1: (40000, 6_000_000, 10, 4), 2: (20000, 10_000_000, 8, 4), 4: (16384, 8_000_000, 6, 3)}


def bound(each):
    """Seconds that a port needs for the messages of its ranks to those of other servers."""
    size, rate = SIZES[each][:2]
    return each * each * (SERVERS - 1) * size * 8 / PAYLOAD / rate


def run_once(ranks, program, each, env):
    """Seconds of a call, those of the rank that takes longest: ranks of one server end at different times."""
    size, _, warm_up, calls = SIZES[each]
    done = ranks.run([program, "-f", "-m", f"{size}:{size}", "-x", warm_up, "-i", calls], env)
    sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))
    if done.returncode:
        sys.exit(f"lab/testbed/osu.py: {done.stderr[-2000:]}")
    return float(re.search(rf"^{size}\s+[\d.]+\s+[\d.]+\s+([\d.]+)", done.stdout, re.M)[1]) / 1e6


def measure(options, each, state, folder):
    """A row for each of the two programs."""
    with stage(folder, SIZES[each][1], state == "dead cable", each, (SERVERS // options.leaves, options.leaves)) as (ranks, schedule):
        own = {**following(folder, schedule), **dict(text.split("=", 1) for text in options.setting)}
        rows = [{"each": each, "state": state, "program": name, "bound": bound(each), "plain": [], "library": []} for name in PROGRAMS]
        for turn in range(options.repeats):
            for row in rows:
                for label in ("plain", "library") if turn % 2 else ("library", "plain"):
                    row[label].append(run_once(ranks, options.osu / row["program"], each, own if label == "library" else {}))
    return rows


def report(row, is_json):
    if is_json:
        print(json.dumps(row), flush=True)
        return
    plain, library = (statistics.median(row[label]) / row["bound"] for label in ("plain", "library"))
    ratio = statistics.median(ours / theirs for ours, theirs in zip(row["library"], row["plain"]))
    print(f"{row['each']} on a server, {row['state']:10} {row['program']:13}  plain {plain:.2f}  library {library:.2f}  library/plain {ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/osu.py", allow_abbrev=False,
                                     description="OSU micro-benchmarks over real packets, by plain MPI and under libforsched-mpi.")
    parser.add_argument("--osu", type=Path, default=os.environ.get("OSU_DIR"), metavar="DIR", help="where osu_alltoall is (default: $OSU_DIR)")
    parser.add_argument("--each", type=int, nargs="+", choices=list(SIZES), default=list(SIZES), metavar="RANKS", help="on each server: 1, 2, 4")
    parser.add_argument("--leaves", type=int, choices=(2, 4), default=4, metavar="N", help="4, FT(2;4,4), or 2, FT(2;8,2) (default 4)")
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES), metavar="NAME", help="only these: " + ", ".join(STATES))
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="of each program (default 5)")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="also in the library's environment")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.osu or not (options.osu / PROGRAMS[0]).exists():
        sys.exit("lab/testbed/osu.py: --osu or OSU_DIR has to name the folder of osu_alltoall")
    options.osu = options.osu.resolve()
    for each in options.each:
        for state in options.states:
            with tempfile.TemporaryDirectory(prefix="fors-osu-") as scratch:
                for row in measure(options, each, state, Path(scratch)):
                    report(row, options.json)


if __name__ == "__main__":
    main()
