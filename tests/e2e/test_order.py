# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The stable order: what dies, goes and comes, and opensm itself, must not move what lives.

Spines, leaves and slots have places. Here the kept order is lost, broken and edited, a reference fabric says
better, places are forgotten, and switches are replaced.
"""
import re
import subprocess

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
    again.wait_status(state="active", f=2, epoch=status["epoch"], dead_links=status["dead_links"])
    assert harness.changed_entries(tables, look(sim, again)[0]) == set()
    assert_good(sim, again)
    mend(sim, tree.uplink(0, 3))
    assert again.wait_status(state="active", affected_spines=1)["epoch"] > status["epoch"]
    assert_good(sim, again)
    assert errors(sm) == []


def damaged(text):
    return {"cut": text[:len(text) // 2], "empty": "", "changed": text.replace("alive", "alivf", 1),
            "future": text.replace("fors-places 1", "fors-places 7", 1), "foreign": "#!/bin/sh\nexit 1\n",
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
    again.wait_status(state="active", epoch=epoch)
    aside, = sm.state_dir.glob("places.bad-*")
    assert aside.read_text() == bad
    harness.wait_for(lambda: places.exists() and places.read_text().startswith("fors-places 1\n"))
    assert_good(sim, again)


def test_kept_order_is_a_folder_or_a_link(fabric, tmp_path):
    """Whatever lies there is put aside; nothing outside is read or written."""
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
