#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""simulated.py COMMAND [COUNT [SEED]] - `fors simulate` beside what `fors analyze` counts, on random fabrics, failures and tables.

4 MiB messages, barriers that cost nothing, virtual output queues. A simulation is never faster than the fullest links, and at most half a
per cent slower where no flow shares a second link with another that it shares one with: plans of fors, shifts by D-mod-K on full trees. For
all other tables and patterns it is a distribution: a flow that shares a link here and another one there waits at both, so the fullest link may
run dry; and several messages of a server in one phase go one after the other, where the count has them all under way. Nothing is lost, and nothing comes out of order.
"""
import json
import random
import subprocess
import sys

PAYLOAD = 4096 / 4126  # of a packet: analyze counts payload alone
EXACT = 1.005


def run(command, name, args):
    """(exit code, what --json says or None, what stderr says)"""
    done = subprocess.run([command, name, *map(str, args), "--json"], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def failures(draw, leaves, spines, cables, servers):
    """Up to three cables between leaves and spines; `fors` says whether a plan is left."""
    ends = {f"Leaf{draw.randrange(leaves):02d}[{servers + 1 + draw.randrange(spines * cables)}]" for _ in range(draw.randrange(4))}
    return [word for end in sorted(ends) for word in ("--down", end)]


def fat_tree(draw):
    leaves, spines, cables = draw.randint(2, 4), draw.randint(2, 4), draw.choice((1, 1, 2))
    servers = draw.randint(1, spines * cables)
    spec = f"FT(2;{spines},{leaves};servers={servers};cables={cables})"
    return ["--synthetic", spec, *failures(draw, leaves, spines, cables, servers)]


def tree(draw):
    a, b = draw.randint(2, 3), draw.randint(2, 3)
    return ["--synthetic", f"XGFT(3;{a},{b},2;1,{a},{b})" if draw.random() < 0.5 else f"XGFT(2;{a},{b + 2};1,{a})"]


PATTERNS = ["linear-shift", "permutation", "bisect", "2DNN", "xor", "all-to-all", "incast(1)", "NAS-CG"]


def case(draw):
    """(kind, options, is it exact?)"""
    kind = draw.choice(["plan", "shift", "fors tables", "shortest", "up-down", "sssp", "d-mod-k", "random", "torus"])
    if kind == "plan":
        return kind, [*fat_tree(draw), "--routing", "fors", "--pattern", "plan", "--lmc", draw.choice((0, 2))], True
    if kind == "shift":
        return kind, [*tree(draw), "--routing", "d-mod-k", "--pattern", "shift"], True
    pattern = ["--pattern", draw.choice(PATTERNS), "--seed", draw.randrange(1000)]
    if kind in ("d-mod-k", "random"):
        return kind, [*tree(draw), "--routing", kind, *pattern], False
    if kind == "torus":
        return kind, ["--synthetic", draw.choice(("TORUS(3x3;2)", "DRAGONFLY(2,2,5;1)", "DFPLUS(2,2,1,3;2)")), "--routing", "up-down", *pattern], False
    return kind, [*fat_tree(draw), "--routing", "fors" if kind == "fors tables" else kind, *pattern], False


def ratio(command, args):
    """Simulated time as a part of the counted one; None: the case does not apply."""
    code, counted, _ = run(command, "analyze", [*args, "--message", "4MiB", "--barrier", "0"])
    if code or not counted["costs"]["time_ns"]:
        return None
    code, timed, text = run(command, "simulate", [*args, "--message", "4MiB"])
    if code or timed["reordered"] or timed["packets_sent"] != timed["packets_arrived"] or timed["broken"]:
        raise SystemExit(f"{' '.join(map(str, args))}: {text or 'packets are lost, or out of order'}")
    return timed["time_ns"] * PAYLOAD / counted["costs"]["time_ns"]


def main():
    command, count, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    draw, found, left_out, wrong = random.Random(seed), {}, 0, []
    while sum(map(len, found.values())) < count and left_out < 10 * count:
        kind, args, is_exact = case(draw)
        value = ratio(command, args)
        if value is None:
            left_out += 1
            continue
        found.setdefault(kind, []).append(value)
        if value < 1 - 1e-9 or (is_exact and value > EXACT):
            wrong.append(f"{value:.4f} of what is counted: {' '.join(map(str, args))}")
    print(f"{'tables':12} cases  least  median  90 %   most   (time, as a part of what the fullest links need)")
    for kind, values in sorted(found.items()):
        values.sort()
        print(f"{kind:12} {len(values):5}  {values[0]:.3f}  {values[len(values) // 2]:.3f}   {values[len(values) * 9 // 10]:.3f}  {values[-1]:.3f}")
    print(f"{count} cases, {left_out} left out (no way for some pair, or nothing to send), {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
