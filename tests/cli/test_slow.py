# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Slow and lost things count: links below the speed of the others, servers that are gone, flows that do not arrive."""
import json
import random
import re
import sys

import pytest

from conftest import FORS, SRC

SPEC = "FT(2;4,4)"


def at(text, node, port, rate):
    """The net text with another rate at one end of a cable, as ibnetdiscover shows it; the slower end counts."""
    out, here = [], None
    for line in text.splitlines(keepends=True):
        head = re.match(r'(?:Switch|Ca)\s+\d+ "[^"]+"\s+# "([^"]+)"', line)
        here = head.group(1) if head else here
        if here == node and line.startswith(f"[{port}]"):
            line = re.sub(r"\d+x\w+$", rate, line.rstrip("\n")) + "\n"
        out.append(line)
    return "".join(out)


@pytest.fixture
def net(fors, write):
    """net((node, port, rate)..., spec=SPEC) -> path of a file of ibnetdiscover text."""
    def call(*slow, spec=SPEC, every="4xSDR"):
        text = fors("fabric", "--synthetic", spec).out.replace("4xSDR", every)
        for one in slow:
            text = at(text, *one)
        return write("slow.net", text)

    return call


def plan(fors, *args, code=0):
    return json.loads(fors("plan", *args, "--json", code=code).out)


def share(status):
    return status["servers"] / status["length"]


IGNORE, DEAD = ("--degraded-links", "ignore"), ("--degraded-links", "dead")


def test_a_slow_uplink_lowers_the_promise(fors, net):
    """Where it is used its phases take four times as long: by how much is told, and what draining it would give."""
    path = net(("Leaf01", 6, "1xSDR"))
    status = plan(fors, "--fabric", path, *IGNORE)
    link = status["degraded_links"][0]
    assert (link["a"], link["a_port"], link["b"], link["rate"], link["used"]) == ("Leaf01", 6, "Spine01", "1xSDR", True)
    # one server of each other leaf has this spine, so 12 flows go up the cable; and 12 come down, in the same phases or not
    assert status["phases"] == 16 and 12 <= status["slow_phases"] <= 16
    assert status["length"] == status["phases"] + 3 * status["slow_phases"]
    drained = plan(fors, "--synthetic", SPEC, "--down", "Leaf01[6]")
    assert drained["lump_bound"] == status["drained_length"] <= drained["phases"]
    assert 16 + 3 * 12 <= status["ignored_length"] <= 16 * 4 and status["degraded_choice"] == "ignore"
    out = fors("plan", "--fabric", path, *IGNORE).out
    speed = 100 * 16 / status["length"]
    assert re.search(r"degraded +Leaf01\[6\] - Spine01\[2\], 1xSDR; in use\n", out)
    assert f"throughput  {speed:.1f} % of full speed" in out and "throughput  100.0 %" not in out
    assert f"slow links hold up {status['slow_phases']} of 16 phases" in out
    assert f"in use (degraded_links = ignore); with slow links {100 * 16 / status['ignored_length']:.1f} % of full speed; drained 100.0 %\n" in out


def test_a_slow_uplink_is_drained(fors, net):
    """By default nothing is lost where a cable at a quarter of its speed can be spared; the other choice is told."""
    path = net(("Leaf01", 6, "1xSDR"))
    for args in ((), ("--degraded-links", "auto"), DEAD):
        status = plan(fors, "--fabric", path, *args)
        assert (status["phases"], status["length"], status["slow_phases"]) == (16, 16, 0)
        assert status["degraded_choice"] == ("dead" if args == DEAD else "auto: drained")
        assert not status["degraded_links"][0]["used"] and status["ignored_length"] > 50
    out = fors("plan", "--fabric", path).out
    assert "carries no servers' traffic" in out and "throughput  100.0 % of full speed" in out
    assert "drained (degraded_links = auto); with slow links " in out


