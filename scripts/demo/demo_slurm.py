#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demo of several jobs: sbatch, a file of jobs that follows, and a plan for each job over lanes of its own.

Run it as scripts/demo-slurm.sh, which builds fors first. The jobs are Slurm's; the plans are made offline, by `fors jobs`.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "e2e"))

import harness  # noqa: E402
import slurm  # noqa: E402

SHAPES = {12: (4, 3), 36: (6, 6), 360: (20, 18)}  # servers: spines, leaves


class Demo:
    def __init__(self, folder, nodes):
        self.folder, self.file, self.nodes = folder, folder / "jobs", nodes
        self.spines, self.leaves = SHAPES[nodes]
        leaves = [[f"Node{a:02}-{s:02}" for s in range(self.spines)] for a in range(self.leaves)]
        self.write_hook()
        print(f"Slurm: slurmctld and {nodes} slurmd, on a fabric FT(2;{self.spines},{self.leaves}) of {nodes} servers", flush=True)
        self.slurm = slurm.Slurm(folder / "slurm", leaves, prolog=folder / "hook", epilog=folder / "hook")

    def write_hook(self):
        """What slurm.conf of a site has is the program itself, with its settings in /etc/default/fors-slurm."""
        fors = os.path.dirname(harness.fors_command()[0]) or "/usr/bin"
        (self.folder / "settings").write_text(f"PATH={fors}:$PATH\nSLURM_CONF={self.folder}/slurm/slurm.conf\nFORS_JOBS_FILE={self.file}\n")
        hook = self.folder / "hook"
        hook.write_text(f"#!/bin/sh\nFORS_SETTINGS={self.folder}/settings\nexport FORS_SETTINGS\n"
                        f"exec {TOP}/opensm-conf/slurm/fors-slurmctld\n")
        hook.chmod(0o755)

    def submit(self, count):
        job = self.slurm.submit(count, "--comment=fors=exclusive")
        print(f"sbatch -N{count} --comment fors=exclusive      job {job}", flush=True)
        harness.wait_for(lambda: self.slurm.decided(job), 60, f"Slurm looks at job {job}", 0.1)
        return job

    def agree(self):
        """The file is what squeue says."""
        harness.wait_for(lambda: self.file.exists() and self.listed() == self.slurm.running(), 60, "the file of jobs is what runs", 0.2)

    def listed(self):
        jobs = [line.partition(":") for line in self.file.read_text().splitlines() if not line.startswith("#")]
        return {int(head.split()[0]): set(nodes.strip().split(", ")) for head, _, nodes in jobs}

    def plan(self, *down):
        """Prints the table; is it good?"""
        self.agree()
        cuts = [word for cable in down for word in ("--down", cable)]
        command = harness.fors_command("jobs", "--synthetic", f"FT(2;{self.spines},{self.leaves})", "--lmc", (self.spines - 1).bit_length(),
                                       "--jobs", self.file, *cuts)
        print(f"\n$ fors {' '.join(command[1:])}", flush=True)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        print(done.stdout, flush=True)
        return done.returncode == 0 and "no two jobs over their own lanes use the same cable" in done.stdout

    def run(self):
        jobs = [self.submit(max(2, self.nodes // part)) for part in (3, 4, 6, 6)]
        good = self.plan()
        print("a cable is cut")
        good &= self.plan(f"Leaf00[{self.spines + 1}]")
        self.slurm.cancel(jobs[1])
        print(f"scancel {jobs[1]}")
        return self.plan(f"Leaf00[{self.spines + 1}]") and good


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo-slurm.sh", description="fors and a real Slurm, on simulated servers", allow_abbrev=False)
    parser.add_argument("--nodes", type=int, choices=sorted(SHAPES), default=36, help="how many slurmd, a server each")
    parser.add_argument("--keep", metavar="DIR", help="work there and leave logs and files")
    options = parser.parse_args()
    if "FORS_ONLY_ARGUMENTS" in os.environ:
        return 0
    if slurm.missing():
        sys.exit(f"demo-slurm: not here: {' '.join(slurm.missing())}")
    with tempfile.TemporaryDirectory(prefix="fors-slurm-") as scratch:
        folder = pathlib.Path(options.keep or scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        demo = Demo(folder, options.nodes)
        try:
            good = demo.run()
        finally:
            demo.slurm.stop()
    print("all jobs have their plan, and no two share a cable" if good else "a job has no plan, or two share a cable")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
