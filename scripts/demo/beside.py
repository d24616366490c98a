# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The demo's last part: fors watch beside an opensm that knows nothing of fors, minhop with two LIDs for each server."""
import subprocess
from functools import partial

import failover
import harness
import loads
import watching

OPTIONS = {"routing_engine": "minhop", "lmc": 1, **failover.STOCK}


def read_schedule(service, site):
    """(what the published schedule delivers over the tables in the switches, does `fors verify` agree?)"""
    path = service.folder() / "schedule"
    csv = subprocess.run(harness.fors_command("schedule", path, "--format", "csv"), check=True, capture_output=True, text=True).stdout
    fabric, lfts = site.folder / "seen.net", site.folder / "seen.lfts"
    fabric.write_text(site.state.live.text)
    lfts.write_text(site.state.dump)
    done = subprocess.run(harness.fors_command("verify", "--fabric", fabric, "--lfts", lfts, "--schedule", path), capture_output=True, check=False)
    return loads.schedule_exchange(site.state.live, site.state.tables, csv, service.status()["phases"]), done.returncode == 0


def look(service, site):
    """What is there now, as facts."""
    exchange, is_good = read_schedule(service, site)
    return {"shift": site.shift().throughput, "throughput": exchange.throughput, "phases": service.status()["phases"],
            "verified": is_good and exchange.worst <= 1}


def comparison(report, make_site, tree):
    """({state: facts}, is all verified?). make_site(tree, options) is a context."""
    report.step("fors watch beside opensm with minhop, lmc 1: no plugin, no table changed, queries only")
    results = {}
    with make_site(tree, OPTIONS) as site:
        site.bring_up()
        service = watching.Watcher(site.sim, site.folder / "watch")
        try:
            epoch = service.wait_epoch(timeout=60)["epoch"]
            results["healthy"] = look(service, site)
            site.change(partial(site.become, {tree.uplink(0, 0)[:2]}))
            service.wait_epoch(epoch, timeout=60)
            results["1 cable"] = look(service, site)
        finally:
            service.stop()
    report.table(["failure", "linear shift", "schedule", "phases"],
                 [[name, f"{facts['shift']:.3f}", f"{facts['throughput']:.3f}", str(facts["phases"])] for name, facts in results.items()], best=(2,))
    report.line()
    is_good = all(facts["verified"] for facts in results.values())
    report.verdict(is_good, "both schedules walked flow by flow through the switches' tables, and by fors verify")
    return results, is_good
