# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Which way a call goes under libforsched-mpi: all ranks the same one, whatever each of them sends, with MPI's own results."""
import re

import pytest

from conftest import IS_SANITIZED

ENDING = re.compile(r"(\d+) calls, (\d+) followed, (\d+) left, (\d+) different")
CALLS = 12
# Where a way is chosen by what calls take: sanitizers change what they take, and nothing else of it.
by_times = pytest.mark.skipif(IS_SANITIZED, reason="sanitizers change what calls take")


@pytest.fixture
def unequal(plan, rank_map, mpirun):
    """unequal(what, calls=12, **env): the program, on 8 ranks; (followed, left, standard error)."""
    schedule = plan("FT(2;4,2)", 0, 30)
    usual = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule), "FORSCHED_WAY": "auto", "FORSCHED_VERBOSE": 2}

    def call(what, calls=CALLS, **env):
        done = mpirun(8, "tests/apps/unequal_calls", what, calls, env={**usual, **env})
        assert done.code == 0, done.out + done.err
        number, followed, left, different = map(int, ENDING.search(done.out).groups())
        assert (number, different) == (calls, 0), done.out + done.err
        return followed, left, done.err

    return call


@pytest.mark.parametrize("what", ["huge", "small", "many", "types", "place"])
@pytest.mark.parametrize("env", [{"FORSCHED_WAY": "phases"}, {"FORSCHED_WAY": "chunks"},
                                 {"FORSCHED_WAY": "chunks", "FORSCHED_CHUNK": 3000}])
def test_results_are_those_of_mpi_whichever_way(unequal, what, env):
    assert unequal(what, **env)[:2] == (CALLS, 0)


@by_times
@pytest.mark.parametrize("what", ["huge", "many", "types", "place", "sloppy"])
def test_results_are_those_of_mpi_by_default(unequal, what):
    """When the schedule is taken up depends on the times, and so does which calls follow it."""
    for calls in (24, 240, 800, 2400):
        followed, left, said = unequal(what, calls=calls)
        assert followed + left == calls and left > 0
        if " 0 epochs" not in said:
            break
    assert "MPI's own way: longest message" in said, said
    if what in ("place", "sloppy"):
        assert ": chunks" not in said


def test_messages_too_short_on_all_ranks_are_left_to_mpi(unequal):
    """Rank 0 sees zero to three ints in most calls: what counts is the longest message of all ranks."""
    followed, left, said = unequal("small", FORSCHED_MIN_BYTES=997)
    assert (followed, left) == (0, CALLS) and "longest message 996 bytes, FORSCHED_MIN_BYTES 997" in said
    assert unequal("small", FORSCHED_WAY="phases", FORSCHED_MIN_BYTES=997)[:2] == (0, CALLS)
    assert unequal("small", FORSCHED_WAY="phases", FORSCHED_MIN_BYTES=996)[:2] == (CALLS, 0)
    assert unequal("small")[:2] == (0, CALLS)


def test_sizes_that_do_not_fit_together_are_not_cut(unequal):
    """A receiver with room for more would wait for chunks that never come. In phases each message is one."""
    assert unequal("sloppy", FORSCHED_WAY="chunks", FORSCHED_CHUNK=3000)[:2] == (CALLS, 0)


@pytest.mark.xdist_group("wide")  # one after the other: gibibytes are copied
@pytest.mark.parametrize("way", ["phases", "chunks", "auto"])
def test_a_message_of_more_than_2_gib(unequal, way):
    for calls in (2, 6, 18, 54) if way == "auto" and not IS_SANITIZED else (1,):  # where ranks come late, after more calls
        followed, left, said = unequal("wide", calls=calls, FORSCHED_WAY=way)
        assert followed + left == calls
        if "longest message" in said:
            break
    if way == "auto" and not IS_SANITIZED:
        assert "longest message 3221225472 bytes" in said, said


def test_inter_communicators_are_left_to_mpi(unequal):
    assert unequal("inter", FORSCHED_WAY="phases")[:2] == (0, CALLS)


