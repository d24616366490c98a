# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors schedule: every ordered pair once, LIDs of both directions fit, formats agree."""
import csv
import io
import json

import pytest

HEADER = "phase,src_guid,dst_guid,src_lid,dst_lid,spine_guid"
CASES = [
    ["--synthetic", "FT(2;4,4)"],
    ["--synthetic", "FT(2;4,4)", "--lmc", "2", "--down", "Leaf01[6]"],
    ["--synthetic", "FT(2;3,4;empty=1/2,2/0)", "--lmc", "2", "--down", "Spine01"],
    ["--synthetic", "FT(2;4,1)"],
]


@pytest.fixture(params=CASES, ids=lambda c: " ".join(c[1:]))
def schedule(request, fors, tmp_path):
    fors("plan", *request.param, "--output", tmp_path / "schedule")
    return tmp_path / "schedule"


def rows_of(text):
    assert text.splitlines()[0] == HEADER
    return list(csv.DictReader(io.StringIO(text)))


def test_csv(fors, schedule):
    rows = rows_of(fors("schedule", schedule, "--format", "csv").out)
    doc = json.loads(fors("schedule", schedule, "--format", "json").out)
    servers = {s["guid"]: s for s in doc["servers"]}
    pairs = {(r["src_guid"], r["dst_guid"]): r for r in rows}
    assert len(pairs) == len(rows) == len(servers) * (len(servers) - 1)
    assert rows == sorted(rows, key=lambda r: (int(r["phase"]), int(r["src_guid"], 16)))
    assert len({(r["phase"], r["src_guid"]) for r in rows}) == len(rows)
    assert len({(r["phase"], r["dst_guid"]) for r in rows}) == len(rows)
    assert {int(r["phase"]) for r in rows} <= set(range(doc["phases"]))
    for (src, dst), row in pairs.items():
        assert src in servers and dst in servers and len(src) == 18
        lid, lmc = servers[dst]["lid"], servers[dst]["lmc"]
        assert lid <= int(row["dst_lid"]) < lid + (1 << lmc)
        assert row["src_lid"] == pairs[dst, src]["dst_lid"]
        assert (row["spine_guid"] == "") == (servers[src]["leaf"] == servers[dst]["leaf"])


def test_json_says_the_same(fors, schedule):
    rows = rows_of(fors("schedule", schedule, "--format", "csv").out)
    flows = json.loads(fors("schedule", schedule, "--format", "json").out)["flows"]
    assert [{k: "" if v is None else str(v) for k, v in f.items()} for f in flows] == rows


def test_one_server(fors, schedule):
    rows = rows_of(fors("schedule", schedule, "--format", "csv").out)
    server = rows[0]["dst_guid"]
    mine = rows_of(fors("schedule", schedule, "--format", "csv", "--server", server).out)
    assert mine == [r for r in rows if r["src_guid"] == server]
    text = fors("schedule", schedule, "--server", server.upper().replace("0X", "0x")).out
    assert text.count("receives from Node") == len(mine) == text.count(" -> Node")


@pytest.fixture(params=["w", "wsn", "mn", "wmd"])
def more(request, schedule, stamp):
    """The same plan as a file of version 2, and what was added (see stamp_schedule.c)."""
    before = schedule.read_bytes()
    stamp(schedule, 5, "--more", request.param)
    assert before[12] == 1 and schedule.read_bytes()[12] == 2
    return request.param


