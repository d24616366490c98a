# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The measure of sentences and lines (tests/house/words.py), with pages that are too long, and with what it must not count."""
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/house"))
import words  # noqa: E402

LONG = "word " * 20 + "\n" + "word " * 19 + "word."
SHORT = "The cable is dead. Mend it soon, please.\n"


def lengths(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return [count for count, _ in words.sentences(path)]


def check(tmp_path, page, text, readme="# x\n"):
    (tmp_path / "README.md").write_text(readme)
    (tmp_path / "doc").mkdir(exist_ok=True)
    (tmp_path / "man").mkdir(exist_ok=True)
    (tmp_path / page).write_text(text)
    done = subprocess.run([sys.executable, str(TOP / "tests/house/words.py"), "--top", str(tmp_path)], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_this_tree():
    done = subprocess.run([sys.executable, str(TOP / "tests/house/words.py"), "--top", str(TOP)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("page", ["doc/jobs.md", "man/fors.1"])
def test_a_long_sentence_in_ten_is_too_many(tmp_path, page):
    assert check(tmp_path, page, f"{SHORT * 9}\n{LONG}\n")[0] == 0
    code, out = check(tmp_path, page, f"{SHORT * 2}\n{LONG}\n")
    assert code == 1 and page in out and "4 / 40" in out


def test_pages_of_mathematics_may_be_longer(tmp_path, monkeypatch):
    monkeypatch.setattr(words, "UNREAD", set())
    for name in ("doc/planners.md", "lab/doc/model.md", "doc/jobs.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SHORT)
    found = {path.name: limits for path, limits in words.limits_of(tmp_path).items()}
    assert found == {"planners.md": words.MATHEMATICS, "model.md": words.MATHEMATICS, "jobs.md": words.PLAIN}


def test_pages_that_are_not_read_yet_are_there():
    assert all((TOP / name).exists() for name in words.UNREAD)


def test_a_long_line_is_named(tmp_path):
    line = "The cable is dead. " * 9
    code, out = check(tmp_path, "doc/jobs.md", f"short\n\n{line}\n")
    assert code == 1 and "jobs.md:3: " in out
    assert check(tmp_path, "doc/jobs.md", f"| {line} |\n\n[The cable is dead.](https://{'x' * 160})\n")[0] == 0


def test_readme_is_a_page(tmp_path):
    code, out = check(tmp_path, "doc/jobs.md", SHORT, readme=SHORT * 101)
    assert code == 1 and "README.md: 808 words" in out
    assert check(tmp_path, "doc/jobs.md", SHORT, readme=SHORT * 90 + "\n    " + "code " * 30)[0] == 0


@pytest.mark.parametrize("text, counted", [
    ("One two three. Four five six seven! Eight nine ten?", [3, 4, 3]),
    ("Two words. Only fors.conf and status.json count here.", [6]),
    ("- one two three\n- four five six seven\n  eight\n", [3, 5]),
    ("1. one two three\n\n       code that is indented deep\n\n2. four five six\n", [3, 3]),
    ("# a heading of words\n\n| a | table of words |\n\n    code of four words\n\n```\nmore of the code\n```\n", []),
    ("> **Theorem.** A quoted statement\n> is as long as it wants to be.\n\nOne two three.\n", [3]),
    ("**Theorem.** This one is as long as it wants to be.\n", []),
    ("See [the page of jobs](jobs.md#a-part) and `a.b.c --d`.\n", [8]),
])
def test_markdown(tmp_path, text, counted):
    assert lengths(tmp_path, "page.md", text) == counted


@pytest.mark.parametrize("text, counted", [
    (".SH NAME\nfors \\- one two three\n.SH DESCRIPTION\nOne two\n.B three\nfour.\n", [4]),
    (".TP\n.BI \\-\\-lmc \" N\"\nOne two three.\n.TP\n.B x\nFour\n.BR five (5),\nsix seven.\n", [3, 4]),
    (".SH A\n.nf\ncode of four words\n.fi\nOne \\fBtwo\\fR three.\n.IP\nFour five six\n", [3, 3]),
    (".SH SYNOPSIS\none two three four\n.SH B\nOne two three.\n", [3]),
])
def test_manual_pages(tmp_path, text, counted):
    assert lengths(tmp_path, "page.1", text) == counted
