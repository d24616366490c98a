# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A demand beside the exchange of all (demand_file), under the stock opensm: judged over the tables in the simulated switches.

The judge walks each piece of the published schedule through the hardware's own tables, and adds up the bytes of each pair.
"""
import collections
import csv
import json
import shutil

import pytest

from harness import FatTree, fors, wait_for
from watching import STOCK, Watcher

TREE = FatTree(4, 4)
SENDERS, RECEIVERS = [f"Node{a:02d}-0{s}" for a in range(3) for s in range(4)], [f"Node03-0{s}" for s in range(4)]
WANTED = {(source, to): 1000 * (1 + i) for i, source in enumerate(SENDERS) for to in RECEIVERS}
EVENTS = "".join(f"{source} {to} {size}\n" for (source, to), size in WANTED.items())


def write(path, text):
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)


@pytest.fixture
def demand(fabric, tmp_path):
    """demand(text, conf) -> (Ibsim, OpenSM, the file)"""
    def start(text, conf="", **options):
        file = tmp_path / "events.demand"
        if text is not None:
            write(file, text)
        sim, sm = fabric(TREE, fors_conf=f"demand_file = {file}\n{conf}", **options)
        return sim, sm, file
    return start


def schedule_of(folder):
    return folder / "demand" / "events" / "schedule"


def info(path):
    done = fors("schedule", path, "--format", "json", code=None)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def judge(sim, path, wanted):
    """Each piece arrives and meets none of its phase on a cable; the pieces of each pair are what was asked for."""
    snapshot = sim.snapshot()
    by_guid = {port.guid: name for name, port in snapshot.port.items() if name not in snapshot.switches}
    lengths, phases, sums, most = info(path)["lengths"], {}, collections.Counter(), collections.Counter()
    text = fors("schedule", path, "--format", "csv").stdout
    for row in csv.DictReader(text.splitlines()):
        source, to = by_guid[int(row["src_guid"], 16)], by_guid[int(row["dst_guid"], 16)]
        end, hops = snapshot.walk(source, int(row["dst_lid"]))
        assert end == to
        here = phases.setdefault(row["phase"], set())
        assert not here & set(hops), f"two pieces meet in phase {row['phase']}"
        here |= set(hops)
        sums[source, to] += int(row["bytes"])
        most[int(row["phase"])] = max(most[int(row["phase"])], int(row["bytes"]))
    assert dict(sums) == wanted and [most[k] for k in range(len(lengths))] == lengths


def wait_planned(sm, after=0, **wanted):
    return sm.wait_status(demand="events", demand_reason=None, demand_epoch=lambda epoch: (epoch or 0) > after, state="active", **wanted)


def test_a_cut_and_a_bad_file(demand):
    sim, sm, file = demand(EVENTS)
    status = wait_planned(sm)
    judge(sim, schedule_of(sm.state_dir), WANTED)
    shown = info(schedule_of(sm.state_dir))
    assert shown["name"] == "events" and shown["epoch"] == status["demand_epoch"] and shown["fabric_epoch"] == status["epoch"]
    assert status["demand_phases"] == shown["phases"] <= 14 and 1 <= status["demand_over_bound"] < 1.5  # small messages: phases cost more
    text = fors("status", sm.state_dir, code=None).stdout
    assert f"demand      events: {shown['phases']} phases" in text

    # a cut: another schedule, right over what the switches hold then
    before = status
    sim.unlink(*TREE.uplink(3, 1)[:2])
    sm.sighup()
    status = wait_planned(sm, before["demand_epoch"], dead_links=lambda links: len(links or ()) == 1)
    judge(sim, schedule_of(sm.state_dir), WANTED)
    assert status["epoch"] > before["epoch"]

    # a bad file: a sentence, and nothing else
    before = status
    write(file, EVENTS + "Node00-00 Node03-00 many\n")
    status = sm.wait_status(remarks=lambda remarks: any("events.demand:49:" in text and "stays" in text for text in remarks or ()))
    assert (status["state"], status["epoch"], status["demand_epoch"]) == ("active", before["epoch"], before["demand_epoch"])
    assert "F026" in sm.log()

    # it goes on with the demand of before when cables change
    sim.relink(*TREE.uplink(3, 1)[:2])
    sm.sighup()
    status = wait_planned(sm, before["demand_epoch"], dead_links=lambda links: not links)
    judge(sim, schedule_of(sm.state_dir), WANTED)

    # and a good one takes its place; the fabric's schedule is not touched
    before, other = status, {("Node00-00", "Node03-00"): 5000}
    write(file, "Node00-00 Node03-00 5000\n")
    status = wait_planned(sm, before["demand_epoch"], remarks=lambda remarks: not remarks)
    judge(sim, schedule_of(sm.state_dir), other)
    assert status["epoch"] == before["epoch"]


def test_it_begins_without_a_file(demand):
    sim, sm, file = demand(None)
    status = sm.wait_status(state="active", demand="events", demand_reason=lambda text: text and "events.demand" in text)
    assert status["phases"] and status["demand_epoch"] is None
    write(file, EVENTS)
    wait_planned(sm)
    judge(sim, schedule_of(sm.state_dir), WANTED)


def test_copies(demand, tmp_path):
    (tmp_path / "net").mkdir()
    sim, sm, file = demand(EVENTS, conf=f"publish_dir = {tmp_path / 'net'}\n")
    wait_planned(sm)
    own, copy = schedule_of(sm.state_dir), schedule_of(tmp_path / "net")
    wait_for(lambda: copy.exists() and copy.read_bytes() == own.read_bytes(), what="the copy")


def test_too_large_for_plan_memory(fabric, tmp_path):
    """The reason says so, the fabric has its schedule; with more memory there is one for the demand."""
    names = [f"Node{leaf:02d}-{port:02d}" for leaf in range(6) for port in range(8)]
    write(tmp_path / "events.demand", "".join(f"{s} {d} {1000 + 37 * i * k % 5000}\n"
                                              for i, s in enumerate(names) for k, d in enumerate(names) if s != d))
    conf = f"demand_file = {tmp_path / 'events.demand'}\n"
    _, sm = fabric(FatTree(8, 6), fors_conf=conf + "plan_memory = 1\n")
    status = sm.wait_status(state="active", demand="events", demand_reason=lambda text: text and "MiB of memory" in text)
    assert status["phases"] and status["demand_epoch"] is None
    sm.fors_conf.write_text(conf)
    sm.sighup()
    wait_planned(sm)


def test_not_beside_jobs(demand, tmp_path):
    sim, sm, file = demand(EVENTS, conf=f"jobs_file = {tmp_path / 'jobs'}\n")
    sm.wait_log("jobs_file and demand_file exclude each other")


def test_beside_another_engine(fabric, tmp_path):
    """fors watch: over minhop's tables; withdrawn and planned anew when they change."""
    write(tmp_path / "events.demand", EVENTS)
    sim, sm = fabric(TREE, **STOCK)
    sm.wait_up()
    service = Watcher(sim, tmp_path / "watch", settings=f"static_sl = 0\ndemand_file = {tmp_path / 'events.demand'}\n")
    fabric.also(service)
    status = service.wait(demand="events", demand_reason=None, demand_epoch=lambda epoch: epoch)
    judge(sim, schedule_of(service.folder()), WANTED)
    mark = sm.log_end()
    sim.unlink(*TREE.uplink(3, 1)[:2])
    sm.wait_up(mark)
    service.wait(demand_reason=None, demand_epoch=lambda epoch: (epoch or 0) > status["demand_epoch"])
    judge(sim, schedule_of(service.folder()), WANTED)


