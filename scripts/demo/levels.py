# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demo's part on a tree of three levels: fors beside OpenSM's own engines, healthy and with one failure of each kind."""
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import failover
import harness
import loads
import three

SIZES = (6, 6, 8), (6, 6)
NAME = "XGFT(3;6,6,8;1,6,6)"
ENGINES = ["ftree", "minhop", "dfsssp", "fors"]


def scenarios(tree):
    """(name, lower ends of the cables that are down)"""
    mid, top = tree.mid(2, 1), tree.top(3, min(4, tree.w3 - 1))
    return [("healthy", set()),
            ("1 cable leaf to middle", {tree.leaf_cable(0, 0, 0)}),
            ("1 cable middle to top", {tree.top_cable(1, 2, 3)}),
            ("1 middle switch", {end for end, (peer, _) in tree.cable.items() if peer == mid}),
            ("1 top", {end for end, (peer, _) in tree.cable.items() if peer == top})]


def compare(site, is_ours, tree):
    """What one engine makes of each failure: {name: facts}."""
    first, results = site.bring_up(), {}
    for name, down in scenarios(tree):
        site.recover()
        site.read()
        position = site.osm.log_end() if down else 0
        event = site.change(partial(site.become, down)) if down else first
        build, whole = failover.build_times(site.osm.log(position))
        status = site.state.status
        exchange = site.schedule() if is_ours else site.shift()
        results[name] = {"throughput": exchange.throughput, "worst_link": exchange.worst,
                         "entries_changed": event.entries, "up_s": event.up,
                         "epoch_s": event.epoch, "tables_ms": status.get("tables_ms"),
                         "build_s": build, "build_whole_s": whole,
                         "limit": exchange.servers / status["lower_bound"] if is_ours else None,
                         "verified": not is_ours or (exchange.worst <= 1 and site.verify()[0])}
    return results


def milliseconds(seconds):
    return "-" if seconds is None else f"{1000 * seconds:.0f}"


def comparison(report, make_site):
    """All engines beside one another; {engine: {scenario: facts}}. make_site(engine, tree, options) is a context."""
    tree = three.Tree3(*SIZES)
    report.step(f"Three levels, {NAME}, {len(tree.hcas)} servers, one LID each: the same again, in this run")

    def one(engine):
        options = {"routing_engine": engine, **failover.VERBOSE, **({} if engine == "fors" else failover.STOCK)}
        with make_site(engine, tree, options) as site:
            return compare(site, engine == "fors", tree)
    with ThreadPoolExecutor() as pool:
        results = dict(zip(ENGINES, pool.map(one, ENGINES)))
    names, ours = [name for name, _ in scenarios(tree)], results["fors"]
    report.table(["failure", *ENGINES, "limit"],
                 [[name, *(f"{results[engine][name]['throughput']:.3f}" for engine in ENGINES), f"{ours[name]['limit']:.3f}"]
                  for name in names], best=(4,))
    report.line()
    report.fact("Entries that change in the switches, and milliseconds from the cut to SUBNET UP:")
    report.table(["failure", *(f"{engine} {what}" for engine in ENGINES for what in ("entries", "ms")), "epoch ms", "callback ms"],
                 [[name, *(text for engine in ENGINES for facts in [results[engine][name]]
                           for text in (f"{facts['entries_changed']:,}", milliseconds(facts["up_s"]))),
                   milliseconds(ours[name]["epoch_s"]), f"{ours[name]['tables_ms']:.1f}"] for name in names[1:]])
    report.line()
    report.fact("Milliseconds to build the tables: from the call of the engine until all are on their way, and until every switch has its own:")
    report.table(["failure", *(f"{engine} {what}" for engine in ENGINES for what in ("built", "there"))],
                 [[name, *(milliseconds(results[engine][name][key]) for engine in ENGINES for key in ("build_s", "build_whole_s"))]
                  for name in names[1:]])
    report.line()
    good = all(facts["verified"] for facts in ours.values())
    report.verdict(good, "every schedule walked flow by flow through the switches' tables, and by fors verify")
    return results, good
