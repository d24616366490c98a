# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`fors simulate` and `fors analyze`, for figures."""
import json
import subprocess

import harness


def simulate(*args, command="simulate"):
    done = subprocess.run(harness.fors_command(command, *args, "--json"), capture_output=True, text=True)
    if done.returncode == 2 or not done.stdout:
        raise harness.HarnessError(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def arrived(result, begin, end):
    """Payload that arrived between two times, ns: bytes, by the bins of the time line."""
    width = result["time_line"]["bin_ns"]
    return sum(count * max(0, min(end, (i + 1) * width) - max(begin, i * width)) / width for i, count in enumerate(result["time_line"]["arrived_bytes"]))
