# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""chaos.py for trees of three levels: what can die there, and what should be true then. Run by chaos.py, for --fabric 'XGFT(3;...)'.

A cable is the end at its first node and the port there, as in -Leaf0-1/5. One more event:

    drain Mid1-2/8 Top0-1   these links and switches are excluded by fors.conf, none of those before (with drain=1 in the fabric)

While all this goes on somebody reads the state folder, as monitoring does: see Reader.
"""
import json
import threading
import time

import chaos
import over
import three
from odd_levels import View


class Script(chaos.Script):
    """Events for a tree of three levels."""

    def kinds(self):
        return {**super().kinds(), **({"drain": 10} if self.tree.has_drain else {})}

    def allows(self, world):
        return world.is_allowed(chaos.seats(self.tree))

    def _limit(self):
        return len(self.tree.ends) // 8

    def _cable(self):
        return self.random.choice(self.tree.ends)

    def _thing(self):
        what = self.random.choices(("cable", "Mid", "Top", "Leaf", "Node"), (70, 5, 6, 4, 15))[0]
        if what == "cable":
            node, port = self._cable()
            return f"{node}/{port}", (node, port) in self.world.cut
        name = self.random.choice(sorted(name for name in {**self.tree.switches, **self.tree.hcas} if name.startswith(what)))
        return name, name in self.world.off

    def _drain(self):
        cables = [f"{node}/{port}" for node, port in self.random.sample(self.tree.ends, self.random.choice((0, 0, 1, 2, 5)))]
        above = sorted(name for name in self.tree.switches if name[0] in "MT")
        return cables + self.random.sample(above, self.random.choice((0, 0, 1, 2)))


def series(tree, what, count, seed):
    """
    Instead of accidents, one after another, from the intact tree and back: `singles`, each cable, middle switch and top; `sets`,
    as many random sets of 1 to 10 % of the cables, some with a switch.
    """
    draw = Script(tree, seed, 0).random
    things = [[f"{node}/{port}"] for node, port in tree.ends] + [[name] for name in sorted(tree.switches) if name[0] in "MT"]
    if what == "sets":
        one = [words[0] for words in things]
        things = [draw.sample(one, max(1, round(draw.uniform(0.01, 0.1) * len(one)))) for _ in range(count)]
    seats = chaos.seats(tree)
    for words in things:
        event = chaos.Event(" ".join(["change", *("-" + word for word in words)]))
        world = tree.world()
        event.apply(world)
        if world.is_allowed(seats):
            yield event
            yield chaos.Event(event.text.replace(" -", " +"))


class Reader:
    """
    Who reads the schedule's head, the status, and the head again. The schedule comes first, and the status tells of it a moment later
    (doc/architecture.md): so a status is never of a later epoch than the schedule, and of the same epoch it never calls a withdrawn
    schedule active. What is otherwise is a fault.
    """

    def __init__(self, manager):
        self.manager, self.faults, self.reads, self.lags = manager, [], 0, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while not self.ended.wait(0.005):
            try:
                before = chaos.read_head(self.manager)
                status = json.loads((self.manager.state_dir / "status.json").read_text())
                after = chaos.read_head(self.manager)
            except OSError:
                continue  # nothing there yet
            self._judge(before, status["epoch"] or 0, status["state"], after)

    def _judge(self, before, epoch, state, after):
        self.reads += 1
        self.lags += epoch < before[0]
        if epoch > after[0]:
            self.faults.append(f"a status of epoch {epoch} before its schedule, of {after[0]}")
        if before == after and epoch == after[0] and state == "active" and not after[1]:
            self.faults.append(f"the status calls epoch {epoch} active, whose schedule is withdrawn")

    def stop(self):
        self.ended.set()
        self.thread.join()


class Run(chaos.Run):
    """A simulated tree of three levels, its managers, what should be true, and what was seen."""

    def __init__(self, *arguments, **options):
        self.reader, self.healthy, self.worst = None, None, (0, None)
        super().__init__(*arguments, **options)

    def stop(self):
        if self.reader:
            self.reader.stop()
        super().stop()

    def conf(self, directory, reference):
        return super().conf(directory, reference) or "# nothing\n"

    def view(self):
        return View(self.world, self.sim.snapshot(), self.crew.master.node)

    def _drain(self, event):
        """As an administrator writes it: into the file of each manager, who read it again."""
        links = [word.replace("/", "[") + "]" for word in event.words if "/" in word]
        switches = [word for word in event.words if "/" not in word]
        text = self._drain_text("exclude_links", links) + self._drain_text("exclude_spines", switches)
        self.world = self.world.copy()
        event.apply(self.world)
        self.changed = time.time()
        self.judged = None  # what was right before is not yet right now
        self.crew.write_conf(text)
        for manager in self.crew.running.values():
            manager.sighup()

    @staticmethod
    def _drain_text(key, names):
        return f"{key} = {', '.join(names)}\n" if names else ""

    def _is_right(self):
        """The reader's faults count whenever they are seen."""
        if self.reader is None or self.reader.manager is not self.crew.master:
            if self.reader:
                self.reader.stop()
            self.reader = Reader(self.crew.master)
        right = super()._is_right()
        self.tally["reads"] += self.reader.reads
        self.tally["reads between schedule and status"] += self.reader.lags
        self.reader.reads = self.reader.lags = 0
        if self.reader.faults:
            raise chaos.Violation("; ".join(self.reader.faults))
        return right

    def _moved(self, view):
        """What leads to servers holds still. What leads to switches and guests depends on who was there before."""
        still = self.still
        return [f"{switch} has another entry for {name} under another manager" for switch in view.switches() if still
                for name in view.players if still[0].get(name) == view.snapshot.port[name]
                for lid in view.lids(name) if lid < len(still[1][switch]) and still[1][switch][lid] != view.port(switch, lid)]

    def _look_cut(self, view, status, head):
        pairs = view.cut_pairs()
        if status["state"] != "inactive" or status["unreachable_pairs"] != len(pairs) or head[1]:
            return [f"leaves {pairs} have no way up and down, and fors says {status['state']}, {status['reason']}, "
                    f"{status['unreachable_pairs']} pairs, {head[1]} phases"]
        self.kind = "cut"
        return []

    def _judge_status(self, view, status):
        """Servers, and T beside the bound of the tables, which is counted here once more."""
        if status["servers"] != len(view.players):
            return [f"the status says {status['servers']} servers, {len(view.players)} are there"]
        if status["tables_by"] != "fors":
            return [f"tables by {status['tables_by']}"]
        return []

    def _look_deep(self, view, status, head):
        snapshot = view.snapshot
        faults = three.judge_tables(snapshot, self.crew.master.node) + self._moved(view) + self._judge_bytes(view) + self._judge_drained(view, status)
        if faults:
            return faults
        rows = over.read_csv(self.crew.master.schedule_file)
        if rows is None or chaos.read_head(self.crew.master) != head:
            return ["another schedule while it was read"]
        faults = over.judge(snapshot, rows, view.players)
        least = over.bound(over.Walker(snapshot), view.players) if not faults else 0
        if not faults and not least <= status["phases"] <= 1.5 * least:
            faults = [f"{status['phases']} phases, and the tables ask for {least}"]
        self.active = max(self.active, head[0])
        self.tally["phases above the tables' bound"] += status["phases"] > least
        self.tally["phases above LB"] += status["phases"] > status["lower_bound"]
        self.tally["plans walked"] += 1
        if not faults:
            self.worst = max(self.worst, (status["phases"] / status["lower_bound"], f"{status['phases']}, {status['lower_bound']}"))
        return faults

    def _judge_bytes(self, view):
        """Intact, the tables are those of the beginning, to the byte."""
        if self.kind != "intact" or self.world.drained:
            return []
        tables = {name: bytes(table) for name, table in view.snapshot.table.items()}
        if self.healthy is None or len(self.crew.running) > 1 or self.crew.leader():
            self.healthy = self.healthy or tables
            return []
        self.tally["the very bytes"] += 1
        return [f"{name} is not as it was" for name in tables if tables[name] != self.healthy[name]]

    def _excluded(self, view):
        """(lower, upper switch) of the living cables that fors.conf excludes."""
        ends = {end for end in view.snapshot.cable for word in self.world.drained
                if end[0] == word or end == chaos.place(word) and "/" in word}
        pairs = {(end[0], view.snapshot.cable[end][0]) for end in ends if {end[0], view.snapshot.cable[end][0]} <= set(view.switches())}
        return {tuple(sorted(pair, key=three.level)) for pair in pairs}

    def _judge_drained(self, view, status):
        said = {tuple(sorted((link["a"], link["b"]), key=three.level)) for link in status["excluded_links"]}
        if said != self._excluded(view):
            return [f"excluded are {sorted(self._excluded(view))}, and the status has {sorted(said)}"]
        needed = {tuple(sorted((link["a"], link["b"]), key=three.level)) for link in status["excluded_links"] if link["used"]}
        return [f"{pair} is excluded, and servers' traffic goes over it" for pair in (said - needed) & three.cables_used(view.snapshot)]
