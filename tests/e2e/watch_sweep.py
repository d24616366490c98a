#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random cuts, mends and switch deaths beside a stock opensm, judged at each moment by walks through the simulated hardware.

    watch_sweep.py [EVENTS [SEED]]     200 events in all, shared out among the engines; FORS_BUILDDIR says which fors

While opensm and fors watch work an observer looks again and again: what is published, and in the same moment the tables and cables of
the simulator. A schedule that does not hold may stay for a second. After each event there has to be a schedule that holds, or none
where the tables have holes. Half of the fabrics have Reports, the other half polls only. Last comes dfsssp on a torus, whose service
levels do not fit the declared one: nothing may be published at any moment.
"""
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import harness
import over
import watching
from harness import FatTree, Ibsim, OpenSM

ENGINES = [("minhop", 0), ("minhop", 1), ("minhop", 2), ("updn", 0), ("updn", 1), ("updn", 2), ("ftree", 0)]
GRACE = 1.0
MOST = 30.0


class Observer:
    """Looks at what is published beside what the hardware holds."""

    def __init__(self, sim, service):
        self.sim, self.service = sim, service
        self.wrong_since, self.longest, self.looks, self.faults = None, 0.0, 0, []

    def look(self):
        """Is there a schedule, and does it hold? None: no schedule, or it changed while we looked."""
        before = (self.service.folder() / "schedule").read_bytes()
        rows, snapshot = over.read_csv(self.service.folder() / "schedule"), self.sim.snapshot()
        self.looks += 1
        if before != (self.service.folder() / "schedule").read_bytes() or rows is None:
            self.wrong_since = None
            return None
        faults = over.judge(snapshot, rows)
        if not faults:
            self.wrong_since = None
            return True
        now = time.monotonic()
        self.wrong_since = self.wrong_since or now
        if now - self.wrong_since > self.longest:
            self.longest, self.faults = now - self.wrong_since, faults[:3]
        return False


def settled(observer, service, sm):
    """Wait until a schedule holds that is confirmed, or there is none for good; how long it took."""
    began = good = time.monotonic()
    while time.monotonic() - began < MOST * harness.patience():
        sm.check_alive()
        holds, status = observer.look(), service.status()
        is_last = status["state"] == "failed" or (status["state"] == "active" and holds and
                                                  not any(remark.startswith("unconfirmed") for remark in status["remarks"]))
        if not is_last:
            good = time.monotonic()
        elif time.monotonic() - good > 1.2:
            return good - began
        time.sleep(0.02)
    raise SystemExit(f"no end: {service.status()}\n{service.log()[-2000:]}")


def step(draw, tree, sim, down):
    """One random event; its name."""
    spines, ends = [tree.spine(k) for k in range(tree.nspines)], [tree.uplink(a, k)[:2] for a in range(tree.nleaves) for k in range(tree.nspines)]
    if down and (len(down) > 3 or draw.random() < 0.5):
        thing = down.pop(draw.randrange(len(down)))
        (sim.relink if isinstance(thing, tuple) else sim.relink_node)(*(thing if isinstance(thing, tuple) else (thing,)))
        return f"mend {thing}"
    dead = [thing for thing in down if isinstance(thing, str)]
    thing = draw.choice(spines) if draw.random() < 0.2 and not dead else draw.choice(ends)
    if thing in down:
        return "nothing"
    down.append(thing)
    (sim.unlink if isinstance(thing, tuple) else sim.unlink_node)(*(thing if isinstance(thing, tuple) else (thing,)))
    return f"cut {thing}"


def run(engine, lmc, events, seed, directory, has_reports):
    draw, tree, down, times = random.Random(f"{seed} {engine} {lmc}"), FatTree(4, 4), [], []
    options = {**watching.STOCK, "routing_engine": engine, "lmc": lmc, "sweep_interval": 2}
    with Ibsim(tree, directory / "sim") as sim, OpenSM(sim, directory / "sm", preload=[harness.compiled("umad_no_sm")], **options) as sm:
        sm.wait_up()
        service = watching.Watcher(sim, directory / "watch", env={"SIM_SET_ISSM": "1"} if has_reports else {})
        try:
            service.wait_epoch()
            observer = Observer(sim, service)
            for n in range(events):
                name = step(draw, tree, sim, down)
                times.append(settled(observer, service, sm))
                if observer.longest > GRACE * harness.patience():
                    raise SystemExit(f"{engine} LMC {lmc}, event {n}, {name}: wrong for {observer.longest:.2f} s: {observer.faults}")
        finally:
            service.stop()
    return observer, times


def run_refused(events, seed, directory):
    """dfsssp needs other levels than the one that was declared: nothing is published, whatever happens; the looks, and how many refusals."""
    draw, torus, down, looks = random.Random(f"{seed} dfsssp"), over.torus(3, 3, 2), [], 0
    ends = [(a, p) for (a, p), (b, _) in torus.cable.items() if a in torus.switches and b in torus.switches]
    options = {**watching.STOCK, "routing_engine": "dfsssp", "qos": "TRUE", "sweep_interval": 2}
    with Ibsim(torus, directory / "sim") as sim, OpenSM(sim, directory / "sm", **options) as sm:
        sm.wait_up()
        service = watching.Watcher(sim, directory / "watch")
        try:
            service.wait(state="inactive")
            for _ in range(events):
                if down and (len(down) > 2 or draw.random() < 0.5):
                    sim.relink(*down.pop())
                else:
                    down.append(draw.choice([end for end in ends if end not in down]))
                    sim.unlink(*down[-1])
                until = time.monotonic() + 1.5
                while time.monotonic() < until:
                    looks += 1
                    if over.read_csv(service.folder() / "schedule") is not None:
                        raise SystemExit(f"dfsssp: a schedule was published: {service.status()}")
                    time.sleep(0.02)
                sm.check_alive()
            return looks, service.wait(state="inactive")["reason"]
        finally:
            service.stop()


def main():
    given = sys.argv[1:] + ["200", "1"][len(sys.argv) - 1:]
    events, seed = int(given[0]), given[1]
    each = -(-events // (len(ENGINES) + 1))
    print(f"{'engine':<10}{'LMC':>4}{'Reports':>9}{'events':>8}{'looks':>8}{'wrong, at most':>16}{'settled, median':>17}")
    for n, (engine, lmc) in enumerate(ENGINES):
        with tempfile.TemporaryDirectory(prefix="fors-watch-sweep-") as directory:
            observer, times = run(engine, lmc, each, seed, Path(directory), n % 2 == 0)
        print(f"{engine:<10}{lmc:>4}{'yes' if n % 2 == 0 else 'no':>9}{each:>8}{observer.looks:>8}{observer.longest:>14.2f} s"
              f"{statistics.median(times):>15.2f} s", flush=True)
    with tempfile.TemporaryDirectory(prefix="fors-watch-sweep-") as directory:
        looks, reason = run_refused(each, seed, Path(directory))
    print(f"{'dfsssp':<10}{0:>4}{'no':>9}{each:>8}{looks:>8}  refused: {reason}")


if __name__ == "__main__":
    main()
