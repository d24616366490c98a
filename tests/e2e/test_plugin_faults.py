# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libfors.so in the stock opensm while its allocations fail: another engine takes over, opensm goes on, fors comes back.

The n-th allocation (or thread) that libfors.so asks for fails, wherever it is: while the tables are filled, while
the settled fabric is looked at, while the worker plans and publishes. FORS_FAULTS_EVERY=1 tries every n.
"""
import mmap
import os
import pathlib
import re
import struct
import subprocess
import time

import pytest

import harness
import oracle
import over
from harness import FatTree

EVERY = int(os.environ.get("FORS_FAULTS_EVERY", "0"))


class Faults:
    """The file that failing_memory.c shares."""

    def __init__(self, path):
        path.write_bytes(bytes(32))
        self.path = path
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 32)

    def arm(self, n, lasting=False):
        self.map[0:32] = struct.pack("=QQQQ", 0, n, lasting, 0)

    def off(self):
        """Nothing fails any more; (calls seen, failures)."""
        self.map[8:16] = struct.pack("=Q", 0)
        return struct.unpack("=Q", self.map[0:8])[0], struct.unpack("=Q", self.map[24:32])[0]

    def callers(self, number):
        """Who asked for the allocation of this number, which failed last: functions and lines, the innermost first."""
        told = pathlib.Path(f"{self.path}.callers").read_text().split("allocation ")[1:]
        frames = [one.partition("\n")[2] for one in told if one.startswith(f"{number}\n")][-1]
        at = re.findall(r"(\S*libfors\.so\S*)\(\+(0x[0-9a-f]+)\)", frames)
        return subprocess.run(["addr2line", "-fpse", at[0][0], *(place for _, place in at)], capture_output=True, text=True).stdout


# What fors does without, and says nothing: who asks for it.
OPTIONAL = [
    {"make_map"}, {"map_servers"}, {"map_groups"}, {"make_parts"},  # proofs without maps take longer
    {"add_stamp"},  # settings are read again in the next sweep
    {"find_losses"}, {"fors_worker_note_up"},  # the schedule comes when the sweep has ended
    {"fors_publisher_draft"},  # it is written when it is published
    {"fors_outbox_put", "fors_publisher_beat"},  # the next beat follows
]


def is_optional(callers):
    functions = {line.split(" at ")[0] for line in callers.splitlines()}
    return any(who <= functions for who in OPTIONAL)


def shim():
    return harness.built("tests/e2e/failing_memory.la").parent / ".libs/failing_memory.so"


@pytest.fixture
def faulty(fabric, tmp_path):
    """faulty(topology, **options) -> (Ibsim, OpenSM, Faults)"""
    def start(topology, n=0, **options):
        faults = Faults(tmp_path / "faults")
        faults.arm(n)
        options = {"routing_engine": "fors updn", "sweep_interval": 1, **options}
        sim, sm = fabric(topology, node="Node02-00", preload=[str(shim())], env={"FORS_FAULTS": str(faults.path)}, **options)
        return sim, sm, faults
    return start


def samples(count):
    """Which of `count` allocations to try: more of the first ones, where the tables are made."""
    n = 1
    while n <= count:
        yield n
        n += EVERY or 1 + n // 6


def come_back(sim, sm, since, epoch):
    """fors routes again by itself and publishes a schedule for what the switches hold."""
    def look():
        """What is published before the sweep has ended is withdrawn again when memory ends at its end."""
        status = sm.wait_status(30, state="active", epoch=lambda now: now and now >= epoch)
        tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
        done = harness.fors("schedule", sm.schedule_file, "--format", "csv", code=None)
        if "withdrawn" in done.stderr:
            return None
        assert done.returncode == 0, done.stderr
        assert oracle.unreached(tables, live) == []
        assert oracle.schedule_problems(done.stdout, tables, live) == []
        return status

    return harness.wait_for(look, 60, "a schedule that stays")


def assert_told(sm, mark, faults, n, failures):
    """Memory ended, and the log says so, unless fors can do without; some threads come to it a little later."""
    if failures and "out of memory" not in sm.log(mark) and not is_optional(faults.callers(n)):
        try:
            sm.wait_log("out of memory", mark, 2)
        except harness.HarnessError:
            raise AssertionError(f"allocation {n}, silent:\n{faults.callers(n)}") from None


def change(sim, tree, is_cut):
    cable = tree.uplink(0, 0)
    (sim.unlink if is_cut else sim.relink)(cable.leaf, cable.leaf_port)


def calls_of_a_change(sim, sm, tree, faults):
    """How often libfors.so asks for memory between a cut cable and the new plan, and back again."""
    most = 0
    for is_cut in (True, False):
        faults.arm(0)
        before = sm.status()["epoch"]
        change(sim, tree, is_cut)
        sm.wait_epoch(before)
        most = max(most, faults.off()[0])
    return most


def calls_of_a_cut(sim, sm, end, faults):
    """The same for another engine's tables."""
    most = 0
    for act in (sim.unlink, sim.relink):
        faults.arm(0)
        before = sm.status()["epoch"]
        act(*end)
        sm.wait_epoch(before + 1)
        most = max(most, faults.off()[0])
    assert most > 50
    return most


