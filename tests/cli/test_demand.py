# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors plan --demand: what a file may say, what is told, and plans whose pieces another program walks (tests/sweep/demands.py)."""
import json
import random
import re
import subprocess
import sys

import pytest

from conftest import FORS, SRC, needs_short, short_of_memory

TREE = ["--synthetic", "FT(2;4,4)"]
TREE3 = "XGFT(3;3,2,3;1,3,2)"


@pytest.fixture
def plan(fors, tmp_path):
    """plan(text, options...) -> what --json says; more: code, or text=True for what people read."""

    def call(demand, *options, code=0, text=False, tree=TREE):
        path = tmp_path / "demand"
        path.write_text(demand)
        done = fors("plan", *tree, "--demand", path, *options, *([] if text else ["--json"]), code=code)
        return done if code or text else json.loads(done.out)

    return call


def pieces_of(fors, path):
    """[(length, {(src, dst): bytes})] by GUIDs in order."""
    data = json.loads(fors("schedule", path, "--format", "json").out)
    phases = [(length, {}) for length in data["lengths"]]
    for row in data["flows"]:
        phases[row["phase"]][1][row["src_guid"], row["dst_guid"]] = row["bytes"]
    return phases


def test_sizes_add_up_and_are_cut(plan, fors, tmp_path):
    out = tmp_path / "schedule"
    data = plan("Node00-00 Node01-0[0-1] 1000\nNode02-00 Node01-00 500 # half\nNode02-00 Node01-00 300\n\n", "--phase-cost", "0", "--output", out)
    assert (data["messages"], data["bytes"], data["senders"], data["receivers"]) == (3, 2800, 2, 2)
    assert data["length"] == data["length_bound"] == 2000 and data["bound_by"] == "port" and data["bound_at"] == "Node00-00 sends"
    assert data["lower_bound"] == 2 and data["ports_bound"] == 2000
    sent = [sum(p.values()) for _, p in pieces_of(fors, out)]
    assert sum(sent) == 2800 and sum(length for length, _ in pieces_of(fors, out)) == 2000


def csv_of(fors, path):
    rows = [line.split(",") for line in fors("schedule", path, "--format", "csv").out.splitlines()]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def test_the_schedule_has_the_pieces(plan, fors, tmp_path):
    out = tmp_path / "schedule"
    plan("Node00-00 Node01-0[0-1] 1000\nNode02-00 Node01-00 800\n", "--phase-cost", "0", "--output", out)
    want = [(k, *pair, size) for k, (_, sent) in enumerate(pieces_of(fors, out)) for pair, size in sent.items()]
    assert sorted((int(r["phase"]), r["src_guid"], r["dst_guid"], int(r["bytes"])) for r in csv_of(fors, out)) == sorted(want)
    data = json.loads(fors("schedule", out, "--format", "json").out)
    assert data["lengths"] == [length for length, _ in pieces_of(fors, out)] and data["unit"] == "bytes" and data["granule"] >= 1
    assert f"     0  is {data['lengths'][0]} bytes long\n" in fors("schedule", out).out
    assert plan("Node00-00 Node01-00 1\n", "--output", out, text=True).out.endswith(f"schedule    written to {out}\n")


def test_the_schedule_is_verified_and_measured(plan, fors, tmp_path):
    out, lfts, net = tmp_path / "schedule", tmp_path / "lfts", tmp_path / "net"
    plan("role Node00-0[0-3] send\nrole Node03-0[0-1] receive\n", "--lmc", "2", "--output", out)
    fors("fabric", *TREE, "--lmc", "2", "--format", "lfts", "--output", lfts)
    fors("fabric", *TREE, "--lmc", "2", "--format", "net", "--output", net)
    assert "4 phases, 8 pieces of a demand" in fors("verify", "--fabric", net, "--lfts", lfts, "--schedule", out).out
    fors("fabric", *TREE, "--lmc", "2", "--down", "Spine00", "--format", "lfts", "--output", lfts)
    assert "wrong" in fors("verify", "--fabric", net, "--lfts", lfts, "--schedule", out, code=1).out
    assert json.loads(fors("schedule", out, "--format", "json").out)["unit"] == "messages"
    found = json.loads(fors("analyze", *TREE, "--lmc", "2", "--routing", "fors", "--schedule", out, "--json").out)
    assert found["max_link_load"] == 1 and found["sync_throughput"] == pytest.approx(1)


