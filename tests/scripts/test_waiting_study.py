# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""lab/bench/waiting.py: the study of ways to wait goes on where it was stopped, and has a line for each case."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "lab" / "bench"))
import waiting  # noqa: E402

FAKE = """#!/bin/sh
echo x >> {log}
echo '{{"time_ns": 3000, "bound_ns": 2000, "slots": 3, "servers": 4}}'
"""


@pytest.fixture
def fake(tmp_path):
    """(program that is no fors, how often it was called)"""
    program, log = tmp_path / "fors", tmp_path / "log"
    program.write_text(FAKE.format(log=log))
    program.chmod(0o755)
    return program, lambda: len(log.read_text().splitlines()) if log.exists() else 0


def few(monkeypatch):
    monkeypatch.setattr(waiting, "SIZES", ["256KiB"])
    monkeypatch.setattr(waiting, "TROUBLES", {"none": []})
    return len({tuple(waiting.command(case)) for case in waiting.cases()})


def test_what_is_there_is_not_done_again(monkeypatch, fake, tmp_path):
    program, calls = fake
    n = few(monkeypatch)
    rows = waiting.run(tmp_path, program)
    assert calls() == n and {row["over"] for row in rows} == {1.5}
    waiting.run(tmp_path, program)
    assert calls() == n
    path = tmp_path / "results.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-2]) + lines[-1][:20])  # stopped while it wrote
    waiting.run(tmp_path, program)
    assert calls() == n + 2
    waiting.run(tmp_path, program)
    assert calls() == n + 2


def test_the_least_bound_of_all_ways_of_a_case_counts(monkeypatch, fake, tmp_path):
    few(monkeypatch)
    waiting.run(tmp_path, fake[0])
    path = tmp_path / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["bound_ns"] = 1000 if "tree" in row["command"] and "--ahead" not in row["command"] else 2000
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert {row["over"] for row in waiting.run(tmp_path, fake[0])} == {3}


def test_each_case_is_in_the_tables(monkeypatch, fake, tmp_path):
    few(monkeypatch)
    text = waiting.tables(waiting.run(tmp_path, fake[0]))
    lines = [line for line in text.splitlines() if "**1.50**" in line]
    assert len(lines) * len(waiting.WAYS) == sum(case["part"] != "drawn" for case in waiting.cases())
    assert text.count("1.00 to 1.00 to 1.00") == 2 * len(waiting.SHARES)  # of drawn ones a share a line, for two LMCs


def test_fors_knows_the_options(fors_program):
    """One case of each way and trouble, with no fabric to speak of."""
    for case in waiting.trouble_cases():
        for way in waiting.WAYS:
            argv = waiting.command({**case, "way": way})
            argv[2], argv[3:5] = "FT(2;2,2)", []
            said = subprocess.run([fors_program, *(word.replace("7=0.8", "1=0.8") for word in argv)], capture_output=True, text=True)
            assert said.returncode == 0, said.stderr
            assert json.loads(said.stdout)["time_ns"] > 0


@pytest.fixture
def fors_program():
    import os
    folder = os.environ.get("FORS_BUILDDIR")
    if not folder:
        pytest.skip("FORS_BUILDDIR names no build")
    return pathlib.Path(folder) / "fors"


def test_the_page_has_the_cases():
    page = (TOP / "lab" / "doc" / "waiting.md").read_text()
    for case in waiting.main_cases():
        assert re.search(rf"\| {case['state']} \| {case['lmc']} \| {case['size']} \|", page)
    assert all(f"| {trouble} |" in page for trouble in waiting.TROUBLES)
