# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The version is that of configure.ac; what has to repeat it, says the same, and nothing else has it."""
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
VERSION = re.search(r"^AC_INIT\(\[fors\], \[([\d.]+)\]", (TOP / "configure.ac").read_text(), re.M)[1]

# What has to say which version it is of, and how: the newest one in it is that of configure.ac.
REPEATED = {
    "CHANGELOG.md": r"^## \[(\d[\d.]*)\] - \d{4}-\d\d-\d\d$",
    "debian/changelog": r"^fors \(([\d.]+)\) ",
    "packaging/fors.spec.in": r"^\* .* - ([\d.]+)-1$",
    **{str(page.relative_to(TOP)): r'^\.TH .*"fors ([\d.]+)"' for page in sorted((TOP / "man").glob("*.[1-8]"))},
}
# Symbols of a library say since which version they are there.
UNREAD = re.compile(r"^(build[^/]*|\.git|m4|build-aux|autom4te\.cache)/|\.(xz|png|svg|json|log|symbols)$|^(configure|aclocal\.m4|tests/data/.*)$")


@pytest.mark.parametrize("name", REPEATED)
def test_what_repeats_it_says_the_same(name):
    assert re.search(REPEATED[name], (TOP / name).read_text(), re.M)[1] == VERSION


def test_the_rpm_and_the_programs_have_it_from_configure():
    assert "Version:        @VERSION@" in (TOP / "packaging/fors.spec.in").read_text()


def test_no_other_file_states_it():
    """A release changes configure.ac and the files above; a version in any other would be forgotten."""
    found = []
    for folder in ("cli", "core", "debian", "doc", "daemon", "libforsched", "opensm-conf", "packaging", "plugin", "scripts",
                   "watch", "."):
        for path in sorted((TOP / folder).glob("*" if folder == "." else "**/*")):
            name = str(path.relative_to(TOP))
            if path.is_file() and name not in REPEATED and name != "configure.ac" and not UNREAD.search(name):
                text = path.read_text(errors="replace")
                if re.search(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.]*\d)", text):
                    found.append(name)
    assert found == []


def test_the_changelog_is_kept():
    """Keep a Changelog: versions from the newest, each with a date, and only headings that it knows; what is to come is at the top."""
    text = (TOP / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads[0] == "[Unreleased]" and all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head) for head in heads[1:])
    dates = [head.rsplit(" ", 1)[1] for head in heads[1:]]
    assert dates == sorted(dates, reverse=True)
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
