# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The counter behind the last line of test.sh: what died, was skipped or never ran must not pass for good."""
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
COUNTER = TOP / "scripts" / "count_results.py"


def count(*arguments):
    return subprocess.run([sys.executable, str(COUNTER), *map(str, arguments)], capture_output=True, text=True)


def verdicts(done):
    return [line.split()[0] for line in done.stdout.splitlines()]


def program(folder, log, result):
    (folder / "test_x.log").write_text(log)
    (folder / "test_x.trs").write_text(f":test-result: {result}\n:global-test-result: {result}\n")


@pytest.mark.parametrize("log, result, expected", [
    ("1..2\nok 1 - a\nok 2 - b\n", "PASS", ["pass", "pass"]),
    ("1..2\nok 1 - a\nnot ok 2 - b\n# why\n", "FAIL", ["pass", "fail"]),
    ("1..3\nok 1 - a\nSegmentation fault\n", "FAIL", ["pass", "fail", "fail"]),
    ("1..1\nok 1 - a\n==1== LeakSanitizer\n", "FAIL", ["pass", "fail"]),
    ("1..2\nok 1 - a\nnot ok 2 # SKIP b\n", "PASS", ["pass", "skip"]),
    ("says nothing\n", "PASS", ["pass"]),
    ("says nothing\n", "ERROR", ["fail"]),
    ("says why not\n", "SKIP", ["skip"]),
    ("....\n3 passed, 1 skipped in 0.10s\n", "PASS", ["pass", "pass", "pass", "skip"]),
    ("F.\n=== 1 failed, 1 passed in 0.10s ===\n", "FAIL", ["fail", "pass"]),
])
def test_program(tmp_path, log, result, expected):
    program(tmp_path, log, result)
    assert verdicts(count("automake", "check", tmp_path, 0)) == expected


def test_names_what_failed_inside_a_pytest_run(tmp_path):
    log = "F.\n=== short test summary info ===\nFAILED ../tests/cli/test_a.py::test_b - assert 1 == 2\n=== 1 failed, 1 passed in 0.10s ===\n"
    program(tmp_path, log, "FAIL")
    assert count("automake", "check", tmp_path, 1).stdout == (
        "fail check test_x: ../tests/cli/test_a.py::test_b - assert 1 == 2\npass check test_x: pytest\n")


def test_names_a_program_with_its_folder(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        program(tmp_path / folder, "says nothing\n", "PASS")
    assert count("automake", "check", tmp_path, 0).stdout == "pass check a/test_x: whole\npass check b/test_x: whole\n"


def test_tests_of_the_command_without_pytest_are_counted_as_skipped(tmp_path):
    """The real tests/cli/run, whose exit code automake calls SKIP, up to the last line of test.sh."""
    done = subprocess.run([TOP / "tests" / "cli" / "run"], env={"PATH": "/usr/bin:/bin", "PYTHON": "false"}, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 77 and "python3-pytest is not installed" in done.stdout
    program(tmp_path, done.stdout, "SKIP")
    cases = count("automake", "check", tmp_path, 0).stdout
    (tmp_path / "cases").write_text("pass others\n" + cases)
    assert count("sum", tmp_path).stdout == "1 passed, 0 failed, 1 skipped\n"


def test_a_run_without_programs_has_failed(tmp_path):
    assert verdicts(count("automake", "check", tmp_path, 0)) == ["fail"]


def test_a_bad_exit_that_no_case_explains_is_a_failure(tmp_path):
    program(tmp_path, "1..1\nok 1 - a\n", "PASS")
    assert verdicts(count("automake", "check", tmp_path, 2)) == ["pass", "fail"]


def test_junit(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite><testcase classname="t" name="a"/><testcase classname="t" name="b">'
                      '<failure/></testcase><testcase classname="t" name="c"><skipped/></testcase></testsuite></testsuites>')
    assert verdicts(count("junit", "e2e", report, 1)) == ["pass", "fail", "skip"]


def test_a_missing_report_is_a_failure(tmp_path):
    assert verdicts(count("junit", "e2e", tmp_path / "none.xml", 124)) == ["fail"]


@pytest.mark.parametrize("lines, last, code", [
    ("pass a\npass b\n", "2 passed, 0 failed", 0),
    ("pass a\nfail b\nskip c\n", "1 passed, 1 failed, 1 skipped", 1),
    ("pass a\nskip b\nskip c\n", "1 passed, 0 failed, 2 skipped", 0),
    ("skip a\n", "0 passed, 0 failed, 1 skipped", 1),
    ("", "0 passed, 0 failed", 1),
])
def test_sum(tmp_path, lines, last, code):
    (tmp_path / "cases").write_text(lines)
    done = count("sum", tmp_path)
    assert (done.stdout, done.returncode) == (last + "\n", code)
