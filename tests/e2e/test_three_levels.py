# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Trees of three levels under the stock opensm: routed, planned for, published; failures of each kind, and back."""
import os
import signal

import pytest

import harness
import three


def settled(sm, act, *args):
    """Do something to the fabric, have it swept, and wait for the word of fors on it."""
    before = sm.status()["epoch"]
    act(*args)
    mark = sm.log_end()
    sm.sighup()
    sm.wait_up(mark)
    return sm.wait_epoch(before)


def good(sim, sm):
    faults, status, snapshot = three.judge(sim, sm)
    assert faults == []
    return status, snapshot


def changed(sim, sm, *ends):
    """Unlink these (node, port), or whole nodes; what comes of it, and what comes when they are back."""
    def cut():
        for end in ends:
            sim.unlink(*end) if isinstance(end, tuple) else sim.unlink_node(end)

    def mend():
        for end in ends:
            sim.relink(*end) if isinstance(end, tuple) else sim.relink_node(end)
    settled(sm, cut)
    status, _ = good(sim, sm)
    settled(sm, mend)
    return status, good(sim, sm)


def tables_of(snapshot):
    return {name: bytes(table) for name, table in snapshot.table.items()}


def test_failures_of_each_kind(fabric):
    """XGFT(3;4,4,4;1,4,4), 64 servers: at the bound, whatever single thing is dead; and to the very bytes when it is back."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    status, healthy = good(sim, sm)
    assert (status["leaves"], status["pods"], status["mids"], status["tops"], status["spines"]) == (16, 4, 16, 16, None)
    assert status["phases"] == 64 and status["affected_spines"] == 0 and status["dead_links"] == []
    for ends, dead, m, phases in [([tree.top_cable(1, 2, 3)], 1, 1, 64),
                                  ([tree.top(2, 1)], 4, 1, 64),
                                  ([tree.leaf_cable(2, 1, 3)], 1, 1, None),
                                  ([tree.mid(3, 0)], 8, 5, None),
                                  ([tree.leaf_cable(0, 0, 1), tree.leaf_cable(3, 2, 2), tree.top_cable(1, 1, 1)], 3, 3, None)]:
        worse, (again, snapshot) = changed(sim, sm, *ends)
        assert len(worse["dead_links"]) == dead and worse["affected_spines"] == m, ends
        assert worse["phases"] <= (phases or worse["lower_bound"] + 4), worse
        assert again["phases"] == 64 and again["dead_links"] == []
        assert tables_of(snapshot) == tables_of(healthy), f"not as it was after {ends}"


def test_small(fabric):
    tree = three.Tree3((2, 2, 2), (2, 2))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    status, first = good(sim, sm)
    print(status)
    assert status["phases"] == 8 and status["lower_bound"] == 8
