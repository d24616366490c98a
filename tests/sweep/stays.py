#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""stays.py PROGRAM [--trees N] [--seed N] [--old BUILD] - what moves in trees that lack cables from the beginning.

PROGRAM is sweep_stays, whose head says what it tries. With --old BUILD, a folder in which another revision of fors was built, the same
program is linked with the library of that build too, and its phases and moves are told beside.

Entries for servers may move in the leaves, though their way lives, where an exchange would take longer otherwise: in 1 of 50 cuts
at most (with parallel cables, mostly), 1 entry for 200 that lost their way, with one LID per port only, and each is named. Exit code 0: so it is, and nothing is longer than in BUILD in more than 1 of 100
cuts, nor moves more entries, all in all, when cables return or come; 1: not; 2: bad usage.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
LINE = re.compile(r"(\w+) (\d+/\d+) lmc (\d) lost (\d+) moved (\d+) spine (\d+) phases (\d+) dead(.*)")
CUTS = ("single", "spine", "drain", "series")
COMING = ("return", "first")


def link(build, folder):
    """sweep_stays with the library of another build."""
    text = (build / "config.status").read_text(errors="replace") if (build / "config.status").exists() else ""
    found = re.search(r"^srcdir='?([^'\n]+)", text, re.M) or re.search(r"ac_pwd='([^'\n]+)", text)
    if not found or not (build / "libforscore.la").exists():
        sys.exit(print(f"stays: {build} is no folder in which fors was built", file=sys.stderr) or 2)
    source = (build / found[1]).resolve()
    objects, height = [], [] if (source / "core/fabric/fattree.h").exists() else ["-DTWO_LEVELS_ALONE"]
    for name in ("incomplete", "sweep_stays"):
        objects.append(str(folder / f"{name}.o"))
        subprocess.run(["gcc", "-std=gnu11", "-O2", f"-iquote{source}", f"-iquote{TREE}", *height, "-c",
                        str(TREE / "tests/sweep" / f"{name}.c"), "-o", objects[-1]], check=True)
    program = folder / "sweep_stays"
    subprocess.run(["./libtool", "--quiet", "--tag=CC", "--mode=link", "gcc", "-o", str(program), *objects, "libforscore.la"],
                   cwd=build, check=True)
    return program


def start(program, options):
    return subprocess.Popen([str(program), str(options.trees), str(options.seed)], stdout=subprocess.PIPE, text=True)


def events(process):
    for line in process.stdout:
        found = LINE.fullmatch(line.rstrip())
        if not found:
            sys.exit(print(f"stays: cannot read: {line}", file=sys.stderr) or 2)
        kind, name, lmc, lost, moved, spine, phases, dead = found.groups()
        yield {"kind": kind, "name": name, "lmc": int(lmc), "lost": int(lost), "moved": int(moved), "spine": int(spine),
               "phases": int(phases), "dead": dead}
    if process.wait():
        sys.exit(print(f"stays: the sweep ended with {process.returncode}", file=sys.stderr) or 2)


def add(counts, event, old):
    counts["n"] += 1
    for key in ("lost", "moved", "spine"):
        counts[key] += event[key]
    counts["moving"] += event["moved"] > 0
    counts["moving, more LIDs"] += event["moved"] > 0 and event["lmc"] > 0
    if not old:
        return
    counts["old moved"] += old["moved"]
    counts["old moving"] += old["moved"] > 0
    if event["phases"] and old["phases"]:
        counts["longer"] += event["phases"] > old["phases"]
        counts["shorter"] += event["phases"] < old["phases"]


def name_case(event, old, what):
    before = f" (old: {old['moved']} moved, {old['phases']} phases)" if old else ""
    print(f"{what}: {event['kind']} {event['name']}, LMC {event['lmc']}, without{event['dead']}: {event['moved']} moved, "
          f"{event['phases']} phases{before}")


def sweep(new, old):
    """What was counted, by kind; the cases worth a look are named."""
    counts = {}
    for event in new:
        beside = next(old) if old else None
        if beside and (beside["name"], beside["dead"]) != (event["name"], event["dead"]):
            sys.exit(print(f"stays: other cases: {event} {beside}", file=sys.stderr) or 2)
        add(counts.setdefault(event["kind"], Counter()), event, beside)
        if event["kind"] in CUTS and event["moved"]:
            name_case(event, beside, "moved, for the sake of phases")
        if beside and event["kind"] != "whole" and beside["phases"] and event["phases"] > beside["phases"]:
            name_case(event, beside, "longer")
    return counts


def judge(counts, has_old):
    cuts = sum((counts.get(kind, Counter()) for kind in CUTS), Counter())
    wrong = []
    if cuts["moving"] * 50 > cuts["n"] or cuts["moved"] * 200 > cuts["lost"] or cuts["moving, more LIDs"]:
        wrong.append("entries move whose way lives")
    if cuts["longer"] * 100 > cuts["n"]:
        wrong.append("plans are longer")
    wrong += [f"{kind}: more moves than in the old build" for kind in COMING
              if has_old and counts.get(kind, Counter())["moved"] > 1.01 * counts.get(kind, Counter())["old moved"]]
    print(f"{cuts['n']} cuts: {cuts['lost']} entries lost their way, {cuts['moved']} others moved, in {cuts['moving']} cuts"
          + (f"; with the old build {cuts['old moved']} in {cuts['old moving']}; longer {cuts['longer']}, shorter {cuts['shorter']}"
             if has_old else ""))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--trees", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--old", type=Path, metavar="BUILD")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        old = start(link(options.old.resolve(), Path(folder)), options) if options.old else None
        counts = sweep(events(start(Path(options.program).resolve(), options)), events(old) if old else None)
    for kind, row in counts.items():
        print(f"{kind:7}", ", ".join(f"{key} {value}" for key, value in row.items() if value))
    wrong = judge(counts, bool(old))
    print("\n".join(wrong) or "as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
