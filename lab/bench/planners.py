# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Planning times of each method: runs bench_planners, which prints one JSON object per line."""
import json
import subprocess

import harness


def run(program, is_quick):
    """The rows that a program of lab/bench/ prints."""
    command = [str(harness.build_dir() / "lab" / "bench" / program), *(["--quick"] if is_quick else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def measure(is_quick):
    return run("bench_planners", is_quick)
