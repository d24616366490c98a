# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real packets: the testbed's exchange follows the published schedule, and outlives a cut. Margins are wide: the
machine that runs the tests may be busy; `testbed/run` is for numbers."""
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(harness.TOP / "testbed"))

import stage  # noqa: E402

MESSAGE = 20_000


@pytest.fixture(params=["minhop", "fors"])
def on(request, tmp_path):
    system = stage.FORS if request.param == "fors" else stage.stock(request.param)
    with stage.Stage(system, tmp_path, message=MESSAGE) as running:
        yield running


def test_a_cut_cable_costs_stock_routes_much_and_fors_little(on):
    cables = [on.tree.uplink(1, 2)]
    healthy = min(on.exchange(2))
    assert on.model() == 1
    on.after(on.cut, cables)
    share, model = healthy / min(on.exchange(2)), on.model()
    assert (share > 0.85 and model == 1) if on.is_fors else (share < 0.8 and model < 0.65)
    on.after(on.mend, cables)
    assert healthy / min(on.exchange(2)) > 0.85


def test_nobody_hangs_when_the_cut_comes_in_the_middle(on):
    cables = [on.tree.uplink(1, 2)]
    record = on.cut_in_the_middle(cables, before=1.5, afterwards=3)
    rows = record["iterations"]
    assert record["events"]["tables"] > record["events"]["cut"]
    assert len(rows) >= 4 and rows[-1]["start"] > record["events"]["tables"]
    assert sum(record["received"]) >= len(rows) * 16 * 16 * MESSAGE
    assert len({row["epoch"] for row in rows}) == (2 if on.is_fors else 1)


def exchange(*arguments):
    return subprocess.run([harness.build_dir() / "testbed" / "exchange", *arguments], capture_output=True, text=True)


def test_bad_input_of_the_exchange(tmp_path):
    assert exchange().returncode == 2
    nothing = exchange("--places", tmp_path / "none")
    assert nothing.returncode == 2 and "none" in nothing.stderr
    (tmp_path / "bad").write_text("a 0x1 1\nb two 2\n")
    bad = exchange("--places", tmp_path / "bad")
    assert bad.returncode == 2 and "bad:2:" in bad.stderr
    (tmp_path / "nowhere").write_text("no-such-namespace 0x1 1\n")
    nowhere = exchange("--places", tmp_path / "nowhere", "--iterations", "1")
    assert nowhere.returncode == 1 and "no-such-namespace" in nowhere.stderr
