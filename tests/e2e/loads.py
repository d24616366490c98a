# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a fabric delivers, worked out from what its switches really hold.

The measure is the synchronised all-to-all exchange: its phases follow one another, and a phase takes
as long as its most loaded directed link has flows (at least 1), so

    throughput = servers / sum over phases of the most loaded link

which is 1 when there are as many phases as servers and none has a conflict. The cables and tables are
those that diagnostic programs read from the switches (harness.py); no code of fors is used.
"""
import csv
from collections import Counter, namedtuple
from itertools import chain

from harness import walk

BLOCK = 64  # table entries that travel in one packet

# servers; phases; length: sum of the most loaded links; worst: the most loaded link of all
Exchange = namedtuple("Exchange", "servers phases length worst throughput")


class LoadError(Exception):
    """A flow does not arrive, or the schedule is not what it says."""


def server_order(live):
    """Names of the servers by leaf, then leaf port: the order of the linear shift."""
    return sorted(live.servers, key=lambda name: live.cable[name, 1])


def changed_blocks(entries):
    """How many blocks of switch tables the changed (switch, lid) entries lie in."""
    return len({(switch, lid // BLOCK) for switch, lid in entries})


# The directed links of a way as (node, port), the last one into the server; the GUIDs of what is between its leaves as text, or "".
Way = namedtuple("Way", "links spine")


class Ways:
    """Walks through the tables; what leads from a leaf to a LID is walked once and kept."""

    def __init__(self, live, tables):
        self.live, self.tables, self.kept = live, tables, {}
        self.most = 3 if any(name.startswith("Mid") for name in live.switch_lid) else 1  # switches between leaves
        self.leaf_of = {name: live.cable[name, 1][0] for name in live.servers}

    def way(self, source, target, lid):
        """The Way from the leaf of `source` to the server `target` along `lid`."""
        key = self.leaf_of[source], lid, target
        if key not in self.kept:
            self.kept[key] = self._walk(source, target, lid)
        return self.kept[key]

    def _walk(self, source, target, lid):
        links = walk(self.tables, self.live.cable, source, lid)
        if links is None or self.live.cable[links[-1]][0] != target:
            raise LoadError(f"LID {lid} does not lead from {source} to {target}")
        over = [node for node, _ in links[2:-1]]
        if len(over) > self.most:
            raise LoadError(f"LID {lid} leads from {source} to {target} over {over}")
        return Way(tuple(links[1:]), " ".join(f"0x{self.tables.guid_of[node]:016x}" for node in over))


def _exchange(servers, loads):
    length = sum(max(1, load) for load in loads)
    return Exchange(servers, len(loads), length, max(loads, default=0), servers / length if length else 1.0)


def shift_exchange(live, tables):
    """The linear shift over the base LIDs: in phase p server i sends to server i + p."""
    order, ways = server_order(live), Ways(live, tables)
    count = len(order)
    by_leaf = {}
    for name in order:
        if ways.leaf_of[name] not in by_leaf:
            by_leaf[ways.leaf_of[name]] = [ways.way(name, to, live.servers[to].lid).links for to in order]
    rows = [by_leaf[ways.leaf_of[name]] for name in order]
    return _exchange(count, [_shift_load(rows, phase) for phase in range(count)])


def _shift_load(rows, phase):
    count = len(rows)
    links = chain.from_iterable(row[(i + phase) % count] for i, row in enumerate(rows) if phase)
    return max(Counter(links).values(), default=0)


def schedule_exchange(live, tables, schedule_csv, phases):
    """The exchange of a text of `fors schedule --format csv`, every flow walked.

    Beside the links it counts what each server sends and receives in a phase, and it insists that
    every ordered pair of distinct servers of the schedule comes exactly once.
    """
    by_guid = {f"0x{port.guid:016x}": port for port in live.servers.values()}
    ways, links, pairs, flows = Ways(live, tables), [[] for _ in range(phases)], set(), 0
    for row in csv.DictReader(schedule_csv.splitlines()):
        source, target = by_guid[row["src_guid"]], by_guid[row["dst_guid"]]
        way = _scheduled_way(ways, source, target, row)
        links[int(row["phase"])] += [*way.links, (source.name, "sends"), (target.name, "receives")]
        pairs.add((source.name, target.name))
        flows += 1
    count = len({source for source, _ in pairs})
    if flows != len(pairs) or flows != count * (count - 1):
        raise LoadError(f"{flows} flows, {len(pairs)} different, for {count} servers")
    return _exchange(count, [max(Counter(used).values(), default=0) for used in links])


def _scheduled_way(ways, source, target, row):
    """The way of one row; it must be a LID of the target, and go over the spine, or the switches, that the row names."""
    lid = int(row["dst_lid"])
    if not target.lid <= lid < target.lid + (1 << target.lmc):
        raise LoadError(f"LID {lid} is none of {target.name}'s")
    way = ways.way(source.name, target.name, lid)
    named = " ".join(row["via"].split()[1:-1]) if row.get("via") else row["spine_guid"]
    if way.spine != named:
        raise LoadError(f"{source.name} to {target.name} goes over {way.spine or 'its leaf'}, not over {named or 'its leaf'}")
    return way
