# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""tests/sweep/certified.py: bounds that are none above a plan, certificates that prove them, and others that do not."""
import json
import random
import sys
from pathlib import Path

import pytest

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


def test_a_neck(fors):
    """The only top has 5 cables to the middle switch of a pod of 6 servers: two share one, 12 others send to each."""
    spec = "PGFT(3;3,2,3;1,1,1;1,3,5)"
    net = certified.Net(text_of(fors, spec))
    found = certified.certify(net, True)
    assert (found["bound"], found["by"]) == (24, "neck") and certified.check(net, found, True) is None
    assert certified.check(net, {**found, "bound": 25}, True) == "25 claimed, 24 proven"
    assert "one LID" in certified.check(net, found, False)
    assert json.loads(fors("plan", "--synthetic", spec, "--lmc", "0", "--json").out)["phases"] >= 24
    assert certified.neck(net, found["above"], found["above"]) == 0


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


TREES = [("FT(2;4,6)", ["Leaf00[6]"]), ("FT(2;4,6)", []), ("FT(2;4,6)", ["Leaf00[6]", "Leaf01[7]", "Leaf02[7]", "Leaf02[8]"]), ("FT(2;5,4)", ["Spine02"]),
         ("FT(2;2,8;cables=4;servers=7)", ["Spine01"]), ("FT(2;3,5;cables=2;servers=5)", ["Leaf01[6]"]), ("XGFT(3;3,3,4;1,3,3)", ["Leaf01[5]"]),
         ("XGFT(3;4,4,4;1,4,2)", []), ("XGFT(3;4,4,4;1,2,2)", ["Mid2-01[5]"]), ("XGFT(3;4,4,4;1,4,4)", ["Mid2-00[5]", "Mid2-00[6]", "Mid2-01[5]", "Mid2-01[7]"]),
         ("XGFT(3;4,4,2;1,1,4)", ["Mid2-00[5]", "Mid2-00[6]", "Mid2-01[7]"]), ("PGFT(3;4,4,4;1,2,4;1,2,2)", ["Mid2-00"]),
         ("XGFT(3;3,3,4;1,3,2)", ["Spine00"])]


@pytest.fixture
def planned(fors, tmp_path):
    """planned(spec, dead, LMC): what plan --json says; the same as certified.py reads: net, tables."""
    def call(spec, dead, lmc):
        text = fors("fabric", "--synthetic", spec, "--lmc", lmc).out
        (tmp_path / "net").write_text(text)
        words = [word for one in dead for word in ("--down", one)]
        said = json.loads(fors("plan", "--fabric", tmp_path / "net", *words, "--json").out)
        lfts = fors("fabric", "--fabric", tmp_path / "net", *words, "--format", "lfts").out
        return said, certified.Net(text, dead), certified.Tables(text, lfts, dead)
    return call


@pytest.mark.parametrize("lmc", ["0", "2"])
def test_the_command_says_why(planned, lmc):
    """Each bound of plan --json follows from net and tables alone, by the argument that stands beside it, and no more does: one phase more is refused."""
    seen = set()
    for spec, dead in TREES:
        said, net, tables = planned(spec, dead, lmc)
        lines, faults = certified.check_plan(net, tables, said, lmc == "0")
        assert faults == 0 and len(lines) == sum(said[name] is not None for name in said["certificates"]), (spec, lines)
        for name, one in said["certificates"].items():
            if one is None:
                continue
            seen.add(one["by"])
            more = {**said, name: one["bound"] + 1, "certificates": {name: {**one, "bound": one["bound"] + 1}}}
            assert certified.check_plan(net, tables, more, lmc == "0")[1] == 1, (spec, dead, one)
    assert seen >= ({"port", "cut", "lump", "last", "link"} if lmc == "0" else {"port", "cut"})


def test_wrong_certificates_of_a_plan(planned):
    said, net, tables = planned("XGFT(3;3,3,4;1,3,3)", ["Leaf01[5]"], "0")
    cut = said["certificates"]["lower_bound"]

    def judge(**changes):
        lines, faults = certified.check_plan(net, tables, {**said, **changes}, True)
        return faults and " ".join(lines)
    assert not judge() and cut["by"] == "cut" and len(cut["links"]) == 2
    assert "no certificate" in judge(certificates={"lower_bound": None})
    assert "does not live" in judge(certificates={"lower_bound": {**cut, "links": [*cut["links"], ["Leaf01", 5]]}})
    assert "claimed" in judge(certificates={"lower_bound": {**cut, "links": [*cut["links"], ["Leaf02", 4]]}})
    assert "claimed" in judge(certificates={"lower_bound": {**cut, "links": []}})
    assert "the certificate is of 50" in judge(lower_bound=49)
    assert "no argument for all tables" in judge(certificates={"lower_bound": {"bound": said["lower_bound"], "by": "lump", "switch": "Leaf01"}})
    assert "no argument is called" in certified.check(net, {**cut, "by": "guess"}, True)


def test_why_tables_of_another_engine_are_bounded(fors, unpacked, tmp_path):
    """A torus has ways neither up nor down; its fullest link, and its servers."""
    engines = unpacked("engines")
    for lfts in sorted(engines.glob("*minhop*.lfts")):
        net = lfts.with_name(lfts.name.split(".")[0] + ".net")
        (tmp_path / "said").write_text(fors("plan", "--fabric", net, "--lfts", lfts, "--json").out)
        done = run(sys.executable, certified.__file__, net, "--lfts", lfts, "--one-lid", "--plan", tmp_path / "said")
        assert done.code == 0 and done.out.count("proven") == 2, done.out
        said = json.loads((tmp_path / "said").read_text())
        said["certificates"]["tables_bound"]["bound"] += 1
        (tmp_path / "said").write_text(json.dumps(said))
        done = run(sys.executable, certified.__file__, net, "--lfts", lfts, "--one-lid", "--plan", tmp_path / "said")
        assert done.code == 1 and "the certificate is of" in done.out
