# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import harness  # noqa: E402
import watching  # noqa: E402

LONG = ("chaos", "slurm", "scenes", "plugin_model", "order", "jobs", "prometheus", "early", "plugin_faults", "pages", "plugin", "watch_service", "watch_managers",
        "watch_reports", "bench_paper", "paths", "jobs_incomplete", "three_drain")


def pytest_collection_modifyitems(items):
    """Modules begin in this order, several at once: those that take a minute first, so that no long one is left to be waited for."""
    place = {"test_" + name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONG)))


@pytest.fixture
def fabric(tmp_path):
    """fabric(topology, **opensm options) -> (Ibsim, OpenSM); all are ended after the test."""
    running = []

    def start(topology, **options):
        sim = harness.Ibsim(topology, tmp_path / f"sim{len(running)}")
        running.append(sim)
        sm = harness.OpenSM(sim, tmp_path / f"sm{len(running)}", **options)
        running.append(sm)
        return sim, sm

    start.also = running.append
    yield start
    for process in reversed(running):
        process.stop()


@pytest.fixture
def watcher(fabric, tmp_path):
    def start(sim, name="watch", **options):
        made = watching.Watcher(sim, tmp_path / name, **options)
        fabric.also(made)
        return made
    return start
