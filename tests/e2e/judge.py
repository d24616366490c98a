# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Is a fabric at rest as fors promises? Judged from the hardware, without any code of fors.

What is given: the intact tree (harness.FatTree), what of it is dead (World), and what the simulated
switches hold (harness.Snapshot). What is judged: the tables, fors' status, and the schedule flow by flow.
Each judge_*() gives a list of sentences, empty when all is well.

Leaves and lanes are numbers here; lane = spine * cables + cable. A dead cable is (leaf, lane).
"""
import csv
import functools
import re
import subprocess
from collections import Counter, defaultdict
from fractions import Fraction

import harness
import over
from harness import NO_PATH

LOOP = "a loop"


class World:
    """
    What is alive of a tree: cables cut one by one, and nodes without power (all their cables are dead). `replaced` are
    the spines in whose place their spare stands; `off` names places, whichever switch stands there. `moved` are hosts that
    were plugged elsewhere, with (leaf, slot).
    """

    def __init__(self, tree, cut=(), off=(), replaced=(), stubs=(), moved=()):
        self.tree, self.cut, self.off, self.replaced = tree, set(cut), set(off), set(replaced)
        self.stubs = set(stubs)  # numbers of the stub switches that are plugged in
        self.at = {**{name: place_of(name) for name in tree.servers()}, **dict(moved)}
        self.nlanes = tree.nspines * tree.ncables

    def copy(self):
        return World(self.tree, self.cut, self.off, self.replaced, self.stubs, self.at)

    def moved(self):
        """Hosts that are not where they were first: {name: (leaf, slot)}."""
        return {name: place for name, place in self.at.items() if place != place_of(name)}

    def free(self):
        """(leaf, slot) of all ports for servers that nobody is plugged into, alive or not."""
        used = set(self.at.values())
        return [(a, s) for a in range(self.tree.nleaves) for s in range(self.tree.nservers) if (a, s) not in used]

    def spine_of(self, lane):
        return lane // self.tree.ncables

    def switch_of(self, spine):
        return self.tree.spare(spine) if spine in self.replaced else self.tree.spine(spine)

    def cable(self, leaf, lane):
        spine = self.spine_of(lane)
        return self.tree.uplink(leaf, spine, lane % self.tree.ncables)._replace(spine=self.switch_of(spine))

    def is_dead(self, leaf, lane):
        names = {self.tree.leaf(leaf), self.tree.spine(self.spine_of(lane))}
        return (leaf, lane) in self.cut or bool(names & self.off)

    def dead(self):
        """(leaf, lane) of all dead cables."""
        return {(a, k) for a in range(self.tree.nleaves) for k in range(self.nlanes) if self.is_dead(a, k)}

    def links(self):
        """(leaf, port, node, port) of all living cables of leaves."""
        ends = set()
        for a in range(self.tree.nleaves):
            leaf = self.tree.leaf(a)
            ends |= {tuple(self.cable(a, k)) for k in range(self.nlanes) if not self.is_dead(a, k)}
            ends |= {(leaf, s + 1, name, 1) for name, (at, s) in self.at.items() if at == a and not {leaf, name} & self.off}
        return ends | {tuple(self.tree.stub_cable(i)) for i in self.stubs if self.tree.stub_cable(i)[0] not in self.off}


def place_of(server):
    """(leaf, slot) of a server's name: where it was first."""
    return tuple(map(int, re.match(r"Node(\d+)-(\d+)", server).groups()))


