# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Python module forsched: it says what the reader of test_format.py says, which was made from the description of the bytes alone."""
import os
import shutil
import select
import subprocess
import sys
import threading
import time

import pytest

from conftest import BUILD, MPIRUN, start
from test_format import Schedule as Reader

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = BUILD / ".libs" / "libforsched.so.0"

if not LIBRARY.exists():
    pytest.skip("libforsched.so.0 is not built", allow_module_level=True)
if "libasan" in subprocess.run(["ldd", str(LIBRARY)], capture_output=True, text=True).stdout:
    pytest.skip("a library with sanitizers cannot be loaded into Python", allow_module_level=True)
os.environ["FORSCHED_LIBRARY"] = str(LIBRARY)
sys.path.insert(0, os.path.join(TOP, "libforsched", "python"))
import forsched  # noqa: E402

PLANS = {"closed form": ["FT(2;4,5)"], "rounds": ["FT(2;4,5)", "--down", "Leaf01[6]"],
         "exact": ["FT(2;4,4)", "--lmc", "2", "--method", "exact", "--down", "Leaf01[6]"],
         "uneven": ["FT(2;3,4;empty=0/0,1/1,1/2)", "--down", "Spine01"], "one leaf": ["FT(2;1,1;servers=4)"]}


def plan(path, *arguments):
    done = start([BUILD / "fors", "plan", "--output", path, "--synthetic", *arguments])
    assert done.code == 0, done.err
    return path


def stamp(path, epoch, *reason, more=""):
    """Under another name, then renamed, as fors does it."""
    made = path.with_suffix(".new")
    shutil.copy(path, made)
    assert start([BUILD / "tests/cli/stamp_schedule", made, epoch, *reason, *(["--more", more] if more else [])]).code == 0
    made.rename(path)
    return path


VERSION_2 = {"all": (["FT(2;6,5)", "--lmc", "3", "--method", "exact"], "wsn"), "without ways": (["FT(2;4,4)"], "n"),
             "rounds": (["FT(2;6,5;empty=0/0,0/1,2/3)", "--lmc", "1", "--method", "rounds"], "ws"),
             "dense": (["FT(2;3,4;cables=2)", "--lmc", "2", "--method", "rounds"], "sd")}


@pytest.fixture(params=VERSION_2)
def path_2(request, tmp_path):
    arguments, more = VERSION_2[request.param]
    return stamp(plan(tmp_path / "schedule", *arguments), 7, more=more)


@pytest.fixture(params=PLANS)
def path(request, tmp_path):
    return plan(tmp_path / "schedule", *PLANS[request.param])


def test_it_says_what_the_bytes_say(path):
    reader = Reader(path)
    with forsched.open(path) as schedule:
        schedule.check()
        assert (schedule.nservers, schedule.nphases) == (reader.head["nservers"], reader.head["nphases"])
        assert [(s.guid, s.lid, s.leaf, s.rank, s.lmc) for s in schedule.servers] == [
            (guid, lid, leaf, rank, lmc) for guid, lid, leaf, rank, lmc, *_ in reader.server]
        found = {}
        for number in range(schedule.nservers):
            for phase, flow in enumerate(schedule.phases(number)):
                assert flow.phase == phase
                if flow.to is not None:
                    found[phase, number] = flow.to, flow.path, flow.spine
                    assert flow.dlid == schedule.server(flow.to).lid + flow.path
                    assert schedule.flow(flow.to, phase).from_ == number
        assert found == {at: (dst, index, 0 if lane is None else reader.spine[lane]) for at, (dst, index, lane) in reader.flow.items()}


