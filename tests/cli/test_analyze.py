# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors analyze: figures of stock engines, small cases by hand, and tables that do not belong to the fabric."""
import json
import re

import pytest

KEYS = {"phases", "sync_throughput", "max_link_load", "mmf_min", "mmf_mean", "mmf_aggregate", "optimum_aggregate", "efi_max",
        "dark_fiber"}

# Throughput of the synchronised exchange on FT(2;20,18) under ftree, minhop, updn, dfsssp; found by walking through
# opensm's tables with another program, on the same failures but partly other cables.
STOCK = {
    "0F": (1.000, 1.000, 1.000, 1.000),
    "1F SW0": (0.516, 0.516, 0.529, 0.389),
    "2F SW0": (0.516, 0.516, 0.527, 0.384),
    "3F SW0": (0.509, 0.509, 0.526, 0.372),
    "1F SW0,5,11": (0.462, 0.462, 0.526, 0.360),
    "2F SW0,5,11": (0.452, 0.452, 0.423, 0.354),
    "3F SW0,5,11": (0.453, 0.453, 0.516, 0.356),
    "SW18,19 down": (0.527, 0.527, 0.527, 0.510),
    "SW18,19,22,23 down": (0.524, 0.524, 0.524, 0.485),
}


@pytest.fixture(scope="session")
def stock(unpacked):
    return unpacked("stock")


@pytest.fixture
def analyze(fors):
    """analyze(args..., code=0): what --json says."""
    def call(*args, code=0, pattern="linear-shift"):
        return json.loads(fors("analyze", *args, "--pattern", pattern, "--json", code=code).out)
    return call


def file_name(scenario):
    return re.sub("[^0-9A-Za-z]+", "-", scenario)


@pytest.mark.parametrize("scenario", STOCK)
def test_stock_engines(analyze, stock, scenario):
    name = file_name(scenario)
    for engine, expected in zip(("ftree", "minhop", "updn", "dfsssp"), STOCK[scenario]):
        result = analyze("--fabric", stock / f"{name}.net", "--lfts", stock / f"{name}.{engine}.lfts")
        assert abs(result["sync_throughput"] - expected) < 0.01, engine
        assert result["servers"] == result["phases"] == 360 and result["flows"] == 360 * 359
        assert result["broken"]["flows"] == 0 and result["detours"] == 0
        assert result["sync_throughput"] == pytest.approx(360 / result["sum_of_phase_loads"], abs=1e-12)
    if "down" not in scenario:
        assert len(result["dead_cables"]) == len(json.loads((stock / "cut.json").read_text())[scenario])


def test_both_kinds_of_dump_give_the_same(analyze, stock):
    net = stock / "1F-SW0.net"
    results = [analyze("--fabric", net, "--lfts", stock / f"1F-SW0.minhop.{kind}") for kind in ("lfts", "fts")]
    for result in results:
        result.pop("routing")
    assert results[0] == results[1]


@pytest.mark.parametrize("lmc", [0, 2])
@pytest.mark.parametrize("pattern", ["linear-shift", "RANDN(3)", "plan"])
def test_own_tables_as_a_file_give_the_same(analyze, fors, write, lmc, pattern):
    source = ["--synthetic", "FT(2;4,5)", "--down", "Leaf01[5]"]
    net = write("net", fors("fabric", "--synthetic", "FT(2;4,5)", "--format", "net").out)
    tables = write("lfts", fors("fabric", *source, "--lmc", lmc, "--format", "lfts").out)
    own = analyze(*source, "--lmc", lmc, "--routing", "fors", pattern=pattern)
    read = analyze("--fabric", net, "--down", "Leaf01[5]", "--lfts", tables, pattern=pattern)
    for result in own, read:
        del result["routing"], result["fabric"]
    assert own == read


def test_one_dead_cable_by_hand(analyze):
    """FT(2;2,2), Leaf00 has one uplink left: in the shift by 2 it carries two flows each way."""
    result = analyze("--synthetic", "FT(2;2,2)", "--down", "Leaf00[3]", "--routing", "fors")
    assert KEYS <= result.keys()
    assert result["phase_load"] == [0, 1, 2, 1]
    assert (result["phases"], result["sync_throughput"], result["max_link_load"]) == (4, 0.8, 2)
    assert result["mmf_min"] == 0.5 and result["mmf_mean"] == pytest.approx(10 / 12) and result["optimum_aggregate"] is None
    assert result["mmf_aggregate"] == pytest.approx(10 / 3)
    # all routes between the leaves go over Spine01: 4 each way, over 4 of the 6 directed links that are left
    assert result["efi_max"] == 4 and result["dark_fiber"] == pytest.approx(2 / 6)
    assert result["dead_cables"] == [{"a": "Leaf00", "a_port": 3, "b": "Spine00", "b_port": 1}]


