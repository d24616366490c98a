# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A real Slurm, whose jobs begin and end: is the file of jobs what runs, whenever a job looks, and does it plan?

FORS_SLURM=36 or 360 takes as many nodes as that (make slurm NODES=360), FORS_EVENTS more events, FORS_SEED other ones.
"""
import csv
import io
import json
import os
import random
import re
import signal
import subprocess

import harness
import pytest
import slurm
import test_jobs
import three

HOOK = harness.TOP / "opensm-conf" / "slurm" / "fors-slurmctld"
SHAPES = {12: (4, 3), 36: (6, 6), 360: (20, 18)}  # nodes: spines (and servers of a leaf), leaves
NODES = int(os.environ.get("FORS_SLURM", 12))
EVENTS = int(os.environ.get("FORS_EVENTS", 14))
SEED = int(os.environ.get("FORS_SEED") or 1)

pytestmark = pytest.mark.skipif(bool(slurm.missing()), reason=f"no Slurm: {' '.join(slurm.missing())} (apt-get install slurmctld slurmd slurm-client)")


class Site:
    """Slurm on the servers of a synthetic fabric; its prologue and epilogue are those of the package."""

    def __init__(self, folder, more="", racks=None, lmc=None):
        """racks: the names of the nodes, leaf by leaf, on another fabric, with a path index for each way up at this LMC."""
        folder.mkdir(exist_ok=True)
        self.folder, self.file = folder, folder / "jobs"
        self.spines, leaves = SHAPES[NODES]
        self.spec = f"FT(2;{self.spines},{leaves})"
        self.lmc = lmc or (self.spines - 1).bit_length()
        racks = racks or [[f"Node{a:02}-{s:02}" for s in range(self.spines)] for a in range(leaves)]
        (folder / "settings").write_text(
            f"PATH={os.path.dirname(harness.fors_command()[0]) or '/usr/bin'}:$PATH\nSLURM_CONF={folder}/slurm/slurm.conf\n"
            f"FORS_JOBS_FILE={self.file}\nFORS_SECONDS=20\nFORS_OPTIONS='--exclusive owned'\n" + more)
        hook = folder / "hook"
        hook.write_text(f"#!/bin/sh\nFORS_SETTINGS={folder}/settings\nexport FORS_SETTINGS\nexec {HOOK}\n")
        hook.chmod(0o755)
        self.slurm = slurm.Slurm(folder / "slurm", racks, prolog=hook, epilog=hook, partitions=["owned"])
        self.exclusive = {}  # job: was it submitted so?

    def submit(self, rng, most, before=""):
        how = rng.choice([[], ["--comment=fors=exclusive"], ["--partition=owned"], ["--partition=owned", "--comment=fors=shared"]])
        job = self.slurm.submit(rng.randint(1, most), *how, before=f"{before}cp {self.file} {self.folder}/seen-$SLURM_JOB_ID; ")
        harness.wait_for(lambda: self.slurm.decided(job), 30, f"Slurm looks at job {job}", 0.1)
        self.exclusive[job] = how in (["--comment=fors=exclusive"], ["--partition=owned"])
        return job

    def listed(self, text=None):
        """{job: (is it exclusive, its nodes)} of the file."""
        lines = re.findall(r"^(\d+)( \[exclusive\])?: (.*)$", self.file.read_text() if text is None else text, re.M)
        return {int(job): (bool(mark), set(nodes.split(", "))) for job, mark, nodes in lines}

    def agrees(self):
        running = self.slurm.running()
        return self.file.exists() and self.listed() == {job: (self.exclusive[job], nodes) for job, nodes in running.items()}

    def fors(self, *arguments, code=0):
        return harness.fors(*arguments, code=code, env=self.slurm.environment)

    def judge(self, down):
        """Slurm and the file agree, and each job has a plan; those that own their lanes share no cable."""
        harness.wait_for(self.agrees, 30, "the file of jobs is what runs", 0.2)
        out, judged = self.folder / "plans", self.folder / "judged"
        judged.write_text(self.file.read_text())  # a job that waited may begin at any moment
        cut = [word for cable in down for word in ("--down", cable)]
        data = json.loads(self.fors("jobs", "--synthetic", self.spec, "--lmc", self.lmc, "--jobs", judged, *cut, "--output-dir", out, "--json").stdout)
        assert {int(job["name"]): job["servers"] for job in data["jobs"]} == {job: len(nodes) for job, (_, nodes) in self.listed(judged.read_text()).items()}
        assert data["meetings"] == 0
        used = {}
        for job in data["jobs"]:
            if job["over"] == "own":
                for cable in self.cables(out / job["name"] / "schedule"):
                    assert used.setdefault(cable, job["name"]) == job["name"], cable
        return len(data["jobs"])

    def cables(self, path):
        """(leaf, spine) pairs of a plan, up or down, from what it tells applications."""
        leaf_of = {server["guid"]: server["leaf"] for server in json.loads(self.fors("schedule", path, "--format", "json").stdout)["servers"]}
        rows = csv.DictReader(io.StringIO(self.fors("schedule", path, "--format", "csv").stdout))
        return {(leaf_of[row[end]], row["spine_guid"], end) for row in rows if row["spine_guid"] for end in ("src_guid", "dst_guid")}


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    yield made
    made.slurm.stop()


def test_jobs_come_and_go(site):
    """Random submissions, cancellations and cuts, each judged; and each job saw itself in the file when it began."""
    rng, down, alive, most_at_once = random.Random(SEED), set(), [], 0
    for _ in range(EVENTS):
        event = rng.choice(["submit", "submit", "cancel", "cut"])
        if event == "cut":
            down ^= {f"Leaf{rng.randrange(SHAPES[NODES][1]):02}[{site.spines + 1 + rng.randrange(site.spines)}]"}
        elif event == "cancel" and alive:
            site.slurm.cancel(alive.pop(rng.randrange(len(alive))))
        else:
            alive.append(site.submit(rng, max(2, NODES // 3)))
        most_at_once = max(most_at_once, site.judge(sorted(down)))
    assert most_at_once >= 2
    began = list(site.folder.glob("seen-*"))
    assert len(began) >= 3
    for path in began:
        assert int(path.name.split("-")[1]) in site.listed(path.read_text())
    site.slurm.cancel(*alive)
    harness.wait_for(lambda: site.file.exists() and not site.listed(), 30, "an empty file of jobs")


def test_a_slurmctld_that_does_not_answer(site):
    """The file stays; and once it answers the file follows again."""
    site.submit(random.Random(SEED), 2)
    harness.wait_for(lambda: site.agrees() and site.listed(), 30, "a job runs", 0.2)
    before = site.file.read_text()
    controller = site.slurm.processes[0]
    controller.send_signal(signal.SIGSTOP)
    try:
        done = site.fors("jobs", "--slurm", "--output", site.file, "--timeout", 2, code=1)
    finally:
        controller.send_signal(signal.SIGCONT)
    assert "does not answer" in done.stderr and "squeue last answered 20" in done.stderr
    assert site.file.read_text() == before
    site.fors("jobs", "--slurm", "--output", site.file, "--exclusive", "owned", "--timeout", 30)
    assert site.file.read_text() == before


def test_lines_say_what_json_says(site):
    """The squeue of this machine, asked both ways."""
    for _ in range(3):
        site.submit(random.Random(SEED), 2)
    harness.wait_for(lambda: site.agrees() and len(site.listed()) == 3, 30, "three jobs run", 0.2)
    lines = site.folder / "squeue"
    lines.write_text('#!/bin/sh\n[ "$2" != --json ] || exit 1\nexec squeue "$@"\n')
    lines.chmod(0o755)
    site.fors("jobs", "--slurm", "--output", site.folder / "lines", "--exclusive", "owned", "--squeue", lines)
    assert (site.folder / "lines").read_text() == site.file.read_text()


def test_opensm_follows(fabric, tmp_path):
    """The whole chain: sbatch, the prologue, jobs_file, the plugin; each state judged in the switches, and a job's schedule is there when it starts."""
    tree = harness.FatTree(*SHAPES[NODES])
    follow(fabric, tmp_path, tree, lambda rng: tree.uplink(rng.randrange(tree.nleaves), rng.randrange(SHAPES[NODES][0]))[:2], NODES)


