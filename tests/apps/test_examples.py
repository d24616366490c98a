# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The examples as somebody would try them, most likely on a machine without an InfiniBand device."""
import csv
import io
import json

import pytest

from conftest import BUILD, guids, start



def rows(schedule, guid):
    """What `fors schedule` says that a server sends, by phase."""
    done = start([BUILD / "fors", "schedule", schedule, "--format", "csv", "--server", guid])
    assert done.code == 0, done.err
    return [row for row in csv.DictReader(io.StringIO(done.out)) if row["src_guid"] == guid]


@pytest.mark.parametrize("lmc,down", [(0, []), (2, ["Leaf00[5]", "Spine03"])])
def test_the_whole_exchange_with_every_byte_checked(plan, rank_map, mpirun, lmc, down):
    schedule = plan("FT(2;4,4)", lmc, 1, *down)
    env = {"FORSCHED_MAP": rank_map(schedule, [5, *range(5), *range(15, 5, -1)])}
    done = mpirun(16, "libforsched/examples/mpi_exchange", schedule, env=env, preload=False)
    assert done.code == 0, done.out + done.err
    assert "16 servers: 240 blocks of 65536 bytes, 0 wrong bytes" in done.out


def test_the_whole_exchange_with_the_wrong_number_of_ranks(plan, rank_map, mpirun):
    schedule = plan("FT(2;4,4)", 0, 1)
    done = mpirun(5, "libforsched/examples/mpi_exchange", schedule, env={"FORSCHED_MAP": rank_map(schedule)}, preload=False)
    assert done.code != 0 and done.err.count("start one rank on each server of the schedule") == 1
    twice = {"FORSCHED_MAP": rank_map(schedule, [3, 3, *range(2, 16)])}
    done = mpirun(16, "libforsched/examples/mpi_exchange", schedule, env=twice, preload=False)
    assert done.code != 0 and "rank 1: start one rank on each server" in done.err


@pytest.mark.parametrize("ranks", [8, 16, 19])
def test_the_exchange_of_several_ranks_on_each_server(plan, rank_map, mpirun, ranks):
    """Also where servers have different numbers of ranks."""
    counts = [len(range(server, ranks, 8)) for server in range(8)]
    schedule = plan("FT(2;4,2)", 0, 1, "Leaf00[5]")
    env = {"FORSCHED_MAP": rank_map(schedule, [rank * 3 % 8 for rank in range(ranks)])}
    done = mpirun(ranks, "libforsched/examples/several", schedule, env=env, preload=False)
    assert done.code == 0, done.out + done.err
    assert f"{ranks} ranks on 8 servers: {ranks * ranks - sum(k * k for k in counts)} messages, 0 wrong phases" in done.out


def test_several_with_a_server_without_a_rank(plan, rank_map, mpirun):
    schedule = plan("FT(2;4,2)", 0, 1)
    done = mpirun(8, "libforsched/examples/several", schedule, env={"FORSCHED_MAP": rank_map(schedule, [0, *range(7)])}, preload=False)
    assert done.code != 0 and done.err.count("start at least one rank on each server") == 1


@pytest.mark.parametrize("name", ["mpi_exchange", "several"])
def test_what_is_wrong_is_said_once(plan, rank_map, mpirun, tmp_path, name):
    """A schedule or a map that is not there, or names nobody of the schedule: the first rank says so, the others end quietly."""
    schedule = plan("FT(2;4,2)", 0, 1)
    wrong = tmp_path / "wrong"
    wrong.write_text("".join(f"{rank} 0xbad{rank}\n" for rank in range(4)))
    for path, names, text in ((tmp_path / "nothing", rank_map(schedule), "nothing: No such file"),
                              (schedule, tmp_path / "no-map", "no-map: FORSCHED_MAP cannot be opened"),
                              (schedule, wrong, "no server has the port GUID 0x000000000000bad0")):
        done = mpirun(4, f"libforsched/examples/{name}", path, env={"FORSCHED_MAP": names}, preload=False)
        said = [line for line in done.err.splitlines() if line.startswith("rank ")]
        assert done.code != 0 and len(said) == 1 and said[0].startswith("rank 0: ") and text in said[0], done.err


