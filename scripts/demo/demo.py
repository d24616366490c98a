#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demo: the stock opensm with `routing_engine fors` on 360 simulated servers, through failures and back.

Run it as scripts/demo.sh, which builds fors first. Every number comes from tables that opensm wrote into the
simulated switches, read back with dump_fts, or from the stamps in opensm's log.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "e2e"))

import beside  # noqa: E402
import failover  # noqa: E402
import harness  # noqa: E402
import loads  # noqa: E402
import levels  # noqa: E402
from report import Report  # noqa: E402

SPINES, LEAVES = 20, 18

# The failures of the comparison: (name, cables as (leaf, spine), whole spines)
SCENARIOS = [
    ("healthy", [], []),
    ("1 cable", [(0, 0)], []),
    ("2 cables of one leaf", [(0, 0), (0, 1)], []),
    ("3 cables of one leaf", [(0, 0), (0, 1), (0, 2)], []),
    ("3 cables of each of 3 leaves", [(0, 0), (0, 1), (0, 2), (5, 3), (5, 4), (5, 5), (11, 6), (11, 7), (11, 8)], []),
    ("2 spines", [], [0, 1]),
]


def failure(tree, cables=(), spines=()):
    """The leaf ends (leaf, port) of what is down."""
    pairs = {*cables, *((leaf, spine) for leaf in range(tree.nleaves) for spine in spines)}
    return {tree.uplink(leaf, spine)[:2] for leaf, spine in pairs}


class Site:
    """A simulated fabric under one opensm, and what is known of it."""

    def __init__(self, folder, tree, **options):
        self.folder = pathlib.Path(folder)
        self.tree = tree
        self.sim = harness.Ibsim(tree, self.folder)
        try:
            self.osm = harness.OpenSM(self.sim, self.folder / "opensm", **options)
        except Exception:
            self.sim.stop()
            raise
        self.state = None
        self.down = set()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.osm.stop()
        self.sim.stop()

    def bring_up(self):
        event, self.state = failover.bring_up(self.sim, self.osm)
        return event

    def change(self, action):
        event, self.state = failover.change(self.sim, self.osm, self.state, action)
        return event

    def become(self, failure):
        """Cut and mend what there is to cut and mend, so that exactly `failure` is down."""
        for end in sorted(failure - self.down):
            self.sim.unlink(*end)
        for end in sorted(self.down - failure):
            self.sim.relink(*end)
        self.down = failure

    def recover(self):
        """Mend everything. Failures start from the healthy fabric: minhop keeps old entries, and fares worse otherwise."""
        if self.down:
            failover.act(self.osm, partial(self.become, set()))

    def read(self):
        """The fabric as it is now: what a change is compared with."""
        self.state = failover.read_state(self.sim, self.osm)

    def shift(self):
        """What the base LIDs deliver to a linear shift, by the tables in the switches."""
        return loads.shift_exchange(self.state.live, self.state.tables)

    def schedule(self):
        """What the published schedule delivers, by the tables in the switches."""
        csv = run(harness.fors_command("schedule", self.osm.schedule_file, "--format", "csv"))
        return loads.schedule_exchange(self.state.live, self.state.tables, csv, self.state.status["phases"])

    def verify(self):
        """(good, words) of `fors verify`, over what ibnetdiscover and dump_fts print."""
        fabric, lfts = self.folder / "seen.net", self.folder / "seen.lfts"
        fabric.write_text(self.state.live.text)
        lfts.write_text(self.state.dump)
        done = subprocess.run(harness.fors_command("verify", "--fabric", fabric, "--lfts", lfts, "--schedule",
                                                   self.osm.schedule_file), capture_output=True, text=True)
        words = (done.stdout + done.stderr).strip().splitlines()
        return done.returncode == 0, words[0] if words else f"exit {done.returncode}"


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def show_schedule(report, site, facts):
    """The published plan, walked twice: by this program and by `fors verify`."""
    status, exchange = site.state.status, site.schedule()
    is_good, words = site.verify()
    report.fact(f"{status['phases']} phases (lower bound {status['lower_bound']}), method {status['method']}, planned in "
                f"{status['plan_ms']:.1f} ms, epoch {status['epoch']}")
    report.verdict(exchange.worst <= 1, f"every flow walked through the switches' tables: at most {exchange.worst} on any "
                                        f"link in any phase; throughput {exchange.throughput:.3f}")
    report.verdict(is_good, f"fors verify: {words}")
    facts.update(phases=status["phases"], lower_bound=status["lower_bound"], method=status["method"],
                 plan_ms=status["plan_ms"], epoch=status["epoch"], worst_link=exchange.worst,
                 throughput=exchange.throughput, verified=is_good and exchange.worst <= 1)


def show_event(report, event, facts):
    report.moment(event.trap, "trap reached opensm")
    changed = "" if event.entries is None else f": {event.entries:,} entries in {event.blocks:,} blocks changed"
    report.moment(event.tables, f"new tables sent{changed}")
    report.moment(event.up, "SUBNET UP: every switch has its table")
    report.moment(event.epoch, "new epoch published")
    facts.update(event_facts(event))


def event_facts(event):
    """Seconds after the change, and what changed in the switches."""
    return {"trap_s": event.trap, "tables_s": event.tables, "up_s": event.up, "epoch_s": event.epoch,
            "entries_changed": event.entries, "blocks_changed": event.blocks}


