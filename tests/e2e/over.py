# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Schedules over the tables of any engine, in fabrics of any kind: small fabrics, and a judge of their plans.

Nothing here knows trees or lanes, and no code of fors is used: the judge reads the CSV of a schedule and walks each
flow hop by hop through what the simulated switches hold (harness.Snapshot).
"""
import csv
import re
from collections import Counter, defaultdict

import harness
from harness import FatTree, Topology

MOST_HOPS = 64


# ---------------------------------------------------------------------------
# Fabrics

class Fabric(Topology):
    """Switches with servers, joined as asked for: leaf ports of servers first."""

    def __init__(self, servers, links):
        """servers: {switch: how many}; links: pairs of switches."""
        super().__init__()
        degree = Counter(name for link in links for name in link)
        for number, (name, count) in enumerate(servers.items()):
            self.switches[name] = max(count + degree[name], 2)
            for s in range(count):
                self.hcas[f"Node{number:02d}-{s:02d}"] = 1
                self.connect(name, s + 1, f"Node{number:02d}-{s:02d}", 1)
        port = dict(servers)
        for a, b in links:
            port[a] += 1
            port[b] += 1
            self.connect(a, port[a], b, port[b])
        self.links = links

    def end(self, a, b):
        """(switch, port) of the first cable between two switches."""
        return next((node, port) for (node, port), (peer, _) in sorted(self.cable.items()) if (node, peer) == (a, b))


def two_levels():
    """FT(2;4,4): 16 servers."""
    return FatTree(4, 4)


def three_levels():
    """Four pods of two edge and two middle switches, four cores: 16 servers."""
    links = [(f"Edge{p}{e}", f"Mid{p}{m}") for p in range(4) for e in range(2) for m in range(2)]
    links += [(f"Mid{p}{m}", f"Core{m}{c}") for p in range(4) for m in range(2) for c in range(2)]
    servers = {f"Edge{p}{e}": 2 for p in range(4) for e in range(2)}
    servers.update({f"Mid{p}{m}": 0 for p in range(4) for m in range(2)})
    servers.update({f"Core{m}{c}": 0 for m in range(2) for c in range(2)})
    return Fabric(servers, links)


def torus(nx=4, ny=4, each=2):
    """Two-dimensional, with wrap-around."""
    name = [[f"T{x}{y}" for y in range(ny)] for x in range(nx)]
    links = [(name[x][y], name[(x + 1) % nx][y]) for x in range(nx) for y in range(ny)]
    links += [(name[x][y], name[x][(y + 1) % ny]) for x in range(nx) for y in range(ny)]
    return Fabric({name[x][y]: each for x in range(nx) for y in range(ny)}, links)


def irregular():
    """Eight switches without any order, one of them without servers, two joined by two cables: 19 servers."""
    links = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "E"), ("E", "A"), ("A", "C"), ("B", "F"), ("F", "G"), ("G", "D"),
             ("G", "H"), ("H", "E"), ("A", "B")]
    return Fabric({"A": 4, "B": 3, "C": 1, "D": 3, "E": 2, "F": 0, "G": 4, "H": 2}, links)


# ---------------------------------------------------------------------------
# The judge

class Walker:
    """Ways through the tables of a snapshot."""

    def __init__(self, snapshot):
        self.snapshot = snapshot
        self.by_guid = {port.guid: name for name, port in snapshot.port.items() if name not in snapshot.switches}
        self.servers = [name for name in self.by_guid.values() if (name, 1) in snapshot.cable]
        self.known = {}

    def way(self, source, lid, target):
        """[(switch, port out of it), ...] from a server's switch to the port that the target hangs on; None: it does not lead there."""
        start = self.snapshot.cable.get((source, 1), (None,))[0]
        key = start, lid, target
        if key not in self.known:
            self.known[key] = self._walk(start, lid, target)
        return self.known[key]

    def _walk(self, node, lid, target):
        ends, at = self.snapshot.way(node, lid, most=MOST_HOPS) if lid in self.snapshot.lids(target) else (None, None)
        return ends if at == target else None


def bound(walker, servers):
    """No plan over these tables, over base LIDs, has fewer phases: the servers, and the fullest link."""
    load = Counter()
    for target in servers:
        for source in servers:
            if source != target:
                load.update(walker.way(source, walker.snapshot.port[target].lid, target)[:-1])
    return max([len(servers), *load.values()])


def read_csv(schedule_file):
    """The rows of a published schedule as dictionaries; None when it is withdrawn."""
    done = harness.fors("schedule", schedule_file, "--format", "csv", code=None)
    if done.returncode == 1:
        return None
    if done.returncode:
        raise harness.HarnessError(done.stderr)
    return list(csv.DictReader(done.stdout.splitlines()))


def judge(snapshot, rows, servers=None):
    """What is wrong with a plan over the tables in the switches: sentences, none when all is well."""
    walker = Walker(snapshot)
    used, seen, answers, faults = set(), {}, {}, []
    guid_of = {name: snapshot.port[name].guid for name in snapshot.switches}
    for row in rows:
        source, target = walker.by_guid.get(int(row["src_guid"], 16)), walker.by_guid.get(int(row["dst_guid"], 16))
        if source is None or target is None:
            faults.append(f"phase {row['phase']}: a server that is not there")
            continue
        lid, phase = int(row["dst_lid"]), int(row["phase"])
        way = walker.way(source, lid, target)
        if way is None:
            faults.append(f"phase {phase}: LID {lid} does not lead from {source} to {target}")
            continue
        for thing in (*way, (source, "sends")):  # the last port of the way is the receiver's
            if (phase, thing) in used:
                faults.append(f"phase {phase}: two flows: {thing}")
            used.add((phase, thing))
        if row.get("via") and [int(guid, 16) for guid in re.findall("0x[0-9a-f]+", row["via"])] != [guid_of[end[0]] for end in way]:
            faults.append(f"phase {phase}: {source} to {target} goes another way than via {row['via']}")
        faults += [f"{source} sends to {target} again"] * ((source, target) in seen)
        seen[source, target], answers[target, source] = row["dst_lid"], row["src_lid"]
    servers = servers or walker.servers
    if set(seen) != {(a, b) for a in servers for b in servers if a != b}:
        faults.append(f"{len(seen)} pairs for {len(servers)} servers")
    return faults + ["a source LID is not the one that the way back goes to"] * (seen != answers)


# ---------------------------------------------------------------------------
# Deadlock

def has_cycle(after):
    """Is there a cycle in a graph {node: set of nodes}?"""
    state = {}
    for start in list(after):
        stack = [(start, iter(after.get(start, ())))] if start not in state else []
        state.setdefault(start, "open")
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[node] = "done"
                stack.pop()
            elif state.get(following) == "open":
                return True
            elif following not in state:
                state[following] = "open"
                stack.append((following, iter(after.get(following, ()))))
    return False


def can_deadlock(snapshot, flows):
    """Can (source, target, lid, level) wait for each other in a circle? Channels of different levels are different."""
    walker, after = Walker(snapshot), defaultdict(set)
    for source, target, lid, level in flows:
        way = [(*end, level) for end in walker.way(source, lid, target)]
        for held, wanted in zip(way, way[1:]):
            after[held].add(wanted)
    return has_cycle(after)
