# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The moment at which a schedule is published: opensm is held there (held.c), and what the hardware holds is judged.

Two things have to be so: every flow of the schedule arrives, alone in its phase, over the tables that the switches have just
then; and every port that it passes is active just then. A cable that was touched after the sweep began that led to the tables is
excused: nobody can know of that yet.
"""
import csv
import io
import os
import re
import select
import threading
import time
from collections import Counter

import failover
import harness

EARLY = "published when the switches had confirmed their tables"  # in opensm's log
SWEEP, ASKED = "INITIATING HEAVY SWEEP", "building routing with"  # likewise, with log_flags 0x07


def port_states(snapshot):
    """{(node, port): "Active", ...} of a harness.Snapshot."""
    states = {}
    for block in snapshot.text.strip().split("\n\n"):
        head, *rows = block.split("\n")
        name = re.match(r'\w+ \d+ "(.*?)"', head)[1]
        for row in rows:
            found = row[:1] != "#" and re.match(r"\w+\t\[(\d+)\]\t.*\b(Down|Init|Armed|Active|NoChange)/", row)
            if found:
                states[name, int(found[1])] = found[2]
    return states


def sweep_began(osm):
    """Unix time at which the newest sweep began that fors can know of: that has asked for tables. Another may run already."""
    lines = osm.log().splitlines()
    asked = max((i for i, line in enumerate(lines) if ASKED in line), default=0)
    at = max((i for i, line in enumerate(lines[:asked]) if SWEEP in line), default=None)
    while at is not None and not re.match(r"\w{3} \d\d [\d:]{8} \d", lines[at]):
        at -= 1
    return failover.log_time(lines[at]) if at is not None else 0.0


def judge_flows(topology, snapshot, csv_text):
    """What is wrong with the flows of a schedule at this moment, as sentences: (faults, faults of ports)."""
    cable = {**topology.cable, **snapshot.cable}  # tables are judged whether or not a cable was pulled just then
    states, name_of = port_states(snapshot), {port.guid: name for name, port in snapshot.port.items()}
    used, ways, faults, ports = set(), {}, [], []
    for row in csv.DictReader(io.StringIO(csv_text)):
        source, target, lid = name_of[int(row["src_guid"], 16)], name_of[int(row["dst_guid"], 16)], int(row["dst_lid"])
        leaf = cable[source, 1][0]
        if (leaf, lid) not in ways:
            ways[leaf, lid] = snapshot.way(leaf, lid, cable, 4)
        way, at = ways[leaf, lid]
        if at != target:
            faults.append(f"LID {lid} does not lead from {source} to {target}")
            continue
        for end in ((source, 1), *way):
            if (row["phase"], end) in used:
                faults.append(f"phase {row['phase']}: two flows over {end}")
            used.add((row["phase"], end))
            ports += [f"{at} is {states.get(at)}" for at in (end, cable[end]) if states.get(at) != "Active"]
    return faults, sorted(set(ports))


class Gate:
    """Judges each schedule before it gets its name. `touched()` is the Unix time when a cable was changed last."""

    def __init__(self, sim, directory, touched=lambda: 0.0):
        self.sim, self.directory, self.touched = sim, directory, touched
        self.faults, self.tally, self.osm = [], Counter(), None
        self.then = lambda: None  # done once a schedule has been judged, opensm still being held
        directory.mkdir(parents=True, exist_ok=True)
        for name in ("held", "go"):
            os.mkfifo(directory / name)
        self._held, self._go = (os.open(directory / name, os.O_RDWR) for name in ("held", "go"))
        self._ends = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def options(self, slow_ms=0):
        """What an OpenSM has to be started with; then watch() it."""
        return {"preload": [harness.compiled("held")], "env": {"FORS_HELD": str(self.directory), "FORS_SLOW_MS": str(slow_ms)},
                "log_flags": "0x07"}

    def watch(self, osm):
        self.osm = osm
        while select.select([self._go], [], [], 0)[0]:
            os.read(self._go, 1)  # for one that was killed while it was held
        if not self._thread.ident:
            self._thread.start()

    def stop(self):
        """Nothing is held any more once opensm has ended."""
        self._ends = True
        self._thread.join()
        os.close(self._held)
        os.close(self._go)

    def _run(self):
        while not self._ends:
            if not select.select([self._held], [], [], 0.05)[0]:
                continue
            os.read(self._held, 1)
            try:
                self._judge()
            except Exception as error:  # the other side waits: it has to hear of it, whatever it was
                self.faults.append(f"{type(error).__name__}: {error}")
            os.write(self._go, b"g")

    def _judge(self):
        folders = [self.osm.state_dir, *(self.osm.state_dir / "jobs").glob("*")]  # of the fabric, and of jobs
        path = next(folder / ".schedule.new" for folder in folders if (folder / ".schedule.new").exists())
        done = harness.fors("schedule", path, "--format", "csv", code=None)
        if done.returncode:
            raise harness.HarnessError(done.stderr)
        faults, ports = judge_flows(self.sim.topology, self.sim.snapshot(), done.stdout)
        self.tally["published"] += 1
        if ports and self.touched() >= sweep_began(self.osm):
            self.tally["touched"] += 1
            ports = []
        self.faults += [f"{time.time():.3f}: {fault}" for fault in (faults + ports)[:5]]
        self.then()
