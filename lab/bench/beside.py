# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Stock engines beside fors on trees of three levels, healthy and with one failure of each kind: what the demo shows at 288 servers
(scripts/demo/levels.py, the same code), here of every engine, and at 1,024 too. One engine after another.
"""
import pathlib
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(TOP / "tests" / "e2e"), str(TOP / "scripts" / "demo")]

import demo  # noqa: E402
import failover  # noqa: E402
import harness  # noqa: E402
import levels  # noqa: E402
import loads  # noqa: E402
import sweeps  # noqa: E402
import three  # noqa: E402

SIZES = [((6, 6, 8), (6, 6)), ((8, 8, 16), (8, 8))]


def one(m, w, engine):
    """Rows of one engine on one tree, in one life of opensm."""
    tree, name = three.Tree3(m, w), "XGFT(3;{};1,{})".format(*(",".join(map(str, numbers)) for numbers in (m, w)))
    options = {"routing_engine": engine, **failover.VERBOSE, **({} if engine == "fors" else failover.STOCK)}
    rows = []
    with tempfile.TemporaryDirectory(prefix="fors-engines-") as folder, demo.Site(folder, tree, **options) as site:
        for failure, facts in levels.compare(site, engine == "fors", tree).items():
            rows.append({"fabric": name, "engine": engine, "failure": failure, **facts,
                         **{f"{key}_ms": None if facts[f"{key}_s"] is None else 1000 * facts[f"{key}_s"]
                            for key in ("build", "build_whole", "up", "epoch")}})
    return rows


def measure(sizes, engines):
    """An engine that does not come up gives a row that says so."""
    rows = []
    for m, w in sizes:
        for engine in engines:
            try:
                rows += one(m, w, engine)
            except (harness.HarnessError, loads.LoadError) as error:
                rows.append({"fabric": f"{m}, {w}", "engine": engine, "error": str(error).splitlines()[0]})
    return rows


def measure_all(is_quick):
    return measure(SIZES[:1] if is_quick else SIZES, sweeps.ENGINES)


if __name__ == "__main__":
    import tables_text
    wanted = SIZES[:1] if sys.argv[1] == "288" else SIZES[1:]
    print(tables_text.engines_table(measure(wanted, sys.argv[2:] or levels.ENGINES)))
