# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors jobs --slurm: what squeue says becomes a file of jobs; and a squeue that hangs, fails or tells nonsense."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import FORS, SRC, needs_short

HOOK = SRC / "opensm-conf" / "slurm" / "fors-slurmctld"
TASK_HOOK = SRC / "opensm-conf" / "slurm" / "fors-task-prolog"
HEAD = "# The jobs that Slurm runs, by their IDs, as fors jobs --slurm has them.\n"


# As squeue itself prints: a width cuts bytes off, and fills up with blanks.
FORMATS = """\
import re, sys
for job in {jobs!r}:
    values = dict(zip("ATNkP", job))
    def field(match):
        value = values[match[2]]
        value = value if isinstance(value, bytes) else str(value).encode()
        return (value[:int(match[1])].ljust(int(match[1])) if match[1] else value).decode("latin-1")
    sys.stdout.buffer.write(re.sub("%([0-9]*)([ATNkP])", field, sys.argv[6]).encode("latin-1") + b"\\n")
"""


class Squeue:
    """A program in its place, that prints what any format asks for, or anything else; counts how often it was asked."""

    def __init__(self, folder):
        self.path, self.answer, self.calls = folder / "squeue", folder / "answer", folder / "calls"
        self.says([])

    def script(self, text):
        self.path.write_text(f"#!/bin/sh\necho \"$*\" >>{self.calls}\n{text}\n")
        self.path.chmod(0o755)

    def says(self, jobs):
        """[(id, nodes, comment, partition)]"""
        self.formats([(i, "RUNNING", nodes, comment, partition) for i, nodes, comment, partition in jobs])

    def formats(self, jobs):
        """[(id, state, nodes, comment, partition)]; comments may be any bytes."""
        (self.path.parent / "formats.py").write_text(FORMATS.format(jobs=jobs))
        self.script(f'exec {sys.executable} {self.path.parent}/formats.py "$@"')

    def prints(self, text):
        self.answer.write_bytes(text)
        self.script(f"cat {self.answer}")


@pytest.fixture
def squeue(tmp_path):
    return Squeue(tmp_path)


@pytest.fixture
def follow(fors, squeue, tmp_path):
    """follow(*options): the file that there is then, without its first line."""
    output = tmp_path / "jobs"

    def call(*options, code=0, **more):
        call.result = fors("jobs", "--slurm", "--output", output, "--squeue", squeue.path, *options, code=code, **more)
        text = output.read_text() if output.exists() else None
        assert text is None or text.startswith(HEAD)
        return text and text[len(HEAD):]

    call.output = output
    return call


def test_what_squeue_is_asked(squeue, follow):
    squeue.formats([(5, "RUNNING", "n[1-2]", "fors=exclusive", "all"), (4, "CONFIGURING", "n3", "", "all"), (6, "PENDING", "", "", "all")])
    assert follow() == "4: n3\n5 [exclusive]: n1, n2\n"
    assert follow.result.out == f"{follow.output}: 2 jobs, 1 of them exclusive\n" and follow.result.err == ""
    calls = squeue.calls.read_text().splitlines()
    assert calls[0] == "--all -h -t R,CF -o fors-job %A|%T|%P|%N|" and len(calls) == 2 and "%60k" in calls[1]


def test_a_squeue_without_comments(squeue, follow):
    """One that cannot print them is good enough."""
    squeue.formats([(5, "RUNNING", "n1", "fors=exclusive", "all")])
    squeue.path.write_text(squeue.path.read_text().replace("exec", 'case "$*" in *%60k) exit 1;; esac\nexec'))
    assert follow() == "5: n1\n" and follow.result.err == ""


def test_a_comment_is_not_another_job(squeue, follow):
    """Whatever stands in a comment, also line ends and what a line of ours looks like: it costs its own job at most."""
    evil = [b"x\nfors-job 9|RUNNING|p|n9|", b"x\nfors-job z", b"\n" * 70, b"fors-job 6|", bytes(range(1, 256)), b"\xff\xfe fors=exclusive", b"x" * 99999,
            b"\nfors-job-comment-----------------------------------------------6|fors=exclusive", b"|||", b"\r\nfors=exclusive", b"\0"]
    for comment in evil:
        squeue.formats([(5, "RUNNING", "n1", comment, "all"), (6, "RUNNING", "n2", "x", "all"), (7, "RUNNING", "n3", "fors=exclusive", "all")])
        text = follow()
        assert text.replace("5 [exclusive]", "5") == "5: n1\n6: n2\n7 [exclusive]: n3\n", comment
        assert ("5 [exc" in text) == (b"fors=exclusive" in comment and b"6|" not in comment), comment
        assert follow.result.err == ""


