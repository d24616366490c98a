# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make bench-paper` as a whole, on small fabrics: it runs, and what it writes holds together."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import harness

TOP = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(harness.is_installed(), reason="benches are not installed")


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """The folder that `paper.py --quick` leaves."""
    folder = tmp_path_factory.mktemp("paper")
    harness.built("lab/bench/paper/paper_model")
    _run(folder)
    return folder


def _run(folder, *options):
    """What it said on the way."""
    return subprocess.run([sys.executable, "-B", TOP / "lab" / "bench" / "paper" / "paper.py", "--quick", "--output", folder, *options], check=True, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={name: value for name, value in os.environ.items() if name != "BOOKSIM"}).stderr


@pytest.fixture(scope="module")
def results(output):
    return json.loads((output / "paper.json").read_text())


def text_of(folder):
    """What it wrote; lines are broken where the name of the machine makes them long."""
    return " ".join((folder / "paper-results.md").read_text().split())


def test_all_sections(results):
    assert set(results) == {"machine", "sections", "engines", "figure7", "rates", "several", "simulated", "cee", "tago", "booksim"}


def test_engines_and_both_programs_agree(results):
    rows = {(row["engine"], row["scenario"]): row for row in results["engines"]}
    assert all(abs(row["model"] - row["throughput"]) < 1e-9 for row in rows.values())
    assert rows["ftree", "0F"]["model"] == 1
    assert rows["ftree", "1F SW0"]["used"] == "minhop"
    assert abs(rows["ftree", "1F SW0"]["model"] - 0.516) < 0.01
    assert rows["fors, LMC 5", "1F SW0"]["model"] == 1


def test_phases_are_the_papers(results):
    assert results["figure7"]
    assert all(row["phases"] == row["paper"] for row in results["figure7"])


def test_rates_agree(results):
    rates = results["rates"]
    assert {row["pattern"] for row in rates["table1"]} == {"permutation", "2DNN", "RANDN(20)"}
    assert all(difference < 1e-9 for row in rates["table1"] for difference in row["difference"].values())
    assert all(row["difference"] < 1e-9 for row in rates["generic"]["rows"])
    assert all(abs(row["optimum"] - 1) < 1e-9 and row["routed"] <= row["optimum"] + 1e-9 for row in rates["indices"]["figure9"])


def test_several_jobs(results):
    rows = {(row["way"], row["dead"]): row for row in results["several"]["rows"]}
    for dead in (0, 1):
        owned, sar = rows["owned lanes, LMC 5", dead], rows["SAR, shift", dead]
        assert owned["mean"] > sar["mean"] and owned["meetings"] == 0 and 0 <= sar["worst"] <= sar["mean"] <= 1 and owned["jobs"] == sar["jobs"]
        index = rows["job index, LMC 1", dead]
        assert index["mean"] > sar["mean"] and index["meetings"] == index["unplanned"] == 0


def test_several_jobs_on_three_levels(results):
    """Stock ftree beside fors and SAR; it writes what fors calls home lanes, until something is dead and it declines."""
    found = results["several"]["three"]
    rows = {(row["placement"], row["way"], row["dead"]): row for row in found["rows"]}
    for placement in ("tree", "random"):
        stock, home = rows[placement, "ftree (stock OpenSM), shift", 0], rows[placement, "D-mod-K homes (fors), shift", 0]
        assert (stock["mean"], stock["worst"], stock["efi_max"]) == (home["mean"], home["worst"], home["efi_max"])
        assert rows[placement, "ftree (stock OpenSM), shift", 1]["jobs"] == home["jobs"]
        assert rows[placement, "owned lanes, LMC 6", 0]["mean"] <= found["most"][placement] <= 1
    assert [0, "ftree", 1] in found["ftree"] and sum(count for _, _, count in found["ftree"]) == 2


