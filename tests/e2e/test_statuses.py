# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The whole `fors status` of what goes wrong, on two levels and three, as an operator reads it: each word of it, but for times, is in
golden/statuses. FORS_STATUSES=FOLDER writes the texts there in place of comparing them."""
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import harness
import three

GOLDEN = Path(__file__).parent / "golden" / "statuses"
CHANGING = [  # what is otherwise each time
    (r"\A.*\n", "STATE\n"),
    (r"\b\d{13}\b", "EPOCH"),
    (r"\b\d+ (s|min|h)\b(?! \))", "TIME"),
    (r"\b\d+\.\d ms\b", "TIME"),
]
NARROW = {2: ("Leaf01", 6), 3: ("Leaf0-1", 4)}


class Two(harness.FatTree):
    narrow = frozenset()

    def text(self):
        return harness.with_width(super().text(), {*self.narrow, *(self.cable[end] for end in self.narrow)})


class Three(three.Tree3):
    narrow = frozenset()

    def text(self):
        return harness.with_width(super().text(), {*self.narrow, *(self.cable[end] for end in self.narrow)})


class Levels:
    """What is called how in a tree of so many levels."""

    def __init__(self, levels, narrow=False):
        self.tree = Two(4, 4) if levels == 2 else Three((2, 2, 3), (2, 2))
        self.tree.narrow = {NARROW[levels]} if narrow else frozenset()
        self.cable = ("Leaf01", 6) if levels == 2 else ("Leaf0-1", 4)
        self.leaf, self.host = ("Leaf01", "Node01-02") if levels == 2 else ("Leaf0-1", "Node0-1-1")
        self.high, self.level = ("Spine01", "spine") if levels == 2 else ("Top1-0", "top")
        self.servers = len(self.tree.hcas)
        self.gone = sum(peer[0].startswith("Node") for (node, _), peer in self.tree.cable.items() if node == self.leaf)
        self.peer = "{}[{}]".format(*self.tree.cable[self.cable])

    @property
    def name(self):
        return "{}[{}]".format(*self.cable)


@pytest.fixture(params=[2, 3])
def scene(request, fabric):
    """start(narrow): (names, simulator, opensm) with a schedule."""

    def start(narrow=False):
        names = Levels(request.param, narrow)
        sim, sm = fabric(names.tree, lmc=1, sweep_interval=1)
        sm.wait_epoch()
        return names, sim, sm

    return start


def page(sm, code, columns):
    env = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | columns
    done = subprocess.run(harness.fors_command("status", str(sm.state_dir)), capture_output=True, text=True, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def steady(out):
    for pattern, word in CHANGING:
        out = re.sub(pattern, word, out)
    return out


def assert_golden(request, out, part):
    name = re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-") + part + ".txt"
    if os.environ.get("FORS_STATUSES"):
        (Path(os.environ["FORS_STATUSES"]) / name).write_text(steady(out), encoding="utf-8")
    assert steady(out) == (GOLDEN / name).read_text(encoding="utf-8")


def shown(request, sm, code=0, part=""):
    """The page, as long as its lines are, and no longer where there is less room."""
    assert all(len(line) <= 100 for line in page(sm, code, {"COLUMNS": "100"}).splitlines()[1:])
    out = page(sm, code, {})
    assert_golden(request, out, part)
    return out


def row(out, label):
    """What stands behind a label, with the lines below that belong to it, as one line."""
    found = re.search(rf"^{re.escape(label):12}(.*(?:\n {{14,}}.*)*)$", out, re.M)
    return re.sub(r"\n +", " ", found.group(1)) if found else ""


def test_dead_cable(scene, request):
    names, sim, sm = scene()
    sim.unlink(*names.cable)
    sm.wait_status(state="active", dead_links=lambda links: len(links) == 1, repairs=lambda repairs: repairs is not None)
    out = shown(request, sm)
    assert re.match(rf"1 cable {re.escape(names.name)} - {re.escape(names.peer)}, for \d+ s$", row(out, "dead"))
    assert row(out, "next") == f"mend: {names.name} - {names.peer}"
    if names.level == "top":
        assert f"hosts below {names.leaf} cannot query the management port" in row(out, "warning")
        assert f"mend {names.name} - {names.peer}" in row(out, "warning")


def test_dead_leaf(scene, request):
    names, sim, sm = scene()
    sim.unlink_node(names.leaf)
    sm.wait_status(state="active", servers=names.servers - names.gone)
    out = shown(request, sm)
    assert row(out, "lost").startswith(f"{names.gone} of {names.servers} servers; {names.leaf} is dead Node")
    assert re.match(rf"1 switch {names.leaf} \(leaf\), all \d cables, for \d+ s$", row(out, "dead"))
    assert f" of full for {names.servers - names.gone} of {names.servers} servers; {names.gone} servers are lost" in row(out, "speed")
    assert row(out, "next") == f"mend: {names.leaf}" and out.index("\nlost ") < out.index("\ndead ")


def test_dead_spine(scene, request):
    names, sim, sm = scene()
    sim.unlink_node(names.high)
    sm.wait_status(state="active", dead_switches=lambda gone: len(gone) == 1, repairs=lambda repairs: repairs is not None)
    out = shown(request, sm)
    assert re.match(rf"1 switch {names.high} \({names.level}\), all \d cables, for \d+ s$", row(out, "dead"))
    assert row(out, "next") == f"mend: {names.high}" and "lost  " not in out


def test_slow_cable(scene, request):
    names, _, sm = scene(narrow=True)
    sm.wait_status(state="active", degraded_links=lambda links: len(links) == 1, repairs=lambda repairs: repairs is not None)
    out = shown(request, sm)
    assert row(out, "degraded").startswith(f"{names.name} - {names.peer}, ")
    assert row(out, "next") == f"reseat or replace {names.name} - {names.peer}: below full width or speed"


def test_flapping_cable(scene, request):
    names, sim, sm = scene()
    for _ in range(3):
        sim.unlink(*names.cable)
        sm.wait_status(state="active", dead_links=lambda links: len(links) == 1)
        sim.relink(*names.cable)
        sm.wait_status(state="active", dead_links=[])
    sm.wait_status(state="active", flapping_links=lambda links: len(links) == 1)
    out = shown(request, sm)
    assert row(out, "flapping") == f"{names.name} - {names.peer} changed 6 times in the last hour: exclude it"
    assert row(out, "next") == f"exclude {names.name} - {names.peer}, then mend: it comes and goes"


def test_lost_server(scene, request):
    names, sim, sm = scene()
    sim.unlink(names.host, 1)
    sm.wait_status(state="active", servers=names.servers - 1)
    out = shown(request, sm)
    assert re.match(rf"1 of {names.servers} servers: {names.host} \(0x[0-9a-f]{{16}}\) at {names.leaf}\[\d\]$", row(out, "lost"))
    assert row(out, "dead") == "no cable between switches"
    assert re.match(rf"see to {names.host} at {names.leaf}\[\d\]: it is lost$", row(out, "next"))


def test_stale_manager(scene, request):
    _, _, sm = scene()
    os.kill(sm.process.pid, signal.SIGKILL)
    sm.process.wait()
    beat = sm.state_dir / "heartbeat"
    beat.write_text(f"{int(time.time() * 1000) - 300_000} {beat.read_text().split()[1]}\n")
    out = shown(request, sm, code=1)
    assert row(out, "state").startswith("stale for 5 min; before, it was active doubtful: the heartbeat is old")
    assert row(out, "next") == "start opensm with fors again"


def test_restarted_manager(scene, request, fabric):
    """One that ends leaves what it knew, with the time; for the next one a cable is as long dead as it was."""
    names, sim, sm = scene()
    sim.unlink(*names.cable)
    status = sm.wait_status(state="active", dead_links=lambda links: len(links) == 1, repairs=lambda repairs: repairs is not None)
    died = status["dead_since_ms"]
    assert abs(died[0] - time.time() * 1000) < 60_000
    time.sleep(1.1)
    assert sm.stop() == 0
    ended = sm.status()
    assert ended["state"] == "inactive" and ended["state_since_ms"] >= ended["known_until_ms"] > died[0]
    for key in ("dead_links", "dead_since_ms", "dead_switches", "degraded_links", "lost_servers", "servers", "leaves", "f", "epoch", "phases"):
        assert ended[key] == status[key], key
    metrics = (sm.state_dir / "metrics.prom").read_text()
    assert 'state="inactive"} 1' in metrics and "fors_dead_links" not in metrics and names.leaf not in metrics
    out = shown(request, sm, code=1, part="-ended")
    assert "nobody has looked since" in row(out, "state") and row(out, "next") == "start opensm with fors again"
    assert row(out, "dead").startswith(f"1 cable {names.name} - {names.peer}, for ")
    again = harness.OpenSM(sim, sm.directory, node=sm.node, lmc=1, sweep_interval=1)
    fabric.also(again)
    after = again.wait_status(state="active", epoch=lambda epoch: epoch and epoch > status["epoch"], repairs=lambda repairs: repairs is not None)
    assert after["dead_links"] == status["dead_links"] and after["dead_since_ms"] == died and after["known_until_ms"] is None
    shown(request, again)
    sim.relink(*names.cable)
    again.wait_status(state="active", dead_links=[])
    sim.unlink(*names.cable)
    anew = again.wait_status(state="active", dead_links=lambda links: len(links) == 1)
    assert anew["dead_since_ms"][0] > ended["known_until_ms"]
