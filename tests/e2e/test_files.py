# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files that fors reads inside opensm: whose they are, how large, and what happens when they do not answer."""
import contextlib
import ctypes
import json
import os
import re
import struct
import time

import pytest

import harness
import oracle
from harness import FatTree
from hung import Hung
from test_order import cut, guid_of, look
from test_plugin import errors


def routes_are_good(sim, sm):
    tables, live = look(sim, sm)
    return oracle.unreached(tables, live) == []


def test_state_folder_that_others_may_write(fabric, tmp_path):
    """It is not used, a request in it is not obeyed, routes go on; when it is mended, it is used."""
    place = tmp_path / "state"
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, fors_conf=f"state_dir = {place}\n")
    sm.wait_log("fors: active")
    folder = next(place.glob("0x*"))
    dead = guid_of(look(sim, sm)[1], "Spine02")
    sim.unlink_node("Spine02")
    sm.wait_log("fors: active.*1 spine affected")
    place.chmod(0o777)
    sm.wait_log(rf"ERR F019: .*others may write {place} .*chmod go-w")
    (folder / "forget").write_text(f"0x{dead:016x}\n")
    mark = sm.log_end()
    cut(sim, tree.uplink(0, 0))
    sm.wait_log("fors: active.*2 uplinks missing", mark)
    assert routes_are_good(sim, sm)
    assert (folder / "forget").exists()
    place.chmod(0o755)
    (folder / "forget").unlink()
    sm.wait_log("the state folder can be written again")
    harness.wait_for(lambda: '"f": 2' in (folder / "status.json").read_text())
    assert errors(sm) == ["F019"]
    assert sm.stop() == 0


def is_fresh(sm):
    """Is the heartbeat younger than ten seconds?"""
    return time.time() - int((sm.state_dir / "heartbeat").read_text().split()[0]) / 1000 < 10 * harness.patience()


def has_remark(word):
    return lambda remarks: any(word in remark for remark in remarks or [])


def test_participants_file_that_hangs(fabric, tmp_path):
    """Cables that fail are routed round all the same, the list of before stays in force, readers are told, and SIGTERM
    ends opensm. When the file answers, what it says then counts."""
    place = tmp_path / "net"
    place.mkdir()
    tree = FatTree(4, 4)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, fors_conf=f"participants_file = {place}/list\n", node="Node03-03")
    sm.wait_log("ERR F001: .*net/list: cannot be opened")
    live = harness.read_live(sim, sm.node)
    ports = sorted(int(guid, 16) for guid in re.findall(r'^\[1\]\(([0-9a-f]+)\)', live.text, re.M))
    assert len(ports) == 16
    (place / "list").write_text("".join(f"0x{guid:016x}\n" for guid in ports[:12]))
    sm.sighup()
    sm.wait_status(state="active", servers=12)
    with Hung(place):
        mark = sm.log_end()
        for number in range(3):
            cut(sim, tree.uplink(number, number))
            harness.wait_for(lambda: routes_are_good(sim, sm), 15)
        sm.wait_status(state="active", servers=12, remarks=has_remark("net/list: has not answered since"))
        assert sm.wait_status(state="active", f=lambda f: f and f > 0)
        assert is_fresh(sm)
        sm.wait_log("ERR F020: .*net/list: has not answered since.*the settings of before stay in force", mark)
    (place / "list").write_text("".join(f"0x{guid:016x}\n" for guid in ports[:10]))
    sm.wait_log("answer again")
    sm.sighup()
    sm.wait_status(state="active", servers=10, remarks=lambda remarks: not has_remark("answered")(remarks))
    with Hung(place):
        mark = sm.log_end()
        sm.sighup()
        sm.wait_log("ERR F020", mark)
        assert sm.stop() == 0
    assert errors(sm).count("F020") == 2


def test_start_without_participants_file(fabric, tmp_path):
    """It hangs when opensm starts: as one that cannot be read."""
    place = tmp_path / "net"
    place.mkdir()
    (place / "list").write_text("")
    with Hung(place):
        sim, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"participants_file = {place}/list\n")
        sm.wait_up()
        sm.wait_status(state="inactive", reason=lambda reason: "net/list: has not answered since" in (reason or ""))
        assert routes_are_good(sim, sm)
    sm.wait_status(state="failed", reason=lambda reason: "no server takes part" in reason)  # as the list says
    assert sm.stop() == 0


@pytest.mark.parametrize("at_start", [True, False])
def test_state_folder_that_hangs(fabric, tmp_path, at_start):
    """Failures are repaired, and opensm ends when it is told to."""
    place = tmp_path / "state"
    place.mkdir()
    tree = FatTree(4, 4)
    options = dict(lmc=2, sweep_interval=1, fors_conf=f"state_dir = {place}\n", node="Node03-03")
    if not at_start:
        sim, sm = fabric(tree, **options)
        sm.wait_log("fors: active")
    with Hung(place):
        if at_start:
            sim, sm = fabric(tree, **options)
            sm.wait_up()
        for number in range(3):
            cut(sim, tree.uplink(number, number))
            harness.wait_for(lambda: routes_are_good(sim, sm), 15)
        sm.wait_log("ERR F020: .*state: has not answered since")
        assert sm.stop() == 0
    assert set(errors(sm)) == {"F020"}


