# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The timer of a disabled cable: a process of its own that disables and enables it, and enables it whatever becomes of the command.

    guard.py FILE     FILE: {"cable": ..., "disable": [words], "enable": [words], "until": time}, the heal file

It says "armed", does "disable" and "enable" as its standard input says, and ends after "done". When the input ends before, or the time has
come, it enables the cable. The heal file goes when the cable is enabled; `fors trial heal` does the same with what is left.
"""
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from children import dies_with_us

TRIES = 60


def do(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, preexec_fn=dies_with_us)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def heal(path):
    """Enable the cable of a heal file, and take the file away; whether that worked."""
    try:
        told = json.loads(Path(path).read_text())
    except FileNotFoundError:
        return True
    for _ in range(TRIES):
        if not do(told["enable"]).returncode:
            Path(path).unlink(missing_ok=True)
            return True
        time.sleep(1)
    return False


def write(path, told):
    """The heal file is on the disk before anything is disabled."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file)
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def orders(until):
    """Lines of the standard input, until it ends or the time has come."""
    rest = b""
    while select.select([0], [], [], max(0, until - time.time()))[0]:
        data = os.read(0, 4096)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from (line.decode() for line in lines)


def main(path):
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    told = json.loads(Path(path).read_text())
    print("armed", flush=True)
    for order in orders(told["until"]):
        if order == "done":
            Path(path).unlink(missing_ok=True)
            return 0
        done = do(told[order])
        try:
            print(json.dumps({"code": done.returncode, "said": (done.stdout + done.stderr)[-300:]}), flush=True)
        except OSError:
            break
    return 0 if heal(path) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
