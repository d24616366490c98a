# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors links: the cables between switches, what is on them, their errors; fors exclude --suggest: lines of fors.conf."""
import json
import re

import pytest

from test_slow import at

SPEC = ("--synthetic", "FT(2;4,3)")

ERRORS = """Errors for 0x{leaf1:x} "Leaf01"
   GUID 0x{leaf1:x} port ALL: [SymbolErrorCounter == 9999] [PortXmitWait == 1]
   GUID 0x{leaf1:x} port 6: [SymbolErrorCounter == 250] [LinkDownedCounter == 3] [PortXmitWait == 4435]
   GUID 0x{leaf1:x} port 7: [PortXmitDiscards == 7000]
         Link info:      2    7[  ] ==( 4X           5.0 Gbps Active/  LinkUp)==>  0x200004    4    2[  ] "Spine02" ( )
Errors for 0x{spine1:x} "Spine01"
   GUID 0x{spine1:x} port 2: [PortRcvErrors == 47] [VL15Dropped == 12 (0.012K)]
   GUID 0x{spine1:x} port 3: [SymbolErrorCounter == 99]
   GUID 0xdeadbeef port 1: [SymbolErrorCounter == 5]

## Summary: 7 nodes checked, 2 bad nodes found
"""


def guid(fors, name):
    text = fors("fabric", *SPEC).out
    return int(re.search(rf'switchguid=0x(\w+).*\n.*# "{name}"', text).group(1), 16)


@pytest.fixture
def errors(fors, write):
    return write("errors", ERRORS.format(leaf1=guid(fors, "Leaf01"), spine1=guid(fors, "Spine01")))


def links(fors, *args):
    return json.loads(fors("links", *args, "--json").out)["links"]


def test_a_cable_from_a_switch_to_itself(fors, write):
    """Once, from its lower port."""
    net = fors("fabric", "--synthetic", "FT(2;2,2;servers=1)").out
    own = "[4]\t\"Leaf00\"[5]\t# 4xSDR\n[5]\t\"Leaf00\"[4]\t# 4xSDR\n"
    net = net.replace('Switch\t3 "Leaf00"', 'Switch\t5 "Leaf00"').replace('\nswitchguid=0x200001', f"{own}\nswitchguid=0x200001")
    out = fors("links", "--fabric", write("net", net)).out
    assert len(re.findall(r"^Leaf00\[4\] - Leaf00\[5\] +live", out, re.M)) == 1 and "Leaf00[5] - " not in out


def test_every_cable_once(fors):
    found = links(fors, *SPEC)
    assert {(one["a"], one["a_port"], one["b"], one["b_port"]) for one in found} == {
        (f"Leaf{leaf:02}", 5 + spine, f"Spine{spine:02}", leaf + 1) for leaf in range(3) for spine in range(4)}
    assert len(found) == 12 and all((one["state"], one["rate"], one["errors"]) == ("live", None, None) for one in found)
    # eight LIDs of other leaves go up over four spines, two over each; one of the leaf's own four comes down from each
    assert all(one["lids"][0] == 2 and one["lids"][1] >= 1 for one in found)
    assert sum(one["lids"][0] for one in found) == 3 * 8 and sum(one["flows"][0] for one in found) == 12 * 8
    assert sum(one["flows"][1] for one in found) == 12 * 8


def test_states_and_rates(fors, write):
    text = at(fors("fabric", *SPEC).out.replace("4xSDR", "4xEDR"), "Leaf01", 6, "1xEDR")
    net = write("net", text)
    found = {(one["a"], one["a_port"]): one for one in links(fors, "--fabric", net, "--down", "Leaf02[8]")}
    assert (found["Leaf01", 6]["state"], found["Leaf01", 6]["rate"]) == ("degraded", "1xEDR")
    dead = found["Leaf02", 8]
    assert (dead["state"], dead["rate"], dead["flows"]) == ("dead", None, [0, 0])
    out = fors("links", "--fabric", net, "--down", "Leaf02[8]").out
    assert re.search(r"^Leaf01\[6\] - Spine01\[2\] +degraded +1xEDR +\d+ / \d+ +\d+ / \d+$", out, re.M)