BAD = [b"fors-job 9|RUNNING|all|n[9|", b"fors-job 9|RUNNING|all|../n9|", b"fors-job 9|RUNNING|all|\xff|", b"fors-job 9|RUNNING|all|x\x1b[31m\\nfors|", b"fors-job x",
       b"fors-job 9|RUNNING|all|n[0-99999999]|", b"fors-job 9|RUNNING|all|" + b"a" * 300 + b"|", b"fors-job -9|RUNNING|all|n9|", b"fors-job |||", b"some words",
       b"fors-job 99999999999999999999999|RUNNING|all|n9|", b"fors-job 3"]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_job_that_is_not_understood_costs_no_other(squeue, follow, bad):
    squeue.prints(b"\n".join([b"fors-job 1|RUNNING|all|n1|", bad, b"", b"fors-job 2|RUNNING|all|n2|"]))
    assert follow() == "1: n1\n2: n2\n"
    assert all(line.isprintable() for line in follow.result.err.splitlines()) and follow.result.err.count("\n") == 1
    assert "1 job is left out" in follow.result.err
    if b"n[9" in bad:
        assert 'job 9: the list of hosts "n[9": a [ without its ]' in follow.result.err


def test_nodes_that_are_not_understood(squeue, follow):
    """The job keeps what was written of it before, as long as no other job has a host of it."""
    squeue.says([(1, "n1", "", "all"), (2, "n[3-4]", "fors=exclusive", "all")])
    assert follow() == "1: n1\n2 [exclusive]: n3, n4\n"
    for other, text in [((7, "n7", "", "all"), "1: n1\n7: n7\n2 [exclusive]: n3, n4\n"), ((8, "n[4-5]", "", "all"), "1: n1\n8: n4, n5\n")]:
        squeue.says([(1, "n1", "", "all"), (2, "", "fors=exclusive", "all"), other])
        assert follow() == text
        assert "job 2: it runs, and its nodes are not where they are known to be" in follow.result.err
    squeue.formats([(2, "CONFIGURING", "", "", "all"), (1, "RUNNING", "n1", "", "all")])
    assert follow() == "1: n1\n" and follow.result.err == ""


def test_squeue_prints_something_else(squeue, follow):
    """What is no answer is not one without jobs."""
    squeue.says([(1, "n1", "", "all")])
    good = follow()
    squeue.script("echo slurm_load_jobs is out today")
    assert follow(code=1) == good and "is no line of the format" in follow.result.err


def test_messages_have_no_control_bytes(fors, squeue, follow, write, tmp_path):
    """What others say is quoted, and ends on somebody's terminal."""
    squeue.script("printf '\\033]0;x\\007\\302\\233 \\342\\200\\256 a\\tb \\303\\251' >&2; exit 1")
    follow(code=1)
    assert "?]0;x??? ??? a?b \u00e9;" in follow.result.err
    for result in (fors("jobs", "--slurm", "--output", tmp_path / "x", "--squeue", "/no\x1b[2J", code=1), fors("plan", "--fabric", "/no\x1b[2J\nx", code=2),
                   fors("plan", "--synthetic", "FT(2;2,2)", "--down", "a\x1b\u009bb", code=2), fors("pl\x1ban", code=2), fors("plan", "--x\x1b", code=2),
                   fors("schedule", "/no\x1b", code=2), fors("wait", "--job", "a\x1b", "/no\x1b", code=2)):
        assert result.err and all(line.isprintable() for line in result.err.split("\n")), result.err


def test_who_is_exclusive(squeue, follow):
    squeue.says([(1, "a", "project=x,fors=exclusive", "slow"), (2, "b", "fors=exclusively", "slow"), (3, "c", "", "mpi"),
                 (4, "d", "fors=shared", "mpi"), (5, "e", "", "mpi2")])
    assert follow("--exclusive", "big,mpi") == "1 [exclusive]: a\n2: b\n3 [exclusive]: c\n4: d\n5: e\n"


