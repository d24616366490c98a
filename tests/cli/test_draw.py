# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors fabric --format svg|dot: every cable once, in the state that it has; --output's ending decides."""
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree
from collections import Counter

import pytest

SVG = "{http://www.w3.org/2000/svg}"
NIGHT = {"SOURCE_DATE_EPOCH": "1795312800"}


def svg(fors, *source):
    return xml.etree.ElementTree.fromstring(fors("fabric", *source, "--format", "svg", env=NIGHT).out)


def cables(root):
    """[(state, what the mouse shows)] without the legend, whose lines show nothing."""
    return [(line.get("class"), line.find(f"{SVG}title").text) for line in root.iter(f"{SVG}line") if line.get("class")]


def texts(root):
    return [text.text for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("spec, switches, ncables", [("FT(2;4,5)", 9, 20), ("FT(2;3,5;servers=4;cables=2)", 8, 30),
                                                    ("XGFT(3;3,4,3;1,3,4)", 33, 72), ("XGFT(1;4;1)", 1, 0), ("FT(2;20,18)", 38, 360)])
def test_every_cable_and_switch_once(fors, spec, switches, ncables):
    root = svg(fors, "--synthetic", spec)
    assert len(list(root.iter(f"{SVG}rect"))) == switches + 1
    shown = [words.split(",")[0] for _, words in cables(root)]
    assert len(shown) == len(set(shown)) == ncables


def test_dead_cables(fors):
    found = cables(svg(fors, "--synthetic", "FT(2;4,5)", "--down", "Leaf00[5]", "--down", "Spine03"))
    assert Counter(state for state, _ in found) == {"live": 14, "dead": 6}
    assert ("dead", "Leaf00[5] - Spine00[1], dead") in found
    assert all(state == "live" for state, words in found if "Spine03" not in words and "Leaf00[5]" not in words)


def test_loads_are_what_the_tables_say(fors):
    """Of 20 hosts 16 are behind other leaves, balanced over four uplinks; each spine sends four LIDs down to each leaf."""
    assert all(words.endswith(", 4 LIDs up, 4 down") for _, words in cables(svg(fors, "--synthetic", "FT(2;4,5)")))


def test_switches_of_dot_are_boxes(fors):
    out = fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "dot").out
    assert out.startswith("graph fabric {\n\tlabel=") and "\tnode [shape=box, style=rounded];\n" in out


def test_state_of_a_running_fabric(fors, tmp_path):
    plan = json.loads(fors("plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf01[6]", "--json").out)
    link = {"a": "Leaf02", "a_port": 7, "b": "Spine02", "b_port": 3, "used": False, "since_ms": None}
    plan.update(state="active", excluded_links=[link], degraded_links=[{**link, "a_port": 8, "b": "Spine03", "used": True}],
                held_links=[{**link, "a": "Leaf03", "b_port": 4}])
    (tmp_path / "status.json").write_text(json.dumps(plan))
    root = svg(fors, "--synthetic", "FT(2;4,4)", "--state", tmp_path)
    states = {words.split(",")[0]: state for state, words in cables(root) if state != "live"}
    assert states == {"Leaf01[6] - Spine01[2]": "dead", "Leaf02[7] - Spine02[3]": "drained", "Leaf02[8] - Spine03[3]": "degraded",
                      "Leaf03[7] - Spine02[4]": "drained"}
    assert {"12 live", "1 degraded", "2 drained", "1 dead"} <= set(texts(root))
    assert "--state is for pictures" in fors("fabric", "--synthetic", "FT(2;4,4)", "--state", tmp_path, code=2).err
    assert "status.json" in fors("fabric", "--synthetic", "FT(2;4,4)", "--state", tmp_path / "none", "--format", "svg", code=2).err


def test_input_and_date(fors):
    shown = texts(svg(fors, "--synthetic", "FT(2;2,2)"))
    assert shown[0] == "FT(2;2,2)" and "2026-11-22 02:00 UTC" in shown[-1]


def test_names_are_escaped(fors, write):
    net = 'Switch 2 "S-1" # "a<b>&c\\"\n[1] "H-1"[1]\n[2] "S-2"[2]\n\nSwitch 2 "S-2" # "\xe9\\n"\n[2] "S-1"[2]\n\nHca 1 "H-1" # "h"\n[1] "S-1"[1]\n'
    path = write('a<b>&"c".net', net.encode("latin-1"))
    shown = texts(svg(fors, "--fabric", path))
    assert "a?b?&c?" in shown and shown[0].endswith('a<b>&"c".net') and "??n" in shown


def test_dot(fors):
    out = fors("fabric", "--synthetic", "XGFT(3;3,4,3;1,3,4)", "--down", "Leaf00[4]", "--format", "dot", env=NIGHT).out
    assert len(re.findall(r"^\t\"\w+\" -- \"\w+\"", out, re.M)) == 72 and out.count("style=dashed") == 1
    assert out.count("rank=same") == 3
    if shutil.which("dot"):
        drawn = subprocess.run(["dot", "-Tsvg"], input=out, capture_output=True, text=True)
        assert drawn.returncode == 0 and drawn.stderr == ""


