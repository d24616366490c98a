# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch beside a stock opensm: how it is started, what leaves it, and twenty fabrics to read."""
import collections
import json
import os
import signal
import subprocess
from pathlib import Path

import harness
import over
from harness import FatTree, Topology

STOCK = {"event_plugin_name": None, "routing_engine": "minhop"}  # an opensm that knows nothing of fors


Mad = collections.namedtuple("Mad", "what ms kind method attribute modifier id")

GET, SET, GET_TABLE, REPORT_RESP = 0x01, 0x02, 0x12, 0x86
INFORM_INFO = 0x0003
SA = 0x03


def read_log(path):
    """The packets that umad_spy.c wrote down."""
    mads = []
    for line in Path(path).read_text().splitlines():
        what, ms, *rest = line.split()
        mads.append(Mad(what, float(ms), *(int(word, 16) for word in rest)))
    return mads


def may_leave(mad):
    """Is it one of the packets that fors watch may send?"""
    if mad.method == GET:
        return True
    return mad.kind == SA and (mad.method in (GET_TABLE, REPORT_RESP) or (mad.method, mad.attribute) == (SET, INFORM_INFO))


def most_out(mads, timeout_ms=200.0):
    """The most questions that were out at a time: from sending to the answer, or to the time-out."""
    out, most = {}, 0
    for mad in mads:
        out = {number: ms for number, ms in out.items() if ms + timeout_ms > mad.ms}
        if mad.what == "R":
            out.pop(mad.id, None)
        elif mad.method != REPORT_RESP:
            out[mad.id] = mad.ms
            most = max(most, len(out))
    return most


def watch(sim, node, *arguments, preload=(), env=None, timeout=600):
    """Run `fors watch` on a node of a simulated fabric."""
    environment = sim.environment(node, preload)
    environment.update(env or {})
    return subprocess.run(harness.fors_command("watch", *arguments), env=environment, capture_output=True, text=True,
                          timeout=timeout, check=False)


def read_once(sim, node, directory, *arguments, **options):
    """(text of the net, text of the tables, what was told) of one reading."""
    net, lfts = Path(directory) / "watch.net", Path(directory) / "watch.lfts"
    patient = () if "--timeout" in arguments else ("--timeout", round(200 * harness.patience()))
    done = watch(sim, node, "--once", "--output-net", net, "--output-lfts", lfts, *patient, *arguments, **options)
    assert done.returncode == 0, done.stderr
    return net.read_text(), lfts.read_text(), done.stdout


def two_ports():
    """Two leaves, four hosts with an adapter of two ports, one in each."""
    tree = Topology()
    for name, ports in (("Leaf00", 8), ("Leaf01", 8), ("Spine00", 4), ("Spine01", 4)):
        tree.switches[name] = ports
    for h in range(4):
        tree.hcas[f"Host{h}"] = 2
        tree.connect("Leaf00", h + 1, f"Host{h}", 1)
        tree.connect("Leaf01", h + 1, f"Host{h}", 2)
    for leaf in range(2):
        for spine in range(2):
            tree.connect(f"Leaf{leaf:02d}", 5 + spine, f"Spine{spine:02d}", leaf + 1)
    return tree


class Narrow(FatTree):
    """Some cables below full width."""

    def text(self):
        return harness.with_width(super().text(), {("Leaf00", 5), ("Spine00", 1)})


def single():
    """One switch, no other."""
    return over.Fabric({"Alone": 5}, [])


