#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""ablation.py [--small N] [--large N] [--seed S] [--kinds LIST] [--lmc N] - what `fors plan` loses without each of its parts.

A copy of the sources is built in ablation/ of the current folder, with a switch at each place of ablation.txt; the product has none. Then random
trees of tests/sweep/kinds.py are planned, N of each kind of 40 to 200 servers and N of 200 to 1,000, with everything and without each part that was
asked. A row of the table for each part: T without it over T with all, on average over the kinds, the longest, the kind with the largest average;
processor time without it over that with all. A part that fails without is no part to leave out.
"""
import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "sweep"))

import kinds  # noqa: E402

SECONDS = 60  # of processor time for a plan
# FORS_WITHOUT names a part; if it is empty, each part that is asked for is named on stderr.
OFF = """#define is_off(part) __extension__({ static int seen_; is_off_(part, &seen_); })
static inline int is_off_(const char *part, int *seen)
{
	extern char *getenv(const char *);
	extern int strcmp(const char *, const char *), dprintf(int, const char *, ...);
	const char *without = getenv("FORS_WITHOUT");

	if (without && !*without && !(*seen)++)
		dprintf(2, "part %s\\n", part);
	return without && !strcmp(without, part);
}
"""


def read_parts():
    """(name, file, text as it is, with its switch) of each part."""
    for record in (TOP / "lab" / "bench" / "ablation.txt").read_text().split("\n\n")[1:]:
        head, *lines = record.strip("\n").split("\n")
        name, path = head.rsplit(" ", 1)
        as_is, switched = ("\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+")
        yield name, path, as_is, switched.replace("OFF", f'is_off("{name}")')


def put_switches(folder, parts):
    for name, path, as_is, switched in parts:
        file = folder / path
        text = file.read_text()
        if text.count(as_is) != 1:
            raise SystemExit(f"ablation.txt, {name}: {path} has this text {text.count(as_is)} times")
        file.write_text(text.replace(as_is, switched))


def build(parts):
    """The command with switches."""
    source = Path("ablation/source").resolve()
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(TOP, source, symlinks=True, ignore=shutil.ignore_patterns("build", "build-[!a]*", ".git", "ablation", "compare-builds"))
    put_switches(source, parts)
    (source / "off.h").write_text(OFF)
    (source / "build").mkdir()
    for command in (["../configure"], ["make", "-s", "-j2", f"CFLAGS=-O2 -include {source}/off.h", "fors"]):
        subprocess.run(command, cwd=source / "build", check=True, stdout=subprocess.DEVNULL)
    return source / "build" / "fors"


def plan(fors, net, down, without):
    """(T or None, processor time, parts that were asked)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([fors, "plan", "--fabric", net, *down, "--json"], capture_output=True, text=True, check=False, env={**os.environ, "FORS_WITHOUT": without},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = {line[len("part "):] for line in done.stderr.splitlines() if line.startswith("part ")}
    return None if done.returncode else json.loads(done.stdout)["phases"], after.ru_utime - before.ru_utime, asked


def measure(fors, kind, is_large, options, names, rows):
    with tempfile.TemporaryDirectory() as folder:
        for case in range(options.large if is_large else options.small):
            draw = random.Random(f"{options.seed}.{kind}.{case}.{is_large}")
            tree = kinds.draw_tree(kind, draw, is_large)
            down = [word for one in kinds.draw_dead(tree, draw) for word in ("--down", one)]
            net = f"{folder}/net"
            Path(net).write_text(tree.text())
            text, _ = kinds.run(str(fors), "fabric", "--fabric", net, "--lmc", str(options.lmc), "--format", "net")
            Path(net).write_text(text)
            most, spent, asked = plan(fors, net, down, "")
            for name in names if most else ():
                phases, time, _ = plan(fors, net, down, name) if name in asked else (most, spent, None)
                rows.setdefault(name, []).append((kind, phases and phases / most, time, spent))


def tell(name, rows):
    by_kind = {}
    for kind, share, _, _ in rows:
        by_kind.setdefault(kind, []).append(share or 1)
    means = {kind: 100 * (sum(shares) / len(shares) - 1) for kind, shares in by_kind.items()}
    worst, mean, longest = max(means, key=means.get), sum(means.values()) / len(means), max(row[1] or 1 for row in rows)
    failed = sum(row[1] is None for row in rows)
    print(f"| {name} | {mean:+.2f} % | {100 * (longest - 1):+.1f} % | {worst} {means[worst]:+.2f} % | {sum(row[2] for row in rows) / (sum(row[3] for row in rows) or 1):.2f} |"
          + (f" {failed} without a plan |" if failed else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=20)
    parser.add_argument("--large", type=int, default=4)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kinds", default=",".join(kinds.KINDS))
    parser.add_argument("--lmc", type=int, default=0)
    options = parser.parse_args()
    kinds.ABSENT_MOST = 1000
    parts, rows = list(read_parts()), {}
    fors = build(parts)
    for kind in options.kinds.split(","):
        for is_large in (False, True):
            measure(fors, kind, is_large, options, [part[0] for part in parts], rows)
    print("| without | T, mean | longest | kind that loses most | processor time |\n|---|---|---|---|---|")
    for name, of_part in rows.items():
        tell(name, of_part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
