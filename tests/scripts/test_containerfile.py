# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Containerfile of the demo: it names what there is, installs what scripts/common.sh says, and is built where podman can."""
import fnmatch
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
KNOWN = {"FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT"}


def instructions(text):
    """[(instruction, the rest of it)], continued lines in one."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ").splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


CONTAINERFILE = instructions((TOP / "Containerfile").read_text())


def rest(instruction):
    return [value for name, value in CONTAINERFILE if name == instruction]


def packages_of(variable):
    text = (TOP / "scripts" / "common.sh").read_text()
    return re.search(rf'^{variable}="([^"]*)"', text, re.M)[1].split()


def programs(command):
    """The first word of each command of a RUN line, without variables set before it."""
    return [next(word for word in part.split() if "=" not in word) for part in command.split("&&")]


def test_instructions():
    assert CONTAINERFILE[0] == ("FROM", "docker.io/library/debian:12")
    assert {name for name, _ in CONTAINERFILE} == KNOWN
    assert len(rest("FROM")) == 1


def test_packages_are_those_of_the_scripts():
    installs = [part for command in rest("RUN") for part in command.split("&&") if " install " in part]
    assert len(installs) == 1
    named = [word for word in installs[0].split(" install ", 1)[1].split() if not word.startswith("-")]
    assert sorted(named) == sorted(packages_of("build_packages") + packages_of("run_packages"))


def test_programs_are_those_of_a_bare_debian():
    assert {program for command in rest("RUN") for program in programs(command)} == {"apt-get", "rm"}


def test_what_is_copied_is_there():
    """All sources are copied to the folder that the demo runs in; no file that git knows is left out."""
    (sources, target), = [copy.rsplit(None, 1) for copy in rest("COPY")]
    assert sources.split() == ["."] and rest("WORKDIR") == [target]
    ignored = [line.rstrip("/") for line in (TOP / ".containerignore").read_text().splitlines()]
    tops = {path.name for path in TOP.iterdir() if (path / "local.mk").exists() or path.is_file()}
    assert not [name for name in tops for pattern in ignored if fnmatch.fnmatch(name, pattern)]
    assert any(fnmatch.fnmatch("build-demo", pattern) for pattern in ignored)


def test_the_entry_is_the_demo():
    entry, = rest("ENTRYPOINT")
    script, = json.loads(entry)
    assert (TOP / script).stat().st_mode & 0o111
    done = subprocess.run([script, "--help"], cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "--levels" in done.stdout


def test_podman_builds_it():
    if not shutil.which("podman"):
        pytest.skip("podman is not installed")
    if subprocess.run(["podman", "pull", "-q", rest("FROM")[0]], capture_output=True, check=False).returncode:
        pytest.skip("podman cannot fetch the image of Debian 12")
    built = subprocess.run(["podman", "build", "-q", "-t", "fors-demo-test", str(TOP)], capture_output=True, text=True, timeout=900, check=False)
    assert built.returncode == 0, built.stderr[-2000:]
    try:
        done = subprocess.run(["podman", "run", "--rm", "fors-demo-test", "--levels", "2", "--json"], capture_output=True, text=True, timeout=900,
                              check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    finally:
        subprocess.run(["podman", "rmi", "-f", "fors-demo-test"], capture_output=True, check=False)
