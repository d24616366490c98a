# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Metrics that can alarm: opensm in ibsim, Debian's node_exporter and Prometheus with our rules; a cable is cut, opensm is killed."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

import harness
import test_drain
from harness import FatTree

TOP = Path(__file__).resolve().parents[2]
RULES = TOP / "packaging" / "prometheus" / "fors.rules.yml"
DASHBOARD = TOP / "packaging" / "prometheus" / "fors-dashboard.json"
NEEDED = ["prometheus", "prometheus-node-exporter", "promtool"]

pytestmark = pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="prometheus and prometheus-node-exporter are not installed")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    def __init__(self, log, *command):
        self.log = open(log, "wb")
        self.process = subprocess.Popen(list(map(str, command)), stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(120)
        self.log.close()


class Prometheus:
    """node_exporter that reads a folder, and Prometheus that reads it every second."""

    def __init__(self, folder, collected, start):
        self.exporter, self.port = free_port(), free_port()
        start(Daemon(folder / "exporter.log", "prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                     f"--collector.textfile.directory={collected}", f"--web.listen-address=127.0.0.1:{self.exporter}"))
        (folder / "rules.yml").write_text(quicker(RULES.read_text()))
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(folder / "rules.yml")],
            "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{self.exporter}"]}]}]}))
        start(Daemon(folder / "prometheus.log", "prometheus", f"--config.file={folder}/prometheus.yml",
                     f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"))

    def ask(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            found = json.load(answer)
        assert found["status"] == "success"
        return found["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def firing(self):
        """{alert: its labels} of those that fire."""
        try:
            return {alert["labels"]["alertname"]: alert["labels"] for alert in self.ask("alerts")["alerts"] if alert["state"] == "firing"}
        except OSError:
            return {}


def quicker(rules):
    """A minute is twelve seconds here: three heartbeats."""
    return re.sub(r"for: \d+m", "for: 2s", rules).replace("> 60\n", "> 12\n")


def fabric_with_metrics(fabric, tmp_path, tree=None, more="", **options):
    tree = tree or FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, fors_conf="fabric_name = daq\n" + more, **options)
    sm.wait_epoch()
    collected = tmp_path / "collected"
    collected.mkdir()
    (collected / "fors.prom").symlink_to(sm.state_dir / "metrics.prom")
    return tree, sim, sm, Prometheus(tmp_path, collected, fabric.also)


def check_metrics(*files):
    """promtool has nothing to say."""
    text = "".join(file.read_text() for file in files)
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def dashboard_queries():
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [target["expr"].replace("$fabric", ".*") for panel in panels for target in panel["targets"]]


def test_a_cut_cable_and_a_dead_opensm(fabric, tmp_path):
    tree, sim, sm, prometheus = fabric_with_metrics(fabric, tmp_path)
    harness.wait_for(lambda: prometheus.firing() == {} and metric(prometheus, "fors_throughput_ratio") == "1", 60)
    assert prometheus.query("node_textfile_scrape_error")[0]["value"][1] == "0"
    assert prometheus.query("fors_plan_duration_seconds")
    cable = tree.uplink(1, 2)
    sim.unlink(cable.leaf, cable.leaf_port)
    harness.wait_for(lambda: "ForsLinkDead" in prometheus.firing(), 60)
    labels = prometheus.firing()["ForsLinkDead"]
    assert (labels["fabric"], labels["leaf"], labels["leaf_port"]) == ("daq", cable.leaf, str(cable.leaf_port))
    assert (labels["spine"], labels["spine_port"]) == (cable.spine, str(cable.spine_port))
    assert "ForsNotActive" not in prometheus.firing() and "ForsHeartbeatStale" not in prometheus.firing()
    second = tree.uplink(1, 1)
    sim.unlink(second.leaf, second.leaf_port)  # a leaf with a third of its cables: that costs
    harness.wait_for(lambda: "ForsThroughputLost" in prometheus.firing(), 60)
    unanswered = [expression for expression in dashboard_queries() if not prometheus.query(expression)]
    assert [re.search(r"fors_link_\w+", expression)[0] for expression in unanswered] == ["fors_link_degraded", "fors_link_drained"]
    sim.relink(cable.leaf, cable.leaf_port)
    sim.relink(second.leaf, second.leaf_port)
    harness.wait_for(lambda: prometheus.firing() == {}, 60)
    sm.process.send_signal(signal.SIGKILL)
    harness.wait_for(lambda: "ForsHeartbeatStale" in prometheus.firing(), 60)
    assert "state=\"active\"} 1" in (sm.state_dir / "metrics.prom").read_text()  # which is why the heartbeat has to alarm


def metric(prometheus, name):
    try:
        return prometheus.query(name)[0]["value"][1]
    except (OSError, IndexError):
        return None


def fires(prometheus, alert):
    """Its labels, when it does."""
    return harness.wait_for(lambda: prometheus.firing().get(alert), 60, alert, 0.2)


def clears(prometheus, alert):
    harness.wait_for(lambda: alert not in prometheus.firing(), 60, f"{alert} to clear", 0.2)


def test_alerts_of_servers_cables_and_other_tables(fabric, tmp_path):
    """Lost servers, a flapping cable, a host in no exchange, another engine's tables: each fires by itself, and clears when it is mended."""
    tree = FatTree(3, 3, servers=2)
    tree.switches.update({"Stub": 2, "Leaf02": 6})
    tree.hcas["Hidden"] = 1
    tree.connect("Stub", 2, "Hidden", 1)
    tree, sim, sm, prometheus = fabric_with_metrics(fabric, tmp_path, tree, "hold_down = 1\n", sweep_interval=1, routing_engine="fors,minhop")
    harness.wait_for(lambda: prometheus.firing() == {} and metric(prometheus, "fors_throughput_ratio") == "1", 60)

    sim.unlink("Leaf01", 1)
    assert fires(prometheus, "ForsServersLost")["fabric"] == "daq"
    assert set(prometheus.firing()) == {"ForsServersLost"}
    sim.relink("Leaf01", 1)
    clears(prometheus, "ForsServersLost")

    cable = tree.uplink(2, 1)
    test_drain.flap(sim, sm, cable[:2], 3)
    labels = fires(prometheus, "ForsLinkFlapping")
    assert (labels["leaf"], labels["leaf_port"], labels["spine"]) == (cable.leaf, str(cable.leaf_port), cable.spine)
    test_drain.set_conf(sm, f"fabric_name = daq\nhold_down = 0\nexclude_links = {cable.leaf}[{cable.leaf_port}]\n")
    clears(prometheus, "ForsLinkFlapping")  # for as long as it is excluded: it is counted for an hour

    sim.link("Leaf02", 6, "Stub", 1)
    fires(prometheus, "ForsLeftOut")
    sim.unlink("Leaf02", 6)
    clears(prometheus, "ForsLeftOut")

    cut = [tree.uplink(0, 0), tree.uplink(0, 1), tree.uplink(1, 2)]  # Leaf00 keeps Spine02 alone, and Leaf01 the others
    for one in cut:
        sim.unlink(*one[:2])
    assert fires(prometheus, "ForsOtherTables")["tables_by"] == "minhop"
    fires(prometheus, "ForsUnreachablePairs")
    for one in cut:
        sim.relink(*one[:2])
    clears(prometheus, "ForsOtherTables")
    harness.wait_for(lambda: prometheus.firing() == {}, 60, "no alert at all")


def test_the_alert_of_slow_phases(fabric, tmp_path):
    """A narrow cable that is used as any other holds up phases; when it carries nothing any more it does not."""
    _, _, sm, prometheus = fabric_with_metrics(fabric, tmp_path, test_drain.Narrow([(1, 2)], 4, 3), "degraded_links = ignore\n")
    fires(prometheus, "ForsSlowPhases")
    assert "ForsLinkDegraded" in prometheus.firing()
    test_drain.set_conf(sm, "fabric_name = daq\ndegraded_links = dead\n")
    clears(prometheus, "ForsSlowPhases")


def test_promtool_accepts_the_metrics(fabric):
    """Also with links of each kind, and the recorded ones in tests/data (FORS_RECORD=1: anew) are such as opensm writes today."""
    tree = FatTree(4, 3)
    cable, other = tree.uplink(0, 1), tree.uplink(1, 2)
    sim, sm = fabric(tree, lmc=2, fors_conf=f"fabric_name = daq\nexclude_links = {other.leaf}[{other.leaf_port}]\n")
    sm.wait_epoch()
    sim.unlink(cable.leaf, cable.leaf_port)
    sm.wait_status(state="active", f=1)
    harness.wait_for(lambda: "fors_phases" in families(sm.state_dir / "metrics.prom"))  # the files follow the status
    metrics, recorded = sm.state_dir / "metrics.prom", TOP / "tests/data/metrics.prom"
    assert check_metrics(metrics) == (0, "")
    if "FORS_RECORD" in os.environ:
        shutil.copy(metrics, recorded)
    harness.wait_for(lambda: families(metrics) == families(recorded), 20, "metrics.prom as recorded")


def families(path):
    return set(re.findall(r"^# TYPE (\w+)", path.read_text(), re.M))
