# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Several jobs, each with a schedule of its own, under the stock opensm: judged over the tables in the simulated switches.

The judge walks each flow of each published schedule through the hardware's own tables. It knows who may meet whom: in a phase
nobody, and jobs that own their lanes never, whatever their clocks.
"""
import csv
import json
import random
import re

import pytest

from harness import FatTree, fors, wait_for
import three
from three import Tree3

TREE = FatTree(4, 4)  # four servers on each of four leaves

ONE, TWO = "Node00-00, Node00-01, Node01-00, Node01-01", "Node02-00, Node02-01, Node03-00, Node03-01"
BESIDE = "Node00-02, Node00-03, Node01-02, Node01-03"
OTHERS = "Node02-02, Node02-03, Node03-02"
FIRST = f"one [exclusive]: {ONE}\ntwo [exclusive]: {TWO}\nbeside [exclusive]: {BESIDE}\nothers: {OTHERS}\n"


def write(path, text):
    """As who writes the file should: whole, under another name, renamed."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


@pytest.fixture
def jobs(fabric, tmp_path):
    """jobs(text, **options) -> (Ibsim, OpenSM, the jobs file); the fabric has a path index for each lane."""
    def start(text, conf="", topology=TREE, **options):
        file = tmp_path / "jobs"
        if text is not None:
            write(file, text)
        options.setdefault("lmc", "2")
        sim, sm = fabric(topology, fors_conf=f"jobs_file = {file}\n{conf}", **options)
        return sim, sm, file
    return start


def schedule_of(sm, name):
    return sm.state_dir / "jobs" / name / "schedule"


def rows(path):
    """The flows of a schedule, as fors reads it: (phase, source name, destination LID, destination name); and its epoch."""
    text = fors("schedule", path, "--format", "csv").stdout
    return list(csv.DictReader(text.splitlines()))


def info(path):
    """What `fors schedule` says of it; a withdrawn one has 0 phases, and exit code 1."""
    done = fors("schedule", path, "--format", "json", code=None)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def links_of(sim, path):
    """All directed cables that flows of the schedule use between switches; each flow arrives, and meets none of its phase."""
    snapshot = sim.snapshot()
    by_guid = {port.guid: name for name, port in snapshot.port.items() if name not in snapshot.switches}
    used, phases = set(), {}
    for row in rows(path):
        source, wanted = by_guid[int(row["src_guid"], 16)], by_guid[int(row["dst_guid"], 16)]
        end, hops = snapshot.walk(source, int(row["dst_lid"]))
        assert end == wanted
        here = phases.setdefault(row["phase"], set())
        assert not here & set(hops), f"two flows meet in phase {row['phase']}"
        here |= set(hops)
        used |= {hop for hop in hops[1:] if snapshot.cable[hop][0] in snapshot.switches}
    return used


def judge(sim, sm, exclusive, shared=()):
    """All these have a schedule, right over the tables; those that are exclusive have no cable in common."""
    links = {name: links_of(sim, schedule_of(sm, name)) for name in (*exclusive, *shared)}
    for one in exclusive:
        for two in exclusive:
            assert one >= two or not links[one] & links[two], (one, two)
    return links


def job(status, name):
    return next((job for job in status["jobs"] or () if job["name"] == name), {})


def wait_jobs(sm, *names, state="active", **wanted):
    """The status, as soon as these jobs are in this state."""
    return sm.wait_status(jobs=lambda jobs: jobs is not None and {job["name"] for job in jobs if job["state"] == state} >= set(names),
                          **wanted)


