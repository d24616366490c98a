#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the stock routing engines do on four kinds of fabric: the recordings in engines.tar.xz.

    tests/data/engines.py OUTPUT.tar.xz    records them anew: the stock opensm on ibsim, no code of fors

For each fabric ibnetdiscover's text (FABRIC.net), for each engine that takes the fabric opensm-lfts.dump (FABRIC.ENGINE.lfts), and under dfsssp and torus-2QoS
on the torus what the SA says of service levels, as lines "SLID DLID SL" (torus.ENGINE.sl).

    tree2      two levels: 6 leaves with 4 servers each, 4 spines
    tree3      three levels: 4 pods of 3 leaves with 3 servers each and 3 switches above them, 9 tops
    torus      4 x 4 switches with 2 servers each
    irregular  12 switches, cables at random, 1 to 4 servers each
"""
import io
import lzma
import random
import re
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import harness  # noqa: E402

ENGINES = ("ftree", "minhop", "updn", "dfsssp", "nue", "lash", "dor", "torus-2QoS")
WITH_LEVELS = ("dfsssp", "torus-2QoS")  # on the torus


def servers(topology, switch, count):
    for s in range(count):
        name = f"{switch}-Node{s}"
        topology.hcas[name] = 1
        topology.connect(switch, s + 1, name, 1)


def tree3():
    t = harness.Topology()
    pods, n = range(4), range(3)
    for p in pods:
        for i in n:
            t.switches[f"Leaf{p}-{i}"] = 6
            t.switches[f"Mid{p}-{i}"] = 6
    for k in range(9):
        t.switches[f"Top{k}"] = 4
    for p in pods:
        for i in n:
            servers(t, f"Leaf{p}-{i}", 3)
            for j in n:
                t.connect(f"Leaf{p}-{i}", 4 + j, f"Mid{p}-{j}", 1 + i)
                t.connect(f"Mid{p}-{i}", 4 + j, f"Top{3 * i + j}", 1 + p)
    return t


def torus():
    t = harness.Topology()
    for x in range(4):
        for y in range(4):
            t.switches[f"Switch{x}{y}"] = 6
            servers(t, f"Switch{x}{y}", 2)
    for x in range(4):
        for y in range(4):
            t.connect(f"Switch{x}{y}", 3, f"Switch{(x + 1) % 4}{y}", 4)
            t.connect(f"Switch{x}{y}", 5, f"Switch{x}{(y + 1) % 4}", 6)
    return t


def irregular():
    t, rng, free = harness.Topology(), random.Random(13), {}
    for i in range(12):
        t.switches[f"Switch{i:02d}"] = 12
        servers(t, f"Switch{i:02d}", 1 + i % 4)
        free[i] = list(range(5, 13))
    for i in range(1, 12):
        j = rng.randrange(i)
        t.connect(f"Switch{i:02d}", free[i].pop(0), f"Switch{j:02d}", free[j].pop(0))
    for _ in range(12):
        i, j = rng.sample(range(12), 2)
        if free[i] and free[j]:
            t.connect(f"Switch{i:02d}", free[i].pop(0), f"Switch{j:02d}", free[j].pop(0))
    return t


FABRICS = {"tree2": lambda: harness.FatTree(4, 6), "tree3": tree3, "torus": torus, "irregular": irregular}


def levels(sim, net):
    """Lines "SLID DLID SL", as the SA says for each pair of servers."""
    lids = sorted(int(lid) for lid in re.findall(r'^\[1\]\([0-9a-f]+\).*# lid (\d+) lmc', net, re.M))
    lines = []
    for src in lids:
        for dst in lids:
            if src != dst:
                answer = sim.run(["saquery", "-p", "--slid", str(src), "--dlid", str(dst)])
                lines.append(f"{src} {dst} {int(re.search(r'[^a-z_]sl[.]+(0x[0-9a-fA-F]+)', answer)[1], 16)}\n")
    return "".join(lines)


def torus_config(folder):
    """Where torus-2QoS finds the coordinates: four links of the first switch. ibsim numbers the switches in their order."""
    guid = lambda x, y: f"0x{0x200000 + 4 * x + y:x}"  # noqa: E731
    links = (("xp", 1, 0), ("xm", 3, 0), ("yp", 0, 1), ("ym", 0, 3))
    (folder / "torus-2QoS.conf").write_text("torus 4 4 1\n" + "".join(f"{d}_link {guid(0, 0)} {guid(x, y)}\n" for d, x, y in links))
    return str(folder / "torus-2QoS.conf")


def record(fabric, engine, folder):
    """(ibnetdiscover text, opensm-lfts.dump, service levels). no_fallback: an engine that does not take the fabric leaves no tables."""
    options = {}
    if engine == "updn" and not fabric.startswith("tree"):
        options["root_guid_file"] = str(folder / "roots")
        (folder / "roots").write_text("0x200000\n")
    if engine == "torus-2QoS":
        options["torus_config"] = torus_config(folder)
    with harness.Ibsim(FABRICS[fabric](), folder) as sim:
        with harness.OpenSM(sim, folder / "sm", routing_engine=f"{engine},no_fallback", event_plugin_name=None, log_flags="0x43",
                            qos="TRUE", **options) as osm:
            osm.wait_up(timeout=60)
            net = sim.run(["ibnetdiscover"])
            sl = levels(sim, net) if fabric == "torus" and engine in WITH_LEVELS else ""
        return net, (folder / "sm" / "tmp" / "opensm-lfts.dump").read_text(), sl


def add(archive, name, text):
    info = tarfile.TarInfo(name)
    info.size = len(text.encode())
    archive.addfile(info, io.BytesIO(text.encode()))


def main(output):
    with lzma.open(output, "w", preset=9 | lzma.PRESET_EXTREME) as out, tarfile.open(fileobj=out, mode="w") as archive:
        for fabric in FABRICS:
            for engine in ENGINES:
                if engine == "ftree" and not fabric.startswith("tree"):
                    continue
                if engine == "torus-2QoS" and fabric != "torus":
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    recorded = record(fabric, engine, Path(folder))
                net, dump, sl = recorded
                if engine == "minhop":
                    add(archive, f"{fabric}.net", net)
                add(archive, f"{fabric}.{engine}.lfts", dump)
                if sl:
                    add(archive, f"{fabric}.{engine}.sl", sl)


if __name__ == "__main__":
    main(sys.argv[1])
