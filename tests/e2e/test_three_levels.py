# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees of three levels under the stock opensm: routed, planned for, published; failures of each kind, and back."""
import os
import re
import signal
import subprocess
import time

import pytest

import harness
import over
import three


def settled(sm, act, *args):
    """Do something to the fabric, and wait for the last word of fors on it."""
    before = sm.status()["epoch"]
    act(*args)
    sm.sweep()
    return sm.wait_epoch(before)


def good(sim, sm, seconds=90):
    """Status and snapshot of the fabric at rest: a sweep, or a plan, may still be under way."""
    end = time.monotonic() + seconds
    while True:
        faults, status, snapshot = three.judge(sim, sm)
        if not faults:
            return status, snapshot
        assert time.monotonic() < end, faults
        time.sleep(0.05)


def changed(sim, sm, *ends):
    """Unlink these (node, port), or whole nodes; what comes of it, and what comes when they are back."""
    def cut():
        for end in ends:
            sim.unlink(*end) if isinstance(end, tuple) else sim.unlink_node(end)

    def mend():
        for end in ends:
            sim.relink(*end) if isinstance(end, tuple) else sim.relink_node(end)
    settled(sm, cut)
    status, _ = good(sim, sm)
    return status, settled(sm, mend), sim.snapshot()


def tables_of(snapshot):
    return {name: bytes(table) for name, table in snapshot.table.items()}


def test_failures_of_each_kind(fabric):
    """XGFT(3;4,4,4;1,4,4), 64 servers: at the bound, whatever single thing is dead; and to the very bytes when it is back."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    status, healthy = good(sim, sm)
    assert (status["leaves"], status["pods"], status["mids"], status["tops"], status["spines"]) == (16, 4, 16, 16, None)
    assert status["phases"] == 64 and status["affected_spines"] == 0 and status["dead_links"] == []
    for ends, dead, m, phases in [([tree.top_cable(1, 2, 3)], 1, 1, 64),
                                  ([tree.top(2, 1)], 4, 1, 64),
                                  ([tree.leaf_cable(2, 1, 3)], 1, 1, None),
                                  ([tree.mid(3, 0)], 8, 5, None),
                                  ([tree.leaf_cable(0, 0, 1), tree.leaf_cable(3, 2, 2), tree.top_cable(1, 1, 1)], 3, 3, None)]:
        worse, again, snapshot = changed(sim, sm, *ends)
        assert len(worse["dead_links"]) == dead and worse["affected_spines"] == m, ends
        assert worse["phases"] <= (phases or worse["lower_bound"] + 4), worse
        assert again["phases"] == 64 and again["dead_links"] == []
        assert tables_of(snapshot) == tables_of(healthy), f"not as it was after {ends}"
    good(sim, sm)
    assert "by method flows" not in sm.log()  # each plan is that of the tables, and made while they were on their way


def places(sm):
    return (sm.state_dir / "places").read_text()


def kinds(text):
    """What a kept order knows, without who is alive: cables, and nodes with the level of each."""
    return [line.replace(" alive ", " ").replace(" dead ", " ") for line in text.splitlines() if not line.startswith("crc")]


def test_cables_that_were_never_there(fabric, tmp_path):
    """They cost what dead ones cost, nobody is told that they are dead, and when they come they are simply alive."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    missing = [tree.leaf_cable(2, 1, 3), tree.top_cable(1, 2, 3)]
    for end in missing:
        sim.unlink(*end)
    sm = harness.OpenSM(sim, tmp_path / "sm")
    fabric.also(sm)
    status = sm.wait_status(state="active", servers=64, dead_links=[], affected_spines=0)
    assert status["phases"] == status["lump_bound"] == 80 and status["lost_servers"] == []
    harness.wait_for(lambda: "\nlevels 3 completed\n" in places(sm))
    for end in missing:
        sim.relink(*end)
    sm.sweep()
    sm.wait_status(state="active", phases=64, dead_links=[])
    good(sim, sm)


