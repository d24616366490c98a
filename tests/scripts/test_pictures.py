# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The pictures of doc/: a routing engine has one colour in all of them, and what is missing in one is told."""
import json
import pathlib
import re
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "lab" / "bench"))
import pictures  # noqa: E402
import svg  # noqa: E402

LEGEND = re.compile(r'<rect x="[\d.]+" y="32" width="12" height="12" fill="(#\w{6})"/>\n<text[^>]*>([^<]*)</text>')
SWEEPS = [{"fabric": "FT(2;2,2)", "lmc": 0, "engine": "minhop", "build_ms": 2.0},
          {"fabric": "FT(2;2,2)", "lmc": 0, "engine": "ftree", "build_ms": None, "fell_back": True},
          {"fabric": "FT(2;2,2)", "lmc": 0, "engine": "nue", "error": "opensm ended with -11"},
          {"fabric": "FT(2;2,2)", "lmc": 0, "engine": "fors", "build_ms": 1.0, "fill_ms": 0.5}]


def test_all_engines_have_a_colour():
    """Those of --engines, each its own, on white and on black; opensm's other engine is a file of tables."""
    options = (TOP / "lab" / "options.c").read_text()
    known = re.findall(r'"([\w-]+)"', re.search(r"cli_engines\[\] = \{(.*?)\}", options, re.S)[1])
    table = json.loads((TOP / "lab" / "page" / "engine_colours.json").read_text())
    assert sorted(table) == sorted(known)
    for which in (0, 1):
        assert len({colours[which] for colours in table.values()}) == len(known)
    assert not set(svg.OTHERS) & {colour for colours in table.values() for colour in colours}


@pytest.mark.parametrize("path", sorted([*TOP.glob("doc/*.svg"), *TOP.glob("lab/doc/*.svg")]), ids=lambda path: path.stem)
def test_engines_have_their_colours(path):
    text = path.read_text()
    found = LEGEND.findall(text)
    engines = [name.partition(": ")[0] for _, name in found]  # "ftree: shift" is what ftree's tables give a shift
    assert found and [colour for colour, _ in found] == svg.colours(engines)
    drawn = set(re.findall(r'(?:fill|stroke)="(#\w{6})"', text))
    assert drawn <= {colour for colour, _ in found}  # nothing is drawn that the legend does not name


def test_two_of_one_engine():
    one, pale, other = svg.colours(["fors, LMC 5", "fors, LMC 0", "closed-form"])
    assert one == svg.engines()["fors"] and len({one, pale, other}) == 3


def test_gaps_are_marked_and_told():
    drawn = pictures.build_times(SWEEPS)
    assert drawn.count("\u00d7</text>") == 2
    words = " ".join(re.findall(r'class="note"[^>]*>([^<]*)<', drawn))
    assert "ftree on FT(2;2,2) LMC 0: gave up" in words and "nue on FT(2;2,2) LMC 0: opensm ended with -11" in words
    assert "no time" not in pictures.build_times([row for row in SWEEPS if row.get("build_ms")])


def test_fors_is_measured_as_the_others_are():
    drawn = pictures.build_times(SWEEPS)
    shown = {name: colour for colour, name in LEGEND.findall(drawn)}
    bars = re.findall(r'fill="(#\w{6})"><title>([\d.]+)</title>', drawn)
    assert (shown["fors"], "1") in bars and (shown["fors, callback"], "0.5") in bars
