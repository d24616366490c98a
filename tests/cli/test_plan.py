# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors plan: numbers, exit codes, participants, the schedule file, what a terminal sees."""
import json
import os
import pty
import random
import re
import stat
import sys

import pytest

from conftest import FORS, SRC, run

KEYS = ["epoch", "state", "reason", "servers", "leaves", "spines", "f", "affected_spines", "capacity", "phases",
        "lower_bound", "lump_bound", "tables_bound", "length", "slow_phases", "full_speed_mbits", "cable_flows", "cable_flows_most", "fast_bound", "degraded_choice", "ignored_length", "drained_length", "slow_servers", "lost_servers", "dead_switches", "flapping_links", "method", "tables_by", "plan_ms", "tables_ms", "unreachable_pairs", "partitioned_pairs", "dead_links", "lmc", "lmc_needed", "certificates",
        "check_ms", "ca_ports", "not_participants", "guests", "failover", "demand", "demand_phases", "demand_epoch", "demand_over_bound", "demand_reason", "pods", "mids", "tops", "left_out", "not_hosts", "phases_alone", "dead_since_ms", "degraded_links", "excluded_links", "held_links", "held_until_ms", "state_since_ms", "known_until_ms", "repairs", "jobs", "remarks"]

OF_THREE = ["switches", "length_bound", "fullest_link", "fullest_flows", "longest_way", "flows", "verify_ms"]  # beside these


def plan(fors, *args, code=0):
    status = json.loads(fors("plan", "--json", *args, code=code).out)
    assert sorted(status) == sorted(KEYS)
    return status


def test_healthy(fors):
    status = plan(fors, "--synthetic", "FT(2;4,4)")
    assert status["state"] == "active"
    assert (status["servers"], status["leaves"], status["spines"]) == (16, 4, 4)
    assert (status["f"], status["affected_spines"], status["capacity"]) == (0, 0, 4)
    assert (status["phases"], status["lower_bound"]) == (16, 16)
    assert status["dead_links"] == [] and status["unreachable_pairs"] == 0
    assert status["lmc"] == 0 and status["lmc_needed"] is None
    assert status["epoch"] is None and status["reason"] is None
    assert status["plan_ms"] >= 0 and status["tables_ms"] >= 0


def test_trees_of_three_levels(fors):
    spec = ("--synthetic", "XGFT(3;4,4,4;1,4,4)")
    for down, phases in ((), 64), (("Mid2-06[7]",), 64), (("Spine10",), 64), (("Leaf05[6]",), 80), (("Mid2-09",), 80):
        status = json.loads(fors("plan", *spec, *[word for name in down for word in ("--down", name)], "--json").out)
        assert (status["state"], status["servers"], status["lower_bound"], status["phases"]) == ("active", 64, phases, phases)
        assert set(status) == {*KEYS, *OF_THREE} and status["spines"] is None and (status["mids"], status["tops"]) == (16, 16)
        assert len(status["dead_links"]) == {"": 0, "[": 1, "S": 4, "M": 8}["[" if down and "[" in down[0] else down[0][0] if down else ""]
    text = fors("plan", *spec, "--down", "Spine10", "--down", "Leaf05[6]").out
    assert re.search(r"^dead +1 switch and 1 cable$", text, re.M) and "Spine10" in text and "Leaf05[6] - " in text
    assert "three levels: 16 leaves in 4 pods, 16 middle switches in 4 planes, 16 tops" in fors("plan", *spec).out


def test_methods_of_three_levels(fors):
    """Rounds, or single flows where these are asked for; methods that there are none of are refused, not passed over."""
    spec = ("--synthetic", "XGFT(3;2,2,2;1,2,2)")
    made = {name: json.loads(fors("plan", *spec, "--method", name, "--json").out) for name in ("auto", "flows")}
    assert made["auto"]["method"] == "rounds" and made["flows"]["method"] == "flows"
    assert "method exact is for two-level fat-trees" in fors("plan", *spec, "--method", "exact", code=1).err
    for pattern, name in (("plan", "auto"), ("plan(flows)", "flows")):
        assert json.loads(fors("analyze", *spec, "--routing", "fors", "--pattern", pattern, "--json").out)["phases"] == made[name]["phases"]


@pytest.mark.parametrize("spec,down,servers,phases", [("XGFT(3;1,2,2;1,1,2)", ["Leaf01[1]"], 3, 3), ("XGFT(3;1,2,3;1,2,2)", ["Leaf00[1]", "Leaf03[1]"], 4, 4),
                                                      ("XGFT(3;4,4,4;1,4,4)", ["Leaf01"], 60, 61)])
def test_hosts_that_are_gone_from_three_levels_leave_no_empty_phase(fors, spec, down, servers, phases):
    """The tables come with rounds, one for each host that there was."""
    data = json.loads(fors("plan", "--synthetic", spec, *(word for what in down for word in ("--down", what)), "--json").out)
    assert data["servers"] == servers and servers <= data["phases"] <= phases


