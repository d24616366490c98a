# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors simulate: the FORS paper's figures, small cases by hand, deadlocks, and input that makes no sense."""
import json
import re

import pytest

from conftest import long_under_sanitizers

STAR = "XGFT(1;4;1)"


@pytest.fixture(scope="session")
def stock(unpacked):
    """The recordings of tests/data/stock.py."""
    return unpacked("stock")


@pytest.fixture
def simulate(fors):
    """simulate(args..., code=0): what --json says."""
    def call(*args, code=0):
        return json.loads(fors("simulate", *args, "--json", code=code).out)
    return call


@pytest.fixture
def star(simulate, write):
    """star(lines, args...): messages between four servers of one switch, packets of 1 us at most, bytes of 1 ns."""
    def call(lines, *args):
        return simulate("--synthetic", STAR, "--routing", "d-mod-k", "--pattern-file", write("pattern", lines), "--speed", "8",
                        "--mtu", "970", "--message", "970", *args)
    return call


@long_under_sanitizers
def test_paper_figures(simulate, stock):
    """One number is fitted, to the healthy fabric. The paper: ftree 141, with a dead cable 87, fors 137."""
    def ftree(name, *args):
        return simulate("--fabric", stock / f"{name}.net", "--lfts", stock / f"{name}.ftree.lfts", "--pattern", "linear-shift",
                        "--speed", "200", "--message", "32KiB", *args)

    healthy = ftree("0F", "--measured", "141")
    assert healthy["gbits_per_server"] == pytest.approx(141, abs=0.01) and healthy["barrier_is_fitted"]
    assert healthy["servers"] == 360 and healthy["slots"] == 359 and healthy["packets_arrived"] == 360 * 359 * 8
    barrier = f"{healthy['barrier_ns']:.3f}ns"
    broken = ftree("1F-SW0", "--barrier", barrier)
    assert broken["gbits_per_server"] == pytest.approx(87, rel=0.04)
    plan = simulate("--synthetic", "FT(2;20,18)", "--down", "Leaf00[21]", "--routing", "fors", "--lmc", "5", "--pattern", "plan",
                    "--message", "32KiB", "--barrier", barrier)
    assert plan["gbits_per_server"] == pytest.approx(137, rel=0.03)
    assert plan["reordered"] == broken["reordered"] == 0 and plan["packets_sent"] == plan["packets_arrived"]


def test_waiting(star):
    """Four servers of one switch; a message takes 1.16 us, a token 0.5."""
    lines, one, tokens = "0 1\nphase\n1 0\n", 1160, ("--token-time", "500ns")
    assert star(lines, "--wait", "own", *tokens)["time_ns"] == pytest.approx(2 * (one + 500), abs=1)
    assert star(lines, "--wait", "tokens", *tokens)["time_ns"] == pytest.approx(one, abs=1)
    assert star(lines, "--wait", "tree", *tokens)["time_ns"] == pytest.approx(2 * one + 2 * 500, abs=1)
    late = star(lines, "--wait", "tree", "--ahead", "2", *tokens)
    assert late["time_ns"] == pytest.approx(one, abs=1) and late["ahead"] == 2 and late["token_ns"] == 500
    chunks = star(lines, "--wait", "chunks", "--chunk", "485")
    assert chunks["chunk_bytes"] == 485 and chunks["messages"] == 4 and chunks["payload_bytes"] == 2 * 970
    assert star(lines)["wait"] == "barrier" and star(lines, "--barrier", "none")["wait"] == "none"
    ranks = star(lines, "--ranks", "2")
    assert ranks["time_ns"] == pytest.approx(2 * (160 + 4000), abs=1) and ranks["ranks_per_server"] == 2
    assert star(lines, "--straggler", "1=0.5")["time_ns"] == pytest.approx(2 * (one + 1000), abs=10)
    jitter = star(lines, "--message-jitter", "0.2")["time_ns"]
    assert 2 * one < jitter < 2 * one + 2 * 200
    assert star(lines, "--message-jitter", "0.2")["time_ns"] == jitter != star(lines, "--message-jitter", "0.2", "--seed", "5")["time_ns"]
    unequal = star(lines, "--sigma", "0.5")
    assert unequal["payload_bytes"] != 2 * 970 and unequal["sigma"] == 0.5


@pytest.mark.parametrize("args, says", [
    (["--wait", "own", "--barrier", "1us"], "go without --barrier"),
    (["--wait", "chunks", "--token-time", "1us"], "--token-time needs --wait own, tokens or tree"),
    (["--ahead", "2"], "--ahead needs --wait tree"),
    (["--chunk", "1KiB"], "--chunk needs --wait chunks"),
    (["--load", "0.5", "--ranks", "2"], "--load has messages of one size"),
    (["--straggler", "9=0.5"], "server 9: there are 4"),
    (["--straggler", "x=0.5"], "SERVER=PART"),
    (["--straggler", "1=2"], "straggler"),
    (["--ranks", "65"], "ranks"),
])
def test_waiting_refused(fors, write, args, says):
    answer = fors("simulate", "--synthetic", STAR, "--routing", "d-mod-k", "--pattern-file", write("pattern", "0 1\n"), *args, code=2)
    assert says in answer.err


def test_waiting_for_people(fors):
    def says(*args):
        return fors("simulate", "--synthetic", "FT(2;4,4)", "--routing", "fors", "--pattern", "plan", *args).out
    assert "for all, by a tree, 2 phases later; 1 us a token" in says("--wait", "tree", "--ahead", "2")
    assert "own messages of a phase" in says("--wait", "own") and "had a link before" in says("--wait", "tokens")
    assert "chunks of 32768 bytes to each in turn, 4 under way" in says("--wait", "chunks")
    assert "65536 bytes or so" in says("--sigma", "0.2")