def test_links_that_two_flows_share_are_named(fors, write):
    out = fors("analyze", "--synthetic", "FT(2;4,4)", "--routing", "d-mod-k", "--pattern-file", write("pattern", "0 4\n1 8\n")).out
    assert "Leaf00[5] -> Spine00[1]: 2 flows in its worst phase, 2 in all" in out


def test_more_servers_than_routes_are_counted_for(fors):
    out = fors("analyze", "--synthetic", "XGFT(2;64,65;1,4)", "--routing", "d-mod-k", "--pattern", "shift(1)").out
    assert "all 4160 flows" in out and "dark fiber" not in out


def test_the_optimum_takes_all_cables_for_equally_fast(fors, analyze, write):
    net = fors("fabric", "--synthetic", "FT(2;2,2)").out
    for end in (r'(\[1\].*"Node00-00"\[1\].*)4xSDR', r'(\[1\].*"Leaf00"\[1\].*)4xSDR'):
        net = re.sub(end, r"\g<1>1xSDR", net)
    source = ("--fabric", write("net", net), "--routing", "fors", "--optimum")
    slow = analyze(*source, pattern="permutation")
    assert slow["slow_links"] == 2 and slow["optimum_is_exact"] is False
    assert analyze("--synthetic", "FT(2;2,2)", "--routing", "fors", "--optimum", pattern="permutation")["optimum_is_exact"] is True


