# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What papers measured or simulated in time, beside `fors simulate`: the FORS paper's Gbit/s here, "Switch Adaptive Routing on CEE" (paper 003)
is in cee.py, TAGO (paper 004) in tago.py, another simulator in booksim.py. Rows that cannot be had say why.
"""
import lzma
import pathlib
import re
import tarfile
import tempfile

import published
import stock
from simulator import side_by_side, simulate

DATA = pathlib.Path(__file__).resolve().parents[3] / "tests" / "data"


# --- FORS ---

def _scenario(folder, name, engine):
    base = folder / re.sub("[ ,]", "-", name)
    return ["--fabric", f"{base}.net", "--lfts", f"{base}.{engine}.lfts", "--pattern", "linear-shift", "--speed", "200"]


def _plan(ends):
    down = [word for node, port in ends for word in ("--down", f"{node}[{port}]" if port else node)]
    return ["--synthetic", "FT(2;20,18)", *down, "--routing", "fors", "--lmc", "5", "--pattern", "plan", "--speed", "200"]


def _adapter(folder):
    """The part of its cable that an adapter fills with which both, 141 and 87, come out of the closed form: by halving."""
    low, high = 0.71, 1.0
    for _ in range(12):
        part = (low + high) / 2
        cost = simulate(*_scenario(folder, "0F", "ftree"), "--measured", published.FORS_HEALTHY, "--adapter-rate", part, command="analyze")["costs"]
        failed = simulate(*_scenario(folder, "1F SW0", "ftree"), "--barrier", f"{cost['barrier_ns']:.3f}ns", "--adapter-rate", part, command="analyze")["costs"]
        low, high = (part, high) if failed["gbits_per_server"] > 87 else (low, part)
    return round((low + high) / 2, 3)


def fors_rows(scenarios):
    """Gbit/s per server by one fitted number (barrier), and by two (adapter, barrier)."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as name:
        folder = pathlib.Path(name)
        with lzma.open(DATA / "stock.tar.xz") as file, tarfile.open(fileobj=file) as archive:
            archive.extractall(folder)
        ways = {"one": [], "two": ["--adapter-rate", _adapter(folder)]}
        for way, options in ways.items():
            fitted = simulate(*_scenario(folder, "0F", "ftree"), "--measured", published.FORS_HEALTHY, *options)
            ways[way] = [*options, "--barrier", f"{fitted['barrier_ns']:.3f}ns"]
        for scenario in scenarios:
            cases = {"ftree": _scenario(folder, scenario, "ftree")}
            if "down" not in scenario:
                cases["fors, LMC 5"] = _plan(stock.SCENARIOS[scenario])
            for engine, args in cases.items():
                rows.append({"scenario": scenario, "engine": engine, "paper": published.FORS_MEASURED.get((scenario, engine)), "args": args})
        runs = [(args, options) for args in [row.pop("args") for row in rows] for options in ways.values()]
        found = iter(side_by_side(lambda run: simulate(*run[0], *run[1])["gbits_per_server"], runs))
        rows = [{**row, **{way: next(found) for way in ways}} for row in rows]
    return {"rows": rows, "barrier": {way: options[-1] for way, options in ways.items()}, "adapter": ways["two"][1]}


def measure(is_quick):
    return fors_rows(["0F", "1F SW0"] if is_quick else stock.SCENARIOS)
