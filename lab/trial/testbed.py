#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fabric to try `fors trial` on where there is none: a real opensm over ibsim, and real packets between network namespaces.

    lab/trial/testbed.py FOLDER [--spines N] [--leaves N] [--servers N] [--engine NAME] [--adaptive always|load] [--slow NODE[PORT]] ...

As root; FORS_BUILDDIR names a build. It writes FOLDER/settings, says so, and runs until it is ended. What the settings have as commands
(read, counters, disable, enable, manager) asks this program over FOLDER/socket. Tables go from the simulated switches to the namespaces as
they change; a cable is pulled in both worlds at once. It can do what real fabrics do: route adaptively, have a slow cable, be told of wrongly.
"""
import argparse
import contextlib
import ctypes
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e"), str(TOP / "lab" / "testbed")]

from harness import FatTree, Ibsim, OpenSM, read_live, read_tables  # noqa: E402
from namespaces import Namespaces, address, batch  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
BUSY = 12_000  # bytes that wait before a port routes by load
SETTINGS = """run = ip netns exec {prefix}{{host}} sh -c {{command}}
own = {own}
control = {folder}/control
read = {ask} read {{net}} {{lfts}}
counters = {ask} counters
manager = {ask} manager
disable = {ask} disable {{guid}} {{port}}
enable = {ask} enable {{guid}} {{port}}
links =
path =
kind = tcp
address = 10.77.{{high}}.{{low}}
bytes = {size}
thanks = 0.033
start_timeout = 300
phase_timeout = 120
settle_timeout = 120
hold = 600
"""


def enter(space):
    """This thread goes into the network namespace, an open file of /run/netns."""
    if LIBC.setns(space, 0x40000000):
        raise OSError(ctypes.get_errno(), "setns")


def queues():
    """{device: (times that a packet waited, bytes that wait)} of the namespace of this thread, as the kernel's queues have them."""
    found = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        sock.send(struct.pack("=IHHIIBBHiIII", 36, 38, 0x301, 1, 0, 0, 0, 0, 0, 0, 0, 0))
        while True:
            data, at = sock.recv(1 << 20), 0
            while at < len(data):
                length, kind = struct.unpack_from("=IH", data, at)
                if kind == 3:
                    return found
                index, place = struct.unpack_from("=i", data, at + 20)[0], at + 36
                while place + 4 <= at + length:
                    size, what = struct.unpack_from("=HH", data, place)
                    if what == 3:
                        over, backlog = struct.unpack_from("=I", data, place + 20)[0], struct.unpack_from("=I", data, place + 36)[0]
                        device = socket.if_indextoname(index)
                        found[device] = tuple(map(max, found.get(device, (0, 0)), (over, backlog)))
                    place += max(4, size + 3 & ~3)
                at += length + 3 & ~3


def sent():
    """{device: (bytes received, sent)} of the namespace of this thread."""
    rows = [re.split(r"[:\s]+", line.strip()) for line in Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]]
    return {row[0]: (int(row[1]), int(row[9])) for row in rows}


