# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libforsched-mpi under real MPI programs: MPI's own results, and the schedule followed wherever it fits."""
import os
import pathlib
import re
import stat
import time

import pytest

from conftest import BUILD, IS_SANITIZED, guids, start

# Ranks that wait spin, so on a busy machine a call of 36 ranks takes long: in `make check` the slow ones are fewer.
# So are those of a build with sanitizers.
IS_LONG = bool(os.environ.get("FORS_LONG_TESTS"))
TIMEOUT = 3600 if IS_LONG else 600
THOUSAND = 1000 if IS_LONG else 60 if IS_SANITIZED else 300
ENDING = re.compile(r"(\d+) calls, (\d+) followed, (\d+) left, (\d+) epochs, (\d+) different")


def numbers(done):
    assert done.code == 0, done.out + done.err
    return [int(number) for number in ENDING.search(done.out).groups()]


@pytest.fixture
def live(tmp_path):
    return tmp_path / "live" / "schedule"


@pytest.fixture(autouse=True)
def live_folder(tmp_path):
    (tmp_path / "live").mkdir()


@pytest.mark.parametrize("barrier,calls", [("none", THOUSAND), ("tree", 1000 if IS_LONG else 40)])
def test_random_calls_on_16_ranks_across_three_epochs(plan, rank_map, mpirun, live, barrier, calls):
    files = [plan("FT(2;4,4)", 0, 10), plan("FT(2;4,4)", 2, 11, "Leaf00[5]", method="exact"),
             plan("FT(2;4,4)", 0, 12, "Leaf00[5]", "Spine03", method="rounds"),
             plan("FT(2;4,4)", 2, 13, method="closed-form")]
    order = [(5 * rank + 3) % 16 for rank in range(16)]
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0], order), "FORSCHED_BARRIER": barrier}
    done = mpirun(16, "tests/apps/random_calls", calls, 1, live, *files, env=env, timeout=TIMEOUT)
    assert numbers(done) == [calls, calls, 0, 4, 0]


@pytest.mark.parametrize("barrier,calls", [("none", 1000 if IS_LONG else 24), ("tree", 1000 if IS_LONG else 8)])
def test_random_calls_on_36_ranks_across_three_epochs(plan, rank_map, mpirun, live, barrier, calls):
    files = [plan("FT(2;6,6)", 0, 10), plan("FT(2;6,6)", 0, 11, "Leaf00[7]", "Leaf02[9]"),
             plan("FT(2;6,6)", 3, 12, "Spine01", "Leaf05[12]"), plan("FT(2;6,6)", 0, 13)]
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0]), "FORSCHED_BARRIER": barrier}
    done = mpirun(36, "tests/apps/random_calls", calls, 2, live, *files, env=env, timeout=TIMEOUT)
    assert numbers(done) == [calls, calls, 0, 4, 0]


def test_both_versions_of_the_format_on_the_way(plan, rank_map, mpirun, live):
    files = [plan("FT(2;4,4)", 0, 10), plan("FT(2;4,4)", 0, 11, "Leaf00[5]", method="rounds", more="ws"),
             plan("FT(2;4,4)", 2, 12, method="exact", more="wsn"), plan("FT(2;4,4)", 2, 13, method="exact", more="wm")]
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0]), "FORSCHED_BARRIER": "none"}
    done = mpirun(16, "tests/apps/random_calls", 60, 4, live, *files, env=env, timeout=TIMEOUT)
    assert numbers(done) == [60, 60, 0, 4, 0]


def test_withdrawn_damaged_and_other_schedules_on_the_way(plan, withdraw, rank_map, mpirun, live, tmp_path):
    good = plan("FT(2;4,2)", 0, 20)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(plan("FT(2;4,2)", 0, 22).read_bytes()[:-5])
    env = {"FORSCHED_SCHEDULE": live.parent, "FORSCHED_MAP": rank_map(good)}
    files = [withdraw(19, "no tree yet"), good, damaged, withdraw(23, "opensm has handed over"),
             plan("FT(2;4,3)", 0, 24), plan("FT(2;4,2)", 2, 25, "Leaf00[5]")]
    done = mpirun(8, "tests/apps/random_calls", 60, 4, live, *files, env=env)
    # withdrawn: 10 left; 20 followed (the damaged one changes nothing); withdrawn: 10 left; some of 12 servers: 10; all: 10
    assert numbers(done) == [60, 40, 20, 3, 0]
    assert "truncated" in done.err


