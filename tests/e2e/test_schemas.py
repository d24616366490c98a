# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""status.json as opensm leaves it in each state, at both heights, against packaging/schemas/status.schema.json."""
import json
import time

import pytest

import harness
import three
from harness import FatTree

jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
JUDGE = jsonschema.Draft202012Validator(json.loads((harness.TOP / "packaging" / "schemas" / "status.schema.json").read_text()))


def complaints(status):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300] for error in JUDGE.iter_errors(status)]


def printed(folder, code):
    done = harness.fors("status", "--json", folder, code=None)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def fine(sm, **wanted):
    status = sm.wait_status(**wanted)
    assert complaints(status) == []
    return status


TREES = {"two": (lambda: FatTree(3, 4, cables=2), "Spine01", ("Leaf00", 4), "Leaf02"),
         "three": (lambda: three.Tree3((2, 2, 2), (2, 2)), "Top0-1", ("Leaf0-0", 3), "Leaf1-1")}


@pytest.mark.parametrize("height", TREES)
def test_states(fabric, height):
    """Intact, damaged, with a lost leaf and a repair that is known; a stale heartbeat; and after the end."""
    make, switch, cable, leaf = TREES[height]
    tree = make()
    sim, sm = fabric(tree, node="Node00-00" if height == "two" else "Node0-1-1", sweep_interval=1)
    fine(sm, state="active", dead_links=[])
    sim.unlink_node(switch)
    sim.unlink(*cable)
    fine(sm, state="active", dead_links=bool, failover=bool)
    sim.unlink_node(leaf)
    fine(sm, state="active", lost_servers=bool, repairs=lambda repairs: repairs is not None)
    assert complaints(printed(sm.state_dir, 0)) == []
    sm.stop()
    assert complaints(sm.status()) == [] and sm.status()["state"] == "inactive"
    (sm.state_dir / "heartbeat").write_text(f"{int((time.time() - 600) * 1000)} {sm.status()['epoch']}\n")
    assert complaints(printed(sm.state_dir, 1)) == []


def test_withdrawn(fabric):
    """Two leaves without a common spine: fors declines, another engine routes."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, routing_engine="fors,updn", sweep_interval=1)
    fine(sm, state="active")
    for cable in (tree.uplink(0, 0), tree.uplink(1, 1)):
        sim.unlink(cable.leaf, cable.leaf_port)
    status = fine(sm, state="inactive", reason=bool)
    assert status["phases"] in (None, 0)


def test_over_another_engine(fabric):
    _, sm = fabric(FatTree(3, 3), routing_engine="minhop", fors_conf="schedule_over = any\n")
    assert fine(sm, state="active")["leaves"] is None


def test_jobs(fabric, tmp_path):
    (tmp_path / "jobs").write_text("one: Node00-00, Node01-00, Node02-00\ntwo [exclusive]: Node00-01, Node01-01\n")
    _, sm = fabric(FatTree(3, 3), fors_conf=f"jobs_file = {tmp_path / 'jobs'}\n")
    status = fine(sm, state="active", jobs=bool)
    assert [job["name"] for job in status["jobs"]] == ["one", "two"] and all(job["phases"] for job in status["jobs"])


@pytest.mark.parametrize("height", TREES)
def test_shadow(fabric, height):
    make, switch, _, _ = TREES[height]
    sim, sm = fabric(make(), routing_engine="minhop", fors_conf="fors_mode = shadow\n", node="Node00-00" if height == "two" else "Node0-1-1")

    def look():
        path = sm.state_dir / "shadow" / "status.json"
        return json.loads(path.read_text()) if path.exists() else {}
    status = harness.wait_for(lambda: look() if look().get("state") == "shadow" else None, what="the shadow's status")
    assert complaints(status) == []
    sim.unlink_node(switch)
    sm.sweep()
    status = harness.wait_for(lambda: look() if look()["dead_links"] else None, what="the shadow's second look")
    assert complaints(status) == [] and status["shadow"]["sweeps"] > 1