def test_a_page_has_the_title_of_its_fabric(fors, tmp_path):
    fors("analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "permutation", "--html", tmp_path / "page")
    assert "<title>FT(2;2,2) - fors</title>" in (tmp_path / "page").read_text()


def test_optimum_of_a_permutation(analyze):
    result = analyze("--synthetic", "XGFT(2;4,4;1,4)", "--routing", "d-mod-k", "--seed", "3", "--optimum", pattern="permutation")
    assert result["optimum_aggregate"] == pytest.approx(16) and result["optimum_is_exact"] is True
    assert result["mmf_aggregate"] <= 16 + 1e-9


@pytest.mark.parametrize("spec", ["XGFT(2;4,5;1,4)", "FT(2;4,5)"])
def test_d_mod_k_is_what_fors_writes(analyze, spec):
    """Two ways to the same paths: rules of a tree, and tables."""
    rules = analyze("--synthetic", spec, "--routing", "d-mod-k", pattern="RANDN(4)")
    tables = analyze("--synthetic", "FT(2;4,5)", "--routing", "fors", pattern="RANDN(4)")
    assert {key: rules[key] for key in KEYS} == {key: tables[key] for key in KEYS}


@pytest.mark.parametrize("down", [[], ["--down", "Spine02"], ["--down", "Leaf00[5]"]])
def test_tables_of_three_levels(analyze, fors, tmp_path, down):
    """Those that fors would write there, which are as good as D-mod-K; and not those of two levels, of which a taller tree has two sides too."""
    source = ["--synthetic", "XGFT(3;4,4,4;1,4,4)", *down]
    result = analyze(*source, "--routing", "fors", pattern="linear-shift")
    assert result["servers"] == 64 and result["broken"]["flows"] == 0
    assert down or result["sync_throughput"] == 1
    net, lfts = tmp_path / "net", tmp_path / "lfts"
    net.write_text(fors("fabric", *source).out)
    lfts.write_text(fors("fabric", *source, "--format", "lfts").out)
    other = analyze("--fabric", net, "--lfts", lfts, pattern="linear-shift")
    assert {key: result[key] for key in KEYS} == {key: other[key] for key in KEYS}


def test_rules_know_empty_slots(analyze):
    """A slot without a server is as one whose cable is dead; the servers after it keep their paths."""
    empty, down = (analyze("--synthetic", *source, "--routing", "d-mod-k", "--optimum", pattern="RANDN(4)")
                   for source in (["FT(2;4,5;empty=1/1,4/3)"],
                                  ["FT(2;4,5)", "--down", "Node01-01", "--down", "Node04-03"]))
    assert {key: empty[key] for key in KEYS} == {key: down[key] for key in KEYS}
    assert empty["servers"] == 18 and empty["broken"]["flows"] == 0


@pytest.mark.parametrize("method", ["auto", "rounds", "exact"])
def test_plans_are_conflict_free(analyze, method):
    result = analyze("--synthetic", "FT(2;5,6)", "--down", "Leaf00[6]", "--lmc", "3", "--routing", "fors",
                     pattern=f"plan({method})")
    assert result["max_link_load"] == 1 and result["mmf_min"] == 1
    assert result["sync_throughput"] == pytest.approx(30 / result["phases"])


def test_a_schedule_as_pattern(analyze, fors, tmp_path):
    source = ["--synthetic", "FT(2;3,4)", "--down", "Leaf00[4]"]
    fors("plan", *source, "--output", tmp_path / "schedule")
    out = fors("analyze", *source, "--routing", "fors", "--schedule", tmp_path / "schedule", "--json").out
    assert json.loads(out)["max_link_load"] == 1
    assert "for 12 servers" in fors("analyze", "--synthetic", "FT(2;3,3)", "--routing", "fors", "--schedule",
                                    tmp_path / "schedule", code=2).err


def test_pattern_file_and_jobs(fors, write):
    pattern = write("pattern", "0 4\n1 4\nphase\n4 0\n")
    jobs = write("jobs", "# a comment\none: 0-1, Node01-00\ntwo: 2, 3\n")
    result = json.loads(fors("analyze", "--synthetic", "FT(2;4,2)", "--routing", "fors", "--pattern-file", pattern, "--jobs", jobs,
                             "--json").out)
    assert result["phase_load"] == [2, 1] and result["mmf_min"] == 0.5 and result["phases"] == 2
    # job one: the LIDs of 0, 1 and 4 are at home on Spine00, Spine01 and Spine00; two routes go up to 4, one down to each
    assert [(job["name"], job["servers"], job["efi_max"], job["links"]) for job in result["jobs"]] == [("one", 3, 2, 6), ("two", 2, 0, 0)]
    assert result["efi_max"] == 2


def test_tables_for_the_jobs_that_run(fors, write):
    """Two jobs of two leaves and as many servers as spines: under sar each has two of the four spines for itself; in any topology all arrive."""
    jobs = write("jobs", "a: 0, 1, 4, 5\nb: 2, 3, 6, 7\n")
    data = json.loads(fors("analyze", "--synthetic", "FT(2;4,2)", "--routing", "sar", "--jobs", jobs, "--pattern", "all-to-all", "--json").out)
    assert [(job["efi_max"], job["links"]) for job in data["jobs"]] == [(2, 8), (2, 8)] and data["dark_fiber"] == 0
    torus = json.loads(fors("analyze", "--synthetic", "TORUS(3x3;2)", "--routing", "sar", "--jobs", jobs, "--pattern", "all-to-all", "--json").out)
    assert torus["broken"] == {} or not any(torus["broken"].values())
    assert "fors analyze with --jobs FILE" in fors("analyze", "--synthetic", "FT(2;4,2)", "--routing", "sar", "--pattern", "shift", code=2).err
    assert "there is no node" in fors("analyze", "--synthetic", "FT(2;4,2)", "--routing", "sar", "--pattern", "shift", "--jobs",
                                      write("bad", "a: Nobody\n"), code=2).err


def test_seeds(analyze):
    source = ["--synthetic", "FT(2;4,5)", "--routing", "fors"]
    runs = [analyze(*source, "--seed", seed, "--map", "random", pattern="permutation") for seed in (1, 1, 2, 3, 4)]
    assert runs[0] == runs[1]
    assert len({run["mmf_aggregate"] for run in runs}) > 1


def test_any_topology(analyze, fors, write):
    """A ring of three switches, routed by hand: every table entry is a neighbour's port."""
    net = "".join(f'Switch 3 "S{i}"\n[1] "H{i}"[1]\n[2] "S{(i + 1) % 3}"[3]\n[3] "S{(i + 2) % 3}"[2]\n\n' for i in range(3))
    net += "".join(f'Hca 1 "H{i}"\n[1] "S{i}"[1]\n\n' for i in range(3))
    path = write("net", net)
    tables = ""
    for i in range(3):
        tables += f"Unicast lids [0-3] of switch Lid 0 guid 0x{0x200000 + i:016x} ('S{i}'):\n"
        for d in range(3):
            port = {0: 1, 1: 2, 2: 3}[(d - i) % 3]
            tables += f"0x{d + 1:04x} {port:03d} # Channel Adapter portguid 0x{ca_guid(d):016x}: 'H{d}'\n"
        tables += "3 lids dumped\n"
    result = analyze("--fabric", path, "--lfts", write("lfts", tables))
    assert result["sync_throughput"] == 1 and result["efi_max"] == 1 and result["dark_fiber"] == 0


def ca_guid(number):
    """Port GUIDs as ibsim numbers them."""
    return 0x100001 + 2 * number


# --- what does not fit

@pytest.fixture
def small(fors, write):
    """(net path, text of tables) of FT(2;2,3)."""
    source = ["--synthetic", "FT(2;2,3)"]
    return write("net", fors("fabric", *source, "--format", "net").out), fors("fabric", *source, "--format", "lfts").out


def entries(text, switch):
    """Lines of the table of a switch, with their numbers."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if f"('{switch}')" in line)
    end = next(i for i in range(start, len(lines)) if "dumped" in lines[i])
    return [(i, lines[i]) for i in range(start + 1, end)]


def with_port(text, switch, lid, port):
    """The text with another port for a LID of a switch; None: without the line."""
    lines = text.splitlines()
    for i, line in entries(text, switch):
        if line.startswith(f"0x{lid:04x} "):
            lines[i] = "" if port is None else f"0x{lid:04x} {port:03d}{line[10:]}"
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("switch, port, kind", [
    ("Leaf00", None, "hole"), ("Leaf00", 255, "hole"), ("Leaf00", 0, "hole"), ("Leaf00", 2, "astray"), ("Spine00", 1, "loop"),
])
def test_broken_tables(analyze, fors, write, small, switch, port, kind):
    net, text = small
    tables = write("lfts", with_port(text, switch, 3, port))
    result = analyze("--fabric", net, "--lfts", tables, code=1)
    assert result["broken"][kind] > 0 and result["broken"]["flows"] == result["broken"][kind]
    assert "Node" in result["broken"]["first"] and result["mmf_min"] == 0
    done = fors("analyze", "--fabric", net, "--lfts", tables, "--pattern", "linear-shift", code=1)
    assert "flows do not arrive" in done.err and kind in done.out


def test_dead_cable_that_tables_still_use(analyze, small, write):
    net, text = small
    result = analyze("--fabric", net, "--lfts", write("lfts", text), "--down", "Leaf00[3]", code=1)
    assert result["broken"]["dead_cable"] == result["broken"]["flows"] > 0


def test_entry_for_a_port_that_is_not_there(analyze, small, write):
    net, text = small
    result = analyze("--fabric", net, "--lfts", write("lfts", with_port(text, "Spine00", 3, 77)), code=1)
    assert result["mismatch"]["bad_ports"] == 1 and "port 77" in result["mismatch"]["first"]


def test_lids_of_absent_nodes(analyze, small, write):
    net, text = small
    lines = text.replace("[0-", "[0-4")
    lines = re.sub(r"(\d+) lids dumped", lambda found: f"0x0028 001 # unknown node and type\n4{found[1]} lids dumped", lines)
    result = analyze("--fabric", net, "--lfts", write("lfts", lines), code=1)
    assert result["mismatch"]["absent_lids"] == 1 and "LID 40" in result["mismatch"]["first"]


def test_tables_of_another_fabric(fors, analyze, small, write):
    net, text = small
    other = write("other", fors("fabric", "--synthetic", "FT(2;2,4)", "--format", "lfts").out)
    result = analyze("--fabric", net, "--lfts", other, code=1)
    assert result["mismatch"]["first"]
    missing = text[:text.index("Unicast", 10)]
    result = analyze("--fabric", net, "--lfts", write("some", missing), code=1)
    assert result["mismatch"]["missing_tables"] == 4


def test_files_that_are_cut_or_mixed_up(fors, small, write, stock):
    net, text = small
    lfts = write("cut", text[:len(text) * 2 // 3])
    assert "cut short" in fors("analyze", "--fabric", net, "--lfts", lfts, "--pattern", "linear-shift", code=2).err
    twice = write("twice", text + text)
    assert "already" in fors("analyze", "--fabric", net, "--lfts", twice, "--pattern", "linear-shift", code=2).err
    renumbered = text.replace("portguid 0x0000000000100001", "portguid 0x0000000000100003", 1)
    assert "different times" in fors("analyze", "--fabric", net, "--lfts", write("mixed", renumbered), "--pattern", "linear-shift",
                                     code=2).err
    nameless = re.sub(" #.*", "", text)
    assert "has no LID" in fors("analyze", "--fabric", net, "--lfts", write("nameless", nameless), "--pattern", "linear-shift",
                                code=2).err
    assert "not of one time" in fors("analyze", "--fabric", stock / "0F.net", "--lfts", shifted(stock), "--pattern", "linear-shift",
                                     code=1).err


def test_entries_that_an_engine_left_out(analyze, fors, small, write):
    """No switch has an entry for a server: a hole where the fabric knows the LID, a server without a LID where it does not."""
    plain, text = small
    net = write("numbered", fors("fabric", "--synthetic", "FT(2;2,3)", "--lmc", "0", "--format", "net").out)
    tables = write("lfts", "\n".join(line for line in text.splitlines() if not line.startswith("0x0003 ")) + "\n")
    with_lids = analyze("--fabric", net, "--lfts", tables, code=1)
    assert (with_lids["servers"], with_lids["broken"]["hole"], with_lids["broken"]["flows"]) == (6, 5, 5)
    without = analyze("--fabric", plain, "--lfts", tables, code=1)
    assert (without["servers"], without["mismatch"]["missing_lids"], without["broken"]["flows"]) == (5, 1, 0)
    assert "has no LID, and is left out" in without["mismatch"]["first"]
    for fabric in (net, plain):
        done = fors("indices", "--fabric", fabric, "--lfts", tables, "--json", code=1)
        assert "not arrive" in done.err or "is left out" in done.err


def test_some_entries_of_a_port_with_many_lids(analyze, fors, write):
    source = ["--synthetic", "FT(2;2,1)", "--lmc", "2"]
    net = write("net", fors("fabric", *source, "--format", "net").out)
    lines = fors("fabric", *source, "--format", "lfts").out.splitlines()
    owner = [line for line in lines if "portguid" in line][5].split()[0]  # one of the four LIDs of a server
    result = analyze("--fabric", net, "--lfts", write("lfts", "\n".join(line for line in lines if not line.startswith(owner)) + "\n"))
    assert result["broken"]["flows"] == 0


def test_routes_that_the_pattern_does_not_use(fors, small, write):
    net, text = small
    tables = write("lfts", with_port(text, "Leaf00", 6, None))
    done = fors("analyze", "--fabric", net, "--lfts", tables, "--pattern-file", write("pattern", "0 1\n"), "--json", code=1)
    result = json.loads(done.out)
    assert (result["broken"]["flows"], result["broken_routes"], result["mismatch"]["first"]) == (0, 2, None)
    assert "2 other routes between servers do not" in done.err
    jobs = ["--jobs", write("jobs", "a: 0-4\n")]
    assert json.loads(fors("analyze", "--fabric", net, "--lfts", tables, "--pattern-file", write("pattern", "0 1\n"), *jobs,
                           "--json").out)["broken_routes"] == 0


def test_fabric_from_standard_input(fors, small, write):
    net, text = small
    tables = write("lfts", text)
    arguments = ["--lfts", tables, "--pattern", "linear-shift", "--down", "Leaf00[3]", "--json"]
    expected = json.loads(fors("analyze", "--fabric", net, *arguments, code=1).out)
    found = json.loads(fors("analyze", "--fabric", "-", *arguments, stdin=net.read_bytes(), code=1).out)
    assert {**found, "fabric": expected["fabric"]} == expected
    assert "servers" in fors("indices", "--fabric", "-", "--lfts", tables, stdin=net.read_bytes()).out


def test_names_of_patterns_in_any_case(fors):
    for name in ("PLAN", "Plan(Exact)", "LINEAR_SHIFT", "2dnn"):
        source = ["--synthetic", "FT(2;3,3)", "--routing", "fors", "--lmc", "2"]
        fors("analyze", *source, "--pattern", name.replace("Exact", "exact"))


def test_more_pairs_than_fit(fors):
    assert "more than" in fors("analyze", "--synthetic", "XGFT(2;500,100;1,1)", "--routing", "d-mod-k", "--pattern", "all-to-all", code=2).err


def test_adapters_on_spines_are_counted(analyze, fors, write):
    spine = 'Switch\t8 "S"\n[1]\t"A"[8]\n[2]\t"B"[8]\n[3]\t"io"[1]\n\n'
    leaf = 'Switch\t8 "{0}"\n[1]\t"{0}1"[1]\n[2]\t"{0}2"[1]\n[8]\t"S"[{1}]\n\n'
    adapter = 'Hca\t1 "{0}"\n[1]\t"{1}"[{2}]\n\n'
    text = leaf.format("A", 1) + leaf.format("B", 2) + spine + adapter.format("io", "S", 3)
    text += "".join(adapter.format(f"{leaf}{i}", leaf, i) for leaf in "AB" for i in (1, 2))
    net = write("net", text)
    done = fors("analyze", "--fabric", net, "--routing", "fors", "--pattern", "linear-shift")
    assert "left out    1 adapter on spines" in done.out
    assert analyze("--fabric", net, "--routing", "fors")["left_out"] == 1


def shifted(stock):
    """opensm's tables with all LIDs one higher."""
    text = (stock / "0F.minhop.lfts").read_text()
    text = re.sub(r"^0x([0-9a-f]{4})", lambda found: f"0x{int(found[1], 16) + 1:04x}", text, flags=re.M)
    text = re.sub(r"\[0-(\d+)\]", lambda found: f"[0-{int(found[1]) + 1}]", text)
    text = re.sub(r"^(\d+) lids", lambda found: f"{int(found[1]) + 1} lids", text, flags=re.M)
    path = stock / "shifted.lfts"
    path.write_text(text)
    return path


@pytest.mark.parametrize("args, text", [
    (["--synthetic", "FT(2;2,2)", "--routing", "fors"], "one of --pattern NAME"),
    (["--synthetic", "FT(2;2,2)", "--pattern", "shift"], "which tables?"),
    (["--routing", "fors", "--pattern", "shift"], "which fabric?"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "nonsense"], "there is no pattern 'nonsense'"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "RANDN"], "needs a number"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "RANDN(4)"], "only 3 others"),
    (["--fabric", "net", "--routing", "dmk", "--pattern", "shift"], "a rule for --synthetic fabrics"),
    (["--synthetic", "FT(2;10,254;servers=244;empty=0/0)", "--routing", "dmk", "--pattern", "shift"], "at most 49151 servers"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "shift", "--map", "up"], "one of: direct, random"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan(magic)"], "magic"),
    (["--synthetic", "FT(2;2,2)", "--routing", "fors", "--lfts", "x", "--pattern", "shift"], "exclude each other"),
])
def test_bad_usage(fors, args, text):
    assert text in fors("analyze", *args, code=2).err