def test_tables_of_three_levels_are_what_a_plan_is_made_over(fors, tmp_path):
    spec = ("--synthetic", "XGFT(3;3,3,4;1,3,3)", "--down", "Leaf05[5]")
    net, tables = tmp_path / "net", tmp_path / "tables"
    for path, kind in (net, "net"), (tables, "lfts"):
        fors("fabric", *spec, "--format", kind, "--output", str(path))
    assert json.loads(fors("plan", "--fabric", str(net), "--lfts", str(tables), "--json").out)["state"] == "active"


def test_participants_in_one_pod_make_no_two_levels(fors, tmp_path):
    """Their leaves have spines in common, the tree still has three levels: the plan is over the tables of these."""
    text = fors("fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)").out
    net, them, schedule = tmp_path / "net", tmp_path / "them", tmp_path / "schedule"
    net.write_text(text)
    them.write_text("".join(f"0x{one}\n" for one in sorted(set(re.findall(r'"Node0[01]-..."?\[1\]\((\w+)\)', text)))))
    assert len(them.read_text().split()) == 4
    out = fors("plan", "--fabric", net, "--participants", them, "--output", schedule).out
    assert "three levels" in out and "4 servers" in out
    for kind in "net", "lfts":
        fors("fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--format", kind, "--output", tmp_path / kind)
    fors("verify", "--fabric", tmp_path / "net", "--lfts", tmp_path / "lfts", "--schedule", schedule)


def with_guest(text, switch, guid):
    """The text of a fabric with one host more, on a free port of a switch."""
    head, ports = re.search(rf'(Switch\t)(\d+)( "{switch}".*\n(?:\[.*\n)*)', text).group(0), re.search(rf'Switch\t(\d+) "{switch}"', text)[1]
    port = int(ports) + 1
    grown = head.replace(f"Switch\t{ports}", f"Switch\t{port}", 1) + f'[{port}]\t"Gate"[1]({guid:x}) \t\t# "Gate" lid 0 4xSDR\n'
    return text.replace(head, grown) + f'\ncaguid=0x{guid - 1:x}\nCa\t1 "Gate"\t\t# "Gate"\n[1]({guid:x}) \t"{switch}"[{port}]\t\t# lid 0 lmc 0 "{switch}" lid 0 4xSDR\n'


@pytest.mark.parametrize("switch", ["Mid2-02", "Spine01"])
def test_guests_of_three_levels_take_no_part(fors, tmp_path, switch):
    """As inside opensm: a host on a middle switch or a top is routed to where a way leads, and is in no schedule."""
    net, schedule = tmp_path / "net", tmp_path / "schedule"
    net.write_text(with_guest(fors("fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)").out, switch, 0x7001))
    for down in (), ("--down", "Mid2-03"):
        status = json.loads(fors("plan", "--fabric", net, *down, "--json").out)
        assert (status["servers"], status["state"]) == (8, "active")
    out = fors("plan", "--fabric", net, "--output", schedule).out
    assert "fabric      8 servers" in out and "9: 8 servers, 0 not participants, 1 guest on middle switches and tops, 0 left out" in out
    assert "0x0000000000007001" not in fors("schedule", schedule, "--format", "csv").out
    result = json.loads(fors("whatif", "--fabric", net, "--json").out)
    assert result["servers"] == 8 and [failure["kind"] for failure in result["failures"]].count("spine") == 8


def test_trees_of_more_levels_are_refused(fors):
    """Four levels have two sides too, and tables as for two levels would be no tables of fors."""
    spec = ("plan", "--synthetic", "XGFT(4;2,2,2,2;1,2,2,2)")
    for text in fors(*spec, code=1).err, plan(fors, *spec[1:], code=1)["reason"]:
        assert "this may be a tree of more than two levels" in text and "a fourth level" in text
    for command in (["fabric", "--format", "lfts"], ["analyze", "--routing", "fors", "--pattern", "linear-shift"]):
        result = fors(*command, *spec[1:], code=2)
        assert "more than two levels" in result.err and "a fourth level" in result.err and result.out == ""
    assert "<svg" in fors("fabric", "--format", "svg", *spec[1:]).out


def crossed(text, one, other):
    """The text of a net with the upper ends of two cables exchanged; (switch, port) of each lower one."""
    far = {}
    for node, port in (one, other):
        block = text[text.index(f'"{node}"\t\t#'):]
        far[node, port] = re.search(rf'^\[{port}\]\t"([^"]+)"\[(\d+)\]', block, re.M).groups()
    for low, high, old in ((one, far[other], far[one]), (other, far[one], far[other])):
        text = set_peer(text, low, high)
        text = set_peer(text, (high[0], int(high[1])), (low[0], str(low[1])))
    return text


def set_peer(text, end, peer):
    begin = text.index(f'"{end[0]}"\t\t#')
    stop = text.find("\n\n", begin)
    block = re.sub(rf'^\[{end[1]}\]\t"[^"]+"\[\d+\].*$', f'[{end[1]}]\t"{peer[0]}"[{peer[1]}]', text[begin:stop], flags=re.M)
    return text[:begin] + block + text[stop:]


