# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The testbed's two pictures, with the drawing of lab/bench/svg.py."""
import svg


def testbed(rows):
    """Throughput of packets relative to healthy, with the model's value beside each."""
    groups = list(dict.fromkeys(row["scenario"] for row in rows))
    series = {}
    for row in rows:
        for kind in ("median", "model"):
            name = row["system"] + (", packets" if kind == "median" else ", model")
            series.setdefault(name, [None] * len(groups))[groups.index(row["scenario"])] = row[kind]
    return svg.bar_chart("All-to-all over real packets, FT(2;4,4)", "throughput, healthy = 1", groups, series)


def testbed_cut(records):
    """Throughput over time, a cable cut at 0."""
    return svg.line_chart("A cable is cut during the exchange", "seconds after the cut", "share of the servers' capacity",
                          {system: record["points"] for system, record in records.items()}, y_range=(0, 1.05))