def test_opensm_follows_on_three_levels(fabric, tmp_path):
    """The same on 64 servers in four pods."""
    tree = three.Tree3((4, 4, 4), (4, 4))
    racks = [[f"Node{p}-{y}-{x}" for x in range(4)] for p in range(4) for y in range(4)]
    follow(fabric, tmp_path, tree, lambda rng: tree.top_cable(rng.randrange(4), rng.randrange(4), rng.randrange(4)), 64, racks=racks, lmc=4)


def follow(fabric, tmp_path, tree, any_cable, nodes, **other):
    published, rng, cut, alive, planned = tmp_path / "published", random.Random(SEED), None, [], 0
    published.mkdir()
    site = Site(tmp_path / "site", f"FORS_WAIT=30\nFORS_PUBLISH_DIR={published}\n", **other)
    try:
        site.fors("jobs", "--slurm", "--output", site.file)
        sim, sm = fabric(tree, lmc=str(site.lmc), fors_conf=f"jobs_file = {site.file}\npublish_dir = {published}\n")
        sm.wait_up()  # what is cut before it was ever seen is not known to be dead
        for _ in range(EVENTS // 2):
            event = rng.choice(["submit", "submit", "cancel", "cut"])
            if event == "cut" and cut:
                sim.relink(*cut)
                cut = None
            elif event == "cut":
                cut = any_cable(rng)
                sim.unlink(*cut)
            elif event == "cancel" and alive:
                site.slurm.cancel(alive.pop(rng.randrange(len(alive))))
            else:
                keep = f"cp {published}/jobs/$SLURM_JOB_ID/schedule {tmp_path}/plan-$SLURM_JOB_ID || touch {tmp_path}/lacks-$SLURM_JOB_ID; "
                alive.append(site.submit(rng, max(2, nodes // 3), keep))
            if event == "cut":
                sm.sighup()
            planned += judge_in_switches(site, sim, sm, bool(cut))
        assert planned >= 3
        assert not list(tmp_path.glob("lacks-*"))
        # a job that is cancelled between the two has a plan, and is not among these
        began = [path.name.split("-")[1] for path in site.folder.glob("seen-*")]
        assert len(began) >= 2
        for job in began:  # whatever it saw was its own plan
            assert test_jobs.info(tmp_path / f"plan-{job}")["phases"] >= 1, job
    finally:
        site.slurm.stop()


def judge_in_switches(site, sim, sm, is_cut):
    """opensm has a schedule for what Slurm runs, and no other; those over lanes of their own share no cable. How many there are. A job that
    waited may begin at any moment: what runs is asked again, and what was judged meanwhile is judged again."""
    def follows(jobs):
        return {job["name"] for job in jobs or () if job["state"] == "active"} == {str(job) for job in site.listed()} and site.agrees()

    def active(status):
        return {job["name"]: (job["epoch"], job["over"]) for job in status["jobs"] if job["state"] == "active"}
    for attempt in range(5):
        found = active(sm.wait_status(60, dead_links=lambda links: len(links or ()) == is_cut, jobs=follows))
        own = [name for name, (_, over) in found.items() if over == "own"]
        try:
            test_jobs.judge(sim, sm, own, [name for name in found if name not in own])
            break
        except (AssertionError, subprocess.CalledProcessError):
            if attempt == 4 or active(sm.status()) == found:
                raise
    return len(found)


def test_the_task_prologue_of_a_real_slurm(tmp_path):
    """A job's tasks are given its path index; a job without one, and one that has set it itself, begin as they would without."""
    (tmp_path / "settings").write_text(f"PATH={os.path.dirname(harness.fors_command()[0]) or '/usr/bin'}:$PATH\nFORS_PUBLISH_DIR={tmp_path}\n")
    hook = tmp_path / "task"
    hook.write_text(f"#!/bin/sh\nFORS_SETTINGS={tmp_path}/settings\nexport FORS_SETTINGS\nexec {HOOK.with_name('fors-task-prolog')}\n")
    hook.chmod(0o755)
    site = slurm.Slurm(tmp_path / "slurm", [["Node00-00", "Node00-01"], ["Node01-00", "Node01-01"]], more=f"TaskProlog={hook}\n")
    try:
        see = f"echo bits=$UCX_IB_LID_PATH_BITS >{tmp_path}/seen-$SLURM_JOB_ID; "
        jobs = [site.submit(1, "--hold", before=see), site.submit(1, "--hold", before=see),
                site.submit(1, "--hold", "--export=ALL,UCX_IB_LID_PATH_BITS=0", before=see)]
        (tmp_path / "list").write_text("".join(f"{job} [job-index]: Node0{i}-00, Node0{i + 1}-00\n" for i, job in ((0, jobs[0]), (2, jobs[2]))))
        subprocess.run(harness.fors_command("jobs", "--synthetic", "FT(2;4,4)", "--lmc", "1", "--job-index", "--jobs", tmp_path / "list",
                                            "--output-dir", tmp_path / "jobs"), check=True, capture_output=True)
        site.run("scontrol", "release", *map(str, jobs))
        seen = [tmp_path / f"seen-{job}" for job in jobs]
        harness.wait_for(lambda: all(path.exists() and path.read_text() for path in seen), 60, "all jobs begin", 0.2)
        assert [path.read_text() for path in seen] == ["bits=1\n", "bits=\n", "bits=0\n"]
    finally:
        site.stop()