def test_what_auto_leaves_in_use(fors, net):
    """All of a leaf's, which it needs; two of three at half speed; one a little slower, of a leaf with no uplink to spare."""
    for spec, slow, choice in ((SPEC, [("Leaf01", port, "1xSDR") for port in (5, 6, 7, 8)], "auto: in use"),
                               ("FT(2;3,4;servers=6)", [("Leaf01", port, "2xSDR") for port in (7, 8)], "auto: in use"),
                               ("FT(2;3,4;servers=6)", [("Leaf01", port, "1xSDR") for port in (7, 8)], "auto: drained"),
                               ("FT(2;2,4;servers=4)", [("Leaf01", 5, "2xDDR")], "auto: drained")):
        path = net(*slow, spec=spec)
        status = plan(fors, "--fabric", path)
        lengths = [plan(fors, "--fabric", path, *how)["length"] for how in (IGNORE, DEAD)]
        assert status["length"] <= 1.05 * min(lengths), (spec, slow)
        assert status["degraded_choice"] == choice or spec.startswith("FT(2;2"), (spec, slow, status["degraded_choice"])


def test_each_leaf_by_itself(fors, net):
    """A leaf that needs its slow cables keeps them; that of another leaf, slower still, is drained."""
    path = net(*(("Leaf01", port, "2xSDR") for port in (5, 6, 7, 8)), ("Leaf02", 5, "1xSDR"))
    status = plan(fors, "--fabric", path)
    assert status["degraded_choice"] == "auto: partly drained"
    assert {link["a"] for link in status["degraded_links"] if not link["used"]} == {"Leaf02"}


@pytest.mark.parametrize("every, slow, times", [("4xEDR", "1xEDR", 4), ("4xEDR", "4xSDR", 12.5), ("4xHDR", "2xHDR", 2),
                                                ("4xFDR", "4xQDR", 13636 / 8000), ("4xXDR", "4xNDR", 2)])
def test_by_how_much(fors, net, every, slow, times):
    path = net(("Leaf01", 6, slow), every=every)
    status = plan(fors, "--fabric", path, *IGNORE)
    assert status["length"] == pytest.approx(16 + (times - 1) * status["slow_phases"]) and status["slow_phases"]
    assert status["degraded_links"][0]["rate"] == slow
    assert plan(fors, "--fabric", path)["length"] == 16


def rated(text, *rates):
    """A net text with (what, rate): the cables of nodes whose names begin so, at both ends; later ones win."""
    out, here = [], ""
    for line in text.splitlines():
        head = re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"', line)
        here = head.group(1) if head else here
        ends = [here] + re.findall(r'^\[\d+\](?:\(\w+\))?\s+"([^"]+)"', line)
        for what, rate in rates if len(ends) > 1 else ():
            if any(end.startswith(what) for end in ends):
                line = re.sub(r"\d+x\w+$", rate, line)
        out.append(line)
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("spec, rates, phases", [
    ("FT(2;4,4;servers=8)", [("Spine", "4xHDR"), ("Node", "2xHDR")], 32),
    ("FT(2;4,4;servers=8)", [("Spine", "4xHDR"), ("Node", "4xHDR")], 48),
    ("FT(2;2,4;servers=6)", [("Spine", "4xNDR"), ("Node", "2xHDR")], 24),
    ("FT(2;2,4;cables=2;servers=8)", [("Spine", "4xFDR"), ("Node", "4xQDR")], 48),  # 1.7 times as fast is once
    ("FT(2;4,4;servers=8)", [("Spine", "4xHDR"), ("Spine03", "4xEDR"), ("Node", "2xHDR")], 32),  # links carry by what they are
    ("FT(2;4,4;servers=6)", [("Spine", "4xEDR"), ("Spine03", "4xNDR"), ("Node", "2xHDR")], 24),
    ("XGFT(3;8,4,4;1,4,4)", [("Mid", "4xHDR"), ("Node", "2xHDR")], 128),
    ("XGFT(3;8,4,4;1,4,2)", [("Mid", "4xHDR"), ("Spine", "4xNDR"), ("Node", "2xHDR")], 128),
    ("XGFT(3;8,4,4;1,4,2)", [("Mid", "4xHDR"), ("Node", "2xHDR")], 192)])  # the pods' cables up are the limit
