# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Net files in which something is missing: ports without a LID, switches without a cable; and words that are too many."""
import csv
import io
import json
import random
import re

import pytest

SPECS = [("FT(2;4,5)", "2"), ("FT(2;3,4;servers=4;cables=2)", "1"), ("XGFT(3;2,3,2;1,2,2)", "0"), ("XGFT(3;3,2,2;1,2,2)", "1")]
LONE = '\nswitchguid=0x{0:x}\nSwitch\t36 "S-{0:016x}"\t\t# "Lone{0:x}" base port 0 lid {1} lmc 0\n'


def net_text(fors, spec, lmc):
    return fors("fabric", "--synthetic", spec, "--lmc", lmc, "--format", "net").out


def blank(text, chosen, with_what):
    """The text with ports of these adapters without a LID; the LIDs that they had, and those of the others."""
    lost, kept = set(), set()

    def line(match):
        lids = range(int(match[3]), int(match[3]) + (1 << int(match[4])))
        (lost if match[2] in chosen else kept).update(lids)
        return match[1] + with_what if match[2] in chosen else match[0]

    return re.sub(r'(^Ca\t1 "(\S+)".*\n\[1\]\(\w+\) .*# )lid (\d+) lmc (\d+)', line, text, flags=re.M), lost, kept


def lids_used(fors, schedule):
    rows = list(csv.DictReader(io.StringIO(fors("schedule", schedule, "--format", "csv").out)))
    return {int(row[end]) for row in rows for end in ("src_lid", "dst_lid")}


@pytest.mark.parametrize("spec, lmc", SPECS)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("with_what", ["lid 0 lmc 0", "lid 65535 lmc 0", ""])
def test_ports_without_a_lid(fors, tmp_path, write, spec, lmc, count, with_what):
    """All others keep their LIDs and the LMC, those are left out, and that is said."""
    text = net_text(fors, spec, lmc)
    names = re.findall(r'^Ca\t1 "(\S+)"', text, re.M)
    chosen = random.Random(f"{spec}{count}").sample(names, count)
    path = write("net", blank(text, chosen, with_what)[0])
    _, lost, kept = blank(text, chosen, with_what)
    out = fors("plan", "--fabric", path, "--output", tmp_path / "schedule").out
    assert f"{len(names) - count} servers" in out and f"{count} left out" in out
    assert f"{count} CA port{'s' * (count > 1)} without a LID, not in the schedule" in out and all(name in out for name in chosen)
    used = lids_used(fors, tmp_path / "schedule")
    assert used <= kept and not used & lost
    status = json.loads(fors("plan", "--fabric", path, "--json").out)
    assert status["servers"] == len(names) - count and status["left_out"] == count and any("without a LID" in remark for remark in status["remarks"])
    tables = fors("fabric", "--fabric", path, "--format", "lfts").out
    assert all(f"0x{lid:04x} " in tables for lid in kept)
    for command in (["plan"], ["analyze", "--pattern", "linear-shift"]):
        result = fors(*command, "--fabric", path, "--lfts", write("lfts", tables))
        assert f"{len(names) - count} servers" in result.out and "left out" in result.out + result.err and "mismatch" not in result.out
    for routing in ("fors", "shortest"):
        result = fors("analyze", "--fabric", path, "--pattern", "linear-shift", "--routing", routing)
        assert f"{len(names) - count} servers" in result.out and (routing == "fors" or "has no LID, and is left out" in result.err)


def test_nobody_has_a_lid(fors, write):
    text = net_text(fors, "FT(2;3,3)", "1")
    bare = blank(text, re.findall(r'^Ca\t1 "(\S+)"', text, re.M), "lid 0 lmc 0")[0]
    assert "9 servers; LMC 0" in fors("plan", "--fabric", write("net", bare)).out
    one = blank(text, ["Node01-01"], "lid 0 lmc 0")[0]
    assert "9 servers; LMC 2" in fors("plan", "--fabric", write("one", one), "--lmc", 2).out  # new LIDs were asked for


@pytest.mark.parametrize("spec, lmc", SPECS)
@pytest.mark.parametrize("lids", [[900], [0], [901, 902, 903, 904]])
def test_switches_without_a_cable(fors, tmp_path, write, spec, lmc, lids):
    """They are left out, and that is said; all else is as it is without them."""
    text = net_text(fors, spec, lmc)
    plain, more = write("plain", text), write("more", text + "".join(LONE.format(0xf000 + i, lid) for i, lid in enumerate(lids)))
    for path, name in ((plain, "a"), (more, "b")):
        out = fors("plan", "--fabric", path, "--output", tmp_path / name).out
    assert f"{len(lids)} switch{'es' * (len(lids) > 1)} without a cable, left out: Lonef000" in out
    assert ("Lonef002, ..." in out) == (len(lids) > 3)
    assert fors("schedule", tmp_path / "a", "--format", "csv").out == fors("schedule", tmp_path / "b", "--format", "csv").out
    assert any("without a cable" in remark for remark in json.loads(fors("plan", "--fabric", more, "--json").out)["remarks"])
    assert not any("without a cable" in remark for remark in json.loads(fors("plan", "--fabric", plain, "--down", "Leaf00", "--json").out)["remarks"])
    for command in (["whatif"], ["fabric", "--format", "lfts"], ["analyze", "--pattern", "linear-shift", "--routing", "fors"], ["plan", "--lmc", "0"]):
        fors(command[0], "--fabric", more, *command[1:])


@pytest.mark.parametrize("word", ["send", ", ", "0", "receive # both", "Node00-00"])
def test_a_second_word_of_participants(fors, write, word):
    text = net_text(fors, "FT(2;3,3)", "0")
    guids = re.findall(r'^\[1\]\((\w+)\)', text, re.M)
    net = write("net", text)
    err = fors("plan", "--fabric", net, "--participants", write("some", f"0x{guids[0]}\n0x{guids[1]} {word}\n"), code=2).err
    assert "some:2: " in err and "behind the GUID means nothing here; write # before a comment" in err
    out = fors("plan", "--fabric", net, "--participants", write("good", f"0x{guids[0]} # {word}\n 0x{guids[1]}\t\n\n#{word}\n")).out
    assert "2 servers" in out
