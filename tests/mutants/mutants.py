#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
mutants.py - do the unit tests notice bugs? `make mutants`

list.txt holds small bugs: a room or folder, the function, the lines as they are, and as they would be wrong. Each is
planted in a copy of the sources, what it touches is built, and the tests that link it run, until one fails: the
mutation is killed. One that no test notices survives, unless the list says that it is equivalent, and why.

How a mutation is found: by its text, in any file of its folder, so code may move. Where several functions have the
same line, the function decides. A text that is gone is stale: the list has to follow the code.

Which tests run: those whose program has a symbol of the mutated file; first the one named for the file, then the
quickest. A test in Python has the symbols of what it runs, and only counts for the rooms that unit tests do not cover
(PYTHON below): tests/cli for cli/, lab/, libforsched/, core/demand, tests/apps for
libforsched/, of tests/e2e those of `fors watch` for watch/ and those of `fors whatif` for lab/. One of tests/e2e, which runs several
programs beside one another, has to fail twice. An equivalent one only meets those named for its file or room: no test
would end it. Each test has limits of processor time (five times what it needs on the sources as they are), of memory,
and of the clock: a mutation that hangs is killed too. Tests that are further away than a minute of processor time do
not run (--seconds): who survives would meet all, and take longer than a hundred that are killed. It counts as a
survivor, so the share is a lower bound.

What is remembered: per text of a mutated file and per test, with a checksum of the test's sources, in cache.json. A
test is run again when the mutated file or the test changed. The rest of the sources counts as unchanged: --fresh
forgets all. What the tests need is measured again when any source changed.

The report says how many were killed, and how many would be if each file had as many mutations per line as any other:
a file with few would count too little.

Exit code 1: a stale or invalid mutation, an "equivalent" one that a test kills, or too few killed, either way.
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
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

# Per cent of the mutations that are not equivalent; cli, what else is in lab and libforsched/mpi have no least yet.
LEAST = {"core": 90, "daemon": 80, "plugin": 80, "libforsched": 90, "lab/sim": 80, "watch": 80}
BUILT = ("autom4te.cache", ".git", "__pycache__", ".pytest_cache", "bench-results", "config.status", "config.log")
MEMORY = 4 << 30
FILE_SIZE = 2 << 30  # tests make files of 1 GiB, with holes
ARCHIVE, OBJECT = "libforscore.la", "libforscore_la-"
COMMAND = ["fors", "tests/cli/stamp_schedule", "tests/cli/short_of_memory.la"]
PRELOADED = COMMAND + ["libforsched-mpi.la"] + ["tests/apps/" + name for name in
                                                ("asked_calls", "communicators", "path_index", "random_calls", "short_calls",
                                                 "unequal_calls")]
WATCH = ["fors", "fors-watch", "fors-outbox", "watch/fors-outbox"]
# Tests in Python, by how their names begin: the program that they run, what make builds, the rooms that they count for.
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


# --- the list ------------------------------------------------------------------

class Mutation:
    """One record of the list, and what became of it."""

    def __init__(self, where, folder, function):
        self.where, self.folder, self.function = where, folder, function
        self.old, self.new, self.equivalent = [], [], ""
        self.path = self.line = self.text = None  # filled in by find()
        self.result, self.detail, self.killer = "", "", ""

    def title(self):
        place = f"{self.path}:{self.line}" if self.path else self.folder
        return f"{place} {self.function}: {' / '.join(self.old)}  =>  {' / '.join(self.new) or '(nothing)'}"

    def room(self):
        return self.folder

    def part(self):
        """That has a least."""
        return self.folder if self.folder in ("libforsched/mpi", "lab/sim") else self.folder.split("/")[0]


def read_list(path):
    """The mutations; raises ValueError with the line when a record makes no sense."""
    mutations, current = [], None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if not line.strip():
                current = None
                continue
            if current is None:
                words = line.split()
                if len(words) != 2:
                    raise ValueError(f"{path}:{number}: 'FOLDER FUNCTION' expected")
                current = Mutation(f"{path}:{number}", *words)
                mutations.append(current)
                continue
            mark, text = line[0], line[1:].strip()
            if mark == "-":
                current.old.append(text)
            elif mark == "+":
                current.new.append(text)
            elif mark == "=":
                current.equivalent = (current.equivalent + " " + text).strip()
            else:
                raise ValueError(f"{path}:{number}: a line begins with '-', '+' or '='")
    for mutation in mutations:
        if not mutation.old or mutation.old == mutation.new:
            raise ValueError(f"{mutation.where}: no change")
    return mutations