def test_hosts_slower_than_uplinks(fors, write, spec, rates, phases):
    """A cable k times as fast as the fastest server carries k flows in a phase: own tables, read back as anybody's, and the same proof."""
    path = write("fast.net", rated(fors("fabric", "--synthetic", spec).out, *rates))
    status = plan(fors, "--fabric", path)
    assert status["phases"] == status["lower_bound"] == phases, status["method"]
    assert status["slow_phases"] == 0 and status["length"] == phases
    lfts = write("own.lfts", fors("fabric", "--fabric", path, "--format", "lfts").out)
    over = plan(fors, "--fabric", path, "--lfts", lfts)
    assert over["phases"] == phases and over["tables_bound"] == phases


@pytest.mark.parametrize("spec, node, port, most", [("FT(2;4,4;servers=8)", "Leaf00", 10, 32), ("XGFT(3;8,4,4;1,4,4)", "Leaf00", 10, 142)])
def test_a_cable_that_lost_speed_carries_less(fors, write, spec, node, port, most):
    """It is still as fast as the servers, so it holds up nobody, and is used for what it carries: 48 and 240 phases if it were used as before."""
    text = rated(fors("fabric", "--synthetic", spec).out, ("Spine", "4xHDR"), ("Mid", "4xHDR"), ("Node", "2xHDR"))
    status = plan(fors, "--fabric", write("one.net", at(text, node, port, "2xHDR")))
    assert status["phases"] <= most and status["slow_phases"] == 0 and (status["cable_flows"], status["cable_flows_most"]) == (1, 2)
    assert status["degraded_links"][0]["used"]


FAST = "FT(2;4,4;servers=8)", ("Spine", "4xHDR"), ("Node", "2xHDR")


def fast(fors, write, *more):
    """32 servers at half the speed of their uplinks."""
    return write("fast.net", rated(fors("fabric", "--synthetic", FAST[0]).out, *FAST[1:], *more))


def test_what_is_said_of_speeds(fors, write):
    out = fors("plan", "--fabric", fast(fors, write)).out
    assert "speeds      full speed is 100 Gbit/s; a cable between switches carries 2 flows in a phase\n" in out
    assert "no link carries more in a phase than its speed allows" in out and "no uplink missing" in out
    assert plan(fors, "--fabric", fast(fors, write), "--down", "Leaf00[9]")["phases"] == 32  # with an uplink less
    out = fors("plan", "--fabric", fast(fors, write, ("Spine02", "4xEDR"))).out
    assert "carries 1 to 2 flows in a phase" in out
    assert "speeds " not in fors("plan", "--fabric", fast(fors, write, ("Node", "4xHDR"))).out


def test_a_demand_over_fast_cables(fors, write):
    """The plan of all with all puts two flows on a cable; pieces of a demand have it to themselves."""
    demand = write("demand", "group all Node00-0[0-7],Node01-0[0-7],Node02-0[0-7],Node03-0[0-7]\n")
    status = plan(fors, "--fabric", fast(fors, write), "--demand", demand)
    assert status["phases"] == status["cable_bound"] == 48 and status["uniform_phases"] is None


@pytest.mark.parametrize("pattern, share", [("plan", 1), ("linear-shift", 1)])
def test_analyze_and_simulate_agree(fors, write, pattern, share):
    """Each has the links as fast as they are."""
    source = ("--fabric", fast(fors, write), "--routing", "fors", "--pattern", pattern)
    assert f"throughput  {share:.3f} of full speed" in fors("analyze", *source).out
    found = json.loads(fors("simulate", *source, "--message", "1MiB", "--json").out)
    assert found["gbits_per_server"] == pytest.approx(100 * share, rel=0.03) and found["slots"] == 31


