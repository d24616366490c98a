# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The steps of a trial. Each returns what the report shows, as data for JSON; hosts, switches and cables are in it by name only."""
import itertools
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import fabric as fabrics
from fabric import Fabric, FabricError, Flow
from guard import heal, write
from hosts import Hosts, HostsError
from settings import words
from world import WorldError, fors, lines_of, median, run

TOLERANCE = 0.05  # of a prediction: what differs by more is explained, or said to be unexplained
FEW = 64          # hosts that may send all to all at once
PAIRS = 64        # whose path records are asked for
LEAK = 0.15       # of a message, on a link that no table names: a flow went another way


def plan_of(net, lfts, use=None):
    """What `fors plan` says of these texts, lfts may be None; and what use() makes of the file of its schedule."""
    with tempfile.TemporaryDirectory(prefix="fors-trial-") as folder:
        for name, text in (("net", net), ("lfts", lfts)):
            Path(folder, name).write_text(text or "")
        tables = ["--lfts", f"{folder}/lfts"] if lfts else []
        said = run(["fors", "plan", "--fabric", f"{folder}/net", *tables, "--json", "--output", f"{folder}/schedule"], (0, 1))
        return json.loads(said), use(Path(folder, "schedule")) if use and Path(folder, "schedule").exists() else None


def explained(net, lfts):
    """The lines of `fors watch --explain` about these texts."""
    with tempfile.TemporaryDirectory(prefix="fors-trial-") as folder:
        Path(folder, "net").write_text(net)
        Path(folder, "lfts").write_text(lfts)
        lab = str(Path(fors()).with_name("fors-lab")) if "/" in fors() else "fors-lab"
        for program in (lab, str(Path(sys.argv[0]).absolute().with_name("fors-lab"))):
            try:
                return run([program, "explain", f"{folder}/net", f"{folder}/lfts"], (0, 1)).splitlines()
            except WorldError as error:
                said = [str(error)]
        return said


# -- look

def look(world, progress):
    """What there is, what fors would do and gain, what stands in the way. Changes nothing, sends nothing but questions."""
    progress.say("reading the fabric")
    net, lfts = world.texts()
    fabric = Fabric(net, lfts)
    (over, _), (own, _) = plan_of(net, lfts), plan_of(net, None)
    speeds = {}
    for end in fabric.between():
        speeds[f"{fabric.speed[end]:g}"] = speeds.get(f"{fabric.speed[end]:g}", 0) + 1
    keys = ("state", "reason", "servers", "phases", "lower_bound", "method", "remarks", "missing", "dead_links", "slow_servers",
            "partitioned_pairs", "not_hosts")
    found = {"hosts": len(fabric.hosts), "switches": len(fabric.switches), "cables": len(fabric.cable) // 2, "speeds_gbits": speeds,
             "version": run(["fors", "--version"]).strip(), "promise": explained(net, lfts),
             "over_these_tables": {key: over[key] for key in keys if key in over}, "as_engine": {key: own[key] for key in keys if key in own}}
    progress.say("reading counters and links")
    found["in_the_way"] = obstacles(fabric, speeds, over, own) + odd_links(world, progress) + odd_paths(world, fabric, progress)
    counts = world.counters(fabric)
    found["waited_most"] = [{"link": fabric.link_name(end), "waited": counts[end].waited}
                            for end in sorted(counts, key=lambda end: -counts[end].waited)[:5] if counts[end].waited]
    for line in found["promise"] + found["in_the_way"]:
        progress.say(line)
    return found


