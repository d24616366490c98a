# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every path index at every LMC from 0 to 7, healthy and after failures.

Three opinions on the same tables: ibdmchk, which knows base LIDs only and so gets a copy of opensm's dumps with the routes
of LID base + i put at the base LID; a graph of all channel dependencies of all LIDs together, which must have
no cycle; and opensm's own SA, asked for a path record on each index.

FORS_PATHS="SPINES LEAVES LMC..." runs the same on a larger fabric (make paths).
"""
import os
import re

import pytest

import harness
import oracle
from harness import FatTree

_SIZE = list(map(int, os.environ.get("FORS_PATHS", "4 4 0 1 2 3 4 5 6 7").split()))
SPINES, LEAVES, LMCS = _SIZE[0], _SIZE[1], _SIZE[2:]

_TABLE = re.compile(r"dump_ucast_routes: Switch (0x[0-9a-f]+)")
_ROW = re.compile(r"0x([0-9A-F]{4}) :(.*)")


def project(fdbs, lids, index):
    """The text of opensm.fdbs with what LID base + index has at LID base, for each of the base LIDs; other rows stay."""
    out = []
    for table in re.split(r"(?=dump_ucast_routes)", fdbs):
        rows = dict(_ROW.findall(table))
        out.append(_ROW.sub(lambda row: f"0x{row[1]} :{rows[f'{int(row[1], 16) + index:04X}']}"
                            if int(row[1], 16) in lids else row[0], table))
    return "".join(out)


def judge_by_ibdmchk(dumps, live, scratch, done):
    """ibdmchk on each path index whose tables it has not seen yet (`done`)."""
    lids = {port.lid for port in live.servers.values()}
    fdbs = dumps["opensm.fdbs"]
    for name, text in dumps.items():
        (scratch / name).write_text(text)
    count = len(live.servers) * (len(live.servers) - 1)
    for index in range(1 << next(iter(live.servers.values())).lmc):
        text = project(fdbs, lids, index)
        assert index or text == fdbs
        if text in done:
            continue
        done.add(text)
        (scratch / "opensm.fdbs").write_text(text)
        assert oracle.credit_loops(scratch) == (count, False), f"path index {index}"


def dependencies(tables, live):
    """channel -> the channels that a packet may want while it holds it, over all ways from all servers to all LIDs."""
    after = {}
    lids = [lid for port in live.servers.values() for lid in range(port.lid, port.lid + (1 << port.lmc))]
    sources = {live.cable[name, 1][0]: name for name in live.servers}  # one server of each leaf is enough
    for lid in [*lids, *live.switch_lid.values()]:
        for source in sources.values():
            hops = harness.walk(tables, live.cable, source, lid)
            assert hops, (source, lid)
            for held, wanted in zip(hops, hops[1:]):
                after.setdefault(held, set()).add(wanted)
    return after


def has_cycle(after):
    """Take away what nothing is held for, again and again; what is left is cycles."""
    waiting = {}
    for wanted in after.values():
        for channel in wanted:
            waiting[channel] = waiting.get(channel, 0) + 1
    free = [channel for channel in after if channel not in waiting]
    while free:
        for channel in after.get(free.pop(), ()):
            waiting[channel] -= 1
            if not waiting[channel]:
                free.append(channel)
    return any(waiting.values())


def test_has_cycle():
    assert not has_cycle({1: {2, 3}, 2: {3}, 3: {4}})
    assert has_cycle({0: {1}, 1: {2}, 2: {3}, 3: {1}})
    assert has_cycle({1: {1}})
    assert not has_cycle({})


def test_projection_notices_an_index(tmp_path):
    """A dump whose second path index loops: the first is fine, the second is not."""
    text = ("dump_ucast_routes: Switch 0x1\nLID    : Port : Hops : Optimal\n"
            "0x0002 : 001  : 01   : yes\n0x0003 : 002  : 01   : yes\n0x0004 : 000  : 00   : yes\n")
    assert project(text, {2}, 0) == text
    assert "0x0002 : 002  : 01" in project(text, {2}, 1) and "0x0004 : 000" in project(text, {2}, 1)


def judge_by_sa(sim, live):
    """A path record for each path index of a far server, and on the way back.

    opensm tries all pairs of LIDs for each answer, most of a second at LMC 7, so above LMC 5 some indices must do.
    """
    near, far = (live.servers[name] for name in ("Node00-00", f"Node{LEAVES - 1:02d}-01"))
    indices = range(1 << far.lmc)
    for index in indices if far.lmc <= 5 or "FORS_PATHS" in os.environ else [*indices[:4], *indices[4:-1:23], indices[-1]]:
        for source, target in ((near, far), (far, near))[:1 if index else 2]:
            text = sim.run(["saquery", "-p", f"--slid={source.lid}", f"--dlid={target.lid + index}"])
            assert text.count("PathRecord dump") == 1
            assert f"dlid....................{target.lid + index}\n" in text
            assert f"slid....................{source.lid}\n" in text


@pytest.mark.parametrize("lmc", LMCS)
def test_every_path_index(fabric, tmp_path, lmc):
    tree = FatTree(SPINES, LEAVES)
    sim, sm = fabric(tree, lmc=lmc, log_flags="0x43", sweep_interval=1, node="Node00-00")
    sm.wait_epoch()
    done = set()
    failures = [None, tree.uplink(0, 1), tree.uplink(2, 0)]
    for dead, cable in enumerate(failures):
        if cable:
            sim.unlink(cable.leaf, cable.leaf_port)
        status = sm.wait_status(60, state=lambda state: state in ("active", "failed"),
                                dead_links=lambda links, n=dead: len(links) == n)
        assert status["lmc"] == lmc
        tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
        judge_by_ibdmchk(wait_for_dumps(sm, tables, live), live, tmp_path, done)
        assert not has_cycle(dependencies(tables, live))
    judge_by_sa(sim, live)


def wait_for_dumps(sm, tables, live):
    """opensm writes them after the sweep, piece by piece: what they say when that is what the switches say, by their names."""
    def look():
        try:
            dumps = {name: (sm.tmp / name).read_text() for name in ("opensm-subnet.lst", "opensm.mcfdbs", "opensm.fdbs")}
            lfts = harness.parse_tables((sm.tmp / "opensm-lfts.dump").read_text())
        except FileNotFoundError:
            return None
        is_whole = len(dumps["opensm-subnet.lst"].splitlines()) == len(live.cable) and dumps["opensm-subnet.lst"].endswith("\n")
        is_new = lfts.port == tables.port and fdbs_match(dumps["opensm.fdbs"], tables)
        return dumps if is_whole and is_new and "dump_ucast_routes" in dumps["opensm.fdbs"] else None
    return harness.wait_for(look, 30, "opensm's dumps")


def fdbs_match(fdbs, tables):
    """Are these the tables, as far as LIDs have a way?"""
    for table in re.split(r"(?=dump_ucast_routes)", fdbs)[1:]:
        name = next(n for n, guid in tables.guid_of.items() if guid == int(_TABLE.match(table)[1], 16))
        rows = {int(lid, 16): int(port) for lid, port in re.findall(r"0x([0-9A-F]{4}) : (\d{3}) ", table)}
        if rows != {lid: port for lid, port in tables.port[name].items()}:
            return False
    return True