HOUR = 3600


def heartbeat(path, age, epoch=20):
    """One that was written `age` seconds ago."""
    path.write_text(f"{int((time.time() - age) * 1000)} {epoch}\n")
    return path


@pytest.mark.parametrize("age,what", [(40 * 365 * 24 * HOUR, "is old"), (-365 * 24 * HOUR, "is in the future")])
def test_nobody_stands_behind_the_schedule(eight, mpirun, live, age, what):
    """It stays right until a link changes, so it is followed, and somebody is told, once."""
    heartbeat(eight["FORSCHED_SCHEDULE"].parent / "heartbeat", age)
    done = mpirun(8, "tests/apps/random_calls", 10, 8, live, env=eight)
    assert numbers(done) == [10, 10, 0, 1, 0]
    assert what in done.err and "stays right until a link changes" in done.err
    assert done.err.count("libforsched-mpi:") == 1, done.err
    done = mpirun(8, "tests/apps/random_calls", 10, 8, live, env={**eight, "FORSCHED_STRICT": 1})
    left_to_mpi(done, what, "left to MPI")


def test_the_strict_want_a_heartbeat(eight, mpirun, live):
    """A schedule without one may come from anywhere: without a word, but not for the strict."""
    strict, beat = {**eight, "FORSCHED_STRICT": 1}, eight["FORSCHED_SCHEDULE"].parent / "heartbeat"
    done = mpirun(8, "tests/apps/random_calls", 10, 8, live, env=eight)
    assert numbers(done) == [10, 10, 0, 1, 0] and "libforsched-mpi" not in done.err
    left_to_mpi(mpirun(8, "tests/apps/random_calls", 10, 8, live, env=strict), "cannot be read")
    beat.write_text("-5 1\n")
    left_to_mpi(mpirun(8, "tests/apps/random_calls", 10, 8, live, env=strict), "cannot be understood")
    heartbeat(beat, -20)  # clocks of two hosts differ a little
    assert numbers(mpirun(8, "tests/apps/random_calls", 10, 8, live, env=strict)) == [10, 10, 0, 1, 0]


def test_a_heartbeat_that_stops_and_comes_back(plan, rank_map, mpirun, live, tmp_path):
    """The strict leave the schedule to MPI in between, all ranks in the same call; the others go on."""
    good = plan("FT(2;4,2)", 0, 20)
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(good)}

    def run(**more):
        live.unlink(missing_ok=True)
        (tmp_path / "copy").write_bytes(good.read_bytes())
        heartbeat(live.parent / "heartbeat", 0)
        beats = [heartbeat(tmp_path / "old", HOUR), heartbeat(tmp_path / "young", 0)]
        return mpirun(8, "tests/apps/random_calls", 30, 4, live, tmp_path / "copy", *[f"beat:{beat}" for beat in beats],
                      env={**env, **more})

    done = run(FORSCHED_STRICT=1)
    assert numbers(done) == [30, 20, 10, 2, 0] and done.err.count("is old: left to MPI") == 1
    done = run()
    assert numbers(done) == [30, 30, 0, 1, 0] and done.err.count("is old: no subnet manager") == 1


def test_the_schedule_of_a_job(plan, withdraw, rank_map, mpirun, tmp_path):
    """Where each job has a schedule of its own a program follows that of its job, as soon as it is there."""
    good, live, mine = plan("FT(2;4,2)", 0, 20), tmp_path / "live", tmp_path / "live/jobs/4711"
    mine.mkdir(parents=True)
    (live / "schedule").write_bytes(withdraw(30, "jobs: each job has a schedule of its own").read_bytes())
    heartbeat(live / "heartbeat", 0)
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(good), "FORSCHED_STRICT": 1}
    beat = heartbeat(tmp_path / "beat", 0)

    def run(**more):
        (mine / "schedule").unlink(missing_ok=True)
        (tmp_path / "copy").write_bytes(good.read_bytes())
        return numbers(mpirun(8, "tests/apps/random_calls", 20, 4, mine / "schedule", f"beat:{beat}", tmp_path / "copy",
                              env={**env, **more}))
    assert run(SLURM_JOB_ID=4711) == [20, 10, 10, 1, 0]
    heartbeat(beat, 0)
    assert run(SLURM_JOB_ID=9, FORSCHED_JOB=4711) == [20, 10, 10, 1, 0]
    heartbeat(beat, 0)
    assert run(SLURM_JOB_ID=9) == [20, 0, 20, 0, 0]


