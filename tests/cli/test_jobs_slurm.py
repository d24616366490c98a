# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors jobs --slurm: what squeue says becomes a file of jobs; and a squeue that hangs, fails or tells nonsense."""
import json
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import FORS, SRC

HOOK = SRC / "opensm-conf" / "slurm" / "fors-slurmctld"
TASK_HOOK = SRC / "opensm-conf" / "slurm" / "fors-task-prolog"
HEAD = "# The jobs that Slurm runs, by their IDs, as fors jobs --slurm has them.\n"


class Squeue:
    """A program in its place: as JSON, as lines, or anything else; counts how often it was asked."""

    def __init__(self, folder):
        self.path, self.answer, self.calls = folder / "squeue", folder / "answer", folder / "calls"
        self.says([])

    def script(self, text):
        self.path.write_text(f"#!/bin/sh\necho \"$*\" >>{self.calls}\n{text}\n")
        self.path.chmod(0o755)

    def says(self, jobs):
        """[(id, nodes, comment, partition)]"""
        self.prints(json.dumps({"errors": [], "jobs": [
            {"job_id": i, "job_state": "RUNNING", "nodes": nodes, "comment": comment, "partition": partition}
            for i, nodes, comment, partition in jobs]}))

    def prints(self, text):
        self.answer.write_text(text)
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


def test_the_shape_of_22_05(squeue, follow):
    """Recorded: one job runs, one is being configured, one waits."""
    squeue.prints((SRC / "tests/data/squeue-22.05.json").read_text())
    assert follow() == "1 [exclusive]: Node00-00, Node00-01, Node01-00\n2: Node02-00, Node02-01\n"
    assert follow.result.out == f"{follow.output}: 2 jobs, 1 of them exclusive\n" and follow.result.err == ""
    assert squeue.calls.read_text() == "--all --json\n"


def test_the_shape_of_newer_versions(squeue, follow):
    squeue.prints((SRC / "tests/data/squeue-24.05.json").read_text())
    assert follow() == "11 [exclusive]: Node00-00, Node00-01, Node00-02\n12: Node01-00, Node02-00, Node02-01\n"


def test_nodes_of_job_resources_and_numbers_in_objects(squeue, follow):
    squeue.prints(json.dumps({"jobs": [
        {"job_id": {"set": True, "infinite": False, "number": 8}, "job_state": ["RUNNING"], "nodes": "",
         "job_resources": {"nodes": {"list": "b[1-2]"}}},
        {"job_id": 7, "job_state": "RUNNING", "job_resources": {"nodes": "a1"}},
        {"job_id": 9, "job_state": "RUNNING", "nodes": None}]}))
    assert follow() == "7: a1\n8: b1, b2\n"


def test_lines_where_there_is_no_json(squeue, follow):
    squeue.script('[ "$2" != --json ] || { echo "unrecognized option --json" >&2; exit 1; }\n'
                  'printf "%s\\n" "fors-job 5|RUNNING|all|n[1-2]|fors=exclusive " "fors-job 4|CONFIGURING|all|n3|" "fors-job 6|PENDING|all||"')
    assert follow() == "4: n3\n5 [exclusive]: n1, n2\n"
    assert squeue.calls.read_text().splitlines()[1] == "--all -h -t R,CF -o fors-job %A|%T|%P|%N|%15k"


def test_a_comment_is_not_another_job(squeue, follow):
    """What squeue's lines show of a comment with line ends in it is too short for a line that counts."""
    squeue.script('[ "$2" != --json ] || exit 1\n'
                  'printf "fors-job 5|RUNNING|all|n1|x\\n9|RUNNING|p|n\\nfors-job 6|RUNNING|all|n2|x\\n fors-job 9|"')
    assert follow() == "5: n1\n6: n2\n"
    squeue.says([(5, "n1", "x\n9 [exclusive]: n7\n", "all")])
    assert follow() == "5: n1\n"


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
    squeue.script('[ "$2" != --json ] || exit 1\nprintf "fors-job 5|RUNNING|all|n1|fors=job-index \\n"')
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
    ("[ $2 != --json ] && exit 3; echo '{\"jobs\": [{\"job_id\": 1'", "failed with exit code 3;"),
    ("[ $2 != --json ] && exit 3; echo '{\"errors\": [{\"error\": \"x\"}], \"jobs\": []}'", "failed with exit code 3"),
    ("[ $2 != --json ] && exit 3; echo '{\"jobs\": [{\"job_id\": 1, \"job_state\": \"RUNNING\", \"nodes\": \"../x\"}]}'", "exit code 3"),
    ("[ $2 = --json ] && exit 3; echo 'fors-job 1 RUNNING'", "is no line of the format"),
    ("[ $2 = --json ] && exit 3; echo 'fors-job 1|RUNNING|all|n[1|'", "list of hosts"),
])
def test_the_last_good_file_stays(squeue, follow, script, wanted):
    squeue.says([(1, "n1", "", "all")])
    good = follow()
    squeue.script(script)
    assert follow("--timeout", 1, code=1) == good              # a hang would end the test
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
    with subprocess.Popen(["flock", f"{follow.output}.lock", "sleep", "60"], start_new_session=True) as other:
        time.sleep(0.5)
        assert follow("--timeout", 1, code=2) is None
        assert "somebody else has held it too long" in follow.result.err and not squeue.calls.exists()
        os.killpg(other.pid, signal.SIGKILL)


