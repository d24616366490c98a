# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A fat-tree of Linux network namespaces: each server and switch is one, each cable a pair of veth devices.

A LID is the address 10.77.<LID>: a server has one for each of its path indices, and a switch's
forwarding table becomes its routing table, LID by LID. An entry that leads nowhere drops, as a switch
does. Each direction of a cable carries RATE bits per second and no more; so does a server's loopback, since
an adapter sends to itself no faster than to others.
"""
import os
import re
import subprocess
from itertools import count

RATE = 6_000_000  # bits per second of a cable, each way
MAC = "02:00:00:00:00:01"  # of both ends of every cable, so that nobody needs to ask whose it is
MTU = 1000         # small packets: a switch of the testbed passes a packet on when it has all of it
PAYLOAD = (MTU - 52) / (MTU + 14)  # of a packet's bytes on a cable, TCP with time stamps
QUEUE = 1_000_000    # bytes that may wait before a cable: enough to lose nothing, as InfiniBand does not
SETTINGS = {"net/ipv4/ip_forward": 1, "net/ipv4/conf/all/rp_filter": 0, "net/ipv4/conf/default/rp_filter": 0,
            "net/ipv4/tcp_congestion_control": "reno", "net/ipv4/tcp_slow_start_after_idle": 0, "net/ipv4/tcp_no_metrics_save": 1,
            "net/ipv4/tcp_syn_retries": 12, "net/ipv6/conf/default/disable_ipv6": 1,
            "net/ipv6/conf/all/disable_ipv6": 1, "net/ipv4/icmp_ratelimit": 0}

OURS = re.compile(r"fors(\d+)-\d+-")  # how names of namespaces begin: the process that made them, and which of its fabrics
_serial = count()


class NamespaceError(Exception):
    """The machine does not let us: no root, no veth, no tbf."""


def address(lid):
    return f"10.77.{lid >> 8}.{lid & 255}"


def batch(command, lines, namespace=None):
    """Run `ip -batch` or `tc -batch`."""
    where = ["-n", namespace] if namespace else []
    done = subprocess.run([command, *where, "-batch", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        raise NamespaceError(f"{command} {' '.join(where)}: {done.stderr.strip().splitlines()[:3]}")


def existing():
    """The names of all namespaces, whoever made them."""
    lines = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def remove(names):
    for name in names:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def sweep():
    """Remove what a run that was killed has left: nobody has its process id any more."""
    owners = ((name, OURS.match(name)) for name in existing())
    remove(name for name, owner in owners if owner and not os.path.exists(f"/proc/{owner[1]}"))


class Namespaces:
    """The cables and switches of a live fabric (harness.Live) as namespaces. Ends with stop()."""

    def __init__(self, live, rate=RATE, server_rate=None):
        self.prefix = f"fors{os.getpid()}-{next(_serial)}-"
        self.rate = rate
        self.server_rate = server_rate or rate # of the cables of servers
        self.live = live
        self.nodes = sorted({node for node, _ in live.cable})
        self.routes = {}  # switch -> {lid: port}, as the kernel has them
        self.dead = set() # (node, port) whose cable is pulled
        sweep()
        try:
            self._build()
        except BaseException:  # a signal too
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def name(self, node):
        return self.prefix + node

    @staticmethod
    def device(port):
        return f"p{port}"

    def _build(self):
        batch("ip", [f"netns add {self.name(node)}" for node in self.nodes])
        for node in self.nodes:
            self._settle(node)
        batch("ip", [f"link add name {self.device(port)} netns {self.name(node)} type veth "
                     f"peer name {self.device(peer_port)} netns {self.name(peer)}"
                     for (node, port), (peer, peer_port) in self.live.cable.items() if (node, port) < (peer, peer_port)])
        for node in self.nodes:
            self._bring_up(node)

    def _settle(self, node):
        """Write the kernel's settings of one namespace."""
        script = "".join(f"echo {value} > /proc/sys/{key}\n" for key, value in SETTINGS.items())
        done = subprocess.run(["ip", "netns", "exec", self.name(node), "sh", "-ec", script], capture_output=True, text=True)
        if done.returncode:
            raise NamespaceError(f"settings of {node}: {done.stderr.strip()}")

    def _bring_up(self, node):
        devices = [self.device(port) for name, port in self.live.cable if name == node]
        lines = [f"link set {device} address {MAC} mtu {MTU} arp off" for device in devices]
        lines += [f"link set {device} up" for device in ["lo", *devices]]
        server = self.live.servers.get(node)
        if server:
            lines += [f"link set lo mtu {MTU}", "route add default dev p1 src " + address(server.lid)]
            lines[:0] = [f"addr add {address(server.lid + i)}/32 dev lo" for i in range(1 << server.lmc)]
        else:
            lines.append("route add blackhole default")
        batch("ip", lines, self.name(node))
        limited = devices + (["lo"] if server else [])
        batch("tc", [f"qdisc replace dev {device} root tbf rate {self._rate_of(node, device)} burst 2100 limit {QUEUE}"
                     for device in limited], self.name(node))

    def _rate_of(self, node, device):
        ends = {node, self.live.cable.get((node, int(device[1:])), (None,))[0] if device != "lo" else None}
        return self.server_rate if ends & set(self.live.servers) else self.rate

    def apply(self, tables):
        """Make the switches forward by these tables; only what differs is touched. Returns how many entries did."""
        changed = 0
        for switch, rows in tables.port.items():
            old = self.routes.get(switch, {})
            rows = {lid: port for lid, port in rows.items() if self._leads_on(switch, port)}
            lines = [f"route replace {address(lid)}/32 dev {self.device(port)}"
                     for lid, port in rows.items() if old.get(lid) != port]
            lines += [f"route del {address(lid)}/32" for lid in old.keys() - rows.keys()]
            if lines:
                batch("ip", lines, self.name(switch))
            self.routes[switch] = rows
            changed += len(lines)
        return changed

    def _leads_on(self, switch, port):
        """Whether the kernel can have such a route; the blackhole takes what a switch would send to a dead port."""
        return (switch, port) in self.live.cable and (switch, port) not in self.dead

    def cut(self, node, port):
        """Pull a cable. The kernel forgets what was routed over it; what a switch would drop is dropped."""
        for name, number in ((node, port), self.live.cable[node, port]):
            self._set(name, number, "down")
            self.dead.add((name, number))
            rows = self.routes.get(name, {})
            self.routes[name] = {lid: out for lid, out in rows.items() if out != number}

    def mend(self, node, port):
        """Plug it in again; apply() puts the routes back."""
        for name, number in ((node, port), self.live.cable[node, port]):
            self._set(name, number, "up")
            self.dead.discard((name, number))

    def _set(self, node, port, state):
        batch("ip", [f"link set {self.device(port)} {state}"], self.name(node))

    def stop(self):
        remove(name for name in existing() if name.startswith(self.prefix))
