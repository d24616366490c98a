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
