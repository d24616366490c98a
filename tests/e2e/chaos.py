#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random failures and recoveries of a whole simulated fabric, judged after each.

    chaos.py --events 2000 --seed 7 --fabric 'FT(2;8,8)' [--lmc N]     (make soak EVENTS=2000 ...)
    chaos.py --replay FILE                                             (what a failing run wrote)

The events follow from the seed alone, so a seed replays exactly. Each is one line of text:

    change -3/5 +2/1 -Spine05 +Node01-02   cables (leaf/lane) and nodes that die or return, all at once
    flap 3/5 4 15                          a cable dies and returns 4 times, 15 ms each; it lives then
    hup                                    SIGHUP to the master
    restart KILL -3/5 ...                  the master ends by SIGKILL (or TERM), things change, it starts again
    join 3                                 a second subnet manager starts, with priority 3 (the first has 5)
    leave TERM                             the second one ends
    stub 2                                 a switch with a host is plugged into a leaf, or unplugged (with stubs in the fabric)
    stray Spine00 4 leaf00 3               a cable to another tree is plugged in, and pulled when fors has declined (strays=1)
    move Node01-02 3/4                     a host is unplugged and returns on another port, slot 4 of leaf 3 (free=1)
    replace 5                              another switch, with its own GUID, gets the cables of spine 5; or the first one
                                           again (with spares=1 in the fabric)

After each event the fabric comes to rest and judge.py looks at the hardware; a fault counts when it is still there
after opensm has been silent for PATIENCE. The master is always the one with the highest priority of those that run.

