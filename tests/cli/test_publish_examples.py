# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""libforsched/examples/publish: each publish_command with stand-ins for the programs that reach other hosts, in the environment that fors gives."""
import os
import re
import shutil
import subprocess

import pytest

from conftest import SRC

EXAMPLES = SRC / "libforsched" / "examples" / "publish"
HOSTS = ["node1", "node2", "node3"]

# A host is a folder; what a program would do there is done with paths below it. `down` names the hosts that do not answer.
# One program stands in for those that know many hosts by themselves.
MANY = r"""#!/usr/bin/python3
import os, shlex, shutil, sys
from pathlib import Path

stand, name, words = Path(os.environ["STAND"]), os.path.basename(sys.argv[0]), sys.argv[1:]
down = (stand / "down").read_text().split()
while words[0] in ("-S", "-q"):
    words.pop(0)
assert words.pop(0) == "-w" and words.pop(0)
if name == "pdcp":
    words = ["--copy", words[0], "--dest", words[1]]
elif name == "pdsh":
    words = shlex.split(words[0])
for host in (stand / "hosts").read_text().split():
    if host in down:
        continue
    if words[0] == "--copy":
        assert words[2] == "--dest"
        shutil.copy(words[1], f"{stand}/{host}{words[3]}")
    else:
        assert words[:2] == ["mv", "-f"]
        os.replace(f"{stand}/{host}{words[2]}", f"{stand}/{host}{words[3]}")
sys.exit(1 if down else 0)
"""
STAND_INS = {
    "clush": MANY,
    "pdcp": MANY,
    "pdsh": MANY,
    "rsync": r"""#!/bin/sh
while [ $# -gt 2 ]; do shift; done
host=${2%%:*}; path=${2#*:}
read -r down <"$STAND/down"
[ "$host" != "$down" ] && cp "$1" "$STAND/$host$path.tmp" && exec mv "$STAND/$host$path.tmp" "$STAND/$host$path"
""",
    "squeue": "#!/bin/sh\necho 17; echo 18; echo 17\n",
    "sbcast": r'''#!/bin/sh
[ "$1" = --force ] || exit 9
case $2 in --jobid=17) set -- node1 "$3" "$4" ;; --jobid=18) set -- node2 "$3" "$4" ;; *) exit 9 ;; esac
! grep -qx $1 "$STAND/down" && cp "$2" "$STAND/$1$3"
''',
    "srun": r'''#!/bin/sh
case $2 in --jobid=17) host=node1 ;; --jobid=18) host=node2 ;; *) exit 9 ;; esac
shift 3
[ "$1 $2" = "mv -f" ] && mv -f "$STAND/$host$3" "$STAND/$host$4"
''',
}


def make_site(tmp_path, names):
    """site(script, down=(), **variables) -> (exit status, closing note, hosts with the newest schedule)."""
    for host in names:
        (tmp_path / host / "run" / "fors").mkdir(parents=True)
        (tmp_path / host / "run" / "fors" / "schedule").write_text("old")
    state, tools = tmp_path / "state", tmp_path / "tools"
    for folder in (state, tools, tmp_path / "shared"):
        folder.mkdir()
    (state / "schedule").write_text("the newest schedule")
    (tmp_path / "hosts").write_text("".join(f"{host}\n" for host in names))
    (tmp_path / "fors-hosts").write_text("# of this site\n\n" + "".join(f"{host}\n" for host in names))
    for name, text in STAND_INS.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def call(script, down=(), **variables):
        (tmp_path / "down").write_text("".join(f"{host}\n" for host in down))
        (tmp_path / "note").unlink(missing_ok=True)
        environment = {"PATH": f"{tools}:/usr/bin:/bin", "STAND": str(tmp_path), "FORS_STATE_DIR": str(state), "FORS_EPOCH": "17",
                       "FORS_STATE": "active", "FORS_NOTE": str(tmp_path / "note"), "TMPDIR": str(tmp_path), **variables}
        done = subprocess.run(["/bin/sh", "-c", str(EXAMPLES / script)], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=300, check=False)
        note = (tmp_path / "note").read_text()
        reached = [h for h in names if (tmp_path / h / "run" / "fors" / "schedule").read_text() == "the newest schedule"]
        return done.returncode, note, reached

    call.top = tmp_path
    return call