def test_the_simulation_has_the_sizes(plan, fors, tmp_path):
    out = tmp_path / "schedule"
    plan("Node00-00 Node01-00 3000000\nNode02-00 Node01-01 1000000\n", "--phase-cost", "0", "--output", out)
    run = ["simulate", *TREE, "--routing", "fors", "--schedule", out]
    assert 120e3 < json.loads(fors(*run, "--json").out)["time_ns"] < 130e3  # 3 MB at 200 Gbit/s
    assert "--ranks" in fors(*run, "--ranks", "2", code=2).err


def test_times_with_what_phases_cost(plan):
    """The same for programs and for people."""
    demand = "Node00-00 Node01-0[0-1] 100000\nNode02-00 Node01-00 50000\nNode00-01 Node01-02 30000\n"
    data, told = plan(demand, "--phase-cost", "4us"), plan(demand, "--phase-cost", "4us", text=True).out
    assert data["phase_cost"] == 100000 and data["time_over_bound"] == (data["length"] + data["phases"] * 100000) / data["length_bound"]
    assert f"{data['time_over_bound']:.3f} with 100000 bytes for each phase" in told
    for other in ("uniform", "shift"):
        assert f"{other:12}{data[f'{other}_phases']} phases, {data[f'{other}_time_over_bound']:.3f} of the bound\n" in told
        assert data[f"{other}_time_over_bound"] > data[f"{other}_phases"] * 100000 / data["length_bound"]


def test_roles(plan):
    data = plan("role Node0[0-2]-0[0-3] send\nrole Node03-00 receive\nrole Node03-01 both\n")
    assert (data["senders"], data["receivers"], data["messages"]) == (13, 2, 25)
    assert data["phases"] == data["lower_bound"] == 13 and data["length"] is None and data["length_bound"] is None


def test_groups_add_up(plan):
    data = plan("group a Node00-0[0-3]\ngroup b Node00-00,Node00-01\n")
    assert data["messages"] == 12 and data["ports_bound"] == 4 and data["phases"] == 4


def test_groups_that_are_alike(plan, fors, tmp_path):
    """Three groups of the same hosts are three messages for each pair; whatever phases they share, they count as one for each message."""
    out = tmp_path / "schedule"
    data = plan("".join(f"group {name} Node00-0[0-2]\n" for name in "abc"), "--output", out)
    assert data["lower_bound"] == data["proven_bound"] == data["phases"] == 6 <= data["uniform_phases"]
    assert sum(length for length, _ in pieces_of(fors, out)) == 6


def test_a_uniform_demand_is_the_uniform_plan(plan, fors):
    everybody = ",".join(f"Node0{leaf}-0{slot}" for leaf in range(4) for slot in range(4))
    whole = json.loads(fors("plan", *TREE, "--down", "Leaf00[5]", "--json").out)
    sizes = plan(f"{everybody} {everybody} 4096\n", "--down", "Leaf00[5]", "--phase-cost", "0")
    group = plan(f"group all {everybody}\n", "--down", "Leaf00[5]")
    assert sizes["method"] == group["method"] == "uniform"
    assert sizes["uniform_phases"] == sizes["phases"] == group["phases"] <= whole["phases"]
    assert sizes["length"] == 4096 * sizes["phases"]


@pytest.mark.parametrize("tree,names,phases", [("FT(2;2,2;empty=1/1)", "Node00-0[0-1],Node01-00", 2),
                                               ("FT(2;3,2;empty=1/1)", "Node00-0[0-2],Node01-0[0,2]", 4)])
