# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The written description of the file (core/schedule/schedule_format.h) is enough for a reader: this one was made from it alone, in
another language, and says the same as `fors schedule`."""
import struct
import zlib

import pytest

from conftest import BUILD, start

HEADER = "<8s2I3Q10I4Q2I16s128s2I"
FIELDS = ("magic byte_order version epoch file_size fingerprint layout nservers nphases nleaves nlanes parts round_length nrows "
          "cell_size npaths servers_offset lanes_offset row_crc_offset cells_offset servers_crc lanes_crc method reason "
          "reserved header_crc").split()
WITHDRAWN, DENSE, ROUNDS, UNITS, PIECES = range(5)
MORE = "<64sQ4I4Q4I"
MORE_FIELDS = ("name fabric_epoch nswitches nways nunits more_reserved switches_offset ways_offset leaves_offset units_offset "
               "switches_crc ways_crc leaves_crc more_crc").split()
SIZES = "<2Q4I"
SIZES_FIELDS = "lengths_offset granule is_unit lengths_crc demand_crc sizes_crc".split()


class Schedule:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        head = self.head = dict(zip(FIELDS, struct.unpack_from(HEADER, self.bytes)))
        assert (head["magic"], head["byte_order"]) == (b"FORSschd", 0x01020304) and head["version"] in (1, 2, 3)
        assert head["header_crc"] == zlib.crc32(self.bytes[:268]) and head["file_size"] == len(self.bytes)
        if head["version"] >= 2:
            head.update(zip(MORE_FIELDS, struct.unpack_from(MORE, self.bytes, 272)))
            assert head["more_crc"] == zlib.crc32(self.bytes[:404])
        if head["version"] == 3:
            head.update(zip(SIZES_FIELDS, struct.unpack_from(SIZES, self.bytes, 408)))
            assert head["sizes_crc"] == zlib.crc32(self.bytes[:436])
            self.length = [row[0] for row in self.array("lengths", "Q", head["nphases"], head["lengths_crc"])]
        self.server = self.array("servers", "QHHHBB64s", head["nservers"], head["servers_crc"])
        self.spine = [row[0] for row in self.array("lanes", "Q", head["nlanes"], head["lanes_crc"])]
        crcs = [row[0] for row in self.array("row_crc", "I", head["nrows"])]
        size = head["nphases"] * head["cell_size"]
        self.row = [self.bytes[at:at + size] for at in range(head["cells_offset"], len(self.bytes), size or 1)]
        assert [zlib.crc32(row) for row in self.row] == crcs
        # (phase, source) -> (destination, path index, lane or None); version 2, dense: the service level in its place
        self.flow = {WITHDRAWN: dict, DENSE: self.dense, ROUNDS: self.rounds, UNITS: self.units, PIECES: self.pieces}[head["layout"]]()
        if head["version"] >= 2:
            self.read_ways()

    def read_ways(self):
        head = self.head
        self.switch = [row[0] for row in self.array("switches", "Q", head["nswitches"], head["switches_crc"])]
        self.way = self.array("ways", "IHBB", head["nways"], head["ways_crc"])
        leaves = self.array("leaves", "II", head["nleaves"], head["leaves_crc"])
        units = self.array("units", "HHIBBH", head["nunits"])
        self.unit = {}  # (leaf, destination, path index) -> (topmost switch, way, service level)
        for leaf, ((first, crc), (last, _)) in enumerate(zip(leaves, leaves[1:] + [(head["nunits"], 0)])):
            at = head["units_offset"]
            assert crc == zlib.crc32(self.bytes[at + first * 12:at + last * 12])
            for dst, top, way, path, sl, _ in units[first:last]:
                self.unit[leaf, dst, path] = top, way, sl

    def more(self, source, dst, path, level):
        """The columns of version 2: the topmost switch, the way, the service level."""
        top, way, sl = self.unit.get((self.server[source][2], dst, path), (0xFFFF, 0xFFFFFFFF, 255))
        if self.head["layout"] in (DENSE, PIECES):
            sl = 255 if level is None else level
        via = []
        while way != 0xFFFFFFFF:
            way, switch, port, _ = self.way[way]
            via.append(f"0x{self.switch[switch]:016x}")
        spine = "" if top == 0xFFFF else f"0x{self.switch[top]:016x}"
        return f"{spine},{' '.join(via)},{'' if sl == 255 else sl}"

    def array(self, name, form, count, crc=None):
        at, size = self.head[name + "_offset"], struct.calcsize("<" + form) * count
        assert crc is None or zlib.crc32(self.bytes[at:at + size]) == crc
        return list(struct.iter_unpack("<" + form, self.bytes[at:at + size]))

    def dense(self):
        return {(phase, source): (dst, path, None if lane == 255 else lane)
                for source, row in enumerate(self.row)
                for phase, (dst, _, path, _, lane, _) in enumerate(struct.iter_unpack("<HHBBBB", row)) if dst != 0xFFFF}

    def pieces(self):
        flow, self.size, total, most = {}, {}, {}, [0] * self.head["nphases"]
        rows = [list(struct.iter_unpack("<HHBBBBQQ", row)) for row in self.row]
        for source, row in enumerate(rows):
            for phase, (dst, _, path, reverse, lane, _, size, _) in enumerate(row):
                if dst == 0xFFFF:
                    continue
                assert reverse == path % (1 << self.server[source][4]) and size % self.head["granule"] == 0
                there = rows[dst][phase]
                assert (there[1], there[5], there[7]) == (source, path, size)
                flow[phase, source], self.size[phase, source] = (dst, path, None if lane == 255 else lane), size
                total[source, dst] = total.get((source, dst), 0) + size
                most[phase] = max(most[phase], size)
        assert most == self.length and sum(t[6] for r in rows for t in r) == sum(t[7] for r in rows for t in r)
        told = (struct.pack("<3Q", self.server[s][0], self.server[d][0], size) for (s, d), size in sorted(total.items()))
        assert zlib.crc32(b"".join(told)) == self.head["demand_crc"]
        return flow

    def units(self):
        flow, half = {}, "H" if self.head["cell_size"] == 4 else "I"
        for source, row in enumerate(self.row):
            for phase, (number, _) in enumerate(struct.iter_unpack("<2" + half, row)):
                if number != (1 << 4 * self.head["cell_size"]) - 1:
                    flow[phase, source] = *divmod(number, self.head["npaths"]), None
        arriving = {(phase, dst): (source, path) for (phase, source), (dst, path, _) in flow.items()}
        for dst, row in enumerate(self.row):  # the second number of each pair says the same from the other end
            for phase, (_, number) in enumerate(struct.iter_unpack("<2" + half, row)):
                there = arriving.get((phase, dst))
                assert number == ((1 << 4 * self.head["cell_size"]) - 1 if there is None
                                  else there[0] * self.head["npaths"] + there[1])
        return flow

    def rounds(self):
        head, flow = self.head, {}
        where = {(server[2], server[3]): number for number, server in enumerate(self.server)}
        for v, row in enumerate(self.row):
            for column, (number,) in enumerate(struct.iter_unpack("<H" if head["cell_size"] == 2 else "<I", row)):
                if number == (1 << 8 * head["cell_size"]) - 1:
                    continue
                number, path = divmod(number, head["npaths"])
                dst, lane = divmod(number, head["nlanes"] + 1)
                first, i = column // head["round_length"] * head["round_length"], column % head["round_length"]
                for u in range(head["round_length"]):
                    member = (u + i) % head["round_length"]
                    source = where.get((v // head["parts"], member * head["parts"] + v % head["parts"]), dst)
                    if source != dst:
                        flow[first + u, source] = dst, path, None if lane == head["nlanes"] else lane
        return flow

    def csv(self):
        path_of = {(source, dst): path for (_, source), (dst, path, _) in self.flow.items()}
        rows = []
        for (phase, source), (dst, path, lane) in self.flow.items():
            (from_guid, from_lid, *_), (to_guid, to_lid, *_) = self.server[source], self.server[dst]
            if self.head["version"] >= 2:
                spine = self.more(source, dst, path, lane)
            else:
                spine = "" if lane is None else f"0x{self.spine[lane]:016x}"
            is_sized = self.head["version"] == 3
            back = path % (1 << self.server[source][4]) if is_sized else path_of[dst, source]
            size = f",{self.size[phase, source]}" if is_sized else ""
            rows.append((phase, from_guid, f"{phase},0x{from_guid:016x},0x{to_guid:016x},{from_lid + back},{to_lid + path},{spine}{size}"))
        more = ["", ",via,sl", ",via,sl,bytes"][self.head["version"] - 1]
        return ["phase,src_guid,dst_guid,src_lid,dst_lid,spine_guid" + more] + [row for *_, row in sorted(rows)]


@pytest.mark.parametrize("spec,lmc,method,down", [
    ("FT(2;4,4)", 0, "closed-form", []),
    ("FT(2;6,5)", 3, "exact", ["Leaf00[7]", "Leaf02[8]"]),
    ("FT(2;6,5;empty=0/0,0/1,2/3)", 0, "rounds", []),
    ("FT(2;6,5)", 1, "rounds", ["Spine02"]),
    ("FT(2;4,5;servers=6)", 3, "rounds", ["Leaf00[7]"]),
    ("FT(2;3,4;cables=2)", 2, "rounds", []),
    ("FT(2;20,18)", 1, "rounds", ["Leaf00[21]"]),
    ("FT(2;1,1)", 0, "auto", []),
])
def test_a_reader_made_from_the_description(plan, spec, lmc, method, down):
    path = plan(spec, lmc, 1, *down, method=method)
    done = start([BUILD / "fors", "schedule", path, "--format", "csv"])
    assert Schedule(path).csv() == done.out.splitlines()


@pytest.mark.parametrize("spec,lmc,method,more,layout", [
    ("FT(2;6,5)", 3, "exact", "wsn", UNITS),
    ("FT(2;4,4)", 0, "closed-form", "n", UNITS),
    ("FT(2;20,18)", 0, "rounds", "ws", ROUNDS),
    ("FT(2;6,5;empty=0/0,0/1,2/3)", 1, "rounds", "w", ROUNDS),
    ("FT(2;6,5)", 3, "exact", "wm", DENSE),
    ("FT(2;3,4;cables=2)", 2, "rounds", "sd", DENSE),
])
def test_it_reads_version_2(plan, spec, lmc, method, more, layout):
    path = plan(spec, lmc, 1, method=method, more=more)
    schedule = Schedule(path)
    done = start([BUILD / "fors", "schedule", path, "--format", "csv"])
    assert schedule.head["layout"] == layout and schedule.csv() == done.out.splitlines()
    assert schedule.head["name"].rstrip(b"\0") == (b"4711" if "n" in more else b"")
    assert schedule.head["fabric_epoch"] == (3 if "n" in more else 0)


@pytest.mark.parametrize("lmc,demand", [
    (0, "Node00-0[0-3] Node02-0[0-3] 12345\nNode01-0[0-3] Node02-00 100\n"),
    (2, "Node00-0[0-3] Node02-0[0-3] 8000\nNode01-0[0-3] Node00-00,Node03-01 1000\nNode02-00 Node00-01 50\n"),
    (1, "role Node00-0[0-3] send\nrole Node01-0[0-3],Node02-00 receive\ngroup g Node03-0[0-3]\n"),
])
def test_it_reads_a_demand(tmp_path, lmc, demand):
    path, text = tmp_path / "schedule", tmp_path / "demand"
    text.write_text(demand)
    made = start([BUILD / "fors", "plan", "--synthetic", "FT(2;4,4)", "--down", "Leaf00[6]", "--lmc", lmc, "--demand", text, "--output", path])
    assert made.code == 0, made.err
    schedule = Schedule(path)
    assert schedule.head["layout"] == PIECES and schedule.head["is_unit"] == demand.startswith("role")
    assert schedule.csv() == start([BUILD / "fors", "schedule", path, "--format", "csv"]).out.splitlines()


def test_it_reads_why_one_is_withdrawn(withdraw):
    schedule = Schedule(withdraw(7, "no master"))
    assert schedule.head["reason"].rstrip(b"\0") == b"no master" and schedule.flow == {} and schedule.head["epoch"] == 7
