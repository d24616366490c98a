#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The README's picture, from the numbers that `scripts/demo.sh --json` measured: throughput.py demo.json > doc/throughput.svg"""
import json
import sys

import svg

NOTE = ("Schedule: the servers follow the schedule that fors publishes. Shift: the linear shift, in phase k everybody sends k places further; "
        "a program that does not follow the schedule gets about as much under fors.")


def throughput(demo):
    comparison = demo["comparison"]
    groups = list(next(iter(comparison.values())))
    order = sorted(comparison, key=lambda name: not name.startswith("fors"))
    series = {name: [comparison[name][group]["throughput"] for group in groups] for name in order}
    labels = {name: f"{name}: its schedule" if name.startswith("fors") else f"{name}: shift" for name in order}
    return svg.bar_chart(f"Throughput of the all-to-all exchange, {demo['fabric']}, {demo['servers']} servers",
                         "of full speed", groups, series, note=NOTE, labels=labels)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(print(__doc__) if sys.argv[1:] in (["-h"], ["--help"]) else "usage: throughput.py demo.json")
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(throughput(json.load(file)))
