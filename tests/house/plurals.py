#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""plurals.py - does no format say "1 flows"?

    plurals.py [--top FOLDER]

Looks into the strings of the modules that speak to users, for a number with a noun in the plural behind it, as in "%u flows". Such a count
may be 1, so the noun has to come from fors_plural() (core/base/text.h). Not meant: limits and wholes ("at most %u names", "%u of %u
servers"), and lines beside the comment "always several". Exit code 1 if there are any.
"""
import argparse
import re
import sys
from pathlib import Path

NOUNS = ("servers cables flows links leaves spines switches phases failures hosts routes packets messages jobs ports nodes LIDs entries places lanes "
         "lines processes ranks times seconds notifications bytes planes pods tops names rows units ways paths GUIDs characters numbers tokens steps "
         "others files schedules epochs looks sweeps minutes pairs problems calls repairs").split()
COUNT = re.compile(r'%(?:\.?\d+|[-*])*(?:" ?PRI[ud](?:32|64) ?"|l{0,2}[ud]|z[ud])((?: (?!for |of |in |by |to |and )[a-z-]+){0,2}?) (' + "|".join(NOUNS) + r")\b")
WHOLE = re.compile(r"(?:more than|less than|at most|at least|up to|\bto|\bof|all|of the|there are|allow|the|fewer than|x)(?: its)? (?:%s)?$")
TOO_MANY = re.compile(r",? (?:is |are )?(?:more than|too many|too large)|; fors (?:can|takes)")
EXEMPT = "always several"
SPOKEN = ("cli", "lab/analyze", "lab/model", "lab/sim", "lab/simulate", "lab/whatif", "watch")  # modules whose texts are for users, and not for logs and developers


def strings(text):
    """(line, string) with strings that are written in several pieces as one; PRIu64 and its like stay as they are written."""
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:PRI[a-z0-9]+\s*)?"(?:[^"\\\n]|\\.)*")*', text):
        yield text.count("\n", 0, match.start()) + 1, re.sub(r'"\s*"', "", match.group())


def problems_of(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, string in strings(text):
        for found in COUNT.finditer(string):
            before = string[:found.start()].lstrip('"')
            is_limit = WHOLE.search(before) or TOO_MANY.match(string, found.end())
            if not is_limit and not any(EXEMPT in line for line in lines[max(0, number - 2):number + 1]):
                yield f"{path}:{number}: \"...{string[max(1, found.start() - 20):found.end() + 12]}...\" may be of 1: fors_plural()"


def main():
    parser = argparse.ArgumentParser(description='Does no format say "1 flows"?')
    parser.add_argument("--top", type=Path, default=Path("."))
    options = parser.parse_args()
    files = [path for module in SPOKEN for path in sorted((options.top / module).rglob("*.c"))]
    problems = [problem for path in files for problem in problems_of(path)]
    print(*problems, f"plurals: {len(files)} files, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