def test_one_slow_participant(fors, write):
    """A subnet manager's port at a quarter of the speed takes part: what its exchange costs, and what the others' would be."""
    path = fast(fors, write, ("Node02-03", "1xEDR"))
    out = fors("plan", "--fabric", path).out
    assert "Leaf02[4] - Node02-03[1], 1xEDR: a server's own cable" in out
    assert "without it the exchange of the other 31 needs 31 phases at full speed, or some more" in out
    status = plan(fors, "--fabric", path)
    assert status["fast_bound"] == 31 and status["length"] > 100 and status["cable_flows"] == 2
    lfts = write("own.lfts", fors("fabric", "--fabric", path, "--format", "lfts").out)
    out = fors("plan", "--fabric", path, "--lfts", lfts).out
    assert "slow        1 of these servers, most Node02-03: without it the exchange of the other 31 needs 31 phases at full speed at least\n" in out
    path = fast(fors, write, ("Node02-03", "4xHDR"))  # a fast one: flows are as fast as that
    status = plan(fors, "--fabric", path)
    assert (status["full_speed_mbits"], status["cable_flows_most"], status["phases"], status["fast_bound"]) == (200000, 1, 48, 1)
    out = fors("plan", "--fabric", path).out
    assert "mixed       31 of 32 servers are slower than the fastest, which say what full speed is, 200 Gbit/s; the first is Node00-00[1], 2xHDR\n" in out
    assert "without the 1 fast one it is that of the others" in out and "slow    " not in out


@pytest.mark.parametrize("node, port, down", [("Leaf01", 6, "Leaf01[6]"), ("Mid2-01", 7, "Mid2-01[7]")])
def test_three_levels(fors, net, node, port, down):
    """A slow cable of either stage: what draining it would give is what the tree is without it, 80 phases or 64."""
    path = net((node, port, "1xSDR"), spec="XGFT(3;4,4,4;1,4,4)")
    status = plan(fors, "--fabric", path, *IGNORE)
    assert status["phases"] == 64 and status["length"] == 64 + 3 * status["slow_phases"] > 64
    drained = plan(fors, "--fabric", path, "--down", down)
    assert status["drained_length"] == drained["phases"] == (80 if node[0] == "L" else 64)
    assert f"; drained {100 * 64 / status['drained_length']:.1f} %\n" in fors("plan", "--fabric", path, *IGNORE).out
    chosen = plan(fors, "--fabric", path)
    assert chosen["length"] == drained["phases"] and chosen["degraded_choice"] == "auto: drained"
    intact = plan(fors, "--fabric", net(spec="XGFT(3;4,4,4;1,4,4)"))
    assert (intact["slow_phases"], intact["degraded_choice"], intact["drained_length"]) == (0, None, None)


def test_three_levels_cannot_spare_it(fors, net):
    """The leaf's only way to its mates; and over other tables nobody drains."""
    path = net(("Leaf01", 3, "1xSDR"), spec="XGFT(3;2,2,2;1,2,2)")
    assert plan(fors, "--fabric", path, *IGNORE)["drained_length"] == 12
    status = plan(fors, "--fabric", path, "--down", "Leaf01[4]")
    assert status["drained_length"] is None and status["degraded_choice"] == "auto: in use"


def test_it_is_for_tables_of_fors(fors, net, tmp_path):
    path = net(("Leaf01", 6, "1xSDR"))
    for args in (["plan", "--lfts", path], ["analyze", "--routing", "up-down", "--pattern", "linear-shift"], ["whatif", "--routing", "up-down"]):
        assert "--degraded-links is for the tables of fors" in fors(args[0], "--fabric", path, *args[1:], *IGNORE, code=2).err
    assert "degraded-links" in fors("plan", "--fabric", path, "--degraded-links", "maybe", code=2).err


