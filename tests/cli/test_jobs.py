# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors jobs: several jobs at once, each over lanes of its own; schedules that do not meet, and files that are wrong."""
import csv
import io
import json
import random

import pytest

SPEC = ("--synthetic", "FT(2;8,8)", "--lmc", "3")
TWO = ("left [exclusive]: " + ", ".join(f"Node{a:02}-{s:02}" for a in range(4) for s in range(8)) + "\n"
       "right [exclusive]: " + ", ".join(f"Node{a:02}-{s:02}" for a in range(4, 8) for s in range(8)) + "\n")


@pytest.fixture
def jobs(fors, write):
    def call(text, *more, code=0):
        return fors("jobs", *SPEC, "--jobs", write("jobs", text), *more, code=code)

    return call


def cables(fors, path, leaf_of):
    """(leaf, spine) pairs that the flows of a schedule use, up or down."""
    rows = csv.DictReader(io.StringIO(fors("schedule", path, "--format", "csv").out))
    return {(leaf_of[row[end]], row["spine_guid"]) for row in rows if row["spine_guid"] for end in ("src_guid", "dst_guid")}


def test_two_jobs(jobs):
    out = jobs(TWO).out
    assert "left                      32      4    32     32     32     32  1.000  own lanes" in out
    assert "speed       mean 1.000" in out and "no two jobs over their own lanes use the same cable" in out


def test_json_and_files(jobs, fors, tmp_path):
    mixed = ("a [exclusive]: " + ", ".join(f"Node{a:02}-{s:02}" for a in range(8) for s in range(4)) + "\n"
             "b [exclusive]: " + ", ".join(f"Node{a:02}-{s:02}" for a in range(8) for s in range(4, 8)) + "\n")
    data = json.loads(jobs(mixed, "--json", "--output-dir", tmp_path / "out").out)
    assert data["meetings"] == 0 and data["mean_speed"] == 1
    owned = [{(leaf, lane) for leaf, lanes in job["owned"].items() for lane in lanes} for job in data["jobs"]]
    assert not owned[0] & owned[1] and len(owned[0]) == len(owned[1]) == 32
    assert [job["over"] for job in data["jobs"]] == ["own", "own"] and [job["phases"] for job in data["jobs"]] == [32, 32]
    servers = json.loads(fors("schedule", tmp_path / "out/a/schedule", "--format", "json").out)["servers"]
    servers += json.loads(fors("schedule", tmp_path / "out/b/schedule", "--format", "json").out)["servers"]
    leaf_of = {server["guid"]: server["leaf"] for server in servers}
    used = [cables(fors, tmp_path / "out" / name / "schedule", leaf_of) for name in "ab"]
    assert used[0] and used[1] and not used[0] & used[1]


def test_without_path_indices_jobs_share(fors, write):
    text = "a [exclusive]: Node00-00, Node01-01, Node02-02\nb: Node00-01, Node01-00\n"
    data = json.loads(fors("jobs", "--synthetic", "FT(2;8,8)", "--lmc", "0", "--jobs", write("jobs", text), "--json").out)
    assert [job["over"] for job in data["jobs"]] != ["own", "own"] and data["meetings"] == 0


def test_one_path_index_for_jobs(fors, write, tmp_path):
    """Eight jobs anywhere at LMC 1: over the index each has cables of its own, and every flow goes to that index; without it they share."""
    text = "".join(f"j{k} [job-index]: " + ", ".join(f"Node{a:02}-{(a + k) % 8:02}" for a in range(8)) + "\n" for k in range(7))
    args = ("jobs", "--synthetic", "FT(2;8,8)", "--lmc", "1", "--jobs", write("jobs", text + "rest: Node00-07, Node01-00\n"))
    with_index = json.loads(fors(*args, "--job-index", "--json", "--output-dir", tmp_path / "out").out)
    assert [job["path_index"] for job in with_index["jobs"]] == [1] * 7 + [None] and with_index["meetings"] == 0
    assert [job["over"] for job in with_index["jobs"][:7]] == ["own"] * 7 and with_index["jobs"][0]["speed"] > 0.8
    path = tmp_path / "out/j3/schedule"
    lids = {server["guid"]: server["lid"] for server in json.loads(fors("schedule", path, "--format", "json").out)["servers"]}
    rows = list(csv.DictReader(io.StringIO(fors("schedule", path, "--format", "csv").out)))
    assert len(rows) == 8 * 7 and all(int(row["dst_lid"]) == lids[row["dst_guid"]] + 1 for row in rows)
    assert "own lanes, path index 1" in fors(*args, "--job-index").out
    without = fors(*args).out
    assert "path index 1" not in without and "(asked for the path index of jobs)" in without


