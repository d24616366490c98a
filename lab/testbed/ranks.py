#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
An MPI program over FT(2;4,4), or another tree of two levels, of real packets, by plain MPI and under libforsched-mpi, see lab/doc/testbed.md.

    lab/testbed/ranks.py [--size SPINES LEAVES [SERVERS]] [--each RANKS] [--cut] [--rate BITS] [--repeats N] [--setting NAME=VALUE]... PROGRAM [ARGUMENT...]
                                                                        (as root; FORS_BUILDDIR names a build)

The program has its ranks, some on each server, sixteen in FT(2;4,4), in the network namespaces of the servers. It is run in turn without and
with the library; a line says which, and what the program prints follows. With --cut the cable of a leaf is dead.
"""
import argparse
import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import FatTree, Ibsim, OpenSM, build_dir, read_live, read_tables  # noqa: E402
from namespaces import Namespaces, RATE, address, batch  # noqa: E402

AGENT = """#!/bin/sh
# What mpirun starts in the place of ssh: a shell in the namespace of an address, which is its host's name, too.
host=$1; shift
exec ip netns exec "$(sed -n "s/^$host //p" PLACES)" unshare --uts sh -c 'hostname "$0"; eval "$@"' "$host" "$@"
"""


class Ranks:
    """mpirun with `each` ranks in each server of the fabric, as ibnetdiscover lists them, or in the order of their names."""

    def __init__(self, net, folder, each=1, by_name=False):
        self.each = each
        self.net, self.folder = net, folder
        order = sorted(net.live.servers) if by_name else list(net.live.servers)
        servers = [net.live.servers[name] for name in order]
        self.names = [net.name(name) for name in order]
        self.hosts = [address(port.lid) for port in servers]
        (folder / "places").write_text("".join(f"{host} {name}\n" for host, name in zip(self.hosts, self.names)))
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.replace("PLACES", str(folder / "places")))
        self.agent.chmod(0o755)
        (folder / "hosts").write_text("".join(f"{host} slots={each}\n" for host in self.hosts))
        for name, port in zip(self.names, servers):  # Open MPI does not look at addresses of the loopback
            batch("ip", [f"addr add {address(port.lid)}/16 dev p1 noprefixroute"], name)
        (folder / "map").write_text("".join(f"{rank} 0x{servers[rank // each].guid:016x}\n" for rank in range(each * len(servers))))

    def run(self, program, env, timeout=900):
        settings = {"plm_rsh_agent": self.agent, "plm_rsh_no_tree_spawn": 1, "btl": "tcp,self" if self.each == 1 else "tcp,vader,self", "pml": "ob1",
                    "btl_tcp_if_include": "10.77.0.0/16", "oob_tcp_if_include": "10.77.0.0/16",
                    "mpi_yield_when_idle": 1, "opal_event_include": "epoll", "orte_keep_fqdn_hostnames": 1, "hwloc_base_binding_policy": "none"}
        command = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                   self.hosts[0], "mpirun", "--allow-run-as-root", "--hostfile", self.folder / "hosts", "-np", self.each * len(self.names)]
        for key, value in settings.items():
            command += ["--mca", key, value]
        preload = ":".join(str(file) for file in (idle(), env.get("LD_PRELOAD")) if file)
        for key, value in {**env, "LD_PRELOAD": preload}.items():
            command += ["-x", f"{key}={value}"]
        return subprocess.run([str(word) for word in [*command, *program]], capture_output=True, text=True, timeout=timeout)


@contextlib.contextmanager
def stage(folder, rate=RATE, cut=False, each=1, size=(4, 4), leaf=1, by_name=False):
    """FT(2;`size`) under a real opensm with fors, as namespaces: (Ranks, the schedule's file). A cable of the leaf may be dead."""
    tree = FatTree(*size)
    with Ibsim(tree, folder / "sim") as sim, OpenSM(sim, folder / "opensm", routing_engine="fors", lmc="0") as osm:
        epoch = osm.wait_epoch(0)["epoch"]
        live = read_live(sim)
        if cut:
            cable = tree.uplink(leaf, 2)
            sim.unlink(cable.leaf, cable.leaf_port)
            osm.wait_epoch(epoch)
        with Namespaces(live, rate) as net:
            net.apply(read_tables(sim))
            ranks = Ranks(net, folder, each, by_name)
            ranks.manager = osm
            yield ranks, osm.schedule_file


def idle():
    """The module that lets idle ranks wait instead of spin."""
    return build_dir().resolve() / "lab" / "testbed" / ".libs" / "idle.so"


def following(folder, schedule):
    """The environment of ranks under the build's library, along a schedule."""
    return {"LD_PRELOAD": build_dir().resolve() / ".libs" / "libforsched-mpi.so", "FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": folder / "map"}


def other_libraries(options, env):
    """What --library names: label -> `env` with this library in the place of the build's."""
    return {label: {**env, "LD_PRELOAD": Path(file).resolve()} for label, file in (text.split("=", 1) for text in options.library)}


def add_alltoallv_options(parser):
    """Those of all that runs lab/testbed/alltoallv over a stage."""
    parser.add_argument("--sigmas", nargs="+", type=float, default=[0, 0.1, 0.25, 0.5, 1], metavar="S")
    parser.add_argument("--cut", action="store_true", help="a dead cable")
    parser.add_argument("--mean", type=int, default=40000, metavar="BYTES", help="of a message (default 40000)")
    parser.add_argument("--rate", type=int, default=6_000_000, metavar="BITS", help="of a cable, a second (default 6000000)")
    parser.add_argument("--each", type=int, default=1, metavar="RANKS", help="on each server (default 1)")
    parser.add_argument("--alltoall", action="store_true", help="MPI_Alltoall")
    parser.add_argument("--library", action="append", default=[], metavar="LABEL=FILE", help="also this library")
    parser.add_argument("--json", action="store_true")


def run_both(options, folder):
    settings = dict(setting.split("=", 1) for setting in options.setting)
    with stage(folder, options.rate, options.cut, options.each, options.size) as (ranks, schedule):
        for _ in range(options.repeats):
            for label, env in (("plain", {}), ("library", {**following(folder, schedule), **settings})):
                done = ranks.run([options.program, *options.arguments], env)
                if done.returncode:
                    sys.exit(f"lab/testbed/ranks.py: {label}: {done.stderr[-2000:]}")
                print(f"== {label}, {options.each} on each server{', a dead cable' if options.cut else ''}")
                print(done.stdout, end="", flush=True)
                sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))


def main():
    parser = argparse.ArgumentParser(prog="lab/testbed/ranks.py", allow_abbrev=False,
                                     description="An MPI program over real packets, by plain MPI and under libforsched-mpi.")
    parser.add_argument("--size", type=int, nargs="+", default=(4, 4), metavar="N", help="spines, leaves, servers of a leaf: as many as spines (default 4 4)")
    parser.add_argument("--each", type=int, default=1, metavar="RANKS", help="on each server (default 1)")
    parser.add_argument("--cut", action="store_true", help="a dead cable")
    parser.add_argument("--rate", type=int, default=RATE, metavar="BITS", help=f"of a cable, a second (default {RATE})")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="of both (default 1)")
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="also in the library's environment")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not 2 <= len(options.size) <= 3:
        parser.error("--size: two numbers, or three")
    with tempfile.TemporaryDirectory(prefix="fors-ranks-") as scratch:
        run_both(options, Path(scratch))


if __name__ == "__main__":
    main()
