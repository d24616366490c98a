# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The synchronised all-to-all of FT(2;4,4) with real packets: stock routes against fors; see lab/doc/testbed.md."""
import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "e2e"), str(TOP / "lab" / "bench")]

import drawings  # noqa: E402
import stage  # noqa: E402
from harness import HarnessError  # noqa: E402
from namespaces import RATE, NamespaceError  # noqa: E402

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXCHANGES = 1  # that are timed, for each number


def scenarios(tree):
    """Name -> the cables that are cut."""
    return {
        "healthy": [],
        "1 cable": [tree.uplink(1, 2)],
        "1 spine": [tree.uplink(leaf, 3) for leaf in range(tree.nleaves)],
        "3 cables, m > f": [tree.uplink(leaf, leaf) for leaf in range(3)],
    }


class Progress:
    """A line on a terminal that says what is being done; nothing elsewhere."""

    def __init__(self):
        self.is_on = sys.stderr.isatty()

    def say(self, words):
        if self.is_on:
            sys.stderr.write(f"\r\033[K{words}")
            sys.stderr.flush()


def measure(stages, repeats, wanted, progress):
    """Rows of {system, scenario, model, seconds: [...]}: all systems and scenarios in turn, `repeats` times."""
    rows = {}
    for repeat in range(repeats):
        for system, on in stages.items():
            for name, cables in scenarios(on.tree).items():
                if name in wanted:
                    progress.say(f"{repeat + 1} of {repeats}: {system}, {name}")
                    row = rows.setdefault((system, name), {"system": system, "scenario": name, "seconds": []})
                    _measure_one(on, cables, row)
    return list(rows.values())


def _measure_one(on, cables, row):
    on.after(on.cut, cables)
    row["model"] = on.model()
    row["seconds"].append(statistics.median(on.exchange(EXCHANGES)))
    on.after(on.mend, cables)


def relate(rows):
    """Add to each row its throughput relative to the same system when healthy, repeat by repeat."""
    healthy = {row["system"]: row["seconds"] for row in rows if row["scenario"] == "healthy"}
    for row in rows:
        row["relative"] = [h / s for h, s in zip(healthy[row["system"]], row["seconds"])]
        row["median"] = statistics.median(row["relative"])
        row["low"], row["high"] = min(row["relative"]), max(row["relative"])


def over_time(stages, progress):
    """A cut in the middle, for each system: bytes over time, and when what happened."""
    records = {}
    for system, on in stages.items():
        progress.say(f"{system}: a cable is cut in the middle")
        cables = scenarios(on.tree)["1 cable"]
        record = on.cut_in_the_middle(cables)
        records[system] = _summary(record)
        on.after(on.mend, cables)
    return records


def _summary(record):
    """Times from the cut on; rates as a share of what all servers together can receive."""
    cut = record["events"]["cut"]
    full = record["servers"] * RATE / 8 * record["bin_seconds"]
    epochs = [it for it in record["iterations"] if it["epoch"] != record["iterations"][0]["epoch"]]
    width = 10  # bins that are put together
    bins = record["received"]
    points = [(record["first_bin"] + (i + width / 2) * record["bin_seconds"] - cut, sum(bins[i:i + width]) / width / full)
              for i in range(0, len(bins) - width, width)]
    return {"tables_s": record["events"].get("tables", cut) - cut,
            "epoch_s": epochs[0]["start"] - cut if epochs else None,
            "exchanges": len(record["iterations"]),
            "longest_exchange_s": max(it["seconds"] for it in record["iterations"]),
            "points": points}


def table(results):
    lines = [f"{'FT(2;4,4), 16 servers':24}{'healthy = 1':>14}{'low':>8}{'high':>8}{'model':>8}"]
    for row in results["throughput"]:
        lines.append(f"{row['system'] + ', ' + row['scenario']:24}{row['median']:14.3f}{row['low']:8.3f}"
                     f"{row['high']:8.3f}{row['model']:8.3f}")
    for system, record in results["cut_in_the_middle"].items():
        epoch = "" if record["epoch_s"] is None else f", the application on the new epoch {record['epoch_s']:.2f} s"
        lines.append(f"{system}: cut in the middle: new tables after {record['tables_s']:.2f} s{epoch}; "
                     f"{record['exchanges']} exchanges, the longest {record['longest_exchange_s']:.2f} s, no rank hangs")
    return "\n".join(lines)


def save(results, directory):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "testbed.json").write_text(json.dumps(results, indent=1) + "\n")
    (directory / "testbed.svg").write_text(drawings.testbed(results["throughput"]))
    if results["cut_in_the_middle"]:
        (directory / "testbed-cut.svg").write_text(drawings.testbed_cut(results["cut_in_the_middle"]))


def run(options):
    progress = Progress()
    with tempfile.TemporaryDirectory(prefix="fors-testbed-") as scratch, ExitStack() as running:
        running.callback(progress.say, "")
        stages = {}
        for system in (stage.stock(options.engine), stage.FORS):
            stages[system.name] = running.enter_context(stage.Stage(system, Path(scratch) / system.name))
        rows = measure(stages, options.repeats, options.scenarios, progress)
        relate(rows)
        cut = {} if options.no_cut else over_time(stages, progress)
    return {"fabric": "FT(2;4,4)", "cable_bits_per_second": RATE, "message_bytes": stage.MESSAGE,
            "repeats": options.repeats, "throughput": rows, "cut_in_the_middle": cut}


def parse():
    names = list(scenarios(stage.FatTree(4, 4)))
    parser = argparse.ArgumentParser(prog="lab/testbed/run", description="An all-to-all exchange over real packets: what "
                                     "a cut cable costs with stock routes and with fors. As root; about four minutes.", allow_abbrev=False)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="measure everything N times (default 5)")
    parser.add_argument("--engine", default="minhop", metavar="NAME", help="the stock engine to compare with (default minhop)")
    parser.add_argument("--scenarios", nargs="+", choices=names, default=names, help="only these (healthy is always measured)")
    parser.add_argument("--no-cut", action="store_true", help="leave out the cut in the middle of a run")
    parser.add_argument("--json", action="store_true", help="print the results as JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="DIR", help="also write testbed.json and two pictures there")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats: at least 1")
    options.scenarios = ["healthy", *options.scenarios]
    return options


def end(number, _):
    """What is running and what was built goes away as after an error; further signals do not disturb that."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    options = parse()
    if "FORS_ONLY_ARGUMENTS" in os.environ:
        return 0
    if os.geteuid() != 0:
        sys.exit("lab/testbed/run: network namespaces need root")
    for number in ENDING:
        signal.signal(number, end)
    try:
        results = run(options)
    except (HarnessError, NamespaceError, stage.StageError) as error:
        print(f"lab/testbed/run: {error}", file=sys.stderr)
        return 1
    if options.output:
        save(results, options.output)
    print(json.dumps(results, indent=1) if options.json else table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
