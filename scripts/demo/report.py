# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the demo puts on the terminal: steps, facts and one table. Silent when JSON is asked for."""
import os
import sys

BOLD, GREEN, RED, DIM = "1", "32", "31", "2"


class Report:
    """Text for a person; colours only on a terminal."""

    def __init__(self, is_silent=False):
        self.is_silent = is_silent
        self.has_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.step_number = 0

    def paint(self, colour, text):
        return f"\033[{colour}m{text}\033[0m" if self.has_colour else text

    def line(self, text=""):
        if not self.is_silent:
            print(text, flush=True)

    def step(self, title):
        self.step_number += 1
        self.line()
        self.line(self.paint(BOLD, f"{self.step_number}. {title}"))

    def fact(self, text):
        self.line(f"   {text}")

    def verdict(self, is_good, text):
        word = self.paint(GREEN, "good") if is_good else self.paint(RED, "BAD ")
        self.line(f"   {word} {text}")

    def moment(self, seconds, text):
        """Something that happened so long after the change."""
        if seconds is not None:
            self.line(f"   {1000 * seconds:8.1f} ms  {text}")

    def table(self, heads, rows, best=()):
        """Columns as wide as they must be; numbers to the right; columns in `best` in green."""
        width = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
        self.line()
        self.line("   " + self.paint(BOLD, "  ".join(_cell(head, i, width[i]) for i, head in enumerate(heads))))
        for row in rows:
            cells = [_cell(text, i, width[i]) for i, text in enumerate(row)]
            self.line("   " + "  ".join(self.paint(GREEN, c) if i in best else c for i, c in enumerate(cells)))


def _cell(text, column, width):
    return text.ljust(width) if column == 0 else text.rjust(width)