def functions_of(lines):
    """For each line the name of the function that it is in, "-" outside."""
    names, name = [], "-"
    for line in lines:
        head = re.match(r"[A-Za-z_][^;={]*?\b(\w+)\(", line)
        if head and not line.rstrip().endswith(";"):
            name = head.group(1)
        names.append(name)
        if line.startswith("}"):
            name = "-"
    return names


def find(mutation, top):
    """Where the text is; the file's text with the mutation goes into mutation.text. A sentence when it is not there."""
    hits = []
    for path in sorted(glob.glob(os.path.join(top, mutation.folder, "*.[ch]"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        stripped, names, n = [line.strip() for line in lines], None, len(mutation.old)
        for i in range(len(lines)):
            if stripped[i:i + n] == mutation.old:
                names = names or functions_of(lines)
                hits.append((path, i, names[i], lines))
    if len(hits) != 1:
        hits = [hit for hit in hits if hit[2] == mutation.function]
    if len(hits) != 1:
        return f"its text is there {len(hits)} times" if hits else "its text is gone"
    path, i, mutation.function, lines = hits[0]
    indent = re.match(r"\s*", lines[i]).group()
    mutated = lines[:i] + [indent + text for text in mutation.new] + lines[i + len(mutation.old):]
    mutation.path, mutation.line, mutation.text = os.path.relpath(path, top), i + 1, "\n".join(mutated)
    return None


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
        with open(path, "w", encoding="utf-8") as file:
            file.write(mutation.text)

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
        self.sums = {name: self.checksum(name) for name in names}
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

    def checksum(self, name):
        """Of the sources of a test: its own file, and what the tests of its folder share."""
        folder, own = os.path.dirname(name), os.path.basename(name) + ("" if is_python(name) else ".c")
        total = hashlib.sha256()
        places = {folder, "tests/unit", "tests/data"} | ({folder + "/corpus"} if "fuzz" in folder else set())
        for place in sorted(places):  # the next run has to find the same sum
            for path in sorted(glob.glob(os.path.join(self.copy.src, place, "**"), recursive=True)):
                base = os.path.basename(path)
                if os.path.isfile(path) and (base == own or not re.match(r"(test_|sweep|mutate)", base)):
                    with open(path, "rb") as file:
                        total.update(base.encode() + file.read())
        return total.hexdigest()[:16]

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
        defined = self.defined(path)
        chosen = [name for name in self.names if (path.endswith(".h") or defined & self.inside[name]) and
                  (not is_python(name) or path.startswith(of_python(name)[2]))]
        return sorted(chosen, key=lambda name: (*self.distance(name, path), self.needs.get(name, (0, 0))[0]))

    @staticmethod
    def distance(name, path):
        """Named for the file, named for its family or room, or neither."""
        own, base = re.sub(r"^test_|\.py$", "", os.path.basename(name)), base_of(path).replace("cmd_", "", 1)
        room = os.path.basename(os.path.dirname(path))
        return own != base, own not in (base, base.split("_")[0], room)

    def for_one(self, mutation):
        """All that may notice; of an equivalent one those named for its file or room, if there are any."""
        chosen = self.of(mutation.path)
        near = [name for name in chosen if not self.distance(name, mutation.path)[1]]
        return near if mutation.equivalent and near else chosen

    def measure(self, name, cache):
        """Run it on the sources as they are; not when it is known from these very sources."""
        known = cache.known.get("needs", {}).get(name + self.copy.sum())
        if known:
            self.needs[name] = known
            return
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        has_to_pass(self.copy, name)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.needs[name] = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
                            time.monotonic() - start)
        cache.known.setdefault("needs", {})[name + self.copy.sum()] = self.needs[name]

    def within(self, names, seconds):
        """The first of these, for so long together; one at least."""
        total, near = 0, []
        for name in names:
            total += self.needs[name][0]
            if near and total > seconds:
                break
            near.append(name)
        return near

    def sum_of(self, names, *more):
        parts = [(name, self.sums[name]) for name in sorted(names)]
        return hashlib.sha256(repr((parts, more)).encode()).hexdigest()[:16]

    def limits(self, name):
        cpu, clock = self.needs[name]
        return int(3 + 5 * cpu), 60 + 10 * clock, "__asan_init" not in self.inside[name]


def has_to_pass(copy, name):
    """Else whatever was planted would be "killed"."""
    failure = copy.run_test(name, 300, 600, None)
    if failure:
        raise Broken(f"{name} fails without any mutation, in {copy.build}: {failure}")


# --- trying a mutation --------------------------------------------------------------

class Cache:
    """Results by the text of the mutated file and the sources of the test."""

    def __init__(self, path, is_fresh):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        if not is_fresh and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)

    @staticmethod
    def key(mutation):
        return hashlib.sha256((mutation.path + "\n" + mutation.text).encode()).hexdigest()[:24]

    def get(self, mutation, test, total):
        """None: not known; "": passed; else how it failed."""
        known = self.known.get(self.key(mutation), {}).get(test)
        return known[1] if known and known[0] == total else None

    def put(self, mutation, test, total, result):
        with self.lock:
            self.known.setdefault(self.key(mutation), {})[test] = [total, result]

    def save(self):
        with self.lock:
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.known, file)
            os.replace(self.path + ".new", self.path)


