#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_modules.py - does every #include, and every symbol, go the way that the table of modules allows, and is every file told of?

The table is the one that people read: in CONTRIBUTING.md, the rows whose first column is a module in backquotes: folders, or
patterns of files. A file belongs to the most exact module that has it. A module may use itself, and what its column "may
use" names: modules (the first name of a row) or single files. A folder with a row that no row allows is closed to all; what has
no row (tests, bench, examples) may use anything.

Symbols are a second proof: a prototype written by hand needs no #include. With --build the objects there are asked (nm)
who defines what, and who needs it.

And is each file told of? A README.md has to name all files of its folder, and of folders below that have no page of their own, with or
without ending; but for *_inside.h, which say themselves whose they are.

A house stays small: no more than FLOORS, FILES of a folder, LINES of a module, and ASKING files that know of what height a tree
is. Exit 1 if anything is wrong.
"""
import argparse
import fnmatch
import os
import re
import subprocess
import sys

FLOORS = {"core/": 8, "daemon/": 8}
FILES = {"core/fabric": 40, "daemon": 40}  # in a folder, and in each below it
LINES = {"plugin": 2200}
# Files of these modules that ask whether a tree has two levels or three; who hands what it is made of on to a planner does not ask.
HEIGHT = re.compile(r"tree[.>-]+(?:fabric|pods)\b|(?<!\.fabric = look)->fabric\b|fors_pods_(?!route\b)|fors_fattree_of_")
ASKING, ASKED = 5, ("daemon/", "plugin/")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


class Module:
    def __init__(self, names, may_use):
        self.names, self.may_use = names, may_use

    def claim(self, path):
        """How exactly this module has a file: 0 not at all; a file before a folder, a deep folder before a shallow one."""
        best = 0
        for name in self.names:
            if name.endswith("/") and path.startswith(name):
                best = max(best, name.count("/"))
            elif fnmatch.fnmatchcase(path, name):
                best = max(best, 100 + len(name))
        return best

    def __str__(self):
        return self.names[0]


def read_table(text):
    modules = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 4 and re.fullmatch(r"(`[^`]+`(, )?)+", cells[0]):
            modules.append(Module(re.findall(r"`([^`]+)`", cells[0]), re.findall(r"`([^`]+)`", cells[2])))
    known = {name for module in modules for name in module.names}
    for module in modules:
        for name in module.may_use:
            if name.endswith("/") and name not in known:
                sys.exit(f"check_modules: {module} may use {name}, which has no row")
    return modules


def module_of(modules, path):
    best = max(modules, key=lambda module: module.claim(path))
    return best if best.claim(path) else None


def is_allowed(modules, user, used_path):
    used = module_of(modules, used_path)
    if user is None or used is None or used is user:
        return True
    return any(name in used.names or fnmatch.fnmatchcase(used_path, name) for name in user.may_use)


def sources(top):
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "build")))
        for name in sorted(files):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), top)


def homeless(modules, beside, files):
    """Files beside modules, in none of them, nor in a folder of the second table."""
    tops = {name.split("/")[0] for module in modules for name in module.names}
    for path in files:
        if path.split("/")[0] in tops and module_of(modules, path) is None and not path.startswith(beside):
            yield f"{path}: is in no module of the table"


def page_of(top, path):
    """The README.md that is for a file: of its folder, or of the next one above; never the one of the whole tree."""
    folder = os.path.dirname(path)
    while folder and not os.path.exists(os.path.join(top, folder, "README.md")):
        folder = os.path.dirname(folder)
    return folder and os.path.join(folder, "README.md")


def untold(top, modules, files):
    """Files of modules that the page of their module does not name."""
    words = {}
    for path in files:
        page, stem = page_of(top, path), os.path.splitext(os.path.basename(path))[0]
        if not page or module_of(modules, path) is None or stem.endswith("_inside"):
            continue
        if page not in words:
            with open(os.path.join(top, page), encoding="utf-8") as text:
                words[page] = set(re.findall(r"\w+", text.read()))
        if stem not in words[page]:
            yield f"{path}: {page} does not say what it does"


def bad_includes(top, modules, files):
    for path in sorted(files):
        user = module_of(modules, path)
        with open(os.path.join(top, path), encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                found = INCLUDE.match(line)
                if not found:
                    continue
                used = os.path.normpath(os.path.join(os.path.dirname(path), found[1]))
                used = used if used in files else found[1]
                if used in files and not is_allowed(modules, user, used):
                    yield f"{path}:{number}: {user} may not include {used} ({module_of(modules, used)})"


def objects(build, files):
    """The object files of a build, each with its source."""
    for folder, _, names in os.walk(build):
        for name in names:
            stem = re.fullmatch(r"(?:[A-Za-z0-9_]+-)?([A-Za-z0-9_]+)\.o", name)
            where = os.path.relpath(folder, build)
            where = os.path.dirname(where) if os.path.basename(where) == ".libs" else where
            if stem and os.path.join(where, stem[1] + ".c") in files:
                yield os.path.join(where, stem[1] + ".c"), os.path.join(folder, name)


def symbols(paths):
    """(defined, undefined) global symbols of each object file, asked at once: a process for each would take minutes on a busy machine."""
    found = {path: (set(), set()) for path in paths}
    text = subprocess.run(["nm", "-gPA", *found], capture_output=True, text=True, check=True).stdout if found else ""
    for line in text.splitlines():
        path, _, symbol = line.partition(": ")
        name, kind = symbol.split()[:2]
        found[path][kind in "Uvw"].add(name)
    return found


def bad_symbols(build, modules, files):
    home, needs = {}, {}
    sources_of = {path: source for source, path in objects(build, files)}
    for path, (defined, undefined) in symbols(sources_of).items():
        source = sources_of[path]
        for name in defined:
            home.setdefault(name, set()).add(source)
        needs.setdefault(source, set()).update(undefined)
    if not home:
        yield f"{build}: no object files there"
    for source in sorted(needs):
        user = module_of(modules, source)
        for name in sorted(needs[source] & home.keys()):
            if not any(is_allowed(modules, user, where) for where in home[name]):
                yield f"{source}: {user} may not use {name}() of {sorted(home[name])[0]}"


def floors(modules, prefix):
    """On which floor each module with this prefix stands: one above the highest that it may use."""
    mine = [module for module in modules if module.names[0].startswith(prefix)]
    memo = {}

    def floor(module, above=()):
        if module in above:
            sys.exit(f"check_modules: {module} may use itself in a circle")
        if module not in memo:
            below = [r for r in mine if r is not module and any(name in r.names for name in module.may_use)]
            memo[module] = 1 + max((floor(r, above + (module,)) for r in below), default=0)
        return memo[module]

    return {str(module): floor(module) for module in mine}


def crowded(top, modules, files):
    """What has outgrown its limit."""
    def read(path):
        with open(os.path.join(top, path), encoding="utf-8") as text:
            return text.read()

    for prefix, most in FLOORS.items():
        high = max(floors(modules, prefix).values(), default=0)
        if high > most:
            yield f"{prefix} has {high} floors, at most {most}"
    folders = [os.path.dirname(path) for path in files]
    for folder in sorted(set(folders)):
        for name, most in FILES.items():
            if (folder + "/").startswith(name + "/") and folders.count(folder) > most:
                yield f"{folder}/ has {folders.count(folder)} files, at most {most}"
    for name, most in LINES.items():
        lines = sum(read(path).count("\n") for path in files if path.startswith(name + "/"))
        if lines > most:
            yield f"{name}/ has {lines} lines, at most {most}"
    asking = [path for path in sorted(files) if path.startswith(ASKED) and HEIGHT.search(read(path))]
    if len(asking) > ASKING:
        yield f"{len(asking)} files of {' and '.join(ASKED)} ask of what height a tree is, at most {ASKING}: {', '.join(asking)}"


def main():
    parser = argparse.ArgumentParser(description="Check the arrows between modules.")
    parser.add_argument("--top", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("--build", help="a build of this tree: its symbols are checked too")
    parser.add_argument("--floors", action="store_true", help="print on which floor each module of core/ stands")
    args = parser.parse_args()
    top = os.path.abspath(args.top)
    with open(os.path.join(top, "CONTRIBUTING.md"), encoding="utf-8") as text:
        page = text.read()
    modules, beside = read_table(page), tuple(re.findall(r"^\| ([\w/]+/) \|", page, re.M))
    if len(modules) < 2:
        sys.exit("check_modules: CONTRIBUTING.md has no table of modules")
    stands = floors(modules, "core/")
    if args.floors:
        for name, floor in sorted(stands.items(), key=lambda item: item[::-1]):
            print(floor, name)
    files = set(sources(top))
    problems = [*homeless(modules, beside, sorted(files)), *untold(top, modules, sorted(files)), *bad_includes(top, modules, files),
                *crowded(top, modules, files)]
    if args.build:
        problems += bad_symbols(args.build, modules, files)
    print("\n".join(problems), end="\n" if problems else "")
    print(f"check_modules: {len(modules)} modules, core/ has {max(stands.values(), default=0)} floors, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
