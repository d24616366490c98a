# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`fors trial` over its testbed: packets between network namespaces, routed by a real opensm's tables. Times are only compared with
each other, and widely: the machine that runs the tests may be busy; `make trial-sweep` is for numbers."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import harness

sys.path.insert(0, str(harness.TOP / "lab" / "trial"))

import testbed  # noqa: E402
from testbed import FatTree  # noqa: E402


@pytest.fixture
def trial(tmp_path):
    """trial(bed, step, words..., key=value...) -> what the step found"""
    def call(bed, step, *more, code=0, **values):
        file = tmp_path / "settings"
        file.write_text(bed.settings.read_text() + "".join(f"{key} = {value}\n" for key, value in values.items()))
        done = subprocess.run(harness.fors_command("trial", step, "--config", file, "--output-dir", tmp_path / "out", *more), capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return json.loads(Path(done.stdout.split()[-1]).read_text()) if not code else done.stderr
    return call


@pytest.mark.parametrize("kind", [None, "always", "load"])
def test_is_routing_static(trial, tmp_path, kind):
    with testbed.Testbed(tmp_path / "bed", FatTree(3, 3), adaptive=kind, size=60_000) as bed:
        found = trial(bed, "static")
    assert found["seen"] == bool(kind) and not found["wrong_cables"], found
    assert found["verdict"].startswith("seen" if kind else "not seen, ")


def test_a_wrong_list_is_no_adaptive_routing(trial, tmp_path):
    """Two uplinks of a leaf are said to be plugged the other way round."""
    with testbed.Testbed(tmp_path / "bed", FatTree(2, 3, servers=2), size=60_000, swapped=(("Leaf01", 3), ("Leaf01", 4))) as bed:
        static = trial(bed, "static")
    assert not static["seen"] and static["verdict"].startswith("not decided")
    assert all("Leaf01" in cable for cable in static["wrong_cables"]) and len(static["wrong_cables"]) == 2


def test_a_slow_cable_is_named(trial, tmp_path):
    with testbed.Testbed(tmp_path / "bed", FatTree(2, 3, servers=2), slow=[("Leaf01", 3)], size=120_000) as bed:
        run, = trial(bed, "exchange", ways="shift", repeats=3)["runs"]
    assert any("Leaf01[3]" in line and "never faster than" in line for line in run["differences"]), run["differences"]


def test_a_failure(trial, tmp_path):
    """The linear shift over minhop's tables loses what they say; counters carry what they should, and the cable is back."""
    with testbed.Testbed(tmp_path / "bed", FatTree(3, 3), size=60_000) as bed:
        assert "is the cable of this host" in trial(bed, "failure", "--disable", "Leaf00[1]", code=2)
        found = trial(bed, "failure", "--disable", "Leaf01[5]", ways="shift")
        assert not bed.net.dead and found["came_back"] and all(found["failover_s"])
    before, down = found["before"]["runs"][0], found["while_down"]["runs"][0]
    assert max(row["need"] for row in down["phases"]) > 1.9 > 1.1 > max(row["need"] for row in before["phases"])
    assert down["throughput"]["predicted"] < 0.75 and down["throughput"]["measured"] < 0.9 * before["throughput"]["measured"]
    for run in (before, down):
        assert all(abs(row["measured"] - row["predicted"]) <= 0.2 * max(1, row["predicted"]) for row in run["links"]) and not run["wrong_cables"]
    dead = [row for row in down["links"] if "Leaf01[5]" in row["link"]]
    assert not dead


@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_ibportstate_takes_the_words_of_the_settings(tmp_path):
    import settings
    with harness.Ibsim(FatTree(2, 2), tmp_path / "sim") as sim, harness.OpenSM(sim, tmp_path / "sm", routing_engine="minhop", event_plugin_name=None) as sm:
        sm.wait_up()
        guid = harness.read_tables(sim).guid_of["Leaf00"]
        for op in ("disable", "enable"):
            said = sim.run(settings.words(settings.DEFAULTS[op], guid=f"0x{guid:016x}", port=3))
            assert "After PortInfo set" in said
        assert "sm guid 0x" in sim.run(settings.words(settings.DEFAULTS["manager"]))