def test_a_poller(squeue, follow):
    """It follows, says once that squeue fails, and once that it answers again."""
    squeue.says([(1, "n1", "", "all")])
    process = subprocess.Popen([FORS, "jobs", "--slurm", "--output", follow.output, "--squeue", squeue.path, "--interval", "1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: follow.output.exists())
        squeue.script("exit 1")
        until(lambda: squeue.calls.read_text().count("--json") > 4, 30)
        assert follow.output.read_text() == HEAD + "1: n1\n"
        squeue.says([(2, "n2", "", "all")])
        until(lambda: follow.output.read_text() == HEAD + "2: n2\n")
        until(lambda: process.poll() is None)
        time.sleep(0.2)
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
    assert out.count("1 jobs, 0 of them exclusive") == 2
    assert err.count("stays as it is") == 1 and err.count("squeue answers again") == 1


def until(condition, seconds=20):
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
    assert "no plan for job 17 within 1 seconds" in follow.result.err
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
    assert process.wait(timeout=20) == 0


@pytest.mark.parametrize("args, wanted", [
    (["--slurm"], "--output FILE is missing"),
    (["--slurm", "--output", "x", "--jobs", "y"], "plans nothing"),
    (["--slurm", "--output", "x", "--synthetic", "FT(2;2,2)"], "plans nothing"),
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
    return subprocess.run([HOOK], env={"FORS_SETTINGS": str(write), **environment}, capture_output=True, timeout=60).returncode


def test_the_prologue(squeue, follow, tmp_path):
    squeue.says([(17, "n[1-2]", "fors=exclusive", "all")])
    settings = f"FORS_OPTIONS='--squeue {squeue.path}'\n"
    assert hook(tmp_path, settings, SLURM_JOB_ID="17") == 0
    assert follow.output.read_text() == HEAD + "17 [exclusive]: n1, n2\n"
    squeue.script("exec sleep 600")
    assert hook(tmp_path, settings + "FORS_SECONDS=1\n", SLURM_JOB_ID="17") == 0
    squeue.says([(18, "n3", "", "all")])
    assert hook(tmp_path, settings + f"FORS_SECONDS=1 FORS_WAIT=1 FORS_PUBLISH_DIR={tmp_path}\n", SLURM_JOB_ID="18") == 0
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
        subprocess.run([FORS, *map(str, args)], check=True, capture_output=True, timeout=60)

    (folder / "jobs").mkdir()
    (folder / "list").write_text("17 [job-index]: Node00-00, Node01-00, Node02-00\n19: Node00-01, Node00-02\n")
    fors("jobs", "--synthetic", "FT(2;4,4)", "--lmc", 1, "--job-index", "--jobs", folder / "list", "--output-dir", folder / "jobs")
    for name in ("18", "20", "21"):
        (folder / "jobs" / name).mkdir()
    fors("plan", "--synthetic", "FT(2;4,4)", "--lmc", 2, "--method", "exact", "--down", "Leaf00[5]", "--output", folder / "jobs/18/schedule")
    subprocess.run([os.environ["FORS_STAMP"], folder / "jobs/20/schedule", "9", "gone"], check=True, timeout=60)
    (folder / "jobs/21/schedule").write_bytes(b"x" * 1000)
    return folder


def task_hook(tmp_path, settings, **environment):
    """What Slurm reads of it; it has ended with 0 and said nothing else."""
    write = tmp_path / "settings"
    write.write_text(f"PATH={os.path.dirname(FORS)}:$PATH\n" + settings)
    done = subprocess.run([TASK_HOOK], env={"FORS_SETTINGS": str(write), **environment}, capture_output=True, timeout=60, text=True)
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