def test_few_with_few_need_a_phase_less_than_there_are_servers(fors, tmp_path, tree, names, phases):
    (tmp_path / "demand").write_text(f"group all {names}\n")
    data = json.loads(fors("plan", "--synthetic", tree, "--demand", tmp_path / "demand", "--json").out)
    assert (data["phases"], data["uniform_phases"]) == (phases, phases + 1)


def test_few_with_few_are_cut_where_that_is_shorter(fors, tmp_path):
    """45 messages leave a leaf with two cables: 22.5 over each, and whole messages need 23 phases."""
    everybody = fors("fabric", "--synthetic", TREE3, "--format", "net").out
    hosts = ",".join(re.findall(r'^Ca.*"(.*?)"\s+#', everybody, re.M))
    (tmp_path / "demand").write_text(f"{hosts} {hosts} 100000\n")
    down = ("--down", "Mid2-00[3]", "--down", "Leaf01[5]")
    data = json.loads(fors("plan", "--synthetic", TREE3, "--lmc", "2", *down, "--demand", tmp_path / "demand", "--phase-cost", "0", "--json").out)
    assert data["length"] == data["length_bound"] == 2250000


def test_names_and_guids(plan):
    data = plan("0x100001 0x100011 10\n0x100000 Node03-00 5\n")  # a port, and its node
    assert (data["senders"], data["receivers"], data["bytes"]) == (1, 2, 15)


def test_a_host_counts_once_in_a_word(plan):
    """By name or GUID; in several words it counts again."""
    assert plan("0x100001,Node00-00,Node00-00 Node01-00 10\nNode00-00 Node01-00 5\n")["bytes"] == 15
    assert plan("group a Node00-00,0x100001,Node01-00\n")["phases"] == 1


def test_unknown_hosts_are_left_out(plan):
    data = plan("ghost[0-4],Node00-00 Node01-00 10\nghost0 Leaf00 7\n0x123456 Node01-00 7\n")
    assert data["bytes"] == 10 and data["hosts_left_out"] == 7
    assert "7 hosts are no server of this fabric and left out: ghost0, ghost1, ghost2, ..." in data["remarks"][-1]
    assert "left out" in plan("ghost0,Node00-00 Node01-00 10\n", text=True).out


@pytest.mark.parametrize("text, line, what", [
    ("Node00-00 Node01-00\n", 1, '"SRC DST BYTES"'), ("\nNode00-00 Node01-00 1k\n", 2, "no number of bytes"),
    ("Node00-00 Node01-00 -1\n", 1, "no number of bytes"), ("Node00-00 Node01-00 1 2\n", 1, "one word too many"),
    ("Node00-00 Node01-00 1125899906842625\n", 1, "no number of bytes"), ("Node0[0-] Node01-00 1\n", 1, "the list of hosts"),
    ("role Node00-00 sender\n", 1, "receive or both is expected"), ("role Node00-00\n", 1, "receive or both is expected"),
    ("role Node00-00 send\nrole Node00-00 both\n", 2, "has a role already"), ("group Node00-00\n", 1, "group NAME HOSTS"),
    ("group a Node00-0[0-1]\nNode00-00 Node01-00 1\n", 2, "sizes go without roles"),
    ("Node00-00 Node01-00 1\nrole Node00-00 send\n", 2, "sizes go without roles"),
])
def test_bad_lines(plan, text, line, what):
    done = plan(text, code=2)
    assert f"demand:{line}: " in done.err and what in done.err and not done.out


@pytest.mark.parametrize("text", ["# nothing\n", "Node00-00 Node00-00 5\n", "ghost Node00-00 5\n", "role Node00-00 send\n", "Node00-00 Node01-00 0\n"])
def test_nothing_to_send(plan, text):
    assert "no message between servers of this fabric" in plan(text, code=2).err


