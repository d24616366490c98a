# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What to mend first, and what was published when: status.json, the history, `fors status`."""
import json
import os
import re
import signal

import harness
from harness import FatTree
from test_plugin import errors

DEAD = [("Leaf01", 6), ("Leaf01", 7), ("Leaf02", 5)]  # of FatTree(4, 4): Leaf01 has two uplinks left for its 4 servers


def fors(*arguments, code=0, env=None):
    done = harness.fors(*arguments, code=code, env=env)
    return done.stdout + done.stderr


def break_cables(sim, sm, cables):
    """Cut them in one sweep; the status that has all of them dead, and says what to mend."""
    sim.commands(f'Unlink "{node}"[{port}]' for node, port in cables)
    sm.sighup()
    return sm.wait_status(state="active", dead_links=lambda links: links is not None and len(links) == len(cables),
                          repairs=lambda repairs: repairs is not None)


def planned_without(mended):
    """Phases of `fors plan` when these are dead but for one."""
    down = [option for cable in DEAD if cable != mended for option in ("--down", f"{cable[0]}[{cable[1]}]")]
    return json.loads(fors("plan", "--synthetic", "FT(2;4,4)", "--lmc", 2, "--json", *down))["phases"]


def test_what_to_mend_first(fabric):
    """Each repair is told with the phases that `fors plan` has when it is done; one cable mended, and the advice is another."""
    sim, sm = fabric(FatTree(4, 4), lmc=2)
    first = sm.wait_epoch()
    assert first["dead_links"] == []
    status = break_cables(sim, sm, DEAD)
    assert status["phases"] == 24
    told = {(one["a"], one["a_port"]): one["phases"] for one in status["repairs"]["list"]}
    assert told == {cable: planned_without(cable) for cable in DEAD[:2]} and set(told.values()) == {16}
    assert status["repairs"]["untried"] == 0
    out = fors("status", sm.state_dir)
    assert re.search(r"^mend first  any one of these 2 alone: 66\.7 % -> 100\.0 %\n"
                     r" {14}Leaf01\[6\] - Spine01\[2\], Leaf01\[7\] - Spine02\[2\]$", out, re.M), out
    epoch = status["epoch"]
    sim.relink("Leaf01", 6)
    sm.sighup()
    status = sm.wait_status(state="active", epoch=lambda now: now and now > epoch, repairs=lambda r: r is not None)
    assert status["phases"] == 16 and status["repairs"] == {"list": [], "untried": 0}
    assert "mend first" not in fors("status", sm.state_dir)  # nothing is lost any more
    assert not errors(sm)


class OneSlowServer(FatTree):
    """The cable of the first server below Leaf01 runs at a quarter of its width."""
    def text(self):
        end = ("Leaf01", 1)
        return harness.with_width(super().text(), {end, self.cable[end]})


def test_one_slow_server_cable(fabric):
    """`next` names it and the relief, also beside a dead cable that costs nothing; without the server full speed is back."""
    sim, sm = fabric(OneSlowServer(4, 4), fors_conf="# nothing\n")
    sm.wait_epoch()
    assert [one["degraded"] for one in sm.status()["slow_servers"]] == [True]
    relief = r"^next {8}reseat or replace Leaf01\[1\] - Node01-00\[1\]: a server's own cable is slow; until then participants_file"
    assert re.search(relief, fors("status", sm.state_dir), re.M)
    break_cables(sim, sm, DEAD[2:])
    assert re.search(relief, fors("status", sm.state_dir), re.M)
    keep = [line for line in fors("schedule", sm.state_dir / "schedule", "--format", "participants").splitlines() if "Node01-00" not in line]
    listed = sm.directory / "participants"
    listed.write_text("\n".join(keep) + "\n")
    with sm.fors_conf.open("a") as conf:
        conf.write(f"participants_file = {listed}\n")
    sm.sighup()
    status = sm.wait_status(state="active", servers=15)
    assert (status["slow_servers"], status["slow_phases"]) == ([], 0)
    assert [(one["a"], one["a_port"], one["planned"]) for one in status["degraded_links"]] == [("Leaf01", 1, False)], "it is slow still"


def test_a_dead_spine_is_one_repair(fabric):
    sim, sm = fabric(FatTree(4, 4), lmc=2)
    sm.wait_epoch()
    sim.commands(f'Unlink "{spine}"' for spine in ("Spine02", "Spine03"))
    sm.sighup()
    status = sm.wait_status(state="active", dead_links=lambda links: links is not None and len(links) == 8,
                            repairs=lambda repairs: repairs is not None)
    assert status["repairs"]["list"] == [{"a": None, "a_port": None, "b": spine, "b_port": None, "phases": 16}
                                         for spine in ("Spine02", "Spine03")]
    out = fors("status", sm.state_dir)
    assert re.search(r"^mend first  any one of these 2 alone: 66\.7 % -> 100\.0 %\n {14}Spine02 with all its cables, Spine03 with all its cables$", out, re.M), out
    assert re.search(r"^ {14}Spine02 \(spine\), all 4 cables, for ", out, re.M), out
    assert not errors(sm)