def test_who_has_the_path_index(squeue, follow):
    """A comment first, then the partition, then what all have; whoever asks for two things gets lanes that no MPI has to find."""
    squeue.says([(1, "a", "x fors=job-index", "mpi"), (2, "b", "", "mpi"), (3, "c", "fors=shared", "mpi"), (4, "d", "", "slow"),
                 (5, "e", "fors=shared;fors=job-index", "slow"), (6, "f", "fors=job-index,fors=exclusive", "slow"), (7, "g", "fors=job-indexes", "slow")])
    assert follow() == "1 [job-index]: a\n2: b\n3: c\n4: d\n5 [job-index]: e\n6 [exclusive]: f\n7: g\n"
    assert follow.result.out == f"{follow.output}: 7 jobs, 1 of them exclusive, 2 with the path index of jobs\n"
    assert follow("--exclusive", "mpi", "--mark", "job-index") == (
        "1 [job-index]: a\n2 [exclusive]: b\n3: c\n4 [job-index]: d\n5 [job-index]: e\n6 [exclusive]: f\n7 [job-index]: g\n")
    assert follow("--mark", "exclusive").startswith("1 [job-index]: a\n2 [exclusive]: b\n3: c\n")
    assert follow("--mark", "shared").startswith("1 [job-index]: a\n2: b\n3: c\n")
    squeue.formats([(5, "RUNNING", "n1", "fors=job-index ", "all")])
    assert follow() == "5 [job-index]: n1\n"


def test_names_of_hosts(squeue, follow, write):
    names = write("names", "n1: n1 HCA-1, n1 HCA-2 # two adapters\n\nn3: 0x0000000000100003\n")
    squeue.says([(1, "n[1-3]", "", "all")])
    assert follow("--names", names) == "1: n1 HCA-1, n1 HCA-2, n2, 0x0000000000100003\n"


@pytest.mark.parametrize("text, wanted", [("n1: a\nn1: b\n", '"n1" has two lines'), ("n1:\n", '"n1" has no server'), ("n1\n", "names:1: ")])
def test_bad_names(squeue, follow, write, text, wanted):
    assert follow("--names", write("names", text), code=2) is None
    assert wanted in follow.result.err


def test_names_of_a_fabric(squeue, follow, fors, write):
    """A host is the first word of the descriptions of its adapters, which may be several; one that is not there keeps its name."""
    text = fors("fabric", "--synthetic", "FT(2;2,2)").out.replace('"Node00-00"', '"n1 HCA-1"').replace('"Node01-01"', '"n1 HCA-2"')
    squeue.says([(1, "n[1-2],Node01-00", "", "all")])
    assert follow("--fabric", write("net", text)) == "1: 0x0000000000100005, 0x0000000000100001, 0x0000000000100007, n2\n"


def test_written_only_when_something_has_changed(squeue, follow):
    """A job with the same hosts and another ID is another job: the paper's filter would not see it."""
    squeue.says([(1, "n[1-2]", "", "all"), (2, "n3", "", "all")])
    follow()
    before = follow.output.stat()
    squeue.says([(2, "n3", "", "all"), (1, "n[2,1]", "", "all")])
    follow()
    assert follow.output.stat().st_ino == before.st_ino and follow.result.out == ""
    squeue.says([(2, "n3", "", "all"), (7, "n[1-2]", "", "all")])
    assert follow() == "2: n3\n7: n1, n2\n"
    assert follow.output.stat().st_ino != before.st_ino
    squeue.says([])
    assert follow() == ""


def test_hosts_that_several_jobs_have(squeue, follow):
    """Half a job would be planned wrongly: the later one is left out, also when an earlier one that clashed was left out before."""
    squeue.says([(3, "n[2-4]", "", "all"), (2, "n[1-2]", "", "all"), (4, "n4", "", "all"), (5, "n1", "", "all")])
    assert follow() == "2: n1, n2\n4: n4\n"
    assert "2 jobs are left out, since another job has a host of theirs; first job 3: job 2 has n2" in follow.result.err


@pytest.mark.parametrize("script, wanted", [
    ("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1",
     "failed with exit code 1: slurm_load_jobs error: Unable to contact slurm controller"),
    ("kill -9 $$", "died of signal 9"),
    ("exec sleep 600", "does not answer"),
    ("sleep 600 & exit 0", "does not answer"),
    ("exec >&- 2>&-; sleep 600", "does not end"),
    ("while :; do echo x >&2; done", "does not answer"),
    ("echo 'fors-job 1 RUNNING'", "is no line of the format"),
    ("echo 'fors-job 1|RUNNING|all|n[1|'", "list of hosts"),
])
def test_the_last_good_file_stays(squeue, follow, script, wanted):
    squeue.says([(1, "n1", "", "all")])
    good = follow()
    squeue.script(script)
    seconds = 3 if "not" in wanted and "does" in wanted else 20   # what hangs takes all of them
    assert follow("--timeout", seconds, code=1) == good           # a hang would end the test
    assert wanted in follow.result.err
    assert re.search(r"stays as it is; squeue last answered 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", follow.result.err)


