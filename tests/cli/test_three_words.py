# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A tree of three levels has leaves, middle switches and tops: no page that people read calls one of them a spine. Names of the
fabric may (Spine00); they have a capital letter and a number."""
import json
import re

import pytest

from conftest import FORS, run

SPEC = "XGFT(3;4,3,3;1,4,4)"
DOWN = {
    "nothing": [], "leaf cable": ["Leaf04[6]"], "cable to a top": ["Mid2-00[5]"], "leaf": ["Leaf01"], "middle switch": ["Mid2-00"],
    "top": ["Spine00"], "server": ["Node01-00"], "uplinks of a leaf": ["Leaf00[5]", "Leaf00[6]", "Leaf00[7]", "Leaf00[8]"],
    "no way": ["Leaf00[5]", "Leaf00[6]", "Leaf03[7]", "Leaf03[8]"],
}


def assert_no_spine(*pages):
    for page in pages:
        assert not re.search(r"\b[sS]pines?\b", page), page


@pytest.fixture
def fors_any():
    """fors_any(args...): the answer may be no."""

    def call(*args):
        result = run(FORS, *args)
        assert result.code in (0, 1), (args, result.err)
        return result

    return call


def downs(key):
    return [word for name in DOWN[key] for word in ("--down", name)]


@pytest.mark.parametrize("lmc", [0, 2])
@pytest.mark.parametrize("key", DOWN)
def test_plan_and_status(fors_any, write, tmp_path, key, lmc):
    source = ("--synthetic", SPEC, *downs(key), "--lmc", lmc)
    plan, data = fors_any("plan", *source), fors_any("plan", *source, "--json", "--output", tmp_path / "schedule")
    assert_no_spine(plan.out, plan.err)
    assert plan.out.startswith(("tree        three levels", "plan        none"))
    whole, net = write("whole", fors_any("fabric", "--synthetic", SPEC).out), write("net", fors_any("fabric", "--synthetic", SPEC, *downs(key)).out)
    for page in (fors_any("plan", "--fabric", net), fors_any("plan", "--fabric", net, "--reference", whole), fors_any("diff", whole, net)):
        assert page.out and page.code in (0, 1)
        assert_no_spine(page.out, page.err)
    if plan.code == 0:
        (tmp_path / "status.json").write_text(data.out)
        assert json.loads(data.out)["tops"] == 16
        status = fors_any("status", tmp_path)
        assert "three levels: 9 leaves in 3 pods" in status.out
        assert_no_spine(status.out, fors_any("schedule", tmp_path / "schedule").out)


@pytest.mark.parametrize("more, words", [
    ({"unreachable_pairs": 2}, "2 pairs of leaves have no way to each other"), ({"guests": 1, "ca_ports": 37}, "1 guest on middle switches and tops"),
    ({"dead_switches": [{"switch": "Mid2-00", "level": "middle", "cables": 7, "servers": 0}],
      "dead_links": [{"a": "Leaf00", "a_port": 5, "b": "Mid2-00", "b_port": 1}], "dead_since_ms": [None]}, "1 switch\n              Mid2-00 (middle switch), all 7 cables"),
])
def test_status_of_what_is_rare(fors_any, tmp_path, more, words):
    status = json.loads(fors_any("plan", "--synthetic", SPEC, "--json").out)
    (tmp_path / "status.json").write_text(json.dumps({**status, **more}))
    out = fors_any("status", tmp_path).out
    assert words in out
    assert_no_spine(out)


@pytest.mark.parametrize("key", ["nothing", "leaf cable", "top"])
def test_whatif_and_links(fors_any, key):
    for page in (fors_any("whatif", "--synthetic", SPEC, *downs(key)), fors_any("links", "--synthetic", SPEC, *downs(key))):
        assert page.code in (0, 1) and "Leaf0" in page.out
        assert_no_spine(page.out, page.err)