# --- three levels -----------------------------------------------------------------------------------------------------

TREE3 = ("--synthetic", "XGFT(3;4,4,4;1,4,4)")


def links(fors, path):
    """The cables that the flows of a schedule use, each way: pairs of switches."""
    rows = csv.DictReader(io.StringIO(fors("schedule", path, "--format", "csv").out))
    return {pair for row in rows for via in [row["via"].split()] for pair in zip(via, via[1:])}


def scattered(rng, sizes, mark, leaves=16, slots=4):
    nodes = [f"Node{a:02}-{s:02}" for a in range(leaves) for s in range(slots)]
    rng.shuffle(nodes)
    return "".join(f"j{k} [{mark}]: " + ", ".join(nodes.pop() for _ in range(n)) + "\n" for k, n in enumerate(sizes))


@pytest.mark.parametrize("mark, how", [("job-index", ("--lmc", "1", "--job-index")), ("exclusive", ("--lmc", "4"))])
def test_three_levels(fors, write, tmp_path, mark, how):
    """Jobs anywhere in four pods: each has a plan over cables that no other job uses, with a cable of each kind dead, too."""
    for seed, down in ((1, ()), (2, ("--down", "Leaf03[6]", "--down", "Mid2-05[7]"))):
        text = scattered(random.Random(seed), (4, 6, 8, 10), mark)
        found = json.loads(fors("jobs", *TREE3, *how, *down, "--jobs", write("jobs", text), "--json", "--output-dir", tmp_path / "out").out)
        assert [job["over"] for job in found["jobs"]] == ["own"] * 4 and found["meetings"] == 0
        assert all(job["speed"] > 0.6 and job["phases"] >= job["lower_bound"] for job in found["jobs"])
        assert [job["path_index"] for job in found["jobs"]] == [1 if mark == "job-index" else None] * 4
        used = [links(fors, tmp_path / "out" / job["name"] / "schedule") for job in found["jobs"]]
        assert all(used) and len(set().union(*used)) == sum(len(one) for one in used)


def test_whole_pods_and_leaves_at_full_speed(fors, write):
    """A pod, two leaves of each of two pods, and the rest of these pods: nothing is lost, over one path index."""
    leaves = {"pod": range(4), "two": (4, 5, 8, 9), "rest": (6, 7, 10, 11)}
    text = "".join(f"{name} [job-index]: " + ", ".join(f"Node{a:02}-{s:02}" for a in where for s in range(4)) + "\n" for name, where in leaves.items())
    found = json.loads(fors("jobs", *TREE3, "--lmc", "1", "--job-index", "--jobs", write("jobs", text), "--json").out)
    assert [job["speed"] for job in found["jobs"]] == [1, 1, 1]
    assert {name.split("-")[0][:4] for name in found["jobs"][1]["owned"]} == {"Leaf", "Mid2"}


