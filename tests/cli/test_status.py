# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors status: from state folders as the plugin leaves them."""
import json
import os
import re
import subprocess
import time

import pytest

from conftest import FORS

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
        plain = json.loads(plan.out)
        del plain["certificates"]              # which status.json does not have
        status = {**plain, "epoch": EPOCH, "state": state, **changes}
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


def test_a_folder_of_shadow_mode(fors, folder):
    """Where only shadow mode has written, what it wrote is the folder's."""
    path = folder()
    (path / "shadow").mkdir()
    for name in ("status.json", "schedule", "heartbeat"):
        (path / name).rename(path / "shadow" / name)
    out = fors("status", path).out
    assert "Leaf01[6] - Spine01[2]" in out and f"{path}/shadow\n" in out and str(EPOCH) in out


def test_every_port_is_accounted_for(fors, folder):
    out = fors("status", folder(ca_ports=20, not_participants=2, guests=1, left_out=3)).out
    assert "\nCA ports    20: 16 servers, 2 not participants, 1 guest on spines, 3 left out\n" in out


def test_cost(fors, folder):
    out = fors("status", folder(phases=20, lower_bound=18, lmc_needed=2)).out
    assert "80.0 % of full; 20.0 % is lost" in out and "LMC 2 would allow 18 phases, 2 fewer" in out


def test_json_is_status_json(fors, folder):
    path = folder()
    assert json.loads(fors("status", path, "--json").out) == json.loads((path / "status.json").read_text())


FAILOVER = {"epoch": EPOCH, "began_ms": EPOCH - 96, "trap_ms": 0, "sweep_ms": 0.25, "discovered_ms": 40, "asked_ms": 55.1,
            "filled_ms": 56, "confirmed_ms": 90, "published_ms": 96.44, "copied_ms": None}


def test_failover(fors, folder):
    path = folder(failover=FAILOVER)
    out = fors("status", path, "--verbose").out
    head = r"^failover    \d+.* ago, new schedule after 96.4 ms; epoch %d\n" % EPOCH
    assert re.search(head + r" {14}trap 0\.0, sweep 0\.2, discovered 40\.0, asked 55\.1, filled 56\.0,\n {14}confirmed 90\.0, published 96\.4 ms\n", out, re.M)
    assert re.search(head + "heartbeat ", fors("status", path).out, re.M)
    for other in ("--json", "--history"):
        assert "--verbose is for the page of fors status" in fors("status", path, "--verbose", other, code=2).err
    assert json.loads(fors("status", path, "--json").out)["failover"]["published_ms"] == 96.44
    assert "\nfailover " not in fors("status", folder("0x0002c90300001235", failover=None)).out


JOB = {"name": "4711", "state": "active", "exclusive": True, "servers": 16, "missing": 0, "leaves": 2, "lanes": 8, "phases": 20,
       "lower_bound": 20, "alone_bound": 16, "ratio": 0.8, "over": "own", "epoch": EPOCH, "reason": None}


def test_jobs(fors, folder, stamp):
    """Each has a schedule of its own; that the fabric's is withdrawn is as it should be then."""
    jobs = [JOB, {**JOB, "name": "4712", "state": "failed", "phases": None, "over": None, "ratio": None, "reason": "no way"}]
    path = folder(jobs=jobs, phases=None, reason="jobs: each job has a schedule of its own")
    stamp(path / "schedule", EPOCH, "jobs")
    out = fors("status", path).out
    assert "jobs        1 with a schedule, 0 withdrawn, 1 without one" in out and "doubtful" not in out
    assert re.search(r"4711 +active +16 +8 +20 +16 +own", out) and re.search(r"4712 +failed .* no way", out)
    path = folder("0x2", jobs=[{**JOB, "name": f"j{i}"} for i in range(60)], phases=None)
    stamp(path / "schedule", EPOCH, "jobs")
    assert "and 10 more" in fors("status", path).out
    (path / "status.json").write_text((path / "status.json").read_text().replace('"active", "exclusive"', '"\\u001b[1m", "exclusive"'))
    assert "odd value of \"jobs\"" in fors("status", path, code=2).err


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
    out = fors("status", folder("0x02", dead_links=[], dead_since_ms=[], repairs={"list": [], "untried": 0}), code=0).out
    assert out.endswith("next        nothing to do\n")
    (path.parent / "0x02" / "heartbeat").unlink()
    out = fors("status", path.parent / "0x02", code=1).out
    assert out.endswith("next        see why the state is doubtful: what stands here may be old\n")


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
    err = fors("status", env={"OSM_CACHE_DIR": str(tmp_path)}, code=2).err
    assert f"{tmp_path}/fors: cannot be opened" in err and "opensm has not run with fors on this host" in err and "OSM_CACHE_DIR" in err
    (tmp_path / "fors").mkdir()
    for args, env in (((), {"OSM_CACHE_DIR": str(tmp_path)}), ((tmp_path / "fors",), {})):
        err = fors("status", *args, env=env, code=2).err
        assert "no state folder" in err and "ERR F010" in err


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


