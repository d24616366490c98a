# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Epochs only grow: files planted, damaged or absurd, clocks that are behind, opensm killed at any moment.

`make kills KILLS=100 [SEED=n]` in the build folder kills it more often; FORS_KILLS and FORS_SEED are the same.
"""
import json
import os
import random
import re
import signal
import struct
import threading
import time
import zlib

import pytest

import harness
from harness import FatTree
from test_order import start_again
from test_plugin import assert_good, errors

HEADER = struct.Struct("<8sIIQQQ10I4QII16s128sII")  # see schedule_format.h
assert HEADER.size == 272
NEGATIVE, LARGEST = 2**63 + 16, 2**64 - 1  # as signed number, as unsigned one


def now():
    return int(time.time() * 1000)


def withdrawn(epoch, is_right=True):
    """A schedule without phases as bytes, with a right checksum or none."""
    head = HEADER.pack(b"FORSschd", 0x01020304, 1, epoch, 272, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 1, 272, 272, 272, 272, 0, 0, b"",
                       b"planted", 0, 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(head) ^ (not is_right))


def epoch_of(data):
    """The epoch of a whole schedule; an AssertionError when any of it is torn."""
    head = HEADER.unpack_from(data)
    nphases, nrows, cell_size = head[8], head[13], head[14]
    servers, lanes, crcs, cells = head[16:20]
    assert head[0] == b"FORSschd" and head[4] == len(data) == cells + nrows * nphases * cell_size
    assert head[-1] == zlib.crc32(data[:268])
    assert head[20] == zlib.crc32(data[servers:lanes]) and head[21] == zlib.crc32(data[lanes:crcs])
    for row in range(nrows):
        begin = cells + row * nphases * cell_size
        assert struct.unpack_from("<I", data, crcs + 4 * row)[0] == zlib.crc32(data[begin:begin + nphases * cell_size])
    return head[3]


def status_epoch(data):
    return json.loads(data)["epoch"]


def heartbeat_epoch(data):
    return int(re.fullmatch(rb"\d+ (\d+)\n", data).group(1))


# From what says last to what is written first: a reader in this order finds no file with an earlier epoch than the one before.
FILES = (("heartbeat", heartbeat_epoch), ("status.json", status_epoch), ("schedule", epoch_of))


def test_these_readers():
    """The reader here sees damage, and its writer writes what it reads."""
    data = withdrawn(5)
    assert epoch_of(data) == 5
    for bad in (data[:-1], data + b"x", withdrawn(5, False)):
        with pytest.raises((AssertionError, struct.error)):
            epoch_of(bad)


# ---------------------------------------------------------------------------
# Planted files

def peak_memory(sm):
    """Of opensm, in kB."""
    text = harness.Path(f"/proc/{sm.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1))


@pytest.mark.parametrize("kind", ["damaged-largest", "damaged-negative", "right-largest", "right-negative", "sparse"])
def test_schedule_planted_in_publish_dir(fabric, tmp_path, kind):
    """It is named and replaced; epochs are the clock's, and everybody has them."""
    place = tmp_path / "nfs"
    place.mkdir()
    epoch = LARGEST if "largest" in kind else NEGATIVE if "negative" in kind else now() + 1000
    (place / "schedule").write_bytes(withdrawn(epoch, "damaged" not in kind))
    if kind == "sparse":
        os.truncate(place / "schedule", 2**30)
    before = now()
    sim, sm = fabric(FatTree(3, 3), lmc=2, fors_conf=f"publish_dir = {place}\n")
    sm.wait_log(f"ERR F018: {place}/schedule: ")
    status = sm.wait_epoch(before - 1)
    assert status["epoch"] <= now()
    harness.wait_for(lambda: (place / "schedule").read_bytes() == sm.schedule_file.read_bytes())
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == status["epoch"])
    assert peak_memory(sm) < 500000
    assert errors(sm) == ["F018"]
    assert_good(sim, sm)


