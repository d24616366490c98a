# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Inside the stock opensm on ibsim: build time of the tables, what a failure changes, how long a failover takes.

Every engine in the same way, one after another, on an otherwise idle simulated fabric. The stock engines'
build time is from 'building routing with' to 'tables configured' in opensm's own log; fors measures its
own from entry to return of the callback (tables_ms), and the same log interval is given beside it.
"""
import pathlib
import re
import statistics
import tempfile
import time
from collections import namedtuple
from itertools import chain

import failover
import harness
import loads
import three

ENGINES = ["minhop", "updn", "ftree", "dfsssp", "nue", "fors"]
STEPPED = ["minhop", "fors"]  # on three levels; the others are in beside.py
BUILD = re.compile(r"building routing with '(\w+)'")

# Steps of a failover that opensm's log has for every engine, and those that only fors measures (status.json)
LOGGED = {"trap": "num:128", "discovered": "HEAVY SWEEP COMPLETE", "asked": "building routing with",
          "confirmed": "SWITCHES CONFIGURED FOR UNICAST", "up": "SUBNET UP"}
MEASURED = ["filled", "first_block", "last_block", "planned", "published", "copied", "command"]


# What is measured: a cable that is cut (an end of it) and comes back, then a switch that is lost
Fabric = namedtuple("Fabric", "name tree cable switch")


def two_levels(spines, leaves):
    tree = harness.FatTree(spines, leaves)
    cable = tree.uplink(0, 0)
    return Fabric(f"FT(2;{spines},{leaves})", tree, (cable.leaf, cable.leaf_port), tree.spine(1))


def three_levels(m, w):
    """Below the middle switches, and above them."""
    tree, name = three.Tree3(m, w), "XGFT(3;{};1,{})".format(*(",".join(map(str, numbers)) for numbers in (m, w)))
    return [Fabric(f"{name} leaf cable, mid", tree, tree.leaf_cable(1, 2, 1), tree.mid(2, 1)),
            Fabric(f"{name} top cable, top", tree, tree.top_cable(0, 1, 1), tree.top(1, 1))]


def options(engine, lmc):
    """opensm.conf for one engine; verbose log, for the line 'building routing with'."""
    stock = {} if engine == "fors" else failover.STOCK
    return {"routing_engine": engine, "lmc": lmc, "log_flags": "0x07", **stock}


def build_times(log, engine):
    """Milliseconds from 'building routing with' to 'tables configured', once per sweep in which the engine did not fail."""
    times, begun = [], None
    for line in log.splitlines():
        begins = BUILD.search(line)
        if begins:
            begun = failover.log_time(line) if begins[1] == engine else None
        elif begun and f"{engine} tables configured on all switches" in line:
            times.append(1000 * (failover.log_time(line) - begun))
            begun = None
    return times


def _boxed_at(log, text):
    """Time of the first line with `text`, which may stand in a box below the line that has the time; or None."""
    stamped = None
    for line in log.splitlines():
        stamped = line if re.match(r"\w{3} \d\d ", line) else stamped
        if text in line and stamped:
            return failover.log_time(stamped)
    return None


def steps_of(log, started, status, before):
    """Milliseconds from the cut to each step: by the log, and what fors says of this failover, which counts from the trap."""
    logged = {name: _boxed_at(log, text) for name, text in LOGGED.items()}
    steps = {name: 1000 * (moment - started) for name, moment in logged.items() if moment is not None}
    record = status.get("failover") or {}
    if record.get("epoch", 0) > before:
        steps |= {name: record["began_ms"] - 1000 * started + record[f"{name}_ms"] for name in MEASURED
                  if record[f"{name}_ms"] is not None}
    return steps


def measure(fabric, engine, lmc, repeats=2):
    """One engine on one fabric: bring-up, one cable cut and back (repeats times), one switch lost."""
    with tempfile.TemporaryDirectory(prefix="fors-bench-") as folder, harness.Ibsim(fabric.tree, folder) as sim:
        copies = pathlib.Path(folder) / "copies"
        copies.mkdir()
        told = f"publish_dir = {copies}\npublish_command = true\n"
        with harness.OpenSM(sim, pathlib.Path(folder) / "opensm", fors_conf=told, **options(engine, lmc)) as osm:
            return _rounds(fabric, sim, osm, engine, lmc, repeats)


def _rounds(fabric, sim, osm, engine, lmc, repeats):
    up, state = failover.bring_up(sim, osm)
    cuts, fills = [], [state.status.get("tables_ms")]
    shift, steps = None, []
    for _ in range(repeats):
        position, started, epoch = osm.log_end(), time.time(), state.status.get("epoch") or 0
        cut, state = failover.change(sim, osm, state, lambda: sim.unlink(*fabric.cable))
        fills.append(state.status.get("tables_ms"))
        cuts.append(cut)
        steps.append(steps_of(osm.log(position), started, whole_status(osm), epoch))
        if len(cuts) == 1:
            shift = _shift(state)
        _, state = failover.change(sim, osm, state, lambda: sim.relink(*fabric.cable))
    spine, state = failover.change(sim, osm, state, lambda: sim.unlink_node(fabric.switch))
    row = _summary(fabric, osm, engine, lmc, up, cuts, spine, [ms for ms in fills if ms is not None], shift)
    return {**row, **{f"step_{name}": statistics.median(one[name] for one in steps if name in one)
                      for name in [*LOGGED, *MEASURED] if any(name in one for one in steps)}}


def whole_status(osm):
    """Status of fors, with all steps of the failover in it: the last ones come with its next look around."""
    if osm.status():
        harness.wait_for(lambda: (osm.status().get("failover") or {"command_ms": 0})["command_ms"] is not None, 15)
    return osm.status()


def _shift(state):
    """Throughput of the linear shift; None when dump_fts left out the last LID, as it does when that begins a block."""
    try:
        return loads.shift_exchange(state.live, state.tables).throughput
    except loads.LoadError:
        return None


def _summary(fabric, osm, engine, lmc, up, cuts, spine, fills, shift):
    log = osm.log()
    built = build_times(log, engine)
    return {"fabric": fabric.name, "servers": len(fabric.tree.hcas), "engine": engine, "lmc": lmc,
            "build_ms": statistics.median(built) if built else None, "builds": len(built),
            "fill_ms": statistics.median(fills) if fills else None,
            "fell_back": bool(re.search(r"building routing with 'minhop'", log)) and engine != "minhop",
            "up_s": up.up, "cut_entries": cuts[0].entries, "cut_blocks": cuts[0].blocks,
            "spine_entries": spine.entries, "spine_blocks": spine.blocks,
            "cut_to_tables_ms": _median_ms(cuts, "tables"), "cut_to_up_ms": _median_ms(cuts, "up"),
            "cut_to_epoch_ms": _median_ms(cuts, "epoch"), "shift_after_cut": shift}


def measure_all(is_quick):
    two = [two_levels(20, 18)] if is_quick else [two_levels(20, 18), two_levels(32, 32)]
    three_at = [((6, 6, 8), (6, 6))] if is_quick else [((6, 6, 8), (6, 6)), ((8, 8, 16), (8, 8))]
    return all_engines(two) + all_engines(chain.from_iterable(three_levels(*at) for at in three_at), STEPPED, lmcs=(0,))


def _median_ms(events, field):
    values = [getattr(event, field) for event in events if getattr(event, field) is not None]
    return 1000 * statistics.median(values) if values else None


def all_engines(fabrics, engines=ENGINES, lmcs=(0, 5)):
    """Rows of measure(); an engine that does not come up gives a row that says so."""
    rows = []
    for fabric in fabrics:
        for lmc in lmcs:
            for engine in engines:
                try:
                    rows.append(measure(fabric, engine, lmc))
                except (harness.HarnessError, loads.LoadError) as error:
                    rows.append({"fabric": fabric.name, "engine": engine, "lmc": lmc, "error": str(error).splitlines()[0]})
    return rows
