# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a trial asks of the fabric, by the commands of the settings; and how it has hosts send."""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from children import dies_with_us
from fabric import Fabric, FabricError, Flow, nodes
from hosts import HostsError
from settings import words

Count = namedtuple("Count", "sent received waited")  # bytes; times that a packet had to wait, as the device counts them
PERFTEST_PORT = 18515


class WorldError(Exception):
    """A command of the settings failed."""


def fors():
    """The command fors: beside this program where both were built or installed, else that of the path."""
    for place in (os.environ.get("FORS_PROGRAM"), Path(sys.argv[0]).absolute().parent / "fors", Path(sys.argv[0]).absolute().parents[2] / "bin" / "fors"):
        if place and os.access(place, os.X_OK):
            return str(place)
    return "fors"


def run(command, good=(0,), seconds=600):
    """The standard output of a command; ends with this process."""
    command = [fors() if command[0] == "fors" else command[0], *command[1:]]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False, preexec_fn=dies_with_us)
    except OSError as error:
        raise WorldError(f"{command[0]}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise WorldError(f"{command[0]} did not end within {seconds} s") from None
    if done.returncode not in good:
        raise WorldError(f"{' '.join(command[:3])}: {(done.stderr or done.stdout).strip()[-300:] or f'exit code {done.returncode}'}")
    return done.stdout


def lines_of(command):
    """What a command prints, line by line."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=dies_with_us) as program:
        yield from program.stdout


class World:
    def __init__(self, settings):
        self.settings = settings
        self.seen = {"hosts": set(settings.hosts), "switches": set()}  # names, of all that was read: none of them is in what is sent

    # -- what there is

    def texts(self):
        """(text of the net, text of the tables) as they are now."""
        with tempfile.TemporaryDirectory(prefix="fors-trial-") as folder:
            net, lfts = Path(folder, "net"), Path(folder, "lfts")
            run(words(self.settings.read, net=net, lfts=lfts))
            text = re.sub(r"(?m)^#.*\n", "", net.read_text())  # ibnetdiscover writes the time there
            for kind, name in nodes(text):
                self.seen["switches" if kind == "Switch" else "hosts"].add(name)
            return text, lfts.read_text()

    def fabric(self):
        return Fabric(*self.texts())

    def settled(self, seconds):
        """The texts once two readings a second apart are equal and all hosts reach each other."""
        end, before = time.monotonic() + seconds, None
        while True:
            now = self.texts()
            if now == before and self.is_whole(Fabric(*now)):
                return now
            if time.monotonic() > end:
                raise WorldError(f"the tables do not come to rest within {seconds} s")
            before = now
            time.sleep(1)

    @staticmethod
    def is_whole(fabric):
        lids = {lid: host for host in fabric.hosts for lid in range(host.lid, host.lid + (1 << host.lmc))}
        try:
            for leaf in {fabric.leaf(host): host for host in fabric.hosts}.values():
                for lid, host in lids.items():
                    fabric.way(Flow(leaf, host, leaf.lid, lid))
        except FabricError:
            return False
        return True

    def hosts(self, fabric):
        """The hosts that take part: those of the settings, or all."""
        named = self.settings.hosts
        missing = set(named) - {host.name for host in fabric.hosts}
        if missing:
            raise WorldError(f"hosts of the settings are not in the fabric: {', '.join(sorted(missing)[:5])}")
        found = [host for host in fabric.hosts if not named or host.name in named]
        if len({host.name for host in found}) < len(found):
            raise WorldError("several ports of the fabric have the name of one host; name hosts in the settings")
        if len(found) < 2:
            raise WorldError("a trial needs two hosts")
        return found

    def manager(self, fabric):
        """The node of the subnet manager."""
        said = re.search(r"sm guid 0x([0-9a-f]+)", run(words(self.settings.manager)))
        guid = int(said[1], 16) if said else None
        for host in fabric.hosts:
            if host.guid == guid:
                return host.node
        return next((node for node in fabric.name if fabric.guid[node] == guid), None)

    def own(self, fabric):
        node = next((node for node, name in fabric.name.items() if name == self.settings.own), None)
        if node is None:
            raise WorldError(f"this host, '{self.settings.own}', is not in the fabric; the setting own says what it is called there")
        return node

    def counters(self, fabric):
        """{(switch, port): Count} of all cables of switches."""
        if self.settings.counters:
            node = {fabric.guid[switch]: switch for switch in fabric.switches}
            rows = [line.split() for line in run(words(self.settings.counters)).splitlines()]
            return {(node[int(row[0], 16)], int(row[1])): Count(*map(int, row[2:5])) for row in rows if int(row[0], 16) in node}
        ends = [end for end in fabric.cable if end[0] in fabric.switches]
        with ThreadPoolExecutor(8) as pool:
            return dict(zip(ends, pool.map(lambda end: self._perfquery(fabric.lid[end[0]], end[1]), ends)))

    @staticmethod
    def _perfquery(lid, port):
        def number(text, name):
            found = re.search(rf"^{name}:\.*(\d+)", text, re.M)
            return int(found[1]) if found else 0

        wide, short = run(["perfquery", "-x", str(lid), str(port)]), run(["perfquery", str(lid), str(port)])
        return Count(4 * number(wide, "PortXmitData"), 4 * number(wide, "PortRcvData"), number(short, "PortXmitWait"))

    def counted(self, fabric, action):
        """(what the action returns, {end: Count that was added})"""
        before = self.counters(fabric)
        result = action()
        after = self.counters(fabric)
        return result, {end: Count(*(max(0, b - a) for a, b in zip(before[end], after[end]))) for end in before if end in after}

    # -- flows

    def address(self, host, lid):
        if self.settings.kind == "tcp":
            return self.settings.address.format(lid=lid, high=lid >> 8, low=lid & 255, host=host.name)
        return host.name

    def order(self, hosts, number, flow, port, size, level):
        return {"id": number, "from": self.address(flow.source, flow.slid), "to": self.address(flow.target, flow.dlid), "bytes": size, "sl": level,
                "device": self.settings.device, "port": hosts.port[flow.target.name] if self.settings.kind == "tcp" else port}

    def phase(self, hosts, name, flows, size, level=0, watch=None):
        """Seconds that each of these flows took, all at the same time. HostsError."""
        if self.settings.kind == "perftest" and any(flow.dlid != flow.target.lid or flow.slid != flow.source.lid for flow in flows):
            raise HostsError("ib_write_bw sends to base LIDs only, and this schedule has others: plan one for LMC 0, or name no schedule")
        taking, sending, ports = {}, {}, Counter()
        for number, flow in enumerate(flows):
            port = PERFTEST_PORT + ports[flow.target.name]
            ports[flow.target.name] += 1
            order = self.order(hosts, number, flow, port, size, level)
            sending.setdefault(flow.source.name, []).append(order)
            taking.setdefault(flow.target.name, []).append(order)
        if self.settings.kind == "perftest":
            self._tell_all(hosts, taking, "listen", name, "ready", watch)
            time.sleep(0.5)  # ib_write_bw listens soon after it was started
        self._tell_all(hosts, sending, "prepare", name, "ready", watch)
        answers = self._tell_all(hosts, sending, "go", name, "done", watch)
        if any(answer["lost"] for answer in answers.values()):
            raise HostsError(f"a flow failed: {', '.join(host for host, answer in answers.items() if answer['lost'])}")
        return [answers[flow.source.name]["seconds"][str(number)] for number, flow in enumerate(flows)]

    def _tell_all(self, hosts, orders, op, name, key, watch):
        for host, flows in orders.items():
            hosts.tell(host, op=op, phase=name, flows=flows if op != "go" else [], kind=self.settings.kind)
        return hosts.wait(orders, key, name, self.settings.phase_timeout, watch)


def median(values):
    return statistics.median(values) if values else None
