# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Partitions that keep pairs of servers from talking: the status and the log say how many, by the same rules as the subnet administration."""
import itertools

import pytest

from harness import FatTree, HarnessError, wait_for

HOSTS = 16


def guid(host):
    return f"0x{0x100001 + 2 * host:x}"


def partitions(path, default):
    """Hosts 0 to 7 are one tenant, 8 to 15 another, of which 12 to 15 limited members: they may not talk with each other."""
    member = {"full": range(0, 12), "limited": range(12, 16)}
    lines = [f"Default=0x7fff,ipoib: {default};"]
    for key, hosts in ((1, range(0, 8)), (2, range(8, 16))):
        lines.append(f"Tenant{key}=0x{key:04x}: " + ", ".join(f"{guid(h)}={kind}" for kind in member for h in hosts if h in member[kind]) + ";")
    path.write_text("\n".join(lines) + "\n")
    return path


def has_path(sim, one, other):
    try:
        return "dlid" in sim.run(["saquery", "-p", f"--slid={one}", f"--dlid={other}"])
    except HarnessError:
        return False


def may_talk(one, other):
    """The manager's host 0 is a full member of the default partition; all others are limited ones."""
    return one == 0 or one // 8 == other // 8 and one < 12


@pytest.mark.parametrize("options", [{}, {"routing_engine": "minhop", "fors_conf": "schedule_over = any\n"}], ids=["fors", "minhop"])
def test_pairs_that_may_not_talk_are_told(fabric, tmp_path, options):
    path = partitions(tmp_path / "partitions", "ALL=limited, SELF=full")
    sim, sm = fabric(FatTree(4, 4), partition_config_file=path, **options)
    cut = 2 * sum(not may_talk(*pair) for pair in itertools.combinations(range(HOSTS), 2))
    text = f"partitions keep {cut} of {HOSTS * (HOSTS - 1)} pairs of servers from talking"
    status = sm.wait_status(state="active")
    assert cut == 124 and any(text in remark for remark in status["remarks"]), status["remarks"]
    if options:
        return
    assert status["partitioned_pairs"] == cut
    sm.wait_log("ERR F023: " + text)
    lids = {port.guid: port.lid for port in sim.snapshot().port.values()}
    for one, other in itertools.combinations((0, 3, 7, 8, 11, 12, 15), 2):
        assert has_path(sim, *(lids[int(guid(host), 16)] for host in (one, other))) == may_talk(one, other), (one, other)
    partitions(path, "ALL=full")
    epoch = sm.status()["epoch"]
    sm.sighup()
    wait_for(lambda: sm.status().get("partitioned_pairs") == 0, what="partitions in which all talk")
    assert sm.status()["epoch"] == epoch
    assert not any("partitions" in remark for remark in sm.status()["remarks"])