def test_times_by_hand(star):
    """Two cables of 30 ns, 100 ns of the switch, 1,000 bytes of packet with its header."""
    assert star("0 1\n")["time_ns"] == 1160
    assert star("0 1\n", "--wire-time", "0", "--switch-time", "0")["time_ns"] == 1000
    assert star("0 1\n", "--store-and-forward")["time_ns"] == 2160
    both = star("0 2\n1 2\n", "--message", "97000")
    assert both["time_ns"] == 200160 and both["bound_ns"] == 200000
    phases = star("0 1\nphase\n0 2\n", "--barrier", "2us")
    assert phases["time_ns"] == 2 * 3160 and [s["phase"] for s in phases["slot"]] == [0, 1]
    assert star("0 1\nphase\n0 2\n", "--barrier", "none")["time_ns"] == 2160
    idle = "0 1\nphase\n2 3\nphase\n0 2\n"
    assert star(idle, "--barrier", "none")["time_ns"] == 3160
    assert star(idle, "--barrier", "none", "--idle", "skipped")["time_ns"] == 2160
    assert star("0 1\nphase\n0 2\n", "--barrier", "none", "--window", "1")["time_ns"] == 2320
    assert star("0 1\nphase\n0 2\n", "--adapter-time", "5us", "--barrier", "none")["time_ns"] == 7160
    for way in ("0 1\n", "1 0\n"):  # a cable is slow in both directions
        assert star(way, "--link-rate", "Leaf00[1]=0.25", "--message", "9700")["time_ns"] == 40160


def test_speeds_of_the_text(fors, simulate, write):
    text = fors("fabric", "--synthetic", "FT(2;2,2)").out
    fast, slow = (simulate("--fabric", write("net", text.replace("4xSDR", rate)), "--routing", "fors", "--pattern", "plan",
                           "--wire-time", "0", "--switch-time", "0") for rate in ("4xNDR", "4xHDR"))
    assert fast["line_gbits"] == 400 and slow["line_gbits"] == 200
    assert slow["time_ns"] == pytest.approx(2 * fast["time_ns"])
    assert simulate("--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan")["line_gbits"] == 200


def test_why_phases_are_slow(fors, simulate, star):
    """The fullest link and its messages; who waited; and the time line has all bytes."""
    args = ["--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--routing", "shortest", "--pattern", "linear-shift", "--message", "256KiB"]
    result = simulate(*args)
    slow = max(result["slot"], key=lambda s: s["end_ns"] - s["begin_ns"])
    assert slow["fullest_messages"] == 2 and "Spine" in slow["fullest_link"]
    assert slow["bound_ns"] == pytest.approx(2 * 64 * 4126 * 8 / 200) and slow["bound_ns"] < slow["end_ns"] - slow["begin_ns"]
    assert slow["waiting_links"] >= slow["waiting_servers"] > 0 and slow["stalled_link"]
    line = result["time_line"]
    assert sum(line["arrived_bytes"]) == 240 * 256 * 1024 and len(line["arrived_bytes"]) <= 256
    assert sum(line["stalled_ns"]) == pytest.approx(sum(x["stall_ns"] for x in result["stalled_links"]))
    assert line["bin_ns"] * (len(line["arrived_bytes"]) - 1) <= result["time_ns"]
    shown = fors("simulate", *args).out
    assert f"{slow['fullest_link']} had 2 messages" in shown and "waited for room, " in shown
    assert result["senders"] == 16 and " send, " not in shown
    quiet = star("0 1\nphase\n1 2\n")["slot"][1]
    assert quiet["fullest_messages"] == 1 and quiet["waiting_links"] == 0 and quiet["stalled_link"] is None


def test_parts_of_something_better(fors, simulate, star):
    """One switch for all is what a star is; a tree with conflicts gets half of it."""
    same = star("0 1\n1 2\nphase\n0 2\n1 2\n", "--crossbar", "--healthy", "16")
    assert same["crossbar_share"] == 1 and same["healthy_share"] == same["gbits_per_server"] / 16
    args = ["--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--routing", "shortest", "--pattern", "shift(4)", "--message", "4MiB"]
    assert simulate(*args, "--crossbar")["crossbar_share"] == pytest.approx(0.5, abs=0.01)
    assert simulate(*args)["crossbar_share"] is None
    assert "of one switch for all" in fors("simulate", *args, "--crossbar", "--healthy", "150").out
    one = ["--synthetic", STAR, "--routing", "d-mod-k", "--pattern", "incast(1)"]
    assert simulate(*one)["senders"] == 3 and "3 of 4 send, " in fors("simulate", *one).out
    slow = star("0 1\n", "--crossbar", "--link-rate", "Leaf00[1]=0.5")
    assert slow["crossbar_share"] == 1 and slow["time_ns"] == 2160
    assert slow["message_gbits"] == pytest.approx(8 * slow["message_bytes"] / slow["message_latency"]["mean_ns"])


