# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An MPI program that follows the schedule of a running opensm through a failover."""
import json
import os
import re
import shutil
import subprocess

import pytest

import harness

RANKS = 8
CALLS = 200


@pytest.fixture
def programs():
    """mpirun, the library and a program, which `make check` builds where there is an MPI."""
    library, program = (harness.build_dir() / name for name in (".libs/libforsched-mpi.so", "tests/apps/random_calls"))
    if harness.is_installed() or not (shutil.which("mpirun") and library.exists() and program.exists()):
        pytest.skip("no MPI here, or the program is not built")
    return library, program


def guids(schedule):
    return [server["guid"] for server in json.loads(harness.fors("schedule", schedule, "--format", "json").stdout)["servers"]]


def start(programs, schedule, rank_map, ready, go):
    """The program waits for `ready` before its first call, and for `go` in the middle."""
    library, program = programs
    settings = {"LD_PRELOAD": library, "FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map, "FORSCHED_VERBOSE": 2,
                "FORSCHED_WAY": "phases", "FORSCHED_CHECK": 1,
                "OMPI_MCA_coll_tuned_use_dynamic_rules": 1, "OMPI_MCA_coll_tuned_alltoall_algorithm": 1}
    command = ["mpirun", "-np", RANKS, "--oversubscribe"] + ["--allow-run-as-root"] * (os.getuid() == 0)
    for key, value in settings.items():
        command += ["-x", f"{key}={value}"]
    command += [program, CALLS, 1, "unused", f"wait:{ready}", f"wait:{go}"]
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_an_mpi_program_follows_a_failover(programs, tmp_path):
    tree = harness.FatTree(4, 2)
    with harness.Ibsim(tree, tmp_path / "sim") as sim, harness.OpenSM(sim, tmp_path / "sm") as sm:
        first = sm.wait_epoch()
        rank_map = tmp_path / "map"
        rank_map.write_text("".join(f"{rank} {guid}\n" for rank, guid in enumerate(guids(sm.schedule_file))))
        ready, go = rank_map, tmp_path / "go"
        process = start(programs, sm.state_dir, rank_map, ready, go)
        try:
            lines = [process.stderr.readline()]  # the first epoch is followed
            cable = tree.uplink(0, 1)
            sim.unlink(cable.leaf, cable.leaf_port)
            second = sm.wait_epoch(first["epoch"])
            go.touch()
            out, err = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        lines += err.splitlines()
    assert process.returncode == 0, out + err
    numbers = [int(number) for number in re.findall(r"(\d+) (?:calls|followed|left|epochs|different)", out)]
    calls, followed, left, epochs, different = numbers
    # calls in the moment between withdrawal and new epoch are MPI's; all of the second half comes after it
    assert (calls, followed + left, epochs, different) == (CALLS, CALLS, 2, 0) and followed > CALLS // 2, lines
    assert left == 0 or any("withdrawn" in line for line in lines), lines
    for epoch in (first["epoch"], second["epoch"]):
        assert any(f"epoch {epoch}: followed by {RANKS} ranks" in line for line in lines), lines