@pytest.fixture
def job_with_index(tmp_path, mpirun):
    """A job of six servers that has the path index of jobs, published; run(program, args, env): under MPI, as its ranks."""
    servers = [f"Node{leaf:02}-{slot:02}" for leaf in range(3) for slot in range(2)]
    (tmp_path / "jobs").write_text(f"4711 [job-index]: {', '.join(servers)}\n")
    done = start([BUILD / "fors", "jobs", "--synthetic", "FT(2;4,4)", "--lmc", 1, "--job-index", "--jobs", tmp_path / "jobs",
                  "--output-dir", tmp_path / "live/jobs"])
    assert done.code == 0, done.err
    mine = tmp_path / "live/jobs/4711/schedule"
    assert start([BUILD / "tests/cli/stamp_schedule", mine, 40]).code == 0
    lines = "".join(f"{rank} {guid}\n" for rank, guid in enumerate(guids(mine)))
    (tmp_path / "map").write_text(lines)
    usual = {"FORSCHED_SCHEDULE": tmp_path / "live", "FORSCHED_MAP": tmp_path / "map", "SLURM_JOB_ID": 4711}

    def run(*args, **more):
        done = mpirun(6, "tests/apps/path_index", *args, env={**usual, **more})
        assert done.code == 0, done.err
        return re.search("path bits (.*)", done.out).group(1), done.err

    return run


@pytest.mark.parametrize("how", [[], ["thread"]])
def test_the_path_index_of_a_job_is_given_to_ucx(job_with_index, how):
    bits, said = job_with_index(*how, FORSCHED_VERBOSE=2)
    assert bits == "1 1 1 1 1 1"
    assert said.count("UCX_IB_LID_PATH_BITS=1: the path index of /") == 1 and "followed by 6 ranks" in said
    assert "not its paths" not in said
    assert job_with_index(*how) == ("1 1 1 1 1 1", "")


def test_what_is_set_stays_and_is_said(job_with_index):
    bits, said = job_with_index(UCX_IB_LID_PATH_BITS=0, FORSCHED_VERBOSE=2)
    assert bits == "0 0 0 0 0 0" and "UCX_IB_LID_PATH_BITS=0 was set already" in said
    assert "the schedule uses path index 1, and UCX_IB_LID_PATH_BITS was 0 when MPI began" in said
    assert job_with_index(UCX_IB_LID_PATH_BITS=1) == ("1 1 1 1 1 1", "")


def test_no_path_index_is_given_without_one(job_with_index, plan, withdraw, tmp_path):
    """Base LIDs; several path indices; another job; withdrawn; damaged; no file at all: nothing is set, and the program runs."""
    mine = tmp_path / "live/jobs/4711/schedule"
    whole, nothing = mine.read_bytes(), "- - - - - -"
    for file, why in ((plan("FT(2;3,2)", 0, 41), ""), (plan("FT(2;3,2)", 2, 42, "Leaf00[4]", method="exact"), "several path indices"),
                      (withdraw(43, "jobs"), "withdrawn")):
        mine.write_bytes(file.read_bytes())
        bits, said = job_with_index(FORSCHED_VERBOSE=2)
        assert bits == nothing and why in said, said
    mine.write_bytes(whole[:-1])
    bits, said = job_with_index(FORSCHED_VERBOSE=2)
    assert bits == nothing and "is not set" not in said and "truncated" in said  # by the call that would follow it
    assert job_with_index(SLURM_JOB_ID=9)[0] == nothing
    assert job_with_index(FORSCHED_JOB="../4711")[0] == nothing


