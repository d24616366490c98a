# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Links that live and shall carry no traffic between servers: excluded, degraded, held down."""
import os
import re
import signal
import time

import pytest

import harness
import oracle
from harness import FatTree
from test_plugin import assert_good, errors, schedule_csv
from three import Tree3


def names(links):
    """A list of links of status.json as {(leaf, spine)}."""
    return {(link["a"], link["b"]) for link in links}


def cables_used(sim, sm):
    """The (leaf, spine) whose cable some server's traffic goes over, by the switches' own tables."""
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    used = set()
    for source in live.servers:
        for target in live.servers.values():
            for index in range(1 << target.lmc if source != target.name else 0):
                hops = harness.walk(tables, live.cable, source, target.lid + index)
                assert hops is not None, (source, target, index)
                used |= {tuple(sorted((node, live.cable[node, port][0]))) for node, port in hops}
    return {(a, b) for a, b in used if a.startswith("Leaf") and b.startswith("Spine")}


def set_conf(sm, text):
    """Write another fors.conf and have it read."""
    sm.fors_conf.write_text(text)
    sm.sweep()


def test_signal_during_a_discovery(fabric):
    """
    The usual way back from a maintenance: the cable returns, OpenSM sweeps, and in the middle of that comes the SIGHUP.
    OpenSM begins its discovery anew then, and reports no second start.
    """
    sim, sm = fabric(FatTree(4, 4), lmc=1, fors_conf="# nothing\n")
    sm.wait_epoch()
    sm.wait_up()  # which may come after the epoch
    mark = sm.log_end()
    os.kill(sim.process.pid, signal.SIGSTOP)
    try:
        sm.sighup()
        time.sleep(0.5)  # it waits for the first answer of its discovery by now
        sm.fors_conf.write_text("exclude_links = Leaf02[6]\n")
        sm.sighup()
        time.sleep(0.5)
    finally:
        os.kill(sim.process.pid, signal.SIGCONT)
    sm.wait_up(mark)
    sm.wait_status(5, state="active", excluded_links=lambda links: names(links) == {("Leaf02", "Spine01")})
    assert sm.log(mark).count("SUBNET UP") == 1


@pytest.mark.parametrize("lmc", [0, 2])
def test_drain_a_link_and_give_it_back(fabric, lmc):
    """No server's traffic goes over it, the plan is right, the switch still answers; then all is as it was."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=lmc, fors_conf="# nothing\n")
    status = sm.wait_epoch()
    before = harness.read_tables(sim, sm.node)
    assert status["excluded_links"] == []
    set_conf(sm, "exclude_links = Leaf02[6]\n")
    status = sm.wait_status(state="active", excluded_links=lambda links: names(links) == {("Leaf02", "Spine01")})
    assert (status["f"], status["affected_spines"], status["dead_links"]) == (1, 1, [])
    assert status["excluded_links"] == [{"a": "Leaf02", "a_port": 6, "b": "Spine01", "b_port": 3, "since_ms": None,
                                         "used": False, "planned": False, "rate": "4xSDR"}]
    assert ("Leaf02", "Spine01") not in cables_used(sim, sm)
    assert_good(sim, sm)
    assert "excluded: no traffic between servers" in sm.log() and errors(sm) == []
    set_conf(sm, "# back\n")
    sm.wait_status(state="active", excluded_links=[], f=0)
    assert harness.changed_entries(before, harness.read_tables(sim, sm.node)) == set()


def test_drain_a_spine(fabric):
    """By name or by GUID, several lines; its own LID, and a cable that dies meanwhile, work as ever."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=2, fors_conf="exclude_spines = Spine02\n")
    status = sm.wait_epoch()
    assert names(status["excluded_links"]) == {(tree.leaf(a), "Spine02") for a in range(3)}
    assert (status["f"], status["phases"]) == (1, status["lower_bound"])
    assert {spine for _, spine in cables_used(sim, sm)} == {"Spine00", "Spine01", "Spine03"}
    live = harness.read_live(sim, sm.node)
    tables = harness.read_tables(sim, sm.node)
    for server in live.servers:  # the spine can still be asked for its counters, and answers
        assert harness.walk(tables, live.cable, server, live.switch_lid["Spine02"])
    guid = tables.guid_of["Spine03"]
    set_conf(sm, f"exclude_spines = Spine02\nexclude_spines = 0x{guid:016x}\n")
    sm.wait_status(state="active", excluded_links=lambda links: len(links) == 6)
    assert {spine for _, spine in cables_used(sim, sm)} == {"Spine00", "Spine01"}
    cable = tree.uplink(0, 0)
    sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", dead_links=lambda links: names(links) == {("Leaf00", "Spine00")})
    assert_good(sim, sm)
    assert errors(sm) == []


