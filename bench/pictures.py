# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The results as pictures: {file name: SVG text}."""
import statistics

import svg

FEWEST_SERVERS = 100  # in the picture of planning times: smaller fabrics are there for their phases
HIGHEST_FACTOR = 5  # beyond, one leaf has lost 80 % of its cables


def figure7(rows):
    series = {}
    for row in rows:
        if row["factor"] <= HIGHEST_FACTOR:
            series.setdefault(row["fabric"], []).append((row["f"], row["factor"]))
    return svg.line_chart("Factor on the number of phases over the bandwidth reduction f", "f: dead cables of one leaf",
                          "phases / phases when healthy", series, y_range=(0, HIGHEST_FACTOR))


def random_failures(rows):
    lines = {"phases": [(row["links"], row["phases_max"]) for row in rows]}
    return svg.line_chart("Random failures on FT(2;20,18): most phases needed (all at the lower bound: "
                          f"{sum(r['at_bound'] for r in rows)} of {sum(r['sets'] for r in rows)})",
                          "dead links of 360", "phases", lines)


def planning(rows):
    """Nanoseconds per flow over the size, one thread; the median of the failures of each size."""
    found = {}
    for row in rows:
        if row["threads"] == 1 and row["method"] != "ilp" and row["servers"] >= FEWEST_SERVERS:
            found.setdefault(row["method"], {}).setdefault(row["servers"], []).append(row["ns_per_flow"])
    lines = {method: sorted((size, statistics.median(times)) for size, times in sizes.items())
             for method, sizes in found.items()}
    return svg.line_chart("Planning, one thread", "servers", "nanoseconds per flow", lines, is_log=True)


def build_times(rows):
    groups, series = [], {}
    for row in rows:
        group = f"{row['fabric']} LMC {row['lmc']}"
        if group not in groups:
            groups.append(group)
    for row in rows:
        if "error" not in row:
            bars = series.setdefault(row["engine"], [None] * len(groups))
            ours = row["engine"] == "fors"
            bars[groups.index(f"{row['fabric']} LMC {row['lmc']}")] = row["fill_ms"] if ours else row["build_ms"]
    return svg.bar_chart("Building the tables inside opensm", "milliseconds", groups, series, is_log=True)


def draw(results):
    makers = {"planners": ("planning.svg", planning), "figure7": ("phases.svg", figure7),
              "random": ("random-failures.svg", random_failures), "sweeps": ("build-times.svg", build_times)}
    return {name: maker(results[section]) for section, (name, maker) in makers.items() if results.get(section)}
