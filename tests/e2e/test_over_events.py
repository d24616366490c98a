# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""schedule_over = any: who routes changes, settings change, tables have holes, opensm restarts."""
import re
import threading
import time

import pytest

import harness
import over
from harness import FatTree
from test_over import ANY, change, judged, withdrawals
from test_plugin import errors, withdrawn_reason

CHANGE = r"the tables of '\S*' change \([^)]*\): schedule withdrawn"


def fors_status(sm):
    return harness.fors("status", sm.state_dir, code=None)


# ---------------------------------------------------------------------------
# Who routes

def test_fors_declines_and_the_next_engine_routes(fabric):
    sim, sm = fabric(over.torus(3, 3, 1), routing_engine="fors,minhop", fors_conf=ANY)
    sm.wait_epoch()
    status, _, _ = judged(sim, sm)
    assert status["tables_by"] == "minhop" and status["reason"] is None
    assert any(remark.startswith("fors does not route: ") for remark in status["remarks"])
    assert errors(sm) in (["F003"], ["F004"])
    assert re.search(r'^fors_tables_by\{.*tables_by="minhop".*\} 1$', (sm.state_dir / "metrics.prom").read_text(), re.M)
    shown = fors_status(sm)
    assert shown.returncode == 0
    assert "tables      by minhop, not by fors" in shown.stdout and "bound of these tables" in shown.stdout


def test_tables_of_fors_are_as_ever(fabric):
    """What OpenSM reports of tables that fors made itself withdraws nothing that still holds."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, fors_conf=ANY)
    assert sm.wait_epoch()["tables_by"] == "fors"
    for act in (sim.unlink, sim.relink):
        cable = tree.uplink(2, 1)
        assert change(sim, sm, act, cable.leaf, cable.leaf_port)[0]["tables_by"] == "fors"
    assert not re.search(CHANGE, sm.log())
    assert "by method" in sm.log() and "bound of these tables" not in sm.log()


def test_from_fors_to_another_engine_and_back(fabric):
    """Two leaves without a common spine are no fabric for fors, but one for minhop, over another leaf."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, routing_engine="fors,minhop", node="Node02-00", fors_conf=ANY)
    own = sm.wait_epoch()
    mark = sm.log_end()
    for cable in (tree.uplink(0, 0), tree.uplink(1, 1)):
        sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_log("ERR F004: ", mark)
    sm.wait_status(state="active", tables_by="minhop")
    status, _, _ = judged(sim, sm)
    assert status["epoch"] > own["epoch"] and "Leaf00" in status["remarks"][0]
    epoch = status["epoch"]
    cable = tree.uplink(0, 0)
    sim.relink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", tables_by="fors", epoch=lambda now: now and now > epoch)
    assert judged(sim, sm)[0]["f"] == 1


def test_not_unless_asked_for(fabric):
    """The default: another engine's tables have no schedule. Both ways by SIGHUP, without a restart."""
    sim, sm = fabric(over.irregular(), routing_engine="minhop", fors_conf="# schedule_over = any\n")
    status = sm.wait_status(state="inactive", tables_by="minhop")
    assert "minhop" in status["reason"]
    for text, state in ((ANY, "active"), ("", "inactive"), (ANY, "active")):
        epoch = sm.status()["epoch"]
        sm.fors_conf.write_text(text)
        sm.sighup()
        sm.wait_status(state=state, epoch=lambda now, before=epoch: now and now > before)
    judged(sim, sm)
    sm.fors_conf.write_text("schedule_over = all\n")
    mark = sm.log_end()
    sm.sighup()
    assert "'all' is neither 'fors' nor 'any'" in sm.wait_log("ERR F001: .*", mark).group(0)
    sm.wait_up(mark)
    assert sm.status()["state"] == "active"


def test_what_does_not_apply_is_said(fabric):
    conf = ANY + "exclude_links = Leaf00[5]\nhold_down = 3\n"
    sim, sm = fabric(FatTree(2, 2), routing_engine="minhop", fors_conf=conf)
    sm.wait_epoch()
    assert judged(sim, sm)[0]["remarks"] == ["'minhop' routes: nothing is drained, excluded or held down"]
    assert "nothing is drained" in fors_status(sm).stdout


