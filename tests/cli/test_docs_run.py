# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every command of fors that README.md and doc/ show as code is run as it stands there, in a folder with the files that it names."""
import pathlib
import re
import shutil
import subprocess

import pytest

import conftest
from conftest import FORS, SRC

PAGES = [page for page in (SRC / "README.md", *sorted(SRC.glob("doc/*.md")), *sorted(SRC.glob("lab/doc/*.md")))
         if page.exists() and page.name != "by-hand.md"]  # tests/e2e/test_by_hand.py runs that
ELSEWHERE = {  # commands that want what is not here, and the tests that run them
    "fors watch": "a fabric: tests/e2e/test_watch.py",
    "fors status": "a subnet manager: tests/e2e, tests/cli/test_status.py",
    "fors verify --fabric now.txt": "the state folder of a subnet manager: tests/e2e/test_offline.py",
}
HISTORY = """\
JobID|Start|End|NNodes|NodeList
7|2026-10-01T00:00:00|2026-10-02T00:00:00|2|Node00-[00-01]
8|2026-10-01T01:00:00|2026-10-02T00:00:00|3|Node01-[00-02]
9|2026-10-01T02:00:00|2026-10-02T00:00:00|2|Node00-05,Node02-03
"""


def commands():
    for page in PAGES:
        for line in page.read_text().splitlines():
            found = re.match(r"    (?:\$ )?(fors [a-z].*?)(?: {2,}#.*| #.*)?$", line)
            if found and not any(found[1].startswith(start) for start in ELSEWHERE):
                yield page.name, found[1]


def fors(folder, *words):
    done = conftest.run(FORS, *words, cwd=folder)
    assert done.code == 0, done.err
    return done.out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small fabrics: whole, and with a dead cable; tables of theirs, jobs and messages."""
    folder = tmp_path_factory.mktemp("docs")
    small, cut, large = ["--synthetic", "FT(2;2,3)"], ["--down", "Leaf00[4]"], ["--synthetic", "FT(2;20,3)"]
    for name, spec in (("net", small), ("broken", [*small, *cut]), ("fabric.net", small), ("fabric.txt", large), ("intact.txt", large)):
        (folder / name).write_text(fors(folder, "fabric", *spec).replace("4xSDR", "4xHDR"))
    for name, spec in (("lfts", small), ("lfts2", [*small, *cut]), ("fabric.lfts", small), ("yesterday.lfts", small)):
        (folder / name).write_text(fors(folder, "fabric", *spec, "--format", "lfts"))
    (folder / "history").write_text(HISTORY)
    (folder / "events").write_text("role Node[00-05]-00 send\nrole Node[06-07]-[00-03] receive\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "fors").symlink_to(pathlib.Path(FORS).resolve())
    return folder


def test_there_are_commands():
    found = list(commands())
    assert len(found) >= 18 and {"README.md", "analyze.md", "operations.md", "simulate.md", "jobs.md", "watch.md"} <= {page for page, _ in found}


@pytest.mark.parametrize("page", sorted({page for page, _ in commands()}))
def test_commands_of_a_page(folder, tmp_path, page):
    """In their order: one may need what the one before wrote."""
    here = shutil.copytree(folder, tmp_path / "here", symlinks=True)
    for command in [command for name, command in commands() if name == page]:
        if "--engines" in command and not (shutil.which("opensm", path="/usr/sbin:/usr/bin") and shutil.which("ibsim")):
            continue
        done = subprocess.run(["sh", "-c", f'PATH="{here}/bin:$PATH"; {command}'], cwd=here, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{page}: {command}\n{done.stdout[-500:]}{done.stderr[-1000:]}"
