#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_names.py - has each tag and each word of WORDS one meaning, and is each file there that a comment or a page names?

A struct, union or enum of fors is called fors_NAME in all files, and what is called so twice is two things for whoever
looks for it. So a tag is defined in one place of all modules. A file may move and get another name: who reads of it then
looks in vain. So each FILE.c or FILE.h in a comment, in a page of doc/ and in a README.md is a file of ours, with as
much of its folders as is written; those of OpenSM begin with osm_. Some words were once used for several things: WORDS says
what each means, and in which modules it may be part of a name; no member is called by a word of VAGUE, which says nothing
of what it holds. Exit 1 and the places where it is otherwise.
"""
import argparse
import os
import re
import sys

MODULES = ("core", "ilp", "daemon", "plugin", "lab/analyze", "lab/model", "lab/page", "lab/replay", "lab/sim", "lab/simulate", "lab/whatif", "cli", "libforsched", "watch")
READ = MODULES + ("lab", "tests")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAMED = re.compile(r"(?<![\w/<.*])((?:[\w-]+/)*(?!osm_)[a-z][\w-]*\.[ch])\b")
EXAMPLES = ("cli/cmd_NAME.c",)
TAG = re.compile(r"^\t*(?:typedef )?(?:struct|union|enum) (fors_\w+) \{", re.M)

WORDS = {  # a part of names: what it means, and the modules where that is spoken of
    "slot": ("the place of a server under a leaf", ("core/fabric", "core/jobs", "core/net", "core/planners", "core/status", "core/tables", "ilp",
             "daemon/look", "daemon/daemon_rehome.c", "plugin", "cli/load.c", "lab/analyze/ends.c")),
    "settle": ("the switches have the tables that are wanted", ("daemon/worker",)),
}
VAGUE = ("over",)
IGNORED = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)


def sources(top, modules=MODULES):
    for module in modules:
        for folder, folders, files in os.walk(os.path.join(top, module)):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith((".c", ".h")))


def places(top):
    """Where each tag is defined."""
    found = {}
    for path in sources(top):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        for match in TAG.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.setdefault(match[1], []).append(f"{os.path.relpath(path, top)}:{line}")
    return found


def pages(top):
    """CONTRIBUTING.md, the pages of doc/, and the README.md of each module."""
    yield os.path.join(top, "CONTRIBUTING.md")
    for module in ("doc", "lab/doc", *READ):
        for folder, folders, files in os.walk(os.path.join(top, module)):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(files)
                        if name == "README.md" or module.endswith("doc") and name.endswith(".md"))


def gone(top):
    """Each file that is named and not there: where, and its name."""
    here = [os.path.relpath(path, top) for path in sources(top, READ)]
    ends = {path[at:] for path in here for at in (0, *(i + 1 for i, letter in enumerate(path) if letter == "/"))}
    for path in (*sources(top, READ), *pages(top)):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        for part in [text] if path.endswith(".md") else COMMENT.findall(text):
            yield from ((os.path.relpath(path, top), name) for name in NAMED.findall(part)
                        if name not in ends and name not in EXAMPLES)


def code(path):
    """The lines of a file without comments and strings."""
    with open(path, encoding="utf-8") as source:
        return IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source.read()).split("\n")


def strange(top):
    """Each name with a word that has another meaning: where, and what is wrong."""
    vague = "|".join(VAGUE)
    member = re.compile(rf"(?:->|[\w\])]\.|[{{,] *\.)({vague})\b|^\t+(?!return)[a-z][\w ]*[ *]({vague})(?:\[[^]]*\])?;")
    for path in sources(top):
        where = os.path.relpath(path, top)
        words = {word for word, (_, modules) in WORDS.items() if not where.startswith(modules)}
        for number, line in enumerate(code(path), 1):
            yield from (f"{where}:{number}: {word} is for {WORDS[word][0]} only" for word in sorted(words)
                        if re.search(rf"\b\w*{word}\w*", line, re.I))
            yield from (f"{where}:{number}: a member called {match[1] or match[2]} does not say what it is"
                        for match in member.finditer(line))


def main():
    parser = argparse.ArgumentParser(description="Find tags that are defined twice, and files that are named and gone.")
    parser.add_argument("--top", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    top = os.path.abspath(parser.parse_args().top)
    found = places(top)
    twice = {tag: where for tag, where in found.items() if len(where) > 1}
    for tag, where in sorted(twice.items()):
        print(f"{where[0]}: {tag} is also defined in {', '.join(where[1:])}: one of them needs another name")
    missing = sorted(set(gone(top)))
    for where, name in missing:
        print(f"{where}: {name} is no file of the sources")
    other = list(strange(top))
    print(*other, f"check_names: {len(found)} tags, {len(twice)} defined twice; {len(missing)} files named that are gone; "
          f"{len(other)} names with a word of another meaning", sep="\n")
    return 1 if twice or missing or other or not found else 0


if __name__ == "__main__":
    sys.exit(main())
