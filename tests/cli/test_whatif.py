# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors whatif: each failure against a plan of its own, the order of the table, and results that survive."""
import json
import os
import pathlib
import pty
import re
import resource
import signal
import subprocess
import time

import pytest

from conftest import long_under_sanitizers

import conftest

FT = ["--synthetic", "FT(2;3,4)"]


@pytest.fixture
def whatif(fors):
    def call(*args, code=0):
        return json.loads(fors("whatif", *args, "--json", code=code).out)
    return call


def test_every_cable_and_every_spine(whatif):
    result = whatif(*FT)
    kinds = [failure["kind"] for failure in result["failures"]]
    assert (kinds.count("link"), kinds.count("spine"), kinds.count("random")) == (12, 3, 0)
    assert len({failure["failure"] for failure in result["failures"]}) == 15
    assert result["intact"]["fors"]["throughput"] == 1 and result["intact"]["fors"]["changed_entries"] == 0
    throughputs = [failure["engines"]["fors"]["throughput"] for failure in result["failures"]]
    assert throughputs == sorted(throughputs)


def test_the_same_keys_with_and_without_a_plan(whatif):
    result = whatif("--synthetic", "FT(2;1,3)")
    good, bad = result["intact"]["fors"], result["failures"][0]["engines"]["fors"]
    assert set(good) == set(bad)
    assert good["method"] and good["note"] is None and bad["method"] is None and "spine" in bad["note"]


def test_it_is_what_plan_says(whatif, fors):
    for failure in whatif(*FT, "--lmc", "2")["failures"]:
        name = failure["failure"].split(" - ")[0].split(",")[0]
        plan = json.loads(fors("plan", *FT, "--lmc", "2", "--down", name, "--json").out)
        found = failure["engines"]["fors"]
        assert (found["phases"], found["method"]) == (plan["phases"], plan["method"])
        assert found["throughput"] == pytest.approx(12 / plan["phases"])


def test_unplanned_is_what_analyze_says(whatif, fors):
    for failure in whatif(*FT)["failures"][:3]:
        name = failure["failure"].split(" - ")[0].split(",")[0]
        result = json.loads(fors("analyze", *FT, "--routing", "fors", "--down", name, "--pattern", "linear-shift", "--json").out)
        assert failure["engines"]["fors"]["shift_throughput"] == pytest.approx(result["sync_throughput"])


