# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What happens to fabrics in production, one scene each, on the smallest fabric that shows it.

Judged by oracle.py over the tables in the switches. Scenes about opensm itself, restarts and what is remembered are
in test_order.py; random ones in test_chaos.py.
"""
import re
import subprocess

import pytest

import harness
import judge
import oracle
from harness import FatTree
from test_order import cut, guid_of, look, start_again
from test_plugin import assert_good, errors


def server_entries(rules, before, after, switches):
    """Changed entries for LIDs of servers in these switches."""
    return {(switch, lid) for switch, lid in harness.changed_entries(before, after)
            if lid in rules.server_lids() and switch.startswith(switches)}


def assert_reached(tables, live, sources=None):
    """Every LID of every CA port from every other, over however many links."""
    for source in sources or live.servers:
        for target in live.servers.values():
            for lid in range(target.lid, target.lid + (1 << target.lmc)):
                hops = harness.walk(tables, live.cable, source, lid)
                assert source == target.name or (hops and live.cable[hops[-1]][0] == target.name), (source, lid)


# ---------------------------------------------------------------------------
# Switches come, go and are replaced

def with_spare(tree, ports):
    """The tree and a switch that is cabled to nothing yet."""
    tree.switches["Fresh"] = ports
    return tree


@pytest.mark.parametrize("roots", [False, True], ids=["", "root_guid_file"])
def test_spine_replaced(fabric, tmp_path, roots):
    """The new one has another GUID and the old one's cables: it takes the place, and all is as it was."""
    tree = with_spare(FatTree(3, 4), 4)
    options = {"root_guid_file": tmp_path / "roots"} if roots else {}
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    live = harness.read_live(sim)
    guids = [guid_of(live, tree.spine(k)) for k in range(3)]
    (tmp_path / "roots").write_text("".join(f"0x{guid:x}\n" for guid in guids))
    sm = harness.OpenSM(sim, tmp_path / "sm", node="Node03-00", lmc=2, sweep_interval=1, **options)
    fabric.also(sm)
    sm.wait_epoch()
    before, live = look(sim, sm)
    rules = oracle.Rules(tree, live)
    sim.unlink_node("Spine01")
    sm.wait_status(state="active", affected_spines=1)
    for leaf in range(4):
        cable = tree.uplink(leaf, 1)
        sim.link(cable.leaf, cable.leaf_port, "Fresh", leaf + 1)
    status = sm.wait_status(state="active", affected_spines=0, dead_links=[])
    assert (status["spines"], status["phases"]) == (3, 12)
    after, live = look(sim, sm)
    assert server_entries(rules, before, after, "Leaf") == set()
    assert_good(sim, sm)
    (tmp_path / "roots").write_text("".join(f"0x{guid:x}\n" for guid in [*guids, guid_of(live, "Fresh")]))
    sm.stop()
    again = start_again(fabric, sm, lmc=2, sweep_interval=1, **options)
    again.wait_status(state="active", spines=3, dead_links=[])
    assert harness.changed_entries(after, look(sim, again)[0]) == set()


def test_leaf_replaced(fabric):
    """Cables and servers move to a leaf with another GUID: it takes the place, the servers keep theirs."""
    tree = with_spare(FatTree(3, 4), 6)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node03-00")
    sm.wait_epoch()
    before, live = look(sim, sm)
    rules = oracle.Rules(tree, live)
    sim.unlink_node("Leaf01")
    sm.wait_status(state="active", servers=9)
    for spine in range(3):
        cable = tree.uplink(1, spine)
        sim.link("Fresh", cable.leaf_port, cable.spine, cable.spine_port)
    for slot in range(3):
        sim.link("Fresh", slot + 1, tree.server(1, slot), 1)
    sm.sighup()  # a switch that opensm has only just found sends no trap for what is plugged in behind its back
    status = sm.wait_status(state="active", servers=12, dead_links=[])
    assert status["leaves"] == 4
    after, _ = look(sim, sm)
    assert server_entries(rules, before, after, ("Leaf", "Spine")) == set()
    assert_good(sim, sm)


