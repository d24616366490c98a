# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Adapters that are no hosts: all is as if they were not there, but for their own LIDs and one row."""
import json
import re
import sys

import pytest

from conftest import SRC

sys.path.insert(0, str(SRC / "tests/e2e"))

from aggregation import DESCRIPTION, with_aggregation, with_switches, without_hosts  # noqa: E402

TREES = [("FT(2;4,8;servers=4)", []), ("FT(2;20,18)", ["Leaf00[21]", "Leaf03[25]"]), ("FT(2;3,5;servers=4;cables=2)", ["Spine01"]),
         ("XGFT(3;4,4,4;1,4,4)", []), ("XGFT(3;4,4,4;1,4,4)", ["Leaf00[5]", "Leaf01[6]", "Mid2-03"]),
         ("PGFT(3;6,4,4;1,3,4;1,2,1)", ["Leaf02[7]", "Mid2-01[9]"])]


def pair(fors, tmp_path, spec, **more):
    """The same fabric without and with them, as files that have LIDs."""
    lft = fors("fabric", "--synthetic", spec, "--format", "net").out
    files = [tmp_path / name for name in ("bare.net", "with.net")]
    files[0].write_text(lft)
    files[1].write_text(with_aggregation(lft, **more))
    return files


def same(text):
    """Without the row that may differ, and times."""
    return [re.sub(r"[\d.]+ ms", "ms", line) for line in text.splitlines() if not line.startswith(("no hosts", "schedule "))]


def down_of(dead):
    return [word for one in dead for word in ("--down", one)]


@pytest.mark.parametrize("spec, dead", TREES)
def test_all_is_as_without(fors, tmp_path, spec, dead):
    """Plan, bounds, warnings and tables; also over the tables of a dump, and those of another engine."""
    bare, some = pair(fors, tmp_path, spec)
    outs = [fors("plan", "--fabric", net, *down_of(dead), "--output", f"{net}.schedule").out for net in (bare, some)]
    assert same(outs[0]) == same(outs[1])
    assert re.search(r"^no hosts    \d+ aggregation nodes: routed, but in no exchange$", outs[1], re.M)
    assert (tmp_path / "bare.net.schedule").read_bytes() == (tmp_path / "with.net.schedule").read_bytes()
    for net in (bare, some):
        fors("fabric", "--fabric", net, *down_of(dead), "--output", f"{net}.lfts")
    changed = json.loads(fors("diff", "--lfts", f"{bare}.lfts", f"{some}.lfts", "--json", code=1).out)
    assert all(entry["was"] is None for switch in changed["tables"] for entry in switch["entries"])
    over = [fors("plan", "--fabric", net, "--lfts", f"{net}.lfts", *down_of(dead)).out for net in (bare, some)]
    assert same(over[0]) == same(over[1])


def test_lids_are_led_to(fors, tmp_path):
    """From each leaf, though a cable is dead that one of them would go over."""
    _, some = pair(fors, tmp_path, "XGFT(3;2,2,2;1,2,2)")
    dump = tmp_path / "some.lfts"
    fors("fabric", "--fabric", some, "--down", "Spine00[1]", "--output", dump)
    tables = {re.search(r"\('([^']+)'\)", table)[1]: table for table in dump.read_text().split("Unicast lids")[1:]}
    counts = [table.count(DESCRIPTION) for name, table in tables.items() if name.startswith("Leaf")]
    assert counts == [11, 11, 12, 12] and "(null)" not in dump.read_text()


def test_pictures_and_lists_have_hosts_only(fors, tmp_path):
    bare, some = pair(fors, tmp_path, "XGFT(3;2,2,2;1,2,2)")
    for form in ("slurm", "slurm-yaml"):
        assert fors("fabric", "--fabric", some, "--format", form).out == fors("fabric", "--fabric", bare, "--format", form).out
    dot = fors("fabric", "--fabric", some, "--format", "dot").out
    assert dot.count("rank=same") == 3 and "LIDs" in dot
    drawn = [fors("fabric", "--fabric", net, "--format", "dot").out.partition("node [")[2] for net in (bare, some)]
    assert drawn[0] == drawn[1]


def test_leaves_are_found_by_hosts(fors, tmp_path):
    """A list of exactly the hosts changes nothing."""
    bare, some = pair(fors, tmp_path, "XGFT(3;4,4,4;1,4,4)")
    players = tmp_path / "players"
    players.write_text("".join(f"0x{guid}\n" for guid in re.findall(r'^\[\d+\]\t"Node[^(]*\((\w+)\)', bare.read_text(), re.M)))
    status = json.loads(fors("plan", "--fabric", some, "--participants", players, "--json").out)
    assert (status["servers"], status["phases"], status["ca_ports"], status["guests"]) == (64, 64, 64, 0)
    assert status["not_hosts"] == "48 aggregation nodes"


