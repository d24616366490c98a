# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The real ibsim and ibnetdiscover against fors's reader and writer of net files."""
import re

import pytest

import harness

SPECS = ["FT(2;20,18)", "FT(2;1,1)", "FT(2;3,4;servers=2;cables=2;empty=1/0,3/1)", "FT(2;2,5;servers=6)"]


class Written(harness.Topology):
    """A net file as fors wrote it, with the node types and ports that the harness wants to know."""

    def __init__(self, text):
        super().__init__()
        self._text = text
        for kind, nports, name in re.findall(r'^(Switch|Ca)\t(\d+) "([^"]*)"', text, re.MULTILINE):
            (self.switches if kind == "Switch" else self.hcas)[name] = int(nports)

    def text(self):
        return self._text


def fors_fabric(*arguments):
    return harness.fors("fabric", *arguments).stdout


def strip_guids(text):
    """The text without what ibsim would number by itself."""
    text = re.sub(r"^(switch|ca)guid=.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\([0-9a-f]+\) ", "", text)


def cables(text):
    """All cables as a set of {(GUID, port), (GUID, port)} with the nodes' names, types, LIDs and port GUIDs."""
    guid, found, nodes = {}, set(), {}
    for block in text.split("\n\n"):
        node_guid = re.search(r"^(?:switch|ca)guid=(0x[0-9a-f]+)", block, re.MULTILINE)
        header = re.search(r'^(Switch|Ca)\t(\d+) "([^"]*)"\t\t# "([^"]*)"(.*)', block, re.MULTILINE)
        if header:
            guid[header[3]] = node_guid[1]
            nodes[node_guid[1]] = (header[1], header[2], header[4], re.search(r"(lid \d+|$)", header[5])[0])
    for block in text.split("\n\n"):
        header = re.search(r'^(?:Switch|Ca)\t\d+ "([^"]*)"', block, re.MULTILINE)
        for port, own, peer, peer_port, lid in re.findall(
                r'^\[(\d+)\](\([0-9a-f]+\))? ?\t"([^"]*)"\[(\d+)\].*# (lid \d+ lmc \d+)?', block, re.MULTILINE):
            found.add((guid[header[1]], port, own, lid, guid[peer], peer_port))
    return nodes, found


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("numbered", [True, False], ids=["guids", "ibsim-numbers"])
def test_ibsim_loads_what_fors_writes(spec, numbered, tmp_path):
    """... sees the same nodes, GUIDs and cables, and fors reads ibnetdiscover's text of it as the same net."""
    text = fors_fabric("--synthetic", spec)
    with harness.Ibsim(Written(text if numbered else strip_guids(text)), tmp_path) as sim:
        assert b"ibwarn" not in sim.output()
        seen = sim.run(["ibnetdiscover"])
    assert cables(seen) == cables(text)
    again = tmp_path / "seen"
    again.write_text(seen)
    assert cables(fors_fabric("--fabric", again)) == cables(text)


def test_lids_survive(tmp_path):
    """LIDs that opensm gave are written by fors, taken over by ibsim, and kept by the next opensm."""
    first = fors_fabric("--synthetic", "FT(2;2,3)")
    with harness.Ibsim(Written(first), tmp_path / "one") as sim:
        with harness.OpenSM(sim, tmp_path / "sm1", lmc=2, routing_engine="minhop", event_plugin_name=None) as sm:
            sm.wait_up()
            seen = sim.run(["ibnetdiscover"])
    (tmp_path / "seen").write_text(seen)
    second = fors_fabric("--fabric", tmp_path / "seen")
    assert cables(second) == cables(seen)
    assert re.search(r"lid [1-9]\d* lmc 2", second)
    with harness.Ibsim(Written(second), tmp_path / "two") as sim:
        assert cables(sim.run(["ibnetdiscover"])) == cables(second)


def test_degraded_cables(tmp_path):
    """A cable that came up narrow is narrow in ibsim, in ibnetdiscover's text, and in what fors makes of it."""
    text = re.sub(r'(?m)^(\[\d+\]\t"(?:Spine01|Leaf02)"\[(?:3|5)\].*)4xSDR$', r"\g<1>1xSDR",
                  fors_fabric("--synthetic", "FT(2;3,4)"))
    assert text.count("1xSDR") == 2
    with harness.Ibsim(Written(text), tmp_path) as sim:
        seen = sim.run(["ibnetdiscover"])
    assert seen.count("1xSDR") == 2
    (tmp_path / "seen").write_text(seen)
    again = fors_fabric("--fabric", tmp_path / "seen")
    assert sorted(re.findall(r"^\[\d+\].*1xSDR", again, re.MULTILINE)) == \
        sorted(re.findall(r"^\[\d+\].*1xSDR", seen, re.MULTILINE))