def test_bad_pattern_and_job_files(fors, write):
    source = ["analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors"]
    bad = write("bad", "0 1\n0 9\n")
    assert f"{bad}:2: server 9" in fors(*source, "--pattern-file", bad, code=2).err
    jobs = write("jobs", "one: 0\ntwo: nobody\n")
    assert f"{jobs}:2: " in fors(*source, "--pattern", "shift", "--jobs", jobs, code=2).err


@pytest.mark.parametrize("spec", ["FT(2;1,1)", "FT(2;1,1;servers=1)", "FT(2;3,1)", "FT(2;4,5;servers=1)", "FT(2;2,3;cables=2)",
                                  "FT(2;3,4;servers=5;empty=0/0,1/3)"])
@pytest.mark.parametrize("pattern", ["linear-shift", "all-to-all", "plan", "bisect", "2DNN", "3DNNDIAG", "permutation"])
def test_odd_fabrics(analyze, spec, pattern):
    result = analyze("--synthetic", spec, "--routing", "fors", pattern=pattern)
    assert result["broken"]["flows"] == 0 and 0 <= result["dark_fiber"] <= 1


def test_text_is_for_people(fors):
    text = fors("analyze", "--synthetic", "FT(2;4,5)", "--down", "Leaf00[5]", "--routing", "fors", "--pattern", "linear-shift").out
    for word in ("Leaf00[5] - Spine00[1]", "throughput", "arrived", "fair rates", "dark fiber"):
        assert word in text