def test_leaf_without_power_and_back(fabric):
    """Its places stay; what is left keeps its entries, and the leaf finds its own again."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node03-00")
    healthy = sm.wait_epoch()
    before, live = look(sim, sm)
    rules = oracle.Rules(tree, live)
    gone = {lid for leaf, _, _, lid in rules.lids() if leaf == 1}
    sim.unlink_node("Leaf01")
    status = sm.wait_status(state="active", servers=12)
    assert status["leaves"] == 4 and status["epoch"] > healthy["epoch"]
    after, _ = look(sim, sm)
    assert {entry for entry in server_entries(rules, before, after, ("Leaf", "Spine")) if entry[1] not in gone} == set()
    assert_good(sim, sm)
    sim.relink_node("Leaf01")
    sm.wait_status(state="active", servers=16, dead_links=[])
    assert harness.changed_entries(before, look(sim, sm)[0]) == set()
    assert_good(sim, sm)


def test_leaf_without_servers(fabric):
    """All servers of a leaf die, opensm restarts, they come back: never does an entry of another server move."""
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node02-00")
    sm.wait_epoch()
    before, live = look(sim, sm)
    rules = oracle.Rules(tree, live)
    for slot in range(3):
        sim.unlink(tree.server(1, slot), 1)
    status = sm.wait_status(state="active", servers=6)
    assert (status["leaves"], status["f"]) == (3, 0)
    gone = {lid for leaf, _, _, lid in rules.lids() if leaf == 1}
    middle, _ = look(sim, sm)
    assert {entry for entry in server_entries(rules, before, middle, "") if entry[1] not in gone} == set()
    assert_good(sim, sm)
    sm.stop()
    again = start_again(fabric, sm, lmc=2, sweep_interval=1)
    again.wait_status(state="active", servers=6, epoch=lambda epoch: epoch and epoch > status["epoch"])
    assert harness.changed_entries(middle, look(sim, again)[0]) == set()
    for slot in range(3):
        sim.relink(tree.server(1, slot), 1)
    again.wait_status(state="active", servers=9)
    assert server_entries(rules, before, look(sim, again)[0], "") == set()
    assert_good(sim, again)


# ---------------------------------------------------------------------------
# Odd hosts

def test_host_with_two_cas(fabric):
    """Two CAs of a host, on two leaves and on one: each is a server of its own."""
    tree = FatTree(4, 3, empty={(0, 3), (1, 3), (2, 2), (2, 3)})
    for name, leaf, port in (("daq07 HCA-1", 0, 4), ("daq07 HCA-2", 1, 4), ("daq08 HCA-1", 2, 3), ("daq08 HCA-2", 2, 4)):
        tree.hcas[name] = 1
        tree.connect(tree.leaf(leaf), port, name, 1)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1)
    assert sm.wait_epoch()["servers"] == 12
    assert_good(sim, sm)
    sim.unlink("daq07 HCA-2", 1)
    assert sm.wait_status(state="active", servers=11)["leaves"] == 3
    cut(sim, tree.uplink(2, 1))
    sm.wait_status(state="active", affected_spines=1)
    assert_good(sim, sm)


def with_boss(tree):
    tree.switches["Spine01"] += 1
    tree.hcas["Boss"] = 1
    tree.connect("Spine01", tree.switches["Spine01"], "Boss", 1)
    return tree


def test_sm_on_a_spine(fabric):
    """It manages whatever its spine loses, also while that spine sees a single leaf, and takes no part."""
    tree = with_boss(FatTree(3, 3))
    sim, sm = fabric(tree, lmc=2, node="Boss", sweep_interval=1)
    assert sm.wait_epoch()["servers"] == 9
    servers = [name for name in tree.hcas if name != "Boss"]
    for leaf, f in ((0, 1), (2, 1)):
        cut(sim, tree.uplink(leaf, 1))
        sm.wait_status(state="active", f=f, dead_links=lambda links, n=leaf: len(links) == 1 + n // 2)
        tables, live = look(sim, sm)
        assert_reached(tables, live)
        for name, lid in live.switch_lid.items():
            assert harness.walk(tables, live.cable, "Boss", lid), name
            for offset in range(4):
                assert (name, tables.port[name][live.servers["Boss"].lid + offset]) in live.cable
        inner = harness.Live(live.text)
        del inner.servers["Boss"]
        assert oracle.unreached(tables, inner, servers) == []
    assert set(errors(sm)) == {"F023"}  # hosts of a leaf and of a spine that have to turn at another leaf are named


class EnhancedTree(FatTree):
    """Switches with an enhanced port 0, which can have LIDs like a CA port."""

    def text(self):
        return re.sub(r'^(Switch\t\d+ ("[^"]+"))$', r"\1\t\t# \2 enhanced port 0", super().text(), flags=re.M)


def test_enhanced_port_0(fabric):
    """With lmc_esp0 each switch has 2^LMC LIDs: all are reached from everywhere, healthy and after failures."""
    tree = EnhancedTree(3, 3)
    sim, sm = fabric(tree, lmc=2, lmc_esp0="TRUE", sweep_interval=1, node="Node02-00")
    sm.wait_epoch()
    for dead in (0, 1, 2):
        tables, live = look(sim, sm)
        lids = sorted(live.switch_lid.values())
        assert re.search(r"enhanced port 0 lid \d+ lmc 2", live.text) and all(lid % 4 == 0 for lid in lids)
        assert_good(sim, sm)
        for name, lid in live.switch_lid.items():
            for source in live.servers:
                for offset in range(4):
                    hops = harness.walk(tables, live.cable, source, lid + offset)
                    assert hops and live.cable[hops[-1]][0] == name, (source, name, offset)
        if dead < 2:
            cut(sim, tree.uplink(dead, 1))
            sm.wait_status(state="active", dead_links=lambda links, n=dead: len(links) == n + 1)


# ---------------------------------------------------------------------------
# Odd trees

@pytest.mark.parametrize("tree, lmc", [(FatTree(2, 3, servers=5), 0), (FatTree(2, 3, servers=5), 2),
                                       (FatTree(2, 3, servers=4, cables=2), 2)],
                         ids=["5:2 lmc 0", "5:2 lmc 2", "two cables"])
def test_oversubscribed_and_parallel(fabric, tree, lmc):
    """More servers than uplinks, or pairs of cables; then one cable dies, its twin or its neighbour stays."""
    sim, sm = fabric(tree, lmc=lmc, sweep_interval=1, node="Node02-00")
    healthy = sm.wait_epoch()
    assert_good(sim, sm)
    before, live = look(sim, sm)
    rules = oracle.Rules(tree, live)
    cut(sim, tree.uplink(0, 1, tree.ncables - 1))
    status = sm.wait_status(state="active", affected_spines=1)
    assert status["f"] == healthy["f"] + 1 and len(status["dead_links"]) == 1
    assert_good(sim, sm)
    cable = tree.uplink(0, 1, tree.ncables - 1)
    ends = {(cable.leaf, cable.leaf_port), (cable.spine, cable.spine_port)}
    for switch, lid in server_entries(rules, before, look(sim, sm)[0], ""):
        assert oracle.crosses(before, tree.cable, switch, lid, ends), (switch, lid)


def lids_at_the_end(text, last=0xBFFF):
    """OpenSM's guid2lid with each range moved up so that the last one ends where LIDs end."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    highest = max(int(row[2], 0) for row in rows)
    return "".join(f"{guid}\t0x{int(low, 0) + last - highest:04x} 0x{int(high, 0) + last - highest:04x}\n\n"
                   for guid, low, high in rows)


