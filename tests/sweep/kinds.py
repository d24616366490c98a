#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""kinds.py COMMAND [--count N] [--absent N] [--seed S] [--kinds LIST] [--lmc N] [--old COMMAND] - `fors plan` on random trees, kind by kind: how far T is above LB.

The kinds: regular (regular trees of three levels), directors (regular, planes share their tops), bundles (parallel cables on either stage), leaves (leaves of
one pod have fewer servers), tops (planes have different numbers of tops), shared (two planes each share their tops, uneven), partly
(a part of the places is empty), thin (fewer cables up than servers), mixed (several of these at once), two (two levels with parallel
cables), gaps (two levels, 0 to 3 cables from a leaf to a spine, leaves uneven). One failure or several. One LID for each server, or with --lmc 2^N.

--absent N: N trees more of each kind, of 200 to 3,000 servers, that lack 1 to 5 % of their cables from the beginning, and 0 to 10 % of the leaves and of the hosts:
T over T of the whole tree in which these died (--down), and the processor time of both. It fails where the first is above 1.05, or 1.01 on average.

Each plan is walked flow by flow over the tables by `fors verify`. A row for each kind: trees, T / LB on average, the 95th of a hundred, the worst; the same over the
larger of LB and the lump, which no tables with one LID for each server are below; the same over the best bound that certified.py
finds, each certificate checked, and those that the command gives; how many are above that by more than a tenth; T over the bound of its own tables (of two levels with several LIDs: over LB), which with one LID
certified.py has to find, too, from net and tables alone; the processor time of `fors plan`. With --old another command plans the same trees, beside it: and then the tables of the kind regular have to be equal, byte for byte.
Each tree is planned with an aggregation node on every switch, too, and all has to be the same but for entries of their LIDs.
--worst N prints the worst cases of each kind, with --longer those that became longer. It fails when a walk fails, a certificate does not prove its bound or is
above T, or regular tables differ.
"""
import argparse
import copy
import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import certified  # noqa: E402
from aggregation import FIRST_LID, with_aggregation  # noqa: E402
from harness import Topology, parse_tables  # noqa: E402

KINDS = ("regular", "directors", "bundles", "leaves", "tops", "shared", "partly", "thin", "mixed", "two", "gaps")
LEAST, MOST = 40, 200
ABSENT_LEAST, ABSENT_MOST = 200, 3000
MOST_PORTS = 254
ABSENT_WORST, ABSENT_MEAN = 1.05, 1.01


class Grown(Topology):
    """A topology whose nodes come with their first cable, and have as many ports as cables."""

    def __init__(self):
        super().__init__()
        self.port = {}

    def _join(self, low, high):
        ends = []
        for name in (low, high):
            self.port[name] = self.port.get(name, 0) + 1
            (self.hcas if name.startswith("Node") else self.switches)[name] = self.port[name]
            ends += [name, self.port[name]]
        self.connect(*ends)


class Tree(Grown):
    """m servers, leaves, pods; w middle switches of a pod, tops of a plane; p cables to a middle switch, to a top; `shared` planes share their tops."""

    def __init__(self, m, w, p, shared=1, short=0, missing=()):
        super().__init__()
        (self.m1, self.m2, self.m3), (self.w2, self.w3), (self.p2, self.p3) = m, w, p
        self.spec = f"m {m} w {w} p {p} shared {shared} short {short} missing {missing}"
        for pod in range(self.m3):
            self._pod(pod, short)
        for pod in range(self.m3):
            for j in range(self.w2):
                for _ in range(self.p3):
                    for k in range(self.w3):
                        if (j, k) not in missing:
                            self._join(f"Mid{pod}-{j}", f"Top{j - j % shared}-{k}")

    def _pod(self, pod, short):
        for y in range(self.m2):
            for x in range(self.m1 - (short if y % 2 else 0)):
                self._join(f"Node{pod}-{y}-{x}", f"Leaf{pod}-{y}")
            for _ in range(self.p2):
                for j in range(self.w2):
                    self._join(f"Leaf{pod}-{y}", f"Mid{pod}-{j}")

    def empty(self, part, draw):
        places = sorted(self.hcas)
        for name in draw.sample(places[1:-1], len(places) // part):
            del self.cable[self.cable.pop((name, 1))]
            del self.hcas[name]


class Flat(Grown):
    """Two levels: leaves with servers and `cables` to each spine."""

    def __init__(self, servers, leaves, spines, cables):
        super().__init__()
        self.spec = f"{leaves} leaves of {servers}, {spines} spines, {cables} cables each"
        for a in range(leaves):
            for x in range(servers):
                self._join(f"Node{a}-{x}", f"Leaf{a}")
            for k in range(spines):
                for _ in range(cables):
                    self._join(f"Leaf{a}", f"Top{k}")


class Gaps(Grown):
    """Two levels: leaves with as many servers as servers[leaf], cables[leaf][k] cables to spine k."""

    def __init__(self, servers, cables):
        super().__init__()
        self.spec = f"servers {servers} cables {cables}"
        for a, n in enumerate(servers):
            for x in range(n):
                self._join(f"Node{a}-{x}", f"Leaf{a}")
            for k, count in enumerate(cables[a]):
                for _ in range(count):
                    self._join(f"Leaf{a}", f"Top{k}")


def large_sizes(draw):
    while True:
        m = [draw.randint(3, 20), draw.randint(3, 16), draw.randint(3, 16)]
        if ABSENT_LEAST <= m[0] * m[1] * m[2] <= ABSENT_MOST:
            return m


def sizes(draw):
    """Servers, leaves, pods; at most m1 middle switches for a pod, and m2 tops for a plane."""
    while True:
        m = [draw.randint(2, 7), draw.randint(2, 6), draw.randint(2, 8)]
        if LEAST <= m[0] * m[1] * m[2] <= MOST:
            return m


def large_two(draw):
    while True:
        servers, leaves, spines, cables = draw.randint(4, 32), draw.randint(6, 60), draw.randint(3, 24), draw.randint(1, 4)
        if ABSENT_LEAST <= servers * leaves <= ABSENT_MOST and servers <= spines * cables <= 2 * servers:
            return Flat(servers, leaves, spines, cables)


def draw_two(draw):
    while True:
        servers, leaves, spines, cables = draw.randint(2, 12), draw.randint(3, 14), draw.randint(2, 6), draw.randint(2, 4)
        if LEAST <= servers * leaves <= MOST and servers <= spines * cables <= 2 * servers:
            return Flat(servers, leaves, spines, cables)


def draw_gaps(draw):
    while True:
        leaves, spines, most = draw.randint(3, 14), draw.randint(2, 10), draw.randint(2, 14)
        servers = [draw.choice((most, draw.randint(1, most))) for _ in range(leaves)]
        if not LEAST <= sum(servers) <= MOST:
            continue
        cables = [draw.choices(range(4), (1, 4, 1, 1), k=spines) for _ in range(leaves)]
        if all(any(x and y for x, y in zip(one, other)) for one in cables for other in cables):
            return Gaps(servers, cables)


def draw_mixed(m, draw):
    """Several oddities of the other kinds at once."""
    w = [draw.randint(2, m[0]), draw.randint(1, m[1])]
    p = [draw.choice((1, 1, 2)), draw.choice((1, 1, 2))]
    missing = [(j, w[1] - 1) for j in range(w[0]) if w[1] > 1 and draw.random() < 0.2]
    shared = draw.choice([1, 1, *(k for k in range(2, w[0] + 1) if w[0] % k == 0)])
    tree = Tree(m, w, p, shared=shared, short=draw.randint(0, m[0] - 1), missing=missing if shared == 1 else ())
    if draw.random() < 0.5:
        tree.empty(draw.choice((3, 4, 10)), draw)
    return tree


def draw_bundles(m, draw):
    """As many cables up as servers, at least, some of them parallel."""
    while True:
        p = [draw.choice((1, 1, 2, 3)), draw.choice((1, 2, 2, 3))]
        w = [-(-m[0] // p[0]), -(-m[0] * m[1] // (-(-m[0] // p[0]) * p[1]))]
        if p != [1, 1] and w[1] > 1:
            return Tree(m, w, p)


def draw_tree(kind, draw, is_large=False):
    if kind == "two":
        return large_two(draw) if is_large else draw_two(draw)
    if kind == "gaps":
        return draw_gaps(draw)
    m = large_sizes(draw) if is_large else sizes(draw)
    w = [m[0], m[1]]
    if kind in ("bundles", "mixed"):
        return draw_bundles(m, draw) if kind == "bundles" else draw_mixed(m, draw)
    if kind == "thin":
        return Tree(m, [draw.randint(1, m[0]), draw.randint(1, m[1])], (1, 1))
    if kind == "directors":
        return Tree(m, w, (1, 1), shared=w[0])
    if kind == "leaves":
        return Tree(m, w, (1, 1), short=draw.randint(1, m[0] - 1))
    if kind == "tops":
        return Tree(m, w, (1, 1), missing=[(j, w[1] - 1) for j in range(0, w[0], draw.randint(2, 3))])
    if kind == "shared":
        return Tree(m, [m[0] + m[0] % 2, m[1]], (1, 1), shared=2)
    tree = Tree(m, w, (1, 1))
    if kind == "partly":
        tree.empty(draw.choice((2, 3, 4, 10)), draw)
    return tree


def draw_dead(tree, draw):
    """Nothing, a cable, a switch above leaves, or some cables."""
    ends = sorted((a for a, b in tree.cable.items() if a < b and not {a[0][:4], b[0][:4]} & {"Node"}), key=str)
    kind = draw.choice(("cable", "cable", "switch", "2-5 cables", "1-10 %", "nothing"))
    if kind == "switch":
        return [draw.choice([name for name in sorted(tree.switches) if not name.startswith("Leaf")])]
    count = {"nothing": 0, "2-5 cables": draw.randint(2, 5), "1-10 %": max(1, round(draw.uniform(0.01, 0.1) * len(ends)))}.get(kind, 1)
    return [f"{node}[{port}]" for node, port in draw.sample(ends, min(count, len(ends)))]


def draw_absent(tree, draw):
    """Leaves with their hosts, hosts, and cables between switches that the text lacks."""
    leaves = sorted(name for name in tree.switches if name.startswith("Leaf"))
    gone = draw.sample(leaves, round(len(leaves) * draw.uniform(0, 0.1)))
    gone += [name for name in sorted(tree.hcas) if tree.cable[name, 1][0] in gone]
    hosts = sorted(name for name in tree.hcas if name not in gone)
    gone += draw.sample(hosts, round(len(hosts) * draw.uniform(0, 0.1)))
    ends = sorted((a for a, b in tree.cable.items() if a < b and not {a[0][:4], b[0][:4]} & {"Node"}), key=str)
    return gone + [f"{node}[{port}]" for node, port in draw.sample(ends, max(1, round(len(ends) * draw.uniform(0.01, 0.05))))]


def without(tree, absent):
    """The text of what is left."""
    less = copy.deepcopy(tree)
    for name in absent:
        node, _, port = name.partition("[")
        for end in [(node, int(port[:-1]))] if port else [end for end in less.cable if end[0] == node]:
            if end in less.cable:
                del less.cable[less.cable.pop(end)]
        if not port:
            less.hcas.pop(node, None)
            less.switches.pop(node, None)
    return less.text()


def run(*command):
    """What a command prints, None where it says no, and the processor time it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1 and "the limit is" not in done.stderr:  # of memory: very thin trees
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return None if done.returncode else done.stdout, after.ru_utime - before.ru_utime