def test_drain_never_cuts(fabric):
    """What two leaves need stays in use, with a message; it is drained once there is another way."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, fors_conf="exclude_spines = Spine01\n", node="Node02-00")
    sm.wait_epoch()
    cable = tree.uplink(0, 0)
    sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", remarks=lambda remarks: remarks)
    assert all("Leaf00" in remark and "stays in use" in remark for remark in status["remarks"])
    assert all(link["used"] for link in status["excluded_links"])
    assert "ERR F015" in sm.log()
    assert_good(sim, sm)
    sim.relink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", remarks=[], dead_links=[])
    assert not any(link["used"] for link in status["excluded_links"])
    assert {spine for _, spine in cables_used(sim, sm)} == {"Spine00"}


@pytest.mark.parametrize("line, complaint", [
    ("exclude_links = Leaf09[1]", r"exclude_links: .*Leaf09.*ignored"),
    ("exclude_links = Leaf00[1]", r"exclude_links: 'Leaf00\[1\]' is no cable between a leaf and a spine"),
    ("exclude_links = Leaf00[99]", r"exclude_links: Leaf00 has no port 99"),
    ("exclude_spines = Leaf01", r"exclude_spines: 'Leaf01' is no spine"),
])
def test_names_that_mean_nothing(fabric, line, complaint):
    """The rest of the list counts, and fors goes on."""
    _, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"{line}, Spine02[1]\nexclude_links = Spine02[2]\n")
    status = sm.wait_epoch()
    assert re.search(complaint, "\n".join(status["remarks"]))
    sm.wait_log(f"ERR F015: {complaint}")
    assert ("Leaf01", "Spine02") in names(status["excluded_links"])
    set_conf(sm, "# all defaults\n")
    sm.wait_status(state="active", remarks=[], excluded_links=[])


class Narrow(FatTree):
    """Some cables run at a quarter of their width."""

    def __init__(self, narrow, *sizes, **more):
        super().__init__(*sizes, **more)
        cables = [self.uplink(*places) for places in narrow]
        self.narrow = {cable[:2] for cable in cables} | {cable[2:] for cable in cables}

    def text(self):
        return harness.with_width(super().text(), self.narrow)


def test_degraded_links(fabric):
    """They are reported; with degraded_links = dead no traffic goes over them, unless it has to."""
    sim, sm = fabric(Narrow([(1, 2)], 4, 3), lmc=2, fors_conf="degraded_links = ignore\n")
    status = sm.wait_epoch()
    assert names(status["degraded_links"]) == {("Leaf01", "Spine02")} and status["degraded_links"][0]["used"]
    assert (status["f"], status["dead_links"]) == (0, [])
    link = status["degraded_links"][0]
    assert link["planned"] and re.fullmatch(r"1x\w+", link["rate"])
    assert status["length"] == status["phases"] + 3 * status["slow_phases"] and status["slow_phases"] >= 8
    assert (status["drained_length"], status["degraded_choice"]) == (12, "ignore")  # three uplinks for what four servers send to eight others
    harness.wait_for(lambda: "\nfors_throughput_ratio{" in (sm.state_dir / "metrics.prom").read_text())  # after the status
    metrics = (sm.state_dir / "metrics.prom").read_text()
    share = float(re.search(r"^fors_throughput_ratio\{.*\} (\S+)$", metrics, re.M).group(1))
    assert abs(share - status["servers"] / status["length"]) < 1e-5 and re.search(r"^fors_slow_phases\{", metrics, re.M)
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert f"{100 * share:.1f} % of full" in shown and f"slow links hold up {status['slow_phases']} of" in shown
    assert "runs below full width or speed: it is used as any other" in sm.log()
    assert ("Leaf01", "Spine02") in cables_used(sim, sm)
    set_conf(sm, "degraded_links = dead\n")
    status = sm.wait_status(state="active", f=1)
    assert status["degraded_links"][0]["used"] is False
    assert ("Leaf01", "Spine02") not in cables_used(sim, sm)
    assert_good(sim, sm)
    assert (status["slow_phases"], status["length"], status["degraded_choice"]) == (0, status["phases"], "dead")
    metrics = (sm.state_dir / "metrics.prom").read_text()
    assert re.search(r"^fors_degraded_links\{.*\} 1$", metrics, re.M) and "\nfors_link_degraded{" in metrics
    set_conf(sm, "degraded_links = ignore\n")
    sm.wait_status(state="active", f=0)


@pytest.mark.parametrize("lmc, cache", [(0, "FALSE"), (2, "FALSE"), (2, "TRUE")])
def test_degraded_links_by_default(fabric, lmc, cache):
    """
    A narrow cable that can be spared carries no traffic from the first tables on; where it cannot, after a failure, it is used, and
    drained again when that is mended. Each change is one sweep's.
    """
    tree = Narrow([(1, 2)], 4, 3)
    sim, sm = fabric(tree, lmc=lmc, fors_conf="# auto\n", use_ucast_cache=cache)
    status = sm.wait_epoch()
    assert status["degraded_choice"] == "auto: drained" and status["degraded_links"][0]["used"] is False
    assert (status["phases"], status["length"], status["slow_phases"]) == (12, 12, 0) and status["ignored_length"] > 30
    assert ("Leaf01", "Spine02") not in cables_used(sim, sm)
    assert_good(sim, sm)
    assert sm.log().count("tables of ") == 1 and "degraded_links = auto: drained, 1 of 1 drained" in sm.log()
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert "slow links between switches: drained (degraded_links = auto); with slow links " in shown
    healthy = harness.read_tables(sim, sm.node)
    cables = [tree.uplink(1, spine) for spine in (0, 1, 3)]
    for cable in cables:
        sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", dead_links=lambda links: len(links) == 3)
    assert status["degraded_choice"] == "auto: in use" and status["degraded_links"][0]["used"] and status["drained_length"] is None
    assert_good(sim, sm)
    for cable in cables:
        sim.relink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", dead_links=[], degraded_choice="auto: drained")
    assert harness.changed_entries(healthy, harness.read_tables(sim, sm.node)) == set()


def test_degraded_links_never_cut(fabric):
    """All cables of a leaf but one are narrow, and that one dies."""
    tree = Narrow([(0, 0), (0, 1)], 3, 3)
    sim, sm = fabric(tree, lmc=2, fors_conf="degraded_links = dead\n", node="Node02-00")
    assert names(sm.wait_epoch()["degraded_links"]) == {("Leaf00", "Spine00"), ("Leaf00", "Spine01")}
    cable = tree.uplink(0, 2)
    sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", remarks=lambda remarks: remarks)
    assert "degraded" in status["remarks"][0] and "stays in use" in status["remarks"][0]
    assert sum(link["used"] for link in status["degraded_links"]) == 1
    assert_good(sim, sm)


# ---------------------------------------------------------------------------
# servers slower than their uplinks

@pytest.mark.parametrize("make, phases, cut", [(lambda: FatTree(3, 4, servers=8), 32, ("Leaf01", 10)),
                                               (lambda: Tree3((4, 2, 2), (2, 2)), 16, ("Leaf0-1", 6))], ids=["two levels", "three levels"])
@pytest.mark.parametrize("lmc", [0, 1])
def test_servers_slower_than_uplinks(fabric, make, phases, cut, lmc):
    """A cable four times as fast as they are carries four flows in a phase: full speed, also with a cable less."""
    tree = harness.slow_servers(make())
    sim, sm = fabric(tree, lmc=lmc, fors_conf="# nothing\n")
    status = sm.wait_epoch()
    for dead in (0, 1):
        assert (status["phases"], status["slow_phases"], status["f"]) == (phases, 0, 0)
        assert (status["full_speed_mbits"], status["cable_flows"], status["cable_flows_most"], status["slow_servers"]) == (2000, 4, 4, [])
        tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
        assert oracle.schedule_problems(schedule_csv(sm), tables, live, flows=4) == []
        assert oracle.schedule_problems(schedule_csv(sm), tables, live) != []
        if not dead:
            sim.unlink(*cut)
            status = sm.wait_status(state="active", dead_links=lambda links: len(links) == 1)
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert "speeds      full speed is 2 Gbit/s; a cable between switches carries 4 flows in a phase" in shown


# ---------------------------------------------------------------------------
# hold_down

@pytest.mark.parametrize("lmc", [0, 2])
def test_hold_down(fabric, lmc):
    """A link that returns is not used by the plan until it has been up for hold_down seconds."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=lmc, fors_conf=f"hold_down = {round(4 * harness.patience())}\n", sweep_interval=1)
    sm.wait_epoch()
    healthy = harness.read_tables(sim, sm.node)
    cable = tree.uplink(1, 2)
    sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", f=1)
    epoch, schedule = status["epoch"], schedule_csv(sm)
    sim.relink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="active", held_links=lambda links: names(links) == {("Leaf01", "Spine02")})
    came = time.time()
    assert status["dead_links"] == [] and status["held_until_ms"] > came * 1000
    assert (status["epoch"], schedule_csv(sm)) == (epoch, schedule)
    assert [(link["used"], link["planned"]) for link in status["held_links"]] == [(False, False)]
    assert_good(sim, sm)
    assert ("Leaf01", "Spine02") not in cables_used(sim, sm)
    status = sm.wait_status(15, state="active", held_links=[], f=0)
    assert time.time() - came > 3 and status["epoch"] > epoch and status["held_until_ms"] is None
    assert harness.changed_entries(healthy, harness.read_tables(sim, sm.node)) == set()
    assert_good(sim, sm)


