# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Simulated.py's rows as Markdown: each same, different and why, or not to be had and why."""
import render_cee
from tables_text import table


def _verdict(ours, paper, tolerance):
    """same: within that part."""
    if paper is None:
        return "-"
    off = round(100 * (ours / paper - 1), 1) + 0.0
    return f"{'same' if abs(off) <= 100 * tolerance else 'different'} ({off:+.1f} %)"


def _fors(found):
    lines = [{**row, "one": f"{row['one']:.1f}", "two": f"{row['two']:.1f}", "verdict": _verdict(row["one"], row["paper"], 0.04),
              "verdict2": _verdict(row["two"], row["paper"], 0.04)} for row in found["rows"]]
    text = table("FORS, figures 3 and 6, packet by packet: Gbit/s per server", lines,
                 [("failure", "scenario"), ("engine", "engine"), ("one fitted number", "one"), ("two", "two"), ("paper", lambda r: r["paper"] or "not in its text"),
                  ("one, beside the paper", "verdict"), ("two", "verdict2")])
    return text + (f"\n`fors simulate`, messages of 64 KiB, 360 servers (the paper: 326), recorded tables of the stock opensm. One number: a barrier of {found['barrier']['one']}, with which the healthy fabric "
                   f"gives 141, so the first row is no test. Two: adapters that fill {found['adapter']} of their cable as well, by which the closed form gives 87 with one dead cable, so the row of 87 is no test either; barrier {found['barrier']['two']}. "
                   "The other bars of figures 3 and 6 are in no text, and cannot be compared with numbers. Simulations give the same numbers on any machine.\n")


def _figure_2(found):
    lines = [{"skew": skew, "gain": f"{100 * gain:.1f} %", "paper": {"0": "as much as 90 %", "0.5": "no more than 7 %"}.get(skew, "no number in its text"),
              "verdict": {"0": "same", "0.5": "same"}.get(skew, "-")} for skew, gain in found.items()]
    return table("TAGO, figure 2: what indirect ways can add in 15 blocks", lines, [("skew of the topology", "skew"), ("at most, of what all ways give", "gain"), ("paper", "paper"), ("", "verdict")]) + (
        "\nFor traffic at least as skewed as the topology; skew is one pair's (the paper has two readings of it, and under the other the second number is 30 %). A closed form, reached where all traffic is of that pair; no linear "
        "program, so the pictures' other points are not had.\n")


def _tago(rows):
    names = {"tables": "MIN", "hashed": "ECMP, flows", "random": "ECMP, packets", "vlb": "VLB", "ugal-l": "UGAL-L", "ugal-g": "UGAL-G", "tago": "TAGO"}
    lines = [{"pattern": r["pattern"], "load": r["load"], **{k: f"{r[k]:.3f}" for k in names}} for r in rows]
    hard = max((r for r in rows if r["pattern"] != "all-to-all"), key=lambda r: r["load"])
    others = max(hard[k] for k in ("tables", "hashed", "random", "vlb"))
    holds = hard["tago"] >= 0.9 * hard["ugal-g"] and hard["tago"] > others
    text = table("TAGO (paper 004), a small Flexfly: part of the cable that gets through", lines, [("pattern", "pattern"), ("load", "load"), *((name, key) for key, name in names.items())])
    return text + ("\n9 blocks of 4 switches with 2 servers each, 16 global cables a block: one to each other block, the rest where the shift sends (the next block but one, and back); 4 KiB messages, lanes by hops, rates up to the last arrival of all. The paper, on "
                   f"8,160 servers: TAGO within 10 % of UGAL-G, above MIN, ECMP and VLB: {'same' if holds else 'different'} here at load {hard['load']} ({hard['tago'] / hard['ugal-g']:.2f} of UGAL-G, {hard['tago'] / others:.2f} of the best of the others). "
                   "Figures 5 to 8 at their size, with Hadoop's and the traces' traffic: not done.\n")


def simulated_part(results):
    found = results.get("simulated")
    return [_fors(found["fors"]), *render_cee.cee_part(found["cee"]), _figure_2(found["figure2"]), _tago(found["tago"])] if found else []
