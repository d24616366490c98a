# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A simulated InfiniBand fabric with a real opensm on it, for tests, demo and bench.

Three things that know nothing of each other:

    Topology   a two-level fat-tree as data; writes the net file that ibsim reads
    Ibsim      the simulator process: cables are pulled and plugged on its console
    OpenSM     the stock opensm, attached to one node of a simulator

and functions that read what the switches really hold (dump_fts, ibnetdiscover).

Each simulator has a name of its own (IBSIM_SOCKNAME), each opensm its own
directories and process group, so that any number of them run side by side. Processes
are ended by their pid. Nothing here uses code of fors: the tests need a second opinion.
"""
import atexit
import collections
import fcntl
import functools
import glob
import itertools
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections import namedtuple
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NO_PATH = 255
PROMPT = b"sim> "
DIES_WITH_US = ["setpriv", "--pdeathsig", "KILL"]  # before a command: even when this process is killed, nothing is left running

_serial = itertools.count()


class HarnessError(Exception):
    """The set-up does not work (as opposed to: fors gave a wrong answer)."""


def is_installed():
    """Whether the installed fors is meant, not a build: FORS_BUILDDIR=installed."""
    return os.environ.get("FORS_BUILDDIR") == "installed"


def build_dir():
    """Where make was run: $FORS_BUILDDIR, else the first directory that has libfors.so."""
    if os.environ.get("FORS_BUILDDIR"):
        return Path(os.environ["FORS_BUILDDIR"]).resolve()
    for candidate in (TOP, TOP / "build", TOP / "build-land"):
        if (candidate / ".libs" / "libfors.so").exists():
            return candidate
    raise HarnessError("no built libfors.so found; run make, or set FORS_BUILDDIR")


def built(target):
    """The path of a file that `make` leaves in the build; tests that run side by side make one thing after the other."""
    with open(build_dir() / "config.status", "rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-s", "-C", build_dir(), target], capture_output=True, text=True, check=False)
    if done.returncode:
        raise HarnessError(f"make {target}: {done.stderr[-1000:]}")
    return build_dir() / target


def fors_command(*arguments):
    """argv of the command fors."""
    return ["fors" if is_installed() else str(build_dir() / "fors"), *map(str, arguments)]


def fors(*arguments, code=0, env=None):
    """Run the command fors to the end, which has to be with this exit code (None: any); what it said."""
    done = subprocess.run(fors_command(*arguments), capture_output=True, text=True, timeout=600, env={**os.environ, **(env or {})}, check=False)
    assert code in (None, done.returncode), f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def heeds_ctrl_c():
    """For preexec_fn: what a job of a script starts ignores SIGINT, and so would what it tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def of_processes(name):
    """What /proc/PID/name holds, for every process that is still there when it is read."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path("/proc", pid, name).read_bytes()
        except OSError:
            continue
        if text:
            yield text


def plugin_environment(plugin_dir=None):
    """What makes the loader find libfors.so; nothing when it is installed."""
    if is_installed() and not plugin_dir:
        return {}
    return {"LD_LIBRARY_PATH": str(plugin_dir or build_dir() / ".libs")}


def opensm_program():
    """Path of the opensm that the tests start: $OPENSM, of the version of the headers that fors was built with; else the installed one."""
    return os.environ.get("OPENSM", "/usr/sbin/opensm")


def umad2sim():
    """Path of the library that connects a program to ibsim."""
    found = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so")
    if not found:
        raise HarnessError("libumad2sim.so not found. On Debian: apt-get install ibsim-utils")
    return found[0]


@functools.cache
def compiled(name, folder=Path(__file__).parent):
    """Path of a library to be preloaded, from the C file of that name: beside this one, or in a folder."""
    made_in = tempfile.TemporaryDirectory(prefix="fors-preload-")
    atexit.register(made_in.cleanup)
    made = Path(made_in.name) / f"{name}.so"
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=gnu11", "-O2", "-shared", "-fPIC", "-pthread", "-o", made,
                    folder / f"{name}.c", "-ldl"], check=True)
    return str(made)


def asan_library():
    """Path of the compiler's libasan.so, to be preloaded when the plugin was built with it."""
    path = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return os.path.realpath(path.stdout.strip())


