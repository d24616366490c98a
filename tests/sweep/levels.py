#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""levels.py COMMAND [COUNT [SEED]] - `fors plan` on random trees of three levels that are not regular: how far T is above LB.

Uneven pods, empty places, oversubscription on either stage, tops shared by several planes, hosts on middle switches and tops, ports and
GUIDs in any order; 64 servers and more, one LID each; healthy or with a failure. What fors plan proves it proves; what is counted here
from the text alone is who takes part, and that T is no less than P and LB. It fails when the mean is above MEAN.
"""
import json
import random
import subprocess
import sys
import tempfile
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import odd_levels  # noqa: E402

MEAN = 1.06


def draw_tree(draw):
    """A tree of 64 to 400 servers, and the line of text that says it again."""
    while True:
        m, w = [draw.randint(2, 8), draw.randint(2, 8), draw.randint(3, 10)], [draw.randint(1, 6), draw.randint(1, 6)]
        if w[0] > m[0] or w[1] > m[1] or not 64 <= m[0] * m[1] * m[2] <= 600:
            continue
        kinds = {"uneven": 1, "empty": draw.choice((2, 3, 3, 4, 10)), "shuffle": draw.randint(1, 99), "guests": draw.randint(1, 2)}
        if w[0] % 2 == 0:
            kinds["shared"] = draw.choice((2, w[0]))
        kinds = {key: value for key, value in kinds.items() if draw.random() < 0.5 and (key != "uneven" or w[0] > 1)}
        spec = "XGFT(3;" + ",".join(map(str, m)) + ";1," + ",".join(map(str, w)) + "".join(f";{key}={value}" for key, value in kinds.items()) + ")"
        tree = odd_levels.parse_levels(spec)
        if 64 <= len(tree.servers()) <= 400 and (kinds.keys() & {"uneven", "empty", "shared"} or w[0] < m[0] or w[1] < m[1]):
            return tree, spec


def draw_dead(tree, draw):
    """(kind, what is dead)."""
    kind = draw.choice(("nothing", "leaf cable", "top cable", "mid", "top", "2-5 cables", "1-10 %"))
    if kind in ("mid", "top"):
        return kind, [draw.choice([name for name in sorted(tree.switches) if name.lower().startswith(kind)])]
    stage = [end for end in tree.ends if kind not in ("leaf cable", "top cable") or
             (any(name.startswith("Leaf") for name in (end[0], tree.cable[end][0])) == (kind == "leaf cable"))]
    count = {"nothing": 0, "2-5 cables": draw.randint(2, 5), "1-10 %": max(1, round(draw.uniform(0.01, 0.1) * len(stage)))}.get(kind, 1)
    return kind, [f"{node}[{port}]" for node, port in draw.sample(stage, min(count, len(stage)))]


def is_cut(tree, dead):
    """Do two leaves with servers have no way up and then down?"""
    world = tree.world([name for name in dead if "[" not in name])
    world.cut = {(name, int(port)) for name, port in (one.rstrip("]").split("[") for one in dead if "[" in one)}
    world.cut |= {tree.cable[end] for end in world.cut}
    links = world.links()
    cable = {(a, p): (b, q) for a, p, b, q in links} | {(b, q): (a, p) for a, p, b, q in links}
    view = odd_levels.View(world, types.SimpleNamespace(cable=cable, switches=tree.switches), tree.servers()[0])
    view.nodes = set(tree.switches)
    return bool(view.cut_pairs())


def plan(command, tree, dead, folder):
    """What fors plan says; None where it says that somebody is cut off."""
    (Path(folder) / "net").write_text(tree.text())
    done = subprocess.run([command, "plan", "--fabric", f"{folder}/net", *(word for one in dead for word in ("--down", one)), "--json"],
                          capture_output=True, text=True)
    if done.returncode == 1 and "no way from" in done.stderr:
        return None
    if done.returncode:
        return {"wrong": f"fors plan ended with {done.returncode}: {done.stderr.strip()}"}
    return json.loads(done.stdout)


def wrong(tree, status):
    """What the answer gets wrong."""
    if "wrong" in status:
        return status["wrong"]
    if status["servers"] > len(tree.servers()) or status["phases"] < max(status["lower_bound"], status["servers"]):
        return f"{status['servers']} servers of {len(tree.servers())}, {status['phases']} phases, LB {status['lower_bound']}"
    return None if status["tables_bound"] <= status["phases"] else f"{status['phases']} phases, and the tables ask for {status['tables_bound']}"


def sweep(command, count, seed):
    """Rows (T/LB, bound of the tables/LB, kind, spec, dead, status), and what is wrong."""
    rows, faults, case = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        while len(rows) < count:
            draw = random.Random(f"{seed}.{case}")
            case += 1
            tree, spec = draw_tree(draw)
            kind, dead = draw_dead(tree, draw)
            status = plan(command, tree, dead, folder)
            if (status is None) != is_cut(tree, dead):
                faults.append(f"{spec} without {' '.join(dead)}: {'no plan' if not status else 'a plan, and leaves are cut off'}")
            if status and wrong(tree, status):
                faults.append(f"{spec} without {' '.join(dead)}: {wrong(tree, status)}")
            if status and "wrong" not in status:
                rows.append((status["phases"] / status["lower_bound"], status["tables_bound"] / status["lower_bound"], kind, spec, dead, status))
    return rows, faults


def report(rows, count):
    shares = sorted(row[0] for row in rows)
    mean = sum(shares) / len(shares)
    print(f"{count} fabrics: T/LB mean {mean:.4f}, median {shares[len(shares) // 2]:.4f}, 95 % {shares[len(shares) * 95 // 100]:.4f}, "
          f"worst {shares[-1]:.4f}; T = LB {sum(one == 1 for one in shares)}; the tables alone: mean {sum(row[1] for row in rows) / len(rows):.4f}")
    for kind in sorted({row[2] for row in rows}):
        them = [row[0] for row in rows if row[2] == kind]
        print(f"    {kind:10} {len(them):4} mean {sum(them) / len(them):.4f} worst {max(them):.4f}")
    for share, tables, kind, spec, dead, status in sorted(rows, key=lambda row: -row[0])[:8]:
        print(f"{share:.4f} (tables {tables:.4f}): {spec}, {status['servers']} servers, dead: {' '.join(dead) or 'nothing'}; T {status['phases']}, "
              f"LB {status['lower_bound']}, bound of the tables {status['tables_bound']}")
    return mean


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    count, seed = (int(text) for text in (sys.argv[2:] + ["400", "1"][len(sys.argv[2:]):])[:2])
    rows, faults = sweep(sys.argv[1], count, seed)
    mean = report(rows, count)
    print("\n".join(faults))
    return 1 if faults or mean > MEAN else 0


if __name__ == "__main__":
    sys.exit(main())
