#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""State folders and tables of fors at revision 36feca4, whose kept order is of the version before: the recordings in upgrade.tar.xz.

    tests/data/upgrade.py OUTPUT.tar.xz PLUGIN_DIR    records them anew: the stock opensm on ibsim, with the libfors.so in PLUGIN_DIR

For each case of CASES a folder NAME-healthy and a folder NAME-dead: the state folder that opensm left behind on the intact tree, and the one
that it left when the parts had died; beside it `tables`, what dump_fts printed while it ran. tests/e2e/test_upgrade.py starts the fors of today
with them.
"""
import io
import lzma
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402
import three  # noqa: E402

FILES = ("places", "schedule", "status.json", "epoch", "heartbeat", "history")  # and guid2lid of opensm, so that LIDs stay


def two():
    return harness.FatTree(4, 5, servers=6, cables=2, empty=[(4, 5), (2, 0)])


def levels():
    return three.Tree3((2, 3, 3), (2, 3))


def thin():
    """Fewer tops than servers: not regular."""
    return three.Tree3((2, 3, 3), (2, 2))


CASES = {  # the tree, the LMC, and what dies: nodes, and (node, port)
    "two": (two, 1, ["Spine01", "Node03-02", ("Leaf00", 7)]),
    "two-lmc0": (two, 0, ["Spine02", ("Leaf03", 8)]),
    "three": (levels, 0, ["Mid0-1", ("Leaf1-0", 4), "Top0-1"]),
    "thin": (thin, 0, ["Mid0-1", ("Leaf1-0", 4), "Top0-1"]),
}


def cut(sim, parts):
    for part in parts:
        if isinstance(part, tuple):
            sim.unlink(*part)
        else:
            sim.unlink_node(part)


def keep(osm, tables, folder):
    """The state folder of an opensm that has ended, and its LIDs."""
    folder.mkdir()
    for name in FILES:
        if (osm.state_dir / name).exists():
            shutil.copy(osm.state_dir / name, folder)
    shutil.copy(osm.cache / "guid2lid", folder)
    (folder / "guid").write_text(osm.state_dir.name)
    (folder / "tables").write_text(tables)


def record(case, plugin_dir, scratch, to):
    tree, lmc, parts = CASES[case]
    tree = tree()
    with harness.Ibsim(tree, scratch / "sim") as sim:
        for state in ("healthy", "dead"):
            with harness.OpenSM(sim, scratch / "sm", node=list(tree.hcas)[-1], plugin_dir=plugin_dir, lmc=lmc) as osm:
                before = osm.wait_epoch()["epoch"]
                if state == "dead":
                    cut(sim, parts)
                    osm.sweep()
                    osm.wait_status(epoch=lambda epoch: epoch and epoch > before, dead_links=bool, state="active")
                osm.sweep()
                osm.wait_status(state="active")
                tables = sim.run(["dump_fts"], osm.node)
                osm.stop()
                keep(osm, tables, to / f"{case}-{state}")


def pack(folder, output):
    with lzma.open(output, "wb", preset=9) as file, tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                entry = tarfile.TarInfo(str(path.relative_to(folder)))
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))


def main(output, plugin_dir):
    with tempfile.TemporaryDirectory() as scratch:
        to = Path(scratch) / "to"
        to.mkdir()
        for case in CASES:
            record(case, plugin_dir, Path(scratch) / case, to)
        pack(to, output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