def events(sm):
    return json.loads(fors("status", "--history", "--json", sm.state_dir))["epochs"]


def test_history(fabric):
    """Every epoch is there with its cause, also after opensm was killed; a damaged history stops nothing, and begins anew."""
    sim, sm = fabric(FatTree(4, 4), lmc=2)
    first = sm.wait_epoch()
    second = break_cables(sim, sm, DEAD)
    told = events(sm)
    assert [event["epoch"] for event in told] == sorted({event["epoch"] for event in told})
    assert told[-1]["epoch"] == second["epoch"] and told[-1]["phases"] == 24
    assert first["epoch"] in [event["epoch"] for event in told]
    causes = "; ".join(event["cause"] for event in told)
    assert sum(map(int, re.findall(r"(\d+) cables? died", causes))) == 3, causes  # in one sweep, or in several
    assert "died: Leaf01[6] - Spine01[2]" in causes
    assert f"epoch {second['epoch']}, 24 phases, {second['method']}: " in fors("status", "--history", sm.state_dir)

    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    again = harness.OpenSM(sim, sm.directory, node=sm.node, lmc=2)
    fabric.also(again)
    again.wait_epoch(second["epoch"])
    harness.wait_for(lambda: len(events(again)) > len(told), what="one epoch more in the history")
    assert events(again)[:len(told)] == told
    again.stop()

    history = again.state_dir / "history"
    history.write_text(history.read_text() + "what is this\n")
    assert re.search(r"history:\d+: the history is damaged: this line is no epoch",
                     fors("status", "--history", again.state_dir, code=2))
    last = again.status()["epoch"]
    mark = again.log_end()
    third = harness.OpenSM(sim, sm.directory, node=sm.node, lmc=2)
    fabric.also(third)
    status = third.wait_epoch(last)
    assert errors(third, mark) == ["F011"]
    harness.wait_for(lambda: "what is this" not in history.read_text(), what="another history")
    harness.wait_for(lambda: events(third)[-1]["epoch"] == status["epoch"], what="the epoch in the history")
    assert len(events(third)) < len(told)


def test_leaves_without_a_common_spine(fabric):
    """fors declines: the status says which cable would join them, and which engine routes meanwhile."""
    sim, sm = fabric(FatTree(3, 3), lmc=2, routing_engine="fors,minhop")
    sm.wait_epoch()
    for node, port in [("Leaf00", 4), ("Leaf00", 5), ("Leaf01", 6)]:  # Leaf00 has Spine02 only, Leaf01 has not that one
        sim.unlink(node, port)
    sm.sighup()
    status = sm.wait_status(state="inactive", tables_by="minhop", repairs=lambda repairs: repairs is not None)
    assert "no common live spine" in status["reason"] and len(status["dead_links"]) == 3
    assert {(one["a"], one["a_port"]) for one in status["repairs"]["list"]} == {("Leaf00", 4), ("Leaf00", 5), ("Leaf01", 6)}
    out = fors("status", sm.state_dir, code=1)
    assert re.search(r"^tables {6}by minhop, not by fors", out, re.M), out
    assert re.search(r"^mend first  (any one of these [23]|Leaf0\d\[\d\] - Spine0\d\[\d\]) alone: fors routes again, at [\d.]+ % of full speed$", out, re.M), out
    assert out.endswith("next        mend what stands under mend first: then fors routes again\n")
    sim.relink("Leaf01", 6)
    sm.sighup()
    status = sm.wait_status(state="active", tables_by="fors", repairs=lambda repairs: repairs is not None)
    assert len(status["dead_links"]) == 2


def test_settings_that_are_to_blame(fabric):
    """A key that does not exist is in the status too, with the one that is meant; a method that finds no plan is named."""
    sim, sm = fabric(FatTree(4, 4), lmc=0, fors_conf="hold_down = 0\n")
    sm.wait_epoch()
    sm.fors_conf.write_text("hold_dwon = 0\n")
    sm.sighup()
    said = "unknown key 'hold_dwon'; is 'hold_down' meant?; the settings of before stay in force"
    status = sm.wait_status(state="active", remarks=lambda remarks: any(said in remark for remark in remarks or []))
    assert said in fors("status", sm.state_dir)
    assert "F001" in errors(sm)
    sm.fors_conf.write_text("method = exact\n")
    sm.sighup()
    status = sm.wait_status(state="failed")
    assert status["reason"].startswith("method = exact (fors.conf): ") and status["remarks"] == []