@pytest.mark.parametrize("description, more, text", [
    ("NVIDIA Aggregation Node", [], "12 aggregation nodes"), ("MF0;sw1:MQM8700/U1", [], "12 management ports"),
    ("MF0;gate:MGA100/GW1", [], "12 gateways"), ("odd engine 7", ["--not-hosts", "none,ODD eng*"], "12 more by not_hosts"),
    ("node77 HCA-1", ["--not-hosts", ",".join(f"0xa660000000{n:02x}" for n in range(12))], "12 more by not_hosts")])
def test_what_is_none(fors, tmp_path, description, more, text):
    """By description alone, or as people say."""
    bare, some = pair(fors, tmp_path, "FT(2;4,8;servers=4)", description=description, device=0)
    was = json.loads(fors("plan", "--fabric", bare, "--json").out)
    now = json.loads(fors("plan", "--fabric", some, *more, "--json").out)
    assert now.pop("not_hosts") == text and was.pop("not_hosts") is None
    assert {key: now[key] for key in now if not key.endswith("_ms")} == {key: was[key] for key in was if not key.endswith("_ms")}


def test_by_device_alone(fors, tmp_path):
    """It is written again, so that it is known when read once more."""
    _, some = pair(fors, tmp_path, "FT(2;4,8;servers=4)", description="unnamed")
    again = tmp_path / "again.net"
    fors("fabric", "--fabric", some, "--output", again)
    for net in (some, again):
        assert json.loads(fors("plan", "--fabric", net, "--json").out)["not_hosts"] == "12 aggregation nodes"


def test_a_host_is_one(fors, tmp_path):
    """An adapter with the description that its driver gives it, before the host has a name."""
    _, some = pair(fors, tmp_path, "FT(2;4,8;servers=4)", description="MT4123 ConnectX6   Mellanox Technologies", device=0x101b)
    status = json.loads(fors("plan", "--fabric", some, "--json").out)
    assert status["not_hosts"] is None and (status["servers"], status["guests"]) == (40, 4)


TWO, THREE = "FT(2;4,8;servers=4)", "XGFT(3;4,4,4;1,4,4)"
# Switches without hosts, by what they are cabled to.
ODD = [
    (TWO, {"X": ["Spine00"]}), (TWO, {"X": ["M"], "M": ["Spine00", "Spine01"]}), (TWO, {"X": ["Leaf00", "Spine00"]}),
    (TWO, {"X": ["M"], "M": ["Leaf00", "Spine00"]}), (TWO, {"X": ["Spine00", "M"], "M": ["Spine00"]}),
    (THREE, {"X": ["Mid2-00", "Mid2-01", "Mid2-02", "Mid2-03"]}), (THREE, {"X": ["M"], "M": ["Spine00", "Spine04"]}),
    (THREE, {"X": ["M"], "M": ["Spine00", "Spine01"]}), (THREE, {"X": ["Leaf00", "Leaf05"]}), (THREE, {"X": ["Leaf00", "Mid2-00"]}),
    (THREE, {"X": ["Mid2-00", "Spine00"]}), (THREE, {"X": ["Mid2-00", "Mid2-05"]}), (THREE, {"X": ["M"], "M": ["Leaf00", "Leaf05"]}),
    (THREE, {"X": ["Leaf00", "Leaf05"], "Y": ["Leaf01", "Mid2-00"]}),
    (THREE, {"X": ["M"], "M": []}), (THREE, {"X": ["M"], "M": ["N"], "N": ["Spine00"]}), (THREE, {"X": ["Spine00"]}),
]


@pytest.mark.parametrize("spec, switches", ODD)
def test_a_switch_without_hosts_decides_nothing(fors, tmp_path, spec, switches):
    """Spare leaves, and those for management with a middle switch of their own: phases and bounds are those without; at most a warning each."""
    bare = fors("fabric", "--synthetic", spec, "--format", "net").out
    plans = []
    for name, text in (("bare.net", bare), ("odd.net", with_switches(bare, switches)), ("both.net", with_aggregation(with_switches(bare, switches)))):
        (tmp_path / name).write_text(text)
        plans.append(json.loads(fors("plan", "--fabric", tmp_path / name, "--json").out))
    for key in ("servers", "phases", "lower_bound", "tables_bound", "f", "dead_links"):
        assert plans[0][key] == plans[1][key] == plans[2][key], key
    assert (plans[0]["pods"] is None) == (plans[1]["pods"] is None)
    assert plans[1]["remarks"] == plans[2]["remarks"] and len(plans[1]["remarks"]) <= 2
    assert not any("dead cables" in text or "hosts below X" in text or "hosts below M" in text for text in plans[1]["remarks"])


