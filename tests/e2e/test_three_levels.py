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


def test_small(fabric):
    tree = three.Tree3((2, 2, 2), (2, 2))
    sim, sm = fabric(tree)
    sm.wait_epoch()
    status, first = good(sim, sm)
    print(status)
    assert status["phases"] == 8 and status["lower_bound"] == 8
