# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One change of a simulated fabric, watched: what happened when, and what changed in the switches.

Used by the demo and the bench, for fors and for the stock engines alike. Times are seconds
after the change, from the stamps in opensm's own log and the time of the schedule file.
"""
import re
import time
from collections import namedtuple
from datetime import datetime

import harness
import loads

QUIET = 0.3  # seconds without a word in the log: opensm has finished

# trap, tables, up, epoch: seconds after the change, None when it did not come; entries, blocks: changed in the
# switches, None when opensm just came up
Event = namedtuple("Event", "trap tables up epoch entries blocks")

# The fabric at rest: cables and tables as the switches have them, the tables as dump_fts prints them too,
# and the status of fors (empty for other engines)
State = namedtuple("State", "live tables dump status")

STOCK = {"event_plugin_name": None}


def log_time(line):
    """Seconds since 1970 of a line of opensm's log."""
    found = re.match(r"(\w{3} \d\d [\d:]{8}) (\d{6}) ", line)
    stamp = datetime.strptime(f"{time.localtime().tm_year} {found[1]}", "%Y %b %d %H:%M:%S")
    return stamp.timestamp() + int(found[2]) / 1e6


def logged_at(log, text):
    """Time of the first line of the log text with `text` in it, or None."""
    for line in log.splitlines():
        if text in line and re.match(r"\w{3} \d\d ", line):
            return log_time(line)
    return None


VERBOSE = {"log_flags": "0x07"}  # opensm says when it begins to build tables


def build_times(log):
    """
    Of the first tables that the log (VERBOSE) tells of: seconds from the call of the routing engine, or of the first of several that
    failed, until all entries are there and asked for, and until every switch has answered; None where it does not tell.
    """
    moments, at = [], 0
    for text in ("building routing with", "tables configured on all switches", "SWITCHES CONFIGURED FOR UNICAST"):
        at = log.find(text, at)
        if at < 0:
            return None, None
        stamped = [line for line in log[:at].splitlines() if re.match(r"\w{3} \d\d ", line)]  # a box has its stamp lines above
        moments.append(log_time(stamped[-1]))
    return moments[1] - moments[0], moments[2] - moments[0]


def is_swept(log):
    """Has each link that was reported as changed been swept? On a busy machine a sweep begins long after its trap."""
    return log.rfind("num:128") <= log.rfind("SUBNET UP")  # both -1: nothing was reported


def settle(osm, position=0, timeout=60):
    """Wait until opensm has nothing more to do about what its log says from position on and fors, if it routes, has planned."""
    last = [osm.log_end(), time.monotonic()]

    def quiet():
        osm.check_alive()
        if osm.log_end() != last[0]:
            last[:] = [osm.log_end(), time.monotonic()]
        return time.monotonic() - last[1] > QUIET and osm.status().get("state") != "planning" and is_swept(osm.log(position))
    harness.wait_for(quiet, timeout, "opensm to settle", 0.02)


def _completed(sim, live, dump):
    """dump_fts leaves out the last LID of a fabric when that begins a block of 64: its rows are read from the simulator, then."""
    last = max([*live.switch_lid.values(), *(port.lid + (1 << port.lmc) - 1 for port in live.servers.values())], default=1)
    if last % loads.BLOCK:
        return dump
    lines, row, table = [], None, sim.snapshot().table
    for line in dump.splitlines():
        head = harness.LFT_HEAD.match(line)
        if head:
            ports = table[head.group(2)]
            row = f"0x{last:04x} {ports[last]:03d} :" if last < len(ports) and ports[last] != harness.NO_PATH else None
        end = re.match(r"(\d+) (.*lids dumped)", line)
        if row and end:
            lines.append(row)
            line = f"{int(end[1]) + 1} {end[2]}"
        lines.append(line)
    return "\n".join([*lines, ""])


def read_state(sim, osm):
    """The fabric at rest. Read from the switches, not from opensm; again where opensm did something meanwhile."""
    while True:
        position, live = osm.log_end(), harness.read_live(sim)
        dump = _completed(sim, live, sim.run(["dump_fts", "-n"]))
        state = State(live, harness.parse_tables(dump), dump, osm.status())
        if osm.log_end() == position:
            return state
        settle(osm, position)


def bring_up(sim, osm):
    """Wait for a new opensm; (Event, State)."""
    osm.wait_up(timeout=120)
    settle(osm)
    return _event(osm, osm.log(), osm.started, 0), read_state(sim, osm)


def act(osm, action):
    """Do action() and wait until opensm has done with it; what it logged, and when it began."""
    position, started = osm.log_end(), time.time()
    action()
    osm.wait_up(position, timeout=60)
    settle(osm, position)
    return osm.log(position), started


def change(sim, osm, before, action):
    """Do action(), wait until all is done, read the switches; (Event, State)."""
    log, started = act(osm, action)
    after = read_state(sim, osm)
    entries = harness.changed_entries(before.tables, after.tables)
    event = _event(osm, log, started, before.status.get("epoch") or 0)
    return event._replace(entries=len(entries), blocks=loads.changed_blocks(entries)), after


def _event(osm, log, started, epoch):
    times = [logged_at(log, text) for text in ("num:128", "tables configured on all switches", "SUBNET UP")]
    status = osm.status()
    has_new = status.get("state") == "active" and status["epoch"] > epoch
    times.append(osm.schedule_file.stat().st_mtime if has_new else None)
    return Event(*(None if moment is None else moment - started for moment in times), None, None)