def plan(command, net, down, folder):
    """(T, LB, bound of the tables, seconds, text of the tables, bound of all tables with one LID, all that it says), None: somebody is cut off. Every flow is walked."""
    out, seconds = run(command, "plan", "--fabric", net, *down, "--json", "--output", f"{folder}/schedule")
    if out is None:
        return None
    status = json.loads(out)
    lfts, _ = run(command, "fabric", "--fabric", net, *down, "--format", "lfts")
    Path(f"{folder}/lfts").write_text(lfts)
    if run(command, "verify", "--fabric", net, *down, "--lfts", f"{folder}/lfts", "--schedule", f"{folder}/schedule")[0] is None:
        raise SystemExit(f"fors verify says no to {net} {' '.join(down)}")
    return status["phases"], status["lower_bound"], status["tables_bound"], seconds, lfts, max(status["lower_bound"], status["lump_bound"] or 0), status


def write_net(tree, options, net):
    Path(net).write_text(tree.text())
    Path(net).write_text(run(options.command, "fabric", "--fabric", net, "--lmc", str(options.lmc), "--format", "net")[0])


def certify(text, dead, phases, one_lid):
    """The best certified bound over tables, up to T, and what is wrong with it, or None."""
    net = certified.Net(text, dead)
    found = certified.certify(net, one_lid, phases)
    fault = certified.check(net, found, one_lid)
    return found["bound"], fault or (found["bound"] > phases and f"{phases} phases, {found['bound']} certified") or None