# name -> (fabric, options of opensm, cables and nodes to be taken down before it starts)
FABRICS = {
    "two": (over.two_levels, {}, []),
    "two-lmc1": (over.two_levels, {"lmc": 1}, []),
    "two-lmc2-updn": (over.two_levels, {"lmc": 2, "routing_engine": "updn"}, []),
    "two-ftree": (over.two_levels, {"routing_engine": "ftree"}, []),
    "two-dead-cable": (over.two_levels, {}, [("Leaf00", 5)]),
    "two-dead-switch": (over.two_levels, {}, [("Spine02", None)]),
    "uneven": (lambda: FatTree(3, 5, servers=4, empty={(1, 2), (4, 0)}), {}, []),
    "double": (lambda: FatTree(2, 3, cables=2), {}, []),
    "wide": (lambda: FatTree(6, 9), {"lmc": 1}, []),
    "narrow": (lambda: Narrow(4, 4), {}, []),
    "three": (over.three_levels, {}, []),
    "three-lmc2": (over.three_levels, {"lmc": 2}, []),
    "torus": (over.torus, {}, []),
    "torus-dor": (lambda: over.torus(3, 3, 1), {"routing_engine": "dor"}, []),
    "torus-dead": (lambda: over.torus(3, 4, 2), {"routing_engine": "updn"}, [("T00", 3)]),
    "torus-dfsssp": (lambda: over.torus(3, 3, 2), {"routing_engine": "dfsssp", "qos": "TRUE"}, []),
    "irregular": (over.irregular, {}, []),
    "irregular-lash": (over.irregular, {"routing_engine": "lash", "qos": "TRUE"}, []),
    "two-ports": (two_ports, {}, []),
    "one-switch": (single, {}, []),
}


def start(fabric, name):
    """The simulator and the opensm of one of them, up."""
    make, options, down = FABRICS[name]
    topology = make()
    sim, sm = fabric(topology, **{**STOCK, **options})
    sm.wait_up()
    for node, port in down:
        mark = sm.log_end()
        if port is None:
            sim.unlink_node(node)
        else:
            sim.unlink(node, port)
        sm.sighup()
        sm.wait_up(mark)
    return sim, sm


# ---------------------------------------------------------------------------
# The service

class Watcher:
    """`fors watch` on a node; settings: lines of its file. What it publishes is in its own folder."""

    def __init__(self, sim, directory, node=None, settings="static_sl = 0\n", arguments=(), preload=(), env=None):
        self.sim, self.directory = sim, Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.config = self.directory / "watch.conf"
        self.state = self.directory / "state"
        self.configure(settings)
        self.log_file = self.directory / "watch.log"
        environment = sim.environment(node or list(sim.topology.hcas)[-1], preload)
        environment.update(env or {})
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen(
                [*harness.DIES_WITH_US, *harness.fors_command("watch", "--config", self.config, *arguments)], cwd=self.directory,
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def configure(self, settings):
        self.config.write_text(f"state_dir = {self.state}\n{settings}")

    def log(self):
        return self.log_file.read_text(errors="replace")

    def folder(self):
        return next(iter(sorted(self.state.glob("0x*"))), self.state / "none")

    def status(self):
        try:
            return json.loads((self.folder() / "status.json").read_text())
        except FileNotFoundError:
            return {}

    def wait(self, timeout=20.0, **wanted):
        """The status, as soon as it has these values, or satisfies these functions."""
        def look():
            assert self.process.poll() is None, self.log()
            status = self.status()
            good = all(want(status.get(key)) if callable(want) else status.get(key) == want for key, want in wanted.items())
            return status if status and good else None
        try:
            return harness.wait_for(look, timeout, f"status {wanted}")
        except harness.HarnessError as error:
            raise harness.HarnessError(f"{error}\nstatus: {self.status()}\n{self.log()[-3000:]}") from None

    def wait_epoch(self, after=0, timeout=20.0):
        """The first active schedule with a larger epoch, when it is confirmed."""
        return self.wait(timeout, state="active", epoch=lambda epoch: epoch is not None and epoch > after,
                         remarks=lambda remarks: not any(remark.startswith("unconfirmed: ") for remark in remarks))

    def heartbeat(self):
        return (self.folder() / "heartbeat").read_bytes()

    def hang_up(self):
        os.kill(self.process.pid, signal.SIGHUP)

    def stop(self):
        """End it by its pid; its exit status."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
        return self.process.returncode


def judged(watcher):
    """(status, rows): what is published holds over the tables and cables that the simulated hardware has at this moment."""
    snapshot, status, rows = watcher.sim.snapshot(), watcher.status(), over.read_csv(watcher.folder() / "schedule")
    assert rows is not None, status
    assert over.judge(snapshot, rows) == []
    assert status["state"] == "active" and status["servers"] == len(over.Walker(snapshot).servers)
    assert status["phases"] == 1 + max(int(row["phase"]) for row in rows)
    return status, rows


def cut_or_mend(sm, act, *end):
    mark = sm.log_end()
    act(*end)
    sm.wait_up(mark)