def test_looking_seldom_is_agreed_on(plan, rank_map, mpirun, live):
    files = [plan("FT(2;4,2)", 0, 20), plan("FT(2;4,2)", 0, 21, "Leaf00[5]"), plan("FT(2;4,2)", 0, 22)]
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(files[0]), "FORSCHED_CHECK": 45}
    # Calls 0, 45 and 90 look; the third file comes before call 60.
    assert numbers(mpirun(8, "tests/apps/random_calls", 91, 5, live, *files, env=env)) == [91, 91, 0, 3, 0]
    assert numbers(mpirun(8, "tests/apps/random_calls", 90, 5, live, env=env)) == [90, 90, 0, 1, 0]


def test_no_schedule_and_no_setting(mpirun, live):
    assert numbers(mpirun(4, "tests/apps/random_calls", 30, 6, live)) == [30, 0, 30, 0, 0]
    done = mpirun(4, "tests/apps/random_calls", 30, 6, live, env={"FORSCHED_SCHEDULE": live})
    assert numbers(done) == [30, 0, 30, 0, 0]
    assert done.err.count("No such file") == 1


def test_what_is_wrong_is_reported_once(mpirun, live):
    """Each process that is rank 0 of some communicator says it: 0, 1 (of half the ranks), 7 (backwards)."""
    live.write_bytes(b"FORSschd")
    done = mpirun(8, "tests/apps/communicators", "kinds", env={"FORSCHED_SCHEDULE": live, "FORSCHED_CHECK": "often"})
    assert done.err.count("truncated") == 3 and done.err.count("is not a number") == 3, done.err
    assert len(done.err.splitlines()) == 6


def test_fewer_ranks_than_servers_have_to_know_where_they_are(plan, rank_map, mpirun, live):
    """With their ports known they are some of the servers, and follow."""
    schedule = plan("FT(2;4,2)", 0, 30)
    env = {"FORSCHED_SCHEDULE": schedule}
    left_to_mpi(mpirun(4, "tests/apps/random_calls", 10, 8, live, env=env), "no InfiniBand port", "FORSCHED_MAP")
    done = mpirun(4, "tests/apps/random_calls", 10, 8, live, env={**env, "FORSCHED_MAP": rank_map(schedule)})
    assert numbers(done)[:3] == [10, 10, 0], done.out + done.err


def test_a_program_without_the_library_is_the_same_program(mpirun, live):
    assert numbers(mpirun(4, "tests/apps/random_calls", 30, 7, live, preload=False)) == [30, 0, 0, 0, 0]


@pytest.fixture
def eight(plan, rank_map):
    """The settings of 8 ranks on FT(2;4,2)."""
    schedule = plan("FT(2;4,2)", 0, 30)
    return {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule)}


def test_which_communicators_follow(mpirun, eight):
    """All servers of the schedule, or some of them; not a rank alone, and not two groups of ranks."""
    done = mpirun(8, "tests/apps/communicators", "kinds", env=eight)
    assert done.code == 0, done.out + done.err
    followed, left = "1 followed 0 left", "0 followed 1 left"
    assert done.out.splitlines() == [f"world {followed}", f"world again {followed}", f"self {left}", f"dup {followed}",
                                     f"dup again {followed}", f"reversed {followed}", f"half {followed}", f"inter {left}",
                                     f"all but one {followed}", f"world at last {followed}"]


def by_rank(tmp_path, text):
    """A program that starts another with a setting by rank: mpirun sets them alike for all."""
    wrapper = tmp_path / "by-rank"
    wrapper.write_text(f"#!/bin/sh\nr=$OMPI_COMM_WORLD_RANK\n{text}\nexec \"$@\"\n")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    return wrapper


def test_messages_go_in_the_order_of_the_schedule(plan, mpirun, tmp_path):
    schedule = plan("FT(2;4,4)", 2, 30, "Leaf00[5]", "Spine02", method="exact")
    servers = " ".join(reversed(guids(schedule)))
    wrapper = by_rank(tmp_path, f"set -- {servers} \"$@\"\nshift $r\nexport FORSCHED_SERVER=$1\nshift $((16 - r))")
    done = mpirun(16, "tests/apps/communicators", "order", env={"FORSCHED_SCHEDULE": schedule}, wrapper=[wrapper])
    assert done.code == 0, done.out + done.err
    assert done.out.splitlines() == ["world 1 followed 0 left", "world again 1 followed 0 left", "order checked"]


