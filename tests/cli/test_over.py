# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors plan --lfts: plans over the tables of the stock engines, in four topologies; tables that are no good."""
import csv
import json
import re

import pytest

# Phases that these tables need, by fabric and engine; counted by hand from the dumps (see fullest() below).
ENGINES = {"tree2": ("ftree", "minhop", "updn", "dfsssp", "nue", "lash", "dor"),
           "tree3": ("ftree", "minhop", "updn", "dfsssp", "nue", "lash", "dor"),
           "torus": ("minhop", "updn", "dfsssp", "nue", "lash", "dor", "torus-2QoS"),
           "irregular": ("minhop", "updn", "dfsssp", "nue", "lash", "dor")}
SERVERS = {"tree2": 24, "tree3": 36, "torus": 32, "irregular": 30}
KEYS = ["state", "reason", "servers", "switches", "left_out", "phases", "lower_bound", "length_bound", "tables_bound", "fullest_link", "fullest_flows",
        "length", "slow_phases", "full_speed_mbits", "cable_flows", "cable_flows_most", "degraded_choice", "ignored_length", "drained_length", "longest_way", "method", "flows", "plan_ms", "verify_ms",
        "certificates", "remarks"]


@pytest.fixture(scope="session")
def engines(unpacked):
    return unpacked("engines")


@pytest.fixture
def plan(fors):
    """plan(args..., code=0): what --json says."""
    def call(*args, code=0):
        report = json.loads(fors("plan", *args, "--json", code=code).out)
        assert sorted(report) == sorted(KEYS)
        return report
    return call


def read_net(text):
    """Node GUID -> {port: (GUID of the peer, its port)}, LID -> GUID of the adapter; by ibnetdiscover's text."""
    ports, lids, node, names = {}, {}, None, {}
    for line in text.splitlines():
        if head := re.match(r'(?:Switch|Ca)\s+\d+ "([SH]-([0-9a-f]+))"', line):
            node = int(head[2], 16)
            names[head[1]] = node
            ports[node] = {}
        elif cable := re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([SH]-[0-9a-f]+)"\[(\d+)\](.*)', line):
            ports[node][int(cable[1])] = (cable[2], int(cable[3]))
            if (lid := re.search(r"# lid (\d+) lmc", cable[4])) and head_is_adapter(line):
                lids[int(lid[1])] = node
    return {n: {p: (names[peer], q) for p, (peer, q) in cables.items()} for n, cables in ports.items()}, lids


def head_is_adapter(line):
    return re.match(r"\[\d+\]\([0-9a-f]+\)", line)


def read_tables(text):
    tables = {}
    for part in re.split(r"^Unicast lids ", text, flags=re.M)[1:]:
        guid = int(re.search(r"guid 0x([0-9a-f]+)", part)[1], 16)
        tables[guid] = {int(lid, 16): int(port) for lid, port in re.findall(r"^0x([0-9a-fA-F]{4}) (\d{3})", part, re.M)}
    return tables


def fullest(net, tables):
    """Flows of the fullest link between switches in the whole exchange, by walks of our own."""
    ports, lids = net
    load = {}
    for src in lids.values():
        for lid, dst in lids.items():
            at = next(iter(ports[src].values()))[0]
            while src != dst and at != dst:
                port = tables[at][lid]
                peer = ports[at][port][0]
                if peer != dst:
                    load[at, port] = load.get((at, port), 0) + 1
                at = peer
    return max(load.values(), default=0)


@pytest.mark.parametrize("fabric", ENGINES)
def test_stock_engines(plan, fors, engines, tmp_path, fabric):
    net = engines / f"{fabric}.net"
    for engine in ENGINES[fabric]:
        lfts = engines / f"{fabric}.{engine}.lfts"
        report = plan("--fabric", net, "--lfts", lfts, "--output", tmp_path / "schedule")
        need = max(SERVERS[fabric], fullest(read_net(net.read_text()), read_tables(lfts.read_text())))
        assert report["state"] == "active" and report["servers"] == SERVERS[fabric]
        assert report["tables_bound"] == need, engine
        phases = report["phases"]
        assert phases == need, engine  # on all of them the plan reaches what the tables allow
        assert report["lower_bound"] <= need and report["flows"] == SERVERS[fabric] * (SERVERS[fabric] - 1)
        fors("verify", "--fabric", net, "--lfts", lfts, "--schedule", tmp_path / "schedule")
        result = json.loads(fors("analyze", "--fabric", net, "--lfts", lfts, "--schedule", tmp_path / "schedule", "--json").out)
        assert (result["max_link_load"], result["phases"]) == (1, phases)
        assert result["sync_throughput"] == pytest.approx(SERVERS[fabric] / phases)