opensm may miss a change: it ignores a switch that sends many traps, and it clears a switch's "port state changed" bit
after it has read the ports. When less than two sweeps have ended since the change (the second would have seen it for
sure), and only then, a SIGHUP makes it look again. This is counted and reported (`deaf`).
"""
import argparse
import importlib
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import failover  # noqa: E402
import harness  # noqa: E402
import held  # noqa: E402
import judge  # noqa: E402
import odd_levels  # noqa: E402
from odd_tree import ODDITIES, OddTree, full_lmc, parse_fabric, seats  # noqa: E402

QUIET = 0.1       # seconds without a word in the log: perhaps at rest
PATIENCE = 3.0    # seconds without a word in the log after which a wrong fabric will not become right
ENDLESS = 120.0   # the same although opensm has never been silent
HANG = 10.0       # the same when a subnet manager has just started
FIRST_PRIORITY = 5
WARM_UP = 200     # events until memory is expected to be flat

KINDS = {"change": 60, "mend": 25, "flap": 8, "hup": 5, "restart": 6, "join": 3, "leave": 3}
MANAGERS = ("restart", "join", "leave")
MANAGER_CHOICES = {"two": MANAGERS, "one": ("restart",), "calm": ()}


class Violation(Exception):
    """What fors did wrong."""


# ---------------------------------------------------------------------------
# Events

class Event:
    """A line of text, and what it does to a World."""

    def __init__(self, text):
        self.text = text
        self.kind, *self.words = text.split()

    def apply(self, world):
        for word in self.words:
            if word[0] in "+-":
                self._turn(world, word)
        if self.kind == "flap":
            world.cut.discard(self.cable())
        if self.kind == "replace":
            world.replaced ^= {int(self.words[0])}
        if self.kind == "stub":
            world.stubs ^= {int(self.words[0])}
        if self.kind == "move":
            world.at[self.words[0]] = place(self.words[1])
        if self.kind == "drain":
            world.drained = tuple(self.words)

    def cable(self):
        return place(self.words[0])

    @staticmethod
    def _turn(world, word):
        where, thing = (world.cut, place(word[1:])) if "/" in word else (world.off, word[1:])
        (where.add if word[0] == "-" else where.discard)(thing)


def place(text):
    """(3, 5) of "3/5": leaf and lane; ("Leaf0-1", 5) of "Leaf0-1/5"."""
    return tuple(int(word) if word.isdigit() else word for word in text.split("/"))


def is_allowed(world):
    """The seats of the managers must stay in one fabric; all else may happen."""
    tree = world.tree
    live = [{world.spine_of(k) for k in range(world.nlanes) if not world.is_dead(a, k)} for a in range(tree.nleaves)]
    first, second = (judge.place_of(name)[0] for name in seats(tree))
    if {*seats(tree), tree.leaf(first), tree.leaf(second)} & world.off:
        return False
    known, grown = set(), {first}
    while grown != known:
        known, spines = grown, set().union(*(live[a] for a in grown))
        grown = known | {a for a in range(tree.nleaves) if live[a] & spines}
    return second in known and (tree.nleaves == 1 or bool(live[first]))


class Script:
    """Draws events; what they are depends on the seed, the tree and the number of events only."""

    def __init__(self, tree, seed, events, managers=MANAGERS):
        self.tree, self.events, self.random = tree, events, random.Random(seed)
        self.managers, self.joined = managers, False  # which kinds of MANAGERS come
        self.world = tree.world(tree.late)

    def __iter__(self):
        for number in range(self.events):
            event = self._draw(number)
            event.apply(self.world)
            self.joined = {"join": True, "leave": False}.get(event.kind, self.joined)
            yield event

    def _draw(self, number):
        while True:
            kinds = self.kinds()
            kind = self.random.choices(list(kinds), kinds.values())[0]
            # No manager ends in the middle half, so that the memory of one that lives long is seen
            if kind in MANAGERS and (kind not in self.managers or self.events < 4 * number < 3 * self.events):
                continue
            if kind in ("join", "leave") and self.joined == (kind == "join"):
                continue
            event = Event(" ".join([self._kind_text(kind), *getattr(self, f"_{kind}")()]))
            world = self.world.copy()
            event.apply(world)
            if self.allows(world):
                return event

    def kinds(self):
        """What comes, and how often."""
        return {**KINDS, **({"replace": 8} if self.tree.has_spares else {}),
                **({"stub": 8} if self.tree.nstubs else {}), **({"stray": 6} if self.tree.strays else {}),
                **({"move": 15} if self.tree.has_free else {})}

    def allows(self, world):
        return is_allowed(world)

    @staticmethod
    def _kind_text(kind):
        return "change" if kind == "mend" else kind

    def _hup(self):
        return []

    def _join(self):
        return [str(self.random.choice((3, 9)))]

    def _leave(self):
        return [self.random.choice(("TERM", "KILL"))]

    def _stub(self):
        return [str(self.random.randrange(self.tree.nstubs))]

    def _stray(self):
        return [str(word) for word in self.random.choice(self.tree.strays)]

    def _move(self):
        """To its first place, a port of its leaf, or any."""
        name = self.random.choice([name for name in self.tree.servers() if name not in seats(self.tree)])
        free, here = self.world.free(), self.world.at[name][0]
        near = [place for place in free if place[0] == here]
        home = judge.place_of(name)
        leaf, slot = home if home in free and self.random.random() < 0.3 else self.random.choice(
            near if near and self.random.random() < 0.5 else free)
        return [name, f"{leaf}/{slot}"]

    def _replace(self):
        return [str(self.random.randrange(self.tree.nspines))]

    def _restart(self):
        return [self.random.choice(("TERM", "KILL")), *(self._change() if self.random.random() < 0.5 else [])]

    def _flap(self):
        leaf, lane = self._cable()
        return [f"{leaf}/{lane}", str(self.random.randint(1, 5)), str(self.random.choice((2, 15, 60)))]

    def _mend(self):
        """Some of what is dead returns; now and then all of it."""
        dead = [f"+{a}/{k}" for a, k in sorted(self.world.cut)] + [f"+{name}" for name in sorted(self.world.off)]
        count = len(dead) if self.random.random() < 0.1 else min(len(dead), self.random.choice((1, 1, 2, 4)))
        return self.random.sample(dead, count)

    def _change(self):
        """One thing or a burst, dying or returning: more return when much is dead."""
        words = {}
        for _ in range(self.random.choices((1, 2, 5, 12), (70, 15, 10, 5))[0]):
            thing, is_dead = self._thing()
            words[thing] = ("+" if is_dead else "-") + thing
        return [*words.values(), *(self._mend() if len(self.world.cut) > self._limit() else [])]

    def _limit(self):
        return self.tree.nleaves * self.world.nlanes // 6

    def _cable(self):
        return self.random.randrange(self.tree.nleaves), self.random.randrange(self.world.nlanes)

    def _thing(self):
        """A cable or node, and whether it is dead."""
        what = self.random.choices(("cable", "spine", "leaf", "server"), (70, 6, 4, 20))[0]
        if what == "cable":
            leaf, lane = self._cable()
            return f"{leaf}/{lane}", (leaf, lane) in self.world.cut
        if what == "server":
            name = self.random.choice(self.tree.servers())
        else:
            count = self.tree.nspines if what == "spine" else self.tree.nleaves
            name = getattr(self.tree, what)(self.random.randrange(count))
        return name, name in self.world.off


# ---------------------------------------------------------------------------
# Subnet managers

class Crew:
    """The first manager and, at times, a second one, each with folders of its own as if on another host."""

    def __init__(self, sim, directory, lmc, fors_conf=None, touched=None):
        self.sim, self.directory, self.lmc = sim, Path(directory), lmc
        self.fors_conf = self.always = "degraded_links = ignore\n" + (fors_conf or "")  # the judge drains no slow cable
        self.gates, self.touched = {}, touched  # seat number -> held.Gate, where each publication is judged
        self.running = {}  # seat number -> OpenSM
        self.priority = {0: FIRST_PRIORITY}
        self.start(0)

    def gate(self, seat):
        if self.touched and seat not in self.gates:
            self.gates[seat] = held.Gate(self.sim, self.directory / f"gate{seat}", self.touched)
        return self.gates.get(seat)

    def write_conf(self, text):
        """Another fors.conf for each manager, behind what is always in it."""
        self.fors_conf = self.always + text
        for manager in self.running.values():
            manager.fors_conf.write_text(self.fors_conf)

    def start(self, seat):
        gate = self.gate(seat)
        self.running[seat] = harness.OpenSM(
            self.sim, self.directory / f"sm{seat}", node=seats(self.sim.topology)[seat], lmc=self.lmc,
            fors_conf=self.fors_conf, sm_priority=self.priority[seat], sweep_interval=1, sminfo_polling_timeout=300,
            polling_retry_number=2, use_ucast_cache="TRUE" if self.sim.topology.has_cache else None,
            **(gate.options() if gate else {}))
        if gate:
            gate.watch(self.running[seat])

    def end(self, seat, how):
        manager = self.running.pop(seat)
        os.kill(manager.process.pid, getattr(signal, f"SIG{how}"))
        status = manager.process.wait(200)
        if how == "TERM" and status:
            raise Violation(f"opensm ended with {status}")
        self.sim.forget_process(manager.process.pid)
        manager.stop()

    def leader(self):
        return max(self.running, key=self.priority.get)

    @property
    def master(self):
        return self.running[self.leader()]

    def stop(self):
        for seat in list(self.running):
            self.running.pop(seat).stop()
        for gate in self.gates.values():
            gate.stop()
        self.gates = {}


def read_head(manager):
    """(epoch, phases) of a manager's schedule file, (0, 0) when there is none yet."""
    try:
        with open(manager.schedule_file, "rb") as file:
            head = file.read(64)
    except FileNotFoundError:
        return 0, 0
    return struct.unpack_from("<Q", head, 16)[0], struct.unpack_from("<I", head, 48)[0]


