# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees as accidents make them, for chaos.py: all that is not quite a full two-level tree of servers, by a line of text."""
import re

import harness
import judge

ODDITIES = "[;guests=G][;spares=1][;stubs=G][;strays=1][;idle=1][;free=1][;late=1][;slow=1][;cache=1]"


class OddTree(harness.FatTree):
    """
    With hosts below the first spines (guests), for each spine a switch that can replace it (spares), switches with a host that
    can be plugged into the first leaves (stubs), servers that take no part (idle: those of the last leaf, and the first of
    each other one), and another tree, in lower case, that a stray cable may lead to (strays). Leaves are filled unevenly, with
    ports that hosts may move to (free); every third host boots when opensm runs already (late); one spine's cables, and one more, run
    at a quarter of their width (slow); opensm caches its routing (cache).
    """

    def __init__(self, spines, leaves, guests=0, spares=0, stubs=0, strays=0, idle=0, free=0, late=0, slow=0, cache=0, **options):
        ports = options.get("servers", spines)
        empty = {(a, (a + 1 + 2 * j) % ports) for a in range(leaves) for j in range(1 + a % 3 if ports > 3 else 1)} if free else set()
        super().__init__(spines, leaves, empty=empty, **options)
        self.nstubs, self.strays, self.has_free, self.has_cache = stubs, (), bool(free), bool(cache)
        if strays:
            self._add_other()
        self._add_stubs(stubs)
        self.guests = tuple(f"Guest{k:02d}" for k in range(guests))
        for k, name in enumerate(self.guests):
            self.hcas[name] = 1
            self.switches[self.spine(k)] += 1
            self.connect(self.spine(k), self.switches[self.spine(k)], name, 1)
        self.guests += tuple(f"Hidden{i:02d}" for i in range(stubs))
        self.idle = tuple(name for name in self.servers() if judge.place_of(name)[0] == leaves - 1 or not judge.place_of(name)[1]) if idle else ()
        self.late = {name for name in self.servers()[2::3] if name not in seats(self)} if late else set()
        self.slow = [self.uplink(a, 0) for a in range(leaves)] + [self.uplink(leaves - 1, spines - 1)] if slow else []
        self.has_spares = bool(spares)
        for k in range(spines if spares else 0):
            self.switches[self.spare(k)] = leaves * self.ncables

    def _add_stubs(self, count):
        for i in range(count):
            self.switches[f"Stub{i:02d}"] = 2
            self.hcas[f"Hidden{i:02d}"] = 1
            self.connect(f"Stub{i:02d}", 2, f"Hidden{i:02d}", 1)
            self.switches[self.leaf(i)] += 1
        self.stub_ports = [self.switches[self.leaf(i)] for i in range(count)]

    def stub_cable(self, number):
        return self.leaf(number), self.stub_ports[number], f"Stub{number:02d}", 1

    def _add_other(self):
        """Another tree, and the ways to join it: a spine or a leaf of either."""
        other = harness.FatTree(3, 3)
        self.switches.update({name.lower(): ports + 1 for name, ports in other.switches.items()})
        self.others = {name.lower(): ports for name, ports in other.hcas.items()}
        self.hcas.update(self.others)
        self.cable.update({(a.lower(), p): (b.lower(), q) for (a, p), (b, q) in other.cable.items()})
        for name in (self.spine(0), self.leaf(0)):
            self.switches[name] += 1
        ends = [(name, self.switches[name]) for name in (self.spine(0), self.leaf(0))]
        self.strays = [(*end, name, self.switches[name]) for end in ends for name in ("spine01", "leaf01")]

    def servers(self):
        return [name for name in super().servers() if name[0].isupper()]

    def world(self, off=()):
        return judge.World(self, off=off)

    def text(self):
        narrow = {cable[:2] for cable in self.slow} | {cable[2:] for cable in self.slow}
        return harness.with_width(super().text(), narrow)


def parse_fabric(spec):
    """An OddTree of FT(2;S,M1[;servers=N][;cables=C] and what ODDITIES lists)."""
    found = re.fullmatch(r"FT\(2;(\d+),(\d+)((?:;\w+=\d+)*)\)", spec.replace(" ", ""))
    if not found:
        raise SystemExit(f"{spec!r} is not like FT(2;8,8) or FT(2;8,8;servers=6;cables=2;guests=1;spares=1)")
    options = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", found[3])}
    return OddTree(int(found[1]), int(found[2]), **options)


def full_lmc(tree):
    """The least LMC with a path index for each lane; three levels need one LID only."""
    if not isinstance(tree, OddTree):
        return 0
    return (tree.nspines * tree.ncables - 1).bit_length()


def seats(tree):
    """Where the two subnet managers sit: servers of two leaves, if there are two."""
    names = tree.servers()
    return names[0], names[-1]
