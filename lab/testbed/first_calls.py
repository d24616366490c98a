#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What libforsched-mpi costs the first calls of new communicators: MPI over FT(2;4,4) of real packets, see lab/doc/testbed.md.

    lab/testbed/first_calls.py [--sigmas S...] [--cut] [--calls N] [--pairs N] [--runs N] [--mean BYTES] [--rate BITS] [--each RANKS]
                           [--noise] [--alltoall] [--library LABEL=FILE]... [--setting NAME=VALUE]... [--against NAME=FIRST,SECOND] [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

Ranks in the network namespaces of sixteen servers make pairs of communicators. The calls of one of a pair are plain MPI's, those of the
other are under the library, and they take turns. Printed is, for each call from the first on, the time under the library over that of
plain MPI beside it: the median of all pairs, and what nine of ten stay below, and the median of all calls. With --noise the same two communicators without a library show the noise. With --against
both are under the library, one with NAME=FIRST in the environment, in the place of plain MPI, the other with NAME=SECOND.
Each run is a new program, whose first pair also makes the connections.
"""
import argparse
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import build_dir  # noqa: E402
from ranks import add_alltoallv_options, following, other_libraries, stage  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/first_calls.py", allow_abbrev=False,
                                     description="The first calls of communicators over real packets: the library's time over plain MPI's.")
    add_alltoallv_options(parser)
    parser.add_argument("--calls", type=int, default=10, metavar="N", help="of each communicator (default 10)")
    parser.add_argument("--pairs", type=int, default=2, metavar="N", help="of communicators in a run (default 2)")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="of each sigma (default 2)")
    parser.add_argument("--noise", action="store_true", help="also without a library")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="also in the library's environment")
    parser.add_argument("--against", type=lambda text: re.fullmatch(r"(\w+)=([^,]+),([^,]+)", text).groups(), default=(), metavar="NAME=FIRST,SECOND",
                        help="one setting against another")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fors-first-") as scratch:
        measure(options, Path(scratch))


def libraries_of(options, schedule, folder):
    """Label -> environment."""
    own = {**following(folder, schedule), **dict(text.split("=", 1) for text in options.setting)}
    return {**({"none": {}} if options.noise else {}), "library": own, **other_libraries(options, own)}


def measure(options, folder):
    with stage(folder, options.rate, options.cut, options.each) as (ranks, schedule):
        for sigma in options.sigmas:
            pairs = {label: [] for label in libraries_of(options, schedule, folder)}
            for run in range(options.runs):  # by turns, so that a busy hour meets all
                for label, env in libraries_of(options, schedule, folder).items():
                    pairs[label] += run_pairs(options, ranks, sigma, env)
            for label, some in pairs.items():
                report(options, sigma, label, some)


def run_pairs(options, ranks, sigma, env):
    program = [build_dir().resolve() / "lab" / "testbed" / "alltoallv", sigma, options.mean, 1, options.calls,
               "alltoall" if options.alltoall else "alltoallv", options.each, options.pairs, *options.against]
    done = ranks.run(program, env)
    sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))
    if done.returncode:
        sys.exit(f"lab/testbed/first_calls.py: {done.stderr[-2000:]}")
    return json.loads(done.stdout)["pairs"]


def ninth_of_ten(values):
    return sorted(values)[min(len(values) - 1, len(values) * 9 // 10)]


def report(options, sigma, label, pairs):
    if options.json:
        print(json.dumps({"sigma": sigma, "cut": options.cut, "library": label, "pairs": pairs}), flush=True)
        return
    ratios = list(zip(*([own / plain for plain, own in zip(*pair)] for pair in pairs)))
    cells = "  ".join(f"{statistics.median(ratio):.3f}/{ninth_of_ten(ratio):.3f}" for ratio in ratios)
    plain = statistics.median(seconds for pair in pairs for seconds in pair[0])
    first, every = options.against[1] if options.against else "plain", statistics.median(value for ratio in ratios for value in ratio)
    print(f"sigma {sigma:<4} {label:8} {first} {plain:.3f} s  {cells}  all {every:.3f}", flush=True)


if __name__ == "__main__":
    main()
