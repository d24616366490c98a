# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Shadow mode beside another engine, judged from outside: packets, files, tables, and what fors does when it is switched on.

    python3 tests/e2e/shadow.py [STATES] [SEED]

takes random states of trees of two and three levels, with cables and switches cut, under minhop and ftree. Each is brought up without
the plugin, then with a shadow, then with fors switched on. The shadow changes no table; what it says are the figures of the third run;
and switching on moves as many entries as it said.
"""
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import harness
import three

QUIET = {"sweep_interval": "0"}
# Of the status: what is the same when fors is switched on. Times are not.
FIGURES = ("servers", "leaves", "spines", "pods", "mids", "tops", "f", "affected_spines", "capacity", "phases", "lower_bound", "lump_bound",
           "tables_bound", "length", "method", "unreachable_pairs", "ca_ports", "not_participants", "guests", "left_out", "lmc", "lmc_needed")
OUTSIDE = {"opensm.log", "opensm.out", "opensm.conf", "fors.conf", "packets"}


def start(sim, directory, engine, conf=None, **options):
    """An opensm without the plugin (conf None) or with it, whose packets are written down."""
    directory = Path(directory)
    return harness.OpenSM(sim, directory, fors_conf=conf, routing_engine=engine, preload=[harness.compiled("umad_log")],
                          event_plugin_name=None if conf is None else "fors",
                          env={"FORS_UMAD_LOG": str(directory / "packets")}, **{**QUIET, **options})


def settle(sm):
    """Wait until nothing more is sent: what opensm does after SUBNET UP belongs to the sweep too."""
    log, size = sm.directory / "packets", -1
    while log.stat().st_size != size:
        size = log.stat().st_size
        time.sleep(0.5 * harness.patience())


def packets(sm):
    """What it sent, in no order: answers come as they come."""
    return sorted((sm.directory / "packets").read_text().splitlines())


def folder(sm):
    return sm.state_dir / "shadow"


def status(sm):
    try:
        return json.loads((folder(sm) / "status.json").read_text())
    except FileNotFoundError:
        return {}


def wait(sm, sweeps=1, **wanted):
    """The shadow's status when it has looked at so many sweeps."""
    def look():
        sm.check_alive()
        said = status(sm)
        return said if said and said["shadow"]["sweeps"] >= sweeps and all(said.get(k) == v for k, v in wanted.items()) else None
    return harness.wait_for(look, 60, f"{sweeps} sweeps seen by the shadow {wanted}; {status(sm)}")


def files(sm):
    """Everything that is left in the folders of an opensm, but for its log and the shadow's own folder: lines, in no order."""
    found = {}
    for path in sorted(sm.directory.rglob("*")):
        name = str(path.relative_to(sm.directory))
        if path.is_file() and name not in OUTSIDE and not name.startswith("cache/fors/"):
            found[name] = sorted(path.read_bytes().splitlines())
    return found


def left_outside(sm):
    """Names in the state folder that are not the shadow's."""
    return [name for name in os.listdir(sm.state_dir) if name != "shadow"] if sm.state_dir.exists() else []


def cut(sim, ends):
    sim.commands([f'Unlink "{node}"[{port}]' for node, port in ends])


def entries_between(before, after):
    """How many entries differ between two snapshots, whoever reads them."""
    count = 0
    for name, table in after.table.items():
        old = before.table[name]
        for lid in range(max(len(table), len(old))):
            a = old[lid] if lid < len(old) else harness.NO_PATH
            b = table[lid] if lid < len(table) else harness.NO_PATH
            count += a != b
    return count