def test_units_of_bounds(fors, net, tmp_path):
    """Phases beside phases, however slow a cable is; a time only where a length is."""
    path, tables = net(("Leaf02", 1, "1xSDR"), ("Leaf01", 6, "1xSDR")), tmp_path / "lfts"
    path.write_text(fors("fabric", "--fabric", path, "--routing", "up-down").out)
    tables.write_text(fors("fabric", "--fabric", path, "--routing", "up-down", "--format", "lfts").out)
    status = plan(fors, "--fabric", path, "--lfts", tables)
    assert status["servers"] <= status["lower_bound"] <= status["tables_bound"] <= status["phases"]
    assert status["lower_bound"] == 16 and 60 <= status["length_bound"] <= status["length"]
    out = fors("plan", "--fabric", path, "--lfts", tables).out
    assert f"need {status['tables_bound']} phases at least, the best of all tables 16 phases\n" in out


def test_bounds_of_tables_are_none_below_that_of_all(fors):
    """A leaf without one of its cables: what any tables need, these need too."""
    for spec, down in (("XGFT(3;6,6,8;1,6,6)", ["Leaf00[7]"]), ("XGFT(3;4,4,4;1,4,2)", []), ("FT(2;5,6)", ["Leaf00[6]", "Leaf01[7]"])):
        status = plan(fors, "--synthetic", spec, *(word for one in down for word in ("--down", one)))
        assert status["lower_bound"] <= status["tables_bound"] <= status["phases"]
        assert status.get("lump_bound") is None or status["lower_bound"] <= status["lump_bound"] <= status["tables_bound"]


def test_a_spine_side_end_counts_too(fors, net):
    assert plan(fors, "--fabric", net(("Spine01", 2, "1xSDR")), *IGNORE)["slow_phases"] > 0


def test_a_link_as_fast_as_the_servers_holds_up_nobody(fors, net):
    """Servers at half the speed of the switches: a link at half is degraded, and costs nothing."""
    path = net(("Leaf01", 6, "2xSDR"))
    text = path.read_text()
    for leaf in range(4):
        for slot in range(4):
            text = at(text, f"Leaf{leaf:02}", slot + 1, "2xSDR")
    path.write_text(text)
    status = plan(fors, "--fabric", path)
    assert len(status["degraded_links"]) == 1 and (status["length"], status["slow_phases"]) == (16, 0)
    assert status["drained_length"] is None


def test_a_servers_own_cable(fors, net):
    """It cannot be drained; each of its 15 flows out and in takes as long as it takes."""
    path = net(("Leaf02", 1, "1xSDR"))
    status = plan(fors, "--fabric", path)
    assert [(one["a"], one["a_port"], one["b"], one["rate"]) for one in status["slow_servers"]] == [
        ("Leaf02", 1, "Node02-00", "1xSDR")]
    assert status["length"] == 16 + 3 * status["slow_phases"] and status["drained_length"] is None
    assert "slow        Leaf02[1] - Node02-00[1], 1xSDR: a server's own cable" in fors("plan", "--fabric", path).out


def test_nothing_slow_nothing_said(fors, net):
    for args in (["--fabric", net()], ["--synthetic", SPEC]):
        status = plan(fors, *args)
        assert (status["length"], status["slow_phases"], status["drained_length"]) == (16, 0, None)
        assert "slow" not in fors("plan", *args).out


def test_over_other_tables(fors, net, tmp_path):
    """Over the tables of any engine, in any topology."""
    path = net(("Leaf01", 6, "1xSDR"))
    tables = tmp_path / "lfts"
    text = fors("fabric", "--fabric", path, "--routing", "up-down")
    path.write_text(text.out)
    tables.write_text(fors("fabric", "--fabric", path, "--routing", "up-down", "--format", "lfts").out)
    status = plan(fors, "--fabric", path, "--lfts", tables)
    assert status["slow_phases"] > 0 and status["length"] == status["phases"] + 3 * status["slow_phases"]
    out = fors("plan", "--fabric", path, "--lfts", tables).out
    assert f"throughput  {100 * 16 / status['length']:.1f} % of full speed" in out and "slow links hold up" in out


