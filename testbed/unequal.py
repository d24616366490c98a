#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
What libforsched-mpi makes of messages of unequal sizes: MPI over FT(2;4,4) of real packets, see doc/applications.md.

    testbed/unequal.py [--sigmas S...] [--cut] [--calls N] [--mean BYTES] [--rate BITS] [--alltoall]
                       [--library LABEL=FILE]... [--setting LABEL:NAME=VALUE]... [--json]
                                                                        (as root; FORS_BUILDDIR names a build)

Sixteen ranks, each in the network namespace of a server, call MPI_Alltoallv with messages of lognormal sizes. Printed is the
time of a call over that which the fullest port needs for its bytes, the median of the calls but the first ones: by plain MPI, by the
library of the build, and by those that --library names. With --cut the cable of a leaf is dead.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TOP / "tests" / "e2e")]

from harness import FatTree, Ibsim, OpenSM, build_dir, read_live, read_tables  # noqa: E402
from namespaces import MTU, Namespaces, address, batch  # noqa: E402

FIRST = 3  # calls that are not counted: connections, and what the library learns
PAYLOAD = (MTU - 52) / (MTU + 14)  # of a packet's bytes on a cable, TCP with time stamps
AGENT = """#!/bin/sh
# What mpirun starts in the place of ssh: a shell in the namespace of an address, which is its host's name, too.
host=$1; shift
exec ip netns exec "$(sed -n "s/^$host //p" PLACES)" unshare --uts sh -c 'hostname "$0"; eval "$@"' "$host" "$@"
"""


class Ranks:
    """mpirun with one rank in each server of the fabric, in the order of the schedule's servers."""

    def __init__(self, net, folder):
        self.net, self.folder = net, folder
        self.names = [net.name(name) for name in net.live.servers]
        self.hosts = [address(port.lid) for port in net.live.servers.values()]
        (folder / "places").write_text("".join(f"{host} {name}\n" for host, name in zip(self.hosts, self.names)))
        self.agent = folder / "agent"
        self.agent.write_text(AGENT.replace("PLACES", str(folder / "places")))
        self.agent.chmod(0o755)
        (folder / "hosts").write_text("".join(f"{host} slots=1\n" for host in self.hosts))
        servers = [net.live.servers[name] for name in net.live.servers]
        for name, port in zip(self.names, servers):  # Open MPI does not look at addresses of the loopback
            batch("ip", [f"addr add {address(port.lid)}/16 dev p1 noprefixroute"], name)
        (folder / "map").write_text("".join(f"{rank} 0x{port.guid:016x}\n" for rank, port in enumerate(servers)))

    def run(self, program, env, timeout=900):
        settings = {"plm_rsh_agent": self.agent, "plm_rsh_no_tree_spawn": 1, "btl": "tcp,self", "pml": "ob1",
                    "btl_tcp_if_include": "10.77.0.0/16", "oob_tcp_if_include": "10.77.0.0/16",
                    "mpi_yield_when_idle": 1, "orte_keep_fqdn_hostnames": 1, "hwloc_base_binding_policy": "none"}
        command = ["ip", "netns", "exec", self.names[0], "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                   self.hosts[0], "mpirun", "--allow-run-as-root", "--hostfile", self.folder / "hosts", "-np", len(self.names)]
        for key, value in settings.items():
            command += ["--mca", key, value]
        for key, value in env.items():
            command += ["-x", f"{key}={value}"]
        return subprocess.run([str(word) for word in [*command, *program]], capture_output=True, text=True, timeout=timeout)


def main():
    parser = argparse.ArgumentParser(prog="testbed/unequal.py", allow_abbrev=False,
                                     description="MPI_Alltoallv with unequal sizes over real packets: time over the port bound.")
    parser.add_argument("--sigmas", nargs="+", type=float, default=[0, 0.1, 0.25, 0.5, 1], metavar="S")
    parser.add_argument("--cut", action="store_true", help="a dead cable")
    parser.add_argument("--calls", type=int, default=5, metavar="N", help="that are counted (default 5)")
    parser.add_argument("--mean", type=int, default=40000, metavar="BYTES", help="of a message (default 40000)")
    parser.add_argument("--rate", type=int, default=6_000_000, metavar="BITS", help="of a cable, a second (default 6000000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--alltoall", action="store_true", help="MPI_Alltoall")
    parser.add_argument("--library", action="append", default=[], metavar="LABEL=FILE", help="also this library")
    parser.add_argument("--setting", action="append", default=[], metavar="LABEL:NAME=VALUE",
                        help="also the build's library, with this in the environment")
    parser.add_argument("--verbose", action="store_true", help="FORSCHED_VERBOSE=2")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fors-unequal-") as scratch:
        measure(options, Path(scratch))


def ways_of(options, schedule, folder):
    """Label -> environment."""
    follow = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": folder / "map"}
    if options.verbose:
        follow["FORSCHED_VERBOSE"] = 2
    own = {"LD_PRELOAD": build_dir().resolve() / ".libs" / "libforsched-mpi.so", **follow}
    ways = {"plain": {}, "library": own}
    for text in options.library:
        label, file = text.split("=", 1)
        ways[label] = {**follow, "LD_PRELOAD": Path(file).resolve()}
    for text in options.setting:
        label, name, value = re.fullmatch(r"([^:]+):(\w+)=(.*)", text).groups()
        ways[label] = {**ways.get(label, own), name: value}
    return ways


def measure(options, folder):
    tree = FatTree(4, 4)
    with Ibsim(tree, folder / "sim") as sim, OpenSM(sim, folder / "opensm", routing_engine="fors", lmc="0") as osm:
        epoch = osm.wait_epoch(0)["epoch"]
        live = read_live(sim)
        if options.cut:
            cable = tree.uplink(1, 2)
            sim.unlink(cable.leaf, cable.leaf_port)
            osm.wait_epoch(epoch)
        with Namespaces(live, options.rate) as net:
            net.apply(read_tables(sim))
            ranks = Ranks(net, folder)
            for sigma in options.sigmas:
                report(options, sigma, {label: call(options, ranks, sigma, env)
                                        for label, env in ways_of(options, osm.schedule_file, folder).items()})


def call(options, ranks, sigma, env):
    program = [os.environ.get("ALLTOALLV", build_dir().resolve() / "testbed" / "alltoallv"), sigma, options.mean, options.seed, options.calls + FIRST,
               *(["alltoall"] if options.alltoall else [])]
    done = ranks.run(program, env)
    if done.returncode:
        sys.exit(f"testbed/unequal.py: {done.stderr[-2000:]}")
    if options.verbose:
        sys.stderr.write("".join(line + "\n" for line in done.stderr.splitlines() if "libforsched" in line))
    row = json.loads(done.stdout)
    bound = row["port_bytes"] / PAYLOAD * 8 / options.rate
    row["over_bound"] = [seconds / bound for seconds in row["seconds"]]
    row["median"] = statistics.median(row["over_bound"][FIRST:])
    return row


def report(options, sigma, rows):
    if options.json:
        print(json.dumps({"sigma": sigma, "ways": rows}), flush=True)
        return
    cells = "  ".join(f"{label} {row['median']:.3f} ({min(row['over_bound'][FIRST:]):.3f}-{max(row['over_bound'][FIRST:]):.3f}; first "
                      f"{' '.join(f'{x:.2f}' for x in row['over_bound'][:FIRST])})" for label, row in rows.items())
    print(f"sigma {sigma}: {cells}", flush=True)


if __name__ == "__main__":
    main()
