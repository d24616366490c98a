# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The guard of the modules, with violations planted: in a copy of this very tree, and in a small house of its own."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TABLE = """
| module | what | may use | never |
|---|---|---|---|
| `low/` | a | | |
| `middle/door.h` | b | `low/` | |
| `middle/` | c | `low/`, `middle/door.h` | |
| `high/` | d | `middle/` | |
"""


def check(top, *options):
    return subprocess.run([sys.executable, str(TOP / "scripts/check_modules.py"), "--top", str(top), *map(str, options)],
                          capture_output=True, text=True)


def build(top, table=TABLE, **files):
    (top / "CONTRIBUTING.md").write_text(table)
    for module in ("low", "middle", "high", "tests"):
        (top / module).mkdir()
    (top / "low/low.h").write_text("")
    (top / "middle/door.h").write_text("")
    (top / "middle/inner.h").write_text("")
    for name, text in files.items():
        (top / name.replace("__", "/")).with_suffix(".c").write_text(text)


def copy_of_tree(tmp_path):
    for module in ("core", "ilp", "daemon", "lab", "plugin", "cli", "libforsched"):
        shutil.copytree(TOP / module, tmp_path / module, ignore=shutil.ignore_patterns("*.o", "*.lo", ".libs", ".deps"))
    shutil.copy(TOP / "CONTRIBUTING.md", tmp_path)
    return tmp_path


def test_this_tree_is_as_the_table_says():
    done = check(TOP)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("user, used", [
    ("core/net/net.c", "core/fabric/fabric.h"),
    ("core/schedule/verify.c", "core/tables/tables.h"),
    ("core/planners/flows/units.c", "core/planners/exact/split.h"),
    ("core/planners/exact/exact.c", "core/planners/planner.h"),
    ("core/colouring/koenig.c", "core/net/net.h"),
    ("daemon/worker/worker.c", "lab/model/routers/routes.h"),
    ("libforsched/head.c", "core/base/error.h"),
])
def test_an_include_planted_in_this_tree_is_found(tmp_path, user, used):
    top = copy_of_tree(tmp_path)
    assert check(top).returncode == 0
    with open(top / user, "a", encoding="utf-8") as source:
        source.write(f'#include "{used}"\n')
    done = check(top)
    assert done.returncode == 1
    assert f"{user}:" in done.stdout and f"may not include {used}" in done.stdout


def test_ways_that_are_allowed(tmp_path):
    build(tmp_path, middle__a='#include "low/low.h"\n#include "door.h"\n', high__b='#include "middle/inner.h"\n',
          tests__c='#include "low/low.h"\n#include "middle/inner.h"\n')
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize("name, text, complaint", [
    ("low__a", '#include "middle/door.h"\n', "low/a.c:1: low/ may not include middle/door.h"),
    ("low__a", '\n  # include "../middle/inner.h"\n', "low/a.c:2: low/ may not include middle/inner.h"),
    ("high__a", '#include "low/low.h"\n', "high/ may not include low/low.h"),
    ("high__a", '#include "middle/door.h"\n', "high/ may not include middle/door.h"),
])
def test_ways_that_are_not(tmp_path, name, text, complaint):
    build(tmp_path, **{name: text})
    done = check(tmp_path)
    assert done.returncode == 1 and complaint in done.stdout


def test_a_symbol_that_no_include_shows(tmp_path):
    build(tmp_path, low__a="void fors_above(void); void fors_low(void) { fors_above(); }\n", high__b="void fors_above(void) {}\n")
    assert check(tmp_path).returncode == 0
    objects = tmp_path / "build"
    for source in ("low/a", "high/b"):
        (objects / source).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-c", str(tmp_path / source) + ".c", "-o", str(objects / source) + ".o"], check=True)
    done = check(tmp_path, "--build", objects)
    assert done.returncode == 1 and "low/a.c: low/ may not use fors_above() of high/b.c" in done.stdout


def test_a_build_folder_without_objects_is_no_proof(tmp_path):
    build(tmp_path)
    assert check(tmp_path, "--build", tmp_path / "low").returncode == 1


@pytest.mark.parametrize("table, complaint", [
    ("no table here\n", "no table of modules"),
    (TABLE + "| `attic/` | e | `cellar/` | |\n", "cellar/, which has no row"),
    (TABLE + "| `core/a/` | a | `core/b/` | |\n| `core/b/` | e | `core/a/` | |\n", "circle"),
], ids=["none", "unknown", "circle"])
def test_a_table_that_says_nothing_sensible(tmp_path, table, complaint):
    build(tmp_path, table)
    done = check(tmp_path)
    assert done.returncode == 1 and complaint in done.stderr


def test_a_file_that_no_page_names(tmp_path):
    build(tmp_path, middle__told="", middle__untold="")
    (tmp_path / "middle/below").mkdir()
    for name in ("deep.h", "deeper.h", "door_inside.h"):
        (tmp_path / "middle/below" / name).touch()
    (tmp_path / "middle/README.md").write_text("`door.h`, inner, told, below/deep; not: untold_ and deeper_still\n")
    out = check(tmp_path).stdout
    assert "middle/untold.c: middle/README.md does not say" in out and "middle/below/deeper.h: middle/README.md does not say" in out
    assert out.count("does not say") == 2
    (tmp_path / "middle/below/README.md").write_text("deeper\n")
    assert "middle/below/deep.h: middle/below/README.md does not say" in check(tmp_path).stdout


def test_a_file_in_no_module(tmp_path):
    build(tmp_path, TABLE.replace("| `middle/` |", "| `middle/inner*` |").replace("| `middle/` |", "| `middle/inner*` |"), middle__stray="int x;\n")
    assert "middle/stray.c: is in no module" in check(tmp_path).stdout


def test_what_has_outgrown_its_limit_is_said(tmp_path):
    build(tmp_path)
    for module, files, text in (("core/fabric", 40, "\n"), ("daemon/files", 41, "\n"), ("plugin", 1, "\n" * 2201)):
        (tmp_path / module).mkdir(parents=True)
        for number in range(files):
            (tmp_path / module / f"f{number}.c").write_text(text)
    said = check(tmp_path).stdout
    assert "daemon/files/ has 41 files, at most 40" in said and "plugin/ has 2201 lines, at most 2200" in said
    assert "core/fabric/ has" not in said and "of what height" not in said
    for number in range(6):
        (tmp_path / f"daemon/files/f{number}.c").write_text("if (look->tree.pods)\n" if number else "if (site->fabric)\n")
    (tmp_path / "daemon/files/f7.c").write_text("{.fabric = look->fabric}\n")
    said = check(tmp_path).stdout
    assert "6 files of daemon/ and plugin/ ask of what height a tree is, at most 5: daemon/files/f0.c, " in said and "f7.c" not in said
