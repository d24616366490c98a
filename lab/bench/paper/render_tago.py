# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tago.py's rows as Markdown: each same, different and why, or not to be had and why."""
from tables_text import table

NAMES = {"tables": "MIN", "hashed": "ECMP, flows", "random": "ECMP, packets", "vlb": "VLB", "ugal-l": "UGAL-L", "ugal-g": "UGAL-G", "tago": "TAGO"}
OTHERS = ("tables", "hashed", "random", "vlb")


def _figure_2(found):
    if not found:
        return "## TAGO, figure 2: what indirect ways can add\n\nCannot be had: built without lp_solve.\n"
    says = {0.0: ("as much as 90 %", lambda gain: gain >= 0.9), 0.5: ("no more than 7 %", lambda gain: gain <= 0.07)}
    lines = []
    for skew, gain in sorted((float(skew), gain) for skew, gain in found["gains"].items()):
        if round(skew * 100) % 25 == 0:
            paper, holds = says.get(skew, ("no number in its text", None))
            lines.append({"skew": f"{skew:g}", "gain": f"{100 * gain:.1f} %", "paper": paper, "verdict": "-" if not holds else "same" if holds(gain) else "different"})
    return table(f"TAGO, figure 2: what indirect ways can add in {found['n']} blocks", lines, [("skew of the topology", "skew"), ("at most, of what all ways give", "gain"), ("paper", "paper"), ("", "verdict")]) + (
        f"\nMaximum concurrent flow by linear programs on lp_solve, {found['steps'] + 1} times {found['steps'] + 1} pairs of skews, direct ways and all ways of two hops at most; cables are what moved cables would be for traffic of the topology's skew. "
        "For traffic at least as skewed as the topology; skew is one pair's (the paper has two readings of it, and under the other the second number is 30 %).\n")


def _same(holds):
    return "same" if holds else "different"


def _is_near(row):
    return row["share"]["tago"] >= 0.9 * row["share"]["ugal-g"]


def _is_above(row):
    return row["share"]["tago"] >= 0.99 * max(row["share"][k] for k in OTHERS)


def _verdict(row):
    """What the paper says of TAGO: within 10 % of UGAL-G, and above MIN, ECMP and VLB; else what is possible."""
    if _is_near(row) and _is_above(row):
        return "same"
    share, most = row["share"], row["carried"]
    best = max((k for k in NAMES if k != "tago"), key=lambda k: share[k])
    why = f"different: {NAMES[best]} has {100 * (share[best] / share['tago'] - 1):.0f} % more"
    return f"{why}, direct ways carry all up to load {most['direct']:.3f}" if most and row["load"] > most["direct"] else why


def _carried(row, which):
    return f"{row['carried'][which]:.3f}" if row["carried"] else "-"


def _figures(rows):
    lines = [{"network": r["network"], "pattern": r["pattern"], "load": r["load"], **{k: f"{r['share'][k]:.3f}" for k in NAMES},
              "direct": _carried(r, "direct"), "all": _carried(r, "all"), "verdict": _verdict(r)} for r in rows]
    flex = [r for r in rows if r["network"] != "Dragonfly"]
    near, above = [r for r in flex if _is_near(r)], [r for r in flex if _is_above(r)]
    best = max(flex, key=lambda r: r["share"]["tago"] / max(r["share"][k] for k in ("tables", "hashed", "vlb")))
    by = best["share"]["tago"] / max(best["share"][k] for k in ("tables", "hashed", "vlb"))
    return table("TAGO (paper 004), figures 5, 6 and 8: part of the cable that gets through", lines,
                 [("network", "network"), ("pattern", "pattern"), ("load", "load"), *((name, key) for key, name in NAMES.items()), ("direct ways carry all up to", "direct"), ("all ways", "all"), ("", "verdict")]) + (
        "\nThe paper's size: 17 blocks of 32 switches with 15 servers each, 4 global cables a switch, 8,160 servers. Messages of 4 KiB (the paper: 100 bytes to 20 MB), servers' cables as fast as the others (there: twice), lanes by hops. Measured while nearly all servers still send, 16 messages each. "
        "The load up to which ways carry all of each pair of blocks is by linear programs at block level, whatever is inside of blocks. Above the second load no routing carries it all, above the first not TAGO. Then some pairs still get all, and the share of all can be higher. The paper has pictures without numbers: TAGO within 10 % of UGAL-G and above MIN, ECMP and VLB, but for adversarial traffic (the first two patterns are two readings of it: each block to one other). "
        f"On Flexfly and Flexspander: TAGO within 10 % of UGAL-G in {len(near)} of {len(flex)} rows, {_same(len(near) == len(flex))}{'' if len(near) == len(flex) else ' in the others'}; "
        f"not below MIN, ECMP and VLB (by 1 %) in {len(above)} of {len(flex)}, {_same(len(above) == len(flex))}{'' if len(above) == len(flex) else ' in the others'}; at most {by:.1f} times the best of MIN, ECMP by flows and VLB ({best['network']}, {best['pattern']}, {best['load']}; the paper: up to 2.2). "
        "A smaller network would say something else. With 8 switches a block, half of its 32 global cables are those that each pair of blocks keeps. Detours over them carry 1.8 times what direct ways do, here 1.1 times. "
        "To the next block only one direction of a cable is of use, so a Flexfly gives it 57 of 128; the paper's optical circuits may have one direction. On the Dragonfly direct ways from one block to another are 8 cables for 480 servers; the paper's TAGO comes near UGAL-G there at high load, here it cannot. "
        "AMG, Nekbone and Hadoop: cannot be had, their traffic is of traces; the larger network of 25 blocks: cannot be had, 17-port switches cannot join 25 blocks.\n")


