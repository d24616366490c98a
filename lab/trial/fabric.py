# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fabric as two files tell it, text of ibnetdiscover and of dump_fts: cables, hosts, the way of a flow, what a phase needs.

Nothing here is code of the planners: what is predicted is worked out a second time, from the tables alone.
A directed link is (node, port), the port that it leaves by; a cable is named by one of its ends, as NODE[PORT].
"""
import re
from collections import Counter, defaultdict, deque, namedtuple

NO_PATH = 255
LANE = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 13.64, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}  # Gbit/s of data

Host = namedtuple("Host", "name node port guid lid lmc")

NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"\s+#\s*"([^"]*)"(?:.*\blid (\d+))?')
LINK = re.compile(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([^"]+)"\[(\d+)\](?:\([0-9a-f]+\))?\s*(?:#(.*))?')
TABLE = re.compile(r"Unicast lids .*? guid 0x([0-9a-f]+)")
ENTRY = re.compile(r"0x([0-9a-f]+)\s+(\d+)\b")


class Flow(namedtuple("Flow", "source target slid dlid")):  # hosts; LIDs
    def turned(self):
        return Flow(self.target, self.source, self.dlid, self.slid)


class FabricError(Exception):
    """Files that do not say what is needed; a flow that does not arrive."""


def nodes(text):
    """(kind, name) of each node of the text of a fabric."""
    return [(head[1], head[3].split(" HCA-")[0]) for head in map(NODE.match, text.splitlines()) if head]


class Fabric:
    def __init__(self, net, lfts=""):
        self.name, self.guid, self.lid = {}, {}, {}  # of nodes; GUIDs as numbers
        self.switches, self.cable, self.speed = set(), {}, {}
        self.hosts, self.table, self.kept = [], {}, {}
        self._read_net(net)
        self._read_tables(lfts)
        self.hosts.sort(key=lambda host: (self.leaf(host), self.cable[host.node, host.port][1]))
        self.host_of = {(host.node, host.port): host for host in self.hosts}

    def _read_net(self, text):
        node, guid = None, 0
        for line in text.splitlines():
            named = re.match(r"(?:switch|ca|rt)guid=0x([0-9a-f]+)", line)
            head = NODE.match(line)
            link = LINK.match(line)
            if named:
                guid = int(named[1], 16)
            elif head:
                node = head[2]
                self.name[node], self.guid[node], self.lid[node] = head[3].split(" HCA-")[0], guid, int(head[4] or 0)
                if head[1] == "Switch":
                    self.switches.add(node)
            elif link and node:
                self._add_link(node, link)
        if not self.cable:
            raise FabricError("the text of the fabric has no cable")
        self.cable = {end: other for end, other in self.cable.items() if self.cable.get(other) == end}
        self.hosts = [host for host in self.hosts if (host.node, host.port) in self.cable]

    def _add_link(self, node, link):
        port, rest = int(link[1]), link[5] or ""
        self.cable[node, port] = link[3], int(link[4])
        speed = re.search(r"\b(\d+)x(\w+)\s*$", rest)
        self.speed[node, port] = int(speed[1]) * LANE.get(speed[2], 0) if speed else 0
        own = re.match(r"\s*lid (\d+) lmc (\d+)", rest)
        if node not in self.switches and link[2] and own and int(own[1]):
            self.hosts.append(Host(self.name[node], node, port, int(link[2], 16), int(own[1]), int(own[2])))

    def _read_tables(self, text):
        of_guid, rows = {self.guid[node]: node for node in self.switches}, {}
        for line in text.splitlines():
            head, entry = TABLE.match(line), ENTRY.match(line)
            if head:
                rows = self.table.setdefault(of_guid.get(int(head[1], 16)), {})
            elif entry and int(entry[2]) != NO_PATH:
                rows[int(entry[1], 16)] = int(entry[2])
        self.table.pop(None, None)

    # -- names

    def leaf(self, host):
        return self.cable[host.node, host.port][0]

    def end_name(self, end):
        return f"{self.name[end[0]]}[{end[1]}]"

    def link_name(self, link):
        return f"{self.end_name(link)} -> {self.end_name(self.cable[link])}" if link in self.cable else self.end_name(link)

    def find_end(self, text):
        """The end that is meant by NODE[PORT]: a description or GUID."""
        said = re.fullmatch(r"(.+)\[(\d+)\]", text)
        nodes = [node for node in self.name if said and said[1] in (self.name[node], node, f"0x{self.guid[node]:016x}", f"0x{self.guid[node]:x}")]
        if len(nodes) != 1 or (nodes[0], int(said[2])) not in self.cable:
            raise FabricError(f"{text} is no cable of this fabric; write NODE[PORT], by name or GUID" if len(nodes) < 2 else
                              f"{text}: several nodes are called so; write the GUID of one")
        return nodes[0], int(said[2])

    def between(self):
        """Directed links between switches."""
        return [end for end, other in self.cable.items() if end[0] in self.switches and other[0] in self.switches]

    # -- ways and loads

    def way(self, flow):
        """The directed links from one host to another; FabricError where the packet does not arrive."""
        leaf = self.leaf(flow.source)
        if (leaf, flow.dlid) not in self.kept:
            self.kept[leaf, flow.dlid] = self._walk(leaf, flow.dlid)
        links, end = self.kept[leaf, flow.dlid]
        if end != (flow.target.node, flow.target.port):
            raise FabricError(f"from {flow.source.name} a packet for {flow.target.name} (LID {flow.dlid}) does not arrive")
        return ((flow.source.node, flow.source.port), *links)

    def _walk(self, leaf, lid):
        at, links = leaf, []
        while at in self.switches and len(links) < 64:
            links.append((at, self.table.get(at, {}).get(lid, NO_PATH)))
            if links[-1] not in self.cable:
                return (), None
            at = self.cable[links[-1]][0]
        return tuple(links), self.cable[links[-1]] if links else None

    def loads(self, flows):
        """Directed link -> how many of the flows pass it."""
        return Counter(link for flow in flows for link in self.way(flow))

    def need(self, flows, full=0, thanks=0):
        """
        (how long a phase takes, in times of a lone message; its fullest link): links `full` Gbit/s fast, or their part of that. What
        acknowledges a message is `thanks` of it, and goes back over other links maybe; a lone one meets that of one other.
        """
        loads, back = self.loads(flows), self.loads(map(Flow.turned, flows)) if thanks else Counter()
        if not loads:
            return 0, None
        loads = {link: max(1, (load + thanks * back[link]) / (1 + thanks)) for link, load in loads.items()}
        length = {link: load * max(1, full / self.speed[link] if self.speed.get(link) and full else 1) for link, load in loads.items()}
        worst = max(length, key=lambda link: (length[link], link))
        return length[worst], worst

    # -- what a cut would do

    def distances(self, start, without=()):
        """Node -> number of cables from `start`."""
        next_to = defaultdict(set)
        for end, other in self.cable.items():
            if end not in without:
                next_to[end[0]].add(other[0])
        seen, queue = {start: 0}, deque([start])
        while queue:
            at = queue.popleft()
            for node in next_to[at] - seen.keys():
                seen[node] = seen[at] + 1
                queue.append(node)
        return seen

    def refusal(self, end, own, manager):
        """Why the cable may not be disabled, or None. own, manager: nodes of this host and of the subnet manager."""
        other = self.cable[end]
        for node, who in ((own, "this host"), (manager, "the subnet manager")):
            if node in (end[0], other[0]):
                return f"{self.end_name(end)} is the cable of {who}"
        if not {end[0], other[0]} <= self.switches:
            return f"{self.end_name(end)} is the cable of a host: its loss cuts it off"
        left = self.distances(own, {end, other})
        lost = sorted(self.name[node] for node in self.name if node not in left)
        if lost:
            return f"without {self.end_name(end)} {lost[0]} is cut off" + (f", and {len(lost) - 1} more" if lost[1:] else "")
        uplinks = [link for node in (end[0], other[0]) for link in self.between() if link[0] == node and link not in (end, other)]
        if not {end[0], other[0]} <= {node for node, _ in uplinks}:
            return f"without {self.end_name(end)} a switch has no cable to others"
        return None

    def near(self, end, own):
        """The end of the cable that can be asked to come up again over the fewest other cables."""
        left = self.distances(own, {end, self.cable[end]})
        return min((end, self.cable[end]), key=lambda one: left.get(one[0], 1 << 30))


# -- who sends to whom: a way is (how many phases it has, [(number of a phase, its flows)]), at most so many of them, evenly over all

def sample(count, most):
    return range(count) if count <= most else sorted({round(i * (count - 1) / max(1, most - 1)) for i in range(most)})


def shift(hosts, most):
    """The linear shift over base LIDs: in phase p host i sends to host i + p."""
    count = len(hosts)
    return count - 1, [(p, [Flow(source, hosts[(i + p + 1) % count], source.lid, hosts[(i + p + 1) % count].lid) for i, source in enumerate(hosts)])
                       for p in sample(count - 1, most)]


def at_once(hosts):
    """All to all in one phase."""
    return 1, [(0, [flow for _, phase in shift(hosts, len(hosts))[1] for flow in phase])]


def neighbours(fabric, hosts):
    """Each host to the next one below the same leaf: flows that meet nobody."""
    below = defaultdict(list)
    for host in hosts:
        below[fabric.leaf(host)].append(host)
    return [Flow(host, leaf[(i + 1) % len(leaf)], host.lid, leaf[(i + 1) % len(leaf)].lid)
            for leaf in below.values() if len(leaf) > 1 for i, host in enumerate(leaf)]


def scheduled(read, hosts, most):
    """What `fors schedule --format csv` says of these hosts; read(): its lines, which are read twice, and may be many."""
    of_guid = {f"0x{host.guid:016x}": host for host in hosts}
    count = max((int(line.split(",", 1)[0]) for line in read() if line[0].isdigit()), default=0)
    phases = {number: [] for number in sample(count, most)}
    for line in read():
        phase, source, target, slid, dlid = line.split(",")[:5]
        if phase.isdigit() and int(phase) - 1 in phases and source in of_guid and target in of_guid:
            phases[int(phase) - 1].append(Flow(of_guid[source], of_guid[target], int(slid), int(dlid)))
    return count, list(phases.items())
