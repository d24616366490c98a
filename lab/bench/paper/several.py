# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several jobs at once: the speed of each beside the others, under tables and plans of several kinds, after random cuts.

A queue of synthetic jobs keeps FT(2;20,18) full (`fors jobs --replay`), and a tree of three levels, there beside the tables of the stock opensm's
ftree; `fors analyze --pattern per-job-...` says how fast the jobs of a moment get on. What SAR's paper (Domke and Hoefler, SC16) counts, EFI and dark fiber, is counted too. Twenty moments; FORS_MOMENTS=3 takes as many.
"""
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

import engines
import failover
import harness
import lanes_limit
from jobs import history

PLACEMENTS = ["tree", "first-fit", "random"]
DEAD = [0, 1, 5, 20]
# (title, arguments of fors analyze, the mark of all jobs)
WAYS = [("D-mod-K homes (fors), shift", ["--routing", "fors", "--pattern", "per-job-shift"], ""),
        ("SSSP (DFSSSP's idea), shift", ["--routing", "sssp", "--pattern", "per-job-shift"], ""),
        ("SAR, shift", ["--routing", "sar", "--pattern", "per-job-shift"], ""),
        ("a plan per job, LMC 0", ["--routing", "fors", "--pattern", "per-job-plan"], ""),
        ("a plan per job, LMC 5", ["--routing", "fors", "--lmc", 5, "--pattern", "per-job-plan"], ""),
        ("owned lanes, LMC 5", ["--routing", "fors", "--lmc", 5, "--pattern", "per-job-plan"], "exclusive"),
        ("job index, LMC 1", ["--routing", "fors", "--lmc", 1, "--job-index", "--pattern", "per-job-plan"], "job-index")]


SIZES = [16, 24, 32, 48, 64, 96, 128]
QUICK_SIZES = [6, 8, 12, 16, 24]

# Three levels: a path index for each way up takes LMC 6. The queue keeps some seven jobs side by side.
WAYS3 = [(title.replace("LMC 5", "LMC 6"), [6 if word == 5 else word for word in arguments], mark)
         for title, arguments, mark in WAYS if not title.startswith(("SSSP", "a plan per job"))]
SIZES3 = [16, 24, 32, 40, 48, 56, 64]
DEAD3 = [0, 1, 5]
SIZES7 = [8, 16, 24, 32, 40, 48, 56, 64]
USES7 = [0.45, 0.9]
FTREE = "ftree (stock OpenSM), shift"


def measure(is_quick):
    return {**_measure_two(is_quick), "three": _measure_three(is_quick), "seven": measure_seven(is_quick)}


def measure_seven(is_quick):
    """Seven jobs of mixed size at once on three levels, with some of the servers in use and with most."""
    spec, sizes, moments = ("XGFT(3;2,2,3;1,2,2)", [1, 2, 3], 1) if is_quick else ("XGFT(3;6,6,8;1,6,6)", SIZES7, int(os.environ.get("FORS_MOMENTS", 20)))
    with tempfile.TemporaryDirectory(prefix="fors-jobs-") as name:
        folder = pathlib.Path(name)
        cables = _cables(spec)
        rows, stock = [], Stock(spec, folder, cables)
        nservers = stock.net.count("\nCa")
        for use in USES7:
            rng = random.Random(f"seven {use}")
            drawn = [_seven(rng, sizes, use * nservers) for _ in range(moments)]
            for placement in ("tree", "random"):
                files = [_placed(spec, text, placement, number, folder / f"{use}-{placement}") for number, text in enumerate(drawn)]
                for dead in DEAD3[:2] if is_quick else DEAD3:
                    ways = [(stock, (FTREE, ["--pattern", "per-job-shift"], "")), *((Made(spec, cables), way) for way in WAYS3)]
                    rows += [{**_row(tables, placement, dead, way, files), "use": use} for tables, way in ways]
    return {"fabric": spec, "moments": moments, "rows": rows, "ftree": stock.used}


def _seven(rng, sizes, wanted):
    """Seven jobs that begin together and last, as near to so many servers as twenty draws come: lines of the Standard Workload Format."""
    best = min(([rng.choice(sizes) for _ in range(7)] for _ in range(20)), key=lambda drawn: (sum(drawn) > wanted, abs(sum(drawn) - wanted)))
    return "".join(f"{i + 1} 0 0 100000 {size}" + " -1" * 13 + "\n" for i, size in enumerate(best))


def _placed(spec, history_text, placement, number, folder):
    folder.mkdir(exist_ok=True)
    (folder / "history").write_text(history_text)
    _fors("jobs", "--synthetic", spec, "--replay", folder / "history", "--placement", placement, "--seed", number, "--count", 1,
          "--output-dir", folder / str(number))
    return next((folder / str(number)).glob("*.jobs"))


def _measure_three(is_quick):
    spec, sizes, moments = ("XGFT(3;2,2,3;1,2,2)", [2, 3, 4], 1) if is_quick else ("XGFT(3;6,6,8;1,6,6)", SIZES3, int(os.environ.get("FORS_MOMENTS", 20)))
    with tempfile.TemporaryDirectory(prefix="fors-jobs-") as name:
        folder = pathlib.Path(name)
        (folder / "history").write_text(history(random.Random(1), 60 if is_quick else 400, sizes))
        cables = _cables(spec)
        rows, stock = [], Stock(spec, folder, cables)
        for placement in ("tree", "random"):
            _fors("jobs", "--synthetic", spec, "--replay", folder / "history", "--placement", placement, "--output-dir", folder / placement,
                  "--count", moments)
            for dead in DEAD3[:2] if is_quick else DEAD3:
                files = sorted((folder / placement).glob("*.jobs"))
                rows.append(_row(stock, placement, dead, (FTREE, ["--pattern", "per-job-shift"], ""), files))
                rows += [_row(Made(spec, cables), placement, dead, way, files) for way in WAYS3]
        most = {placement: lanes_limit.mean(sorted((folder / placement).glob("*.jobs")), stock.net, int(spec.rsplit(",", 2)[1]))
                for placement in ("tree", "random")}
    return {"fabric": spec, "moments": moments, "rows": rows, "ftree": stock.used, "most": most}


class Made:
    """Tables that fors analyze makes itself."""

    def __init__(self, spec, cables):
        self.spec, self.cables = spec, cables

    def arguments(self, dead, seed):
        return ["--synthetic", self.spec, *(word for cable in _cuts(dead, seed, self.cables) for word in ("--down", cable))]


class Stock(harness.Topology):
    """Tables of the stock opensm with routing_engine ftree, in ibsim: the fabric of a specification without its dead cables. used: [dead, the engine
    that opensm says it took, moments] of each; it takes minhop where ftree declines."""

    def __init__(self, spec, folder, cables):
        super().__init__()
        self.net, self.folder, self.cables, self.made, self.used = _fors("fabric", "--synthetic", spec), folder, cables, {}, []
        for kind, nports, name in re.findall(r'^(Switch|Ca)\s+(\d+) "([^"]+)"', self.net, re.M):
            (self.switches if kind == "Switch" else self.hcas)[name] = int(nports)

    def text(self):
        return self.net

    def arguments(self, dead, seed):
        cuts = tuple(_cuts(dead, seed, self.cables))
        if cuts not in self.made:
            self.made[cuts] = self._tried(cuts)
            self._count(dead, self.made[cuts][0])
        return self.made[cuts][1]

    def _count(self, dead, engine):
        row = next((row for row in self.used if row[:2] == [dead, engine]), None)
        if not row:
            self.used.append(row := [dead, engine, 0])
        row[2] += 1

    def _tried(self, cuts):
        """Now and then opensm crashes over ibsim as it begins, with any engine."""
        for attempt in range(5):
            try:
                return self._run(cuts, self.folder / f"stock{len(self.made)}-{attempt}")
            except harness.HarnessError as error:
                failed = error
        raise failed

    def _run(self, cuts, here):
        with harness.Ibsim(self, here) as sim:
            for cable in cuts:
                name, port = cable[:-1].split("[")
                sim.unlink(name, int(port))
            with harness.OpenSM(sim, here / "sm", routing_engine="ftree", lmc="0", **failover.STOCK) as osm:
                _, state = failover.bring_up(sim, osm)
                engine = engines.engine_used(osm.log())
        (here / "net").write_text(state.live.text)
        (here / "lfts").write_text(state.dump)
        return engine, ["--fabric", here / "net", "--lfts", here / "lfts"]


def _cables(spec):
    """All cables between switches, by one end."""
    ends, here = {}, None
    for line in _fors("fabric", "--synthetic", spec).splitlines():
        switch, port = re.match(r'Switch\s+\d+ "([^"]+)"', line), re.match(r'\[(\d+)\]\s+"([^"]+)"\[(\d+)\]\s', line)
        here = switch.group(1) if switch else here
        if port:
            one, other = (here, int(port.group(1))), (port.group(2), int(port.group(3)))
            ends.setdefault(frozenset((one, other)), one)
    return sorted(f"{name}[{port}]" for name, port in ends.values())


def _measure_two(is_quick):
    spines, leaves, moments = (8, 8, 1) if is_quick else (20, 18, int(os.environ.get("FORS_MOMENTS", 20)))
    spec = f"FT(2;{spines},{leaves})"
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="fors-jobs-") as name:
        folder = pathlib.Path(name)
        (folder / "history").write_text(history(rng, *((60, QUICK_SIZES) if is_quick else (400, SIZES))))
        rows = []
        for placement in PLACEMENTS[2:] if is_quick else PLACEMENTS:
            _fors("jobs", "--synthetic", spec, "--replay", folder / "history", "--placement", placement, "--output-dir", folder / placement,
                  "--count", moments)
            cables = [f"Leaf{leaf:02}[{spines + 1 + port}]" for leaf in range(leaves) for port in range(spines)]
            rows += [_row(Made(spec, cables), placement, dead, way, sorted((folder / placement).glob("*.jobs")))
                     for dead in (DEAD[:2] if is_quick else DEAD) for way in WAYS]
    return {"fabric": spec, "moments": moments, "rows": rows}


def _cuts(dead, seed, cables):
    return random.Random(seed).sample(cables, dead)


def _row(tables, placement, dead, way, moments):
    title, arguments, mark = way
    speeds, parts, efi, job_efi, dark, links, busy, meetings, unplanned = [], [], [], [], [], [], [], 0, 0
    for seed, path in enumerate(moments):
        busy.append(int(path.read_text().split()[1]))
        if mark:
            text = path.read_text().replace(": ", f" [{mark}]: ")
            path = path.with_suffix("." + mark)
            path.write_text(text)
        found = json.loads(_fors("analyze", *tables.arguments(dead, seed), "--jobs", path, "--seed", seed, *arguments, "--json"))
        speeds += [job["speed"] for job in found["jobs"]]
        parts += [job["speed"] / (job.get("alone_speed") or 1) for job in found["jobs"]]
        unplanned += sum(1 for job in found["jobs"] if job.get("over", "") is None)
        meetings += found.get("meetings", 0)
        efi.append(found["efi_max"])
        job_efi.append(found["job_efi_mean"])
        dark.append(found["dark_fiber"])
        links.append(statistics.mean(job["links"] for job in found["jobs"]))
    return {"placement": placement, "dead": dead, "way": title, "jobs": len(speeds), "mean": statistics.mean(speeds), "worst": min(speeds),
            "of_alone": statistics.mean(parts), "busy": statistics.mean(busy),
            "unplanned": unplanned, "meetings": meetings, "efi_max": statistics.mean(efi), "job_efi": statistics.mean(job_efi),
            "dark_fiber": statistics.mean(dark), "links": statistics.mean(links)}


def _fors(*arguments):
    done = subprocess.run(harness.fors_command(*arguments), capture_output=True, text=True)
    if done.returncode:
        raise harness.HarnessError(f"fors {' '.join(map(str, arguments))[:200]}: {done.stderr}")
    return done.stdout