def test_side_by_side(jobs):
    """Start, a cut, a job that ends, one that comes: each state right in the switches; nobody gets an epoch for nothing."""
    sim, sm, file = jobs(FIRST)
    status = wait_jobs(sm, "one", "two", "beside", "others", state="active", reason=lambda text: text.startswith("jobs"))
    judge(sim, sm, ["one", "two", "beside"], ["others"])
    assert status["state"] == "active" and status["phases"] is None
    assert job(status, "one")["over"] == "own" and job(status, "one")["phases"] == 4 and job(status, "one")["ratio"] == 1
    assert job(status, "others")["over"] == "free"
    assert info(sm.schedule_file)["reason"].startswith("jobs")
    shown = info(schedule_of(sm, "one"))
    assert shown["epoch"] == job(status, "one")["epoch"]
    text = fors("status", sm.state_dir)
    assert re.search(r"one +active", text.stdout)

    # a job ends, another comes: who is not touched keeps the epoch
    epochs = {name: job(status, name)["epoch"] for name in ("one", "two", "beside", "others")}
    write(file, FIRST.replace("beside", "later").replace("Node01-03", "Node01-02"))
    status = wait_jobs(sm, "later")
    judge(sim, sm, ["one", "two", "later"], ["others"])
    assert info(schedule_of(sm, "beside"))["phases"] == 0
    assert job(status, "beside")["state"] == "withdrawn"
    assert {name: job(status, name)["epoch"] for name in ("one", "two", "others")} == {
        name: epochs[name] for name in ("one", "two", "others")}

    # a cut: all are planned anew, and right over what the switches hold then; whose plan is the same keeps its epoch
    before = {name: job(status, name)["epoch"] for name in ("one", "two", "later", "others")}
    victim = next(iter(sorted(links_of(sim, schedule_of(sm, "one")))))
    sim.unlink(*victim)
    sm.sighup()
    status = sm.wait_status(dead_links=lambda links: len(links or ()) == 1, state="active",
                            jobs=lambda jobs: all(job["state"] == "active" for job in jobs if job["name"] in before))
    assert job(status, "one")["epoch"] > before["one"]
    assert victim not in judge(sim, sm, ["one", "two", "later"], ["others"])["one"]

    # a file that is none: the last good jobs stay, and a warning says since when
    write(file, "one [exclusive]: Node00-00\nagain: Node00-00\n")
    held = sm.wait_status(remarks=lambda remarks: any("since" in remark and "Node00-00" in remark for remark in remarks))
    assert {name: job(held, name)["epoch"] for name in before} == {name: job(status, name)["epoch"] for name in before}
    file.unlink()
    sm.wait_status(remarks=lambda remarks: any("cannot be opened" in remark and "stay" in remark for remark in remarks))
    judge(sim, sm, ["one", "two", "later"], ["others"])
    write(file, f"one [exclusive]: {ONE}\n")
    status = sm.wait_status(remarks=[], jobs=lambda jobs: [job["name"] for job in jobs if job["state"] == "active"] == ["one"])
    judge(sim, sm, ["one"])


def test_restart(jobs):
    """An opensm that starts again goes on with larger epochs; one that does not find the file withdraws all."""
    sim, sm, file = jobs(f"one [exclusive]: {ONE}\ntwo [exclusive]: {TWO}\n")
    first = wait_jobs(sm, "one", "two")
    sm.stop()
    assert info(schedule_of(sm, "one"))["phases"] == 4  # the switches hold its tables still
    again = type(sm)(sim, sm.directory, fors_conf=f"jobs_file = {file}\n", lmc="2")
    with again:
        status = again.wait_status(state="active", jobs=lambda jobs: jobs and all(
            job["state"] == "active" and job["epoch"] > first["epoch"] for job in jobs))
        assert all(job(status, name)["epoch"] > job(first, name)["epoch"] for name in ("one", "two"))
        judge(sim, again, ["one", "two"])
    file.unlink()
    with type(sm)(sim, sm.directory, fors_conf=f"jobs_file = {file}\n", lmc="2") as third:
        status = third.wait_status(state="failed", reason=lambda text: "no job has a schedule" in text)
        assert all(info(schedule_of(third, name))["phases"] == 0 for name in ("one", "two"))
        assert "cannot be opened" in status["reason"]
        write(file, f"two [exclusive]: {TWO}\n")
        wait_jobs(third, "two", state="active")
        judge(sim, third, ["two"])


def test_lanes_stay_over_a_restart(jobs):
    """Whose the lanes are depends on who came first; another opensm on the same folder takes that from the schedules there."""
    sim, sm, file = jobs(f"zero [exclusive]: {BESIDE}\n")
    wait_jobs(sm, "zero")
    write(file, f"zero [exclusive]: {BESIDE}\none [exclusive]: {ONE}\n")
    wait_jobs(sm, "one", "zero")
    before = judge(sim, sm, ["one", "zero"])
    sm.stop()
    with type(sm)(sim, sm.directory, fors_conf=f"jobs_file = {file}\n", lmc="2") as again:
        wait_jobs(again, "one", "zero", state="active", epoch=lambda epoch: True, reason=lambda text: text.startswith("jobs: each"))
        after = judge(sim, again, ["one", "zero"])
        assert after["one"] >= before["one"] and after["zero"] >= before["zero"]  # and cables that nobody used


