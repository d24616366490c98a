# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""publish_dir and publish_command, and what happens to the state folder while opensm runs."""
import ctypes
import json
import os
import re
import shutil
import subprocess
import time

import pytest

import harness
import oracle
from harness import FatTree
from test_order import start_again
from test_plugin import assert_good, errors, take_over, withdrawn_reason

PTRACE_SEIZE, WALL = 0x4206, 0x40000000


def test_copies_and_command(fabric, tmp_path):
    """The copies are the state folder's files; the command sees them, with an environment of its own."""
    place = tmp_path / "nfs"
    place.mkdir()
    out = tmp_path / "out"
    tree = FatTree(3, 3)
    # A run for `planning` may be overtaken by the next publication in the midst of cmp: only what `active` saw has to be the same.
    sim, sm = fabric(tree, lmc=2, fors_conf=f"publish_dir = {place}\npublish_command = (env && ls -l /proc/self/fd && "
                                            f"{{ cmp $FORS_STATE_DIR/schedule $FORS_PUBLISH_DIR/schedule || echo differs; }} && "
                                            f"echo done $FORS_STATE $FORS_EPOCH) >> {out}\n")
    epoch = sm.wait_epoch()["epoch"]
    harness.wait_for(lambda: out.exists() and f"done active {epoch}\n" in out.read_text())
    seen = out.read_text()
    assert f"differs\ndone active {epoch}\n" not in seen
    assert "FORS_STATE=active\n" in seen and "LD_PRELOAD" not in seen and "opensm.log" not in seen
    for name in ("schedule", "status.json", "metrics.prom"):
        harness.wait_for(lambda: (place / name).read_bytes() == (sm.state_dir / name).read_bytes())
    harness.wait_for(lambda: (place / "heartbeat").exists() and str(epoch) in (place / "heartbeat").read_text())
    cable = tree.uplink(1, 1)
    sim.unlink(cable.leaf, cable.leaf_port)
    epoch = sm.wait_status(state="active", f=1)["epoch"]
    harness.wait_for(lambda: f"done active {epoch}\n" in out.read_text())
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == epoch)
    names = [".schedule.withdrawn", "heartbeat", "metrics.prom", "schedule", "status.json"]
    harness.wait_for(lambda: sorted(path.name for path in place.iterdir()) == names)  # a copy of the status may be under way
    assert sm.stop() == 0
    assert json.loads((place / "status.json").read_text())["state"] == "inactive"
    assert errors(sm) == []


def test_folder_that_comes_and_goes(fabric, tmp_path):
    """Not mounted, mounted, gone, another one: said once each, and nothing else suffers."""
    place, other = tmp_path / "nfs", tmp_path / "other"
    sim, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"publish_dir = {place}\n")
    sm.wait_epoch()
    sm.wait_log("ERR F016: .*nfs")
    assert not place.exists()
    place.mkdir()
    sm.wait_log("publish_dir can be written again")
    assert json.loads((place / "status.json").read_text())["state"] == "active"
    shutil.rmtree(place)
    other.mkdir()
    sm.fors_conf.write_text(f"publish_dir = {other}\n")
    sm.sighup()
    harness.wait_for(lambda: (other / "schedule").exists())
    assert (other / "schedule").read_bytes() == sm.schedule_file.read_bytes()
    assert_good(sim, sm)


def test_what_is_taken_out_of_the_folder_comes_again(fabric, tmp_path):
    """All of it removed, and the folder made anew, while nothing changes on the fabric."""
    place = tmp_path / "nfs"
    place.mkdir()
    _, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"publish_dir = {place}\n")
    sm.wait_epoch()

    def is_copied():
        return all((place / name).read_bytes() == (sm.state_dir / name).read_bytes() for name in ("schedule", "status.json"))

    harness.wait_for(is_copied)
    for path in place.iterdir():
        path.unlink()
    harness.wait_for(is_copied)
    shutil.rmtree(place)
    place.mkdir()
    harness.wait_for(is_copied)
    assert sm.stop() == 0


