# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What is no tree of three levels, or was written by another version of fors: read, or refused in words, never taken for something else."""
import re
import struct
import zlib

import pytest

import harness
import three
from test_three_levels import good, kinds, places, settled, tables_of


def declined(sm, words):
    """fors says why, and another engine routes."""
    status = sm.wait_status(30, state="inactive", tables_by="minhop", reason=lambda text: words in (text or ""))
    assert status["pods"] is None and status["epoch"] is not None
    return status


def swap(tree, one, other):
    """Two cables, by their lower ends, change their upper ones."""
    far, near = tree.cable.pop(one), tree.cable.pop(other)
    del tree.cable[far], tree.cable[near]
    tree.connect(*one, *near)
    tree.connect(*other, *far)


def surplus(tree, low, high):
    """Room for one cable more; its ends."""
    ends = []
    for name in (low, high):
        tree.switches[name] += 1
        ends.append((name, tree.switches[name]))
    return ends


@pytest.mark.parametrize("low, high, what", [("Leaf0-1", "Mid1-1", "pods"), ("Leaf1-0", "Mid0-0", "pods"),
                                             ("Mid0-0", "Top1-1", "planes"), ("Mid1-1", "Top0-0", "planes")])
def test_a_cable_into_another_pod_or_plane(fabric, low, high, what):
    """It is named, nothing of it is learnt, and all is as it was when it is pulled: pods, or planes, would be one for ever."""
    tree = three.Tree3((2, 2, 2), (2, 2))
    here, there = surplus(tree, low, high)
    sim, sm = fabric(tree, routing_engine="fors,minhop")
    sm.wait_epoch()
    _, healthy = good(sim, sm)
    known = kinds(places(sm))
    sim.link(*here, *there)
    sm.sweep()
    declined(sm, f"a cable joins two {what}, {low}[{here[1]}] - {high}[{there[1]}]")
    assert kinds(places(sm)) == known
    sim.unlink(*here)
    sm.sweep()
    sm.wait_status(30, state="active")
    assert tables_of(good(sim, sm)[1]) == tables_of(healthy) and kinds(places(sm)) == known


@pytest.mark.parametrize("ends, words", [
    (((0, 0, 0), (1, 0, 0)), r"a cable joins two pods, (Leaf0-0\[5\] - Mid1-0|Leaf1-0\[5\] - Mid0-0)"),
    (((0, 0, 0), (1, 1, 2)), r"a cable joins two pods, (Leaf0-0\[5\] - Mid1-2|Leaf1-1\[7\] - Mid0-0)"),
], ids=["same plane", "other plane"])
def test_two_cables_crossed_between_pods(fabric, ends, words):
    """From the first sweep on; with the cables as they should be it is the tree at once."""
    tree = three.Tree3((4, 4, 2), (4, 2))
    one, other = (tree.leaf_cable(*end) for end in ends)
    swap(tree, one, other)
    sim, sm = fabric(tree)
    status = sm.wait_status(30, state="inactive", tables_by="minhop")
    assert re.search(words, status["reason"]), status["reason"]
    far, near = tree.cable[one], tree.cable[other]
    settle = [sim.unlink(*one), sim.unlink(*other), sim.link(*one, *near), sim.link(*other, *far)]
    assert len(settle) == 4
    sm.sighup()
    status = sm.wait_status(30, state="active", phases=lambda phases: phases in (32, 33))  # a sweep between may see cables that are not yet back
    assert (status["pods"], status["mids"]) == (2, 8)
    good(sim, sm)


def test_planes_that_do_not_line_up(fabric):
    """Two cables of one pod go to tops of each other's plane, and to the planes of no other pod."""
    tree = three.Tree3((2, 2, 3), (2, 2))
    swap(tree, tree.top_cable(0, 0, 0), tree.top_cable(0, 1, 0))
    _, sm = fabric(tree)
    declined(sm, "planes do not line up")


class Tree4(three.Tree3):
    """Two trees of three levels, and a switch above all tops of both of one plane."""

    def __init__(self):
        super().__init__((2, 2, 4), (2, 2))
        ends = [(self.top(j, k), p + 1) for j in range(2) for k in range(2) for p in (2, 3)]
        for top, port in ends:  # pods 2 and 3 have tops of their own
            peer = self.cable.pop((top, port))
            del self.cable[peer]
            self.switches[f"Other{top}"] = 5
            self.connect(*peer, f"Other{top}", port)
        for j in range(2):
            self.switches[f"Over{j}"] = 4
            for k in range(2):
                for i, top in enumerate((self.top(j, k), f"Other{self.top(j, k)}")):
                    self.switches[top] = 5
                    self.connect(top, 5, f"Over{j}", 1 + 2 * k + i)


def test_four_levels(fabric):
    _, sm = fabric(Tree4())
    declined(sm, "a fourth level")


# ---------------------------------------------------------------------------
# Of other versions

def reversioned(text, version):
    """Another version, with a checksum that is right."""
    lines = text.splitlines(keepends=True)[:-1]
    body = re.sub(r"\d+$", str(version), lines[0].rstrip("\n")) + "\n" + "".join(lines[1:])
    return f"{body}crc 0x{zlib.crc32(body.encode()):08x}\n"


def newer_schedule(data):
    """The bytes of a schedule of a version that nobody knows, with a header whose checksum is right."""
    head = bytearray(data)
    struct.pack_into("<I", head, 12, 99)
    struct.pack_into("<I", head, 268, zlib.crc32(bytes(head[:268])))
    return bytes(head)


@pytest.mark.parametrize("version", [0, 1, 4294967295])
def test_files_of_another_version(fabric, version):
    """The order is learnt anew and the file kept aside; epochs go on above what was there; of this version it is taken up."""
    tree = three.Tree3((2, 2, 2), (2, 2))
    sim, sm = fabric(tree)
    epoch = sm.wait_epoch()["epoch"]
    _, healthy = good(sim, sm)
    settled(sm, lambda: sim.unlink_node(tree.mid(0, 0)))
    epoch = sm.status()["epoch"]
    sm.stop()
    path = sm.state_dir / "places"
    text = path.read_text()
    assert text.startswith("fors-places 3\n") and reversioned(text, 3) == text
    path.write_text(reversioned(text, version))
    sm.schedule_file.write_bytes(newer_schedule(sm.schedule_file.read_bytes()))
    again = harness.OpenSM(sim, sm.directory)
    fabric.also(again)
    assert again.wait_epoch(epoch)["mids"] == 3  # what is dead is not known
    good(sim, again)
    assert f"a kept order of version {version}; this fors reads versions 2 and 3" in again.log()
    assert (sm.state_dir / "places.bad-1").read_text() == reversioned(text, version)
    again.stop()
    path.write_text(text)
    third = harness.OpenSM(sim, sm.directory)
    fabric.also(third)
    assert third.wait_epoch(epoch)["mids"] == 4
    settled(third, lambda: sim.relink_node(tree.mid(0, 0)))
    assert tables_of(good(sim, third)[1]) == tables_of(healthy)