def test_of_other_tables(fors, tmp_path):
    """Any topology; without tables LIDs and flows are not known; a schedule has to fit the tables."""
    net, lfts, schedule = tmp_path / "net", tmp_path / "lfts", tmp_path / "schedule"
    torus = ("--synthetic", "TORUS(3x3;2)", "--routing", "dor")
    net.write_text(fors("fabric", *torus).out)
    lfts.write_text(fors("fabric", *torus, "--format", "lfts").out)
    assert all(one["lids"] is None and one["flows"] is None for one in links(fors, "--fabric", net))
    found = links(fors, "--fabric", net, "--lfts", lfts)
    assert len(found) == 18 and all(one["flows"] is None and sum(one["lids"]) > 0 for one in found)
    fors("plan", "--fabric", net, "--lfts", lfts, "--output", schedule)
    found = links(fors, "--fabric", net, "--lfts", lfts, "--schedule", schedule)
    # 18 servers to 16 others on the torus' eight other switches, four of which are one hop away and four two
    assert sum(sum(one["flows"]) for one in found) == 18 * (8 * 1 + 8 * 2)
    other = tmp_path / "other"
    fors("plan", *SPEC, "--output", other)
    assert "does not fit the tables" in fors("links", "--fabric", net, "--lfts", lfts, "--schedule", other, code=2).err


def test_errors_worst_first(fors, errors):
    """Both ends together; what is no error of a cable does not count; what comes twice counts as it came last."""
    result = fors("links", *SPEC, "--counters", errors)
    assert "1 port that the fabric does not have" in result.err
    found = links(fors, *SPEC, "--counters", errors)
    assert [(one["a"], one["a_port"], one["errors"]) for one in found[:3]] == [
        ("Leaf01", 6, 300), ("Leaf02", 6, 99), ("Leaf00", 5, None)]
    assert found[0]["errors_at"] == [253, 47] and found[1]["errors_at"] == [None, 99]
    lines = result.out.splitlines()
    assert lines[1].startswith("Leaf01[6] - Spine01[2]") and lines[1].endswith("  300") and lines[3].endswith("  -")


def test_perfquery(fors, write):
    net = write("net", fors("fabric", *SPEC, "--lmc", 0).out)
    lid = re.search(r'# "Spine03" .* port 0 lid (\d+)', net.read_text()).group(1)
    head = f"# Port counters: Lid {lid} port 2 (CapMask: 0x5300)\n"
    text = head + ("PortSelect:......................2\nCounterSelect:...................0x0000\nSymbolErrorCounter:..............123\n"
                   "LinkDownedCounter:...............2\nPortXmitDiscards:................9\nPortXmitData:....................72\n")
    found = links(fors, "--fabric", net, "--counters", write("perf", text + text.replace("port 2", "port 1").replace("123", "0")))
    assert [(one["b"], one["b_port"], one["errors"]) for one in found[:2]] == [("Spine03", 2, 125), ("Spine03", 1, 2)]
    again = links(fors, "--fabric", net, "--counters", write("perf", text + head + "SymbolErrorCounter:..............7\n"))
    assert again[0]["errors"] == 7
    # a heading of another form: whose counters follow is not known, and they are not those of the port before
    other = text + head.replace(f"Lid {lid} ", "DR path slid 0; dlid 0; 0,1 ") + "SymbolErrorCounter:..............7\n"
    result = fors("links", "--fabric", net, "--counters", write("perf", other))
    assert "1 port that the fabric does not have" in result.err
    assert links(fors, "--fabric", net, "--counters", write("perf", other))[0]["errors"] == 125


@pytest.mark.parametrize("text, message", [
    ("", "is empty"),
    ("Hello\n## Thresholds: none\n", "no error counter in it"),
    ("SymbolErrorCounter:....5\n", "errors:1: counters of which port?"),
    ("   GUID 0x20 port x: [SymbolErrorCounter == 5]\n", "errors:1: 'GUID 0x... port N:' is wanted"),
    ("   GUID 0x200000 port 1: [SymbolErrorCounter == x]\n", "errors:1: the value of SymbolErrorCounter is no number"),
    ("   GUID 0x200000 port 1: [SymbolErrorCounter == 99999999999999999999]\n", "is no number"),
])
def test_bad_counters(fors, write, text, message):
    assert message in fors("links", *SPEC, "--counters", write("errors", text), code=2).err


def test_a_healthy_fabric_has_a_summary_alone(fors, write):
    text = "\n## Summary: 360 nodes checked, 0 bad nodes found\n##          720 ports checked, 0 ports have errors beyond threshold\n## Thresholds: \n## Suppressed:\n"
    assert all(one["errors"] is None for one in links(fors, *SPEC, "--counters", write("healthy", text)))