def test_end_of_the_lid_space(fabric, tmp_path):
    """LIDs up to 49,151, the last one there is."""
    tree = FatTree(3, 3)
    _, first = fabric(tree, lmc=2)
    first.wait_epoch()
    first.stop()
    cache = tmp_path / "late" / "cache"
    cache.mkdir(parents=True)
    (cache / "guid2lid").write_text(lids_at_the_end((first.cache / "guid2lid").read_text()))
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    sm = harness.OpenSM(sim, tmp_path / "late", node="Node02-00", lmc=2, honor_guid2lid_file="TRUE", sweep_interval=1)
    fabric.also(sm)
    sm.wait_epoch()
    _, live = look(sim, sm)
    tops = [port.lid + 3 for port in live.servers.values()] + list(live.switch_lid.values())
    assert max(tops) == 0xBFFF and min(tops) > 0xBF00
    assert_good(sim, sm)
    cut(sim, tree.uplink(0, 1))
    sm.wait_status(state="active", f=1)
    assert_good(sim, sm)


def two_trees():
    """Two trees without a cable between them; the second one's names are in lower case."""
    tree, other = FatTree(2, 3), FatTree(2, 2)
    rename = str.lower
    tree.switches.update({rename(name): ports + 1 for name, ports in other.switches.items()})
    tree.switches["Spine00"] += 1
    tree.switches["Leaf00"] += 1
    tree.hcas.update({rename(name): ports for name, ports in other.hcas.items()})
    tree.cable.update({(rename(a), p): (rename(b), q) for (a, p), (b, q) in other.cable.items()})
    return tree