def test_errors_reach_the_program_and_nobody_hangs(mpirun, eight):
    done = mpirun(8, "tests/apps/communicators", "errors", env=eight)
    assert done.code == 0, done.out + done.err
    assert done.out.splitlines() == ["world 1 followed 0 left", "too much for the receiver: truncated", "no type: type",
                                     "negative: count", "one sent block: count", "one received block: count",
                                     "one block in place: count", "world again 1 followed 0 left"]


def test_blocks_in_place_that_no_int_counts(plan, rank_map, mpirun):
    """As plain MPI does it. Two GiB are not at hand: MPI_Pack_size() of the program ends where 100,000 bytes do."""
    schedule = plan("FT(2;2,2)", 0, 30)
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule)}
    done = mpirun(4, "tests/apps/communicators", "wide", env=env)
    assert done.code == 0, done.out + done.err
    assert done.out.splitlines() == ["world 1 followed 0 left", "own block of more than 2 GiB: success",
                                     "wide: success", "less wide: success", "narrow: success", "wide with gaps: success",
                                     "world again 1 followed 0 left"]


def left_to_mpi(done, *why):
    """All 10 calls have MPI's results without the schedule, and somebody is told why, once."""
    assert numbers(done) == [10, 0, 10, 0, 0]
    for part in why:
        assert part in done.err, done.err
    assert len([line for line in done.err.splitlines() if line.startswith("libforsched-mpi:")]) == 1, done.err


def test_ranks_that_do_not_know_their_server(mpirun, eight, live, tmp_path):
    def ten_calls(**env):
        return mpirun(8, "tests/apps/random_calls", 10, 8, live, env={**eight, **env})

    lines = eight["FORSCHED_MAP"].read_text().splitlines()
    short = tmp_path / "short"
    short.write_text("\n".join(lines[:-1]) + "\n")
    left_to_mpi(ten_calls(FORSCHED_MAP=short), "rank 7", "has neither rank 7 nor host")
    twice = tmp_path / "twice"
    twice.write_text("\n".join([*lines[:-1], lines[-2].replace("6 ", "7 ")]) + "\n")
    assert numbers(ten_calls(FORSCHED_MAP=twice)) == [10, 10, 0, 1, 0]
    wrong = tmp_path / "wrong"
    wrong.write_text("\n".join([*lines[:3], "2 guid"]) + "\n")
    left_to_mpi(ten_calls(FORSCHED_MAP=wrong), "wrong:4", "RANK GUID")
    left_to_mpi(ten_calls(FORSCHED_MAP=tmp_path / "nowhere"), "cannot be opened")
    left_to_mpi(ten_calls(FORSCHED_SERVER="0xfeed"), "no server has the port GUID 0x000000000000feed")
    left_to_mpi(ten_calls(FORSCHED_SERVER="Node00-0"), "FORSCHED_SERVER", "not a port GUID")
    left_to_mpi(ten_calls(FORSCHED_MAP="", FORSCHED_SYSFS=tmp_path / "nothing"), "no InfiniBand port found")


def test_long_lines_in_the_map(mpirun, eight, live, tmp_path):
    lines = eight["FORSCHED_MAP"].read_text().splitlines()
    path = tmp_path / "long"

    def ten_calls(*more):
        path.write_text("\n".join([*more, *lines]) + "\n")
        return mpirun(8, "tests/apps/random_calls", 10, 8, live, env={**eight, "FORSCHED_MAP": path})

    for length in [511, 512, 65536]:
        comment, entry = "#".ljust(length, "x"), lines[1].ljust(length)
        assert numbers(ten_calls(comment, entry)) == [10, 10, 0, 1, 0]
        left_to_mpi(ten_calls("# short", comment, "0 guid".ljust(length)), "long:3:", "RANK GUID")
    left_to_mpi(ten_calls("# short", "#".ljust(65537, "x")), "long:2:", "more than 65536 characters")


