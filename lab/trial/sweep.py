#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What issue and page promise of `fors trial`, over the testbed: `make trial-sweep`, as root; FORS_BUILDDIR names a build.

    sweep.py [--only promise|adaptive|kills] [--cases N] [--kills N] [--seed N]

promise: prediction and measurement within 5 % in 9 of 10 phases, for 3 fabrics x (healthy, dead cable) x (schedule, shift).
adaptive: found in N cases that spray always, N that spray under load, never claimed in N static ones.
kills: a program of a failure step is killed (SIGKILL) at a random moment; no cable stays disabled, and nothing runs on.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from testbed import FatTree, Testbed  # noqa: E402

TRIAL = Path(__file__).resolve().parent / "fors-trial"
FABRICS = ((4, 4, None, 1), (3, 4, None, 1), (2, 4, 4, 2))  # spines, leaves, servers of a leaf, parallel cables


def environment():
    return {**os.environ, "FORS_PROGRAM": str(Path(os.environ["FORS_BUILDDIR"]) / "fors")}


def settings_with(bed, name, **values):
    file = bed.folder / name
    file.write_text(bed.settings.read_text() + "".join(f"{key} = {value}\n" for key, value in values.items()))
    return file


def trial(step, settings, folder, *more):
    done = subprocess.run([sys.executable, TRIAL, step, "--config", settings, "--output-dir", folder, *more], env=environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{step}: {done.stderr[-500:]}")
    return json.loads(Path(done.stdout.split()[-1]).read_text())


def promise(_):
    """Rows of one line each; all good?"""
    good = True
    for spines, leaves, servers, cables in FABRICS:
        tree = FatTree(spines, leaves, servers, cables)
        with tempfile.TemporaryDirectory(prefix="trialbed-") as folder, Testbed(folder, tree) as bed:
            settings = settings_with(bed, "only", ways="schedule, shift", repeats=3, bytes=150_000)
            cable = f"{tree.leaf(1)}[{tree.uplink(1, 1).leaf_port}]"
            found = trial("failure", settings, Path(folder, "out"), "--disable", cable)
            for state in ("before", "while_down"):
                for run in found[state]["runs"]:
                    enough = run["within"] >= 0.9 * len(run["phases"])
                    good &= enough
                    print(f"FT(2;{spines},{leaves}) {tree.nservers}x{cables} {state:10} {run['way']:8} {run['within']:2} of {len(run['phases'])} phases within 5 %, "
                          f"throughput {run['throughput']['measured']:.3f} predicted {run['throughput']['predicted']:.3f}  {'' if enough else 'TOO FEW'}", flush=True)
            print(f"    failover {found['failover_s']}, came back {found['came_back']}", flush=True)
    return good


def adaptive(options):
    counts = {}
    for number in range(options.cases):
        for kind in (None, "always", "load"):
            rng = random.Random(f"{options.seed} {number} {kind}")
            tree = FatTree(rng.randint(2, 4), rng.randint(2, 4), rng.randint(2, 4))
            with tempfile.TemporaryDirectory(prefix="trialbed-") as folder, Testbed(folder, tree, adaptive=kind, size=rng.choice((60_000, 100_000))) as bed:
                found = trial("static", bed.settings, Path(folder, "out"))
            right = found["seen"] == bool(kind)
            counts[kind] = counts.get(kind, 0) + right
            if not right:
                print(f"WRONG: case {number}, {kind}, {tree.nspines} spines {tree.nleaves} leaves {tree.nservers} servers: {json.dumps(found)[:1500]}", flush=True)
    for kind, right in counts.items():
        print(f"{kind or 'static'}: right in {right} of {options.cases}", flush=True)
    return all(right == options.cases for right in counts.values())


def processes(word):
    """{pid: command line} of what has the word in its command line or environment's folder."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in line and int(pid) != os.getpid():
            found[int(pid)] = line
    return found


def of_trial(bed):
    """The programs of a trial that runs: the command, its timer, agents; not the testbed."""
    return {pid: line for pid, line in processes(str(bed.folder)).items() if any(word in line for word in ("fors-trial", "guard.py", "zlib", "--ask"))}


def one_kill(bed, rng, length, out):
    """Kill something at a random moment; what is wrong afterwards, or None."""
    tree = bed.tree
    cable = f"{tree.leaf(rng.randrange(1, tree.nleaves))}[{tree.nservers + 1 + rng.randrange(tree.nspines)}]"
    command = subprocess.Popen([sys.executable, TRIAL, "failure", "--config", settings_with(bed, "only", ways="shift", phases=2), "--output-dir", out, "--disable", cable],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(rng.uniform(0.2, length))
    there = of_trial(bed)
    kinds = sorted({kind for kind in ("fors-trial", "guard.py", "zlib", "--ask") if any(kind in line for line in there.values())})
    kind = rng.choice(kinds) if kinds else None
    victim = rng.choice([pid for pid, line in sorted(there.items()) if kind in line]) if kind else None
    was_down = bool(bed.net.dead)
    if victim:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
    end = time.monotonic() + 240
    while time.monotonic() < end and (of_trial(bed) or bed.net.dead or command.poll() is None):
        command.poll()
        time.sleep(0.2)
    left = of_trial(bed), sorted(bed.net.dead)
    what = f"{kind or 'nothing'}, cable {'down' if was_down else 'up'}"
    if command.poll() is None:
        command.kill()
    command.wait()
    return what, f"left running {left[0]}, disabled {left[1]}" if any(left) else None


def kills(options):
    rng, good, seen = random.Random(options.seed), True, {}
    with tempfile.TemporaryDirectory(prefix="trialbed-") as folder, Testbed(folder, FatTree(3, 3), size=40_000) as bed:
        begun = time.monotonic()
        trial("failure", settings_with(bed, "only", ways="shift", phases=2), Path(folder, "out"), "--disable", "Leaf01[4]")
        length = time.monotonic() - begun
        for number in range(options.kills):
            what, wrong = one_kill(bed, rng, length, Path(folder, "out"))
            seen[what] = seen.get(what, 0) + 1
            good &= not wrong
            if wrong:
                print(f"WRONG: kill {number} of {what}: {wrong}", flush=True)
    print(f"{options.kills} kills: {seen}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(prog="lab/trial/sweep.py", allow_abbrev=False)
    parts = {"promise": promise, "adaptive": adaptive, "kills": kills}
    parser.add_argument("--only", choices=parts)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return 0 if all([part(options) for name, part in parts.items() if options.only in (None, name)]) else 1


if __name__ == "__main__":
    sys.exit(main())
