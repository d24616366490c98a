# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a change of jobs costs on three levels: a synthetic queue, its moments by `fors jobs --replay`, at which a job begins, and bench_jobs over them."""
import json
import pathlib
import random
import subprocess
import tempfile

import harness

CASES = [("XGFT(3;6,6,8;1,6,6)", [16, 24, 32, 40, 48, 56, 64], 300), ("XGFT(3;8,8,16;1,8,8)", [16, 24, 48, 96, 128, 192], 300)]
QUICK = [("XGFT(3;2,2,3;1,2,2)", [2, 3, 4], 5)]


def history(rng, count, sizes):
    """More jobs than fit, all the time: lines of the Standard Workload Format."""
    return "".join(f"{i + 1} {i} 0 {int(rng.expovariate(1 / 3000)) + 60} {rng.choice(sizes)}" + " -1" * 13 + "\n" for i in range(count))


def measure(is_quick):
    return [row for case in (QUICK if is_quick else CASES) for row in _measure(*case)]


def _measure(spec, sizes, moments):
    with tempfile.TemporaryDirectory(prefix="fors-jobs-") as name:
        folder = pathlib.Path(name)
        (folder / "history").write_text(history(random.Random(1), 400, sizes))
        subprocess.run([*harness.fors_command("jobs"), "--synthetic", spec, "--replay", folder / "history", "--placement", "tree", "--output-dir",
                        folder / "moments", "--count", str(moments)], check=True, capture_output=True)
        done = subprocess.run([harness.build_dir() / "lab" / "bench" / "bench_jobs", spec, folder / "moments"], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]
