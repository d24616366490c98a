# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees of three levels under the stock opensm: links of either stage that are excluded, slow or held, and what to mend first."""
import time

import harness
import three
from test_three_levels import good, settled, tables_of


def names(links):
    return {(link["a"], link["b"]) for link in links}


def set_conf(sm, text):
    sm.fors_conf.write_text(text)
    sm.sweep()


def at_rest(sim, sm, **wanted):
    """Status and snapshot when the status is as wanted, and tables and schedule are good."""
    sm.wait_status(30, state="active", **wanted)
    return good(sim, sm, 30)


def test_excluded(fabric):
    """A cable of each stage, a middle switch, a top: nobody's traffic goes over them, the plan is that of a failure, the switches answer."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree, fors_conf="# nothing\n")
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    for conf, cables, phases in [
            ("exclude_links = Mid1-2[8]\n", {("Mid1-2", "Top2-3")}, 64),
            ("exclude_links = Leaf2-1[8]\n", {("Leaf2-1", "Mid2-3")}, 80),
            ("exclude_spines = Top2-1\n", {(f"Mid{p}-2", "Top2-1") for p in range(4)}, 64),
            ("exclude_spines = Mid3-0\nexclude_links = Mid0-1[5]\n",
             {(f"Leaf3-{y}", "Mid3-0") for y in range(4)} | {("Mid3-0", f"Top0-{k}") for k in range(4)} | {("Mid0-1", "Top1-0")}, 80)]:
        set_conf(sm, conf)
        status, snapshot = at_rest(sim, sm, excluded_links=lambda links: names(links) == cables)
        assert not any(link["used"] or link["planned"] for link in status["excluded_links"]) and status["dead_links"] == []
        assert status["phases"] == phases and status["remarks"] == [], conf
        used = three.cables_used(snapshot)
        assert not cables & used and len(used) > 110  # of 128
        for name in tree.switches:  # each can be asked for its counters by the manager, and answers
            assert three.walk(snapshot, "Leaf0-0", snapshot.port[name].lid) == name
    assert "excluded: no traffic between servers goes over it" in sm.log()
    set_conf(sm, "# back\n")
    _, snapshot = at_rest(sim, sm, excluded_links=[])
    assert tables_of(snapshot) == tables_of(healthy)


def test_needed_links_stay(fabric):
    """What leaves cannot do without is called back, on the lower stage and on the upper one; and goes again when something else is back."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree, fors_conf="exclude_spines = Mid1-1, Mid1-2, Mid1-3, Top0-1, Top0-2, Top0-3\n")
    status, snapshot = at_rest(sim, sm)
    assert status["remarks"] == [] and len(status["excluded_links"]) == 3 * 8 + 3 * 4
    assert {b for _, b in three.cables_used(snapshot) if b.startswith("Mid1")} == {"Mid1-0"}
    settled(sm, lambda: [sim.unlink(*tree.leaf_cable(1, 2, 0)), sim.unlink(*tree.top_cable(1, 0, 0))])
    status, snapshot = at_rest(sim, sm, dead_links=lambda links: len(links) == 2)
    assert any("stays in use" in text for text in status["remarks"])
    used = names(link for link in status["excluded_links"] if link["used"])
    assert used and used <= three.cables_used(snapshot)
    assert "ERR F015" in sm.log()
    settled(sm, lambda: [sim.relink(*tree.leaf_cable(1, 2, 0)), sim.relink(*tree.top_cable(1, 0, 0))])
    status, _ = at_rest(sim, sm, dead_links=[])
    assert status["remarks"] == [] and not any(link["used"] for link in status["excluded_links"])


def ways_of(snapshot):
    """What leaves take to servers."""
    return {(leaf, name): snapshot.entry(leaf, snapshot.port[name].lid)
            for leaf in snapshot.switches for name in snapshot.port if leaf.startswith("Leaf") and name.startswith("Node")}


class Narrow(three.Tree3):
    """A cable of each stage runs at a quarter of its width."""

    def text(self):
        ends = [self.leaf_cable(2, 1, 3), self.top_cable(1, 2, 3)]
        return harness.with_width(super().text(), {*ends, *(self.cable[end] for end in ends)})


def test_slow(fabric):
    sim, sm = fabric(Narrow((4, 4, 4), (4, 4)), fors_conf="degraded_links = ignore\n")
    status, snapshot = at_rest(sim, sm)
    slow = {("Leaf2-1", "Mid2-3"), ("Mid1-2", "Top2-3")}
    assert names(status["degraded_links"]) == slow and all(link["used"] for link in status["degraded_links"])
    assert status["slow_phases"] > 0 and slow <= three.cables_used(snapshot)
    assert status["drained_length"] == 80 and status["length"] == 64 + 3 * status["slow_phases"]
    set_conf(sm, "degraded_links = dead\n")
    status, snapshot = at_rest(sim, sm, degraded_links=lambda links: not any(link["used"] for link in links))
    assert names(status["degraded_links"]) == slow and status["slow_phases"] == 0 and status["length"] == status["phases"] == 80
    assert (status["drained_length"], status["degraded_choice"]) == (80, "dead")
    assert not slow & three.cables_used(snapshot)