def test_the_schedule_is_of_its_tables(plan, fors, engines, tmp_path):
    net, schedule = engines / "torus.net", tmp_path / "schedule"
    plan("--fabric", net, "--lfts", engines / "torus.dfsssp.lfts", "--output", schedule)
    result = fors("verify", "--fabric", net, "--lfts", engines / "torus.minhop.lfts", "--schedule", schedule, code=1)
    assert "but the schedule names another way" in result.out
    result = fors("verify", "--fabric", net, "--lfts", engines / "torus.dfsssp.lfts", "--schedule", schedule, "--down", "Switch00[3]",
                  code=1)
    assert "where no live cable is" in result.out


def test_bounds_are_told_apart(fors, engines):
    """These tables carry 48 flows over one link; a torus of 4 x 4 with 2 servers each needs 2 x 2 x 16 x 32 / 64 = 32."""
    out = fors("plan", "--fabric", engines / "torus.net", "--lfts", engines / "torus.dfsssp.lfts").out
    assert "these tables need 48 phases at least, the best of all tables 32" in out
    assert "carries 48 flows" in out and "over these tables none is shorter" in out and "66.7 % of full speed" in out


def test_analyze_plans_for_any_tables(fors, engines):
    args = ("analyze", "--fabric", engines / "irregular.net", "--lfts", engines / "irregular.updn.lfts", "--json")
    result = json.loads(fors(*args, "--pattern", "plan").out)
    assert result["max_link_load"] == 1 and result["broken"]["flows"] == 0
    assert json.loads(fors(*args, "--pattern", "plan(flows)").out)["phases"] == result["phases"]
    assert "method exact is for two-level fat-trees" in fors(*args, "--pattern", "plan(exact)", code=2).err


def test_methods(plan, fors, engines):
    args = ("--fabric", engines / "tree3.net", "--lfts", engines / "tree3.minhop.lfts")
    assert plan(*args, "--method", "flows")["method"] == "flows"
    result = plan(*args, "--method", "exact", code=1)
    assert "method exact is for two-level fat-trees" in result["reason"] and result["phases"] is None
    tree = ("--fabric", engines / "tree2.net", "--lfts", engines / "tree2.dfsssp.lfts")
    assert plan(*tree)["method"] == "rounds"
    assert plan(*tree, "--method", "flows")["method"] == "flows"


def test_participants(plan, engines, write):
    guids = re.findall(r"^\[1\]\(([0-9a-f]+)\)", (engines / "torus.net").read_text(), re.M)[::7]
    some = write("some", "".join(f"0x{guid}\n" for guid in guids))
    report = plan("--fabric", engines / "torus.net", "--lfts", engines / "torus.lash.lfts", "--participants", some)
    assert report["servers"] == len(guids) == 5 and report["flows"] == 20


def test_lids_that_share_cables(plan, fors, tmp_path):
    """
    All LIDs of a server lead over the first two cables up of each leaf, half of them each: no cable is crossed by all ways of a flow, and yet 4
    servers have 12 flows each for two cables.
    """
    fabric = ("--synthetic", "FT(2;4,4)", "--lmc", "2")
    (tmp_path / "net").write_text(fors("fabric", *fabric).out)
    lines, switch = [], ""
    for line in fors("fabric", *fabric, "--format", "lfts").out.splitlines():
        switch = found[1] if (found := re.search(r"guid 0x\w+ \('(.*)'\)", line)) else switch
        one = re.match(r"(0x\w+) (\d+)(.*)", line)
        up = one and switch.startswith("Leaf") and int(one[2]) > 4
        lines.append(f"{one[1]} {5 + int(one[1], 16) % 2:03d}{one[3]}" if up else line)
    (tmp_path / "lfts").write_text("\n".join(lines) + "\n")
    report = plan("--fabric", tmp_path / "net", "--lfts", tmp_path / "lfts")
    assert report["tables_bound"] == report["phases"] == 4 * 12 // 2
    assert report["lower_bound"] == 16