def patience():
    """How much longer things may take than on a machine with nothing else to do."""
    return min(10.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1) / 2))


def wait_for(condition, timeout=20.0, what="condition", interval=0.01):
    """
    The first true result of condition(), asked until `timeout` seconds have passed on an idle machine, and much longer where
    that is not sure: a limit costs nothing when all is well. A file that it reads may come later than the others.
    """
    timeout *= 4 * patience()
    end = time.monotonic() + timeout
    while True:
        missing = None
        try:
            result = condition()
            if result:
                return result
        except FileNotFoundError as error:
            missing = error
        if time.monotonic() > end:
            raise HarnessError(f"waited {timeout:.0f} s in vain for: {what}{f' ({missing})' if missing else ''}")
        time.sleep(interval)


Cable = namedtuple("Cable", "leaf leaf_port spine spine_port")


class Topology:
    """Nodes and cables by name. `cable` maps (node, port) to (node, port), both ways."""

    def __init__(self):
        self.switches = {}  # name -> number of ports
        self.hcas = {}      # name -> number of ports
        self.cable = {}

    def connect(self, node_a, port_a, node_b, port_b):
        for end in ((node_a, port_a), (node_b, port_b)):
            if end in self.cable:
                raise HarnessError(f"{end} is cabled already")
        self.cable[node_a, port_a] = (node_b, port_b)
        self.cable[node_b, port_b] = (node_a, port_a)

    def text(self):
        """In the notation of ibnetdiscover, as far as ibsim needs it."""
        out = []
        for kind, nodes in (("Switch", self.switches), ("Hca", self.hcas)):
            for name, nports in nodes.items():
                out.append(f'{kind}\t{nports} "{name}"\n')
                for port in range(1, nports + 1):
                    if (name, port) in self.cable:
                        peer, peer_port = self.cable[name, port]
                        out.append(f'[{port}]\t"{peer}"[{peer_port}]\n')
                out.append("\n")
        return "".join(out)


def with_width(text, narrow):
    """The text of a net file where the ports (node, number) of `narrow` run at a quarter of their width."""
    out, node = [], None
    for line in text.splitlines():
        head = re.match(r'\w+\t\d+ "([^"]+)"', line)
        node = head.group(1) if head else node
        port = re.match(r"\[(\d+)\]", line)
        out.append(line + ("  w=1" if port and (node, int(port.group(1))) in narrow else "") + "\n")
    return "".join(out)


def slow_servers(tree):
    """All servers' cables of a tree run at a quarter of their width."""
    class Slow(type(tree)):
        def text(self):
            ends = {(name, 1) for name in self.hcas}
            return with_width(super().text(), ends | {self.cable[end] for end in ends})

    tree.__class__ = Slow
    return tree