def test_a_spine_with_a_wrong_cable_is_none_of_them(fors, tmp_path):
    text = fors("fabric", "--synthetic", TWO, "--format", "net").out
    for a, b in (("Spine00", "Spine01"), ("Spine01", "Spine00")):
        head = re.search(rf'^Switch\t8 "{a}".*$', text, re.M)[0]
        text = text.replace(head, head.replace("Switch\t8", "Switch\t9") + f'\n[9]\t"{b}"[9]\t\t# "{b}" lid 0 4xSDR')
    (tmp_path / "wrong.net").write_text(text)
    assert "Spine00[9] - Spine01[9] joins two spines" in fors("plan", "--fabric", tmp_path / "wrong.net", code=2).err


@pytest.mark.parametrize("spec, dark, shape", [
    ("XGFT(3;2,2,2;1,2,2)", (0, 1), (4, 2, 4, 4)), ("XGFT(3;4,4,4;1,4,4)", range(12), (16, 4, 16, 16)),
    ("XGFT(3;4,4,4;1,4,4)", range(4), (16, 4, 16, 16)), ("FT(2;4,8;servers=4)", range(6), (8, None, None, None))])
def test_pods_whose_hosts_are_off(fors, tmp_path, spec, dark, shape):
    """The other pods show what they are; also with an aggregation node on each switch."""
    bare = fors("fabric", "--synthetic", spec, "--format", "net").out
    text = without_hosts(bare, {f"Leaf{number:02d}" for number in dark})
    for made in (text, with_aggregation(text)):
        (tmp_path / "dark.net").write_text(made)
        status = json.loads(fors("plan", "--fabric", tmp_path / "dark.net", "--json").out)
        assert tuple(status[key] for key in ("leaves", "pods", "mids", "tops")) == shape
        assert status["phases"] == status["servers"] > 0 and status["remarks"] == []


@pytest.mark.parametrize("spec", ["FT(2;8,12;servers=12)", "XGFT(3;4,4,4;1,4,4)"])
def test_what_those_cost_that_take_no_part(fors, tmp_path, spec):
    """As many phases as the fabric of the participants alone has; nothing is said where a cable is dead."""
    text = fors("fabric", "--synthetic", spec, "--format", "net").out
    hosts = re.findall(r'^\[\d+\]\t"(Node[^"]*)"\[1\]\((\w+)\)', text, re.M)
    some = [host for number, host in enumerate(hosts) if (4 * number * number + number // 7) % 11 < 6]
    (tmp_path / "some").write_text("".join(f"0x{guid}\n" for _, guid in some))
    (tmp_path / "all.net").write_text(text)
    alone = text
    for name, _ in set(hosts) - set(some):
        alone = re.sub(rf'^\[\d+\]\t"{name}".*\n', "", alone, flags=re.M)
        alone = re.sub(rf'^caguid=.*\nCa\t\d+ "{name}".*\n(\[.*\n)*', "", alone, flags=re.M)
    (tmp_path / "alone.net").write_text(alone)
    wanted = json.loads(fors("plan", "--fabric", tmp_path / "alone.net", "--json").out)["phases"]
    plan = ("plan", "--fabric", tmp_path / "all.net", "--participants", tmp_path / "some")
    status = json.loads(fors(*plan, "--json").out)
    assert status["phases"] > wanted == status["phases_alone"]
    left = len(hosts) - len(some)
    assert f"others      {status['phases'] - wanted} phases more than if the {left} ports that take no part were not there\n" in fors(*plan).out
    assert json.loads(fors(*plan, "--down", "Leaf00", "--json").out)["phases_alone"] is None
    assert json.loads(fors("plan", "--fabric", tmp_path / "all.net", "--json").out)["phases_alone"] is None


@pytest.mark.parametrize("spec", [TWO, THREE])
def test_models_have_hosts_only(fors, tmp_path, spec):
    """Links, the speed of the servers' cables and what is measured are those without."""
    bare, some = pair(fors, tmp_path, spec)
    for words in (("analyze", "--pattern", "shift", "--routing", "fors"), ("analyze", "--pattern", "linear-shift", "--routing", "up-down"),
                  ("simulate", "--pattern", "plan", "--routing", "fors")):
        outs = [fors(words[0], "--fabric", net, *words[1:]).out.replace(str(net), "") for net in (bare, some)]
        assert same(outs[0]) == same(outs[1])
