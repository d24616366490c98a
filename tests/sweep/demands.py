#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""demands.py COMMAND [COUNT [SEED]] - `fors plan --demand` on random trees of two and three levels with failures.

The demands are sparse, of a power law, permutations, one hot receiver, block diagonal, stencils of a grid, rows and columns of it, from some servers to
others, a few giants among many, and roles and groups, which have units instead of sizes. What a plan is worth
is found here from its pieces, the net and the tables as text: bytes of each pair, ports, cables, lengths, and the bound. Permutations
on trees of two levels have to take exactly the bound, but for the rounding of quotients where servers have several LIDs. Where the tables lack the way
of a pair the command has to refuse, but servers that are cut off are left out. Plans above 1.10 of the bound are named. The last line has the
largest T / LB.
"""
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

TREES = ["FT(2;4,6)", "FT(2;6,8)", "FT(2;3,5;servers=5)", "XGFT(3;3,3,4;1,3,3)", "XGFT(3;2,4,3;1,2,4)"]
KINDS = ["sparse", "power", "permutation", "hot", "blocks", "stencil", "lines", "bipartite", "giants", "roles", "groups"]
MOST = 1.5  # T / LB of demands with few messages, whose conflicts may form rings


def fors(command, *args):
    done = subprocess.run([command, *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(args)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


class Fabric:
    """Cables, tables and LIDs out of the texts of `fors fabric`."""

    def __init__(self, net, lfts):
        self.far, self.table, self.lids, self.place, self.names = {}, {}, defaultdict(list), {}, []
        guid_of, here = {}, None
        for line in net.splitlines():
            if found := re.match(r"(?:switch|ca)guid=0x([0-9a-f]+)", line):
                here = int(found[1], 16)
            elif found := re.match(r'(Switch|Ca)\s+\d+ "([^"]+)"', line):
                guid_of[found[2]], kind = here, found[1]
                if kind == "Ca":
                    self.names.append(found[2])
            elif found := re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([^"]+)"\[(\d+)\]', line):
                self.far[here, int(found[1])] = (found[3], int(found[4]))
                if found[2]:
                    self.place[int(found[2], 16)] = (here, int(found[1]))
        self.far = {key: (guid_of[name], port) for key, (name, port) in self.far.items()}
        self.server = {name: next((g for g, p in self.place.items() if p[0] == guid_of[name]), None) for name in self.names}
        for line in lfts.splitlines():
            if found := re.match(r"Unicast lids .* guid 0x([0-9a-f]+)", line):
                here = self.table.setdefault(int(found[1], 16), {})
            elif found := re.match(r"0x([0-9a-f]+) (\d+) # Channel Adapter portguid 0x([0-9a-f]+)", line):
                here[int(found[1], 16)] = int(found[2])
                self.lids[int(found[3], 16)].append(int(found[1], 16))

    def way(self, src, dst, path):
        """The directed cables from a port to another, by the port that sends."""
        lid, at, cables = min(self.lids[dst]) + path, self.place[src], []
        assert path < len(set(self.lids[dst]))
        while True:
            cables.append(at)
            far = self.far[at]
            if far == self.place[dst]:
                return cables
            assert len(cables) < 10, "a loop"
            at = (far[0], self.table[far[0]][lid])


def has_way(fabric, src, dst):
    try:
        return src == dst or bool(fabric.way(src, dst, 0))
    except KeyError:  # no entry, or no cable
        return False


def connected(fabric):
    """The largest part of the servers, as a set of names; None: some in it have no way to each other."""
    ports, kept = fabric.server, set()
    for port in ports.values():
        part = {n for n, g in ports.items() if has_way(fabric, port, g)}
        kept = part if len(part) > len(kept) else kept
    return kept if all(has_way(fabric, ports[s], ports[d]) for s in kept for d in kept) else None


def those_left(fabric, schedule):
    """The servers of a plan over tables that lack some ways: all reach each other, and each other one misses one of them."""
    ports = fabric.server
    guids = {int(server["guid"], 16) for server in schedule["servers"]}
    kept = {name for name, guid in ports.items() if guid in guids}
    lacks = {n: sum(not has_way(fabric, ports[n], ports[d]) or not has_way(fabric, ports[d], ports[n]) for d in kept) for n in ports}
    assert kept and all((n in kept) == (not lacks[n]) for n in ports), lacks
    return kept


def grid_of(rng, servers):
    """Rows of equally many servers, anywhere; some servers may be left."""
    width = rng.randint(2, max(2, len(servers) // 2))
    order = rng.sample(servers, len(servers))
    return [order[i:i + width] for i in range(0, len(order) - width + 1, width)]


def neighbours(grid, row, column, rng):
    """The servers beside one, on a torus or not."""
    for r, c in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
        if rng or (0 <= r < len(grid) and 0 <= c < len(grid[0])):
            yield grid[r % len(grid)][c % len(grid[0])]


def grid_demand(kind, rng, servers, size):
    grid, pairs = grid_of(rng, servers), {}
    lines = grid + [list(column) for column in zip(*grid)]
    is_torus = rng.random() < 0.5
    for r, row in enumerate(grid):
        for c, server in enumerate(row):
            if kind == "stencil":
                pairs.update({(server, other): size() for other in neighbours(grid, r, c, is_torus)})
    for line in lines if kind == "lines" else []:
        factor = rng.choice([1, 1, 4])
        for pair in ((s, d) for s in line for d in line):
            pairs[pair] = pairs.get(pair, 0) + factor * size()
    return pairs


def roles_of(kind, rng, servers):
    """{(src, dst): messages}, and lines that say so."""
    pairs, lines = Counter(), []
    if kind == "roles":
        role = {s: rng.choice(["send", "send", "receive", "both", None]) for s in servers}
        role.update(dict(zip(rng.sample(servers, 2), ["send", "receive"])))
        lines = [f"role {s} {r}" for s, r in role.items() if r]
        pairs.update((s, d) for s in servers for d in servers if role[s] in ("send", "both") and role[d] in ("receive", "both"))
    else:
        grid = grid_of(rng, servers)
        for i, members in enumerate(rng.choice([grid, [list(column) for column in zip(*grid)], grid + [list(column) for column in zip(*grid)]])):
            lines.append(f"group g{i} {','.join(members)}")
            pairs.update((s, d) for s in members for d in members)
    return {pair: n for pair, n in pairs.items() if pair[0] != pair[1]}, "\n".join(lines) + "\n"


def demand_of(kind, rng, servers):
    """{(src, dst): bytes}, and the file's text"""
    if kind in ("roles", "groups"):
        return roles_of(kind, rng, servers)
    pairs = sizes_of(kind, rng, servers)
    return pairs, "".join(f"{s} {d} {b}\n" for (s, d), b in pairs.items())


