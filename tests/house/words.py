#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""words.py - can the pages be read?

    words.py [--top FOLDER] [--all] [--long PAGE]

Counts the words of each sentence of the Markdown and manual pages, and compares the median and the 90 % quantile with the limits
below. README.md has a limit for all its words, too. And no line of Markdown is longer than 160 columns, but for rows of tables and lines with a URL.

What is counted: running text and the items of lists, each item by itself. What is not: code, tables, headings, indented blocks, the
synopsis and the tags of a manual page, and what is marked as mathematics: quoted statements (>), and paragraphs that begin with **Theorem**,
**Lemma**, **Definition**, **Formula** and their like. A sentence ends at . ! ? before a space. Two words or fewer are none.

--all prints the figures of every page that is known, --long prints the sentences of a page, the longest first. Exit code 1 if a page is over its limits.
"""
import argparse
import re
import sys
from pathlib import Path

PLAIN = (18, 32)
MATHEMATICS = (22, 40)
LIMITS = [  # (pages, limits); the first row that a page matches counts
    ("doc/planners*.md", MATHEMATICS),
    ("lab/doc/model.md", MATHEMATICS),
    ("lab/doc/analyze.md", MATHEMATICS),
    ("lab/doc/simulate.md", MATHEMATICS),
    ("lab/doc/benchmarks.md", MATHEMATICS),
    ("lab/doc/paper-results.md", MATHEMATICS),
    ("lab/doc/testbed.md", MATHEMATICS),
    ("README.md", PLAIN),
    ("SECURITY.md", PLAIN),
    ("CHANGELOG.md", PLAIN),
    ("libforsched/examples/*/README.md", PLAIN),
    ("doc/*.md", PLAIN),
    ("lab/doc/*.md", PLAIN),
    ("man/*.[1-8]", PLAIN),
]
UNREAD = set()  # pages that nobody has gone through yet: nothing is asked of them
README_WORDS = 800
COLUMNS = 160

MARKED = re.compile(r"\*\*(Theorem|Lemma|Definition|Formula|Corollary|Proposition|Claim|Proof)\b")
ITEM = re.compile(r"\s*([-*]|\d+\.) +")


def markdown_paragraphs(text):
    """Running text and items of lists, one string each."""
    part, parts, is_code = [], [], False
    for line in text.splitlines() + [""]:
        if line.lstrip().startswith("```"):
            is_code = not is_code
            line = ""
        is_item = ITEM.match(line) and not line.startswith("     ")
        is_indented = line.startswith("    ") and not is_item and not part
        is_dropped = is_code or is_indented or line.lstrip().startswith(("|", "#", "<", ">", "!["))
        if is_item or is_dropped or not line.strip():
            parts.append(" ".join(part))
            part = []
        if line.strip() and not is_dropped:
            part.append(ITEM.sub("", line, count=1).strip() if is_item else line.strip())
    return [p for p in parts if p and not MARKED.match(p)]


def markdown_plain(text):
    text = re.sub(r"`[^`]*`", lambda code: re.sub(r"[.!?]", "", code.group()), text)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("*", "").replace("`", "")


def roff_plain(line):
    return re.sub(r"\\f[BIRP]|\\&|\\c", "", line).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def roff_paragraphs(text):
    """The same of a manual page: macros of fonts are running text, those of paragraphs begin one."""
    part, parts, is_code, is_tag, is_synopsis = [], [], False, False, False
    for line in text.splitlines() + [".PP"]:
        macro, _, rest = line.partition(" ")
        if macro in (".SH", ".SS", ".PP", ".TP", ".IP", ".RS", ".RE", ".nf", ".EX", ".TS", ".br", ".in"):
            parts.append(" ".join(part))
            part = []
            is_tag = macro == ".TP"
            is_code = macro in (".nf", ".EX", ".TS") or is_code and macro == ".in"
            is_synopsis = rest.strip() in ("SYNOPSIS", "NAME") if macro == ".SH" else is_synopsis
        elif macro in (".fi", ".EE", ".TE"):
            is_code = False
        elif is_tag:
            is_tag = False
        elif not is_code and not is_synopsis and not line.startswith((".\\", ".TH", ".so")):
            part.append(roff_plain(roff_font(macro, rest)))
    return [p for p in parts if p]


def roff_font(macro, rest):
    if macro in (".BR", ".BI", ".IR", ".RB", ".RI"):
        words = [q or w for q, w in re.findall(r'"([^"]*)"|((?:\\ |\S)+)', rest)]
        return "".join(words)
    return rest.strip('"') if macro in (".B", ".I") else f"{macro} {rest}".strip()


def sentences(path):
    text = path.read_text(encoding="utf-8")
    is_markdown = path.suffix == ".md"
    for paragraph in markdown_paragraphs(text) if is_markdown else roff_paragraphs(text):
        for sentence in re.split(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)[)\"*_]*\s+", markdown_plain(paragraph) if is_markdown else paragraph):
            words = [w for w in sentence.split() if re.search(r"\w", w)]
            if len(words) > 2:
                yield len(words), sentence


def figures(lengths):
    """(median, 90 %, longest)"""
    ordered = sorted(lengths) or [0]
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)], ordered[-1]


def long_lines(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > COLUMNS and not line.lstrip().startswith("|") and "://" not in line:
            yield f"{path}:{number}: {len(line)} columns, at most {COLUMNS}"


def problems_of(path, limits):
    median, most, longest = figures([n for n, _ in sentences(path)])
    if median > limits[0] or most > limits[1]:
        yield f"{path}: words per sentence, median / 90 %: {median} / {most} (longest {longest}); at most {limits[0]} / {limits[1]}"
    if path.suffix == ".md":
        yield from long_lines(path)


def words_of(path):
    return sum(len(p.split()) for p in map(markdown_plain, markdown_paragraphs(path.read_text(encoding="utf-8"))))


def limits_of(top):
    """{page: limits}"""
    found = {}
    for pattern, limits in LIMITS:
        for path in sorted(top.glob(pattern)):
            found.setdefault(path, limits)
    return {path: limits for path, limits in found.items() if str(path.relative_to(top)) not in UNREAD}


def check(top):
    for path, limits in limits_of(top).items():
        yield from problems_of(path, limits)
    if words_of(top / "README.md") > README_WORDS:
        yield f"README.md: {words_of(top / 'README.md')} words, at most {README_WORDS}"


def print_all(top):
    for path in [*limits_of(top), *(top / name for name in sorted(UNREAD))]:
        lengths = [n for n, _ in sentences(path)]
        lines = len(list(long_lines(path))) if path.suffix == ".md" else 0
        print(f"{str(path.relative_to(top)):32} {len(lengths):5} sentences  median {figures(lengths)[0]:3}  90 % {figures(lengths)[1]:3}"
              f"  longest {figures(lengths)[2]:3}  long lines {lines:3}  words {sum(lengths)}")


def main():
    parser = argparse.ArgumentParser(description="Can the pages be read?")
    parser.add_argument("--top", type=Path, default=Path("."))
    parser.add_argument("--all", action="store_true", help="print the figures of every page")
    parser.add_argument("--long", type=Path, help="print the sentences of a page, the longest first")
    options = parser.parse_args()
    if options.all:
        print_all(options.top)
        return 0
    if options.long:
        for count, sentence in sorted(sentences(options.long), reverse=True):
            print(f"{count:4} {sentence}")
        return 0
    problems = list(check(options.top))
    print(*problems, f"words: {len(limits_of(options.top))} pages, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