def test_another_opensm_and_no_demand(demand):
    """What an earlier opensm left is replaced under a later epoch; without the key it is withdrawn, and the fabric's stays."""
    sim, sm, file = demand(EVENTS)
    first = wait_planned(sm)
    sm.stop()
    assert info(schedule_of(sm.state_dir))["phases"] == first["demand_phases"]  # the switches hold its tables still
    with type(sm)(sim, sm.directory, fors_conf=f"demand_file = {file}\n") as again:
        status = wait_planned(again, first["demand_epoch"], epoch=lambda epoch: epoch >= first["epoch"])
        judge(sim, schedule_of(again.state_dir), WANTED)
        again.fors_conf.write_text("# nothing\n")
        again.sighup()
        after = again.wait_status(demand=None, state="active")
        shown = info(schedule_of(again.state_dir))
        assert shown["phases"] == 0 and shown["epoch"] > status["demand_epoch"] and "not set" in shown["reason"]
        assert after["epoch"] == status["epoch"] and after["demand_epoch"] is None


def test_what_others_left(demand, tmp_path):
    """A demand of before whose name fors.conf has no more is withdrawn, and its copy; the demand of now stays."""
    net = tmp_path / "net"
    net.mkdir()
    sim, sm, file = demand(EVENTS, conf=f"publish_dir = {net}\n")
    first = wait_planned(sm)
    own = schedule_of(sm.state_dir)
    wait_for(lambda: schedule_of(net).exists(), what="the copy")
    sm.stop()
    renamed = file.with_name("rows.demand")
    renamed.write_text(EVENTS)
    with type(sm)(sim, sm.directory, fors_conf=f"demand_file = {renamed}\npublish_dir = {net}\n") as again:
        again.wait_status(demand="rows", demand_reason=None, demand_epoch=lambda epoch: epoch)
        for path in (own, schedule_of(net)):
            wait_for(lambda: info(path)["phases"] == 0, what=f"{path} to be withdrawn")
            assert info(path)["epoch"] > first["demand_epoch"] and "demand_file" in info(path)["reason"]
        judge(sim, again.state_dir / "demand" / "rows" / "schedule", WANTED)
        copy = net / "demand" / "rows" / "schedule"             # it follows the one in the state folder
        wait_for(lambda: copy.exists() and info(copy)["phases"], what="the copy")