def test_the_most_that_lanes_give(monkeypatch):
    """Three leaves of four servers: one job; two with a home each in two planes, and a third that finds none; a job of 2, 2 and 1 on one plane."""
    for folder in (TOP / "lab" / "bench", TOP / "lab" / "bench" / "paper"):
        monkeypatch.syspath_prepend(folder)
    import lanes_limit
    leaf_of = {guid: guid // 4 for guid in range(12)}
    assert lanes_limit.most([[0, 1, 2, 3, 4, 5, 6, 7]], leaf_of, 4) == (1, 1)
    assert lanes_limit.most([[0, 4, 8], [1, 5, 9]], leaf_of, 2) == (2, 2)
    assert lanes_limit.most([[0, 4, 8], [1, 5, 9], [2, 6, 10]], leaf_of, 2) == (3, 2)
    assert lanes_limit.most([[0, 1, 4, 5, 8]], leaf_of, 1) == (1, 5 / 6)


def test_blocks_carry_what_their_cables_say(results):
    """A Flexfly gives the next block 57 of 128 cables (one way of each is of use); detours pass blocks that have one cable, shared with a neighbour's."""
    rows = results["tago"]["shares"]
    assert {row["pattern"] for row in rows} == {"to the next block"}
    for row in rows:
        assert not row["carried"] or abs(row["carried"]["direct"] - 57 / 480) < 1e-6 and abs(row["carried"]["all"] - 64.5 / 480) < 1e-6
        assert set(row["rate"]) == set(row["share"]) and all(rate > 0 for rate in row["rate"].values())


def test_another_simulator_is_asked_when_it_is_there(results, tmp_path, monkeypatch):
    """BOOKSIM names a program; its answer stands beside ours, within what one packet over an empty tree can differ."""
    assert "BOOKSIM" in results["booksim"]["why"]
    program = tmp_path / "booksim"
    program.write_text('#!/bin/sh\ngrep -q "injection_rate = 0.01" "$1" && n=22.4 || n=29.5\necho "Packet latency average = $n (1 samples)"\n')
    program.chmod(0o755)
    for folder in (TOP / "lab" / "bench", TOP / "lab" / "bench" / "paper"):
        monkeypatch.syspath_prepend(folder)
    import booksim
    found = booksim.measure(True, str(program))
    assert abs(found["switch"] - (22.4 - 8 - 5.375) / 4.375) < 1e-9 and found["rows"][0]["theirs"] == 29.5
    assert 22.4 < found["rows"][0]["ours"] < 1.5 * 22.4
    program.write_text("#!/bin/sh\nexit 1\n")
    assert "gives no latency" in booksim.measure(True, str(program))["why"]


def test_text_and_pictures(output):
    text = (output / "paper-results.md").read_text()
    for word in ("figures 3 and 6", "figure 7", "table 1", "table 2", "figure 9"):
        assert word in text
    pictures = [line.split("](")[1].split(")")[0] for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) == 5
    for name in pictures:
        assert xml.etree.ElementTree.parse(output / name).getroot().tag.endswith("svg")


def test_a_run_that_was_stopped_goes_on(output, results):
    """What is missing is measured, of simulations what was not done; the results are those of one run, with what lies there of other sections."""
    runs = {file.name: file.stat().st_mtime_ns for file in (output / "simulations").iterdir()}
    assert "paper:" not in _run(output, "--resume")
    (output / "sections" / "tago-quick.json").unlink()
    said = _run(output, "--resume")
    assert "tago" in said and "cee" not in said
    assert runs == {file.name: file.stat().st_mtime_ns for file in (output / "simulations").iterdir()}
    again = json.loads((output / "paper.json").read_text())
    assert {key: rows for key, rows in again.items() if key != "sections"} == {key: rows for key, rows in results.items() if key != "sections"}
    assert len({host["program"] for host in again["sections"].values()}) == 1
    assert "booksim" in _run(output, "booksim") and set(json.loads((output / "paper.json").read_text())) == set(results)


def test_what_another_program_measured_is_measured_again(output, tmp_path):
    """--resume takes only what this one did; and results of several say so."""
    shutil.copytree(output, tmp_path / "paper")
    file = tmp_path / "paper" / "sections" / "booksim-quick.json"
    found = json.loads(file.read_text())
    found["machine"]["program"] = "another"
    file.write_text(json.dumps(found))
    assert "booksim" in _run(tmp_path / "paper", "--resume")
    assert "All sections are of one program" in text_of(tmp_path / "paper")
    file = tmp_path / "paper" / "sections" / "figure7-quick.json"
    found = json.loads(file.read_text())
    found["machine"]["program"] = "another"
    file.write_text(json.dumps(found))
    _run(tmp_path / "paper", "booksim")
    assert "Of different programs" in text_of(tmp_path / "paper")


def test_an_unknown_section_is_refused(tmp_path):
    done = subprocess.run([sys.executable, "-B", TOP / "lab" / "bench" / "paper" / "paper.py", "--output", tmp_path, "tabel1"],
                          capture_output=True, text=True)
    assert done.returncode == 2
    assert "no section tabel1" in done.stderr


def test_names_below_bars_do_not_touch(output):
    seen = 0
    for path in output.glob("*.svg"):
        rows = {}
        for node in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text"):
            if node.get("class") == "group":
                rows.setdefault(node.get("y"), []).append((float(node.get("x")), 6 * len(node.text) / 2))
        for names in rows.values():
            seen += len(names)
            for (left, half), (right, other) in zip(sorted(names), sorted(names)[1:]):
                assert left + half < right - other, path
    assert seen
