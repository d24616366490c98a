# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the command fors as a user would; FORS, FORS_STAMP and FORS_SHORT name what is built, FORS_SRC the source tree."""
import lzma
import os
import pathlib
import subprocess
import tarfile

import pytest

FORS = os.environ.get("FORS", "fors")
STAMP = os.environ.get("FORS_STAMP", "stamp_schedule")
SHORT = os.environ.get("FORS_SHORT", "")
SRC = pathlib.Path(os.environ.get("FORS_SRC", pathlib.Path(__file__).resolve().parents[2]))


# What these read is texts, or another program's arithmetic: all that they run is run by others, too, and sanitizers make it slow.
IS_SANITIZED = os.path.exists(FORS) and b"libasan" in pathlib.Path(FORS).read_bytes()
long_under_sanitizers = pytest.mark.skipif(IS_SANITIZED, reason="minutes under sanitizers, and others run the same code")
if IS_SANITIZED:
    collect_ignore = ["test_certified.py", "test_pages.py", "test_promise.py", "test_schemas.py", "test_usage.py"]

needs_short = pytest.mark.skipif(not os.path.exists(SHORT), reason="the sanitizers have the allocations")


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


def run(program, *args, stdin=b"", cwd=None, env=None):
    done = subprocess.run([program, *map(str, args)], input=stdin, capture_output=True, timeout=300, cwd=cwd,
                          env={**os.environ, **(env or {})})
    done.stdout = done.stdout.decode(errors="replace")
    done.stderr = done.stderr.decode(errors="replace")
    return Result(done)


def short_of_memory(at, *args):
    """Exit code, output, errors, and whether the allocation number `at` was reached, which failed."""
    read, write = os.pipe()
    env = {**os.environ, "LD_PRELOAD": SHORT, "FORS_SHORT_AT": str(at), "FORS_SHORT_FD": str(write)}
    done = subprocess.run([FORS, *map(str, args)], env=env, pass_fds=[write], capture_output=True, text=True, timeout=300)
    os.close(write)
    with os.fdopen(read) as pipe:
        return done.returncode, done.stdout, done.stderr, pipe.read() == "F"


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    """unpacked(name) -> folder: the recordings that tests/data/<name>.py made, out of their archive."""

    def call(name):
        folder = tmp_path_factory.mktemp(name)
        with lzma.open(SRC / "tests" / "data" / f"{name}.tar.xz") as file, tarfile.open(fileobj=file) as archive:
            archive.extractall(folder)
        return folder

    return call


@pytest.fixture
def fors():
    """fors(args..., code=0): run it, insist on the exit code, and never on a crash."""

    def call(*args, code=0, **more):
        result = run(FORS, *args, **more)
        assert result.code == code, (args, result.code, result.out[-2000:], result.err)
        if code == 2:
            assert result.err.startswith("fors"), result.err
        assert "runtime error" not in result.err and "Sanitizer" not in result.err
        return result

    return call


@pytest.fixture
def stamp():
    """stamp(file, epoch[, reason]): give a schedule file an epoch, or withdraw it."""

    def call(*args):
        assert run(STAMP, *args).code == 0

    return call


@pytest.fixture
def write(tmp_path):
    """write(name, text or bytes) -> path"""

    def call(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return call
