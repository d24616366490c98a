#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""effort.py COMMAND OLD [COUNT [SEED]] - `fors plan` on random trees with parallel and missing cables: no more phases than another build's.

OLD is the command of the other build, or a revision, which is built in compare-builds/. The trees have up to 1,000 servers, leaves even or
not, 0 to 4 cables between a leaf and a spine, some pairs none; nothing or up to a tenth of the cables is dead; LMC 0 to 7.
Both builds plan with method auto, for SECONDS of processor time at the most. It fails where this build needs more phases
than the other, or does not end. Told, not judged: processor time of auto beside the slower of methods exact and flows alone.
FORS_SWEEP_CASE=N tries case N only.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

SECONDS = 60
FACTOR, SPARE = 3, 0.1  # of the slower method alone, and seconds beside: more is listed
LMCS = (0, 0, 1, 2, 3, 4, 5, 7)


class Tree:
    """Leaves, spines, hosts; a text as ibnetdiscover writes it."""

    def __init__(self):
        self.ends = {}  # (node, port): (node, port)
        self.used = {}  # node: ports in use

    def plug(self, a, b):
        ends = []
        for node in (a, b):
            self.used[node] = self.used.get(node, 0) + 1
            ends.append((node, self.used[node]))
        self.ends[ends[0]], self.ends[ends[1]] = ends[1], ends[0]

    @staticmethod
    def guid(node):
        return ("LSH".index(node[0]) + 1 << 20) + (int(node[1:]) + 1 << 4)

    def text(self, lmc):
        out, lid = [], 1
        for node, count in self.used.items():
            host = node[0] == "H"
            kind = "ca" if host else "switch"
            out.append(f"\n{kind}guid=0x{self.guid(node):x}\n{'Ca' if host else 'Switch'}\t{count} \"{node}\"\t\t# \"{node}\"" +
                       ("\n" if host else f" base port 0 lid {lid} lmc 0\n"))
            lid += not host
            for port in range(1, count + 1):
                peer, other = self.ends[node, port]
                if host:
                    lid = (lid + (1 << lmc) - 1) >> lmc << lmc
                out.append(f"[{port}]" + (f"({self.guid(node) + port:x})" if host else "") + f"\t\"{peer}\"[{other}]" +
                           (f"({self.guid(peer) + other:x})" if peer[0] == "H" else "") + "\t\t# " +
                           (f"lid {lid} lmc {lmc} " if host else "") + f"\"{peer}\" lid 0 4xEDR\n")
                lid += host << lmc
        return "".join(out)


