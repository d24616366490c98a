# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Simulated.py's rows as Markdown: each same, different and why, or not to be had and why."""
import render_cee
import render_tago
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


def _booksim(found):
    title = "BookSim2: mean latency over load in a fat-tree"
    if "why" in found:
        return f"## {title}\n\nCannot be had: {found['why']} (BOOKSIM=PROGRAM make bench-paper; nothing of it is in this project).\n"
    lines = [{"load": row["load"], "ours": f"{row['ours']:.1f}", "theirs": f"{row['theirs']:.1f}" if row["theirs"] else "not stable",
              "verdict": _verdict(row["ours"], row["theirs"], 0.05)} for row in found["rows"]]
    return table(title, lines, [("load", "load"), ("here, cycles", "ours"), ("BookSim2", "theirs"), ("", "verdict")]) + (
        f"\nA 4-ary tree of three levels, 64 servers, uniform traffic, packets of 8 flits, any of the next common ancestors by chance. There are 16 lanes of 4 packets there, and 64 packets a port here. Latency counts from when a packet came to be to its last flit. One number is fitted, to BookSim2's latency at load 0.01: {found['switch']:.2f} cycles of a switch. "
        "Its allocators have twice the speed of its links (internal_speedup): with the same speed they lose some cycles between packets, and its queues are up to 9 % longer at load 0.7. same: within 5 %.\n")


PARTS = {"simulated": lambda found: [_fors(found)], "cee": render_cee.cee_part, "tago": render_tago.tago_part, "booksim": lambda found: [_booksim(found)]}


def simulated_part(results):
    return [text for section, part in PARTS.items() if section in results for text in part(results[section])]
