#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""plans.py COMMAND [COUNT [SEED]] - `fors plan` on random net files: shares at most 100 %, every CA port accounted for.

The files are ibnetdiscover text of fabrics as they are found: uneven leaves, free ports, one cable or several to a spine, some missing,
hosts on spines, stub switches, adapters with two ports, cables of several speeds, LIDs or none; on them failures and lists of
participants. What must hold is counted here from the text alone. A fabric that fors declines has to be declined with a reason.
No bound of some tables is below that of all. What degraded_links = auto makes of slow cables takes at most 5 % longer than the better of
ignore and dead, where more than 64 take part: of fewer it is chance which phases are slow.
"""
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LONGER = 1.05
FEW = 64
RATES = {"1xSDR": 2, "4xSDR": 8, "1xEDR": 25, "4xQDR": 32, "2xEDR": 50, "4xEDR": 100, "4xHDR": 200}


class Net:
    """Nodes with ports; text as ibnetdiscover writes it."""

    def __init__(self):
        self.ports, self.kind, self.cable, self.rate = {}, {}, {}, {}

    def add(self, name, kind, ports):
        self.ports[name], self.kind[name] = ports, kind

    def plug(self, a, p, b, q, rate):
        self.cable[a, p], self.cable[b, q] = (b, q), (a, p)
        self.rate[a, p] = self.rate[b, q] = rate

    def free(self, name):
        return next((p for p in range(1, self.ports[name] + 1) if (name, p) not in self.cable), None)

    def guid(self, name):
        return 0x100000 + 16 * list(self.ports).index(name)

    def text(self, lids):
        numbers, lid = {}, 1
        for name in self.ports:
            for port in [0] if self.kind[name] == "Switch" else range(1, self.ports[name] + 1):
                numbers[name, port], lid = (lid if lids else 0), lid + 1
        out = []
        for name, kind in self.kind.items():
            out.append(f"\n{'switch' if kind == 'Switch' else 'ca'}guid=0x{self.guid(name):x}\n{kind}\t{self.ports[name]} \"{name}\"\t\t# \"{name}\"")
            out.append(f" base port 0 lid {numbers[name, 0]} lmc 0\n" if kind == "Switch" else "\n")
            for port in range(1, self.ports[name] + 1):
                if (name, port) not in self.cable:
                    continue
                peer, other = self.cable[name, port]
                host, far = kind != "Switch", self.kind[peer] != "Switch"
                out.append(f"[{port}]" + (f"({self.guid(name) + port:x})" if host else "") + f"\t\"{peer}\"[{other}]" +
                           (f"({self.guid(peer) + other:x})" if far else "") + "\t\t# " +
                           (f"lid {numbers[name, port]} lmc 0 " if host else "") +
                           f"\"{peer}\" lid {numbers[peer, other if far else 0]} {self.rate[name, port]}\n")
        return "".join(out)


def hosts(net, draw, switch, count, rate):
    for _ in range(count):
        port = net.free(switch)
        if port is None:
            return
        name = f"Host{len(net.ports)}"
        net.add(name, "Ca", draw.choice((1, 1, 1, 2)))
        net.plug(switch, port, name, draw.randint(1, net.ports[name]), rate)


def make(draw):
    net = Net()
    leaves, spines, cables = draw.randint(1, 7), draw.randint(1, 5), draw.choice((1, 1, 1, 2, 3))
    usual, servers = draw.choice(("4xSDR", "4xEDR", "4xHDR")), draw.choice(("2xEDR", None, None, None))
    most = draw.randint(1, 9)
    for i in range(leaves):
        net.add(f"Leaf{i}", "Switch", 36)
    for i in range(spines):
        net.add(f"Spine{i}", "Switch", 36)
    missing = draw.choice((0, 0, 0.05, 0.2))
    for leaf in range(leaves):
        for spine in range(spines):
            for _ in range(cables):
                if draw.random() >= missing:
                    net.plug(f"Leaf{leaf}", 36 - sum(1 for p in range(20, 37) if (f"Leaf{leaf}", p) in net.cable),
                             f"Spine{spine}", net.free(f"Spine{spine}"), usual)
        hosts(net, draw, f"Leaf{leaf}", draw.choice((most, most, draw.randint(0, most))), servers or usual)
    if draw.random() < 0.3:
        hosts(net, draw, f"Spine{draw.randrange(spines)}", 1, usual)
    if draw.random() < 0.2:
        net.add("Stub", "Switch", 8)
        net.plug("Stub", 1, "Leaf0", net.free("Leaf0"), usual)
        hosts(net, draw, "Stub", draw.randint(0, 2), usual)
    for _ in range(draw.choice((0, 0, 1, 2, 8))):  # slow cables, wherever they are
        end = draw.choice(sorted(net.cable) or [None])
        if end:
            net.rate[end] = net.rate[net.cable[end]] = draw.choice(sorted(RATES))
    return net


def failures(net, draw):
    down = []
    for _ in range(draw.choice((0, 0, 1, 1, 2, 5))):
        a, p = draw.choice(sorted(net.cable))
        down.append(draw.choice((f"{a}[{p}]", f"{a}[{p}]", a)))
    return down


def alive(net, down):
    """CA ports with a cable that is not down."""
    dead = set()
    for what in down:
        name, _, port = what.rstrip("]").partition("[")
        ends = [(name, int(port))] if port else [end for end in net.cable if end[0] == name]
        dead |= {end for one in ends for end in (one, net.cable[one])}
    return [end for end in net.cable if net.kind[end[0]] == "Ca" and end not in dead]


def check(command, net, draw, folder):
    """None, or what is wrong. The exit code of fors plan is the second value."""
    file, down = Path(folder) / "net", failures(net, draw) if net.cable else []
    file.write_text(net.text(draw.random() < 0.5))
    args = [command, "plan", "--fabric", str(file), *(x for one in down for x in ("--down", one))]
    cas = [end for end in net.cable if net.kind[end[0]] == "Ca"]
    them = draw.sample(sorted(cas), draw.randint(1, len(cas))) if cas and draw.random() < 0.25 else None
    if them:
        (Path(folder) / "them").write_text("".join(f"0x{net.guid(name) + port:016x}\n" for name, port in them))
        args += ["--participants", str(Path(folder) / "them")]
    done = subprocess.run([*args, "--json"], capture_output=True, text=True)
    people = subprocess.run(args, capture_output=True, text=True)
    said = f"{' '.join(args)}: {done.returncode}, {done.stderr.strip()}"
    if done.returncode not in (0, 1, 2) or people.returncode != done.returncode:
        return said, done.returncode
    if done.returncode == 2 or not done.stdout:
        return (None if done.stderr.strip() and not people.stdout else said), done.returncode
    shares = [float(one) for one in re.findall(r"([\d.]+) %", people.stdout)]
    if any(one > 100 for one in shares):
        return f"{said}: {shares}", done.returncode
    status = json.loads(done.stdout)
    wrong = judge(net, status, alive(net, down), them, len(cas), said) or judge_bounds(status, said)
    return wrong or judge_choice(args, status, said), done.returncode


def judge_bounds(status, said):
    """Each bound is of fewer tables than the one before."""
    bounds = [status[key] for key in ("lower_bound", "lump_bound", "tables_bound", "phases") if status.get(key) is not None]
    return None if bounds == sorted(bounds) else f"{said}: bounds and phases are {bounds}"


def judge_choice(args, status, said):
    """None, or what is wrong with the choice of auto."""
    if not status["phases"] or not status["degraded_choice"] or status["servers"] <= FEW:
        return None
    others = [json.loads(subprocess.run([*args, "--degraded-links", how, "--json"], capture_output=True, text=True).stdout)
              for how in ("ignore", "dead")]
    lengths = [other["length"] for other in others if other["phases"]]
    if not lengths or status["length"] <= LONGER * min(lengths):
        return None
    return f"{said}: {status['length']} phases at full speed, {lengths} with ignore and dead"


def judge(net, status, living, them, intact, said):
    if "ca_ports" not in status:  # three levels by chance
        good = status["phases"] is None or status["servers"] <= status["phases"] <= status["length"]
        return None if good else f"{said}: {status['servers']} servers, {status['phases']} phases, {status['length']}"
    takes = [end for end in living if not them or end in them]
    parts = [status[key] for key in ("servers", "not_participants", "guests", "left_out")]
    if status["ca_ports"] != len(living) or sum(parts) != len(living):
        return f"{said}: {len(living)} CA ports live, told are {status['ca_ports']} = {parts}"
    if status["servers"] > len(takes) or status["servers"] + len(status["lost_servers"]) > (len(them) if them else intact):
        return f"{said}: {status['servers']} servers, {len(status['lost_servers'])} lost, of {len(takes)}"
    if status["left_out"] and not status["remarks"]:
        return f"{said}: {status['left_out']} left out without a remark"
    if status["phases"] is None:
        return None if status["state"] == "failed" and status["reason"] else f"{said}: no plan, no reason"
    if not status["servers"] <= status["phases"] <= status["length"] or status["lower_bound"] > status["phases"]:
        return f"{said}: {status['servers']} servers, {status['phases']} phases, {status['length']}"
    if (status["slow_phases"] > 0) != (status["length"] > status["phases"]):
        return f"{said}: {status['slow_phases']} slow phases, {status['length']}"
    return None


def sweep(command, count, seed):
    """[what is wrong], {exit code: how often}."""
    wrong, codes = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for case in range(count):
            draw = random.Random(f"{seed}.{case}")
            trouble, code = check(command, make(draw), draw, folder)
            codes[code] = codes.get(code, 0) + 1
            if trouble:
                wrong.append(f"case {seed}.{case}: {trouble}")
    return wrong, codes


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    count, seed = (int(text) for text in (sys.argv[2:] + ["1000", "1"][len(sys.argv[2:]):])[:2])
    wrong, codes = sweep(sys.argv[1], count, seed)
    print("\n".join(wrong[:20] + [f"{count} fabrics, {len(wrong)} wrong; planned {codes.get(0, 0)}, without a plan {codes.get(1, 0)}, "
                                  f"no fabric for fors {codes.get(2, 0)}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
