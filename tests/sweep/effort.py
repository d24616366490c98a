#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""effort.py COMMAND [OLD [COUNT [SEED]]] - `fors plan` on random trees with parallel and missing cables: phases and processor time.

OLD is the command of another build, or a revision, which is built (in this folder, compare-builds/). Up to 1,000 servers, leaves even or not, 0 to 4
cables between a leaf and a spine, some pairs without any; nothing dead or up to a tenth of the cables; LMC 0 to 7. Method auto of
both builds, up to SECONDS of processor time each: it fails where auto takes more phases than the old build's, or any plan of this build did not end.
Processor times are told beside those of the methods alone, never judged.

FORS_SWEEP_CASE=n plans only case n, FORS_SWEEP_KEEP=FOLDER leaves its files there.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

SECONDS = 60
METHODS = ("exact", "flows", "rounds")


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
