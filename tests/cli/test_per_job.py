# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors analyze --jobs FILE --pattern per-job-...: all jobs at the same time, each with a clock of its own."""
import json

import pytest

TREE = ("--synthetic", "FT(2;8,8)")
# 8 jobs, each a server at each leaf: under any tables of one LID they meet.
MIXED = "".join(f"j{k}: " + ", ".join(f"Node{a:02}-{(a + k) % 8:02}" for a in range(8)) + "\n" for k in range(8))


@pytest.fixture
def run(fors, write):
    def call(pattern, text, *more, code=0):
        result = fors("analyze", "--pattern", pattern, "--jobs", write("jobs", text), *more, code=code)
        return json.loads(result.out) if "--json" in more else result

    return call


def test_lanes_of_their_own_are_what_helps(run):
    """In phases the jobs are in each other's way, also with a plan; with lanes of their own they are not."""
    shift = run("per-job-shift", MIXED, *TREE, "--routing", "d-mod-k", "--json")
    plan = run("per-job-plan", MIXED, *TREE, "--routing", "fors", "--lmc", "3", "--json")
    owned = run("per-job-plan", MIXED.replace(":", " [exclusive]:"), *TREE, "--routing", "fors", "--lmc", "3", "--json")
    assert owned["mean_speed"] == pytest.approx(1) and owned["worst_speed"] == pytest.approx(1)
    assert 0.2 < shift["worst_speed"] <= shift["mean_speed"] < 0.95 and plan["mean_speed"] < 0.95
    assert {job["over"] for job in owned["jobs"]} == {"own"} and {job["over"] for job in plan["jobs"]} == {"free"}
    assert owned["chosen_efi_max"] <= 8 * 7 and "chosen_efi_max" not in shift
    assert all(job["servers"] == 8 for job in shift["jobs"]) and shift["broken"] == 0


def test_without_phases(run):
    data = run("per-job-all-to-all", MIXED, *TREE, "--routing", "sar", "--phases", "4", "--json")
    assert 0.2 < data["worst_speed"] <= data["mean_speed"] <= 1.0001 and data["time"] >= 4


def test_one_path_index_for_jobs(run):
    """What plans over the index give beside one another, over tables that have its entries."""
    text = "".join(line + "\n" for line in MIXED.replace(":", " [job-index]:").splitlines()[:6])
    plan = run("per-job-plan", text.replace(" [job-index]", ""), *TREE, "--routing", "fors", "--lmc", "1", "--json")
    index = run("per-job-plan", text, *TREE, "--routing", "fors", "--lmc", "1", "--job-index", "--down", "Leaf00[9]", "--json")
    assert {job["over"] for job in index["jobs"]} == {"own"} and {job["path_index"] for job in index["jobs"]} == {1}
    assert index["mean_speed"] > plan["mean_speed"] + 0.1 and index["meetings"] == 0
    assert "--job-index goes with --pattern per-job-plan" in run("per-job-shift", text, *TREE, "--routing", "fors", "--job-index", code=2).err


def test_text(run):
    out = run("per-job-plan", "one: Node00-00, Node01-00\n", *TREE, "--routing", "fors", "--lmc", "3").out
    assert "job         one                      2 servers  speed 1.000" in out
    assert "speed       mean 1.000; slowest 1.000, one" in out and "chosen      EFI 1 at most" in out


def test_any_topology(run):
    data = run("per-job-shift", "a: 0-9\nb: 10-19\n", "--synthetic", "TORUS(4x5;1)", "--routing", "sssp", "--json")
    assert 0 < data["worst_speed"] <= 1


def test_messages_that_are_lost(run):
    down = ("--down", "Leaf00[9]", "--down", "Leaf01[10]")
    result = run("per-job-shift", MIXED, *TREE, *down, "--routing", "d-mod-k", "--json", code=1)
    assert result["broken"] > 0 and result["worst_speed"] == 0  # the rule does not go round
    result = run("per-job-plan", MIXED, *TREE, *down, "--routing", "fors", "--lmc", "3", "--json")
    assert result["broken"] == 0 and result["worst_speed"] > 0.1


@pytest.mark.parametrize("args, wanted", [
    (["--pattern", "per-job-shift"], "needs --jobs FILE"),
    (["--pattern", "per-job-shift", "--jobs", "x", "--optimum"], "goes without"),
    (["--pattern", "per-job-shift", "--jobs", "x", "--map", "random"], "goes without"),
    (["--pattern", "shift", "--phases", "3"], "--phases goes with"),
    (["--pattern", "per-job-shift", "--jobs", "/nowhere/jobs"], "/nowhere/jobs"),
])
def test_bad_usage(fors, args, wanted):
    assert wanted in fors("analyze", *TREE, "--routing", "fors", *args, code=2).err


def test_plans_need_a_tree(run):
    result = run("per-job-plan", "a: 0-3\n", "--synthetic", "TORUS(4x5;1)", "--routing", "sssp", code=2)
    assert "two levels or three under the tables of fors" in result.err


def test_three_levels(run, fors, tmp_path):
    spec = ("--synthetic", "XGFT(3;2,2,2;1,2,2)")
    text = "a [job-index]: Node00-00, Node01-00, Node02-00, Node03-00\nb [job-index]: Node00-01, Node01-01, Node02-01, Node03-01\n"
    result = run("per-job-plan", text, *spec, "--routing", "fors", "--lmc", "1", "--job-index", "--json")
    assert [job["speed"] for job in result["jobs"]] == [1, 1] and [job["over"] for job in result["jobs"]] == ["own", "own"]
    assert result["meetings"] == result["broken"] == 0
    assert run("per-job-shift", text, *spec, "--routing", "sar", "--json")["mean_speed"] < 1
    for name, form in (("net", "net"), ("lfts", "lfts")):
        (tmp_path / name).write_text(fors("fabric", *spec, "--format", form).out)
    files = ("--fabric", tmp_path / "net", "--lfts", tmp_path / "lfts")
    assert "under the tables of fors" in run("per-job-plan", text, *files, code=2).err


def test_jobs_from_a_pipe(fors):
    """Plans need the file a second time, when a pipe is empty."""
    args = ("analyze", *TREE, "--routing", "fors", "--lmc", "3", "--jobs", "-", "--pattern")
    text = b"a: Node00-00, Node01-00\n"
    assert "read twice" in fors(*args, "per-job-plan", stdin=text, code=2).err
    assert "slowest 1.000, a" in fors(*args, "per-job-shift", stdin=text).out
    assert "read twice" in fors("analyze", *TREE, "--routing", "sar", "--jobs", "-", "--pattern", "per-job-plan", stdin=text, code=2).err


def test_a_server_in_two_jobs_has_no_plan(run):
    assert "works for job" in run("per-job-plan", "a: Node00-00, Node01-00\nb: Node00-00\n", *TREE, "--routing", "fors", code=2).err


def test_one_message_that_does_not_arrive(run):
    done = run("per-job-shift", "a: Node00-00, Node01-01\n", *TREE, "--down", "Leaf00[10]", "--routing", "d-mod-k", code=1)
    assert "broken      1 message does not arrive" in done.out and "1 message does not arrive" in done.err
