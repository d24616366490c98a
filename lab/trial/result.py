# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The report: what the steps found, as one page and one file of JSON; and both again with made-up names, to be sent to others."""
import hashlib
import hmac
import html
import json
import re
import secrets
from pathlib import Path

STEPS = ("look", "static", "exchange", "failure")
STYLE = """body{font:15px/1.45 sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}table{border-collapse:collapse;margin:.6em 0}
td,th{padding:.15em .7em;border-bottom:1px solid #ddd;text-align:right;font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}
.off{background:#fde3d8}pre{white-space:pre-wrap}svg{display:block;margin:.5em 0}h2{margin-top:2em}.note{color:#666}"""


def collect(folder):
    """{step: [what it found, each time]} of the files that the steps left."""
    found = {}
    for step in STEPS:
        for file in sorted(Path(folder).glob(f"{step}*.json")):
            found.setdefault(step, []).append(json.loads(file.read_text()))
    return found


# -- made-up names

class Disguise:
    """The same name becomes the same made-up one in all reports of a folder, and nobody without its secret can tell which it was."""

    def __init__(self, folder, hosts, switches, others=()):
        file = Path(folder, "secret")
        if not file.exists():
            file.touch(0o600)
            file.write_text(secrets.token_hex(32))
        self.secret = file.read_text().encode()
        self.name = {name: self.made("switch", name) for name in switches}
        self.name.update({name: self.made("host", name) for name in hosts})
        for name in [word for name in (*hosts, *switches) for word in re.split(r"[\s;:]+", name) if len(word) > 2]:
            self.name.setdefault(name, self.made("name", name))
        self.name.update({word: self.made("name", word) for word in others if word})
        longest = sorted(map(re.escape, self.name), key=len, reverse=True)
        self.known = re.compile(r"(?<![A-Za-z0-9])(?:" + "|".join(longest) + r")(?![A-Za-z0-9])") if longest else None

    def made(self, kind, name):
        return f"{kind}-{hmac.new(self.secret, name.encode(), hashlib.sha256).hexdigest()[:6]}"

    def text(self, said):
        """A sentence without names, GUIDs, LIDs, addresses, paths."""
        if self.known:
            said = self.known.sub(lambda found: self.name[found[0]], said)
            said = re.sub(r"\b((?:host|name|switch)-[0-9a-f]{6})(?:\.[A-Za-z][\w-]*)+", r"\1", said)  # the domain, too
        said = re.sub(r"\b(?:0x)?[0-9a-fA-F]{12,16}\b|\b0x[0-9a-fA-F]+\b", lambda found: self.made("guid", found[0]), said)
        said = re.sub(r"\b\d+\.\d+\.\d+\.\d+\b(?::\d+)?|\b(?:[0-9a-fA-F]{0,4}:){3,}[0-9a-fA-F:]*", lambda found: self.made("address", found[0]), said)
        said = re.sub(r"\b(LIDs?)(?: of)? \d+", r"\1 (left out)", said)
        return re.sub(r"(?<![\w<])/[\w.@+-]+(?:/[\w.@+-]*)+", "(path)", said)

    def of(self, what):
        if isinstance(what, dict):
            return {self.text(key): self.of(value) for key, value in what.items()}
        if isinstance(what, list):
            return [self.of(value) for value in what]
        return self.text(what) if isinstance(what, str) else what


# -- the page

def rows(head, lines, marks=()):
    body = "".join(f"<tr{' class=off' if number in marks else ''}>" + "".join(f"<td>{html.escape(cell(value))}</td>" for value in line) + "</tr>"
                   for number, line in enumerate(lines))
    return "<table><tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in head) + f"</tr>{body}</table>"


def cell(value):
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def sentences(lines):
    return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>" if lines else ""