def test_random_failures(whatif):
    runs = [whatif(*FT, "--random", "3", "--count", "5", "--seed", seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    random = [failure for failure in runs[0]["failures"] if failure["kind"] == "random"]
    assert len(random) == 5 and all(failure["cables"] == 3 == failure["failure"].count(" - ") for failure in random)


def test_failures_that_cut_servers_off_come_first(whatif):
    result = whatif("--synthetic", "FT(2;1,3)")
    assert result["failures"][0]["engines"]["fors"]["throughput"] == 0
    assert "spine" in result["failures"][0]["engines"]["fors"]["note"]


def test_results_survive(whatif, fors, tmp_path):
    store = tmp_path / "store"
    whole = whatif(*FT, "--resume", store)
    lines = store.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 16
    store.write_text("".join(lines[:5]) + lines[5][:10])  # broken off in the middle of a line
    assert whatif(*FT, "--resume", store) == whole
    assert sorted(store.read_text().splitlines(keepends=True)) == sorted(lines)
    before = store.read_text()
    assert whatif(*FT, "--resume", store) == whole
    assert store.read_text() == before
    marked = before.replace("\t1\t", "\t0.125\t", 1)  # what is there is not found out again
    store.write_text(marked)
    assert "0.125" in json.dumps(whatif(*FT, "--resume", store))


def test_results_that_cannot_be_kept(fors, whatif, tmp_path):
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    store = tmp_path / "store"
    result = subprocess.run([conftest.FORS, "whatif", *FT, "--resume", store], preexec_fn=small_files, capture_output=True)
    assert result.returncode == 2 and b"not all results could be written" in result.stderr
    assert b"worst first" in result.stdout  # they are told all the same
    assert whatif(*FT, "--resume", store) == whatif(*FT)


def test_results_of_another_fabric(fors, tmp_path):
    store = tmp_path / "store"
    fors("whatif", *FT, "--resume", store)
    assert "another fabric" in fors("whatif", "--synthetic", "FT(2;3,5)", "--resume", store, code=2).err
    assert "another fabric" in fors("whatif", *FT, "--lmc", "1", "--resume", store, code=2).err
    with open(store, "a") as file:
        file.write("nonsense\n")
    assert f"{store}:18: " in fors("whatif", *FT, "--resume", store, code=2).err


def test_threads_do_not_matter(whatif):
    assert whatif(*FT, "--threads", "1") == whatif(*FT, "--threads", "3")


def test_text_is_for_people(fors):
    text = fors("whatif", *FT).out
    assert "nothing" in text and "Spine00, all 4 cables" in text and "worst first" in text


def test_progress_on_a_terminal(tmp_path):
    leader, terminal = pty.openpty()
    subprocess.run([conftest.FORS, "whatif", *FT], stdout=subprocess.DEVNULL, stderr=terminal, check=True)
    os.close(terminal)
    shown = b""
    try:
        while True:
            shown += os.read(leader, 65536)
    except OSError:
        pass
    os.close(leader)
    assert b"failures [" in shown and b"16/16" in shown


def test_progress_that_is_asked_for(fors):
    """Also where standard error is no terminal: lines there, and the same answer on standard output."""
    plain, asked = fors("whatif", *FT), fors("whatif", *FT, "--progress")
    lines = asked.err.splitlines()
    assert plain.err == "" and asked.out == plain.out
    assert lines[-1] == "failures 16/16" and all(re.fullmatch(r"failures \d+/16(, .* left)?", line) for line in lines)
    assert fors("simulate", "--synthetic", "FT(2;3,4)", "--routing", "fors", "--pattern", "plan", "--progress").err.endswith("simulating 100 %\n")


def catches(pid, number):
    """Whether a process has a handler for a signal; from then on it says what it has done."""
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return bool(int(caught, 16) >> (number - 1) & 1)


def test_ctrl_c_says_how_to_go_on(whatif, tmp_path):
    """In the middle: by the signal, with what is done and how to go on; the same command does go on."""
    store = tmp_path / "store"
    large = ["--synthetic", "FT(2;8,8)", "--random", "4", "--count", "100"]
    for keep, text in ((["--resume", store], b"the same command goes on from there"), ([], b"With --resume FILE")):
        process = subprocess.Popen([conftest.FORS, "whatif", *large, "--threads", "1", *map(str, keep)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job of a script ignores it
        end = time.monotonic() + 300
        while keep and time.monotonic() < end and not (store.exists() and store.read_text().count("\n") > 5):
            time.sleep(0.005)
        while not keep and time.monotonic() < end and not catches(process.pid, signal.SIGINT):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out) == (-signal.SIGINT, b"")
        assert b"stopped after " in err and text in err
    before = store.read_text()
    assert whatif(*large, "--resume", store) == whatif(*large)
    assert store.read_text().startswith(before)


@pytest.mark.parametrize("source", [["--synthetic", "FT(2;1,3)", "--down", "Leaf00[2]"], ["--synthetic", "XGFT(4;2,2,2,2;1,2,2,2)"]])
def test_what_cannot_be_judged(fors, source):
    """The reason and the exit code, and no rows of 0.000."""
    for more in ([], ["--json"]):
        result = fors("whatif", *source, *more, code=1)
        assert result.out == "" and "fors has no plan for" in result.err and "as it is" in result.err


@pytest.mark.parametrize("args, text", [
    ([*FT, "--random", "3"], "belong together"),
    ([*FT, "--count", "3"], "belong together"),
    ([*FT, "--random", "0", "--count", "3"], "from 1 to 12"),
    ([*FT, "--random", "13", "--count", "3"], "from 1 to 12"),
    ([*FT, "--engines", "magic"], "one of: fors, minhop"),
    ([*FT, "--resume", "/nowhere/store"], "cannot be"),
    ([], "which fabric?"),
])
def test_bad_usage(fors, args, text):
    assert text in fors("whatif", *args, code=2).err


@pytest.mark.parametrize("spec", ["FT(2;1,1)", "FT(2;1,1;servers=1)", "FT(2;3,1)", "FT(2;4,5;servers=1)", "FT(2;2,3;cables=2)",
                                  "FT(2;3,4;servers=5;empty=0/0,1/3)"])
def test_odd_fabrics(whatif, spec):
    for failure in whatif("--synthetic", spec)["failures"]:
        assert 0 <= failure["engines"]["fors"]["throughput"] <= 1


@pytest.mark.parametrize("content", [b'{"one": "line, without an end"}', b"\0\0\0", b"fors whatif 1 fabric and more", b"other\ntext\n"])
def test_a_file_that_is_not_ours_stays_as_it_is(fors, write, content):
    path = write("mine", content)
    assert "this is no file of" in fors("whatif", *FT, "--resume", path, code=2).err
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"fors wha"])
def test_a_heading_that_was_cut_short(whatif, write, content):
    path = write("store", content)
    assert whatif(*FT, "--resume", path) == whatif(*FT)
    assert len(path.read_text().splitlines()) == 1 + 16


# ---- any net, under a model of an engine, with a plan over its tables

TORUS = ["--synthetic", "TORUS(3x3;2)"]


def test_any_net_under_a_model(whatif, fors):
    result = whatif(*TORUS, "--routing", "sssp")
    assert result["servers"] == 18 and [failure["kind"] for failure in result["failures"]] == 18 * ["link"]
    for failure in [{"engines": result["intact"]}, result["failures"][0], result["failures"][-1]]:
        down = ["--down", failure["failure"].split(" - ")[0]] if "failure" in failure else []
        plan = json.loads(fors("analyze", *TORUS, *down, "--routing", "sssp", "--pattern", "plan", "--json").out)
        found = failure["engines"]["sssp"]
        assert found["phases"] == plan["phases"] and found["throughput"] == pytest.approx(18 / plan["phases"])
        assert found["broken"] == 0 and plan["max_link_load"] == 1


def test_a_model_without_a_way_round(whatif, fors, tmp_path):
    result = whatif(*TORUS, "--routing", "dor", "--resume", tmp_path / "store")
    assert result["intact"]["dor"]["phases"] > 0
    for failure in result["failures"]:
        assert failure["engines"]["dor"]["phases"] == 0 and "no way from" in failure["engines"]["dor"]["note"]
    assert whatif(*TORUS, "--routing", "dor", "--resume", tmp_path / "store") == result
    assert "of another fabric" in fors("whatif", "--synthetic", "TORUS(3x4;2)", "--routing", "dor", "--resume", tmp_path / "store", code=2).err


# ---- three levels, under fors

TREE3 = ["--synthetic", "XGFT(3;3,3,3;1,3,3)"]


def test_three_levels(whatif, fors):
    """What plan and analyze say of the same failure: phases, method, the linear shift. Middle switches and tops fail as spines do."""
    result = whatif(*TREE3)
    kinds = [failure["kind"] for failure in result["failures"]]
    assert (result["servers"], kinds.count("link"), kinds.count("spine")) == (27, 27 + 27, 9 + 9)
    intact = result["intact"]["fors"]
    assert (intact["phases"], intact["throughput"], intact["method"], intact["changed_entries"], intact["note"]) == (27, 1, "rounds", 0, None)
    throughputs = [failure["engines"]["fors"]["throughput"] for failure in result["failures"]]
    assert throughputs == sorted(throughputs) and throughputs[-1] <= 1
    for failure in [next(f for f in result["failures"] if f["failure"].startswith(begin)) for begin in ("Leaf00[4] ", "Spine00,", "Mid2-00,")]:
        name, found = failure["failure"].split(" - ")[0].split(",")[0], failure["engines"]["fors"]
        plan = json.loads(fors("plan", *TREE3, "--down", name, "--json").out)
        assert (found["phases"], found["method"]) == (plan["phases"], plan["method"]) and found["throughput"] == pytest.approx(27 / plan["phases"])
        shift = json.loads(fors("analyze", *TREE3, "--down", name, "--routing", "fors", "--pattern", "linear-shift", "--json").out)
        assert (found["shift_throughput"], found["max_link_load"]) == (pytest.approx(shift["sync_throughput"]), shift["max_link_load"])
        assert found["changed_entries"] > 0 and found["broken"] == 0


@long_under_sanitizers
def test_three_levels_in_gbits(whatif, fors, tmp_path):
    """As simulate says of the same plan and failure; results survive, and those of other participants are not taken for them."""
    args = [*TREE3, "--simulate", "--message", "64KiB", "--measured", "100"]
    result = whatif(*args, "--resume", tmp_path / "store")
    intact = result["intact"]["fors"]
    assert intact["shift_gbits"] == pytest.approx(100, abs=0.05) and intact["gbits"] > 90
    assert whatif(*args, "--resume", tmp_path / "store") == result == whatif(*args, "--threads", "1")
    assert "phases" in fors("whatif", *args, "--resume", tmp_path / "store").out
    result = whatif(*TREE3, "--simulate", "--barrier", "2us")
    one = next(f for f in result["failures"] if f["failure"].startswith("Leaf00[4] "))["engines"]["fors"]
    for pattern, key in (("plan", "gbits"), ("linear-shift", "shift_gbits")):
        seen = json.loads(fors("simulate", *TREE3, "--down", "Leaf00[4]", "--routing", "fors", "--pattern", pattern, "--barrier", "2us", "--json").out)
        assert one[key] == pytest.approx(seen["gbits_per_server"]) and one[key] > 0


def test_results_of_other_participants(fors, tmp_path, write):
    """As many servers, but others."""
    for tree in (TREE3, [*TORUS, "--routing", "sssp"]):
        guids = re.findall(r"^Ca.*?\n\[1\]\((\w+)\)", fors("fabric", *tree[:2]).out, re.M)
        first, second = (write(name, "".join(f"0x{guid}\n" for guid in some)) for name, some in (("first", guids[:8]), ("second", guids[1:9])))
        store = tmp_path / f"store-{len(tree)}"
        fors("whatif", *tree, "--participants", first, "--resume", store)
        assert "of another fabric" in fors("whatif", *tree, "--participants", second, "--resume", store, code=2).err


@pytest.mark.parametrize("args", [["--lmc", "2"], ["--down", "Leaf00[4]"], ["--random", "4", "--count", "6"], ["--down", "Spine00"]])
def test_three_levels_of_any_kind(whatif, args):
    result = whatif("--synthetic", "XGFT(3;2,2,3;1,2,2)", *args)
    assert result["servers"] == 12 and result["lmc"] == (2 if args[0] == "--lmc" else 0)
    for failure in result["failures"]:
        found = failure["engines"]["fors"]
        assert 0 <= found["throughput"] <= 1 and bool(found["phases"]) == (found["throughput"] > 0) == (found["note"] is None)


def test_three_levels_that_nobody_plans(fors):
    """A pod that is cut off: the reason, and no rows."""
    cut = [f"--down=Leaf00[{port}]" for port in (3, 4)]
    result = fors("whatif", "--synthetic", "XGFT(3;2,2,3;1,2,2)", *cut, code=1)
    assert result.out == "" and "fors has no plan for" in result.err


def test_seeds_are_of_random_failures(fors):
    assert "needs --random" in fors("whatif", *FT, "--seed", "1", code=2).err


def test_switches_without_servers_fail_as_spines_do(whatif):
    result = whatif("--synthetic", "XGFT(3;2,2,2;1,2,2)", "--routing", "up-down", "--random", "2", "--count", "3")
    kinds = [failure["kind"] for failure in result["failures"]]
    assert (kinds.count("link"), kinds.count("spine"), kinds.count("random")) == (16, 8, 3)


def test_usage_of_models(fors):
    assert "has to be one of: shortest" in fors("whatif", *TORUS, "--routing", "ftree", code=2).err
    assert "gives each server one LID" in fors("whatif", *TORUS, "--routing", "sssp", "--lmc", "1", code=2).err