def test_schedule_planted_while_opensm_runs(fabric, tmp_path):
    """The next heartbeat that is copied brings the real one back."""
    place = tmp_path / "nfs"
    place.mkdir()
    _, sm = fabric(FatTree(2, 2), lmc=1, fors_conf=f"publish_dir = {place}\n")
    epoch = sm.wait_epoch()["epoch"]
    # whatever is being carried there just then is written without another look
    harness.wait_for(lambda: (place / "heartbeat").exists() and (place / "heartbeat").read_text().split()[1] == str(epoch))
    harness.wait_for(lambda: json.loads((place / "status.json").read_text())["epoch"] == epoch)
    time.sleep(0.2)
    (place / "planted").write_bytes(withdrawn(NEGATIVE))
    (place / "planted").rename(place / "schedule")
    harness.wait_for(lambda: (place / "schedule").read_bytes() == sm.schedule_file.read_bytes())
    sm.wait_log("ERR F018: ")
    assert errors(sm) == ["F018"] and sm.status()["epoch"] == epoch


def test_poisoned_state_folder_heals(fabric):
    """What an opensm left that had believed an absurd epoch."""
    sim, sm = fabric(FatTree(2, 2), lmc=1)
    sm.wait_epoch()
    sm.stop()
    status = sm.status()
    sm.schedule_file.write_bytes(withdrawn(NEGATIVE))
    (sm.state_dir / "status.json").write_text(json.dumps(dict(status, epoch=None)))
    (sm.state_dir / "heartbeat").write_text(f"{now()} {NEGATIVE}\n")
    mark, before = sm.log_end(), now()
    again = start_again(fabric, sm, lmc=1)
    healed = again.wait_epoch(before - 1)
    assert healed["epoch"] <= now() and epoch_of(again.schedule_file.read_bytes()) == healed["epoch"]
    assert errors(again, mark) == ["F011", "F011"]
    for name in ("schedule", "heartbeat"):
        assert f"{sm.state_dir}/{name}: epoch {NEGATIVE} cannot be right" in again.log(mark)
    harness.wait_for(lambda: heartbeat_epoch((again.state_dir / "heartbeat").read_bytes()) == healed["epoch"])
    assert_good(sim, again)


@pytest.mark.parametrize("daemon", ["status.json", "heartbeat"])
def test_damaged_schedule_and_clock_behind(fabric, daemon):
    """One file of the three has the epoch that readers know, a day ahead of this clock: the next one is above it."""
    _, sm = fabric(FatTree(2, 2), lmc=1)
    sm.wait_epoch()
    sm.stop()
    ahead = now() + 86400000
    sm.schedule_file.write_bytes(withdrawn(ahead)[:100])
    (sm.state_dir / "status.json").write_text(json.dumps(dict(sm.status(), epoch=ahead if daemon == "status.json" else 5)))
    (sm.state_dir / "heartbeat").write_text(f"{now()} {ahead if daemon == 'heartbeat' else 5}\n")
    mark = sm.log_end()
    again = start_again(fabric, sm, lmc=1)
    assert again.wait_epoch(5)["epoch"] > ahead
    assert epoch_of(again.schedule_file.read_bytes()) > ahead
    assert errors(again, mark) == ["F011"]


# ---------------------------------------------------------------------------
# Killed at any moment