@pytest.mark.parametrize("text, says", [
    ("ghost Node00-00 5\n", "; 1 host is not among them: ghost\n"), ("a[0-1] b[0-1] 5\na0 b0 7\n", "; 4 hosts are not among them: a0, a1, b0, ...\n"),
    ("role x send\nrole y receive\n", "; 2 hosts are not among them: x, y\n"), ("Node00-00 Node00-00 5\n", "servers of this fabric\n")])
def test_nothing_to_send_by_whom(plan, text, says):
    """Names of another fabric are told."""
    assert plan(text, code=2).err.endswith(says)


def test_too_many_bytes(plan):
    assert "more than" in plan("Node00-00 Node01-00 1125899906842624\nNode00-00 Node01-00 1\n", code=2).err


def test_too_many_bytes_in_all(fors, tmp_path):
    """Their sum is to fit what counts it: 32 * 32 pairs of 2^50 bytes are 2^60, and one more byte is too much."""
    demand, args = tmp_path / "demand", ["plan", "--synthetic", "FT(2;8,8)", "--phase-cost", "0", "--demand", tmp_path / "demand"]
    demand.write_text("Node0[0-3]-0[0-7] Node0[4-7]-0[0-7] 1125899906842624\n")
    assert json.loads(fors(*args, "--json").out)["bytes"] == 1 << 60
    demand.write_text(demand.read_text() + "Node00-00 Node00-01 1\n")
    done = fors(*args, code=2)
    assert "more than 1152921504606846976 bytes in all" in done.err and not done.out


@pytest.mark.parametrize("more", [["--method", "flows"], ["--participants", "x"]], ids=str)
def test_what_it_goes_without(fors, tmp_path, more):
    (tmp_path / "demand").write_text("Node00-00 Node01-00 1\n")
    assert "--demand goes without" in fors("plan", *TREE, "--demand", tmp_path / "demand", *more, code=2).err
    assert "more than a second" in fors("plan", *TREE, "--demand", tmp_path / "demand", "--phase-cost", "2s", code=2).err
    assert "needs --demand" in fors("plan", *TREE, "--phase-cost", "1us", code=2).err


def test_phases_cost(plan):
    """4 us at 8 Gbit/s are 4000 bytes, and a plan that is cut less is better then."""
    text = "".join(f"Node0{a}-0{i} Node0{b}-0{j} {1 + 37 * (a + 2 * b + 3 * i + 5 * j) % 1009}\n"
                   for a in range(4) for b in range(4) for i in range(4) for j in range(4) if (a, i) != (b, j))
    free, dear = plan(text, "--phase-cost", "0"), plan(text, "--phase-cost", "40us")
    assert free["phase_cost"] == 0 and dear["phase_cost"] == 10 * plan(text)["phase_cost"] > 0
    assert dear["phases"] < free["phases"] and free["length"] <= dear["length"]
    assert free["time_over_bound"] == free["length_over_bound"] == free["length"] / free["length_bound"]


def test_rings_of_conflicts_do_not_lose_bytes(fors, tmp_path):
    """Over tables of another engine, where the bound cannot be reached, the plan is right all the same."""
    net, lfts, demand = tmp_path / "net", tmp_path / "lfts", tmp_path / "demand"
    for name, form in ((net, "net"), (lfts, "lfts")):
        name.write_text(fors("fabric", "--synthetic", "TORUS(3x3;2)", "--routing", "dor", "--format", form).out)
    names = [line.split('"')[1] for line in net.read_text().splitlines() if line.startswith("Ca")]
    demand.write_text("".join(f"{a} {b} {100 + 7 * i}\n" for i, a in enumerate(names) for b in names[i + 1:i + 5]))
    data = json.loads(fors("plan", "--fabric", net, "--lfts", lfts, "--demand", demand, "--phase-cost", "0", "--json").out)
    assert data["length_bound"] <= data["length"] <= 1.5 * data["length_bound"] and data["bytes"] == sum(
        int(line.split()[2]) for line in demand.read_text().splitlines())