def read_schedule(manager):
    return harness.fors("schedule", manager.schedule_file, "--format", "csv", code=None)


def memory(pid):
    """(resident, anonymous) kB of a process."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return tuple(int(re.search(rf"^{key}:\s+(\d+)", text, re.M)[1]) for key in ("Rss", "Anonymous"))


# ---------------------------------------------------------------------------
# A run

class Run:
    """A simulated fabric, its managers, what should be true, and what was seen."""

    def __init__(self, tree, directory, lmc, reference=True, is_held=False):
        self.tree, self.lmc = tree, lmc
        self.world = tree.world()
        self.sim = harness.Ibsim(tree, Path(directory) / "sim")
        self.still = None                    # (ports, tables) of the hardware that managers may not change
        self.epochs, self.active = {}, 0     # per seat the last epoch; the last of an active schedule
        self.changed = time.time()           # when a cable was touched last
        self.needed = 0                      # epoch that the next schedule must have at least
        self.judged = None                   # (epoch, hardware, managers) of the last plan that was walked
        self.tally, self.slowest, self.curve = Counter(), 0.0, []
        self.homes, self.log_read = judge.Homes(), {}  # per seat how much of the log was searched for rankings
        try:
            self.turn(tree.world(tree.late))
            self.crew = Crew(self.sim, directory, lmc, self.conf(directory, reference) or None, (lambda: self.changed) if is_held else None)
            self.settle(HANG)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        if hasattr(self, "crew"):
            self.crew.stop()
        self.sim.stop()

    def conf(self, directory, reference):
        """What is always in fors.conf."""
        return (self._reference(directory) if reference else "") + (self._participants(directory) if self.tree.idle else "")

    def _reference(self, directory):
        """A fors.conf that names the intact fabric, for all managers."""
        path = Path(directory) / "reference"
        path.write_text(self.sim.run(["ibnetdiscover"]))
        return f"reference_fabric = {path}\n"

    def _participants(self, directory):
        """A fors.conf that leaves the idle servers out."""
        path, port = Path(directory) / "participants", self.sim.snapshot().port
        path.write_text("".join(f"0x{port[name].guid:x}\n" for name in self.tree.servers() if name not in self.tree.idle))
        return f"participants_file = {path}\n"

    # -- doing

    def turn(self, world):
        """Pull and plug what differs, in one go."""
        before, after = self.world.links(), world.links()
        self.sim.commands([f'Unlink "{leaf}"[{port}]' for leaf, port, _, _ in sorted(before - after)]
                          + [f'Link "{leaf}"[{port}] "{node}"[{at}]' for leaf, port, node, at in sorted(after - before)])
        self.world, self.changed = world, time.time()

    def do(self, event):
        """One event, to the end; Violation when the fabric does not become right."""
        self.tally[event.kind] += 1
        patience = getattr(self, f"_{event.kind}")(event) or PATIENCE
        self.settle(patience)
        self.curve.append((self.crew.master.process.pid, *memory(self.crew.master.process.pid)))

    def _turned(self, event):
        world = self.world.copy()
        event.apply(world)
        self.turn(world)

    def _change(self, event):
        self._turned(event)

    def _replace(self, event):
        self._turned(event)

    def _stub(self, event):
        self._turned(event)

    def _move(self, event):
        """A host is pulled, and plugged in elsewhere when opensm may or may not have seen that it is gone."""
        after, between = self.world.copy(), self.world.copy()
        event.apply(after)
        between.off.add(event.words[0])
        self.homes.move(event.words[0])
        self.turn(between)
        time.sleep(sum(map(ord, event.text)) % 3 * 0.7)
        self.turn(after)

    def _stray(self, event):
        """Joined: declined with the cable named, unless the cable's end is dead; pulled: every entry as it was."""
        here, port, there, other = event.words[0], int(event.words[1]), event.words[2], int(event.words[3])
        if self.kind == "cut" or here not in judge.View(self.world, self.sim.snapshot(), self.crew.master.node).nodes:
            return
        self._hold_still()
        self.sim.link(here, port, there, other)
        self.changed = time.time()
        try:
            self.crew.master.wait_status(state="inactive", reason=lambda reason: "joins two trees" in (reason or "")
                                         and f"{here}[{port}]" in reason and f"{there}[{other}]" in reason)
        finally:
            self.sim.unlink(here, port)
        self.changed = time.time()

    def _flap(self, event):
        up, down = self.world.copy(), self.world.copy()
        up.cut.discard(event.cable())
        down.cut.add(event.cable())
        for _ in range(int(event.words[1])):
            for world in (down, up):
                self.turn(world.copy())
                time.sleep(int(event.words[2]) / 1000)

    def _hup(self, event):
        self.crew.master.sighup()

    def _restart(self, event):
        seat = self.crew.leader()
        if len(event.words) == 1:
            self._hold_still()
        self.crew.end(seat, event.words[0])
        self._turned(event)
        self.crew.start(seat)
        return self._new_master()

    def _join(self, event):
        if 1 in self.crew.running:
            return None
        self._hold_still(is_other=True)
        self.crew.priority[1] = int(event.words[0])
        self.homes.forget()
        self.crew.start(1)
        return self._new_master() if self.crew.leader() == 1 else HANG

    def _leave(self, event):
        if 1 not in self.crew.running:
            return None
        self._hold_still(is_other=True)
        was_leader = self.crew.leader() == 1
        self.homes.forget()
        self.crew.end(1, event.words[0])
        return self._new_master() if was_leader else None

    def _hold_still(self, is_other=False):
        """
        Another manager, and nothing else: no entry may change, but for what leads to the managers themselves. Where hosts come late
        or move, each manager has its own order of arrivals.
        """
        snapshot = self.sim.snapshot()
        if self.kind != "cut" and not (is_other and self._has_arrivals()):
            self.still = snapshot.port, snapshot.table

    def _moved(self, view):
        """Entries that changed although they had to hold still."""
        if not self.still or any(self.still[0].get(name) != view.snapshot.port.get(name) for name in view.nodes):
            return []
        free = {lid for name in seats(self.tree) for lid in view.lids(name)}
        if self.tree.has_cache:  # then OpenSM leaves the entries of who is gone until it routes again
            free |= set(range(0xc000)) - {lid for name in view.nodes for lid in view.lids(name)}
        return [f"{switch} has another entry for LID {lid} under another manager"
                for switch in view.switches() for lid, port in enumerate(self.still[1][switch])
                if port != view.port(switch, lid) and lid not in free]

    def _has_arrivals(self):
        return self.tree.has_free or bool(self.tree.late)

    def _watch_rankings(self):
        """All ranked afresh: who has come is known by that only."""
        for seat, manager in self.crew.running.items():
            text = manager.log(self.log_read.get(seat, 0))
            self.log_read[seat] = manager.log_end()
            if "are ranked afresh" in text:
                self.tally["rankings"] += 1
                self.homes.forget()
                self.still = None

    def _new_master(self):
        """
        Somebody has just become master, and says so with an epoch larger than any.
        """
        self.needed = self.active + 1
        return HANG

    # -- looking

    def settle(self, patience):
        """Wait until all is right; Violation when it is not after a while."""
        started = time.monotonic()
        mark = self.crew.master.log_end()
        for attempt in (1, 2, 3):
            if self._becomes_right(patience):
                break
            if attempt == 3 or not self._is_excused(mark):
                raise Violation("\n".join(self.faults[:12]))
            patience = HANG
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.needed, self.still = 0, None

    def _becomes_right(self, patience):
        started, log = time.time(), self.crew.master.log_file
        while not self._is_right():
            last_word = log.stat().st_mtime if log.exists() else 0
            if time.time() > min(max(started, last_word) + patience, started + ENDLESS):
                return False
            time.sleep(0.03)
        return True

    def _is_excused(self, mark):
        """May opensm have missed a change, as the head of this file says? Then help, and count it."""
        log = self.crew.master.log(mark)
        swept = [failover.log_time(line) for line in log.splitlines() if line.endswith("SUBNET UP")]
        if sum(end > self.changed for end in swept) < 2:
            self.tally["deaf"] += 1
            self.crew.master.sighup()
            return True
        return False

    def _is_quiet(self):
        """Has the master a word of its own in the log, and been silent since; and is its heartbeat its own?"""
        master = self.crew.master
        try:
            written, beat = (path.stat().st_mtime for path in (master.log_file, master.state_dir / "heartbeat"))
        except FileNotFoundError:
            return False
        return min(written, beat) > master.started and time.time() - written > QUIET

    def _is_right(self):
        self.crew.master.check_alive()
        self._watch_epochs()
        self._watch_rankings()
        if not self._is_quiet():
            self.faults = ["opensm does not come to rest"]
            return False
        self.faults = self.look()
        self._watch_gates()
        return not self.faults

    def _watch_gates(self):
        """What was wrong at the moment of a publication."""
        for gate in self.crew.gates.values():
            self.tally.update(gate.tally)
            gate.tally.clear()
            if gate.faults:
                raise Violation("when it was published: " + "; ".join(gate.faults))

    def _watch_epochs(self):
        """Epochs of each file only grow."""
        for seat, manager in self.crew.running.items():
            epoch, _ = read_head(manager)
            if epoch < self.epochs.get(seat, 0):
                raise Violation(f"epoch {self.epochs[seat]} is followed by {epoch}")
            self.epochs[seat] = epoch

    def look(self):
        """All that is wrong now, in sentences."""
        master = self.crew.master
        status, head = master.status(), read_head(master)
        if status.get("epoch") != head[0]:
            return [f"the status is of epoch {status.get('epoch')}, the schedule of {head[0]}"]
        if head[0] < self.needed:
            return [f"no epoch since the last subnet manager, or one that is not larger: {head[0]} < {self.needed}"]
        view = self.view()
        faults = self._look_at_others()
        if view.cut_pairs():
            faults += self._look_cut(view, status, head)
        else:
            faults += self._look_whole(view, status, head)
        return faults

    def view(self):
        return judge.View(self.world, self.sim.snapshot(), self.crew.master.node)

    def _look_at_others(self):
        return [f"the manager at seat {seat} is not the master, and speaks for the fabric"
                for seat, manager in self.crew.running.items() if seat != self.crew.leader() and read_head(manager)[1]]

    def _look_cut(self, view, status, head):
        """fors declines: another engine routes, the schedule is withdrawn with the reason."""
        if status["state"] != "inactive" or "spine" not in (status["reason"] or "") or head[1]:
            return [f"leaves {view.cut_pairs()} have no common spine, and fors says {status['state']}, "
                    f"{status['reason']}, {head[1]} phases"]
        self.kind = "cut"
        return judge.judge_reach(view)

    def _look_whole(self, view, status, head):
        if status["state"] != "active":
            return [f"the status says {status['state']}: {status['reason']}"]
        faults = self._judge_status(view, status)
        if faults or head[1] != status["phases"]:
            return faults or [f"{head[1]} phases in the schedule, {status['phases']} in the status"]
        self.kind = "degraded" if view.dead or self.world.off else "intact"
        key = head, view.snapshot.text, tuple(self.crew.running)
        if key == self.judged:
            return self._moved(view)
        faults = self._look_deep(view, status, head)
        self.judged = None if faults else key
        if not faults:
            self.homes.keep()
        return faults

    @staticmethod
    def _judge_status(view, status):
        return judge.judge_status(view, status) + judge.judge_length(view, status)

    def _look_deep(self, view, status, head):
        managers = [seats(self.tree)[seat] for seat in self.crew.running]
        homes = self.homes.judge if self._has_arrivals() else judge.judge_homes
        faults = (self._moved(view) or judge.judge_loops(view) or homes(view) or judge.judge_hops(view)
                  or judge.judge_reach(view, managers))
        if faults:
            return faults
        above = 0 if self._has_arrivals() else judge.unlevel(view)
        self.tally["one unit above level"] += above == 1
        faults = [f"the fullest link has {above} units too many of the base LIDs"] if above > 1 else []
        done = read_schedule(self.crew.master)
        if read_head(self.crew.master) != head:
            return ["another schedule while it was read"]
        faults += judge.judge_plan(view, done.stdout, status["phases"]) if done.returncode == 0 else [done.stderr]
        self.active = max(self.active, head[0])
        self.tally["phases above LB"] += status["phases"] > status["lower_bound"]
        self.tally["plans walked"] += 1
        return faults


