# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What fors should do, worked out a second time, from the rules and not from the code.

Everything here starts from a FatTree (the intact fabric), the LIDs that the fabric has
(harness.Live) and the set of dead cables, and from the tables that the switches hold.
"""
import re
import subprocess
from collections import Counter

import harness

Entry = tuple  # (switch name, lid)


class Rules:
    """Home lanes, and which table entries may differ between two sets of dead cables.

    dead: set of (leaf number, lane number); lane = spine * cables + cable.
    """

    def __init__(self, tree, live):
        self.tree, self.live = tree, live
        self.nlanes = tree.nspines * tree.ncables
        self.servers = {}  # (leaf, slot) -> Port
        for name, port in live.servers.items():
            leaf, slot = map(int, re.match(r"Node(\d+)-(\d+)", name).groups())
            self.servers[leaf, slot] = port

    def home(self, leaf, slot, index):
        return (self.tree.homes[leaf, slot] + index) % self.nlanes

    def lids(self):
        """(leaf, slot, path index, lid) of every LID of every server."""
        for (leaf, slot), port in sorted(self.servers.items()):
            for index in range(1 << port.lmc):
                yield leaf, slot, index, port.lid + index

    def displaced(self, dead):
        """Leaf entries that are not home-healthy."""
        return {(self.tree.leaf(a), lid) for leaf, slot, index, lid in self.lids() for a in range(self.tree.nleaves)
                if a != leaf and {(a, self.home(leaf, slot, index)), (leaf, self.home(leaf, slot, index))} & dead}

    def cut_off(self, dead, with_home=True):
        """Spine entries for LIDs of leaves whose cable to the spine is dead; with_home: those with that home too."""
        return {(self.tree.spine(lane // self.tree.ncables), lid) for leaf, slot, index, lid in self.lids()
                for b, lane in dead if b == leaf and (with_home or self.home(leaf, slot, index) != lane)}

    def may_differ(self, dead_before, dead_after):
        return (self.displaced(dead_before) | self.displaced(dead_after)
                | self.cut_off(dead_before) | self.cut_off(dead_after))

    def server_lids(self):
        return {lid for *_, lid in self.lids()}


def crosses(tables, cable, switch, lid, dead_ends):
    """Does the way from a switch to a LID use one of the dead (node, port)?"""
    node = switch
    for _ in range(8):
        port = tables.port[node].get(lid)
        if port is None:
            return False
        if (node, port) in dead_ends:
            return True
        if port == 0 or (node, port) not in cable:
            return False
        node, _ = cable[node, port]
        if node not in tables.port:
            return False
    return True


def unreached(tables, live, sources=None):
    """(source, lid) for which the walk from a server does not end at the owner of the LID; base LIDs and all others."""
    bad = []
    for source in sources or live.servers:
        for target in live.servers.values():
            for lid in range(target.lid, target.lid + (1 << target.lmc)):
                if source == target.name:
                    continue
                hops = harness.walk(tables, live.cable, source, lid)
                if hops is None or live.cable[hops[-1]][0] != target.name or len(hops) > 4:
                    bad.append((source, lid))
    return bad


def shift_conflicts(tables, live):
    """Linear shift over base LIDs, servers in order of their names: links that carry two flows in some phase."""
    names = sorted(live.servers)
    paths = {}
    leaf_of = {name: live.cable[name, 1][0] for name in names}
    for target in names:
        lid = live.servers[target].lid
        for leaf in set(leaf_of.values()):
            up = (leaf, tables.port[leaf][lid])
            peer = live.cable[up][0]
            paths[leaf, target] = (up,) if peer == target else (up, (peer, tables.port[peer][lid]))
    conflicts = 0
    for shift in range(1, len(names)):
        load = Counter()
        for rank, source in enumerate(names):
            load.update(paths[leaf_of[source], names[(rank + shift) % len(names)]])
        conflicts += sum(1 for count in load.values() if count > 1)
    return conflicts


def schedule_problems(csv_text, tables, live, flows=1):
    """
    Check `fors schedule --format csv` against tables: a list of sentences, empty when all is well. A cable between switches carries so many
    flows in a phase.
    """
    problems = []
    by_guid = {port.guid: port for port in live.servers.values()}
    phases, pairs = {}, Counter()
    paths = {}
    for line in csv_text.splitlines()[1:]:
        phase, src, dst, src_lid, dst_lid = line.split(",")[:5]
        source, target = by_guid[int(src, 16)], by_guid[int(dst, 16)]
        pairs[source.name, target.name] += 1
        key = (source.name, int(dst_lid))
        if key not in paths:
            paths[key] = harness.walk(tables, live.cable, *key)
        path = paths[key]
        if path is None or live.cable[path[-1]][0] != target.name:
            problems.append(f"phase {phase}: {source.name} does not reach {target.name} on LID {dst_lid}")
            continue
        if not source.lid <= int(src_lid) < source.lid + (1 << source.lmc):
            problems.append(f"phase {phase}: {src_lid} is no LID of {source.name}")
        phases.setdefault(int(phase), Counter()).update(path)
    for phase, load in phases.items():
        problems += [f"phase {phase}: {count} flows leave {end}" for end, count in load.items()
                     if count > (1 if live.cable[end][0] in live.servers or end[0] in live.servers else flows)]
    expected = {(a, b) for a in live.servers for b in live.servers if a != b}
    if set(pairs) != expected or any(count != 1 for count in pairs.values()):
        problems.append(f"{len(expected - set(pairs))} pairs missing, {sum(pairs.values()) - len(pairs)} twice")
    return problems


def credit_loops(directory):
    """ibdmchk's opinion of opensm's dumps: (number of CA to CA paths that it found, has credit loops)."""
    done = subprocess.run(["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", "-l", "0"],
                          cwd=directory, capture_output=True, text=True, errors="replace", timeout=600)
    scanned = re.search(r"Scanned:\s*(\d+) CA to CA paths", done.stdout)
    # its exit status says nothing: it crashes after it has printed the result
    return (int(scanned.group(1)) if scanned else 0), "no credit loops found" not in done.stdout