def test_suggested_lines(fors, errors):
    out = fors("exclude", "--suggest", "--counters", errors, *SPEC).out
    assert out == "# 300 errors on the cable to Spine01[2]\nexclude_links = Leaf01[6]\n"
    out = fors("exclude", "--suggest", "--counters", errors, "--threshold", 99, *SPEC).out
    assert re.findall(r"^exclude_links = (.*)", out, re.M) == ["Leaf01[6]", "Leaf02[6]"]
    out = fors("exclude", "--suggest", "--counters", errors, *SPEC, "--down", "Leaf01[6]").out
    assert out == "# no living cable between a leaf and a spine has 100 errors or more\n"


def test_what_is_missing(fors, errors):
    assert "exclude_links in fors.conf" in fors("exclude", *SPEC, code=2).err
    assert "--counters FILE is missing" in fors("exclude", "--suggest", *SPEC, code=2).err
    assert "two or three levels" in fors("exclude", "--suggest", "--counters", errors, "--synthetic", "TORUS(3x3;2)", code=1).err
    assert "--lfts FILE is missing" in fors("links", "--synthetic", "TORUS(3x3;2)", "--schedule", "x", code=2).err


def test_a_threshold_of_none(fors, errors):
    """0 is not what is missing."""
    counters = errors.with_name("few")
    counters.write_text(f"   GUID 0x{guid(fors, 'Leaf01'):x} port 6: [SymbolErrorCounter == 3]\n")
    assert "exclude_links" not in fors("exclude", "--suggest", "--counters", counters, *SPEC).out
    assert "exclude_links = Leaf01[6]" in fors("exclude", "--suggest", "--counters", counters, "--threshold", 0, *SPEC).out


def test_taller_trees_are_no_two_level_ones(fors, write):
    """They have two sides, too, but fors writes no such tables for them, and excludes nothing there."""
    spec = "XGFT(4;2,2,2,2;1,2,2,2)"
    found = links(fors, "--synthetic", spec)
    assert found and all(one["lids"] is None and one["flows"] is None for one in found)
    counters = write("errors", "   GUID 0x200000 port 3: [SymbolErrorCounter == 250]\n")
    result = fors("exclude", "--suggest", "--counters", counters, "--synthetic", spec, code=1)
    assert "two or three levels" in result.err and result.out == ""


def test_three_levels(fors, write, tmp_path):
    """As over the same tables from a file; each living cable of either stage can be excluded."""
    spec = ("--synthetic", "XGFT(3;2,2,2;1,2,2)")
    (tmp_path / "lfts").write_text(fors("fabric", *spec, "--format", "lfts").out)
    found = links(fors, *spec)
    assert [one["lids"] for one in found] == [one["lids"] for one in links(fors, *spec, "--lfts", tmp_path / "lfts")]
    assert len(found) == 16 and all(any(one["lids"]) for one in found)
    dead = links(fors, *spec, "--down", "Leaf00[3]")
    assert [one["state"] for one in dead].count("dead") == 1 and dead[0]["lids"][0] == 0
    top = next(one for one in found if one["a"].startswith("Mid") and one["b"].startswith("Spine"))
    text = fors("fabric", *spec).out
    mid = int(re.search(rf'switchguid=0x(\w+).*\n.*# "{top["a"]}"', text).group(1), 16)
    counters = write("errors", f"   GUID 0x200000 port 3: [SymbolErrorCounter == 250]\n   GUID 0x{mid:x} port {top['a_port']}: [SymbolErrorCounter == 120]\n")
    lines = re.findall("^exclude_links = (.*)", fors("exclude", "--suggest", "--counters", counters, *spec).out, re.M)
    assert lines == ["Leaf00[3]", f"{top['a']}[{top['a_port']}]"]
    out = fors("exclude", "--suggest", "--counters", counters, *spec, "--down", "Leaf00[3]").out
    assert "Leaf00[3]" not in out and top["a"] in out


def test_names_that_two_nodes_have(fors, write):
    """The line names a switch by its GUID then, as exclude_links takes it."""
    text = fors("fabric", *SPEC).out
    one = guid(fors, "Leaf01")
    net = write("net", re.sub('# "Leaf0[12]"', '# "Leaf"', text))
    counters = write("errors", f"   GUID 0x{one:x} port 6: [SymbolErrorCounter == 250]\n")
    out = fors("exclude", "--suggest", "--counters", counters, "--fabric", net).out
    assert f"exclude_links = 0x{one:016x}[6]\n" in out