def test_a_switch_of_the_builders_dies(demand):
    """A fabric that is not routed any more has no schedule of a demand either; with the cables it comes back."""
    sim, sm, file = demand(EVENTS)
    first = wait_planned(sm)
    for lane in range(4):
        sim.unlink(*TREE.uplink(3, lane)[:2])
    sm.sighup()
    sm.wait_status(demand_reason=lambda text: text, demand_epoch=None)
    assert info(schedule_of(sm.state_dir))["phases"] == 0
    for lane in range(4):
        sim.relink(*TREE.uplink(3, lane)[:2])
    sm.sighup()
    wait_planned(sm, first["demand_epoch"], dead_links=lambda links: not links)  # a sweep may see some of the four only
    judge(sim, schedule_of(sm.state_dir), WANTED)


def test_what_another_manager_left(fabric, tmp_path):
    """A good schedule of a demand in publish_dir that nobody keeps: the heartbeat would vouch for it."""
    (tmp_path / "net").mkdir()
    file, copy = tmp_path / "events.demand", schedule_of(tmp_path / "net")
    write(file, EVENTS)
    conf = f"publish_dir = {tmp_path / 'net'}\n"
    sim, sm = fabric(TREE, fors_conf=f"demand_file = {file}\n{conf}")
    first = wait_planned(sm)
    wait_for(lambda: copy.exists() and info(copy)["phases"], what="the copy")
    sm.stop()
    shutil.rmtree(sm.state_dir / "demand")  # as if it had been another one's
    with type(sm)(sim, sm.directory, fors_conf=conf) as again:
        again.wait_status(state="active", demand=None)
        wait_for(lambda: info(copy)["phases"] == 0, what="the withdrawal")
        assert info(copy)["epoch"] > first["demand_epoch"]


# --- demands of jobs ---

ONE, TWO = [f"Node{a:02d}-0{s}" for a in range(3) for s in range(2)], [f"Node{a:02d}-0{s}" for a in range(4) for s in (2, 3)]
TO_ONE = {(source, "Node02-01"): 3000 + 500 * i for i, source in enumerate(ONE[:4])}
IN_TWO = {(source, to): 2000 for source in TWO[:2] for to in TWO[4:]}


def lines(wanted):
    return "".join(f"{source} {to} {size}\n" for (source, to), size in wanted.items())


def of_jobs(fabric, tmp_path, **options):
    """Two jobs, of which the first owns its lanes, with a demand each; the jobs file, and the folder of demands."""
    jobs, folder, net = tmp_path / "jobs", tmp_path / "demands", tmp_path / "net"
    folder.mkdir()
    net.mkdir()
    write(folder / "events.demand", lines(TO_ONE))
    write(folder / "rows.demand", lines(IN_TWO))
    write(jobs, f"one [exclusive, demand=events]: {', '.join(ONE)}\ntwo [demand=rows]: {', '.join(TWO)}\n")
    conf = f"jobs_file = {jobs}\ndemand_dir = {folder}\npublish_dir = {net}\n"
    sim, sm = fabric(TREE, fors_conf=conf, lmc="2", **options)
    return sim, sm, jobs, folder


def of_job(folder, name):
    return folder / "jobs" / name / "demand" / name / "schedule"


def told(status, name):
    return next((job for job in status.get("jobs") or () if job["name"] == name), {})