@pytest.mark.parametrize("mark, lmc, conf", [("exclusive", "2", ""), ("job-index", "1", "job_index = yes\n")])
def test_three_levels_over_a_restart(jobs, mark, lmc, conf):
    """The same on three levels: lanes and rungs, and where a path index belongs to jobs its entries."""
    late, early = "Node0-0-1, Node0-1-0, Node1-0-1", "Node0-0-0, Node1-0-0"
    sim, sm, file = jobs(f"zero [{mark}]: {late}\n", topology=Tree3((2, 2, 2), (2, 2)), lmc=lmc, conf=conf)
    wait_jobs(sm, "zero", timeout=40)
    write(file, f"one [{mark}]: {early}\nzero [{mark}]: {late}\n")
    wait_jobs(sm, "one", "zero", timeout=40)
    before = judge(sim, sm, ["one", "zero"])
    sm.stop()
    with type(sm)(sim, sm.directory, fors_conf=f"jobs_file = {file}\n{conf}", lmc=lmc) as again:
        again.wait_status(reason=lambda text: text.startswith("jobs: each"), timeout=60,
                          jobs=lambda jobs: jobs and all(job["state"] == "active" and job["over"] == "own" for job in jobs))
        after = judge(sim, again, ["one", "zero"])
        assert after["one"] >= before["one"] and after["zero"] >= before["zero"]


def test_tables_of_another_engine(jobs):
    """Over tables that fors did not make each job has a plan, right in itself, marked as shared; with new tables it gets another."""
    sim, sm, file = jobs(f"one [exclusive]: {ONE}\ntwo: {TWO}\n", conf="schedule_over = any\n", routing_engine="minhop", lmc="0")
    status = wait_jobs(sm, "one", "two", state="active", tables_by="minhop")
    assert {job["over"] for job in status["jobs"]} == {"all"}
    judge(sim, sm, [], ["one", "two"])
    victim = min(links_of(sim, schedule_of(sm, "one")))
    sim.unlink(*victim)
    sm.sighup()
    sm.wait_status(jobs=lambda jobs: job({"jobs": jobs}, "one")["epoch"] > job(status, "one")["epoch"]
                   and job({"jobs": jobs}, "one")["state"] == "active")
    assert victim not in judge(sim, sm, [], ["one", "two"])["one"]


def test_three_levels(jobs):
    """In a tree of three levels, too, where fors makes the tables: with a path index for each way up jobs own lanes and rungs."""
    tree = Tree3((2, 2, 2), (2, 2))
    text = "one [exclusive]: Node0-0-0, Node0-1-0, Node1-0-0\nbeside [exclusive]: Node0-0-1, Node1-0-1\ntwo: Node0-1-1, Node1-1-1\n"
    sim, sm, file = jobs(text, topology=tree, lmc="2")
    status = wait_jobs(sm, "one", "two", "beside", state="active", tables_by="fors")
    assert [job(status, name)["over"] for name in ("one", "beside")] == ["own", "own"]
    assert [job(status, name)["phases"] for name in ("one", "beside", "two")] == [3, 2, 2] and job(status, "one")["lanes"] > 3
    judge(sim, sm, ["one", "beside"], ["two"])
    sim.unlink(*tree.top_cable(0, 0, 0))
    sm.sighup()
    sm.wait_status(dead_links=lambda links: len(links or ()) == 1, state="active",
                   jobs=lambda jobs: all(job["state"] == "active" for job in jobs))
    judge(sim, sm, [], ["one", "two", "beside"])


def test_fifty_changes_on_three_levels(jobs):
    """64 servers in four pods, LMC 4: jobs anywhere begin and end. After each change those over lanes of their own share no cable in
    the switches' tables, nobody's epoch falls, and a job that nothing has changed for keeps its epoch."""
    rng, running, epochs, kept = random.Random(5), {}, {}, 0
    free = [f"Node{p}-{y}-{x}" for p in range(4) for y in range(4) for x in range(4)]
    sim, sm, file = jobs("", topology=Tree3((4, 4, 4), (4, 4)), lmc="4")
    for number in range(50):
        if running and (len(running) > 5 or rng.random() < 0.4):
            free += running.pop(rng.choice(sorted(running)))
        else:
            size = rng.choice((2, 4, 6, 8, 12))
            running[f"job{number}"] = [free.pop(rng.randrange(len(free))) for _ in range(min(size, len(free) - 1))]
        write(file, "".join(f"{name} [exclusive]: {', '.join(servers)}\n" for name, servers in running.items()))
        status = sm.wait_status(jobs=lambda jobs: {job["name"] for job in jobs or () if job["state"] == "active"} == set(running))
        own = [name for name in running if job(status, name)["over"] == "own"]
        judge(sim, sm, own, [name for name in running if name not in own])
        for name in running:
            epoch = job(status, name)["epoch"]
            assert epoch >= epochs.get(name, 0)
            kept += epoch == epochs.get(name)
            epochs[name] = epoch
    assert kept > 20


