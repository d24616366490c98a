# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libfors.so in the stock opensm, on fabrics as small as the case allows."""
import json
import os
import random
import re
import subprocess
import time

import pytest

import harness
import oracle
from harness import FatTree

CLOSED_FORM = "method = closed-form\n"


def schedule_csv(sm):
    done = harness.fors("schedule", sm.schedule_file, "--format", "csv")
    return done.stdout


def withdrawn_reason(sm):
    """The reason of a withdrawn schedule; fails when it is not withdrawn."""
    done = harness.fors("schedule", sm.schedule_file, code=1)
    return done.stdout + done.stderr


def assert_good(sim, sm):
    """The published schedule over the tables in the switches, by the tests' own walker."""
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []
    assert oracle.schedule_problems(schedule_csv(sm), tables, live) == []


def errors(sm, since=0):
    """Codes of fors' error messages in the log."""
    return re.findall(r"fors: ERR (F\d+)", sm.log(since))


# ---------------------------------------------------------------------------
# It works

@pytest.mark.parametrize("tree, lmc", [
    (FatTree(4, 3), 2),
    (FatTree(4, 3), 0),
    (FatTree(3, 1), 2),                 # one leaf
    (FatTree(2, 4, servers=1), 1),      # one server per leaf
    (FatTree(1, 1, servers=1), 0),      # a single server
    (FatTree(4, 2, servers=4), 3),
], ids=["FT(2;4,3)", "lmc 0", "one leaf", "one server per leaf", "one server", "two leaves"])
def test_comes_up(fabric, tree, lmc):
    sim, sm = fabric(tree, lmc=lmc)
    status = sm.wait_epoch()
    assert status["servers"] == len(tree.hcas)
    assert_good(sim, sm)
    assert errors(sm) == []


def test_files_for_other_programs(fabric):
    _, sm = fabric(FatTree(3, 3), lmc=2)
    epoch = sm.wait_epoch()["epoch"]
    assert sm.state_dir.name == re.search(r"Setting IS_SM on port (0x[0-9a-f]{16})", sm.log()).group(1)
    for name in ("schedule", "status.json", "metrics.prom"):
        assert (sm.state_dir / name).stat().st_mode & 0o7777 == 0o644
    harness.wait_for(lambda: f"}} {epoch}\n" in (sm.state_dir / "metrics.prom").read_text())
    heartbeat = sm.state_dir / "heartbeat"
    harness.wait_for(lambda: heartbeat.exists() and heartbeat.read_text().endswith(f" {epoch}\n"))
    assert abs(int(heartbeat.read_text().split()[0]) - time.time() * 1000) < 10000 * harness.patience()


def test_failures_and_repairs(fabric):
    """Cut, cut, mend: each time a new epoch with a schedule that holds over the switches' own tables."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2)
    epoch = sm.wait_epoch()["epoch"]
    for step, dead in ((sim.unlink, 1), (sim.relink, 0), (sim.unlink, 1)):
        cable = tree.uplink(2, 1)
        step(cable.leaf, cable.leaf_port)
        status = sm.wait_status(state="active", dead_links=lambda links, n=dead: len(links) == n)
        assert status["epoch"] > epoch
        epoch = status["epoch"]
        assert_good(sim, sm)


class Wanderer:
    """Cuts and mends cables at random, at least two uplinks of each leaf alive."""

    def __init__(self, sim, tree, seed):
        self.sim, self.tree, self.random = sim, tree, random.Random(seed)
        self.dead = set()

    def step(self):
        leaf, spine = self.random.randrange(self.tree.nleaves), self.random.randrange(self.tree.nspines)
        cable = self.tree.uplink(leaf, spine)
        if (leaf, spine) in self.dead:
            self.dead.remove((leaf, spine))
            self.sim.relink(cable.leaf, cable.leaf_port)
        elif sum(a == leaf for a, _ in self.dead) < self.tree.nspines - 2:
            self.dead.add((leaf, spine))
            self.sim.unlink(cable.leaf, cable.leaf_port)

    def is_connected(self):
        live = [{k for k in range(self.tree.nspines) if (a, k) not in self.dead} for a in range(self.tree.nleaves)]
        return all(a & b for a in live for b in live)


@pytest.mark.parametrize("lmc, seed", [(0, 1), (1, 2), (2, 3), (2, 4), (3, 5)])
def test_random_failures(fabric, lmc, seed):
    """Whatever dies: every LID of every server is reachable, only entries that must move do, the schedule holds."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=lmc, sweep_interval=1)  # OpenSM ignores some traps of a switch that sends many
    sm.wait_epoch()
    wanderer = Wanderer(sim, tree, seed)
    rules = oracle.Rules(tree, harness.read_live(sim, sm.node))
    before, dead_before = harness.read_tables(sim, sm.node), set()
    for _ in range(12):
        wanderer.step()
        if wanderer.random.random() < 0.3:
            wanderer.step()
        dead = set(wanderer.dead)
        if not wanderer.is_connected():
            sm.wait_status(state="inactive", reason=lambda reason: "spine" in (reason or ""))
            continue
        names = {(tree.leaf(a), tree.spine(k)) for a, k in dead}
        status = sm.wait_status(state="active", dead_links=lambda links: {(x["a"], x["b"]) for x in links} == names)
        assert status["affected_spines"] == len({k for _, k in dead})
        assert_good(sim, sm)
        tables = harness.read_tables(sim, sm.node)
        changed = harness.changed_entries(before, tables)
        assert {entry for entry in changed if entry[1] in rules.server_lids()} <= rules.may_differ(dead_before, dead)
        before, dead_before = tables, dead


