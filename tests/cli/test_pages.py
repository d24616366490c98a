# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands that README.md and doc/ show are run, line by line, in a folder that has the files which they name.

In the place of ibnetdiscover and dump_fts stand programs that print a made-up fabric and its tables.
"""
import os
import re
import subprocess

import pytest

from conftest import FORS, SRC

SPEC = "FT(2;20,3)"  # Leaf00[21] is an uplink
HISTORY = "JobID|Start|End|NNodes|NodeList\n" + "".join(
    f"{n}|2026-10-01T00:{n:02}:00|2026-10-01T01:{n:02}:00|2|Node00-{n:02},Node01-{n:02}\n" for n in range(8))
PAGES_ELSEWHERE = {"by-hand.md": "ibsim and opensm: tests/e2e/test_by_hand.py", "trial.md": "a fabric: tests/e2e/test_trial.py"}
ELSEWHERE = {  # what cannot run here, and where it is run
    r"0x\.\.\.": "a state folder: tests/e2e",
    r"--engines": "opensm and ibsim: tests/e2e",
    r"^fors status": "a running opensm: tests/e2e",
    r"^fors watch": "a fabric: tests/e2e/test_watch.py",
    r"^fors[ :,].*  +\d|^fors: ": "output, no command",
}


def lines():
    """[(page, command)]: the lines of indented blocks that begin with fors, without their comments."""
    found = []
    for page in [SRC / "README.md", *sorted(SRC.glob("doc/*.md")), *sorted(SRC.glob("lab/doc/*.md"))]:
        if page.name in PAGES_ELSEWHERE:
            continue
        for line in re.findall(r"^ {4,}(fors .*)$", page.read_text(), re.M):
            command = re.sub(r"\s+# .*", "", line).strip()
            if not any(re.search(pattern, command) for pattern in ELSEWHERE):
                found.append((page.name, command))
    return found


def program(folder, name, text):
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Beside the programs: every file that a page has made before, or takes for granted."""
    top = tmp_path_factory.mktemp("pages")
    program(top, "fors", f'exec "{os.path.abspath(FORS)}" "$@"')
    program(top, "ibnetdiscover", f"fors fabric --synthetic '{SPEC}' \"$@\" | sed s/4xSDR/4xHDR/")
    program(top, "dump_fts", f"fors fabric --synthetic '{SPEC}' --format lfts \"$@\"")
    made = """for net in fabric.txt intact.txt net fabric.net; do ibnetdiscover >$net; done
        for lfts in lfts fabric.lfts yesterday.lfts; do dump_fts >$lfts; done
        fors jobs --fabric net --replay history --output-dir moments
        ibnetdiscover --down 'Leaf00[21]' >broken; dump_fts --down 'Leaf00[21]' >lfts2"""
    (top / "history").write_text(HISTORY)
    subprocess.run(["sh", "-ec", made], cwd=top, env=environment(top), check=True)
    return top


def environment(folder):
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def test_there_are_commands_on_the_pages():
    assert {"README.md", "operations.md", "analyze.md", "simulate.md", "jobs.md", "watch.md"} <= {page for page, _ in lines()}


@pytest.mark.parametrize("page, command", lines())
def test_command(folder, page, command):
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and (done.stdout or "--replay" in command), done.stderr