@pytest.fixture
def site(tmp_path):
    return make_site(tmp_path, HOSTS)


CASES = [("by-rsync", HOSTS, {"FORS_HOSTS": "fors-hosts"}), ("by-clush", HOSTS, {"FORS_NODES": "node[1-3]"}),
         ("by-pdsh", HOSTS, {"FORS_NODES": "node[1-3]"}), ("by-sbcast", HOSTS[:2], {})]


def variables_of(site, variables):
    return {name: str(site.top / value) if name == "FORS_HOSTS" else value for name, value in variables.items()}


@pytest.mark.parametrize("script, wanted, variables", CASES)
def test_reaches_the_hosts(site, script, wanted, variables):
    code, note, reached = site(script, **variables_of(site, variables))
    assert (code, reached) == (0, wanted), note
    assert re.fullmatch(rf"{script}: epoch 17 \(active\) reached .+ in \d+ ms\n", note)
    left = [name for host in HOSTS for name in os.listdir(site.top / host / "run" / "fors")]
    assert set(left) == {"schedule"} and not list(site.top.glob("tmp.*"))


@pytest.mark.parametrize("script, wanted, variables", CASES)
def test_a_host_that_is_down(site, script, wanted, variables):
    """The others have it; the exit status and the note say that one has not."""
    code, note, reached = site(script, down=["node1"], **variables_of(site, variables))
    assert (code, reached) == (1, wanted[1:]), note
    assert re.match(rf"{script}: epoch 17 \(active\) did not reach .+ after \d+ ms\n", note)


def test_shared_folder(site):
    shared = site.top / "shared"
    code, note, _ = site("to-shared-folder", FORS_SHARED=str(shared))
    assert code == 0 and (shared / "schedule").read_text() == "the newest schedule" and os.listdir(shared) == ["schedule"]
    assert re.fullmatch(rf"to-shared-folder: epoch 17 \(active\) reached {shared} in \d+ ms\n", note)


def test_shared_folder_that_is_gone(site):
    code, note, _ = site("to-shared-folder", FORS_SHARED=str(site.top / "gone"))
    assert code == 1 and re.match(r"to-shared-folder: epoch 17 \(active\) did not reach .*/gone after \d+ ms\n", note)


@pytest.mark.parametrize("script, variables", [("by-rsync", {"FORS_HOSTS": "fors-hosts"}), ("by-clush", {"FORS_NODES": "@all"}),
                                               ("by-pdsh", {"FORS_NODES": "@all"})])
def test_many_hosts(tmp_path, script, variables):
    """All of them, in one run; FORS_MANY_HOSTS says how many. `pytest -s` shows the note with the time."""
    names = [f"node{i:03}" for i in range(int(os.environ.get("FORS_MANY_HOSTS", "36")))]
    site = make_site(tmp_path, names)
    code, note, reached = site(script, **variables_of(site, variables))
    print(note, end="")
    assert (code, reached) == (0, names), note


@pytest.mark.skipif(not shutil.which("rsync"), reason="rsync is not installed")
def test_rsync_itself_takes_these_options(site):
    """The rsync of this machine, with a remote shell that runs here what it is told."""
    (site.top / "tools" / "rsync").unlink()
    (site.top / "tools" / "ssh").write_text(f'#!/bin/sh\nwhile [ "$1" = -o ]; do shift 2; done\nhost=$1; shift\ncd {site.top}/$host && exec "$@"\n')
    (site.top / "tools" / "ssh").chmod(0o755)
    code, note, reached = site("by-rsync", FORS_HOSTS=str(site.top / "fors-hosts"), FORS_TARGET="run/fors")
    assert (code, reached) == (0, HOSTS), note


@pytest.mark.parametrize("script, name", [("to-shared-folder", "FORS_SHARED"), ("by-rsync", "FORS_HOSTS"), ("by-clush", "FORS_NODES"),
                                          ("by-pdsh", "FORS_NODES")])
def test_what_has_to_be_set(site, script, name):
    code, note, reached = site(script)
    assert code == 2 and f"set {name}" in note and not reached


def test_the_page_names_all():
    page = (EXAMPLES / "README.md").read_text()
    scripts = [path.name for path in EXAMPLES.iterdir() if path.name not in ("README.md", "common")]
    assert len(scripts) == 5 and all(f"`{name}`" in page for name in scripts)