def judge_tables(net, dead, made):
    """What is wrong with the bound that the command says its tables have, None: a certificate of the tables alone proves just that."""
    tables = certified.Tables(Path(net).read_text(), made[4], dead)
    found = tables.certify()
    best = max(found["bound"], made[1])
    return tables.check(found) or (best != made[2] and f"tables of bound {made[2]}, {best} certified") or None


def judge_certificates(net, dead, made, one_lid):
    """What is wrong with the certificates that the command gives of its bounds, None: each is there, and proves its bound."""
    text = Path(net).read_text()
    lines, faults = certified.check_plan(certified.Net(text, dead), certified.Tables(text, made[4], dead), made[6], one_lid)
    return "; ".join(lines) if faults else None


def told(status):
    """What differs from run to run, and what tells of aggregation nodes."""
    return {key: value for key, value in status.items() if key != "not_hosts" and not key.endswith("_ms")}


def judge_aggregation(options, net, down, made, folder):
    """What differs, None: nothing, where each switch has an aggregation node: all is as without, but for entries of their LIDs."""
    Path(f"{folder}/nodes").write_text(with_aggregation(Path(net).read_text()))
    other = plan(options.command, f"{folder}/nodes", down, folder)
    wrong = [key for key, value in told(made[6]).items() if told(other[6])[key] != value]
    was, now = (parse_tables(lfts).port for lfts in (made[4], other[4]))
    now = {name: {lid: port for lid, port in rows.items() if lid < FIRST_LID} for name, rows in now.items()}
    wrong += ["tables"] if was != now else []
    return f"with aggregation nodes {', '.join(wrong)} differ" if wrong else None


