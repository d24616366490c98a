# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The fabric twice: in ibsim, where a real opensm routes it, and in namespaces, where packets follow those routes."""
import json
import subprocess
import time
from collections import namedtuple

import loads
from harness import FatTree, Ibsim, OpenSM, build_dir, fors_command, read_live, read_tables
from namespaces import Namespaces

MESSAGE = 100_000  # bytes that each server sends in a phase

System = namedtuple("System", "name options")


def stock(engine):
    """A stock engine; the exchange is the linear shift over base LIDs."""
    return System(engine, {"routing_engine": engine, "event_plugin_name": None})


# LMC 2: as many path indices as spines.
FORS = System("fors", {"routing_engine": "fors", "lmc": "2"})


class StageError(Exception):
    """The exchange did not go through."""


class Stage:
    """One system on FT(2;4,4), or another tree; rates as Namespaces takes them. Cables are cut and mended in both worlds at once."""

    def __init__(self, system, directory, tree=None, message=MESSAGE, **rates):
        self.system, self.tree, self.message = system, tree or FatTree(4, 4), message
        self.directory = directory
        self.sim = self.osm = self.net = None
        try:
            self.sim = Ibsim(self.tree, directory / "sim")
            self.osm = OpenSM(self.sim, directory / "opensm", **system.options)
            self.osm.wait_up()
            self.epoch = 0
            self.live, self.tables = self._settled()
            self.net = Namespaces(self.live, **rates)
            self.net.apply(self.tables)
            self.places = self._write_places()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def stop(self):
        for part in (self.net, self.osm, self.sim):
            if part:
                part.stop()

    @property
    def is_fors(self):
        return self.system is FORS

    def _write_places(self):
        path = self.directory / "places"
        rows = [(self.net.name(name), self.live.servers[name]) for name in loads.server_order(self.live)]
        path.write_text("".join(f"{name} 0x{port.guid:016x} {port.lid}\n" for name, port in rows))
        return path

    def _settled(self):
        """(live, tables) once opensm is done with what happened: fors has a new epoch, or the tables stay."""
        if self.is_fors:
            self.epoch = self.osm.wait_epoch(self.epoch)["epoch"]
        before = None
        while True:
            now = read_live(self.sim), read_tables(self.sim)
            if before and before[1] == now[1]:
                return now
            before = now
            time.sleep(0.1)

    # -- failures

    def cut(self, cables):
        """Pull the cables, in the packets' world first."""
        for cable in cables:
            self.net.cut(cable.leaf, cable.leaf_port)
        for cable in cables:
            self.sim.unlink(cable.leaf, cable.leaf_port)

    def mend(self, cables):
        for cable in cables:
            self.net.mend(cable.leaf, cable.leaf_port)
            self.sim.relink(cable.leaf, cable.leaf_port)

    def after(self, action, cables):
        """Do it and wait until the packets' world has the tables that follow."""
        if not cables:
            return
        mark = self.osm.log_end()
        action(cables)
        self.osm.wait_up(mark)
        self.live, self.tables = self._settled()
        self.net.apply(self.tables)

    # -- the exchange

    def argv(self, *options):
        plan = ["--schedule", str(self.osm.schedule_file)] if self.is_fors else []
        return [str(build_dir() / "lab" / "testbed" / "exchange"), "--places", str(self.places), *plan,
                "--bytes", str(self.message), *map(str, options)]

    def exchange(self, iterations):
        """Seconds of each of some whole exchanges, after one that is not counted."""
        done = subprocess.run(self.argv("--warm-up", 1, "--iterations", iterations), capture_output=True, text=True,
                              timeout=300)
        if done.returncode:
            raise StageError(f"{self.system.name}: {done.stderr.strip()}")
        return [row["seconds"] for row in json.loads(done.stdout)["iterations"]]

    def model(self):
        """What the model of tests/e2e/loads.py says of these tables: the share of the healthy throughput."""
        if not self.is_fors:
            return loads.shift_exchange(self.live, self.tables).throughput
        status = self.osm.status()
        csv = subprocess.run(fors_command("schedule", self.osm.schedule_file, "--format", "csv"), capture_output=True,
                             text=True, check=True).stdout
        return loads.schedule_exchange(self.live, self.tables, csv, status["phases"]).throughput

    # -- a cut in the middle

    def cut_in_the_middle(self, cables, before=4.0, afterwards=8.0):
        """Run the exchange, cut, let opensm and the application react: the exchange's record, with times of what happened."""
        runner = subprocess.Popen(self.argv(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            time.sleep(before)
            events = self._follow(cables, afterwards)
            runner.terminate()
            out, complaint = runner.communicate(timeout=120)
        finally:
            if runner.poll() is None:
                runner.kill()
                runner.wait()
        if runner.returncode:
            raise StageError(f"{self.system.name}, cut in the middle: {complaint.strip()}")
        return dict(json.loads(out), events=events)

    def _follow(self, cables, seconds):
        """Cut, and carry each change of the simulated switches' tables over to the packets' world at once."""
        known, start = self.tables, time.monotonic()
        events = {"cut": start}
        self.cut(cables)
        while time.monotonic() < start + seconds:
            tables = read_tables(self.sim)
            if tables != known:
                self.net.apply(tables)
                events["tables"] = time.monotonic()
                known = tables
            time.sleep(0.01)
        self.live, self.tables = read_live(self.sim), known
        return events
