# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Homes by rank inside opensm: hosts that come late, hosts that move, a second subnet manager, an old state file."""
import re

import harness
from harness import FatTree
from test_plugin import assert_good, errors

QUIET = 60  # seconds without a new port before homes are ranked


def tables(sim, sm):
    return harness.read_tables(sim, sm.node)


def late(tree, every):
    """Servers that are off at the start; never the subnet manager's."""
    return [name for i, name in enumerate(tree.servers()) if i % every == every - 1]


def start(fabric, tmp_path, tree, off, name="sm", **options):
    sim = harness.Ibsim(tree, tmp_path / "sim")
    fabric.also(sim)
    for server in off:
        sim.unlink(server, 1)
    sm = harness.OpenSM(sim, tmp_path / name, node="Node00-00", sweep_interval=1, **options)
    fabric.also(sm)
    return sim, sm


def homes(sm):
    """Port GUID -> home lane, by the kept order."""
    found = {}
    text = (sm.state_dir / "places").read_text()
    for slots, servers in re.findall(r"\nslots(.*)\nservers(.*)\n", text):
        for slot, guid in zip(slots.split(), servers.split()):
            if slot != "0" and guid != "-":
                found[guid] = re.match(r"\d+\.(\d+)", slot)[1]
    return found


def test_hosts_that_boot_late_are_ranked_once_it_is_quiet(fabric, tmp_path):
    """Nobody moves while they come; a minute later all are ranked, after the schedule was withdrawn."""
    tree = FatTree(4, 4)
    off = late(tree, 3)
    sim, sm = start(fabric, tmp_path, tree, off)
    sm.wait_status(state="active", servers=len(tree.servers()) - len(off))
    harness.wait_for(lambda: len(homes(sm)) == len(tree.servers()) - len(off))
    before = homes(sm)
    for server in off:
        sim.relink(server, 1)
    status = sm.wait_status(state="active", servers=len(tree.servers()))
    harness.wait_for(lambda: len(homes(sm)) == len(tree.servers()))
    assert {guid: homes(sm)[guid] for guid in before} == before
    mark = sm.log_end()
    sm.wait_log(r"homes of 16 server ports are about to be ranked afresh.*: [1-9][0-9]* entries", mark, timeout=QUIET + 20)
    sm.wait_status(state="planning", reason=lambda reason: "ranked afresh" in reason, phases=None)
    sm.wait_log("homes of 16 server ports are ranked afresh", mark)
    after = sm.wait_status(state="active", servers=16, epoch=lambda epoch: epoch and epoch > status["epoch"])
    assert after["phases"] == 16
    assert_good(sim, sm)
    # An opensm that sees them all for the first time writes the same.
    ranked = tables(sim, sm)
    harness.wait_for(lambda: not re.search(r"\dn\b", (sm.state_dir / "places").read_text()))
    kept = (sm.state_dir / "places").read_text()
    sm.stop()
    other = harness.OpenSM(sim, tmp_path / "other", node="Node00-00", sweep_interval=1)
    fabric.also(other)
    other.wait_status(state="active", servers=16)
    harness.wait_for(lambda: (other.state_dir / "places").exists())
    assert (other.state_dir / "places").read_text() == kept
    assert harness.changed_entries(ranked, tables(sim, other)) == set()
    assert errors(sm) == []


def test_never_means_never(fabric, tmp_path):
    tree = FatTree(4, 4)
    off = late(tree, 3)
    sim, sm = start(fabric, tmp_path, tree, off, fors_conf="rehome = never\n")
    sm.wait_status(state="active", servers=len(tree.servers()) - len(off))
    for server in off:
        sim.relink(server, 1)
    sm.wait_status(state="active", servers=len(tree.servers()))
    assert "ranked" not in sm.log()
    assert_good(sim, sm)