def chaos_levels():
    """The module, which is made of what is here."""
    sys.modules.setdefault("chaos", sys.modules[__name__])
    return importlib.import_module("chaos_levels")


def kind_of(tree):
    """(Script, Run) for a tree."""
    return (Script, Run) if isinstance(tree, OddTree) else (chaos_levels().Script, chaos_levels().Run)


def tree_of(spec):
    """What a line of text says: two levels or three."""
    return odd_levels.parse_levels(spec) if spec.startswith("XGFT") else parse_fabric(spec)


def memory_growth(curve):
    """kB of anonymous memory that the manager that lived longest gained after WARM_UP events, and over how many."""
    lives = Counter(pid for pid, *_ in curve)
    pid, count = max(lives.items(), key=lambda item: item[1])
    anonymous = [kb for other, _, kb in curve if other == pid]
    if count <= WARM_UP:
        return None, count
    return max(anonymous[WARM_UP:]) - max(anonymous[:WARM_UP]), count - WARM_UP


def chaos(tree, events, lmc, directory, reference=True, progress=None, is_held=False):
    """Do the events; (Run, number of events done, Violation or None)."""
    run, number = kind_of(tree)[1](tree, directory, lmc, reference, is_held), 0
    try:
        for number, event in enumerate(events, 1):
            run.do(event)
            run.tally[run.kind] += 1
            if progress:
                progress(number, run)
        return run, number, None
    except (Violation, harness.HarnessError) as violation:
        return run, number, violation
    finally:
        run.stop()