def test_copies(jobs, tmp_path):
    """publish_dir has the same, and a program finds the schedule of its job there; cn_guid_file limits who may be in one."""
    copies, guids = tmp_path / "copies", tmp_path / "guids"
    copies.mkdir()
    guids.write_text("".join(f"{0x100001 + 2 * i:#x}\n" for i in range(16)))  # as ibsim numbers them: all servers
    sim, sm, file = jobs(f"4711 [exclusive]: {ONE}\ntwo: {TWO}\n", conf=f"publish_dir = {copies}\n", cn_guid_file=str(guids))
    status = wait_jobs(sm, "4711", "two", state="active")
    wait_for(lambda: (copies / "jobs/4711/schedule").exists() and (copies / "jobs/4711/schedule").read_bytes() ==
             schedule_of(sm, "4711").read_bytes(), what="the copy of a job's schedule")
    names = {row["desc"]: int(row["guid"], 16) for row in info(schedule_of(sm, "4711"))["servers"]}
    guids.write_text("".join(f"{0x100001 + 2 * i:#x}\n" for i in range(16) if 0x100001 + 2 * i != names["Node01-01"]))
    sm.sighup()
    status = sm.wait_status(jobs=lambda jobs: job({"jobs": jobs}, "4711")["servers"] == 3)
    assert "Node01-01" in job(status, "4711")["reason"] and job(status, "4711")["missing"] == 1
    assert job(status, "two")["servers"] == 4
    sm.fors_conf.write_text(sm.fors_conf.read_text() + f"participants_file = {guids}\n")
    sm.sighup()
    sm.wait_status(remarks=lambda remarks: any("jobs_file and participants_file" in remark for remark in remarks))


# --- one path index for jobs ---

INDEXED = f"one [job-index]: {ONE}\nbeside [job-index]: {BESIDE}\ntwo [job-index]: {TWO}\nothers: {OTHERS}\n"


def by_index(sim, servers, index):
    """The cables that packets between these servers cross, each sent to this path index of the other; all arrive."""
    snapshot = sim.snapshot()
    is_low = not any(name.startswith("Top") for name in snapshot.table)
    used = set()
    names = servers.split(", ")
    for source in names:
        for wanted in names:
            if source == wanted:
                continue
            leaf = snapshot.cable[source, 1][0]
            hops, at = snapshot.way(leaf, snapshot.port[wanted].lid + index)
            assert at == wanted, f"{source} to {wanted} goes {hops}"
            assert len(hops) in ((1,) if leaf == snapshot.cable[wanted, 1][0] else (3,) if is_low else (3, 5))
            used |= set(hops[:-1])
    return used


def disjoint(sim, index=1, **servers):
    """Nobody's packets meet those of another job."""
    links = {name: by_index(sim, who, index) for name, who in servers.items()}
    for one in links:
        for two in links:
            assert one >= two or not links[one] & links[two], (one, two)
    return links


def others_than(before, after):
    """(switch, LID) of the entries that differ."""
    return {(name, lid) for name in before for lid in range(len(before[name])) if before[name][lid] != after[name][lid]}


