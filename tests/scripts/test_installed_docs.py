# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What people are given to read: links lead somewhere, man pages are well-formed, systemd likes the drop-in."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
CHECKER = TOP / "scripts" / "check_links.py"
MAN_PAGES = sorted((TOP / "man").glob("*.[1-8]"))


def links(folder, *options):
    return subprocess.run([sys.executable, str(CHECKER), str(folder), *options], capture_output=True, text=True)


def test_links_of_the_sources():
    done = links(TOP)
    assert done.returncode == 0, done.stdout


def test_links_of_the_installed_documentation(tmp_path):
    build = os.environ.get("FORS_BUILDDIR")
    if not build:
        pytest.skip("FORS_BUILDDIR names no build")
    subprocess.run(["make", "-s", "-C", build, "install-nobase_dist_docDATA", "install-dist_applicationsDATA", "install-dist_publishDATA", f"DESTDIR={tmp_path}"],
                   check=True, capture_output=True)
    pages, = tmp_path.rglob("share/doc/fors")
    done = links(pages, "--inside")
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) links", done.stdout)[1]) >= 60


@pytest.mark.parametrize("text, complaint", [
    ("[a](gone.md)", "gone.md is not there"), ("![a](gone.svg)", "gone.svg is not there"), ("[a](b.md#c)", "b.md#c has no heading #c"),
    ("[a](../outside.md)", "../outside.md is outside"), ("no link", "0 links"),
    ("[a](b.md#a-heading-b)", None), ("[a](#own)\n\n# Own", None), ("[a](https://example.org/) [a](b.md)", None),
    ("`[a](gone.md)` [a](b.md)", None),
])
def test_the_checker(tmp_path, text, complaint):
    (tmp_path / "outside.md").touch()
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "b.md").write_text("# A heading: b\n")
    (tmp_path / "pages" / "page.md").write_text(text)
    done = links(tmp_path / "pages", "--inside")
    assert (done.returncode, complaint or "0 broken") in ((1, complaint), (0, "0 broken")), done.stdout
    assert (complaint or "0 broken") in done.stdout


@pytest.mark.parametrize("page", MAN_PAGES, ids=lambda page: page.name)
def test_man_page(page):
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", str(page)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_examples_of_man_pages_have_no_tabs():
    """A tab of an example goes to a column of its own: eight, and twice eight, beside the margin."""
    assert [page.name for page in MAN_PAGES if "\t" in page.read_text()] == []


def test_systemd_drop_in(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    unit = tmp_path / "opensm@.service"
    unit.write_text("[Service]\nType=simple\nExecStart=/bin/true --guid %I\n")
    (tmp_path / "opensm@.service.d").mkdir()
    shutil.copy(TOP / "opensm-conf/systemd/fors.conf", tmp_path / "opensm@.service.d")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "opensm@0x1.service"], capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"})
    ours = [line for line in done.stderr.splitlines() if "opensm@" in line or "fors.conf" in line]
    assert (done.returncode, ours) == (0, [])


def test_systemd_unit_of_fors_watch(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed")
    unit = (TOP / "opensm-conf/watch/fors-watch.service").read_text()
    (tmp_path / "fors-watch.service").write_text(unit.replace("ExecStart=fors watch", "ExecStart=/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "fors-watch.service"], capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"})
    ours = [line for line in done.stderr.splitlines() if "fors-watch" in line]
    assert (done.returncode, ours) == (0, [])
    for name in ("fors-watch.sysusers", "60-fors-watch.rules", "watch.conf"):  # whose installation its first lines tell
        assert name in unit and (TOP / "opensm-conf/watch" / name).exists()
