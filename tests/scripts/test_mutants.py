# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`make mutants`: what is drawn, which tests it meets, and how its copies of the sources are built."""
import importlib.util
import json
import os
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("mutants", TOP / "tests" / "mutants" / "mutants.py")
mutants = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutants)

CODE = "static int step(int x)\n{\n\tif (x < 3)\n\t\treturn 1;\n\treturn 0;\n}\n"


def all_of(folder, code, name="a.c"):
    """(line, how it would be) of each mutation of this code."""
    (folder / name).write_text(code)
    return [(m.line, m.new.strip()) for some in mutants.candidates(name, folder) for m in some]


@pytest.mark.parametrize("line, wrong", [
    ("if (a < b)", ["if (a <= b)", "if (!(a < b))"]),
    ("while (a && !b)", ["while (a || !b)", "while (a && b)"]),
    ("x = y + 12;", ["x = y - 12;", "x = y + 13;", ";"]),
    ("n += true;", ["n -= true;", "n += false;", ";"]),
    ("step(a->b, '0', \"1 < 2\");", [";"]),
    ("return step(0);", ["return step(1);", "return 0;"]),
    ("return NULL;", []),
    ("int x = 7;", ["int x = 8;"]),
    ("break; /* 3 < 4 */", [";"]),
    ("free(x);", []), ("pthread_mutex_lock(&x);", []), ("print_message(\"%d\", 3);", [])])
def test_how_a_line_may_be_wrong(tmp_path, line, wrong):
    code = f"int f(void)\n{{\n\tx();\n\t{line}\n}}\n"
    assert [new for at, new in all_of(tmp_path, code) if at == 4] == wrong


def test_only_lines_of_functions(tmp_path):
    code = "/* if (x < 1) */\n#define A (1 < 2)\nstatic int many[] = {\n\t1,\n};\nenum {\n\tA = 1 < 2,\n};\n"
    assert not all_of(tmp_path, code)
    assert {line for line, _ in all_of(tmp_path, code + CODE)} == {11, 12, 13}
    assert not all_of(tmp_path, "int f(void)\n{\n\t/* x = 1;\n\tx = 2; */\n}\n")
    assert (3, "x(\"1\", 2);") in all_of(tmp_path, "int f(void)\n{\n\tx(\"1\", 1);\n}\n")  # what strings say stays