@pytest.mark.parametrize("lmc", [0, 2])
def test_flapping_link(fabric, lmc):
    """Ten flaps cost one epoch for the failure, and one for the return."""
    tree = FatTree(4, 3)
    sim, sm = fabric(tree, lmc=lmc, fors_conf=f"hold_down = {round(3 * harness.patience())}\n", sweep_interval=1)
    sm.wait_epoch()
    cable = tree.uplink(0, 1)
    mark, epochs = sm.log_end(), set()
    for _ in range(5):
        sim.unlink(cable.leaf, cable.leaf_port)
        epochs.add(sm.wait_status(state="active", dead_links=lambda links: len(links) == 1)["epoch"])
        assert_good(sim, sm)
        sim.relink(cable.leaf, cable.leaf_port)
        epochs.add(sm.wait_status(state="active", held_links=lambda links: len(links) == 1)["epoch"])
        assert_good(sim, sm)
    assert len(epochs) == 1
    final = sm.wait_status(15, state="active", held_links=[], dead_links=[], f=0)["epoch"]
    assert final not in epochs
    assert sm.log(mark).count("fors: planning: ") <= 4


def flap(sim, sm, end, times):
    """A cable dies and comes back; opensm sees each."""
    for _ in range(times):
        sim.unlink(*end)
        sm.wait_status(state="active", dead_links=lambda links: len(links) == 1)
        sim.relink(*end)
        sm.wait_status(state="active", dead_links=[])


