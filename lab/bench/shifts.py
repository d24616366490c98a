# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The shift over base LIDs on random fabrics that are healthy and not filled evenly, with the tables of each engine.

Servers in (leaf, port) order, in P phases: what an application gets that knows nothing of fors. From the tables that the
stock opensm writes into simulated switches; P mod lanes and the most servers of a leaf say where 1.000 is owed.
"""
import collections
import pathlib
import random
import tempfile

import failover
import harness
import loads
import populations

ENGINES = ["minhop", "updn", "ftree", "fors"]


def throughput(tree, engine):
    """None where no tables can be read, or dump_fts leaves out the last LID."""
    stock = {} if engine == "fors" else failover.STOCK
    try:
        with tempfile.TemporaryDirectory(prefix="fors-bench-") as folder, harness.Ibsim(tree, folder) as sim:
            with harness.OpenSM(sim, pathlib.Path(folder) / "opensm", routing_engine=engine, lmc=0, **stock) as osm:
                _, state = failover.bring_up(sim, osm)
                return loads.shift_exchange(state.live, state.tables).throughput
    except (harness.HarnessError, loads.LoadError):
        return None


def measure(count, families=tuple(populations.FAMILIES)):
    """One row per fabric."""
    rows, source = [], random.Random("shifts")
    while len(rows) < count:
        family = families[len(rows) % len(families)]
        tree = populations.Population(source, family)
        lanes, servers = tree.nspines * tree.ncables, len(tree.hcas)
        fullest = max(collections.Counter(name.split("-")[0] for name in tree.hcas).values())
        rows.append({"family": family, "servers": servers, "leaves": tree.nleaves, "lanes": lanes, "rest": servers % lanes,
                     "fullest": fullest, **{engine: throughput(tree, engine) for engine in ENGINES}})
    return rows
