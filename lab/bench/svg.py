# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Two kinds of pictures as small SVG files: lines and grouped bars. No library needed.

A Frame maps data to the drawing; the charts put axes, data, a legend and notes into it. A routing engine has the same colour in every
picture, that of the pages of `fors whatif` (lab/page/engine_colours.json); what is no engine has none of theirs.
"""
import functools
import json
import math
import pathlib
import re
import textwrap
from html import escape

WIDTH, HEIGHT = 760, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 50, 60
PALE = ("LMC 0", "model", "callback")  # of two series of one engine, "NAME, THIS" is the pale one
OTHERS = ["#3b528b", "#d95f0e", "#35978f", "#8c510a", "#c994c7", "#999999"]
STYLE = ("text{font-family:sans-serif;font-size:12px;fill:#222}.title{font-size:15px;font-weight:bold}"
         ".group,.note{font-size:11px}.note{fill:#555}.grid{stroke:#ddd}.axis{stroke:#444}")
TITLE_SIZE, TITLE_LETTER = 15, 0.58  # pixels; width of a bold letter as a part of its height, on average
GROUP_LETTER = 6.2  # width of a letter below the bars
NOTE_LETTER, NOTE_LINE = 5.8, 15  # of a note: width of a letter, on average; height of a line


class Frame:
    """The plot area; x and y run over given ranges, y linear or logarithmic."""

    def __init__(self, x_range, y_range, is_log=False):
        self.x_range, self.y_range, self.is_log = x_range, y_range, is_log

    def x(self, value):
        low, high = self.x_range
        return LEFT + (value - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        low, high = self.y_range
        if self.is_log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return HEIGHT - BOTTOM - (value - low) / ((high - low) or 1) * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, anchor="middle", cls="", extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{cls}" {extra}>{escape(str(words))}</text>'


def line(x1, y1, x2, y2, cls):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{cls}"/>'


def ticks(low, high, is_log):
    """Round numbers between low and high."""
    if is_log:
        return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10.0 ** math.floor(math.log10((high - low) or 1))
    step = next(step * m for m in (0.1, 0.2, 0.25, 0.5, 1, 2) if (high - low) / (step * m) <= 6)
    return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def y_axis(frame, label):
    parts = []
    for value in ticks(*frame.y_range, frame.is_log):
        y = frame.y(value)
        parts += [line(LEFT, y, WIDTH - RIGHT, y, "grid"), text(LEFT - 8, y + 4, f"{value:g}", "end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(text(18, middle, label, extra=f'transform="rotate(-90 18 {middle:.1f})"'))
    return parts


@functools.cache
def engines():
    """{engine: its colour on white}"""
    table = pathlib.Path(__file__).resolve().parents[2] / "lab" / "page" / "engine_colours.json"
    return {name: on_white for name, (on_white, _) in json.loads(table.read_text(encoding="utf-8")).items()}


def colours(names):
    """Of engines ("fors", "fors, LMC 0") theirs; all others in turn."""
    others = iter(OTHERS * len(names))
    return [_engine_colour(name) or next(others) for name in names]


def _engine_colour(name):
    engine, _, kind = name.partition(", ")
    found = engines().get(engine)
    return _half_way_to_white(found) if found and kind in PALE else found


def _half_way_to_white(colour):
    return "#" + "".join(f"{(int(colour[at:at + 2], 16) + 255) // 2:02x}" for at in (1, 3, 5))


def legend(names, labels=None):
    """labels: {name: what the legend says in its place}"""
    parts, x = [], LEFT
    for name, colour in zip(names, colours(names)):
        name = (labels or {}).get(name, name)
        parts.append(f'<rect x="{x}" y="{TOP - 18}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(x + 17, TOP - 8, name, "start"))
        x += 35 + 7 * len(name)
    return parts


def document(title, parts, note=""):
    """The note says below the picture what is not plain: gaps, jumps, what was counted how."""
    size = min(TITLE_SIZE, (WIDTH - 20) / (TITLE_LETTER * len(title)))
    lines = textwrap.wrap(note, int((WIDTH - 2 * RIGHT) / NOTE_LETTER))
    height = HEIGHT + NOTE_LINE * len(lines) + (6 if lines else 0)
    parts = parts + [text(RIGHT, HEIGHT + NOTE_LINE * (row + 1) - 5, words, "start", "note") for row, words in enumerate(lines)]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
                      f'aria-label="{escape(title, True)}">', f"<style>{STYLE}</style>",
                      f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
                      text(WIDTH / 2, 20, title, cls="title", extra=f'style="font-size:{size:.1f}px"' if size < TITLE_SIZE else ""),
                      *parts, "</svg>", ""])


def limits(values, is_log):
    low, high = min(values), max(values)
    if is_log:
        return 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high * 1.0001))
    return min(0, low), high * 1.05


def line_chart(title, x_label, y_label, series, is_log=False, y_range=None, note=""):
    """series: {name: [(x, y), ...]}."""
    points = [point for line_ in series.values() for point in line_]
    frame = Frame((min(x for x, _ in points), max(x for x, _ in points)),
                  y_range or limits([y for _, y in points], is_log), is_log)
    parts = y_axis(frame, y_label) + legend(list(series))
    for value in ticks(*frame.x_range, False):
        parts.append(text(frame.x(value), HEIGHT - BOTTOM + 18, f"{value:g}"))
    parts.append(text(WIDTH / 2, HEIGHT - 14, x_label))
    parts.append(line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "axis"))
    for line_, colour in zip(series.values(), colours(list(series))):
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line_)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in line_]
    return document(title, parts, note)


def bar_chart(title, y_label, groups, series, is_log=False, note="", labels=None):
    """groups: names below the axis; series: {name: [value or None per group]}. A cross stands where there is no value."""
    values = [value for bars in series.values() for value in bars if value]
    frame = Frame((0, len(groups)), limits(values, is_log), is_log)
    parts = y_axis(frame, y_label) + legend(list(series), labels)
    bottom, room = HEIGHT - BOTTOM, 0.84 / len(series)
    for g, name in enumerate(groups):
        parts += group_label(name, frame.x(g + 0.5), frame.x(1) - frame.x(0))
        for i, (bars, colour) in enumerate(zip(series.values(), colours(list(series)))):
            if bars[g]:
                parts.append(_bar(frame, g + 0.08 + i * room, room, bars[g], colour))
            else:
                parts.append(text(frame.x(g + 0.08 + (i + 0.5) * room), bottom - 4, "\u00d7", extra=f'style="fill:{colour}"'))
    parts.append(line(LEFT, bottom, WIDTH - RIGHT, bottom, "axis"))
    return document(title, parts, note)


def _bar(frame, x, room, value, colour):
    left, width = frame.x(x), frame.x(x + room) - frame.x(x) - 1
    return (f'<rect x="{left:.1f}" y="{frame.y(value):.1f}" width="{width:.1f}" '
            f'height="{HEIGHT - BOTTOM - frame.y(value):.1f}" fill="{colour}"><title>{value:.4g}</title></rect>')


def group_label(name, middle, room):
    """The name of a group below its bars, `room` pixels wide, in as many lines as it takes."""
    return [text(middle, HEIGHT - BOTTOM + 16 + 13 * row, words, cls="group")
            for row, words in enumerate(_wrap(name, int((room - 4) / GROUP_LETTER)))]


def _wrap(name, most):
    """Cut at blanks, and after commas, where a line would have more than `most` letters."""
    lines = [""]
    for word in re.findall(r"[^ ,]*[ ,]*", name):
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > most:
            lines.append("")
        lines[-1] += word
    return [line_.strip() for line_ in lines if line_.strip()]