def obstacles(fabric, speeds, over, own):
    """Sentences: what keeps fors, or this trial, from what it promises."""
    said = ["whether switches route adaptively, no reading shows: the step static asks the counters"]
    if len(speeds) > 1:
        said.append(f"cables between switches have {len(speeds)} speeds: {', '.join(sorted(speeds))} Gbit/s")
    if own.get("state") != "active":
        said.append(f"fors would not route this fabric: {own.get('reason')}")
    if over.get("state") != "active":
        said.append(f"no schedule over these tables: {over.get('reason')}")
    if any(host.lmc for host in fabric.hosts):
        said.append("hosts have several LIDs: ib_write_bw sends to the first of each only")
    for plan in (own, over):
        said += [remark for remark in plan.get("remarks") or [] if remark not in said]
    return said


def odd_links(world, progress):
    """Ports that could be wider or faster, or are not up, as iblinkinfo says."""
    try:
        lines = run(words(world.settings.links)).splitlines() if world.settings.links else []
    except WorldError as error:
        progress.say(error)  # not in the report, which is sent: it may name anything
        return ["ports could not be asked"]
    slow = sum("Could be" in line for line in lines)
    return [f"{slow} ports say that they could be wider or faster"] if slow else []


def odd_paths(world, fabric, progress):
    """What path records of some pairs say of partitions and service levels: each host as sender to one far from it, of many hosts a sample."""
    if not world.settings.path:
        return []
    hosts, levels, none, asked = fabric.hosts, set(), [], 0
    pairs = [(hosts[i], hosts[(i + len(hosts) // 2) % len(hosts)]) for i in fabrics.sample(len(hosts), PAIRS)] if len(hosts) > 1 else []
    for asked, (source, target) in enumerate(pairs, 1):
        try:
            said = run(words(world.settings.path, slid=source.lid, dlid=target.lid), seconds=20)
        except WorldError as error:
            said = ""
            progress.say(error)
        level = re.search(r"^\s*sl\.+(0x[0-9a-fA-F]+|\d+)", said, re.M | re.I)
        levels |= {int(level[1], 0)} if level else set()
        none += [] if level else [f"{source.name} to {target.name}"]
        if len(none) > 3 and not levels:
            break
    more = sorted(levels - set(world.settings.sls))
    return ([f"path records name service levels that the setting sls lacks: {', '.join(map(str, more))}"] if more else []) + (
        [f"no path record of {len(none)} of {asked} pairs, as {none[0]}: "
         "hosts of different partitions, which do not reach each other, or this host may not ask"] if none else [])


# -- exchange

def full_speed(world, hosts, fabric, members):
    """Gbit/s of a flow that meets nobody: the median of hosts that send to their neighbours below the same leaf."""
    flows = fabrics.neighbours(fabric, members) or fabrics.shift(members, 1)[1][0][1]
    seconds = world.phase(hosts, "neighbours", flows, world.settings.bytes)
    return median([world.settings.bytes * 8 / 1e9 / took for took in seconds])


def ways(world, net, lfts, members):
    """Name -> (phases in all, those that are measured)."""
    most, found = world.settings.phases, {}

    def use(file):
        return fabrics.scheduled(lambda: lines_of([fors(), "schedule", str(file), "--format", "csv"]), members, most)

    if "schedule" in world.settings.ways:
        way = use(world.settings.schedule) if world.settings.schedule else plan_of(net, lfts, use)[1]
        found.update({"schedule": way} if way else {})
    if "shift" in world.settings.ways:
        found["shift"] = fabrics.shift(members, most)
    if "at-once" in world.settings.ways and len(members) <= FEW:
        found["at-once"] = fabrics.at_once(members)
    return found


def measured(todo):
    """How many phases that are."""
    return sum(len(phases) for _, phases in todo.values())


def exchange(world, progress, label=None):
    """Hosts send by the schedule, by the linear shift, all at once: seconds and bytes of links beside their predictions."""
    texts = world.texts()
    fabric = Fabric(*texts)
    members = world.hosts(fabric)
    todo = ways(world, *texts, members)
    progress.begin(measured(todo) + 1)
    with Hosts(world.settings, [host.name for host in members], time_of(world, measured(todo))) as hosts:
        return measure(world, progress, hosts, fabric, todo, label)


def time_of(world, phases):
    """Seconds after which whatever runs on hosts ends by itself."""
    return world.settings.start_timeout + (phases * world.settings.repeats + 1) * world.settings.phase_timeout


def measure(world, progress, hosts, fabric, todo, label):
    members = [host for host in world.hosts(fabric) if host.name in hosts.connection]
    progress.step("hosts alone")
    full = full_speed(world, hosts, fabric, members)
    found = {"label": label, "hosts": len(members), "bytes": world.settings.bytes, "full_gbits": full, "runs": [], "stopped": None}
    for name, (count, phases) in todo.items():
        run_of, traces = {"way": name, "phases_in_all": count, "phases": []}, []
        found["runs"].append(run_of)
        try:
            (), counts = world.counted(fabric, lambda: one_way(world, progress, hosts, fabric, name, phases, full, run_of, traces))
        except HostsError as error:
            found["stopped"] = f"{name}, after {len(run_of['phases'])} phases: {error}"
            return found
        finish(fabric, run_of, traces, counts, found, world.settings)
    return found


def one_way(world, progress, hosts, fabric, name, phases, full, run_of, traces):
    for number, flows in phases:
        progress.step(f"{name}, phase {number + 1} of {run_of['phases_in_all']}")
        if not flows:
            continue
        tries = sorted((world.phase(hosts, f"{name} {number} {i}", flows, world.settings.bytes) for i in range(world.settings.repeats)), key=max)
        seconds = tries[len(tries) // 2]
        need, worst = fabric.need(flows, full, world.settings.thanks)
        run_of["phases"].append({"phase": number + 1, "flows": len(flows), "need": need, "fullest": fabric.link_name(worst),
                                 "predicted_s": need * world.settings.bytes * 8 / 1e9 / full, "measured_s": max(seconds), "least_s": max(tries[0])})
        traces.append((flows, seconds))
    return ()


def finish(fabric, run_of, traces, counts, found, settings):
    """The sums of one way: throughput, links, and what differs."""
    rows, size, full = run_of["phases"], settings.bytes, found["full_gbits"]
    for name in ("predicted_s", "measured_s"):
        run_of[name] = sum(row[name] for row in rows)
    if rows and run_of["measured_s"]:
        alone = sum(row["flows"] for row in rows) / found["hosts"] * size * 8 / 1e9 / full
        run_of["throughput"] = {"predicted": alone / run_of["predicted_s"], "measured": alone / run_of["measured_s"]}
    run_of["within"] = sum(abs(row["measured_s"] / row["predicted_s"] - 1) <= TOLERANCE for row in rows)
    run_of["links"], run_of["wrong_cables"] = links_of(fabric, [flow for flows, _ in traces for flow in flows] * settings.repeats, counts, size)
    run_of["differences"] = differences(fabric, run_of, traces, full, size)


def links_of(fabric, flows, counts, size):
    """([{link, predicted and measured messages, waited}], [cables whose two ends do not agree])"""
    loads = fabric.loads(flows)
    ratios = [counts[end].sent / (loads[end] * size) for end in fabric.between() if loads[end] and end in counts]
    overhead = median(ratios) or 1
    rows = [{"link": fabric.link_name(end), "predicted": loads[end], "measured": round(counts[end].sent / overhead / size, 2), "waited": counts[end].waited}
            for end in sorted(fabric.between()) if end in counts]
    return rows, disagreeing(fabric, counts, size)


def disagreeing(fabric, counts, size):
    """Cables whose ends count other bytes: what one sends, the other does not get, so the text joins the wrong ports."""
    return sorted({fabric.link_name(min(end, other)) for end, other in fabric.cable.items() if end in counts and other in counts
                   and abs(counts[end].sent - counts[other].received) > max(LEAK * size, TOLERANCE * counts[end].sent)})


def differences(fabric, run_of, traces, full, size):
    """Sentences on phases that took more than 5 % longer or shorter than predicted, and why, as far as that can be told."""
    rows = run_of["phases"]
    late = [row for row in rows if row["measured_s"] > row["predicted_s"] * (1 + TOLERANCE) >= row["least_s"]]
    slow = [i for i, row in enumerate(rows) if row["measured_s"] > row["predicted_s"] * (1 + TOLERANCE)]
    fast = [i for i, row in enumerate(rows) if row["measured_s"] < row["predicted_s"] * (1 - TOLERANCE)]
    said = []
    if run_of["wrong_cables"]:
        said.append(f"the text of the fabric joins wrong ports: {'; '.join(run_of['wrong_cables'][:5])}")
    if fast:
        said.append(f"{count_of(fast, 'phase was', 'phases were')} quicker than predicted: the fullest link carried less than the tables say. "
                    "Switches route adaptively, or the text of the fabric is wrong: see the step static")
    if late:
        said.append(f"{count_of(late, 'slow phase was', 'slow phases were')} as quick as predicted once: something else was busy, hosts or cables")
    if slow and run_of["way"] == "at-once":
        said.append("all at once takes longer than its fullest link needs: flows do not share links evenly all the time, and the prediction is a bound")
    elif slow:
        said.append(f"{count_of(slow, 'phase was', 'phases were')} slower than predicted: " + (suspects(fabric, traces, slow, full, size) or "no link explains it"))
    return said


def count_of(what, one, more):
    return f"{len(what)} {one if len(what) == 1 else more}"


def suspects(fabric, traces, slow, full, size):
    """The links that were never seen at full speed, and that all slow flows of the slow phases pass."""
    best = {}
    for flows, seconds in traces:
        last, loads = {}, fabric.loads(flows)
        for flow, took in zip(flows, seconds):
            for link in fabric.way(flow):
                last[link] = max(last.get(link, 0), took)
        for link, took in last.items():
            best[link] = max(best.get(link, 0), loads[link] * size * 8 / 1e9 / took)
    never = {link for link, rate in best.items() if rate < full * (1 - 1.4 * TOLERANCE)}
    blamed = {}
    for i in slow:
        flows, seconds = traces[i]
        ways = [set(fabric.way(flow)) & never for flow, took in zip(flows, seconds) if took == max(seconds)]
        for link in set().union(*ways):
            blamed[link] = blamed.get(link, 0) + 1
    most = sorted(blamed, key=lambda link: (-blamed[link], link))
    most = [link for link in most if blamed[link] == blamed[most[0]]]
    return "; ".join(f"{fabric.link_name(link)} was never faster than {100 * best[link] / full:.0f} % of full speed" for link in most[:4])


# -- is routing static?

def contending(fabric, members, turn, most=None):
    """Flows that fill one uplink of each leaf, the one whose turn it is: no two from one host, and no two to one while there are others."""
    by_leaf, taken, flows = {}, set(), []
    for host in members:
        by_leaf.setdefault(fabric.leaf(host), []).append(host)
    for leaf, sources in by_leaf.items():
        up = sorted(port for node, port in fabric.between() if node == leaf)
        if not up:
            continue
        port = up[turn % len(up)]
        over = [host for host in members if fabric.leaf(host) != leaf and fabric.table.get(leaf, {}).get(host.lid) == port]
        targets = [host for host in over if host not in taken] or over
        for source, target in list(zip(sources, itertools.cycle(targets)))[:most]:
            taken.add(target)
            flows.append(Flow(source, target, source.lid, target.lid))
    return flows


def static(world, progress):
    """Do the counters that rise match the tables? First flows alone, then flows that fill an uplink, on each level in use."""
    fabric = world.fabric()
    members = world.hosts(fabric)
    turns = min(8, max(sum(node == leaf for node, _ in fabric.between()) for leaf in {fabric.leaf(host) for host in members}))
    rounds = [(level, "alone" if most else "contending", contending(fabric, members, turn, most))
              for level in world.settings.sls for most in (1, None) for turn in (range(1) if most else range(turns))]
    rounds = [row for row in rounds if row[2]]
    progress.begin(len(rounds) + 1)
    found = {"seen": False, "flows": 0, "seconds": 0, "rounds": [], "wrong_cables": [], "levels": world.settings.sls}
    with Hosts(world.settings, [host.name for host in members], time_of(world, len(rounds))) as hosts:
        progress.step("counters at rest")
        (), rest = world.counted(fabric, lambda: time.sleep(2) or ())
        for number, (level, kind, flows) in enumerate(rounds):
            progress.step(f"level {level}, {kind}")
            seconds, counts = world.counted(fabric, lambda: world.phase(hosts, f"static {number}", flows, world.settings.bytes, level))
            found["flows"] += len(flows)
            found["seconds"] += max(seconds)
            strays = strayed(fabric, flows, counts, rest, max(seconds) / 2, world.settings.bytes)
            found["wrong_cables"] += [cable for cable in disagreeing(fabric, counts, world.settings.bytes) if cable not in found["wrong_cables"]]
            found["rounds"].append({"level": level, "kind": kind, "flows": len(flows), "seconds": max(seconds), "strayed": strays})
    strays = [row for row in found["rounds"] if row["strayed"]]
    found["seen"] = bool(strays) and not found["wrong_cables"]
    found["kind"] = ("always" if any(row["kind"] == "alone" for row in strays) else "under load") if found["seen"] else None
    found["verdict"] = ("not decided: the text of the fabric joins wrong ports, see there" if found["wrong_cables"] else
                        f"seen: packets take ways that the tables do not name, {found['kind']}" if found["seen"] else
                        f"not seen, {found['flows']} flows, {found['seconds']:.0f} seconds")
    return found


def strayed(fabric, flows, counts, rest, share, size):
    """[{link, messages}]: bytes on links that no flow should pass, more than what is there at rest, and thanks for packets the other way."""
    forth = fabric.loads(flows)
    back = fabric.loads(map(Flow.turned, flows))
    rows = []
    for end in fabric.between():
        if end in counts and not forth[end]:
            extra = counts[end].sent - 3 * share * rest[end].sent - 0.1 * back[end] * size
            if extra > LEAK * size:
                rows.append({"link": fabric.link_name(end), "messages": round(extra / size, 2)})
    return rows


# -- a failure

class Timer:
    """A cable, and two timers for it: a process on this host, and the agent of another one. On exit it is enabled."""

    def __init__(self, world, hosts, second, fabric, end, folder, say):
        self.world, self.hosts, self.second, self.say = world, hosts, second, say
        what = {"guid": f"0x{fabric.guid[end[0]]:016x}", "lid": fabric.lid[end[0]], "port": end[1]}
        self.command = {op: words(getattr(world.settings, op), **what) for op in ("disable", "enable")}
        self.file = Path(folder) / f"heal-{what['guid']}-{end[1]}.json"
        self.until = time.time() + world.settings.hold
        self.told = {"cable": fabric.end_name(end), **self.command, "until": self.until}
        self.text = shlex.join(self.command["enable"])
        self.cable, self.guard = fabric.link_name(end), None

    def __enter__(self):
        try:
            return self.arm()
        except BaseException:
            self.__exit__()
            raise

    def arm(self):
        write(self.file, self.told)
        self.guard = subprocess.Popen([sys.executable, str(Path(__file__).with_name("guard.py")), str(self.file)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        if self.guard.stdout.readline() != b"armed\n":
            raise WorldError("the timer of this host did not start")
        self.hosts.tell(self.second, op="guard", command=self.text, seconds=self.world.settings.hold + 5)
        self.hosts.wait([self.second], "guards", True, 60)
        return self

    def do(self, op):
        try:
            self.guard.stdin.write(op.encode() + b"\n")
            self.guard.stdin.flush()
            answer = json.loads(self.guard.stdout.readline())
        except (OSError, ValueError):
            raise WorldError("the timer of this host has gone") from None
        if answer["code"]:
            raise WorldError(f"{op}: {answer['said']}")

    def __exit__(self, *exc):
        try:
            self.do("enable")
            self.guard.stdin.write(b"done\n")
            self.guard.stdin.flush()
            enabled = True
        except (WorldError, OSError, AttributeError):  # the timer has gone, or never came
            enabled = heal(self.file)
        if self.guard:
            self.guard.stdin.close()
            self.guard.wait()
        try:
            self.hosts.tell(self.second, op="unguard", command=self.text)
            self.hosts.wait([self.second], "guards", False, 10)
        except HostsError:
            pass
        with suppress(OSError):  # the terminal may have gone
            self.say(f"{self.cable} is enabled" if enabled else f"{self.cable} could not be enabled; do it by hand: {self.text}")


def failure(world, progress, cable, folder, label=None):
    """The same exchange before and while a cable is disabled; how long packets did not arrive. The cable comes up again whatever happens."""
    texts = world.texts()
    fabric = Fabric(*texts)
    members, own = world.hosts(fabric), world.own(fabric)
    end = fabric.find_end(cable)
    manager = world.manager(fabric)
    refusal = fabric.refusal(end, own, manager) if manager else "the subnet manager is not found, so its cable is not known"
    if refusal:
        raise WorldError(f"{cable} is not disabled: {refusal}")
    end = fabric.near(end, own)
    second = world.settings.second or next(host.name for host in members if host.node != own)
    if second not in {host.name for host in members}:
        raise WorldError(f"the second host, {second}, takes no part")
    before = ways(world, *texts, members)
    count = 2 * measured(before) + 2
    progress.begin(count)
    found = {"label": label, "cable": fabric.link_name(end), "second_host": second}
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(world.settings, [host.name for host in members], time_of(world, count) + world.settings.hold))
        found["before"] = measure(world, progress, hosts, fabric, before, label)
        timer = stack.enter_context(Timer(world, hosts, second, fabric, end, folder, progress.say))
        asking = probes(world, hosts, fabric, members, end)
        timer.do("disable")
        progress.say("waiting for tables")
        texts = world.settled(world.settings.settle_timeout)
        broken = Fabric(*texts)
        if end in broken.cable:
            raise WorldError(f"{cable} is still there after it was disabled")
        found["failover_s"] = answers(world, hosts, asking)
        meanwhile = ways(world, *texts, members)
        progress.count = progress.done + measured(meanwhile) + 1
        found["while_down"] = measure(world, progress, hosts, broken, meanwhile, label)
    texts = world.settled(world.settings.settle_timeout)
    found["came_back"] = end in Fabric(*texts).cable
    return found


def probes(world, hosts, fabric, members, end):
    """A few hosts ask along ways that pass the cable; which."""
    other, asking = fabric.cable[end], []
    for source in members:
        for target in members:
            flow = Flow(source, target, source.lid, target.lid)
            if source != target and source.name not in asking and len(asking) < 8 and {end, other} & set(fabric.way(flow)):
                tcp = world.settings.kind == "tcp"
                asking.append(source.name)
                hosts.tell(source.name, op="probe", id="cable", seconds=world.settings.hold, to=world.address(target, target.lid),
                           port=hosts.port[target.name], command=None if tcp else world.settings.probe.format(lid=target.lid),
                           **{"from": world.address(source, source.lid)})
    time.sleep(1)
    return asking


def answers(world, hosts, asking):
    """The longest time without an answer of each probe; None for one that gets none yet."""
    time.sleep(1)
    for host in asking:
        hosts.tell(host, op="halt")
    found = hosts.wait(asking, "probed", "cable", world.settings.phase_timeout)
    return [round(answer["longest"], 3) if answer["good"] else None for answer in found.values()]