@pytest.mark.parametrize("one, other, words", [
    (("Leaf00", 5), ("Leaf04", 5), "a cable joins two pods, Leaf00[5] - Mid2-04[1]"),
    (("Leaf01", 6), ("Leaf06", 8), "a cable joins two pods, Leaf01[6] - Mid2-07[3]"),
    (("Mid2-00", 5), ("Mid2-01", 5), "planes do not line up"),
])
def test_a_tree_with_crossed_cables(fors, write, one, other, words):
    """A pod in the place of two would be another tree, with longer plans and nobody told."""
    net = write("net", crossed(fors("fabric", "--synthetic", "XGFT(3;4,4,4;1,4,4)").out, one, other))
    assert words in fors("plan", "--fabric", net, code=1).err
    assert words in plan(fors, "--fabric", net, code=1)["reason"]
    assert words in fors("fabric", "--fabric", net, "--format", "lfts", code=2).err


def with_surplus(text, *ends):
    """The text of a net with a cable more, at new ports of two switches."""
    ports = []
    for name in ends:
        block = re.search(rf'^Switch\t(\d+) "{name}".*\n', text, re.M)
        ports.append(int(block[1]) + 1)
        text = text.replace(block[0], block[0].replace(f"Switch\t{block[1]} ", f"Switch\t{ports[-1]} "))
    for i, name in enumerate(ends):
        header = re.search(rf'^Switch\t\d+ "{name}".*\n', text, re.M)[0]
        text = text.replace(header, f'{header}[{ports[i]}]\t"{ends[1 - i]}"[{ports[1 - i]}]\n')
    return text


@pytest.mark.parametrize("ends, words", [
    (("Leaf00", "Mid2-04"), "a cable joins two pods, Leaf00[9] - Mid2-04[9]"),
    (("Mid2-01", "Spine14"), "a cable joins two planes, Mid2-01[9] - Spine14[5]"),
])
def test_a_tree_with_a_surplus_cable(fors, write, ends, words):
    """Tops of two planes would be another tree; and what was learnt of it would stay."""
    net = write("net", with_surplus(fors("fabric", "--synthetic", "XGFT(3;4,4,4;1,4,4)").out, *ends))
    assert words in fors("plan", "--fabric", net, code=1).err
    assert words in plan(fors, "--fabric", net, code=1)["reason"]
    assert words in fors("fabric", "--fabric", net, "--format", "lfts", code=2).err


# Each before it takes the memory that such a tree would need.
@pytest.mark.parametrize("spec, text", [("XGFT(4;30,30,30,30;1,30,30,30)",
                                         "the tree has 810000 servers; fors takes trees of at most 262144"),
                                        ("PGFT(2;100,100;1,1000;1,1000)", "the tree has 100010000 cables")])
@pytest.mark.parametrize("command", [["plan"], ["fabric"], ["whatif"], ["indices", "--routing", "d-mod-k"],
                                     ["analyze", "--routing", "fors", "--pattern", "linear-shift"],
                                     ["analyze", "--routing", "d-mod-k", "--pattern", "linear-shift"]])
def test_a_huge_tree_is_refused(fors, command, spec, text):
    result = fors(command[0], "--synthetic", spec, *command[1:], code=2)
    assert text in result.err and result.out == ""


def test_one_dead_cable_is_named(fors):
    status = plan(fors, "--synthetic", "FT(2;4,4)", "--down", "Leaf01[6]", "--lmc", "2")
    assert status["dead_links"] == [{"a": "Leaf01", "a_port": 6, "b": "Spine01", "b_port": 2}]
    assert (status["f"], status["affected_spines"], status["capacity"], status["lmc"]) == (1, 1, 3, 2)
    assert status["state"] == "active" and status["phases"] >= status["lower_bound"] >= 16


def test_either_end_and_repetition_mean_the_same(fors):
    spec = ("--synthetic", "FT(2;4,4)", "--lmc", "2")
    one = plan(fors, *spec, "--down", "Leaf01[6]")
    for downs in (["Spine01[2]"], ["Leaf01[6]", "Spine01[2]"]):
        other = plan(fors, *spec, *(x for down in downs for x in ("--down", down)))
        assert other["dead_links"] == one["dead_links"] and other["phases"] == one["phases"]


def test_a_dead_spine_keeps_its_place(fors):
    status = plan(fors, "--synthetic", "FT(2;4,4)", "--down", "Spine02", "--lmc", "2")
    assert (status["spines"], status["affected_spines"], len(status["dead_links"])) == (4, 1, 4)
    assert status["f"] == 1 and status["state"] == "active"


def test_text_for_people(fors):
    out = fors("plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf01[6]", "--lmc", "2").out
    for text in ["16 servers", "Leaf01[6] - Spine01[2]", "1 uplink missing, 1 spine affected", "a leaf can send 3 flows", "phases", "% of full speed",
                 "% of the intact fabric's", "verified"]:
        assert text in out
    assert "\033" not in out


