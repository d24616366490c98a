#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
mutants.py - do the tests notice bugs? `make mutants SEED=1 COUNT=100`

Small bugs are drawn from the present sources: a line of a function, each as likely as any other, and one of the
changes that it allows (OPERATORS below). Each is planted in a copy of the sources, what it touches is built, and the
tests that link it run, until one fails: the mutation is killed. One that no test notices survives.

What cannot be told by a test is not drawn: lines that give memory back, take or leave a lock, or write text for a
person (SPARED). Some of the rest change nothing that anybody sees, too; so those that survive are printed as lines of
a diff, and a person judges each: a test is missing, or the line is equivalent, or it is not needed.

Which tests run: those whose program has a symbol of the mutated file; first the one named for the file, then the
quickest. A test in Python has the symbols of what it runs, and only counts for the modules that unit tests do not cover
(PYTHON below). One of tests/e2e, which runs several programs beside one another, has to fail twice. Each test has
limits of processor time (five times what it needs on the sources as they are), of memory, and of the clock: a mutation
that hangs is killed too. Tests that are further away than a minute of processor time do not run (--seconds): who
survives would meet all. It counts as a survivor, so the share is a lower bound.

--again tries those that survived the last run in this folder, by the text of their lines, after tests were added.
"""
import argparse
import concurrent.futures
import filecmp
import functools
import glob
import hashlib
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

# Per cent of the mutations that tests should notice; the other modules have no least.
LEAST = {"core": 90, "daemon": 80, "ilp": 80, "plugin": 80, "libforsched": 90, "lab/sim": 80, "watch": 80}
MODULES = ("cli", "core", "daemon", "ilp", "lab", "libforsched", "plugin", "watch")
LEFT_OUT = ("lab/bench/", "lab/testbed/", "libforsched/examples/")
BUILT = ("autom4te.cache", ".git", "__pycache__", ".pytest_cache", "bench-results", "config.status", "config.log")
MEMORY = 4 << 30
FILE_SIZE = 2 << 30  # tests make files of 1 GiB, with holes
ARCHIVE, OBJECT = "libforscore.la", "libforscore_la-"
COMMAND = ["fors", "tests/cli/stamp_schedule", "tests/cli/short_of_memory.la"]
PRELOADED = COMMAND + ["libforsched-mpi.la"] + ["tests/apps/" + name for name in
                                                ("asked_calls", "communicators", "path_index", "random_calls", "short_calls",
                                                 "unequal_calls")]
WATCH = ["fors", "fors-watch", "fors-outbox", "watch/fors-outbox"]
# Tests in Python, by how their names begin: the program that they run, what make builds, the modules that they count for.
PYTHON = {"tests/cli/": ("fors-lab", COMMAND, ("cli/", "lab/", "libforsched/", "core/demand/")),
          "tests/apps/": (".libs/libforsched-mpi.so", PRELOADED, ("libforsched/",)),
          "tests/e2e/test_watch": ("fors-watch", WATCH, ("watch/",)),
          "tests/e2e/test_whatif": ("fors-lab", ["fors"], ("lab/",))}


def is_python(test):
    return test.endswith(".py")


def of_python(test):
    """Its row of PYTHON."""
    return next(row for begin, row in PYTHON.items() if test.startswith(begin))


@functools.lru_cache(None)
def python():
    """One that has pytest: this, or the system's."""
    for path in (sys.executable, "/usr/bin/python3"):
        if not subprocess.run([path, "-c", "import pytest"], stderr=subprocess.DEVNULL, check=False).returncode:
            return path
    raise Broken("python3-pytest is not installed")


def made_for(test):
    """What make has to build before the test can run."""
    return of_python(test)[1] if is_python(test) else [test]


# --- the draw ---------------------------------------------------------------------

