# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages and pictures say when, by which command and of what they were made; and the same command makes the same bytes."""
import html
import json
import re
import shlex
import xml.etree.ElementTree

import pytest

from conftest import needs_short, short_of_memory

NIGHT = {"SOURCE_DATE_EPOCH": "1795312800"}
SVG = "{http://www.w3.org/2000/svg}"
COMMANDS = {"analyze": ["--routing", "fors", "--pattern", "linear-shift", "--html"], "simulate": ["--routing", "fors", "--pattern", "shift", "--html"],
            "whatif": ["--threads", "1", "--html"],
            "fabric": ["--format", "svg", "--output"]}


def made(path):
    """{"date", "command", "input"} of a page or picture, as a reader of the file finds it."""
    text = path.read_text()
    if text.startswith("<svg"):
        root = xml.etree.ElementTree.fromstring(text)
        words = [node.text for node in root.iter(f"{SVG}text")]
        return {"date": words[-1].partition(";")[0], "command": root.find(f"{SVG}desc").text, "input": words[0]}
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])["made"]


@pytest.mark.parametrize("command", COMMANDS)
def test_when_by_what_of_what(fors, tmp_path, command):
    path = tmp_path / "made"
    arguments = [command, "--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", *COMMANDS[command], path]
    fors(*arguments, env=NIGHT)
    first = path.read_bytes()
    found = made(path)
    assert found == {"date": "2026-11-22 02:00 UTC", "command": found["command"], "input": "FT(2;4,4)"}
    assert shlex.split(found["command"]) == ["fors", *map(str, arguments)]
    fors(*arguments, env=NIGHT)
    assert path.read_bytes() == first


@pytest.mark.parametrize("command", COMMANDS)
def test_from_standard_input(fors, tmp_path, command):
    net = fors("fabric", "--synthetic", "FT(2;4,4)").out
    fors(command, "--fabric", "-", *COMMANDS[command], tmp_path / "made", stdin=net.encode())
    assert made(tmp_path / "made")["input"] == "standard input"


def test_words_as_a_shell_takes_them(fors, tmp_path):
    path = tmp_path / "it's <b>&.html"
    fors("analyze", "--synthetic=FT(2;2,2)", "--routing", "fors", "--pattern", "linear-shift", "--html", path)
    found = made(path)
    assert shlex.split(found["command"])[-1] == str(path) and "'--synthetic=FT(2;2,2)'" in found["command"]
    assert "<b>" not in path.read_text().split('id="data">')[1].split("</script>")[0]


@pytest.mark.parametrize("epoch", ["", "soon", "1795312800x", "9" * 40])
def test_a_date_that_is_none_is_ignored(fors, tmp_path, epoch):
    fors("fabric", "--synthetic", "FT(2;2,2)", "--output", tmp_path / "a.svg", env={"SOURCE_DATE_EPOCH": epoch})
    assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", made(tmp_path / "a.svg")["date"])


def test_a_long_command_is_cut_in_the_picture_only(fors, tmp_path):
    net = tmp_path / ("n" * 200)
    net.write_text(fors("fabric", "--synthetic", "FT(2;2,2)").out)
    fors("fabric", "--fabric", net, "--output", tmp_path / "a.svg")
    words = [node.text for node in xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot().iter(f"{SVG}text")]
    assert words[-2].startswith("fors fabric") and words[-2].endswith("...") and len(words[-2]) < 110
    assert made(tmp_path / "a.svg")["command"] == f"fors fabric --fabric {net} --output {tmp_path / 'a.svg'}"


def test_dot_says_it_too(fors):
    out = fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "dot", env=NIGHT).out
    assert html.unescape(re.search(r'label="(.*?)";', out)[1]) == (
        "FT(2;2,2), 2026-11-22 02:00 UTC\\nfors fabric --synthetic 'FT(2;2,2)' --format dot")


@needs_short
@pytest.mark.parametrize("command", [["fabric", "--synthetic", "FT(2;1,2;servers=1)", "--format", "svg"], ["diff", "FT(2;2,2)", "FT(2;1,2;servers=2)", "--json"],
                                     ["simulate", "--synthetic", "FT(2;1,2;servers=1)", "--routing", "fors", "--pattern", "shift", "--json", "--html"],
                                     ["analyze", "--synthetic", "FT(2;1,2;servers=1)", "--routing", "fors", "--pattern", "shift", "--json", "--html"]],
                         ids=lambda command: command[0])
def test_nothing_is_left_out_in_silence(tmp_path, monkeypatch, command):
    """Without memory for something there is an error, or all of it all the same: no JSON without a member, no page without its foot."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795312800")
    path = tmp_path / "page.html"
    arguments = [*command, path] if command[-1] == "--html" else command
    code, wanted, _, _ = short_of_memory(0, *arguments)
    page, at, reached = path.read_text() if path.exists() else "", 1, True
    while reached:
        path.unlink(missing_ok=True)
        found, out, err, reached = short_of_memory(at, *arguments)
        if found == code:
            assert out == wanted and (not page or path.read_text() == page), at
        else:
            assert found == 2 and err.startswith(f"fors {command[0]}: "), (at, found, err)
        at += 3
    assert at > 50