@pytest.mark.parametrize("levels", [2, 3])
def test_a_flapping_cable_is_told(fabric, levels):
    """From the sixth change on: by status, metrics and advice, with what to do; when that is done, no longer."""
    tree, end = (FatTree(4, 3), ("Leaf00", 6)) if levels == 2 else (Tree3((2, 2, 2), (2, 2)), ("Leaf0-1", 3))
    sim, sm = fabric(tree, fors_conf="hold_down = 1\n", sweep_interval=1)
    sm.wait_epoch()
    assert "fors_link_flapping" not in (sm.state_dir / "metrics.prom").read_text()
    flap(sim, sm, end, 2)
    assert sm.status()["flapping_links"] == []
    flap(sim, sm, end, 1)
    link = sm.wait_status(state="active", flapping_links=lambda links: len(links) == 1)["flapping_links"][0]
    assert (link["a"], link["a_port"], link["changes"]) == (*end, 6) and (link["b"], link["b_port"]) == tree.cable[end]
    cable = f"{link['a']}[{link['a_port']}] - {link['b']}[{link['b_port']}]"
    harness.wait_for(lambda: re.search(rf'^fors_link_flapping{{.*="{end[0]}",.*}} 1$', (sm.state_dir / "metrics.prom").read_text(), re.M))
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert re.search(rf"^flapping +{re.escape(cable)} changed 6 times in the last hour: exclude it$", shown, re.M), shown
    sm.wait_status(15, state="active", held_links=[])
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert re.search(rf"^next +exclude {re.escape(cable)}, then mend", shown, re.M), shown
    set_conf(sm, f"exclude_links = {end[0]}[{end[1]}]\n")
    sm.wait_status(state="active", flapping_links=[], excluded_links=lambda links: len(links) == 1)
    harness.wait_for(lambda: "fors_link_flapping" not in (sm.state_dir / "metrics.prom").read_text())
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert "\nflapping" not in shown and "exclude Leaf" not in shown, shown


