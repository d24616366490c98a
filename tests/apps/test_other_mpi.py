# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libforsched-mpi preloaded into programs of another MPI (MPICH): they run as without it, and one line says why."""
import pathlib
import shutil

import pytest

from conftest import PRELOAD, start

HERE = pathlib.Path(__file__).parent
FORTRAN = """\
program all_to_all
use mpi
integer :: err, rank, sent(4), received(4)
call MPI_Init(err)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
sent = rank
call MPI_Alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, MPI_COMM_WORLD, err)
if (rank == 0) print *, received
call MPI_Finalize(err)
end program
"""


def built(tmp_path, compiler, source):
    if not shutil.which(compiler) or not shutil.which("mpiexec.mpich") or not PRELOAD.exists():
        pytest.skip("MPICH is not installed, or the library is not built")
    if b"libasan" in PRELOAD.read_bytes():
        pytest.skip("sanitizers are to be the first of all that is preloaded, and here they are not")
    done = start([compiler, "-o", tmp_path / "program", source])
    if done.code:
        pytest.skip(f"{compiler} cannot build: {done.err[:200]}")
    return tmp_path / "program"


def both(program, *arguments, **more):
    """Without the library and with it, which is one of several that are preloaded: what the latter says."""
    run = ["mpiexec.mpich", "-n", 4]
    plain = start([*run, program, *arguments])
    assert plain.code == 0, plain.err
    settings = {"LD_PRELOAD": f"libm.so.6:{PRELOAD}:libdl.so.2", **more}
    done = start([*run, "env", *(f"{name}={value}" for name, value in settings.items()), program, *arguments])
    assert (done.code, done.out) == (0, plain.out) and "ld.so" not in done.err, done.err
    return [line for line in done.err.splitlines() if "libforsched" in line], done.out


def test_a_program_in_c(tmp_path):
    program = built(tmp_path, "mpicc.mpich", HERE / "other_mpi.c")
    said, out = both(program, "an argument")
    assert out == "4 ranks, 0 wrong, 2 arguments, an argument, MPICH\n"
    assert len(said) == 1 and "another MPI (MPICH" in said[0] and "so without the library" in said[0]
    assert both(program, FORSCHED_VERBOSE=0)[0] == []


def test_a_program_in_fortran(tmp_path):
    """It is bound to MPICH by way of another library, behind the MPI that ours needs."""
    (tmp_path / "program.f90").write_text(FORTRAN)
    said, out = both(built(tmp_path, "mpif90.mpich", tmp_path / "program.f90"))
    assert out.split() == ["0", "1", "2", "3"] and len(said) == 1
