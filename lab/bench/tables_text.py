# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The results as text: Markdown tables that are also readable as they are."""


# In the order in which they mostly come; trap to asked, confirmed and up are of opensm's log, the others fors's own
STEPS = ["trap", "discovered", "asked", "filled", "first_block", "last_block", "planned", "confirmed", "published", "copied",
         "command", "up"]
STEPPED = ["minhop", "fors"]


def number(value):
    """A number as short as it can be told; a dash for what is unknown."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def table(title, rows, columns):
    """columns: [(heading, key or function of a row)]."""
    cells = [[number(key(row) if callable(key) else row.get(key)) for _, key in columns] for row in rows]
    heads = [head for head, _ in columns]
    width = [max(len(row[i]) for row in [heads, *cells]) for i in range(len(heads))]

    def render_row(row):
        return "| " + " | ".join(cell.ljust(width[i]) for i, cell in enumerate(row)) + " |"
    rule = "|" + "|".join("-" * (w + 2) for w in width) + "|"
    return "\n".join([f"## {title}", "", render_row(heads), rule, *map(render_row, cells), ""])


def sweeps_tables(rows):
    good = [row for row in rows if "error" not in row]
    minhop = {(row["fabric"], row["lmc"]): row for row in good if row["engine"] == "minhop"}

    def ratio(row):
        ours = row["fill_ms"] if row["engine"] == "fors" else row["build_ms"]
        base = minhop.get((row["fabric"], row["lmc"]), {}).get("build_ms")
        return base / ours if base and ours else None

    def name(row):
        return row["engine"] + ("*" if row["fell_back"] else "")
    place = [("fabric", "fabric"), ("LMC", "lmc"), ("engine", name)]
    parts = [
        table("Building the tables inside opensm", good,
              [*place, ("build ms (log)", "build_ms"), ("fill ms (fors)", "fill_ms"), ("minhop / this", ratio)]),
        table("What a failure changes in the switches", good,
              [*place, ("1 cable: entries", "cut_entries"), ("blocks", "cut_blocks"),
               ("1 switch: entries", "spine_entries"), ("blocks ", "spine_blocks")]),
        table("One cable cut: milliseconds after it", good,
              [*place, ("tables sent", "cut_to_tables_ms"), ("SUBNET UP", "cut_to_up_ms"),
               ("new epoch", "cut_to_epoch_ms"), ("linear shift then", "shift_after_cut")]),
        table("The same, step by step", [row for row in good if row["engine"] in STEPPED],
              [*place, *((step.replace("_", " "), f"step_{step}") for step in STEPS)])]
    notes = [f"- {row['fabric']}, LMC {row['lmc']}, {row['engine']}: {row['error']}" for row in rows if "error" in row]
    parts.append("\\* the engine gave up at least once and minhop took over.\n")
    return "\n".join(parts + (["No result:", *notes, ""] if notes else []))


def figure7_table(rows):
    return table("Phases over the bandwidth reduction (one leaf loses f cables)", rows,
                 [("fabric", "fabric"), ("f", "f"), ("phases", "phases"), ("lower bound", "lower_bound"),
                  ("factor", "factor")])


def random_table(rows):
    def above(row):
        return "; ".join(f"{phases} ({bound})" for phases, bound in row["above"]) or None
    return table("Random failures on FT(2;20,18), exact planner", rows,
                 [("links", "links"), ("sets", "sets"), ("T = LB", "at_bound"),
                  ("T > LB: T (LB)", above), ("fewest phases", "phases_min"),
                  ("most", "phases_max"), ("plan ms mean", "plan_ms_mean"), ("most ", "plan_ms_max")])


def planners_table(rows):
    columns = [(key.replace("_", " "), key) for key in (rows[0] if rows else {})]
    return table("Planning time", rows, columns)


def check_table(rows):
    return table("Checking tables beside filling them, processor time", rows,
                 [("fabric", "fabric"), ("servers", "servers"), ("LMC", "lmc"), ("dead cables", "dead"), ("fill ms", "fill_ms"),
                  ("check ms", "check_ms"), ("ratio", "ratio")])


def populations_table(rows):
    return table("Random populations, one LID per server", rows,
                 [("family", "family"), ("dead", "dead"), ("fabrics", "fabrics"), ("lump / LB", "lump"), ("tables / LB", "tables"),
                  ("T / LB", "phases"), ("T / max(LB, lump)", "mean"), ("90 %", "p90"), ("worst", "worst"),
                  ("that is T, LB, lump, tables", lambda row: ", ".join(map(str, row["worst_is"])))])


def shifts_table(rows):
    columns = [(key, key) for key in ("family", "servers", "leaves", "lanes", "fullest")]
    return table("Shift over base LIDs of random healthy populations, throughput", rows,
                 [*columns, ("P mod lanes", "rest"), *((engine, engine) for engine in ("minhop", "updn", "ftree", "fors"))])


def churn_table(rows):
    return table("Leaf entries that a failure changes", rows,
                 [("fabric", "fabric"), ("failures", "failures"), ("changed", "changed"), ("whose way lived", "way lived"),
                  ("share", lambda row: row["way lived"] / row["changed"] if row["changed"] else None)])


def levels_table(rows):
    return table("Three-level trees: tables and rounds", rows,
                 [("fabric", "fabric"), ("failure", "failure"), ("sets", "sets"), ("fewest rounds", "best"),
                  ("ms", "tables_ms"), ("worst ms", "worst_ms"), ("check ms", "check_ms"), ("T/LB", "over_bound"),
                  ("worst", "worst_over"), ("leaf entries moved", "moved")])


def jobs_table(rows):
    return table("A change of jobs on three levels, ms of processor time", rows,
                 [("fabric", "fabric"), ("plan_steps", lambda row: row["plan_steps"] or "as it is"), ("changes", "changes"), ("plans", "plans"), ("lanes", "lanes_ms"),
                  ("worst", "worst_lanes_ms"), ("with plans", "ms"), ("worst", "worst_ms"), ("mean speed", "speed")])


def engines_table(rows):
    """Trees of three levels under each engine; what is not said of one is not known."""
    parts = [table("Stock engines beside fors on three levels", [row for row in rows if "error" not in row],
                   [("fabric", "fabric"), ("dead", "failure"), ("engine", "engine"), ("throughput", "throughput"), ("limit", "limit"),
                    ("entries changed", "entries_changed"), ("callback ms", "tables_ms"), ("built ms", "build_ms"),
                    ("all switches have it", "build_whole_ms"), ("SUBNET UP", "up_ms"), ("new epoch", "epoch_ms")])]
    return "\n".join([*parts, *(f"No result: {row['fabric']}, {row['engine']}: {row['error']}" for row in rows if "error" in row), ""])


def lock_table(rows):
    return table("Under OpenSM's lock on three levels, ms of processor time, the least of several", rows,
                 [("fabric", "fabric"), ("dead", "failure"), ("minhop", "minhop_ms"), ("fors", "fors_ms"), ("of it the callback", "callback_ms"),
                  ("fors / minhop", "ratio")])


def forsched_table(rows):
    return table("What libforsched costs an application", rows,
                 [("fabric", "fabric"), ("LMC", "lmc"), ("method", "method"), ("kB", "kilobytes"),
                  ("open us", "open_us"), ("first use of a server us", "first_use_us"), ("look-up ns", "flow_ns"),
                  ("at random ns", "flow_at_random_ns"), ("newer epoch? us", "newest_us"),
                  ("check all ms", "check_all_ms")])


def wake_table(rows):
    return table("Who waits hears of a newer schedule: microseconds after it got its name, median of 40 times", rows,
                 [("processes", "processes"), ("half of them", "half_us"), ("the last one", "last_us"), ("worst of all", "worst_us")])


def render(results):
    machine = results["machine"]
    parts = [f"Measured {machine['time']} on {machine['processor']}, {machine['cores']} cores, {machine['system']}.\n"]
    makers = {"planners": planners_table, "figure7": figure7_table, "random": random_table, "populations": populations_table,
              "shifts": shifts_table,
              "churn": churn_table, "levels": levels_table, "jobs": jobs_table, "lock": lock_table, "engines": engines_table, "check": check_table, "forsched": forsched_table, "wake": wake_table, "sweeps": sweeps_tables}
    parts += [maker(results[section]) for section, maker in makers.items() if results.get(section)]
    return "\n".join(parts)