SPARED = re.compile(r"free|decref|close|destroy|release|lock\(|unlink|print|log|warn|error|text|assert|perror|usage|memset|pthread")
WORD = r"[A-Za-z_][\w.>\[\]-]*"
STATEMENT = re.compile(rf"(?:{WORD} (?:[-+*/|&^%]|<<|>>)?= |{WORD}\(|\*+{WORD} = ).*;$|"
                       rf"{WORD}(?:\+\+|--);$|break;$|continue;$")

# How a line may be wrong: what is looked for in it, and what stands there instead.
OPERATORS = [(r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
             (r" && ", " || "), (r" \|\| ", " && "), (r"(?<=[\w)\]]) \+ ", " - "), (r"(?<=[\w)\]]) - ", " + "),
             (r" \+= ", " -= "), (r" -= ", " += "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" % ", " / "),
             (r"!(?=[A-Za-z_(])", ""), (r"(?<![\w.\"'])[1-9]\d*(?![\w.])", lambda hit: str(int(hit.group()) + 1)),
             (r"(?<![\w.\"'])0(?![\w.])", "1"), (r"(?<=^return )(?!0;|NULL;|false;|FORS_OK;).*(?=;$)", "0"),
             (r"(?<=^if \()(.*)(?=\)( \{)?$)", lambda hit: f"!({hit.group()})")]


class Mutation:
    """One line, how it is and would be, and what became of it."""

    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old, new
        self.result, self.detail, self.killer = "", "", ""

    def part(self):
        """That has a least."""
        return next((part for part in LEAST if self.path.startswith(part + "/")), self.path.split("/")[0])

    def title(self):
        return f"{self.path}:{self.line}: {self.old.strip()}  =>  {self.new.strip()}"


def code_of(text):
    """Its lines without comments and what strings say, each as long as it was; those outside of functions are empty."""
    def blank(hit):
        keep = hit.group()
        return keep[0] + re.sub(r"[^\n]", "\a", keep[1:-1]) + keep[-1] if keep[0] in "\"'" else re.sub(r"[^\n]", " ", keep)

    lines = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S).split("\n")
    inside, code = False, []
    for at, line in enumerate(lines):
        inside = inside and not line.startswith("}")
        code.append(line.rstrip() if inside and line.startswith("\t") else "")
        inside = inside or (line.startswith("{") and at > 0 and ")" in lines[at - 1])
    return code


def changes(line, before):
    """All that a line of code may be instead; before: the line of code before it."""
    stripped = line.strip()
    if not stripped or SPARED.search(stripped) or stripped.startswith(("#", "case ", "static ", "const ", "default:")):
        return
    indent = line[:len(line) - len(line.lstrip())]
    for pattern, instead in OPERATORS:
        for hit in re.finditer(pattern, stripped):
            yield indent + stripped[:hit.start()] + (instead(hit) if callable(instead) else instead) + stripped[hit.end():]
    if STATEMENT.match(stripped) and before.endswith((";", "{", "}", ")", "else")):
        yield indent + ";"


def with_strings(line, new, code):
    """The changed code as it stands in the file: what strings say comes back, in its order."""
    said = iter([line[at] for at, char in enumerate(code) if char == "\a"])
    return "".join(next(said) if char == "\a" else char for char in new)


def candidates(path, top):
    """The mutations of each line of a file that allows any: a list of lists."""
    with open(os.path.join(top, path), encoding="utf-8") as file:
        text = file.read()
    lines, code, before, found = text.split("\n"), code_of(text), "", []
    for at, line in enumerate(code):
        some = [Mutation(path, at + 1, lines[at], with_strings(lines[at], new, line)) for new in changes(line, before)]
        found += [some] if some else []
        before = line.strip() or before
    return found


def sources(top, prefixes):
    for module in MODULES:
        for path in sorted(glob.glob(os.path.join(top, module, "**", "*.c"), recursive=True)):
            path = os.path.relpath(path, top)
            if not path.startswith(LEFT_OUT) and (not prefixes or path.startswith(tuple(prefixes))):
                yield path


def draw(top, prefixes, count, seed):
    """So many lines in any order, each with one of its mutations; the same for the same sources and seed."""
    numbers, lines = random.Random(seed), [some for path in sources(top, prefixes) for some in candidates(path, top)]
    return [numbers.choice(some) for some in numbers.sample(lines, min(count, len(lines)))]