def test_a_draw_is_the_same_for_its_seed(tmp_path):
    for name in ("core/a.c", "core/b/b.c", "lab/bench/c.c", "tests/d.c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(CODE)
    first, same, other = ([m.title() for m in mutants.draw(tmp_path, [], 4, seed)] for seed in (1, 1, 2))
    assert first == same != other and len({title.split(": ")[0] for title in first}) == 4
    assert len(mutants.draw(tmp_path, [], 100, 1)) == 6  # a mutation a line
    assert {m.path for m in mutants.draw(tmp_path, ["core/b"], 100, 1)} == {"core/b/b.c"}


def drawn(path="core/x/a.c", result=""):
    mutation = mutants.Mutation(path, 1, "right;", "wrong;")
    mutation.result = result
    return mutation


def test_what_is_reported():
    some = [drawn(result=result) for result in ("killed", "killed", "killed", "survived", "invalid")] + [drawn("cli/b.c", "killed")]
    text = mutants.report(some)
    assert "--- core/x/a.c:1\n-right;\n+wrong;\n" in text and "not built: core/x/a.c:1" in text
    assert [line.split() for line in mutants.shares(some)] == [
        ["all", "4", "1", "80.0"], ["cli", "1", "0", "100.0"], ["core", "3", "1", "75.0", "90"]]


def test_those_that_survived_are_found_again(tmp_path):
    (tmp_path / "a.c").write_text(CODE)
    report = tmp_path / "report.json"
    some = [m for lines in mutants.candidates("a.c", tmp_path) for m in lines]
    for m in some:
        m.result = "survived" if "<=" in m.new else "killed"
    report.write_text(json.dumps(mutants.as_json(some)))
    (tmp_path / "a.c").write_text("\n\n" + CODE + "\n" * 9 + CODE)  # the nearest
    assert [(m.line, m.new) for m in mutants.again(report, tmp_path)] == [(5, "\tif (x <= 3)")]


def test_a_copy_is_built_anew_where_it_differed(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "room").mkdir(parents=True)
    (source / "room/a.c").write_text(CODE)
    os.utime(source / "room/a.c", (1, 1))
    mutants.synchronise(source, copy, "")
    assert (copy / "room/a.c").stat().st_mtime == 1
    (copy / "room/a.c").write_text(CODE.replace("<", "<="))  # a run was ended here; then an object was built from it
    mutants.synchronise(source, copy, "")
    new = (copy / "room/a.c").stat().st_mtime
    assert (copy / "room/a.c").read_text() == CODE and new > 1
    mutants.synchronise(source, copy, "")
    assert (copy / "room/a.c").stat().st_mtime == new
    (source / "room/a.c").unlink()
    mutants.synchronise(source, copy, "")
    assert not (copy / "room/a.c").exists()


def test_batches():
    assert [len(batch) for batch in mutants.batches(list("abcdefghij"))] == [1, 4, 4, 1]
    assert mutants.batches(["only"]) == [["only"]]


RULES = """
libforscore.la: core/libforscore_la-a.lo
\t@cat $< > $@; echo archive >> log
core/libforscore_la-a.lo: ../src/core/a.c
\t@cp $< $@; cp $< core/.libs/libforscore_la-a.o
alone shared: libforscore.la
\t@cat libforscore.la $(LDFLAGS) > $@
twin: libforscore.la
\t@test -z "$(LDFLAGS)" && cat libforscore.la > $@
"""


def prepared(folder, tests):
    """A copy whose tests are built, and a mutation for it."""
    copy = mutants.Copy(str(folder), "")
    for name in ("src/core", "build/core/.libs", "build/.libs"):
        (folder / name).mkdir(parents=True)
    (folder / "src/core/a.c").write_text("right;")
    (folder / "build/Makefile").write_text(RULES)
    (folder / "build/.libs/shared").write_text("what libtool's script calls")
    copy.make(tests)
    return copy, drawn("core/a.c")


def test_the_archive_stays_without_a_mutation(tmp_path):
    copy, mutation = prepared(tmp_path, ["alone", "shared"])
    build, log = tmp_path / "build", tmp_path / "build/log"
    copy.plant(mutation)
    copy.link("core/a.c", ["alone"])
    assert (build / "alone").read_text() == "right;wrong;"  # the object comes first where it is linked
    assert log.read_text().split() == ["archive"]
    copy.restore()
    copy.make(["alone"])
    assert (build / "alone").read_text() == "right;"
    copy.plant(mutation)
    copy.link("core/a.c", ["alone", "shared"])
    assert (build / "shared").read_text() == "wrong;"
    copy.restore()
    assert (build / "libforscore.la").read_text() == "right;"
    copy.make(["alone", "shared"])
    assert (build / "alone").read_text() == (build / "shared").read_text() == "right;"


def test_who_has_one_of_its_own_gets_the_archive(tmp_path):
    """It cannot be linked with the object too, as a test that puts a function of its own in the place of the file's."""
    copy, mutation = prepared(tmp_path, ["alone", "twin"])
    copy.plant(mutation)
    copy.link("core/a.c", ["alone", "twin"])
    assert (tmp_path / "build/alone").read_text() == "right;wrong;"
    assert (tmp_path / "build/twin").read_text() == "wrong;"
    copy.restore()
    copy.make(["alone", "twin"])
    assert (tmp_path / "build/alone").read_text() == (tmp_path / "build/twin").read_text() == "right;"


def test_which_tests_it_meets():
    tests = mutants.Tests([], mutants.Copy("", ""))
    names = [f"tests/unit/test_{name}" for name in ("a", "step", "room", "step_on", "other")]
    tests.names, tests.inside = names, {name: {"step"} if "other" not in name else set() for name in names}
    tests.objects = {"core/room/step_on.c": {"step"}}
    assert tests.of("core/room/step_on.c") == [names[i] for i in (3, 1, 2, 0)]
    tests.needs = {"a": (50, 50), "b": (20, 20), "c": (1, 1)}
    assert tests.within(["a", "b", "c"], 60) == ["a"] and tests.within(["a", "b", "c"], 1) == ["a"]
    assert tests.within(["c", "b", "a"], 60) == ["c", "b"]
