# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real Slurm, and a user of it who wishes it ill: names and comments of any bytes, the lock of the file of jobs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness
import pytest
import slurm
import test_slurm

NOBODY = 65534
HEAD = b"fors-job-comment-----------------------------------------------"

pytestmark = pytest.mark.skipif(bool(slurm.missing()), reason=f"no Slurm: {' '.join(slurm.missing())} (apt-get install slurmctld slurmd slurm-client)")


class Nobody:
    """An unprivileged user of that Slurm."""

    def __init__(self, site):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nobody-"))
        self.folder.chmod(0o755)
        for name in ("slurm.conf", "topology.conf"):
            shutil.copy(site.slurm.folder / name, self.folder)
        os.chmod(site.slurm.spool, 0o755)  # scripts of jobs lie there
        self.environment = {**site.slurm.environment, "SLURM_CONF": str(self.folder / "slurm.conf"), "HOME": "/"}

    def run(self, *command, check=True):
        return subprocess.run(command, env=self.environment, cwd="/", user=NOBODY, group=NOBODY, extra_groups=[], check=check, capture_output=True, timeout=300)

    def submit(self, *options):
        """The ID of a job that sleeps."""
        return int(self.run("sbatch", "--parsable", "--output=/dev/null", *options, "--wrap", "exec sleep 600").stdout.split(b";")[0])


@pytest.fixture
def site(tmp_path):
    made = test_slurm.Site(tmp_path / "site")
    yield made
    made.slurm.run("scancel", "--user=nobody", check=False)
    left = ["squeue", "-h", "--user=nobody"]  # their names are no text
    harness.wait_for(lambda: not subprocess.run(left, env=made.slurm.environment, capture_output=True, timeout=300).stdout, 30, "they are gone", 0.2)
    made.slurm.stop()


@pytest.fixture
def nobody(site):
    made = Nobody(site)
    yield made
    shutil.rmtree(made.folder)


def follow(site, output, *options):
    """What the file is then; and all that is said may be shown on a terminal."""
    done = site.fors("jobs", "--slurm", "--output", output, "--exclusive", "owned", "--timeout", 30, *options)
    assert all(line.isprintable() for line in done.stderr.split("\n")), done.stderr
    return output.read_text()


def test_names_and_comments_of_any_bytes(site, nobody, tmp_path):
    """Jobs of others start at once and are in the file, as are the user's own; also where squeue has no JSON."""
    first = site.slurm.submit(2, "--comment=fors=exclusive")
    evil = [(b"--job-name=\xff\xfe\xc3", b"--comment=x\nfors-job z"), (b"--comment=\nfors-job %d|RUNNING|all|Node00-00|\n" % first,),
            (b"--comment=\n" + HEAD + b"%d|fors=shared" % first,), (b"--job-name=\x1b]0;owned\x07", b"--comment=" + b"\xed\xa0\x80\xf5" * 200),
            (b"--job-name=\"}]}", b"--comment=" + bytes(range(1, 256))), (b"--comment=fors=exclusive\n\xff",), (b"--array=1-2", b"--comment=|||\r\n\xc0")]
    jobs = [nobody.submit("-N1", *options) for options in evil]
    last = site.slurm.submit(1, "--partition=owned")
    harness.wait_for(lambda: {first, last, *jobs} <= site.slurm.running().keys() and len(site.slurm.running()) == len(jobs) + 3, 60, "all of them run", 0.2)
    with pytest.raises(UnicodeDecodeError):
        subprocess.run(["squeue", "--json"], env=site.slurm.environment, check=True, capture_output=True, timeout=300).stdout.decode()
    wanted = {job: (job in (first, last, jobs[5]), nodes) for job, nodes in site.slurm.running().items()}
    harness.wait_for(lambda: site.listed() == wanted, 30, "the prologues have written them all", 0.2)
    plain = tmp_path / "squeue"
    plain.write_text('#!/bin/sh\n[ "$2" != --json ] || exit 1\nexec squeue "$@"\n')
    plain.chmod(0o755)
    assert follow(site, tmp_path / "json") == follow(site, tmp_path / "lines", "--squeue", plain) == site.file.read_text()
    file = tmp_path / "plans"
    done = site.fors("jobs", "--synthetic", site.spec, "--lmc", site.lmc, "--jobs", tmp_path / "lines", "--output-dir", file, "--json")
    assert {int(job["name"]) for job in json.loads(done.stdout)["jobs"]} == wanted.keys()
    nobody.run("scancel", *map(str, jobs))
    harness.wait_for(lambda: site.listed().keys() == {first, last}, 30, "their ends are seen", 0.2)


def test_the_lock_is_not_theirs(site, nobody):
    """A user who would hold the lock, to hold up the start of every job, cannot; also where the file of jobs is for all to read."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        file = pathlib.Path(folder, "jobs")
        site.slurm.submit(1)
        follow(site, file)
        assert nobody.run("cat", file).stdout
        done = nobody.run("flock", "--nonblock", f"{file}.lock", "true", check=False)
        assert done.returncode and b"Permission denied" in done.stderr
