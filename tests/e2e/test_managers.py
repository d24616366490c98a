# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A second subnet manager is reached from every spine, whatever cable is dead: traps and performance queries arrive.

It starts after the tables are made, so the spine that lost its leaf has the dead cable's port for its LIDs at first.
"""
import contextlib
import subprocess
import sys

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
