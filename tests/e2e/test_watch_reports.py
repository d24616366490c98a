# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch, the service: what Reports tell it, and what it asks where none come."""
import re
import time

import harness
import over
import watching
from watching import STOCK, cut_or_mend, judged, may_leave, most_out, read_log


REPORTS = {"SIM_SET_ISSM": "1"}  # ibsim sends them to managers only


def told(fabric, tree, **options):
    """A fabric whose opensm does not take the watcher for a manager."""
    sim, sm = fabric(tree, **STOCK, preload=[harness.compiled("umad_no_sm")], **options)
    sm.wait_up()
    return sim, sm


def test_reports_withdraw_at_once(fabric, watcher, tmp_path):
    """From the arrival of a Report to the withdrawal; every Report is answered; at rest little is asked."""
    tree = over.two_levels()
    sim, sm = told(fabric, tree, lmc=1)
    log = tmp_path / "mads"
    service = watcher(sim, env={**REPORTS, "FORS_SPY_LOG": str(log)}, preload=[harness.compiled("umad_spy")])
    epoch = service.wait_epoch()["epoch"]
    assert "subscribed to the Reports" in service.log()
    for lane in range(3):
        end = tree.uplink(1, lane)[:2]
        cut_or_mend(sm, sim.unlink, *end)
        epoch = service.wait_epoch(epoch)["epoch"]
        judged(service)
        cut_or_mend(sm, sim.relink, *end)
        epoch = service.wait_epoch(epoch)["epoch"]
        judged(service)
    times = [float(ms) for ms in re.findall(r"withdrawn ([0-9.]+) ms after its Report", service.log())]
    print("withdrawn after", times, "ms")
    assert len(times) >= 3 and sorted(times)[len(times) // 2] < 50 * harness.patience() and "no Report told" not in service.log()
    mads = read_log(log)
    reports = [mad for mad in mads if mad.what == "R" and mad.method == 0x06]
    assert [mad.id for mad in reports] == [mad.id for mad in mads if mad.what == "S" and mad.method == watching.REPORT_RESP]
    assert all(may_leave(mad) for mad in mads if mad.what == "S") and most_out(mads) <= 4


def test_a_report_without_an_answer_withdraws_in_time(fabric, watcher, tmp_path):
    """The switch is asked what it was, and nothing comes: the schedule is withdrawn at the deadline, not when all tries are over."""
    tree = over.two_levels()
    sim, sm = told(fabric, tree, lmc=1)
    mute = tmp_path / "mute"
    service = watcher(sim, env={**REPORTS, "FORS_SPY_MUTE": str(mute)}, preload=[harness.compiled("umad_spy")])
    service.wait_epoch()
    mute.touch()
    cut_or_mend(sm, sim.unlink, *tree.uplink(1, 0)[:2])
    said = ("ms after its Report", "does not say in time what it was")  # the daemon says why when it has written the file
    harness.wait_for(lambda: all(text in service.log() for text in said), 20, "the watcher to withdraw, and why")
    assert float(re.search(r"withdrawn ([0-9.]+) ms after its Report", service.log())[1]) < 600 * harness.patience()  # all tries take 800


def test_little_is_asked_at_rest(fabric, watcher, tmp_path):
    """With Reports at most 20 packets in ten seconds, and a reading for each light sweep."""
    tree = over.two_levels()
    sim, _ = told(fabric, tree, sweep_interval=0)
    log = tmp_path / "mads"
    service = watcher(sim, env={**REPORTS, "FORS_SPY_LOG": str(log)}, preload=[harness.compiled("umad_spy")])
    service.wait_epoch()
    time.sleep(3)
    before = len(read_log(log))
    time.sleep(10)
    sent = [mad for mad in read_log(log)[before:] if mad.what == "S"]
    assert 8 <= len(sent) <= 21, sent


def test_polls_at_rest(fabric, watcher, tmp_path):
    """Without Reports, in ten seconds: a hundred questions to the manager, one to each switch, and hardly anything else."""
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, sweep_interval=0)
    sm.wait_up()
    log = tmp_path / "mads"
    service = watcher(sim, env={"FORS_SPY_LOG": str(log), "FORS_SPY_TAKEN": "1"}, preload=[harness.compiled("umad_spy")])
    service.wait_epoch()
    assert "another program of this host has them" in service.log()
    time.sleep(3)
    before = len(read_log(log))
    time.sleep(10)
    sent = [mad for mad in read_log(log)[before:] if mad.what == "S"]
    assert 20 < sum(mad.attribute == 0x20 for mad in sent) <= 105
    assert sum(mad.attribute == 0x12 for mad in sent) <= len(tree.switches) + 1 and len(sent) <= 105 + len(tree.switches) + 10, sent


def test_polls_where_no_report_comes(fabric, watcher):
    """The subscription is taken, but nothing comes: a cable that dies is found by polls, and the log says so."""
    tree = over.two_levels()
    sim, sm = told(fabric, tree, lmc=1)
    service = watcher(sim, env={**REPORTS, "FORS_SPY_DEAF": "1"}, preload=[harness.compiled("umad_spy")])
    epoch = service.wait_epoch()["epoch"]
    cut_or_mend(sm, sim.unlink, *tree.uplink(0, 2)[:2])
    service.wait_epoch(epoch)
    judged(service)
    assert "no Report told of it" in service.log() or "table entry" in service.log()


def test_a_manager_that_does_not_count(fabric, watcher):
    """Two equal readings a second apart have to do; a cable that dies is found by the reading every two seconds."""
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim, env={"FORS_SPY_FROZEN": "1"}, preload=[harness.compiled("umad_spy")])
    epoch = service.wait_epoch()["epoch"]
    judged(service)
    cut_or_mend(sm, sim.unlink, *tree.uplink(0, 1)[:2])
    service.wait_epoch(epoch)
    judged(service)
    assert "as a second before" in service.log() and "manager sent nothing" not in service.log()


def test_subscribed_again(fabric, watcher, tmp_path):
    tree = over.two_levels()
    sim, sm = told(fabric, tree, lmc=1)
    service = watcher(sim, env=REPORTS)
    epoch = service.wait_epoch()["epoch"]
    sm.stop()
    sim.forget_process(sm.process.pid)
    second = harness.OpenSM(sim, tmp_path / "second", lmc=1, preload=[harness.compiled("umad_no_sm")], **STOCK)
    fabric.also(second)
    second.wait_up()
    harness.wait_for(lambda: "the subnet manager has started again" in service.log(), 20, "the watcher to see it")
    time.sleep(2)
    cut_or_mend(second, sim.unlink, *tree.uplink(0, 1)[:2])
    service.wait_epoch(epoch)
    judged(service)
    assert "ms after its Report" in service.log()
