# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Any mixture of the tables before and after a failure or a recovery, as opensm really wrote them.

The changed blocks (64 entries) are applied in random orders to what the switches held before, and looked at in between.
tests/unit/test_consistency.c does the same for far more fabrics, without opensm.
"""
import copy
import random

import pytest

import chaos
import harness
import judge

BLOCK = 64


class State:
    """The fabric at rest, and the plan that is out."""

    def __init__(self, run):
        self.world, self.snapshot = run.world.copy(), run.sim.snapshot()
        self.manager = run.crew.master.node
        self.view = judge.View(self.world, self.snapshot, self.manager)
        rows = [row.split(",") for row in chaos.read_schedule(run.crew.master).stdout.splitlines()[1:]]
        name = {f"0x{port.guid:016x}": port.name for port in self.snapshot.port.values()}
        self.flows = {(self.leaf(name[source]), int(lid), name[target]) for _, source, target, _, lid, _ in rows}

    def leaf(self, server):
        return self.view.tree.leaf(judge.place_of(server)[0])


class Update:
    """From one State to another."""

    def __init__(self, before, after):
        self.before, self.after = before, after
        self.mixed = copy.copy(after.snapshot)
        size = max(len(table) for state in (before, after) for table in state.snapshot.table.values())
        self.new = {name: self._padded(table, size) for name, table in after.snapshot.table.items()}
        self.table = {name: self._padded(table, size) if name in before.view.nodes else bytearray(self.new[name])
                      for name, table in before.snapshot.table.items()}
        self.blocks = [(name, at) for name in self.table for at in range(0, size, BLOCK)
                       if self.table[name][at:at + BLOCK] != self.new[name][at:at + BLOCK]]

    @staticmethod
    def _padded(table, size):
        return table + bytes([harness.NO_PATH]) * (size - len(table))

    def apply(self, block):
        name, at = block
        self.table[name][at:at + BLOCK] = self.new[name][at:at + BLOCK]

    def faults(self):
        """What is wrong with the mixture as it is now."""
        self.mixed.table = self.table
        view = judge.View(self.after.world, self.mixed, self.after.manager)
        ends = {lid: judge.destinations(view, lid) for name in view.servers if name != self.after.manager
                for lid in view.lids(name)}
        loops = [f"LID {lid} goes in circles" for lid, end in ends.items() if judge.LOOP in end.values()]
        return loops + [fault for flow in self.before.flows for fault in self._flow(view, ends, *flow)]

    def _flow(self, view, ends, leaf, lid, target):
        """A flow of the old plan: it arrives if its old cables live, and over the same ones if it is at home."""
        old, _ = self.before.snapshot.way(leaf, lid)
        if target == self.after.manager or target not in view.servers or leaf not in view.nodes or any(
                end not in self.mixed.cable for end in old):
            return []
        if ends[lid][leaf] != target:
            return [f"LID {lid} of {target} ends at {ends[lid][leaf]} from {leaf}"]
        if self._is_home_healthy(leaf, lid, target) and self.mixed.way(leaf, lid)[0] != old:
            return [f"LID {lid} of {target} goes another way from {leaf}"]
        return []

    def _is_home_healthy(self, leaf, lid, target):
        tree = self.after.view.tree
        a, (b, slot) = judge.place_of(leaf.replace("Leaf", "Node") + "-0")[0], judge.place_of(target)
        if tree.varies(slot):
            return False
        home = (tree.homes[b, slot] + lid - self.mixed.port[target].lid) % self.after.world.nlanes
        return all(home in state.view.lanes[a] & state.view.lanes[b] for state in (self.before, self.after))


@pytest.mark.parametrize("spec, lmc, change", [
    ("FT(2;5,4)", 3, "-1/2"),
    ("FT(2;5,4)", 0, "-1/2 -3/4 -2/2"),
    ("FT(2;5,4)", 3, "-Spine03"),
    ("FT(2;5,4)", 2, "-Leaf02 -1/0"),
    ("FT(2;3,4;servers=5)", 2, "-1/0 -2/1"),
])
def test_mixed_tables(tmp_path, spec, lmc, change):
    """A cable is dead already; then more dies, and returns."""
    rng = random.Random(spec + change)
    run = chaos.Run(chaos.parse_fabric(spec), tmp_path, lmc)
    try:
        run.do(chaos.Event("change -3/1"))
        states = [State(run)]
        for words in (change, change.replace("-", "+")):
            run.do(chaos.Event(f"change {words}"))
            states.append(State(run))
    finally:
        run.stop()
    for before, after in zip(states, states[1:]):
        for _ in range(3):
            update = Update(before, after)
            assert update.blocks and update.faults() == []
            rng.shuffle(update.blocks)
            for number, block in enumerate(update.blocks, 1):
                update.apply(block)
                if number % max(1, len(update.blocks) // 4) == 0:
                    assert update.faults() == []


def test_a_mixture_that_loses_a_flow_is_found(tmp_path):
    run = chaos.Run(chaos.parse_fabric("FT(2;3,3)"), tmp_path, 2)
    try:
        run.do(chaos.Event("change -1/2"))
        before = State(run)
        run.do(chaos.Event("change -2/1"))
        update = Update(before, State(run))
    finally:
        run.stop()
    leaf, lid, target = next(flow for flow in sorted(before.flows) if flow[2] != before.manager)
    update.table[leaf][lid] = harness.NO_PATH
    assert any(f"LID {lid} of {target}" in fault for fault in update.faults())