class Watcher(threading.Thread):
    """Reads all files of both folders all the time: whole ones, and no epoch smaller than one before."""

    def __init__(self, state_dir, publish_dir):
        super().__init__(daemon=True)
        self.state_dir, self.folders = state_dir, (state_dir, publish_dir)
        self.highest = {}    # (folder, file) -> epoch
        self.looks = 0
        self.damaged = set()  # what the test itself made of the schedule of the state folder; nobody may have mended it for a while
        self.complaint = None
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set() and not self.complaint:
            for folder in self.folders:
                lowest = 0  # in the state folder; copies are only as new as the last one that was carried over
                for name, read in FILES:
                    lowest = max(lowest if folder == self.state_dir else 0, self.look_at(folder, name, read, lowest))
            time.sleep(0.001)

    def look_at(self, folder, name, read, lowest):
        """The epoch of a file, 0 for none; it should not be below `lowest`, nor below what it was."""
        try:
            data = (folder / name).read_bytes()
            if data in self.damaged:
                return 0
            epoch = read(data) or 0
        except FileNotFoundError:
            return 0
        except Exception as why:  # whatever it is, it is torn
            self.complaint = f"{folder}/{name} is torn: {why!r}, {data[:300]!r}"
            return 0
        if epoch and epoch < max(lowest, self.highest.get((folder, name), 0)):
            self.complaint = f"{folder}/{name}: epoch {epoch} after {lowest}, {self.highest}"
        self.highest[folder, name] = epoch
        self.looks += 1
        return epoch

    def stop(self):
        self.ended.set()
        self.join()


def disturb(sim, tree, rng):
    """Pull or plug a cable, one of two that are enough for changes and too few to part anything."""
    cable = tree.uplink(rng.randrange(2), 0)
    (sim.unlink if (cable.leaf, cable.leaf_port) in sim.snapshot().cable else sim.relink)(cable.leaf, cable.leaf_port)


def damage(sm, watcher, rng):
    """What a crash of the machine may do to the schedule: the other two files know its epoch."""
    data = sm.schedule_file.read_bytes()
    damaged = rng.choice([data[:rng.randrange(1, len(data))], rng.randbytes(len(data)), data[:-1] + bytes([data[-1] ^ 1])])
    watcher.damaged.add(damaged)
    planted = sm.schedule_file.with_name("damaged")
    planted.write_bytes(damaged)
    planted.rename(sm.schedule_file)


def live_and_die(sim, sm, tree, rng, epoch):
    """Some changes, or none, and then the end, in the middle of whatever it does. The highest epoch that was waited for."""
    if rng.randrange(3):
        epoch = sm.wait_epoch(epoch, 60)["epoch"]
        for _ in range(rng.randrange(3)):
            disturb(sim, tree, rng)
            time.sleep(rng.random() * 0.4)
    else:
        time.sleep(rng.random() * 2)
    sm.check_alive()
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    sm.stop()
    return epoch


def test_killed_at_random_moments(fabric, tmp_path):
    """The clock is an hour behind what is published, so that only files make epochs grow; now and then one is damaged."""
    kills, seed = int(os.environ.get("FORS_KILLS") or 8), int(os.environ.get("FORS_SEED") or random.randrange(10**6))
    print(f"{kills} kills, seed {seed}")
    rng, place, tree = random.Random(seed), tmp_path / "nfs", FatTree(3, 4)
    place.mkdir()
    options = {"lmc": 2, "fors_conf": f"publish_dir = {place}\n", "sweep_interval": 1}
    sim, sm = fabric(tree, node="Node03-02", **options)
    sm.wait_epoch()
    sm.stop()
    epoch = now() + 3600000
    (sm.state_dir / "heartbeat").write_text(f"{now()} {epoch}\n")
    for name in ("schedule", "status.json"):  # which are older
        (sm.state_dir / name).unlink()
    watcher = Watcher(sm.state_dir, place)
    watcher.start()
    try:
        for _ in range(kills):
            sm = start_again(fabric, sm, **options)
            epoch = live_and_die(sim, sm, tree, rng, epoch)
            assert not watcher.complaint, watcher.complaint
            if not rng.randrange(3) and sm.schedule_file.exists() and (sm.state_dir / "status.json").exists():
                damage(sm, watcher, rng)
        sm = start_again(fabric, sm, **options)
        sm.wait_epoch(max(epoch, *watcher.highest.values()), 60)
        harness.wait_for(lambda: (place / "schedule").read_bytes() == sm.schedule_file.read_bytes())
    finally:
        watcher.stop()
    assert not watcher.complaint, watcher.complaint
    assert watcher.looks > kills
    print(f"{watcher.looks} looks, from {epoch - now()} ms ahead")