class View:
    """A World and a Snapshot of it, as far as the subnet manager on `server` can reach it."""

    def __init__(self, world, snapshot, server):
        self.world, self.tree, self.snapshot, self.lids, self.port = world, world.tree, snapshot, snapshot.lids, snapshot.entry
        self.next = defaultdict(dict)  # switch -> {port: node}
        for (node, port), (peer, _) in snapshot.cable.items():
            if node in snapshot.switches:
                self.next[node][port] = peer
        if {(*end, *peer) for end, peer in snapshot.cable.items() if end[0].startswith("Leaf")} != world.links():
            raise harness.HarnessError("the simulator's cables are not those that they should be")
        self.nodes = snapshot.reached(server)
        leaves = range(self.tree.nleaves)
        self.dead = world.dead() | {(a, k) for a in leaves for k in range(world.nlanes)
                                    if self.tree.leaf(a) not in self.nodes}  # as good as dead: an island
        self.lanes = [{k for k in range(world.nlanes) if (a, k) not in self.dead} for a in leaves]
        self.leaves = [a for a in leaves if self.tree.leaf(a) in self.nodes]
        self.servers = sorted(self.nodes & set(self.tree.servers()))
        self.guests = sorted(self.nodes & set(self.tree.guests))
        self.players = [name for name in self.servers if name not in self.tree.idle]  # who takes part
        self.count = Counter(world.at[name][0] for name in self.players)  # n_a

    def switches(self):
        return [name for name in self.snapshot.switches if name in self.nodes]

    @functools.cached_property
    def nlids(self):
        """As many as no LID is: a switch that has just come may have a short table."""
        return 1 + max(max(self.lids(name)) for name in [*self.servers, *self.guests, *self.switches()])

    @functools.cached_property
    def numbered(self):
        """Each switch of the component has a number: {name: number}."""
        return {name: number for number, name in enumerate(self.switches())}

    @functools.cached_property
    def steps(self):
        """The tables as numbers of the next switch, 255 for anything else: {switch: bytes by LID}."""
        steps = {}
        for switch in self.switches():
            to = bytes(self.numbered.get(self.next[switch].get(port), 255) for port in range(256))
            steps[switch] = self.snapshot.table[switch].translate(to).ljust(self.nlids, b"\xff")
        return steps

    def live_spines(self, leaf):
        return {self.world.spine_of(k) for k in self.lanes[leaf]}

    def cut_pairs(self):
        """Pairs of leaves with servers and without a common spine."""
        return [(a, b) for a in self.count for b in self.count
                if a < b and not self.live_spines(a) & self.live_spines(b)]


# ---------------------------------------------------------------------------
# Tables

def destinations(view, lid):
    """Where packets for a LID end, by the switch where they are: a node, None (dropped) or LOOP."""
    end = {}
    for switch in view.switches():
        way, node = [], switch
        while node in view.snapshot.switches and node not in end and node not in way:
            way.append(node)
            port = view.port(node, lid)
            node = node if port == 0 else view.next[node].get(port)
            if port == 0:
                end[node] = node
        found = LOOP if node in way and node not in end else end.get(node, node)
        end.update((switch, found) for switch in way if switch not in end)
    return end


def doubtful(view, name):
    """LIDs of a server that do not, in plain sight, arrive from all switches: up to a spine, down to its leaf, there."""
    lids, at = view.lids(name), slice(view.lids(name).start, view.lids(name).stop)
    if not name.startswith("Node"):
        return lids
    leaf, slot = view.tree.leaf(view.world.at[name][0]), view.world.at[name][1]
    if view.snapshot.table[leaf][at] != bytes([slot + 1]) * len(lids):
        return lids
    down = bytes([view.numbered[leaf]]) * len(lids)
    spines = [switch for switch in view.switches() if not switch.startswith("Leaf")]
    straight = {view.numbered[spine] for spine in spines if view.steps[spine][at] == down}
    used = set().union(*(view.steps[view.tree.leaf(a)][at] for a in view.leaves if view.tree.leaf(a) != leaf))
    if used <= straight and len(straight) == len(spines):
        return ()
    return [lid for lid in lids if any(
        (view.steps[switch][lid] not in straight) if switch.startswith("Leaf") else
        (view.steps[switch][lid] != view.numbered[leaf]) for switch in view.switches() if switch != leaf)]


def judge_reach(view, managers=()):
    """
    Every LID from every leaf and from spines with hosts; the LIDs of managers from all spines; and never a loop, not
    even from a spine.
    """
    faults, switches = [], view.switches()
    hosting = {view.snapshot.cable[name, 1][0] for name in view.guests}
    for name in [*view.servers, *view.guests, *switches]:
        from_all = name in managers
        for lid in doubtful(view, name):
            end = destinations(view, lid)
            faults += [f"LID {lid} of {name} ends at {end[at] or 'nothing'} from {at}" for at in switches
                       if end[at] != name and (from_all or end[at] == LOOP or at.startswith("Leaf") or at in hosting)]
    return faults


