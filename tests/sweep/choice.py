#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""choice.py COMMAND OLD [COUNT [SEED]] - the plans of method auto on random two-level fabrics, beside another build's.

OLD is the command of the other build, or a revision, which is built in compare-builds/. A third of the fabrics have 4 to 16 servers; a third
lack nothing, the others cables, a spine or servers; LMC 0 to 5. No plan may have more phases than the other build's, nor more phases in which
anybody sends, nor take more than 1 % longer in `fors simulate` (64 KiB, barriers of 4 us). The last lines give the figures, and what is wrong;
exit code 1 if anything is.

FORS_SWEEP_CASE=n: case n alone, with its commands.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from importlib.machinery import SourceFileLoader
from pathlib import Path

MOST_SERVERS = 400
SLOWER = 1.01
SIMULATED = 200  # servers: more take long to simulate


def draw_shape(draw):
    """(leaves, spines, cables, servers of a leaf)"""
    if draw.random() < 1 / 3:
        leaves = draw.randint(2, 8)
        servers = draw.randint(max(1, -(-4 // leaves)), max(1, 16 // leaves))
        return leaves, draw.choice((servers, servers, draw.randint(1, 8))), draw.choice((1, 1, 2)), servers
    leaves, spines, cables = draw.randint(2, 18), draw.randint(2, 20), draw.choice((1, 1, 1, 2, 3))
    up = spines * cables
    servers = draw.choice((up, up, draw.randint(1, up), draw.randint(up, 2 * up)))
    return leaves, spines, cables, max(1, min(servers, MOST_SERVERS // leaves))


def draw_down(draw, leaves, spines, cables, servers):
    """What is dead."""
    kind = draw.choice(("nothing", "nothing", "cables", "cables", "spine", "servers"))
    if kind == "spine" and spines > 1:
        return [f"Spine{draw.randrange(spines):02d}"]
    if kind == "servers":
        return [f"Node{leaf:02d}-{draw.randrange(servers):02d}" for leaf in draw.sample(range(leaves), draw.randint(1, leaves))]
    if kind == "cables":
        all_of_them = [f"Leaf{leaf:02d}[{servers + 1 + lane}]" for leaf in range(leaves) for lane in range(spines * cables)]
        return draw.sample(all_of_them, min(len(all_of_them), draw.choice((1, 1, 2, 3, 1 + len(all_of_them) // 10))))
    return []


def draw_case(seed, number):
    """The options that say what is planned for."""
    draw = random.Random(f"{seed}.{number}")
    leaves, spines, cables, servers = draw_shape(draw)
    down = draw_down(draw, leaves, spines, cables, servers)
    empty = ""
    if draw.random() < 0.2 and servers > 1:  # the same number of places everywhere
        empty = ";empty=" + ",".join(f"{leaf}/{draw.randrange(servers)}" for leaf in range(leaves))
    return ["--synthetic", f"FT(2;{spines},{leaves};servers={servers};cables={cables}{empty})", "--lmc", str(draw.choice((0, 0, 1, 2, 3, 5))),
            *(word for name in down for word in ("--down", name))]


def run(command, *words):
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def simulate(command, case):
    text = run(command, "simulate", *case, "--routing", "fors", "--pattern", "plan", "--message", "64KiB", "--barrier", "4us", "--json")
    return json.loads(text)["time_ns"] if text else None


def plan(command, case, folder):
    """None: there is no plan."""
    file = folder / "schedule"
    text = run(command, "plan", *case, "--json", "--output", file)
    if not text:
        return None
    status, rows = json.loads(text), run(command, "schedule", file, "--format", "csv").splitlines()
    column = rows[0].split(",").index("phase")
    return {"phases": status["phases"], "busy": len({row.split(",", column + 1)[column] for row in rows[1:]}), "servers": status["servers"],
            "method": status["method"], "bytes": file.read_bytes(), "ns": simulate(command, case) if status["servers"] <= SIMULATED else None}


def faults(new, old):
    """What is worse than it was."""
    if not new or not old:
        return ["a plan is missing"] * (new is not old)
    wrong = [f"more {name}" for name in ("phases", "busy") if new[name] > old[name]]
    if old["ns"] and new["ns"] > SLOWER * old["ns"]:
        wrong.append(f"{new['ns'] / old['ns']:.3f} of the time")
    return wrong


def tell(plans):
    return "; ".join(f"{p['method']}: {p['phases']} phases, {p['busy']} busy, {len(p['bytes'])} bytes" if p else "none" for p in plans)


def sweep(commands, numbers, seed):
    """[(case, its number, its two plans)]"""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            case = draw_case(seed, number)
            found.append((case, number, [plan(command, case, Path(folder)) for command in commands]))
    return found


def report(found):
    wrong = [(case, number, plans, faults(*plans)) for case, number, plans in found if faults(*plans)]
    both = [plans for _, _, plans in found if all(plans)]
    print(f"{len(found)} fabrics, {len(both)} with plans, {sum(new['servers'] <= 16 for new, _ in both)} of them with at most 16 servers")
    for name in ("phases", "busy"):
        print(f"{name}: {sum(new[name] for new, _ in both)}, the other build {sum(old[name] for _, old in both)}")
    print(f"bytes: {sum(len(new['bytes']) for new, _ in both)}, the other build {sum(len(old['bytes']) for _, old in both)}")
    ratios = sorted(new["ns"] / old["ns"] for new, old in both if new["ns"] and old["ns"])
    if ratios:
        print(f"simulated: {len(ratios)}; time over the other build's: {ratios[0]:.4f} to {ratios[-1]:.4f}")
    for case, number, plans, what in wrong:
        print(f"case {number}: {' '.join(case)}: {', '.join(what)} ({tell(plans)})")
    print(f"{len(wrong)} wrong")
    return wrong


def main():
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    command_of = SourceFileLoader("effort", str(Path(__file__).with_name("effort.py"))).load_module().command_of
    count, seed = (int(text) for text in (sys.argv[3:] + ["250", "1"][len(sys.argv[3:]):])[:2])
    numbers = [int(os.environ["FORS_SWEEP_CASE"])] if "FORS_SWEEP_CASE" in os.environ else range(count)
    return 1 if report(sweep((sys.argv[1], command_of(sys.argv[2])), numbers, seed)) else 0


if __name__ == "__main__":
    sys.exit(main())