def test_analyze_and_its_page(fors, net, tmp_path):
    page = tmp_path / "page.html"
    path = net(("Leaf01", 6, "1xSDR"))
    args = ["analyze", "--fabric", path, "--routing", "fors", "--pattern", "plan", *IGNORE]
    result = json.loads(fors(*args, "--json", "--html", page).out)
    status = plan(fors, "--fabric", path, *IGNORE)
    assert result["slow_links"] == 2 and result["time"] == status["length"]
    assert result["sync_throughput"] == pytest.approx(share(status)) and result["mmf_min"] == 0.25
    assert f'"sync_throughput":{result["sync_throughput"]:.6}'[:24] in page.read_text().replace(" ", "")
    assert "slow        2 directed links" in fors(*args).out


def test_whatif_counts_it(fors, net):
    path = net(("Leaf01", 6, "1xSDR"))
    assert json.loads(fors("whatif", "--fabric", path, "--json").out)["intact"]["fors"]["throughput"] == 1  # it is drained
    result = json.loads(fors("whatif", "--fabric", path, *IGNORE, "--json").out)["intact"]["fors"]
    assert result["throughput"] == pytest.approx(share(plan(fors, "--fabric", path, *IGNORE))) and result["shift_throughput"] < 0.5
    healthy = json.loads(fors("whatif", "--fabric", net(), "--json").out)["intact"]["fors"]
    assert healthy["throughput"] == healthy["shift_throughput"] == 1


def test_rates_survive_a_round_trip(fors, net, write):
    path = net(("Leaf01", 6, "1xQDR"), ("Leaf02", 5, "2xHDR"), every="4xHDR")
    first = fors("fabric", "--fabric", path).out
    assert "1xQDR" in first and "2xHDR" in first and "4xHDR" in first and "SDR" not in first
    assert fors("fabric", "--fabric", write("again.net", first)).out == first


def test_options_of_ibsim(fors, net):
    """w=1 in the file that ibsim simulates: what opensm will see there."""
    path = net()
    text = re.sub(r'(?m)(^\[6\]\s+"Spine01"\[2\])', r"\1 w=1", path.read_text())
    path.write_text(text)
    assert plan(fors, "--fabric", path)["degraded_links"][0]["rate"] == "1xSDR"


# --- what is lost ------------------------------------------------------------------------------------------------

def percents(out):
    return [float(one) for one in re.findall(r"([\d.]+) %", out)]


@pytest.mark.parametrize("down", [["Leaf00"], ["Leaf00[1]"], ["Leaf00[1]", "Leaf01[2]", "Leaf02[21]"], ["Node03-07"], ["Leaf00", "Leaf01[21]"]])
def test_lost_servers_are_named(fors, down):
    args = ["--synthetic", "FT(2;20,18)", *(word for one in down for word in ("--down", one))]
    status, out = plan(fors, *args), fors("plan", *args).out
    lost = status["lost_servers"]
    assert status["servers"] + len(lost) == 360 and lost
    gone = f"; {status['dead_switches'][0]['switch']} is dead\n              " if status["dead_switches"] and status["dead_switches"][0]["servers"] else ": "
    assert f"lost        {len(lost)} of 360 servers{gone}{lost[0]['server']} at {lost[0]['leaf']}[{lost[0]['port']}]" in out
    assert re.fullmatch(r"Node\d\d-\d\d", lost[0]["server"]) and "dead        nothing" not in out
    assert all(one <= 100 for one in percents(out))


