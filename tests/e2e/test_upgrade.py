# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An upgrade: opensm starts with the state folder that fors at revision 36feca4 left behind (tests/data/upgrade.py), and no entry moves.

But detours: where leaf and spine have several cables, this version sends what lost its own over those that others leave free. And trees of
three levels that are not regular (`thin`): homes are others since, so entries move, once.
"""
import importlib.util
import json
import shutil
import tarfile

import pytest

import harness
from test_plugin import errors

DATA = harness.TOP / "tests" / "data"
READ = "the kept order that an earlier version of fors wrote is read; nothing is learnt anew"


def recordings():
    spec = importlib.util.spec_from_file_location("upgrade", DATA / "upgrade.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


UPGRADE = recordings()
STAY = [case for case in UPGRADE.CASES if case != "thin"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("upgrade")
    with tarfile.open(DATA / "upgrade.tar.xz") as archive:
        archive.extractall(folder)
    return folder


def state_dir(old, directory):
    """The files of the former opensm, where the next one looks for them."""
    home = directory / "cache" / "fors" / (old / "guid").read_text()
    home.mkdir(parents=True)
    for name in UPGRADE.FILES:
        shutil.copy(old / name, home)
    shutil.copy(old / "guid2lid", directory / "cache")
    return home


@pytest.fixture
def upgraded(fabric, kept, tmp_path):
    """upgraded(case, state, change) -> (Ibsim, OpenSM, the folder of before); `change`: what is done to the state folder beforehand"""
    def call(case, state, change=lambda home: None):
        tree, lmc, parts = UPGRADE.CASES[case]
        tree, old = tree(), kept / f"{case}-{state}"
        sim = harness.Ibsim(tree, tmp_path / "sim")
        fabric.also(sim)
        if state == "dead":
            UPGRADE.cut(sim, parts)
        change(state_dir(old, tmp_path / "sm"))
        sm = harness.OpenSM(sim, tmp_path / "sm", node=list(tree.hcas)[-1], lmc=lmc)
        fabric.also(sm)
        return sim, sm, old
    return call


def moved(sim, sm, old):
    """Entries that are otherwise than before the upgrade; a sweep has ended since."""
    sm.sweep()
    before, after = (harness.parse_tables(text) for text in ((old / "tables").read_text(), sim.run(["dump_fts"], sm.node)))
    assert before.guid_of == after.guid_of and len(before.port) > 5
    return harness.changed_entries(before, after)


def arrives(tables, cable, node, lid):
    """Do the tables lead from a switch to a LID, over the cables that live?"""
    for _ in range(8):
        port = tables.port.get(node, {}).get(lid, harness.NO_PATH)
        if port == 0:
            return True
        node = cable.get((node, port), (None, 0))[0]
        if node is not None and node not in tables.port:
            return True  # a CA
    return False


def may_move(sim, sm, kept, case, entries):
    """
    Where leaf and spine have several cables, those whose way in the intact tree is dead, and at spines those to whom no
    leaf's way lives; of other trees none.
    """
    intact, cable = harness.parse_tables((kept / f"{case}-healthy" / "tables").read_text()), harness.read_live(sim, sm.node).cable
    leaves = [node for node in intact.port if node.startswith("Leaf")]

    def is_own(leaf, lid):
        return cable.get((leaf, intact.port[leaf].get(lid)), (leaf, 0))[0] not in intact.port

    def is_lost(node, lid):
        return not any(arrives(intact, cable, leaf, lid) for leaf in ([node] if node in leaves else leaves) if not is_own(leaf, lid))
    return {entry for entry in entries if case.startswith("two") and is_lost(*entry)}


@pytest.mark.parametrize("state", ["healthy", "dead"])
@pytest.mark.parametrize("case", STAY)
def test_no_entry_moves(upgraded, case, state, kept):
    sim, sm, old = upgraded(case, state)
    former = json.loads((old / "status.json").read_text())
    status = sm.wait_epoch(former["epoch"])
    entries = moved(sim, sm, old)
    assert entries == may_move(sim, sm, kept, case, entries)
    assert not entries or state == "dead"
    assert bool(status["dead_links"]) == (state == "dead")
    assert READ in sm.log() and set(errors(sm)) <= {"F023"}  # what is dead leaves detours
    harness.wait_for(lambda: (sm.state_dir / "places").read_text().startswith("fors-places 3\n"))
    assert not list(sm.state_dir.glob("*.bad-*"))
    assert len((sm.state_dir / "history").read_text().splitlines()) > len((old / "history").read_text().splitlines())


@pytest.mark.parametrize("case", STAY)
def test_what_was_dead_comes_back(upgraded, case, kept):
    """The upgrade happens while parts are dead; when they are mended the tables are those of the intact tree before it."""
    sim, sm, old = upgraded(case, "dead")
    epoch = sm.wait_epoch(json.loads((old / "status.json").read_text())["epoch"])["epoch"]
    _, _, parts = UPGRADE.CASES[case]
    for part in parts:
        if isinstance(part, tuple):
            sim.relink(*part)
        else:
            sim.relink_node(part)
    sm.sweep()
    sm.wait_status(state="active", dead_links=[], epoch=lambda now: now and now > epoch)
    assert moved(sim, sm, kept / f"{case}-healthy") == set()


def test_entries_move_once(upgraded, fabric, tmp_path):
    """Where homes are others: what is dead stays known, the next start moves nothing, and what comes back finds the intact tree's tables."""
    sim, sm, old = upgraded("thin", "dead")
    epoch = sm.wait_epoch(json.loads((old / "status.json").read_text())["epoch"])["epoch"]
    assert moved(sim, sm, old)
    assert READ in sm.log() and sm.status()["dead_links"] and set(errors(sm)) <= {"F023"}
    tables = sim.run(["dump_fts"], sm.node)
    assert sm.stop() == 0
    again = harness.OpenSM(sim, tmp_path / "sm", node=sm.node, lmc=0)
    fabric.also(again)
    assert again.wait_epoch(epoch)["state"] == "active"
    again.sweep()
    assert sim.run(["dump_fts"], again.node) == tables
    for part in UPGRADE.CASES["thin"][2]:
        sim.relink(*part) if isinstance(part, tuple) else sim.relink_node(part)
    again.sweep()
    again.wait_status(state="active", dead_links=[])
    intact = sim.run(["dump_fts"], again.node)
    assert again.stop() == 0
    learnt = harness.OpenSM(sim, tmp_path / "other", node=sm.node, lmc=0)
    fabric.also(learnt)
    assert learnt.wait_epoch()["servers"] == 18
    learnt.sweep()
    assert sim.run(["dump_fts"], learnt.node) == intact


def test_without_the_order_entries_move(upgraded):
    """What the order is good for: where it is lost while parts are dead, fors takes the tree for a smaller one."""
    sim, sm, old = upgraded("two", "dead", lambda home: (home / "places").unlink())
    sm.wait_epoch(json.loads((old / "status.json").read_text())["epoch"])
    assert moved(sim, sm, old)
    assert READ not in sm.log()


def test_an_order_that_no_version_reads(upgraded):
    """A way back, or a version that is skipped: the log names the file that stays, and the order is learnt from the living fabric."""
    def of_version_1(home):
        (home / "places").write_text((home / "places").read_text().replace("fors-places 2", "fors-places 1"))
    _, sm, old = upgraded("two", "healthy", of_version_1)
    sm.wait_epoch(json.loads((old / "status.json").read_text())["epoch"])
    assert errors(sm) == ["F012"]
    sm.wait_log(r"ERR F012: places:1: a kept order of version 1; this fors reads versions 2 and 3; it is now called places\.bad-1")