def again(report, top):
    """Those that survived the last run, wherever their lines are now in their files."""
    with open(report, encoding="utf-8") as file:
        left = [m for m in json.load(file) if m["result"] == "survived"]
    for was in left:
        same = [m for some in candidates(was["file"], top) for m in some if (m.old, m.new) == (was["old"], was["new"])]
        yield min(same, key=lambda m: abs(m.line - was["line"]))


# --- a copy of the sources, and its build ----------------------------------------

def base_of(path):
    return re.sub(r"\.[ch]$", "", os.path.basename(path))


def is_build(folder):
    return os.path.exists(os.path.join(folder, "config.status"))


def synchronise(source, target, work):
    """
    Make target what source is, without folders of builds and ours. A file that is the same stays, with its time: the
    one that was mutated last is newer than what was built from it. Code that changes is new now, for the same reason;
    the rest keeps its time, by which make sees what is made from what.
    """
    os.makedirs(target, exist_ok=True)
    here = {entry.name: entry for entry in os.scandir(source)
            if entry.name not in BUILT and entry.path != work and not (entry.is_dir() and is_build(entry.path))}
    for entry in os.scandir(target):
        if entry.name not in here:
            shutil.rmtree(entry.path) if entry.is_dir() and not entry.is_symlink() else os.unlink(entry.path)
    for name, entry in here.items():
        to = os.path.join(target, name)
        if entry.is_dir():
            synchronise(entry.path, to, work)
        elif not os.path.exists(to) or not filecmp.cmp(entry.path, to, shallow=False):
            is_new = not os.path.exists(to)
            shutil.copy2(entry.path, to)
            os.chmod(to, os.stat(to).st_mode | 0o200)  # sources may be read-only
            if not is_new and name.endswith((".c", ".h")):
                os.utime(to)


class Broken(Exception):
    """The build says no."""


