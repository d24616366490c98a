# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OSU micro-benchmarks under libforsched-mpi, where they are built: OSU_DIR names the folder of osu_alltoall and osu_alltoallv."""
import os
import pathlib
import re

import pytest

OSU = os.environ.get("OSU_DIR")


@pytest.mark.skipif(not OSU, reason="OSU_DIR does not say where osu_alltoall is")
@pytest.mark.parametrize("name", ["osu_alltoall", "osu_alltoallv"])
def test_it_runs_along_the_schedule(plan, rank_map, mpirun, name):
    """Two ranks on each of four servers; a row of the table for each size, and all calls followed."""
    schedule = plan("FT(2;2,2)", 0, 30)
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule, [rank // 2 for rank in range(8)]), "FORSCHED_VERBOSE": 2}
    done = mpirun(8, pathlib.Path(OSU) / name, "-m", "65536", "-i", "5", "-x", "1", env=env)
    assert done.code == 0, done.out + done.err
    assert re.search(r"^65536\s+\d+", done.out, re.M), done.out
    followed, left = map(int, re.search(r"(\d+) calls along the schedule, (\d+) left", done.err).groups())
    assert followed >= 50 and left == 0
