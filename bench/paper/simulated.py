# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What papers measured or simulated in time, beside `fors simulate`: the FORS paper's Gbit/s; TAGO (Teh et al.; paper 004), a Flexfly;
cee.py has "Switch Adaptive Routing on CEE" (paper 003). Rows that cannot be had say why.
"""
import lzma
import pathlib
import re
import tarfile
import tempfile

import cee
import published
import stock
from simulator import simulate

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data"


# --- FORS ---

def _scenario(folder, name, engine):
    base = folder / re.sub("[ ,]", "-", name)
    return ["--fabric", f"{base}.net", "--lfts", f"{base}.{engine}.lfts", "--pattern", "linear-shift", "--speed", "200"]


def _plan(ends):
    down = [word for node, port in ends for word in ("--down", f"{node}[{port}]" if port else node)]
    return ["--synthetic", "FT(2;20,18)", *down, "--routing", "fors", "--lmc", "5", "--pattern", "plan", "--speed", "200"]


def _adapter(folder):
    """The part of its cable that an adapter fills with which both, 141 and 87, come out of the closed form: by halving."""
    low, high = 0.71, 1.0
    for _ in range(12):
        part = (low + high) / 2
        cost = simulate(*_scenario(folder, "0F", "ftree"), "--measured", published.FORS_HEALTHY, "--adapter-rate", part, command="analyze")["costs"]
        failed = simulate(*_scenario(folder, "1F SW0", "ftree"), "--barrier", f"{cost['barrier_ns']:.3f}ns", "--adapter-rate", part, command="analyze")["costs"]
        low, high = (part, high) if failed["gbits_per_server"] > 87 else (low, part)
    return round((low + high) / 2, 3)


def fors_rows(scenarios):
    """Gbit/s per server by one fitted number (barrier), and by two (adapter, barrier)."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as name:
        folder = pathlib.Path(name)
        with lzma.open(DATA / "stock.tar.xz") as file, tarfile.open(fileobj=file) as archive:
            archive.extractall(folder)
        ways = {"one": [], "two": ["--adapter-rate", _adapter(folder)]}
        for way, options in ways.items():
            fitted = simulate(*_scenario(folder, "0F", "ftree"), "--measured", published.FORS_HEALTHY, *options)
            ways[way] = [*options, "--barrier", f"{fitted['barrier_ns']:.3f}ns"]
        for scenario in scenarios:
            cases = {"ftree": _scenario(folder, scenario, "ftree")}
            if "down" not in scenario:
                cases["fors, LMC 5"] = _plan(stock.SCENARIOS[scenario])
            for engine, args in cases.items():
                rows.append({"scenario": scenario, "engine": engine, "paper": published.FORS_MEASURED.get((scenario, engine)),
                             **{way: simulate(*args, *options)["gbits_per_server"] for way, options in ways.items()}})
    return {"rows": rows, "barrier": {way: options[-1] for way, options in ways.items()}, "adapter": ways["two"][1]}


# --- paper 004 ---

def figure_2(n=15):
    """The most that indirect ways can add, as a part of what all ways give: {topology's skew: for traffic's skews from there on}.

    Traffic T(d) = d A + (1 - d) U, A one entry of 1 (one of the paper's two readings), U all n (n - 1) pairs alike; capacities in and out of a block add up
    to 1. A topology made for T(d) gives each pair a T_ij of capacity, a = 1 / (d + (n - 1) u), u = (1 - d) / (n (n - 1)), and block 0 has nothing left over.
    Direct ways then give min x_ij / T_ij, which is block 0's pair of A; all ways no more than 1 / what block 0 sends. At d_c = 1 they give that: everything is
    one pair, and each other block can pass on what it gets.
    """
    def most(dt):
        u = (1 - dt) / (n * (n - 1))
        full = (dt + u) / (dt + (n - 1) * u)
        gains = []
        for step in range(101):
            dc = dt + (1 - dt) * step / 100
            uc = (1 - dc) / (n * (n - 1))
            gains.append(1 - full * (dc + (n - 1) * uc) / (dc + uc))
        return max(gains)
    return {str(dt): most(dt) for dt in (0, 0.25, 0.5, 0.75)}