def test_version_2(path_2):
    """Job, fabric's epoch, ways and service levels, as the other reader has them."""
    reader = Reader(path_2)
    head = reader.head
    with forsched.open(path_2) as schedule:
        assert schedule.more == (head["name"].rstrip(b"\0").decode(), head["fabric_epoch"] or 7, 2, head["nswitches"], head["nways"])
        assert (schedule.job, schedule.fabric_epoch) == schedule.more[:2] and schedule.epoch == 7
        for number in range(schedule.nservers):
            sent = {send.phase: send for send in schedule.sends(number)}
            for flow, way in zip(schedule.phases(number), schedule.ways(number)):
                if flow.to is None:
                    assert way == [] and flow.phase not in sent and schedule.sl(number, flow.phase) is None
                    continue
                dst, path, level = reader.flow[flow.phase, number]
                spine, via, sl = reader.more(number, dst, path, level).split(",")
                assert [f"0x{hop.guid:016x}" for hop in way] == via.split()
                assert all(hop.port for hop in way[:-1]) and (not way or way[-1].port == 0)
                sl = int(sl) if sl else None
                assert sent[flow.phase] == (flow.phase, dst, flow.dlid, flow.src_path_bits, sl)
                assert sl == schedule.sl(number, flow.phase) and flow.spine == int(spine or "0", 16)


def test_the_path_index_of_all(tmp_path):
    with forsched.open(plan(tmp_path / "base", "FT(2;4,4)")) as schedule:
        assert schedule.path_index == 0
    with forsched.open(plan(tmp_path / "several", *PLANS["exact"])) as schedule:
        assert schedule.path_index is None
    (tmp_path / "jobs").write_text("a [job-index]: Node00-00, Node01-00, Node02-01\n")
    done = start([BUILD / "fors", "jobs", "--synthetic", "FT(2;4,4)", "--lmc", 1, "--job-index", "--jobs", tmp_path / "jobs",
                  "--output-dir", tmp_path / "out"])
    assert done.code == 0, done.err
    with forsched.open(tmp_path / "out/a") as schedule:
        assert schedule.path_index == 1
    with forsched.open(stamp(plan(tmp_path / "gone", "FT(2;4,4)"), 9, "gone")) as schedule, pytest.raises(forsched.Error) as caught:
        schedule.path_index
    assert caught.value.code == forsched.Code.EWITHDRAWN