def test_load(simulate):
    """So much of the cables, and latencies that grow: of one queue as M/D/1 has them, half of a load beside it as long."""
    def load(part, *args, pattern="all-to-all"):
        return simulate("--synthetic", "FT(2;4,4)", "--routing", "fors", "--pattern", pattern, "--message", "4KiB", "--load", str(part), *args)

    low, high = load(0.2), load(0.8)
    assert low["load"] == 0.2 and low["slots"] == 1 and low["messages"] == 16000 and low["slot"] == []
    assert 0.9 * 0.2 < low["line_share"] < 0.22 and 0.9 * 0.8 < high["line_share"] < 0.85
    assert low["message_latency"]["mean_ns"] < high["message_latency"]["mean_ns"] / 2
    assert 8 * 4096 / low["message_latency"]["mean_ns"] < low["message_gbits"] < 200 * 4096 / 4126
    assert high["message_gbits"] < 0.7 * low["message_gbits"]
    assert load(0.2, "--messages", "10")["messages"] == 160
    one = load(0.05, "--messages", "3000", pattern="incast(1)")
    wait = 15 * 0.05 / (2 * (1 - 15 * 0.05))
    assert one["messages"] == 45000
    assert (one["message_latency"]["mean_ns"] - low["packet_latency"]["median_ns"]) / (4126 * 8 / 200) == pytest.approx(wait, abs=0.5)
    assert load(0.3, "--seed", "4") == load(0.3, "--seed", "4") != load(0.3)


@pytest.mark.parametrize("pattern", ["incast", "hotspot(3)", "ring", "dissemination", "broadcast", "tornado", "NAS-FT", "NAS-BT", "WRF", "bit-transpose"])
def test_workloads(simulate, pattern):
    """Each arrives whole, in order, and not before its links could."""
    result = simulate("--synthetic", "FT(2;4,4)", "--routing", "fors", "--pattern", pattern, "--message", "8KiB")
    assert result["packets_arrived"] == result["packets_sent"] == 2 * result["messages"] > 0
    assert result["reordered"] == 0 and result["time_ns"] >= result["bound_ns"] > 0


def test_page(fors, tmp_path):
    """Stalls of cables as parts of the time, and what --json says."""
    args = ["simulate", "--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--routing", "shortest", "--pattern", "linear-shift", "--message", "256KiB"]
    out = json.loads(fors(*args, "--json", "--html", tmp_path / "page").out)
    data = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "page").read_text(), re.S)[1])
    assert data["kind"] == "simulate" and data["result"] == out
    assert len(data["cables"]) == 15 and len(data["servers"]) == 16 and len(data["dead"]) == 1
    parts = [x for cable in data["cables"] for x in cable[4:]] + [x for server in data["servers"] for x in server[2:]]
    assert all(0 <= part <= 1 for part in parts) and max(parts) > 0.1


def test_a_barrier_without_cost(fors, tmp_path):
    page, args = tmp_path / "page.html", ["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan"]
    assert "barrier     after each phase, no barrier cost\n" in fors("simulate", *args, "--html", page).out
    assert "barrier     2.00 us after each phase\n" in fors("simulate", *args, "--barrier", "2us").out
    assert "0.00 ns" not in page.read_text().split("</script>")[0]


def test_the_time_of_a_packet(simulate):
    """The page merges bins of the time line that are shorter."""
    args = ["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan", "--speed", "100"]
    long, short = simulate(*args), simulate(*args, "--message", "1000")
    assert long["packet_ns"] - 4096 * 8 / 100 == pytest.approx(short["packet_ns"] - 1000 * 8 / 100) and short["packet_ns"] > 80


def test_who_waits_for_own_messages_alone_keeps_step_with_a_dead_cable(simulate):
    """The units of a leaf stand in one order in all rounds: 1.14 of what the links need, 1.87 where some change places."""
    args = ["--synthetic", "FT(2;10,9)", "--down", "Leaf00[11]", "--routing", "fors", "--pattern", "plan", "--barrier", "none", "--window", "1"]
    answer = simulate(*args)
    assert answer["time_ns"] < 1.25 * answer["bound_ns"]


def test_policies(fors, simulate):
    """Among the shortest ways of a tree; a random one is worse than the right one, and out of order."""
    args = ["--synthetic", "FT(2;6,6)", "--routing", "fors", "--pattern", "plan"]
    tables, random, hashed, adaptive = (simulate(*args, "--policy", p) for p in ("tables", "random", "hashed", "adaptive"))
    assert tables["packet_hops"] == random["packet_hops"] == hashed["packet_hops"] == adaptive["packet_hops"]
    assert hashed["time_ns"] > random["time_ns"] > adaptive["time_ns"] >= tables["time_ns"]
    assert random["reordered"] > 0 and hashed["reordered"] == 0 and random["bound_ns"] == 0
    assert "but in switches random" in fors("simulate", *args, "--policy", "random").out


DRAGONFLY = ["--synthetic", "DRAGONFLY(4,2,9;2)", "--routing", "shortest", "--message", "4KiB", "--messages", "150"]


