# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Jobs under the stock opensm on trees whose leaves lack cables to some spines, with cables cut while jobs run.

The trees are drawn by a seed: no to four parallel cables between a leaf and a spine, leaves of different size, ports in no order, here and there a
host on a spine. The judge reads the tables of the simulated switches alone: every host reaches every LID, no packets wait for
each other in a circle, each job's flows go as its schedule says, and no two jobs that own their lanes meet.
"""
import random

import pytest

from harness import Topology, NO_PATH
from test_jobs import info, job, jobs, links_of, schedule_of, write  # noqa: F401 (a fixture)

MODES = {"owned": ("job_routes = owned\n", "0"), "job_index": ("job_index = yes\n", "1"), "shared": ("", "0")}
CUTS = 3


class Sparse(Topology):
    """Leaf00.. with Node00-00.., Spine00..: any two leaves have a spine in common."""

    def __init__(self, seed):
        super().__init__()
        self.draw = draw = random.Random(seed)
        self.nleaves, self.nspines = draw.randint(3, 6), draw.randint(3, 6)
        self.leaves = [f"Leaf{a:02d}" for a in range(self.nleaves)]
        self.spines = [f"Spine{k:02d}" for k in range(self.nspines)]
        self.switches.update({name: 30 for name in self.leaves + self.spines})
        most, part = draw.randint(1, 4), draw.choice((0.2, 0.35, 0.5))
        count = {}
        while not count or not self.is_connected(count):
            count = {(leaf, spine): 0 if draw.random() < part else draw.randint(1, most) for leaf in self.leaves for spine in self.spines}
        for (leaf, spine), n in count.items():
            for _ in range(n):
                self.plug(leaf, spine)
        for a, leaf in enumerate(self.leaves):
            for s in range(draw.randint(1, 5)):
                self.host(f"Node{a:02d}-{s:02d}", leaf)
        self.guest = draw.random() < 0.3
        if self.guest:
            self.host("Guest", draw.choice(self.spines))

    def is_connected(self, count):
        over = {leaf: {spine for spine in self.spines if count[leaf, spine]} for leaf in self.leaves}
        return all(over[a] & over[b] for a in over for b in over)

    def free(self, switch):
        return self.draw.choice([port for port in range(1, self.switches[switch] + 1) if (switch, port) not in self.cable])

    def plug(self, one, two):
        self.connect(one, self.free(one), two, self.free(two))

    def host(self, name, switch):
        self.hcas[name] = 1
        self.connect(switch, self.free(switch), name, 1)

    def alive(self, cut):
        """Numbers of cables between leaves and spines, without those that are cut."""
        count = {(leaf, spine): 0 for leaf in self.leaves for spine in self.spines}
        for end, other in self.cable.items():
            if (end[0], other[0]) in count and end not in cut:
                count[end[0], other[0]] += 1
        return count

    def jobs(self):
        """Jobs of all marks over most servers: their text, by name."""
        hosts = sorted(name for name in self.hcas if name != "Guest")
        self.draw.shuffle(hosts)
        number, text, at = 0, {}, 0
        while at < len(hosts):
            n = self.draw.randint(2, 6)
            mark = self.draw.choice(("", " [exclusive]", " [job-index]", " [job-index]"))
            text[f"j{number}"] = f"j{number}{mark}: {', '.join(hosts[at:at + n])}\n"
            number, at = number + 1, at + n
        return text


def way(snapshot, at, lid):
    """The (switch, port) hops from a switch to a LID; None: it has none."""
    hops = []
    while at in snapshot.switches and len(hops) < 8:
        table = snapshot.table[at]
        port = table[lid] if lid < len(table) else NO_PATH
        if port in (0, NO_PATH):
            return hops if port == 0 and snapshot.port[at].lid == lid else None
        if (at, port) not in snapshot.cable:
            return None
        hops.append((at, port))
        at = snapshot.cable[at, port][0]
    return hops if at not in snapshot.switches else None


def judge_tables(sim):
    """Every host reaches every LID of a host, and what their packets wait for is no circle."""
    snapshot, waits = sim.snapshot(), {}
    hosts = {name: port for name, port in snapshot.port.items() if name not in snapshot.switches and (name, 1) in snapshot.cable}
    for start in {snapshot.cable[name, 1][0] for name in hosts}:
        for name, port in hosts.items():
            for lid in range(port.lid, port.lid + (1 << port.lmc)):
                hops = way(snapshot, start, lid)
                assert hops and snapshot.cable[hops[-1]][0] == name, f"LID {lid} of {name} from {start}: {hops}"
                for one, two in zip(hops, hops[1:]):
                    waits.setdefault(one, set()).add(two)
    while waits:
        free = {one for one in waits if not waits[one] & set(waits)}
        assert free, f"a circle of {sorted(waits)}"
        for one in free:
            del waits[one]


def judge(sim, sm, status, names):
    """All have a schedule that is right over the tables; who is over lanes of its own meets nobody who is, too."""
    judge_tables(sim)
    links = {name: links_of(sim, schedule_of(sm, name)) for name in names}
    own = [name for name in names if job(status, name)["over"] == "own"]
    for one in own:
        for two in own:
            assert one >= two or not links[one] & links[two], (one, two)
    return links


def wait_all(sm, names, ndead):
    return sm.wait_status(timeout=60, state="active", dead_links=lambda dead: len(dead or ()) == ndead,
                          jobs=lambda jobs: jobs is not None and {job["name"] for job in jobs if job["state"] == "active"} >= set(names))


def wait_settled(sm, names, ndead, has_index):
    """All have schedules; with entries nobody waits for his any more."""
    status = wait_all(sm, names, ndead)
    if has_index:
        status = sm.wait_status(timeout=60, state="active", dead_links=lambda dead: len(dead or ()) == ndead,
                                jobs=lambda jobs: all(job["state"] == "active" and "until its table entries" not in (job["reason"] or "")
                                                      for job in jobs if job["name"] in names))
    return status


def cut_one(tree, sim, links, cut):
    """A cable that some job uses, if there is one that no two leaves need."""
    draw, used = tree.draw, sorted({hop for one in links.values() for hop in one if hop[0] in tree.leaves})
    draw.shuffle(used)
    for hop in used:
        if tree.is_connected(tree.alive(cut | {hop})):
            sim.unlink(*hop)
            return {hop}
    return set()


@pytest.mark.parametrize("seed", [*range(3)])
@pytest.mark.parametrize("mode", MODES)
def test_jobs_on_an_incomplete_tree(jobs, mode, seed):  # noqa: F811
    """Jobs start, cables are cut under them: each time every job has a plan, right over what the switches hold."""
    conf, lmc = MODES[mode]
    tree = Sparse(seed)
    text = tree.jobs()
    sim, sm, _ = jobs("".join(text.values()), conf=conf, topology=tree, lmc=lmc)
    status = wait_settled(sm, text, 0, conf)
    links, cut = judge(sim, sm, status, text), set()
    for _ in range(CUTS):
        more = cut_one(tree, sim, links, cut)
        if not more:
            break
        cut |= more
        sm.sweep()
        status = wait_settled(sm, text, len(cut), conf)
        links = judge(sim, sm, status, text)
        assert not cut & set().union(*links.values())
    log = sm.log_file.read_text(errors="replace")
    assert "ERR F025" not in log and "ERR F022" not in log and "ERR F009" not in log
    assert all(info(schedule_of(sm, name))["phases"] for name in text)