def test_command_that_does_not_end(fabric, tmp_path):
    """It is killed with its children; the heartbeat goes on, sweeps and epochs too."""
    marker = f"3{os.getpid()}"
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, fors_conf=f"publish_command = sleep {marker} & sleep {marker}; wait\npublish_seconds = 1\n")
    sm.wait_epoch()
    heartbeat = sm.state_dir / "heartbeat"
    beats = {heartbeat.read_text()} if heartbeat.exists() else set()
    cable = tree.uplink(0, 0)
    sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", f=1)
    sm.wait_log("ERR F017: .*publish_command did not end within 1 s")
    harness.wait_for(lambda: beats.add(heartbeat.read_text()) or len(beats) > 1, 15)
    started = time.time()
    assert sm.stop() == 0 and time.time() - started < 10 * harness.patience()
    found = subprocess.run(["pgrep", "-f", f"^sleep {marker}"], capture_output=True, text=True).stdout
    assert found == ""


def test_command_that_nothing_ends(fabric, tmp_path):
    """
    A process that hangs in the kernel: here one that somebody traces, who does not let its parent know that it is dead.
    The log names it, the next epoch has its command, and opensm ends.
    """
    stuck, out = tmp_path / "stuck", tmp_path / "out"
    tree = FatTree(3, 3)
    command = f"cd {tmp_path}; [ -e stuck ] && exec echo $FORS_EPOCH >> out; echo $$ > stuck; exec sleep 300"
    sim, sm = fabric(tree, lmc=2, fors_conf=f"publish_command = {command}\npublish_seconds = 5\n")
    sm.wait_epoch()
    harness.wait_for(lambda: stuck.exists() and stuck.read_text().endswith("\n"))
    pid = int(stuck.read_text())
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_SEIZE, pid, None, None):
        pytest.skip(f"ptrace: {os.strerror(ctypes.get_errno())}")
    try:
        sm.wait_log(f"ERR F017: publish_command does not end though killed; it is left behind as process group {pid}: ")
        cable = tree.uplink(0, 0)
        sim.unlink(cable.leaf, cable.leaf_port)
        epoch = sm.wait_status(state="active", f=1)["epoch"]
        harness.wait_for(lambda: out.exists() and str(epoch) in out.read_text().split())
        assert sm.stop() == 0
        assert set(errors(sm)) == {"F017"}
    finally:
        os.waitpid(pid, WALL)


def test_command_that_fails(fabric):
    _, sm = fabric(FatTree(2, 2), lmc=1, fors_conf="publish_command = exit 7\n")
    sm.wait_epoch()
    sm.wait_log("ERR F017: publish_command ended with exit status 7")
    assert set(errors(sm)) == {"F017"}


def test_command_in_a_file_that_others_may_write(fabric):
    """fors declines at the start; later the settings of before stay."""
    _, sm = fabric(FatTree(2, 2), lmc=1, fors_conf="# fine\n")
    sm.wait_epoch()
    sm.fors_conf.write_text("publish_command = true\n")
    sm.fors_conf.chmod(0o666)
    sm.sighup()
    sm.wait_log("ERR F001: .*fors.conf:1: publish_command: refused.*stay in force")


def test_epoch_grows_over_a_clock_that_is_behind(fabric, tmp_path):
    """A schedule of a later epoch lies there: of another subnet manager, whose clock was ahead."""
    place = tmp_path / "nfs"
    place.mkdir()
    tree = FatTree(2, 2)
    sim, first = fabric(tree, lmc=1, fors_conf=f"publish_dir = {place}\n")
    epoch = first.wait_epoch()["epoch"]
    harness.wait_for(lambda: (place / "schedule").exists())
    first.stop()
    ahead = int((time.time() + 3600) * 1000)
    stamp = harness.build_dir() / "tests" / "cli" / "stamp_schedule"
    subprocess.run([stamp, place / "schedule", str(ahead)], check=True)
    second = harness.OpenSM(sim, tmp_path / "second", lmc=1, fors_conf=f"publish_dir = {place}\n")
    fabric.also(second)
    status = second.wait_epoch(ahead)
    assert status["epoch"] > ahead > epoch
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == status["epoch"])
    assert (place / "schedule").read_bytes() == second.schedule_file.read_bytes()
    assert_good(sim, second)


# ---------------------------------------------------------------------------
# The state folder

def test_state_folder_is_removed_while_opensm_runs(fabric):
    """It is made again, and everything in it, with the next heartbeat; also what an earlier opensm had written."""
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2)
    sm.wait_epoch()
    folder = sm.state_dir
    folder.parent.rename(folder.parent.with_name("gone"))
    harness.wait_for(lambda: (folder / "schedule").exists() and (folder / "status.json").exists(), 20)
    assert sm.wait_epoch()["phases"] == 9
    assert_good(sim, sm)
    epoch = sm.status()["epoch"]
    sm.stop()
    start_again(fabric, sm, lmc=2).wait_epoch(epoch)
    folder.rename(folder.with_name("gone too"))
    harness.wait_for(lambda: (folder / "places").exists(), 20)