def add_port(root, device, port, guid):
    gids = root / device / "ports" / str(port) / "gids"
    gids.mkdir(parents=True)
    digits = f"fe80000000000000{int(guid, 16):016x}"
    (gids / "0").write_text(":".join(digits[i:i + 4] for i in range(0, 32, 4)) + "\n")


def test_ports_of_the_host(plan, mpirun, live, tmp_path):
    """One folder like /sys/class/infiniband for each rank; each host has a second port that is not in the exchange."""
    schedule = plan("FT(2;4,2)", 0, 30)
    for rank, guid in enumerate(guids(schedule)):
        add_port(tmp_path / f"host{rank}", "mlx5_0", 1, guid)
        add_port(tmp_path / f"host{rank}", "mlx5_1", 1, f"0xbeef{rank}")
    wrapper = by_rank(tmp_path, f"export FORSCHED_SYSFS={tmp_path}/host$r")

    def ten_calls(settings):
        return mpirun(8, "tests/apps/random_calls", 10, 9, live, env=settings, wrapper=[wrapper])

    env = {"FORSCHED_SCHEDULE": schedule}
    assert numbers(ten_calls(env)) == [10, 10, 0, 1, 0]
    other = {**env, "FORSCHED_DEVICE": "mlx5_1:1"}
    left_to_mpi(ten_calls(other), "rank 0", "mlx5_1:1")
    # Two ports of one host in the exchange: which one, has to be given.
    add_port(tmp_path / "host3", "mlx5_2", 1, guids(schedule)[5])
    left_to_mpi(ten_calls(env), "rank 3", "several ports")
    chosen = {**env, "UCX_NET_DEVICES": "mlx5_0:1"}
    assert numbers(ten_calls(chosen)) == [10, 10, 0, 1, 0]


def test_a_schedule_that_is_not_there_is_told_once(mpirun, live, tmp_path):
    """Not as a matter of path indices before the first call, nor by each rank."""
    env = {"FORSCHED_SCHEDULE": tmp_path / "nope", "FORSCHED_VERBOSE": 2}
    done = mpirun(4, "tests/apps/random_calls", 10, 8, live, env=env)
    assert "10 left to MPI because there was no schedule that the ranks" in done.err
    assert done.err.count(f"{tmp_path}/nope") == 1 and "nope: No such file" in done.err and "UCX_IB_LID_PATH_BITS" not in done.err, done.err
    done = mpirun(4, "tests/apps/random_calls", 10, 8, live, env={**env, "FORSCHED_JOB": "../evil"})
    assert done.err.count("is no name of a job") == 1, done.err


def test_the_map_that_the_manual_page_makes(plan, mpirun, live, tmp_path):
    """forsched_server(3) has one line that makes a map from a schedule."""
    schedule = plan("FT(2;4,2)", 0, 30)
    page = (pathlib.Path(__file__).resolve().parents[2] / "man/forsched_server.3").read_text()
    line = next(line for line in page.splitlines() if line.startswith("fors schedule FILE"))
    line = line.replace("\\(aq", "'").replace("\\-", "-").replace("fors schedule FILE", f"{BUILD}/fors schedule {schedule}")
    assert start(["sh", "-c", f"cd {tmp_path} && {line}"]).code == 0
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": tmp_path / "map"}
    assert numbers(mpirun(8, "tests/apps/random_calls", 10, 10, live, env=env)) == [10, 10, 0, 1, 0]


def test_host_names_in_the_map(plan, mpirun, live, tmp_path):
    schedule = plan("FT(2;4,2)", 0, 30)
    host = os.uname().nodename
    known = guids(schedule)
    text = f"{host.split('.')[0]} {known[0]}\nanother {known[1]}\n" + "".join(f"{r} {known[r]}\n" for r in range(1, 8))
    (tmp_path / "map").write_text(text)
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": tmp_path / "map"}
    assert numbers(mpirun(8, "tests/apps/random_calls", 10, 10, live, env=env)) == [10, 10, 0, 1, 0]


