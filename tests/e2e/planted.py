#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How long readers of the state folder wait for the epoch of a first dead cable, with and without what others planted.

    planted.py [FOLDERS [ROUNDS]]      20000 folders, medians of 10 rounds; FORS_BUILDDIR says which fors

Folders are planted in publish_dir/jobs: empty ones, as anybody could make; and such as an earlier opensm leaves, of jobs
that ended within a day. Each round starts a stock opensm over a simulated fabric anew for each kind, in turn, and cuts a cable as
soon as the fabric is active. The last column is processor time of opensm at rest, in the ten seconds after that.
"""
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import harness
from harness import FatTree, Ibsim, OpenSM

TREE = FatTree(4, 4)
KINDS = ("none", "empty", "ended")


def plant(jobs, kind, count, schedule):
    for n in range(count if kind != "none" else 0):
        folder = jobs / f"{n:06}"
        folder.mkdir(parents=True)
        if kind == "ended":
            (folder / "schedule").write_bytes(schedule)


def used(pid):
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def ended_schedule():
    """A job's schedule, withdrawn: what opensm leaves when one has ended."""
    place = Path(tempfile.mkdtemp(prefix="fors-planted-"))
    (place / "jobs").write_text("one: Node00-00, Node01-00\n")
    with Ibsim(TREE, place / "sim") as sim, OpenSM(sim, place, lmc=2, fors_conf=f"jobs_file = {place}/jobs\n") as sm:
        harness.wait_for(lambda: list(sm.cache.glob("fors/0x*/jobs/one/schedule")))
        file = sm.state_dir / "jobs/one/schedule"
        size = file.stat().st_size
        (place / "jobs").write_text("two: Node02-00, Node01-00\n")
        harness.wait_for(lambda: file.stat().st_size < size)
        bytes_of = file.read_bytes()
    shutil.rmtree(place)
    return bytes_of


def epoch_of(sm):
    """Of the newest schedule of the job, as status.json in the state folder says it; 0: there is none yet."""
    return max([job["epoch"] or 0 for job in sm.status()["jobs"] if job["phases"]], default=0)


def measure(net, rest):
    """(milliseconds from the cut to the epoch, share of a core at rest or None)"""
    place = Path(tempfile.mkdtemp(prefix="fors-planted-"))
    (place / "jobs").write_text("one: Node00-00, Node01-00, Node02-00\n")
    conf = f"publish_dir = {net}\njobs_file = {place}/jobs\n"
    with Ibsim(TREE, place / "sim") as sim, OpenSM(sim, place, lmc=2, fors_conf=conf) as sm:
        sm.wait_log("fors: active", timeout=60)
        harness.wait_for(lambda: epoch_of(sm))
        before = epoch_of(sm)
        began = time.monotonic()
        cable = TREE.uplink(0, 0)
        sim.unlink(cable.leaf, cable.leaf_port)
        harness.wait_for(lambda: epoch_of(sm) > before, 120, interval=0.002)
        took = 1000 * (time.monotonic() - began)
        share = None
        if rest:
            cpu = used(sm.process.pid)
            time.sleep(10)
            share = (used(sm.process.pid) - cpu) / 10
    shutil.rmtree(place)
    return took, share


def main():
    count, rounds = int((sys.argv[1:2] or [20000])[0]), int((sys.argv[2:3] or [10])[0])
    schedule = ended_schedule()
    place = Path(tempfile.mkdtemp(prefix="fors-planted-"))
    took, shares = {kind: [] for kind in KINDS}, {}
    for kind in KINDS:
        (place / kind / "jobs").mkdir(parents=True)
        plant(place / kind / "jobs", kind, count, schedule)
    for number in range(rounds):
        for kind in KINDS:
            ms, share = measure(place / kind, number == 0)
            took[kind].append(ms)
            shares[kind] = share if number == 0 else shares[kind]
    shutil.rmtree(place)
    none = statistics.median(took["none"])
    for kind in KINDS:
        median = statistics.median(took[kind])
        print(f"{count if kind != 'none' else 0:6} {kind:6} median {median:8.1f} ms ({min(took[kind]):.1f} to {max(took[kind]):.1f})  "
              f"{median / none:5.2f} times  at rest {100 * shares[kind]:.1f} % of a core")


if __name__ == "__main__":
    main()