NEAR = "all that are near enough"
BATCH = 4  # tests that are linked at once, after the first one, which is named for the file and mostly notices


def from_cache(mutation, tests, cache, seconds):
    """Set the result if it is known; the tests that are still to run otherwise, None when there are none."""
    left, chosen = [], tests.for_one(mutation)
    for name in chosen:
        result = cache.get(mutation, name, tests.sums[name])
        if result:
            kill(mutation, name, result)
            return None
        if result is None:
            left.append(name)
    if not left or cache.get(mutation, NEAR, tests.sum_of(chosen, seconds)) is not None:
        mutation.result = "survived"
        return None
    return left


def kill(mutation, test, how):
    mutation.result, mutation.killer, mutation.detail = "killed", os.path.basename(test), how


def batches(left):
    return [left[:1]] + [left[at:at + BATCH] for at in range(1, len(left), BATCH)]


def attempt(mutation, copy, left, tests, cache):
    """Plant, build and test."""
    copy.plant(mutation)
    for batch in batches(left):
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
            cache.put(mutation, name, tests.sums[name], failure or "")
            if failure:
                kill(mutation, name, failure)
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


def by_file(work):
    """The mutations of a file together, which spares compiling the file that was mutated before; the most first."""
    files = {}
    for job in work:
        files.setdefault(job[0].path, []).append(job)
    return sorted(files.values(), key=len, reverse=True)


def try_all(work, copies, tests, cache):
    progress, free = Progress(len(work)), queue.Queue()
    for copy in copies:
        free.put(copy)

    def file(jobs):
        copy = free.get()
        try:
            for mutation, left in jobs:
                attempt(mutation, copy, left, tests, cache)
                cache.save()
                progress.tell(mutation)
        finally:
            copy.restore()
            free.put(copy)

    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        for future in [pool.submit(file, jobs) for jobs in by_file(work)]:
            future.result()


# --- the report ----------------------------------------------------------------------

def count(mutations):
    """killed, survived, equivalent, per cent killed of those that are not equivalent"""
    killed = sum(m.result == "killed" and not m.equivalent for m in mutations)
    survived = sum(m.result == "survived" and not m.equivalent for m in mutations)
    equivalent = sum(bool(m.equivalent) for m in mutations)
    return killed, survived, equivalent, 100 * killed / (killed + survived) if killed + survived else 100


def by_lines(mutations, lines):
    """Per cent killed if each file had mutations in proportion to its lines. Those without any do not count."""
    weight = total = 0
    for path in {m.path for m in mutations if m.path}:
        killed, survived, _, share = count([m for m in mutations if m.path == path])
        if killed + survived:
            weight += lines[path] * share
            total += lines[path]
    return weight / total if total else 100


def faults(mutations):
    """What is wrong with the list."""
    for m in mutations:
        if m.result in ("stale", "invalid"):
            yield f"{m.where}: {m.result}: {m.title()}: {m.detail}"
        if m.equivalent and m.result == "killed":
            yield f"{m.where}: called equivalent, but {m.killer} ({m.detail}) notices: {m.title()}"


def report(mutations, sizes):
    lines = []
    for m in mutations:
        if m.result == "survived" and not m.equivalent:
            lines.append(f"survived: {m.title()}   ({m.where})")
    for m in mutations:
        if m.equivalent:
            lines.append(f"equivalent: {m.title()}\n    {m.equivalent}")
    lines += list(faults(mutations))
    lines.append(f"{'':28}{'killed':>8}{'survived':>10}{'equivalent':>12}{'killed, %':>11}{'by lines, %':>13}")
    groups = sorted({m.room() for m in mutations}) + sorted({m.folder.split("/")[0] for m in mutations} - {"plugin"})
    for group in groups:
        inside = [m for m in mutations if (m.folder + "/").startswith(group + "/")] if "/" not in group else \
            [m for m in mutations if m.folder == group]
        killed, survived, equivalent, share = count(inside)
        lines.append(f"{group:28}{killed:8}{survived:10}{equivalent:12}{share:11.1f}"
                     f"{by_lines(inside, sizes):13.1f}")
    return "\n".join(lines) + "\n"