def test_a_message_of_three_units_stays_in_one_phase(fors, tmp_path):
    """Where phases are dear; two messages that meet nowhere need one phase, and the sizes 3 and 9 are few units of 3."""
    (tmp_path / "demand").write_text("Node00-00 Node01-00 3\nNode05-00 Node00-00 9\n")
    data = json.loads(fors("plan", "--synthetic", "FT(2;2,8;cables=2)", "--demand", tmp_path / "demand", "--json").out)
    assert (data["phases"], data["length"], data["uniform_phases"]) == (1, 9, 2)


def test_fewer_steps_give_a_longer_plan(plan):
    """--plan-steps, as plan_steps in fors.conf: the search ends earlier."""
    names = [f"Node{leaf:02d}-{port:02d}" for leaf in range(8) for port in range(8)]
    rng = random.Random(5)
    text = "".join(f"{s} {d} {int(1000 * rng.lognormvariate(0, 1)) + 1}\n" for s in names for d in names if s != d)
    short, usual = (plan(text, "--phase-cost", "0", *more, tree=["--synthetic", "FT(2;8,8)"])["length"] for more in (["--plan-steps", "1"], []))
    assert short > usual


def test_equal_messages_in_parts(fors, tmp_path):
    """Four neighbours each on a grid of servers anywhere: the bound is no multiple of a message. Pieces of all lengths took 1.16 of it."""
    order = random.Random(1).sample([f"Node{leaf:02d}-{port:02d}" for leaf in range(18) for port in range(20)], 360)
    (tmp_path / "demand").write_text("".join(
        f"{order[20 * r + c]} {order[20 * ((r + down) % 18) + (c + right) % 20]} 65536\n"
        for r in range(18) for c in range(20) for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1))))
    data = json.loads(fors("plan", "--synthetic", "FT(2;20,18)", "--down", "Leaf00[21]", "--lmc", "5", "--demand", tmp_path / "demand",
                           "--phase-cost", "0", "--json").out)
    assert data["length_over_bound"] < 1.1


def test_full_phases_take_a_longer_search(fors, tmp_path):
    """All servers send and receive in each phase."""
    rows = [[f"Node{name}" for name in row.split()] for row in (
        "02-00 03-02 03-00 02-01 05-01 00-02 04-02 00-01", "00-00 04-01 01-00 01-02 01-01 05-00 03-01 04-00")]
    (tmp_path / "demand").write_text("".join(f"group g{i} {','.join(line)}\n" for i, line in enumerate([*rows, *zip(*rows)])))
    down = "Leaf00[5] Spine05[6] Leaf04[6] Leaf05[6] Spine03[3] Leaf02[4] Leaf02[3] Leaf04[5]".split()
    data = json.loads(fors("plan", "--synthetic", "FT(2;6,6;servers=3)", *(arg for d in down for arg in ("--down", d)),
                           "--demand", tmp_path / "demand", "--json").out)
    assert data["phases"] == data["lower_bound"] == 8


RING = "Node00-00 Node01-00 1000\nNode00-01 Node02-00 1000\nNode00-01 Node01-01 1000\nNode02-01 Node01-01 1000\nNode02-01 Node01-00 1000\n"


def test_a_ring_of_five(fors, tmp_path):
    """Leaf00 sends to Node01-00 and Node02-00 over one cable; each two neighbours of the ring meet, so two of five are sent at a time."""
    (tmp_path / "demand").write_text(RING)
    args = ["plan", "--synthetic", "FT(2;2,3)", "--demand", tmp_path / "demand", "--phase-cost", "0"]
    data = json.loads(fors(*args, "--json").out)
    assert (data["length_bound"], data["proven_bound"], data["length"], data["phases"]) == (2000, 2000, 2500, 5)
    (tmp_path / "demand").write_text(RING[:RING.rindex("Node02-01")])
    data = json.loads(fors(*args, "--json").out)
    assert data["length"] == data["proven_bound"] == data["length_bound"] == 2000


