# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""packaging/prometheus: rules and dashboard, by promtool, and against metrics that opensm wrote (tests/data/metrics*.prom).

That such metrics are still what opensm writes, and that the alerts fire, is tests/e2e/test_prometheus.py.
"""
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "packaging" / "prometheus"
RECORDED = TOP / "tests" / "data" / "metrics.prom"
ONLY_SOMETIMES = {"fors_switch_dead", "fors_link_flapping", "fors_link_degraded", "fors_held_until_timestamp_seconds", "fors_lmc_needed"}
needs_promtool = pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, cwd=FOLDER)


def known_metrics():
    return set(re.findall(r"^# TYPE (\w+)", RECORDED.read_text(), re.M)) | ONLY_SOMETIMES


def queries():
    """{title of a panel: its queries}"""
    dashboard = json.loads((FOLDER / "fors-dashboard.json").read_text())
    return {panel["title"]: [target["expr"] for target in panel["targets"]] for panel in dashboard["panels"]}


@needs_promtool
def test_recorded_metrics_are_clean():
    done = promtool("check", "metrics", text=RECORDED.read_text())
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@needs_promtool
def test_promtool_would_object_to_names_in_milliseconds():
    done = promtool("check", "metrics", text="# HELP fors_plan_ms Time\n# TYPE fors_plan_ms gauge\nfors_plan_ms 1\n")
    assert "fors_plan_ms" in done.stdout + done.stderr


@needs_promtool
def test_rules():
    assert promtool("check", "rules", "fors.rules.yml").returncode == 0
    done = promtool("test", "rules", "fors.rules.test.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_case_and_a_line_in_the_readme():
    alerts = re.findall(r"alert: (\w+)", (FOLDER / "fors.rules.yml").read_text())
    cases = (FOLDER / "fors.rules.test.yml").read_text()
    readme = (FOLDER / "README.md").read_text()
    assert len(alerts) >= 10
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n +exp_alerts:", cases), f"{alert} fires in no case"
        assert re.search(rf"^\|[^|]*\b{alert}\b", readme, re.M), f"{alert} is not in README.md"


@needs_promtool
def test_queries_of_the_dashboard(tmp_path):
    rules = [{"record": "x", "expr": expression.replace("$fabric", "daq")} for many in queries().values() for expression in many]
    path = tmp_path / "queries.yml"
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = promtool("check", "rules", "--lint=none", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(rules) >= 15


def test_what_is_asked_for_is_there():
    texts = [(FOLDER / "fors.rules.yml").read_text(), *(expression for many in queries().values() for expression in many)]
    asked = {name for text in texts for name in re.findall(r"\b(fors_\w+)\b", text)}
    assert asked <= known_metrics(), asked - known_metrics()


def test_panels_do_not_overlap():
    taken = set()
    for panel in json.loads((FOLDER / "fors-dashboard.json").read_text())["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
