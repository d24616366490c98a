# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What is done under OpenSM's lock on trees of three levels, by fors and by minhop on the same fabric: processor time of the thread
that routes, the least of several times, healthy and after failures (build_time.c). For fors all is in it: the snapshot of the
subnet, places, tables, rounds, and the check of both invariants.
"""
import pathlib
import random
import tempfile

import failover
import harness
import three

ENGINES = ["minhop", "fors"]
SIZES = [((4, 4, 4), (4, 4)), ((6, 6, 8), (6, 6)), ((8, 8, 16), (8, 8))]


def some_cables(tree, share, seed):
    """The lower ends of random cables between switches."""
    ends = sorted(min(end, peer) for end, peer in tree.cable.items() if end < peer and {end[0], peer[0]} <= tree.switches.keys())
    return set(random.Random(seed).sample(ends, max(2, round(share * len(ends)))))


def failures(tree):
    """(name, lower ends of the cables that are dead)"""
    mid, top = tree.mid(2, 1), tree.top(1, tree.w3 - 1)
    return [("a cable leaf to mid", {tree.leaf_cable(0, 0, 0)}),
            ("a cable mid to top", {tree.top_cable(1, 2, 3)}),
            ("a mid", {end for end, (peer, _) in tree.cable.items() if peer == mid}),
            ("a top", {end for end, (peer, _) in tree.cable.items() if peer == top}),
            ("2 % of the cables", some_cables(tree, 0.02, 1)),
            ("10 % of the cables", some_cables(tree, 0.1, 3))]


class Builds:
    """The lines of build_time.c."""

    def __init__(self, path):
        self.path, self.seen = path, 0

    def last(self):
        """(whole, callback) milliseconds of the last build since this was asked."""
        lines = self.path.read_text().splitlines()
        if len(lines) == self.seen:
            raise harness.HarnessError("opensm has built no tables")
        self.seen = len(lines)
        return tuple(map(float, lines[-1].split()))


def _change(sim, osm, down, up):
    for end in sorted(down):
        sim.unlink(*end)
    for end in sorted(up):
        sim.relink(*end)
    osm.sighup()


def measure(m, w, engine, repeats):
    """{failure: (whole, callback)} of one engine, "nothing" among them, the least of each."""
    tree, least = three.Tree3(m, w), {}

    def note(name, builds):
        least[name] = tuple(map(min, zip(least.get(name, (1e9, 1e9)), builds.last())))
    stock = {} if engine == "fors" else failover.STOCK
    with tempfile.TemporaryDirectory(prefix="fors-lock-") as folder, harness.Ibsim(tree, folder) as sim:
        builds = Builds(pathlib.Path(folder) / "builds")
        with harness.OpenSM(sim, pathlib.Path(folder) / "opensm", preload=[harness.compiled("build_time", pathlib.Path(__file__).parent)], env={"FORS_BUILD_TIMES": str(builds.path)},
                            routing_engine=engine, lmc=0, **failover.VERBOSE, **stock) as osm:
            failover.bring_up(sim, osm)
            for _ in range(repeats):
                for name, down in failures(tree):
                    failover.act(osm, lambda cut=down: _change(sim, osm, cut, ()))
                    note(name, builds)
                    failover.act(osm, lambda cut=down: _change(sim, osm, (), cut))
                    note("nothing", builds)
    return least


def measure_all(is_quick):
    rows = []
    for m, w in SIZES[:2] if is_quick else SIZES:
        found = {engine: measure(m, w, engine, 1 if is_quick else 3) for engine in ENGINES}
        name = "XGFT(3;{};1,{})".format(*(",".join(map(str, numbers)) for numbers in (m, w)))
        rows += [{"fabric": name, "failure": failure, "minhop_ms": found["minhop"][failure][0], "fors_ms": found["fors"][failure][0],
                  "callback_ms": found["fors"][failure][1],
                  "ratio": found["fors"][failure][0] / found["minhop"][failure][0]} for failure in found["fors"]]
    return rows
