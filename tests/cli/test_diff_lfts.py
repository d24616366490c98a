# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors diff --lfts: which entries of two dumps differ; dumps of all programs, and random tables against a reader of its own."""
import json
import random
import re

import pytest

from conftest import SRC

DATA = SRC / "tests" / "data"
SPEC = "FT(2;3,3)"


def own(fors, *more):
    return fors("fabric", "--synthetic", SPEC, "--format", "lfts", *more).out


def entries(text):
    """{GUID: {LID: port}} of a dump, whoever wrote it."""
    tables = {}
    for line in text.splitlines():
        head, entry = re.match(r"Unicast lids .* guid (0x[0-9a-f]+)", line), re.match(r"(0x[0-9a-f]+) (\d+)", line)
        if head:
            table = tables.setdefault(int(head[1], 16), {})
        elif entry and int(entry[2]) != 255:
            table[int(entry[1], 16)] = int(entry[2])
    return tables


def expected(was, now):
    """What --json has to say, found entry by entry."""
    was, now, tables = entries(was), entries(now), []
    for guid in sorted({*was, *now}):
        a, b = was.get(guid, {}), now.get(guid, {})
        changes = [{"lid": lid, "was": a.get(lid), "is": b.get(lid)} for lid in sorted({*a, *b}) if a.get(lid) != b.get(lid)]
        kind = "gone" if guid not in now else "new" if guid not in was else "both"
        if changes or kind != "both":
            tables.append({"guid": f"0x{guid:016x}", "table": kind, "entries": changes})
    compared = sum(len({*was.get(g, {}), *now.get(g, {})}) for g in {*was, *now})
    return {"same": not tables, "entries": sum(len(t["entries"]) for t in tables), "compared": compared, "switches": len({*was, *now}),
            "tables": tables}


def told(fors, a, b):
    """What --json says, without names."""
    wanted = expected(a.read_text(), b.read_text())
    found = json.loads(fors("diff", "--lfts", a, b, "--json", code=0 if wanted["same"] else 1).out)
    for table in found["tables"]:
        table.pop("name")
    return found, wanted


@pytest.mark.parametrize("other", ["small.dump_fts", "small-all.dump_fts", "small-nodests.dump_fts"])
def test_the_same_tables_of_two_programs(fors, other):
    for a, b in (("small.opensm-lfts", other), (other, "small.opensm-lfts")):
        assert fors("diff", "--lfts", DATA / a, DATA / b).out == "no difference in 75 entries of 5 switches\n"


def test_one_entry(fors, write):
    text = (DATA / "small.opensm-lfts").read_text()
    was, now = write("was", text), write("now", text.replace("0x0006 002 #", "0x0006 003 #", 1).replace("0x0007 002 #", "0x0007 255 #", 1))
    assert fors("diff", "--lfts", was, now, code=1).out == (
        "2 of 75 entries differ, in 1 of 5 switches\nLeaf00 0x0000000000200000: 2 entries\n  LID 6: port 2 -> 3\n  LID 7: port 2 -> none\n")
    found, wanted = told(fors, was, now)
    assert found == wanted


def test_a_switch_without_a_table(fors, write):
    """One line for it; and the order of the switches in a dump says nothing."""
    tables = re.findall(r"Unicast.*?dumped\n", own(fors), re.S)
    all_of_them, less, turned = write("all", "".join(tables)), write("less", "".join(tables[1:])), write("turned", "".join(tables[::-1]))
    name = re.search(r"guid (0x\w+) \('(\w+)'\)", tables[0])
    count = len(entries(tables[0])[int(name[1], 16)])
    line = f"{name[2]} {name[1]}: table %s, with {count} entries\n"
    assert fors("diff", "--lfts", all_of_them, less, code=1).out.endswith(", 1 table gone\n" + line % "gone")
    assert fors("diff", "--lfts", less, turned, code=1).out.endswith(", 1 table new\n" + line % "new")
    assert fors("diff", "--lfts", all_of_them, turned).out.startswith("no difference")


def test_of_a_failure(fors, write):
    was, now = write("was", own(fors)), write("now", own(fors, "--down", "Leaf01[5]"))
    found, wanted = told(fors, was, now)
    assert found == wanted and found["entries"]
    shown = fors("diff", "--lfts", was, now, code=1).out
    assert shown.count("  LID ") == found["entries"] and "Leaf01 0x" in shown
    assert fors("diff", "--lfts", was, "-", stdin=now.read_bytes(), code=1).out == shown


@pytest.mark.parametrize("seed", range(30))
def test_random_tables(fors, write, seed):
    draw = random.Random(seed)

    def dump():
        text = ""
        for guid in draw.sample(range(1, 8), draw.randint(1, 6)):
            last = draw.randint(1, 12)
            lines = [f"0x{lid:04x} {draw.choice([1, 2, 2, 2, 255]):03} # x\n" for lid in range(1, last + 1) if draw.random() < 0.8]
            text += f"Unicast lids [0-{last}] of switch Lid 1 guid 0x{guid:016x} ('S{guid}'):\n{''.join(lines)}{last} lids dumped\n"
        return text

    found, wanted = told(fors, write("a", dump()), write("b", dump()))
    assert found == wanted


def test_what_is_no_dump(fors, write):
    good = write("good", own(fors))
    assert "net:3:" in fors("diff", "--lfts", good, write("net", fors("fabric", "--synthetic", SPEC).out), code=2).err
    assert "cannot be opened" in fors("diff", "--lfts", "no-such-file", good, code=2).err
    assert "one of the two" in fors("diff", "--lfts", "-", "-", code=2).err
    assert "an argument is missing" in fors("diff", "--lfts", good, code=2).err