def test_failure_while_a_link_is_held(fabric):
    """It is acted upon at once; a held link that is needed is used."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, fors_conf="hold_down = 600\n", sweep_interval=1, node="Node02-00")
    sm.wait_epoch()
    one, other = tree.uplink(0, 0), tree.uplink(0, 1)
    sim.unlink(one.leaf, one.leaf_port)
    sm.wait_status(state="active", f=1)
    sim.relink(one.leaf, one.leaf_port)
    sm.wait_status(state="active", held_links=lambda links: names(links) == {("Leaf00", "Spine00")})
    sim.unlink(other.leaf, other.leaf_port)
    status = sm.wait_status(state="active", dead_links=lambda links: names(links) == {("Leaf00", "Spine01")})
    assert status["held_links"][0]["used"] and "stays in use" in status["remarks"][0]
    assert_good(sim, sm)
    set_conf(sm, "hold_down = 0\n")
    sm.wait_status(state="active", held_links=[], remarks=[])


def test_drained_links_and_the_unicast_cache(fabric):
    """OpenSM's cache would bring old tables back; fors drops it while anything is drained."""
    sim, sm = fabric(FatTree(3, 3), lmc=2, use_ucast_cache="TRUE", fors_conf="# nothing\n")
    sm.wait_epoch()
    set_conf(sm, "exclude_links = Leaf00[4]\n")
    sm.wait_status(state="active", f=1)
    assert ("Leaf00", "Spine00") not in cables_used(sim, sm)
    sim.unlink("Node02-02", 1)
    sm.wait_status(state="active", servers=8)
    sim.relink("Node02-02", 1)
    sm.wait_status(state="active", servers=9)
    assert ("Leaf00", "Spine00") not in cables_used(sim, sm)
    set_conf(sm, "# back\n")
    sm.wait_status(state="active", f=0)
    assert ("Leaf00", "Spine00") in cables_used(sim, sm)


