# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a fabric delivers, worked out from what its switches really hold.

The input is text that other people's programs print: `ibnetdiscover` (the cables and LIDs)
and `dump_fts` or opensm-lfts.dump (the forwarding tables). Nothing here knows how fors
plans, and nothing of fors is used: it is the second opinion of the tests, the demo and the bench.

The measure is the synchronised all-to-all exchange. Its phases follow one another, a phase
takes as long as its most loaded directed link has flows (at least 1), so

    throughput = servers / sum over phases of the most loaded link

which is 1 when every phase of as many phases as servers is free of conflicts.
"""

import csv
import re
from collections import Counter, namedtuple

NO_PATH = 255
MAX_HOPS = 8

Port = namedtuple("Port", "peer peer_port")
Server = namedtuple("Server", "guid lid lmc leaf leaf_port name")
Exchange = namedtuple("Exchange", "servers phases length worst throughput")


class LoadError(Exception):
    """The text is not what it should be, or a flow does not arrive."""


class Node:
    """A switch or a host as ibnetdiscover shows it."""

    def __init__(self, kind, guid, desc):
        self.kind = kind
        self.guid = guid
        self.desc = desc
        self.ports = {}  # port -> Port
        self.lids = {}   # port -> (port GUID, base LID, LMC); switches: port 0


class Net:
    """Nodes by node id, and the lists that everybody asks for."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.switches = {node.guid: node for node in nodes.values() if node.kind == "Switch"}

    def by_name(self, name):
        """The node with this description."""
        found = [node for node in self.nodes.values() if node.desc == name]
        if len(found) != 1:
            raise LoadError(f"{len(found)} nodes are called {name}")
        return found[0]

    def servers(self):
        """Ports of hosts under a switch, by leaf name, then leaf port: the order of the linear shift."""
        found = []
        for node in self.nodes.values():
            if node.kind != "Switch":
                found += [self._server(node, number, port) for number, port in node.ports.items()]
        return sorted(found, key=lambda server: (server.leaf.desc, server.leaf.guid, server.leaf_port))

    def _server(self, node, number, port):
        guid, lid, lmc = node.lids[number]
        return Server(guid, lid, lmc, self.nodes[port.peer], port.peer_port, node.desc)


SWITCH_LINE = re.compile(r'^Switch\s+\d+\s+"(?P<id>[^"]+)"\s+# "(?P<desc>.*)" (?:base|enhanced) port 0 '
                         r'lid (?P<lid>\d+) lmc (?P<lmc>\d+)')
HOST_LINE = re.compile(r'^Ca\s+\d+\s+"(?P<id>[^"]+)"\s+# "(?P<desc>.*)"')
PORT_LINE = re.compile(r'^\[(?P<port>\d+)\](?:\((?P<guid>[0-9a-f]+)\))?\s+"(?P<peer>[^"]+)"\[(?P<peer_port>\d+)\]')
HOST_LID = re.compile(r'# lid (\d+) lmc (\d+)')


def read_net(text):
    """The net that `ibnetdiscover` printed."""
    nodes, node = {}, None
    for line in text.splitlines():
        head = SWITCH_LINE.match(line) or HOST_LINE.match(line)
        if head:
            node = nodes[head["id"]] = _new_node(line, head)
        elif line.startswith("["):
            _add_port(node, line)
    if not nodes:
        raise LoadError("not the output of ibnetdiscover: no node in it")
    return Net(nodes)


def _new_node(line, head):
    kind = "Switch" if line.startswith("Switch") else "Host"
    node = Node(kind, int(head["id"].split("-")[1], 16), head["desc"])
    if kind == "Switch":
        node.lids[0] = (node.guid, int(head["lid"]), int(head["lmc"]))
    return node


def _add_port(node, line):
    port = PORT_LINE.match(line)
    if not port or node is None:
        raise LoadError(f"not a line of ibnetdiscover: {line}")
    number = int(port["port"])
    node.ports[number] = Port(port["peer"], int(port["peer_port"]))
    if node.kind == "Host":
        lid = HOST_LID.search(line)
        if not lid:
            raise LoadError(f"no LID in: {line}")
        node.lids[number] = (int(port["guid"], 16), int(lid[1]), int(lid[2]))


TABLE_LINE = re.compile(r"^Unicast lids .* guid (0x[0-9a-fA-F]+)")


def read_tables(text):
    """{switch GUID: {LID: out port}} from the text of `dump_fts` or opensm-lfts.dump; LIDs without a way are left out."""
    tables, table = {}, None
    for line in text.splitlines():
        if line.startswith("0x") and table is not None:
            words = line.split(None, 2)
            if words[1].isdigit() and int(words[1]) != NO_PATH:
                table[int(words[0], 16)] = int(words[1])
        elif line.startswith("Unicast"):
            head = TABLE_LINE.match(line)
            if not head:
                raise LoadError(f"no switch GUID in: {line}")
            table = tables[int(head[1], 16)] = {}
    if not tables:
        raise LoadError("no forwarding table in the text")
    return tables


