#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make bench`: every measurement of fors in one run, beside OpenSM's own engines.

Leaves bench.txt, bench.json and SVG pictures in the output folder. Nothing is asserted: times differ
from machine to machine, so read the ratios.
"""
import argparse
import json
import os
import pathlib
import platform
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "e2e")]

import beside  # noqa: E402
import churn  # noqa: E402
import forsched  # noqa: E402
import lock  # noqa: E402
import phases  # noqa: E402
import pictures  # noqa: E402
import planners  # noqa: E402
import populations  # noqa: E402
import shifts  # noqa: E402
import sweeps  # noqa: E402
import tables_text  # noqa: E402

SECTIONS = ["check", "planners", "figure7", "random", "populations", "shifts", "churn", "levels", "lock", "engines", "forsched", "wake", "sweeps"]


def machine():
    model = "unknown processor"
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "time": time.strftime("%Y-%m-%d")}


def measure(section, is_quick):
    """Rows of one section."""
    if section == "check":
        return planners.run("bench_check", is_quick)
    if section == "planners":
        return planners.measure(is_quick)
    if section == "figure7":
        return phases.figure_7()
    if section == "random":
        return phases.random_failures(3 if is_quick else 20)
    if section == "populations":
        return populations.measure(5 if is_quick else 40)
    if section == "shifts":
        return shifts.measure(6 if is_quick else 40)
    if section == "churn":
        return churn.measure(is_quick)
    if section == "levels":
        return planners.run("bench_levels", is_quick)
    if section == "lock":
        return lock.measure_all(is_quick)
    if section == "engines":
        return beside.measure_all(is_quick)
    if section == "forsched":
        return forsched.measure(is_quick)
    if section == "wake":
        return forsched.wake(is_quick)
    return sweeps.measure_all(is_quick)


def run(name, sections, measure_one, what, quick, folder):
    """The command line of a bench with these sections: measures them; the output folder and the rows of each section."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--output", default=folder, metavar="DIR", help="where results go (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("section", nargs="*", metavar="SECTION", help=f"some of: {' '.join(sections)} (default all)")
    options = parser.parse_args()
    unknown = set(options.section) - set(sections)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are: {' '.join(sections)}")
    output = pathlib.Path(options.output)
    output.mkdir(parents=True, exist_ok=True)
    results = {"machine": machine()}
    wanted, begin = list(options.section or sections), time.monotonic()
    for done, section in enumerate(wanted):
        started = time.monotonic()
        left = f", some {(started - begin) / done * (len(wanted) - done) / 60:.0f} min left" if done else ""
        print(f"{name}: {done}/{len(wanted)} done{left}, {section} ...", file=sys.stderr, flush=True)
        try:
            results[section] = measure_one(section, options.quick)
        except KeyboardInterrupt:
            sys.exit(f"\n{name}: stopped, nothing is written. What is left alone: {' '.join(wanted[done:])}")
        print(f"{name}: {section}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return output, results


def main():
    output, results = run("bench", SECTIONS, measure, "measure fors beside OpenSM's own engines",
                          "smaller fabrics, fewer repeats", "bench-results")
    (output / "bench.json").write_text(json.dumps(results, indent=1) + "\n")
    text = tables_text.render(results)
    (output / "bench.txt").write_text(text)
    for name, picture in pictures.draw(results).items():
        (output / name).write_text(picture)
    print(text)


if __name__ == "__main__":
    main()