@pytest.mark.parametrize("env", [{"FORSCHED_WAY": "chunks", "FORSCHED_CHUNK": 40}, {"FORSCHED_WAY": "auto", "FORSCHED_MIN_BYTES": 0},
                                 {"FORSCHED_WAY": "auto", "FORSCHED_MIN_BYTES": 300}])
def test_random_calls_across_three_epochs(plan, rank_map, mpirun, tmp_path, env):
    """Of all types, in place and not, while the schedule changes: every byte as MPI has it."""
    files = [plan("FT(2;4,4)", 0, 10), plan("FT(2;4,4)", 2, 11, "Leaf00[5]", method="exact"), plan("FT(2;4,4)", 0, 12, "Spine03")]
    live = tmp_path / "live"
    usual = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0])}
    done = mpirun(16, "tests/apps/random_calls", 150, 3, live, *files, env={**usual, **env})
    assert done.code == 0, done.out + done.err
    calls, followed, left, epochs, different = map(int, re.findall(r"\d+", done.out))
    assert (calls, different) == (150, 0) and followed + left == 150
    assert env["FORSCHED_WAY"] == "auto" or (followed, epochs) == (150, 3)


def test_what_is_no_way_is_reported(unequal):
    assert "FORSCHED_WAY=best is none of auto" in unequal("small", FORSCHED_WAY="best")[2]


@by_times
def test_many_small_calls_without_a_schedule_do_not_speak(plan, mpirun, tmp_path):
    """Of another fabric, or none: ranks are left alone for longer and longer, and a schedule that comes is seen all the same."""
    other = plan("FT(2;4,4)", 0, 30)
    done = mpirun(8, "tests/apps/random_calls", 200, 8, tmp_path / "none", env={"FORSCHED_SCHEDULE": other, "FORSCHED_CHECK": "",
                                                                               "FORSCHED_WAY": "auto"})
    assert "200 calls, 0 followed, 200 left, 0 epochs, 0 different" in done.out, done.out + done.err


@pytest.fixture
def asked(plan, rank_map, mpirun):
    """asked(calls): which of them ranks are asked about before they begin, `?`, and which not, `.`."""
    schedule = plan("FT(2;4,2)", 0, 30)
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule), "FORSCHED_WAY": "auto", "FORSCHED_CHECK": ""}

    def call(calls):
        done = mpirun(8, "tests/apps/asked_calls", calls, env=env)
        assert done.code == 0 and len(done.out.strip()) == len(calls), done.out + done.err
        return done.out.strip()

    return call


@by_times
def test_small_calls_are_left_to_mpi_without_a_question_about_each(asked):
    """Asking takes a tenth of what these calls do here, so every third one may be asked about, as soon as that is known."""
    said = asked("s" * 48)
    assert said.startswith("??") and said[2:].count("?") <= 16, said


@by_times
def test_large_calls_among_small_ones_are_asked_about(asked):
    """Asking is little beside the time of all calls, once it is known that some of them are large; ranks that come late count as asking."""
    said = asked("ssl" * 16)
    assert "?" in said[2::3], said


@pytest.mark.parametrize("min_bytes", [0, 1000])
def test_communicators_are_freed_after_any_of_their_calls(plan, rank_map, mpirun, tmp_path, min_bytes):
    """Nothing that ranks say goes on between calls."""
    files = [plan("FT(2;4,2)", 0, 10), plan("FT(2;4,2)", 0, 11, "Leaf00[5]")]
    (tmp_path / "live").mkdir()
    env = {"FORSCHED_SCHEDULE": tmp_path / "live" / "schedule", "FORSCHED_MAP": rank_map(files[0], [rank // 2 for rank in range(16)]),
           "FORSCHED_CHECK": "", "FORSCHED_WAY": "auto", "FORSCHED_MIN_BYTES": min_bytes}
    done = mpirun(16, "tests/apps/random_calls", "-c", 60, 1, tmp_path / "live" / "schedule", *files, env=env)
    assert done.code == 0 and ", 0 different" in done.out, done.out + done.err


def test_who_says_a_way_has_it_from_the_first_call_on(unequal):
    assert re.search(r"epoch 30: followed by 8 ranks; that took [\d.e-]+ ms, phases without data", unequal("same", FORSCHED_WAY="phases")[2])
