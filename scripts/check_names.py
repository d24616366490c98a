#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""check_names.py - has each tag one meaning?

A struct, union or enum of fors is called fors_NAME in all files, and what is called so twice is two things for whoever
looks for it. So a tag is defined in one place of all rooms. Exit 1 and the places where one is defined again.
"""
import argparse
import os
import re
import sys

ROOMS = ("core", "ilp", "keeper", "plugin", "model", "sim", "cli", "libforsched")
TAG = re.compile(r"^\t*(?:typedef )?(?:struct|union|enum) (fors_\w+) \{", re.M)


def sources(top):
    for room in ROOMS:
        for folder, folders, files in os.walk(os.path.join(top, room)):
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


def main():
    parser = argparse.ArgumentParser(description="Find tags that are defined twice.")
    parser.add_argument("--top", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    top = os.path.abspath(parser.parse_args().top)
    found = places(top)
    twice = {tag: where for tag, where in found.items() if len(where) > 1}
    for tag, where in sorted(twice.items()):
        print(f"{where[0]}: {tag} is also defined in {', '.join(where[1:])}: one of them needs another name")
    print(f"check_names: {len(found)} tags, {len(twice)} defined twice")
    return 1 if twice or not found else 0


if __name__ == "__main__":
    sys.exit(main())