def draw_tree(draw):
    """A tree, and a word or two about it."""
    tree, leaves, spines = Tree(), draw.randint(2, 40), draw.randint(2, 36)
    most = max(1, min(draw.choice((4, 12, 24, 40)), 1000 // leaves))
    weights = draw.choice(((1, 4, 0, 0, 0), (1, 1, 1, 1, 0), (1, 2, 2, 2, 2), (0, 1, 1, 0, 0), (2, 1, 1, 1, 1), (0, 0, 4, 1, 0)))
    even = draw.random() < 0.3
    for leaf in range(leaves):
        for spine in range(spines):
            for _ in range(draw.choices(range(5), weights)[0]):
                tree.plug(f"L{leaf}", f"S{spine}")
        for _ in range(most if even else draw.choice((0, most, draw.randint(0, most), draw.randint(0, most)))):
            tree.plug(f"H{len(tree.used)}", f"L{leaf}")
    cables = sorted(end for end in tree.ends if end[0][0] == "L" and tree.ends[end][0][0] == "S")
    share = draw.choice((0, 0, 0, 0.005, 0.02, 0.05, 0.1))
    dead = [f"{node}[{port}]" for node, port in draw.sample(cables, min(len(cables), round(share * len(cables))))]
    servers = sum(node[0] == "H" for node in tree.used)
    return tree, dead, f"{leaves} leaves, {spines} spines, {servers} servers, cables {weights}, {len(dead)} dead"


def plan(command, net, dead, lmc, method, seconds):
    """(status, seconds of processor time): status None where it did not end, or declined (its text)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        os.nice(10)

    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([command, "plan", "--fabric", str(net), "--lmc", str(lmc), "--method", method, "--json",
                           *(word for one in dead for word in ("--down", one))],
                          capture_output=True, text=True, preexec_fn=limit)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode < 0:
        return None, spent
    return (json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()), spent


def phases(status):
    return status["phases"] if isinstance(status, dict) else None


def try_case(command, old, seed, case, folder):
    """One row; None: no plan is possible, or the LIDs do not suffice."""
    draw = random.Random(f"{seed}.{case}")
    tree, dead, what = draw_tree(draw)
    lmc, net = draw.choice(LMCS), Path(folder) / "net"
    net.write_text(tree.text(lmc))
    status, spent = plan(command, net, dead, lmc, "auto", SECONDS)
    if isinstance(status, str):
        return None
    before, spent_before = plan(old, net, dead, lmc, "auto", SECONDS)
    alone = [plan(command, net, dead, lmc, method, SECONDS)[1] for method in ("exact", "flows")]
    return {"case": case, "what": f"{what}, LMC {lmc}", "phases": phases(status), "old": phases(before), "spent": spent,
            "spent before": spent_before, "alone": max(alone), "method": status["method"] if status else None}


def sweep(command, old, count, seed):
    rows, case = [], 0
    with tempfile.TemporaryDirectory() as folder:
        if "FORS_SWEEP_CASE" in os.environ:
            return [row for row in [try_case(command, old, seed, int(os.environ["FORS_SWEEP_CASE"]), folder)] if row]
        while len(rows) < count:
            row = try_case(command, old, seed, case, folder)
            rows += [row] if row else []
            case += 1
    return rows


def tell(row):
    return (f"case {row['case']}: {row['what']}: {row['phases']} phases by {row['method']} in {row['spent']:.2f} s, the other build "
            f"{row['old']} in {row['spent before']:.2f} s; the slower of exact and flows alone {row['alone']:.2f} s")


def report(rows):
    """Figures; what is wrong."""
    both = [row for row in rows if row["phases"] and row["old"]]
    wrong = [row for row in rows if not row["phases"] or (row["old"] and row["phases"] > row["old"])]
    slow = [row for row in rows if row["spent"] > FACTOR * row["alone"] + SPARE]
    print(f"{len(rows)} fabrics: the other build ended in {len(both)}; of those fewer phases {sum(row['phases'] < row['old'] for row in both)}, "
          f"as many {sum(row['phases'] == row['old'] for row in both)}, more {sum(row['phases'] > row['old'] for row in both)}")
    print(f"processor time in all {sum(row['spent'] for row in rows):.0f} s, the other build {sum(row['spent before'] for row in rows):.0f} s; "
          f"the longest {max(row['spent'] for row in rows):.2f} and {max(row['spent before'] for row in rows):.2f} s; "
          f"{len(slow)} above {FACTOR} times the slower of exact and flows alone and {SPARE} s")
    print("\n".join([f"slow: {tell(row)}" for row in slow] + [f"wrong: {tell(row)}" for row in wrong]))
    return wrong


def command_of(old):
    """The command of a build, or of a revision that is built now."""
    if os.access(old, os.X_OK) and Path(old).is_file():
        return old
    compare = SourceFileLoader("compare", str(Path(__file__).resolve().parents[1] / "compare/compare")).load_module()
    folder = Path("compare-builds").resolve()
    folder.mkdir(exist_ok=True)
    tree = compare.check_out(old, folder)
    return str(compare.make(tree, folder / f"{tree.name}-build", 2) / "fors")


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    count, seed = (int(text) for text in (sys.argv[3:] + ["400", "1"][len(sys.argv[3:]):])[:2])
    return 1 if report(sweep(sys.argv[1], command_of(sys.argv[2]), count, seed)) else 0


if __name__ == "__main__":
    sys.exit(main())
