# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The list of `make mutants`: a record finds its text wherever it went, and says so when it is gone."""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("mutants", TOP / "tests" / "mutants" / "mutants.py")
mutants = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutants)

RECORD = "room/a step\n-if (x < 3)\n+if (x <= 3)\n"
CODE = "static int step(int x)\n{\n\tif (x < 3)\n\t\treturn 1;\n\treturn 0;\n}\n"


def read(folder, text):
    (folder / "list.txt").write_text(text)
    return mutants.read_list(folder / "list.txt")


def test_records(tmp_path):
    first, second = read(tmp_path, "# why\n" + RECORD + "= no\n= difference\n\nplugin -\n-a;\n-b;\n+\n")
    assert (first.folder, first.function, first.old, first.new) == ("room/a", "step", ["if (x < 3)"], ["if (x <= 3)"])
    assert first.equivalent == "no difference"
    assert (second.old, second.new, second.equivalent) == (["a;", "b;"], [""], "")


@pytest.mark.parametrize("text", ["room\n-a\n+b\n", "room f\n-a\n+a\n", "room f\n+a\n", "room f\n-a\n*b\n"])
def test_records_that_make_no_sense(tmp_path, text):
    with pytest.raises(ValueError, match="list.txt"):
        read(tmp_path, text)


@pytest.mark.parametrize("name", ["one.c", "another.c", "inline.h"])
def test_found_wherever_it_is(tmp_path, name):
    (tmp_path / "room/a/below").mkdir(parents=True)
    (tmp_path / "room/a" / name).write_text("/* x */\n" + CODE)
    (tmp_path / "room/a/below/c.c").write_text(CODE)  # another room
    mutation = read(tmp_path, RECORD)[0]
    assert mutants.find(mutation, tmp_path) is None
    assert (mutation.path, mutation.line) == (f"room/a/{name}", 4)
    assert mutation.text == "/* x */\n" + CODE.replace("<", "<=")


def test_gone_or_ambiguous(tmp_path):
    (tmp_path / "room/a").mkdir(parents=True)
    mutation = read(tmp_path, RECORD)[0]
    assert "gone" in mutants.find(mutation, tmp_path)
    (tmp_path / "room/a/a.c").write_text(CODE + "\n" + CODE.replace("step", "leap"))
    assert mutants.find(mutation, tmp_path) is None and mutation.line == 3  # the function decides
    mutation.function = "leap"
    assert mutants.find(mutation, tmp_path) is None and mutation.line == 10
    mutation.function = "crawl"
    assert mutants.find(mutation, tmp_path)


def test_what_is_counted(tmp_path):
    records = [read(tmp_path, RECORD + extra)[0] for extra in ("", "", "", "= no difference\n")]
    for record, result in zip(records, ["killed", "killed", "survived", "survived"]):
        record.result = result
    assert mutants.count(records)[:3] == (2, 1, 1)
    assert not list(mutants.faults(records))
    records[3].result = "killed"
    assert "called equivalent" in list(mutants.faults(records))[0]
    for record in records:
        record.folder = "core/x"
    assert "90 % have to be" in list(mutants.too_few(records, {}))[0]


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


def test_files_with_few_mutations_count_by_their_lines():
    some = []
    for path, result in (("a.c", "killed"), ("a.c", "killed"), ("a.c", "killed"), ("b.c", "survived"), ("c.c", "")):
        mutation = mutants.Mutation("list:1", "core", "f")
        mutation.path, mutation.result = path, result
        some.append(mutation)
    assert mutants.count(some)[3] == 75
    assert mutants.by_lines(some, {"a.c": 100, "b.c": 300, "c.c": 1000}) == 25
    assert list(mutants.too_few(some, {"a.c": 100, "b.c": 300, "c.c": 1000}))
    assert not list(mutants.too_few(some[:3], {"a.c": 100}))


