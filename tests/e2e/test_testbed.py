# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real packets: the testbed's exchange follows the published schedule, and outlives a cut. Margins are wide: the
machine that runs the tests may be busy; `lab/testbed/run` is for numbers."""
import json
import os
import signal
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(harness.TOP / "lab" / "testbed"))

import namespaces  # noqa: E402
import stage  # noqa: E402

MESSAGE = 20_000


@pytest.fixture(params=["minhop", "fors"])
def on(request, tmp_path):
    system = stage.FORS if request.param == "fors" else stage.stock(request.param)
    with stage.Stage(system, tmp_path, message=MESSAGE) as running:
        yield running


def test_a_cut_cable_costs_stock_routes_much_and_fors_little(on):
    cables = [on.tree.uplink(1, 2)]
    healthy, cut, mended = [], [], []
    assert on.model() == 1
    for _ in range(4):  # what else the machine does makes exchanges slower, never faster: the least of all counts
        healthy += on.exchange(2)
        on.after(on.cut, cables)
        cut += on.exchange(2)
        assert on.model() == 1 if on.is_fors else on.model() < 0.65
        on.after(on.mend, cables)
        mended += on.exchange(2)
        share, again = min(healthy) / min(cut), min(healthy) / min(mended)
        if (share > 0.85 if on.is_fors else share < 0.8) and again > 0.85:
            return
    assert (share > 0.85 if on.is_fors else share < 0.8) and again > 0.85, (healthy, cut, mended)


def test_servers_slower_than_uplinks(tmp_path):
    """
    Two leaves of 4 servers below one uplink each, four times as fast: 8 phases, 16 if a cable carried one flow at a time. So who follows
    the schedule is about as fast as who sends without one.
    """
    least = {}
    for system in (stage.FORS, stage.stock("minhop")):
        tree = harness.slow_servers(harness.FatTree(1, 2, servers=4))
        (tmp_path / system.name).mkdir()
        with stage.Stage(system, tmp_path / system.name, tree, MESSAGE, server_rate=namespaces.RATE // 4) as on:
            least[system.name] = min(on.exchange(6))
            if system is stage.FORS:
                assert on.osm.status()["phases"] == 8
    fors, stock = least.values()
    assert fors < 1.35 * stock, least


def test_nobody_hangs_when_the_cut_comes_in_the_middle(on):
    cables = [on.tree.uplink(1, 2)]
    record = on.cut_in_the_middle(cables, before=2.5, afterwards=10)
    rows = record["iterations"]
    assert record["events"]["tables"] > record["events"]["cut"]
    assert len(rows) >= 4 and rows[-1]["start"] > record["events"]["tables"]
    assert sum(record["received"]) >= len(rows) * 16 * 16 * MESSAGE
    assert len({row["epoch"] for row in rows}) == (2 if on.is_fors else 1)


WAYS = [("tree",), ("tree", "--ahead", 2), ("own",), ("nobody",), ("nobody", "--chunk", 7000)]


def test_who_waits_for_some_of_the_others_gets_all_bytes(tmp_path):
    with stage.Stage(stage.FORS, tmp_path, message=MESSAGE) as on:
        on.after(on.cut, [on.tree.uplink(1, 2)])
        for way in WAYS:
            done = subprocess.run(on.argv("--iterations", 2, "--wait", *way), capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, done.stderr
            record = json.loads(done.stdout)
            assert len(record["iterations"]) == 2 and sum(record["received"]) == 2 * 16 * 15 * MESSAGE


def exchange(*arguments):
    return subprocess.run([harness.build_dir() / "lab" / "testbed" / "exchange", *arguments], capture_output=True, text=True)


def test_bad_input_of_the_exchange(tmp_path):
    assert exchange().returncode == 2
    assert exchange("--places", "x", "--wait", "clock").returncode == 2 and exchange("--places", "x", "--ahead", "0").returncode == 2
    nothing = exchange("--places", tmp_path / "none")
    assert nothing.returncode == 2 and "none" in nothing.stderr
    (tmp_path / "bad").write_text("a 0x1 1\nb two 2\n")
    bad = exchange("--places", tmp_path / "bad")
    assert bad.returncode == 2 and "bad:2:" in bad.stderr
    (tmp_path / "nowhere").write_text("no-such-namespace 0x1 1\n")
    nowhere = exchange("--places", tmp_path / "nowhere", "--iterations", "1")
    assert nowhere.returncode == 1 and "no-such-namespace" in nowhere.stderr


def namespaces_of(pid):
    return [name for name in namespaces.existing() if name.startswith(f"fors{pid}-")]


def processes_with(word):
    """Command lines of the processes that have the word in theirs."""
    lines = [text.replace(b"\0", b" ").decode() for text in harness.of_processes("cmdline")]
    return [line for line in lines if str(word) in line]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_when_the_runner_is_ended(number, tmp_path):
    scratch = tmp_path / f"scratch-{number}"
    scratch.mkdir()
    runner = subprocess.Popen([sys.executable, harness.TOP / "lab" / "testbed" / "testbed.py", "--no-cut", "--scenarios", "healthy"],
                              env=dict(os.environ, TMPDIR=str(scratch)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, start_new_session=True)
    try:
        # 16 ranks and the process that waits for them: the exchange of the first system runs, and both have been set up.
        harness.wait_for(lambda: runner.poll() is not None or
                         sum("lab/testbed/exchange" in line for line in processes_with(scratch)) == 17, 60, "the exchange to run")
        assert len(namespaces_of(runner.pid)) == 48
        assert any("opensm" in line for line in processes_with(scratch))
        runner.send_signal(number)
        out, complaint = runner.communicate(timeout=300)
    finally:
        if runner.poll() is None:
            runner.kill()
    assert out == "" and complaint == ""
    harness.wait_for(lambda: not processes_with(scratch), 60, "all processes to end")
    if number == signal.SIGKILL:
        assert runner.returncode == -number
        namespaces.sweep()  # the next run does it
    else:
        assert runner.returncode == 128 + number
        assert not list(scratch.iterdir())
    assert not namespaces_of(runner.pid)
