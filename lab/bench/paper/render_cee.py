# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Cee.py's rows as Markdown: each same, different and why, or not to be had and why."""
from tables_text import table

NAMES = {"tables": "deterministic", "random": "random", "hashed": "hashed", "adaptive": "ideal adaptive", "switch": "Switch AR",
         "tables-rl": "det-RL", "random-rl": "random-RL", "hashed-rl": "hashed-RL", "switch-rl": "Switch AR-RL"}


def _span(low_high, digits=2):
    low, high = (f"{value:.{digits}f}" for value in low_high)
    return low if low == high else f"{low} to {high}"


def _same(holds):
    return "same" if holds else "different"


def _figure_7(rows):
    lines = [{"pattern": r["pattern"], **{k: _span(r[k]) for k in NAMES}} for r in rows]
    hard = [r for r in rows if r["pattern"] != "all-to-all"]
    least = min(r["tables"][0] for r in hard)
    losing = [r for r in hard if r["tables"][0] < 0.9]
    around = [r for r in losing if r["switch-rl"][0] <= 0.6 <= r["switch-rl"][1]]
    near = min((r["nearest"] for r in losing or rows), key=lambda way: abs(way["share"] - 0.6))
    limits = ", ".join(f"{r['pattern']} {100 * (1 - r['switch-rl'][1]):.0f} to {100 * (1 - r['switch-rl'][0]):.0f} %" for r in losing)
    mean = {k: [sum(r[k][end] for r in hard) / len(hard) for end in (0, 1)] for k in NAMES}
    text = table("Switch AR on CEE (paper 003), figure 7: permutations at load 0.9, part of a crossbar", lines, [("pattern", "pattern"), *((name, key) for key, name in NAMES.items())])
    return text + (f"\nXGFT(5;2,2,2,2,2;1,2,2,2,2), 32 servers, PAUSE at 80 KB, on again at 60 KB. Switch AR goes by the sum of notifications, the last one, or the oldest, with these marks or 96 and 94 KB. It looks each 150 or 50 KB. (None of it is in the paper: a range.) Total throughput of all flows, as the paper has it, while all send. The paper: deterministic routing loses up to 70 %: here {100 * (1 - least):.0f} %, "
                   f"{_same(0.55 < 1 - least < 0.75)} as far as a picture without numbers can say. Switch AR with rate limiters loses about 40 %: here, by those options, {limits or 'nothing'}: {'in the range' if around else 'outside the range'}; nearest: {100 * (1 - near['share']):.0f} % by {near['switch-ar-level']}, marks {near['pause-high']} and {near['pause-low']}, a look each {near['qcn-sample']}. "
                   f"Order, mean over the permutations: random {_span(mean['random'])}, Switch AR {_span(mean['switch'])}, deterministic {_span(mean['tables'])}, hashed {_span(mean['hashed'])}; its text has deterministic below Switch AR: {_same(mean['switch'][1] > mean['tables'][0])} by {'each' if mean['switch'][0] > mean['tables'][0] else 'the best'} rule. "
                   "Uniform traffic (all-to-all) loses nothing under any routing: same for deterministic, random and ideal adaptive routing. Hashed routing loses: a flow is a pair of servers here, 31 of each, and they meet. The table says what limiters and Switch AR lose there. "
                   "Transpose needs an even number of bits: cannot be had with 32 servers. A limit holds up a server's other messages too, which matters in all-to-all only.\n")


def _figure_8(found):
    lines = [{"routing": NAMES[key], "without": _span([100 * v for v in found[key]], 0), "with": _span([100 * v for v in found[key + "-rl"]], 0) if key + "-rl" in found else "-"}
             for key in ("tables", "random", "hashed", "adaptive", "switch")]
    milder = found["tables"][0] > max(found["random"][1], found["switch"][0])
    helped = all(found[k + "-rl"][0] > 2 * found[k][1] for k in ("tables", "random", "switch"))
    return table("Switch AR on CEE, figure 8: a victim of an input hotspot, % of its cable while it lasts", lines, [("routing", "routing"), ("without rate limiters", "without"), ("with", "with")]) + (
        "\nServers 16, 20, 24 and 28 send 45 % each to server 0 for 20 ms; the victim, from 17 to 2, has 95 % to send (the paper does not say who it is). The paper: random and Switch AR make congestion trees, "
        f"deterministic routing is affected less: {_same(milder)}, but for Switch AR only under some of its rules; rate limiters take the congestion away: {_same(helped)}.\n")


