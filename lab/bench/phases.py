# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How many phases: the paper's figure 7 and its section 6.3, with the command `fors plan`."""
import json
import random
import subprocess

import harness

FIGURE_7 = [(8, 16), (16, 16), (20, 18), (16, 32), (32, 32)]
POINTS = 10
RANDOM_FABRIC = (20, 18)
RANDOM_LINKS = [1, 2, 5, 10, 20, 40, 60, 90, 120, 150, 180]


def command_for(spines, leaves, down, method, lmc, servers=None):
    """The `fors plan` command for FT(2;spines,leaves) with the (leaf, spine) cables down."""
    tree = harness.FatTree(spines, leaves, servers or spines)
    spec = f"FT(2;{spines},{leaves})" if servers is None else f"FT(2;{spines},{leaves};servers={servers})"
    command = harness.fors_command("plan", "--synthetic", spec, "--method", method, "--lmc", lmc)
    for leaf, spine in down:
        cable = tree.uplink(leaf, spine)
        command += ["--down", f"{cable.leaf}[{cable.leaf_port}]"]
    return command


def plan(spines, leaves, down=(), method="auto", lmc=5, servers=None):
    """Status of that plan, or None when the command says no."""
    status = _run([*command_for(spines, leaves, down, method, lmc, servers), "--json"])
    return json.loads(status) if status else None


def _run(command):
    """Standard output, or None when the answer is no."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 2:
        raise harness.HarnessError(f"{' '.join(command)}: {done.stderr}")
    return done.stdout if done.returncode == 0 else None


def figure_7(fabrics=FIGURE_7):
    """Rows (fabric, f, phases, lower bound, factor): one leaf loses f cables."""
    rows = []
    for spines, leaves in fabrics:
        healthy = plan(spines, leaves)["phases"]
        for f in sorted({round(i * (spines - 1) / POINTS) for i in range(POINTS + 1)}):
            status = plan(spines, leaves, [(0, spine) for spine in range(f)])
            rows.append({"fabric": f"FT(2;{spines},{leaves})", "f": f, "phases": status["phases"],
                         "lower_bound": status["lower_bound"], "factor": status["phases"] / healthy})
    return rows


def random_failures(sets_each, seed=1):
    """Rows per number of failed links: how often T = LB, phases and planning time, over random connected sets."""
    spines, leaves = RANDOM_FABRIC
    links = [(leaf, spine) for leaf in range(leaves) for spine in range(spines)]
    source, rows = random.Random(seed), []
    for count in RANDOM_LINKS:
        plans, redrawn = [], 0
        while len(plans) < sets_each and redrawn < 20 * sets_each:
            status = plan(spines, leaves, source.sample(links, count), method="exact")
            plans.append(status) if status else None
            redrawn += status is None
        rows.append(_row(count, plans, redrawn))
    return rows


def _row(count, plans, redrawn):
    return {"links": count, "sets": len(plans), "disconnected_redrawn": redrawn,
            "at_bound": sum(p["phases"] == p["lower_bound"] for p in plans),
            "above": [(p["phases"], p["lower_bound"]) for p in plans if p["phases"] > p["lower_bound"]],
            "phases_min": min(p["phases"] for p in plans), "phases_max": max(p["phases"] for p in plans),
            "plan_ms_mean": sum(p["plan_ms"] for p in plans) / len(plans),
            "plan_ms_max": max(p["plan_ms"] for p in plans)}