def test_starts_with_dead_cables(fabric, tmp_path):
    """A cable that was never seen is not missed; it gets its place when it comes."""
    tree = FatTree(4, 3)
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    cables = [tree.uplink(1, 2), tree.uplink(1, 3), tree.uplink(2, 0)]
    for cable in cables:
        sim.unlink(cable.leaf, cable.leaf_port)
    sm = harness.OpenSM(sim, tmp_path / "sm", lmc=2, sweep_interval=1)
    fabric.also(sm)
    assert sm.wait_epoch()["f"] == 2
    assert_good(sim, sm)
    for cable in cables:
        sim.relink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", f=0)
    assert_good(sim, sm)
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.shift_conflicts(tables, live) == 0


def test_spine_with_the_switches_lids_stays_reachable(fabric):
    """The SM reaches every switch, and every switch the SM, on LIDs: also a spine that lost the SM's leaf."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=2, node="Node01-02")
    epoch = sm.wait_epoch()["epoch"]
    for spine in (0, 2):
        cable = tree.uplink(1, spine)
        sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", f=2, epoch=lambda e: e > epoch)
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    own = live.servers[sm.node]
    for name, lid in live.switch_lid.items():
        assert harness.walk(tables, live.cable, sm.node, lid) is not None
        for offset in range(1 << own.lmc):
            port = tables.port[name].get(own.lid + offset)
            assert port is not None and (name, port) in live.cable, (name, offset)


def test_parallel_cables(fabric):
    tree = FatTree(2, 3, servers=3, cables=2)
    sim, sm = fabric(tree, lmc=2)
    harness.wait_for(lambda: sm.status().get("state") in ("active", "failed"))
    cable = tree.uplink(0, 1, 1)
    sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(affected_spines=1, state=lambda state: state in ("active", "failed"))
    assert len(status["dead_links"]) == 1
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []


def test_host_with_two_ports_is_two_servers(fabric):
    tree = FatTree(4, 3, empty={(0, 3), (1, 3)})
    tree.hcas["Twin"] = 2
    tree.connect("Leaf00", 4, "Twin", 1)
    tree.connect("Leaf01", 4, "Twin", 2)
    sim, sm = fabric(tree, lmc=2)
    assert sm.wait_epoch()["servers"] == 12
    guids = {int(line.split(",")[1], 16) for line in schedule_csv(sm).splitlines()[1:]}
    assert len(guids) == 12
    sim.unlink("Leaf01", 4)
    sm.wait_status(servers=11, state="active")


def test_no_switch_at_all(fabric):
    """Two hosts back to back: OpenSM asks no engine."""
    pair = harness.Topology()
    pair.hcas.update(A=1, B=1)
    pair.connect("A", 1, "B", 1)
    _, sm = fabric(pair)
    sm.wait_up()
    sm.wait_status(state="inactive", reason=lambda reason: bool(reason))


def test_cable_from_a_switch_to_itself(fabric):
    """A loop plug, as technicians leave them: OpenSM ignores it, and so does fors."""
    tree = FatTree(3, 3)
    tree.switches["Leaf01"] += 2
    tree.connect("Leaf01", 7, "Leaf01", 8)
    sim, sm = fabric(tree, lmc=2)
    assert sm.wait_epoch()["dead_links"] == []
    assert_good(sim, sm)


def test_cas_on_a_spine_are_routed(fabric):
    tree = FatTree(3, 3)
    tree.switches["Spine00"] += 1
    tree.hcas["Storage"] = 1
    tree.connect("Spine00", 4, "Storage", 1)
    sim, sm = fabric(tree, lmc=1)
    status = sm.wait_status(servers=9, state=lambda state: state in ("active", "failed"))
    assert status["leaves"] == 3
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []


def test_participants_file_is_read_again(fabric, tmp_path):
    listed = tmp_path / "participants"
    _, sm = fabric(FatTree(2, 2), lmc=1, fors_conf=f"participants_file = {listed}\n")
    sm.wait_log("ERR F001: .*participants")
    sm.wait_up()
    assert sm.wait_status(state="inactive", reason=lambda reason: "participants" in reason)
    live = harness.read_live(sm.sim, sm.node)
    listed.write_text("".join(f"0x{live.servers[name].guid:x}\n" for name in ("Node00-00", "Node01-00")))
    sm.sighup()
    sm.wait_status(state="active", servers=2, remarks=[])
    listed.write_text(listed.read_text() + "0x1234\n0x5678\n")
    sm.sighup()  # switched off or misspelt: a warning, and no error
    told = sm.wait_status(state="active", servers=2, remarks=bool)["remarks"]
    assert len(told) == 1 and "participants_file: 2 of its 4" in told[0] and "0x0000000000001234" in told[0]
    listed.write_text("0x1\n0x1\n")
    mark = sm.log_end()
    sm.sighup()
    sm.wait_log(r"ERR F001: .*participants:2: ", mark)
    sm.wait_up(mark)
    assert sm.status()["state"] == "active"


def test_nobody_takes_part(fabric, tmp_path):
    """A list of strangers: the routes are right, and there is nothing to plan."""
    (tmp_path / "strangers").write_text("0x1234\n")
    sim, sm = fabric(FatTree(2, 2), lmc=1, cn_guid_file=tmp_path / "strangers")
    status = sm.wait_status(state="failed", servers=0)
    assert status["reason"] and errors(sm) == ["F008"]
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []


def test_root_guid_file(fabric, tmp_path):
    """CAs on one switch only: the file says that this one is the spine side."""
    roots = tmp_path / "roots"
    tree = FatTree(1, 2, servers=2)
    sim, sm = fabric(tree, root_guid_file=roots)
    sm.wait_log("ERR F001: .*roots")
    live = harness.read_live(sim, sm.node)
    guid = re.search(r'switchguid=0x([0-9a-f]+).*\nSwitch\s+\d+\s+"[^"]+"\s+# "Spine00"', live.text).group(1)
    roots.write_text(f"0x{guid}\n")
    sm.sighup()
    assert sm.wait_epoch()["spines"] == 1


# ---------------------------------------------------------------------------
# Nothing changed, and things change quickly

def test_restart_of_opensm_keeps_tables_and_raises_the_epoch(fabric):
    sim, sm = fabric(FatTree(3, 3), lmc=2, honor_guid2lid="TRUE")
    epoch = sm.wait_epoch()["epoch"]
    tables = harness.read_tables(sim, sm.node)
    sm.stop()
    status = sm.status()
    assert (status["state"], status["epoch"]) == ("inactive", epoch) and "ended" in status["reason"]
    again = harness.OpenSM(sim, sm.directory, lmc=2, honor_guid2lid="TRUE")
    fabric.also(again)
    again.wait_epoch(epoch)
    assert harness.changed_entries(tables, harness.read_tables(sim, sm.node)) == set()


def test_quick_changes_end_with_the_last_one(fabric):
    """Cables cut and mended faster than plans are made: what is published in the end fits the fabric of the end."""
    tree = FatTree(8, 8)
    sim, sm = fabric(tree, lmc=3)
    sm.wait_epoch()
    for spine in range(6):
        cable = tree.uplink(spine, spine)
        sim.unlink(cable.leaf, cable.leaf_port)
        if spine != 4:
            sim.relink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", f=1, affected_spines=1)
    time.sleep(0.5)
    status = sm.wait_status(state="active", f=1, affected_spines=1)
    assert status["dead_links"][0]["b"] == "Spine04"
    assert_good(sim, sm)


def test_switch_that_does_not_answer(fabric):
    """A spine does not take its new table: OpenSM ends the sweep with errors, and nothing is published until it did."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=2, node="Node02-00", sweep_interval=1, transaction_timeout=50, transaction_retries=1)
    epoch = sm.wait_epoch()["epoch"]
    mark = sm.log_end()
    sim.command('Error "Spine01" 100 25')  # of every 100 packets for its forwarding tables, drop 100
    cable = tree.uplink(0, 1)
    sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_log("ERRORS DURING INITIALIZATION", mark)
    status = sm.wait_status(state="planning", reason=lambda reason: "errors" in reason)
    assert status["epoch"] > epoch
    withdrawn_reason(sm)
    sim.command('Error "Spine01" 0')
    assert sm.wait_epoch(status["epoch"])["f"] == 1
    assert_good(sim, sm)