def link(leaf, spine, **more):
    return {"a": f"Leaf{leaf:02d}", "a_port": 5 + spine, "b": f"Spine{spine:02d}", "b_port": leaf + 1, **more}


def test_a_dead_switch_is_one_line(fors, folder):
    """By its name: a spine without any of its leaves, a leaf without any of its spines; single cables beside them."""
    spine = [link(leaf, 2) for leaf in range(4)]
    out = fors("status", folder(dead_links=spine + [link(1, 0)], dead_since_ms=None)).out
    assert re.search(r"^dead {8}5 cables\n {14}Spine02, all 4 cables\n {14}Leaf01\[5\] - Spine00\[2\]\n", out, re.M)
    assert "Spine02[" not in out.partition("\nnext ")[0]
    out = fors("status", folder("0x2", dead_links=[link(3, spine) for spine in range(4)], dead_since_ms=None)).out
    assert re.search(r"^ {14}Leaf03, all 4 cables\n", out, re.M) and "Leaf03[" not in out.partition("\nnext ")[0]
    out = fors("status", folder("0x3", dead_links=spine[:3], dead_since_ms=None)).out
    assert "all" not in out and out.partition("\nnext ")[0].count(" - Spine02[") == 3


def test_an_excluded_spine_is_one_line(fors, folder):
    excluded = [link(leaf, 1, used=False, since_ms=None) for leaf in range(4)]
    out = fors("status", folder(excluded_links=excluded)).out
    assert re.search(r"^excluded {4}Spine01, all 4 cables; carries no servers' traffic\n(?! {12}Leaf)", out, re.M)


def test_many_cables(fors, folder):
    dead = [link(leaf, spine) for leaf in range(4) for spine in range(3)]
    out = fors("status", folder(leaves=40, spines=40, dead_links=dead, dead_since_ms=None)).out
    assert out.partition("\nnext ")[0].count(" - Spine") == 10 and "[1] and 9 more\n" in out and "and more, 12 cables in all" in out


@pytest.mark.parametrize("columns", [45, 60, 80])
def test_sentences_fit_the_terminal(fors, folder, columns):
    reason = "two leaves have no common spine, and so on, with many a word that does not fit into a single line of a terminal"
    path = folder(state="failed", reason=reason, remarks=["Leaf00[5] stays in use, because " + reason])
    beat(path, 3600)
    out = fors("status", path, code=1, env={"COLUMNS": str(columns)}).out
    rows = [line for line in out.splitlines() if line != str(path)]
    assert all(len(line) <= columns for line in rows), rows
    assert reason in " ".join(out.split()) and "version mismatch" in " ".join(out.split())
    assert all(len(line) <= 45 for line in fors("status", path, code=1, env={"COLUMNS": "20"}).out.splitlines() if line != str(path))
    assert "failed for" in out or "failed:" in out


