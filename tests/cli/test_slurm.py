# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors fabric --format slurm: topology.conf and topology.yaml, as golden text and against the cables themselves."""
import re

import pytest

TWO = """\
SwitchName=Leaf00 Nodes=Node00-[00-02]
SwitchName=Leaf01 Nodes=Node01-[00-02]
SwitchName=Leaf02 Nodes=Node02-[00-02]
SwitchName=level1-1 Switches=Leaf[00-02]
"""
YAML = """\
---
- topology: fabric
  cluster_default: true
  tree:
    switches:
      - switch: Leaf00
        nodes: Node00-[00-01]
      - switch: Leaf01
        nodes: Node01-[00-01]
      - switch: Leaf02
        nodes: Node02-[00-01]
      - switch: Leaf03
        nodes: Node03-[00-01]
      - switch: level1-1
        children: Leaf[00-01]
      - switch: level1-2
        children: Leaf[02-03]
      - switch: level2-1
        children: level1-[1-2]
"""


def lines(text):
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))


def slurm(fors, *source):
    return lines(fors("fabric", *source, "--format", "slurm").out)


def net(*switches):
    """ibnetdiscover text: (id, description, [(port, peer id, peer port, peer description)])"""
    text, cas = "", {}
    for name, description, cables in switches:
        text += f'Switch 8 "{name}" # "{description}"\n'
        for port, peer, peer_port, what in cables:
            text += f'[{port}] "{peer}"[{peer_port}] # "{what}"\n'
            if peer.startswith("H"):
                cas.setdefault((peer, what), []).append((peer_port, name, port))
        text += "\n"
    for (peer, what), cables in cas.items():
        text += f'Hca 2 "{peer}" # "{what}"\n' + "".join(f'[{a}] "{b}"[{c}]\n' for a, b, c in cables) + "\n"
    return text


def test_two_levels(fors):
    assert slurm(fors, "--synthetic", "FT(2;3,3)") == TWO


def test_three_levels_as_yaml(fors):
    assert lines(fors("fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--format", "slurm-yaml").out) == YAML


def test_one_switch(fors):
    assert slurm(fors, "--synthetic", "XGFT(1;4;1)") == "SwitchName=Leaf00 Nodes=Node00-[00-03]\n"


@pytest.mark.parametrize("spec", ["FT(2;20,18)", "XGFT(3;4,4,4;1,3,2)", "FT(2;3,5;servers=4;cables=2;empty=0/0,2/3)",
                                  "XGFT(4;2,2,3,2;1,2,2,2)"])
def test_every_host_once_below_one_root(fors, spec):
    """The tree that a reader of its own makes of it."""
    parents, hosts = {}, []
    for name, kind, members in re.findall(r"^SwitchName=(\S+) (Nodes|Switches)=(\S+)$", slurm(fors, "--synthetic", spec), re.M):
        for member in expand(members):
            if kind == "Nodes":
                hosts.append(member)
            else:
                assert member not in parents
                parents[member] = name
    wanted = set(re.findall(r'^(?:Hca|Ca)\s+\d+\s+"[^"]*"\s+# "([^"]+)"', fors("fabric", "--synthetic", spec).out, re.M))
    assert len(hosts) == len(set(hosts)) and set(hosts) == wanted
    assert len(set(parents.values()) - parents.keys()) == 1


def expand(members):
    for stem, inside in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", members):
        for part in inside.split(",") if inside else [None]:
            first, _, last = (part or "").partition("-")
            for number in range(int(first), int(last or first) + 1) if part else [None]:
                yield stem + (f"{number:0{len(first)}d}" if part else "")


def test_names_slurm_cannot_read(fors, write):
    """Names with blanks or colons, twice the same, or like those that are made up here, are numbered by GUID."""
    path = write("net", net(("S-1", "MF0;a:SX6036/U1", [(1, "H-1", 1, "n1 HCA-1")]), ("S-2", "same", [(1, "H-2", 1, "n2 HCA-1")]),
                            ("S-3", "same", [(1, "H-3", 1, "n10 HCA-1")]), ("S-4", "level1-1", [(1, "H-4", 1, "b")]),
                            ("S-5", "good.name_1", [(1, "H-5", 1, "n3 mlx5_0"), (2, "H-6", 1, "n4"), (3, "H-7", 1, "n6"), (4, "H-8", 1, "a")])))
    assert slurm(fors, "--fabric", path) == """\
SwitchName=ibsw1 Nodes=n1
SwitchName=ibsw2 Nodes=n2
SwitchName=ibsw3 Nodes=n10
SwitchName=ibsw4 Nodes=b
SwitchName=good.name_1 Nodes=a,n[3-4,6]
"""


@pytest.mark.parametrize("desc", ["MT4119 ConnectX5   Mellanox Technologies", "localhost mlx5_0", "(none) HCA-1", "-", "n9;x HCA-1", "a b c"])
def test_a_description_that_is_no_name_of_a_host(fors, write, desc):
    path = write("net", net(("S-1", "a", [(1, "H-1", 1, "n1 HCA-1"), (2, "H-3", 1, desc), (8, "S-2", 8, "b")]),
                            ("S-2", "b", [(1, "H-2", 1, "n2  mlx5_0"), (2, "H-4", 1, "n3.x_y-z"), (8, "S-1", 8, "a")])))
    out = fors("fabric", "--fabric", path, "--format", "slurm").out
    assert [line for line in out.splitlines() if "Nodes=" in line] == ["SwitchName=a Nodes=n1", "SwitchName=b Nodes=n2,n3.x_y-z"]
    assert re.search("^# left out: 1 adapter whose description is no name of a host; GUID 0x[0-9a-f]*, " + re.escape(desc), out, re.M)


def test_a_host_with_two_adapters_has_one_place(fors, write):
    path = write("net", net(("S-1", "a", [(1, "H-1", 1, "n1 HCA-1"), (2, "H-3", 1, "n2 HCA-1"), (8, "S-2", 8, "b")]),
                            ("S-2", "b", [(1, "H-2", 1, "n1 HCA-2"), (2, "H-4", 1, "n3 HCA-1"), (8, "S-1", 8, "a")])))
    assert slurm(fors, "--fabric", path) == "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n3\nSwitchName=level1-1 Switches=a,b\n"


def test_what_fell_apart_has_several_roots(fors):
    down = [x for spine in ("Spine00", "Spine01") for x in ("--down", spine)]
    assert "level1" not in slurm(fors, "--synthetic", "FT(2;2,3)", *down)


def test_order_of_the_file_does_not_matter(fors, write):
    text = fors("fabric", "--synthetic", "XGFT(3;2,3,2;1,2,2)").out
    head, *blocks = re.split(r"\n\n", text.strip())
    turned = "\n\n".join([head, *reversed(blocks)]) + "\n"
    assert slurm(fors, "--fabric", write("a", text)) == slurm(fors, "--fabric", write("b", turned))


def test_no_host(fors, write):
    assert "Slurm has nothing" in fors("fabric", "--fabric", write("net", net(("S-1", "a", []))), "--format", "slurm", code=2).err
