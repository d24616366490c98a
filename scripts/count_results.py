#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Count test cases honestly, from what the test programs themselves wrote.

  count_results.py automake NAME BUILD_DIR STATUS   the .trs and .log files of `make check`
  count_results.py junit NAME FILE STATUS           pytest's JUnit report
  count_results.py sum RESULTS_DIR                  all that test.sh collected; exit 1 on any failure

The first two print lines "pass NAME CASE", "fail NAME CASE" or "skip NAME CASE". STATUS is the exit
code of the run: when it is not 0 and no failed case explains it, that is a failed case too. The last line of a sum names
what was skipped too, if anything was: a test program that cannot run here (exit 77) counts as one case.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree

TAP_CASE = re.compile(r"^(ok|not ok)\b\s*(?:\d+)?\s*-?\s*(.*)$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)\s*$")
PYTEST_END = re.compile(r"^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)(?:, )?)+)"
                        r" in [\d.]+s")
PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+)$", re.M)


def tap_cases(text):
    """Cases of a cmocka program that wrote TAP; those that it announced and never reached have failed."""
    cases, planned = [], 0
    for line in text.splitlines():
        plan, case = TAP_PLAN.match(line), TAP_CASE.match(line)
        if plan:
            planned += int(plan[1])
        elif case and "# SKIP" in case[2].upper():
            cases.append(("skip", case[2]))
        elif case:
            cases.append(("pass" if case[1] == "ok" else "fail", case[2]))
    cases += [("fail", "never reached")] * (planned - len(cases))
    return cases


def pytest_cases(text):
    """Cases of a pytest run inside `make check`, from its last line; those that failed have the names and reasons above it."""
    verdicts = {"passed": "pass", "xfailed": "pass", "failed": "fail", "error": "fail", "errors": "fail",
                "xpassed": "fail", "skipped": "skip"}
    cases, failed = [], iter(PYTEST_FAILED.findall(text))
    for line in text.splitlines():
        end = PYTEST_END.match(line)
        for count, word in re.findall(r"(\d+) (\w+)", end[1]) if end else []:
            if word in verdicts:
                cases += [(verdicts[word], next(failed, "pytest") if verdicts[word] == "fail" else "pytest") for _ in range(int(count))]
    return cases


def program_cases(trs):
    """Cases of one automake test program."""
    result = re.search(r"^:test-result:\s*(\w+)", trs.read_text(), re.M)
    verdict = {"PASS": "pass", "XFAIL": "pass", "SKIP": "skip"}.get(result[1] if result else "", "fail")
    log = trs.with_suffix(".log")
    text = log.read_text(errors="replace") if log.exists() else ""
    cases = tap_cases(text) or pytest_cases(text) or [(verdict, "whole")]
    if verdict == "fail" and all(case[0] != "fail" for case in cases):
        cases.append(("fail", "ended badly"))
    return cases


def automake(name, build_dir, status):
    cases = []
    for trs in sorted(pathlib.Path(build_dir).rglob("*.trs")):
        program = trs.relative_to(build_dir).with_suffix("")
        cases += [(verdict, f"{name} {program}: {case}") for verdict, case in program_cases(trs)]
    return explained(name, cases, status)


def junit(name, path, status):
    cases = []
    if pathlib.Path(path).exists():
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            kinds = {child.tag for child in case}
            verdict = "fail" if kinds & {"failure", "error"} else "skip" if "skipped" in kinds else "pass"
            cases.append((verdict, f"{name} {case.get('classname')}.{case.get('name')}"))
    return explained(name, cases, status)


def explained(name, cases, status):
    """A run that found nothing, or failed without a failed case, is a failure of its own."""
    if not cases or (int(status) != 0 and all(verdict != "fail" for verdict, _ in cases)):
        cases.append(("fail", f"{name}: exit {status} after {len(cases)} cases"))
    return cases


def total(results_dir):
    count = {"pass": 0, "fail": 0, "skip": 0}
    for path in (pathlib.Path(results_dir) / "whole", pathlib.Path(results_dir) / "cases"):
        for line in path.read_text().splitlines() if path.exists() else []:
            verdict, _, case = line.partition(" ")
            count[verdict] += 1
            if verdict != "pass":
                print(f"{'FAILED' if verdict == 'fail' else 'skipped'}: {case}", file=sys.stderr)
    skipped = f", {count['skip']} skipped" if count["skip"] else ""
    print(f"{count['pass']} passed, {count['fail']} failed{skipped}")
    return 1 if count["fail"] or not count["pass"] else 0


def main(arguments):
    if arguments[:1] == ["sum"] and len(arguments) == 2:
        return total(arguments[1])
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    readers = {"automake": automake, "junit": junit}
    if len(arguments) != 4 or arguments[0] not in readers:
        sys.exit(__doc__)
    for verdict, case in readers[arguments[0]](*arguments[1:]):
        print(verdict, " ".join(case.split()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