def too_few(mutations, sizes):
    for part, least in LEAST.items():
        inside = [m for m in mutations if m.part() == part]
        share = min(count(inside)[3], by_lines(inside, sizes)) if inside else 100
        if share < least:
            yield f"{part}: {share:.1f} % of the mutations are killed, {least} % have to be"


def as_json(mutations):
    return [{"file": m.path, "folder": m.folder, "line": m.line, "function": m.function, "old": m.old, "new": m.new,
             "result": "equivalent" if m.equivalent and m.result == "survived" else m.result, "reason": m.equivalent,
             "test": m.killer, "how": m.detail} for m in mutations]


# --- all together --------------------------------------------------------------------

def look_up(mutations, top):
    """Those whose text is there."""
    found = []
    for mutation in mutations:
        trouble = find(mutation, top)
        if trouble:
            mutation.result, mutation.detail = "stale", trouble
        else:
            found.append(mutation)
    return found


def check_tests(copies, tests, cache, names):
    """They pass in each copy, and what they need is known; once for the same sources."""
    for name in sorted(names):
        tests.measure(name, cache)
        for copy in copies[1:]:
            passed = cache.known.setdefault("passed", {}).setdefault(os.path.basename(os.path.dirname(copy.build)), {})
            if passed.get(name) != copy.sum():
                has_to_pass(copy, name)
                passed[name] = copy.sum()


def near_enough(work, tests, seconds):
    """Of the tests that are left those that may run; a mutation that met them before has survived."""
    for mutation, left in work:
        names = [name for name in tests.within(tests.for_one(mutation), seconds) if name in left]
        if names:
            yield mutation, names
        else:
            mutation.result = "survived"


def run(mutations, options):
    copies = [Copy(os.path.join(options.work, f"copy-{i}"), options.srcdir) for i in range(options.jobs)]
    found = look_up(mutations, options.srcdir)
    print(f"{len(found)} mutations; building {len(copies)} copies", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(copies)) as pool:
        list(pool.map(lambda copy: copy.prepare(options.tests), copies))
    tests = Tests(options.tests, copies[0])
    cache = Cache(os.path.join(options.work, "cache.json"), options.fresh)
    left = [(m, names) for m in found for names in [from_cache(m, tests, cache, options.seconds)] if names]
    check_tests(copies, tests, cache, {name for m, _ in left for name in tests.for_one(m)})
    work = list(near_enough(left, tests, options.seconds))
    print(f"{len(found) - len(work)} are known from before, {len(work)} to try", flush=True)
    try_all(work, copies, tests, cache)
    for mutation, _ in left:
        if mutation.result == "survived":
            cache.put(mutation, NEAR, tests.sum_of(tests.for_one(mutation), options.seconds), "")
    cache.save()


def arguments():
    parser = argparse.ArgumentParser(description="Plant bugs one by one; which do the unit tests notice?")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--srcdir", default=os.path.dirname(os.path.dirname(here)), type=os.path.abspath)
    parser.add_argument("--work", default="mutants", type=os.path.abspath, help="folder for the copies and the report")
    parser.add_argument("--list", default=os.path.join(here, "list.txt"))
    parser.add_argument("--tests", required=True, type=str.split, help="the test programs, in one word")
    parser.add_argument("--jobs", default=2, type=int)
    parser.add_argument("--seconds", default=60, type=float, help="of processor time, for the tests of a mutation")
    parser.add_argument("--fresh", action="store_true", help="forget what is known from before")
    parser.add_argument("prefix", nargs="*", help="only mutations of these folders, as core/fabric")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        mutations = [m for m in read_list(options.list) if not options.prefix or
                     any((m.folder + "/").startswith(prefix.rstrip("/") + "/") for prefix in options.prefix)]
        os.makedirs(options.work, exist_ok=True)
        run(mutations, options)
    except (ValueError, Broken) as trouble:
        sys.exit(f"mutants: {trouble}")
    sizes = {m.path: m.text.count("\n") for m in mutations if m.path}
    text = report(mutations, sizes)
    print(text, end="")
    with open(os.path.join(options.work, "report.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(options.work, "report.json"), "w", encoding="utf-8") as file:
        json.dump(as_json(mutations), file, indent=1)
    complaints = list(too_few(mutations, sizes))
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints or any(faults(mutations)) else 0)


if __name__ == "__main__":
    main()
