# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""publish_dir on a file system that hangs at no signal: opensm ends, and what hangs is one program without anything of opensm's."""
import os
import signal
import time
from pathlib import Path

import harness
from harness import FatTree
from hung import Hung
from test_order import cut
from test_plugin import errors

TREE = FatTree(4, 4)
ENDS_WITHIN = 7.0  # what fors.conf(5) promises; a machine that is busy may take longer for all else


def helpers(sm):
    """PIDs of helper programs for the state folder of this opensm."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "fors-outbox\n":
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words[1].decode().startswith(str(sm.directory)):
                    found.append(int(entry.name))
        except (OSError, IndexError):
            pass
    return found


def state_of(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def files_of(pid):
    """What a process has open, by name; sockets and pipes by number."""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            pass
    return found


def start(fabric, place, **options):
    place.mkdir(exist_ok=True)
    sim, sm = fabric(TREE, lmc=2, fors_conf=f"publish_dir = {place}\n{options.pop('conf', '')}", node="Node03-03", **options)
    sm.wait_log("fors: active")
    harness.wait_for(lambda: (place / "schedule").exists() and (place / "heartbeat").exists())
    return sim, sm


def hang(sim, sm, number=0):
    """A dead cable is published in the state folder while the copies hang; the helper that does."""
    before = sm.status()["epoch"]
    cut(sim, TREE.uplink(number, number))
    sm.wait_epoch(before)
    time.sleep(0.5)  # FUSE waits in state S until somebody sends SIGKILL, then in D
    pid, = helpers(sm)
    assert state_of(pid) in ("S", "D")
    return pid


def test_what_hangs_is_one_program_without_anything_of_opensm(fabric, tmp_path):
    sim, sm = start(fabric, tmp_path / "net")
    with Hung(tmp_path / "net", is_deaf=False):
        pid = hang(sim, sm)
        theirs, ours = files_of(pid), files_of(sm.process.pid)
        assert set(theirs) <= {0, 1, 2, 3, 4, 5}  # stdin is the socket to opensm, the last ones are folders that it is in
        assert set(theirs.values()) & set(ours.values()) <= {"/dev/null"}
        assert {ino for name, ino in ((name, os.stat(f"/proc/{pid}/fd/{fd}").st_ino) for fd, name in theirs.items()
                                      if not name.startswith(str(tmp_path)))}.isdisjoint(
            os.stat(f"/proc/{sm.process.pid}/fd/{fd}").st_ino for fd, name in ours.items() if name != "/dev/null")
        assert all(state_of(f"{sm.process.pid}/task/{task}") != "D" for task in os.listdir(f"/proc/{sm.process.pid}/task"))
        hang(sim, sm, 1)  # newer ones wait for it, and start no other
        assert helpers(sm) == [pid]
        began = time.monotonic()
        assert sm.stop() == 0
        assert time.monotonic() - began < ENDS_WITHIN + harness.patience() - 1
        harness.wait_for(lambda: state_of(pid) == "D", what="a process that SIGKILL does not end")
        assert f"process {pid} hangs there, and is left behind" in sm.log()
        with harness.OpenSM(sim, tmp_path / "beside", node="Node03-02", lmc=2,
                            fors_conf=f"publish_dir = {tmp_path / 'net'}\n") as other:
            other.wait_log("fors: active")
            cut(sim, TREE.uplink(2, 2))
            other.wait_status(state="active", f=lambda f: f and f > 0)
            assert other.stop() == 0
    harness.wait_for(lambda: state_of(pid) in ("", "Z"), what="the end of the helper")


def test_opensms_one_after_the_other_leave_one_helper(fabric, tmp_path):
    """Each of them finds the one that hangs, says so, and touches nothing; when it is gone the next copies."""
    place = tmp_path / "net"
    sim, sm = start(fabric, place)
    with Hung(place, is_deaf=False):
        pid = hang(sim, sm)
        assert sm.stop() == 0
        for _ in range(2):
            sm = harness.OpenSM(sim, sm.directory, node=sm.node, lmc=2, fors_conf=f"publish_dir = {place}\n")
            mark = sm.log_end()
            sm.wait_log(rf"ERR F016: .*helper of before, process {pid}, hangs", mark)
            assert pid in helpers(sm)
            assert [other for other in helpers(sm) if state_of(other) == "D"] == [pid]
            assert sm.stop() == 0
        sm = harness.OpenSM(sim, sm.directory, node=sm.node, lmc=2, fors_conf=f"publish_dir = {place}\n")
        mark = sm.log_end()
        sm.wait_log("ERR F016", mark)
    sm.wait_log("publish_dir can be written again", mark)
    epoch = sm.status()["epoch"]
    harness.wait_for(lambda: b'"epoch": %d' % epoch in (place / "status.json").read_bytes())
    assert set(errors(sm)) == {"F016"}
    assert sm.stop() == 0
    assert helpers(sm) == []


def test_what_hangs_is_said_and_comes_back(fabric, tmp_path):
    """The same process goes on when the file system answers, with the newest."""
    place = tmp_path / "net"
    sim, sm = start(fabric, place)
    with Hung(place):
        before = sm.status()["epoch"]
        cut(sim, TREE.uplink(0, 0))
        sm.wait_epoch(before)
        sm.wait_log(rf"ERR F016: publish_dir {place}: has not answered for 10 s; process \d+ hangs there", timeout=30)
    sm.wait_log("publish_dir can be written again")
    epoch = sm.status()["epoch"]
    harness.wait_for(lambda: b'"epoch": %d' % epoch in (place / "status.json").read_bytes())
    assert sm.stop() == 0


def test_another_folder_is_served_while_one_hangs(fabric, tmp_path):
    """SIGKILL ends what waits for a server that has not heard of it: then the new folder has its copies at once."""
    sim, sm = start(fabric, tmp_path / "net")
    other = tmp_path / "other"
    other.mkdir()
    with Hung(tmp_path / "net"):
        before = sm.status()["epoch"]
        cut(sim, TREE.uplink(0, 0))
        sm.wait_epoch(before)
        sm.fors_conf.write_text(f"publish_dir = {other}\n")
        sm.sighup()
        harness.wait_for(lambda: (other / "schedule").exists())
        assert len(helpers(sm)) == 1
        assert sm.stop() == 0


def test_a_helper_that_is_killed_is_started_again(fabric, tmp_path):
    place = tmp_path / "net"
    sim, sm = start(fabric, place)
    pid, = helpers(sm)
    os.kill(pid, 9)
    before = (place / "heartbeat").read_text()
    harness.wait_for(lambda: (place / "heartbeat").read_text() != before and helpers(sm) not in ([], [pid]))
    os.kill(helpers(sm)[0], 15)  # as systemd, which ends all of a unit: what is published last shall still arrive
    time.sleep(0.2)
    assert len(helpers(sm)) == 1
    assert sm.stop() == 0
    assert helpers(sm) == []


def test_a_helper_that_is_stopped_is_told_of(fabric, tmp_path):
    """It says nothing of that itself, and readers have what was copied last."""
    place = tmp_path / "net"
    _, sm = start(fabric, place)
    pid, = helpers(sm)
    os.kill(pid, signal.SIGSTOP)
    try:
        sm.wait_log(f"ERR F016: publish_dir: the helper program, process {pid}, has not answered for 15 s")
        sm.wait_status(remarks=lambda remarks: any(f"process {pid}, has not answered" in remark for remark in remarks or []))
    finally:
        os.kill(pid, signal.SIGCONT)
    sm.wait_log("publish_dir can be written again")
    sm.wait_status(remarks=lambda remarks: not any("has not answered" in remark for remark in remarks or []))
    assert sm.stop() == 0
    assert set(errors(sm)) == {"F016"}


def test_no_helper_is_installed(fabric, tmp_path):
    """Said, and nothing else suffers."""
    plugin = tmp_path / "lib"
    plugin.mkdir()
    (plugin / "libfors.so").write_bytes((harness.build_dir() / ".libs" / "libfors.so").read_bytes())
    (tmp_path / "net").mkdir()
    sim, sm = fabric(TREE, lmc=2, fors_conf=f"publish_dir = {tmp_path / 'net'}\n", plugin_dir=plugin)
    sm.wait_log("fors: active")
    installed = Path("/usr/libexec/fors/fors-outbox")
    if not any(path.exists() for path in (installed, Path("/usr/local/libexec/fors/fors-outbox"))):
        sm.wait_log(r"ERR F016: publish_dir .*/net: nothing is copied there: the helper program .*/fors/fors-outbox cannot be "
                    r"started: No such file or directory; is fors installed completely\? \(the state folder is not affected\)")
    before = sm.status()["epoch"]
    cut(sim, TREE.uplink(0, 0))
    sm.wait_epoch(before)
    assert sm.stop() == 0


def test_one_bad_entry_of_jobs_holds_up_no_other(fabric, tmp_path):
    place = tmp_path / "net"
    (place / "jobs").mkdir(parents=True)
    (place / "jobs" / "bad").write_text("a plain file, where a folder belongs\n")
    (place / "jobs" / "gone").symlink_to("/nowhere")
    (place / "jobs" / "odd" / "schedule").mkdir(parents=True)
    names = ["bad", "good", "gone", "last", "odd"]
    file = tmp_path / "jobs"
    file.write_text("".join(f"{name}: Node0{n % 4}-00, Node0{n % 4}-01, Node0{(n + 1) % 4}-02\n" for n, name in enumerate(names[:4])) +
                    "odd: Node00-03, Node01-03\n")
    sim, sm = fabric(TREE, lmc=2, fors_conf=f"publish_dir = {place}\njobs_file = {file}\n")
    for name in ("good", "last"):
        harness.wait_for(lambda: (place / "jobs" / name / "schedule").is_file(), what=name)
    for name in ("bad", "gone", "odd"):
        sm.wait_log(rf"ERR F016: .*jobs/{name}.*\(job {name}; the state folder and other jobs are not affected\)")
        assert (sm.state_dir / "jobs" / name / "schedule").is_file()
    (place / "jobs" / "bad").unlink()
    sm.wait_log("the copies of job bad can be written again")
    assert (place / "jobs" / "bad" / "schedule").is_file()
    assert sm.log().count("(job gone;") == 1
    assert sm.stop() == 0


def test_folders_that_others_planted_are_nobodys_jobs(fabric, tmp_path):
    """Counted: no folder more in the state folder, no epoch more, no file opened for writing in any of them."""
    place = tmp_path / "net"
    planted = [place / "jobs" / f"{n:05}" for n in range(2000)]
    for folder in planted:
        folder.mkdir(parents=True)
    (planted[7] / "schedule").write_text("FORSschd")
    file = tmp_path / "jobs"
    file.write_text("one: Node00-00, Node01-00, Node02-00\n")
    sim, sm = fabric(TREE, lmc=2, fors_conf=f"publish_dir = {place}\njobs_file = {file}\n")
    harness.wait_for(lambda: (place / "jobs" / "one" / "schedule").exists())
    before = sm.status()["epoch"]
    cut(sim, TREE.uplink(0, 0))
    sm.wait_epoch(before)
    time.sleep(5)  # all of them are looked at within that
    assert os.listdir(sm.state_dir / "jobs") == ["one"]
    assert all(os.listdir(folder) == (["schedule"] if folder == planted[7] else []) for folder in planted)
    assert (planted[7] / "schedule").read_text() == "FORSschd"
    assert len(sm.status()["jobs"]) == 1
    assert errors(sm) == []
    assert sm.stop() == 0