def test_console_reroute(fabric):
    """It reports no SUBNET_UP, only that routing is done; all blocks are sent, and nothing else changes."""
    sim, sm = fabric(FatTree(3, 3), lmc=2, console="local")
    sm.wait_epoch()
    status = sm.wait_status(repairs=lambda repairs: repairs is not None)  # the last that is told of a fabric
    tables = harness.read_tables(sim, sm.node)
    mark = sm.log_end()
    sm.console("reroute")
    sm.wait_log("fors tables configured", mark)
    sm.console("reroute")
    time.sleep(0.3)
    assert sm.status() == status
    assert harness.changed_entries(tables, harness.read_tables(sim, sm.node)) == set()


def test_unicast_cache(fabric):
    """OpenSM does not call the engine when a CA comes or goes; the schedule follows all the same."""
    sim, sm = fabric(FatTree(3, 3), lmc=2, use_ucast_cache="TRUE", fors_conf=CLOSED_FORM)
    epoch = sm.wait_epoch()["epoch"]
    mark = sm.log_end()
    sim.unlink("Node02-02", 1)
    sm.wait_log("using cached routing", mark)
    status = sm.wait_status(servers=8, state="failed")
    assert status["epoch"] > epoch
    sim.relink("Node02-02", 1)
    status = sm.wait_status(servers=9, state="active")
    assert_good(sim, sm)


