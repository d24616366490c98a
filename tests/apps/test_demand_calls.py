# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Calls of unequal messages along the schedule of a demand: which calls fit it, and MPI's own results in all of them."""
import random
import re

import pytest

ENDING = re.compile(r"(\d+) calls, (\d+) followed, (\d+) left, (\d+) epochs, (\d+) different")
PLANNED = re.compile(r"(\d+) of the calls along that of a demand")


def servers(leaves, slots):
    return [f"Node{leaf:02d}-{slot:02d}" for leaf in range(leaves) for slot in range(slots)]


def sizes(names, seed, sigma=1.0):
    """Each to each, lognormal."""
    rng = random.Random(seed)
    return "".join(f"{a} {b} {1 + int(rng.lognormvariate(0, sigma) * 1000)}\n" for a in names for b in names if a != b)


ROLES = "role Node0[0-2]-0[0-3] send\nrole Node03-0[0-3] receive\n"


@pytest.fixture
def live(tmp_path):
    (tmp_path / "live" / "demand" / "events").mkdir(parents=True)
    return tmp_path / "live" / "schedule"


@pytest.fixture
def calls(mpirun, live):
    """calls(ranks, number, seed, files...) -> (followed, left, epochs, planned, standard error): as random_calls, all results MPI's."""

    def call(ranks, number, seed, *files, many=False, **env):
        usual = {"FORSCHED_SCHEDULE": live, "FORSCHED_WAY": "demand", "FORSCHED_BARRIER": "none", "FORSCHED_VERBOSE": 2}
        done = mpirun(ranks, "tests/apps/random_calls", *(["-c"] if many else []), number, seed, live, *files, env={**usual, **env})
        assert done.code == 0, done.out + done.err
        all_calls, followed, left, epochs, different = map(int, ENDING.search(done.out).groups())
        assert (all_calls, different) == (number, 0), done.out + done.err
        planned = PLANNED.search(done.err)
        return followed, left, epochs, int(planned[1]) if planned else 0, done.err

    return call


def copies(file, n):
    """So many copies: random_calls moves them."""
    made = [file.with_name(f"{file.name}-{i}") for i in range(n)]
    for path in made:
        path.write_bytes(file.read_bytes())
    return made


def test_random_calls_while_both_schedules_change(plan, demand, withdraw, rank_map, calls):
    """Of all types, with holes, in place and not, most of them cut into pieces."""
    names = servers(4, 4)
    files = [plan("FT(2;4,4)", 0, 10), plan("FT(2;4,4)", 0, 20, "Leaf00[5]"),
             demand("FT(2;4,4)", sizes(names, 1), 11), demand("FT(2;4,4)", sizes(names, 2, 0.5), 21, "Leaf00[5]"), withdraw(12, "a cable is dead")]
    order = [(5 * rank + 3) % 16 for rank in range(16)]
    followed, left, epochs, planned, said = calls(
        16, 180, 1, files[0], f"demand:{files[2]}", f"demand:{files[4]}", files[1], f"demand:{files[3]}", f"demand:{copies(files[2], 1)[0]}",
        FORSCHED_MAP=rank_map(files[0], order))
    # 30 calls each: the schedule alone; the first demand; withdrawn; the other schedule; the second demand, which an older one does not replace
    assert (followed, left, epochs) == (180, 0, 2)
    assert 40 <= planned <= 90 and said.count("of a demand: followed by 16 ranks") == 2, said
    assert "withdrawn: a cable is dead: the demand is not followed" in said


