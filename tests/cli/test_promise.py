# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The numbers of README.md and doc/applications.md: what an application gets that follows the schedule, and one that does not.

The tables there are read and each number is found out again, so the promise cannot drift away from the code.
"""
import csv
import io
import json
import random
import re
from collections import Counter

from conftest import SRC

SPEC = "FT(2;20,18)"
FAILURES = {"none": [], "1 cable": ["Leaf00[21]"], "2 cables of one leaf": ["Leaf00[21]", "Leaf00[22]"],
            "3 cables of one leaf": ["Leaf00[21]", "Leaf00[22]", "Leaf00[23]"],
            "2 cables of two leaves, different spines": ["Leaf00[21]", "Leaf05[24]"]}


def down(failure):
    return [word for cable in FAILURES[failure] for word in ("--down", cable)]


def table(page, head):
    """{first cell: [the others]} of the table that has this head."""
    rows = (SRC / page).read_text().partition(head)[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines() if row.startswith("|")]
    return {row[0]: row[1:] for row in cells if not set(row[0]) <= set("-")}


def percent(part):
    return f"{100 * part:.1f} %"


def share(fors, failure, pattern, lmc):
    out = fors("analyze", "--synthetic", SPEC, *down(failure), "--routing", "fors", "--lmc", lmc, "--pattern", pattern, "--json").out
    return percent(json.loads(out)["sync_throughput"])


HEAD = "| dead | follows the schedule, LMC 0 | follows it, LMC 5 | linear shift, does not know of it |\n"


def phases(fors, spec, lmc, *cables):
    down = [word for cable in cables for word in ("--down", cable)]
    return json.loads(fors("plan", "--synthetic", spec, *down, "--lmc", lmc, "--json").out)["phases"]


def test_one_dead_cable(fors):
    """The table of README.md: the limit by its rule, the other columns by plans."""
    rows = table("README.md", "| fabric, one dead cable | limit | LMC 0 | LMC 5 |\n")
    assert len(rows) == 6
    for name, cells in rows.items():
        spec, leaves, n, u = (re.fullmatch(r"(FT\(2;\d+,\d+\)): (\d+) leaves of (\d+) servers and (\d+) uplinks", name)).groups()
        leaves, n, u = int(leaves), int(n), int(u)
        total = leaves * n
        limit = max(total, -(-n * (total - n) // (u - 1)))
        cable = f"Leaf00[{n + 1}]"
        assert phases(fors, spec, 0) == total
        assert cells == [percent(total / limit), *(percent(total / phases(fors, spec, lmc, cable)) for lmc in (0, 5))], name


def test_the_table(fors):
    rows = table("lab/doc/benchmarks.md", HEAD)
    assert len(rows) >= 4 and set(rows) <= set(FAILURES)
    for failure, (schedule, large, shift) in rows.items():
        found = [share(fors, failure, "plan", 0), share(fors, failure, "plan", 5), share(fors, failure, "linear-shift", 0)]
        assert [schedule, large, shift] == found, failure


def late(fors, tmp_path, failure, part):
    """Of full speed, when each server is a phase late with this probability, and phases go on all the same."""
    path = tmp_path / "schedule"
    fors("plan", "--synthetic", SPEC, *down(failure), "--output", path)
    phases, draw = {}, random.Random(1)
    for row in csv.DictReader(io.StringIO(fors("schedule", path, "--format", "csv").out)):
        phases.setdefault(int(row["phase"]), []).append((row["src_guid"], row["dst_guid"], row["spine_guid"]))
    home = {guid: index // 20 for index, guid in enumerate(sorted({src for flows in phases.values() for src, _, _ in flows}))}
    slowest = []
    for phase in range(1, len(phases)):
        delayed = {guid for guid in home if draw.random() < part}
        flows = [f for f in phases[phase] if f[0] not in delayed] + [f for f in phases[phase - 1] if f[0] in delayed]
        slowest.append(max(Counter(link for flow in flows for link in links(flow, home)).values(), default=1))
    return len(slowest) / sum(slowest)


def links(flow, home):
    src, dst, spine = flow
    up_and_down = [("up", home[src], spine), ("down", spine, home[dst])] if spine else []
    return [("to", dst), *up_and_down]


def test_late_servers(fors, tmp_path):
    rows = table("lab/doc/benchmarks.md", "| of the servers are a phase late | the slowest flow of a phase has |\n")
    assert rows.keys() == {"none", "1 %", "10 %", "50 %"}
    for name, (text,) in rows.items():
        part = 0 if name == "none" else int(name.split()[0]) / 100
        assert f"{late(fors, tmp_path, '1 cable', part):.2f}" == re.match(r"[\d.]+", text)[0], name