def test_whole_messages_of_a_ring(fors, tmp_path):
    """The same where phases are dear: three phases of whole messages."""
    (tmp_path / "demand").write_text(RING)
    data = json.loads(fors("plan", "--synthetic", "FT(2;2,3)", "--demand", tmp_path / "demand", "--phase-cost", "1us", "--json").out)
    assert data["phases"] == 3 and data["length"] == 3000


@pytest.mark.parametrize("count, seed", [("25", "100"), ("1", "346"), ("1", "493")], ids=["random", "cut", "gates"])
def test_random_demands_walked_by_another_program(count, seed):
    """Also over tables that lack a way, and where a phase as long as ports allow takes too much from the cables of a switch."""
    done = subprocess.run([sys.executable, SRC / "tests" / "sweep" / "demands.py", FORS, count, seed], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_short
@pytest.mark.parametrize("text", ["Node00-0[0-3] Node01-00,Node02-00 1000\nghost Node00-00 3\n", "group a Node00-0[0-2],Node01-00\n"], ids=["sizes", "group"])
def test_short_of_memory(tmp_path, text):
    """Whatever allocation fails: the plan as it is, or an error, never something else."""
    (tmp_path / "demand").write_text(text)
    args = ["plan", *TREE, "--demand", tmp_path / "demand", "--json", "--output", tmp_path / "schedule"]
    code, whole, _, _ = short_of_memory(1000000, *args)
    same = [line for line in whole.splitlines() if "_ms" not in line]
    at, reached = 1, True
    while reached:
        code, out, err, reached = short_of_memory(at, *args)
        assert code in (0, 2) and (code == 0 or "out of memory" in err)
        assert code == 2 or [line for line in out.splitlines() if "_ms" not in line] == same
        at += 5
    assert at > 100


def test_schema(plan):
    jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")
    schema = json.loads((SRC / "packaging" / "schemas" / "demand.schema.json").read_text())
    judge = jsonschema.Draft202012Validator(schema)
    for text in ("Node00-00 Node01-00 5\n", "group a Node00-0[0-3]\n"):
        data = plan(text)
        assert not list(judge.iter_errors(data)) and set(data) == set(schema["properties"])
        data["phases"] = -1
        assert list(judge.iter_errors(data))


@needs_short
def test_short_of_memory_while_a_schedule_is_read(plan, tmp_path):
    """As above, of who reads one."""
    plan("Node00-0[0-3] Node01-00,Node02-00 1000\nNode03-00 Node00-00 3\n", "--output", tmp_path / "schedule")
    for args in (["schedule", tmp_path / "schedule", "--format", "csv"],
                 ["analyze", *TREE, "--routing", "fors", "--schedule", tmp_path / "schedule", "--json"],
                 ["simulate", *TREE, "--routing", "fors", "--schedule", tmp_path / "schedule", "--json"]):
        code, whole, _, _ = short_of_memory(1000000, *args)
        at, reached = 1, True
        while reached:
            code, out, err, reached = short_of_memory(at, *args)
            assert code in (0, 2) and (code == 0 or "out of memory" in err)
            assert code == 2 or out == whole
            at += 7


def test_a_leaf_that_is_cut_off(plan, tmp_path, fors):
    """Its hosts are left out, and said; the others' messages are planned and walked."""
    down = [word for port in range(5, 9) for word in ("--down", f"Leaf00[{port}]")]
    data = plan("Node00-0[0-3] Node01-00 1000\nNode02-0[0-3] Node01-00,Node00-01 500\n", *down, "--phase-cost", "0")
    assert (data["servers"], data["messages"], data["bytes"], data["flows"]) == (12, 4, 2000, 4)
    assert any("4 servers are cut off from the 12 others" in text for text in data["remarks"])
    assert any("5 hosts" in text or "Node00-00" in text for text in data["remarks"])
    assert "Node00-00" in plan("Node00-00 Node01-00 1\n", *down, code=2).err
