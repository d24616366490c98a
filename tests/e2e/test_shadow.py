# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shadow mode (fors_mode = shadow) under the stock opensm: a few random states (make shadow-states takes more), failures while it looks on,
and what could go wrong: named with fors, killed, a full disk, SIGTERM, a slip in fors.conf."""
import os
import random
import re
import signal
import subprocess
import time

import pytest

import harness
import shadow

SHADOW = "fors_mode = shadow\n"
TREE = harness.FatTree(4, 4, servers=4)


@pytest.mark.parametrize("number", range(4))
def test_random_states(tmp_path, number):
    tree, ends, engine = shadow.random_state(random.Random(f"test-{number}"))
    wrong, seen = shadow.judge(tree, ends, engine, tmp_path)
    print(seen)
    assert wrong == []


def shown(sm, *options):
    return harness.fors("status", sm.state_dir, *options, code=None)


def metrics(sm):
    return (shadow.folder(sm) / "metrics.prom").read_text()


def test_a_failure_is_one_line_of_the_history(fabric):
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=SHADOW)
    sm.wait_up()
    before = shadow.wait(sm)
    assert before["state"] == "shadow" and before["tables_by"] == "minhop" and before["phases"] == 16 and before["dead_links"] == []
    mark = sm.log_end()
    sim.unlink("Leaf00", 5)
    sm.wait_up(mark)
    after = harness.wait_for(lambda: (said := shadow.status(sm))["dead_links"] and said, 60, "the dead cable")
    assert after["f"] == 1 and after["shadow"]["present_phases"] >= after["phases"] and after["shadow"]["present_shift"] < 1
    page = shown(sm)
    assert page.returncode == 1 and page.stdout.startswith("shadow ") and "dead" in page.stdout
    share = 100 * after["servers"] / after["shadow"]["present_phases"]
    assert f"\ntoday       {100 * after['shadow']['present_shift']:.1f} % of full without a schedule; {share:.1f} % with" in page.stdout
    assert "\nwith fors   " in page.stdout and "\nschedule    with fors " in page.stdout and "\nspeed " not in page.stdout
    last = page.stdout.rstrip("\n").rpartition("\nswitched on ")[2]
    assert last and "\n" not in re.sub(r"\n {16}", " ", last) and "entries change" in last
    history = harness.wait_for(lambda: (said := shown(sm, "--history").stdout).count("entries change") >= 2 and said, 20, "the line")
    assert f"{after['phases']} phases" in history
    entries = (shadow.folder(sm) / "entries").read_text()
    assert entries.startswith(f"{after['shadow']['entries']} of {after['shadow']['compared']} entries differ")
    assert entries.count("  LID ") == after["shadow"]["entries"]
    samples = [line for line in metrics(sm).splitlines() if not line.startswith("#")]
    assert samples and all('mode="shadow"' in line for line in samples)
    assert shadow.left_outside(sm) == []


def test_the_same_again_costs_a_line_and_no_plan(fabric):
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=SHADOW)
    sm.wait_up()
    first = shadow.wait(sm)
    sm.sweep()
    again = shadow.wait(sm, first["shadow"]["sweeps"] + 1)
    assert again["plan_ms"] == first["plan_ms"]
    assert sm.log().count("fors: shadow: switched on, ") == 1


def test_named_it_declines(fabric):
    sim, sm = fabric(TREE, routing_engine="fors,minhop", fors_conf=SHADOW)
    sm.wait_up()
    assert shadow.wait(sm)["tables_by"] == "minhop"
    assert "fors_mode = shadow: fors does not route" in sm.log() and shadow.left_outside(sm) == []


def test_nothing_is_published_or_run(fabric, tmp_path):
    out, ran = tmp_path / "published", tmp_path / "ran"
    out.mkdir()
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=f"{SHADOW}publish_dir = {out}\npublish_command = touch {ran}\nschedule_over = any\n")
    sm.wait_up()
    shadow.wait(sm)
    sm.sweep()
    shadow.wait(sm, 2)
    assert os.listdir(out) == [] and not ran.exists() and shadow.left_outside(sm) == []


def test_switched_off_and_on_again(fabric, tmp_path):
    """The kept order goes along with the mode: what died meanwhile keeps its place in both."""
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=SHADOW)
    sm.wait_up()
    shadow.wait(sm)
    mark = sm.log_end()
    sim.unlink_node("Spine00")
    sm.wait_up(mark)
    said = harness.wait_for(lambda: len((now := shadow.status(sm))["dead_links"]) == 4 and now, 60, "the dead spine")
    sm.stop()
    with harness.OpenSM(sim, sm.directory, fors_conf="") as on:
        real = on.wait_epoch()
        assert len(real["dead_links"]) == 4 and real["phases"] == said["phases"]
        assert "the kept order is taken over from the shadow" in on.log()
    mark = sm.log_end()
    with harness.OpenSM(sim, sm.directory, routing_engine="minhop", fors_conf=SHADOW) as back:
        back.wait_up(mark)
        harness.wait_for(lambda: len(shadow.status(back).get("dead_links", [])) == 4, 60, "the dead spine, again")
        assert "the kept order is taken over by the shadow" in back.log()


def test_killed_and_started_again(fabric):
    """Files are whole at any moment, and the history goes on."""
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=SHADOW)
    sm.wait_up()
    shadow.wait(sm)
    harness.wait_for(lambda: (shadow.folder(sm) / "history").exists(), 60, "a history")
    lines = (shadow.folder(sm) / "history").read_text().count("\n")
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    sim.forget_process(sm.process.pid)
    mark = sm.log_end()
    with harness.OpenSM(sim, sm.directory, routing_engine="minhop", fors_conf=SHADOW) as again:
        again.wait_up(mark)
        harness.wait_for(lambda: (shadow.folder(again) / "history").read_text().count("\n") > lines, 60, "a longer history")
        assert shadow.status(again)["phases"] == 16


def test_sigterm(fabric):
    sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=SHADOW)
    sm.wait_up()
    shadow.wait(sm)
    assert sm.stop() == 0
    said = shadow.status(sm)
    assert said["state"] == "shadow" and said["reason"] == "opensm has ended" and said["phases"] == 16


def test_a_full_disk(fabric, tmp_path):
    """What cannot be written waits, said once, and is written when there is room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0755", "tmpfs", disk], check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        (disk / "ballast").write_bytes(b"x" * 4096 * 15)
        sim, sm = fabric(TREE, routing_engine="minhop", fors_conf=f"{SHADOW}state_dir = {disk}/fors\n")
        sm.wait_up()
        sm.wait_log("ERR F010")
        time.sleep(2.5)
        assert sm.log().count("ERR F010") == 1
        (disk / "ballast").unlink()
        found = harness.wait_for(lambda: list(disk.glob("fors/0x*/shadow/history")), 60, "the history")
        assert found and "can be written again" in sm.wait_log("can be written again").string
        sm.stop()
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def test_a_slip_in_the_settings(fabric):
    """A shadow stays one: it never speaks because a line is wrong."""
    sim, sm = fabric(TREE, routing_engine="fors,minhop", fors_conf=f"{SHADOW}methud = auto\n")
    sm.wait_up()
    said = shadow.wait(sm)
    assert "methud" in said["reason"] and said["phases"] is None and said["shadow"]["present_phases"] == 16
    assert shadow.left_outside(sm) == []
    sm.fors_conf.write_text("fors_mode = on\n")
    sm.sweep()
    harness.wait_for(lambda: shadow.status(sm)["phases"] == 16, 60, "good settings")
    assert "a change needs a restart of opensm; fors stays in shadow mode" in sm.log() and shadow.left_outside(sm) == []
