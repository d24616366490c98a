# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees of three levels as they are bought and as accidents make them, by a line of text; what of one is alive, and who reaches whom."""
import random
import re

import harness
import three

ODDITIES = "[;shared=S][;uneven=1][;empty=E][;guests=G][;shuffle=SEED][;drain=1]"


class OddLevels(three.Tree3):
    """
    XGFT(3;m1,m2,m3;1,w2,w3), but: S planes share their tops, as the line cards of a director switch share its fabric boards (shared);
    every second pod lacks its last leaf, and every third one its last middle switch (uneven); one of E places of servers is empty (empty);
    hosts hang on the first middle switches and tops (guests); ports are plugged in any order, and GUIDs too are in no order (shuffle).
    In trees with drain=1 links and switches are excluded by fors.conf at times.
    """

    idle, strays, late, guests = (), (), frozenset(), ()
    nstubs, has_spares, has_free, has_cache = 0, False, False, False

    def __init__(self, m, w, shared=1, uneven=0, empty=0, guests=0, shuffle=0, drain=0):
        super().__init__(m, w)
        self.has_drain = bool(drain)
        if shared > 1:
            self._share(shared)
        if uneven:
            self._take_out([self.leaf(p, self.m2 - 1) for p in range(1, self.m3, 2)] + [self.mid(p, self.w2 - 1) for p in range(2, self.m3, 3)])
        if empty:
            places = sorted(self.hcas)
            self._take_out(random.Random(empty).sample(places[1:-1], len(places) // empty))
        for name in [self.mid(p, 0) for p in range(self.m3)][:guests] + [self.top(0, k) for k in range(self.w3)][:guests]:
            self.switches[name] += 1
            self.hcas[f"Gate-{name}"] = 1
            self.connect(name, self.switches[name], f"Gate-{name}", 1)
        if shuffle:
            self._shuffle(random.Random(shuffle))
        self.ends = sorted(min(a, b) for a, b in self.cable.items() if a < b and {a[0], b[0]} <= self.switches.keys())

    def _share(self, planes):
        """The tops of so many planes become one each, with the ports of all of them."""
        for j in range(self.w2):
            for k in range(self.w3 if j % planes else 0):
                board, top = self.top(j - j % planes, k), self.top(j, k)
                for port in range(1, self.m3 + 1):
                    peer = self.cable.pop((top, port))
                    del self.cable[peer]
                    self.connect(*peer, board, self.m3 * (j % planes) + port)
                self.switches[board] = max(self.switches[board], self.m3 * (j % planes + 1))
                del self.switches[top]

    def _take_out(self, names):
        gone = set(names)
        gone |= {peer for (name, _), (peer, _) in self.cable.items() if name in gone and name.startswith("Leaf") and peer in self.hcas}
        self.cable = {end: peer for end, peer in self.cable.items() if not {end[0], peer[0]} & gone}
        for nodes in (self.switches, self.hcas):
            for name in gone & nodes.keys():
                del nodes[name]

    def _shuffle(self, order):
        """GUIDs follow the order of the nodes."""
        port = {name: order.sample(range(1, count + 1), count) for name, count in self.switches.items()}
        moved = {(name, number): (name, port[name][number - 1] if name in port else number) for name, number in self.cable}
        self.cable = {moved[end]: moved[peer] for end, peer in self.cable.items()}
        for nodes in (self.switches, self.hcas):
            items = sorted(nodes.items())
            order.shuffle(items)
            nodes.clear()
            nodes.update(items)

    def servers(self):
        return sorted(name for name in self.hcas if name.startswith("Node"))

    def between(self, low, high):
        """The ends at the lower switch of the cables between two switches."""
        return [end for end, peer in self.cable.items() if (end[0], peer[0]) == (low, high)]

    def world(self, off=()):
        return World(self, off=off)


def parse_levels(spec):
    """An OddLevels of XGFT(3;m1,m2,m3;1,w2,w3) and what ODDITIES lists, within the brackets."""
    found = re.fullmatch(r"XGFT\(3;(\d+),(\d+),(\d+);1,(\d+),(\d+)((?:;\w+=\d+)*)\)", spec.replace(" ", ""))
    if not found:
        raise SystemExit(f"{spec!r} is not like XGFT(3;4,4,4;1,4,4) or XGFT(3;4,4,4;1,4,4;shared=4;empty=3)")
    size = [int(found[i]) for i in range(1, 6)]
    return OddLevels(size[:3], size[3:], **{key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", found[6])})


class World:
    """What is alive of a tree: cables cut one by one, (node, port) of an end, and nodes without power. And what is drained: text for fors.conf."""

    replaced, stubs = (), ()

    def __init__(self, tree, cut=(), off=(), drained=()):
        self.tree, self.cut, self.off, self.drained = tree, set(cut), set(off), tuple(drained)

    def copy(self):
        return World(self.tree, self.cut, self.off, self.drained)

    def moved(self):
        return {}

    def dead(self):
        """The ends of cables that are cut."""
        return set(self.cut)

    def links(self):
        """(node, port, peer, port) of all living cables, each once."""
        return {(*end, *peer) for end, peer in self.tree.cable.items()
                if end < peer and not {end, peer} & self.cut and not {end[0], peer[0]} & self.off}

    def is_allowed(self, seats):
        """The seats of the managers must stay in one fabric."""
        onward, seen, todo = {}, set(), [seats[0]]
        for a, _, b, _ in self.links():
            onward.setdefault(a, set()).add(b)
            onward.setdefault(b, set()).add(a)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += onward.get(name, ())
        return set(seats) <= seen and not set(seats) & self.off


class View:
    """A World and a Snapshot of it, as far as the subnet manager on a node can reach it."""

    def __init__(self, world, snapshot, node):
        self.world, self.tree, self.snapshot, self.lids, self.port = world, world.tree, snapshot, snapshot.lids, snapshot.entry
        if {(*end, *peer) for end, peer in snapshot.cable.items() if end < peer} != world.links():
            raise harness.HarnessError("the simulator's cables are not those that they should be")
        self.nodes = snapshot.reached(node)
        self.dead = world.dead()
        self.players = sorted(name for name in self.nodes if name.startswith("Node"))

    def switches(self):
        return [name for name in self.snapshot.switches if name in self.nodes]

    def _above(self, name):
        return {peer for (node, _), (peer, _) in self.snapshot.cable.items()
                if node == name and peer in self.snapshot.switches and three.level(peer) > three.level(name)}

    def cut_pairs(self):
        """Pairs of leaves with servers, in the part that is reached, that have no way up and then down."""
        leaves = sorted(name for name in self.nodes if name.startswith("Leaf") and three.has_hosts(self.snapshot, name))
        mids = {leaf: self._above(leaf) for leaf in leaves}
        tops = {leaf: set().union(*(self._above(mid) for mid in mids[leaf])) for leaf in leaves}
        return [(a, b) for a in leaves for b in leaves if a < b and not mids[a] & mids[b] and not tops[a] & tops[b]]