def test_one_path_index(jobs):
    """Jobs come, a cable is cut, they end: entries of one path index only, over lanes of each job's own, and all given back."""
    sim, sm, file = jobs("", conf="job_index = yes\n", lmc="1")
    sm.wait_status(state="active", jobs=[])
    plain = sim.snapshot().table
    write(file, INDEXED)
    status = wait_jobs(sm, "one", "two", "beside", "others", state="active")
    for name in ("one", "two", "beside"):
        assert job(status, name)["over"] == "own" and job(status, name)["path_index"] == 1 and job(status, name)["job_index"]
        assert job(status, name)["ratio"] == 1
    assert job(status, "others")["path_index"] is None and not job(status, "others")["job_index"]
    judge(sim, sm, ["one", "two", "beside"], ["others"])
    moved = others_than(plain, sim.snapshot().table)
    bases = {port.lid for name, port in sim.snapshot().port.items() if name in TREE.hcas}
    assert moved and {lid - 1 for _, lid in moved} <= bases  # of index 1
    links = disjoint(sim, one=ONE, beside=BESIDE, two=TWO)
    text = fors("status", sm.state_dir, code=None).stdout
    assert re.search(r"one +active.* path index 1", text)
    assert "fors_jobs_indexed{" in (sm.state_dir / "metrics.prom").read_text()

    # a cut under an entry: repaired at once, then entries anew
    cut = min(links["one"])
    sim.unlink(*cut)
    sm.sweep()  # the status has the dead cable before the switches have their tables
    sm.wait_status(dead_links=lambda dead: len(dead or ()) == 1)
    by_index(sim, ONE, 1)  # whatever way: all arrives
    status = sm.wait_status(dead_links=lambda dead: len(dead or ()) == 1, state="active", timeout=30,
                            jobs=lambda jobs: all(job["over"] == "own" for job in jobs if job["job_index"]))
    links = disjoint(sim, one=ONE, beside=BESIDE, two=TWO)
    assert cut not in links["one"]
    judge(sim, sm, ["one", "two", "beside"], ["others"])

    # a job ends: its entries are given back, the others' stay
    before = sim.snapshot().table
    write(file, "".join(line + "\n" for line in INDEXED.splitlines() if not line.startswith("beside")))
    wait_for(lambda: others_than(before, sim.snapshot().table), 30, "entries given back")
    assert disjoint(sim, one=ONE, two=TWO) == {name: links[name] for name in ("one", "two")}

    # the cable is back, and all jobs end: the very tables of before
    sim.relink(*cut)
    sm.sighup()
    sm.wait_status(dead_links=[])
    write(file, "")
    wait_for(lambda: not others_than(plain, sim.snapshot().table), 40, "the tables of before")


HIGH = {"one": "Node0-0-0, Node0-0-1, Node0-1-0, Node1-0-0, Node1-0-1, Node1-1-0",
        "two": "Node1-2-0, Node1-2-1, Node2-0-0, Node2-0-1",
        "pod": "Node2-1-0, Node2-1-1, Node2-2-0, Node2-2-1"}
HIGH_TEXT = "".join(f"{name} [job-index]: {servers}\n" for name, servers in HIGH.items())
HIGH_OTHERS = "others: Node0-1-1, Node1-1-1, Node0-2-0\n"


def assert_owned_on_three(sim, sm, status, index, names=tuple(HIGH)):
    for name in names:
        assert job(status, name)["over"] == "own" and job(status, name)["path_index"] == index
    links = disjoint(sim, index, **{name: HIGH[name] for name in names})
    judge(sim, sm, names, ["others"])
    assert three.judge_tables(sim.snapshot(), sm.node) == []  # without a loop, too
    return links


@pytest.mark.parametrize("lmc, conf, index", [("1", "job_index = yes", 1), ("0", "job_routes = owned", 0)])
def test_index_on_three_levels(jobs, lmc, conf, index):
    """The same in a tree of three levels: jobs come, a rung and a lane are cut under them, they end; all by stock opensm, in the
    switches' tables, which are without a loop at each step."""
    tree = Tree3((2, 3, 3), (3, 3))
    sim, sm, file = jobs("", conf=conf + "\n", lmc=lmc, topology=tree)
    sm.wait_status(state="active", jobs=[])
    plain = sim.snapshot().table
    write(file, HIGH_TEXT + HIGH_OTHERS)
    status = wait_jobs(sm, *HIGH, "others", state="active")
    assert {job(status, name)["ratio"] for name in HIGH} == {1}
    links = assert_owned_on_three(sim, sm, status, index)
    assert {lid - index for _, lid in others_than(plain, sim.snapshot().table)} <= {sim.snapshot().port[name].lid for name in tree.hcas}

    cuts = []
    for switch, nlower in (("Mid", tree.m2), ("Leaf", tree.m1)):  # a rung, then a lane
        cut = min(link for link in links["one"] if link[0].startswith(switch) and link[1] > nlower)
        cuts.append(cut)
        sim.unlink(*cut)
        sm.sweep()
        sm.wait_status(dead_links=lambda links: len(links or ()) == len(cuts))
        for name, servers in HIGH.items():
            by_index(sim, servers, index)  # whatever way: all arrives
        status = sm.wait_status(dead_links=lambda links: len(links or ()) == len(cuts), state="active", timeout=40,
                                jobs=lambda jobs: all(job["over"] == "own" for job in jobs if job["job_index"]))
        links = assert_owned_on_three(sim, sm, status, index)
        assert cut not in links["one"]

    before = sim.snapshot().table
    epochs = {name: job(sm.status(), name)["epoch"] for name in HIGH}
    write(file, "".join(line + "\n" for line in HIGH_TEXT.splitlines() if not line.startswith("two")) + HIGH_OTHERS)
    wait_for(lambda: others_than(before, sim.snapshot().table), 30, "entries given back")
    assert disjoint(sim, index, one=HIGH["one"], pod=HIGH["pod"]) == {name: links[name] for name in ("one", "pod")}
    assert {job(sm.status(), name)["epoch"] for name in ("one", "pod")} == {epochs[name] for name in ("one", "pod")}
    for cut in cuts:
        sim.relink(*cut)
    sm.sighup()
    sm.wait_status(dead_links=[])
    write(file, "")
    wait_for(lambda: not others_than(plain, sim.snapshot().table), 40, "the tables of before")


