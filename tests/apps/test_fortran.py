# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Fortran programs under libforsched-mpi. They are built here, since only they want a Fortran compiler."""
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCES = pathlib.Path(__file__).resolve().parent


@pytest.fixture
def fortran(tmp_path):
    """fortran(source, *options) -> program; skipped where there is no compiler for it."""
    compiler = shutil.which("mpifort") or shutil.which("mpif90")

    def call(source, *options):
        if not compiler or subprocess.run([compiler, "--version"], capture_output=True).returncode:
            pytest.skip("no Fortran compiler for MPI here (gfortran)")
        program = tmp_path / "fortran"
        done = subprocess.run([compiler, "-o", program, *options, source], capture_output=True, text=True, cwd=tmp_path)
        if "mpi_f08" in done.stderr and "annot open module" in done.stderr:
            pytest.skip("no module mpi_f08 here")
        assert done.returncode == 0, done.stderr
        return program

    return call


@pytest.mark.parametrize("kind", [["-fallow-argument-mismatch"], ["-DMODULE", "-DTHREADS", "-fallow-argument-mismatch"], ["-DF08"]])
def test_calls_from_fortran(fortran, plan, rank_map, mpirun, kind):
    """Of mpif.h, of the module mpi, of mpi_f08: each along the schedule, with MPI's own results."""
    schedule = plan("FT(2;4,2)", 0, 30, "Leaf00[5]")
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule), "FORSCHED_VERBOSE": 2, "FORSCHED_BARRIER": "none"}
    done = mpirun(8, fortran(SOURCES / "fortran_calls.F90", *kind), 5, env=env)
    assert done.code == 0 and done.out == "5 calls, 0 different\n", done.out + done.err
    # uniform and in place, vector, of types and in place; then five of a row and five of a column
    assert re.search(r"35 calls along the schedule, 0 left to MPI", done.err), done.err


@pytest.mark.parametrize("preload", [False, True])
def test_the_transpose(fortran, plan, rank_map, mpirun, preload):
    schedule = plan("FT(2;4,2)", 0, 1, "Leaf00[5]")
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule, [rank // 2 for rank in range(16)]), "FORSCHED_VERBOSE": 2}
    done = mpirun(16, fortran(SOURCES.parents[1] / "libforsched" / "examples" / "transpose.f90"), 16, 2, env=env, preload=preload)
    assert done.code == 0 and "\n0 wrong numbers" in done.out, done.out + done.err
    assert not preload or "4 calls along the schedule, 0 left to MPI" in done.err, done.err