@pytest.mark.parametrize("ending, start", [("svg", "<svg"), ("dot", "graph"), ("gv", "graph"), ("json", "{"), ("lfts", "Unicast"),
                                           ("conf", "# Made by"), ("yaml", "# Made by"), ("net", "# Written"), ("other", "# Written")])
def test_the_ending_decides(fors, tmp_path, ending, start):
    path = tmp_path / f"fabric.{ending}"
    assert fors("fabric", "--synthetic", "FT(2;2,2)", "--lmc", "1", "--output", path).out == ""
    assert path.read_text().startswith(start)
    fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "dot", "--output", path)
    assert path.read_text().startswith("graph")


@pytest.mark.parametrize("ending", ["png", "pdf", "PNG"])
def test_pictures_of_others_are_not_filled_with_text(fors, tmp_path, ending):
    path = tmp_path / f"fabric.{ending}"
    assert f"dot -T{ending}" in fors("fabric", "--synthetic", "FT(2;2,2)", "--output", path, code=2).err and not path.exists()
    fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "svg", "--output", path)


def test_nothing_to_draw(fors, write):
    path = write("net", 'Hca 1 "H-1" # "h"\n')
    assert "no switch to draw" in fors("fabric", "--fabric", path, "--format", "svg", code=2).err


def test_jobs_in_colours(fors, write, tmp_path):
    """Each cable that a job owns has the colour of that job and no other; what is dead or nobody's stays as it was."""
    jobs = write("jobs", "one [exclusive]: Node00-00, Node00-01, Node01-00\ntwo [exclusive]: Node01-01, Node02-00\nrest: Node00-02, Node03-00\n")
    args = ("jobs", "--synthetic", "FT(2;4,4)", "--lmc", 2, "--jobs", jobs, "--down", "Leaf03[5]")
    owned = {job["name"]: job["owned"] for job in json.loads(fors(*args, "--json", "--svg", tmp_path / "svg", env=NIGHT).out)["jobs"]}
    root = xml.etree.ElementTree.fromstring((tmp_path / "svg").read_text())
    found, colours = Counter(), {}
    for line in root.iter(f"{SVG}line"):
        words = line.find(f"{SVG}title")
        if words is None:
            continue
        leaf, _, job = words.text.partition(", job ")
        if job:
            found[job, leaf.split("[")[0]] += 1
            assert colours.setdefault(job, line.get("stroke")) == line.get("stroke")
        else:
            assert line.get("stroke") == ("#b2182b" if line.get("class") == "dead" else "#59636e")
    assert found == {(job, leaf): len(lanes) for job, leaves in owned.items() for leaf, lanes in leaves.items()} and len(found) >= 4
    assert len(set(colours.values())) == 2 and colours.keys() == {"one", "two"}
    assert "/nowhere" in fors(*args, "--svg", "/nowhere/x", code=2).err
    for more in (["--replay", "x", "--output-dir", "y"], ["--slurm", "--output", "x"]):
        assert "--svg" in fors("jobs", "--synthetic", "FT(2;4,4)", "--svg", tmp_path / "z", *more, code=2).err


@pytest.mark.parametrize("spec, down, dead", [
    ("FT(2;4,4)", ["Leaf01[6]"], {"Leaf01[6] - Spine01[2]"}),
    ("XGFT(3;4,4,4;1,4,4)", ["Mid2-00[5]", "Leaf03[6]"], {"Mid2-00[5] - Spine00[1]", "Leaf03[6] - Mid2-01[4]"}),
    ("FT(2;4,4)", ["Leaf03"], {f"Leaf03[{5 + spine}] - Spine0{spine}[4]" for spine in range(4)}),
    ("FT(2;4,4)", ["Spine02"], {f"Leaf0{leaf}[7] - Spine02[{leaf + 1}]" for leaf in range(4)}),
])
def test_dead_cables_that_the_text_lacks(fors, write, tmp_path, spec, down, dead):
    """The text was taken after they died, without what is gone: the state knows them, and the picture is that of the whole fabric."""
    args = [word for one in down for word in ("--down", one)]
    (tmp_path / "status.json").write_text(fors("plan", "--synthetic", spec, *args, "--json").out)
    text = fors("fabric", "--synthetic", spec, *args).out
    blocks = [block for block in text.split("\n\n") if not any(re.search(rf'^Switch\t\d+ "{one}"', block, re.M) for one in down)]
    net = write("net", "\n\n".join(block for block in blocks if "Hca" not in block or "Leaf03" not in down or "Node03" not in block))
    found = cables(svg(fors, "--fabric", net, "--state", tmp_path))
    whole = cables(svg(fors, "--synthetic", spec))
    assert {words.split(",")[0] for state, words in found if state == "dead"} == dead
    assert {words.split(",")[0] for _, words in found} == {words.split(",")[0] for _, words in whole}
    assert not any(state == "dead" for state, _ in cables(svg(fors, "--fabric", net)))