def judge_loops(view):
    """
    No credit loop: the dependencies between cables of all LIDs, from wherever a switch may send them, have no cycle. What
    waits for nothing that waits is taken away until nothing is left, or a circle.
    """
    waits = defaultdict(set)  # cable that a packet comes over -> those that it goes on to; cables as (switch, port)
    for switch in view.switches():
        for lid, port in enumerate(view.snapshot.table[switch]):
            peer = view.snapshot.cable.get((switch, port))
            if port and port != NO_PATH and peer and peer[0] in view.numbered:
                onward = (peer[0], view.port(peer[0], lid))
                beyond = view.snapshot.cable.get(onward)
                if onward[1] and beyond and beyond[0] in view.numbered:
                    waits[switch, port].add(onward)
    is_less = True
    while is_less:
        free = [cable for cable, onward in waits.items() if not any(other in waits for other in onward)]
        is_less = bool(free)
        for cable in free:
            del waits[cable]
    return [f"cables wait for each other in a circle, among them {sorted(waits)[:6]}"] if waits else []


def judge_homes(view):
    """Own servers at their port; entries whose home lane lives at both leaves at home; others up and down once."""
    tree, faults = view.tree, []
    for name in view.servers:
        if len(view.lids(name)) == 1 and tree.varies(view.world.at[name][1]):
            faults += own_port(view, name)
        else:
            faults += own_port(view, name) + away(view, name, tree.homes[view.world.at[name]])
    return faults


def own_port(view, name):
    """Its leaf has its LIDs at its port."""
    b, slot = view.world.at[name]
    return [f"{view.tree.leaf(b)} has LID {lid} of {name} not at its port" for lid in view.lids(name)
            if view.port(view.tree.leaf(b), lid) != slot + 1]


def away(view, name, base):
    """Entries of a server that are not at home although they could be, were `base` the home of its first LID."""
    tree, b, faults = view.tree, view.world.at[name][0], []
    for index, lid in enumerate(view.lids(name)):
        home = (base + index) % view.world.nlanes
        if home in view.lanes[b] and view.port(*_down(view, b, home, lid)) != view.world.cable(b, home).spine_port:
            faults.append(f"LID {lid} of {name} does not come down its home lane {home}")
        faults += [f"{tree.leaf(a)} has LID {lid} of {name} not at home, lane {home}" for a in view.leaves
                   if a != b and home in view.lanes[a] & view.lanes[b]
                   and view.port(tree.leaf(a), lid) != view.world.cable(a, home).leaf_port]
    return faults


class Homes:
    """
    Where hosts are at home whose order of arrival decides: each has one home that all entries agree with, and keeps it while it
    stays at its port, until all are ranked afresh. What a look has taught counts when keep() says that the fabric was at rest.
    """

    def __init__(self):
        self.may_be = {}  # (name, place) -> lanes that agree with all that was seen
        self.seen = {}    # the same of the last look

    def judge(self, view):
        self.seen, faults = {}, []
        for name in view.servers:
            faults += own_port(view, name)
            if len(view.lids(name)) > 1 or view.tree.nservers <= view.world.nlanes:
                faults += self._judge_server(view, name)
        return faults

    def _judge_server(self, view, name):
        key = name, view.world.at[name]
        before = self.may_be.get(key, range(view.world.nlanes))
        self.seen[key] = [lane for lane in before if not away(view, name, lane)]
        if self.seen[key]:
            return []
        return [f"LIDs of {name} have no home among lanes {list(before)}, that were possible before"]

    def keep(self):
        self.may_be.update(self.seen)

    def forget(self):
        self.may_be.clear()
        self.seen.clear()

    def move(self, name):
        """It has left its port: where it comes next, or back, it may be at home elsewhere."""
        for known in (self.may_be, self.seen):
            for key in [key for key in known if key[0] == name]:
                del known[key]


def _down(view, leaf, lane, lid):
    return view.world.cable(leaf, lane).spine, lid


def judge_hops(view):
    """Between leaves that have a spine in common: one, never more."""
    tree, faults = view.tree, []
    for name in view.servers:
        leaf = tree.leaf(view.world.at[name][0])
        for lid in view.lids(name):
            for a in view.leaves:
                if not view.live_spines(a) & view.live_spines(view.world.at[name][0]):
                    continue
                at = view.next[tree.leaf(a)].get(view.port(tree.leaf(a), lid))
                if tree.leaf(a) != leaf and (at not in view.snapshot.switches or view.next[at].get(view.port(at, lid)) != leaf):
                    faults.append(f"{tree.leaf(a)} reaches LID {lid} of {name} over more than one spine")
    return faults