# ---------------------------------------------------------------------------
# Disks that are full

def head_of(schedule):
    """(epoch, phases) of a schedule that readers have."""
    head = schedule.read_bytes()
    return struct.unpack_from("<Q", head, 16)[0], struct.unpack_from("<I", head, 48)[0]


@pytest.fixture
def small_disk(tmp_path):
    """(folder, fill): a file system of its own; fill() takes its last block, and what it returns gives that back."""
    place, libc = tmp_path / "disk", ctypes.CDLL(None)
    place.mkdir()
    if libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, b"size=4m,mode=755"):
        pytest.skip("may not mount a file system here")

    def fill():
        ballast = place / "ballast"
        with open(ballast, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        return ballast.unlink

    yield place, fill
    libc.umount2(os.fsencode(place), 2)


def tells_of_trouble(folder):
    return any("readers have may be old: " in remark for remark in json.loads((folder / "status.json").read_text())["remarks"])


@pytest.mark.parametrize("engine", ["fors", "minhop"])
@pytest.mark.parametrize("which", ["state_dir", "publish_dir"])
def test_a_full_disk_hides_no_withdrawal(fabric, small_disk, tmp_path, engine, which):
    """
    A cut with not a block free: readers see a withdrawal, of a higher epoch. With room again what comes next has a higher epoch still.
    """
    place, fill = small_disk
    tree = FatTree(3, 3)
    (tmp_path / "copies").mkdir()
    conf = {"publish_dir": tmp_path / "copies", which: place}
    sim, sm = fabric(tree, lmc=2, routing_engine=engine, sweep_interval=1,
                     fors_conf="schedule_over = any\n" + "".join(f"{key} = {value}\n" for key, value in conf.items()))
    folder = place if which == "publish_dir" else harness.wait_for(lambda: next(place.glob("0x*"), None), what="the state folder")
    before = harness.wait_for(lambda: head_of(folder / "schedule")[1] and head_of(folder / "schedule"))
    harness.wait_for((folder / "heartbeat").exists)
    give_back = fill()
    sm.wait_log("ERR F01[06]: ")
    for _ in range(3):  # what was half written when the disk became full has given its blocks back
        time.sleep(0.3)
        give_back = fill()
    if which == "publish_dir":  # whose state folder says so; copies of a full state folder cannot
        harness.wait_for(lambda: tells_of_trouble(sm.state_dir), what="the state folder's word")
        assert "cannot be written" in harness.fors("status", sm.state_dir, code=1).stdout
    cable = tree.uplink(1, 1)
    sim.unlink(cable.leaf, cable.leaf_port)
    epoch, _ = harness.wait_for(lambda: head_of(folder / "schedule")[1] == 0 and head_of(folder / "schedule"), 4, "a withdrawal")
    assert epoch > before[0]
    harness.wait_for(lambda: head_of(tmp_path / "copies" / "schedule")[1] == 0 if which == "state_dir" else True, what="its copy")
    harness.fors("status", folder, code=1)
    give_back()
    after = harness.wait_for(lambda: head_of(folder / "schedule")[1] and head_of(folder / "schedule"), what="another plan")
    assert after[0] > epoch
    harness.wait_for(lambda: json.loads((folder / "status.json").read_text())["epoch"] == after[0])
    harness.wait_for(lambda: not tells_of_trouble(sm.state_dir if which == "publish_dir" else folder))


def test_a_read_only_disk_leaves_no_wrong_copy(fabric, small_disk, tmp_path):
    """What the state folder cannot take is not known to the copier: it withdraws what it copied, and copies again later."""
    place, _ = small_disk
    tree, copies, libc = FatTree(3, 3), tmp_path / "copies", ctypes.CDLL(None)
    copies.mkdir()
    sim, sm = fabric(tree, lmc=2, fors_conf=f"state_dir = {place}\npublish_dir = {copies}\n")
    before = harness.wait_for(lambda: (copies / "heartbeat").exists() and head_of(copies / "schedule")[1] and head_of(copies / "schedule"))
    if libc.mount(None, os.fsencode(place), None, 32 | 1, None):  # MS_REMOUNT, MS_RDONLY
        pytest.skip("may not mount a file system again here")
    cable = tree.uplink(1, 1)
    sim.unlink(cable.leaf, cable.leaf_port)
    epoch, _ = harness.wait_for(lambda: head_of(copies / "schedule")[1] == 0 and head_of(copies / "schedule"), what="a withdrawal")
    assert epoch == before[0] + 1
    libc.mount(None, os.fsencode(place), None, 32, None)
    after = harness.wait_for(lambda: head_of(copies / "schedule")[1] and head_of(copies / "schedule"), what="another plan")
    assert after[0] > epoch
    folder, = place.glob("0x*")
    harness.wait_for(lambda: (copies / "schedule").read_bytes() == (folder / "schedule").read_bytes())