def test_detours(simulate):
    """A Dragonfly of groups of eight servers, one cable between each two groups: by it an eighth gets through (to the next group but one, where no two cables are as short), over detours more; under uniform load they cost twice the way."""
    def share(policy, pattern, load):
        result = simulate(*DRAGONFLY, "--policy", policy, "--pattern", pattern, "--load", str(load), "--lanes", "hops", "--vls", "8")
        assert result["packets_arrived"] == result["packets_sent"] and result["policy"] == policy
        return result["line_share"], result["packet_hops"] / result["packets_sent"]

    for policy in ("tables", "random", "hashed", "tago"):
        assert share(policy, "shift(16)", 0.5)[0] == pytest.approx(1 / 8, abs=0.002)
    minimal, vlb, local, oracle = (share(policy, "shift(16)", 0.5) for policy in ("tables", "vlb", "ugal-l", "ugal-g"))
    assert vlb[0] > 0.25 and local[0] > 0.25 and oracle[0] > 0.25 and vlb[1] > oracle[1] > minimal[1]
    uniform = {policy: share(policy, "all-to-all", 0.5) for policy in ("tables", "vlb", "ugal-l", "ugal-g", "tago")}
    assert uniform["vlb"][0] < 0.9 * uniform["tables"][0]
    for policy in ("ugal-l", "ugal-g", "tago"):
        assert uniform[policy][0] > 0.97 * uniform["tables"][0]
    assert uniform["ugal-g"][1] < 1.2 * uniform["tables"][1] < uniform["vlb"][1]
    alone = {policy: share(policy, "shift(16)", 0.01)[1] for policy in ("tables", "ugal-l", "ugal-g")}
    assert alone["ugal-l"] < 1.05 * alone["tables"] and alone["ugal-g"] < 1.1 * alone["tables"]  # nobody waits: nobody turns aside


def test_tago_weighs_global_links(fors, simulate, write, tmp_path):
    """From Leaf00 one cable to the other block, from Leaf01 three: all four are equally full, whoever sends."""
    switches = {"Leaf00": ["Leaf01", "Leaf02"], "Leaf01": ["Leaf00", "Leaf03", "Leaf03", "Leaf03"], "Leaf02": ["Leaf03", "Leaf00"],
                "Leaf03": ["Leaf02", "Leaf01", "Leaf01", "Leaf01"]}
    net = ""
    for s, peers in switches.items():
        net += f'Switch 8 "{s}"\n' + "".join(f'[{p}] "H{s[-1]}{p}"[1]\n' for p in (1, 2, 3))
        for p, peer in enumerate(peers, 4):
            same = peers[:p - 4].count(peer)
            net += f'[{p}] "{peer}"[{4 + [i for i, back in enumerate(switches[peer]) if back == s][same]}]\n'
        net += "\n"
    for s in switches:
        net += "".join(f'Ca 1 "H{s[-1]}{p}"\n[1] "{s}"[{p}]\n\n' for p in (1, 2, 3))
    blocks = write("blocks", "a: Leaf00, Leaf01\nb: Leaf02, Leaf03\n")
    pattern = write("pattern", "0 6\n1 7\n2 8\n3 9\n4 10\n5 11\n")
    args = ["--fabric", write("net", net), "--routing", "shortest", "--pattern-file", pattern, "--load", "0.2", "--messages", "2000", "--message", "4KiB"]

    def global_loads(policy, *more):
        simulate(*args, "--policy", policy, "--html", tmp_path / "page", *more)
        data = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "page").read_text(), re.S)[1])
        name = {s[0]: s[1] for s in data["switches"]}
        return sorted(max(c[6], c[7]) for c in data["cables"] if {name[c[0]], name[c[2]]} in ({"Leaf00", "Leaf02"}, {"Leaf01", "Leaf03"}))

    tago, ecmp = global_loads("tago", "--blocks", blocks), global_loads("random")
    assert len(tago) == 4 and tago[3] < 1.1 * tago[0] and ecmp[3] > 2 * ecmp[0]
    spread = json.loads(fors("analyze", *args[:6], "--policy", "tago", "--blocks", blocks, "--json").out)["spread"]
    assert spread == {"policy": "tago", "max_load": 3 * 3 / 4, "throughput": 4 / 9, "phase_load": [9 / 4]}  # from Leaf00 to Leaf01: three flows, three of four
    assert "needs --blocks" in fors("simulate", *args, "--policy", "tago", code=2).err
    for text, error in (("a: Leaf00\n", "two blocks"), ("a: Leaf00\nb: Leaf00\n", "blocks:2"), ("a: Leaf00\nb: H01\n", "no switch"), ("a Leaf00\n", "blocks:1"),
                        ("a: Leaf00\nb: Leaf03\n", "no cable leads")):
        assert error in fors("simulate", *args, "--policy", "tago", "--blocks", write("blocks", text), code=2).err


PAIR = ["--synthetic", "XGFT(2;2,4;1,2)", "--routing", "shortest", "--pattern", "shift"]


