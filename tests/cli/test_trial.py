# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`fors trial` without root: hosts are programs of this machine, and the fabric is two files and one that says that a cable is disabled."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import FORS, SRC, run

sys.path.insert(0, str(SRC / "lab" / "trial"))

import fabric as fabrics  # noqa: E402
from result import Disguise, collect, page  # noqa: E402

SPEC = "FT(2;2,2)"
CABLE = "Leaf01[3]"
READ = 'if [ -e {folder}/down ]; then cp {folder}/cut.net $0; cp {folder}/cut.lfts $1; else cp {folder}/net $0; cp {folder}/lfts $1; fi'
SETTINGS = """run = {run}
own = Node00-00
control = {folder}/control
read = sh -c '{read}' {{net}} {{lfts}}
counters = true
manager = echo sm guid 0x0000000000100001
links = true
path =
disable = touch {folder}/down
enable = rm -f {folder}/down
kind = tcp
address = 127.0.0.1
bytes = 20000
start_timeout = 60
settle_timeout = 60
"""


@pytest.fixture
def site(tmp_path):
    """site(key=value...) -> file of settings."""
    for name, more in (("", []), ("cut.", ["--down", CABLE])):
        for kind in ("net", "lfts"):
            made = run(FORS, "fabric", "--synthetic", SPEC, "--routing", "shortest", "--format", kind, *more)
            (tmp_path / (name + kind)).write_text(made.out)

    def make(run_line="sh -c {command}", **more):
        text = SETTINGS.replace("{run}", run_line + ("" if "{host}" in run_line else " {host}")).replace("{read}", READ)
        text = text.replace("{folder}", str(tmp_path)).replace("{{", "{").replace("}}", "}") + "".join(f"{key} = {value}\n" for key, value in more.items())
        (tmp_path / "settings").write_text(text)
        return tmp_path / "settings"

    return make


def trial(step, settings, *more, code=0):
    done = run(FORS, "trial", step, "--config", settings, "--output-dir", settings.parent / "out", *more)
    assert done.code == code, (done.out, done.err)
    return done


def found(settings, step):
    return json.loads((settings.parent / "out" / f"{step}.json").read_text())


def left(folder):
    """Programs that have to do with a folder."""
    lines = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            lines.append(Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line[:200] for line in lines if str(folder) in line and "pytest" not in line]