def compare_tables(before, after, nlids=None):
    """(entries, blocks of 64 LIDs) that differ between two readings, over all switches."""
    entries, blocks = 0, set()
    for guid in before.keys() | after.keys():
        old, new = before.get(guid, {}), after.get(guid, {})
        for lid in old.keys() | new.keys():
            if old.get(lid) != new.get(lid) and (nlids is None or lid < nlids):
                entries += 1
                blocks.add((guid, lid // 64))
    return entries, len(blocks)


class Ways:
    """Walks through the tables; what leads from a leaf to a LID is walked once and kept."""

    def __init__(self, net, tables):
        self.net = net
        self.tables = tables
        self.kept = {}
        self.link_number = {}  # (switch GUID, out port) -> small number

    def way(self, leaf, lid, guid):
        """Numbers of the directed links from `leaf` to the port `guid` along `lid`, the last one into the host included."""
        key = (leaf.guid, lid)
        if key not in self.kept:
            self.kept[key] = self._walk(leaf, lid, guid)
        return self.kept[key]

    def _walk(self, node, lid, guid):
        links = []
        for _ in range(MAX_HOPS):
            out = self.tables.get(node.guid, {}).get(lid)
            if out is None or out not in node.ports:
                raise LoadError(f"LID {lid} has no way out of {node.desc} (port {out})")
            links.append(self.link_number.setdefault((node.guid, out), len(self.link_number)))
            port = node.ports[out]
            node = self.net.nodes[port.peer]
            if node.kind != "Switch":
                if node.lids[port.peer_port][0] != guid:
                    raise LoadError(f"LID {lid} ends at {node.desc}, which is not its owner")
                return tuple(links)
        raise LoadError(f"LID {lid} runs in a circle")


def shift_exchange(net, tables):
    """The linear shift over the base LIDs: in phase p server i sends to server i + p."""
    servers, ways = net.servers(), Ways(net, tables)
    count = len(servers)
    by_leaf = {}
    for server in servers:
        if server.leaf.guid not in by_leaf:
            by_leaf[server.leaf.guid] = [ways.way(server.leaf, other.lid, other.guid) for other in servers]
    loads = [_phase_load(count, phase, servers, by_leaf) for phase in range(count)]
    return _exchange(count, loads)


def _phase_load(count, phase, servers, by_leaf):
    load = Counter()
    for i, server in enumerate(servers):
        if phase:
            load.update(by_leaf[server.leaf.guid][(i + phase) % count])
    return max(load.values(), default=0)


def _exchange(servers, loads):
    length = sum(max(1, load) for load in loads)
    return Exchange(servers, len(loads), length, max(loads, default=0), servers / length if length else 1.0)


def schedule_exchange(net, tables, schedule_csv, phases):
    """The exchange of a `fors schedule --format csv` text with so many phases, every flow walked.

    Besides the links it counts what each server sends and receives in a phase, and asks that
    every ordered pair of distinct servers comes exactly once.
    """
    servers = {server.guid: server for server in net.servers()}
    ways, loads, pairs = Ways(net, tables), [Counter() for _ in range(phases)], set()
    for row in csv.DictReader(schedule_csv.splitlines()):
        source, target = servers[int(row["src_guid"], 16)], servers[int(row["dst_guid"], 16)]
        lid = int(row["dst_lid"])
        if not target.lid <= lid < target.lid + (1 << target.lmc):
            raise LoadError(f"LID {lid} is none of {target.name}")
        load = loads[int(row["phase"])]
        load.update(ways.way(source.leaf, lid, target.guid))
        load[source.guid, "sends"] += 1
        load[target.guid, "receives"] += 1
        pairs.add((source.guid, target.guid))
        _check_spine(net, source, target, row["spine_guid"], ways.way(source.leaf, lid, target.guid))
    flows = sum(sum(n for key, n in load.items() if isinstance(key, tuple) and key[1] == "sends") for load in loads)
    taking_part = len({guid for pair in pairs for guid in pair})
    if flows != len(pairs) or flows != taking_part * (taking_part - 1):
        raise LoadError(f"{flows} flows for {len(pairs)} pairs of {taking_part} servers")
    return _exchange(taking_part, [max(load.values(), default=0) for load in loads])


def _check_spine(net, source, target, spine_guid, way):
    inside = source.leaf is target.leaf
    if inside != (spine_guid == "") or len(way) != (1 if inside else 3):
        raise LoadError(f"the flow {source.name} to {target.name} does not go as the schedule says")