def base_loads(view):
    """Units (leaf, server place) on each cable and direction by the base LIDs: {(end node, port): units}."""
    load = Counter()
    for name in view.servers:
        b, lid = view.world.at[name][0], view.snapshot.port[name].lid
        for a in view.leaves:
            if a != b and view.live_spines(a) & view.live_spines(b):
                up = view.tree.leaf(a), view.port(view.tree.leaf(a), lid)
                spine = view.next[up[0]].get(up[1])
                load[up] += 1
                load[spine, view.port(spine, lid)] += 1
    return load


def places(view):
    """(leaf, slot) of all places for servers under living leaves: tables are level over them, used or not."""
    return [place for place in map(place_of, view.tree.servers()) if place[0] in view.leaves]


def least_fullest(view):
    """What the fullest link must carry at least, whatever displaced entries do: the linear programme, rounded up."""
    programme, tree = Programme(), view.tree
    use = defaultdict(list)  # (leaf, lane, direction) -> terms
    for b, slot in places(view):
        home = tree.homes[b, slot]
        for a in view.leaves:
            if a == b or not view.live_spines(a) & view.live_spines(b):
                continue
            both = view.lanes[a] & view.lanes[b]
            if home in both and not tree.varies(slot):
                use[a, home, "up"].append(1)
                use[b, home, "down"].append(1)
            else:
                _displaced(programme, view, a, b, use)
    for end, terms in use.items():
        fixed = sum(term for term in terms if term == 1)
        programme.at_most(Counter(term for term in terms if term != 1), fixed)
    return programme.least()


def _displaced(programme, view, a, b, use):
    """One displaced unit: over any pair of cables of one spine."""
    ways = []
    for up in view.lanes[a]:
        for down in view.lanes[b]:
            if view.world.spine_of(up) == view.world.spine_of(down):
                ways.append(programme.variable())
                use[a, up, "up"].append(ways[-1])
                use[b, down, "down"].append(ways[-1])
    programme.exactly(ways, 1)


