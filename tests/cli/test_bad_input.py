# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Bad fabrics: each with a clear message and exit code 2, never a crash."""
import json
import os

import pytest

NET = """\
Switch 4 "Leaf00"
[1] "Node00-00"[1]
[2] "Node00-01"[1]
[3] "Spine00"[1]
[4] "Spine01"[1]

Switch 4 "Leaf01"
[1] "Node01-00"[1]
[2] "Node01-01"[1]
[3] "Spine00"[2]
[4] "Spine01"[2]

Switch 4 "Spine00"
[1] "Leaf00"[3]
[2] "Leaf01"[3]

Switch 4 "Spine01"
[1] "Leaf00"[4]
[2] "Leaf01"[4]

Hca 1 "Node00-00"
[1] "Leaf00"[1]

Hca 1 "Node00-01"
[1] "Leaf00"[2]

Hca 1 "Node01-00"
[1] "Leaf01"[1]

Hca 1 "Node01-01"
[1] "Leaf01"[2]
"""


def changed(*changes):
    text = NET
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_the_net_itself_is_good(fors, write):
    assert "4 servers" in fors("plan", "--fabric", write("net", NET)).out


@pytest.mark.parametrize("text, words", [
    ("", ["empty"]),
    ("\n\n# only a comment\n", []),
    (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0" * 50, []),
    (os.urandom(4096), []),
    (NET[:NET.index("Spine01\"[2]") + 5], [":11:"]),
    ("this is no net file\n", [":1:"]),
    ("x" * 1000000, [":1:"]),
    (NET + '\nHca 1 "Node00-00"\n', ["Node00-00"]),
    (changed(('Switch 4 "Leaf00"', 'switchguid=0x77(77)\nSwitch 4 "Leaf00"'),
             ('Switch 4 "Leaf01"', 'switchguid=0x77(77)\nSwitch 4 "Leaf01"')), ["77"]),
    (changed(('"Spine00"[1]', '"Spine99"[1]')), ["Spine99"]),
    (changed(('"Spine00"[1]', '"Spine00"[9]')), ["9"]),
    (changed(('[4] "Spine01"[1]', '[5] "Spine01"[1]')), ["5"]),
    (changed(('[4] "Spine01"[1]', '[3] "Spine01"[1]')), ["3"]),
    (changed(('[2] "Leaf01"[3]', '[2] "Leaf00"[3]')), []),
], ids=["empty", "comment", "binary", "random", "truncated", "prose", "long-line", "duplicate-id", "duplicate-guid",
        "missing-node", "missing-port", "port-too-high", "port-twice", "ends-disagree"])
def test_bad_net_files(fors, write, text, words):
    path = write("bad.net", text)
    result = fors("plan", "--fabric", path, code=2)
    assert str(path) in result.err or words and words[0] in result.err
    for word in words:
        assert word in result.err
    assert result.out == "" and result.err.count("\n") == 1


@pytest.mark.parametrize("link, names", [
    (("Leaf00", "Leaf01"), ["Leaf00", "Leaf01"]),
    (("Spine00", "Spine01"), ["Spine00", "Spine01"]),
], ids=["leaf-leaf", "spine-spine"])
def test_not_a_two_level_tree(fors, write, link, names):
    a, b = link
    text = NET.replace(f'Switch 4 "{a}"', f'Switch 9 "{a}"\n[9] "{b}"[9]').replace(f'Switch 4 "{b}"',
                                                                                 f'Switch 9 "{b}"\n[9] "{a}"[9]')
    err = fors("plan", "--fabric", write("net", text), code=2).err
    assert all(name in err for name in names) and "--lfts FILE" in err


def test_lines_of_a_terminal(fors, write):
    """A log's banner and prompt, and CR LF, are no fault of the fabric; they are counted."""
    log = "=~=~= PuTTY log =~=~=\n[root@n1 ~]# ibnetdiscover\n" + NET + "src/query_smp.c:195; umad (DR path slid 0)\n[root@n1 ~]# exit\n"
    result = fors("plan", "--fabric", write("log", log.replace("\n", "\r\n")), "--json")
    assert json.loads(result.out)["servers"] == 4
    assert "4 lines are not of ibnetdiscover, passed over; the first is line 1" in result.err


def test_huge_file(fors, tmp_path):
    path = tmp_path / "huge"
    with open(path, "wb") as file:
        file.truncate(1 << 31)
    assert "larger than" in fors("plan", "--fabric", path, code=2).err


def test_files_that_are_none(fors, tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        assert str(path) in fors("plan", "--fabric", path, code=2).err


def test_no_servers(fors, write):
    text = NET[:NET.index("Hca")]
    for n in ("00-00", "00-01", "01-00", "01-01"):
        text = "\n".join(line for line in text.splitlines() if f"Node{n}" not in line)
    assert "no servers" in fors("plan", "--fabric", write("net", text + "\n"), code=2).err


def test_no_switch(fors, write):
    fors("plan", "--fabric", write("net", 'Hca 1 "A"\n[1] "B"[1]\n\nHca 1 "B"\n[1] "A"[1]\n'), code=2)


@pytest.mark.parametrize("down, words", [
    ("Leaf99", ["Leaf99"]), ("Leaf00[99]", ["99"]), ("Leaf00[0]", ["0"]), ("Leaf00[x]", ["Leaf00[x]"]), ("", []),
    ("[3]", []), ("0xdeadbeef", ["0xdeadbeef"]), ("0x0[1]", ["0x0"]), ("0x", ["0x"]), ("Spine00[4]", ["Spine00"]), ("Leaf00[3", ["Leaf00[3"]),
])
def test_down_of_something_absent(fors, write, down, words):
    err = fors("plan", "--fabric", write("net", NET), "--down", down, code=2).err
    assert all(word in err for word in words)


def test_down_of_an_ambiguous_description(fors, write):
    text = NET.replace('Switch 4 "Leaf00"', 'Switch 4 "Leaf00" # "same"').replace('Switch 4 "Leaf01"',
                                                                               'Switch 4 "Leaf01" # "same"')
    err = fors("plan", "--fabric", write("net", text), "--down", "same[3]", code=2).err
    assert "0x0000000000200000" in err and "0x0000000000200001" in err  # the candidates
    fors("plan", "--fabric", write("net", text), "--down", "Leaf00[3]")


@pytest.mark.parametrize("spec", [
    "", "FT", "FT(3;2,2)", "FT(2;0,2)", "FT(2;2,0)", "FT(2;2)", "FT(2;2,2", "FT(2;2,2)x", "FT(2;2,2;servers=x)",
    "FT(2;2,2;frob=1)", "FT(2;2,2;empty=9/9)", "FT(2;99999999999,2)", "FT(2;-1,2)", "FT(2;2,2;cables=0)",
    "FT(2;250,2;servers=250)",
])
def test_bad_specifications(fors, spec):
    assert fors("plan", "--synthetic", spec, code=2).out == ""


def test_too_few_lids(fors):
    assert "LID" in fors("plan", "--synthetic", "FT(2;20,30)", "--lmc", "7", code=2).err


@pytest.mark.parametrize("wrong, hint", [("Leaf00:5", "Leaf00[5]"), ("Leaf00/5", "Leaf00[5]"), ("0x0000000000000001:5", "0x0000000000000001[5]"),
                                         ("Leaf77:5", None), ("Leaf00:", None), ("Leaf00:five", None)])
def test_a_port_as_other_tools_write_it(fors, wrong, hint):
    said = fors("plan", "--synthetic", "FT(2;4,4)", "--down", wrong, code=2).err
    assert f"'{wrong}'" in said and (f"; a port is written {hint}\n" in said if hint else "a port is written" not in said), said


def test_a_device_that_takes_nothing(fors):
    """What is no file is written in place, and a full one is told."""
    fors("fabric", "--synthetic", "FT(2;2,2)", "--output", "/dev/null", "--format", "net")
    done = fors("fabric", "--synthetic", "FT(2;2,2)", "--output", "/dev/full", "--format", "net", code=2)
    assert "/dev/full: cannot be written: No space left on device" in done.err