def test_settings(mpirun, eight, live):
    done = mpirun(8, "tests/apps/random_calls", 10, 11, live, env={**eight, "FORSCHED_BARRIER": "fast"})
    assert numbers(done) == [10, 10, 0, 1, 0] and "is none of tree, none; taking none" in done.err
    done = mpirun(8, "tests/apps/random_calls", 10, 11, live, env={**eight, "FORSCHED_CHECK": "often"})
    assert numbers(done) == [10, 10, 0, 1, 0] and "is not a number" in done.err
    done = mpirun(8, "tests/apps/communicators", "kinds", env={**eight, "FORSCHED_MIN_BYTES": "5"})
    assert "world again 0 followed 1 left" in done.out and "longest message" not in done.err
    done = mpirun(8, "tests/apps/communicators", "kinds", env={**eight, "FORSCHED_MIN_BYTES": "5", "FORSCHED_VERBOSE": "2"})
    reasons = dict(reversed(found) for found in re.findall(r"(\d+) left to MPI because (.*)", done.err))
    assert int(reasons["no message had FORSCHED_MIN_BYTES"]) > 0
    assert int(reasons["the communicator has one rank, or two groups"]) > 0
    left = re.search(r"(\d+) left to MPI, ", done.err)
    assert sum(map(int, reasons.values())) == int(left[1]), done.err
    done = mpirun(2, "tests/apps/random_calls", 10, 11, live, env={"FORSCHED_VERBOSE": "2"})
    assert "10 left to MPI because FORSCHED_SCHEDULE is not set" in done.err
    done = mpirun(8, "tests/apps/communicators", "kinds",
                  env={**eight, "FORSCHED_MIN_BYTES": "4", "FORSCHED_VERBOSE": "2"})
    assert "world again 1 followed 0 left" in done.out
    assert "epoch 30: followed by 8 ranks" in done.err and "calls along the schedule" in done.err
    assert "epoch 30: followed by 4 ranks on 4 of 8 servers, in " in done.err
    done = mpirun(8, "tests/apps/random_calls", 10, 11, live,
                  env={**eight, "FORSCHED_MAP": "/nowhere", "FORSCHED_VERBOSE": "0"})
    assert numbers(done)[1] == 0 and "libforsched-mpi" not in done.err


def test_the_schedule_of_a_demand_is_left_alone(rank_map, mpirun, live, tmp_path):
    """It does not have all pairs: calls are left to MPI, and a person is told."""
    path, demand = tmp_path / "schedule", tmp_path / "demand"
    demand.write_text("Node00-0[0-3] Node01-0[0-3] 1000\n")
    made = start([BUILD / "fors", "plan", "--synthetic", "FT(2;4,2)", "--demand", demand, "--output", path])
    assert made.code == 0, made.err
    done = mpirun(8, "tests/apps/random_calls", 20, 4, live, path, env={"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(path)})
    assert numbers(done)[1] == 0 and done.err.count("the schedule of a demand: left to MPI") == 1


@pytest.fixture
def short(plan, mpirun, rank_map):
    """Four ranks, a schedule, and a program in which libforsched-mpi's memory ends."""
    if IS_SANITIZED:
        pytest.skip("sanitizers have a malloc() of their own")
    env = {"FORSCHED_SCHEDULE": plan("FT(2;2,2)", 0, 10), "FORSCHED_WAY": "phases", "FORSCHED_BARRIER": "none"}
    env["FORSCHED_MAP"] = rank_map(env["FORSCHED_SCHEDULE"])
    return lambda *args: mpirun(4, "tests/apps/short_calls", *args, env=env)


@pytest.mark.parametrize("rank", [0, 1])
def test_memory_that_ends_on_one_rank_changes_no_result(short, rank):
    """Whichever allocation fails, on whichever rank: all ranks leave the schedule to MPI, or none; and in the end all calls are followed."""
    done = short(rank)
    assert done.code == 0, done.out + done.err
    for line in done.out.splitlines():
        failed, followed, different = map(int, re.fullmatch(r"(\d+) failed, (\d+) calls .*, (\d+) different", line).groups())
        assert failed > 20 and (followed, different) == (3, 0), done.out + done.err


@pytest.mark.parametrize("allocation", [1, 2])
def test_no_memory_for_a_communicator_is_an_error_of_the_call(short, allocation):
    done = short(0, allocation)
    assert done.code == 3 and done.out.splitlines()[0] == "no memory", done.out + done.err
