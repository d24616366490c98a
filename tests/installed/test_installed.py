# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What people have after `make install` or from the packages, tried as they would: FORS_PREFIX (/usr) names where.

Output that is stable is golden text in golden/; FORS_GOLDEN=write writes it anew. Nothing of the build is used, and of the sources
only the checker of links and the golden texts.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = pathlib.Path(os.environ.get("FORS_PREFIX", "/usr"))
FORS = PREFIX / "bin" / "fors"
SHARE = PREFIX / "share"
NIGHT = {"SOURCE_DATE_EPOCH": "1795312800", "COLUMNS": "80", "LC_ALL": "C", "TZ": "UTC"}

pytestmark = pytest.mark.skipif(not FORS.exists(), reason=f"{FORS} is not there: FORS_PREFIX names where fors is installed")


def run(*words, code=0, cwd=None, env=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd, timeout=60,
                          env={**os.environ, **NIGHT, **(env or {})})
    assert done.returncode == code, (words, done.returncode, done.stdout[-1000:], done.stderr[-1000:])
    return done.stdout


def library(name):
    """A library under the prefix: lib/, or lib/<kind of machine>/."""
    found = sorted(PREFIX.glob(f"lib*/{name}")) or sorted(PREFIX.glob(f"lib*/*/{name}"))
    assert found, f"{name} is not installed"
    return found[0]


# Each: the words after `fors`, and the exit code; nothing whose text has a time in it.
GOLDEN = {
    "schedule-csv": (["schedule", "schedule", "--format", "csv"], 0),
    "fabric-slurm": (["fabric", "--synthetic", "FT(2;3,3)", "--format", "slurm"], 0),
    "fabric-slurm-yaml": (["fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--format", "slurm-yaml"], 0),
    "fabric-svg": (["fabric", "--synthetic", "FT(2;2,3)", "--down", "Leaf00[4]", "--format", "svg"], 0),
    "fabric-dot": (["fabric", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--down", "Spine01", "--format", "dot"], 0),
    "diff": (["diff", "was.net", "is.net"], 1),
    "analyze": (["analyze", "--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--routing", "fors", "--pattern", "linear-shift"], 0),
    "whatif": (["whatif", "--synthetic", "FT(2;3,3)"], 0),
    "not-a-fabric": (["plan", "--fabric", "FT(2;20,18)"], 2),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    (folder / "was.net").write_text(run(FORS, "fabric", "--synthetic", "FT(2;3,3)"))
    (folder / "is.net").write_text(run(FORS, "fabric", "--synthetic", "FT(2;3,3)", "--down", "Leaf01[5]", "--down", "Leaf02[4]"))
    run(FORS, "plan", "--synthetic", "FT(2;3,2)", "--down", "Leaf01[4]", "--output", folder / "schedule")
    return folder


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_text(folder, name):
    words, code = GOLDEN[name]
    done = subprocess.run([FORS, *words], capture_output=True, text=True, cwd=folder, timeout=60, env={**os.environ, **NIGHT})
    assert done.returncode == code, done.stderr
    path = HERE / "golden" / f"{name}.txt"
    if os.environ.get("FORS_GOLDEN") == "write":
        path.write_text(done.stdout + done.stderr)
    assert done.stdout + done.stderr == path.read_text()


def test_every_command_explains_itself():
    commands = [line.split()[0] for line in run(FORS, "--help").partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert len(commands) > 8
    for command in commands:
        if command != "help":
            assert run(FORS, command, "--help").startswith(f"Usage: fors {command} ")
    assert run(FORS, "--version").startswith("fors ")


@pytest.mark.parametrize("shell, places", [
    ("bash", ["bash-completion/completions/fors.bash", "bash-completion/completions/fors"]), ("fish", ["fish/vendor_completions.d/fors.fish"]),
    ("zsh", ["zsh/site-functions/_fors", "zsh/vendor-completions/_fors"]),
])
def test_completion_is_that_of_this_command(shell, places):
    found = [SHARE / place for place in places if (SHARE / place).exists()]
    assert found and found[0].read_text() == run(FORS, "completion", shell)


def test_man_pages_are_found():
    if not shutil.which("man"):
        pytest.skip("there is no man")
    for page in ("fors", "fors.conf", "opensm-fors", "forsched", "forsched_flow", "libforsched-mpi", "forsched-python"):
        assert run("man", "-M", SHARE / "man", "-w", page).strip()


def test_links_of_the_pages():
    checker = HERE.parents[1] / "scripts" / "check_links.py"
    assert ", 0 broken" in run(sys.executable, checker, "--inside", SHARE / "doc" / "fors")


def test_drop_in_and_configuration_are_there_and_off():
    assert "ExecReload" in (SHARE / "fors" / "opensm@.service.d" / "fors.conf").read_text()
    if PREFIX == pathlib.Path("/usr"):
        assert not list(pathlib.Path("/etc/systemd/system").glob("opensm*.d/fors.conf"))


def test_helper_of_the_plugin_is_there():
    """Beside the plugin, which starts it; nobody else can."""
    if not any(PREFIX.glob("lib*/**/libfors.so")):
        pytest.skip("the plugin is not installed")
    done = subprocess.run([PREFIX / "libexec" / "fors" / "fors-outbox"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "is started by libfors.so" in done.stderr and not done.stdout


def test_what_slurm_calls_is_there_and_off():
    folder = SHARE / "fors" / "slurm"
    assert os.access(folder / "fors-slurmctld", os.X_OK) and "--slurm" in (folder / "fors-slurm.service").read_text()
    assert run(folder / "fors-task-prolog") == ""
    if PREFIX == pathlib.Path("/usr"):
        assert not pathlib.Path("/etc/systemd/system/fors-slurm.service").exists()


def test_alert_rules_and_dashboard():
    rules = SHARE / "doc" / "fors" / "packaging" / "prometheus"
    json.loads((rules / "fors-dashboard.json").read_text())
    if shutil.which("promtool"):
        run("promtool", "check", "rules", rules / "fors.rules.yml")
        run("promtool", "test", "rules", "fors.rules.test.yml", cwd=rules)


def test_python_reads_a_plan(tmp_path):
    """The module where it is installed, with the library where that is."""
    found = sorted(PREFIX.glob("lib*/python3*/*-packages/forsched/__init__.py"))
    assert found, "the module forsched is not installed"
    run(FORS, "plan", "--synthetic", "FT(2;2,2)", "--output", tmp_path / "schedule")
    program = """if True:
        import forsched, sys
        with forsched.open(sys.argv[1]) as schedule:
            print(forsched.__file__, schedule.nservers, schedule.nphases, [flow.to for flow in schedule.phases(0)])
    """
    out = run(sys.executable, "-B", "-c", program, tmp_path, cwd=tmp_path,
              env={"PYTHONPATH": str(found[0].parents[1]), "FORSCHED_LIBRARY": str(library("libforsched.so.0"))}).split(None, 3)
    assert pathlib.Path(out[0]) == found[0] and out[1:3] == ["4", "4"] and sorted(json.loads(out[3].replace("None", "-1"))) == [-1, 1, 2, 3]


def test_picture_and_page_are_written(folder):
    run(FORS, "fabric", "--synthetic", "FT(2;4,4)", "--output", folder / "a.svg")
    run(FORS, "analyze", "--synthetic", "FT(2;4,4)", "--routing", "fors", "--pattern", "shift", "--html", folder / "a.html")
    assert (folder / "a.svg").read_text().startswith("<svg") and "2026-11-22 02:00 UTC" in (folder / "a.html").read_text()
