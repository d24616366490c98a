# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`fors jobs` on trees whose leaves lack cables to some spines: every job has a plan, whatever the marks."""
import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "sweep"))
from plans import Net  # noqa: E402

TREES = 12


def sparse(draw):
    """No to four cables between a leaf and a spine, and each two leaves have a spine in common; and its hosts."""
    leaves, spines = range(draw.randint(3, 9)), range(draw.randint(3, 9))
    most, part = draw.randint(1, 4), draw.choice((0.1, 0.3, 0.5))
    count = {}
    while not count or any(not any(count[a, k] and count[b, k] for k in spines) for a in leaves for b in leaves):
        count = {(a, k): 0 if draw.random() < part else draw.randint(1, most) for a in leaves for k in spines}
    net, hosts = Net(), []
    for name in [f"Leaf{a}" for a in leaves] + [f"Spine{k}" for k in spines]:
        net.add(name, "Switch", 60)
    for (a, k), n in count.items():
        for _ in range(n):
            net.plug(f"Leaf{a}", free(net, draw, f"Leaf{a}"), f"Spine{k}", free(net, draw, f"Spine{k}"), "4xHDR")
    for a in leaves:
        for _ in range(draw.randint(1, 7)):
            hosts.append(f"Host{len(hosts):03}")
            net.add(hosts[-1], "Ca", 1)
            net.plug(f"Leaf{a}", free(net, draw, f"Leaf{a}"), hosts[-1], 1, "4xHDR")
    return net, hosts


def free(net, draw, name):
    return draw.choice([port for port in range(1, net.ports[name] + 1) if (name, port) not in net.cable])


def some_jobs(draw, hosts):
    hosts, text = list(hosts), []
    draw.shuffle(hosts)
    while hosts:
        n = draw.randint(1, 9)
        text.append(f"j{len(text)}{draw.choice(('', ' [exclusive]', ' [job-index]', ' [job-index]'))}: {', '.join(hosts[:n])}\n")
        hosts = hosts[n:]
    return "".join(text)


@pytest.mark.parametrize("options", [("--lmc", "1", "--job-index"), ("--lmc", "3", "--job-index"), ("--lmc", "2")])
def test_every_job_has_a_plan(fors, tmp_path, options):
    """Nothing is dead and all is routed: no job stays without, and none takes the file down."""
    own = 0
    for seed in range(TREES):
        draw = random.Random(seed)
        net, hosts = sparse(draw)
        (tmp_path / "net").write_text(net.text(True))
        (tmp_path / "jobs").write_text(some_jobs(draw, hosts))
        done = fors("jobs", "--fabric", tmp_path / "net", "--jobs", tmp_path / "jobs", "--json", *options)
        jobs = json.loads(done.out)["jobs"]
        assert all(job["phases"] for job in jobs), f"seed {seed}"
        own += sum(job["over"] == "own" and job["leaves"] > 1 for job in jobs)
    assert "--job-index" not in options or own > TREES
