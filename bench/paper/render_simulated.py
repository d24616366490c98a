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


def simulated_part(results):
    found = results.get("simulated")
    return [_fors(found["fors"]), *render_cee.cee_part(found["cee"]), *render_tago.tago_part(found["tago"])] if found else []