def random_state(draw):
    """(tree, ends to cut, engine): every server stays reachable as a rule; where not, that is a state too."""
    if draw.random() < 0.5:
        tree = harness.FatTree(draw.randint(2, 6), draw.randint(2, 6), servers=draw.randint(1, 6), cables=draw.choice([1, 1, 2]))
    else:
        w2, w3 = draw.randint(1, 3), draw.randint(1, 3)
        tree = three.Tree3((draw.randint(1, 3), draw.randint(2, 3), draw.randint(2, 3)), (max(w2, 2), max(w3, 2)))
    trunks = sorted(end for end, peer in tree.cable.items() if end[0] in tree.switches and peer[0] in tree.switches and end < peer)
    ends = draw.sample(trunks, min(len(trunks) - 1, draw.choice([0, 1, 1, 2, 3, len(trunks) // 6])))
    return tree, ends, draw.choice(["minhop", "ftree"])


def without(tree, ends, engine, directory):
    """(hardware, packets, files) of a run without the plugin."""
    with harness.Ibsim(tree, directory / "sim") as sim:
        cut(sim, ends)
        with start(sim, directory / "none", engine) as plain:
            plain.wait_up()
            settle(plain)
            alone = sim.snapshot()
    return alone, packets(plain), files(plain)


def with_shadow(tree, ends, engine, directory):
    """Packets of a run with the shadow."""
    with harness.Ibsim(tree, directory / "sim") as sim:
        cut(sim, ends)
        with start(sim, directory / "shadow", engine, "fors_mode = shadow\n") as looking:
            looking.wait_up()
            settle(looking)
            wait(looking)
    return packets(looking)


def ever_alike(tree, ends, engine, directory, plain, beside):
    """On a busy machine opensm asks again now and then. A shadow that changes what it sends does so in each run: none is like one without."""
    plain, beside = [plain], [beside]
    for n in range(4):
        if any(packets_seen in plain for packets_seen in beside):
            return True
        plain.append(without(tree, ends, engine, directory / f"again-{n}")[1])
        beside.append(with_shadow(tree, ends, engine, directory / f"beside-{n}"))
    return any(packets_seen in plain for packets_seen in beside)


def judge(tree, ends, engine, directory):
    """One state; a list of what is wrong, and a line of what was seen."""
    directory, wrong = Path(directory), []
    alone, plain_packets, plain_files = without(tree, ends, engine, directory / "first")
    with harness.Ibsim(tree, directory / "sim") as sim:
        cut(sim, ends)
        with start(sim, directory / "shadow", engine, "fors_mode = shadow\n") as looking:
            looking.wait_up()
            settle(looking)
            said, beside = wait(looking), sim.snapshot()
        if beside.text != alone.text:
            wrong.append("the shadow changes what the fabric holds")
        if not ever_alike(tree, ends, engine, directory, plain_packets, packets(looking)):
            wrong.append("the shadow changes what opensm sends")
        if files(looking) != plain_files:
            wrong.append("the shadow changes files: "
                         f"{[name for name in {**files(looking), **plain_files} if files(looking).get(name) != plain_files.get(name)]}")
        if left_outside(looking):
            wrong.append(f"files outside shadow/: {left_outside(looking)}")
        wrong += compare(sim, looking, said, beside)
    shadow = said["shadow"]
    return wrong, (f"{engine}, {len(ends)} cut: {said['phases']} phases for {shadow['present_phases']}, shift {shadow['present_shift']}, "
                   f"{shadow['entries']} of {shadow['compared']} entries{'; ' + said['reason'] if said['reason'] else ''}")


def compare(sim, looking, said, beside):
    """Switch fors on over the same fabric, with the folders of the shadow."""
    wrong, mark = [], looking.log_end()
    with start(sim, looking.directory, "fors,minhop", "") as on:
        on.wait_up(mark)
        real = on.wait_status(60, state=lambda state: state in ("active", "failed", "inactive"))
        after = sim.snapshot()
    if real["state"] == "active" or said["phases"] is not None:
        wrong += [f"{key}: shadow {said[key]}, on {real[key]}" for key in FIGURES if said[key] != real[key]]
    moved = entries_between(beside, after)
    if said["shadow"]["entries"] not in (None, moved):
        wrong.append(f"the shadow said {said['shadow']['entries']} entries, {moved} moved")
    if (looking.state_dir / "shadow" / "status.json").exists():
        wrong.append("the shadow still has the word")
    return wrong


def main():
    states, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 50, int(sys.argv[2]) if len(sys.argv) > 2 else 1
    bad = 0
    for number in range(states):
        with tempfile.TemporaryDirectory(prefix="fors-shadow-") as scratch:
            tree, ends, engine = random_state(random.Random(f"{seed}-{number}"))
            wrong, seen = judge(tree, ends, engine, scratch)
        print(f"state {number}: {len(tree.hcas)} servers, {len(tree.switches)} switches, {seen}", flush=True)
        for line in wrong:
            print("  WRONG:", line)
        bad += bool(wrong)
    print(f"{states - bad} of {states} states as they should be")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
