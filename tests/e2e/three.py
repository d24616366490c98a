# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees of three levels, and a judge of what fors makes of them. No code of fors is used: the judge reads the simulated hardware
and walks packet by packet."""
from collections import defaultdict

import over
from harness import NO_PATH, Topology


class Tree3(Topology):
    """XGFT(3; m1, m2, m3; 1, w2, w3): Leaf<pod>-<y>, Mid<pod>-<plane>, Top<plane>-<k>, servers Node<pod>-<y>-<x>."""

    def __init__(self, m, w):
        super().__init__()
        (self.m1, self.m2, self.m3), (self.w2, self.w3) = m, w
        for p in range(self.m3):
            for y in range(self.m2):
                self.switches[self.leaf(p, y)] = self.m1 + self.w2
            for j in range(self.w2):
                self.switches[self.mid(p, j)] = self.m2 + self.w3
        for j in range(self.w2):
            for k in range(self.w3):
                self.switches[self.top(j, k)] = self.m3
        for p in range(self.m3):
            for y in range(self.m2):
                for x in range(self.m1):
                    self.hcas[f"Node{p}-{y}-{x}"] = 1
                    self.connect(self.leaf(p, y), x + 1, f"Node{p}-{y}-{x}", 1)
                for j in range(self.w2):
                    self.connect(self.leaf(p, y), self.m1 + j + 1, self.mid(p, j), y + 1)
            for j in range(self.w2):
                for k in range(self.w3):
                    self.connect(self.mid(p, j), self.m2 + k + 1, self.top(j, k), p + 1)

    @staticmethod
    def leaf(p, y):
        return f"Leaf{p}-{y}"

    @staticmethod
    def mid(p, j):
        return f"Mid{p}-{j}"

    @staticmethod
    def top(j, k):
        return f"Top{j}-{k}"

    def leaf_cable(self, p, y, j):
        """The end at the leaf of its cable to a middle switch."""
        return self.leaf(p, y), self.m1 + j + 1

    def top_cable(self, p, j, k):
        """The end at the middle switch of its cable to a top."""
        return self.mid(p, j), self.m2 + k + 1


# ---------------------------------------------------------------------------
# The judge

def walk(snapshot, switch, lid):
    """Where a packet for the LID ends that begins at a switch: a node, None where there is no way, or "a loop"."""
    for _ in range(8):
        port = snapshot.entry(switch, lid)
        if port == 0:
            return switch
        if port == NO_PATH:
            return None
        peer = snapshot.cable.get((switch, port), (None,))[0]
        if peer is None:
            return "a dead cable"
        if peer not in snapshot.switches:
            return peer
        switch = peer
    return "a loop"


def cables_used(snapshot):
    """The cables between switches that some server's traffic goes over, by the tables: pairs of names, the lower end first."""
    used = set()
    for leaf in (name for name in snapshot.switches if name.startswith("Leaf")):
        for name in (name for name in snapshot.port if name.startswith("Node")):
            at = leaf
            while has_hosts(snapshot, leaf) and at in snapshot.switches:
                peer = snapshot.cable.get((at, snapshot.entry(at, snapshot.port[name].lid)), (None,))[0]
                if peer in snapshot.switches:
                    used.add(tuple(sorted((at, peer), key=level)))
                at = peer
    return used


def level(switch):
    return "LMT".index(switch[0])


def has_hosts(snapshot, leaf):
    return any(node == leaf and peer not in snapshot.switches for (node, _), (peer, _) in snapshot.cable.items())


def judge_tables(snapshot, sm_node):
    """Every LID arrives from every leaf; that of a switch, or of a guest on one, may have no way where none goes up and then down."""
    nodes, faults = snapshot.reached(sm_node), []
    leaves = [name for name in nodes if name.startswith("Leaf")]
    for name in nodes:
        for lid in snapshot.lids(name):
            for leaf in leaves:
                end = walk(snapshot, leaf, lid)
                if end != name and (end is not None or (name.startswith("Node") and has_hosts(snapshot, leaf))):
                    faults.append(f"from {leaf} LID {lid} of {name} comes to {end}")
    return faults + judge_loops(snapshot, nodes)


def judge_loops(snapshot, nodes):
    """The links that packets of all LIDs can go over, from any switch, never wait for each other in a circle."""
    after = defaultdict(set)
    for switch in nodes & set(snapshot.switches):
        for lid, port in enumerate(snapshot.table[switch]):
            peer = snapshot.cable.get((switch, port), (None,))[0]
            if peer in snapshot.switches and port:
                onward = snapshot.entry(peer, lid)
                if onward and snapshot.cable.get((peer, onward), (None,))[0] in snapshot.switches:
                    after[switch, port].add((peer, onward))
    return ["links wait for each other in a circle"] if over.has_cycle(after) else []


def judge(sim, sm):
    """What is wrong with the tables, and with what is published: sentences. And the status, and the snapshot."""
    snapshot, status, rows = sim.snapshot(), sm.status(), over.read_csv(sm.schedule_file)
    faults = judge_tables(snapshot, sm.node)
    if rows is None:
        return [*faults, f"no schedule: {status}"], status, snapshot
    there = [name for name in snapshot.reached(sm.node) if name.startswith("Node")]
    faults += over.judge(snapshot, rows, there)
    if status["phases"] != 1 + max(int(row["phase"]) for row in rows) or status["servers"] != len(there):
        faults.append(f"the status says {status['servers']} servers, {status['phases']} phases")
    if status["tables_by"] != "fors" or status["method"] not in ("flows", "rounds"):
        faults.append(f"tables by {status['tables_by']}, method {status['method']}")
    return faults, status, snapshot
