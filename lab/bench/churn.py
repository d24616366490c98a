# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Leaf entries that a failure changes although their way lives: runs bench_churn, which prints one JSON object per line."""
import json
import subprocess

import harness


def measure(is_quick):
    command = [str(harness.build_dir() / "lab" / "bench" / "bench_churn"), *(["--quick"] if is_quick else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