@pytest.mark.parametrize("here, there", [(("Spine00", 4), ("leaf00", 5)), (("Spine00", 4), ("spine00", 3)),
                                         (("Leaf00", 5), ("leaf00", 5))], ids=["spine-leaf", "spine-spine", "leaf-leaf"])
def test_second_component(fabric, here, there):
    """Another tree that no cable leads to does not exist; one that a stray cable leads to is declined, and not remembered."""
    tree = two_trees()
    sim, sm = fabric(tree, lmc=1, sweep_interval=1, routing_engine="fors,updn", node="Node02-01")
    status = sm.wait_epoch()
    assert (status["servers"], status["leaves"], status["spines"]) == (6, 3, 2)
    before, _ = look(sim, sm)
    mark = sm.log_end()
    sim.link(*here, *there)
    sm.wait_log("ERR F003", mark)
    reason = sm.wait_status(state="inactive")["reason"]
    assert "joins two trees" in reason and all(f"{name}[{port}]" in reason for name, port in (here, there))
    sim.unlink(*here)
    after = sm.wait_status(state="active", leaves=3, spines=2, dead_links=[])
    assert after["epoch"] > status["epoch"]
    assert harness.changed_entries(before, look(sim, sm)[0]) == set()
    assert_good(sim, sm)
    assert "leaf00" not in (sm.state_dir / "places").read_text()


def test_cut_behind_participants(fabric, tmp_path):
    """Two leaves without a common spine, one of them without participants: the plan goes on, packets go round, people are told."""
    tree, listed = FatTree(4, 3, servers=3), tmp_path / "participants"
    listed.write_text("")
    sim, sm = fabric(tree, sweep_interval=1, node="Node00-01", fors_conf=f"participants_file = {listed}\n")
    live = harness.read_live(sim)
    listed.write_text("".join(f"0x{port.guid:x}\n" for name, port in live.servers.items() if name.startswith("Node00")))
    sm.sighup()
    sm.wait_status(state="active", servers=3, ca_ports=9, not_participants=6)
    for leaf, spine in ((0, 0), (0, 1), (1, 2), (1, 3)):
        cut(sim, tree.uplink(leaf, spine))
    status = sm.wait_status(state="active", affected_spines=4, remarks=lambda texts: any("no spine in common" in text for text in texts))
    assert any("Leaf00" in text and "Leaf01" in text for text in status["remarks"])
    sm.wait_log("ERR F023: Leaf0")
    tables, live = look(sim, sm)
    assert_reached(tables, live)


def test_stub_switch(fabric):
    """A switch with a host below a leaf: no server's entry moves, its host is reached, and named."""
    tree = FatTree(3, 3, servers=2)
    tree.switches.update({"Stub": 2, "Leaf01": 6})
    tree.hcas["Hidden"] = 1
    tree.connect("Stub", 2, "Hidden", 1)
    sim, sm = fabric(tree, sweep_interval=1, node="Node00-00")
    sm.wait_epoch()
    before, live = look(sim, sm)
    own = {port.lid for port in live.servers.values()}
    sim.link("Leaf01", 6, "Stub", 1)
    status = sm.wait_status(state="active", left_out=1, spines=3)
    assert any("Hidden" in text for text in status["remarks"])
    sm.wait_log("ERR F023: 1 CA port below a switch that is cabled to one leaf only.*Hidden")
    after, live = look(sim, sm)
    assert not {(switch, lid) for switch, lid in harness.changed_entries(before, after)
                if lid in own and switch != "Stub" and switch.startswith(("Leaf", "Spine"))}
    assert_reached(after, live)