def test_state_folder_is_full(fabric, tmp_path):
    """A file system of a few kilobytes: said once, the routes are right, and it is filled when there is room."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", place], capture_output=True)
    if done.returncode:
        pytest.skip("may not mount a tmpfs here")
    try:
        (place / "ballast").write_bytes(bytes(12 * 1024))
        _, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"state_dir = {place}/fors\n")
        sm.wait_log("ERR F010: .*No space left")
        sm.wait_log("fors: active")
        sm.wait_up()
        subprocess.run(["mount", "-o", "remount,size=4m", place], check=True)
        sm.wait_log("the state folder can be written again")
        folder, = (place / "fors").iterdir()
        harness.wait_for(lambda: json.loads((folder / "status.json").read_text())["state"] == "active")
        assert errors(sm).count("F010") == 1
        sm.stop()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_state_folder_is_read_only(fabric, tmp_path):
    """A file system that was mounted read-only, after an error of its disk for instance."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", place], capture_output=True).returncode:
        pytest.skip("may not mount a tmpfs here")
    try:
        _, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"state_dir = {place}/fors\n")
        sm.wait_log("ERR F010: .*Read-only file system")
        sm.wait_log("fors: active")
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)
        sm.wait_log("the state folder can be written again")
        assert errors(sm).count("F010") == 1
        sm.stop()
    finally:
        subprocess.run(["umount", "-l", place], check=True)


# ---------------------------------------------------------------------------
# Withdrawal

def test_handover_leaves_the_new_masters_copies(fabric, tmp_path, monkeypatch):
    """Both write to one folder; the old master withdraws its own state folder only."""
    place = tmp_path / "nfs"
    place.mkdir()
    conf = f"publish_dir = {place}\n"
    start, kind = harness.OpenSM.__init__, harness.OpenSM
    monkeypatch.setattr(kind, "__init__", lambda self, *a, **o: start(self, *a, **dict(o, fors_conf=conf)))
    sim, sm, epoch, other = take_over(fabric, tmp_path)
    status = other.wait_epoch()
    sm.wait_status(10, state="inactive")
    withdrawn_reason(sm)
    heart = (sm.state_dir / "heartbeat").read_text()
    time.sleep(1.5)
    assert (place / "schedule").read_bytes() == other.schedule_file.read_bytes()
    assert json.loads((place / "status.json").read_text())["epoch"] == other.status()["epoch"] >= status["epoch"] > epoch
    assert (sm.state_dir / "heartbeat").read_text() == heart


def test_failed_initialisation_and_back(fabric):
    """
    A spine's partition keys cannot be read: the tables are in the switches, and yet OpenSM ends sweep after sweep with
    errors. The schedule that no longer fits is withdrawn, nothing new is published over it, and that is said once.
    """
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, node="Node02-00", max_wire_smps=4, transaction_timeout=50,
                     transaction_retries=1)
    epoch = sm.wait_epoch()["epoch"]
    sm.wait_up()  # which may come after the epoch
    mark = sm.log_end()
    sim.command('Error "Spine01" 100 22')  # of every 100 packets for its P_Key tables, drop 100
    sim.unlink(*tree.uplink(0, 1)[:2])
    harness.wait_for(lambda: sm.log(mark).count("ERRORS DURING INITIALIZATION") >= 3, what="three sweeps with errors")
    assert "SUBNET UP" not in sm.log(mark) and "Set method failed" not in sm.log(mark)
    status = sm.wait_status(state="planning", reason=lambda reason: "met errors" in reason)
    assert status["epoch"] > epoch and status["dead_links"][0]["a"] == "Leaf00"
    withdrawn_reason(sm)
    tables, live = harness.read_tables(sim, sm.node), harness.read_live(sim, sm.node)
    assert oracle.unreached(tables, live) == []
    heartbeat = sm.state_dir / "heartbeat"
    beats = {heartbeat.read_text()}
    harness.wait_for(lambda: beats.add(heartbeat.read_text()) or len(beats) > 1, 15)
    assert len(re.findall("fors: planning: ", sm.log(mark))) <= 2, sm.log(mark)
    assert errors(sm, mark) == []
    sim.command('Error "Spine01" 0')
    assert sm.wait_epoch(status["epoch"])["servers"] == 9
    assert_good(sim, sm)


