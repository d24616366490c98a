# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several ranks on a server under libforsched-mpi: the phase of two servers carries all messages of their ranks."""
import os
import random
import re

import pytest

IS_LONG = bool(os.environ.get("FORS_LONG_TESTS"))
ENDING = re.compile(r"(\d+) calls, (\d+) followed, (\d+) left, (\d+) epochs, (\d+) different")


def numbers(done):
    assert done.code == 0, done.out + done.err
    return [int(number) for number in ENDING.search(done.out).groups()]


def spread(counts, seed=1):
    """The server of each rank, when server i has counts[i] of them, in no order."""
    servers = [server for server, count in enumerate(counts) for _ in range(count)]
    random.Random(seed).shuffle(servers)
    return servers


@pytest.fixture
def live(tmp_path):
    (tmp_path / "live").mkdir()
    return tmp_path / "live" / "schedule"


@pytest.fixture
def epochs(plan):
    """Schedules of eight servers: healthy, with a dead cable, and again."""
    return lambda: [plan("FT(2;4,2)", 0, 10), plan("FT(2;4,2)", 2, 11, "Leaf00[5]", method="exact"), plan("FT(2;4,2)", 0, 12)]


@pytest.mark.parametrize("counts", [[2] * 8, [1, 3, 2, 1, 4, 2, 1, 2], [9, 1, 1, 1, 1, 1, 1, 1]])
@pytest.mark.parametrize("env", [{"FORSCHED_BARRIER": "none"}, {"FORSCHED_BARRIER": "tree"}, {"FORSCHED_WAY": "chunks", "FORSCHED_CHUNK": 40}])
def test_random_calls_across_epochs(epochs, rank_map, mpirun, live, counts, env):
    files, calls = epochs(), 1000 if IS_LONG else 30 if env.get("FORSCHED_BARRIER") != "tree" else 8
    usual = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0], spread(counts))}
    done = mpirun(sum(counts), "tests/apps/random_calls", calls, 1, live, *files, env={**usual, **env}, timeout=3600)
    assert numbers(done) == [calls, calls, 0, 3, 0]


@pytest.mark.skipif(not IS_LONG, reason="FORS_LONG_TESTS: 64 and 72 ranks want processors")
@pytest.mark.parametrize("spec,down,each", [("FT(2;4,4)", "Leaf00[5]", 4), ("FT(2;6,6)", "Leaf00[7]", 2)])
def test_random_calls_of_many_ranks(plan, rank_map, mpirun, live, spec, down, each):
    files = [plan(spec, 0, 10), plan(spec, 0, 11, down)]
    servers, calls = 16 if each == 4 else 36, 1000
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0], spread([each] * servers)), "FORSCHED_BARRIER": "none"}
    done = mpirun(each * servers, "tests/apps/random_calls", calls, 2, live, *files, env=env, timeout=3600)
    assert numbers(done) == [calls, calls, 0, 2, 0]


@pytest.mark.parametrize("way,counts", [("auto", [2] * 8), ("phases", [1, 3, 2, 1, 4, 2, 1, 2])])
def test_random_calls_on_many_communicators(epochs, rank_map, mpirun, live, way, counts):
    """All ranks in another order, halves, rows, columns, split again; the schedule changes on the way."""
    files, calls = epochs(), 1000 if IS_LONG else 60
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0], spread(counts)), "FORSCHED_BARRIER": "none",
           "FORSCHED_WAY": way, "FORSCHED_MIN_BYTES": 0}
    done = mpirun(sum(counts), "tests/apps/random_calls", "-c", calls, 1, live, *files, env=env, timeout=3600)
    number, followed, left, _, different = numbers(done)
    assert (number, followed + left, different) == (calls, calls, 0)
    assert way == "auto" or followed > calls / 8


def test_ranks_on_one_server_are_left_to_mpi(plan, rank_map, mpirun):
    schedule = plan("FT(2;4,2)", 0, 30)
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule, [3] * 4)}
    done = mpirun(4, "tests/apps/random_calls", 10, 1, "none", env=env)
    assert numbers(done) == [10, 0, 10, 0, 0]
    assert "a communicator of 4 ranks on 1 of 8 servers: left to MPI" in done.err