# ---------------------------------------------------------------------------
# fors declines

def four_levels():
    """Two trees of two pods (two edge and two middle switches each) and two core switches; two more switches join the cores."""
    tree = harness.Topology()
    for half in "AB":
        for name in ("Edge0", "Edge1", "Edge2", "Edge3", "Mid0", "Mid1", "Mid2", "Mid3", "Core0", "Core1"):
            tree.switches[half + name] = 6
        for e in range(4):
            tree.hcas[f"{half}Node{e:02d}-00"] = 1
            tree.connect(f"{half}Edge{e}", 1, f"{half}Node{e:02d}-00", 1)
            for m in range(2):
                tree.connect(f"{half}Edge{e}", 2 + m, f"{half}Mid{e // 2 * 2 + m}", 1 + e % 2)
        for m in range(4):
            for c in range(2):
                tree.connect(f"{half}Mid{m}", 3 + c, f"{half}Core{c}", 1 + m)
    for r in range(2):
        tree.switches[f"Roof{r}"] = 4
        for c, core in enumerate(("ACore0", "ACore1", "BCore0", "BCore1")):
            tree.connect(f"Roof{r}", 1 + c, core, 5 + r)
    return tree


def leaf_to_leaf():
    tree = FatTree(2, 3)
    for leaf in ("Leaf00", "Leaf01"):
        tree.switches[leaf] += 1
    tree.connect("Leaf00", 5, "Leaf01", 5)
    return tree


@pytest.mark.parametrize("make, code, words", [(four_levels, "F004", "a fourth level"),
                                               (leaf_to_leaf, "F003", "joins two leaves")])
def test_no_tree(fabric, make, code, words):
    """Four levels of switches make two sides too, but then edges of different pods have no middle switch in common."""
    sim, sm = fabric(make(), routing_engine="fors,updn")
    sm.wait_log(f"ERR {code}: ")
    sm.wait_log("(updn|minhop) tables configured on all switches")
    sm.wait_log("SUBNET UP")  # the switches have answered: they hold these tables
    status = sm.wait_status(state="inactive", reason=lambda reason: bool(reason))
    assert status["phases"] in (0, None)
    assert words in status["reason"] and withdrawn_reason(sm)
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    for source in live.servers:
        for target in live.servers.values():
            assert source == target.name or harness.walk(tables, live.cable, source, target.lid)


