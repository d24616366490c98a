# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What was measured beside what the papers print: Markdown and pictures."""
import re
import statistics
import textwrap

import engines
import pictures
import published
import rates
import render_simulated
import svg
from tables_text import table

TOLERANCE = 0.03  # throughputs that count as the same: the paper compares bars of measurements


def seconds(value):
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f} s"
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def ratio(value):
    """Two significant digits, no exponent."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


# --- FORS, figures 3 and 6 ---

def _engines_table(rows):
    names = list(dict.fromkeys(row["engine"] for row in rows))
    lines = [{"scenario": scenario, **{name: _cell(rows, scenario, name) for name in names}}
             for scenario in dict.fromkeys(row["scenario"] for row in rows)]
    return table("FORS, figures 3 and 6: throughput of the synchronised exchange", lines,
                 [("failure", "scenario"), *((name, name) for name in names)])


def _cell(rows, scenario, engine):
    row = next((r for r in rows if r["scenario"] == scenario and r["engine"] == engine), {})
    if "model" not in row:
        return "fails"
    fell = row["used"] not in (row["engine"], "fors")
    return f"{row['model']:.3f}{'*' if fell else ''}"


def with_fixed_cost(part):
    """Gbit/s when each phase takes its load, and o: one number, fitted to the healthy value. `part`: of the healthy model."""
    o = published.FORS_LINK / published.FORS_HEALTHY - 1
    return published.FORS_LINK / (1 / part + o)


def _measured(rows):
    lines = []
    for (scenario, engine), gbit in published.FORS_MEASURED.items():
        ours, base = engines.throughput(rows, scenario, engine), engines.throughput(rows, "0F", "ftree")
        if ours and base:
            lines.append({"failure": scenario, "engine": engine, "gbit": gbit,
                          "paper": f"{gbit / published.FORS_HEALTHY:.3f}", "model": f"{ours / base:.3f}",
                          "cost": f"{with_fixed_cost(ours / base):.1f}"})
    return table("What the FORS paper measured, as a part of its healthy fabric", lines,
                 [("failure", "failure"), ("engine", "engine"), ("paper, Gbit/s per server", "gbit"),
                  ("paper, part of healthy", "paper"), ("our model", "model"),
                  ("model with a fixed cost, Gbit/s", "cost")])


def _says(rows):
    lines = []
    for words, engine, left, relation, right in published.FORS_SAYS:
        a, b = engines.throughput(rows, left, engine), engines.throughput(rows, right, engine)
        if a is None or b is None:
            continue
        holds = abs(a - b) <= TOLERANCE if relation == "=" else a < b
        lines.append({"words": words, "engine": engine, "claim": f"{left} {relation} {right}", "model": f"{a:.3f}, {b:.3f}",
                      "holds": holds})
    return table("What the FORS paper says of them", lines,
                 [("the paper", "words"), ("engine", "engine"), ("", "claim"), ("our model", "model"), (f"holds (within {TOLERANCE})", "holds")])


def _engine_bars(rows, names, title):
    groups = list(dict.fromkeys(row["scenario"] for row in rows))
    present = [name for name in names if any(row["engine"] == name for row in rows)]
    return svg.bar_chart(title, "of full speed", groups,
                         {name: [engines.throughput(rows, group, name) for group in groups] for name in present})


def fors_part(results):
    rows = results.get("engines")
    if not rows:
        return []
    return [_engines_table(rows), NOTE_ENGINES, "![figure 3](paper-figure3.svg)\n![figure 6](paper-figure6.svg)\n",
            _measured(rows), NOTE_MEASURED, _says(rows)]


NOTE_ENGINES = """1 is an exchange in which every server always sends at full speed. Stock engines have the linear shift over the tables that they wrote into the simulated switches. fors has its own schedule over its own tables, with the intact fabric as its reference_fabric. (An opensm that never saw the dead spines, and is not told of them, takes 18 spines for all there are: at LMC 0 that costs much.) A star: the engine gave up and OpenSM
took minhop. "fails": it left servers that do not reach each other.
"""
NOTE_MEASURED = """The paper's fabric had 326 servers in use and real messages; the model has 360, and knows only how many flows share a link. The
last column gives each phase a fixed cost beside its load, the same for all: one number, fitted to the healthy 141 (0.42 of the time of a message at full speed). That is the first row, so it says something in the others only. It is a plausible account and no proof: the paper's fixed costs were not measured. `fors simulate`, packet by packet, says 84.4 for
the dead cable and 140.7 for fors in the same way ([simulate.md](simulate.md)).
"""


# --- FORS, figure 7 ---

def figure7_part(results):
    rows = results.get("figure7")
    if not rows:
        return []
    off = [row for row in rows if row["phases"] != row["paper"]]
    worst = max((row["phases"] / row["paper"] for row in rows), default=1)
    return ["## FORS, figure 7: phases over the bandwidth reduction\n\n"
            f"{len(rows)} points, every planned in this run with one leaf losing f cables. The paper's formula gives P_f = ceil(M0 (P - M0) / "
            "(M0 - f)) phases for the exchange between leaves; with the exchange inside leaves, which the plans here contain, the least "
            f"is max(P, P_f). {len(rows) - len(off)} of {len(rows)} plans have exactly that many; the most above it is a factor of {worst:.4f}.\n\n"
            "![figure 7](paper-figure7.svg)\n"]


# --- MMF, tables 1 and 2 ---

def _ratios(row, numbers):
    """How many times longer than OPT, of a row's seconds or the paper's."""
    return {name: numbers[name] / numbers["opt"] for name in ("dmk", "pf", "lp") if numbers.get(name)}


def _table1(rows):
    lines = []
    for row in rows:
        ours, paper = _ratios(row, {**row["estimated"], **row["seconds"]}), _ratios(row, row["paper"])
        line = {"fabric": row["fabric"], "pattern": f"{row['problems']} x {row['pattern']}", "flows": row["flows"],
                "opt": seconds(row["seconds"]["opt"]), "opt_paper": seconds(row["paper"].get("opt"))}
        for name in ("dmk", "pf", "lp"):
            mark = "~" if name in row["estimated"] else ""
            line[name] = f"{mark}{ratio(ours.get(name))} ({ratio(paper.get(name))})"
        lines.append(line)
    return table("MMF, table 1: time of the optimum, and of the others as multiples of it (the paper's in brackets)", lines,
                 [("fabric", "fabric"), ("problems", "pattern"), ("flows each", "flows"), ("OPT", "opt"), ("OPT, paper", "opt_paper"),
                  ("DMK / OPT", "dmk"), ("PF / OPT", "pf"), ("LP / OPT", "lp")])


def _agreement(results):
    worst = max([d for row in results["table1"] for d in row["difference"].values()]
                + [row["difference"] for row in results["generic"]["rows"]], default=None)
    slower = [f"{row['fabric']} {row['pattern']}" for row in results["table1"] if row["seconds"]["opt"] > row["seconds"]["dmk"]]
    lines = ["OPT is the rates by subtree cuts, DMK those of single paths by D-mod-K (both with the same queue of limits, on one thread, turn by turn in "
             "one process; the shortest of at least three turns, in seconds of the processor), PF and LP look at all links in every round. " + NOTE_EXTRAPOLATION.format(limit=results.get("limit", rates.LIMIT))]
    if worst is not None:
        lines.append(f"The rates of OPT, PF, LP and GEN, where they ran, differ by at most {worst:.1e}.")
    lines.append(f"OPT is slower than DMK in {len(slower)} of {len(results['table1'])} rows{': ' + ', '.join(slower) if slower else ''}.\n")
    return "\n".join(lines)


NOTE_EXTRAPOLATION = """A number with ~ was not measured: the case was given up after {limit} seconds, or would
have been. It is the time of the largest case of the same pattern that was measured, times the growth of the work. That is rounds (different rates of the solution) times flows with all their links for PF, and rounds times links for LP."""


def _generic(generic):
    if not generic["rows"]:
        return "The generic program was not run: fors was built without lp_solve.\n"
    text = table("MMF: the generic linear program (GEN)", generic["rows"],
                 [("fabric", "fabric"), ("flows", "flows"), ("variables", "variables"), ("GEN", lambda r: seconds(r["gen"])),
                  ("OPT", lambda r: seconds(r["opt"])), ("largest difference of rates", lambda r: f"{r['difference']:.1e}")])
    if generic["estimate_288"]:
        text += (f"\nBy the slope of these, one permutation on XGFT(2;12,24;1,12) would take {seconds(generic['estimate_288'])}; the paper: "
                 f"{seconds(generic['paper_288'])}, with CPLEX.\n")
    return text


def _table2(rows):
    def times(row, which):
        return ", ".join(seconds(row[which].get(t, row[which].get(str(t)))) for t in (1, 2, 4))
    return table("MMF, table 2: the optimum on 1, 2 and 4 threads", rows,
                 [("fabric", "fabric"), ("pattern", "pattern"), ("here", lambda r: times(r, "seconds")),
                  ("paper", lambda r: times(r, "paper"))])


NOTE_THREADS = """Several problems (20 permutations, 5 grids, the phases of a pattern, the samples of an index) go to several threads. Of a single
problem only the paths are found in parallel: the queue of limits is one queue, and the same bytes come out for any number of threads. The
paper's 310 seconds have become too short for threads to matter.
"""


# --- MMF, figures 9 and 10 ---

def _indices(name, rows):
    tree, means = published.INDICES[name]
    title = f"MMF, {name.replace('figure', 'figure ')}: throughput indices of {rows[0]['fabric']}, {rows[0]['servers']:,} servers"
    text = table(title, rows, [("pattern", "pattern"), ("map", "map"), ("D-mod-K", lambda r: f"{r['routed']:.3f}"),
                               ("optimum", lambda r: f"{r['optimum']:.3f}"),
                               ("D-mod-K / optimum", lambda r: f"{r['routed'] / r['optimum']:.3f}" if r["optimum"] else "-")])
    parts = [f"{which} map {rates.part_of_optimum(rows, which):.2f}"
             + (f" (paper: {means[which]})" if rows[0]["fabric"] == tree else "") for which in ("direct", "random")]
    return text + (f"\nD-mod-K as a part of the optimum, mean over the patterns: {', '.join(parts)}. The whole table, both routings and the crossbar, "
                   f"{rows[0]['samples']} samples of each pattern: {rows[0]['cpu_s']:.1f} s of the processors, {rows[0]['total_s']:.1f} s by the clock.\n\n![{name}](paper-{name}.svg)\n")


def _index_bars(name, rows):
    groups = list(dict.fromkeys(row["pattern"] for row in rows))
    series = {f"{label}, {which} map": [row[key] for row in rows if row["map"] == which]
              for which in ("direct", "random") for key, label in (("routed", "D-mod-K"), ("optimum", "optimum"))}
    return svg.bar_chart(f"Throughput indices of {rows[0]['fabric']}", "of a crossbar", groups, series)


def _table4(rows):
    lines = []
    for row in rows:
        if row["map"] == "random" and row["pattern"] in published.TABLE_4:
            dmk, opt = published.TABLE_4[row["pattern"]]
            lines.append({"pattern": row["pattern"], "dmk": seconds(row["routed_s"] / row["samples"]),
                          "opt": seconds(row["optimum_s"] / row["samples"]), "dmk_paper": seconds(dmk), "opt_paper": seconds(opt)})
    return table("MMF, table 4: time for one problem on the tree of figure 10, random map", lines,
                 [("pattern", "pattern"), ("DMK, with loads", "dmk"), ("OPT", "opt"), ("DMK, paper", "dmk_paper"),
                  ("OPT, paper, 4 threads", "opt_paper")])


def mmf_part(results):
    found = results.get("rates")
    if not found:
        return []
    parts = [_table1(found["table1"]), _agreement(found), "![table 1](paper-table1.svg)\n", _generic(found["generic"]),
             _table2(found["table2"]), NOTE_THREADS, *(_indices(name, rows) for name, rows in found["indices"].items())]
    return parts + ([_table4(found["indices"]["figure10"])] if "figure10" in found["indices"] else [])


def _table1_bars(rows):
    groups = [f"{row['servers']} {row['pattern'].replace('permutation', 'perm.')}" for row in rows]
    return svg.bar_chart("Table 1: seconds, here and in the paper", "seconds", groups,
                         {"OPT": [row["seconds"]["opt"] for row in rows], "DMK": [row["seconds"]["dmk"] for row in rows],
                          "OPT, paper": [row["paper"].get("opt") for row in rows],
                          "DMK, paper": [row["paper"].get("dmk") for row in rows]}, is_log=True)


# --- SAR, several jobs at once ---

def _speeds(found, title):
    rows = found["rows"]
    lines = []
    for way in dict.fromkeys(row["way"] for row in rows):
        line = {"way": way}
        for row in rows:
            if row["way"] == way:
                line[row["placement"], row["dead"]] = f"{row['mean']:.3f} / {row['worst']:.2f}"
        lines.append(line)
    heads = list(dict.fromkeys((row["placement"], row["dead"]) for row in rows))
    return table(title, lines, [("", "way"), *((f"{placement}, {dead} dead", (placement, dead)) for placement, dead in heads)])


def _routes(found):
    """SAR's own measure: EFI, dark fiber, links per job, of base LIDs; each pattern of one set of tables tells the same."""
    lines = [{**row, "dark": f"{100 * row['dark_fiber']:.1f} %", "efi": f"{row['efi_max']:.1f}", "one": f"{row['job_efi']:.1f}",
              "cables": f"{row['links']:.0f}"} for row in found["rows"] if row["way"].endswith("shift") and not row["dead"]]
    return table("SAR, table 1: routes of jobs over links between switches, mean over the moments, nothing dead", lines,
                 [("placement", "placement"), ("tables", lambda row: row["way"].removesuffix(", shift")), ("EFI, all jobs", "efi"),
                  ("EFI of a job", "one"), ("dark fiber", "dark"), ("links of a job", "cables")])