BLOCKS, SWITCHES, SERVERS, GLOBAL = 9, 4, 2, 16  # a block: switches all cabled to one another, with 16 cables to other blocks


def flexfly():
    """(net, blocks): one cable between each two blocks, and what is left to the next block but one, where traffic goes: 1 + 4 there and back."""
    links = {(i, j): 1 for i in range(BLOCKS) for j in range(BLOCKS) if i != j}
    for i in range(BLOCKS):
        for j in ((i + 2) % BLOCKS, (i - 2) % BLOCKS):
            links[i, j] += (GLOBAL - BLOCKS + 1) // 2
    ports, used = {}, {(i, k): SERVERS + SWITCHES - 1 for i in range(BLOCKS) for k in range(SWITCHES)}
    turn = dict.fromkeys(range(BLOCKS), 0)

    def end(block):
        k = min(range(SWITCHES), key=lambda k: (used[block, k], (k - turn[block]) % SWITCHES))
        turn[block] += 1
        used[block, k] += 1
        return block, k, used[block, k]
    for (i, j), n in sorted(links.items()):
        for _ in range(n if i < j else 0):
            a, b = end(i), end(j)
            ports[a], ports[b] = b, a
    text = []
    for i in range(BLOCKS):
        for k in range(SWITCHES):
            lines = [f'[{s + 1}] "H{i}{k}{s}"[1]' for s in range(SERVERS)]
            lines += [f'[{SERVERS + 1 + (o if o < k else o - 1)}] "S{i}{o}"[{SERVERS + 1 + (k if k < o else k - 1)}]' for o in range(SWITCHES) if o != k]
            lines += [f'[{p}] "S{ports[i, k, p][0]}{ports[i, k, p][1]}"[{ports[i, k, p][2]}]' for p in range(SERVERS + SWITCHES, used[i, k] + 1)]
            text.append(f'Switch {used[i, k]} "S{i}{k}"\n' + "\n".join(lines) + "\n")
    text += [f'Ca 1 "H{i}{k}{s}"\n[1] "S{i}{k}"[{s + 1}]\n' for i in range(BLOCKS) for k in range(SWITCHES) for s in range(SERVERS)]
    blocks = "".join(f"b{i}: " + ", ".join(f"S{i}{k}" for k in range(SWITCHES)) + "\n" for i in range(BLOCKS))
    return "\n".join(text), blocks


def tago(loads, messages):
    """Part of the cable that gets through on that Flexfly, when all of a block send to the next but one, and when all send to all."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as name:
        net, blocks = pathlib.Path(name) / "net", pathlib.Path(name) / "blocks"
        for path, text in zip((net, blocks), flexfly()):
            path.write_text(text)
        for pattern in (f"shift({2 * SWITCHES * SERVERS})", "all-to-all"):
            for load in loads:
                row = {"pattern": pattern, "load": load}
                for policy in ("tables", "hashed", "random", "vlb", "ugal-l", "ugal-g", "tago"):
                    extra = ["--blocks", blocks] if policy in ("vlb", "ugal-l", "ugal-g", "tago") else []
                    row[policy] = simulate("--fabric", net, "--routing", "shortest", "--pattern", pattern, "--load", load, "--messages", messages, "--message", "4KiB", "--speed", "100",
                                            "--lanes", "hops", "--vls", "8", "--policy", policy, *extra)["line_share"]
                rows.append(row)
    return rows


def measure(is_quick):
    if is_quick:
        return {"fors": fors_rows(["0F", "1F SW0"]), "cee": cee.measure(True), "figure2": figure_2(), "tago": tago([0.4], 100)}
    return {"fors": fors_rows(stock.SCENARIOS), "cee": cee.measure(False), "figure2": figure_2(), "tago": tago([0.4, 0.7], 500)}