def test_a_restart_keeps_the_order(fabric):
    """opensm is killed while a leaf, a middle switch and a top are dead; the next one routes as if it had seen them."""
    tree = three.Tree3((2, 3, 3), (2, 2))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    known = kinds(places(sm))
    dead = [tree.leaf(1, 1), tree.mid(2, 0), tree.top(1, 0)]
    settled(sm, lambda: [sim.unlink_node(name) for name in dead])
    status, before = good(sim, sm)
    harness.wait_for(lambda: " dead " in places(sm), what="places with what is dead")
    assert status["servers"] == 16 and (status["leaves"], status["mids"], status["tops"]) == (9, 6, 4)
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    again = harness.OpenSM(sim, sm.directory)
    fabric.also(again)
    again.wait_epoch(status["epoch"])
    assert tables_of(good(sim, again)[1]) == tables_of(before)
    assert kinds(places(again)) == known
    settled(again, lambda: [sim.relink_node(name) for name in dead])
    assert tables_of(good(sim, again)[1]) == tables_of(healthy)


def test_cut_to_pieces_and_back(fabric):
    """Two leaves without a way up and down: minhop takes over; a pod alone is still the tree that it was part of."""
    tree = three.Tree3((2, 2, 2), (2, 2))
    sim, sm = fabric(tree, routing_engine="fors,minhop")
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    known, mark = kinds(places(sm)), sm.log_end()
    for end in (tree.leaf_cable(0, 0, 0), tree.leaf_cable(1, 1, 1)):
        sim.unlink(*end)
    sm.sweep()
    status = sm.wait_status(state="inactive", tables_by="minhop")
    assert "Leaf0-0 and leaf Leaf1-1" in status["reason"] and status["unreachable_pairs"] == 1
    assert "minhop tables configured" in sm.log(mark) and "ERR F0" in sm.log(mark)
    for end in (tree.leaf_cable(0, 0, 0), tree.leaf_cable(1, 1, 1)):
        sim.relink(*end)
    sm.sweep()
    sm.wait_status(state="active")
    assert tables_of(good(sim, sm)[1]) == tables_of(healthy) and kinds(places(sm)) == known
    settled(sm, lambda: [sim.unlink(*tree.top_cable(0, j, k)) for j in range(2) for k in range(2)])
    status, _ = good(sim, sm)
    assert status["servers"] == 4 and status["pods"] == 2 and kinds(places(sm)) == known
    settled(sm, lambda: [sim.relink(*tree.top_cable(0, j, k)) for j in range(2) for k in range(2)])
    assert tables_of(good(sim, sm)[1]) == tables_of(healthy)


def test_who_takes_part(fabric, tmp_path):
    """participants_file counts, a top is drained, and who is not there is a warning."""
    tree = three.Tree3((2, 2, 2), (2, 2))
    (tmp_path / "who").write_text("".join(f"{guid:#x}\n" for guid in (0x100001, 0x100003, 0x10000d, 0xabc)))
    sim, sm = fabric(tree, fors_conf=f"participants_file = {tmp_path}/who\nhold_down = 5\nexclude_spines = Top0-0\n")
    status = sm.wait_epoch()
    snapshot = sim.snapshot()
    assert three.judge_tables(snapshot, sm.node) == []
    rows = over.read_csv(sm.schedule_file)
    there = sorted({row["src_guid"] for row in rows})
    names = [name for name, port in snapshot.port.items() if f"{port.guid:#018x}" in there]
    assert len(names) == 3 and over.judge(snapshot, rows, names) == []
    assert (status["servers"], status["not_participants"], status["ca_ports"]) == (3, 5, 8)
    assert not any("do not apply" in text for text in status["remarks"])
    assert {link["b"] for link in status["excluded_links"]} == {"Top0-0"} and len(status["excluded_links"]) == 2
    assert any("1 of its 4 GUIDs are no living server" in text for text in status["remarks"])


def test_several_jobs(fabric, tmp_path):
    """Each job has a schedule of its own, over the tables of the tree, and another one when these have changed."""
    tree, members = three.Tree3((2, 2, 2), (2, 2)), {"one": ["0-0-0", "0-1-0", "1-0-0"], "two": ["0-0-1", "1-0-1", "1-1-0"]}
    (tmp_path / "jobs").write_text("".join(f"{name}: {', '.join('Node' + x for x in who)}\n" for name, who in members.items()))
    sim, sm = fabric(tree, fors_conf=f"jobs_file = {tmp_path}/jobs\n")

    def judged(epochs):
        jobs = {job["name"]: job for job in sm.wait_status(jobs=lambda jobs: jobs and len(jobs) == 2 and all(
            job["state"] == "active" and job["epoch"] > epochs.get(job["name"], 0) for job in jobs))["jobs"]}
        for name, who in members.items():
            assert over.judge(sim.snapshot(), over.read_csv(sm.state_dir / "jobs" / name / "schedule"), ["Node" + x for x in who]) == []
        return {name: job["epoch"] for name, job in jobs.items()}
    epochs = judged({})
    sim.unlink(*tree.leaf_cable(0, 0, 0))
    sm.sweep()
    judged(epochs)