@pytest.mark.parametrize("text, error", [
    ("# none\n\na Leaf00\n", ":3: \"NAME: SWITCH, SWITCH, ...\" is expected"),
    (": Leaf00\n", ":1: \"NAME: SWITCH, SWITCH, ...\" is expected"),
    ("[exclusive]: Leaf00\n", ":1: \"NAME: SWITCH, SWITCH, ...\" is expected"),
    ("a: Leaf00, Leaf01\nb [exclusive]: Leaf02\n", ":2: blocks have no marks like [exclusive]"),
    ("a: Leaf00, Leaf01\n\na: Leaf02\n", ":3: block \"a\" is there already, in line 1"),
    ("a: Leaf00, Leaf01\nb: # later\n", ":2: block \"b\" has no switch"),
    ("a: Leaf00, Leaf01\nb: , ,\n", ":2: block \"b\" has no switch"),
    ("a: Leaf00, Leaf01\nb: Leaf02, Leaf04\n", ":2: there is no such switch, or more than one: "),
    ("a: Leaf00\nb: 0xffffffffffffffffff\n", ":2: there is no such switch, or more than one: "),
    ("a: Leaf00\nb: Leaf01[99999999999999999999]\n", ":2: there is no such switch, or more than one: "),
    ("a: Leaf00\nb: " + 300 * "x" + "\n", ":2: there is no switch \"xxx"),
    ("a: Leaf00\nb: Leaf02, Leaf01[3]\n", ":2: \"Leaf01[3]\" is a port, here switches are expected"),
    ("a: Leaf00\nb: Node00-00\n", ":2: \"Node00-00\" is no switch"),
    ("a: Leaf00, Leaf01\nb: Leaf02, Leaf01\n", ":2: switch \"Leaf01\" is in a block already, that of line 1"),
    ("a: Leaf00\nb: Leaf01, Leaf02, Leaf01\n", ":2: switch \"Leaf01\" is named twice"),
    ("a: Leaf00, Leaf01, Leaf02, Leaf03\n# and no more\n", ":2: the text ends, but two blocks at least are expected"),
    ("a: Leaf00, Leaf01\nb: Leaf02, Spine00\n", ": switch \"Leaf03\" has servers and is in no block"),
    ("", ": "),
    ("a: Leaf00\0\n", ": "),
])
@pytest.mark.parametrize("command, policy", [("simulate", "vlb"), ("simulate", "tago"), ("analyze", "tago")])
def test_bad_lines_of_blocks(fors, write, text, error, command, policy):
    """Which line of which file, and what is wrong with it."""
    if "in no block" in error and policy == "tago":
        text = text.replace("Leaf01", "Leaf01, Spine01")  # a cable between the two
    path = write("blocks", text)
    assert f"{path}{error}" in fors(command, *PAIR, "--policy", policy, "--blocks", path, code=2).err


def test_blocks_without_a_cable_between(fors, write):
    path = write("blocks", "# leaves\na: Leaf00, Leaf01\n\nb: Leaf02, Leaf03\n")
    assert f"{path}:2: no cable leads from this block to that of line 4" in fors("simulate", *PAIR, "--policy", "tago", "--blocks", path, code=2).err
    assert fors("simulate", *PAIR, "--policy", "vlb", "--blocks", path).out


@pytest.mark.parametrize("spec, pattern, load", [("FLEXFLY(4,4,9;2;traffic=+2:1)", "shift(16)", "0.5"), ("FLEXSPANDER(8,5,4,7;4;seed=1;traffic=+2:1)", "shift(64)", "0.4")])
def test_tago_where_cables_follow_traffic(simulate, spec, pattern, load):
    """Within 10 % of UGAL-G, above MIN, ECMP by flows and VLB, and no less than ECMP by packets; blocks are those of the specification."""
    def share(policy):
        result = simulate("--synthetic", spec, "--routing", "shortest", "--pattern", pattern, "--load", load, "--messages", "150", "--message", "4KiB", "--speed", "100",
                          "--lanes", "hops", "--vls", "8", "--policy", policy)
        assert result["packets_arrived"] == result["packets_sent"]
        return result["line_share"]

    tago = share("tago")
    assert tago > 0.9 * share("ugal-g") and tago > max(share("tables"), share("hashed"), share("vlb")) and tago > 0.99 * share("random")


def test_lanes_by_hops_do_not_lock(simulate):
    """Detours on a ring of five: with one lane they lock, with one more at each switch they do not."""
    ring = ["--synthetic", "TORUS(7;2)", "--routing", "shortest", "--pattern", "shift(5)", "--policy", "vlb", "--buffer", "5000", "--message", "256KiB"]
    assert simulate(*ring, "--lanes", "destination", "--vls", "1", code=1)["is_deadlocked"]
    assert not simulate(*ring)["is_deadlocked"]


def test_adaptive_that_is_less_than_ideal(simulate):
    """To stay for ever is the tables; a choice that holds for ever never reorders; queues of which nothing is known are like the first link."""
    def run(*args, policy="adaptive"):
        result = simulate("--synthetic", "FT(2;6,6)", "--down", "Leaf00[7]", "--routing", "fors", "--pattern", "linear-shift", "--policy", policy, *args)
        return result["time_ns"], result["reordered"]

    ideal, tables = run(), run(policy="tables")
    assert ideal[1] > 0 and run("--adaptive-leave", "1GiB") == tables and run("--adaptive-leave", "8KiB")[0] < tables[0]
    assert run("--adaptive-binding", "1s")[1] == 0 < run("--adaptive-binding", "2us")[1] < ideal[1]
    blind = run("--adaptive-levels", "1GiB,1GiB,1GiB", "--adaptive-choice", "greedy")
    assert blind[1] == 0 and blind[0] > 2 * ideal[0]
    assert ideal[0] <= run("--adaptive-levels", "1280,2560,5120")[0] < blind[0]
    assert run("--adaptive-levels", "1280,2560,5120", "--seed", "3") == run("--adaptive-levels", "1280,2560,5120", "--seed", "3")


CEE = ["--speed", "10", "--message", "1470", "--mtu", "1470", "--buffer", "100KB", "--pause-high", "80KB", "--pause-low", "60KB", "--wire-time", "10ns"]


