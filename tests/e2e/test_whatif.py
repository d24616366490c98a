# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors whatif --engines, and fors analyze, against an opensm that the harness runs and tables that loads.py walks."""
import json
import os
import signal
import subprocess

import pytest

import failover
import harness
import loads

TREE = harness.FatTree(3, 3)


def fors(*arguments, env=None):
    return json.loads(harness.fors(*arguments, env=env).stdout)


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    result = fors("whatif", "--synthetic", "FT(2;3,3)", "--engines", "minhop,ftree", "--json", env={"TMPDIR": str(folder)})
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


def test_who_cannot_be_seen_gets_nothing(tmp_path):
    """The opensm sits on a leaf that has lost its only cable: it gives LIDs to that leaf's server alone."""
    result = fors("whatif", "--synthetic", "FT(2;1,3)", "--engines", "minhop", "--json", env={"TMPDIR": str(tmp_path)})
    for failure in result["failures"]:
        assert failure["engines"]["minhop"]["throughput"] == 0, failure
        assert failure["engines"]["minhop"]["broken"] >= 4


def test_three_levels(tmp_path):
    """Stock opensm beside fors: both at full speed in the intact tree, and after each failure the plan of fors is worth no less than the other's shift."""
    result = fors("whatif", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--engines", "ftree", "--json", env={"TMPDIR": str(tmp_path)})
    assert os.listdir(tmp_path) == [] and len(result["failures"]) == 16 + 8
    assert result["intact"]["fors"]["throughput"] == result["intact"]["ftree"]["throughput"] == 1
    for failure in result["failures"]:
        own, other = (failure["engines"][engine] for engine in ("fors", "ftree"))
        assert own["phases"] >= 8 and own["broken"] == other["broken"] == 0 and 0 < other["planned_throughput"] <= 1
        assert own["throughput"] >= other["throughput"], failure["failure"]


def wrapped_opensm(folder, script):
    """An environment in which `opensm` is a shell script, which has the stock one as $OPENSM."""
    (folder / "bin").mkdir()
    (folder / "tmp").mkdir()
    program = folder / "bin" / "opensm"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    return dict(os.environ, TMPDIR=str(folder / "tmp"), NOTES=str(folder), OPENSM=harness.opensm_program(),
                PATH=f"{folder / 'bin'}:{os.environ['PATH']}")


def test_the_settings_of_this_machine_stay_out(tmp_path):
    """With them a simulation on the host of the subnet manager would load fors, and publish."""
    environment = wrapped_opensm(tmp_path, 'echo "$*" >>"$NOTES/argv"; while [ "$1" != -F ]; do shift; done; cat "$2" >>"$NOTES/conf"\n'
                                           'exec "$OPENSM" -F "$2" $(tail -n 1 "$NOTES/argv" | sed "s:-F $2::")\n')
    fors("whatif", "--synthetic", "FT(2;2,1)", "--engines", "minhop", "--threads", "1", "--json", env=environment)
    assert all("-F" in line.split() for line in (tmp_path / "argv").read_text().splitlines())
    settings = [line for line in (tmp_path / "conf").read_text().splitlines() if not line.startswith("#")]
    assert settings == []
    assert os.listdir(tmp_path / "tmp") == []


def test_an_opensm_that_fails_is_named(tmp_path):
    environment = wrapped_opensm(tmp_path, "exit 3\n")
    done = subprocess.run(harness.fors_command("whatif", "--synthetic", "FT(2;2,1)", "--engines", "updn", "--threads", "1"), env=environment,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert "updn after the failure of nothing: opensm failed (exit code 3)" in done.stderr
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize("number, leaves", [(signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGKILL, None)])
def test_nothing_stays_when_it_is_stopped(tmp_path, number, leaves):
    environment = wrapped_opensm(tmp_path, 'echo "$IBSIM_SOCKNAME" >"$NOTES/started"; exec sleep 60\n')
    process = subprocess.Popen(harness.fors_command("whatif", "--synthetic", "FT(2;2,2)", "--engines", "minhop", "--threads", "1"),
                               env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                               preexec_fn=harness.heeds_ctrl_c)
    harness.wait_for((tmp_path / "started").exists, what="opensm to be started")
    process.send_signal(number)
    _, message = process.communicate(timeout=200)
    assert process.returncode == -number
    assert message == b"" if number == signal.SIGKILL else message.endswith(b"go on\n") and message.count(b"\n") == 1
    harness.wait_for(lambda: not members(process.pid), what="all programs to end")
    if leaves is not None:
        assert os.listdir(tmp_path / "tmp") == leaves


def members(session):
    """Processes of a session, zombies left out."""
    stats = [stat.decode(errors="replace").rpartition(")") for stat in harness.of_processes("stat")]
    return [head.split()[0] for head, _, rest in stats if int(rest.split()[3]) == session and rest.split()[0] != "Z"]
