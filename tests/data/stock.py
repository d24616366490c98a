#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the stock routing engines do with FT(2;20,18) and dead cables: the recordings in stock.tar.xz.

    tests/data/stock.py OUTPUT.tar.xz    records them anew: the stock opensm on ibsim, no code of fors

For each failure scenario of the FORS paper (section 3.1) and each engine: opensm-lfts.dump as opensm wrote it. For each
scenario: the fabric as ibnetdiscover printed it, and the cables that were cut before opensm started; for the first failure also what
dump_fts printed. "1F SW0" is one dead cable at leaf 0, "3F SW0,5,11" three at each of the leaves 0, 5 and 11; "SW18,19 down" are the
spines 0 and 1 (the paper numbers switches through, leaves first).
"""
import io
import json
import lzma
import re
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402

TREE = harness.FatTree(20, 18)
ENGINES = ("ftree", "minhop", "updn", "dfsssp")


def cables(leaves, count):
    """`count` dead cables at each leaf, each to another spine than all others."""
    cut = []
    for number, leaf in enumerate(leaves):
        for i in range(count):
            cable = TREE.uplink(leaf, number * count + i)
            cut.append((cable.leaf, cable.leaf_port))
    return cut


def spines(numbers):
    return [(cable.leaf, cable.leaf_port) for k in numbers for a in range(TREE.nleaves) for cable in [TREE.uplink(a, k)]]


SCENARIOS = {
    "0F": [],
    "1F SW0": cables([0], 1),
    "2F SW0": cables([0], 2),
    "3F SW0": cables([0], 3),
    "1F SW0,5,11": cables([0, 5, 11], 1),
    "2F SW0,5,11": cables([0, 5, 11], 2),
    "3F SW0,5,11": cables([0, 5, 11], 3),
    "SW18,19 down": spines([0, 1]),
    "SW18,19,22,23 down": spines([0, 1, 4, 5]),
}


def record(scenario, engine, folder):
    """(ibnetdiscover text, opensm-lfts.dump, dump_fts text)"""
    with harness.Ibsim(TREE, folder) as sim:
        for node, port in SCENARIOS[scenario]:
            sim.unlink(node, port)
        with harness.OpenSM(sim, folder / "sm", routing_engine=engine, event_plugin_name=None, log_flags="0x43") as osm:
            osm.wait_up(timeout=120)
            net, tables = sim.run(["ibnetdiscover"]), sim.run(["dump_fts"])
        return net, (folder / "sm" / "tmp" / "opensm-lfts.dump").read_text(), tables


def file_name(scenario):
    return re.sub("[^0-9A-Za-z]+", "-", scenario)


def add(archive, name, text):
    info = tarfile.TarInfo(name)
    info.size = len(text.encode())
    archive.addfile(info, io.BytesIO(text.encode()))


def main(output):
    with lzma.open(output, "w", preset=9 | lzma.PRESET_EXTREME) as out, tarfile.open(fileobj=out, mode="w") as archive:
        cut = {scenario: [f"{node}[{port}]" for node, port in dead] for scenario, dead in SCENARIOS.items()}
        add(archive, "cut.json", json.dumps(cut, indent=1))
        for scenario in SCENARIOS:
            for engine in ENGINES:
                with tempfile.TemporaryDirectory() as folder:
                    net, dump, tables = record(scenario, engine, Path(folder))
                if engine == "ftree":
                    add(archive, f"{file_name(scenario)}.net", net)
                add(archive, f"{file_name(scenario)}.{engine}.lfts", dump)
                if (scenario, engine) == ("1F SW0", "minhop"):
                    add(archive, f"{file_name(scenario)}.{engine}.fts", tables)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(print(__doc__) if sys.argv[1:] in (["-h"], ["--help"]) else "usage: stock.py OUTPUT.tar.xz")
    main(sys.argv[1])