class FatTree(Topology):
    """FT(2;spines,leaves): names, ports and cables as the grammar of `fors plan --synthetic` has them."""

    guests = ()  # hosts below spines or stubs

    idle = ()    # servers that take no part

    slow = ()    # Cables below full width
    late = frozenset()  # servers that are off at the start
    has_free = has_cache = False  # hosts move to free ports; opensm caches its routing

    @staticmethod
    def stub_cable(_):
        """The cable of a switch that is no part of the tree: (leaf, port, stub, port)."""
        return ()

    def __init__(self, spines, leaves, servers=None, cables=1, empty=()):
        super().__init__()
        self.nspines, self.nleaves, self.ncables = spines, leaves, cables
        self.nservers = spines if servers is None else servers
        for a in range(leaves):
            self.switches[self.leaf(a)] = self.nservers + spines * cables
        for k in range(spines):
            self.switches[self.spine(k)] = leaves * cables
        for a in range(leaves):
            for s in range(self.nservers):
                if (a, s) not in empty:
                    self.hcas[self.server(a, s)] = 1
                    self.connect(self.leaf(a), s + 1, self.server(a, s), 1)
            for k in range(spines):
                for c in range(cables):
                    self.connect(*self.uplink(a, k, c))

    @staticmethod
    def leaf(a):
        return f"Leaf{a:02d}"

    @staticmethod
    def spine(k):
        return f"Spine{k:02d}"

    @staticmethod
    def server(a, s):
        return f"Node{a:02d}-{s:02d}"

    @staticmethod
    def spare(k):
        """A switch that may take the place of spine k."""
        return f"Spare{k:02d}"

    def servers(self):
        return [name for name in self.hcas if name not in self.guests]

    @functools.cached_property
    def homes(self):
        """
        Home lane of each (leaf, slot), by its rank among all servers; stretched to a multiple of the lanes where no leaf
        gets two on one lane by it (all leaves are equal here, so no link is fuller then).
        """
        lanes = self.nspines * self.ncables
        places = sorted(tuple(map(int, re.match(r"Node(\d+)-(\d+)", name).groups())) for name in self.servers())
        count = len(places)
        most = max(collections.Counter(leaf for leaf, _ in places).values(), default=0)
        wide = -(-count // lanes) * lanes
        homes = {place: rank * wide // count % lanes for rank, place in enumerate(places)}
        if most <= lanes and len({(leaf, home) for (leaf, _), home in homes.items()}) == count:
            return homes
        return {place: rank % lanes for rank, place in enumerate(places)}

    def varies(self, slot):
        """With one LID per port: is it among what full leaves have beyond a multiple of the lanes?"""
        lanes = self.nspines * self.ncables
        return self.nservers > lanes and slot >= self.nservers // lanes * lanes

    def uplink(self, a, k, cable=0):
        """The cable between leaf a and spine k."""
        return Cable(self.leaf(a), self.nservers + k * self.ncables + cable + 1,
                     self.spine(k), a * self.ncables + cable + 1)


class Ibsim:
    """One simulator. `down` is the set of (node, port) whose cable is pulled."""

    def __init__(self, topology, directory):
        self.topology = topology
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.name = f"fors-{os.getpid()}-{next(_serial)}"
        self.net_file = self.directory / "fabric.net"
        self.net_file.write_text(topology.text())
        self._output = []
        self._prompts = 0
        self._console = threading.Lock()
        nodes = len(topology.switches) + len(topology.hcas)
        ports = sum(topology.switches.values()) + sum(topology.hcas.values()) + nodes
        self.process = subprocess.Popen(
            [*DIES_WITH_US, "ibsim", "-s", "-N", str(max(nodes + 8, 64)), "-S", str(max(len(topology.switches) + 8, 64)),
             "-P", str(max(2 * ports, 1024)), "-L", "49152", str(self.net_file)],
            cwd=self.directory, env=dict(os.environ, IBSIM_SOCKNAME=self.name), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, start_new_session=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            wait_for(lambda: self._prompts, 20, "ibsim to be ready")
        except HarnessError:
            self.stop()
            raise HarnessError("ibsim did not start:\n" + self.output().decode(errors="replace"))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def _read(self):
        while True:
            data = self.process.stdout.read(65536)
            if not data:
                return
            output = self._output
            tail = output[-1][-(len(PROMPT) - 1):] if output else b""
            output.append(data)
            self._prompts += (tail + data).count(PROMPT)  # one may be cut in two

    def output(self):
        """What it has printed since the last commands()."""
        return b"".join(self._output)

    def commands(self, lines):
        """Type lines on the console, wait until ibsim has done them all; what it printed. Any thread."""
        lines = list(lines)
        with self._console:
            self._output, prompts = [], self._prompts + len(lines)
            self.process.stdin.write("".join(line + "\n" for line in lines).encode())
            wait_for(lambda: self._prompts >= prompts or self.process.poll() is not None, 30, lines, 0.001)
            if self.process.poll() is not None:
                raise HarnessError(f"ibsim ended on: {lines}")
            return self.output().decode(errors="replace")

    def command(self, line):
        return self.commands([line])

    def snapshot(self):
        """Cables, LIDs and tables in the simulated hardware at one moment, none of it asked by packets."""
        return Snapshot(self.command("Dump"))

    def forget_process(self, pid):
        """Close what a killed process left open, as its kernel would: its port is that of a subnet manager no more."""
        for client, owner in re.findall(r"Client (\d+): pid (\d+)", self.command("Attached")):
            if int(owner) == pid:
                self.command(f"X {client}")

    def unlink(self, node, port):
        self.command(f'Unlink "{node}"[{port}]')

    def relink(self, node, port):
        self.command(f'Relink "{node}"[{port}]')

    def link(self, node_a, port_a, node_b, port_b):
        self.command(f'Link "{node_a}"[{port_a}] "{node_b}"[{port_b}]')

    def unlink_node(self, node):
        """Pull all cables of a node."""
        self.command(f'Unlink "{node}"')

    def relink_node(self, node):
        self.command(f'Relink "{node}"')

    def environment(self, node, preload=()):
        """Environment of a program that sits on `node`."""
        return dict(os.environ, IBSIM_SOCKNAME=self.name, SIM_HOST=node,
                    LD_PRELOAD=":".join([*preload, umad2sim()]))

    def run(self, argv, node=None, timeout=60):
        """
        Run one of infiniband-diags on the fabric; its standard output. They only read, and ask again when a busy ibsim lets a
        packet of theirs wait for seconds. Then some never end, and dump_fts prints the block before in place of the one that it
        did not get, and calls that a success.
        """
        scratch = self.directory / "tools"
        scratch.mkdir(exist_ok=True)
        for _ in range(3):
            code, out, errors = self._try(argv, node, scratch, timeout)
            if "timed out" not in errors:
                break
        if code or "SubnGet(LFT) failed" in errors:
            raise HarnessError(f"{argv[0]} failed: {errors[-500:]}")
        return out

    def _try(self, argv, node, scratch, timeout):
        """(exit code, standard output, errors)"""
        try:
            done = subprocess.run(argv, env=self.environment(node or next(iter(self.topology.hcas))), cwd=scratch,
                                  capture_output=True, text=True, timeout=timeout * patience(), check=False)
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            return 1, "", f"{late} (timed out): {(late.stderr or b'').decode(errors='replace')}"

    def stop(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self._reader.join(5)
        self.process.stdin.close()
        self.process.stdout.close()


# A handover that reaches a manager that still discovers is lost on it: both stand by then, until the stronger one's polls
# tell it that nobody is the master, after 40 s by default.
SHORT_POLLS = {"sminfo_polling_timeout": 500, "polling_retry_number": 2}


def stronger(fabric, sim, directory, node, **options):
    """A further opensm that takes over from the one that is there, and is up as the master."""
    second = OpenSM(sim, directory, node=node, sm_priority=14, **SHORT_POLLS, **options)
    fabric.also(second)
    second.wait_log("Entering MASTER state")
    second.wait_up()
    return second


def stacks_of(pid):
    """Where the threads of a process are: what the kernel says, and gdb, or valgrind when it runs under that."""
    said = []
    try:
        for task in sorted(Path(f"/proc/{pid}/task").iterdir()):
            said += [f"{task.name} {name}: {(task / name).read_text().strip()}" for name in ("comm", "wchan", "syscall")]
        is_memcheck = "memcheck" in os.readlink(f"/proc/{pid}/exe")
        asked = ["vgdb", f"--pid={pid}", "v.info", "scheduler"] if is_memcheck else [
            "gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt"]
        said.append(subprocess.run(asked, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL).stdout)
    except (OSError, subprocess.TimeoutExpired) as error:  # it has ended, there is no gdb
        said.append(str(error))
    return "\n".join(said)


class OpenSM:
    """A stock opensm (opensm_program()) on one node of an Ibsim; `options` are lines of opensm.conf.

    fors_conf: text of a fors.conf, or None for none. prefix: argv before opensm
    (valgrind). preload: libraries to load first (libasan). plugin_dir: where libfors.so is.
    """

    DEFAULTS = {
        "routing_engine": "fors",
        "event_plugin_name": "fors",
        "force_log_flush": "TRUE",
        "log_flags": "0x03",
        "sweep_interval": "10",
    }

    def __init__(self, sim, directory, node=None, fors_conf=None, prefix=(), preload=(), plugin_dir=None, env=None,
                 **options):
        self.sim = sim
        self.directory = Path(directory)
        self.tmp, self.cache = self.directory / "tmp", self.directory / "cache"
        for path in (self.directory, self.tmp, self.cache):
            path.mkdir(parents=True, exist_ok=True)
        self.log_file = self.directory / "opensm.log"
        self.node = node or next(iter(sim.topology.hcas))
        settings = dict(self.DEFAULTS)
        if fors_conf is not None:
            self.fors_conf = self.directory / "fors.conf"
            self.fors_conf.write_text(fors_conf)
            settings["event_plugin_options"] = f"fors_config={self.fors_conf}"
        settings.update(options)
        self.conf = self.directory / "opensm.conf"
        self.conf.write_text("".join(f"{key} {value}\n" for key, value in settings.items() if value is not None))
        environment = self.sim.environment(self.node, [*preload, compiled("umad_timeouts")])
        environment.update(OSM_TMP_DIR=str(self.tmp), OSM_CACHE_DIR=str(self.cache))
        if settings["event_plugin_name"]:
            environment.update(plugin_environment(plugin_dir))
        environment.update(env or {})
        self.started = time.time()
        with open(self.directory / "opensm.out", "ab") as out:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *prefix, opensm_program(), "-F", str(self.conf), "-f", str(self.log_file)], cwd=self.directory,
                env=environment, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    # -- the log

    def log(self, since=0):
        """Text of the log, from the position that log_end() once gave."""
        try:
            with open(self.log_file, "rb") as log:
                log.seek(since)
                return log.read().decode(errors="replace")
        except FileNotFoundError:
            return ""

    def recent_log(self, since=0):
        """The end of the log for an error message, without debugging lines."""
        lines = [line for line in self.log(since).splitlines() if " 0x08 -> " not in line]
        return "--- end of the log:\n" + "\n".join(lines[-25:])

    def log_end(self):
        return self.log_file.stat().st_size if self.log_file.exists() else 0

    def wait_log(self, pattern, since=0, timeout=20.0):
        """The match of a regular expression in the log after `since`."""
        def look():
            self.check_alive()
            return re.search(pattern, self.log(since))
        try:
            return wait_for(look, timeout, f"{pattern!r} in opensm's log")
        except HarnessError as error:
            raise HarnessError(f"{error}\n{self.recent_log(since)}") from None

    def wait_up(self, since=0, timeout=30.0):
        """Wait until a sweep is complete: "SUBNET UP"."""
        return self.wait_log("SUBNET UP", since, timeout)

    def check_alive(self):
        if self.process.poll() is not None:
            out = (self.directory / "opensm.out").read_text(errors="replace")
            raise HarnessError(f"opensm ended with {self.process.returncode}\n{out[-1000:]}\n{self.recent_log()}")

    # -- what fors published

    @property
    def state_dir(self):
        found = sorted((self.cache / "fors").glob("0x*"))
        return found[0] if found else self.cache / "fors" / "none"

    @property
    def schedule_file(self):
        return self.state_dir / "schedule"

    def status(self):
        """status.json as a dict; empty when there is none yet."""
        try:
            return json.loads((self.state_dir / "status.json").read_text())
        except FileNotFoundError:
            return {}

    def wait_status(self, timeout=20.0, **wanted):
        """The status, as soon as all the wanted keys have the wanted values (or satisfy the given functions)."""
        def look():
            self.check_alive()
            status = self.status()
            good = all(want(status.get(key)) if callable(want) else status.get(key) == want
                       for key, want in wanted.items())
            return status if status and good else None
        try:
            return wait_for(look, timeout, f"status {wanted}")
        except HarnessError as error:
            raise HarnessError(f"{error}\nstatus: {self.status()}\n{self.recent_log()}") from None

    def wait_epoch(self, after=0, timeout=20.0):
        """The status of the first active schedule with an epoch above `after`."""
        return self.wait_status(timeout, state="active", epoch=lambda epoch: epoch is not None and epoch > after)

    # -- commands

    def sighup(self):
        """Once opensm catches it: before that, soon after the start, it would end opensm."""
        wait_for(self._catches_sighup, 20, "opensm to catch SIGHUP")
        os.kill(self.process.pid, signal.SIGHUP)

    def _catches_sighup(self):
        text = Path("/proc", str(self.process.pid), "status").read_text()
        return int(re.search(r"^SigCgt:\s*([0-9a-f]+)", text, re.M)[1], 16) >> (signal.SIGHUP - 1) & 1

    def sweep(self):
        """
        A heavy sweep of which nothing was done before this call. fors publishes before a sweep ends, so the next "SUBNET UP"
        may be that of a sweep before: what begins after that one has ended is new.
        """
        for _ in range(2):
            mark = self.log_end()
            self.sighup()
            self.wait_up(mark)

    def console(self, line):
        """Type on opensm's console; needs the option console="local"."""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def stop(self, timeout=20):
        """End opensm by its pid; its exit status."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(timeout * patience())
            except subprocess.TimeoutExpired:
                print(f"opensm did not end within {timeout} s:\n{stacks_of(self.process.pid)}")
                os.kill(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.process.stdin.close()
        return self.process.returncode


# ---------------------------------------------------------------------------
# What the switches really hold

Tables = namedtuple("Tables", "port guid_of")  # port: {switch name: {lid: port}}, guid_of: {switch name: guid}

LFT_HEAD = re.compile(r"Unicast lids .*? guid (0x[0-9a-f]+) \('?(.*?)'?\):$")
_LFT_ROW = re.compile(r"0x([0-9a-f]+) (\d+)\b")


def parse_tables(text):
    """Tables from the text that dump_fts prints, or of opensm-lfts.dump."""
    port, guid_of, rows = {}, {}, None
    for line in text.splitlines():
        head = LFT_HEAD.match(line)
        if head:
            guid_of[head.group(2)] = int(head.group(1), 16)
            rows = port[head.group(2)] = {}
            continue
        row = _LFT_ROW.match(line)
        if row and rows is not None and int(row.group(2)) != NO_PATH:
            rows[int(row.group(1), 16)] = int(row.group(2))
    return Tables(port, guid_of)


def read_tables(sim, node=None):
    """The tables in the simulated switches, asked from `node`."""
    return parse_tables(sim.run(["dump_fts"], node))


Port = namedtuple("Port", "name guid lid lmc")


class Live:
    """The fabric as ibnetdiscover sees it now: cables by name, LIDs of the server ports and switches."""

    def __init__(self, text):
        self.text = text
        self.cable = {}      # (name, port) -> (name, port)
        self.servers = {}    # name -> Port
        self.ports = []      # all of them, also where several nodes have a name
        self.switch_lid = {}  # name -> lid
        ids = {}
        links = []
        node = None
        for line in text.splitlines():
            head = re.match(r'(Switch|Ca)\s+\d+\s+"([^"]+)"\s+# "([^"]*)"(.*)', line)
            if head:
                kind, node, name, rest = head.groups()
                ids[node] = name
                if kind == "Switch":
                    self.switch_lid[name] = int(re.search(r"lid (\d+)", rest).group(1))
                continue
            link = re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([^"]+)"\[(\d+)\].*?# (.*)', line)
            if link:
                links.append((node, int(link.group(1)), link.group(3), int(link.group(4))))
                own = re.match(r'lid (\d+) lmc (\d+)', link.group(5))
                if link.group(2) and own:
                    self.ports.append(Port(ids[node], int(link.group(2), 16), int(own.group(1)), int(own.group(2))))
                    self.servers[ids[node]] = self.ports[-1]
        for a, port_a, b, port_b in links:
            self.cable[ids[a], port_a] = (ids[b], port_b)


def read_live(sim, node=None):
    return Live(sim.run(["ibnetdiscover"], node))


class Snapshot:
    """What `Dump` on ibsim's console shows: the hardware itself, at one moment. Tables are read when asked for."""

    def __init__(self, text):
        self.text = text[text.index("\n\n"):]  # without the time
        self.cable = {}   # (name, port) -> (name, port), linked ones only
        self.port = {}    # name -> Port: port 1 of CAs, port 0 of switches
        self.switches = {}  # name -> the lines that show its table
        for block in self.text.strip().split("\n\n"):
            head, *rows = block.split("\n")
            kind, name = re.match(r'(\w+) \d+ "(.*?)"', head).groups()
            if kind == "Switch":
                self.switches[name] = [row for row in rows if row.startswith("#\tForw")]
            for row in rows:
                if row[:1] != "#" and "\t[" in row:
                    self._add_port(name, row)

    @functools.cached_property
    def table(self):
        """switch name -> its ports by LID, NO_PATH for none"""
        return {name: bytearray(int(port, 16) for row in rows for port in re.findall(r"\](\w+)", row))
                for name, rows in self.switches.items()}

    def lids(self, name):
        port = self.port[name]
        return range(port.lid, port.lid + (1 << port.lmc))

    def entry(self, switch, lid):
        """A switch that has just come may have a short table."""
        table = self.table[switch]
        return table[lid] if lid < len(table) else NO_PATH

    def reached(self, start):
        """All nodes that cables lead to from a node."""
        nodes, todo, onward = {start}, [start], collections.defaultdict(set)
        for (node, _), (peer, _) in self.cable.items():
            onward[node].add(peer)
        while todo:
            new = onward[todo.pop()] - nodes
            nodes |= new
            todo += new
        return nodes

    def way(self, switch, lid, cable=None, most=8):
        """From a switch, by the tables: the directed cables as [(switch, port), ...], and where that ends; None: it does not, or in the air."""
        ends, cable = [], cable or self.cable
        while switch in self.switches and len(ends) < most:
            ends.append((switch, self.entry(switch, lid)))
            switch = cable.get(ends[-1], (None,))[0]
        return ends, None if switch in self.switches else switch

    def walk(self, source, lid):
        """The node that a packet from the CA `source` to the LID ends at, and the directed cables on its way as [(node, port), ...]."""
        ends, at = self.way(self.cable[source, 1][0], lid)
        assert at, f"from {source} LID {lid} goes {ends}"
        return at, [(source, 1), *ends]

    def _add_port(self, name, row):
        guid, number, peer, rest = row.split("\t", 3)
        number = int(number[1:-1])
        if number == (0 if name in self.switches else 1):
            lid, lmc = re.search(r"lid (\d+) lmc (\d+)", rest).groups()
            self.port[name] = Port(name, int(guid, 16), int(lid), int(lmc))
        if number and peer:
            other, other_port = peer[1:-1].split('"[')
            self.cable[name, number] = (other, int(other_port))


def changed_entries(before, after):
    """The set of (switch, lid) whose entry differs; switches that are in both tables."""
    changed = set()
    for name, rows in before.port.items():
        if name in after.port:
            other = after.port[name]
            changed |= {(name, lid) for lid in rows.keys() | other.keys() if rows.get(lid) != other.get(lid)}
    return changed


def walk(tables, cable, source, lid, limit=8):
    """The directed cables from the CA `source` to the LID as [(node, port), ...], or None when it does not arrive."""
    hops = [(source, 1)]
    while len(hops) <= limit:
        node, _ = cable.get(hops[-1], (None, 0))
        if node is None:
            return None
        if node not in tables.port:
            return hops
        port = tables.port[node].get(lid, NO_PATH)
        if port == 0:
            return hops
        hops.append((node, port))
    return None