def bars(phases):
    """Measured seconds of each phase as bars, predicted ones as strokes."""
    most, wide = max(max(row["measured_s"], row["predicted_s"]) for row in phases), max(4, min(24, 800 // len(phases)))
    drawn = []
    for i, row in enumerate(phases):
        off = abs(row["measured_s"] / row["predicted_s"] - 1) > 0.05
        high, line = 90 * row["measured_s"] / most, 100 - 90 * row["predicted_s"] / most
        drawn.append(f"<rect x='{i * wide + 1}' y='{100 - high:.1f}' width='{wide - 2}' height='{high:.1f}' fill='{'#d95f30' if off else '#4a7fb5'}'/>"
                     f"<path d='M{i * wide} {line:.1f}h{wide}' stroke='#111' stroke-width='2'/>")
    return f"<svg width='{len(phases) * wide}' height='102' role='img' aria-label='seconds of each phase'>{''.join(drawn)}</svg><p class=note>highest: {most:.3g} s</p>"


def of_look(found):
    lines = [("hosts", found["hosts"]), ("switches", found["switches"]), ("cables", found["cables"])]
    lines += [(f"cables between switches, {speed} Gbit/s", count) for speed, count in found["speeds_gbits"].items()]
    for name, key in (("phases over these tables, and at least", "over_these_tables"), ("phases with fors as the engine, and at least", "as_engine")):
        lines.append((name, f"{found[key].get('phases')}, {found[key].get('lower_bound')}"))
    waited = rows(("most waiting, since counters were cleared", "times"), [(row["link"], row["waited"]) for row in found["waited_most"]])
    return (f"<h2>The fabric, and the promise</h2>{rows(('', ''), lines)}<pre>{html.escape(chr(10).join(found['promise']))}</pre><h3>In the way</h3>"
            f"{sentences(found['in_the_way'])}{waited if found['waited_most'] else ''}")


def of_static(found):
    lines = [(row["level"], row["kind"], row["flows"], row["seconds"], "; ".join(f"{one['link']}: {one['messages']}" for one in row["strayed"][:4]))
             for row in found["rounds"]]
    return (f"<h2>Is routing static?</h2><p><b>{html.escape(found['verdict'])}</b></p>{sentences(found['wrong_cables'])}"
            f"{rows(('service level', 'flows are', 'flows', 'seconds', 'messages where no table sends them'), lines)}"
            "<p class=note>“not seen” is no proof: a switch may route adaptively under other load. “seen” is one.</p>")


def of_way(found):
    lines = [(found["way"], *(found.get("throughput", {}).get(key) for key in ("predicted", "measured")), f"{found.get('within')} of {len(found['phases'])}")]
    head = rows(("way", "predicted, part of full speed", "measured", "phases within 5 %"), lines)
    phases = [(row["phase"], row["flows"], row["predicted_s"], row["measured_s"], row["measured_s"] / row["predicted_s"], row["fullest"])
              for row in found["phases"]]
    marks = [i for i, line in enumerate(phases) if abs(line[4] - 1) > 0.05]
    links = [(row["link"], row["predicted"], row["measured"], row["waited"]) for row in found.get("links", [])]
    off = [i for i, line in enumerate(links) if abs(line[2] - line[1]) > max(0.5, 0.05 * line[1])]
    return (head + (bars(found["phases"]) if found["phases"] else "") + sentences(found.get("differences", []))
            + f"<details><summary>phases</summary>{rows(('phase', 'flows', 'predicted s', 'measured s', 'ratio', 'fullest link'), phases, marks)}</details>"
            + f"<details><summary>links</summary>{rows(('link', 'predicted messages', 'measured', 'waited'), links, off)}</details>")


def of_exchange(found, title="The exchange"):
    label = f" ({found['label']})" if found.get("label") else ""
    stopped = f"<p><b>Stopped: {html.escape(found['stopped'])}</b></p>" if found["stopped"] else ""
    return (f"<h2>{html.escape(title + label)}</h2><p>{found['hosts']} hosts, messages of {found['bytes']} bytes; a flow that meets nobody has "
            f"{found['full_gbits']:.4g} Gbit/s.</p>{stopped}" + "".join(map(of_way, found["runs"])))


def of_failure(found):
    times = [f"{time:.3f} s" if time is not None else "no answer any more" for time in found["failover_s"]]
    back = "" if found["came_back"] else "<p><b>The cable has not come up again. Look at it.</b></p>"
    return (f"<h2>{html.escape('A failure: ' + found['cable'])}</h2>"
            f"<p>Longest time without an answer, of probes that passed it: {', '.join(times) or 'no probe'}.</p>{back}"
            + of_exchange(found["before"], "Before") + of_exchange(found["while_down"], "While it is down"))


def page(found, title):
    parts = {"look": of_look, "static": of_static, "exchange": of_exchange, "failure": of_failure}
    body = "".join(parts[step](one) for step in STEPS for one in found.get(step, []))
    return (f"<!DOCTYPE html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style><h1>{title}</h1>"
            "<p>Bars are measured seconds, strokes predicted ones; orange differs by more than 5 %. Full speed, 1, is a host that sends alone; "
            f"the phase of each host with itself is not measured.</p>{body}</html>\n")


def write(folder, disguise):
    """report.html and report.json, with real names; send.html and send.json without. Returns their paths."""
    found, made = collect(folder), []
    for name, what, title in (("report", found, "fors trial"), ("send", disguise.of(found), "fors trial, names replaced")):
        for ending, text in ((".html", page(what, title)), (".json", json.dumps(what, indent=1) + "\n")):
            made.append(Path(folder, name + ending))
            made[-1].write_text(text, encoding="utf-8")
    return made
