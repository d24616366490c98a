#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Is a call ever longer under libforsched-mpi? Random communicators and sizes of messages over FT(2;4,4) of real packets, see doc/applications.md.

    lab/testbed/many_calls.py [--cases N] [--seed N] [--calls N] [--repeats N] [--each RANKS...] [--states NAME...] [--mean BYTES] [--rate BITS]
                          [--noise] [--setting NAME=VALUE]... [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

A case is lab/testbed/many_calls.c's: communicators, sizes, a call, all drawn. Its calls under the library take turns with plain MPI's. The
ratio of a case is the median of the first over the median of the second; beside it stands the ratio of their sums, first calls included.
Cases of 1 ms or more that took more than 5 % longer are run again in programs of their own, and counted when the median of all runs is
above 5 %, too. With --noise nothing stands before MPI: the ratios are those of the machine.
"""
import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from ranks import build_dir, following, stage

STATES = ("healthy", "dead cable")
CHUNK = 10  # cases of a program
LONGER = 1.05


def run_cases(options, ranks, env, first, count):
    done = ranks.run([build_dir().resolve() / "lab" / "testbed" / "many_calls", first, count, options.seed, options.calls, options.mean], env)
    sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))
    if done.returncode:
        sys.exit(f"lab/testbed/many_calls.py: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def medians(case):
    return statistics.median(case["library"]) / statistics.median(case["plain"])


def sums(case):
    return sum(case["library"]) / sum(case["plain"])


def measure(options, each, state, folder):
    """The cases of a state, each with the list of its ratios."""
    with stage(folder, options.rate, state == "dead cable", each) as (ranks, schedule):
        env = {} if options.noise else {**following(folder, schedule), **dict(text.split("=", 1) for text in options.setting)}
        cases = []
        for first in range(0, options.cases, CHUNK):
            for case in run_cases(options, ranks, env, first, min(CHUNK, options.cases - first)):
                cases.append({**case, "each": each, "state": state, "ratios": [medians(case)], "sums": sums(case)})
                if not options.json:
                    report(cases[-1])
        for case in cases:
            if case["ratios"][0] > LONGER and statistics.median(case["plain"]) >= 0.001:
                case["ratios"] += [medians(run_cases(options, ranks, env, case["case"], 1)[0]) for _ in range(options.repeats - 1)]
        return cases


def report(case):
    print(f"{case['case']:3} {case['communicators']:8} {case['call']:9} sigma {case['sigma']:<4} mean {case['mean']:6.0f}  "
          f"plain {statistics.median(case['plain']):.4f} s  ratio {case['ratios'][0]:.3f}  of sums {case['sums']:.3f}", flush=True)


def conclude(cases, each, state, is_json):
    """Is any byte wrong?"""
    if is_json:
        print("\n".join(map(json.dumps, cases)), flush=True)
    else:
        summarize(cases, each, state)
    return any(case["wrong"] for case in cases)


def summarize(cases, each, state):
    first, final = ([pick(case["ratios"]) for case in cases] for pick in (lambda ratios: ratios[0], statistics.median))
    print(f"{each} on a server, {state}: {len(cases)} cases; ratio: median {statistics.median(first):.3f}, least {min(first):.3f}; "
          f"of all sums {statistics.median(case['sums'] for case in cases):.3f}; above {LONGER}: {sum(ratio > LONGER for ratio in first)} of one run, "
          f"{sum(ratio > LONGER for ratio in final)} in the median of {max(len(case['ratios']) for case in cases)}", flush=True)
    for case in cases:
        if len(case["ratios"]) > 1:
            print(f"  case {case['case']}, {case['communicators']}, {case['call']}, mean {case['mean']:.0f}: " +
                  " ".join(f"{ratio:.3f}" for ratio in case["ratios"]), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/many_calls.py", allow_abbrev=False,
                                     description="Random calls over real packets: the library's time over plain MPI's.")
    parser.add_argument("--cases", type=int, default=50, metavar="N", help="of each state (default 50)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--calls", type=int, default=9, metavar="N", help="of each kind in a case (default 9)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="runs of a case that was longer (default 3)")
    parser.add_argument("--each", type=int, nargs="+", default=[1, 4], metavar="RANKS", help="on each server (default 1 4)")
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES), metavar="NAME", help="only these: " + ", ".join(STATES))
    parser.add_argument("--mean", type=int, default=40000, metavar="BYTES", help="of the longest messages (default 40000)")
    parser.add_argument("--rate", type=int, default=20_000_000, metavar="BITS", help="of a cable, a second (default 20000000)")
    parser.add_argument("--noise", action="store_true", help="without a library")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="also in the library's environment")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    is_wrong = False
    for each in options.each:
        for state in options.states:
            with tempfile.TemporaryDirectory(prefix="fors-many-") as scratch:
                is_wrong |= conclude(measure(options, each, state, Path(scratch)), each, state, options.json)
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