def test_a_victim_of_a_hotspot(fors, simulate, write):
    """Paper 003, figure 8, shorter: four servers send 45 % to one, a fifth 95 % to another. Who spreads the hot packets spreads the
    congestion; rate limits take it away."""
    pattern = write("pattern", "16 0\n20 0\n24 0\n28 0\n17 2\n")
    args = ["--synthetic", "XGFT(5;2,2,2,2,2;1,2,2,2,2)", "--routing", "d-mod-k", "--pattern-file", pattern, *CEE, "--load", "0.5", "--watch-server", "2",
            "--server-load", "17=0.93,0us,16ms", *(f"--server-load={s}=0.44,1ms,15ms" for s in (16, 20, 24, 28))]

    def victim(*more):
        result = simulate(*args, *more)
        line = result["time_line"]
        bins = [b for i, b in enumerate(line["arrived_bytes"]) if 11e6 <= i * line["bin_ns"] < 14.5e6]
        assert result["packets_sent"] == result["packets_arrived"] and result["watched_server"] == 2
        assert sum(line["arrived_bytes"]) == pytest.approx(0.93 * 16e-3 * 1.25e9, rel=0.03)
        return sum(bins) / len(bins) / line["bin_ns"] / 1.25, result["notifications"]

    tables, random, switch = victim(), victim("--policy", "random"), victim("--policy", "switch-ar")
    assert random[0] < 0.7 * tables[0] and 0.2 < tables[0] < 0.3 and switch[0] < 0.4
    assert tables[1] == random[1] == 0 < switch[1]
    limited = victim("--policy", "random", "--rate-limits")
    assert limited[0] > 0.85 and limited[1] > 0
    assert "notifications; servers heed them" in fors("simulate", *args, "--policy", "switch-ar", "--rate-limits").out


def test_server_loads(simulate, write):
    """Of one server another part, and only for a while; the others as --load says."""
    args = ["--synthetic", STAR, "--routing", "d-mod-k", "--pattern-file", write("pattern", "0 2\n1 3\n"), "--load", "0.2", "--messages", "2000", "--message", "4KiB", "--speed", "8"]
    usual = simulate(*args)
    assert usual["messages"] == 4000
    part = simulate(*args, "--server-load", "0=0.8,100ms,200ms")
    assert part["messages"] - 2000 == pytest.approx(0.8 * 0.1 * 1e9 / 4096, rel=0.03)
    seen = simulate(*args, "--server-load", "0=0.8,100ms,200ms", "--watch-server", "2")["time_line"]
    there = [i * seen["bin_ns"] / 1e6 for i, b in enumerate(seen["arrived_bytes"]) if b]
    assert min(there) > 95 and max(there) < 201 and simulate(*args, "--watch-server", "1")["time_line"]["arrived_bytes"].count(0) == len(simulate(*args, "--watch-server", "1")["time_line"]["arrived_bytes"])


def test_deadlock_is_named(fors, simulate):
    ring = ["--synthetic", "TORUS(5;1)", "--routing", "shortest", "--pattern", "shift(2)", "--buffer", "5000"]
    result = simulate(*ring, code=1)
    assert result["is_deadlocked"] and len(result["deadlock"]) == 5
    for link, following in zip(result["deadlock"], result["deadlock"][1:] + result["deadlock"][:1]):
        assert link.split(" -> ")[1].split("[")[0] == following.split("[")[0]
    assert result["packets_arrived"] < result["packets_sent"]
    shown = fors("simulate", *ring, code=1)
    assert "deadlock    5 links wait for one another" in shown.out and "deadlock" in shown.err


def test_same_bytes(fors):
    args = ["simulate", "--synthetic", "FT(2;3,4)", "--routing", "fors", "--pattern", "permutation", "--skew", "1us", "--json"]
    assert fors(*args).out == fors(*args).out
    assert fors(*args).out != fors(*args, "--seed", "1").out


def test_text(fors):
    shown = fors("simulate", "--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--routing", "shortest", "--pattern", "linear-shift").out
    for part in ("Gbit/s per server", "the fullest links alone need", "slowest", "messages    median", "0 of 3840 packets came out"):
        assert part in shown
    assert "barrier     none" in fors("simulate", "--synthetic", STAR, "--routing", "d-mod-k", "--pattern", "shift", "--barrier",
                                      "none").out


def test_messages_without_a_way(simulate, stock):
    """Tables of a healthy fabric, and a dead cable."""
    result = simulate("--fabric", stock / "0F.net", "--lfts", stock / "0F.ftree.lfts", "--down", "Leaf00[21]", "--pattern", "shift(20)",
                      code=1)
    assert 0 < result["broken"] < 360 and result["messages"] == 360 - result["broken"]


def test_one_message_without_a_way(fors, write):
    done = fors("simulate", "--synthetic", "FT(2;4,4)", "--routing", "d-mod-k", "--down", "Leaf00[5]", "--pattern-file",
                write("pattern", "0 4\n1 5\n"), code=1)
    assert "broken      1 message has no way to its server, and is left out" in done.out
    assert "1 message has no way to its server" in done.err


