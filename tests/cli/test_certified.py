# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tests/sweep/certified.py: bounds that are none above a plan, certificates that prove them, and others that do not."""
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sweep"))

import certified  # noqa: E402
from conftest import FORS, run  # noqa: E402


def text_of(fors, spec):
    return fors("fabric", "--synthetic", spec).out


def cut(leaf, ports):
    return [f"Leaf{leaf:02d}[{port}]" for port in ports]


def cables_up(text):
    """The leaves' ends of their cables up."""
    node = None
    for line in text.splitlines():
        if line.startswith(("Switch", "Ca")):
            node = line.split('"')[1]
        elif line.startswith("[") and node.startswith("Leaf") and not line.split('"')[1].startswith("Node"):
            yield f"{node}{line.split(']')[0]}]"


def test_prices_prove_more_than_cables_of_leaves(fors):
    """Pairs of leaves with a single spine in common, and they share it: doc/planners.md has LB = 25 and LP = 38."""
    down = cut(0, (9, 10)) + cut(1, (8, 10)) + cut(2, (7, 8)) + cut(3, (6, 9))
    net = certified.Net(text_of(fors, "FT(2;5,4)"), down)
    found = certified.certify(net, False)
    assert found["bound"] == 38 and certified.check(net, found, False) is None
    assert certified.check(net, {**found, "bound": 39}, False) == "39 claimed, 38 proven"


def test_what_proves_nothing(fors):
    net = certified.Net(text_of(fors, "FT(2;4,4)"))
    assert certified.certify(net, True) == {"bound": 16, "by": "port"}
    assert certified.check(net, {"bound": 17, "by": "port"}, True)
    assert "one LID" in certified.check(net, {"bound": 16, "by": "lump", "switch": "Leaf00"}, False)
    assert "below 0" in certified.check(net, {"bound": 1, "by": "prices", "prices": [["Leaf00", "Spine00", -1]]}, True)
    assert "does not live" in certified.check(net, {"bound": 1, "by": "prices", "prices": [["Leaf00", "Spine09", 1]]}, True)


def test_a_last_switch(fors):
    """One spine of two dead: 49 servers come to 7 over 4 cables, 2 servers share one."""
    net = certified.Net(text_of(fors, "FT(2;2,8;cables=4;servers=7)"), ["Spine01"])
    found = certified.certify(net, True)
    assert (found["bound"], found["by"]) == (98, "last") and certified.check(net, found, True) is None
    assert certified.check(net, {**found, "bound": 99}, True)


def test_no_plan_is_below(fors, tmp_path):
    draw = random.Random(34)
    for spec in ("FT(2;4,6)", "FT(2;3,5;cables=2;servers=5)", "XGFT(3;3,3,4;1,3,3)"):
        for lmc in ("0", "2"):
            text = text_of(fors, spec)
            (tmp_path / "net").write_text(text)
            down = draw.sample(sorted(cables_up(text)), 4)
            done = run(FORS, "plan", "--fabric", tmp_path / "net", "--lmc", lmc, "--json", *(w for one in down for w in ("--down", one)))
            net = certified.Net(text, down)
            found = certified.certify(net, lmc == "0")
            assert certified.check(net, found, lmc == "0") is None
            status = json.loads(done.out)
            assert max(status["servers"], status["lower_bound"]) <= found["bound"] <= status["phases"]


def test_the_bound_of_tables(fors, tmp_path):
    """What fors says of its own tables follows from net and tables alone: the fullest link. A cable that carries nothing proves nothing."""
    for spec, down in (("FT(2;4,6)", cut(0, (6,))), ("XGFT(3;3,3,4;1,3,3)", cut(1, (5,))), ("FT(2;3,5;cables=2;servers=5)", ())):
        text = fors("fabric", "--synthetic", spec, "--lmc", "0").out
        (tmp_path / "net").write_text(text)
        words = [w for one in down for w in ("--down", one)]
        tables = certified.Tables(text, fors("fabric", "--fabric", tmp_path / "net", *words, "--format", "lfts").out, down)
        status = json.loads(fors("plan", "--fabric", tmp_path / "net", *words, "--json").out)
        found = tables.certify()
        assert max(found["bound"], status["lower_bound"]) == status["tables_bound"] and tables.check(found) is None
        assert tables.check({**found, "bound": found["bound"] + 1}) == f"{found['bound'] + 1} claimed, {found['bound']} proven"
        assert tables.check({"bound": 1, "by": "link", "link": ["Leaf00", 99]}) == "1 claimed, 0 proven"


def test_the_bound_of_tables_with_several_lids(fors):
    """A price on each of a leaf's cables up: its 4 x 16 flows cross one of 4, whichever of their LIDs they take."""
    text = fors("fabric", "--synthetic", "FT(2;4,5)", "--lmc", "2").out
    tables = certified.Tables(text, fors("fabric", "--synthetic", "FT(2;4,5)", "--lmc", "2", "--format", "lfts").out)
    ways = {"by": "ways", "prices": [["Leaf00", port, 1] for port in (5, 6, 7, 8)]}
    assert tables.certify() == {"bound": 20, "by": "port"}
    assert tables.check({**ways, "bound": 16}) is None
    assert tables.check({**ways, "bound": 17}) == "17 claimed, 16 proven"
    assert tables.check({"bound": 1, "by": "ways", "prices": [["Leaf00", 6, -1]]}) == "a price below 0"
