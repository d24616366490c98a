#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""certified.py NET [--down NODE[PORT]]... [--one-lid] [--lfts FILE] [--check FILE | --plan FILE] - a lower bound on the phases of any plan, with a certificate.

NET is a text of ibnetdiscover; ways lead up from the hosts' switches, then down. A certificate is one of these arguments:

  port   a server receives from all P servers, itself included: T >= P
  lump   with one LID for each server all n flows of a switch to a server leave it by one of its c cables: T >= n ceil((P - n) / c)
  last   with one LID for each server all f flows that can reach a switch by one switch above it alone come to a server over one of its c
         cables, and what the n servers send back to one of the f goes over one of them: T >= f ceil(n / c), T >= n ceil(f / c)
  neck   with one LID for each server, where a switch above all ways lead from f servers to the n that hang together with another switch without it:
         it sends to each of the n over one of its c cables there: T >= f ceil(n / c)
  cut    each of these cables (a switch and its port) has the price 1 in this direction, the others 0: T >= as with prices
  distance  each cable has the price 1 in each direction: T >= as with prices
  prices each cable has a price in each direction, none below 0. A flow crosses at least the price of its cheapest way, and in T
         phases all cables together carry T times the sum of all prices: T >= sum of cheapest ways / sum of prices

With --lfts FILE the bound is one of plans over these tables, as fors fabric --format lfts or dump_fts prints them; NET has the LIDs then:

  port   as above
  link   so many flows have to cross a cable in one direction, whichever LID of their receiver they take: T >= flows
  ways   each cable has a price in each direction, and a flow crosses at least the price of the cheapest of its ways: T >= as with prices

A certificate with "paths" speaks of so many LIDs of each server, from the first one on.

