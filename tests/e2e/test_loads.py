# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The measure itself: on stock engines whose throughput is known, and on schedules that are wrong."""
import pytest

import failover
import harness
import loads

HEADER = "phase,src_guid,dst_guid,src_lid,dst_lid,spine_guid\n"


@pytest.fixture(scope="module")
def shifted(tmp_path_factory):
    """FT(2;2,3) under minhop: (live, tables)."""
    folder = tmp_path_factory.mktemp("loads")
    with harness.Ibsim(harness.FatTree(2, 3), folder) as sim:
        with harness.OpenSM(sim, folder / "sm", routing_engine="minhop", **failover.STOCK) as osm:
            osm.wait_up()
            yield harness.read_live(sim), harness.read_tables(sim)


def rows(live, tables, flows):
    """CSV of flows (phase, source, target); the spine is the one that the tables take."""
    text = HEADER
    for phase, source, target in flows:
        a, b = live.servers[source], live.servers[target]
        spine = [f"0x{tables.guid_of[node]:016x}" for node, _ in harness.walk(tables, live.cable, source, b.lid)[2:-1]]
        text += f"{phase},0x{a.guid:016x},0x{b.guid:016x},{a.lid},{b.lid},{''.join(spine)}\n"
    return text


def shift(live):
    order = loads.server_order(live)
    return [(phase, order[i], order[(i + phase) % len(order)])
            for phase in range(1, len(order)) for i in range(len(order))]


def test_linear_shift_of_a_healthy_tree(shifted):
    assert loads.shift_exchange(*shifted) == loads.Exchange(6, 6, 6, 1, 1.0)


def test_the_shift_as_a_schedule_gives_the_same(shifted):
    live, tables = shifted
    assert loads.schedule_exchange(live, tables, rows(live, tables, shift(live)), 6) == loads.shift_exchange(live, tables)


def test_two_flows_of_one_server_in_a_phase_are_a_load_of_two(shifted):
    live, tables = shifted
    flows = [(1 if phase == 2 else phase, a, b) for phase, a, b in shift(live)]
    assert loads.schedule_exchange(live, tables, rows(live, tables, flows), 6).worst >= 2


@pytest.mark.parametrize("spoil", [
    lambda flows: flows[1:],
    lambda flows: flows + [flows[0]],
])
def test_missing_and_repeated_pairs(shifted, spoil):
    live, tables = shifted
    with pytest.raises(loads.LoadError):
        loads.schedule_exchange(live, tables, rows(live, tables, spoil(shift(live))), 6)


def test_wrong_spine_and_wrong_lid(shifted):
    live, tables = shifted
    text = rows(live, tables, shift(live))
    spines = sorted({line.rsplit(",", 1)[1] for line in text.splitlines()[1:]} - {""})
    with pytest.raises(loads.LoadError):
        loads.schedule_exchange(live, tables, text.replace(spines[0], spines[1]), 6)
    with pytest.raises(loads.LoadError):
        loads.schedule_exchange(live, tables, text.replace(f",{next(iter(live.servers.values())).lid},", ",999,"), 6)


def test_one_dead_cable_halves_minhop(tmp_path):
    tree = harness.FatTree(6, 4)
    with harness.Ibsim(tree, tmp_path) as sim:
        with harness.OpenSM(sim, tmp_path / "sm", routing_engine="minhop", **failover.STOCK) as osm:
            _, state = failover.bring_up(sim, osm)
            assert loads.shift_exchange(state.live, state.tables).throughput == 1.0
            cable = tree.uplink(0, 0)
            event, state = failover.change(sim, osm, state, lambda: sim.unlink(cable.leaf, cable.leaf_port))
            assert loads.shift_exchange(state.live, state.tables).throughput < 0.7
            assert 0 < event.trap <= event.up and event.epoch is None and event.entries > 0