# ---------------------------------------------------------------------------
# Who takes part, and over which path

def test_participants(fabric, tmp_path):
    chosen = tmp_path / "chosen"
    chosen.write_text("")
    sim, sm = fabric(over.irregular(), routing_engine="minhop", fors_conf=f"{ANY}participants_file = {chosen}\n")
    sm.wait_status(state="failed")
    port = sim.snapshot().port
    for names in (["Node00-00", "Node00-01", "Node03-02", "Node06-00"], ["Node00-00", "Node07-01"]):
        epoch = sm.status()["epoch"]
        chosen.write_text("".join(f"{port[name].guid:#x}\n" for name in names))
        sm.sighup()
        sm.wait_epoch(epoch)
        assert judged(sim, sm, names)[0]["remarks"] == []
    chosen.write_text(f"{port['Node00-00'].guid:#x}\n{port['Node03-02'].guid:#x}\n0x1234567\n")
    sm.sighup()
    sm.wait_status(state="active", remarks=["1 of the 3 participants are no living server"])


def test_servers_come_and_go(fabric):
    """A server is no part of the tables of the others; the plan follows all the same."""
    tree = over.torus(3, 3, 2)
    sim, sm = fabric(tree, routing_engine="minhop", fors_conf=ANY)
    sm.wait_epoch()
    for act, count in ((sim.unlink, 17), (sim.relink, 18)):
        assert change(sim, sm, act, "Node04-01", 1)[0]["servers"] == count


def test_more_path_indices(fabric):
    tree = over.irregular()
    sim, sm = fabric(tree, routing_engine="minhop", lmc=1, fors_conf=ANY)
    sm.wait_epoch()
    judged(sim, sm)
    change(sim, sm, sim.unlink, *tree.end("C", "D"))


def test_unicast_cache(fabric):
    sim, sm = fabric(over.irregular(), routing_engine="minhop", use_ucast_cache="TRUE", fors_conf=ANY)
    sm.wait_epoch()
    mark = sm.log_end()
    change(sim, sm, sim.unlink, "Node06-02", 1)
    assert "using cached routing" in sm.log(mark)
    change(sim, sm, sim.relink, "Node06-02", 1)


# ---------------------------------------------------------------------------
# Nothing to plan over

def dump_without(snapshot, switch, lid):
    """The tables in the notation of opensm-lfts.dump, one entry left out."""
    out = []
    for name, table in snapshot.table.items():
        port = snapshot.port[name]
        out.append(f"Unicast lids [0-{len(table) - 1}] of switch Lid {port.lid} guid {port.guid:#018x} ('{name}'):\n")
        out += [f"{at:#06x} {to:03d} # \n" for at, to in enumerate(table) if to != harness.NO_PATH and (name, at) != (switch, lid)]
    return "".join(out)


def test_a_pair_that_the_tables_do_not_connect(fabric, tmp_path):
    """Tables with a hole, by the engine `file`: no plan, and the log and the status name the pair."""
    tree = over.torus(3, 3, 1)
    sim, sm = fabric(tree, routing_engine="minhop", fors_conf=ANY)
    sm.wait_epoch()
    snapshot = sim.snapshot()
    sm.stop()
    lid = snapshot.port["Node08-00"].lid
    (tmp_path / "tables").write_text(dump_without(snapshot, "T00", lid))
    second = harness.OpenSM(sim, tmp_path / "second", routing_engine="file", lfts_file=tmp_path / "tables", fors_conf=ANY)
    fabric.also(second)
    status = second.wait_status(state="failed")
    assert status["tables_by"] == "file" and status["phases"] is None
    for text in (status["reason"], withdrawn_reason(second), second.wait_log("ERR F008: .*").group(0)):
        assert "Node00-00" in text and "Node08-00" in text, text


# ---------------------------------------------------------------------------
# When tables change

def test_same_fabric_leaves_no_trace(fabric):
    """Heavy sweeps of a fabric at rest: epoch, status and service levels stay."""
    sim, sm = fabric(over.torus(), routing_engine="dfsssp", fors_conf=ANY)
    status = sm.wait_epoch()
    for _ in range(3):
        mark = sm.log_end()
        sm.sighup()
        sm.wait_up(mark)
        sm.wait_log("service levels of .* asked", mark)
    time.sleep(0.2)
    assert sm.status() == status