def _rates(rows):
    lines = [{"network": r["network"], "pattern": r["pattern"], "load": r["load"], **{k: f"{r['rate'][k]:.1f}" for k in NAMES}} for r in rows if r["load"] == rows[-1]["load"]]
    flex = [r for r in rows if r["network"] != "Dragonfly"]
    near = [r for r in flex if r["rate"]["tago"] >= 0.9 * r["rate"]["ugal-g"]]
    return table("TAGO, figures 5, 6 and 8 by the paper's measure: mean of messages' own rates, Gbit/s", lines, [("network", "network"), ("pattern", "pattern"), ("load", "load"), *((name, key) for key, name in NAMES.items())]) + (
        "\nA message's bytes by the time from when it came to be to its last byte, over all messages, those inside of blocks too; the highest load here, lower ones are in paper.json. " f"TAGO within 10 % of UGAL-G in {len(near)} of {len(flex)} rows of Flexfly and Flexspander, {_same(len(near) == len(flex))}{'' if len(near) == len(flex) else ' in the others'}. " "4 KiB messages are one packet, so at low load this is latency, and TAGO's ways of up to one more link show. Messages of 64 KiB at load 0.1 between two blocks have 75, 71, 83 and 82 with MIN, ECMP by flows, UGAL-G and TAGO.\n")


def _latency(rows):
    chosen = [r for r in rows if r["network"] == "Flexfly"]
    lines = [{"pattern": r["pattern"], "load": r["load"], **{k: f"{r['latency'][k] / 1000:.2f}" for k in NAMES}} for r in chosen]
    low = [r for r in chosen if r["load"] == min(x["load"] for x in chosen)]
    longer = all(r["latency"]["vlb"] > 1.2 * r["latency"]["tago"] for r in low)
    return table("TAGO, figure 7: mean time of a packet in a Flexfly, us, one way", lines, [("pattern", "pattern"), ("load", "load"), *((name, key) for key, name in NAMES.items())]) + (
        f"\nThe paper: TAGO near UGAL-G but for adversarial traffic, VLB and UGAL-L much higher. At the lowest load VLB is {'more than 1.2 times TAGO everywhere: same' if longer else 'not above TAGO everywhere: different'}.\n")


def _use(found):
    lines = [{"policy": NAMES[k], **{str(q): f"{part:.2f}" for q, part in enumerate(found[k])}} for k in NAMES]
    narrow = max(found["tago"][4], found["ugal-g"][4]) < 0.8 and min(found[k][4] for k in ("tables", "hashed", "vlb", "ugal-l")) > 0.95
    return table("TAGO, figure 10: how busy the global cables of a Flexfly are, 27-point stencil", lines, [("policy", "policy"), ("least", "0"), ("quarter", "1"), ("half", "2"), ("three quarters", "3"), ("most", "4")]) + (
        f"\nEach direction for itself, parts of the time in which servers send; load 0.2 of servers' cables, which are 3.75 times the global ones of a block. The paper: TAGO's and UGAL-G's spread is low, VLB, ECMP, MIN and UGAL-L have cables near 100 %: {_same(narrow)} (TAGO at most {found['tago'][4]:.2f}, UGAL-G {found['ugal-g'][4]:.2f}, MIN {found['tables'][4]:.2f}, ECMP {found['hashed'][4]:.2f}, VLB {found['vlb'][4]:.2f}, UGAL-L {found['ugal-l'][4]:.2f}); below, TAGO leaves the cables idle that each pair keeps and this traffic does not want.\n")


def tago_part(found):
    parts = [_figure_2(found["figure2"]), _figures(found["shares"]), _rates(found["shares"]), _latency(found["shares"])]
    return parts + ([_use(found["use"])] if "use" in found else [])