def wait_for(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


# -- the fabric

def read_fabric(tmp_path, spec, *more, lmc=None):
    texts = [run(FORS, "fabric", "--synthetic", spec, *(["--routing", "shortest"] if lmc is None else ["--lmc", lmc]), "--format", kind, *more).out
             for kind in ("net", "lfts")]
    return fabrics.Fabric(*texts), texts


@pytest.mark.parametrize("spec", ["FT(2;4,4)", "FT(2;3,5)", "FT(2;4,4;cables=2)", "TORUS(3x3;2)"])
def test_its_prediction_is_that_of_analyze(tmp_path, spec):
    fabric, texts = read_fabric(tmp_path, spec)
    for name, text in zip(("net", "lfts"), texts):
        (tmp_path / name).write_text(text)
    asked = run(FORS, "analyze", "--fabric", tmp_path / "net", "--lfts", tmp_path / "lfts", "--pattern", "linear-shift", "--json")
    told = json.loads(asked.out)
    needs = [fabric.need(flows)[0] for _, flows in fabrics.shift(fabric.hosts, 1000)[1]]
    assert sum(needs) + 1 == told["sum_of_phase_loads"] and max(needs) == told["max_link_load"]


@pytest.mark.parametrize("spec, cable, words", [
    ("FT(2;2,2)", "Leaf00[1]", "cable of this host"), ("FT(2;2,2)", "Leaf01[2]", "cable of a host"), ("FT(2;2,2)", "Leaf01[1]", "the subnet manager"),
    ("FT(2;1,2)", "Leaf01[2]", "is cut off"), ("FT(2;2,2)", "Leaf01[3]", None),
])
def test_refusals(tmp_path, spec, cable, words):
    fabric, _ = read_fabric(tmp_path, spec)
    host = {name: node for node, name in fabric.name.items()}
    said = fabric.refusal(fabric.find_end(cable), host["Node00-00"], host["Node01-00"])
    assert said is None if words is None else words in said


def test_the_near_end(tmp_path):
    fabric, _ = read_fabric(tmp_path, SPEC)
    host = {name: node for node, name in fabric.name.items()}
    assert fabric.end_name(fabric.near(fabric.find_end(CABLE), host["Node00-00"])) == "Spine00[2]"
    assert fabric.end_name(fabric.near(fabric.find_end(CABLE), host["Node01-00"])) == CABLE


def test_phases_are_a_sample_of_many(tmp_path):
    """1,000 hosts: what is not measured is not made either."""
    fabric, _ = read_fabric(tmp_path, "FT(2;20,50)")
    count, phases = fabrics.shift(fabric.hosts, 8)
    assert count == 999 and [number for number, _ in phases][::7] == [0, 998] and all(len(flows) == 1000 for _, flows in phases)
    assert fabric.need(phases[3][1])[0] >= 1


# -- steps

def test_all_and_a_failure(site, tmp_path):
    settings = site(phases=2)
    assert trial("all", settings).out.count("\n") == 7
    exchange = found(settings, "exchange")
    assert [one["way"] for one in exchange["runs"]] == ["schedule", "shift", "at-once"] and exchange["stopped"] is None
    assert found(settings, "look")["over_these_tables"]["phases"] == 4
    told = trial("failure", settings, "--disable", CABLE).err
    assert "is enabled" in told and "; -" not in told
    failure = found(settings, "failure")
    assert failure["came_back"] and failure["cable"].startswith("Spine00[2]") and failure["while_down"]["runs"][0]["phases"]
    assert not (tmp_path / "down").exists() and not list((tmp_path / "out").glob("heal-*"))
    assert "no cable is disabled" in run(FORS, "trial", "heal", "--output-dir", tmp_path / "out").out
    assert wait_for(lambda: not left(tmp_path))


@pytest.mark.parametrize("more, words", [
    (["--disable", "Leaf00[1]"], "cable of this host"), (["--disable", "Leaf07[1]"], "is no cable of this fabric"), ([], "--disable CABLE belongs"),
])
def test_what_is_not_disabled(site, tmp_path, more, words):
    assert words in trial("failure", site(), *more, code=2).err
    assert not (tmp_path / "down").exists()


@pytest.mark.parametrize("line, words", [("bytes = 0", "above 0"), ("colour = red", "is no setting"), ("run = ssh", "{command}"), ("kind = pigeon", "perftest or tcp")])
def test_bad_settings(tmp_path, line, words):
    (tmp_path / "settings").write_text(line + "\n")
    assert words in trial("look", tmp_path / "settings", code=2).err


def test_a_host_that_hangs_is_named(site, tmp_path):
    settings = site('sh -c \'case $1 in Node01-00) echo no route >&2; exec sleep 1000;; esac; eval "$0"\' {command} {host}', start_timeout=10)
    told = trial("exchange", settings, code=1).err
    assert "Node01-00" in told and "no route" in told
    assert wait_for(lambda: not left(tmp_path))


def test_a_host_that_dies_in_the_middle_stops_the_exchange(site, tmp_path):
    settings = site(bytes=20_000_000_000, ways="shift")
    command = subprocess.Popen([FORS, "trial", "exchange", "--config", settings, "--output-dir", tmp_path / "out"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               text=True)
    assert "hosts alone" in command.stderr.readline()
    lines = {int(pid): command_line(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
    agent, = [pid for pid, line in lines.items() if "python3 -c" in line and not line.startswith(("sh ", "timeout ")) and "Node01-01" in line and str(tmp_path) in line]
    os.kill(agent, signal.SIGKILL)
    assert "Node01-0" in command.communicate(timeout=600)[1] and command.returncode == 1
    assert wait_for(lambda: not left(tmp_path))


@pytest.fixture
def broken(site, tmp_path):
    """broken(key=value...) -> a failure step that runs, with its cable down; it is ended."""
    started = []

    def start(**more):
        settings = site(phases=1, ways="shift", bytes=20_000_000, **more)
        words = [FORS, "trial", "failure", "--config", settings, "--output-dir", tmp_path / "out", "--disable", CABLE]
        started.append(subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        assert wait_for((tmp_path / "down").exists)
        return started[0]

    yield start
    for command in started:
        command.kill()
        command.wait()


def send(kind, number, folder):
    """A signal to one program of a kind."""
    lines = {int(pid): command_line(pid) for pid in filter(str.isdigit, os.listdir("/proc"))}
    os.kill(next(pid for pid, line in lines.items() if kind in line and str(folder) in line), number)


@pytest.mark.parametrize("kind, number", [("fors-trial", signal.SIGKILL), ("guard.py", signal.SIGKILL), ("python3 -c", signal.SIGKILL),
                                          ("fors-trial", signal.SIGTERM), ("fors-trial", signal.SIGHUP)])
def test_whatever_is_ended_the_cable_comes_up(broken, tmp_path, kind, number):
    """The command, its timer, or a program on a host."""
    command = broken()
    send(kind, number, tmp_path)
    assert wait_for(lambda: command.poll() is not None and not (tmp_path / "down").exists() and not left(tmp_path)), left(tmp_path)


@pytest.mark.parametrize("holder", ["guard", "second host"])
def test_a_command_that_hangs_does_not_hold_the_cable(broken, tmp_path, holder):
    command = broken(hold=8)
    send("fors-trial", signal.SIGSTOP, tmp_path)
    if holder == "second host":
        send("guard.py", signal.SIGKILL, tmp_path)
    assert wait_for(lambda: not (tmp_path / "down").exists())
    command.kill()
    assert wait_for(lambda: not left(tmp_path)), left(tmp_path)


def command_line(pid):
    try:
        return Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def test_heal_after_a_crash_of_the_host(site, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "down").touch()
    (tmp_path / "out" / "heal-x.json").write_text(json.dumps({"cable": CABLE, "enable": ["rm", str(tmp_path / "down")], "until": 0}))
    assert run(FORS, "trial", "heal", "--output-dir", tmp_path / "out").out == f"{CABLE}: enabled\n"
    assert not (tmp_path / "down").exists() and not list((tmp_path / "out").iterdir())


def test_ib_write_bw_is_asked(site, tmp_path):
    """With a program of its name that says what perftest prints: both ends are started, and the rate is taken."""
    tool = tmp_path / "bin" / "ib_write_bw"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho $* >> {tmp_path}/asked\necho ' #bytes  #iterations BW peak BW average MsgRate'\necho ' 65536 30 97.1 96.5 0.18'\n")
    tool.chmod(0o755)
    settings = site(f"env PATH={tool.parent}:{os.environ['PATH']} sh -c {{command}} {{host}}", kind="perftest", ways="shift", bytes=1_000_000)
    trial("exchange", settings)
    assert found(settings, "exchange")["full_gbits"] == pytest.approx(96.5)
    asked = (tmp_path / "asked").read_text().splitlines()
    assert sum("Node" in line for line in asked) == 4 + 3 * 4 and all("-d mlx5_0" in line and "-S 0" in line for line in asked)
    assert any("Node" not in line for line in asked)


def test_heal_elsewhere_does_not_say_that_all_is_well(tmp_path):
    assert "no folder" in run(FORS, "trial", "heal", "--output-dir", tmp_path / "other").err


@pytest.mark.parametrize("command, words", [
    ("echo sl......................0x3", "service levels that the setting sls lacks: 3"), ("echo sl...0x0", None), ("", None),
    ("sh -c 'echo no records >&2; exit 3'", "no path record of 4 of 4 pairs, as Node00-00 to Node01-00"),
])
def test_service_levels_and_partitions(site, command, words):
    settings = site(path=command)
    trial("look", settings)
    said = [line for line in found(settings, "look")["in_the_way"] if "path record" in line]
    assert "no records" not in "".join(said)  # what a command says may name anything
    assert words in said[0] if words else not said


# -- the report

def names_of(texts):
    """What nobody may find: names, GUIDs with and without 0x."""
    names = set(re.findall(r'# ?"([^"]+)"', texts[0])) | set(re.findall(r"'([^']+)'", texts[1]))
    guids = {int(text, 16) for text in re.findall(r"guid=0x([0-9a-f]+)|\(([0-9a-f]+)\)", texts[0]) for text in text if text}
    return names | {f"{guid:016x}" for guid in guids} | {f"0x{guid:x}" for guid in guids}


def test_nothing_of_the_fabric_is_in_what_is_sent(site, tmp_path):
    settings = site(phases=2)
    trial("all", settings)
    trial("failure", settings, "--disable", CABLE)
    trial("report", settings)
    texts = [(tmp_path / name).read_text() for name in ("net", "lfts")]
    sent = "".join((tmp_path / "out" / f"send.{ending}").read_text() for ending in ("html", "json"))
    real = (tmp_path / "out" / "report.json").read_text()
    assert "While it is down" in (tmp_path / "out" / "send.html").read_text()
    secrets = names_of(texts) | {str(tmp_path), "127.0.0.1", os.uname().nodename}
    assert any(name in real for name in secrets)
    assert [name for name in secrets if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", sent)] == []
    assert "lid" not in re.sub(r"[^a-z]+", " ", sent.lower()).split() and "Node0" not in sent and "Leaf0" not in sent
    assert json.loads((tmp_path / "out" / "send.json").read_text())["failure"][0]["cable"].startswith("switch-")


def test_names_of_what_is_gone_when_the_report_is_made(site, tmp_path):
    """Steps remember them; the fabric need not answer any more."""
    settings = site(phases=1, ways="shift")
    trial("exchange", settings)
    (tmp_path / "net").write_text("")
    trial("report", settings)
    assert "Leaf0" in (tmp_path / "out" / "report.json").read_text()
    sent = "".join((tmp_path / "out" / f"send.{ending}").read_text() for ending in ("html", "json"))
    assert "Node0" not in sent and "Leaf0" not in sent and "Spine0" not in sent


def test_made_up_names_are_stable_and_text_is_cleaned(tmp_path):
    first, second = (Disguise(tmp_path, ["r1n01", "r1n02 mlx5_0"], ["sw a;x"]) for _ in range(2))
    said = "r1n01.cern.ch: LID 17 of r1n02 and sw a;x[3] (0x0002c90300001234, 0002c90300001234) at 10.1.2.3:44 or fe80::1:2:3 in /home/me/x"
    assert first.text(said) == second.text(said)
    for secret in ("r1n0", "cern", "mlx5_0", "sw a", "LID 17", "2c90300001234", "10.1", "fe80", "/home", "me/x"):
        assert secret not in first.text(said), first.text(said)
    (tmp_path / "secret").unlink()
    assert Disguise(tmp_path, ["r1n01"], []).text("r1n01") != first.text("r1n01")


def test_a_page_of_nothing(tmp_path):
    assert page(collect(tmp_path), "fors trial").startswith("<!DOCTYPE html>")