@pytest.mark.parametrize("spec, servers", [
    ("FT(2;4,1)", 4), ("FT(2;4,4;servers=1)", 4), ("FT(2;1,1)", 1), ("FT(2;1,1;servers=1)", 1), ("FT(2;3,5)", 15),
    ("FT(2;2,3;servers=4)", 12), ("FT(2;2,3;cables=2)", 6), ("FT(2;4,4;empty=0/1,2/3)", 14),
])
def test_odd_shapes(fors, spec, servers):
    status = plan(fors, "--synthetic", spec, "--lmc", "3")
    assert status["state"] == "active" and status["servers"] == servers
    assert status["phases"] >= max(servers, status["lower_bound"])


def test_no_common_spine(fors):
    args = ["--synthetic", "FT(2;2,2)", "--down", "Leaf00[3]", "--down", "Leaf01[4]"]
    status = plan(fors, *args, code=1)
    assert status["state"] == "failed" and status["unreachable_pairs"] == 1 and status["phases"] is None
    assert "Leaf00" in status["reason"] and "Leaf01" in status["reason"]
    result = fors("plan", *args, code=1)
    assert "none" in result.out and "Leaf00 and Leaf01" in result.err


def test_a_leaf_cut_off(fors):
    status = plan(fors, "--synthetic", "FT(2;2,3)", "--down", "Leaf00[3]", "--down", "Leaf00[4]", code=1)
    assert status["unreachable_pairs"] == 2 and status["state"] == "failed"


def test_lmc_too_small_for_the_method(fors):
    args = ["--synthetic", "FT(2;4,4)", "--method", "closed-form", "--lmc", "0", "--down", "Leaf01[6]"]
    status = plan(fors, *args, code=1)
    assert status["state"] == "failed" and "LMC" in status["reason"]
    assert status["lmc_needed"] == 2
    assert "LMC 2" in fors("plan", *args, code=1).out


def test_the_last_tokens_are_insisted_on(fors, write):
    """Nine leaves, ten spines, one cable or two: a plan a phase above the bound is left only when its last few flows found no room."""
    sys.path.insert(0, str(SRC / "tests/sweep"))
    import kinds

    servers = (24, 24, 24, 14, 24, 19, 24, 10, 3)
    cables = [[int(n) for n in row] for row in ("2112221111", "2111221211", "1212221121", "1212211211", "2111111122", "1211122111", "2111122122",
                                                "1211121111", "1121212111")]
    dead = ((5, 2), (8, 3), (6, 6), (3, 1), (1, 14), (6, 9), (3, 10), (6, 2), (1, 10), (5, 4), (7, 9), (1, 2))
    net = fors("fabric", "--fabric", write("links", kinds.Gaps(servers, cables).text()), "--lmc", "4", "--format", "net").out
    status = plan(fors, "--fabric", write("net", net), "--lmc", "4",
                  *(word for leaf, cable in dead for word in ("--down", f"Leaf{leaf}[{servers[leaf] + cable}]")))
    assert (status["servers"], len(status["dead_links"]), status["phases"], status["lower_bound"]) == (166, 12, 310, 310)


@pytest.mark.parametrize("servers, cables, phases", [
    ((7, 1, 4), ((0, 1, 1, 0), (1, 1, 3, 0), (2, 0, 1, 1)), 28), ((2, 5, 1, 5, 5, 5), ((0, 1), (1, 3), (2, 2), (1, 1), (1, 1), (1, 1)), 45)])
def test_homes_where_cables_lack_make_the_shortest_plan(fors, write, servers, cables, phases):
    """Where entries are at home any phase less counts, not only a twenty-fifth of them."""
    sys.path.insert(0, str(SRC / "tests/sweep"))
    import kinds

    net = fors("fabric", "--fabric", write("links", kinds.Gaps(servers, cables).text()), "--lmc", "0", "--format", "net").out
    status = plan(fors, "--fabric", write("net", net))
    assert (status["phases"], status["lower_bound"]) == (phases, phases)


def test_all_servers_down(fors):
    downs = [x for s in range(2) for leaf in range(2) for x in ("--down", f"Node{leaf:02}-{s:02}")]
    assert plan(fors, "--synthetic", "FT(2;2,2)", *downs, code=1)["state"] == "failed"


def test_steps(fors):
    """With fewer of them a search ends earlier, with more phases; any number of them that is not used changes nothing."""
    args = ["--synthetic", "FT(2;12,16)", "--lmc", "2"]
    for leaf, port in ((1, 13), (2, 14), (4, 15), (5, 18), (7, 19), (9, 20), (11, 21)):
        args += ["--down", f"Leaf{leaf:02d}[{port}]"]
    few, usual, many = (plan(fors, *args, *more)["phases"] for more in (["--plan-steps", "1"], [], ["--plan-steps", "1000"]))
    assert few > usual >= many >= plan(fors, *args)["lower_bound"]
    intact = ["--synthetic", "FT(2;12,16)"]
    assert plan(fors, *intact, "--plan-steps", "1")["phases"] == plan(fors, *intact)["phases"]


def test_steps_of_flows(fors):
    """A search ends when they are spent, down to the last one, and gets no others for its last tokens."""
    args = ["--synthetic", "FT(2;12,16)", "--lmc", "2", "--method", "flows"]
    for leaf, port in ((1, 13), (2, 14), (4, 15), (5, 18), (7, 19)):
        args += ["--down", f"Leaf{leaf:02d}[{port}]"]
    phases = [plan(fors, *args, "--plan-steps", steps)["phases"] for steps in ("1", "2", "5", "20")]
    assert phases == sorted(phases, reverse=True) and phases[0] > phases[-1]


