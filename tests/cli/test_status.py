# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors status: from state folders as the plugin leaves them."""
import json
import os
import re
import time

import pytest

EPOCH = int(time.time() * 1000) - 600_000


def beat(path, seconds):
    (path / "heartbeat").write_text(f"{int((time.time() - seconds) * 1000)} {EPOCH}\n")


@pytest.fixture
def folder(fors, tmp_path, stamp):
    """make(name, state): a state folder with one dead cable."""

    def make(name="0x0002c90300001234", state="active", **changes):
        path = tmp_path / "fors" / name
        path.mkdir(parents=True)
        plan = fors("plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf01[6]", "--json", "--output", path / "schedule")
        status = {**json.loads(plan.out), "epoch": EPOCH, "state": state, **changes}
        (path / "status.json").write_text(json.dumps(status))
        beat(path, 2)
        stamp(path / "schedule", EPOCH)
        return path

    return make


def test_active(fors, folder):
    out = fors("status", folder()).out
    for text in ["active", "Leaf01[6] - Spine01[2]", "100.0 % of full", "nothing is lost", "min ago", "heartbeat",
                 str(EPOCH)]:
        assert text in out
    assert "doubtful" not in out and "\033" not in out


def test_cost(fors, folder):
    out = fors("status", folder(phases=20, lower_bound=18, lmc_needed=2)).out
    assert "80.0 % of full; 20.0 % is lost" in out and "LMC 2 would allow fewer" in out


def test_json_is_status_json(fors, folder):
    path = folder()
    assert json.loads(fors("status", path, "--json").out) == json.loads((path / "status.json").read_text())


def test_warnings(fors, folder):
    out = fors("status", folder(remarks=["Leaf00[5] stays in use", "no node Leaf77"])).out
    assert re.search(r"^warning {5}Leaf00\[5\] stays in use\n {12}no node Leaf77$", out, re.M)


def test_tables_of_another_engine(fors, folder):
    unknown = dict.fromkeys(["leaves", "spines", "f", "affected_spines", "dead_links", "dead_since_ms", "degraded_links",
                             "excluded_links", "held_links"])
    path = folder(tables_by="minhop", phases=20, lower_bound=20, remarks=["nothing is drained"], **unknown)
    out = fors("status", path).out
    assert re.search(r"^fabric {6}16 servers$", out, re.M)
    assert re.search(r"^tables {6}by minhop, not by fors: no link is drained, excluded or held down$", out, re.M)
    assert "20 phases (bound of these tables 20)" in out and out.count("nothing is drained") == 1
    assert "tables  " not in fors("status", folder("0x0002c90300001235", tables_by="fors")).out


@pytest.mark.parametrize("state", ["inactive", "planning", "failed"])
def test_not_active(fors, folder, state):
    out = fors("status", folder(state=state, reason="because of this"), code=1).out
    assert f"{state}: because of this" in out


def test_doubts(fors, folder, stamp):
    path = folder()
    beat(path, 3600)
    assert "heartbeat is old" in fors("status", path, code=1).out
    for text in ["nonsense", "", "-5 1\n", "12\n", f"{EPOCH} -1\n", f"{EPOCH + 600_000} 1", f"{10**23} 1\n"]:
        (path / "heartbeat").write_text(text)
        assert "heartbeat cannot be understood" in fors("status", path, code=1).out
    (path / "heartbeat").unlink()
    assert "there is no heartbeat" in fors("status", path, code=1).out
    beat(path, -5)
    stamp(path / "schedule", EPOCH + 1)
    assert "different epochs" in fors("status", path, code=1).out
    stamp(path / "schedule", EPOCH, "gone")
    assert "withdrawn" in fors("status", path, code=1).out
    (path / "schedule").unlink()
    assert "no schedule" in fors("status", path, code=1).out


def test_a_heartbeat_of_the_future_is_no_sign_of_life(fors, folder):
    """The subnet manager's clock was a year ahead; it was killed, and the clock corrected. Seconds do not count."""
    path = folder()
    for ahead in [365 * 86400, 40]:
        beat(path, -ahead)
        out = fors("status", path, code=1).out
        assert "doubtful" in out and "heartbeat is in the future" in out and "set the clocks right" in out
        assert re.search(r"^heartbeat   \d+ (days|s) in the future$", out, re.M)
    (path / "heartbeat").write_text(f"{2**64 - 1} {EPOCH}\n")
    assert "in the future" in fors("status", path, code=1).out
    fors("status", path, "--json", code=1)
    beat(path, -20)
    out = fors("status", path).out
    assert "doubtful" not in out and "heartbeat   0 s ago" in out


def test_all_folders(fors, folder, tmp_path):
    folder("0x01")
    env = {"OSM_CACHE_DIR": str(tmp_path)}
    assert fors("status", env=env).out.count("state ") == 1
    folder("0x02", state="failed")
    for args in ([], [tmp_path / "fors"]):
        out = fors("status", *args, env=env, code=1).out
        assert "0x01" in out and "0x02" in out and "active" in out and "failed" in out
    both = json.loads(fors("status", "--json", env=env, code=1).out)
    assert [os.path.basename(s["state_dir"]) for s in both] == ["0x01", "0x02"]
    (tmp_path / "fors/0x01/status.json").unlink()
    result = fors("status", env=env, code=2)
    assert "0x01" in result.err and "failed" in result.out
    assert len(json.loads(fors("status", "--json", env=env, code=2).out)) == 1


def test_nothing_there(fors, tmp_path):
    assert "absent" in fors("status", tmp_path / "absent", code=2).err
    assert str(tmp_path) in fors("status", tmp_path, code=2).err
    assert "cannot be opened" in fors("status", env={"OSM_CACHE_DIR": str(tmp_path)}, code=2).err
    (tmp_path / "fors").mkdir()
    assert "no state folder" in fors("status", env={"OSM_CACHE_DIR": str(tmp_path)}, code=2).err


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"state": "great"}', '{"state": "active"}\0', "[1, 2]"])
def test_unreadable_status(fors, folder, text):
    path = folder()
    (path / "status.json").write_text(text)
    assert str(path / "status.json") in fors("status", path, code=2).err


def test_unreadable_schedule(fors, folder):
    path = folder()
    (path / "schedule").write_bytes(b"nonsense")
    assert str(path / "schedule") in fors("status", path, code=2).err


def test_control_characters_stay_out_of_the_terminal(fors, folder):
    out = fors("status", folder(state="failed", reason="a\x1b[31mb\nc"), code=1).out
    assert "\x1b" not in out and "a?[31mb?c" in out