@pytest.mark.parametrize("cable, words", [(("Leaf0-0", "Leaf1-1"), "joins two leaves, Leaf0-0 and Leaf1-1"),
                                          (("Leaf0-1", "Top1-1"), "Top1-1")])
def test_a_crossed_cable_is_declined(fabric, cable, words):
    tree = three.Tree3((2, 2, 2), (2, 2))
    for name in cable:
        tree.switches[name] += 1
    tree.connect(cable[0], tree.switches[cable[0]], cable[1], tree.switches[cable[1]])
    sim, sm = fabric(tree)
    status = sm.wait_status(state="inactive", tables_by="minhop")
    assert words in status["reason"], status["reason"]
    sim.unlink(cable[0], tree.switches[cable[0]])
    sm.sighup()
    sm.wait_status(state="active")
    good(sim, sm)


class OddTree(three.Tree3):
    """Uneven and with guests: some places are empty, a host hangs on a middle switch, one on a top; cables are plugged crosswise."""

    EMPTY = ["Node0-0-1", "Node1-1-0", "Node2-0-0", "Node2-0-1"]

    def __init__(self):
        super().__init__((2, 2, 3), (2, 3))
        for name in self.EMPTY:
            self.unplug(name, 1)
            del self.hcas[name]
        for name, switch in (("Gate0", self.mid(1, 1)), ("Gate1", self.top(0, 2))):
            self.switches[switch] += 1
            self.hcas[name] = 1
            self.connect(switch, self.switches[switch], name, 1)
        for (a, b), (c, d) in [((("Leaf2-1", 3)), ("Leaf2-1", 4)), (("Mid0-0", 3), ("Mid0-0", 5))]:
            far, other = self.unplug(a, b), self.unplug(c, d)
            self.connect(a, b, *other)
            self.connect(c, d, *far)

    def unplug(self, node, port):
        peer = self.cable.pop((node, port))
        del self.cable[peer]
        return peer


@pytest.mark.parametrize("lmc", ["0", "2"])
def test_an_odd_tree(fabric, lmc):
    tree = OddTree()
    sim, sm = fabric(tree, lmc=lmc)
    sm.wait_epoch()
    players = [name for name in tree.hcas if name.startswith("Node")]
    for ends in [(), (tree.top_cable(2, 1, 1),), (tree.leaf_cable(1, 1, 1),), (tree.leaf_cable(0, 1, 1), tree.top(1, 0)), (tree.leaf(1, 0),)]:
        settled(sm, lambda: [sim.unlink(*end) if isinstance(end, tuple) else sim.unlink_node(end) for end in ends]) if ends else None
        status, snapshot = good(sim, sm)
        nodes = snapshot.reached(sm.node)
        assert status["guests"] == 2 and status["servers"] == len([name for name in players if name in nodes])
        for name in ("Gate0", "Gate1"):  # nobody is cut off in silence
            ends_at = [three.walk(snapshot, leaf, snapshot.port[name].lid) for leaf in nodes if leaf.startswith("Leaf")]
            assert set(ends_at) <= {name, None} and (None not in ends_at or any("without a path" in text for text in status["remarks"]))
        settled(sm, lambda: [sim.relink(*end) if isinstance(end, tuple) else sim.relink_node(end) for end in ends]) if ends else None


