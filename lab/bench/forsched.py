# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What libforsched costs an application: bench_forsched on schedules of both layouts, and how fast who waits hears of a newer one."""
import json
import pathlib
import subprocess
import tempfile

import harness

SITES = [("FT(2;20,18)", 0, "rounds"), ("FT(2;20,18)", 5, "exact"),
         ("FT(2;32,47)", 0, "rounds"), ("FT(2;32,47)", 5, "exact")]


def measure(is_quick):
    rows = []
    for spec, lmc, method in SITES[:2] if is_quick else SITES:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "schedule"
            plan = ["plan", "--synthetic", spec, "--lmc", str(lmc), "--method", method, "--output", str(path)]
            subprocess.run([str(harness.build_dir() / "fors"), *plan], check=True, capture_output=True)
            done = subprocess.run([str(harness.build_dir() / "lab" / "bench" / "bench_forsched"), str(path)], check=True,
                                  capture_output=True, text=True)
            size = path.stat().st_size // 1024
            rows.append({"fabric": spec, "lmc": lmc, "kilobytes": size, **json.loads(done.stdout)})
    return rows


def wake(is_quick):
    """From the rename of a newer schedule until the processes that wait for it are awake."""
    rows = []
    for processes in (1, 64) if is_quick else (1, 8, 64, 256):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([str(harness.build_dir() / "lab" / "bench" / "bench_wake"), folder, str(processes)], check=True,
                                  capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
    return rows