def condensed(tree, events, last):
    """The events with all but the last few become one change from the intact fabric."""
    world = tree.world(tree.late)
    for event in events[:-last]:
        event.apply(world)
    words = [f"-{a}/{k}" for a, k in sorted(world.cut)] + [f"-{name}" for name in sorted(world.off)]
    words += [f"+{name}" for name in sorted(tree.late - world.off)]
    replaced = [Event(f"replace {spine}") for spine in sorted(world.replaced)]
    replaced += [Event(f"stub {number}") for number in sorted(world.stubs)]
    replaced += [Event("drain " + " ".join(world.drained))] if getattr(world, "drained", ()) else []
    replaced += [Event(f"move {name} {a}/{s}") for name, (a, s) in sorted(world.moved().items())]
    return [Event(" ".join(["change", *words])), *replaced, *events[-last:]]


def minimise(tree, events, lmc, directory, reference=True):
    """A shorter series that still fails, or the same: a few tries only."""
    for last in (1, 2, 4, 8, 16, 32):
        if last < len(events):
            shorter = condensed(tree, events, last)
            if chaos(tree, shorter, lmc, Path(directory) / f"last{last}", reference)[2]:
                return shorter
    return events


# ---------------------------------------------------------------------------
# The command

def parse_arguments():
    parser = argparse.ArgumentParser(description="Random failures and recoveries, judged after each.")
    parser.add_argument("--fabric", default="FT(2;8,8)", help=f"FT(2;S,M1[;servers=N][;cables=C]{ODDITIES}) or "
                        f"XGFT(3;M1,M2,M3;1,W2,W3{odd_levels.ODDITIES})")
    parser.add_argument("--series", choices=("random", "singles", "sets"), default="random", help="at three levels: singles, each cable, "
                        "middle switch and top dies and returns; sets, as many random sets as half of EVENTS")
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--lmc", type=int, help="default: enough for all lanes")
    parser.add_argument("--managers", choices=MANAGER_CHOICES, default="two", help="two: a second one joins and leaves; "
                        "one: it is ended and started again, and has no reference fabric; calm: it is never ended")
    parser.add_argument("--held", action="store_true", help="hold opensm at each publication, and judge what the switches hold then")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="SECONDS", help="of silence, after which a fabric will not "
                        f"become right any more; default {PATIENCE:g}. More where the machine has other work")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="do the events of a file instead")
    parser.add_argument("--minimise", action="store_true", help="look for a shorter series that still fails")
    parser.add_argument("--print-events", action="store_true", help="and do nothing")
    parser.add_argument("--curve", type=Path, metavar="FILE", help="write process, Rss and anonymous kB per event")
    return parser.parse_args()


