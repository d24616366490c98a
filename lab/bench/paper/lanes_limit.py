# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The mean speed that no owners of lanes can exceed: by the lanes of leaves alone, whatever planes and rungs allow (doc/jobs.md, "What single
lanes cost" and the limits beside it). For a tree with as many lanes at each leaf as planes, nothing dead; a job that owns no lanes counts as 0.

In T phases a leaf with n of a job's P servers needs n (P - n) / T lanes. A job with a single lane at some leaf has a home: the plane of that lane, at
all its leaves; jobs that meet at a leaf have different homes, so at most as many as there are planes have one. Of its servers at most T / n are on
leaves with a single lane, n the most at a leaf with several. A job without a home has two lanes at each leaf.
"""
import itertools
import math
import re
from collections import Counter


def leaves_of(net):
    """{port GUID: leaf} of a fabric as `fors fabric` prints it."""
    found, leaf = {}, None
    for line in net.splitlines():
        switch, host = re.match(r'Switch\s+\d+ "([^"]+)"', line), re.match(r'\[\d+\]\s+"[^"]+"\[\d+\]\(([0-9a-f]+)\)', line)
        leaf = switch.group(1) if switch else None if line.startswith("Ca") else leaf
        if host and leaf:
            found[int(host.group(1), 16)] = leaf
    return found


def _fewest(total, counts, phases, has_home):
    """Lanes that a job with so many servers at each leaf has at least, in so many phases."""
    needs = sorted((n, max(1, math.ceil(n * (total - n) / phases))) for n in counts)
    fullest = max((n for n, need in needs if need > 1), default=0)
    room, lanes = phases // fullest if fullest else total if has_home else 0, 0
    for n, need in needs:
        is_single = has_home and need == 1 and n <= room
        room -= n if is_single else 0
        lanes += 1 if is_single else max(2, need)
    return lanes


def _choices(counts, has_home):
    """[(lanes, the speed that they allow)], more for more."""
    total, chosen = sum(counts), {}
    for phases in range(total, total * max(counts) + 1):
        chosen.setdefault(_fewest(total, counts, phases, has_home), total / phases)
    return list(chosen.items())


def _best(choices, capacity):
    """The largest sum of speeds: one choice, or none, of each job, within the lanes that there are."""
    best = {0: 0.0}
    for job in choices:
        for used, speed in list(best.items()):
            for lanes, more in job:
                if used + lanes <= capacity:
                    best[used + lanes] = max(best.get(used + lanes, 0), speed + more)
    return max(best.values())


def most(jobs, leaf_of, planes):
    """Of jobs, lists of port GUIDs: (how many, the largest sum of their speeds)."""
    counts = [Counter(leaf_of[guid] for guid in job) for job in jobs]
    capacity = planes * len(set(leaf_of.values()))
    many = [{home: _choices(list(count.values()), home) for home in (True, False)} for count in counts]
    all_meet = all(one.keys() & two.keys() for one, two in itertools.combinations(counts, 2))
    homes = min(planes, len(jobs)) if all_meet else len(jobs)
    return len(jobs), max(_best([choice[number in chosen] for number, choice in enumerate(many)], capacity)
                          for chosen in itertools.combinations(range(len(jobs)), homes))


def mean(files, net, planes):
    """Over the jobs of all files of jobs by GUIDs."""
    leaf_of = leaves_of(net)
    found = [most([[int(guid, 16) for guid in line.split(":")[1].split(",")] for line in file.read_text().splitlines() if not line.startswith("#")],
                  leaf_of, planes) for file in files]
    return sum(speed for _, speed in found) / sum(count for count, _ in found)