def jobs_part(results):
    found = results.get("several")
    if not found:
        return []
    jobs, owned = max(row["jobs"] for row in found["rows"]), [row for row in found["rows"] if row["way"].startswith("owned")]
    return [_speeds(found, f"Several jobs at once on {found['fabric']}: mean / worst speed of a job beside the others"),
            f"{found['moments']} moments, {jobs} jobs of 16 to 128 servers in all, each exchanging all-to-all with a clock of its own; 1 is an ideal "
            "network. Jobs of one leaf count too, and meet nobody. Cables die at random, others at each moment. With owned lanes "
            f"{sum(row['unplanned'] for row in owned)} jobs had no plan, and {sum(row['meetings'] for row in owned)} cables had flows of two "
            "jobs that own their lanes. The job index is one LID for each server, over entries of its job's lanes; "
            f"{sum(row['unplanned'] for row in found['rows'] if row['way'].startswith('job index'))} jobs had no plan there.\n", _routes(found),
            *_three_levels(found.get("three")), *_seven_jobs(found.get("seven"))]


def _three_levels(found):
    if not found:
        return []
    busy = statistics.mean(row["busy"] for row in found["rows"])
    return [_speeds(found, f"The same on three levels, {found['fabric']}"),
            f"{found['moments']} moments, {max(row['jobs'] for row in found['rows'])} jobs in all, {busy:.0f} servers at work. Beside what each job would "
            "have alone over the cables that live: "
            + "; ".join(f"{row['way']}, {row['placement']}, {row['dead']} dead: {row['of_alone']:.3f}" for row in found["rows"]
                        if row["way"].startswith(("owned", "job index"))) + ". The engine that the stock opensm took, with routing_engine ftree: "
            + "; ".join(f"{dead} dead, {engine} at {count} of {found['moments']} moments" for dead, engine, count in found["ftree"])
            + ". By the lanes of leaves alone no owners give a larger mean, nothing dead, a job without lanes counted as 0, than "
            + ", ".join(f"{most:.3f} ({placement})" for placement, most in found["most"].items()) + ".\n"]