def grid(columns, rows, wrap):
    """A mesh or torus of switches with one host each."""
    mesh = harness.Topology()
    for x in range(columns):
        for y in range(rows):
            mesh.switches[f"S{x}{y}"] = 5
            mesh.hcas[f"Node{x:02d}-{y:02d}"] = 1
            mesh.connect(f"S{x}{y}", 5, f"Node{x:02d}-{y:02d}", 1)
    for x in range(columns):
        for y in range(rows):
            if x + 1 < columns or wrap:
                mesh.connect(f"S{x}{y}", 1, f"S{(x + 1) % columns}{y}", 2)
            if y + 1 < rows or wrap:
                mesh.connect(f"S{x}{y}", 3, f"S{x}{(y + 1) % rows}", 4)
    return mesh


@pytest.mark.parametrize("mesh, code", [(grid(3, 3, False), "F004"), (grid(3, 3, True), "F003")], ids=["mesh", "torus"])
def test_mesh(fabric, mesh, code):
    """No two-level tree: declined with the reason, routed by the next engine."""
    sim, sm = fabric(mesh, routing_engine="fors,dfsssp")
    sm.wait_log(f"ERR {code}: .*S[0-2][0-2]")
    sm.wait_up()
    assert sm.wait_status(state="inactive", reason=lambda reason: bool(reason))["phases"] in (0, None)
    assert_reached(*look(sim, sm))


# ---------------------------------------------------------------------------
# Odd daemons

def test_two_daemons_on_one_host(fabric, tmp_path):
    """Two fabrics, two ports, one cache folder: each daemon has a state folder of its own and remembers its own."""
    shared = {"OSM_CACHE_DIR": str(tmp_path / "shared")}
    (tmp_path / "shared").mkdir()
    daemons = [fabric(tree, lmc=1, sweep_interval=1, node=node, env=shared)
               for tree, node in ((FatTree(2, 3), "Node02-01"), (FatTree(3, 2), "Node00-01"))]
    for sim, sm in daemons:
        sm.wait_log("fors: active")
    folders = {guid: tmp_path / "shared" / "fors" / guid for sim, sm in daemons
               for guid in re.findall(r"Setting IS_SM on port (0x[0-9a-f]{16})", sm.log())}
    assert len(folders) == 2
    counts = sorted((folder / "places").read_text().count("\nleaf ") for folder in folders.values())
    assert counts == [2, 3]
    ask = harness.fors_command("status", "--json", tmp_path / "shared" / "fors")
    done = harness.wait_for(lambda: [done for done in [subprocess.run(ask, capture_output=True, text=True)]
                                     if done.returncode == 0], what="two active states")
    assert done[0].stdout.count('"active"') == 2


def test_unicast_cache_and_switches(fabric):
    """use_ucast_cache TRUE: a spine, a leaf and a cable go and come; what is published is right each time."""
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, use_ucast_cache="TRUE", sweep_interval=1, node="Node02-00")
    sm.wait_epoch()
    before, _ = look(sim, sm)
    for name, wanted in (("Spine01", {"affected_spines": 1}), ("Leaf01", {"servers": 6})):
        sim.unlink_node(name)
        sm.wait_status(state="active", **wanted)
        assert_good(sim, sm)
        sim.relink_node(name)
        sm.wait_status(state="active", servers=9, dead_links=[], held_links=[], phases=9)  # nobody asks fors for tables
        assert_good(sim, sm)
    cut(sim, tree.uplink(0, 2))
    sm.wait_status(state="active", affected_spines=1)
    assert_good(sim, sm)
    sim.relink(*tree.uplink(0, 2)[:2])
    sm.wait_status(state="active", dead_links=[])
    assert harness.changed_entries(before, look(sim, sm)[0]) == set()


def test_unicast_cache_and_a_leaf_where_packets_turn(fabric):
    """The spine that lost the manager's leaf reaches it by way of another leaf; that one is lost, too, which the cache thinks nothing of."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, use_ucast_cache="TRUE", sweep_interval=1, node="Node03-00")
    sm.wait_epoch()
    cut(sim, tree.uplink(3, 2))
    sm.wait_status(state="active", f=1)
    sim.unlink_node("Leaf00")
    sm.wait_status(state="active", servers=12)
    world = judge.World(tree, cut=[(3, 2)], off=["Leaf00"])
    harness.wait_for(lambda: not judge.judge_reach(judge.View(world, sim.snapshot(), "Node03-00"), ["Node03-00"]), what="ways round")
    sm.wait_status(state="active", servers=12, remarks=[])
    assert_good(sim, sm)