def test_console_reroute(fabric):
    """OpenSM sends all tables again: readers are told for a moment that there is no schedule, then there is the same."""
    sim, sm = fabric(over.irregular(), routing_engine="minhop", console="local", fors_conf=ANY)
    epoch = sm.wait_epoch()["epoch"]
    mark = sm.log_end()
    sm.console("reroute")
    sm.wait_log("minhop tables configured", mark)
    sm.wait_log(CHANGE, mark)
    sm.wait_epoch(epoch)
    judged(sim, sm)


def test_restart_over_other_tables(fabric):
    """What an earlier opensm published is withdrawn when the tables turn out to be others, before there is a new plan."""
    tree = over.torus(3, 3, 2)
    sim, sm = fabric(tree, routing_engine="minhop", fors_conf=ANY)
    epoch = sm.wait_epoch()["epoch"]
    sm.stop()
    sim.unlink(*tree.end("T11", "T12"))
    mark = sm.log_end()
    again = harness.OpenSM(sim, sm.directory, routing_engine="minhop", fors_conf=ANY)
    fabric.also(again)
    again.wait_epoch(epoch)
    judged(sim, again)
    log = again.log(mark)
    assert 0 < log.index("(found when routing was done): schedule withdrawn after") < log.index("fors: active: ")


class Reader(threading.Thread):
    """Looks at each schedule as soon as it is published, and judges it over the tables that the switches have then.

    What is wrong is told by `faults` unless the schedule was withdrawn by then: between a switch's new table and the
    withdrawal there is a moment that nobody can help.
    """

    def __init__(self, sim, sm):
        super().__init__(daemon=True)
        self.sim, self.sm, self.faults, self.judged, self.stopped = sim, sm, [], [], False

    def run(self):
        last = None
        while not self.stopped:
            try:
                now = self.sm.schedule_file.stat()
            except FileNotFoundError:
                continue
            if (now.st_ino, now.st_mtime_ns) != last:
                last = now.st_ino, now.st_mtime_ns
                self.look(last)
            time.sleep(0.001)

    def look(self, identity):
        snapshot, rows = self.sim.snapshot(), over.read_csv(self.sm.schedule_file)
        now = self.sm.schedule_file.stat()
        if rows is None or (now.st_ino, now.st_mtime_ns) != identity:
            return
        faults = over.judge(snapshot, rows)
        harness.wait_for(lambda: not faults or over.read_csv(self.sm.schedule_file) != rows, 5, "a withdrawal")
        self.faults += faults if over.read_csv(self.sm.schedule_file) == rows else []
        self.judged.append(identity)


@pytest.mark.parametrize("engine", ["minhop", "dfsssp"])
def test_no_two_flows_meet_at_any_publication(fabric, engine):
    """Cables come and go faster than plans: whatever is published holds over the tables in the switches, or is withdrawn at once."""
    tree = over.torus(4, 4, 1)
    sim, sm = fabric(tree, routing_engine=engine, sweep_interval=1, fors_conf=ANY)
    sm.wait_epoch()
    reader = Reader(sim, sm)
    ends = [tree.end(*link) for link in (("T00", "T01"), ("T11", "T12"), ("T22", "T32"), ("T31", "T32"))]
    reader.start()
    begin, cycles = time.monotonic(), 0
    while cycles < 2 or (len(reader.judged) < 4 and time.monotonic() - begin < 60):  # a busy machine publishes less
        for step in range(8):
            (sim.unlink if step < 4 else sim.relink)(*ends[step % 4])
            time.sleep((0.02, 0.3, 0.1, 0.05)[step % 4])
        cycles += 1
    sm.wait_status(state="active")
    harness.wait_for(lambda: sm.status()["state"] == "active" and not over.judge(sim.snapshot(), over.read_csv(sm.schedule_file) or []), 20,
                     "a plan for the last tables")
    reader.stopped = True
    reader.join()
    assert reader.faults == [] and len(reader.judged) >= 4
    print(engine, len(reader.judged), "publications judged;", sorted(ms for _, ms in withdrawals(sm)), "ms until withdrawn")