def _seven_jobs(found):
    if not found:
        return []
    parts = []
    for use in dict.fromkeys(row["use"] for row in found["rows"]):
        rows = [row for row in found["rows"] if row["use"] == use]
        busy = statistics.mean(row["busy"] for row in rows)
        title = f"Seven jobs at once, {busy:.0f} servers at work on {found['fabric']}, {found['moments']} moments"
        parts.append(_speeds({"rows": rows}, f"{title}: mean / worst speed of a job beside the others"))
    return parts


HEAD = """# The papers' results

What `make bench-paper` measured, once, on one machine, beside what papers print: FORS (Stein et al.), MMF (Mollah, Yuan, Pakin,
Lang, TPDS 2018) and SAR (Domke, Hoefler, SC16); simulated, Switch AR on CEE (Crisan, Gusat, Minkenberg) and TAGO (Teh et al.). All algorithms and
engines ran in the same run; times differ from machine to machine, so read the ratios. The mathematics is in
[model.md](model.md). This file is written by the command; JSON and pictures lie beside it.
"""


def where_measured(results):
    """Where, by which program, and which sections by another."""
    machine, hosts = results["machine"], results["sections"]
    days = sorted({host["time"] for host in hosts.values()})
    programs = {}
    for section, host in hosts.items():
        programs.setdefault(host["program"], []).append(section)
    load = max(host["load"] for host in hosts.values())
    told = (f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {machine['processor']}, {machine['cores']} cores, {machine['system']}; "
            f"load average at most {load:.0f} when a section began. ")
    told += "All sections are of one program" if len(programs) == 1 else "Of different programs: " + "; ".join(", ".join(names) for names in programs.values())
    if load > machine["cores"]:
        told += ". Times by the clock (MMF, tables 2 and 4, figures 9 and 10) are that much longer"
    return told + ".\n"


