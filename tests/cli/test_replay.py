# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors jobs --replay: files of jobs from a history, against a simulation of its own."""
import random
import re

import pytest

SPEC = ("--synthetic", "FT(2;4,4)")  # 16 servers, 4 at a leaf; their port GUIDs go up by 2
SACCT = """\
JobID|Start|End|NNodes|NodeList
7|2024-02-28T23:59:50|2024-03-01T00:00:10|2|Node00-[00-01]
7.batch|2024-02-28T23:59:50|2024-03-01T00:00:10|1|Node00-00
8|2024-02-29T12:00:00|2024-02-29T13:00:00|2|Node00-01,Node03-03
9|2024-02-29T12:00:00|2024-03-02T13:00:00|3|Node01-[01-03]
10|2024-02-29T12:00:00|Unknown|3|Node02-[01-03]
11|2024-03-01T00:00:10|2024-03-01T12:00:00|1|Node00-01
12|2024-03-01T00:00:11|2024-03-01T12:00:00|1|elsewhere
"""


def swf(jobs):
    """[(start, length, processors)]"""
    return "; a comment\n" + "".join(f"{i + 1} {start} 0 {length} {n} -1 -1 {n} -1 -1 1 1 1 1 1 1 -1 -1\n" for i, (start, length, n) in enumerate(jobs))


@pytest.fixture
def replay(fors, write, tmp_path):
    def call(text, *more, code=0):
        folder = tmp_path / "out"
        call.result = fors("jobs", *SPEC, "--replay", write("history", text), "--output-dir", folder, *more, code=code)
        return [{name: {(int(guid, 16) - 0x100001) // 2 for guid in guids.split(", ")}
                 for name, guids in re.findall(r"^job(\S+): (.*)$", path.read_text(), re.M)} for path in sorted(folder.glob("*.jobs"))]

    return call


def test_recorded(replay):
    """Job 8 has a host of job 7 and is left out, 10 still runs, 12 ran elsewhere; on the leap day job 7 runs beside 9, then 11 follows."""
    found = replay(SACCT, "--count", 4)
    assert found == [{"7-0": {0, 1}}, {"7-0": {0, 1}, "9-1": {5, 6, 7}}, {"9-1": {5, 6, 7}, "11-2": {1}}, {"9-1": {5, 6, 7}, "11-2": {1}}]
    assert "3 jobs placed recorded, 2 left out; 4 snapshots" in replay.result.out


def test_first_fit_tree_and_random(replay):
    history = swf([(0, 100, 3), (0, 100, 4), (0, 100, 2), (0, 10, 5), (20, 100, 5)])
    first = replay(history, "--placement", "first-fit", "--count", 4)
    assert first[-1] == {"1-0": {0, 1, 2}, "2-1": {3, 4, 5, 6}, "3-2": {7, 8}, "5-4": {9, 10, 11, 12, 13}}
    tree = replay(history, "--placement", "tree", "--count", 4)
    assert tree[-1] == {"1-0": {0, 1, 2}, "2-1": {4, 5, 6, 7}, "3-2": {8, 9}, "5-4": {12, 13, 14, 15, 3}}
    for found in (replay(history, "--placement", "random", "--count", 4), replay(history, "--placement", "random", "--count", 4, "--seed", 5)):
        assert {name: len(servers) for name, servers in found[-1].items()} == {"1-0": 3, "2-1": 4, "3-2": 2, "5-4": 5}
    assert found != replay(history, "--placement", "random", "--count", 4)
    assert found == replay(history, "--placement", "random", "--count", 4, "--seed", 5)


@pytest.mark.parametrize("how", ["first-fit", "tree", "random"])
def test_a_queue(replay, how):
    """Nobody overtakes; servers have one job; as many at work as a queue of its own says."""
    rng = random.Random(3)
    jobs = [(rng.randrange(300), rng.randrange(1, 60), rng.randrange(1, 12)) for _ in range(60)]
    found = replay(swf(jobs), "--placement", how, "--count", 45)
    now, running, wanted = 0, [], []
    for number, (start, length, n) in sorted(((i + 1, job) for i, job in enumerate(jobs)), key=lambda one: (one[1][0], one[0])):
        now = max(now, start)
        running = [one for one in running if one[0] > now]
        while sum(one[1] for one in running) + n > 16:
            now = min(one[0] for one in running)
            running = [one for one in running if one[0] > now]
        running.append((now + length, n, number))
        wanted.append({one[2]: one[1] for one in running})
    assert [{int(name.split("-")[0]): len(servers) for name, servers in one.items()} for one in found] == wanted[15:]
    for one in found:
        assert len(set().union(*one.values())) == sum(len(servers) for servers in one.values())


def test_processors_and_jobs_that_never_ran(replay):
    history = swf([(0, 100, 9), (0, -1, 4), (5, 100, 1000)]) + "4 7 3.5 10.2 -1 -1 -1 8 -1 -1 1 1 1 1 1 1 -1 -1\n"
    found = replay(history, "--placement", "first-fit", "--cores", 4, "--count", 1)
    assert found == [{"1-0": {0, 1, 2}, "4-1": {3, 4}}]
    assert "2 jobs placed first-fit, 1 left out" in replay.result.out


def test_what_comes_out_is_planned(replay, fors, tmp_path):
    replay(swf([(0, 100, 6), (0, 100, 6), (1, 100, 4)]), "--placement", "random", "--count", 1)
    assert "no two jobs" in fors("jobs", *SPEC, "--lmc", 2, "--jobs", tmp_path / "out" / "0001.jobs").out


@pytest.mark.parametrize("text, wanted", [
    ("1 2 3\n", "history:1: 18 numbers"), ("x\n", "18 numbers"), ("JobID|Start|End\n", "there is no column NNodes"),
    ("JobID|Start|End|NNodes\n1|2024-01-01T00:00:00\n", "history:2: fewer columns"),
    ("JobID|Start|End|NNodes\n1|2024-01-02T00:00:00|2024-01-01T00:00:00|1\n", "an end behind the start"),
    ("JobID|Start|End|NNodes\nx|2024-01-02T00:00:00|2024-01-01T00:00:00|1\n", "a JobID is expected"),
    ("; nothing\n", "no job in it ran"), ("", "empty"), ("1 2 3 99999999999999999999 1 1 1 1\n", "18 numbers"),
    ("JobID|Start|End|NNodes|NodeList\n1|2024-01-01T00:00:00|2024-01-02T00:00:00|1|../[1-\n", "no job of the history ran"),
])
def test_bad_histories(replay, text, wanted):
    assert replay(text, code=2) == [] and wanted in replay.result.err


@pytest.mark.parametrize("args, wanted", [
    (["--replay", "x"], "--output-dir DIR is missing"), (["--replay", "x", "--jobs", "y"], "exclude each other"),
    (["--placement", "tree", "--jobs", "y"], "go with --replay"), (["--replay", "/nowhere/x", "--output-dir", "out"], "/nowhere/x"),
    (["--replay", "x", "--placement", "best"], "best"),
])
def test_bad_usage(fors, args, wanted, tmp_path):
    assert wanted in fors("jobs", *SPEC, *args, code=2, cwd=tmp_path).err
