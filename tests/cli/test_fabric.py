# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors fabric and fors verify: what one writes the other reads; wrong tables, cables and schedules are found."""
import json

import pytest

SPEC = "FT(2;4,4)"


@pytest.mark.parametrize("one, other", [("FT(2;4,5)", "XGFT(2;4,5;1,4)"),
                                        ("FT(2;3,5;servers=4;cables=2)", "PGFT(2;4,5;1,3;1,2)")])
def test_a_tree_is_one_fabric_however_it_is_spelled(fors, tmp_path, one, other):
    made = []
    for spec in one, other:
        source = ["--synthetic", spec, "--down", "Leaf01[6]", "--lmc", "2"]
        schedule = tmp_path / "schedule"
        fors("plan", *source, "--output", schedule)
        made.append([schedule.read_bytes(), fors("fabric", "--synthetic", spec).out,
                     fors("fabric", *source, "--format", "lfts").out])
    assert made[0] == made[1]


@pytest.mark.parametrize("spec", [SPEC, "FT(2;3,5;servers=4;cables=2)", "FT(2;1,1)", "FT(2;4,3;empty=0/0,2/3)",
                                  "PGFT(2;4,5;1,3;1,2)"])
def test_net_comes_back(fors, write, spec):
    text = fors("fabric", "--synthetic", spec).out
    assert fors("fabric", "--fabric", write("net", text)).out == text
    assert fors("fabric", "--fabric", "-", stdin=text.encode()).out == text
    there, back = (json.loads(fors("plan", "--json", *source).out)
                   for source in (("--synthetic", spec), ("--fabric", write("net", text))))
    for key in ("servers", "leaves", "spines", "phases", "lower_bound", "method", "state"):
        assert there[key] == back[key]


def test_lmc_is_written_and_kept(fors, write):
    path = write("net", fors("fabric", "--synthetic", SPEC, "--lmc", "2").out)
    assert json.loads(fors("plan", "--fabric", path, "--json").out)["lmc"] == 2
    assert json.loads(fors("plan", "--fabric", path, "--json", "--lmc", "1").out)["lmc"] == 1


def test_down_leaves_the_cable_out(fors):
    whole, less = (fors("fabric", "--synthetic", SPEC, *down).out for down in ([], ["--down", "Leaf01[6]"]))
    assert len(whole.splitlines()) == len(less.splitlines()) + 2


def test_a_tree_that_is_cut_and_whole_without_some_hosts(fors, write):
    """What fors plan plans over it has tables too."""
    net = write("net", fors("fabric", "--synthetic", "FT(2;2,3)", "--down", "Leaf00[3]", "--down", "Leaf01[4]").out)
    rest = ("--fabric", net, "--down", "Node01-00", "--down", "Node01-01")
    assert "have no common live spine" in fors("fabric", "--fabric", net, "--format", "lfts", code=2).err
    assert "Node02-00" in fors("fabric", *rest, "--format", "lfts").out
    demand = write("demand", "group all Node00-00,Node00-01,Node02-00,Node02-01\n")
    assert json.loads(fors("plan", *rest, "--json").out)["phases"] == 4
    assert json.loads(fors("plan", *rest, "--demand", demand, "--json").out)["messages"] == 12


def test_json(fors):
    status = json.loads(fors("fabric", "--synthetic", SPEC, "--down", "Leaf01[6]", "--format", "json").out)
    assert status["servers"] == 16 and len(status["dead_links"]) == 1 and status["phases"] is None


@pytest.fixture(params=[[], ["--down", "Leaf01[6]"], ["--down", "Spine02", "--down", "Leaf03[5]"]], ids=str)
def published(request, fors, tmp_path):
    """A net, tables and a schedule that belong together, in files."""
    args = ["--synthetic", SPEC, "--lmc", "2", *request.param]
    (tmp_path / "net").write_text(fors("fabric", *args).out)
    (tmp_path / "lfts").write_text(fors("fabric", *args, "--format", "lfts").out)
    fors("plan", *args, "--output", tmp_path / "schedule")
    return tmp_path


def verify_args(folder, **other):
    return [x for name in ("fabric", "lfts", "schedule")
            for x in (f"--{name}", other.get(name, folder / name.replace("fabric", "net")))]


def test_verify_good(fors, published):
    assert fors("verify", *verify_args(published)).out.startswith("good: ")


def test_verify_finds_a_dead_cable(fors, published):
    out = fors("verify", *verify_args(published), "--down", "Leaf02[8]", code=1).out
    assert out.startswith("wrong: ") and "phase" in out


def test_verify_finds_wrong_tables(fors, published, write):
    """All traffic of a leaf over one spine: conflicts."""
    whole = (published / "lfts").read_text()
    other = fors("fabric", "--synthetic", SPEC, "--lmc", "2", "--format", "lfts", "--down", "Leaf00[5]",
                 "--down", "Leaf00[6]").out
    assert other != whole
    fors("verify", *verify_args(published, lfts=write("other", other)), code=1)


def test_verify_withdrawn(fors, published, stamp):
    stamp(published / "schedule", 5, "gone")
    assert "withdrawn: gone" in fors("verify", *verify_args(published), code=1).out


def test_verify_bad_files(fors, published, write, tmp_path):
    lfts = (published / "lfts").read_text()
    for name in ("fabric", "lfts", "schedule"):
        for content in (b"", b"hello\n", b"\0\1\2\3" * 99):
            path = write("bad", content)
            assert str(path) in fors("verify", *verify_args(published, **{name: path}), code=2).err
        assert "absent" in fors("verify", *verify_args(published, **{name: tmp_path / "absent"}), code=2).err
    fors("verify", *verify_args(published, lfts=write("twice", lfts + lfts)), code=2)


@pytest.mark.parametrize("spec, switches, servers", [
    ("TORUS(3x4;2)", 12, 24), ("CUBE(3;1;empty=0/0)", 8, 7), ("DRAGONFLY(3,2,4;2)", 12, 24), ("DFPLUS(2,3,2,3;2)", 15, 12), ("RRG(10,3,2;5)", 10, 20)])
def test_networks_that_are_no_trees(fors, tmp_path, spec, switches, servers):
    net, lfts = tmp_path / "net", tmp_path / "lfts"
    net.write_text(fors("fabric", "--synthetic", spec, "--routing", "up-down").out)
    lfts.write_text(fors("fabric", "--synthetic", spec, "--routing", "up-down", "--format", "lfts").out)
    text = net.read_text()
    assert text.count("\nSwitch") == switches and text.count("\nCa") == servers
    made = fors("analyze", "--synthetic", spec, "--routing", "up-down", "--pattern", "linear-shift").out
    read = fors("analyze", "--fabric", net, "--lfts", lfts, "--pattern", "linear-shift").out
    assert "routing     up-down (a model)" in made
    loads = [line for line in made.splitlines() if line.startswith("loads")]
    assert loads and loads == [line for line in read.splitlines() if line.startswith("loads")]
    assert "is a rule for fat-trees" in fors("analyze", "--synthetic", spec, "--routing", "d-mod-k", "--pattern", "shift", code=2).err