def test_a_squeue_that_never_answered(squeue, follow, fors):
    squeue.script("exit 1")
    assert follow(code=1) is None
    assert "squeue last answered never" in follow.result.err
    result = fors("jobs", "--slurm", "--output", follow.output, "--squeue", "/nowhere/squeue", code=1)
    assert "/nowhere/squeue failed with exit code 127: No such file or directory" in result.err


def test_somebody_else_has_the_lock(squeue, follow, tmp_path):
    """As a prologue that hangs would: the next one does not wait for ever, and asks nothing."""
    with subprocess.Popen(["flock", f"{follow.output}.lock", "sh", "-c", "echo held; exec sleep 60"], start_new_session=True, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        assert follow("--timeout", 1, code=2) is None
        assert "somebody else has held it too long" in follow.result.err and not squeue.calls.exists()
        os.killpg(other.pid, signal.SIGKILL)


def nobody(*command):
    """A process of an unprivileged user, once it has printed a line."""
    process = subprocess.Popen(command, user=65534, group=65534, extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    process.line = process.stdout.readline()
    return process


HOLD = ("import fcntl, os, sys, time\ntry: fd = os.open(sys.argv[1], os.O_RDONLY)\nexcept OSError as error: sys.exit(print(error))\n"
        "fcntl.flock(fd, fcntl.LOCK_EX)\nprint('held', flush=True)\ntime.sleep(600)\n")


@pytest.fixture
def shared():
    """A folder that anybody may enter, in which anybody may make files."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        yield pathlib.Path(folder)


root = pytest.mark.skipif(os.geteuid() != 0, reason="is another user")


@root
@pytest.mark.parametrize("umask", [0o022, 0, 0o077])
def test_nobody_else_can_hold_the_lock(fors, squeue, shared, umask):
    """Whoever can open it can hold it: nobody but its user can."""
    squeue.says([(1, "n1", "", "all")])
    before = os.umask(umask)
    try:
        fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path)
    finally:
        os.umask(before)
    assert (shared / "o.lock").stat().st_mode & 0o7777 == 0o600
    process = nobody(sys.executable, "-c", HOLD, str(shared / "o.lock"))
    assert "Permission denied" in process.line
    process.wait(300)


@root
def test_a_lock_that_an_older_version_left(fors, squeue, shared):
    """It was 0644: it is closed to others."""
    squeue.says([(1, "n1", "", "all")])
    lock = shared / "o.lock"
    lock.write_text("\n")
    lock.chmod(0o644)
    fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path)
    assert lock.stat().st_mode & 0o7777 == 0o600


@root
@pytest.mark.parametrize("trap", ["symlink", "dangling", "hardlink", "fifo", "folder", "foreign", "full", "device"])
def test_traps_in_place_of_the_lock(fors, squeue, shared, tmp_path, trap):
    """In a folder that others may write to: nothing is followed, changed or waited for that somebody else has put there."""
    squeue.says([(1, "n1", "", "all")])
    victim, lock = shared / "victim", shared / "o.lock"
    victim.write_text("precious")
    victim.chmod(0o644)
    if trap in ("symlink", "dangling"):
        lock.symlink_to(victim if trap == "symlink" else shared / "nothing")
    elif trap == "hardlink":
        os.link(victim, lock)
    elif trap == "fifo":
        os.mkfifo(lock, 0o666)
    elif trap == "folder":
        lock.mkdir()
    elif trap == "device":
        os.mknod(lock, 0o666 | 0o020000, os.makedev(1, 3))
    else:
        lock.write_text("" if trap == "foreign" else "a file of somebody's")
        os.chown(lock, *((65534, 65534) if trap == "foreign" else (0, 0)))
    result = fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path, "--timeout", 20, code=2)
    assert (victim.read_text(), victim.stat().st_mode & 0o7777, (shared / "nothing").exists()) == ("precious", 0o644, False)
    assert str(lock) in result.err and not (shared / "o").exists()
    assert trap != "full" or lock.read_text() == "a file of somebody's"


@root
def test_a_lock_of_another_user_in_a_folder_of_theirs(fors, squeue, shared):
    """Slurm's own user has the folder and the lock, and root comes too: neither shuts out the other."""
    squeue.says([(1, "n1", "", "all")])
    lock = shared / "o.lock"
    lock.write_text("\n")
    for mode, wanted in ((0o600, 0o600), (0o644, 0o600), (0o664, 0o660)):
        lock.chmod(mode)
        os.chown(lock, 65534, 0)
        os.chown(shared, 65534, 0)
        shared.chmod(0o755)
        fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path)
        assert (lock.stat().st_uid, lock.stat().st_mode & 0o7777) == (65534, wanted)


@pytest.mark.parametrize("kind", ["fifo", "symlink to a device"])
def test_an_output_that_is_no_file(fors, squeue, shared, kind):
    if kind == "fifo":
        os.mkfifo(shared / "o")
    else:
        (shared / "o").symlink_to("/dev/null")
    assert "this is no file" in fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path, code=2).err