def wait_job(sm, name, after=0, **wanted):
    """The job has a schedule of its demand with an epoch above `after`, and this is told of it; what is told."""
    def is_there(jobs):
        job = told({"jobs": jobs}, name)
        good = all(want(job.get(key)) if callable(want) else job.get(key) == want for key, want in wanted.items())
        return good and (job.get("demand_epoch") or 0) > after
    return told(sm.wait_status(jobs=is_there), name)


def cables(sim, path):
    """The directed cables between switches that flows of a schedule go over."""
    snapshot, used = sim.snapshot(), set()
    by_guid = {port.guid: name for name, port in snapshot.port.items() if name not in snapshot.switches}
    text = fors("schedule", path, "--format", "csv").stdout
    for row in csv.DictReader(text.splitlines()):
        hops = snapshot.walk(by_guid[int(row["src_guid"], 16)], int(row["dst_lid"]))[1]
        used |= {hop for hop in hops[1:] if snapshot.cable[hop][0] in snapshot.switches}
    return used


def test_jobs_have_demands(fabric, tmp_path):
    sim, sm, jobs, folder = of_jobs(fabric, tmp_path)
    one, two = wait_job(sm, "one"), wait_job(sm, "two")
    own, copy = of_job(sm.state_dir, "one"), of_job(tmp_path / "net", "one")
    judge(sim, own, TO_ONE)
    judge(sim, of_job(sm.state_dir, "two"), IN_TWO)
    assert info(own)["phases"] == one["demand_phases"] and info(own)["epoch"] == one["demand_epoch"]
    assert cables(sim, own) <= cables(sim, sm.state_dir / "jobs" / "one" / "schedule")
    assert not cables(sim, own) & cables(sim, of_job(sm.state_dir, "two"))
    wait_for(lambda: copy.exists() and copy.read_bytes() == own.read_bytes(), what="the copy")
    text = fors("status", sm.state_dir, code=None).stdout
    assert f"demand events: {one['demand_phases']} phases" in text

    # a cut: other schedules of jobs and demands, right over what the switches hold then
    sim.unlink(*TREE.uplink(1, 1)[:2])
    sm.sighup()
    sm.wait_status(dead_links=lambda links: len(links or ()) == 1)
    one, two = wait_job(sm, "one", one["demand_epoch"]), wait_job(sm, "two", two["demand_epoch"])
    judge(sim, own, TO_ONE)
    judge(sim, of_job(sm.state_dir, "two"), IN_TWO)

    # a mistake, hosts of the other job, a file that is gone: the first job's demand alone is concerned
    write(folder / "events.demand", lines(TO_ONE) + "Node00-00 Node02-01 many\n")
    before, one = one, wait_job(sm, "one", demand_reason=lambda text: text and "events.demand:5:" in text)
    assert one["demand_epoch"] == before["demand_epoch"]
    write(folder / "events.demand", lines(TO_ONE) + "Node03-02 Node02-01 4000\n")
    one = wait_job(sm, "one", demand_reason=lambda text: text and "Node03-02" in text)  # the same schedule
    assert one["demand_epoch"] == before["demand_epoch"]
    judge(sim, own, TO_ONE)
    (folder / "events.demand").unlink()
    sm.wait_status(jobs=lambda jobs: told({"jobs": jobs}, "one").get("demand_epoch") is None)
    assert info(own)["phases"] == 0 and told(sm.status(), "one")["state"] == "active"
    assert told(sm.status(), "two")["demand_epoch"] == two["demand_epoch"]

    # the other job ends
    write(jobs, f"one [exclusive]: {', '.join(ONE)}\n")
    wait_for(lambda: info(of_job(sm.state_dir, "two"))["phases"] == 0, what="the end of the demand")


def test_a_demand_of_a_job_before(fabric, tmp_path):
    """What an earlier opensm left of a job that names its demand no more is withdrawn, and its copy."""
    sim, sm, jobs, folder = of_jobs(fabric, tmp_path)
    before = wait_job(sm, "one"), wait_job(sm, "two")
    copy = of_job(tmp_path / "net", "one")
    wait_for(copy.exists, what="the copy")
    sm.stop()
    write(jobs, f"one [exclusive]: {', '.join(ONE)}\ntwo [demand=rows]: {', '.join(TWO)}\n")
    with type(sm)(sim, sm.directory, fors_conf=sm.fors_conf.read_text(), lmc="2") as again:
        wait_job(again, "two", before[1]["demand_epoch"])
        for path in (of_job(again.state_dir, "one"), copy):
            wait_for(lambda: info(path)["phases"] == 0, what=f"{path} to be withdrawn")
        judge(sim, of_job(again.state_dir, "two"), IN_TWO)
