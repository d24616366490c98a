# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Service levels in schedules over the tables of engines that need them to be free of deadlock."""
import re

import pytest

import harness
import over
from test_over import ANY, judged

TORUS = over.torus(4, 4, 2)


@pytest.fixture(scope="module")
def no_lots(tmp_path_factory):
    """dfsssp spreads a layer over several lanes by lot; preloaded into opensm this always draws the first."""
    folder = tmp_path_factory.mktemp("lots")
    (folder / "lots.c").write_text("int rand(void) { return 0; }\n")
    return harness.compiled("lots", folder)


def level_of_the_sa(sim, source, target):
    """What opensm's SA answers to who asks for a path between two LIDs."""
    found = re.search(r"\bsl\.+0x([0-9A-Fa-f]+)", sim.run(["saquery", "-p", "--slid", str(source), "--dlid", str(target)]))
    return int(found.group(1), 16)


def compare_with_the_sa(sim, rows, count=12):
    """Some rows, spread over the plan, against the SA; the levels that occur in all of them."""
    guid = {port.guid: port.lid for port in sim.snapshot().port.values()}
    for row in rows[:: len(rows) // count]:
        assert int(row["sl"]) == level_of_the_sa(sim, guid[int(row["src_guid"], 16)], row["dst_lid"]), row
    return {int(row["sl"]) for row in rows}


def flows_of(snapshot, rows, level=None):
    """(source, target, LID, level) of each flow; `level` instead of its own."""
    name = over.Walker(snapshot).by_guid
    return [(name[int(row["src_guid"], 16)], name[int(row["dst_guid"], 16)], int(row["dst_lid"]),
             int(row["sl"]) if level is None else level) for row in rows]


@pytest.mark.parametrize("engine, lmc", [("dfsssp", 0), ("dfsssp", 1), ("lash", 0), ("nue", 0)])
def test_levels_are_those_of_the_sa(fabric, no_lots, engine, lmc):
    sim, sm = fabric(TORUS, routing_engine=engine, lmc=lmc, preload=[no_lots], nue_max_num_vls=4, qos="TRUE", fors_conf=ANY)
    sm.wait_epoch()
    _, rows, _ = judged(sim, sm)
    assert len(compare_with_the_sa(sim, rows)) > (engine != "lash")  # which comes along with one here


def test_level_of_the_default_partition(fabric, tmp_path):
    """Where the engine has no say the SA answers the partition's level."""
    (tmp_path / "partitions").write_text("Default=0x7fff,ipoib,sl=3:ALL=full;\n")
    sim, sm = fabric(over.irregular(), routing_engine="minhop", qos="TRUE", partition_config_file=tmp_path / "partitions", fors_conf=ANY)
    sm.wait_epoch()
    _, rows, _ = judged(sim, sm)
    assert compare_with_the_sa(sim, rows, 6) == {3}


@pytest.mark.parametrize("engine", ["dfsssp", "nue"])
def test_no_deadlock(fabric, engine):
    """With its level no flow waits in a circle, through a cut and back; without levels these tables of a torus could."""
    sim, sm = fabric(TORUS, routing_engine=engine, nue_max_num_vls=4, qos="TRUE", fors_conf=ANY)
    for act in (None, sim.unlink, sim.relink):
        epoch = sm.status().get("epoch", 0)
        if act:
            act(*TORUS.end("T11", "T12"))
        sm.wait_epoch(epoch)
        _, rows, snapshot = judged(sim, sm)
        assert not over.can_deadlock(snapshot, flows_of(snapshot, rows))
        assert over.can_deadlock(snapshot, flows_of(snapshot, rows, 0))


def test_every_flow_has_a_level(fabric):
    sim, sm = fabric(over.torus(3, 3, 1), routing_engine="dfsssp", fors_conf=ANY)
    sm.wait_epoch()
    _, rows, _ = judged(sim, sm)
    assert all(0 <= int(row["sl"]) < 16 for row in rows) and "spine_guid" in rows[0] and not rows[0]["spine_guid"]
