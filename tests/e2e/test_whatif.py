# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors whatif --engines, and fors analyze, against an opensm that the harness runs and tables that loads.py walks."""
import json
import os
import subprocess

import pytest

import failover
import harness
import loads

TREE = harness.FatTree(3, 3)


def fors(*arguments, **options):
    done = subprocess.run(harness.fors_command(*arguments), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    result = fors("whatif", "--synthetic", "FT(2;3,3)", "--engines", "minhop,ftree", "--json", env=dict(os.environ, TMPDIR=str(folder)))
    assert os.listdir(folder) == []  # nothing is left behind
    return result


def test_each_failure_has_an_answer(answer):
    assert len(answer["failures"]) == 9 + 3
    assert answer["intact"]["minhop"]["throughput"] == answer["intact"]["ftree"]["throughput"] == 1
    for failure in answer["failures"]:
        for engine in ("minhop", "ftree"):
            assert 0 < failure["engines"][engine]["throughput"] <= 1 and failure["engines"][engine]["broken"] == 0
    assert any("ftree gave up, minhop did it" == failure["engines"]["ftree"]["note"] for failure in answer["failures"])


@pytest.mark.parametrize("cable", [TREE.uplink(0, 0), TREE.uplink(2, 1)])
def test_the_same_with_another_program(answer, tmp_path, cable):
    with harness.Ibsim(TREE, tmp_path) as sim:
        sim.unlink(cable.leaf, cable.leaf_port)
        with harness.OpenSM(sim, tmp_path / "sm", routing_engine="minhop", **failover.STOCK) as osm:
            osm.wait_up()
            failover.settle(osm)
            expected = loads.shift_exchange(harness.read_live(sim), harness.read_tables(sim))
            (tmp_path / "net").write_text(sim.run(["ibnetdiscover"]))
            (tmp_path / "fts").write_text(sim.run(["dump_fts"]))
    name = f"{cable.leaf}[{cable.leaf_port}] - {cable.spine}[{cable.spine_port}]"
    found = [failure for failure in answer["failures"] if failure["failure"] == name]
    assert len(found) == 1
    assert found[0]["engines"]["minhop"]["throughput"] == pytest.approx(expected.throughput)
    assert found[0]["engines"]["minhop"]["max_link_load"] == expected.worst
    analysis = fors("analyze", "--fabric", tmp_path / "net", "--lfts", tmp_path / "fts", "--pattern", "linear-shift", "--json")
    assert (analysis["servers"], analysis["sum_of_phase_loads"], analysis["max_link_load"]) == (9, expected.length, expected.worst)
    assert analysis["sync_throughput"] == pytest.approx(expected.throughput)