def test_no_common_spine_and_back(fabric):
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, routing_engine="fors,updn", node="Node02-00")
    epoch = sm.wait_epoch()["epoch"]
    mark = sm.log_end()
    cables = [tree.uplink(0, 0), tree.uplink(1, 1)]
    for cable in cables:
        sim.unlink(cable.leaf, cable.leaf_port)
    message = sm.wait_log(r"ERR F004: .*", mark).group(0)
    assert "Leaf00" in message and "Leaf01" in message
    sm.wait_log("(updn|minhop) tables configured on all switches", mark)
    status = sm.wait_status(state="inactive")
    assert "Leaf00" in status["reason"] and status["epoch"] > epoch
    assert "Leaf00" in withdrawn_reason(sm)
    epoch = status["epoch"]
    sim.relink(cables[0].leaf, cables[0].leaf_port)
    assert sm.wait_epoch(epoch)["f"] == 1
    assert_good(sim, sm)


def test_no_fallback(fabric):
    """OpenSM reports no event at all when the only engine declines."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, routing_engine="fors,no_fallback", node="Node02-00")
    epoch = sm.wait_epoch()["epoch"]
    for cable in (tree.uplink(0, 0), tree.uplink(1, 1)):
        sim.unlink(cable.leaf, cable.leaf_port)
    assert sm.wait_status(state="inactive")["epoch"] > epoch
    sm.wait_log("No routing engine able to successfully configure")


def test_another_engine_comes_first(fabric):
    _, sm = fabric(FatTree(2, 2), routing_engine="updn,fors")
    sm.wait_up()
    assert "updn" in sm.wait_status(state="inactive", reason=lambda reason: "updn" in reason)["reason"]


@pytest.mark.parametrize("text, complaint", [
    ("metod = auto\n", r"fors.conf:1: .*metod"),
    ("\nilp_seconds = soon\n", r"fors.conf:2: .*soon"),
])
def test_bad_settings(fabric, text, complaint):
    """At the start fors declines; later the settings of before stay in force."""
    _, sm = fabric(FatTree(2, 2), lmc=1, fors_conf=text)
    sm.wait_log(f"ERR F001: .*{complaint}")
    sm.wait_log("minhop tables configured")
    assert sm.wait_status(state="inactive", reason=lambda reason: bool(re.search(complaint, reason or "")))
    sm.fors_conf.write_text("# all defaults\n")
    sm.sighup()
    epoch = sm.wait_epoch()["epoch"]
    sm.fors_conf.write_text(text)
    mark = sm.log_end()
    sm.sighup()
    sm.wait_log(f"ERR F001: .*{complaint}.*stay in force", mark)
    sm.wait_up(mark)
    assert (sm.status()["state"], sm.status()["epoch"]) == ("active", epoch)


def test_lmc_too_small(fabric):
    """Routes are right; the status says which LMC the schedule needs."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=0, fors_conf=CLOSED_FORM)
    epoch = sm.wait_epoch()["epoch"]
    cable = tree.uplink(1, 2)
    sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="failed")
    assert status["lmc_needed"] == 2 and status["lmc"] == 0 and status["epoch"] > epoch
    assert status["reason"] and errors(sm) == ["F008"]
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []
    withdrawn_reason(sm)
    sim.relink(cable.leaf, cable.leaf_port)
    sm.wait_epoch(status["epoch"])


# ---------------------------------------------------------------------------
# Who may speak for the fabric

def take_over(fabric, directory):
    """A master, and a stronger one that took over: (sim, first, its epoch, second)."""
    sim, first = fabric(FatTree(3, 3), lmc=2, **harness.SHORT_POLLS)
    epoch = first.wait_epoch()["epoch"]
    return sim, first, epoch, harness.stronger(fabric, sim, directory / "other", "Node02-02", lmc=2)


def test_handover_withdraws(fabric, tmp_path):
    sim, sm, epoch, other = take_over(fabric, tmp_path)
    assert other.wait_epoch()["phases"] == 9
    status = sm.wait_status(10, state="inactive")
    assert "not the master" in status["reason"] and status["epoch"] > epoch
    withdrawn_reason(sm)
    assert_good(sim, other)
    other.stop()
    assert sm.wait_epoch(status["epoch"], 60)["phases"] == 9


# ---------------------------------------------------------------------------
# Memory

def test_plan_memory(fabric):
    """No plan where not even whole units fit, and the reason says what it would take; whole units where they do."""
    _, sm = fabric(FatTree(20, 18), lmc=5, fors_conf="plan_memory = 1\n")
    status = sm.wait_status(60, state="failed")
    assert "MiB of memory, and the limit is 1" in status["reason"]
    sm.fors_conf.write_text("plan_memory = 2\n")
    sm.sighup()
    status = sm.wait_status(60, state="active")
    assert (status["phases"], status["method"], status["remarks"]) == (360, "rounds", [])