def _figure_9(found):
    shares = [way["share"] for way in found["switch"]]
    best = min(found["switch"], key=lambda way: abs(way["share"] - 0.6))
    near = f"{100 * best['share']:.0f} % with marks {best['high']} and {best['low']} KB, {best['level']}, looked at each {best['sample']}"
    rows = (("tables", "deterministic", "25 %", _same(abs(found["tables"][0] - 0.25) < 0.01)), ("random", "random", "40 %", _same(abs(found["random"][0] - 0.4) < 0.01)),
            ("random-rl", "random-RL", "no significant change", _same(abs(found["random-rl"][0] - found["random"][0]) < 0.05)),
            ("adaptive", "ideal adaptive", "-", "an ideal that knows all queues gets what is offered"))
    lines = [{"routing": name, "ours": f"{100 * found[key][0]:.1f} %", "paper": paper, "verdict": verdict} for key, name, paper, verdict in rows]
    lines.append({"routing": "Switch AR", "ours": _span([100 * min(shares), 100 * max(shares)], 0) + " %", "paper": "60 %",
                  "verdict": ("in the range: " if min(shares) <= 0.6 <= max(shares) + 0.01 else "outside; nearest: ") + near})
    return table("Switch AR on CEE, figure 9: one source at 90 %, four roots of 25, 10, 10 and 50 %", lines,
                 [("routing", "routing"), ("here", "ours"), ("paper", "paper"), ("", "verdict")]) + (
        "\nThe rule by which a switch makes a level of what it hears is not in the paper, nor are the marks of PAUSE and how often a switch looks: "
        f"{len(found['switch'])} ways of these were tried.\n")


def _order(rows):
    """Routings by mean slowdown, and whether it is the paper's order; of Switch AR the best rule counts."""
    mean = {k: sum(r[k][0] for r in rows) / len(rows) for k in ("tables", "random", "hashed", "switch")}
    return sorted(mean, key=mean.get), mean


def _limits(rows):
    """Do rate limiters win in figure 11, as the paper has it?"""
    pairs = [(r[k], r[k + "-rl"]) for r in rows if r["figure"] == 11 for k in ("tables", "random", "hashed", "switch")]
    wins = sum(limited[0] < free[0] for free, limited in pairs)
    if not pairs:
        return ""
    return (f" The paper has rate limiters win in figure 11's large messages: here in {wins} of {len(pairs)} rows and routings, {_same(2 * wins > len(pairs))}"
            f"{'.' if 2 * wins > len(pairs) else '. (In a phase of these formulas no server gets from two, so what is congested is inside, and all wait for the one that was cut.)'}")


def _figures_10(rows):
    lines = [{**{k: r[k] for k in ("figure", "pattern", "message", "link")}, **{k: _span(r[k]) for k in NAMES}} for r in rows]
    text = table("Switch AR on CEE, figures 10 and 11: time as a part of a crossbar's, messages by formula", lines,
                 [("figure", "figure"), ("pattern", "pattern"), ("message", "message"), ("one link", "link"), *((name, key) for key, name in NAMES.items())])
    said = {("whole", 10): ["random", "switch", "tables", "hashed"], ("whole", 11): ["random", "switch", "tables", "hashed"],
            ("third", 10): ["switch", "random", "tables", "hashed"], ("third", 11): ["switch", "random", "tables", "hashed"]}
    told = []
    for (link, figure), paper in said.items():
        some = [r for r in rows if r["link"] == link and r["figure"] == figure]
        if some:
            order, mean = _order(some)
            told.append(f"figure {figure}, link {link}: " + ", ".join(f"{NAMES[k]} {mean[k]:.2f}" for k in order) + f" ({_same(order == paper)})")
    return text + ("\nXGFT(7;2,2,2,2,2,2,2;1,2,2,2,2,2,2), 128 servers; ranks on servers at random (one draw), barriers of no cost between phases. The traces are not public: these are formulas (lab/model/patterns/formula.h) with one message size each, in figure 11 the mean of the paper's table II, in figure 10 that by its scale. "
                   "NAS-BT and NAS-FT take minutes each and are left out, LISO, NAMD, Airbus and IS's sums cannot be had. Limits outlast short messages: a step of recovery is 150 KB or 15 ms, so what is cut in one phase is slow in the next, and all wait at the barrier."
                   f"{_limits(rows)} The paper's order: random, Switch AR, deterministic, hashed on an empty network; Switch AR, random, deterministic, hashed with one link at 33 %. "
                   "Here, mean slowdown, Switch AR by its best rule: " + "; ".join(told) + ".\n")


def cee_part(found):
    return [_figure_7(found["figure7"]), _figure_8(found["figure8"]), _figure_9(found["figure9"]), _figures_10(found["figures10"])]