def test_fixed_costs(fors, stock):
    """One number fitted to the healthy 141, and with an adapter's limit two: 0.617 of it is left, where loads say 0.515. By hand: t, load, o."""
    def costs(name, *args):
        return json.loads(fors("analyze", "--fabric", stock / f"{name}.net", "--lfts", stock / f"{name}.ftree.lfts", "--pattern", "linear-shift", "--speed", "200",
                               "--json", *args).out)["costs"]

    healthy = costs("0F", "--measured", "141")
    t = 65536 * 8 / 200
    assert healthy["gbits_per_server"] == pytest.approx(141) and healthy["barrier_is_fitted"]
    assert healthy["barrier_ns"] == pytest.approx(t * (200 / 141 - 1))
    broken = costs("1F-SW0", "--barrier", f"{healthy['barrier_ns']:.3f}ns")
    assert broken["gbits_per_server"] == pytest.approx(87, rel=0.04)
    two = costs("1F-SW0", "--barrier", f"{costs('0F', '--measured', '141', '--adapter-rate', '0.94')['barrier_ns']:.3f}ns", "--adapter-rate", "0.94")
    assert two["gbits_per_server"] / 141 == pytest.approx(0.617, abs=0.01)
    assert json.loads(fors("analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan", "--json").out)["costs"] is None