def test_flows_begins_at_the_bound_of_the_cables(fors):
    """Over several path indices no link is forced; what the cables of a leaf allow is known before any search."""
    args = ["--synthetic", "FT(2;8,12;servers=8)", "--lmc", "2", "--method", "flows", "--plan-steps", "1"]
    for port in range(12, 17):
        args += ["--down", f"Leaf00[{port}]"]
    status = plan(fors, *args)
    assert status["phases"] == status["lower_bound"] == 235


def test_flows_looks_at_more_than_four_path_indices(fors):
    cut = ["--down", "Leaf03[9]", "--down", "Leaf03[13]"]
    assert plan(fors, "--synthetic", "FT(2;8,12;servers=6)", "--lmc", "3", "--method", "flows", *cut)["phases"] == 72


@pytest.mark.parametrize("lmc", ["1", "2", "3"])
@pytest.mark.parametrize("spec, bound", [("FT(2;3,13;cables=3;servers=5)", 65), ("FT(2;3,11;cables=4;servers=7)", 77)])
def test_several_lids_are_no_worse_than_one(fors, spec, bound, lmc):
    """But for a phase: in as many phases as receivers a search has no room left."""
    assert plan(fors, "--synthetic", spec, "--down", "Spine00", "--lmc", lmc)["phases"] <= bound + 1


def has_ilp():
    return "ilp" in run(FORS, "plan", "--method", "?").err.split("one of:")[1]


@pytest.mark.skipif(not has_ilp(), reason="built without lp_solve")
def test_ilp(fors):
    assert plan(fors, "--synthetic", "FT(2;4,4)", "--lmc", "2", "--down", "Leaf00[5]", "--method", "ilp")["phases"] == 16


@pytest.mark.skipif(not has_ilp(), reason="built without lp_solve")
def test_ilp_out_of_time(fors, tmp_path):
    source = random.Random(1)
    cables = source.sample([(leaf, lane) for leaf in range(18) for lane in range(20)], 60)
    downs = [x for leaf, lane in cables for x in ("--down", f"Leaf{leaf:02}[{21 + lane}]")]
    status = plan(fors, "--synthetic", "FT(2;20,18)", "--lmc", "5", "--method", "ilp", "--ilp-seconds", "1",
                  "--output", tmp_path / "schedule", *downs, code=1)
    assert status["state"] == "failed" and "out of time" in status["reason"]
    assert not (tmp_path / "schedule").exists()


# --- participants



def server_guids(fors, tmp_path, spec):
    path = tmp_path / "all"
    fors("plan", "--synthetic", spec, "--output", path)
    return [s["guid"] for s in json.loads(fors("schedule", path, "--format", "json").out)["servers"]]


def test_participants(fors, tmp_path, write):
    some = server_guids(fors, tmp_path, "FT(2;4,4)")[1:11:2]
    listed = write("some", "# comment\n\n" + "\n".join(some) + "\n")
    status = plan(fors, "--synthetic", "FT(2;4,4)", "--participants", listed)
    assert status["servers"] == 5 and status["capacity"] is None


@pytest.mark.parametrize("count", [1, 2])
def test_few_participants(fors, tmp_path, write, count):
    some = server_guids(fors, tmp_path, "FT(2;4,4)")[-count:]
    status = plan(fors, "--synthetic", "FT(2;4,4)", "--participants", write("some", "\n".join(some)))
    assert status["servers"] == count and status["state"] == "active"


def test_bad_participants(fors, tmp_path, write):
    good = server_guids(fors, tmp_path, "FT(2;2,2)")
    for text, line in [("0xdead\n", 1), (f"{good[0]}\n\n0xdead\n", 3), (f"\n{good[0]}\n{good[0]}\n", 3),
                       (f"{good[0]}\nhello\n", 2), ("0\n", 1), (f"{good[0]} {good[1]}\n", 1)]:
        listed = write("list", text)
        err = fors("plan", "--synthetic", "FT(2;2,2)", "--participants", listed, code=2).err
        assert f"{listed}:{line}:" in err, (text, err)
    err = fors("plan", "--synthetic", "FT(2;2,2)", "--participants", write("list", "# nobody\n"), code=2).err
    assert "no participant" in err
    assert "absent" in fors("plan", "--synthetic", "FT(2;2,2)", "--participants", tmp_path / "absent", code=2).err


# --- the schedule file

def test_output_is_replaced_at_once(fors, tmp_path):
    path = tmp_path / "schedule"
    path.write_bytes(b"old")
    held = open(path, "rb")
    fors("plan", "--synthetic", "FT(2;2,2)", "--output", path)
    assert held.read() == b"old"
    assert path.read_bytes() != b"old"
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    assert os.listdir(tmp_path) == ["schedule"]