def sizes_of(kind, rng, servers):
    n, pairs = len(servers), {}
    size = rng.choice([lambda: 1000, lambda: rng.randint(1, 5000), lambda: int(1000 * rng.lognormvariate(0, 1)) + 1])
    if kind == "permutation":
        to = servers[:]
        rng.shuffle(to)
        pairs = {(s, d): size() for s, d in zip(servers, to)}
    elif kind == "sparse":
        pairs = {(rng.choice(servers), rng.choice(servers)): size() for _ in range(3 * n)}
    elif kind == "power":
        pairs = {(s, d): int(100000 / (1 + rng.randrange(n)) ** 1.2) + 1 for s in servers for d in servers}
    elif kind == "hot":
        pairs = {(s, rng.choice(servers)): size() for s in servers for _ in range(2)}
        pairs.update({(s, servers[0]): size() for s in servers})
    elif kind in ("stencil", "lines"):
        pairs = grid_demand(kind, rng, servers, size)
    elif kind == "bipartite":
        senders = rng.sample(servers, rng.randint(1, n - 1))
        pairs = {(s, d): size() for s in senders for d in servers if d not in senders}
    elif kind == "giants":
        pairs = {(s, d): size() for s in servers for d in servers if rng.random() < 0.3}
        pairs.update({(rng.choice(servers), rng.choice(servers)): 100000 for _ in range(rng.randint(1, 6))})
    else:
        block = rng.randint(2, max(2, n // 3))
        pairs = {(servers[i], servers[k]): size() for i in range(n) for k in range(n) if i // block == k // block}
    return {pair: b for pair, b in pairs.items() if pair[0] != pair[1]}


def bound_of(fabric, demand):
    """Over these tables with one LID for each server: ports, cables, and all cables of a switch."""
    load, gate, doors = Counter(), Counter(), defaultdict(set)
    for s in fabric.server.values():
        for d in fabric.server.values():
            if s != d and len(cables := fabric.way(s, d, 0)) > 2:
                doors["out", cables[1][0]].add(cables[1])
                doors["in", cables[-1][0]].add(cables[-2])
    for (s, d), b in demand.items():
        cables = fabric.way(fabric.server[s], fabric.server[d], 0)
        load.update({cable: b for cable in cables})
        if len(cables) > 2:
            gate.update({("out", cables[1][0]): b, ("in", cables[-1][0]): b})
    return max([*load.values(), *(-(-b // len(doors[g])) for g, b in gate.items())])


def judge(fabric, demand, schedule):
    """The sum of the lengths; AssertionError: the plan is wrong."""
    sent, busy = Counter(), set()
    name = {guid: n for n, guid in fabric.server.items()}
    base = {server["guid"]: server["lid"] for server in schedule["servers"]}
    for row in schedule["flows"]:
        src, dst, size = int(row["src_guid"], 16), int(row["dst_guid"], 16), row["bytes"]
        assert 0 < size <= schedule["lengths"][row["phase"]]
        for cable in fabric.way(src, dst, row["dst_lid"] - base[row["dst_guid"]]):
            assert (row["phase"], cable) not in busy, f"{cable} twice"
            busy.add((row["phase"], cable))
        sent[name[src], name[dst]] += size
    assert sent == demand, "other bytes"
    return sum(schedule["lengths"])


def one(command, folder, seed):
    """T / LB, and of what; None: the tables lack a way, and the command said so."""
    rng = random.Random(seed)
    tree, kind = rng.choice(TREES), rng.choice(KINDS)
    lmc = rng.choice(["0", "0", "3"]) if tree.startswith("FT") else "0"
    site = ["--synthetic", tree]
    switches = re.findall(r'"((?:Leaf|Spine|L\d+S|Mid|Top)[^"]*)"\[(\d+)\]', fors(command, "fabric", *site))
    for _ in range(rng.randrange(3)):
        if switches:
            site += ["--down", "{}[{}]".format(*rng.choice(switches))]
    site += ["--lmc", lmc]
    fabric = Fabric(fors(command, "fabric", *site), fors(command, "fabric", *site, "--format", "lfts"))
    fabric.server = {n: g for n, g in fabric.server.items() if g is not None}
    demand, text = demand_of(kind, rng, list(fabric.server))
    (folder / "demand").write_text(text)
    args = ["plan", *site, "--demand", str(folder / "demand"), "--output", str(folder / "schedule"), "--phase-cost", "0", "--json"]
    kept = connected(fabric)
    done = subprocess.run([command, *args], capture_output=True, text=True)
    if not kept and not done.returncode:
        kept = those_left(fabric, json.loads(fors(command, "schedule", str(folder / "schedule"), "--format", "json")))
    left = {pair: b for pair, b in demand.items() if kept and kept.issuperset(pair)}
    if not left:
        assert done.returncode in (1, 2) and "no message" in done.stderr and not done.stdout, f"{' '.join(args)}: {done.stderr}"
        return None
    assert not done.returncode, f"{' '.join(args)}: {done.stderr}"
    told = json.loads(done.stdout)
    assert any("left out" in remark for remark in told["remarks"]) == (len(kept) < len(fabric.server)), f"{' '.join(args)}: {told['remarks']}"
    demand, fabric.server = left, {n: fabric.server[n] for n in kept}
    total = judge(fabric, demand, json.loads(fors(command, "schedule", str(folder / "schedule"), "--format", "json")))
    bound = max(told[key] for key in ("ports_bound", "leaf_bound", "cable_bound"))
    what = f"seed {seed}: {tree} {' '.join(site[2:])} {kind}: {total} of {bound}"
    assert total == (told["phases"] if told["length"] is None else told["length"]), what
    assert total >= bound, what
    if lmc == "0":
        assert bound_of(fabric, demand) == bound, what + f", not {bound_of(fabric, demand)}"
    if kind == "permutation" and tree.startswith("FT"):
        assert total <= bound + (told["phases"] if lmc != "0" else 0), what
    assert total <= MOST * bound + 1, what
    if total > 1.1 * bound:
        print(what)
    return total / bound, what


def main():
    command, count, seed = sys.argv[1], int((sys.argv[2:] or ["20"])[0]), int((sys.argv[3:] or ["1"])[0])
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            try:
                results.append(one(command, Path(folder), number))
            except AssertionError as error:
                sys.exit(f"demands.py: seed {number}: {error}")
    ncut = results.count(None)
    results = sorted(filter(None, results))
    above = sum(r > 1.1 for r, _ in results)
    last = "the last {:.3f}, {}".format(*results[-1]) if results else "none planned"
    print(f"demands.py: {count} demands, {ncut} on trees that are cut, {above} above 1.10 of the bound; {last}")


if __name__ == "__main__":
    main()