def test_slow_by_default(fabric):
    """Both are drained from the first tables on: 80 phases at full speed, not 64 of which most take four times as long."""
    sim, sm = fabric(Narrow((4, 4, 4), (4, 4)), fors_conf="# auto\n")
    status, snapshot = at_rest(sim, sm)
    slow = {("Leaf2-1", "Mid2-3"), ("Mid1-2", "Top2-3")}
    assert names(status["degraded_links"]) == slow and not slow & three.cables_used(snapshot)
    assert (status["length"], status["phases"], status["degraded_choice"]) == (80, 80, "auto: drained")
    assert status["ignored_length"] > 100 and sm.log().count("tables of ") == 1


def test_held(fabric):
    """What returned is left out of tables and plan until its time is over; the plan of before stays, and is no new epoch."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree, fors_conf=f"hold_down = {round(8 * harness.patience())}\n", sweep_interval=1)
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    cables = {("Leaf0-1", "Mid0-1"), ("Mid3-0", "Top0-2")}
    settled(sm, lambda: [sim.unlink(*tree.leaf_cable(0, 1, 1)), sim.unlink(*tree.top_cable(3, 0, 2))])
    status, dead = at_rest(sim, sm, dead_links=lambda links: names(links) == cables)
    epoch = status["epoch"]
    sim.relink(*tree.leaf_cable(0, 1, 1))
    sim.relink(*tree.top_cable(3, 0, 2))
    status = sm.wait_status(30, state="active", held_links=lambda links: names(links) == cables, dead_links=[])
    came = time.time()
    snapshot = sim.snapshot()
    assert not any(link["used"] or link["planned"] for link in status["held_links"])
    assert status["held_until_ms"] > came * 1000 and all(link["since_ms"] > 0 for link in status["held_links"])
    assert three.cables_used(snapshot) == three.cables_used(dead) and ways_of(snapshot) == ways_of(dead)
    assert three.judge_tables(snapshot, sm.node) == [] and status["phases"] == 80
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert "2 links return" in shown, shown
    status, snapshot = at_rest(sim, sm, held_links=[], dead_links=[])
    assert status["epoch"] > epoch and status["held_until_ms"] is None and status["phases"] == 64
    assert tables_of(snapshot) == tables_of(healthy)


def test_what_to_mend_first(fabric):
    """A dead middle switch, then a cable of a leaf elsewhere too, then that alone."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    settled(sm, lambda: sim.unlink_node(tree.mid(2, 1)))
    status = sm.wait_status(30, state="active", repairs=lambda repairs: repairs is not None, dead_links=lambda links: len(links) == 8)
    assert [(one["a"], one["b"], one["phases"]) for one in status["repairs"]["list"]] == [(None, "Mid2-1", 64)]
    shown = harness.fors("status", sm.state_dir, code=None).stdout
    assert "Mid2-1" in shown.split("mend first")[1].splitlines()[0]
    settled(sm, lambda: sim.unlink(*tree.leaf_cable(0, 0, 0)))
    status = sm.wait_status(30, state="active", repairs=lambda repairs: repairs is not None, dead_links=lambda links: len(links) == 9)
    assert all(one["phases"] < status["phases"] for one in status["repairs"]["list"]) and status["lower_bound"] == 80
    assert all(one["phases"] >= 80 for one in status["repairs"]["list"])  # the other leaf has as little
    settled(sm, lambda: sim.relink_node(tree.mid(2, 1)))
    status = sm.wait_status(30, state="active", repairs=lambda repairs: repairs is not None, dead_links=lambda links: len(links) == 1)
    assert [(one["a"], one["b"], one["phases"]) for one in status["repairs"]["list"]] == [("Leaf0-0", "Mid0-0", 64)]
    good(sim, sm)


def test_a_host_that_flaps(fabric):
    """As in two levels: reached at once, in the exchange when it has come to rest."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree, fors_conf="hold_down = 3600\n", sweep_interval=1)
    sm.wait_epoch()
    host = list(tree.hcas)[21]
    leaf, port = tree.cable[host, 1]
    sim.unlink(leaf, port)
    servers = len(tree.hcas) - 1
    epoch = sm.wait_status(state="active", servers=servers)["epoch"]
    for _ in range(4):
        sim.relink(leaf, port)
        status = sm.wait_status(state="active", held_links=lambda links: names(links) == {(leaf, host)}, lost_servers=[])
        assert status["servers"] == servers and status["epoch"] == epoch
        sim.unlink(leaf, port)
        assert sm.wait_status(state="active", held_links=[])["epoch"] == epoch
    assert names(sm.status()["flapping_links"]) == {(leaf, host)}
    sim.relink(leaf, port)
    sm.wait_status(held_links=lambda links: links)
    set_conf(sm, "hold_down = 0\n")
    assert sm.wait_status(state="active", servers=servers + 1)["epoch"] > epoch
