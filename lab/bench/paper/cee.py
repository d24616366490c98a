# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Paper 003, "Switch Adaptive Routing on CEE" (Crisan, Gusat, Minkenberg): figures 7 to 11, with and without rate limiters (QCN).

How a switch makes a level of what it hears, and the marks of PAUSE, are not in the paper: Switch AR is a range over the three rules of
--switch-ar-level, in figures 7 and 9 over marks and sampling too.
"""
import itertools
import tempfile

from simulator import arrived, side_by_side, simulate

# 10 Gbit/s, frames of 1500 bytes, 100 KB a port.
LINKS = ["--speed", "10", "--message", "1470", "--mtu", "1470", "--buffer", "100KB", "--wire-time", "10ns"]
PAUSE = ["--pause-high", "80KB", "--pause-low", "60KB"]
TREE = ["--synthetic", "XGFT(5;2,2,2,2,2;1,2,2,2,2)", "--routing", "d-mod-k"]
PATTERNS = ["bit-complement", "bit-reverse", "bit-rotation", "bit-shuffle", "tornado", "shift(1)", "all-to-all"]
LEVELS = ["sum", "last", "oldest"]
FRAME = 1500 / 1470
# name: one list of options, or several for a range
POLICIES = {"tables": [[]], "random": [["--policy", "random"]], "hashed": [["--policy", "hashed"]], "adaptive": [["--policy", "adaptive"]],
            "switch": [["--policy", "switch-ar", "--switch-ar-level", level] for level in LEVELS]}


def _ranges(run, policies=POLICIES):
    """{policy: [lowest, highest]}, and with rate limiters {policy-rl: ...}; run(options) is a number."""
    cases = [(name + suffix, [*way, *limits]) for name, ways in policies.items() for suffix, limits in (("", []), ("-rl", ["--rate-limits"]))
             if name != "adaptive" or not limits for way in ways]
    found = {}
    for (name, _), value in zip(cases, side_by_side(lambda case: run(case[1]), cases)):
        low, high = found.get(name, (value, value))
        found[name] = [min(low, value), max(high, value)]
    return found


def _arrived(result, begin, end):
    """Part of a cable of 10 Gbit/s, headers counted, that arrives at the watched server, or at all together, between two times, ns."""
    return arrived(result, begin, end) * FRAME / ((end - begin) * 1.25)


def figure_7(patterns, messages, marks=((80, 60), (96, 94)), samples=("150KB", "50KB")):
    """Total throughput of all flows while all send, as a part of what was offered, which is what a crossbar gives; load 0.9."""
    rows, time = [], messages * 1470 / (0.9 * 1.25)
    policies = {**POLICIES, "switch": [[*way, "--pause-high", f"{high}KB", "--pause-low", f"{low}KB", "--qcn-sample", sample]
                                       for way, (high, low), sample in itertools.product(POLICIES["switch"], marks, samples)]}
    for pattern in patterns:
        args = [*TREE, "--pattern", pattern, "--load", "0.9", "--messages", messages, *LINKS, *PAUSE]
        seen = {}

        def run(options):
            result = simulate(*args, *options)
            seen[tuple(options)] = _arrived(result, 0.3 * time, 0.8 * time) / FRAME / 0.9 / result["senders"]
            return seen[tuple(options)]
        rows.append({"pattern": pattern, **_ranges(run, policies)})
        nearest = min((way for way in seen if "switch-ar" in way and "--rate-limits" in way), key=lambda way: abs(seen[way] - 0.6))
        rows[-1]["nearest"] = {"share": seen[nearest], **{key.lstrip("-"): value for key, value in zip(nearest[:-1:2], nearest[1::2])}}
    return rows


def figure_8():
    """A victim's part of its cable while four servers send 45 % each to another one, 20 of 50 ms; who it is the paper does not say."""
    with tempfile.NamedTemporaryFile("w", prefix="fors-paper-") as pattern:
        pattern.write("16 0\n20 0\n24 0\n28 0\n17 2\n")
        pattern.flush()
        hot = [f"--server-load={server}={0.45 / FRAME},10ms,30ms" for server in (16, 20, 24, 28)]
        args = [*TREE, "--pattern-file", pattern.name, "--load", "0.5", f"--server-load=17={0.95 / FRAME},0us,50ms", *hot, "--watch-server", "2", *LINKS, *PAUSE]
        return _ranges(lambda options: _arrived(simulate(*args, *options), 12e6, 30e6))