@pytest.mark.parametrize("args, text", [
    (["--message", "0"], "from 1 byte"),
    (["--message", "64 KiB"], "a size like"),
    (["--message", "-1"], "a size like"),
    (["--message", "1.5"], "a size like"),
    (["--message", "0x10"], "a size like"),
    (["--message", "0X10"], "a size like"),
    (["--message", "99999999999GiB"], "a size like"),
    (["--barrier", "4"], "a time like"),
    (["--barrier", "soon"], "a time like"),
    (["--skew", "nan"], "a time like"),
    (["--skew", "2000s"], "1000 s"),
    (["--buffer", "4096"], "smaller than a packet"),
    (["--mtu", "0"], "packets have to have"),
    (["--speed", "0"], "above 0"),
    (["--speed", "inf"], "above 0"),
    (["--speed", "1e-300"], "more than 1000 s over a link of 1e-300"),
    (["--speed", "0.000001", "--message", "1GiB"], "more than 1000 s over a link"),
    (["--adapter-rate", "1.1"], "at most 1"),
    (["--vls", "9"], "from 1 to 8"),
    (["--routing", "d-mod-k"], "a rule without any"),
    (["--vls", "0"], "from 1 to 8"),
    (["--vls", "2", "--vl-weights", "3"], "1 number for 2 lanes"),
    (["--vl-weights", "3,1"], "2 numbers for 1 lane"),
    (["--vls", "2", "--vl-weights", "3,0"], "from 1 to 255"),
    (["--vls", "2", "--vl-weights", "3,"], "from 1 to 255"),
    (["--vls", "2", "--vl-weights", "256,1"], "from 1 to 255"),
    (["--vls", "2", "--vl-weights", ""], "from 1 to 255"),
    (["--vls", "2", "--vl-weights", "1,1,1,1,1,1,1,1,1"], "at most 8 lanes"),
    (["--barrier", "none", "--window", "0"], "from 1 to"),
    (["--load", "0.5", "--messages", "0"], "from 1 to"),
    (["--pattern", "hotspot(1000000)", "--barrier", "1000s"], "longer than can be counted"),
    (["--pattern", "hotspot(1000000)", "--barrier", "10s", "--speed", "1000000"], "longer than can be counted"),
    (["--link-rate", "Leaf00=0.5"], "a port is missing"),
    (["--link-rate", "Leaf00"], "NODE[PORT]=PART"),
    (["--link-rate", "Leaf00=0.5"], "no live cable"),
    (["--link-rate", "Leaf00[1]=0"], "above 0"),
    (["--link-rate", "Leaf09[1]=0.5"], "Leaf09"),
    (["--pause-high", "20KiB"], "need each other"),
    (["--pause-high", "20KiB", "--pause-low", "30KiB"], "below the high mark"),
    (["--pause-high", "60KiB", "--pause-low", "30KiB"], "too late"),
    (["--healthy", "0"], "above 0"),
    (["--adaptive-binding", "1us"], "--policy adaptive"),
    (["--policy", "adaptive", "--adaptive-levels", "1,2"], "three sizes"),
    (["--policy", "adaptive", "--adaptive-levels", "1,2,3,4"], "three sizes"),
    (["--policy", "adaptive", "--adaptive-levels", "3,2,1"], "three sizes"),
    (["--policy", "adaptive", "--adaptive-levels", "0,0,0"], "three sizes"),
    (["--policy", "adaptive", "--adaptive-levels", ""], "a size like"),
    (["--policy", "random", "--blocks", "x"], "--blocks is for"),
    (["--policy", "tago"], "needs --blocks"),
    (["--policy", "valiant"], "one of: tables"),
    (["--load", "1.5"], "at most 1"),
    (["--load", "0.5", "--barrier", "1us"], "without --barrier"),
    (["--messages", "5"], "needs --load"),
    (["--load", "0.00001", "--message", "1GiB"], "1000 s"),
    (["--pattern", "bit-transpose(3)"], "takes no number"),
    (["--window", "1"], "--barrier none"),
    (["--barrier", "none", "--jitter", "1us"], "--jitter"),
    (["--measured", "100", "--barrier", "1us"], "without --barrier"),
    (["--measured", "100", "--skew", "1us"], "--skew"),
    (["--measured", "1000"], "cannot be reached"),
    (["--switch-ar-level", "last"], "need --policy switch-ar"),
    (["--switch-ar-forget", "1ms"], "need --policy switch-ar"),
    (["--policy", "switch-ar", "--switch-ar-level", "first"], "one of: sum"),
    (["--qcn-queue", "10KB"], "need --rate-limits"),
    (["--policy", "switch-ar", "--qcn-timer", "1ms"], "needs --rate-limits"),
    (["--rate-limits", "--qcn-queue", "0"], "1 byte to 256 MiB"),
    (["--rate-limits", "--qcn-sample", "10"], "100 bytes or later"),
    (["--rate-limits", "--qcn-timer", "0"], "timer"),
    (["--server-load", "0=0.5"], "--server-load needs --load"),
    (["--load", "0.5", "--server-load", "9=0.5"], "there are 4"),
    (["--load", "0.5", "--server-load", "0=1.5"], "at most 1"),
    (["--load", "0.5", "--server-load", "0"], "SERVER=PART"),
    (["--load", "0.5", "--server-load", "-1=0.5"], "SERVER=PART"),
    (["--load", "0.5", "--server-load", "0=0.5,1ms"], "no END"),
    (["--load", "0.5", "--server-load", "0=0.5,2ms,1ms"], "after it begins"),
    (["--load", "0.5", "--server-load", "0=0.5,2ms,2000s"], "1000 s"),
    (["--load", "0.5", "--server-load", "0=0.00001", "--message", "1GiB"], "1000 s"),
    (["--watch-server", "4"], "there are 4"),
    (["--idle", "skipped"], "--idle needs --barrier none"),
    (["--idle", "kept"], "--idle needs --barrier none"),
    (["--idle", "skipped", "--barrier", "1us"], "--idle needs --barrier none"),
    (["--load", "0.5", "--barrier", "none", "--idle", "skipped"], "--load has no phases"),
    (["--load", "0.5", "--jitter", "1us"], "--load has no phases"),
    (["--pause-low", "20KiB"], "need each other"),
    (["--map", "random"], "goes without"),
    (["--pattern", "PLAN(flows)", "--map", "random"], "goes without"),
    (["--routing", "shortest", "--lmc", "1"], "--lmc is for --routing fors"),
    (["--lfts", "x"], "exclude each other"),
    (["--policy", "adaptive", "--policy", "random", "--adaptive-binding", "1us"], "--policy adaptive"),
])
def test_bad_settings(fors, args, text):
    result = fors("simulate", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan", *args, code=2)
    assert text in result.err


@pytest.mark.parametrize("args", [["--barrier", "none", "--idle", "skipped"], ["--barrier", "none", "--jitter", "0"], ["--load", "0.5", "--messages", "5", "--skew", "0us"],
                                  ["--load", "0.5", "--messages", "5", "--barrier", "none"], ["--map", "direct"], ["--barrier", "1us", "--barrier", "none", "--window", "1"],
                                  ["--pattern", "shift", "--map", "random"]])
def test_options_that_go_together(simulate, args):
    """A time of 0 is as good as none; of an option that is given twice the last one counts."""
    assert simulate("--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan", *args)["packets_arrived"] > 0


def test_lanes_by_hops_are_some(simulate):
    """A ring that locks with one lane does not when lanes climb, also where nobody says how many there are."""
    ring = ["--synthetic", "TORUS(5;2)", "--routing", "shortest", "--pattern", "shift(4)", "--buffer", "8KiB", "--message", "1MiB"]
    assert simulate(*ring, code=1)["deadlock"] and not simulate(*ring, "--lanes", "hops")["deadlock"]


def test_lanes_by_weight(simulate, write):
    """Two leaves, one cable between them: who sends to an odd server has three packets of four, and is done after two thirds of the time."""
    pattern = write("pattern", "0 3\n1 4\n")
    def mean(*args):
        return simulate("--synthetic", "FT(2;3,2)", "--routing", "shortest", "--pattern-file", pattern, "--down", "Leaf00[5]", "--down", "Leaf00[6]",
                        "--vls", "2", "--message", "4MiB", *args)["message_latency"]["mean_ns"]
    assert mean("--vl-weights", "1,3") == pytest.approx(mean() * (2 / 3 + 1) / 2, rel=0.01)


def test_long_times_take_no_time(simulate):
    """A barrier of minutes is not waited for step by step."""
    result = simulate("--synthetic", "FT(2;3,3)", "--routing", "fors", "--pattern", "plan", "--barrier", "1000s", "--speed", "100000")
    assert result["time_ns"] == pytest.approx(8e12, rel=1e-9) and result["packets_arrived"] == 72 * 16


def test_four_levels_have_no_plan_of_fors(fors, simulate):
    """What `fors plan` refuses is refused here; tables of others have a plan."""
    tree = ["--synthetic", "XGFT(4;2,2,2,2;1,2,2,2)", "--pattern", "plan"]
    assert "no common live spine" in fors("simulate", *tree, "--routing", "fors", code=2).err
    assert simulate(*tree, "--routing", "up-down")["packets_arrived"] == 16 * 15 * 16


@pytest.mark.parametrize("routing", ["fors", "shortest"])
def test_three_levels(simulate, fors, routing):
    """Plans over tables: those of fors too, with as many phases as `fors plan` says; a dead cable costs some."""
    tree = ["--synthetic", "XGFT(3;3,3,3;1,3,3)"]
    for down in ([], ["--down", "Leaf00[4]"]):
        result = simulate(*tree, *down, "--routing", routing, "--pattern", "plan")
        assert result["servers"] == 27 and result["packets_arrived"] == 27 * 26 * 16
        if routing == "fors":
            assert result["slots"] == json.loads(fors("plan", *tree, *down, "--json").out)["phases"]
        else:
            assert result["slots"] >= 27
        assert simulate(*tree, *down, "--routing", routing, "--pattern", "linear-shift", "--message", "4KiB")["slots"] == 26


def test_servers_that_are_not_there(fors, write):
    pattern = write("pattern", "0 1\n0 99\n")
    assert "pattern:2:" in fors("simulate", "--synthetic", STAR, "--routing", "d-mod-k", "--pattern-file", pattern, code=2).err


def test_whatif_in_gbits(fors, tmp_path):
    """The intact fabric is what --simulate says of it, measured rates are fitted, and results survive in a file."""
    args = ["whatif", "--synthetic", "FT(2;4,4)", "--simulate", "--message", "16KiB", "--measured", "100", "--json"]
    result = json.loads(fors(*args, "--resume", tmp_path / "results").out)
    intact = result["intact"]["fors"]
    assert intact["shift_gbits"] == pytest.approx(100, abs=0.05) and intact["gbits"] > 90
    one = next(f for f in result["failures"] if f["failure"].startswith("Leaf00[5]"))["engines"]["fors"]
    assert 40 < one["shift_gbits"] < 85 < one["gbits"] < 110
    lines = (tmp_path / "results").read_text().splitlines(keepends=True)
    (tmp_path / "half").write_text("".join(lines[:5]))
    assert json.loads(fors(*args, "--resume", tmp_path / "half", "--threads", "1").out) == result
    for more in (["--message", "32KiB"], ["--speed", "100", "--measured", "50"]):
        fors(*args, *more, "--resume", tmp_path / "results", code=2)
    shown = fors(*args[:-1]).out
    assert "Gbit/s per server, simulated" in shown and " 100.0" in shown


@pytest.mark.parametrize("args, text", [
    (["--message", "1KiB"], "not --simulate"),
    (["--simulate", "--message", "0"], "from 1 byte"),
    (["--simulate", "--barrier", "1us", "--measured", "90"], "without --barrier"),
    (["--simulate", "--measured", "900"], "cannot be reached"),
])
def test_whatif_bad_settings(fors, args, text):
    assert text in fors("whatif", "--synthetic", "FT(2;2,2)", *args, code=2).err