KILLED = """\
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>
#include <sys/stat.h>
int %s { return raise(SIGKILL); }
"""


@needs_short
@pytest.mark.parametrize("function", ["fsync(int fd)", "fchmod(int fd, mode_t mode)", "rename(const char *a, const char *b)"])
def test_what_a_killed_poller_leaves(fors, squeue, shared, tmp_path, function):
    """The next one takes its place, and follows nothing."""
    (tmp_path / "killed.c").write_text(KILLED % function)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "killed.so", tmp_path / "killed.c"], check=True, timeout=300)
    squeue.says([(1, "n1", "", "all")])
    command = [FORS, "jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path]
    for _ in range(3):
        assert subprocess.run(command, env={**os.environ, "LD_PRELOAD": f"{tmp_path}/killed.so"}, timeout=300, capture_output=True).returncode == -signal.SIGKILL
    assert {path.name for path in shared.iterdir()} - {"o", "o.lock"} == {"o.new"}
    fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path)
    assert {path.name for path in shared.iterdir()} == {"o", "o.lock"} and (shared / "o").stat().st_mode & 0o777 == 0o644
    (shared / "victim").write_text("precious")
    (shared / "o.new").symlink_to(shared / "victim")
    squeue.says([(2, "n1", "", "all")])
    fors("jobs", "--slurm", "--output", shared / "o", "--squeue", squeue.path)
    assert (shared / "victim").read_text() == "precious" and (shared / "o").read_text() == HEAD + "2: n1\n"


