#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""demands.py COMMAND [COUNT [SEED]] - `fors plan --demand` on random trees of two and three levels with failures.

The demands are sparse, of a power law, permutations, one hot receiver, block diagonal, and all of these in units or sizes. What a plan is worth
is found here from its pieces, the net and the tables as text: bytes of each pair, ports, cables, lengths, and the bound. Permutations
on trees of two levels have to take exactly the bound, but for the rounding of quotients where servers have several LIDs. Where the tables lack the way
of a pair the command has to refuse. The last line has the largest T / LB.
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


def is_cut(fabric):
    """Is there a pair without a way?"""
    ports = list(fabric.server.values())
    try:
        for s in ports:
            for d in ports:
                if s != d:
                    fabric.way(s, d, 0)
    except KeyError:  # no entry, or no cable
        return True
    return False


def demand_of(kind, rng, servers):
    """{(src, dst): bytes}"""
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


def judge(fabric, demand, text):
    """The sum of the lengths; AssertionError: the plan is wrong."""
    sent, total, length, busy = Counter(), 0, 0, set()
    name = {guid: n for n, guid in fabric.server.items()}
    for line in text.splitlines():
        words = line.split()
        if words[0] == "phase":
            total, length, busy = total + int(words[1]), int(words[1]), set()
        elif words[0] != "#":
            src, dst, path, size = int(words[0], 16), int(words[1], 16), int(words[2]), int(words[3])
            assert 0 < size <= length
            for cable in fabric.way(src, dst, path):
                assert cable not in busy, f"{cable} twice"
                busy.add(cable)
            sent[name[src], name[dst]] += size
    assert sent == demand, "other bytes"
    return total


def one(command, folder, seed):
    """T / LB, and of what; None: the tables lack a way, and the command said so."""
    rng = random.Random(seed)
    tree, kind = rng.choice(TREES), rng.choice(["sparse", "power", "permutation", "hot", "blocks"])
    lmc = rng.choice(["0", "0", "3"]) if tree.startswith("FT") else "0"
    site = ["--synthetic", tree]
    switches = re.findall(r'"((?:Leaf|Spine|L\d+S|Mid|Top)[^"]*)"\[(\d+)\]', fors(command, "fabric", *site))
    for _ in range(rng.randrange(3)):
        if switches:
            site += ["--down", "{}[{}]".format(*rng.choice(switches))]
    site += ["--lmc", lmc]
    fabric = Fabric(fors(command, "fabric", *site), fors(command, "fabric", *site, "--format", "lfts"))
    fabric.server = {n: g for n, g in fabric.server.items() if g is not None}
    demand = demand_of(kind, rng, list(fabric.server))
    (folder / "demand").write_text("".join(f"{s} {d} {b}\n" for (s, d), b in demand.items()))
    args = ["plan", *site, "--demand", str(folder / "demand"), "--pieces", str(folder / "pieces"), "--phase-cost", "0", "--json"]
    if is_cut(fabric):
        done = subprocess.run([command, *args], capture_output=True, text=True)
        assert done.returncode == 1 and "no way from" in done.stderr and not done.stdout, f"{' '.join(args)}: {done.stderr}"
        return None
    told = json.loads(fors(command, *args))
    total = judge(fabric, demand, (folder / "pieces").read_text())
    what = f"seed {seed}: {tree} {' '.join(site[2:])} {kind}: {total} of {told['length_bound']}"
    assert total == told["length"], what
    assert total >= told["proven_bound"] >= told["length_bound"], what
    if lmc == "0":
        assert bound_of(fabric, demand) == told["length_bound"], what + f", not {bound_of(fabric, demand)}"
    if kind == "permutation" and tree.startswith("FT"):
        assert total <= told["length_bound"] + (told["phases"] if lmc != "0" else 0), what
    assert total <= MOST * told["length_bound"], what
    return total / told["length_bound"], what


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
