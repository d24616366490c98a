# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The model case: FT(2;20,18), 360 servers, LMC 5, one opensm through all its failures.

The tests of this file belong together and run in this order; each leaves the fabric as the next one finds it.
"""
import re
import time

import pytest

import harness
import oracle

SERVERS = 360
BLOCK = re.compile(r"Writing FT block")


class Run:
    """The running fabric, and what was seen last."""

    def __init__(self, directory, **options):
        self.tree = harness.FatTree(20, 18)
        self.sim = harness.Ibsim(self.tree, directory / "sim")
        modules = directory / "modules"
        modules.write_text("osm_ucast_mgr.c 0x0f\n")  # says which blocks are sent
        self.sm = harness.OpenSM(self.sim, directory / "sm", node="Node17-19", log_flags="0x43",
                                 per_module_logging_file=modules, **options)
        self.directory = directory
        self.dead = set()
        self.tables = self.live = self.status = None

    def look(self, after=0):
        """Wait for an epoch above `after`, then read everything."""
        self.status = self.sm.wait_epoch(after, 30)
        self.tables = harness.read_tables(self.sim, self.sm.node)
        self.live = harness.read_live(self.sim, self.sm.node)
        return self.status

    def unmoved_files(self):
        """The files of the state folder by name, but those that carry the heartbeat."""
        return {path.name: path.stat().st_ino for path in self.sm.state_dir.iterdir()
                if path.name not in ("heartbeat", "metrics.prom")}

    def cut(self, leaf, spine):
        cable = self.tree.uplink(leaf, spine)
        self.dead.add((leaf, spine))
        self.sim.unlink(cable.leaf, cable.leaf_port)

    def mend(self, leaf, spine):
        cable = self.tree.uplink(leaf, spine)
        self.dead.discard((leaf, spine))
        self.sim.relink(cable.leaf, cable.leaf_port)

    def verify(self):
        """`fors verify` over what the switches hold."""
        net, lfts = self.directory / "now.net", self.directory / "now.lfts"
        net.write_text(self.live.text)
        lfts.write_text(self.sim.run(["dump_fts"], self.sm.node))
        return harness.fors("verify", "--fabric", net, "--lfts", lfts, "--schedule", self.sm.schedule_file, code=None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("model"), lmc=5)
    run.look()
    yield run
    run.sm.stop()
    run.sim.stop()


def assert_verified(run):
    done = run.verify()
    assert done.returncode == 0, done.stdout + done.stderr


def assert_ibdmchk_likes_it(run):
    paths, loops = oracle.credit_loops(run.sm.tmp)
    assert (paths, loops) == (SERVERS * (SERVERS - 1), False)


def test_comes_up(run):
    status = run.look()
    assert (status["state"], status["phases"], status["lower_bound"]) == ("active", SERVERS, SERVERS)
    assert (status["servers"], status["leaves"], status["spines"]) == (SERVERS, 18, 20)
    assert (status["f"], status["affected_spines"], status["capacity"]) == (0, 0, 20)
    assert status["dead_links"] == [] and status["unreachable_pairs"] == 0
    age_ms = 1000 * (time.time() - run.sm.started)
    assert 0 <= status["tables_ms"] < age_ms and 0 < status["plan_ms"] < age_ms
    assert abs(status["epoch"] - time.time() * 1000) < 60000 * harness.patience()
    assert "fors tables configured on all switches" in run.sm.log()
    assert_verified(run)


def test_every_lid_has_its_home_lane(run):
    rules = oracle.Rules(run.tree, run.live)
    for leaf, slot, index, lid in rules.lids():
        home = rules.home(leaf, slot, index)
        for a in range(18):
            expected = slot + 1 if a == leaf else run.tree.uplink(a, home).leaf_port
            assert run.tables.port[run.tree.leaf(a)][lid] == expected
        for k in range(20):
            assert run.tables.port[run.tree.spine(k)][lid] == leaf + 1


def test_base_lids_make_linear_shift_free_of_conflicts(run):
    assert oracle.shift_conflicts(run.tables, run.live) == 0


def test_ibdmchk_healthy(run):
    assert_ibdmchk_likes_it(run)


def test_sighup_changes_nothing(run):
    run.status = run.sm.wait_status(60, repairs=lambda advice: advice is not None)  # which is worked out at leisure
    before = run.unmoved_files()
    mark = run.sm.log_end()
    run.sm.sweep()
    time.sleep(0.3)
    assert not BLOCK.search(run.sm.log(mark))
    assert run.sm.status() == run.status
    assert run.unmoved_files() == before


def test_one_cable_cut(run):
    before, epoch = run.tables, run.status["epoch"]
    run.cut(0, 3)
    status = run.look(epoch)
    assert (status["phases"], status["f"], status["affected_spines"], status["capacity"]) == (SERVERS, 1, 1, 19)
    assert status["dead_links"] == [{"a": "Leaf00", "a_port": 24, "b": "Spine03", "b_port": 1}]
    assert_verified(run)

    rules = oracle.Rules(run.tree, run.live)
    changed = harness.changed_entries(before, run.tables)
    assert len(changed) < 2500
    servers = rules.server_lids()
    of_servers = {entry for entry in changed if entry[1] in servers}
    assert of_servers == rules.displaced(run.dead) | rules.cut_off(run.dead, with_home=False)
    cable = run.tree.uplink(0, 3)
    ends = {(cable.leaf, cable.leaf_port), (cable.spine, cable.spine_port)}
    cables = {**run.tree.cable}
    for switch, lid in changed - of_servers:
        assert oracle.crosses(before, cables, switch, lid, ends), (switch, lid)


def test_ibdmchk_after_a_cut(run):
    assert_ibdmchk_likes_it(run)


def test_only_changed_blocks_are_sent(run):
    """Count the blocks of the last sweep: no more than the changed entries can need."""
    sent = len(BLOCK.findall(run.sm.log()))
    healthy = 38 * (max(run.tables.port["Leaf00"]) // 64 + 2)
    assert sent < healthy + 1000


def test_second_cable_of_the_leaf(run):
    before, epoch = run.tables, run.status["epoch"]
    dead = set(run.dead)
    run.cut(0, 11)
    status = run.look(epoch)
    assert (status["phases"], status["f"], status["affected_spines"]) == (378, 2, 2)
    assert_verified(run)
    rules = oracle.Rules(run.tree, run.live)
    servers = rules.server_lids()
    changed = {entry for entry in harness.changed_entries(before, run.tables) if entry[1] in servers}
    assert changed <= rules.may_differ(dead, run.dead)
    assert_ibdmchk_likes_it(run)


def test_cables_come_back(run):
    for spine in (3, 11):
        epoch = run.status["epoch"]
        run.mend(0, spine)
        run.sm.wait_status(30, dead_links=lambda links: len(links) == len(run.dead))
        run.look(epoch)
    assert (run.status["phases"], run.status["f"], run.status["dead_links"]) == (SERVERS, 0, [])
    assert_verified(run)
    test_every_lid_has_its_home_lane(run)


def test_whole_spine_lost_and_back(run):
    epoch = run.status["epoch"]
    run.sim.unlink_node("Spine07")
    run.sm.wait_status(30, state="active", affected_spines=1, f=1)
    status = run.look(epoch)
    assert (status["phases"], len(status["dead_links"]), status["spines"]) == (SERVERS, 18, 20)
    assert_verified(run)
    assert_ibdmchk_likes_it(run)
    epoch = status["epoch"]
    run.sim.relink_node("Spine07")
    run.sm.wait_status(30, state="active", f=0)
    run.look(epoch)
    assert_verified(run)
    test_every_lid_has_its_home_lane(run)


def test_more_spines_hit_than_bandwidth_lost(run):
    """3F SW0,5,11 of the paper, on spines of their own: m = 9 > f = 3, where the paper needs its ILP."""
    epoch = run.status["epoch"]
    for leaf, first in ((0, 0), (5, 3), (11, 6)):
        for spine in range(first, first + 3):
            run.cut(leaf, spine)
    run.sm.wait_status(60, state="active", f=3, affected_spines=9)
    assert run.look(epoch)["phases"] == 400
    assert_verified(run)
    assert_ibdmchk_likes_it(run)
    rules = oracle.Rules(run.tree, run.live)
    for *_, lid in rules.lids():
        assert all(lid in run.tables.port[run.tree.leaf(a)] for a in range(18))


def test_no_lmc_line_at_all(tmp_path):
    """LMC 0: routing_engine fors alone gives a schedule, healthy and after failures."""
    run = Run(tmp_path)
    try:
        assert run.look()["phases"] == SERVERS
        assert oracle.shift_conflicts(run.tables, run.live) == 0
        assert_verified(run)
        for leaf, spine in ((3, 7), (3, 8), (12, 0)):
            run.cut(leaf, spine)
        run.sm.wait_status(60, state="active", f=2, affected_spines=3)
        status = run.look(run.status["epoch"])
        assert status["lower_bound"] == 378 and status["phases"] <= 378 / 0.94
        assert_verified(run)
        assert_ibdmchk_likes_it(run)
    finally:
        run.sm.stop()
        run.sim.stop()
