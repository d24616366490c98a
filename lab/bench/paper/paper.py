#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make bench-paper`: the papers' figures and tables, measured here, beside what the papers print.

Leaves paper-results.md, paper.json and SVG pictures in the output folder. Nothing is asserted.
"""
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[2] / "tests"
sys.path[:0] = [str(HERE), str(HERE.parent), str(TESTS / "e2e"), str(TESTS / "data")]

import bench  # noqa: E402
import booksim  # noqa: E402
import cee  # noqa: E402
import engines  # noqa: E402
import phases  # noqa: E402
import rates  # noqa: E402
import render  # noqa: E402
import several  # noqa: E402
import simulated  # noqa: E402
import simulator  # noqa: E402
import tago  # noqa: E402


def figure_7(is_quick):
    """The rows of lab/bench/phases.py, and what the paper's formula says, the exchange inside leaves included."""
    rows = phases.figure_7(phases.FIGURE_7[:1] if is_quick else phases.FIGURE_7)
    for row in rows:
        spines, leaves = (int(number) for number in row["fabric"][5:-1].split(","))
        servers = spines * leaves
        row["paper"] = max(servers, math.ceil(spines * (servers - spines) / (spines - row["f"])))
    return rows


SECTIONS = {"engines": engines.measure, "figure7": figure_7, "rates": rates.measure, "several": several.measure,
            "simulated": simulated.measure, "cee": cee.measure, "tago": tago.measure, "booksim": booksim.measure}


def _measure(section, is_quick, folder, is_resumed):
    simulator.keep_in(folder / "simulations", is_resumed)
    return SECTIONS[section](is_quick)


def main():
    output, results = bench.run("paper", SECTIONS, _measure, "the papers' results beside ours", "small fabrics, few engines: to see that it works",
                                "bench-results/paper")
    (output / "paper.json").write_text(json.dumps(results, indent=1) + "\n")
    (output / "paper-results.md").write_text(render.markdown(results))
    for name, picture in render.draw(results).items():
        (output / name).write_text(picture)
    print(f"{output}/paper-results.md")


if __name__ == "__main__":
    main()