def test_synthetic_with_tables(plan, fors, tmp_path):
    """The tables that fors itself writes, read back: LIDs come from them."""
    (tmp_path / "lfts").write_text(fors("fabric", "--synthetic", "FT(2;4,5)", "--format", "lfts").out)
    report = plan("--synthetic", "FT(2;4,5)", "--lfts", tmp_path / "lfts")
    assert (report["phases"], report["tables_bound"], report["lower_bound"]) == (20, 20, 20)


@pytest.mark.parametrize("spec, phases", [("CUBE(6;2)", 128), ("CUBE(5;4)", 256)])
def test_hypercubes(plan, fors, tmp_path, spec, phases):
    """All cables of a hypercube are full all the time, and plans are near that."""
    for kind in ("net", "lfts"):
        (tmp_path / kind).write_text(fors("fabric", "--synthetic", spec, "--routing", "dor", "--format", kind).out)
    report = plan("--fabric", tmp_path / "net", "--lfts", tmp_path / "lfts")
    assert report["tables_bound"] == phases and phases <= report["phases"] <= 1.1 * phases


# ---- service levels


@pytest.mark.parametrize("engine", ["dfsssp", "torus-2QoS"])
def test_service_levels(plan, fors, engines, tmp_path, write, engine):
    args = ("--fabric", engines / "torus.net", "--lfts", engines / f"torus.{engine}.lfts", "--output", tmp_path / "schedule")
    sl = engines / f"torus.{engine}.sl"
    levels = {tuple(map(int, line.split()[:2])): int(line.split()[2]) for line in sl.read_text().splitlines()}
    plan(*args, "--sl", sl)
    rows = list(csv.DictReader(fors("schedule", tmp_path / "schedule", "--format", "csv").out.splitlines()))
    assert len(rows) == len(levels) == 32 * 31 and len(set(levels.values())) > 1
    for row in rows:
        assert int(row["sl"]) == levels[int(row["src_lid"]), int(row["dst_lid"])]
        assert len(row["via"].split()) <= 5 and row["spine_guid"] == ""  # a torus has no spines
    plan(*args, "--sl", write("few", "# only one\n1 5 3\n"))
    rows = list(csv.DictReader(fors("schedule", tmp_path / "schedule", "--format", "csv").out.splitlines()))
    assert [(row["src_lid"], row["dst_lid"], row["sl"]) for row in rows if row["sl"]] == [("1", "5", "3")]
    for bad, text in [("1 5\n", "few:1: here a service level from 0 to 15 is expected"), ("1 5 16\n", "few:1: here a service level"),
                      ("x\n", "few:1: here a source LID"), ("1 y\n", "few:1: here a destination LID"), ("1 5 3 4\n", "few:1: there is more"),
                      ("1 5 3\n1 5 4\n", "few:2: LID 1 to 5 has another service level in line 1"), ("0 1 2\n", "few:1: here a source LID")]:
        assert text in fors("plan", *args, "--sl", write("few", bad), code=2).err
    assert "--lfts FILE is missing" in fors("plan", "--synthetic", "FT(2;2,2)", "--sl", sl, code=2).err


# ---- tables that are no good: the reason, exit code 1 or 2, nothing written


def entry(text, switch, lid, port):
    """The dump with another port for a LID in the table of one switch."""
    at = text.index(f"({switch!r})")
    return text[:at] + re.sub(rf"(?m)^(0x{lid:04X}|0x{lid:04x}) \d{{3}}", rf"\1 {port:03d}", text[at:], count=1)


@pytest.mark.parametrize("lid, port, reason", [
    (1, 255, "no way from"), (1, 255, "switch Switch11 has no entry for this LID"), (1, 0, "switch Switch11 takes this LID for its own"),
    (1, 77, "switch Switch11 with its 6 ports names port 77, which may be a group of adaptive routing"),
    (1, 1, "behind switch Switch11 it comes out at Switch11-Node0")])