def test_all_of_a_leaf(fors):
    """The exchange of the other 340 servers is compared with that of the same 340 on the intact fabric."""
    out = fors("plan", "--synthetic", "FT(2;20,18)", "--down", "Leaf00").out
    assert "100.0 % of the intact fabric's for as many servers" in out and "and 15 more" in out


def test_a_big_leaf_lost(fors):
    """Servers that held up all others are gone: the intact fabric had less, but not for these servers."""
    empty = ",".join(f"{leaf}/{slot}" for leaf in range(1, 6) for slot in range(2, 12))
    out = fors("plan", "--synthetic", f"FT(2;4,6;servers=12;empty={empty})", "--down", "Leaf00").out
    assert all(one <= 100 for one in percents(out)) and "lost        12 of 22 servers" in out


def test_only_participants_are_missed(fors, write):
    guids = re.findall(r"^caguid=0x(\w+)", fors("fabric", "--synthetic", SPEC).out, re.M)
    ports = [f"0x{int(guid, 16) + 1:016x}" for guid in guids]
    them = write("them", "\n".join(ports[1:]) + "\n")
    down = ["--synthetic", SPEC, "--participants", them, "--down", "Leaf00[1]"]
    assert plan(fors, *down)["lost_servers"] == []
    assert len(plan(fors, *down, "--down", "Leaf00[2]")["lost_servers"]) == 1


# --- flows that do not arrive, and other patterns ----------------------------------------------------------------

def test_no_share_where_flows_are_lost(fors, tmp_path):
    """Tables of before a cable was cut: 680 flows end there."""
    lfts, page = tmp_path / "lfts", tmp_path / "page.html"
    net = tmp_path / "net"
    net.write_text(fors("fabric", "--synthetic", "FT(2;20,18)", "--lmc", 0).out)
    lfts.write_text(fors("fabric", "--fabric", net, "--format", "lfts").out)
    args = ["analyze", "--fabric", net, "--lfts", lfts, "--down", "Leaf00[21]", "--pattern", "linear-shift"]
    result = json.loads(fors(*args, "--json", "--html", page, code=1).out)
    assert result["broken"]["flows"] == 680 and result["sync_throughput"] is None
    out = fors(*args, code=1).out
    assert "throughput  none: flows are lost" in out and "1.000" not in out.partition("fair rates")[0]
    assert '"sync_throughput":null' in page.read_text().replace(" ", "")


@pytest.mark.parametrize("pattern, least", [("shift", 1), ("permutation", 0), ("all-to-all", 0), ("bisect", 0), ("RANDN(3)", 0)])
def test_shares_of_patterns_of_one_phase(fors, pattern, least):
    """sync_throughput was servers / phases, 64 at best."""
    result = json.loads(fors("analyze", "--synthetic", "FT(2;8,8)", "--routing", "fors", "--pattern", pattern, "--json").out)
    assert least <= result["sync_throughput"] <= 1


def test_shares_of_patterns_of_a_file(fors, write):
    """Few phases, several flows of a server in one, more phases than servers: 0 to 1 in any case."""
    draw = random.Random(14)
    for case in range(20):
        lines = []
        for _ in range(draw.choice((1, 2, 5, 40))):
            lines += ["phase", *("{} {}".format(*draw.sample(range(16), 2)) for _ in range(draw.choice((1, 8, 30))))]
        path = write("pattern", "\n".join(lines[1:]) + "\n")
        result = json.loads(fors("analyze", "--synthetic", SPEC, "--routing", "fors", "--pattern-file", path, "--json").out)
        assert 0 < result["sync_throughput"] <= 1, (case, lines)


# --- all of it, on fabrics as they are found ------------------------------------------------------------------------

def test_plans_of_random_nets():
    """A sample of what `make plans-sweep` does a thousand times."""
    sys.path.insert(0, str(SRC / "tests/sweep"))
    import plans

    wrong, codes = plans.sweep(FORS, 40, 14)
    assert wrong == [] and codes[0] >= 25