def test_output_is_deterministic(fors, tmp_path):
    for name in "ab":
        fors("plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf01[6]", "--output", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_output_without_a_plan_is_not_touched(fors, tmp_path):
    path = tmp_path / "schedule"
    fors("plan", "--synthetic", "FT(2;2,2)", "--down", "Leaf00[3]", "--down", "Leaf01[4]", "--output", path, code=1)
    assert not path.exists()


def test_output_that_cannot_be_written(fors, tmp_path):
    for path in (tmp_path / "no" / "where", tmp_path):
        assert str(path) in fors("plan", "--synthetic", "FT(2;2,2)", "--output", path, code=2).err
    assert os.listdir(tmp_path) == []


def test_output_to_a_device(fors):
    fors("plan", "--synthetic", "FT(2;2,2)", "--output", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# --- a terminal

def on_terminal(*args, env):
    master, slave = pty.openpty()
    pid = os.posix_spawnp(FORS, [FORS, *args], {**os.environ, **env}, file_actions=[
        (os.POSIX_SPAWN_DUP2, slave, 1), (os.POSIX_SPAWN_DUP2, slave, 2), (os.POSIX_SPAWN_CLOSE, master)])
    os.close(slave)
    out = b""
    while True:
        try:
            out += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    os.waitpid(pid, 0)
    return out.decode()


def test_colours_only_on_a_terminal_that_has_them():
    args = ("plan", "--synthetic", "FT(2;2,2)")
    assert "\033[1;32m" in on_terminal(*args, env={"TERM": "xterm", "NO_COLOR": ""})
    assert "\033[" not in on_terminal(*args, env={"TERM": "xterm", "NO_COLOR": "1"})
    assert "\033[" not in on_terminal(*args, env={"TERM": "dumb", "NO_COLOR": ""})


def test_progress_bar_only_on_a_terminal(fors):
    args = ("plan", "--synthetic", "FT(2;8,8)", "--lmc", "3", "--method", "exact")
    out = on_terminal(*args, env={"TERM": "xterm"})
    assert "\rplanning [" in out
    assert out.rindex("planning [") < out.index("fabric ")
    assert "planning" not in fors(*args).err


def test_cut_behind_participants(fors, tmp_path):
    """Two leaves without a common spine, one of them without participants: a plan, and a warning that names them."""
    down = [word for where in ("Leaf00[4]", "Leaf00[5]", "Leaf01[6]", "Leaf01[7]") for word in ("--down", where)]
    rows = fors("plan", "--synthetic", "FT(2;4,3;servers=3)", "--output", tmp_path / "all").out
    guids = sorted({row.split(",")[1] for row in fors("schedule", tmp_path / "all", "--format", "csv").out.splitlines()[1:]})
    (tmp_path / "some").write_text("\n".join(guids[:3]) + "\n")
    assert "CA ports" not in rows and "warning" not in rows
    arguments = ["--synthetic", "FT(2;4,3;servers=3)", *down, "--participants", tmp_path / "some"]
    status = plan(fors, *arguments)
    assert (status["state"], status["servers"], status["ca_ports"], status["not_participants"]) == ("active", 3, 9, 6)
    assert any("Leaf00 and Leaf01 have no spine in common" in text for text in status["remarks"])
    out = fors("plan", *arguments).out
    assert "CA ports    9: 3 servers, 6 not participants, 0 guests on spines, 0 left out" in out
    assert "warning     Leaf00 and Leaf01" in out


def test_bounds_of_one_lid(fors):
    """24 servers to a leaf and 16 spines: whole lumps of 24 flows go up a lane, 26 of them over the fullest."""
    status = json.loads(fors("plan", "--synthetic", "FT(2;16,18;servers=24)", "--lmc", "0", "--json").out)
    assert status["lower_bound"] == 612
    assert status["lump_bound"] == status["tables_bound"] == status["phases"] == 624
    assert "one LID     servers with one LID each need 624 phases at least with the best tables, " in fors("plan", "--synthetic", "FT(2;16,18;servers=24)", "--lmc", "0").out
    assert json.loads(fors("plan", "--synthetic", "FT(2;4,4)", "--lmc", "2", "--json").out)["lump_bound"] is None


def test_free_ports_cost_nothing(fors):
    """A healthy 8x8x8 with one free port needed 112 phases for 64."""
    status = json.loads(fors("plan", "--synthetic", "FT(2;8,8;empty=3/4)", "--lmc", "0", "--json").out)
    assert status["phases"] <= 64


@pytest.mark.parametrize("more, words", [([], "1 such pair of"), (["Leaf02[3]"], "2 such pairs of")])
def test_pairs_are_counted_in_words(fors, more, words):
    down = [word for port in ("Leaf00[3]", "Leaf01[4]", *more) for word in ("--down", port)]
    assert words in fors("plan", "--synthetic", "FT(2;2,3)", *down, code=1).err


def text_of(fors, write, spec, *downs):
    """The text of a fabric after these died, and that of the intact one."""
    whole = write("intact", fors("fabric", "--synthetic", spec).out)
    return write("net", fors("fabric", "--fabric", whole, *(word for down in downs for word in ("--down", down))).out), whole


@pytest.mark.parametrize("spec, cable, words", [
    ("FT(2;6,18;servers=6)", "Leaf03[11]", "Leaf03 has no cable to Spine04, the other 17 leaves do (dead, or never there)"),
    ("FT(2;2,4;servers=2;cables=3)", "Leaf01[4]", "Leaf01 has 2 cables to Spine00, the other 3 leaves have 3 (dead, or never there)"),
    ("XGFT(3;4,4,4;1,4,4)", "Leaf03[6]", "Leaf03 has no cable to Mid2-01, the other 3 leaves of its pod do (dead, or never there)"),
    ("XGFT(3;4,4,4;1,4,4)", "Mid2-00[5]", "Mid2-00 has no cable to Spine00, the other 3 middle switches of its plane do (dead, or never there)"),
])
def test_a_text_alone_proves_no_death(fors, write, spec, cable, words):
    net, intact = text_of(fors, write, spec, cable)
    out = fors("plan", "--fabric", net).out
    assert f"missing     by comparison: {words}\n" in out and "\ndead " not in out
    found = fors("plan", "--fabric", net, "--reference", intact).out
    assert "\ndead        1 cable" in found and cable in found and "\nmissing " not in found
    healthy = fors("plan", "--fabric", intact).out
    assert "\nmissing     nothing by comparison; no reference: a fault common to all leaves cannot be seen\n" in healthy
    assert "\ndead        nothing\n" in fors("plan", "--fabric", intact, "--reference", intact).out
    # what --down takes is dead, what the text lacks is missing
    both = fors("plan", "--fabric", net, "--down", "Leaf01[7]").out
    assert "\ndead        1 cable" in both and words in both


@pytest.mark.parametrize("spec, absent", [
    ("PGFT(3;12,4,4;1,6,8;1,2,1)", ["Leaf02[13]", "Leaf05[14]", "Leaf08[15]"]),
    ("XGFT(3;6,3,8;1,6,3)", ["Leaf04[7]", "Mid2-11[5]", "Mid2-30[4]"]),
])
def test_what_was_never_there_costs_what_is_dead_costs(fors, write, spec, absent):
    """Cables that the text lacks, and the same ones by --down: the first needed 360 phases for 204."""
    net, intact = text_of(fors, write, spec, *absent)
    never = json.loads(fors("plan", "--fabric", net, "--json").out)
    died = json.loads(fors("plan", "--fabric", intact, *(word for cable in absent for word in ("--down", cable)), "--json").out)
    assert never["phases"] == died["phases"] and never["lower_bound"] == died["lower_bound"]
    assert not never["dead_links"] and len(died["dead_links"]) == len(absent)


def test_parallel_cables_and_a_port_without_a_server(fors, write):
    """One of two cables to a middle switch dies where pods are not alike: all went down by the other one, 358 phases for 196 by the bound."""
    net, _ = text_of(fors, write, "PGFT(3;12,4,4;1,6,8;1,2,1)", "Leaf02[9]")
    assert json.loads(fors("plan", "--fabric", net, "--down", "Leaf00[13]", "--json").out)["phases"] <= 204


@pytest.mark.parametrize("spec, down, words", [
    # nineteen cables up carry 540 units of 20 flows, 29 one of them: with one LID each no tables do in 569 phases
    ("PGFT(3;20,7,4;1,10,14;1,2,1)", "Leaf02[21]", "the best of all tables 580 phases, with several LIDs per server 569\n"),
    ("XGFT(3;3,3,4;1,3,2)", "Spine00", "the best of all tables 49 phases; an estimate: perhaps none does\n"),
    ("XGFT(3;3,3,4;1,3,2)", "Spine00", ", 96.1 % of what these cables allow (an estimate)\n"),
])
def test_the_best_of_all_tables_is_within_reach_or_an_estimate(fors, spec, down, words):
    assert words in fors("plan", "--synthetic", spec, "--down", down).out


def test_what_too_few_agree_on_is_not_missing(fors, write):
    """That is said, and not that nothing is missing."""
    for spec, absent, words in (
        ("FT(2;3,3;servers=2)", ("Leaf00[3]", "Leaf01[4]", "Leaf02[5]"), "leaves and spines"),
        ("XGFT(3;3,2,2;1,2,2)", ("Mid2-00[3]", "Mid2-02[4]", "Mid2-03[3]"), "middle switches and tops"),
    ):
        net, intact = text_of(fors, write, spec, *absent)
        out = fors("plan", "--fabric", net).out
        assert f"\nmissing     unclear between {words}: fewer than three of four pairs of them have equally many cables; --reference tells\n" in out
        assert "nothing by comparison" not in out
        assert "\ndead        3 cables" in fors("plan", "--fabric", net, "--reference", intact).out
        assert "missing     nothing by comparison" in fors("plan", "--fabric", intact).out
    net, _ = text_of(fors, write, "FT(2;8,8;servers=2)", *(f"Leaf{leaf:02}[{3 + leaf}]" for leaf in range(8)), "Leaf00[10]", "Leaf01[3]",
                     "Leaf02[4]", "Leaf03[5]")
    out = fors("plan", "--fabric", net).out
    assert out.count("has no cable to") == 10 and "            and 2 more\n" in out


def test_a_reference_has_a_speed_and_names(fors, write):
    net, intact = text_of(fors, write, "FT(2;20,24)", "Leaf03[22]", "Node05-07")
    out = fors("plan", "--fabric", net, "--reference", intact).out
    assert "lost        1 of 480 servers: Node05-07 at Leaf05[8]" in out and "of the intact fabric's for as many servers" in out
    status = plan(fors, "--fabric", net, "--reference", intact)
    assert status["dead_links"] == [{"a": "Leaf03", "a_port": 22, "b": "Spine01", "b_port": 4}]
    assert [one["server"] for one in status["lost_servers"]] == ["Node05-07"]


def test_references_that_are_none(fors, write, tmp_path):
    net, intact = text_of(fors, write, "FT(2;4,4)", "Leaf03[6]")
    other = write("other", re.sub(r"switchguid=0x2\w*\(2(\w*)\)", r"switchguid=0x7\1(7\1)", fors("fabric", "--synthetic", "FT(2;4,4)").out))
    for args, words in ([["--reference", tmp_path / "nothing"], "cannot be opened"], [["--state", tmp_path], "places: cannot be opened"],
                        [["--reference", other], "this is another fabric"],
                        [["--reference", intact, "--state", tmp_path], "exclude each other"],
                        [["--reference", intact, "--lfts", net], "go without --lfts"]):
        assert words in fors("plan", "--fabric", net, *args, code=2).err
    assert "--fabric FILE is missing" in fors("plan", "--synthetic", "FT(2;4,4)", "--reference", intact, code=2).err


HOLE = re.compile(r"hosts below (\S+)(?: \(and \d+ more\))? cannot query the management port of (\S+)(?: \(and \d+ more\))? by LID; "
                  r"servers are not affected; (?:mend (\S+?)(?: - \S+)?|mending one of the dead cables does not suffice)$", re.M)


def holes(fors, spec, down):
    out = fors("plan", "--synthetic", spec, "--lmc", "0", *(word for one in down for word in ("--down", one))).out
    assert "plugged into" not in out and ("cannot query" in out) == bool(HOLE.search(out)), out
    return HOLE.search(out)


@pytest.mark.parametrize("down, cure", [(["Leaf05[7]"], "Leaf05[7]"), (["Mid2-05[6]"], "Mid2-05[6]"), (["Mid2-05"], "Mid2-05"),
                                        (["Leaf06[5]", "Mid2-05"], "Leaf06[5]"), (["Spine07"], None),
                                        (["Leaf04[6]", "Mid2-01[5]", "Mid2-01[6]", "Mid2-01[7]", "Mid2-01[8]"], "")])
def test_management_ports_that_a_leaf_does_not_reach(fors, down, cure):
    """The cable that is named gives the first of the LIDs its way again; where one cable does not, that is said."""
    found = holes(fors, "XGFT(3;4,4,4;1,4,4)", down)
    if cure is None:
        assert not found
        return
    assert (found.group(3) or "") == cure
    if cure:
        again = holes(fors, "XGFT(3;4,4,4;1,4,4)", [one for one in down if one != cure])
        assert not again or again.group(1, 2) != found.group(1, 2)


@pytest.mark.parametrize("seed", range(12))
def test_what_to_mend_for_a_management_port(fors, seed):
    """Random dead cables: those that are named are dead, and heal, one after the other, all that one alone can heal."""
    spec, draw = "XGFT(3;2,3,3;1,3,2)", random.Random(seed)
    ends = [f"Leaf{leaf:02d}[{port}]" for leaf in range(9) for port in (3, 4, 5)] + [f"Mid2-{mid:02d}[{port}]" for mid in range(9) for port in (4, 5)]
    down = draw.sample(ends, draw.randrange(1, 5))
    for _ in range(len(down)):
        found = holes(fors, spec, down)
        if not found or not found.group(3):
            break
        cured = [one for one in down if one == found.group(3) or one.startswith(found.group(3) + "[")]
        assert cured, (found.group(0), down)
        down = [one for one in down if one not in cured]
        again = holes(fors, spec, down)
        assert not again or again.group(1, 2) != found.group(1, 2), (found.group(0), again.group(0))


@pytest.mark.parametrize("spec, dead, need", [
    ("FT(2;2,7;cables=4;servers=8)", ["Leaf00[9]"], 56), ("FT(2;3,9;cables=4;servers=12)", ["Leaf02[13]"], 108),
    ("FT(2;3,9;cables=3;servers=9)", ["Leaf03[10]", "Leaf08[11]"], 81), ("FT(2;3,5;cables=3;servers=9)", ["Leaf03[11]"], 45)])
def test_parallel_cables_are_level(fors, spec, dead, need):
    """A spine comes down to a server by one of its cables: servers at home move, so that none has more to carry than it must. Before: a third more."""
    status = json.loads(fors("plan", "--synthetic", spec, "--lmc", "0", *(w for one in dead for w in ("--down", one)), "--json").out)
    assert status["lower_bound"] == status["tables_bound"] == need <= status["phases"] <= need + 1
