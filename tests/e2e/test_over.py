# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""schedule_over = any: plans over the tables that other engines of the stock opensm made, in fabrics of any kind.

Each fabric comes up, loses a cable, gets it back. Each plan is judged over the tables in the switches; when these change
what is published is withdrawn. What opensm's log says of times is shown by pytest -s, not asserted.
"""
import re

import pytest

import over

ANY = "schedule_over = any\n"
TOPOLOGIES = {"two levels": (over.two_levels, ("Leaf01", "Spine02")), "three levels": (over.three_levels, ("Edge10", "Mid11")),
              "torus": (over.torus, ("T11", "T12")), "irregular": (over.irregular, ("C", "D"))}


def who_routed(sm, since=0):
    """The engine that made the tables, as opensm itself says."""
    return re.findall(r"osm_ucast_mgr_process: (\S+) tables configured on all switches", sm.log(since))[-1]


def withdrawals(sm, since=0):
    """(engine, ms until readers saw it) of each withdrawal, from the first report of a changed table on."""
    pattern = r"the tables of '(\S+)' change \(reported by a switch\): schedule withdrawn after ([0-9.]+) ms \(noticed after [0-9.]+ ms, written in [0-9.]+ ms\)"
    return [(engine, float(ms)) for engine, ms in re.findall(pattern, sm.log(since))]


def judged(sim, sm, servers=None):
    """The published plan holds over the tables that the switches have at this moment; (status, rows of the plan, snapshot)."""
    snapshot, status, rows = sim.snapshot(), sm.status(), over.read_csv(sm.schedule_file)
    assert rows is not None, status
    assert over.judge(snapshot, rows, servers) == []
    walker = over.Walker(snapshot)
    servers = servers or walker.servers
    assert status["state"] == "active" and status["servers"] == len(servers)
    assert status["phases"] == 1 + max(int(row["phase"]) for row in rows)
    assert status["phases"] >= status["lower_bound"]
    return status, rows, snapshot


def change(sim, sm, act, *end):
    """Cut or mend a cable, wait for the plan that follows; (its status, rows, snapshot)."""
    epoch, mark = sm.status()["epoch"], sm.log_end()
    act(*end)
    sm.wait_up(mark)
    sm.wait_epoch(epoch)
    return judged(sim, sm)


@pytest.mark.parametrize("engine", ["ftree", "minhop", "updn", "dfsssp"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_cut_reroute_mend(fabric, tmp_path, topology, engine):
    make, link = TOPOLOGIES[topology]
    tree = make()
    cut = tree.end(*link) if isinstance(tree, over.Fabric) else (link[0], 4 + 3)
    (tmp_path / "roots").write_text(f"{0x200000:#x}\n")  # the first switch: up*/down* goes from there where there is no tree
    roots = {"root_guid_file": tmp_path / "roots"} if engine == "updn" and topology in ("torus", "irregular") else {}
    sim, sm = fabric(tree, routing_engine=engine, fors_conf=ANY, **roots)
    sm.wait_epoch()
    epochs, before = [], None
    for act in (None, sim.unlink, sim.relink):
        mark = sm.log_end()
        status, rows, snapshot = change(sim, sm, act, *cut) if act else judged(sim, sm)
        epochs.append(status["epoch"])
        assert status["tables_by"] == who_routed(sm) and status["method"] == "flows"
        least = over.bound(over.Walker(snapshot), over.Walker(snapshot).servers)
        assert status["lower_bound"] == least and status["phases"] <= 1.06 * least + 1
        if act:
            told = withdrawals(sm, mark)
            assert [name for name, _ in told] == [before]
            print(topology, engine, status["tables_by"], f"{status['phases']} of {least}", told)
        assert status["tables_by"] == engine or engine == "ftree"
        before = status["tables_by"]  # ftree gives up when a cable is dead
    published = [int(epoch) for epoch in re.findall(r"fors: active: epoch (\d+)", sm.log())]
    assert published == epochs  # nothing was published that was not judged