def test_the_schedule_of_a_job(tmp_path, monkeypatch):
    for name in ("FORSCHED_JOB", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    mine = tmp_path / "jobs/4711"
    mine.mkdir(parents=True)
    plan(mine / "schedule", "FT(2;4,4)")
    assert forsched.job_path(tmp_path) == str(tmp_path) and forsched.job_path(tmp_path, "4711") == str(mine)
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    assert forsched.job_path(tmp_path) == str(mine) and forsched.job_path(tmp_path, "9") == str(tmp_path)
    with pytest.raises(forsched.Error) as caught:
        forsched.job_path(tmp_path, "../4711")
    assert caught.value.code == forsched.Code.ERANGE


def test_a_long_way(path_2, monkeypatch):
    """More hops than there is room for at first: asked again."""
    calls, hops = [], 20

    class Library:
        forsched_close = forsched._lib.forsched_close

        def forsched_way(self, _schedule, _number, _phase, hop, room, count, _error):
            calls.append(room)
            for i in range(min(room, hops)):
                hop[i].guid = i + 1
            count._obj.value = hops
            return 0

    with forsched.open(path_2) as schedule:
        monkeypatch.setattr(forsched, "_lib", Library())
        assert [hop.guid for hop in schedule.way(0, 0)] == list(range(1, hops + 1)) and calls == [8, hops]


def test_version_1_has_no_more(path):
    with forsched.open(path) as schedule:
        assert schedule.more == ("", schedule.epoch, 1, 0, 0)
        assert list(schedule.ways(0)) == [[]] * schedule.nphases
        for number in range(schedule.nservers):
            assert list(schedule.sends(number)) == [(flow.phase, flow.to, flow.dlid, flow.src_path_bits, None)
                                                    for flow in schedule.phases(number) if flow.to is not None]


def test_a_library_before_1_2(path, monkeypatch):
    """It opens version 1 only, so there is nothing to miss."""
    class Old:
        def __getattr__(self, name):
            if name.replace("forsched_", "") in forsched._SINCE_1_2:
                raise AttributeError(name)
            return getattr(library, name)

    library = forsched._lib
    monkeypatch.setattr(forsched, "_lib", Old())
    test_version_1_has_no_more(path)


def test_servers_are_found(path):
    with forsched.open(path) as schedule:
        for number, server in enumerate(schedule.servers):
            assert schedule.find_guid(server.guid) == schedule.find_lid(server.lid + (1 << server.lmc) - 1) == number
        for wrong in (lambda: schedule.find_guid(0xdead), lambda: schedule.find_lid(0xbfff)):
            with pytest.raises(forsched.Error, match=".") as caught:
                wrong()
            assert caught.value.code == forsched.Code.ENOTFOUND


def test_memory(path):
    with forsched.open(path) as schedule, forsched.open_memory(schedule.copy(), "mine") as copy:
        assert copy.servers == schedule.servers and copy.info.name == "mine"
        assert [list(copy.phases(n)) for n in range(copy.nservers)] == [list(schedule.phases(n)) for n in range(copy.nservers)]
        with pytest.raises(forsched.Error) as caught:
            copy.newest()
        assert caught.value.code == forsched.Code.ERANGE


def test_arrays(path):
    numpy = pytest.importorskip("numpy")
    with forsched.open(path) as schedule:
        arrays = schedule.arrays()
        assert arrays["to"].shape == (schedule.nphases, schedule.nservers)
        for number in range(schedule.nservers):
            for flow in schedule.phases(number):
                assert arrays["to"][flow.phase, number] == (-1 if flow.to is None else flow.to)
                for name in ("dlid", "in_dlid", "spine", "path", "in_path", "src_path_bits"):
                    assert arrays[name][flow.phase, number] == getattr(flow, name)
                assert arrays["from_"][flow.phase, number] == (-1 if flow.from_ is None else flow.from_)
                level = schedule.sl(number, flow.phase)
                assert arrays["sl"][flow.phase, number] == (-1 if level is None else level)
        pairs = {(int(src), int(dst)) for phase in arrays["to"] for src, dst in enumerate(phase) if dst >= 0}
        assert len(pairs) == schedule.nservers * (schedule.nservers - 1) and isinstance(arrays["to"], numpy.ndarray)


def test_arrays_of_version_2(path_2):
    test_arrays(path_2)


def test_newer_epochs(tmp_path):
    path = plan(tmp_path / "schedule", "FT(2;3,3)")
    stamp(path, 100)
    with forsched.open(tmp_path) as schedule:
        assert schedule.epoch == schedule.newest() == 100 and schedule.newer() is None and not schedule.refresh()
        stamp(path, 101)
        assert schedule.newest() == 101 and schedule.epoch == 100
        with schedule.newer() as newer:
            assert newer.epoch == 101 and schedule.epoch == 100
        assert schedule.refresh() and schedule.epoch == 101
        stamp(path, 102, "a reason")
        assert schedule.refresh() and schedule.info.reason == "a reason" and schedule.nphases == 0
        with pytest.raises(forsched.Error) as caught:
            schedule.find_guid(1)
        assert caught.value.code == forsched.Code.EWITHDRAWN


def test_waiting(tmp_path):
    """Until a newer epoch, until the time is over, or with a loop of one's own."""
    path = plan(tmp_path / "schedule", "FT(2;3,3)")
    stamp(path, 100)
    assert forsched.wait_epoch(path) == 100 and forsched.wait_epoch(tmp_path, 99) == 100
    assert forsched.wait_epoch(path, 100, 0.01) is None and forsched.wait_epoch(tmp_path / "none", 0, 0.01) is None
    with forsched.Watch(tmp_path) as watch:
        found = []
        thread = threading.Thread(target=lambda: found.append(watch.wait(100, 300)))
        thread.start()
        stamp(path, 101)
        thread.join()
        assert found == [101] and watch.newest() == 101
        stamp(path, 102)
        assert select.select([watch], [], [], 60)[0] == [watch] and watch.newest() == 102
    with pytest.raises(ValueError):
        watch.newest()


def test_follow(tmp_path):
    path = plan(tmp_path / "schedule", "FT(2;3,3)")
    stamp(path, 100)
    seen, bytes_of = [], path.read_bytes()
    for schedule in forsched.follow(path):
        seen.append(schedule.epoch)
        if len(seen) == 1:
            stamp(path, 101)
        elif len(seen) == 2:
            path.unlink()
        elif len(seen) == 3:
            path.write_bytes(bytes_of[:100])
        elif len(seen) == 4:
            path.write_bytes(bytes_of)
            stamp(path, 102)
        else:
            break
    assert seen == [100, 101, 101, 101, 102]


def test_heartbeat(tmp_path):
    path = plan(tmp_path / "schedule", "FT(2;3,3)")
    with forsched.open(path) as schedule:
        with pytest.raises(forsched.Error) as caught:
            schedule.heartbeat()
        assert caught.value.code == forsched.Code.EFILE
        for age, stale in ((0, False), (600, True), (-600, True)):
            (tmp_path / "heartbeat").write_text(f"{int((time.time() - age) * 1000)} 7\n")
            beat = schedule.heartbeat()
            assert (beat.epoch, beat.is_stale) == (7, stale)


@pytest.mark.parametrize("data", [b"", b"x", b"FORSschd" + bytes(300)])
def test_bad_bytes(data):
    with pytest.raises(forsched.Error, match="mine") as caught:
        forsched.open_memory(data, "mine")
    assert caught.value.code == forsched.Code.EFORMAT


def test_bad_numbers(path):
    with forsched.open(path) as schedule:
        for wrong in (lambda: schedule.server(-1), lambda: schedule.server(1 << 32), lambda: schedule.flow(0, schedule.nphases),
                      lambda: schedule.flow(schedule.nservers, 0), lambda: schedule.find_lid(1 << 16), lambda: schedule.find_guid(-1),
                      lambda: list(schedule.phases(schedule.nservers)), lambda: list(schedule.sends(-1)),
                      lambda: schedule.way(0, 1 << 32)):
            with pytest.raises(forsched.Error) as caught:
                wrong()
            assert caught.value.code == forsched.Code.ERANGE


def test_closed(path):
    schedule = forsched.open(path)
    assert "servers" in repr(schedule)
    schedule.close()
    schedule.close()
    assert "closed" in repr(schedule)
    with pytest.raises(ValueError):
        schedule.flow(0, 0)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(forsched.Error, match="none") as caught:
        forsched.open(tmp_path / "none")
    assert caught.value.code == forsched.Code.EFILE


def test_threads(path):
    """All at once for the first time."""
    with forsched.open(path) as schedule:
        wanted, found = {}, {}
        workers = [threading.Thread(target=lambda n=n: found.update({n: list(schedule.phases(n))})) for n in range(schedule.nservers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        wanted = {n: list(schedule.phases(n)) for n in range(schedule.nservers)}
        assert found == wanted


def test_it_is_typed_and_needs_nothing_else():
    code = "import sys; before = set(sys.modules); import forsched; print(sorted(n for n in set(sys.modules) - before if 'numpy' in n))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": f"{TOP}/libforsched/python"})
    assert done.stdout == "[]\n", done.stderr
    assert os.path.exists(f"{TOP}/libforsched/python/forsched/py.typed")


def test_own_guid(tmp_path, monkeypatch):
    for name in ("FORSCHED_SERVER", "FORSCHED_MAP"):
        monkeypatch.delenv(name, raising=False)
    with forsched.open(plan(tmp_path / "schedule", "FT(2;2,2)")) as schedule:
        known = [server.guid for server in schedule.servers]
        (tmp_path / "map").write_text(f"0 {known[2]:#x} # a comment\n\n{os.uname().nodename} {known[1]:#x}\n")
        monkeypatch.setenv("FORSCHED_MAP", str(tmp_path / "map"))
        assert [schedule.own_guid(0), schedule.own_guid(7), schedule.own_guid()] == [known[2], known[1], known[1]]
        monkeypatch.setenv("FORSCHED_SERVER", f"{known[3]:#x}")
        assert schedule.find_guid(schedule.own_guid(0)) == 3
        monkeypatch.setenv("FORSCHED_SERVER", "3")
        with pytest.raises(forsched.Error, match="FORSCHED_SERVER: not a port GUID"):
            schedule.own_guid(0)
        monkeypatch.setenv("FORSCHED_SERVER", "")
        monkeypatch.setenv("FORSCHED_MAP", str(tmp_path / "nowhere"))
        with pytest.raises(forsched.Error, match="nowhere: FORSCHED_MAP cannot be opened: No such file"):
            schedule.own_guid(0)


def example(path, ranks, names, program="exchange.py"):
    pytest.importorskip("mpi4py")
    if not MPIRUN:
        pytest.skip("there is no mpirun")
    return start([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), sys.executable, f"{TOP}/libforsched/examples/{program}", path],
                 env={"PYTHONPATH": f"{TOP}/libforsched/python", "OMPI_MCA_btl": "self,vader,tcp", "FORSCHED_MAP": str(names)})