class Progress:
    """One line that is written over on a terminal, one line per 100 events elsewhere."""

    def __init__(self, total):
        self.total, self.started = total, time.monotonic()

    def __call__(self, number, run):
        is_terminal = sys.stderr.isatty()
        if is_terminal or number % 100 == 0:
            each = (time.monotonic() - self.started) / number
            left = int(each * (self.total - number))
            text = (f"{number}/{self.total} events, {left // 60}:{left % 60:02} left, {each:.2f} s each, slowest "
                    f"{run.slowest:.1f} s, opensm {run.curve[-1][1] / 1024:.1f} MB")
            print(f"\r{text}\033[K" if is_terminal else text, end="" if is_terminal else "\n", file=sys.stderr,
                  flush=True)


def report(options, run, done, seconds):
    growth, over = memory_growth(run.curve)
    print(f"\n{options.fabric}, seed {options.seed}: {done} events in {seconds:.0f} s, "
          f"{seconds / max(done, 1):.2f} s each, slowest {run.slowest:.1f} s")
    print(", ".join(f"{key} {value}" for key, value in sorted(run.tally.items())))
    if getattr(run, "worst", (0,))[0]:
        print(f"worst T/LB {run.worst[0]:.3f} ({run.worst[1]})")
    print(f"memory after the first {WARM_UP} events of the longest life: "
          + (f"{growth:+d} kB in {over} events" if growth is not None else f"no life that long ({over} events)"))