class Testbed:
    """Ends with stop()."""

    def __init__(self, folder, tree, engine="minhop", rate=3_000_000, size=100_000, adaptive=None, slow=(), swapped=None, lmc=None):
        self.folder, self.tree, self.rate, self.adaptive, self.swapped = Path(folder).resolve(), tree, rate, adaptive, swapped
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sim = self.osm = self.net = None
        self.space = {}
        self.over, self.lock = threading.Event(), threading.Lock()
        try:
            options = {"routing_engine": engine, **({} if engine.startswith("fors") else {"event_plugin_name": None}), **({"lmc": str(lmc)} if lmc else {})}
            self.sim = Ibsim(tree, self.folder / "sim")
            self.osm = OpenSM(self.sim, self.folder / "opensm", **options)
            self.osm.wait_up()
            time.sleep(0.5)
            self.live = read_live(self.sim)
            self.guid_of = read_tables(self.sim).guid_of
            self.net = Namespaces(self.live, rate)
            for node in self.net.nodes:
                self.limit(node, [port for name, port in self.live.cable if name == node], rate)
            self.space = {node: os.open(f"/run/netns/{self.net.name(node)}", os.O_RDONLY | os.O_CLOEXEC) for node in self.guid_of}
            self.seen = None
            self.follow()
            for end in slow:
                self.slow_down(end)
            self.settings = self._write_settings(size)
            self._serve()
            self._start(self._follow_on)
            for leaf in range(tree.nleaves if adaptive == "load" else 0):
                self._start(self._balance, tree.leaf(leaf))
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def stop(self):
        self.over.set()
        if hasattr(self, "listener"):
            self.listener.close()
        with self.lock:
            for part in (self.net, self.osm, self.sim):
                if part:
                    part.stop()
            while self.space:
                os.close(self.space.popitem()[1])

    def _start(self, function, *arguments):
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _write_settings(self, size):
        ask = f"{sys.executable} {Path(__file__).resolve()} --ask {self.folder / 'socket'}"
        file = self.folder / "settings"
        file.write_text(SETTINGS.format(prefix=self.net.prefix, own=self.osm.node, folder=self.folder, ask=ask, size=size))
        return file

    # -- the packets' world follows

    def follow(self):
        """Bring tables of the simulated switches into the namespaces where they have changed."""
        with self.lock:
            if self.over.is_set():
                return
            now = self.sim.snapshot()
            if now.text == self.seen:
                return
            self.seen = now.text
            tables = read_tables(self.sim)
            self.net.apply(tables)
            if self.adaptive == "always":
                self._spray(tables)

    def _follow_on(self):
        while not self.over.wait(0.2):
            try:
                self.follow()
            except Exception as error:  # the next look may do better
                if not self.over.is_set():
                    print(f"testbed: {error}", file=sys.stderr)

    def uplinks(self, leaf):
        return sorted(port for (node, port), (other, _) in self.live.cable.items() if node == leaf and other in self.live.switch_lid
                      and (node, port) not in self.net.dead)

    def _spray(self, tables):
        """Leaves send each connection over any uplink, whatever the table says."""
        for number in range(self.tree.nleaves):
            leaf, up = self.tree.leaf(number), self.uplinks(self.tree.leaf(number))
            subprocess.run(["ip", "netns", "exec", self.net.name(leaf), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy"], check=True)
            batch("ip", [f"route replace {address(lid)}/32 " + " ".join(f"nexthop dev p{p}" for p in up) for lid, port in tables.port[leaf].items()
                         if port in up], self.net.name(leaf))

    def _balance(self, leaf):
        """A leaf moves destinations off an uplink before which packets wait, and back when none do any more."""
        enter(self.space[leaf])
        rng, moved, calm = random.Random(leaf), {}, 0
        while not self.over.wait(0.05):
            backlog = {int(device[1:]): waits for device, (_, waits) in queues().items() if device[1:].isdigit()}
            up = self.uplinks(leaf)
            full = [port for port in up if backlog.get(port, 0) > BUSY]
            calm = calm + 1 if not any(backlog.values()) else 0
            changes = {}
            for port in full:
                over = [lid for lid, out in self.net.routes[leaf].items() if moved.get(lid, out) == port]
                if over:
                    changes[rng.choice(over)] = min(up, key=lambda one: (backlog.get(one, 0), rng.random()))
            if calm > 10 and moved:
                changes, moved = {lid: self.net.routes[leaf][lid] for lid in moved}, {}
            else:
                moved.update(changes)
            for lid, port in changes.items():
                subprocess.run(["ip", "route", "replace", f"{address(lid)}/32", "dev", f"p{port}"], check=False, capture_output=True)

    def slow_down(self, end):
        """A cable at half its speed, both ways."""
        for node, port in (end, self.live.cable[end]):
            self.limit(node, [port], self.rate // 2)

    def limit(self, node, ports, rate):
        """
        No more than so many bits a second leave by the ports, and what thanks for packets goes first: it holds up no sender where other flows
        fill its way, as with reliable connections of InfiniBand.
        """
        batch("tc", [line for port in ports for line in (f"qdisc replace dev p{port} root handle 1: tbf rate {rate} burst 2100 limit 1000000",
                                                         f"qdisc replace dev p{port} parent 1:1 pfifo_fast")], self.net.name(node))

    # -- what the settings ask

    def _serve(self):
        path = self.folder / "socket"
        path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(64)
        self._start(self._accept)

    def _accept(self):
        while not self.over.is_set():
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self._start(self._answer, peer)

    def _answer(self, peer):
        with peer:
            words = peer.recv(4096).decode().split()
            try:
                said = "0\n" + getattr(self, "do_" + words[0])(*words[1:])
            except Exception as error:
                said = f"1\n{type(error).__name__}: {error}\n"
            with contextlib.suppress(OSError):  # who asked was killed
                peer.sendall(said.encode())

    def do_manager(self):
        return f"sminfo: sm lid 1 sm guid 0x{self.live.servers[self.osm.node].guid:x}, state 3 SMINFO_MASTER\n"

    def do_read(self, net, lfts):
        with self.lock:
            text, tables = read_live(self.sim).text, self.sim.run(["dump_fts"])
        Path(net).write_text(self.told_wrongly(text))
        Path(lfts).write_text(tables)
        return ""

    def told_wrongly(self, text):
        """The text as if the two cables were plugged the other way round at their first ends, two ports of one switch."""
        if not self.swapped:
            return text
        (node, a), (_, b) = self.swapped
        ends = {self.live.cable[node, a]: (a, b), self.live.cable[node, b]: (b, a)}
        blocks = re.split(r"(?m)^(?=vendid)", text)
        for i, block in enumerate(blocks):
            head = re.search(r'^Switch.*# "([^"]+)"', block, re.M)
            if head and head[1] == node:
                rows = {port: re.search(rf"^\[{port}\](.*)$", block, re.M)[1] for port in (a, b)}
                blocks[i] = re.sub(rf"^\[({a}|{b})\].*$", lambda row: f"[{row[1]}]{rows[b if int(row[1]) == a else a]}", block, flags=re.M)
            for (other, port), (old, new) in ends.items():
                if head and head[1] == other:
                    blocks[i] = re.sub(rf'(?m)^(\[{port}\]\s+"[^"]+")\[{old}\]', rf"\1[{new}]", block)
        return "".join(blocks)

    def do_counters(self):
        lines = []

        def ask():
            for switch, guid in self.guid_of.items():
                enter(self.space[switch])
                waits, moved = queues(), sent()
                lines.extend(f"0x{guid:x} {device[1:]} {moved[device][1]} {moved[device][0]} {waits.get(device, (0, 0))[0]}\n"
                             for device in moved if device[1:].isdigit())

        with ThreadPoolExecutor(1) as pool:  # a thread of its own is in a namespace of its own
            pool.submit(ask).result()
        return "".join(lines)

    def _end(self, guid, port):
        return next(name for name, number in self.guid_of.items() if number == int(guid, 16)), int(port)

    def do_disable(self, guid, port):
        end = self._end(guid, port)
        with self.lock:
            if end not in self.net.dead:
                self.net.cut(*end)
                self.sim.unlink(*end)
        return ""

    def do_enable(self, guid, port):
        end = self._end(guid, port)
        with self.lock:
            if end in self.net.dead:
                self.net.mend(*end)
                self.sim.relink(*end)
                self.seen = None
        return ""


def ask(path, words):
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        sock.sendall(" ".join(words).encode())
        said = b"".join(iter(lambda: sock.recv(65536), b"")).decode()
    print(said[2:], end="")
    return int(said[:1] or 1)


def end(*_):
    """What was built goes away; further signals do not disturb that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(0)


def main():
    parser = argparse.ArgumentParser(prog="lab/trial/testbed.py", allow_abbrev=False, description="A fabric of network namespaces to try fors trial on; as root.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    for name, usual in (("spines", 4), ("leaves", 4), ("servers", None), ("cables", 1), ("lmc", None)):
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N")
    parser.add_argument("--engine", default="minhop", metavar="NAME", help="the routing engine of opensm (default minhop)")
    parser.add_argument("--adaptive", choices=("always", "load"), help="leaves route adaptively")
    parser.add_argument("--slow", action="append", default=[], metavar="NODE[PORT]", help="a cable at half its speed")
    options = parser.parse_args()
    slow = [(node, int(port)) for node, port in (re.fullmatch(r"(.+)\[(\d+)\]", text).groups() for text in options.slow)]
    tree = FatTree(options.spines, options.leaves, options.servers, options.cables)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    with Testbed(options.folder, tree, options.engine, adaptive=options.adaptive, slow=slow, lmc=options.lmc) as made:
        print(f"ready: fors trial look --config {made.settings}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    sys.exit(ask(sys.argv[2], sys.argv[3:]) if sys.argv[1:2] == ["--ask"] else main())
