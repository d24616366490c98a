# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""doc/by-hand.md: its commands, literally, in three shells; the answers that the page shows are those that come."""
import os
import re
import shutil
import signal
import subprocess

import pytest

import harness

BLOCKS = [[line[4:] for line in block.splitlines()]
          for block in re.findall(r"(?:^    .*\n)+", (harness.TOP / "doc/by-hand.md").read_text(), re.M)]


def block(start):
    return next(lines for lines in BLOCKS if lines[0].startswith(start))


def steady(line):
    return re.sub(r"\d+(\.\d+)? m?s\b|\d{13}", "N", line).strip()


@pytest.fixture
def shells(tmp_path):
    program = shutil.which(harness.fors_command()[0])
    env = {**os.environ, "HOME": str(tmp_path), "IBSIM_SOCKNAME": f"by-hand-{os.getpid()}",
           "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}", **harness.plugin_environment()}
    made = [subprocess.Popen([*harness.DIES_WITH_US, "bash"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                             text=True, env=env, cwd=tmp_path, start_new_session=True) for _ in range(2)]

    def say(terminal, lines):
        made[terminal - 1].stdin.write("\n".join(lines) + "\n")
        made[terminal - 1].stdin.flush()

    def ask(lines):
        return subprocess.run(["bash", "-c", "\n".join([*block("mkdir"), *lines])], capture_output=True, text=True, env=env, cwd=tmp_path).stdout
    say.ask = ask
    yield say
    for shell in reversed(made):
        os.killpg(shell.pid, signal.SIGTERM)
        shell.wait()


@pytest.mark.parametrize("fabric, manager, cut, shown", [
    ("fors fabric --synthetic 'FT(2;4,4)'", "printf 'routing_engine fors", 'Unlink "Leaf00"[5]', "dead        1 cable"),
    ("fors fabric --synthetic 'FT(2;20,18)'", "printf 'routing_engine minhop", 'Unlink "Leaf00"[21]', "shadow      fors/"),
])
def test_the_page(shells, fabric, manager, cut, shown):
    def wait(words):
        return harness.wait_for(lambda: words in (said := shells.ask(["fors status fors"])) and said, 60, words)
    shells(1, [*block("mkdir"), *block(fabric)])
    harness.wait_for(lambda: "fabric.net" in shells.ask(["ls"]), 20, "a fabric")
    shells(2, [*block("mkdir"), *block(manager)])
    wait("dead        nothing")
    wait("(lower bound ")  # what there is no schedule before is no failover
    shells(1, [cut])
    page = re.sub(r"\n {12}(?! )", " ", "\n".join(block(shown)))
    wait("dead        1 cable")

    def now():
        return [steady(line) for line in wait("1 cable").splitlines()]
    rows = [line for line in map(steady, page.splitlines()) if "sweeps" not in line and "switched on" not in line]
    harness.wait_for(lambda: set(rows) <= set(now()), 20, "the rows of the page")  # how long it took is known a moment later
    said = now()
    if cut == 'Unlink "Leaf00"[5]':
        assert block("good: ")[0] in shells.ask(block("ibsim-run ibnetdiscover"))
    else:
        assert "379 of 15124 entries change" in page and any("379 of 15124 entries change" in line for line in said)