def filled(line, columns=140):
    """A line of running text as lines that are not longer; rows of tables, headings and lines with a URL stay, code is not torn."""
    if len(line) <= columns or line.lstrip().startswith(("|", "#", "!")) or "://" in line:
        return line
    item = re.match(r"\s*(?:[-*] )?", line).group()
    whole = re.sub(r"`[^`]*`", lambda code: code.group().replace(" ", "\0"), line)
    return textwrap.fill(whole, columns, subsequent_indent=" " * len(item), break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def markdown(results):
    parts = [HEAD, where_measured(results)]
    text = "\n".join([*parts, *fors_part(results), *figure7_part(results), *render_simulated.simulated_part(results), *mmf_part(results),
                      *jobs_part(results)])
    return "\n".join(map(filled, text.split("\n")))


def draw(results):
    """{file name: SVG text}."""
    drawn = {}
    if results.get("engines"):
        stock = ["ftree", "minhop", "updn", "dfsssp", "nue"]
        drawn["paper-figure3.svg"] = _engine_bars(results["engines"], stock, "FORS, figure 3: stock engines after failures")
        drawn["paper-figure6.svg"] = _engine_bars(results["engines"], ["fors, LMC 5", "fors, LMC 0", "ftree", "minhop"],
                                                  "FORS, figure 6: fors beside ftree and minhop")
    if results.get("figure7"):
        drawn["paper-figure7.svg"] = pictures.figure7(results["figure7"])
    if results.get("rates"):
        drawn["paper-table1.svg"] = _table1_bars(results["rates"]["table1"])
        for name, rows in results["rates"]["indices"].items():
            drawn[f"paper-{name}.svg"] = _index_bars(name, rows)
    return drawn