def test_watch(fors, folder):
    """Again and again, until somebody ends it; a status that is not there at the moment is there later."""
    path = folder()
    process = subprocess.Popen([FORS, "status", path, "--watch", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        shown = [process.stdout.readline()]
        while sum(line.startswith("next ") for line in shown) < 2:
            shown.append(process.stdout.readline())
            assert shown[-1], "it has ended"
        (path / "status.json").rename(path / "away")
        assert "status.json" in process.stderr.readline()
        (path / "away").rename(path / "status.json")
        while sum(line.startswith("next ") for line in shown) < 4:
            shown.append(process.stdout.readline())
            assert shown[-1], "it has ended"
    finally:
        process.kill()
        process.communicate()
    assert sum(bool(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", line)) for line in shown) >= 4
    assert "goes not with --json" in fors("status", path, "--watch", "1", "--json", code=2).err


def gain(a, a_port, b, b_port, phases):
    return {"a": a, "a_port": a_port, "b": b, "b_port": b_port, "phases": phases}


def test_what_to_mend_first(fors, folder):
    repairs = {"list": [gain("Leaf03", 21, "Spine01", 4, 18), gain(None, None, "Spine02", None, 19)], "untried": 0}
    path = folder(phases=20, lower_bound=20, repairs=repairs)
    out = fors("status", path).out
    assert ("mend first  Leaf03[21] - Spine01[4] alone: 80.0 % -> 88.9 %\n"
            "            Spine02 with all its cables alone: 80.0 % -> 84.2 %\n") in out
    assert json.loads(fors("status", path, "--json").out)["repairs"] == repairs


def test_no_repair_helps_alone(fors, folder):
    out = fors("status", folder(phases=20, lower_bound=20, repairs={"list": [], "untried": 0})).out
    assert "mend first  no repair gives anything back alone: it takes several\n" in out


def test_repairs_that_were_not_tried(fors, folder):
    out = fors("status", folder(phases=20, lower_bound=20, repairs={"list": [], "untried": 7})).out
    assert "mend first  7 more repairs were not tried, for want of time\n" in out
    out = fors("status", folder("0x2", phases=20, lower_bound=20, repairs={"list": [], "untried": 1})).out
    assert "mend first  1 more repair was not tried, for want of time\n" in out


def test_nothing_lost_nothing_to_mend_first(fors, folder):
    assert "mend first" not in fors("status", folder(repairs={"list": [], "untried": 0})).out
    assert "mend first" not in fors("status", folder(name="0x0002c90300001235")).out


@pytest.mark.parametrize("bad", [[], {}, {"list": [{}], "untried": 0}, {"list": [], "untried": -1},
                                 {"list": [gain("Leaf03", 21, "Spine01", 4, 0)], "untried": 0},
                                 {"list": [gain("Leaf03", 500, "Spine01", 4, 1)], "untried": 0},
                                 {"list": [gain(None, None, None, None, 1)], "untried": 0}])
def test_odd_repairs(fors, folder, bad):
    assert 'odd value of "repairs"' in fors("status", folder(repairs=bad), code=2).err


def test_how_many_phases_a_larger_lmc_gives(fors, folder):
    out = fors("status", folder(phases=20, lower_bound=17, lmc_needed=5)).out
    assert "LMC 5 would allow 17 phases, 3 fewer\n" in out


def test_watch_has_a_default(fors, folder):
    path = folder()
    for arguments in ([path, "--watch"], ["--watch", path], ["--watch=1", path], ["--watch", "1", path]):
        process = subprocess.Popen([FORS, "status", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", process.stdout.readline().strip())
        assert process.stdout.readline().strip() == str(path)
        process.terminate()
        process.communicate()
    assert "goes not with --history" in fors("status", path, "--watch", "--history", code=2).err


HISTORY = ("fors history 1\n"
           "1700000000000\t1700000000001\t16\trounds\tplanned\n"
           "1700000100000\t1700000100001\t0\t-\ta schedule is being planned; 1 cable died: Leaf00[5] - Spine01[1]\n")


def test_history(fors, folder):
    path = folder()
    (path / "history").write_text(HISTORY)
    out = fors("status", path, "--history", env={**os.environ, "TZ": "UTC"}).out
    assert out == (f"{path}: 2 epochs, the newest last\n"
                   "2023-11-14 22:13:20  epoch 1700000000001, 16 phases, rounds: planned\n"
                   "2023-11-14 22:15:00  epoch 1700000100001, withdrawn: a schedule is being planned; "
                   "1 cable died: Leaf00[5] - Spine01[1]\n")
    told = json.loads(fors("status", path, "--history", "--json").out)
    assert told["state_dir"] == str(path)
    assert told["epochs"][1] == {"unix_ms": 1700000100000, "epoch": 1700000100001, "phases": 0, "method": "-",
                                 "cause": "a schedule is being planned; 1 cable died: Leaf00[5] - Spine01[1]"}
    assert [one["state_dir"] for one in json.loads(fors("status", path.parent, "--history", "--json").out)] == [str(path)]
    other = folder("0x0002c90300005678")
    (other / "history").write_text(HISTORY)
    assert [one["state_dir"] for one in json.loads(fors("status", path.parent, "--history", "--json").out)] == [str(path), str(other)]
    narrow = fors("status", path, "--history", env={**os.environ, "COLUMNS": "45"}).out
    assert max(map(len, narrow.splitlines()[1:])) <= 45


def test_no_history(fors, folder):
    path = folder()
    assert "nothing was published here since this fors keeps a history" in fors("status", path, "--history", code=1).err


@pytest.mark.parametrize("text, said", [
    (HISTORY[:-20], "history:3: the history is damaged"), (HISTORY + "\n", "history:4: the history is damaged"),
    ("", "no history of fors"), ("x" * 100, "no history of fors"), (HISTORY + "\0", "a zero byte"),
    (HISTORY.replace("\t16\t", "\t-16\t"), "history:2: the history is damaged")])
def test_damaged_history(fors, folder, text, said):
    path = folder()
    (path / "history").write_text(text)
    assert said in fors("status", path, "--history", code=2).err


def told(fors, tmp_path, spec, *downs, **changes):
    """What is said of a fabric with failures, by the very lists that are found in it."""
    args = [word for down in downs for word in ("--down", down)]
    status = json.loads(fors("plan", "--synthetic", spec, *args, "--json").out)
    path = tmp_path / "fabric"
    path.mkdir(exist_ok=True)
    (path / "status.json").write_text(json.dumps({**status, "epoch": EPOCH, **changes}))
    return fors("status", path, code=1).out, status


def test_a_dead_switch_with_one_cable(fors, tmp_path):
    assert "\ndead        1 switch\n              Leaf01 (leaf), its only cable\n" in told(fors, tmp_path, "FT(2;1,3;servers=1)", "Leaf01")[0]


@pytest.mark.parametrize("spec, leaf, cables, left", [("FT(2;4,4)", "Leaf03", 4, 12), ("XGFT(3;2,3,2;1,2,2)", "Leaf03", 2, 10)])
def test_a_dead_leaf(fors, tmp_path, spec, leaf, cables, left):
    """Lost servers come first, and count in the speed's own line; the leaf is one line, and what is to be mended."""
    out, status = told(fors, tmp_path, spec, leaf)
    lost = 12 + 4 - left if cables == 4 else 2
    assert status["dead_switches"] == [{"switch": leaf, "level": "leaf", "cables": cables, "servers": lost}]
    assert len(status["lost_servers"]) == lost and all(one["name"] for one in status["lost_servers"])
    assert f"\nlost        {lost} of {left + lost} servers; {leaf} is dead\n              Node" in out
    assert f"\ndead        1 switch\n              {leaf} (leaf), all {cables} cables\n" in out and f"{leaf}[{lost + 1}]" not in out
    assert out.index("\nlost ") < out.index("\ndead ")
    assert f"\nspeed       100.0 % of full for {left} of {left + lost} servers; {lost} servers are lost\n" in out
    assert "nothing is lost" not in out and out.endswith(f"\nnext        mend: {leaf}\n")


@pytest.mark.parametrize("spec, switch, level", [("FT(2;4,4)", "Spine02", "spine"), ("XGFT(3;4,4,4;1,4,4)", "Mid2-05", "middle"),
                                                 ("XGFT(3;4,4,4;1,4,4)", "Spine07", "top")])
def test_a_dead_switch_above_leaves_is_one_line(fors, tmp_path, spec, switch, level):
    out, status = told(fors, tmp_path, spec, switch)
    cables = len(status["dead_links"])
    assert status["dead_switches"] == [{"switch": switch, "level": level, "cables": cables, "servers": 0}]
    said = "middle switch" if level == "middle" else level
    assert f"\ndead        1 switch\n              {switch} ({said}), all {cables} cables\n" in out and f"{switch}[" not in out
    assert out.endswith(f"\nnext        mend: {switch}\n") and "lost   " not in out
    assert ("spine" in out) == (level == "spine")


def test_a_switch_whose_servers_live_is_not_dead(fors, tmp_path):
    out, status = told(fors, tmp_path, "FT(2;4,4)", "Leaf01[6]", "Node03-01")
    assert status["dead_switches"] == []
    assert "lost        1 of 16 servers: Node03-01 at Leaf03[2]\n" in out and "15 of 16 servers; 1 server is lost\n" in out
    assert out.endswith("next        see to Node03-01 at Leaf03[2]: it is lost; then mend: Leaf01[6] - Spine01[2]\n")
    out, _ = told(fors, tmp_path, "FT(2;4,4)", "Node03-01")
    assert out.endswith("next        see to Node03-01 at Leaf03[2]: it is lost\n")


@pytest.mark.parametrize("spec", ["FT(2;4,4)", "XGFT(3;4,4,4;1,4,4)"])
def test_a_flapping_cable(fors, tmp_path, spec):
    flapping = [link(3, 1, since_ms=EPOCH, used=True, planned=True, rate="4xHDR", changes=12)]
    out, _ = told(fors, tmp_path, spec, flapping_links=flapping)
    assert "\nflapping    Leaf03[6] - Spine01[4] changed 12 times in the last hour: exclude it\n" in out
    assert out.endswith("next        exclude Leaf03[6] - Spine01[4], then mend: it comes and goes\n")


def test_a_stale_state_is_not_active(fors, folder):
    path = folder()
    beat(path, 3600)
    out = fors("status", path, code=1).out
    assert "\nstate       stale for 60 min; before, it was active\n              doubtful: the heartbeat is old" in out
    assert out.endswith("next        start opensm with fors again\n")
    (path / "heartbeat").write_text("nonsense")
    assert "\nstate       stale; before, it was active\n" in fors("status", path, code=1).out


def test_what_an_ended_or_a_second_manager_leaves_to_do(fors, folder):
    out = fors("status", folder(state="inactive", reason="opensm has ended; failures are not repaired"), code=1).out
    assert out.endswith("next        start opensm with fors again\n") and "nothing" not in out.partition("\nnext")[2]
    out = fors("status", folder("0x2", state="inactive", reason="this subnet manager is not the master")).out
    assert out.endswith("next        nothing to do here: see fors status on the master\n")
    left = folder("0x3", state="inactive", reason="opensm has ended, and is set up to do without fors from now on")
    (left / "heartbeat").write_text("1700000000000 7\n")  # which nobody misses
    out = fors("status", left).out
    assert "stale" not in out and "next        nothing to do: remove this folder" in out


def test_what_an_ended_manager_knew_is_told_as_of_then(fors, folder):
    now = int(time.time() * 1000)
    path = folder(state="inactive", reason="opensm has ended; failures are not repaired", known_until_ms=now - 130_000, state_since_ms=now - 130_000,
                  dead_since_ms=[now - 310_000])
    out = fors("status", path, code=1).out
    assert re.search(r"^state       inactive for 2 min: opensm has ended; failures are not repaired\n"
                     r" {14}what follows was known 2 min ago; nobody has looked since\n", out, re.M)
    assert "dead        1 cable\n              Leaf01[6] - Spine01[2], for 3 min\n" in out
    assert out.endswith("next        start opensm with fors again\n")
    assert "nobody has looked" not in fors("status", folder("0x2", dead_since_ms=[now - 310_000])).out


def test_repairs_that_give_back_as_much_are_one_row(fors, folder):
    repairs = {"list": [gain("Leaf03", 21 + i, "Spine01", 4 + i, 18) for i in range(10)] + [gain(None, None, "Spine02", None, 19)], "untried": 0}
    out = fors("status", folder(phases=20, lower_bound=20, repairs=repairs)).out
    assert ("mend first  any one of these 10 alone: 80.0 % -> 88.9 %\n"
            "              Leaf03[21] - Spine01[4], Leaf03[22] - Spine01[5], Leaf03[23] - Spine01[6] and 7 more (--json lists them)\n"
            "            Spine02 with all its cables alone: 80.0 % -> 84.2 %\n") in out
    out = fors("status", folder("0x2", phases=20, lower_bound=20, repairs={"list": repairs["list"][:2], "untried": 0})).out
    assert ("mend first  any one of these 2 alone: 80.0 % -> 88.9 %\n"
            "              Leaf03[21] - Spine01[4], Leaf03[22] - Spine01[5]\n") in out


def test_what_belongs_to_which_row(fors, folder):
    """Two columns further in is what belongs to the row above, four the rest of a broken line; each row else has a label."""
    path = folder(phases=20, lower_bound=18, lmc_needed=2, f=2, remarks=["a " * 60 + "b", "c"])
    out = fors("status", path, env={"COLUMNS": "60"}).out
    assert "speed       80.0 % of full; 20.0 % is lost\n              LMC 2 would allow 18 phases, 2 fewer\n" in out
    assert "\nuplinks     the worst leaf lacks 2 for its servers\n" in out
    lines = out[out.index("warning "):].splitlines()
    assert lines[0].startswith("warning     a a") and lines[1].startswith(" " * 16 + "a") and "            c" in lines


@pytest.mark.parametrize("bad", [[{}], {}, [{"switch": "a", "level": "leaf", "cables": -1, "servers": 0}], [{"switch": 1}]])
def test_odd_dead_switches(fors, folder, bad):
    assert 'odd value of "dead_switches"' in fors("status", folder(dead_switches=bad), code=2).err