def test_replay_on_three_levels_fills_pods(fors, write, tmp_path):
    """Placed by the tree, a job of three leaves goes into the pod that has three free, not over two."""
    history = "".join(f"{k} {k} 0 1000 {n}" + " -1" * 13 + "\n" for k, n in enumerate((8, 4, 12)))
    fors("jobs", *TREE3, "--replay", write("history", history), "--placement", "tree", "--count", "1", "--output-dir", tmp_path)
    last = (tmp_path / "0001.jobs").read_text().splitlines()[-1]
    servers = sorted(int(guid, 16) for guid in last.split(": ")[1].split(", "))
    assert len(servers) == 12 and {(guid - 0x100001) // 32 for guid in servers} == {1}


def test_the_index_needs_two_lids(fors, write):
    args = ("jobs", "--synthetic", "FT(2;8,8)", "--job-index", "--lmc", "0")
    result = fors(*args, "--jobs", write("jobs", "a [job-index]: Node00-00, Node01-00\n"), code=1)
    assert "needs LMC 1 or more" in result.err
    assert "not with --replay" in fors(*args, "--replay", "x", "--output-dir", "y", code=2).err


def test_owned_lanes_of_two_leaves_with_one_name(fors, write):
    net = write("net", fors("fabric", "--synthetic", "FT(2;8,8)").out.replace('# "Leaf00"', '# "Leaf01"'))
    found = json.loads(fors("jobs", "--fabric", net, "--lmc", "3", "--jobs", write("jobs", TWO), "--json").out)["jobs"][0]
    assert sorted(found["owned"]) == ["0x0000000000200000", "0x0000000000200001", "Leaf02", "Leaf03"]


@pytest.mark.parametrize("args, wanted", [
    (["--synthetic", "XGFT(4;2,2,2,2;1,2,2,2)"], "a tree of more than two levels"),
    (["--synthetic", "FT(2;2,2)", "--down", "Leaf00[3]", "--down", "Leaf01[4]"], "no common live spine"),
])
def test_fabrics_that_fors_does_not_route(fors, write, tmp_path, args, wanted):
    """Their tables are not those that a plan would be over, also for jobs of one leaf."""
    text = "a: Node00-00, Node00-01\n"
    result = fors("jobs", *args, "--jobs", write("jobs", text), "--output-dir", tmp_path / "out", code=1)
    assert wanted in result.err and result.out == "" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("text, wanted", [
    ("a: Node00-00\nb: Node00-00\n", 'jobs:2: "Node00-00" works for job "a" of line 1 already: a server has one job'),
    ("../up: Node00-00\n", "no name of a job"),
    ("a: Nobody\n", 'there is no node "Nobody" in the fabric'),
    ("a\n", '"NAME: SERVER, SERVER, ..." is expected'),
])
def test_bad_files(jobs, text, wanted):
    done = jobs(text, code=2)
    assert wanted in done.err and done.out == ""


def test_bad_usage(fors):
    assert "--jobs FILE is missing" in fors("jobs", *SPEC, code=2).err
    assert "nowhere" in fors("jobs", *SPEC, "--jobs", "/nowhere/jobs", code=2).err.lower()


def test_demands_of_jobs(jobs, fors, tmp_path):
    """Planned over the job's own cables; a host of another job is left out; one without a file costs that job its demand only."""
    folder, out = tmp_path / "demands", tmp_path / "out"
    folder.mkdir()
    (folder / "events.demand").write_text("role Node0[0-2]-0[0-7] send\nrole Node03-00,Node07-00 receive\n")
    text = TWO.replace("left [exclusive]", "left [exclusive, demand=events]")
    data = json.loads(jobs(text, "--demand-dir", folder, "--output-dir", out, "--json").out)
    left, right = data["jobs"]
    assert (left["demand"], left["demand_phases"], left["demand_over_bound"]) == ("events", 24, 1.0)
    assert (right["demand"], right["demand_phases"], right["demand_over_bound"]) == (None, None, None)
    assert json.loads(fors("schedule", out / "left/demand/left/schedule", "--format", "json").out)["name"] == "left"
    assert not (out / "right" / "demand").exists()
    assert "demand events: 24 phases, 1.000 of the bound" in jobs(text, "--demand-dir", folder).out
    assert "1 host is no server of this job and left out: Node07-00" in jobs(text, "--demand-dir", folder).out
    (folder / "events.demand").unlink()
    done = jobs(text, "--demand-dir", folder, code=1)
    assert "demand events: none" in done.out and "right                     32" in done.out and "events.demand" in done.err


@pytest.mark.parametrize("mark, words", [
    ("exclusive, shared", "is expected"), ("demand=a, demand=b", "two demands"), ("demand=../x", "no name of a demand"),
    ("demand=", "no name of a demand"), ("demands", "or demand=NAME")])
def test_bad_marks(jobs, mark, words):
    assert words in jobs(f"a [{mark}]: Node00-00, Node01-01\n", code=2).err