@pytest.mark.parametrize("each", [2, 3])
def test_several_ranks_on_a_server(plan, demand, rank_map, calls, each):
    """They share what their server sends; some servers have one rank only."""
    schedule, planned = plan("FT(2;4,2)", 0, 10), demand("FT(2;4,2)", sizes(servers(2, 4), 3), 11)
    order = [rank // each for rank in range(each * 8)][:each * 8 - 1]
    followed, left, epochs, along, said = calls(len(order), 40, 2, schedule, f"demand:{planned}", FORSCHED_MAP=rank_map(schedule, order))
    assert (followed, left, epochs) == (40, 0, 1) and along >= 8, said


def test_some_of_the_servers_and_many_communicators(plan, demand, rank_map, calls):
    """A piece of which an end has no rank in the communicator is nobody's."""
    schedule, planned = plan("FT(2;4,4)", 0, 10), demand("FT(2;4,4)", sizes(servers(4, 4), 4), 11, "Leaf01[6]")
    followed, left, epochs, along, said = calls(16, 60, 3, schedule, f"demand:{planned}", many=True, FORSCHED_MAP=rank_map(schedule))
    assert epochs > 3 and along > 5, said


def test_a_call_with_a_message_that_the_demand_lacks_goes_another_way(plan, demand, rank_map, calls):
    schedule, roles = plan("FT(2;4,4)", 0, 10), demand("FT(2;4,4)", ROLES, 11)
    followed, left, epochs, along, said = calls(16, 20, 4, schedule, f"demand:{roles}", FORSCHED_MAP=rank_map(schedule))
    assert (followed, left, along) == (20, 0, 0) and "of a demand: followed by 16 ranks" in said
    assert calls(16, 20, 4, copies(schedule.with_name("live") / "schedule", 1)[0], f"demand:{schedule.with_name('live')}/demand/events/schedule",
                 FORSCHED_MAP=rank_map(schedule.with_name("live") / "schedule"), FORSCHED_WAY="auto", FORSCHED_MIN_BYTES=0)[3] == 0


@pytest.mark.parametrize("setting,is_followed", [(None, True), ("events", True), ("LIVE/demand/events", True), ("none", False), ("others", False)])
def test_where_the_demand_is_found(plan, demand, rank_map, calls, live, setting, is_followed):
    schedule, planned = plan("FT(2;4,2)", 0, 10), demand("FT(2;4,2)", sizes(servers(2, 4), 5), 11)
    env = {"FORSCHED_MAP": rank_map(schedule)}
    if setting:
        env["FORSCHED_DEMAND"] = setting.replace("LIVE", str(live.parent))
    assert (calls(8, 20, 5, schedule, f"demand:{planned}", **env)[3] > 0) == is_followed


def test_of_several_demands_one_has_to_be_named(plan, demand, rank_map, calls, live):
    schedule, planned = plan("FT(2;4,2)", 0, 10), demand("FT(2;4,2)", sizes(servers(2, 4), 5), 11)
    other = live.parent / "demand" / "others"
    other.mkdir()
    (other / "schedule").write_bytes(planned.read_bytes())
    files = copies(schedule, 2) + copies(planned, 2)
    env = {"FORSCHED_MAP": rank_map(schedule)}
    said = calls(8, 20, 6, f"demand:{files[2]}", files[0], **env)[4]
    assert said.count("has 2 schedules of demands, and FORSCHED_DEMAND names none") == 1, said
    assert calls(8, 20, 6, f"demand:{files[3]}", files[1], FORSCHED_DEMAND="others", **env)[3] > 0


def test_a_withdrawn_demand_beside_another_does_not_count(plan, demand, withdraw, rank_map, calls, live):
    """It stays there for a day."""
    schedule, planned = plan("FT(2;4,2)", 0, 10), demand("FT(2;4,2)", sizes(servers(2, 4), 5), 11)
    for name in ("before", "older"):
        (live.parent / "demand" / name).mkdir()
        (live.parent / "demand" / name / "schedule").write_bytes(withdraw(9, "fors.conf names it no more").read_bytes())
    along, said = calls(8, 20, 6, schedule, f"demand:{planned}", FORSCHED_MAP=rank_map(schedule))[3:]
    assert along > 0 and "names none" not in said, said


def test_what_cannot_be_read_is_not_followed(plan, demand, rank_map, calls, tmp_path):
    """Nor a schedule of all with all; the next good one is."""
    schedule, planned = plan("FT(2;4,2)", 0, 10), demand("FT(2;4,2)", sizes(servers(2, 4), 5), 11)
    damaged, good = tmp_path / "damaged", demand("FT(2;4,2)", sizes(servers(2, 4), 5), 13)
    damaged.write_bytes(demand("FT(2;4,2)", sizes(servers(2, 4), 6), 12).read_bytes()[:-5])
    uniform = plan("FT(2;4,2)", 0, 14)
    followed, left, _, along, said = calls(8, 50, 7, schedule, f"demand:{planned}", f"demand:{damaged}", f"demand:{good}", f"demand:{uniform}",
                                           FORSCHED_MAP=rank_map(schedule))
    assert (followed, left) == (50, 0) and 8 <= along <= 20, said
    assert "truncated" in said and "no schedule of a demand: not followed as one" in said
    assert said.count("of a demand: followed by 8 ranks") == 2, said


def test_a_call_like_the_demand_is_seen_to_be_one(plan, demand, rank_map, mpirun, live):
    """What is said of it."""
    schedule = plan("FT(2;4,2)", 0, 10)
    live.write_bytes(schedule.read_bytes())
    (live.parent / "demand/events/schedule").write_bytes(demand("FT(2;4,2)", "role Node0[0-1]-0[0-3] both\n", 11).read_bytes())
    env = {"FORSCHED_SCHEDULE": live, "FORSCHED_MAP": rank_map(schedule), "FORSCHED_WAY": "demand", "FORSCHED_VERBOSE": 2}
    done = mpirun(8, "lab/testbed/alltoallv", 0, 40000, 1, 5, "alltoallv", env=env)
    assert done.code == 0 and "call 1: the demand's phases: longest message 40001 bytes" in done.err and "the call fits the demand" in done.err, done.err
