# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The stable order: what dies, goes and comes, and opensm itself, must not move what lives.

Spines, leaves and slots have places. Here the kept order is lost, broken and edited, a reference fabric says
better, places are forgotten, and switches are replaced.
"""
import os
import re
import signal

import pytest

import harness
import oracle
from harness import FatTree
from test_plugin import assert_good, errors


def look(sim, sm):
    return harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)


def cut(sim, cable):
    sim.unlink(cable.leaf, cable.leaf_port)


def mend(sim, cable):
    sim.relink(cable.leaf, cable.leaf_port)


def start_again(fabric, sm, **options):
    """A new opensm with the files of one that has ended."""
    again = harness.OpenSM(sm.sim, sm.directory, node=sm.node, **options)
    fabric.also(again)
    return again


def guid_of(live, name):
    """Node GUID of a switch."""
    return int(re.search(rf'switchguid=0x([0-9a-f]+).*\nSwitch\s+\d+\s+"[^"]+"\s+# "{name}"', live.text).group(1), 16)


# ---------------------------------------------------------------------------
# Restarts

@pytest.mark.parametrize("lmc", [0, 2])
def test_restart_while_things_are_dead(fabric, lmc):
    """A spine, a cable and two servers are dead: an opensm that starts now writes the same tables."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=lmc, sweep_interval=1, node="Node03-03")
    sm.wait_epoch()
    sim.unlink_node("Spine01")
    cut(sim, tree.uplink(0, 3))
    sim.unlink("Node02-00", 1)
    sim.unlink("Node02-01", 1)
    status = sm.wait_status(state="active", f=2, servers=14, affected_spines=2)
    tables, _ = look(sim, sm)
    sm.stop()
    mark = sm.log_end()
    again = start_again(fabric, sm, lmc=lmc, sweep_interval=1)
    again.wait_up(mark)
    again.wait_status(state="active", f=2, epoch=lambda epoch: epoch and epoch > status["epoch"],
                      dead_links=status["dead_links"])
    assert harness.changed_entries(tables, look(sim, again)[0]) == set()
    assert_good(sim, again)
    mend(sim, tree.uplink(0, 3))
    assert again.wait_status(state="active", affected_spines=1)["epoch"] > status["epoch"]
    assert_good(sim, again)
    assert errors(sm) == []


