# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Help never acts: who asks a script what it does, or mistypes, gets an answer at once; nothing is installed, built or written.

Each script runs in a copy of its own, where every program that could act is a trap: it leaves its name, and fails.
"""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SCRIPTS = ["scripts/test.sh", "scripts/demo.sh", "scripts/demo-slurm.sh", "scripts/packages.sh", "scripts/coverage.sh", "lab/testbed/run", "autogen.sh", ".ci/run",
           "scripts/count_results.py", "scripts/check_modules.py", "scripts/check_links.py", "lab/bench/bench.py", "lab/bench/throughput.py", "tests/compare/compare",
           "tests/fuzz/run.sh", "tests/data/stock.py", "tests/mutants/mutants.py", "tests/e2e/chaos.py"]
TRAPS = ["apt-get", "autoconf", "autoreconf", "automake", "libtoolize", "configure", "make", "gcc", "tar", "git", "lcov", "opensm",
         "ibsim", "ip", "dpkg-buildpackage", "rpmbuild", "pytest-3", "mkdir", "rm"]
KEPT = ["scripts", "lab/testbed", "lab/bench", "tests/e2e", "tests/compare", "tests/fuzz/run.sh", "tests/data/stock.py", "tests/mutants",
        "autogen.sh", ".ci/run"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the scripts, and a folder of traps."""
    top = tmp_path_factory.mktemp("help")
    for name in KEPT:
        target = top / "tree" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (TOP / name).is_dir() else shutil.copy2)(TOP / name, target)
    (top / "traps").mkdir()
    for name in TRAPS:
        trap = top / "traps" / name
        trap.write_text(f'#!/bin/sh\necho {name} >>"{top}/sprung"\nexit 1\n')
        trap.chmod(0o755)
    return top


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def ask(top, script, *arguments):
    """Run it among the traps; nothing may happen."""
    before = files(top / "tree")
    path = top / "tree" / script
    command = ["python3", path] if path.suffix == ".py" else [path]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300, cwd=top, stdin=subprocess.DEVNULL,
                          env={**os.environ, "PATH": f"{top}/traps:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"})
    assert not (top / "sprung").exists(), (script, arguments, (top / "sprung").read_text())
    assert files(top / "tree") == before
    return done


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("script", SCRIPTS)
def test_help(tree, script, flag):
    done = ask(tree, script, flag)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) >= 5 and done.stderr == ""


@pytest.mark.parametrize("script, arguments, text", [
    ("scripts/test.sh", ["no-such-stage"], "no stage 'no-such-stage'"),
    ("scripts/test.sh", ["--frobnicate"], "no stage '--frobnicate'"),
    ("scripts/test.sh", ["check", "no-such-stage"], "no stage 'no-such-stage'"),
    ("scripts/test.sh", [""], "no stage ''"),
    (".ci/run", ["no-such-stage"], "no stage 'no-such-stage'"),
    ("scripts/demo.sh", ["--frobnicate"], "--frobnicate"),
    ("scripts/demo.sh", ["surplus"], "surplus"),
    ("scripts/demo-slurm.sh", ["--nodes", "13"], "13"),
    ("scripts/demo.sh", ["--keep"], "--keep"),
    ("scripts/packages.sh", [], "usage:"),
    ("scripts/packages.sh", ["build"], "usage:"),
    ("scripts/packages.sh", ["frobnicate", "DIR"], "no step 'frobnicate'"),
    ("scripts/packages.sh", ["build", "--frobnicate"], "unknown option '--frobnicate'"),
    ("scripts/coverage.sh", [], "usage:"),
    ("scripts/coverage.sh", ["no-such-folder"], "usage:"),
    ("lab/testbed/run", ["--frobnicate"], "--frobnicate"),
    ("lab/testbed/run", ["--scenarios", "no-such-scenario"], "no-such-scenario"),
    ("lab/testbed/run", ["--repeats", "0"], "at least 1"),
    ("autogen.sh", ["--frobnicate"], "unknown argument '--frobnicate'"),
    ("scripts/count_results.py", ["--frobnicate"], "count_results.py"),
    ("scripts/check_modules.py", ["--frobnicate"], "--frobnicate"),
    ("lab/bench/bench.py", ["--frobnicate"], "--frobnicate"),
    ("lab/bench/bench.py", ["no-such-section"], "no-such-section"),
    ("lab/bench/throughput.py", ["--frobnicate"], "usage:"),
    ("tests/compare/compare", ["--frobnicate"], "--frobnicate"),
    ("tests/fuzz/run.sh", ["--frobnicate"], "usage:"),
    ("tests/data/stock.py", ["--frobnicate"], "usage:"),
    ("tests/e2e/chaos.py", ["--frobnicate"], "--frobnicate"),
])
def test_unknown_arguments(tree, script, arguments, text):
    done = ask(tree, script, *arguments)
    assert done.returncode != 0
    assert text in done.stderr