@pytest.mark.parametrize("preload", [False, True])
def test_the_transpose(plan, rank_map, mpirun, preload):
    """Rows and columns of a grid of ranks, two on each of eight servers."""
    schedule = plan("FT(2;4,2)", 0, 1, "Leaf00[5]")
    env = {"FORSCHED_SCHEDULE": schedule, "FORSCHED_MAP": rank_map(schedule, [rank // 2 for rank in range(16)]), "FORSCHED_VERBOSE": 2}
    done = mpirun(16, "libforsched/examples/transpose", 16, 2, env=env, preload=preload)
    assert done.code == 0 and "\n0 wrong numbers" in done.out, done.out + done.err
    assert not preload or "4 calls along the schedule, 0 left to MPI" in done.err, done.err


def test_the_transpose_of_a_cube_that_does_not_fit(mpirun):
    done = mpirun(4, "libforsched/examples/transpose", 3, preload=False)
    assert done.code != 0 and "N has to be a multiple of 2" in done.err


def table(text, columns):
    """The rows of numbers below a line that begins with "phase"."""
    lines = text.splitlines()
    start_at = next(i for i, line in enumerate(lines) if line.startswith("phase"))
    return [line.split()[:columns] for line in lines[start_at + 1:]]


def test_verbs(run, plan):
    schedule = plan("FT(2;4,4)", 2, 1, "Leaf00[5]", method="exact")
    guid = guids(schedule)[6]
    done = run("libforsched/examples/verbs", schedule, guid)
    assert done.code == 0, done.err
    assert "No InfiniBand port" in done.out
    own = int(rows(schedule, guid)[0]["src_lid"]) & ~3
    wanted = [[row["phase"], row["dst_lid"], str(int(row["src_lid"]) - own)] for row in rows(schedule, guid)]
    assert [[phase, lid, bits] for phase, _, lid, bits in table(done.out, 4)] == wanted and len(wanted) == 15


def test_service_levels(run, plan):
    """Of version 2, what the schedule says of them arrives in the address vector and in the path record."""
    schedule = plan("FT(2;4,4)", 2, 1, method="exact", more="wm")
    guid, peer = guids(schedule)[6], guids(schedule)[9]
    wanted = rows(schedule, guid)
    done = run("libforsched/examples/verbs", schedule, guid)
    assert [line[4] for line in table(done.out, 5)] == [row["sl"] for row in wanted] and done.code == 0
    assert len({row["sl"] for row in wanted}) > 4
    done = run("libforsched/examples/rdma_cm", schedule, guid, peer, "127.0.0.1")
    if "No RDMA connection manager" in done.out:
        assert done.out.splitlines()[2] == "sl " + next(row["sl"] for row in wanted if row["dst_guid"] == peer)


def test_rdma_cm(run, plan):
    schedule = plan("FT(2;4,4)", 2, 1, "Leaf00[5]", method="exact")
    me, peer = guids(schedule)[2], guids(schedule)[9]
    done = run("libforsched/examples/rdma_cm", schedule, me, peer, "127.0.0.1")
    row = next(row for row in rows(schedule, me) if row["dst_guid"] == peer)
    if "No RDMA connection manager" in done.out:
        assert done.code == 0 and done.out.splitlines()[:2] == [f"slid {row['src_lid']}", f"dlid {row['dst_lid']}"]
    else:
        assert done.code == 1, done.out + done.err


def test_uct(run, plan):
    schedule = plan("FT(2;4,4)", 2, 1, "Leaf00[5]", method="exact")
    guid = guids(schedule)[6]
    done = run("libforsched/examples/uct", schedule, guid)
    assert done.code == 0, done.err
    assert "No transport rc_verbs on this host" in done.out
    sends = [line for line in table(done.out, 4) if line[1] != "nobody"]
    bases = {other: int(rows(schedule, other)[0]["src_lid"]) & ~3 for other in guids(schedule)}
    wanted = [[row["phase"], str(int(row["dst_lid"]) - bases[row["dst_guid"]]), "-"] for row in rows(schedule, guid)]
    assert [[phase, index, endpoint] for phase, _, index, endpoint in sends] == wanted
    assert len(sends) == 15


def test_uct_makes_endpoints_where_a_transport_is(run, plan):
    """Every machine has UCX's loopback, with one path: endpoints of path index 0 are made, and only they."""
    done = run("libforsched/examples/uct", plan("FT(2;4,4)", 0, 1), guids(plan("FT(2;4,4)", 0, 1))[0], "self")
    assert done.code == 0, done.err
    if "No transport self" not in done.out:
        assert "self with 1 paths" in done.out
        assert all(line[3] == "made" for line in table(done.out, 4) if line[1] != "nobody")


@pytest.mark.parametrize("name,args", [
    ("verbs", []), ("verbs", ["FILE"]), ("verbs", ["GOOD", "0x1"]),
    ("uct", []), ("uct", ["FILE"]), ("uct", ["GOOD", "0x1"]),
    ("rdma_cm", ["FILE"]), ("rdma_cm", ["FILE", "0x1", "0x2", "localhost"]),
    ("rdma_cm", ["GOOD", "0x1", "0x2", "localhost"])])
def test_bad_arguments(run, plan, tmp_path, name, args):
    (tmp_path / "bad").write_text("no schedule")
    known = {"FILE": tmp_path / "bad", "GOOD": plan("FT(2;4,4)", 0, 1)}
    done = run(f"libforsched/examples/{name}", *(known.get(arg, arg) for arg in args))
    assert done.code == 2 and done.err


@pytest.fixture
def events(tmp_path):
    """The schedule of a demand: from the servers of three leaves to those of the fourth."""
    path, demand = tmp_path / "schedule", tmp_path / "demand"
    demand.write_text("".join(f"Node{leaf:02d}-0{slot} Node03-0{to} {5000 + 777 * leaf + 333 * slot + to}\n"
                              for leaf in range(3) for slot in range(4) for to in range(4)))
    made = start([BUILD / "fors", "plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf03[6]", "--demand", demand, "--phase-cost", "0",
                  "--output", path])
    assert made.code == 0, made.err
    return path


@pytest.mark.parametrize("more", [[], ["own"]], ids=str)
def test_an_event_builder(events, rank_map, mpirun, more):
    env = {"FORSCHED_MAP": rank_map(events, [5, *range(5), *range(15, 5, -1)])}
    done = mpirun(16, "libforsched/examples/event_builder", events, 2, *more, env=env, preload=False)
    assert done.code == 0, done.out + done.err
    data = json.loads(done.out.splitlines()[-1])
    assert data["wrong"] == 0 and len(data["schedule"]) == len(data["shift"]) == 2 and data["phases"] >= 12


def test_an_event_builder_with_too_few_ranks(events, rank_map, mpirun):
    done = mpirun(5, "libforsched/examples/event_builder", events, env={"FORSCHED_MAP": rank_map(events)}, preload=False)
    assert done.code != 0 and done.err.count("start one rank on each server of the schedule") == 1
