# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Hosts on spines: said when they are many, and when they are reached over detours; never in silence."""
import json

import pytest

DECIDES = "root_guid_file (opensm.conf) or reference_fabric (fors.conf) decides"


def remarks(fors, *arguments):
    status = json.loads(fors("plan", *arguments, "--json").out)
    return status, status["remarks"]


def with_hosts(text, switch, count):
    """The net file with so many more hosts on a switch, on ports that it gets."""
    head = next(line for line in text.splitlines() if line.startswith("Switch") and f'# "{switch}"' in line)
    ports, name = int(head.split()[1]), head.split('"')[1]
    ends, hosts = [], []
    for i in range(count):
        port, guid = ports + 1 + i, 0x700001 + 16 * i
        ends.append(f'[{port}]\t"H-{guid - 1:016x}"[1]({guid:x}) \t\t# "Gate{i}" lid 0 4xSDR\n')
        hosts.append(f'\ncaguid=0x{guid - 1:x}\nCa\t1 "H-{guid - 1:016x}"\t\t# "Gate{i}"\n'
                     f'[1]({guid:x}) \t"{name}"[{port}]\t\t# lid 0 lmc 0 "{switch}" lid 0 4xSDR\n')
    grown = head.replace(f"Switch\t{ports}", f"Switch\t{ports + count}", 1) + "\n" + "".join(ends)
    return text.replace(head + "\n", grown) + "".join(hosts)


@pytest.mark.parametrize("spec, guests", [("CUBE(3;2)", 8), ("TORUS(4;2)", 4), ("TORUS(4;3)", 6)])
def test_a_side_of_guests(fors, spec, guests):
    """Half of the servers stand on what is taken for spines."""
    status, said = remarks(fors, "--synthetic", spec)
    assert status["guests"] == guests
    assert any(f"{guests} of {2 * guests} servers are guests on spines" in text and DECIDES in text for text in said)
    assert DECIDES in fors("plan", "--synthetic", spec).out


def test_detours_of_guests(fors):
    """In a cube each switch has one on the other side that it has no cable to: three links away."""
    _, said = remarks(fors, "--synthetic", "CUBE(3;2)")
    assert any("down and up again" in text and "Switch00" in text and "Switch07" in text and "guests" in text for text in said)
    _, said = remarks(fors, "--synthetic", "TORUS(4;2)")  # a ring: each spine has a cable to each leaf
    assert not any("down and up again" in text for text in said)


def test_a_detour_of_one_guest(fors, tmp_path):
    """One guest among many servers is nothing to wonder at; that a cable under it died, and it goes a long way, is said."""
    (tmp_path / "net").write_text(with_hosts(fors("fabric", "--synthetic", "FT(2;4,4)").out, "Spine01", 1))
    status, said = remarks(fors, "--fabric", tmp_path / "net")
    assert (status["guests"], said) == (1, [])
    _, said = remarks(fors, "--fabric", tmp_path / "net", "--down", "Leaf02[6]")
    assert any("Leaf02 and Spine01" in text and "down and up again" in text for text in said)


@pytest.mark.parametrize("spec, switch, what, servers, guests", [
    ("FT(2;4,4)", "Spine01", "spines", 16, 1), ("FT(2;4,4)", "Spine01", "spines", 16, 2), ("FT(2;3,3)", "Spine01", "spines", 9, 1),
    ("XGFT(3;2,2,2;1,2,2)", "Mid2-02", "middle switches and tops", 8, 1), ("XGFT(3;2,2,4;1,2,2)", "Mid2-02", "middle switches and tops", 16, 1)])
def test_more_than_a_tenth(fors, tmp_path, spec, switch, what, servers, guests):
    """A tenth itself is not more than a tenth."""
    (tmp_path / "net").write_text(with_hosts(fors("fabric", "--synthetic", spec).out, switch, guests))
    status, said = remarks(fors, "--fabric", tmp_path / "net")
    assert status["servers"] == servers
    is_said = any(f"{guests} of {servers + guests} servers are guests on {what}" in one and DECIDES in one for one in said)
    assert is_said == (10 * guests > servers + guests)


def test_a_guest_that_some_have_no_way_to(fors, tmp_path):
    """It is left out of a demand, and said; no message is its."""
    net, demand = tmp_path / "net", tmp_path / "demand"
    net.write_text(with_hosts(fors("fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)").out, "Spine00", 1))
    demand.write_text("Node00-00 Node03-01 1000\n")
    status = json.loads(fors("plan", "--fabric", net, "--down", "Leaf00[3]", "--demand", demand, "--json").out)
    assert (status["servers"], status["phases"], status["bytes"]) == (8, 1, 1000)
    assert any("1 server is cut off from the 8 others" in text for text in status["remarks"])
