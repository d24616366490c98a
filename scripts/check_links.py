#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Does every link of the Markdown pages in a folder lead somewhere?

    check_links.py FOLDER [--inside]

A relative link has to name a file or folder that is there, and a heading of it if it has a #part; with --inside it may not
leave FOLDER either, so that an installed documentation is complete by itself. Links to the web are not followed. Prints the
links that are broken, and how many were looked at; exit code 1 if any is broken or none was found.
"""
import argparse
import re
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
BUILT = re.compile(r"(^|/)(build[^/]*|\.git)(/|$)")


def prose(text):
    """Without code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(```.*?^```|    .*?)$", "", text, flags=re.M | re.S))


def anchors(path):
    """What GitHub and its like call the headings of a page."""
    headings = re.findall(r"^#+ +(.*?) *$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problem(page, link, top):
    """What is wrong with a link, or None; top: nothing outside of it counts."""
    name, _, part = unquote(link).partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.exists():
        return "is not there"
    if top and top not in (target, *target.parents):
        return "is outside"
    if part and target.suffix == ".md" and part not in anchors(target):
        return f"has no heading #{part}"
    return None


def check(folder, is_inside):
    """(number of links, [problem])"""
    count, problems = 0, []
    for page in sorted(folder.rglob("*.md")):
        if BUILT.search(str(page.relative_to(folder))):
            continue
        for link in LINK.findall(prose(page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            wrong = problem(page.resolve(), link, folder if is_inside else None)
            if wrong:
                problems.append(f"{page.relative_to(folder)}: {link} {wrong}")
    return count, problems


def main():
    parser = argparse.ArgumentParser(description="Does every link of the Markdown pages in a folder lead somewhere?")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--inside", action="store_true", help="and to something in the folder")
    options = parser.parse_args()
    count, problems = check(options.folder.resolve(), options.inside)
    print(*problems, f"check_links: {count} links, {len(problems)} broken", sep="\n")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
