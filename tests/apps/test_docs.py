# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each public function has a manual page of its group, and an entry in the version script."""
import pathlib
import re

SRC = pathlib.Path(__file__).resolve().parents[2]


def functions():
    header = (SRC / "libforsched" / "forsched.h").read_text()
    return set(re.findall(r"^(?:enum forsched_err|void|uint\d+_t|const char \*)\s*(forsched_\w+)\(", header, re.M))


def test_every_function_is_exported_and_has_a_page():
    names = functions()
    assert len(names) == 20
    exported = set(re.findall(r"^\t(forsched_\w+);", (SRC / "libforsched" / "libforsched.map").read_text(), re.M))
    assert exported == names
    pages = "\n".join(page.read_text() for page in (SRC / "man").glob("forsched*.3"))
    rules = (SRC / "man" / "local.mk").read_text()
    for name in names:
        assert re.search(rf"\b{name}\(", pages), name
        assert f"man/{name}.3" in rules, name


def test_the_settings_in_the_manual_are_those_of_the_library():
    code = "\n".join(path.read_text() for path in (SRC / "libforsched" / "mpi").glob("*.c"))
    page = (SRC / "man" / "libforsched-mpi.7").read_text()
    used = set(re.findall(r'"(FORSCHED_[A-Z_]+)"', code))
    assert used == set(re.findall(r"^\.B (FORSCHED_[A-Z_]+)$", page, re.M))
