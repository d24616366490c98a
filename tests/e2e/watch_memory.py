#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Memory of fors watch over many changes: random cables are cut and mended, as fast as its schedules follow or a little faster.

    watch_memory.py [CHANGES [SEED]]     2000 changes on FT(2;4,4) with LMC 1; FORS_BUILDDIR says which fors

It prints the resident memory at each tenth, and how long after Reports schedules were withdrawn. It ends with 1 where the last one is more than a tenth, or 2 MB, above that of
the second tenth.
"""
import random
import re
import sys
import tempfile
import time
from pathlib import Path

import harness
import watching
from harness import FatTree, Ibsim, OpenSM

REST = 0.15  # seconds between two changes
SLACK = 2048  # kB


def resident(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


def change(draw, sim, ends, down):
    """Cut a random cable, or mend one; never more than three are down."""
    if len(down) == 3 or (down and draw.random() < 0.5):
        sim.relink(*down.pop(draw.randrange(len(down))))
    else:
        down.append(draw.choice([end for end in ends if end not in down]))
        sim.unlink(*down[-1])


def run(changes, seed, directory):
    draw, tree, down, seen = random.Random(seed), FatTree(4, 4), [], []
    ends = [tree.uplink(a, k)[:2] for a in range(tree.nleaves) for k in range(tree.nspines)]
    with Ibsim(tree, directory / "sim") as sim, OpenSM(sim, directory / "sm", preload=[harness.compiled("umad_no_sm")], lmc=1, **watching.STOCK) as sm:
        sm.wait_up()
        service = watching.Watcher(sim, directory / "watch", env={"SIM_SET_ISSM": "1"})
        try:
            service.wait_epoch()
            for n in range(changes):
                change(draw, sim, ends, down)
                time.sleep(REST)
                if (n + 1) % (changes // 10) == 0:
                    seen.append(resident(service.process.pid))
                    print(f"{n + 1} changes, {service.log().count('active: epoch')} schedules: {seen[-1]} kB", flush=True)
            service.wait_epoch(timeout=60)
            times = sorted(float(ms) for ms in re.findall(r"withdrawn ([0-9.]+) ms after its Report", service.log()))
            print(f"withdrawn after a Report, {len(times)} times: median {times[len(times) // 2]:.1f} ms, 99 % within {times[len(times) * 99 // 100]:.1f} ms")
        finally:
            service.stop()
    return seen[-1] - seen[1] <= max(SLACK, seen[1] // 10)


def main():
    given = sys.argv[1:] + ["2000", "1"][len(sys.argv) - 1:]
    with tempfile.TemporaryDirectory(prefix="fors-watch-memory-") as directory:
        return 0 if run(int(given[0]), given[1], Path(directory)) else 1


if __name__ == "__main__":
    sys.exit(main())
