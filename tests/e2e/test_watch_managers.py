# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch, the service, where the subnet manager ends, hangs or changes."""
import os
import signal
import time

import pytest

import harness
import over
from harness import FatTree
from watching import STOCK, cut_or_mend, judged, read_log


def beats(service, seconds):
    """Does the heartbeat go on within so many seconds?"""
    before, end = service.heartbeat(), time.monotonic() + seconds
    while service.heartbeat() == before and time.monotonic() < end:
        time.sleep(0.05)
    return service.heartbeat() != before


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGSTOP))
def test_nobody_repairs_failures(fabric, watcher, tmp_path, how):
    """The manager is killed or stopped: the heartbeat stops, the schedule stays until a cable that it uses dies."""
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim)
    epoch = service.wait_epoch()["epoch"]
    assert beats(service, 60)
    os.kill(sm.process.pid, how)
    time.sleep(4)
    assert not beats(service, 5.5)
    assert service.status()["state"] == "active" and service.status()["epoch"] == epoch
    sim.unlink(*tree.uplink(0, 1)[:2])
    service.wait(state=lambda state: state != "active")
    assert "no subnet manager answers" in service.wait(state="inactive")["reason"]
    if how == signal.SIGSTOP:
        os.kill(sm.process.pid, signal.SIGCONT)
    else:
        sm.process.wait()
        sim.forget_process(sm.process.pid)
        fabric.also(harness.OpenSM(sim, tmp_path / "second", lmc=1, **STOCK))
    assert service.wait_epoch(epoch)["epoch"] > epoch
    judged(service)
    assert beats(service, 60)


SM_INFO = 0x20


def test_a_frozen_manager_is_not_waited_for(fabric, watcher, tmp_path):
    """
    Nobody tells of the cut, so switches are asked, and before the manager is: its silence costs no more than the repetitions of a
    question or two until the schedule is withdrawn. A reading alone would take eight.
    """
    tree, spy = over.two_levels(), tmp_path / "spy"
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim, env={"FORS_SPY_LOG": str(spy)}, preload=[harness.compiled("umad_spy")])
    epoch = service.wait_epoch()["epoch"]
    for pause, cable in ((0, tree.uplink(0, 1)), (2, tree.uplink(1, 2))):
        os.kill(sm.process.pid, signal.SIGSTOP)
        time.sleep(pause)
        before = len(read_log(spy))
        sim.unlink(*cable[:2])
        service.wait(state=lambda state: state != "active")
        asked = [mad for mad in read_log(spy)[before:] if mad.what == "S" and mad.attribute == SM_INFO]
        assert len(asked) < 8, asked
        os.kill(sm.process.pid, signal.SIGCONT)
        epoch = service.wait_epoch(epoch)["epoch"]
    judged(service)


def test_nobody_answers(fabric, watcher, tmp_path):
    """Neither the manager nor any switch: the schedule goes, and the heartbeat stops, long before all switches were asked in turn."""
    tree = FatTree(24, 12, servers=1)
    sim, sm = fabric(tree, **STOCK)
    sm.wait_up()
    mute = tmp_path / "mute"
    service = watcher(sim, env={"FORS_SPY_MUTE": str(mute)}, preload=[harness.compiled("umad_spy")])
    epoch = service.wait_epoch()["epoch"]
    mute.touch()
    begin = time.monotonic()
    harness.wait_for(lambda: "the heartbeat stops" in service.log(), 20, "the heartbeat to stop")
    assert time.monotonic() - begin < 10 * harness.patience()
    service.wait(5, state=lambda state: state != "active")
    mute.unlink()
    service.wait_epoch(epoch)
    judged(service)


def test_the_manager_dies_during_a_long_reading(fabric, watcher):
    """The fabric is read for many seconds, at 25 packets a second: the heartbeat stops all the same."""
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK)
    sm.wait_up()
    service = watcher(sim, arguments=["--rate", 25])
    service.wait_epoch(timeout=90)
    sm.sighup()
    time.sleep(1)
    os.kill(sm.process.pid, signal.SIGKILL)
    begin = time.monotonic()
    harness.wait_for(lambda: "the heartbeat stops" in service.log(), 30, "the heartbeat to stop")
    assert time.monotonic() - begin < 7 * harness.patience()


def test_another_manager_with_another_engine(fabric, watcher, tmp_path):
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim)
    epoch = service.wait_epoch()["epoch"]
    second = harness.stronger(fabric, sim, tmp_path / "second", "Node02-00", **{**STOCK, "routing_engine": "updn"}, lmc=1)
    harness.wait_for(lambda: "another subnet manager" in service.log(), 10, "the watcher to see it")
    cut_or_mend(second, sim.unlink, *tree.uplink(0, 1)[:2])
    service.wait_epoch(epoch)
    judged(service)


def test_a_restart_with_another_engine_and_other_lids(fabric, watcher, tmp_path):
    """Epochs grow, and what is published is of the new tables and LIDs."""
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim)
    epoch, lids = service.wait_epoch()["epoch"], {name: port.lid for name, port in sim.snapshot().port.items()}
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    second = harness.OpenSM(sim, tmp_path / "second", node="Node03-03", reassign_lids="TRUE", lmc=2, **{**STOCK, "routing_engine": "updn"})
    fabric.also(second)
    second.wait_up()
    service.wait_epoch(epoch, timeout=40)
    assert {name: port.lid for name, port in sim.snapshot().port.items()} != lids
    judged(service)


def test_the_port_is_gone(fabric, watcher):
    """The simulator ends, and the port with it: nothing is published any more, and the service ends or waits, with a word."""
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    service = watcher(sim)
    service.wait_epoch()
    sm.stop()
    sim.process.kill()
    harness.wait_for(lambda: service.process.poll() is not None or over.read_csv(service.folder() / "schedule") is None, 30,
                     "the schedule to be withdrawn, or the service to end")
    assert service.process.poll() in (None, 2) and "not read: " in service.log() or "any more" in service.log()
