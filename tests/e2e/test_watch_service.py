# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch, the service, beside a stock opensm without the plugin: what it publishes holds, and what does not hold is withdrawn."""
import json
import os
import re
import signal
import socket
import time

import pytest

import harness
import oracle
import over
import watching
from harness import FatTree
from watching import STOCK, cut_or_mend, judged, may_leave, most_out, read_log


@pytest.mark.parametrize("lmc", (0, 1))
def test_cuts_and_mends(fabric, watcher, lmc):
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=lmc)
    sm.wait_up()
    service = watcher(sim)
    first = service.wait_epoch()
    judged(service)
    epoch = first["epoch"]
    assert first["tables_by"] == "the subnet manager"
    for leaf in range(2):
        end = tree.uplink(leaf, leaf + 1)[:2]
        for act in (sim.unlink, sim.relink):
            cut_or_mend(sm, act, *end)
            epoch = service.wait_epoch(epoch)["epoch"]
            judged(service)


def test_servers_slower_than_uplinks(fabric, watcher):
    """Cables four times as fast as the servers carry four flows in a phase over another engine's tables, too."""
    tree = harness.slow_servers(FatTree(3, 4, servers=8))
    sim, sm = fabric(tree, **STOCK)
    sm.wait_up()
    service, epoch = watcher(sim), 0
    for cut in (False, True):
        status = service.wait_epoch(epoch)
        epoch = status["epoch"]
        assert status["phases"] == 32 and status["slow_phases"] == 0 and status["full_speed_mbits"] == 2000
        csv = harness.fors("schedule", service.folder() / "schedule", "--format", "csv", code=None).stdout
        tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
        assert oracle.schedule_problems(csv, tables, live, flows=4) == []
        if not cut:
            cut_or_mend(sm, sim.unlink, *tree.uplink(1, 2)[:2])


def test_a_schedule_stays_while_it_holds(fabric, watcher):
    """A sweep that changes nothing, a settings file that says the same: no epoch."""
    tree = FatTree(4, 4, servers=3)
    sim, sm = fabric(tree, **STOCK, sweep_interval=1)
    sm.wait_up()
    service = watcher(sim)
    epoch = service.wait_epoch()["epoch"]
    sm.sweep()
    service.hang_up()
    time.sleep(3)
    assert service.status()["epoch"] == epoch and service.status()["state"] == "active"
    judged(service)


def test_nothing_is_published_without_a_declaration(fabric, watcher):
    sim, sm = fabric(over.two_levels(), **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim, settings="")
    reason = service.wait(state="inactive")["reason"]
    assert "static_sl = N" in reason and "adaptive_routing = off" in reason
    assert over.read_csv(service.folder() / "schedule") is None
    for settings, state in (("static_sl = 0\n", "active"), ("adaptive_routing = on\n", "inactive"), ("adaptive_routing = off\n", "active"),
                            ("static_sl = 3\n", "inactive")):
        service.configure(settings)
        service.hang_up()
        service.wait(state=state)
    assert "service level 0" in service.status()["reason"] and "static_sl = 3" in service.status()["reason"]


def test_levels_that_an_engine_needs_are_refused(fabric, watcher):
    sim, sm = fabric(over.torus(3, 3, 2), **{**STOCK, "routing_engine": "dfsssp"}, qos="TRUE")
    sm.wait_up()
    service = watcher(sim)
    assert re.search(r"static_sl = 0, but the path .* has service level [1-7]: .*deadlock", service.wait(state="inactive")["reason"])
    service.configure("adaptive_routing = off\n")
    service.hang_up()
    service.wait_epoch()
    rows = judged(service)[1]
    assert len({row["sl"] for row in rows}) > 1


def test_it_ends_within_two_seconds(fabric, watcher):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    service = watcher(sim)
    service.wait_epoch()
    began = time.monotonic()
    assert service.stop() == 0 and time.monotonic() - began < 2 * harness.patience()
    assert "fors watch has ended" in service.status()["reason"]
    assert over.read_csv(service.folder() / "schedule") is not None  # the switches still hold its tables
    assert watcher(sim).wait_epoch(service.status()["epoch"] - 1)["epoch"] >= service.status()["epoch"]


def test_only_questions_leave(fabric, watcher, tmp_path):
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    log = tmp_path / "mads"
    service = watcher(sim, preload=[harness.compiled("umad_spy")], env={"FORS_SPY_LOG": str(log)})
    epoch = service.wait_epoch()["epoch"]
    cut_or_mend(sm, sim.unlink, *tree.uplink(0, 0)[:2])
    service.wait_epoch(epoch)
    service.stop()
    mads = read_log(log)
    sent = [mad for mad in mads if mad.what == "S"]
    assert len(sent) > 300 and all(map(may_leave, sent)), [mad for mad in sent if not may_leave(mad)][:3]
    assert 1 < most_out(mads) <= 4


@pytest.mark.parametrize("percent", (1, 10))
def test_lost_packets(fabric, watcher, percent):
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    service = watcher(sim, arguments=["--timeout", 50, "--retries", 6], preload=[harness.compiled("umad_spy")], env={"FORS_SPY_DROP": str(percent)})
    epoch = service.wait_epoch(timeout=40)["epoch"]
    judged(service)
    cut_or_mend(sm, sim.unlink, *tree.uplink(0, 0)[:2])
    service.wait_epoch(epoch, timeout=40)
    judged(service)


