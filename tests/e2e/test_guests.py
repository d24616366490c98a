# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Where half of the hosts stand on what fors takes for spines, the log and the status say so, and what decides it."""
from harness import Topology


def ring(hosts):
    """Four switches in a ring, each with so many hosts."""
    tree = Topology()
    tree.switches.update({f"Switch{i}": 2 + hosts for i in range(4)})
    for i in range(4):
        tree.connect(f"Switch{i}", 1, f"Switch{(i + 1) % 4}", 2)
        for h in range(hosts):
            tree.hcas[f"Host{i}-{h}"] = 1
            tree.connect(f"Switch{i}", 3 + h, f"Host{i}-{h}", 1)
    return tree


def test_a_ring_of_four(fabric):
    _, sm = fabric(ring(2))
    sm.wait_log("ERR F023: 4 of 8 servers are guests on spines.*root_guid_file.*reference_fabric")
    status = sm.wait_status(state="active", guests=4)
    assert any("4 of 8 servers are guests" in remark for remark in status["remarks"])