def test_no_fallback_keeps_the_heartbeat(fabric):
    """fors declines, nobody else routes: withdrawn, and somebody still stands behind that."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, routing_engine="fors,no_fallback", node="Node02-00")
    epoch = sm.wait_epoch()["epoch"]
    for cable in (tree.uplink(0, 0), tree.uplink(1, 1)):
        sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="inactive")
    assert status["epoch"] > epoch and "Leaf00" in withdrawn_reason(sm)
    heartbeat = sm.state_dir / "heartbeat"
    harness.wait_for(lambda: heartbeat.exists() and heartbeat.read_text().endswith(f" {status['epoch']}\n"), 15)


def test_console_reroute_when_another_engine_takes_over(fabric):
    """A reroute after which fors has nothing to say any more: it declines, the schedule goes."""
    tree = FatTree(2, 3)
    sim, sm = fabric(tree, lmc=1, routing_engine="fors,updn", console="local", node="Node02-00", fors_conf="# fine\n")
    epoch = sm.wait_epoch()["epoch"]
    mark = sm.log_end()
    sm.console("reroute")
    sm.wait_log("fors tables configured", mark)
    assert sm.status()["epoch"] == epoch
    cut = [tree.uplink(0, 0), tree.uplink(1, 1)]
    for cable in cut:
        sim.unlink(cable.leaf, cable.leaf_port)
    status = sm.wait_status(state="inactive")
    mark = sm.log_end()
    sm.console("reroute")
    sm.wait_log("updn tables configured|minhop tables configured", mark)
    time.sleep(0.3)
    assert sm.status()["state"] == "inactive" and sm.status()["epoch"] == status["epoch"]
    assert "Leaf00" in withdrawn_reason(sm)


def test_update_of_opensm_refuses_the_plugin(fabric, tmp_path):
    """What a reader sees: the old schedule, and a heartbeat that has stopped; fors status says so."""
    other = harness.built("tests/e2e/other/libfors.la").parent / ".libs"
    tree = FatTree(2, 2)
    sim, sm = fabric(tree, lmc=1)
    epoch = sm.wait_epoch()["epoch"]
    folder = sm.state_dir
    harness.wait_for(lambda: (folder / "heartbeat").exists())
    os.kill(sm.process.pid, 9)  # no word of farewell
    sm.process.wait()
    updated = harness.OpenSM(sim, sm.directory, lmc=1, plugin_dir=other)
    fabric.also(updated)
    updated.wait_log("OpenSM version mismatch")
    updated.wait_log("minhop tables configured")
    beat = (folder / "heartbeat").read_text()
    assert json.loads((folder / "status.json").read_text())["epoch"] == epoch
    (folder / "heartbeat").write_text(f"{int(time.time() * 1000) - 120000} {epoch}\n")  # two minutes later
    done = harness.fors("status", folder, code=1)
    assert "doubtful" in done.stdout and "version mismatch" in done.stdout and "heartbeat" in done.stdout, beat


@pytest.mark.parametrize("is_named", [True, False])
def test_roll_back(fabric, tmp_path, is_named):
    """The lines taken out, then restarted: nothing follows a schedule over another engine's tables, and nobody misses a heartbeat."""
    place = tmp_path / "nfs"
    place.mkdir()
    _, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"publish_dir = {place}\n")
    epoch = sm.wait_epoch()["epoch"]
    harness.wait_for((place / "heartbeat").exists)
    kept = "event_plugin_name other fors\n" if is_named else "# event_plugin_name fors\n"
    sm.conf.write_text("routing_engine minhop\n" + kept)
    assert sm.stop() == 0
    shown = harness.fors("status", sm.state_dir, code=None)
    for folder in (sm.state_dir, place):
        schedule = (folder / "schedule").read_bytes()
        assert (schedule[48:52] == bytes(4)) != is_named  # its phases
        assert f"fors_has_left{{fabric=\"{sm.state_dir.name}\"}} {0 if is_named else 1}\n" in (folder / "metrics.prom").read_text()
    assert (json.loads((place / "status.json").read_text())["epoch"] == epoch) == is_named
    assert shown.returncode == (1 if is_named else 0), shown.stdout
