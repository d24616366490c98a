# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors diff: what changed, in words and as JSON; and two random fabrics against a reader of its own."""
import json
import random
import re

import pytest

SPEC = "FT(2;3,3)"


@pytest.fixture
def text(fors):
    return fors("fabric", "--synthetic", SPEC).out


@pytest.fixture
def diff(fors, write):
    def call(was, now, code=1):
        return fors("diff", write("was", was), write("is", now), code=code).out

    return call


def down(fors, *what):
    return fors("fabric", "--synthetic", SPEC, *(word for name in what for word in ("--down", name))).out


def test_no_difference(diff, text, fors):
    assert diff(text, text, code=0) == "no difference\n"
    assert fors("diff", SPEC, "PGFT(2;3,3;1,3;1,1)").out == "no difference\n"
    assert json.loads(fors("diff", SPEC, SPEC, "--json").out) == {"same": True, "changes": []}


def test_standard_input_once(fors, text):
    assert fors("diff", SPEC, "-", stdin=text.encode()).out == fors("diff", "-", SPEC, stdin=text.encode()).out == "no difference\n"
    assert "one of the two" in fors("diff", "-", "-", stdin=text.encode(), code=2).err


def test_a_cable(fors, diff, text):
    less = down(fors, "Leaf01[5]")
    assert diff(text, less) == "1 cable gone\ncable gone  Leaf01[5] - Spine01[2]\n"
    assert diff(less, text) == "1 cable new\ncable new   Leaf01[5] - Spine01[2]\n"


def test_a_spine_is_one_line(diff, text):
    blocks = text.split("\n\n")
    less = "\n\n".join(b for b in blocks if not re.search(r'^Switch.*"Spine02"', b, re.M))
    less = "".join(line for line in less.splitlines(keepends=True) if not re.search(r'^\[\d+\].*"Spine02"', line))
    guid = re.search(r'switchguid=(0x[0-9a-f]+).*\nSwitch\s+\d+ "Spine02"', text)[1]
    wanted = f"Spine02, switch 0x{int(guid, 16):016x}, with 3 cables\n"
    assert diff(text, less) == "1 node gone\ngone        " + wanted
    assert diff(less, text) == "1 node new\nnew         " + wanted


def test_a_switch_is_replaced_and_one_renamed(diff, text):
    other = text.replace("switchguid=0x200000(200000)\n", "switchguid=0x999(999)\n")
    assert other != text
    assert diff(text, other) == "1 node replaced\nreplaced    Leaf00, switch: 0x0000000000200000 is 0x0000000000000999 now\n"
    assert diff(text, re.sub(r'# "Leaf00"', '# "Rack7"', text)) == "1 node renamed\nrenamed     Leaf00 is Rack7 now\n"


def test_a_cable_is_moved(fors, diff):
    was, now = down(fors, "Spine02[1]", "Spine01[1]"), down(fors, "Spine02[1]", "Spine00[1]")
    assert diff(was, now) == "1 cable gone, 1 cable new\ncable gone  Leaf00[4] - Spine00[1]\ncable new   Leaf00[5] - Spine01[1]\n"
    assert diff(was, plugged_elsewhere(was)) == "1 cable moved\nmoved       Leaf00[4] - Spine00[1] goes to Spine02[1] now\n"


def plugged_elsewhere(net):
    """The cable Leaf00[4] - Spine00[1] goes to Spine02[1]."""
    text, block = [], None
    for line in net.splitlines():
        found = re.match(r'Switch\s+\d+ "([^"]+)"', line)
        block = found[1] if found else block
        if block == "Leaf00" and line.startswith("[4]"):
            line = line.replace("Spine00", "Spine02")
        if block == "Spine00" and line.startswith("[1]"):
            moved = line
            continue
        text.append(line)
    at = next(i for i, line in enumerate(text) if re.match(r'Switch\s+\d+ "Spine02"', line))
    text.insert(at + 1, moved)
    return "\n".join(text) + "\n"


def test_speeds(diff, text):
    fast = text.replace("4xSDR", "4xEDR")
    slow = re.sub(r'^(\[4\]\s+"Spine00"\[1\].*|\[1\]\s+"Leaf00"\[4\].*)4xEDR$', r"\g<1>1xEDR", fast, flags=re.M)
    assert slow.count("1xEDR") == 2
    assert diff(fast, slow) == "1 cable slower\nslower      Leaf00[4] - Spine00[1] is below full width or speed\n"
    assert "has full width and speed again" in diff(slow, fast)


def test_lids_are_counted(fors, write):
    one, other = (write(f"l{lmc}", fors("fabric", "--synthetic", SPEC, "--lmc", lmc).out) for lmc in (0, 2))
    assert fors("diff", one, other, code=1).out.endswith("ports with another LID\n")
    assert len(json.loads(fors("diff", one, other, "--json", code=1).out)["changes"]) > 8


def test_json(fors, write):
    now = write("now", down(fors, "Leaf01[5]"))
    found = json.loads(fors("diff", SPEC, now, "--json", code=1).out)
    assert found == {"same": False, "changes": [{
        "kind": "cable-gone", "near": {"guid": "0x0000000000200001", "name": "Leaf01", "port": 5},
        "far": {"guid": "0x0000000000200004", "name": "Spine01", "port": 2}}]}


def test_names_that_two_have_become_guids(diff, text):
    both = text.replace('# "Leaf01"', '# "Leaf00"')
    less = "".join(line for line in both.splitlines(keepends=True) if not re.match(r'\[5\]\s+"Spine01"\[2\]|\[2\]\s+"Leaf01"\[5\]', line))
    assert diff(both, less) == "1 cable gone\ncable gone  0x0000000000200001[5] - Spine01[2]\n"


def test_bad_files(fors, write):
    assert "cannot be opened" in fors("diff", "no-such-file", SPEC, code=2).err
    assert "fors diff: " in fors("diff", SPEC, write("bad", "nonsense"), code=2).err


def cables(text):
    """The cables between switches, by a reader of its own."""
    found, block = set(), None
    for line in text.splitlines():
        head = re.match(r'\w+\s+\d+ "([^"]+)"', line)
        row = re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line)
        if head:
            block = head[1]
        elif row:
            found.add(frozenset([(block, int(row[1])), (row[2], int(row[3]))]))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_random_failures(fors, write, seed):
    """Cables that are gone and new, against the sets of cables in both texts."""
    draw = random.Random(seed)
    nets = [fors("fabric", "--synthetic", "FT(2;5,6)", *(word for _ in range(6) for word in
                 ("--down", f"Leaf0{draw.randrange(6)}[{6 + draw.randrange(4)}]"))).out for _ in range(2)]
    code = int(cables(nets[0]) != cables(nets[1]))
    found = json.loads(fors("diff", write("a", nets[0]), write("b", nets[1]), "--json", code=code).out)["changes"]
    by_kind = {kind: {frozenset([end(change["near"]), end(change["far"])]) for change in found if change["kind"] == kind}
               for kind in ("cable-gone", "cable-new")}
    assert by_kind == {"cable-gone": cables(nets[0]) - cables(nets[1]), "cable-new": cables(nets[1]) - cables(nets[0])}


def end(side):
    return side["name"], side["port"]
