# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Packages of both kinds carry all that `make install` installs, each file once."""
import fnmatch
import os
import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
MACROS = {"_bindir": "bin", "_datadir": "share", "_docdir": "share/doc", "_includedir": "include", "_libdir": "lib",
          "_libexecdir": "libexec", "_mandir": "share/man", "name": "fors", "python3_sitelib": "lib/python3*/*-packages"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Below the prefix, what an administrator's package would hold: no .la."""
    build = os.environ.get("FORS_BUILDDIR")
    if not build:
        pytest.skip("FORS_BUILDDIR names no build")
    root = tmp_path_factory.mktemp("root")
    subprocess.run(["make", "-s", "-C", build, "install", f"DESTDIR={root}"], check=True, capture_output=True)
    prefix = next(path.parents[1] for path in root.rglob("bin/fors"))
    return sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir() and path.suffix != ".la")


def spec_files():
    """{package: patterns} of the sections %files."""
    found = {}
    for section in re.split(r"^%(?=files|changelog)", (TOP / "packaging/fors.spec.in").read_text(), flags=re.M)[1:]:
        if section.startswith("files"):
            head, _, body = section.partition("\n")
            words = head.split()[1:]
            found[words[1] if words[:1] == ["-n"] else "-".join(["fors", *words])] = [
                re.sub(r"%\{(\w+)\}", lambda m: MACROS[m[1]], line.removeprefix("%doc ")) for line in body.splitlines()
                if line.startswith(("%{", "%doc "))]
    return found


def debian_files():
    """{package: patterns} of *.install, *.manpages and *.links; what lies in a page's folder is a copy."""
    found = {}
    for kind, word in (("install", 0), ("manpages", 0), ("links", 1)):
        for path in (TOP / "debian").glob(f"*.{kind}"):
            found.setdefault(path.stem, []).extend(
                re.sub(r"^(debian/tmp/)?usr/", "", line.split()[word]).replace("lib/*/", "lib/").replace(
                    "python3/dist-packages", "python3*/*-packages") for line in path.read_text().splitlines())
    return found


def holds(patterns, file):
    return any(fnmatch.fnmatch(file, pattern) or fnmatch.fnmatch(file, pattern + "/*") for pattern in patterns)


@pytest.mark.parametrize("packages", [spec_files, debian_files], ids=["rpm", "deb"])
def test_each_file_is_in_one_package(installed, packages):
    table = packages()
    assert len(table) == 9 and len(installed) > 50
    where = {file: [name for name, patterns in table.items() if holds(patterns, file)] for file in installed}
    assert {file: names for file, names in where.items() if len(names) != 1} == {}
    unused = [pattern for patterns in table.values() for pattern in patterns if not any(holds([pattern], file) for file in installed)]
    assert unused == []


def test_both_kinds_have_the_same_packages(installed):
    """A file is in the package of the same name; Debian's names of libraries have numbers, and -dev for -devel."""
    def name_of(table, file):
        return next(name for name, patterns in table.items() if holds(patterns, file)).replace("forsched0", "forsched").replace("-devel", "-dev")
    rpm, deb = spec_files(), debian_files()
    assert {file for file in installed if name_of(rpm, file) != name_of(deb, file)} == set()
