#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch beside the plugin over the same tables (schedule_over = any): the same single cables, cut and mended in turn in two fabrics.

    watch_beside.py [CUTS [SEED [ENGINE ...]]]     20 cuts under minhop and updn, FT(2;20,18) with LMC 1; FORS_BUILDDIR says which fors

For each cut: milliseconds from the cut to the new schedule of both, and the phases of the schedule of fors watch. It ends with 1
where the slowest schedule is longer than the engine allows.
"""
import random
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

import harness
import watching
from harness import FatTree, Ibsim, OpenSM

SERVERS = 360
LEAST = {"minhop": 0.97, "updn": 0.92}  # of full speed
MOST = 60.0


def wait_epoch(status, after):
    """The first status of an active schedule that is newer, and when it was seen."""
    end = time.monotonic() + MOST * harness.patience()
    while time.monotonic() < end:
        now = status()
        if now.get("state") == "active" and now["epoch"] > after:
            return now, time.monotonic()
        time.sleep(0.002)
    raise SystemExit(f"no schedule: {status()}")


class Side:
    """A fabric with a stock opensm, and what publishes schedules over its tables."""

    def __init__(self, tree, directory, engine, is_plugin):
        options = {**watching.STOCK, "routing_engine": engine, "lmc": 1, "sweep_interval": 10}
        if is_plugin:
            options = {"routing_engine": engine, "lmc": 1, "fors_conf": "schedule_over = any\n"}
        self.sim = Ibsim(tree, directory / "sim")
        self.sm = OpenSM(self.sim, directory / "sm", preload=[] if is_plugin else [harness.compiled("umad_no_sm")], **options)
        self.sm.wait_up()
        self.service = None if is_plugin else watching.Watcher(self.sim, directory / "watch", env={"SIM_SET_ISSM": "1"})
        self.epoch = wait_epoch(self.status, 0)[0]["epoch"]

    def status(self):
        return self.service.status() if self.service else self.sm.status() or {}

    def change(self, act, end):
        """(ms to the new schedule, its status), when the manager is at rest again."""
        began = time.monotonic()
        getattr(self.sim, act)(*end)
        status, at = wait_epoch(self.status, self.epoch)
        time.sleep(1.5)
        self.epoch = self.status()["epoch"]
        return 1e3 * (at - began), status

    def stop(self):
        for part in (self.service, self.sm, self.sim):
            if part:
                part.stop()


def run(engine, cuts, seed, directory):
    tree = FatTree(18, 20)
    draw = random.Random(f"{seed} {engine}")
    ends = draw.sample([tree.uplink(a, k)[:2] for a in range(20) for k in range(18)], cuts)
    sides = [Side(tree, directory / name, engine, name == "plugin") for name in ("watch", "plugin")]
    times, phases, bounds = {"unlink": ([], []), "relink": ([], [])}, [], []
    try:
        for end in ends:
            for act, pair in times.items():
                for side, to in zip(sides, pair):
                    ms, status = side.change(act, end)
                    to.append(ms)
                    if act == "unlink" and side is sides[0]:
                        phases.append(status["phases"])
                        bounds.append(int(re.findall(r"phases \(bound of these tables (\d+)\)", side.service.log())[-1]))
    finally:
        for side in sides:
            side.stop()
    for act, (watch, plugin) in times.items():
        a, b = statistics.median(watch), statistics.median(plugin)
        print(f"{engine:<8}{'a cut' if act == 'unlink' else 'a mend':<8}fors watch {a:6.0f} ms   plugin {b:6.0f} ms   ratio of medians {a / b:.2f}", flush=True)
    worst = max(phases)
    print(f"{engine:<8}phases  {min(phases)} to {worst}, median {statistics.median(phases):.0f}: at least {100 * SERVERS / worst:.1f} % of full "
          f"speed, at most {max(p / b for p, b in zip(phases, bounds)):.3f} of the bound of the tables", flush=True)
    return SERVERS / worst >= LEAST[engine]


def main():
    given = sys.argv[1:3] + ["20", "1"][len(sys.argv[1:3]):]
    is_good = True
    for engine in sys.argv[3:] or LEAST:
        with tempfile.TemporaryDirectory(prefix="fors-watch-beside-") as directory:
            is_good &= run(engine, int(given[0]), given[1], Path(directory))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
