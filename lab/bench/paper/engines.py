# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The FORS paper's figures 3 and 6: the exchange under each engine of the stock opensm, and under fors, after each failure.

Every engine starts anew on the broken fabric, in ibsim; fors knows the intact one from its reference_fabric, as it is told to in
production. The tables are read back from the simulated switches. Two programs say what they deliver: tests/e2e/loads.py, and
`fors analyze`, which shares no code with it.
"""
import json
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import failover
import harness
import loads
import stock

# (title, routing_engine, LMC)
RUNS = [("ftree", "ftree", 0), ("minhop", "minhop", 0), ("updn", "updn", 0), ("dfsssp", "dfsssp", 0), ("sssp", "sssp", 0),
        ("nue", "nue", 0), ("lash", "lash", 0), ("dor", "dor", 0), ("fors, LMC 0", "fors", 0), ("fors, LMC 5", "fors", 5)]
QUICK_RUNS = [RUNS[0], RUNS[-1]]
QUICK_SCENARIOS = ["0F", "1F SW0"]


def measure(is_quick):
    """Rows, one per engine and scenario."""
    cases = [(scenario, *run) for run in (QUICK_RUNS if is_quick else RUNS)
             for scenario in (QUICK_SCENARIOS if is_quick else stock.SCENARIOS)]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda case: _case(*case), cases))


def _case(scenario, title, engine, lmc):
    row = {"scenario": scenario, "engine": title, "lmc": lmc}
    options = {"routing_engine": engine, "lmc": lmc}
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as name, harness.Ibsim(stock.TREE, name) as sim:
        folder = pathlib.Path(name)
        options.update(_fors_options(sim, folder / "intact.net") if engine == "fors" else failover.STOCK)
        for end in stock.SCENARIOS[scenario]:
            sim.unlink(*end)
        try:
            with harness.OpenSM(sim, folder / "sm", **options) as osm:
                _, state = failover.bring_up(sim, osm)
                row["used"] = engine_used(osm.log()) or engine
                return {**row, **_results(folder, osm, state, engine)}
        except (harness.HarnessError, loads.LoadError) as error:
            return {**row, "error": str(error).splitlines()[0]}


def _fors_options(sim, reference):
    """fors.conf with the fabric as it is now, before anything is cut."""
    reference.write_text(sim.run(["ibnetdiscover"]))
    return {"fors_conf": f"reference_fabric = {reference}\n"}


def engine_used(log):
    """The engine of the last tables."""
    found = re.findall(r"(\S+) tables configured on all switches", log)
    return found[-1] if found else None


def _results(folder, osm, state, engine):
    fabric, tables = folder / "seen.net", folder / "seen.lfts"
    fabric.write_text(state.live.text)
    tables.write_text(state.dump)
    if engine == "fors":
        csv = _run(harness.fors_command("schedule", osm.schedule_file, "--format", "csv"))
        exchange = loads.schedule_exchange(state.live, state.tables, csv, state.status["phases"])
        pattern = ["--schedule", osm.schedule_file]
    else:
        exchange = loads.shift_exchange(state.live, state.tables)
        pattern = ["--pattern", "linear-shift"]
    model = json.loads(_run(harness.fors_command("analyze", "--fabric", fabric, "--lfts", tables, *pattern, "--json")))
    return {"servers": exchange.servers, "phases": exchange.phases, "throughput": exchange.throughput,
            "model": model["sync_throughput"], "max_link_load": model["max_link_load"]}


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise harness.HarnessError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def throughput(rows, scenario, engine):
    """Of one row, or None."""
    return next((row.get("model") for row in rows if row["scenario"] == scenario and row["engine"] == engine), None)


def healthy(rows, engine):
    """The base of ratios: ftree's healthy fabric for stock engines, fors's own for fors."""
    return throughput(rows, "0F", engine)