def read_events(path):
    return [Event(line) for line in path.read_text().splitlines() if line and not line.startswith("#")]


def fail(options, run, events, done, violation, tree, lmc, directory):
    """Say what happened, how to see it again, and where the events are."""
    done_events = events[:done]
    if options.minimise:
        done_events = minimise(tree, done_events, lmc, directory, options.managers == "two")
    path = Path(f"chaos-{options.seed}.events")
    path.write_text(f"# {options.fabric}\n" + "".join(f"{event.text}\n" for event in done_events))
    print(f"\nVIOLATION after event {done} ({events[done - 1].text if done else 'start'}):\n{violation}")
    print("dead then: " + " ".join(f"{a}/{k}" for a, k in sorted(run.world.dead())), *sorted(run.world.off))
    print(f"all {len(done_events)} events: {path}; files: {directory}")
    print(f"again: make soak EVENTS={options.events} SEED={options.seed} FABRIC='{options.fabric}' "
          f"SOAK_FLAGS='--lmc {lmc} --managers {options.managers} --series {options.series}'")
    print(f"or: {sys.argv[0]} --fabric '{options.fabric}' --lmc {lmc} --managers {options.managers} --replay {path}")


def draw(tree, options):
    if options.series != "random":
        return chaos_levels().series(tree, options.series, options.events // 2, options.seed)
    return kind_of(tree)[0](tree, options.seed, options.events, MANAGER_CHOICES[options.managers])


def main():
    options = parse_arguments()
    globals().update(PATIENCE=options.patience, HANG=max(HANG, options.patience), ENDLESS=max(ENDLESS, 4 * options.patience))
    tree = tree_of(options.fabric)
    lmc = full_lmc(tree) if options.lmc is None else options.lmc
    events = read_events(options.replay) if options.replay else list(draw(tree, options))
    if options.print_events:
        print("\n".join(event.text for event in events))
        return 0
    print(f"seed {options.seed}, {len(events)} events, {options.fabric}, LMC {lmc}", file=sys.stderr)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what it started, too
    directory, started = tempfile.mkdtemp(prefix="fors-chaos-"), time.monotonic()
    try:
        run, done, violation = chaos(tree, events, lmc, directory, options.managers == "two", Progress(len(events)),
                                     options.held)
    except KeyboardInterrupt:
        subprocess.run(["rm", "-rf", directory], check=True)
        print(f"\nstopped; nothing was found so far. --seed {options.seed} does the same again, from the beginning: what happens "
              "follows from what happened before", file=sys.stderr)
        return 130
    report(options, run, done, time.monotonic() - started)
    if options.curve:
        options.curve.write_text("".join(f"{n} {pid} {rss} {anon}\n" for n, (pid, rss, anon) in enumerate(run.curve, 1)))
    if violation:
        fail(options, run, events, done, violation, tree, lmc, directory)
        return 1
    subprocess.run(["rm", "-rf", directory], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