def test_reference_roots_and_forget(fabric, tmp_path):
    """What the reference fabric has is known though it was never seen; what is not from there can be forgotten."""
    tree = three.Tree3((2, 2, 3), (2, 2))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    (tmp_path / "reference").write_text(sim.run(["ibnetdiscover"]))
    guids = {name: port.guid for name, port in healthy.port.items()}
    (tmp_path / "roots").write_text("".join(f"{guids[name]:#x}\n" for name in tree.switches if name.startswith("Top")))
    settled(sm, lambda: sim.unlink_node(tree.mid(1, 1)))
    _, dead = good(sim, sm)
    sm.stop()
    other = harness.OpenSM(sim, tmp_path / "other", fors_conf=f"reference_fabric = {tmp_path}/reference\n",
                           root_guid_file=str(tmp_path / "roots"))
    fabric.also(other)
    other.wait_epoch()
    assert tables_of(good(sim, other)[1]) == tables_of(dead)
    assert other.status()["mids"] == 6 and " reference roots " in places(other)
    argv = harness.fors_command("forget", f"{guids[tree.mid(1, 1)]:#x}", str(other.state_dir))
    refused = subprocess.run(argv, capture_output=True, text=True)
    assert refused.returncode == 1 and "reference fabric" in refused.stderr
    other.fors_conf.write_text("")
    settled(other, lambda: sim.unlink_node(tree.top(0, 0)))  # and the reference is none any more
    harness.wait_for(lambda: " reference " not in places(other), 20, "the order of this sweep")  # the schedule was early
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert "6 of 6 leaves and 9 of 10 middle switches and tops stay" in done.stdout
    settled(other, lambda: None)
    status, _ = good(sim, other)
    assert status["mids"] == 5 and [link["b"] for link in status["dead_links"]] == [tree.top(0, 0)] * 3


def test_small(fabric):
    tree = three.Tree3((2, 2, 2), (2, 2))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    status, first = good(sim, sm)
    assert status["phases"] == 8 and status["lower_bound"] == 8


@pytest.mark.parametrize("kind", ["reference", "intact"])
def test_takeover(fabric, tmp_path, kind):
    """A stronger manager takes over, changes no entry, and its epoch is newer; when it ends the first one is the master again."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, first = fabric(tree, **harness.SHORT_POLLS, sweep_interval=1, fors_conf="# nothing\n")
    first.wait_epoch()
    _, healthy = good(sim, first)
    conf = ""
    if kind == "reference":  # the standby never saw what is dead
        (tmp_path / "reference").write_text(sim.run(["ibnetdiscover"]))
        conf = f"reference_fabric = {tmp_path}/reference\n"
        first.fors_conf.write_text(conf)
        settled(first, lambda: [sim.unlink_node(tree.mid(3, 0)), sim.unlink(*tree.top_cable(1, 1, 1))])
    status, before = good(sim, first)
    second = harness.stronger(fabric, sim, tmp_path / "other", "Node3-3-3", sweep_interval=1, fors_conf=conf)
    taken = second.wait_epoch(status["epoch"])
    _, after = good(sim, second)
    assert servers_of(after) == servers_of(before) and taken["phases"] == status["phases"]
    quiet = first.wait_status(20, state="inactive")
    assert "not the master" in quiet["reason"] and over.read_csv(first.schedule_file) is None
    second.stop()
    assert first.wait_epoch(quiet["epoch"], 60)["phases"] == status["phases"]
    assert servers_of(good(sim, first)[1]) == servers_of(before)
    assert (kind == "intact") == (servers_of(before) == servers_of(healthy))


def test_plan_memory(fabric):
    """No plan where not even whole units fit, and the reason says what they would take; whole units in so much."""
    tree = three.Tree3((6, 6, 8), (6, 6))
    _, sm = fabric(tree, fors_conf="plan_memory = 1\n")
    sm.wait_up(timeout=60)
    sm.sim.unlink(*tree.leaf_cable(0, 0, 0))
    reason = sm.wait_status(60, state="failed", reason=lambda text: "342 phases" in (text or ""))["reason"]
    found = re.search(r"may take (\d+) MiB of memory, and the limit is 1$", reason)
    sm.fors_conf.write_text(f"plan_memory = {found[1]}\n")
    sm.sighup()
    status = sm.wait_status(60, state="active")
    assert int(found[1]) < 5 and (status["phases"], status["lower_bound"], status["method"]) == (342, 339, "rounds")


def servers_of(snapshot):
    """What each switch has for each server; who runs a manager changes other entries."""
    return {(switch, name): snapshot.entry(switch, port.lid) for switch in snapshot.switches
            for name, port in snapshot.port.items() if name.startswith("Node")}
