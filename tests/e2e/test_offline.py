# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Without the plugin: `fors fabric --format lfts` makes the tables that a plain `opensm -R file -U` loads."""

import harness

STOCK = {"event_plugin_name": None, "lmc": 2}


def fors(*arguments):
    return harness.fors(*arguments).stdout


def test_tables_from_a_file(fabric, tmp_path):
    """A spine and a cable are dead; the plan made beforehand is verified over what the switches then hold."""
    down = ["--down", "Spine03", "--down", "Leaf01[9]"]
    sim, sm = fabric(harness.FatTree(6, 5), routing_engine="minhop", **STOCK)
    sm.wait_log("SUBNET UP")
    net, lfts, schedule = (tmp_path / name for name in ("net", "lfts", "schedule"))
    net.write_text(sim.run(["ibnetdiscover"], sm.node))
    sm.stop()
    sim.unlink_node("Spine03")
    sim.unlink("Leaf01", 9)
    lfts.write_text(fors("fabric", "--fabric", net, *down, "--format", "lfts"))
    fors("plan", "--fabric", net, *down, "--output", schedule)
    again = harness.OpenSM(sim, sm.directory, node=sm.node, routing_engine="file", lfts_file=lfts, **STOCK)
    fabric.also(again)
    again.wait_log("file tables configured on all switches")
    again.wait_log("SUBNET UP")
    net.write_text(sim.run(["ibnetdiscover"], sm.node))
    lfts.write_text(sim.run(["dump_fts"], sm.node))
    assert "good: " in fors("verify", "--fabric", net, "--lfts", lfts, "--schedule", schedule)