def test_bad_entries(fors, plan, engines, write, tmp_path, lid, port, reason):
    text = (engines / "torus.minhop.lfts").read_text()
    lfts = write("lfts", entry(text, "Switch11", lid, port))
    assert lfts.read_text() != text
    args = ("--fabric", engines / "torus.net", "--lfts", lfts, "--output", tmp_path / "schedule")
    assert reason in fors("plan", *args, code=1).err
    report = plan(*args, code=1)
    assert report["state"] == "failed" and reason in report["reason"]
    assert not (tmp_path / "schedule").exists()


@pytest.mark.parametrize("line", ["0x0001 003,004 # two ports", "Adaptive routing groups of switch 0x0000000000200000:", "dump_ar: Switch 0x0000000000200000",
                                  "AR group 3: 5 6 7"])
def test_adaptive_groups(fors, engines, write, tmp_path, line):
    """Groups of ports are recognised by their words, or by several ports for a LID."""
    text = (engines / "torus.minhop.lfts").read_text()
    mixed = re.sub(r"(?m)^0x0001 .*", line, text, count=1)
    for lfts in (mixed, line + "\n"):
        if lfts == mixed or not line.startswith("0x"):
            result = fors("plan", "--fabric", engines / "torus.net", "--lfts", write("lfts", lfts), "--output", tmp_path / "s", code=1)
            assert "adaptive routing" in result.err and "one port for each LID" in result.err
            assert not (tmp_path / "s").exists()


def test_loops(fors, engines, write):
    """Switch01 and Switch02 send LID 1 to each other: ports 3 and 4 join x, 5 and 6 join y."""
    text = entry(entry((engines / "torus.minhop.lfts").read_text(), "Switch01", 1, 5), "Switch02", 1, 6)
    assert "the tables loop from" in fors("plan", "--fabric", engines / "torus.net", "--lfts", write("lfts", text), code=1).err


@pytest.mark.parametrize("net, lfts", [("torus", "tree3"), ("tree3", "torus")])
def test_tables_of_another_fabric(fors, engines, tmp_path, net, lfts):
    """ibsim numbers GUIDs alike, so both know the first ports, but by other LIDs."""
    result = fors("plan", "--fabric", engines / f"{net}.net", "--lfts", engines / f"{lfts}.minhop.lfts", "--output", tmp_path / "s", code=1)
    assert f"{lfts}.minhop.lfts:" in result.err and "LID" in result.err
    assert not (tmp_path / "s").exists()


def test_absent_nodes(fors, engines, write):
    """A switch that the fabric does not have; a LID that nobody has."""
    text, net = (engines / "torus.minhop.lfts").read_text(), engines / "torus.net"
    guid = re.search(r"guid 0x([0-9a-f]+) \('Switch33'\)", text)[1]
    result = fors("plan", "--fabric", net, "--lfts", write("lfts", text.replace(f"guid 0x{guid} ('Switch33')", "guid 0x0000000000abcdef ('Switch33')")),
                  code=1)
    assert "there is a table of switch 0x0000000000abcdef, which is not in this fabric" in result.err
    lines = re.sub(r"(?m)^Unicast lids \[0-(\d+)\]", lambda m: f"Unicast lids [0-{int(m[1]) + 1}]", text)
    lines = re.sub(r"(?m)^(\d+) lids dumped", lambda m: f"0x{int(m[1]) + 1:04x} 003 # nobody\n{int(m[1]) + 1} lids dumped", lines)
    result = fors("plan", "--fabric", net, "--lfts", write("lfts", lines), code=1)
    assert "which no port of this fabric has: tables and fabric are not of one time" in result.err


def test_a_dead_cable_is_not_in_the_tables(fors, engines):
    result = fors("plan", "--fabric", engines / "irregular.net", "--lfts", engines / "irregular.updn.lfts", "--down", "Switch00-Node0", code=0)
    assert "29 servers" in result.out
    result = fors("plan", "--fabric", engines / "torus.net", "--lfts", engines / "torus.minhop.lfts", "--down", "Switch00[3]", code=1)
    assert "where no live cable is" in result.err and "no way from" in result.err


def test_usage(fors, engines, write):
    args = ("plan", "--fabric", engines / "torus.net", "--lfts")
    assert "--lmc and --lfts exclude each other" in fors(*args, engines / "torus.minhop.lfts", "--lmc", "1", code=2).err
    assert "cannot be opened" in fors(*args, "/nowhere", code=2).err
    assert "lfts:" in fors(*args, write("lfts", "what?\n"), code=2).err