def figure_9(messages, marks=((80, 60), (96, 94), (40, 30)), samples=("150KB", "50KB")):
    """Part of the cable that one source gets through over four roots of 25, 10, 10 and 50 %."""
    rates = [f"--link-rate=Leaf0{leaf}[{port}]={part}" for leaf in (0, 1) for port, part in zip((5, 6, 7, 8), (0.25, 0.1, 0.1, 0.5))]
    with tempfile.NamedTemporaryFile("w", prefix="fors-paper-") as pattern:
        pattern.write("0 4\n")
        pattern.flush()
        args = ["--synthetic", "XGFT(2;4,2;1,4)", "--routing", "d-mod-k", "--pattern-file", pattern.name, "--load", 0.9 / FRAME, "--messages", messages, *LINKS, *rates]

        def run(options, high=80, low=60):
            return 8 * FRAME * simulate(*args, "--pause-high", f"{high}KB", "--pause-low", f"{low}KB", *options)["line_share"]
        found = _ranges(run, {name: POLICIES[name] for name in ("tables", "random", "adaptive")})
        ways = [{"high": high, "low": low, "level": level, "sample": sample} for (high, low), level, sample in itertools.product(marks, LEVELS, samples)]
        shares = side_by_side(lambda way: run(["--policy", "switch-ar", "--switch-ar-level", way["level"], "--qcn-sample", way["sample"]], way["high"], way["low"]), ways)
        found["switch"] = [{**way, "share": share} for way, share in zip(ways, shares)]
        return found


# Pattern: size of a message in figure 10 (table II's mean by its scale factor) and in figure 11 (the mean itself; of NAS-FT, which sends to all, less)
SENT = {"NAS-BT": ("7KB", "69KB"), "NAS-CG": ("161KB", "1610KB"), "NAS-FT": ("44KB", "44KB"), "NAS-MG": ("30KB", "2960KB"), "WRF": ("9KB", "930KB")}


def _large(pattern):
    """The paper's 2-ary trees of 128 servers, and of 256 for NAS-BT, whose ranks are a square."""
    levels = 8 if pattern == "NAS-BT" else 7
    return ["--synthetic", f"XGFT({levels};{','.join('2' * levels)};1{',2' * (levels - 1)})", "--routing", "d-mod-k"]


def figures_10_11(names, figures=(10, 11)):
    """Time as a part of the crossbar's: messages by formula, phases with barriers, servers at random; all links whole, or one at a root at a third of its speed."""
    rows = []
    for name, figure, link in itertools.product(names, figures, ("whole", "third")):
        slow = ["--link-rate=Spine00[1]=0.33"] if link == "third" else []
        args = [*_large(name), "--pattern", name, "--map", "random", "--seed", "1", *LINKS, *PAUSE, "--message", SENT[name][figure - 10]]
        one = simulate(*args, "--crossbar")
        best = one["time_ns"] * one["crossbar_share"]
        rows.append({"pattern": name, "figure": figure, "link": link, "message": SENT[name][figure - 10],
                     **_ranges(lambda options: simulate(*args, *slow, *options)["time_ns"] / best)})
    return rows


def measure(is_quick):
    if is_quick:
        return {"figure7": figure_7(PATTERNS[:1], 300, ((80, 60),), ("150KB",)), "figure8": figure_8(), "figure9": figure_9(1000, ((80, 60),), ("150KB",)), "figures10": figures_10_11(["WRF"], (10,))}
    return {"figure7": figure_7(PATTERNS, 3000), "figure8": figure_8(), "figure9": figure_9(20000), "figures10": figures_10_11(["NAS-CG", "NAS-MG", "WRF"])}