def step(report, results, site, title, down=None):
    """One chapter of the story: do it, tell when what happened, prove the schedule."""
    report.step(title)
    facts = {"title": title}
    event = site.bring_up() if down is None else site.change(partial(site.become, down))
    show_event(report, event, facts)
    show_schedule(report, site, facts)
    results.append(facts)


def hup(report, results, site):
    """SIGHUP with nothing changed must change nothing."""
    epoch = site.state.status["epoch"]
    report.step("SIGHUP, nothing changed")
    event = site.change(site.osm.sighup)
    same = event.entries == 0 and site.state.status["epoch"] == epoch
    report.moment(event.up, "SUBNET UP")
    report.verdict(same, f"{event.entries} table entries changed, epoch {site.state.status['epoch']} as before")
    results.append({"title": "SIGHUP, nothing changed", "verified": same, **event_facts(event)})


def story(report, folder, tree):
    """One fabric, one opensm, at LMC 5: up, one cable, a whole spine, and back."""
    results, cable = [], [(0, 0)]
    with Site(folder, tree, lmc=5, routing_engine="fors") as site:
        tell = partial(step, report, results, site)
        tell(f"FT(2;{SPINES},{LEAVES}), {len(tree.hcas)} servers, comes up: routing_engine fors, lmc 5")
        tell("One cable is cut: Leaf00 to Spine00", failure(tree, cable))
        tell("A whole spine is lost as well: Spine03", failure(tree, cable, [3]))
        tell("The cable and the spine are back", failure(tree))
        hup(report, results, site)
    return results


def compare(folder, tree, engine, lmc):
    """Throughput of one engine in all scenarios: {name: facts}."""
    ours = engine == "fors"
    options = {"routing_engine": engine, "lmc": lmc, **({} if ours else failover.STOCK)}
    results = {}
    with Site(folder, tree, **options) as site:
        site.bring_up()
        for name, cables, spines in SCENARIOS:
            site.recover()
            down = failure(tree, cables, spines)
            if down:
                site.change(partial(site.become, down))
            exchange = site.schedule() if ours else site.shift()
            results[name] = {"throughput": exchange.throughput, "worst_link": exchange.worst, "length": exchange.length,
                             "limit": exchange.servers / site.state.status["lower_bound"] if ours else None}
    return results


def comparison(report, folder, tree):
    """All engines beside one another; {engine: {scenario: facts}}."""
    report.step("The same fabric under OpenSM's own engines, in this run")
    runs = [("ftree", "ftree", 0), ("minhop", "minhop", 0), ("fors", "fors, LMC 0", 0), ("fors", "fors, LMC 5", 5)]
    with ThreadPoolExecutor() as pool:
        results = dict(zip((title for _, title, _ in runs), pool.map(
            lambda run: compare(folder / f"{run[0]}-{run[2]}", tree, run[0], run[2]), runs)))
    limit = {name: facts["limit"] for name, facts in results["fors, LMC 5"].items()}
    rows = [[name, *(f"{results[title][name]['throughput']:.3f}" for title in results), f"{limit[name]:.3f}"]
            for name, _, _ in SCENARIOS]
    report.table(["failure", *results, "limit"], rows, best=(3, 4))
    report.line()
    report.fact("Throughput of the synchronised exchange, 1 = every server always sends at full speed.")
    report.fact("ftree, minhop: linear shift over their tables. fors: its schedule over its tables.")
    return results


def demo(report, folder, wanted):
    started = time.monotonic()
    tree = harness.FatTree(SPINES, LEAVES)
    results = {"fabric": f"FT(2;{SPINES},{LEAVES})", "servers": len(tree.hcas), "verified": True}
    if 2 in wanted:
        results["steps"] = story(report, folder / "story", tree)
        results["comparison"] = comparison(report, folder, tree)
        results["verified"] = all(facts["verified"] for facts in results["steps"])
    if 3 in wanted:
        results["three_levels"], is_good = levels.comparison(
            report, lambda engine, tree, options: Site(folder / f"three-{engine}", tree, **options))
        results["verified"] = results["verified"] and is_good
    if 2 in wanted:
        results["watch"], is_good = beside.comparison(report, lambda tree, options: Site(folder / "watch", tree, **options), tree)
        results["verified"] = results["verified"] and is_good
    results["seconds"] = round(time.monotonic() - started, 1)
    report.line()
    report.verdict(results["verified"], f"all steps verified; {results['seconds']} s")
    return results


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo.sh", description="fors on a simulated fabric of 360 servers", allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="one JSON object with all numbers instead of text")
    parser.add_argument("--keep", metavar="DIR", help="work there and leave logs, dumps and state files")
    parser.add_argument("--levels", type=int, choices=(2, 3), help="only the part on the tree of so many levels; both by default")
    options = parser.parse_args()
    if "FORS_ONLY_ARGUMENTS" in os.environ:
        return 0
    with tempfile.TemporaryDirectory(prefix="fors-demo-") as scratch:
        results = demo(Report(is_silent=options.json), pathlib.Path(options.keep or scratch).resolve(),
                       [options.levels] if options.levels else [2, 3])
    if options.json:
        json.dump(results, sys.stdout, indent=1)
        print()
    return 0 if results["verified"] else 1


if __name__ == "__main__":
    sys.exit(main())