def sweep(kind, options, folder):
    """Rows (what the command says, what the old one says, the tree, what is dead), and what is wrong."""
    rows, faults, case, net = [], [], 0, f"{folder}/net"
    while len(rows) < options.count:
        draw = random.Random(f"{options.seed}.{kind}.{case}")
        case += 1
        tree = draw_tree(kind, draw)
        dead = draw_dead(tree, draw)
        write_net(tree, options, net)
        down = [word for one in dead for word in ("--down", one)]
        new, old = plan(options.command, net, down, folder), options.old and plan(options.old, net, down, folder)
        if not new:
            continue
        bound, fault = certify(tree.text(), dead, new[0], not options.lmc)
        fault = fault or (not options.lmc and judge_tables(net, dead, new)) or judge_certificates(net, dead, new, not options.lmc)
        fault = fault or judge_aggregation(options, net, down, new, folder)
        faults += [f"{tree.spec} without {' '.join(dead)}: {fault}"] if fault else []
        rows.append((new, old, tree.spec, dead, bound))
        if options.rows:
            with open(options.rows, "a", encoding="utf-8") as out:
                print(json.dumps({"kind": kind, "lmc": options.lmc, "case": case - 1, "T": new[0], "LB": new[1], "tables": new[2], "seconds": new[3],
                                  "certified": bound, "tree": tree.spec, "dead": dead}), file=out)
        if kind == "regular" and old and old[4] != new[4]:
            faults.append(f"the tables of {tree.spec} without {' '.join(dead)} differ")
    return rows, faults


