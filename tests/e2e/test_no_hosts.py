# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Aggregation nodes below all switches: places, tables, status and log are as without them, but for their own LIDs and one key."""
import pytest

import harness
import over
from aggregation import DESCRIPTION, Aggregated
from harness import FatTree
from shadow import FIGURES
from three import Tree3

TREES = {"two": (lambda: FatTree(4, 4), ("Leaf01", 5)), "three": (lambda: Tree3((2, 2, 2), (2, 2)), ("Leaf0-1", 3))}


def sight(sim, sm, epoch):
    """What is known of a fabric when a schedule is out, without what differs from start to start."""
    status = sm.wait_epoch(epoch)
    live = harness.read_live(sim)
    own = {port.lid for port in live.ports if port.name == DESCRIPTION}
    host = {port.lid: port.name for port in live.ports if port.lid not in own}  # of switches entries depend on the LID
    tables = {name: {host[lid]: port for lid, port in rows.items() if lid in host} for name, rows in harness.read_tables(sim).port.items()}
    names = ("dead_links", "remarks", "degraded_links", "lost_servers")
    return {**{key: status[key] for key in (*FIGURES, *names) if key != "plan_ms"}, "tables": tables}, status, own


def life(fabric, tree, cut, **options):
    """A start, a cut, a mend; and what was said of adapters."""
    sim, sm = fabric(tree, **options)
    seen, epoch = [], 0
    for act in (None, sim.unlink, sim.relink):
        if act:
            act(*cut)
            sm.sweep()
        known, status, own = sight(sim, sm, epoch)
        epoch = status["epoch"]
        seen.append(known)
    places = (sm.state_dir / "places").read_text()
    sm.stop()
    sim.stop()
    return seen, places, status["not_hosts"], own


@pytest.mark.parametrize("kind", TREES)
def test_all_is_as_without(fabric, kind):
    make, cut = TREES[kind]
    bare, some = (life(fabric, tree, cut) for tree in (make(), Aggregated(make())))
    for was, now in zip(bare[0], some[0]):
        assert {key: was[key] for key in was if key != "tables"} == {key: now[key] for key in now if key != "tables"}
        assert was["tables"] == now["tables"]
    assert bare[1] == some[1]
    count = len(make().switches)
    assert (bare[2], some[2]) == (None, f"{count} aggregation nodes") and (len(bare[3]), len(some[3])) == (0, count)


@pytest.mark.parametrize("kind", TREES)
def test_by_a_setting(fabric, kind):
    make, cut = TREES[kind]
    bare = life(fabric, make(), cut)
    some = life(fabric, Aggregated(make(), "engine of a switch", 0), cut, fors_conf="not_hosts = none, *ENGINE of*\n")
    assert [{key: one[key] for key in one if key != "tables"} for one in bare[0]] == [{key: one[key] for key in one if key != "tables"} for one in some[0]]
    assert some[2] == f"{len(make().switches)} more by not_hosts"


@pytest.mark.parametrize("kind", TREES)
def test_beside_another_engine(fabric, watcher, kind):
    """fors watch, and the plugin with schedule_over = any, beside minhop."""
    tree = Aggregated(TREES[kind][0]())
    sim, sm = fabric(tree, routing_engine="minhop", fors_conf="schedule_over = any\nadaptive_routing = off\n")
    servers = len(tree.hcas) - len(tree.switches)
    service = watcher(sim)
    for status in (sm.wait_status(state="active", servers=servers), service.wait(state="active", servers=servers)):
        assert status["not_hosts"] == f"{len(tree.switches)} aggregation nodes" and status["tables_by"] != "fors"
    rows = over.read_csv(service.folder() / "schedule")
    assert over.judge(sim.snapshot(), rows, list(tree.tree.hcas)) == []


def test_a_setting_that_changes(fabric, watcher):
    """SIGHUP: who is named is no server any more, beside another engine and for fors's own tables, of which no entry moves."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, fors_conf="")
    epoch = sm.wait_epoch()["epoch"]
    tables = harness.read_tables(sim)
    (sm.directory / "fors.conf").write_text("not_hosts = Node01-0?\n")
    sm.sighup()
    status = sm.wait_status(state="active", servers=12, not_hosts="4 more by not_hosts")
    assert status["epoch"] > epoch and status["ca_ports"] == 12
    assert not harness.changed_entries(tables, harness.read_tables(sim))
    service = watcher(sim)
    service.wait(state="active", servers=16)
    (service.directory / "watch.conf").write_text((service.directory / "watch.conf").read_text() + "not_hosts = Node01-0?\n")
    service.hang_up()
    assert service.wait(state="active", servers=12)["not_hosts"] == "4 more by not_hosts"


@pytest.mark.parametrize("make, ends", [(lambda: FatTree(4, 8), (("Leaf00", 9), ("Spine00", 9))),
                                        (lambda: Tree3((4, 4, 4), (4, 4)), (("Leaf0-0", 9), ("Mid0-0", 9))),
                                        (lambda: Tree3((4, 4, 4), (4, 4)), (("Leaf0-0", 9), ("Leaf1-0", 9)))])
def test_a_switch_without_hosts_is_plugged_in(fabric, make, ends):
    """First into one switch, then into another, too, with which it fits no tree: entries of servers and the schedule's figures stay."""
    tree = make()
    tree.switches["X"] = 2
    for name, port in ends:
        tree.switches[name] = port
    tree.connect("X", 1, *ends[0])
    sim, sm = fabric(tree)
    first = sm.wait_status(state="active", servers=len(tree.hcas))
    hosts = {port.lid for port in harness.read_live(sim).ports}
    before = harness.read_tables(sim)
    sim.link("X", 2, *ends[1])
    sm.sweep()
    status = sm.wait_status(state="active", remarks=lambda said: any("fits no level" in one for one in said))
    assert {key: first[key] for key in ("phases", "lower_bound", "dead_links", "f")} == {key: status[key] for key in ("phases", "lower_bound", "dead_links", "f")}
    assert not [lid for _, lid in harness.changed_entries(before, harness.read_tables(sim)) if lid in hosts]
    sim.unlink("X", 2)
    sm.sweep()
    sm.wait_status(state="active", remarks=lambda said: not any("fits no level" in one for one in said))
    assert not harness.changed_entries(before, harness.read_tables(sim))


def test_a_pod_whose_hosts_boot_late(fabric, tmp_path):
    """It is a pod before."""
    tree = Tree3((2, 2, 2), (2, 2))
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    late = [name for name in tree.hcas if name.startswith("Node0-")]
    for name in late:
        sim.unlink(name, 1)
    sm = harness.OpenSM(sim, tmp_path / "sm", node="Node1-0-0")
    fabric.also(sm)
    sm.wait_status(state="active", servers=4, pods=2, leaves=4, mids=4, tops=4)
    for name in late:
        sim.relink(name, 1)
    sm.sweep()
    sm.wait_status(state="active", servers=8, pods=2, phases=8)
    assert "learnt anew" not in sm.log()