def damaged(text):
    return {"cut": text[:len(text) // 2], "empty": "", "changed": text.replace("alive", "alivf", 1),
            "future": text.replace("fors-places 3", "fors-places 7", 1), "foreign": "#!/bin/sh\nexit 1\n",
            "nul": text[:40] + "\0" + text[41:]}


@pytest.mark.parametrize("kind", ["cut", "empty", "changed", "future", "foreign", "nul"])
def test_kept_order_that_cannot_be_read(fabric, kind):
    sim, sm = fabric(FatTree(2, 2), lmc=1)
    epoch = sm.wait_epoch()["epoch"]
    sm.stop()
    places = sm.state_dir / "places"
    bad = damaged(places.read_text())[kind]
    places.write_text(bad)
    mark = sm.log_end()
    again = start_again(fabric, sm, lmc=1)
    again.wait_log(r"ERR F012: places.*called places\.bad-", mark)
    again.wait_up(mark)
    again.wait_epoch(epoch)
    moved, = sm.state_dir.glob("places.bad-*")
    assert moved.read_text() == bad
    harness.wait_for(lambda: places.exists() and places.read_text().startswith("fors-places 3\n"))
    assert_good(sim, again)


def test_kept_order_is_a_folder_or_a_link(fabric, tmp_path):
    """Whatever lies there is moved out of the way; nothing outside is read or written."""
    sim, sm = fabric(FatTree(2, 2), lmc=1)
    sm.wait_epoch()
    sm.stop()
    places = sm.state_dir / "places"
    victim = tmp_path / "victim"
    victim.write_text("precious")
    places.unlink()
    places.symlink_to(victim)
    mark = sm.log_end()
    again = start_again(fabric, sm, lmc=1)
    again.wait_log("ERR F012", mark)
    again.wait_up(mark)
    harness.wait_for(lambda: places.exists() and not places.is_symlink())
    again.stop()
    places.unlink()
    places.mkdir()
    mark = sm.log_end()
    third = start_again(fabric, sm, lmc=1)
    third.wait_log("ERR F012", mark)
    harness.wait_for(places.is_file)
    assert victim.read_text() == "precious"


def test_started_before_the_servers(fabric, tmp_path):
    """Only the SM's host is on, and it is on a spine: what was taken for a leaf then is none for ever."""
    tree = FatTree(2, 3)
    tree.switches["Spine01"] += 1
    tree.hcas["Boss"] = 1
    tree.connect("Spine01", 4, "Boss", 1)
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    servers = [name for name in tree.hcas if name != "Boss"]
    for name in servers:
        sim.unlink(name, 1)
    sm = harness.OpenSM(sim, tmp_path / "sm", node="Boss", lmc=1, sweep_interval=1)
    fabric.also(sm)
    sm.wait_up()
    sm.wait_status(leaves=2, spines=3)
    for name in servers:
        sim.relink(name, 1)
    sm.wait_status(state="active", servers=6, leaves=3, spines=2)
    tables, live = look(sim, sm)
    assert oracle.unreached(tables, live, servers) == []
    assert "learnt anew" in sm.log()


# ---------------------------------------------------------------------------
# A reference fabric

def guid_of_spine(tree, spine):
    """As ibsim numbers switches, in the order of its file."""
    return 0x200000 + list(tree.switches).index(tree.spine(spine))


def reference(tree, directory):
    """fors.conf with a reference: ibsim's own net file of the intact tree, numbered as ibsim numbers it."""
    path = directory / "reference"
    path.write_text(tree.text())
    return path, f"reference_fabric = {path}\n"


def dead_things(kind, tree, sim):
    """Pull what the standby shall never see alive; the f that follows."""
    if kind == "intact":
        return 0
    sim.unlink_node("Spine01")
    if kind == "roots":
        return 1
    cut(sim, tree.uplink(1, 3))
    return 2


@pytest.mark.parametrize("kind", ["reference", "real reference", "roots", "intact"])
def test_takeover(fabric, tmp_path, kind):
    """The standby never saw the spine and the cable that are dead; with the reference it changes nothing."""
    tree = FatTree(4, 4)
    options = {"lmc": 2, "sweep_interval": 1}
    if "reference" in kind:
        options["fors_conf"] = reference(tree, tmp_path)[1]
    if kind == "roots":
        options["root_guid_file"] = tmp_path / "roots"
        (tmp_path / "roots").write_text("".join(f"0x{guid_of_spine(tree, k):x}\n" for k in (2, 0, 3, 1)))
    sim, first = fabric(tree, **harness.SHORT_POLLS, node="Node03-03", **options)
    first.wait_epoch()
    if kind == "real reference":
        (tmp_path / "reference").write_text(harness.read_live(sim, first.node).text)
    f = dead_things(kind, tree, sim)
    epoch = first.wait_status(state="active", f=f, affected_spines=f)["epoch"]
    tables, _ = look(sim, first)
    second = harness.stronger(fabric, sim, tmp_path / "other", "Node00-00", **options)
    status = second.wait_epoch(epoch)
    assert (status["spines"], status["f"]) == (4, f)
    assert harness.changed_entries(tables, look(sim, second)[0]) == set()
    assert_good(sim, second)
    assert errors(second) == []


def test_reference_names_what_was_never_alive(fabric, tmp_path):
    """opensm starts for the first time with a dead spine and a leaf whose servers are off; they have their places."""
    tree = FatTree(3, 4)
    _, conf = reference(tree, tmp_path)
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    sim.unlink_node("Spine00")
    for slot in range(3):
        sim.unlink(tree.server(1, slot), 1)
    sm = harness.OpenSM(sim, tmp_path / "sm", node="Node03-00", lmc=2, sweep_interval=1, fors_conf=conf)
    fabric.also(sm)
    status = sm.wait_epoch()
    assert (status["spines"], status["f"], status["servers"], len(status["dead_links"])) == (3, 1, 9, 4)
    assert_good(sim, sm)
    before, live = look(sim, sm)
    sim.relink_node("Spine00")
    sm.wait_status(state="active", f=0)
    after, _ = look(sim, sm)
    rules = oracle.Rules(tree, live)
    changed = {entry for entry in harness.changed_entries(before, after) if entry[1] in rules.server_lids()}
    dead = {(a, 0) for a in range(4)}
    assert changed <= rules.may_differ(dead, set())
    assert oracle.shift_conflicts(*look(sim, sm)) == 0


@pytest.mark.parametrize("text, complaint", [
    (None, "cannot be opened"),
    ("", "empty"),
    ("nonsense\n", "reference:1: "),
    ('Hca 1 "A"\n[1] "B"[1]\n\nHca 1 "B"\n[1] "A"[1]\n', "no reference fabric: .*no switch"),
    ("triangle", "no reference fabric: not a two-level fat-tree"),
])
def test_bad_reference(fabric, tmp_path, text, complaint):
    """At the start fors declines, later the reference of before stays in force."""
    tree = FatTree(2, 2)
    path, conf = reference(tree, tmp_path)
    good = path.read_text()
    if text == "triangle":
        triangle = FatTree(2, 2)
        triangle.switches.update(Leaf00=5, Leaf01=5)
        triangle.connect("Leaf00", 5, "Leaf01", 5)
        text = triangle.text()

    def spoil():
        path.unlink()
        if text is not None:
            path.write_text(text)

    spoil()
    sim, sm = fabric(tree, lmc=1, fors_conf=conf)
    sm.wait_log(f"ERR F001: .*{complaint}")
    sm.wait_log("minhop tables configured")
    assert re.search(complaint, sm.wait_status(state="inactive")["reason"])
    path.write_text(good)
    sm.sighup()
    epoch = sm.wait_epoch()["epoch"]
    spoil()
    mark = sm.log_end()
    sm.sighup()
    sm.wait_log(f"ERR F001: .*{complaint}.*stay in force", mark)
    sm.wait_up(mark)
    assert (sm.status()["state"], sm.status()["epoch"]) == ("active", epoch)


def test_reference_that_disagrees(fabric, tmp_path):
    """A leaf, a spine and a swapped cable that it does not know: all are routed, and reported once."""
    tree = FatTree(3, 4)
    path, conf = reference(tree, tmp_path)
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    for name in ("Leaf03", "Spine02"):
        sim.unlink_node(name)
    path.write_text(harness.read_live(sim).text)
    for name in ("Leaf03", "Spine02"):
        sim.relink_node(name)
    a, b = tree.uplink(0, 0), tree.uplink(1, 0)
    for cable in (a, b):
        cut(sim, cable)
    sim.link(a.leaf, a.leaf_port, b.spine, b.spine_port)
    sim.link(b.leaf, b.leaf_port, a.spine, a.spine_port)
    sm = harness.OpenSM(sim, tmp_path / "sm", node="Node03-00", lmc=2, sweep_interval=1, fors_conf=conf)
    fabric.also(sm)
    status = sm.wait_epoch()
    assert (status["leaves"], status["spines"], status["dead_links"]) == (4, 3, [])
    assert_good(sim, sm)
    message = sm.wait_log("ERR F013: (.*)").group(1)
    assert "spine Spine02" in message and "differences" in message
    mark = sm.log_end()
    sm.sweep()
    assert errors(sm) == ["F013"]
    before, epoch = harness.read_tables(sim, sm.node), sm.status()["epoch"]
    path.write_text(harness.read_live(sim, sm.node).text)
    sm.sighup()
    sm.wait_log("the order of spines, leaves and slots is that of the reference", mark)
    sm.wait_log("agrees with the reference", mark)
    moved = int(sm.wait_log(r"the reference fabric moves (\d+) entries of the tables", mark).group(1))
    sm.wait_epoch(epoch)
    assert_good(sim, sm)
    assert moved == len(harness.changed_entries(before, harness.read_tables(sim, sm.node))) > 0


# ---------------------------------------------------------------------------
# Forgetting

def fors_forget(sm, guid, *more):
    done = harness.fors("forget", f"0x{guid:016x}", sm.state_dir, *more, code=None)
    return done.returncode, done.stdout + done.stderr


def test_forget(fabric):
    """A spine and a leaf that are gone for good: their places go with the next heavy sweep, and stay gone."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node03-03")
    sm.wait_epoch()
    _, live = look(sim, sm)
    spine, leaf, alive = (guid_of(live, name) for name in ("Spine01", "Leaf01", "Spine02"))
    assert fors_forget(sm, spine)[0] == 1
    sim.unlink_node("Spine01")
    sim.unlink_node("Leaf01")
    epoch = sm.wait_status(state="active", servers=12, spines=4, leaves=4, affected_spines=4)["epoch"]
    harness.wait_for(lambda: f"leaf 0x{leaf:016x} dead" in (sm.state_dir / "places").read_text())
    assert fors_forget(sm, alive)[0] == 1 and fors_forget(sm, 0x1234)[0] == 1
    assert not (sm.state_dir / "forget").exists()
    for guid in (spine, leaf):
        code, text = fors_forget(sm, guid)
        assert code == 0 and "SIGHUP" in text
    mark = sm.log_end()
    sm.sighup()
    sm.wait_log(f"the place of 0x{leaf:016x} is forgotten", mark)
    status = sm.wait_status(state="active", spines=3, leaves=3, dead_links=[], f=1)
    assert status["epoch"] > epoch
    harness.wait_for(lambda: not (sm.state_dir / "forget").exists())
    assert_good(sim, sm)
    assert errors(sm) == []
    harness.wait_for(lambda: f"0x{leaf:016x}" not in (sm.state_dir / "places").read_text())
    sm.stop()
    again = start_again(fabric, sm, lmc=2, sweep_interval=1)
    again.wait_epoch(status["epoch"])
    again.wait_status(state="active", spines=3, leaves=3)
    assert fors_forget(again, spine)[0] == 1
    sim.relink_node("Spine01")
    again.wait_status(state="active", spines=4, f=0)
    assert_good(sim, again)


def test_killed_and_asked_while_down(fabric):
    """opensm is killed in the middle of a failure; what is asked for before the next one starts is done in its first sweep."""
    tree = FatTree(3, 4)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node03-00")
    sm.wait_epoch()
    guid = guid_of(look(sim, sm)[1], "Leaf00")
    sim.unlink_node("Leaf00")
    sim.unlink_node("Spine02")
    sm.wait_status(state="active", servers=9, f=1)
    harness.wait_for(lambda: f"leaf 0x{guid:016x} dead" in (sm.state_dir / "places").read_text())
    tables, live = look(sim, sm)
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    again = start_again(fabric, sm, lmc=2, sweep_interval=1)
    again.wait_status(state="active", leaves=4, servers=9)
    assert harness.changed_entries(tables, look(sim, again)[0]) == set()
    again.stop()
    assert fors_forget(again, guid)[0] == 0
    third = start_again(fabric, sm, lmc=2, sweep_interval=1)
    third.wait_status(state="active", leaves=3, spines=3, servers=9)
    assert_good(sim, third)
    assert errors(sm) == []


def test_forget_what_came_back(fabric):
    """The request was fine when it was made; opensm has the last word. And requests that are none are renamed."""
    sim, sm = fabric(FatTree(2, 3), lmc=1, sweep_interval=300, node="Node02-00")
    sm.wait_epoch()
    guid = guid_of(look(sim, sm)[1], "Spine01")
    (sm.state_dir / "forget").write_text(f"0x{guid:x}\n0x99\n")
    mark = sm.log_end()
    sm.sighup()
    sm.wait_log("ERR F014: .*Spine01.* is alive", mark)
    sm.wait_log("ERR F014: no leaf or spine with GUID 0x0000000000000099", mark)
    harness.wait_for(lambda: not (sm.state_dir / "forget").exists())
    (sm.state_dir / "forget").write_text("everything\n")
    sm.sighup()
    sm.wait_log("ERR F014: forget:1: .*it is now called forget.bad-", mark)
    assert sm.wait_status(state="active")["spines"] == 2


def test_forget_what_a_file_names(fabric, tmp_path):
    tree = FatTree(2, 3)
    _, conf = reference(tree, tmp_path)
    sim, sm = fabric(tree, lmc=1, sweep_interval=1, node="Node02-00", fors_conf=conf)
    sm.wait_epoch()
    guid = guid_of(look(sim, sm)[1], "Spine01")
    sim.unlink_node("Spine01")
    sm.wait_status(state="active", affected_spines=1)
    harness.wait_for(lambda: f"spine 0x{guid:016x} dead reference" in (sm.state_dir / "places").read_text())
    code, text = fors_forget(sm, guid)
    assert code == 1 and "reference fabric" in text
