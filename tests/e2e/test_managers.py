# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A second subnet manager is reached from every spine, whatever cable is dead: traps and performance queries arrive.

It starts after the tables are made, so the spine that lost its leaf has the dead cable's port for its LIDs at first.
"""
import contextlib
import json
import subprocess
import sys
import time

import pytest

import harness
from harness import FatTree

SEAT = "Node02-02"
MUTE = """
import ctypes, os, signal
umad, libc = ctypes.CDLL("libibumad.so.3"), ctypes.CDLL(None)
umad.umad_init()
port, path = umad.umad_open_port(None, 1), ctypes.create_string_buffer(256)
for smi in (0x01, 0x81):
    umad.umad_register(port, smi, 1, 0, None)
umad.umad_get_issm_path(None, 1, path, len(path))
libc.open(path, os.O_NONBLOCK)
signal.pause()
"""  # a program whose port has the IsSM bit, and that answers nobody


@contextlib.contextmanager
def mute_manager(sim, directory):
    process = subprocess.Popen([*harness.DIES_WITH_US, sys.executable, "-c", MUTE], env=sim.environment(SEAT), cwd=directory)
    try:
        yield
    finally:
        process.kill()
        process.wait()
        sim.forget_process(process.pid)


@contextlib.contextmanager
def standby(sim, directory):
    with harness.OpenSM(sim, directory / "standby", node=SEAT, lmc=2, sm_priority=0) as other:
        other.wait_log("Entering STANDBY state")
        yield


@pytest.fixture
def degraded(fabric):
    """degraded(**options) -> (sim, sm, cable): the last leaf has lost the last spine."""
    def start(**options):
        tree = FatTree(3, 3)
        sim, sm = fabric(tree, lmc=2, **options)
        sm.wait_epoch()
        cable = tree.uplink(2, 2)
        sim.unlink(cable.leaf, cable.leaf_port)
        sm.wait_status(state="active", f=1)
        return sim, sm, cable
    return start


def ways(sim, cable):
    """What the spine has for the LIDs of SEAT."""
    snapshot = sim.snapshot()
    lid, lmc = snapshot.port[SEAT].lid, snapshot.port[SEAT].lmc
    return snapshot.table[cable.spine][lid:lid + 2 ** lmc]


def is_reached(sim, cable):
    return not {cable.spine_port, harness.NO_PATH} & {*ways(sim, cable)}


@pytest.mark.parametrize("manager", [standby, mute_manager])
@pytest.mark.parametrize("cache", ["FALSE", "TRUE"])
def test_a_manager_that_starts_is_reached(degraded, tmp_path, manager, cache):
    """
    Also where OpenSM's unicast cache would bring the old tables back, and also when it does not answer at first: the
    port says that a manager runs there. When it has ended the spine has its dead port again.
    """
    sim, sm, cable = degraded(use_ucast_cache=cache)
    before = ways(sim, cable)
    assert cable.spine_port in before
    with manager(sim, tmp_path):
        harness.wait_for(lambda: is_reached(sim, cable), what="ways to the manager")
        sm.wait_status(state="active", f=1)
    harness.wait_for(lambda: ways(sim, cable) == before, what="the entries of before")


def test_a_manager_costs_one_routing(degraded, tmp_path):
    """Once the tables know of it, OpenSM's unicast cache is as good as it was."""
    sim, sm, cable = degraded(use_ucast_cache="TRUE")
    with standby(sim, tmp_path):
        harness.wait_for(lambda: is_reached(sim, cable), what="ways to the manager")
        mark = sm.log_end()
        sm.sweep()
        log = sm.log(mark).partition("SUBNET UP")[2]  # what ends there may be the sweep that made those ways
        assert "cached routing" in log and "fors: tables of" not in log
        assert is_reached(sim, cable)


# ---------------------------------------------------------------------------
# Nobody looks at the fabric. Of two intervals the last quarter is left for the tick, which this machine may be late for.

BLIND = "nobody looks at the fabric: "


def cut_own_cable(sim, sm):
    sim.unlink(sm.node, 1)
    return lambda: sim.relink(sm.node, 1)


def switch_off(_, sm):
    sm.console("sweep off")
    return lambda: sm.console("sweep on")


def heartbeat(sm):
    return (sm.state_dir / "heartbeat").read_text()


@pytest.mark.parametrize("blind, why", [(cut_own_cable, "is its port up"), (switch_off, "sweep on")])
def test_who_does_not_look_says_so(fabric, blind, why):
    """The schedule stays, as when opensm ends; and when it looks again the same schedule is active, with no new epoch."""
    sim, sm = fabric(FatTree(3, 3), lmc=2, sweep_interval=2, console="local")
    epoch = sm.wait_epoch()["epoch"]
    see = blind(sim, sm)
    status = sm.wait_status(state="inactive")
    assert status["reason"].startswith(BLIND) and why in status["reason"], status["reason"]
    assert status["known_until_ms"] and status["epoch"] == epoch
    last = heartbeat(sm)
    done = harness.fors("status", sm.state_dir, code=1)
    assert BLIND.strip() in done.stdout
    time.sleep(6)  # a heart would beat every four seconds
    assert heartbeat(sm) == last and "ERR F021" in sm.log()
    see()
    status = sm.wait_status(state="active", known_until_ms=None)
    assert status["epoch"] == epoch
    harness.wait_for(lambda: heartbeat(sm) != last, what="the heart to beat again")


def test_a_standby_that_takes_over_wins(fabric, tmp_path):
    """In the folder that both publish to what the standby says stays, whatever the first one has to say; which says that it lost."""
    place = tmp_path / "shared"
    place.mkdir()
    options = {"lmc": 2, "sweep_interval": 2, "fors_conf": f"publish_dir = {place}\n", **harness.SHORT_POLLS}
    sim, first = fabric(FatTree(3, 3), sm_priority=14, **options)
    first.wait_epoch()
    second = harness.OpenSM(sim, tmp_path / "second", node=SEAT, sm_priority=0, **options)
    fabric.also(second)
    second.wait_log("Entering STANDBY state")
    sim.unlink(first.node, 1)
    second.wait_log("Entering MASTER state")
    first.wait_status(state="inactive", reason=lambda reason: reason.startswith(BLIND))
    status = second.wait_epoch(after=first.status()["epoch"])
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == status["epoch"], what="the copy")
    sim.relink(first.node, 1)
    first.wait_status(state="inactive", reason="this subnet manager is not the master")
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == second.wait_epoch()["epoch"], what="the second's copy")


def test_traps_alone_are_said_to_be(fabric):
    _, sm = fabric(FatTree(2, 3), lmc=1, sweep_interval=0)
    sm.wait_epoch()
    assert any("sweep_interval is 0" in text for text in sm.status()["remarks"])


def test_a_quiet_manager_looks(fabric):
    """Light sweeps say nothing to anybody: they are seen all the same."""
    _, sm = fabric(FatTree(2, 3), lmc=1, sweep_interval=1)
    sm.wait_epoch()
    time.sleep(6)
    assert sm.status()["state"] == "active" and BLIND not in sm.log()
