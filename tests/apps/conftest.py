# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs programs of the build folder (FORS_BUILDDIR), under mpirun where they want ranks."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("FORS_BUILDDIR", "build")).resolve()
MPIRUN = shutil.which("mpirun") or shutil.which("mpiexec")
PRELOAD = BUILD / ".libs" / "libforsched-mpi.so"
IS_SANITIZED = PRELOAD.exists() and b"libasan" in PRELOAD.read_bytes()


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def start(command, env=None, timeout=600):
    """Run to the end in a process group of its own, which is ended as a whole when it takes too long."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        pytest.fail(f"hangs: {command}\n{out[-2000:]}\n{err[-2000:]}")
    return Result(process.returncode, out, err)


def program(name):
    path = BUILD / name
    if not path.exists():
        pytest.skip(f"{name} is not built: its library is not here")
    return path


@pytest.fixture
def run():
    """run(program, args...): a program of the build folder, as it is."""
    return lambda name, *args, **more: start([program(name), *args], **more)


@pytest.fixture
def plan(tmp_path):
    """plan(spec, lmc, epoch[, down...]) -> file: a schedule, published with an epoch; `more`: see stamp_schedule.c."""

    def call(spec, lmc, epoch, *down, method="auto", more=""):
        path = tmp_path / f"epoch-{epoch}"
        options = [word for where in down for word in ("--down", where)]
        done = start([BUILD / "fors", "plan", "--synthetic", spec, "--lmc", lmc, "--method", method, "--output", path,
                      *options])
        assert done.code == 0, done.err
        done = start([BUILD / "tests" / "cli" / "stamp_schedule", path, epoch, *(["--more", more] if more else [])])
        assert done.code == 0, done.err
        return path

    return call


@pytest.fixture
def withdraw(tmp_path):
    """withdraw(epoch, reason) -> file"""

    def call(epoch, reason):
        path = tmp_path / f"epoch-{epoch}"
        assert start([BUILD / "tests" / "cli" / "stamp_schedule", path, epoch, reason]).code == 0
        return path

    return call


def guids(schedule):
    """Port GUIDs by server number, as text."""
    done = start([BUILD / "fors", "schedule", schedule, "--format", "json"])
    assert done.code == 0, done.err
    return [server["guid"] for server in json.loads(done.out)["servers"]]


@pytest.fixture
def rank_map(tmp_path):
    """rank_map(schedule[, order]) -> file: which rank is which server; the order of the servers by default."""

    def call(schedule, order=None):
        path = tmp_path / "map"
        known = guids(schedule)
        order = order or range(len(known))
        lines = [f"{rank} {known[server]}" for rank, server in enumerate(order)]
        path.write_text("# rank, port GUID\n" + "\n".join(lines) + "\n")
        return path

    return call


@pytest.fixture
def mpirun():
    """mpirun(ranks, program, args..., env={}, preload=True): env reaches the ranks; they share this machine's cores."""
    if not MPIRUN:
        pytest.skip("no mpirun here")

    def call(ranks, name, *args, env=None, preload=True, wrapper=(), timeout=600):
        # Every call along the phases, and the file looked at before each: what a call does is not to depend on how long
        # others took. test_ways.py has the settings that people have.
        known = {"FORSCHED_WAY": "phases", "FORSCHED_CHECK": 1, **(env or {})}
        known = {key: str(value) for key, value in known.items()}
        if preload:
            known["LD_PRELOAD"] = str(PRELOAD)
        # What is compared with: Open MPI 4.1's algorithm for small blocks ("bruck", its default) writes beside the
        # buffer when the sender's type and the receiver's have gaps in different places; the simplest does not.
        known["OMPI_MCA_coll_tuned_use_dynamic_rules"] = known["OMPI_MCA_coll_tuned_alltoall_algorithm"] = "1"
        # A build with sanitizers: theirs does not come first, and MPI itself leaks.
        known["ASAN_OPTIONS"] = "detect_leaks=0:verify_asan_link_order=0"
        command = [MPIRUN, "-np", ranks, "--oversubscribe", *(["--allow-run-as-root"] if os.getuid() == 0 else [])]
        for key, value in known.items():
            command += ["-x", f"{key}={value}"]
        done = start([*command, *wrapper, program(name), *args], timeout=timeout)
        assert "runtime error" not in done.err and "Sanitizer" not in done.err, done.err
        return done

    return call