def unlevel(view):
    """
    How many units of base LIDs the fullest link has above what the linear programme allows, rounded up. 1 may be as
    good as can be in whole units. The programme is only asked where a simple bound is missed.
    """
    fullest, bound = max(base_loads(view).values(), default=0), 1
    slots = Counter(leaf for leaf, _ in places(view))
    for a in view.leaves:
        others = sum(slots.values()) - slots[a]
        coming = slots[a] * (len(view.leaves) - 1)
        for units in (others, coming) if view.lanes[a] else ():
            bound = max(bound, -(-units // len(view.lanes[a])))
    return max(0, fullest - bound) and max(0, fullest - least_fullest(view))


# ---------------------------------------------------------------------------
# Bounds

class Programme:
    """A linear programme for the command lp_solve: minimise T, all variables at least 0."""

    def __init__(self):
        self.count, self.rows = 0, []

    def variable(self):
        self.count += 1
        return f"x{self.count}"

    def exactly(self, variables, value):
        self.rows.append(f"{'+'.join(variables)} = {value};")

    def at_most(self, terms, fixed=0, capacity=1):
        """The sum of the terms, and what is fixed, is at most capacity * T."""
        self.rows.append(f"{'+'.join(f'{n} {x}' for x, n in terms.items()) or '0'} - {capacity} T <= {-fixed};")

    def least(self):
        text = "min: T;\n" + "\n".join(f"{'R' + str(i)}: {row}" for i, row in enumerate(self.rows)) + "\n"
        done = subprocess.run(["lp_solve", "-S3"], input=text, capture_output=True, text=True, timeout=300)
        found = re.search(r"Value of objective function: (\S+)", done.stdout)
        if not found:
            raise harness.HarnessError(f"lp_solve: {done.stdout[:300]}{done.stderr[:300]}")
        return -int(-(float(found[1]) - 1e-5) // 1)


def lower_bound(view):
    """LB of the design: the servers, and the cuts of single leaves."""
    best = Fraction(len(view.players))
    for a in view.count:
        weight = Counter()  # common spines with other leaves -> flows
        for b in view.count:
            if a != b:
                weight[frozenset(view.live_spines(a) & view.live_spines(b))] += view.count[a] * view.count[b]
        unions = {frozenset()}
        for common in weight:
            unions |= {union | common for union in unions}
        for union in unions - {frozenset()}:
            capacity = sum(view.world.spine_of(k) in union for k in view.lanes[a])
            best = max(best, Fraction(sum(n for common, n in weight.items() if common <= union), capacity))
    return -(-best.numerator // best.denominator)


def fractional_bound(view):
    """The least T of the spine split in fractions, rounded up (lp_solve)."""
    programme, use, spines = Programme(), defaultdict(Counter), {}
    for a in view.count:
        for b in view.count:
            if a != b:
                ways = {k: programme.variable() for k in view.live_spines(a) & view.live_spines(b)}
                programme.exactly(ways.values(), view.count[a] * view.count[b])
                for k, x in ways.items():
                    use[a, k, "up"][x] = use[b, k, "down"][x] = 1
    for (leaf, k, _), terms in use.items():
        spines[leaf, k] = sum(view.world.spine_of(lane) == k for lane in view.lanes[leaf])
        programme.at_most(terms, 0, spines[leaf, k])
    programme.at_most({}, len(view.players))
    return programme.least()


# ---------------------------------------------------------------------------
# What fors says

def expected_account(view):
    """Where every CA port has gone."""
    hidden = [name for name in view.guests if name.startswith("Hidden")]
    return {"ca_ports": len(view.servers) + len(view.guests), "not_participants": len(view.servers) - len(view.players),
            "guests": len(view.guests) - len(hidden), "left_out": len(hidden)}


def expected_status(view):
    """Keys of status.json that follow from what is alive, in a fabric with a schedule."""
    tree, count = view.tree, view.count
    reduction = max([0, *(count[a] - len(view.lanes[a]) for a in count)])
    is_even = len(count) == tree.nleaves and len(set(count.values())) == 1
    links = sorted((cable.leaf, cable.leaf_port, cable.spine, cable.spine_port)
                   for cable in (view.world.cable(a, k) for a, k in view.dead))
    living = [view.world.cable(a, k) for a in view.leaves for k in view.lanes[a]]
    degraded = sorted(tuple(cable) for cable in living if cable in view.tree.slow)
    if 2 * len(degraded) >= len(living):
        degraded = None  # slower than its like is none where most are slow
    return {"servers": len(view.players), "leaves": tree.nleaves, "spines": tree.nspines, "f": reduction,
            "affected_spines": len({view.world.spine_of(k) for _, k in view.dead}),
            "capacity": next(iter(count.values())) - reduction if is_even else None,
            "unreachable_pairs": len(view.cut_pairs()), "dead_links": links, **expected_account(view),
            **({} if degraded is None else {"degraded_links": degraded})}


def _resident(view, name):
    """The switch that stands where `name` stood: a manager that never saw a spare alive knows its predecessor only."""
    for spine in range(view.tree.nspines):
        now = view.world.switch_of(spine)
        if name in (view.tree.spine(spine), view.tree.spare(spine)) and now not in view.nodes:
            return now
    return name


def judge_status(view, status):
    """state, and all that expected_status() knows."""
    published = {key: status.get(key) for key in expected_status(view)}
    for key in {"dead_links", "degraded_links"} & published.keys():
        published[key] = sorted((link["a"], link["a_port"], _resident(view, link["b"]), link["b_port"])
                                for link in published[key] or ())
    return [f"the status has {key} = {published[key]} where {value} is true"
            for key, value in expected_status(view).items() if published[key] != value]


def judge_plan(view, csv_text, phases):
    """A text of `fors schedule --format csv`, every flow walked through the tables."""
    rows = list(csv.DictReader(csv_text.splitlines()))
    last = max([int(row["phase"]) for row in rows], default=-1)
    return over.judge(view.snapshot, rows, view.players) + [f"phase {last} of {phases}"] * (last >= phases)


def judge_length(view, status):
    """T is LB, or the linear programme says that LB is out of reach, or the LMC is too small and the status says so."""
    bound, phases = lower_bound(view), status.get("phases")
    if status.get("lower_bound") != bound:
        return [f"the status has lower_bound {status.get('lower_bound')}, it is {bound}"]
    if phases is None or phases < bound:
        return [f"{phases} phases, below the bound {bound}"]
    if phases == bound or status.get("lmc_needed") is not None:
        return []
    fraction = fractional_bound(view)
    return [] if phases == fraction else [f"{phases} phases where LB is {bound} and LP {fraction}"]