@pytest.mark.parametrize("args, text", [
    (["--barrier", "none"], "fors simulate"), (["--measured", "90", "--barrier", "1us"], "without --barrier"), (["--measured", "900"], "cannot be reached"),
    (["--message", "0"], "from 1 byte"), (["--barrier", "4"], "a time like"), (["--speed", "0"], "above 0")])
def test_bad_costs(fors, args, text):
    assert text in fors("analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "plan", *args, code=2).err


def test_costs_of_uneven_phases(fors, write):
    """Two messages of one server in a phase, at an adapter of a half: four times; then one: twice; 1 us each besides."""
    args = ["analyze", "--synthetic", "XGFT(1;4;1)", "--routing", "d-mod-k", "--pattern-file", write("pattern", "0 1\n0 2\nphase\nphase\n2 3\n"), "--speed", "8",
            "--message", "1000", "--adapter-rate", "0.5", "--barrier", "1us"]
    assert json.loads(fors(*args, "--json").out)["costs"]["time_ns"] == pytest.approx(8000)
    assert "x 1000 ns and 1000 ns besides" in fors(*args).out


def test_packets_by_chance(fors):
    """Loads on average are what gets through in time, to a tenth: a Dragonfly whose groups send to one another over one cable."""
    fabric = ["--synthetic", "DRAGONFLY(4,2,9;2)", "--routing", "shortest", "--pattern", "shift(16)"]
    for policy, wanted in (("random", 1 / 8), ("vlb", None), ("tago", 1 / 8)):
        spread = json.loads(fors("analyze", *fabric, "--policy", policy, "--json").out)["spread"]
        through = json.loads(fors("simulate", *fabric, "--policy", policy, "--load", "1", "--messages", "200", "--message", "4KiB", "--lanes", "hops", "--vls", "8",
                                  "--json").out)["line_share"]
        assert spread["throughput"] == pytest.approx(1 / spread["max_load"]) and (not wanted or spread["throughput"] == pytest.approx(wanted))
        assert 0.85 * spread["throughput"] < through <= spread["throughput"], policy
    assert "policy      vlb: 3.2" in fors("analyze", *fabric, "--policy", "vlb").out
    assert json.loads(fors("analyze", *fabric, "--json").out)["spread"] is None
    assert "--policy tago needs --blocks" in fors("analyze", "--synthetic", "FT(2;3,3)", "--routing", "fors", "--pattern", "plan", "--policy", "tago", code=2).err
    assert "--blocks is for" in fors("analyze", *fabric, "--blocks", "x", code=2).err


def test_a_whole_fabric_at_lmc_5(analyze):
    result = analyze("--synthetic", "FT(2;20,18)", "--down", "Leaf00[21]", "--lmc", "5", "--routing", "fors", pattern="linear-shift")
    assert result["broken"]["flows"] == 0