def test_version_2(fors, schedule, stamp, more):
    text = fors("schedule", schedule, "--format", "csv").out
    assert text.splitlines()[0] == HEADER + ",via,sl"
    rows = list(csv.DictReader(io.StringIO(text)))
    doc = json.loads(fors("schedule", schedule, "--format", "json").out)
    assert (doc["name"], doc["fabric_epoch"]) == (("4711", 3) if "n" in more else (None, 5))
    servers = {s["guid"]: s for s in doc["servers"]}
    for row, flow in zip(rows, doc["flows"], strict=True):
        src, dst = servers[row["src_guid"]], servers[row["dst_guid"]]
        ends = [f"0x{0x1eaf0000 + server['leaf']:016x}" for server in (src, dst)]
        via = row["via"].split()
        if "w" in more:
            assert via == ends[:1] if src["leaf"] == dst["leaf"] else via == [ends[0], row["spine_guid"], ends[1]]
        else:
            assert row["via"] == row["spine_guid"] == ""
        assert (row["sl"] != "") == ("s" in more or "m" in more)
        assert (flow["via"] or [], flow["sl"]) == (via, int(row["sl"]) if row["sl"] else None)
    number = list(servers)
    if "s" in more:
        assert all(int(r["sl"]) == (servers[r["src_guid"]]["leaf"] + number.index(r["dst_guid"])) % 16 for r in rows)
    text = fors("schedule", schedule).out
    assert ("# job 4711, over the tables of epoch 3" in text) == ("n" in more)
    assert (" via 0x" in text, " SL " in text) == ("w" in more, True)


def test_text(fors, schedule):
    out = fors("schedule", schedule).out
    assert out == fors("schedule", schedule, "--format", "text").out
    assert out.splitlines()[0].startswith("# ") and " phases, method " in out
    assert out == fors("schedule", "-", stdin=schedule.read_bytes()).out


def test_unknown_server(fors, schedule):
    result = fors("schedule", schedule, "--server", "0xdeadbeef", code=2)
    assert "0x00000000deadbeef" in result.err and result.out == ""


def test_withdrawn(fors, tmp_path, stamp):
    path = tmp_path / "schedule"
    stamp(path, 17, "a leaf is cut off")
    for args in ([], ["--server", "0x1"]):
        result = fors("schedule", path, "--format", "csv", *args, code=1)
        assert result.out == HEADER + "\n" and "epoch 17" in result.err and "a leaf is cut off" in result.err
    doc = json.loads(fors("schedule", path, "--format", "json", code=1).out)
    assert doc["phases"] == 0 and doc["flows"] == [] and doc["reason"] == "a leaf is cut off" and doc["epoch"] == 17


def test_bad_files(fors, schedule, tmp_path, write):
    good = schedule.read_bytes()
    flipped = bytes([*good[:len(good) // 2], good[len(good) // 2] ^ 1, *good[len(good) // 2 + 1:]])
    for content in [b"", b"hello", b"\0" * 1000, good[:-1], good[:20], flipped, good + b"x"]:
        path = write("bad", content)
        assert str(path) in fors("schedule", path, code=2).err
    assert "absent" in fors("schedule", tmp_path / "absent", code=2).err
    assert str(tmp_path) in fors("schedule", tmp_path, code=2).err


def test_the_path_index_of_all(fors, tmp_path, stamp, write):
    """One number for programs; no number where flows differ."""
    schedule = tmp_path / "base"
    fors("plan", "--synthetic", "FT(2;4,4)", "--output", schedule)
    assert fors("schedule", schedule, "--path-index").out == "0\n"
    fors("jobs", "--synthetic", "FT(2;4,4)", "--lmc", "1", "--job-index", "--output-dir", tmp_path,
         "--jobs", write("jobs", "j [job-index]: Node00-00, Node01-00, Node02-00\n"))
    assert fors("schedule", tmp_path / "j" / "schedule", "--path-index").out == "1\n"
    assert fors("schedule", tmp_path / "j", "--path-index").out == "1\n"
    fors("plan", "--synthetic", "FT(2;4,4)", "--lmc", "2", "--method", "exact", "--down", "Leaf00[5]", "--output", tmp_path / "several")
    result = fors("schedule", tmp_path / "several", "--path-index", code=1)
    assert result.out == "" and "several path indices" in result.err
    stamp(tmp_path / "gone", 17, "gone")
    assert "withdrawn" in fors("schedule", tmp_path / "gone", "--path-index", code=1).err
    assert "absent" in fors("schedule", tmp_path / "absent", "--path-index", code=2).err
    assert "not a schedule" in fors("schedule", write("bad", b"x" * 500), "--path-index", code=2).err
    for more in (["--format", "csv"], ["--server", "0x1"]):
        assert "prints one number" in fors("schedule", schedule, "--path-index", *more, code=2).err
    assert "prints one number" in fors("schedule", "-", "--path-index", code=2, stdin=b"").err