@pytest.mark.parametrize("servers", [[3, 2, 1, 0], [1, 0, 0, 2, 3, 2, 0]])
def test_the_example(tmp_path, servers):
    """One rank on each server, or several on some; the map is that of libforsched-mpi."""
    path = plan(tmp_path / "schedule", "FT(2;2,2)", "--down", "Leaf00[3]")
    with forsched.open(path) as schedule:
        (tmp_path / "map").write_text("".join(f"{rank} {schedule.servers[n].guid:#x}\n" for rank, n in enumerate(servers)))
    done = example(path, len(servers), tmp_path / "map")
    assert done.code == 0 and f"{len(servers)} ranks on 4 servers" in done.out and "all right" in done.out, done.out + done.err


def test_the_example_says_what_is_wrong_once(tmp_path):
    path = plan(tmp_path / "schedule", "FT(2;2,2)")
    for bad, names, text in ((tmp_path / "nope", "/dev/null", "nope: No such file"), (path, tmp_path / "no-map", "cannot be opened")):
        done = example(bad, 4, names)
        assert done.code != 0 and done.err.count(text) == 1 and "Traceback" not in done.err, done.err


def test_a_demand(tmp_path):
    demand = tmp_path / "demand"
    demand.write_text("Node00-0[0-3] Node02-00 3000\nNode01-00 Node02-00,Node02-01 1000\n")
    file = plan(tmp_path / "schedule", "FT(2;4,4)", "--demand", demand, "--phase-cost", "0")
    with forsched.open(file) as schedule:
        schedule.check()
        assert schedule.more.version == 3 and schedule.sizes.has_demand and not schedule.sizes.is_unit
        number = {server.desc: n for n, server in enumerate(schedule.servers)}
        assert [schedule.role(number[name]) for name in ("Node00-00", "Node02-00", "Node03-00")] == [(True, False), (False, True), (False, False)]
        sums = {}
        for phase in range(schedule.nphases):
            flow, piece = schedule.flow(number["Node02-00"], phase), schedule.piece(number["Node02-00"], phase)
            assert max(schedule.piece(s, phase).bytes for s in range(schedule.nservers)) == schedule.phase_bytes(phase)
            if flow.from_ is not None:
                assert piece.in_offset == sums.get(flow.from_, 0)
                sums[flow.from_] = piece.in_offset + piece.in_bytes
                assert piece.in_total == schedule.piece(flow.from_, phase).total
        assert sum(sums.values()) == 13000 and schedule.sizes.length == 13000
        assert sum(schedule.phase_bytes(k) for k in range(schedule.nphases)) == schedule.sizes.length
        assert schedule.arrays()["bytes"].sum() == 14000


def test_sizes_without_a_demand(path):
    with forsched.open(path) as schedule:
        assert not schedule.sizes.has_demand and schedule.sizes.length == schedule.nphases
        assert schedule.phase_bytes(0) == 1 and schedule.role(0) == (True, True)


def test_the_event_builder(tmp_path):
    demand = tmp_path / "demand"
    demand.write_text("Node00-0[0-1] Node01-0[0-1] 3000\nNode00-00 Node01-01 1234\n")
    path = plan(tmp_path / "schedule", "FT(2;2,2)", "--down", "Leaf00[3]", "--demand", demand, "--phase-cost", "0")
    with forsched.open(path) as schedule:
        (tmp_path / "map").write_text("".join(f"{rank} {schedule.servers[n].guid:#x}\n" for rank, n in enumerate((3, 1, 0, 2))))
    done = example(path, 4, tmp_path / "map", program="event_builder.py")
    assert done.code == 0 and "13234 bytes from 2 sources to 2 builders" in done.out and "all right" in done.out, done.out + done.err