def test_the_mutations_of_a_file_follow_one_another():
    some = []
    for path in ("a.c", "b.c", "a.c", "b.c", "b.c"):
        mutation = mutants.Mutation("list:1", "core", "f")
        mutation.path = path
        some.append((mutation, ["test"]))
    assert [[job[0].path for job in file] for file in mutants.by_file(some)] == [["b.c"] * 3, ["a.c"] * 2]
    assert [len(batch) for batch in mutants.batches(list("abcdefghij"))] == [1, 4, 4, 1]
    assert mutants.batches(["only"]) == [["only"]]


def test_what_is_known_is_found_by_the_next_run(tmp_path):
    for name in ("unit/test_x.c", "unit/support.c", "data/small", "fuzz/test_corpus.c", "fuzz/corpus/one"):
        (tmp_path / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / name).write_text(name)
    program = f"""
import sys
sys.path.insert(0, {str(TOP / "tests" / "mutants")!r})
import mutants
tests = mutants.Tests([], mutants.Copy("", ""))
tests.copy.src = {str(tmp_path)!r}
print(tests.checksum("tests/unit/test_x"), tests.checksum("tests/fuzz/test_corpus"))
"""
    sums = {subprocess.run([sys.executable, "-B", "-c", program], env={**os.environ, "PYTHONHASHSEED": str(seed)},
                           stdout=subprocess.PIPE, check=True).stdout for seed in range(6)}
    assert len(sums) == 1


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
    mutation = mutants.Mutation("list:1", "core", "f")
    mutation.path, mutation.text = "core/a.c", "wrong;"
    return copy, mutation


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


def test_an_equivalent_one_meets_the_tests_named_for_it(tmp_path):
    tests = mutants.Tests([], mutants.Copy("", ""))
    tests.names = ["tests/unit/test_a", "tests/unit/test_step", "tests/unit/test_room", "tests/unit/test_step_back"]
    tests.inside = {name: {"step"} for name in tests.names}
    tests.objects = {"core/room/step_on.c": {"step"}, "core/other/b.c": {"step"}}
    mutation = read(tmp_path, RECORD)[0]
    mutation.path = "core/room/step_on.c"
    assert tests.for_one(mutation) == [tests.names[i] for i in (1, 2, 0, 3)]
    mutation.equivalent = "no difference"
    assert tests.for_one(mutation) == [tests.names[i] for i in (1, 2)]
    mutation.path = "core/other/b.c"
    assert len(tests.for_one(mutation)) == 4


def test_tests_further_away_than_the_limit_do_not_run(tmp_path):
    tests = mutants.Tests([], mutants.Copy("", ""))
    tests.names, tests.needs = ["a", "b", "c"], {"a": (50, 50), "b": (20, 20), "c": (1, 1)}
    tests.inside, tests.sums = {name: {"f"} for name in "abc"}, {"a": "1", "b": "2", "c": "3"}
    tests.objects = {"core/x/a.c": {"f"}}
    assert tests.within(["a", "b", "c"], 60) == ["a"] and tests.within(["a", "b", "c"], 1) == ["a"]
    assert tests.within(["c", "b", "a"], 60) == ["c", "b"]
    mutation = read(tmp_path, RECORD)[0]
    mutation.path, mutation.text = "core/x/a.c", "text"
    assert dict(mutants.near_enough([(mutation, ["a", "b", "c"])], tests, 60)) == {mutation: ["a", "c"]}
    assert dict(mutants.near_enough([(mutation, ["b", "c"])], tests, 600)) == {mutation: ["c", "b"]}
    assert not mutation.result
    assert dict(mutants.near_enough([(mutation, ["b"])], tests, 60)) == {}
    assert mutation.result == "survived"  # a and c, which are near, were there before

    cache = mutants.Cache(str(tmp_path / "cache.json"), True)
    assert mutants.from_cache(mutation, tests, cache, 60) == ["a", "c", "b"]
    cache.put(mutation, "a", "1", "")
    assert mutants.from_cache(mutation, tests, cache, 60) == ["c", "b"]
    cache.put(mutation, mutants.NEAR, tests.sum_of(["a", "c", "b"], 60), "")
    mutation.result = ""
    assert mutants.from_cache(mutation, tests, cache, 60) is None and mutation.result == "survived"
    assert mutants.from_cache(mutation, tests, cache, 600) == ["c", "b"]