# Jobs all over a tree of eight leaves; see tests/unit/scattered_jobs.h.
SCATTERED = {
    "j0": "0406 0007 0304 0603 0506 0004 0203 0501 0103 0705 0205 0505 0200 0605 0307 0102",
    "j1": "0507 0700 0107 0500 0105 0706 0204 0407 0300 0607 0305 0003 0405 0101 0703 0606",
    "j2": "0707 0002 0604 0303 0201 0601 0006 0206 0404 0402 0504 0001 0403 0602 0000 0702",
    "j3": "0503 0400 0104 0005 0704 0401 0306 0701 0100 0502 0600 0301 0207 0202 0106 0302"}
SCATTERED = {name: ", ".join(f"Node{place[:2]}-{place[2:]}" for place in places.split()) for name, places in SCATTERED.items()}


def test_haste_is_made_up_for(jobs):
    """A job that starts among scattered ones is slow, and faster when the worker has searched at leisure: the others move for it."""
    text = [f"{name} [job-index]: {servers}\n" for name, servers in SCATTERED.items()]
    sim, sm, file = jobs("".join(text[:3]), conf="job_index = yes\n", topology=FatTree(8, 8), lmc="1")
    status = wait_jobs(sm, "j0", "j1", "j2", state="active")
    assert {job(status, name)["ratio"] for name in ("j0", "j1", "j2")} == {1}
    write(file, "".join(text))
    status = wait_jobs(sm, *SCATTERED, state="active")
    slow = job(status, "j3")["phases"]
    disjoint(sim, **SCATTERED)
    assert slow > 20
    status = sm.wait_status(timeout=60, state="active",
                            jobs=lambda jobs: all(job["state"] == "active" and job["phases"] < slow - 4 for job in jobs))
    assert {job(status, name)["over"] for name in SCATTERED} == {"own"}
    disjoint(sim, **SCATTERED)
    judge(sim, sm, [*SCATTERED])


def test_base_lids_of_jobs(jobs):
    """With one LID for each server, and job_routes = owned, the same to base LIDs."""
    sim, sm, file = jobs("", conf="job_routes = owned\n", lmc="0")
    sm.wait_status(state="active", jobs=[])
    plain = sim.snapshot().table
    write(file, INDEXED)
    status = wait_jobs(sm, "one", "two", "beside", "others", state="active")
    assert {job(status, name)["path_index"] for name in ("one", "two", "beside")} == {0}
    disjoint(sim, 0, one=ONE, beside=BESIDE, two=TWO)
    judge(sim, sm, ["one", "two", "beside"], ["others"])
    write(file, "")
    wait_for(lambda: not others_than(plain, sim.snapshot().table), 40, "the tables of before")


def test_no_path_index(jobs):
    """Where servers have one LID the setting is as no, and the status says so."""
    sim, sm, file = jobs(INDEXED, conf="job_index = yes\n", lmc="0")
    status = wait_jobs(sm, "one", "two", "beside", "others", state="active")
    assert {job["over"] for job in status["jobs"]} == {"free"}
    assert any("job_index = yes needs LMC 1" in remark for remark in status["remarks"])
    judge(sim, sm, [], ["one", "two", "beside", "others"])