class Copy:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder, top):
        self.src, self.build, self.top = os.path.join(folder, "src"), os.path.join(folder, "build"), top
        self.planted, self.alone, self.is_archived, self.code = None, [], False, ""

    def run(self, *command):
        done = subprocess.run(command, cwd=self.build, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode:
            raise Broken(done.stdout[-2000:])
        return done.stdout

    def prepare(self, tests):
        synchronise(self.top, self.src, os.path.dirname(os.path.dirname(self.src)))
        os.makedirs(self.build, exist_ok=True)
        if not os.path.exists(os.path.join(self.build, "config.status")):
            # A variable that nobody set any more is not 0 by chance.
            self.run(os.path.join(self.src, "configure"), "-q", "CFLAGS=-O1 -w -ftrivial-auto-var-init=pattern")
        self.make(tests)

    def sum(self):
        """Of all code, as it is without a mutation."""
        if not self.code:
            total = hashlib.sha256()
            for path in sorted(glob.glob(os.path.join(self.src, "**", "*.[ch]"), recursive=True)):
                with open(path, "rb") as file:
                    total.update(path.encode() + file.read())
            self.code = total.hexdigest()[:16]
        return self.code

    def make(self, tests):
        self.run("make", "-s", *dict.fromkeys(target for test in tests for target in made_for(test)))

    def link(self, path, tests):
        """
        Build tests with the mutated file in them. One of core/ is linked as an object before the archive, which then
        does not give it: to make the archive anew takes longer than all the rest. Not where it is in a shared library.
        """
        folder, name = os.path.dirname(path), OBJECT + base_of(path)
        is_given = path.endswith(".c") and os.path.exists(os.path.join(self.build, folder, name + ".lo"))
        alone = [test for test in tests if is_given and self.is_static(test)]
        if alone:
            self.run("make", "-s", f"{folder}/{name}.lo")
            self.alone += alone
            self.forget()
            self.alone = alone
            alone = self.link_alone(f"{folder}/.libs/{name}.o", alone)
        if len(alone) < len(tests):
            self.is_archived = True
            self.make([test for test in tests if test not in alone])

    def link_alone(self, part, tests):
        """Those of the tests that could be built with the object: who puts something in its place has it twice then."""
        try:
            self.run("make", "-s", "-k", "-o", ARCHIVE, f"LDFLAGS={part}", *tests)
        except Broken:
            pass
        return [test for test in tests if os.path.exists(os.path.join(self.build, test))]

    def is_static(self, test):
        folder, name = os.path.split(os.path.join(self.build, test))
        is_wrapped = os.path.exists(f"{folder}/.libs/{name}") or glob.glob(f"{folder}/.libs/*.so")
        return not is_python(test) and not is_wrapped

    def forget(self):
        """Programs with an object of their own: make would take them for newer than the archive."""
        for test in self.alone:
            if os.path.exists(os.path.join(self.build, test)):
                os.unlink(os.path.join(self.build, test))
        self.alone = []

    def plant(self, mutation):
        self.restore()
        path = os.path.join(self.src, mutation.path)
        with open(path, encoding="utf-8") as file:
            self.planted = path, file.read()
        lines = self.planted[1].split("\n")
        lines[mutation.line - 1] = mutation.new
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))

    def restore(self):
        """The file is as it was, and newer than what was built from the mutated one."""
        if self.planted:
            path, text = self.planted
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.planted = None
        self.forget()
        if self.is_archived:
            self.make([ARCHIVE])
            self.is_archived = False

    # --- running a test ---

    def command(self, test):
        if not is_python(test):
            return [os.path.join(self.build, test)]
        return [python(), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", os.path.join(self.src, test)]

    def environment(self):
        return dict(os.environ, srcdir=self.src, ASAN_OPTIONS="hard_rss_limit_mb=3000", CMOCKA_MESSAGE_OUTPUT="stdout",
                    MALLOC_PERTURB_="165",  # what nobody set is not 0 by chance
                    PYTHONDONTWRITEBYTECODE="1", FORS_BUILDDIR=self.build, FORS_SRC=self.src,
                    FORS=os.path.join(self.build, "fors"),
                    FORS_STAMP=os.path.join(self.build, "tests/cli/stamp_schedule"),
                    FORS_SHORT=os.path.join(self.build, "tests/cli/.libs/short_of_memory.so"))

    def run_test(self, test, cpu_seconds, clock_seconds, memory):
        """None: passed; else in what way it failed."""
        def limit():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
            if memory:
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        log = os.path.join(self.build, "mutant.log")
        with open(log, "wb") as output:
            process = subprocess.Popen(self.command(test), cwd=self.build, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, env=self.environment(), preexec_fn=limit)
            try:
                code = process.wait(clock_seconds)
            except subprocess.TimeoutExpired:
                code = None
            if code is None or code:
                stop_group(process)
        if code == 0:
            return None
        if code is None or code in (-signal.SIGXCPU, -signal.SIGKILL):
            return "hangs"
        with open(log, encoding="utf-8", errors="replace") as output:
            failed = re.findall(r"(?:\[  FAILED  \] |^(?:FAILED|ERROR) \S+::)(\w+)", output.read(), re.M)
        return failed[0] if failed else f"signal {-code}" if code < 0 else f"exit code {code}"


def stop_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


# --- which tests ------------------------------------------------------------------

def symbols(path, *flags):
    out = subprocess.run(["nm", *flags, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         check=False).stdout
    return {line.split()[-1] for line in out.splitlines() if line.strip()}


class Tests:
    """The test programs: what each links, needs, and is made of."""

    def __init__(self, names, copy):
        self.names, self.copy, self.needs = names, copy, {}
        self.inside = {name: self.linked(name) for name in names}
        self.objects = {}

    def linked(self, name):
        """The symbols of a program, and of modules beside it, which it loads; where libtool wraps it, of libforsched."""
        if is_python(name):
            return symbols(os.path.join(self.copy.build, of_python(name)[0]))
        path = os.path.join(self.copy.build, name)
        wrapped = os.path.join(os.path.dirname(path), ".libs", os.path.basename(path))
        modules = glob.glob(os.path.join(os.path.dirname(path), ".libs", "*.so"))
        if os.path.exists(wrapped):
            modules += [wrapped, os.path.join(self.copy.build, ".libs", "libforsched.so")]
        return symbols(path).union(*(symbols(module) for module in modules))

    def defined(self, path):
        """What a source file defines for others."""
        if path not in self.objects:
            base, found = base_of(path), set()
            for pattern in (f"*-{base}.o", f"{base}.o"):
                for built in glob.glob(os.path.join(self.copy.build, os.path.dirname(path), "**", pattern),
                                       recursive=True) + \
                        glob.glob(os.path.join(self.copy.build, os.path.dirname(path), ".libs", pattern)):
                    found |= symbols(built, "-g", "--defined-only")
            self.objects[path] = found
        return self.objects[path]

    def of(self, path):
        """The tests that may notice, those that probably do first."""
        chosen = [name for name in self.names if self.defined(path) & self.inside[name] and
                  (not is_python(name) or path.startswith(of_python(name)[2]))]
        return sorted(chosen, key=lambda name: (*self.distance(name, path), self.needs.get(name, (0, 0))[0]))

    @staticmethod
    def distance(name, path):
        """Named for the file, named for its family or module, or neither."""
        own, base = re.sub(r"^test_|\.py$", "", os.path.basename(name)), base_of(path).replace("cmd_", "", 1)
        module = os.path.basename(os.path.dirname(path))
        return own != base, own not in (base, base.split("_")[0], module)

    def measure(self, names, known):
        """What each needs on the sources as they are; who does not pass there has no say. known: from before."""
        for name in sorted(names):
            key = name + self.copy.sum()
            if key not in known:
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
                failure = self.copy.run_test(name, 300, 600, None)
                if failure:
                    print(f"left out: {name} fails without any mutation: {failure}", flush=True)
                    self.names.remove(name)
                    continue
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                known[key] = cpu, time.monotonic() - start
            self.needs[name] = known[key]

    def within(self, names, seconds):
        """The first of these, for so long together; one at least."""
        total, near = 0, []
        for name in names:
            total += self.needs[name][0]
            if near and total > seconds:
                break
            near.append(name)
        return near

    def limits(self, name):
        cpu, clock = self.needs[name]
        return int(3 + 5 * cpu), 60 + 10 * clock, "__asan_init" not in self.inside[name]


# --- trying a mutation --------------------------------------------------------------

BATCH = 4  # tests that are linked at once, after the first one, which is named for the file and mostly notices


def batches(left):
    return [left[:1]] + [left[at:at + BATCH] for at in range(1, len(left), BATCH)]


def attempt(mutation, copy, near, tests):
    """Plant, build and test."""
    copy.plant(mutation)
    for batch in batches(near):
        try:
            copy.link(mutation.path, batch)
        except Broken as broken:
            error = re.search(r".*error:.*", str(broken))
            mutation.result, mutation.detail = "invalid", error.group() if error else str(broken)[-300:]
            return
        for name in batch:
            failure = copy.run_test(name, *tests.limits(name))
            if failure and name.startswith("tests/e2e/"):
                failure = copy.run_test(name, *tests.limits(name))
            if failure:
                mutation.result, mutation.killer, mutation.detail = "killed", os.path.basename(name), failure
                return
    mutation.result = "survived"


class Progress:
    """How many are done, and how long the rest may take."""

    def __init__(self, total):
        self.total, self.done, self.start, self.lock = total, 0, time.monotonic(), threading.Lock()

    def tell(self, mutation):
        with self.lock:
            self.done += 1
            left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
            print(f"[{self.done}/{self.total}, {left / 60:.0f} min left] {mutation.result:8} {mutation.title()}"
                  f"{'  (' + mutation.killer + ': ' + mutation.detail + ')' if mutation.killer else ''}", flush=True)


def try_all(mutations, copies, tests, seconds):
    progress, free = Progress(len(mutations)), queue.Queue()
    for copy in copies:
        free.put(copy)

    def one(mutation):
        copy = free.get()
        try:
            attempt(mutation, copy, tests.within(tests.of(mutation.path), seconds), tests)
            progress.tell(mutation)
        finally:
            copy.restore()
            free.put(copy)

    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(one, mutations))


# --- the report ----------------------------------------------------------------------

def shares(mutations):
    """A line for each part: killed, survived, per cent."""
    for part in sorted({m.part() for m in mutations} | {"all"}):
        inside = [m for m in mutations if part in (m.part(), "all") and m.result in ("killed", "survived")]
        killed = sum(m.result == "killed" for m in inside)
        if inside:
            least = f"{LEAST[part]:8}" if part in LEAST else ""
            yield f"{part:28}{killed:8}{len(inside) - killed:10}{100 * killed / len(inside):11.1f}{least}".rstrip()


def report(mutations):
    lines = []
    for m in mutations:
        if m.result == "survived":
            lines += [f"--- {m.path}:{m.line}", f"-{m.old}", f"+{m.new}"]
    lines += [f"not built: {m.title()}: {m.detail}" for m in mutations if m.result == "invalid"]
    return "\n".join(lines + [f"{'':28}{'killed':>8}{'survived':>10}{'killed, %':>11}{'least':>8}", *shares(mutations)]) + "\n"


def as_json(mutations):
    return [{"file": m.path, "line": m.line, "old": m.old, "new": m.new, "result": m.result, "test": m.killer,
             "how": m.detail} for m in mutations]


# --- all together --------------------------------------------------------------------

def run(mutations, options):
    copies = [Copy(os.path.join(options.work, f"copy-{i}"), options.srcdir) for i in range(options.jobs)]
    print(f"{len(mutations)} mutations; building {len(copies)} copies", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(lambda copy: copy.prepare(options.tests), copies))
    tests, remembered = Tests(options.tests, copies[0]), os.path.join(options.work, "needs.json")
    try:
        with open(remembered, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        known = {}
    tests.measure({name for m in mutations for name in tests.of(m.path)}, known)
    with open(remembered, "w", encoding="utf-8") as file:
        json.dump(known, file)
    try_all(mutations, copies, tests, options.seconds)


def arguments():
    parser = argparse.ArgumentParser(description="Plant bugs one by one; which do the tests notice?")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--srcdir", default=os.path.dirname(os.path.dirname(here)), type=os.path.abspath)
    parser.add_argument("--work", default="mutants", type=os.path.abspath, help="folder for the copies and the report")
    parser.add_argument("--tests", required=True, type=str.split, help="the test programs, in one word")
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--count", default=100, type=int, help="how many are drawn")
    parser.add_argument("--seed", default=1, type=int, help="of the draw")
    parser.add_argument("--seconds", default=60, type=float, help="of processor time, for the tests of a mutation")
    parser.add_argument("--again", action="store_true", help="those that survived the last run in the folder")
    parser.add_argument("--list", action="store_true", help="only print what is drawn")
    parser.add_argument("prefix", nargs="*", help="only mutations of these folders or files, as core/fabric")
    return parser.parse_args()


def main():
    options = arguments()
    saved = os.path.join(options.work, "report.json")
    mutations = list(again(saved, options.srcdir)) if options.again else \
        draw(options.srcdir, options.prefix, options.count, options.seed)
    if options.list:
        sys.exit("\n".join(m.title() for m in mutations))
    os.makedirs(options.work, exist_ok=True)
    try:
        run(mutations, options)
    except Broken as trouble:
        sys.exit(f"mutants: {trouble}")
    text = report(mutations)
    print(text, end="")
    with open(os.path.join(options.work, "report.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(saved, "w", encoding="utf-8") as file:
        json.dump(as_json(mutations), file, indent=1)


if __name__ == "__main__":
    main()