# ---------------------------------------------------------------------------
# The file system

@pytest.mark.parametrize("obstacle", ["file", "symlink"])
def test_unwritable_state_folder(fabric, tmp_path, obstacle):
    """The routes work, the status goes to the log; when the folder can be written again it is filled."""
    place = tmp_path / "state"
    if obstacle == "file":
        place.write_text("in the way")
    else:
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    sim, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"state_dir = {place}\n")
    sm.wait_log("ERR F010: .*state")
    sm.wait_log("fors: active: epoch .* 9 phases")
    assert errors(sm) == ["F010"]
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []
    assert obstacle == "file" or list((tmp_path / "elsewhere").iterdir()) == []
    place.unlink()
    sm.wait_log("the state folder can be written again")
    folder, = place.iterdir()
    assert json.loads((folder / "status.json").read_text())["state"] == "active"


def test_old_files_of_another_kind(fabric, tmp_path):
    """Whatever lies in the state folder is replaced, and nothing outside is touched."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    place = tmp_path / "state"
    sim = harness.Ibsim(FatTree(2, 2), tmp_path / "first")
    fabric.also(sim)
    first = harness.OpenSM(sim, tmp_path / "one", fors_conf=f"state_dir = {place}\n")
    fabric.also(first)
    first.wait_up()
    folder, = harness.wait_for(lambda: place.exists() and list(place.iterdir()))
    harness.wait_for(lambda: (folder / "schedule").exists())
    first.stop()
    (folder / "schedule").write_bytes(os.urandom(4096))
    (folder / "status.json").unlink()
    (folder / "status.json").symlink_to(victim)
    again = harness.OpenSM(sim, tmp_path / "two", fors_conf=f"state_dir = {place}\n")
    fabric.also(again)
    again.wait_log("ERR F011")
    again.wait_log("fors: active")
    harness.wait_for(lambda: not (folder / "status.json").is_symlink())
    assert victim.read_text() == "precious"


# ---------------------------------------------------------------------------
# Loading

def test_only_one_symbol_is_exported():
    done = subprocess.run(["nm", "-D", "--defined-only", harness.build_dir() / ".libs" / "libfors.so"],
                          capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["osm_event_plugin"]


def test_all_symbols_are_bound_at_once():
    """-z now: opensm says what is missing and runs on, instead of ending in the middle of a sweep."""
    done = subprocess.run(["readelf", "-d", harness.build_dir() / ".libs" / "libfors.so"], capture_output=True,
                          text=True, check=True)
    assert "NOW" in done.stdout


def test_plugin_for_another_opensm(fabric):
    """OpenSM refuses it and runs on with its own engines."""
    _, sm = fabric(FatTree(2, 2), plugin_dir=harness.built("tests/e2e/other/libfors.la").parent / ".libs")
    sm.wait_log("OpenSM version mismatch - plugin was built against OpenSM 0.0.0")
    sm.wait_log("minhop tables configured")
    sm.wait_up()
    assert not (sm.cache / "fors").exists()


def test_loaded_but_not_named(fabric):
    _, sm = fabric(FatTree(2, 2), routing_engine="minhop")
    sm.wait_up()
    assert "minhop" in sm.wait_status(state="inactive", reason=lambda reason: "minhop" in reason)["reason"]


def test_ends_in_good_order(fabric):
    _, sm = fabric(FatTree(3, 3), lmc=2)
    sm.wait_epoch()
    assert sm.stop() == 0


def test_manual_lists_every_code():
    """opensm-fors(8) and doc/operations.md repeat the table of daemon/base/errors.h."""
    table = (harness.TOP / "daemon" / "base" / "errors.h").read_text().replace('" \\\n\t  "', '", "')
    manual = (harness.TOP / "man" / "opensm-fors.8").read_text()
    operations = (harness.TOP / "doc" / "operations.md").read_text()
    rows = re.findall(r'X\((\d+), FORS_F_\w+,\s*\\?\s*"([^"]*)",\s*\\?\s*"([^"]*)"\)', table)
    assert len(rows) == table.count("\tX(") > 0
    for number, meaning, remedy in rows:
        assert f".B ERR F{int(number):03d}\n{meaning}. Remedy: {remedy}.\n" in manual
        assert f"| F{int(number):03d} | {meaning} | {remedy} |\n" in operations