def sweep_absent(kind, options, folder):
    """(T and seconds of the text that lacks something, the same where that died, the tree) for each tree of this kind."""
    rows, case = [], 0
    while len(rows) < options.absent:
        draw = random.Random(f"{options.seed}.{kind}.absent.{case}")
        case += 1
        tree = draw_tree(kind, draw, True)
        if max(tree.port.values()) > MOST_PORTS:
            continue
        absent = draw_absent(tree, draw)
        Path(f"{folder}/never").write_text(without(tree, absent))
        Path(f"{folder}/whole").write_text(tree.text())
        never, here = run(options.command, "plan", "--fabric", f"{folder}/never", "--json")
        died, there = run(options.command, "plan", "--fabric", f"{folder}/whole", "--json", *(word for one in absent for word in ("--down", one)))
        if never and died:  # else somebody is cut off
            rows.append((json.loads(never)["phases"], here, json.loads(died)["phases"], there, f"case {case - 1}, {tree.spec}"))
    return rows


def report_absent(kind, rows):
    """What is wrong, too."""
    shares = [row[0] / row[2] for row in rows]
    mean, worst = sum(shares) / len(shares), max(rows, key=lambda row: row[0] / row[2])
    slowest = max(rows, key=lambda row: row[1])
    print(f"{kind:10} {len(rows):4} trees that lack something: T / T where it died: mean {mean:.4f}, worst {max(shares):.4f} ({worst[0]} for {worst[2]}, {worst[4]}); "
          f"{sum(row[1] for row in rows):.1f} s for {sum(row[3] for row in rows):.1f} s, slowest {slowest[1]:.1f} s ({slowest[4]})")
    sys.stdout.flush()
    return [f"{kind}: what was never there costs {mean:.4f} of what died, at worst {max(shares):.4f}"] if max(shares) > ABSENT_WORST or mean > ABSENT_MEAN else []


def figures(rows, which):
    shares, best = sorted(row[which][0] / row[which][1] for row in rows), sorted(row[which][0] / row[which][5] for row in rows)
    return (f"mean {sum(shares) / len(shares):.4f}, 95 % {shares[len(shares) * 95 // 100]:.4f}, worst {shares[-1]:.4f}, "
            f"T = LB {sum(one == 1 for one in shares)}, T / bound of one LID {sum(best) / len(best):.4f}, {best[len(best) * 95 // 100]:.4f}, {best[-1]:.4f}, "
            f"{1000 * sum(row[which][3] for row in rows) / len(rows):.0f} ms")


def report(kind, rows, options):
    print(f"{kind:10} {len(rows):4} trees: {figures(rows, 0)}")
    proven = sorted(row[0][0] / max(row[4], row[0][1]) for row in rows)  # the certificate of LB was checked, too
    print(f"{'':10} {'':4}   T / certified: mean {sum(proven) / len(proven):.4f}, 95 % {proven[len(proven) * 95 // 100]:.4f}, worst {proven[-1]:.4f}; "
          f"above 1.10 {sum(one > 1.1 for one in proven)}; T / tables worst {max(row[0][0] / (row[0][2] or row[0][1]) for row in rows):.4f}, "
          f"above 1 {sum(row[0][0] > (row[0][2] or row[0][1]) for row in rows)}")
    if options.old:
        print(f"{'':10} {'':4}   old: {figures(rows, 1)}; longer now {sum(row[0][0] > row[1][0] for row in rows)}, "
              f"shorter {sum(row[0][0] < row[1][0] for row in rows)}")
    order = sorted(rows, key=lambda row: row[1][0] / row[0][0] if options.old and options.longer else -row[0][0] / row[0][1])
    for new, old, spec, dead, bound in order[:options.worst]:
        print(f"    {new[0] / new[1]:.4f}: T {new[0]}, LB {new[1]}, certified {bound}, tables {new[2]}{f', old {old[0]}' if old else ''}; {spec}; dead: {' '.join(dead) or 'nothing'}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--absent", type=int, default=0)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--lmc", type=int, default=0)
    parser.add_argument("--rows", help="append each tree to this file, a line of JSON")
    parser.add_argument("--old")
    parser.add_argument("--worst", type=int, default=3)
    parser.add_argument("--longer", action="store_true")
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds.split(","):
            if options.count:
                rows, wrong = sweep(kind, options, folder)
                report(kind, rows, options)
                faults += wrong
            if options.absent and kind != "gaps":  # those lack cables by design
                faults += report_absent(kind, sweep_absent(kind, options, folder))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