Prices are searched for by multiplicative weights; what they prove does not depend on how they were found. The certificate is printed as JSON
on one line. --check reads it from FILE and computes the bound again, of prices with code that shares nothing with their search, of the others
by the formula above; it fails where the certificate claims more. --plan reads what fors plan --json says and reckons the certificates there again, those
of tables with --lfts: a line for each, "lower_bound 50 by cut: 50 proven"; it fails where one is missing, claims more, or is not of its bound.
Nothing here asks fors.
"""
import argparse
import copy
import heapq
import json
import re
import sys
from pathlib import Path

TURNS, POWERS, ONE = 105, 7, 1 << 16


class Net:
    """Servers of each switch, and living cables between switches: (from, to): how many."""

    def __init__(self, text, down=()):
        self.hosts, self.cables, self.end, node, kind = {}, {}, {}, None, None
        switches, ends = set(), []
        for line in text.splitlines():
            if head := re.match(r'(\w+)\s+\d+\s+"([^"]+)"', line):
                kind, node = head.groups()
                switches |= {node} if kind == "Switch" else set()
            elif (end := re.match(r'\[(\d+)\](?:\([0-9a-fA-F]+\))?\s+"([^"]+)"\[(\d+)\]', line)) and node:
                ends.append((node, int(end[1]), end[2], int(end[3])))
        for one, port, other, back in ends:
            names = {one, other, f"{one}[{port}]", f"{other}[{back}]"}
            if one not in switches or names & set(down):
                continue
            if other in switches:
                self.cables[one, other] = self.cables.get((one, other), 0) + 1
                self.end[one, port] = other
            else:
                self.hosts[one] = self.hosts.get(one, 0) + 1
        self.next = {}
        for a, b in self.cables:
            self.next.setdefault(a, []).append(b)
        self.level = self._levels()
        self.servers = sum(self.hosts.values())
        self.is_tree = all(abs(self.level.get(a, -9) - self.level.get(b, -9)) == 1 for a, b in self.cables if a in self.level)
        self._reach = None

    def _levels(self):
        level, todo = {name: 0 for name in self.hosts}, list(self.hosts)
        for one in todo:
            for b in self.next.get(one, ()):
                if b not in level:
                    level[b] = level[one] + 1
                    todo.append(b)
        return level

    def reach(self):
        """The switches on ways up, then down, from each switch of servers."""
        if self._reach is None:
            self._reach = {at: {one for one, _ in way_price(self, {}, at)} for at in self.hosts}
        return self._reach

    def ups(self):
        """Cables from a level to the one above, from below."""
        return sorted((pair for pair in self.cables if self.level.get(pair[0], 0) + 1 == self.level.get(pair[1])),
                      key=lambda pair: (self.level[pair[0]], pair))


def lump(net, switch):
    n, cables = net.hosts[switch], sum(count for (a, _), count in net.cables.items() if a == switch)
    return n * -(-(net.servers - n) // cables) if cables else 0


def last(net, switch, above):
    """What comes to a switch from those who have no other way to it than over the one above."""
    others = {a for a in net.next.get(switch, ()) if a != above}
    f = sum(net.hosts[at] for at, seen in net.reach().items() if at != switch and above in seen and not others & seen)
    n, c = net.hosts[switch], net.cables.get((above, switch), 0)
    return max(f * -(-n // c), n * -(-f // c)) if f and c else 0


def beyond(net, switch, above):
    """The switches that hang together with one, without the one above."""
    seen, todo = {switch}, [switch]
    for one in todo:
        new = [b for b in net.next.get(one, ()) if b != above and b not in seen]
        seen.update(new)
        todo += new
    return seen


def neck(net, switch, above):
    part = beyond(net, switch, above)
    n, c = sum(net.hosts.get(one, 0) for one in part), sum(net.cables.get((above, one), 0) for one in part)
    return (net.servers - n) * -(-n // c) if c and above not in net.hosts and switch != above else 0


def necks(net):
    """(switch of servers, switch above all of whose ways to others lead over it)."""
    for above in sorted(set(net.level) - set(net.hosts)):
        left = set(net.hosts)
        while left:
            switch = min(left)
            part = beyond(net, switch, above)
            left -= part
            if not set(net.hosts) <= part:
                yield switch, above


class Search:
    """Prices by what cables carried so far, when all flows of each turn take their cheapest ways."""

    def __init__(self, net):
        self.net, self.ups = net, net.ups()
        self.downs = [(b, a) for a, b in reversed(self.ups)]
        self.load = {pair: 0 for pair in self.ups + self.downs}

    def orders(self, price, turn):
        """Cables with their prices, level by level: up, and down; each turn begins with another one."""
        turned = turn * 7 % max(1, len(self.ups))
        order = self.ups[turned:] + self.ups[:turned]
        ups = sorted(order, key=lambda pair: self.net.level[pair[0]])
        downs = sorted(((b, a) for a, b in order), key=lambda pair: -self.net.level[pair[0]])
        return [[(pair, *pair, price[pair]) for pair in one] for one in (ups, downs)]

    def cheapest(self, source, orders):
        """Price of the cheapest way to each switch, and by which cable it comes there: going up, and down."""
        up, by, far = {source: 0}, {}, 1 << 62
        for pair, a, b, one in orders[0]:
            if a in up and up[a] + one < up.get(b, far):
                up[b], by["up", b] = up[a] + one, pair
        down = dict(up)
        for pair, a, b, one in orders[1]:
            if a in down and down[a] + one < down.get(b, far):
                down[b], by["down", b] = down[a] + one, pair
        return down, by

    def send(self, source, target, by, flows):
        at, way = target, "down"
        while at != source:
            way = way if (way, at) in by else "up"
            pair = by[way, at]
            self.load[pair] += flows
            at = pair[0]

    def take_turn(self, price, turn, is_sent):
        """The bound that prices give."""
        crossed, total = 0, sum(price[pair] * self.net.cables[pair] for pair in price)
        orders = self.orders(price, turn)
        for source, n in self.net.hosts.items():
            down, by = self.cheapest(source, orders)
            for target, m in self.net.hosts.items():
                if target != source and target in down:
                    crossed += n * m * down[target]
                    if is_sent:
                        self.send(source, target, by, n * m)
        return -(-crossed // total) if total else 0

    def parts(self):
        """Sets of switches of one level: each switch, and all that hang together by switches of that level and below."""
        for top in range(max(self.net.level.values(), default=0)):
            part = {name: name for name, level in self.net.level.items() if level <= top}
            for a, b in self.ups:
                if a in part and b in part and part[a] != part[b]:
                    gone, kept = part[b], part[a]
                    part = {name: kept if one == gone else one for name, one in part.items()}
            level = [name for name in part if self.net.level[name] == top]
            for one in {part[name] for name in level}:
                yield {name for name in level if part[name] == one}
            yield from ({name} for name in level)

    def around(self, part):
        """1 on each cable between a set of switches and those above, in one direction."""
        for end in (0, 1):
            yield {pair: int(pair[end] in part and self.net.level[pair[end]] < self.net.level[pair[1 - end]]) for pair in self.load}

    def weights(self, power):
        share = {pair: load * ONE // self.net.cables[pair] for pair, load in self.load.items()}
        most, price = max(1, *share.values()), {}
        for pair, load in share.items():
            one = load * ONE // most
            for _ in range(power):
                one = one * one // ONE
            price[pair] = one
        return price

    def run(self, enough):
        best, prices = 0, {}
        for candidate in (price for part in self.parts() for price in self.around(part)):
            here = self.take_turn(candidate, 0, False)
            best, prices = max((best, prices), (here, candidate), key=lambda one: one[0])
        for turn in range(TURNS if self.load else 0):
            if best >= enough:
                break
            price = self.weights(turn % POWERS) if turn else {pair: 1 for pair in self.load}
            here = self.take_turn(price, turn, True)
            best, prices = max((best, prices), (here, price), key=lambda one: one[0])
        return best, prices


class Tables:
    """Ways of a net by its forwarding tables: unit (switch, LID of a server): (flows, [the ports that each of its ways leaves by])."""

    def __init__(self, text, lfts, down=()):
        self.peer, self.server, self.port, node, guid, name_of = {}, {}, {}, None, None, {}
        for line in text.splitlines():
            if head := re.match(r"(?:switch|ca)guid=(0x[0-9a-fA-F]+)", line):
                guid = int(head[1], 16)
            elif head := re.match(r'(\w+)\s+\d+\s+"([^"]+)"', line):
                node, name_of[guid], is_switch = head[2], head[2], head[1] == "Switch"
            elif end := re.match(r'\[(\d+)\](?:\([0-9a-fA-F]+\))?\s+"([^"]+)"\[(\d+)\].*?#\s*(?:lid (\d+) lmc (\d+))?', line):
                one, other = (node, int(end[1])), (end[2], int(end[3]))
                if not {node, end[2], f"{node}[{end[1]}]", f"{end[2]}[{end[3]}]"} & set(down):
                    self.peer[one] = other
                    if not is_switch and end[4]:
                        self.server[int(end[4])] = (one, other[0], 1 << int(end[5]))
        for line in lfts.splitlines():
            if head := re.search(r"guid (0x[0-9a-fA-F]+)", line):
                node = name_of.get(int(head[1], 16)) if line.startswith("Unicast") else node
            if entry := re.match(r"(0x[0-9a-fA-F]+) +(\d+)", line):
                self.port[node, int(entry[1], 16)] = int(entry[2])
        self.hosts = {}
        for _, home, _ in self.server.values():
            self.hosts[home] = self.hosts.get(home, 0) + 1
        self.numbered = {(source, lid): (n, [(i, way) for i in range(lids) if (way := self._walk(source, lid + i, end)) is not None])
                         for source, n in self.hosts.items() for lid, (end, home, lids) in self.server.items() if home != source}
        self.units = {unit: (n, [way for _, way in ways]) for unit, (n, ways) in self.numbered.items()}

    def _walk(self, node, lid, end):
        way = []
        while len(way) < 64:
            out = (node, self.port.get((node, lid)))
            if self.peer.get(out) == end:
                return way
            if out not in self.peer:
                return None
            way.append(out)
            node = self.peer[out][0]
        return None

    def flows(self, link):
        """Flows that cross a link over all of their ways."""
        return sum(n for n, ways in self.units.values() if ways and all(link in way for way in ways))

    def priced(self, price):
        crossed = sum(n * min(sum(price.get(link, 0) for link in way) for way in ways) for n, ways in self.units.values() if ways)
        return -(-crossed // sum(price.values())) if any(price.values()) else 0

    def prices(self, enough):
        """Prices by what links carried so far, when all flows of each turn take their cheapest ways; (bound, prices)."""
        load = {link: 0 for _, ways in self.units.values() for way in ways for link in way}
        best = (0, {})
        for turn in range(TURNS):
            most, power = max(1, *load.values()), turn % POWERS
            price = {link: int(ONE * (one / most) ** (1 << power)) for link, one in load.items()} if turn else dict.fromkeys(load, 1)
            best = max(best, (self.priced(price), price), key=lambda one: one[0])
            if best[0] >= enough:
                break
            for i, (n, ways) in enumerate(self.units.values()):
                turned = [ways[(i + turn + k) % len(ways)] for k in range(len(ways))]
                for link in min(turned, key=lambda way: sum(price[link] for link in way), default=()):
                    load[link] += n
        return best

    def certify(self, enough=1 << 62):
        sure, found = {}, [{"bound": len(self.server), "by": "port"}]
        for n, ways in self.units.values():
            for link in set(ways[0]).intersection(*ways[1:]) if ways else ():
                sure[link] = sure.get(link, 0) + n
        if sure:
            link = max(sorted(sure), key=sure.get)
            found.append({"bound": sure[link], "by": "link", "link": list(link)})
        if max(one["bound"] for one in found) < enough and any(len(ways) > 1 for _, ways in self.units.values()):
            bound, prices = self.prices(enough)
            found.append({"bound": bound, "by": "ways", "prices": [[*link, price] for link, price in prices.items() if price]})
        return max(found, key=lambda one: one["bound"])

    def of_paths(self, paths):
        """The same tables where each server has so many LIDs, from the first one on."""
        if paths is None:
            return self
        few = copy.copy(self)
        few.units = {unit: (n, [way for i, way in ways if i < paths]) for unit, (n, ways) in self.numbered.items()}
        return few

    def prove(self, certificate):
        """The bound that a certificate proves; ValueError: it is none."""
        few = self.of_paths(certificate.get("paths"))
        if certificate["by"] == "port":
            return len(self.server)
        if certificate["by"] == "link":
            return few.flows(tuple(certificate["link"]))
        if certificate["by"] != "ways":
            raise ValueError(f"no argument is called {certificate['by']}")
        price = {(node, port): one for node, port, one in certificate["prices"]}
        if any(one < 0 for one in price.values()):
            raise ValueError("a price below 0")
        return few.priced(price)

    def check(self, certificate):
        """What is wrong with a certificate, None: it proves its bound."""
        return judge(certificate["bound"], lambda: self.prove(certificate))[0]


def certify(net, one_lid, enough=1 << 62):
    """The best certificate that is found; the search ends where it proves `enough`."""
    found = [{"bound": net.servers, "by": "port"}]
    if one_lid:
        found += [{"bound": lump(net, switch), "by": "lump", "switch": switch} for switch in net.hosts]
        found += [{"bound": last(net, b, a), "by": "last", "switch": b, "above": a} for a, b in sorted(net.cables) if b in net.hosts
                  and max(one["bound"] for one in found) < enough]
        found += [{"bound": neck(net, b, a), "by": "neck", "switch": b, "above": a} for b, a in necks(net)]
    if max(one["bound"] for one in found) < enough:
        bound, prices = Search(net).run(enough)
        found.append({"bound": bound, "by": "prices", "prices": [[*pair, price] for pair, price in prices.items() if price]})
    return max(found, key=lambda one: one["bound"])


def way_price(net, price, source):
    """Dijkstra over (switch, has it turned down?); over all ways where cables join switches of one level."""
    seen, todo = {}, [(0, source, False)]
    while todo:
        cost, at, turned = heapq.heappop(todo)
        if (at, turned) in seen:
            continue
        seen[at, turned] = cost
        for b in net.next.get(at, ()):
            step = net.level.get(b, -9) - net.level[at]
            if step == 1 and not turned or step == -1 or not net.is_tree:
                heapq.heappush(todo, (cost + price.get((at, b), 0), b, step == -1 and net.is_tree))
    return seen


def priced(net, price, total):
    """The bound of prices of cables whose sum over all cables is total."""
    crossed = 0
    for source, n in net.hosts.items():
        seen = way_price(net, price, source)
        for target, m in net.hosts.items():
            ways = [seen[target, turned] for turned in (False, True) if (target, turned) in seen]
            crossed += n * m * min(ways) if ways and target != source else 0
    return -(-crossed // total) if total else 0


def prove_cut(net, links):
    """A flow may take any of parallel cables, so these have a price where all of them are named."""
    named = {}
    for end in {(node, port) for node, port in links}:
        if end not in net.end:
            raise ValueError("a cable that does not live")
        pair = (end[0], net.end[end])
        named[pair] = named.get(pair, 0) + 1
    return priced(net, {pair: 1 for pair, n in named.items() if n == net.cables[pair]}, sum(named.values()))


def prove(net, certificate, one_lid):
    """The bound that a certificate proves; ValueError: it is none."""
    by = certificate["by"]
    if by == "port":
        return net.servers
    if by in ("lump", "last", "neck"):
        if not one_lid:
            raise ValueError("this is for one LID for each server")
        if by == "lump":
            return lump(net, certificate["switch"])
        return (last if by == "last" else neck)(net, certificate["switch"], certificate["above"])
    if by == "cut":
        return prove_cut(net, certificate["links"])
    if by == "distance":
        return priced(net, dict.fromkeys(net.cables, 1), sum(net.cables.values()))
    if by != "prices":
        raise ValueError(f"no argument is called {by}")
    price = {(a, b): one for a, b, one in certificate["prices"]}
    if any(one < 0 for one in price.values()) or not set(price) <= set(net.cables):
        raise ValueError("a price below 0, or of a cable that does not live")
    return priced(net, price, sum(one * net.cables[pair] for pair, one in price.items()))


def judge(claimed, prove_it):
    """What is wrong with a certificate, None: it proves its bound; and what it proves."""
    try:
        proven = prove_it()
    except ValueError as fault:
        return str(fault), 0
    return None if proven >= claimed else f"{claimed} claimed, {proven} proven", proven


def check(net, certificate, one_lid):
    """What is wrong with a certificate, None: it proves its bound."""
    return judge(certificate["bound"], lambda: prove(net, certificate, one_lid))[0]


def check_plan(net, tables, said, one_lid):
    """What is to be told of the certificates of fors plan --json, and how many are wrong or missing. tables: None, these are not looked at."""
    lines, faults = [], 0
    for name, certificate in said["certificates"].items():
        bound = said.get(name)
        is_of_tables = certificate and certificate["by"] in ("link", "ways")
        if bound is None or is_of_tables and not tables:
            continue
        fault, proven = "no certificate", 0
        if certificate:
            fault, proven = judge(bound, lambda: tables.prove(certificate) if is_of_tables else prove(net, certificate, one_lid))
        if certificate and certificate["bound"] != bound:
            fault = f"the certificate is of {certificate['bound']}"
        if certificate and name == "lower_bound" and certificate["by"] not in ("port", "cut", "distance", "prices"):
            fault = "this is no argument for all tables"
        if certificate and name == "lump_bound" and is_of_tables:
            fault = "this is no argument for all tables with one LID"
        faults += fault is not None
        lines.append(f"{name} {bound} by {certificate['by'] if certificate else 'nothing'}: {fault or f'{proven} proven'}")
    return lines, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net")
    parser.add_argument("--down", action="append", default=[])
    parser.add_argument("--one-lid", action="store_true")
    parser.add_argument("--lfts")
    parser.add_argument("--check")
    parser.add_argument("--plan")
    options = parser.parse_args()
    text, claimed = Path(options.net).read_text(), options.check and json.loads(Path(options.check).read_text())
    if options.plan:
        tables = Tables(text, Path(options.lfts).read_text(), options.down) if options.lfts else None
        lines, faults = check_plan(Net(text, options.down), tables, json.loads(Path(options.plan).read_text()), options.one_lid)
        print("\n".join(lines))
        return 1 if faults else 0
    net = Tables(text, Path(options.lfts).read_text(), options.down) if options.lfts else Net(text, options.down)
    if not options.check:
        print(json.dumps(net.certify() if options.lfts else certify(net, options.one_lid)))
        return 0
    fault = net.check(claimed) if options.lfts else check(net, claimed, options.one_lid)
    print(fault or "proven")
    return 1 if fault else 0


if __name__ == "__main__":
    sys.exit(main())