def test_a_poller(squeue, follow):
    """It follows, says once that squeue fails, and once that it answers again."""
    squeue.says([(1, "n1", "", "all")])
    process = subprocess.Popen([FORS, "jobs", "--slurm", "--output", follow.output, "--squeue", squeue.path, "--interval", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: follow.output.exists())
        squeue.script("exit 1")
        until(lambda: squeue.calls.read_text().count("--all") > 3, 30)
        assert follow.output.read_text() == HEAD + "1: n1\n"
        squeue.says([(2, "n2", "", "all")])
        until(lambda: follow.output.read_text() == HEAD + "2: n2\n")
        until(lambda: process.poll() is None)
        time.sleep(0.2)
    finally:
        process.terminate()
        out, err = process.communicate(timeout=300)
    assert out.count("1 job, 0 of them exclusive") == 2
    assert err.count("stays as it is") == 1 and err.count("squeue answers again") == 1


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def plan(fors, stamp, write, tmp_path):
    """plan(job, epoch): the plan of a job of two servers is published."""
    def call(job, epoch):
        text = write("two", f"{job}: Node00-00, Node01-00\n")
        fors("jobs", "--synthetic", "FT(2;2,2)", "--jobs", text, "--output-dir", tmp_path / "new")
        stamp(tmp_path / "new" / str(job) / "schedule", epoch)
        folder = tmp_path / "published" / "jobs" / str(job)
        folder.mkdir(parents=True, exist_ok=True)
        os.replace(tmp_path / "new" / str(job) / "schedule", folder / "schedule")

    return call


def test_waiting_for_the_plan(squeue, follow, plan, tmp_path):
    env = {"SLURM_JOB_ID": "17"}
    wait = ("--publish-dir", tmp_path / "published", "--wait")
    squeue.says([(17, "Node00-00,Node01-00", "", "all")])
    follow(*wait, 1, code=1, env=env)
    assert "no plan for job 17 within 1 second" in follow.result.err
    plan(17, 1000)
    follow(*wait, 1, env=env)                                  # its line is the same: there is a plan
    squeue.says([(17, "Node00-01,Node01-01", "", "all")])      # put back into the queue, started elsewhere
    follow(*wait, 1, code=1, env=env)
    assert "the file has the one of before" in follow.result.err
    squeue.says([(18, "Node00-01,Node01-01", "", "all")])
    follow(*wait, 600, env=env)                                # it has ended: nobody to wait for
    follow(*wait, 600, env={"SLURM_JOB_ID": "nonsense"})


def test_a_plan_that_comes_while_it_waits(squeue, follow, plan, tmp_path):
    squeue.says([(17, "Node00-00,Node01-00", "", "all")])
    process = subprocess.Popen([FORS, "jobs", "--slurm", "--output", follow.output, "--squeue", squeue.path, "--wait", "60", "--publish-dir",
                                tmp_path / "published"], env={**os.environ, "SLURM_JOB_ID": "17"})
    until(follow.output.exists)
    assert process.poll() is None
    plan(17, 1000)
    assert process.wait(timeout=300) == 0


@pytest.mark.parametrize("args, wanted", [
    (["--slurm"], "--output FILE is missing"),
    (["--slurm", "--output", "x", "--jobs", "y"], "plans nothing"),
    (["--slurm", "--output", "x", "--synthetic", "FT(2;2,2)"], "plans nothing"),
    (["--slurm", "--output", "x", "--replay", "y"], "plans nothing"),
    (["--slurm", "--output", "x", "--output-dir", "y"], "plans nothing"),
    (["--slurm", "--output", "x", "--svg", "y"], "plans nothing"),
    (["--slurm", "--output", "x", "--fabric", "y", "--names", "z"], "both say"),
    (["--slurm", "--output", "x", "--fabric", "/nowhere/net"], "/nowhere/net"),
    (["--slurm", "--output", "x", "--wait", "5"], "--wait needs --publish-dir"),
    (["--slurm", "--output", "x", "--squeue", " "], "names no program"),
    (["--output", "x", "--synthetic", "FT(2;2,2)", "--jobs", "y"], "go with --slurm"),
    (["--mark", "job-index", "--synthetic", "FT(2;2,2)", "--jobs", "y"], "go with --slurm"),
    (["--slurm", "--output", "x", "--mark", "mine"], "mine"),
    (["--slurm", "--output", "/nowhere/x"], "/nowhere/x.lock: No such file"),
    (["--slurm", "--output", "x" * 5000], "too long"),
    (["--slurm", "--output", "x", "--squeue", "a " * 100], "more than 60 words"),
])
def test_bad_usage(fors, args, wanted, tmp_path):
    assert wanted in fors("jobs", *args, code=2, cwd=tmp_path).err


def hook(tmp_path, settings, **environment):
    """Without PATH, as Slurm starts it."""
    write = tmp_path / "settings"
    write.write_text(f"PATH={os.path.dirname(FORS)}:$PATH\nFORS_JOBS_FILE={tmp_path}/jobs\n" + settings)
    return subprocess.run([HOOK], env={"FORS_SETTINGS": str(write), **environment}, capture_output=True, timeout=300).returncode


def test_the_prologue(squeue, follow, tmp_path):
    squeue.says([(17, "n[1-2]", "fors=exclusive", "all")])
    settings = f"FORS_OPTIONS='--squeue {squeue.path}'\n"
    assert hook(tmp_path, settings, SLURM_JOB_ID="17") == 0
    assert follow.output.read_text() == HEAD + "17 [exclusive]: n1, n2\n"
    squeue.script("exec sleep 600")
    assert hook(tmp_path, settings + "FORS_SECONDS=1\n", SLURM_JOB_ID="17") == 0
    squeue.says([(18, "n3", "", "all")])
    assert hook(tmp_path, settings + f"FORS_SECONDS=20 FORS_WAIT=1 FORS_PUBLISH_DIR={tmp_path}\n", SLURM_JOB_ID="18") == 0
    assert follow.output.read_text() == HEAD + "18: n3\n"


@pytest.mark.parametrize("settings", ["FORS_SECONDS=nonsense\n", "if then (\n", "exit 7\n", "FORS_JOBS_FILE=/nowhere/x\n", "set -e; false\n",
                                      "FORS_WAIT=x\n"])
def test_a_prologue_never_fails(tmp_path, settings):
    assert hook(tmp_path, settings) == 0


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A publish_dir: 17 has the path index of jobs, 18 several, 19 base LIDs, 20 is withdrawn, 21 is no schedule."""
    folder = tmp_path_factory.mktemp("published")

    def fors(*args):
        subprocess.run([FORS, *map(str, args)], check=True, capture_output=True, timeout=300)

    (folder / "jobs").mkdir()
    (folder / "list").write_text("17 [job-index]: Node00-00, Node01-00, Node02-00\n19: Node00-01, Node00-02\n")
    fors("jobs", "--synthetic", "FT(2;4,4)", "--lmc", 1, "--job-index", "--jobs", folder / "list", "--output-dir", folder / "jobs")
    for name in ("18", "20", "21"):
        (folder / "jobs" / name).mkdir()
    fors("plan", "--synthetic", "FT(2;4,4)", "--lmc", 2, "--method", "exact", "--down", "Leaf00[5]", "--output", folder / "jobs/18/schedule")
    subprocess.run([os.environ["FORS_STAMP"], folder / "jobs/20/schedule", "9", "gone"], check=True, timeout=300)
    (folder / "jobs/21/schedule").write_bytes(b"x" * 1000)
    return folder


def task_hook(tmp_path, settings, **environment):
    """What Slurm reads of it; it has ended with 0 and said nothing else."""
    write = tmp_path / "settings"
    write.write_text(f"PATH={os.path.dirname(FORS)}:$PATH\n" + settings)
    done = subprocess.run([TASK_HOOK], env={"FORS_SETTINGS": str(write), **environment}, capture_output=True, timeout=300, text=True)
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout


def test_the_task_prologue(published, tmp_path):
    settings, export = f"FORS_PUBLISH_DIR={published}\n", "export UCX_IB_LID_PATH_BITS=1\n"
    assert task_hook(tmp_path, settings, SLURM_JOB_ID="17") == export
    for job in ("18", "19", "20", "21", "22", "", "../jobs/17", "17/", "17 17", "x"):
        assert task_hook(tmp_path, settings, SLURM_JOB_ID=job) == "", job
    assert task_hook(tmp_path, settings) == "" == task_hook(tmp_path, "", SLURM_JOB_ID="17")
    for value in ("", "0", "3"):
        assert task_hook(tmp_path, settings, SLURM_JOB_ID="17", UCX_IB_LID_PATH_BITS=value) == ""
    assert task_hook(tmp_path, "echo print no\n" + settings, SLURM_JOB_ID="17") == export


@pytest.mark.parametrize("settings", ["if then (\n", "exit 7\n", "set -e; false\n", "FORS_TASK_SECONDS=x\n", "PATH=/nowhere\n",
                                      "FORS_PUBLISH_DIR=/nowhere/x\n", "fors() { echo 1000; }\n", "exec sleep 0\n"])
def test_a_task_prologue_never_fails(published, tmp_path, settings):
    assert task_hook(tmp_path, f"FORS_PUBLISH_DIR={published}\n" + settings, SLURM_JOB_ID="17") in ("", "export UCX_IB_LID_PATH_BITS=1\n")


def test_a_task_prologue_that_hangs_ends(published, tmp_path):
    """The command does, as a file system would make it."""
    slow = tmp_path / "fors"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    assert task_hook(tmp_path, f"FORS_PUBLISH_DIR={published}\nPATH={tmp_path}:$PATH FORS_TASK_SECONDS=1\n", SLURM_JOB_ID="17") == ""


def test_demands_by_comment(squeue, follow):
    """A comment names a demand, where the administrator has a folder of them: a name, and nothing that leads elsewhere."""
    comments = ["fors-demand=events", "fors=exclusive, fors-demand=rows;x", "fors-demand=../../etc/shadow", "fors-demand=", "xfors-demand=a"]
    squeue.says([(k, f"n{k}", text, "all") for k, text in enumerate(comments, 1)])
    assert follow() == "1: n1\n2 [exclusive]: n2\n3: n3\n4: n4\n5: n5\n"
    assert follow("--demand-dir", "/none") == "1 [demand=events]: n1\n2 [exclusive, demand=rows]: n2\n3: n3\n4: n4\n5: n5\n"
