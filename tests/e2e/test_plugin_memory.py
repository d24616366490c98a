# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libfors.so inside opensm under valgrind and under ASan+UBSan: 20 failures and recoveries.

opensm itself loses memory and reads uninitialised bytes; judged is what has a frame in libfors.so.
"""
import os
import re
import shutil

import pytest

import harness
import over
from harness import FatTree

ROUNDS = 20
NOT_OURS = ("libumad2sim.so", "libibumad.so", "libosmvendor.so", "libopensm.so", "libosmcomp.so", harness.opensm_program())


def twenty_failures(sim, sm, tree, timeout):
    """Cut and mend cables and servers, twenty times; now and then something that fors declines."""
    sm.wait_epoch(timeout=timeout)
    for i in range(ROUNDS):
        cable = tree.uplink(i % tree.nleaves, (i * 5) % tree.nspines)
        both = [(cable.leaf, cable.leaf_port)]
        if i % 5 == 4:  # no common spine for leaves 0 and 1
            both = [(c.leaf, c.leaf_port) for c in (tree.uplink(0, 0), tree.uplink(0, 1), tree.uplink(1, 2))]
        mark = sm.log_end()
        for end in both:
            sim.unlink(*end)
        sm.wait_status(timeout, state=lambda state: state in ("active", "failed", "inactive"),
                       dead_links=lambda links: links != [])
        sm.wait_up(mark, timeout)
        for end in both:
            sim.relink(*end)
        sm.wait_status(timeout, state="active", dead_links=[])


def all_keys(tree, tmp_path):
    """A fors.conf that has fors do all that it can do besides planning."""
    reference = tmp_path / "reference"
    reference.write_text(tree.text())
    (tmp_path / "copies").mkdir()
    return (f"reference_fabric = {reference}\npublish_dir = {tmp_path}/copies\npublish_command = /bin/true\n"
            "exclude_links = Leaf02[6]\ndegraded_links = dead\nhold_down = 1\n")


def failures_over_others(sim, sm, tree, timeout):
    """The same of tables that another engine makes, and of a setting that changes its mind."""
    sm.wait_epoch(timeout=timeout)
    ends = [tree.end("T11", "T12"), tree.end("T02", "T12"), ("Node04-01", 1)]
    for i in range(ROUNDS // 2):
        for act in (sim.unlink, sim.relink):
            epoch = sm.status()["epoch"]
            act(*ends[i % 3])
            sm.wait_epoch(epoch, timeout)
    for text, state in (("", "inactive"), ("schedule_over = any\n", "active")):
        sm.fors_conf.write_text(text)
        sm.sighup()
        sm.wait_status(timeout, state=state)


@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind (apt-get install valgrind)")
@pytest.mark.parametrize("is_over", [False, True], ids=["fors", "any"])
def test_valgrind(fabric, tmp_path, is_over):
    report = tmp_path / "valgrind"
    prefix = ["valgrind", "--leak-check=full", "--show-leak-kinds=all", "--keep-debuginfo=yes", "--num-callers=30",
              f"--log-file={report}"]
    tree = over.torus(3, 3, 2) if is_over else FatTree(3, 3)
    options = {"routing_engine": "dfsssp", "fors_conf": "schedule_over = any\n"} if is_over else {
        "lmc": 2, "fors_conf": all_keys(tree, tmp_path)}
    sim, sm = fabric(tree, sweep_interval=1, node="Node02-00", prefix=prefix, **options)
    (failures_over_others if is_over else twenty_failures)(sim, sm, tree, 120)
    assert sm.stop(60) == 0
    text = report.read_text()
    assert "LEAK SUMMARY" in text
    records = re.split(r"\n==\d+== \n", text)
    ours = [record for record in records if "libfors.so" in record or "/plugin/" in record or "/daemon/" in record or "/core/" in record]
    assert ours == []


def sanitized_build():
    path = os.environ.get("FORS_SANITIZED_BUILDDIR")
    return path and os.path.join(path, ".libs")


@pytest.mark.skipif(not sanitized_build(),
                    reason="FORS_SANITIZED_BUILDDIR: a build with ./configure --enable-sanitizers")
@pytest.mark.parametrize("who", ["fors", "dfsssp", "fors,minhop"])
def test_sanitizers(fabric, tmp_path, who):
    is_over = who == "dfsssp"
    tree = over.torus(3, 3, 2) if is_over else FatTree(4, 3)
    conf = "" if is_over else all_keys(tree, tmp_path)
    options = {"routing_engine": who, "lmc": 0 if is_over else 2,
               "fors_conf": conf + "schedule_over = any\n" * (who != "fors")}
    suppressions = tmp_path / "suppressions"
    suppressions.write_text("".join(f"interceptor_via_lib:{library}\n" for library in NOT_OURS))
    sim, sm = fabric(tree, sweep_interval=1, node="Node02-00", plugin_dir=sanitized_build(), **options,
                     preload=[harness.asan_library()],
                     env={"ASAN_OPTIONS": f"detect_leaks=0:suppressions={suppressions}:log_path={tmp_path}/asan",
                          "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={tmp_path}/ubsan"})
    (failures_over_others if is_over else twenty_failures)(sim, sm, tree, 60)
    assert sm.stop() == 0
    reports = [path.read_text() for path in tmp_path.glob("*san.*")]
    assert reports == []