def test_rules_hold_with_a_drained_link(fabric):
    """Entries of home-healthy places do not move when a link is drained."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, fors_conf="# nothing\n")
    sm.wait_epoch()
    rules = oracle.Rules(tree, harness.read_live(sim, sm.node))
    before = harness.read_tables(sim, sm.node)
    set_conf(sm, "exclude_links = Spine03[2]\n")
    sm.wait_status(state="active", f=1)
    changed = harness.changed_entries(before, harness.read_tables(sim, sm.node))
    assert {entry for entry in changed if entry[1] in rules.server_lids()} <= rules.may_differ(set(), {(1, 3)})


def test_status_at_three_in_the_morning(fabric):
    """fors status names each kind of link, what it costs, and what comes next."""
    tree = Narrow([(2, 3)], 4, 3)
    sim, sm = fabric(tree, lmc=2, fors_conf="degraded_links = ignore\nexclude_links = Leaf01[6]\nexclude_spines = Spine77\nhold_down = 60\n",
                     sweep_interval=1)
    sm.wait_epoch()
    cable, dead = tree.uplink(0, 2), tree.uplink(2, 0)
    for pulled in (cable, dead):
        sim.unlink(pulled.leaf, pulled.leaf_port)
    sm.wait_status(state="active", dead_links=lambda links: len(links) == 2)
    sim.relink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", held_links=lambda links: len(links) == 1)
    done = harness.fors("status", sm.state_dir)
    for line in (r"state +active for \d+ s", r"Leaf02\[5\] - Spine00\[3\], for \d+ s",
                 r"degraded +Leaf02\[8\] - Spine03\[3\](, \dx\w+)?; in use",
                 r"excluded +Leaf01\[6\] - Spine01\[2\]; carries no servers' traffic",
                 r"held +Leaf00\[7\] - Spine02\[1\], for \d+ s; carries no servers' traffic",
                 r"warning +exclude_spines: .*Spine77.*ignored", r"speed +[\d.]+ % of full",
                 r"next +link Leaf00\[7\] - Spine02\[1\] returns in \d+ s"):
        assert re.search("(?m)^ *" + line, done.stdout), (line, done.stdout)


@pytest.mark.parametrize("lmc", [0, 2])
def test_a_host_that_flaps(fabric, lmc):
    """It costs an epoch when it goes and one when it has come to rest, as a cable does: meanwhile it is reached, and listed."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=lmc, fors_conf="hold_down = 3600\n", sweep_interval=1, node="Node00-00")
    sm.wait_epoch()
    leaf, port = "Leaf02", 2
    sim.unlink(leaf, port)
    epoch = sm.wait_status(state="active", servers=15)["epoch"]
    for _ in range(4):
        sim.relink(leaf, port)
        status = sm.wait_status(state="active", held_links=lambda links: links, lost_servers=[])
        assert [(link["a"], link["a_port"], link["b"]) for link in status["held_links"]] == [(leaf, port, "Node02-01")]
        assert status["servers"] == 15 and status["epoch"] == epoch
        tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
        assert oracle.unreached(tables, live) == []
        sim.unlink(leaf, port)
        assert sm.wait_status(state="active", held_links=[])["epoch"] == epoch
    assert [link["b"] for link in sm.status()["flapping_links"]] == ["Node02-01"]
    sim.relink(leaf, port)
    sm.wait_status(held_links=lambda links: links)
    sm.fors_conf.write_text("hold_down = 0\n")
    sm.sighup()
    assert sm.wait_status(state="active", servers=16)["epoch"] > epoch
