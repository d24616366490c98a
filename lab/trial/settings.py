# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The one file of settings of a trial: lines KEY = VALUE. Whatever touches the fabric is a command there, so a testbed has its own."""
import shlex
import socket
from types import SimpleNamespace

DEFAULTS = {
    "run": "ssh -o BatchMode=yes -o ConnectTimeout=10 {host} {command}",  # a program on a host; {hosts}: one call for all, separated by commas
    "hosts": "",        # names, separated by commas or blanks; all hosts of the fabric when empty
    "own": "",          # this host, as the fabric calls it
    "second": "",       # the host that holds the timer of a disabled cable, too; the first other one when empty
    "control": "",      # ADDRESS[:PORT] of this host that others reach, or the path of a socket to be
    "python": "python3",
    "read": "fors watch --once --output-net {net} --output-lfts {lfts}",
    "counters": "",     # prints lines GUID PORT SENT RECEIVED WAITED; perfquery when empty
    "links": "iblinkinfo -l",
    "manager": "sminfo",
    "path": "saquery -p --src-to-dst {slid}:{dlid}",  # the path record of a pair; not asked when empty
    "disable": "ibportstate -G {guid} {port} disable",
    "enable": "ibportstate -G {guid} {port} enable",
    "probe": "smpquery -t 100 nodeinfo {lid}",
    "kind": "perftest",  # or tcp, from address to address: {address}
    "address": "",       # of a LID, with kind tcp: 10.77.{high}.{low}
    "device": "mlx5_0",
    "sls": "0",          # service levels in use, separated by commas
    "schedule": "",      # a published one; a plan over the tables as they are when empty
    "ways": "schedule, shift, at-once",  # how hosts send in an exchange
    "bytes": "1073741824",
    "phases": "32",      # of each exchange, at most: evenly over all
    "thanks": "0",       # of a message's bytes, what goes back for it
    "repeats": "1",      # of each phase: the median counts
    "start_timeout": "60", "phase_timeout": "120", "settle_timeout": "60", "hold": "900",
}
NUMBERS = ("bytes", "phases", "repeats", "start_timeout", "phase_timeout", "settle_timeout", "hold")


class SettingsError(Exception):
    """The file says something that cannot be."""


def read(path):
    values = dict(DEFAULTS)
    if path:
        try:
            lines = open(path, encoding="utf-8").read().splitlines()
        except OSError as error:
            raise SettingsError(f"{path}: {error.strerror}") from None
        for number, line in enumerate(lines, 1):
            key, sign, value = (word.strip() for word in line.partition("="))
            if key and not key.startswith("#"):
                if not sign or key not in DEFAULTS:
                    raise SettingsError(f"{path}:{number}: '{key}' is no setting; there are {', '.join(DEFAULTS)}")
                values[key] = value
    return check(values, path)


def check(values, path):
    for key in NUMBERS:
        if not values[key].isdigit() or not int(values[key]):
            raise SettingsError(f"{path}: {key} is '{values[key]}', but has to be a whole number above 0")
        values[key] = int(values[key])
    if values["kind"] not in ("perftest", "tcp"):
        raise SettingsError(f"{path}: kind is '{values['kind']}', but has to be perftest or tcp")
    if "{command}" not in values["run"] or not ("{host}" in values["run"] or "{hosts}" in values["run"]):
        raise SettingsError(f"{path}: run has to have {{command}}, and {{host}} or {{hosts}}")
    values["hosts"], values["ways"] = (values[key].replace(",", " ").split() for key in ("hosts", "ways"))
    if not set(values["ways"]) <= {"schedule", "shift", "at-once"}:
        raise SettingsError(f"{path}: ways are schedule, shift and at-once")
    values["sls"] = [int(level) for level in values["sls"].split(",")]
    values["thanks"] = float(values["thanks"])
    values["own"] = values["own"] or socket.gethostname().split(".")[0]
    return SimpleNamespace(**values)


def words(template, **what):
    """The words of a command, with what stands in braces put in; a word may hold blanks then."""
    made = shlex.split(template)
    for name, value in what.items():
        made = [word.replace("{" + name + "}", str(value)) for word in made]
    return made
