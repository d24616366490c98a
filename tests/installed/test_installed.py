# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What people have after `make install` or from the packages, tried as they would: FORS_PREFIX (/usr) names where.

Output that is stable is golden text in golden/; FORS_GOLDEN=write writes it anew. Nothing of the build is used, and of the sources
only the checker of links and the golden texts.
"""
import json
import os
import pathlib
import re
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
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd, timeout=300,
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
    "missing": (["plan", "--fabric", "lacks.net"], 0),
    "missing-reference": (["plan", "--fabric", "lacks.net", "--reference", "whole.net"], 0),
    "missing-nothing": (["plan", "--fabric", "whole.net"], 0),
    "missing-svg": (["fabric", "--fabric", "lacks.net", "--state", "state", "--format", "svg"], 0),
    "promise": (["plan", "--synthetic", "FT(2;8,16)"], 0),
    "simulate": (["simulate", "--synthetic", "FT(2;3,3)", "--routing", "fors", "--pattern", "plan"], 0),
    "port-hint": (["plan", "--synthetic", "FT(2;3,3)", "--down", "Leaf00:4"], 2),
}
TIMES = re.compile(r"^time +(tables|plan) .*\n", re.M)  # a line of nothing but measured times


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    (folder / "was.net").write_text(run(FORS, "fabric", "--synthetic", "FT(2;3,3)"))
    (folder / "is.net").write_text(run(FORS, "fabric", "--synthetic", "FT(2;3,3)", "--down", "Leaf01[5]", "--down", "Leaf02[4]"))
    run(FORS, "plan", "--synthetic", "FT(2;3,2)", "--down", "Leaf01[4]", "--output", folder / "schedule")
    for name, spec in (("", "FT(2;6,5)"), ("3", "XGFT(3;4,4,2;1,4,4)")):
        (folder / f"whole{name}.net").write_text(run(FORS, "fabric", "--synthetic", spec))
    (folder / "lacks.net").write_text(run(FORS, "fabric", "--synthetic", "FT(2;6,5)", "--down", "Leaf03[11]"))
    (folder / "lacks3.net").write_text(run(FORS, "fabric", "--synthetic", "XGFT(3;4,4,2;1,4,4)", "--down", "Leaf05[6]"))
    (folder / "state").mkdir()
    (folder / "state" / "status.json").write_text(run(FORS, "plan", "--json", "--synthetic", "FT(2;6,5)", "--down", "Leaf03[11]"))
    return folder


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_text(folder, name):
    words, code = GOLDEN[name]
    done = subprocess.run([FORS, *words], capture_output=True, text=True, cwd=folder, timeout=300, env={**os.environ, **NIGHT})
    assert done.returncode == code, done.stderr
    path = HERE / "golden" / f"{name}.txt"
    if os.environ.get("FORS_GOLDEN") == "write":
        path.write_text(TIMES.sub("", done.stdout) + done.stderr)
    assert TIMES.sub("", done.stdout) + done.stderr == path.read_text()


def test_three_levels_tell_the_same(folder):
    """What a text lacks."""
    lacks, whole = (run(FORS, "plan", "--fabric", folder / name) for name in ("lacks3.net", "whole3.net"))
    assert "\nmissing     by comparison: Leaf05 has no cable to Mid2-05, the other 3 leaves of its pod do (dead, or never there)\n" in lacks
    assert "\nmissing     nothing by comparison; no reference: a fault common to all leaves cannot be seen\n" in whole


@pytest.fixture
def status_of(tmp_path):
    """status_of(spec, *down, **more): what `fors status` says of a state folder in which that is dead, beside the whole tree."""
    def call(spec, *down, **more):
        (tmp_path / "whole").write_text(run(FORS, "fabric", "--synthetic", spec))
        (tmp_path / "now").write_text(run(FORS, "fabric", "--synthetic", spec, *(word for name in down for word in ("--down", name))))
        status = json.loads(run(FORS, "plan", "--json", "--fabric", "now", "--reference", "whole", cwd=tmp_path))
        (tmp_path / "status.json").write_text(json.dumps({**status, "state": "active", **more}))
        return subprocess.run([FORS, "status", tmp_path], capture_output=True, text=True, timeout=300, env={**os.environ, **NIGHT, "COLUMNS": "200"}).stdout
    return call


@pytest.mark.parametrize("spec, leaf, spine, lost", [("FT(2;4,5)", "Leaf02", "Spine01", "4 of 20"), ("XGFT(3;3,3,2;1,3,3)", "Leaf02", "Mid2-01", "3 of 18")])
def test_what_status_says_of_dead_switches(status_of, spec, leaf, spine, lost):
    """A dead leaf: its servers first, and in the line of the speed. A dead switch above: one line, and not one for each cable."""
    out = status_of(spec, leaf)
    assert f"\nlost        {lost} servers; {leaf} is dead\n" in out and f" servers; {lost.split()[0]} servers are lost\n" in out
    assert out.index("\nlost ") < out.index("\ndead ") < out.index("\nspeed ") and f"{leaf} (leaf), all" in out and "nothing is lost" not in out
    out = status_of(spec, spine)
    assert f" {spine} (" in out and f"{spine}[" not in out.partition("\nnext")[0] and "\nlost " not in out


@pytest.mark.parametrize("spec", ["FT(2;4,5)", "XGFT(3;3,3,2;1,3,3)"])
def test_what_status_says_of_a_flapping_cable(status_of, spec):
    cable = {"a": "Leaf00", "a_port": 5, "b": "Up", "b_port": 1, "since_ms": None, "used": True, "planned": True, "rate": "4xHDR", "changes": 6}
    out = status_of(spec, flapping_links=[cable])
    assert "\nflapping    Leaf00[5] - Up[1] changed 6 times in the last hour: exclude it\n" in out


def test_progress_that_is_asked_for():
    done = subprocess.run([FORS, "whatif", "--progress", "--synthetic", "FT(2;3,3)"], capture_output=True, text=True, timeout=300, env={**os.environ, **NIGHT})
    assert done.stderr.endswith("failures 13/13\n") and done.stdout == (HERE / "golden" / "whatif.txt").read_text()


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


def test_fors_watch_is_there_and_off():
    """The program, its helper, and what a service needs; without an InfiniBand port it says so in one sentence."""
    program, folder = PREFIX / "libexec" / "fors" / "fors-watch", SHARE / "fors" / "watch"
    if not program.exists():
        pytest.skip("fors-watch is not installed")
    assert {file.name for file in folder.iterdir()} >= {"fors-watch.service", "fors-watch.sysusers", "60-fors-watch.rules", "watch.conf"}
    unit = (folder / "fors-watch.service").read_text()
    assert "Type=notify" in unit and "WatchdogSec=" in unit and "NoNewPrivileges=" in unit
    assert re.search(r"^ExecStart=\S*fors watch", unit, re.M)
    if PREFIX == pathlib.Path("/usr"):
        assert not pathlib.Path("/etc/systemd/system/fors-watch.service").exists()
    helper = subprocess.run([PREFIX / "libexec" / "fors" / "watch" / "fors-outbox"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert helper.returncode == 2 and "is started by" in helper.stderr
    done = subprocess.run([program, "once"], capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 2)
    if done.returncode:
        assert done.stderr.startswith("fors watch: ") and done.stderr.count("\n") == 1


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


def test_a_map_of_ranks_is_one_file_for_all(tmp_path):
    """The line of the manual page makes it; the module and libforsched-mpi ask the same function; a bad one is told as what it is."""
    found = sorted(PREFIX.glob("lib*/python3*/*-packages/forsched/__init__.py"))
    run(FORS, "plan", "--synthetic", "FT(2;2,2)", "--output", tmp_path / "FILE")
    page = (subprocess.run(["man", "-l", SHARE / "man/man3/forsched_own_guid.3"], capture_output=True, text=True, env={
        **os.environ, "MANWIDTH": "200", "MANPATH": str(SHARE / "man"), "LC_ALL": "C.UTF-8"}, cwd=SHARE / "man").stdout
            if shutil.which("man") else "")
    line = re.search(r"^ *(fors schedule FILE .*)$", page, re.M)
    if not line:
        pytest.skip("there is no man that shows the page")
    run("sh", "-c", line[1].replace("fors schedule", f"{FORS} schedule"), cwd=tmp_path)
    program = """if True:
        import forsched, sys
        with forsched.open(sys.argv[1]) as schedule:
            try:
                print(*(schedule.find_guid(schedule.own_guid(rank)) for rank in range(4)))
            except forsched.Error as error:
                print(error)
    """
    env = {"PYTHONPATH": str(found[0].parents[1]), "FORSCHED_LIBRARY": str(library("libforsched.so.0"))}
    ask = lambda names: run(sys.executable, "-B", "-c", program, tmp_path / "FILE", cwd=tmp_path, env={**env, "FORSCHED_MAP": names})
    assert ask("map") == "0 1 2 3\n"
    assert ask("/nope") == "/nope: FORSCHED_MAP cannot be opened: No such file or directory\n"


def test_picture_and_page_are_written(folder):
    run(FORS, "fabric", "--synthetic", "FT(2;4,4)", "--output", folder / "a.svg")
    run(FORS, "analyze", "--synthetic", "FT(2;4,4)", "--routing", "fors", "--pattern", "shift", "--html", folder / "a.html")
    assert (folder / "a.svg").read_text().startswith("<svg") and "2026-11-22 02:00 UTC" in (folder / "a.html").read_text()