def test_nothing_is_published_from_half_a_reading(fabric, watcher):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    service = watcher(sim, arguments=["--timeout", 5, "--retries", 0], preload=[harness.compiled("umad_spy")], env={"FORS_SPY_DROP": "50"})
    service.wait(state="inactive")
    for _ in range(50):
        time.sleep(0.05)
        assert over.read_csv(service.folder() / "schedule") is None


def test_what_it_cannot_begin_with(fabric, watcher, tmp_path):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    denied = watcher(sim, "denied", preload=[harness.compiled("umad_spy")], env={"FORS_SPY_DENIED": "1"})
    assert denied.process.wait(100) == 2 and denied.log().count("\n") == 1 and "no right to open" in denied.log()
    shadow = watcher(sim, "shadow", settings="fors_mode = shadow\n")
    assert shadow.process.wait(100) == 2 and "fors_mode" in shadow.log()
    missing = watching.watch(sim, list(sim.topology.hcas)[-1], "--config", tmp_path / "nothing")
    assert missing.returncode == 2 and "nothing" in missing.stderr


def test_systemd_hears_of_it(fabric, watcher, tmp_path):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.settimeout(10)
        service = watcher(sim, env={"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "400000"})
        assert listener.recv(100) == b"READY=1"
        assert listener.recv(100) == b"WATCHDOG=1" and listener.recv(100) == b"WATCHDOG=1"
        service.stop()
        said = b"WATCHDOG=1"
        while said == b"WATCHDOG=1":
            said = listener.recv(100)
        assert said == b"STOPPING=1"


def test_publishing(fabric, watcher, tmp_path):
    """Copies, a command, participants: as the plugin has them; fors status shows it all."""
    (tmp_path / "copies").mkdir()
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    port = sim.snapshot().port
    (tmp_path / "some").write_text("".join(f"{port[f'Node0{leaf}-00'].guid:#x}\n" for leaf in range(4)))
    command = tmp_path / "command"
    command.write_text(f"#!/bin/sh\necho told >> {tmp_path}/told\n")
    command.chmod(0o755)
    service = watcher(sim, settings=f"static_sl = 0\npublish_dir = {tmp_path}/copies\npublish_command = {command}\n"
                                    f"participants_file = {tmp_path}/some\n")
    assert service.wait_epoch()["servers"] == 4
    harness.wait_for(lambda: (tmp_path / "told").exists(), 10, "the command to run")
    assert (tmp_path / "copies" / "schedule").read_bytes() == (service.folder() / "schedule").read_bytes()
    shown = harness.fors("status", service.folder())
    assert "by the subnet manager" in shown.stdout


def epoch_there(folder):
    rows = harness.fors("schedule", folder / "schedule", "--format", "csv", code=None)
    return rows.returncode == 0 and rows.stdout.count("\n") > 1 and json.loads((folder / "status.json").read_text())["epoch"]


def test_two_watchers_and_one_folder(fabric, watcher, tmp_path):
    """One publishes, the other one stands by, and takes over when the first one is stopped; which then publishes nothing any more."""
    copies = tmp_path / "copies"
    copies.mkdir()
    tree = over.two_levels()
    sim, sm = fabric(tree, **STOCK, lmc=1)
    sm.wait_up()
    settings = f"static_sl = 0\npublish_dir = {copies}\n"
    first = watcher(sim, "first", settings=settings)
    epoch = first.wait_epoch()["epoch"]
    harness.wait_for(lambda: (copies / "schedule").exists(), 10, "the copy")
    log = tmp_path / "mads"
    second = watcher(sim, "second", node="Node00-00", settings=settings, env={"FORS_SPY_LOG": str(log)}, preload=[harness.compiled("umad_spy")])
    second.wait(30, state="inactive", reason=lambda reason: reason and "another fors watch publishes in" in reason)
    time.sleep(1)
    before = len(read_log(log))
    time.sleep(5)
    assert sum(mad.what == "S" for mad in read_log(log)[before:]) <= 4  # it asks for little while it stands by
    other = tmp_path / "other"
    other.mkdir()
    second.configure(f"static_sl = 0\npublish_dir = {other}\n")
    second.hang_up()
    second.wait_epoch()  # a folder of its own: nobody else holds it
    second.configure(settings)
    second.hang_up()
    second.wait(30, state="inactive", reason=lambda reason: reason and "another fors watch publishes in" in reason)
    assert (copies / "holder.1").read_text() == first.folder().name
    assert epoch_there(copies) == epoch and first.status()["state"] == "active"
    cut_or_mend(sm, sim.unlink, *tree.uplink(0, 1)[:2])
    epoch = first.wait_epoch(epoch)["epoch"]
    harness.wait_for(lambda: epoch_there(copies) == epoch, 10, "its copy")
    os.killpg(first.process.pid, signal.SIGSTOP)
    taken = second.wait_epoch(epoch, timeout=40)["epoch"]
    harness.wait_for(lambda: epoch_there(copies) == taken, 10, "the copy of the second one")
    judged(second)
    os.killpg(first.process.pid, signal.SIGCONT)
    first.wait(30, state="inactive", reason=lambda reason: reason and "another fors watch publishes in" in reason)
    cut_or_mend(sm, sim.relink, *tree.uplink(0, 1)[:2])
    epoch = second.wait_epoch(taken)["epoch"]
    harness.wait_for(lambda: epoch_there(copies) == epoch, 10, "its next copy")
    assert (copies / "holder.2").read_text() == second.folder().name and not (copies / "holder.1").exists()
