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
    lines = {"most phases": [(row["links"], row["phases_max"]) for row in rows],
             "fewest phases": [(row["links"], row["phases_min"]) for row in rows]}
    return svg.line_chart("Random failures on FT(2;20,18): phases of the exact planner, LMC 5", "dead cables of 360", "phases", lines,
                          note=f"At each point {rows[0]['sets']} random sets of so many cables. {sum(r['at_bound'] for r in rows)} of all "
                          f"{sum(r['sets'] for r in rows)} plans are at the lower bound, which mostly the leaf that lost "
                          "most cables sets: whole cables, so the lines rise in steps.")


def planning(rows):
    """Nanoseconds per flow over the size, one thread; the median of the failures of each size."""
    note = ("Each point: the median over the failures that were tried at this size (table below), so neighbours differ in more than size: 326 are "
            "360 servers less 34 empty slots, at 512 twenty cables are dead, at 360 the cases go from none to half of the cables. "
            "closed-form: no point where its formulas do not apply (empty slots, several dead cables).")
    found = {}
    for row in rows:
        if row["threads"] == 1 and row["method"] != "ilp" and row["servers"] >= FEWEST_SERVERS:
            found.setdefault(row["method"], {}).setdefault(row["servers"], []).append(row["ns_per_flow"])
    lines = {method: sorted((size, statistics.median(times)) for size, times in sizes.items())
             for method, sizes in found.items()}
    return svg.line_chart("Planning time of fors by method, one thread, logarithmic scale", "servers", "nanoseconds per flow", lines,
                          is_log=True, note=note)


def build_times(rows):
    """fors twice: as the others are measured, from line to line of opensm's log, and its callback alone."""
    groups, series = list(dict.fromkeys(_group(row) for row in rows)), {}
    for row in rows:
        kinds = {row["engine"]: row.get("build_ms")}
        if row["engine"] == "fors":
            kinds["fors, callback"] = row.get("fill_ms")
        for name, value in kinds.items():
            series.setdefault(name, [None] * len(groups))[groups.index(_group(row))] = value
    return svg.bar_chart("Building the tables inside opensm: milliseconds by engine, logarithmic scale", "milliseconds", groups, series,
                         is_log=True, note="Each engine: from 'building routing with' to 'tables configured' in opensm's log; fors, callback: what of it fors "
                         f"itself takes.{_gaps(rows)}")


def _group(row):
    return f"{row['fabric']} LMC {row['lmc']}"


def _gaps(rows):
    """Why there is no bar: {what happened: to whom, where}."""
    found = {}
    for row in rows:
        if row.get("build_ms") is None:
            found.setdefault(row.get("error", "gave up, OpenSM took minhop"), []).append(f"{row['engine']} on {_group(row)}")
    return " \u00d7: no time. " + "; ".join(f"{', '.join(who)}: {what}" for what, who in found.items()) + "." if found else ""


def draw(results):
    makers = {"planners": ("planning.svg", planning), "figure7": ("phases.svg", figure7),
              "random": ("random-failures.svg", random_failures), "sweeps": ("build-times.svg", build_times)}
    return {name: maker(results[section]) for section, (name, maker) in makers.items() if results.get(section)}