@pytest.mark.parametrize("lasting, conf", [
    (False, None),
    (True, "exclude_links = Leaf01[5]\npublish_dir = {}\npublish_command = /bin/true\n"),
], ids=["once", "for a while, with all keys"])
def test_memory_ends_during_a_failure(faulty, tmp_path, lasting, conf):
    """OpenSM never stops; when the tables cannot be made the next engine makes them, and fors comes back by itself."""
    tree = FatTree(3, 3)
    sim, sm, faults = faulty(tree, lmc=2, fors_conf=conf and conf.format(tmp_path))
    sm.wait_epoch()
    count = calls_of_a_change(sim, sm, tree, faults)
    assert count > 50
    is_cut, declined = True, 0
    for n in samples(count):
        epoch, mark = sm.status()["epoch"], sm.log_end()
        faults.arm(n, lasting)
        change(sim, tree, is_cut)
        sm.wait_up(mark)
        if lasting:
            time.sleep(0.05)
            faults.off()
        if n % 8:  # do not wait for the sweep that fors asked for
            sm.sighup()
        come_back(sim, sm, mark, epoch + 1)
        seen, failures = faults.off()
        assert failures or lasting or seen < n, f"allocation {n} of {seen} did not fail"
        declined += "the next routing engine takes over" in sm.log(mark)
        assert_told(sm, mark, faults, n, failures)
        is_cut = not is_cut
    assert declined > 10


def come_back_over(sim, sm, epoch):
    """The plan that follows holds over the tables that another engine made."""
    sm.wait_status(30, state="active", tables_by="dfsssp", epoch=lambda now: now and now >= epoch)
    harness.wait_for(lambda: over.judge(sim.snapshot(), over.read_csv(sm.schedule_file) or []) == [], 20, "a plan that holds")
    sm.check_alive()


def test_memory_ends_over_tables_of_others(faulty):
    """schedule_over = any: nothing that lacks memory costs a route or opensm, and there is a plan in the end."""
    tree = over.torus(3, 3, 1)
    sim, sm, faults = faulty(tree, routing_engine="dfsssp", fors_conf="schedule_over = any\n")
    sm.wait_epoch()
    end, is_cut = tree.end("T11", "T12"), True
    for n in samples(calls_of_a_cut(sim, sm, end, faults)):
        epoch, mark = sm.status()["epoch"], sm.log_end()
        faults.arm(n)
        (sim.unlink if is_cut else sim.relink)(*end)
        sm.wait_up(mark)
        if n % 8:  # do not wait for the sweep that fors asked for
            sm.sighup()
        come_back_over(sim, sm, epoch + 1)
        seen, failures = faults.off()
        assert failures or seen < n, f"allocation {n} of {seen} did not fail"
        assert_told(sm, mark, faults, n, failures)
        is_cut = not is_cut


def test_memory_ends_while_fors_starts(faulty, tmp_path):
    """The plugin is not there then, or declines at first; opensm comes up with the next engine and goes on."""
    tree = FatTree(2, 3)
    for n in range(1, 9):
        sim, sm, faults = faulty(tree, n=n)
        sm.wait_up()
        assert faults.off()[1] == 1
        assert oracle.unreached(harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)) == []
        harness.wait_for(lambda: "ERR F0" in sm.log() or sm.status().get("state") == "active", 20, "an error, or a schedule")
        assert sm.stop() == 0
        sim.stop()
