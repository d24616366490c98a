# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors wait-epoch: it says the next epoch when there is one, and nothing before."""
import subprocess

from conftest import FORS


def waiting(*arguments):
    return subprocess.Popen([FORS, "wait-epoch", *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_the_next_epoch(fors, stamp, tmp_path):
    """Of a file, of a folder that is not there yet, above a number; and of a schedule that was withdrawn."""
    path = tmp_path / "later" / "schedule"
    early = waiting(path.parent, "--after", "99", "--timeout", "60")
    path.parent.mkdir()
    fors("plan", "--synthetic", "FT(2;3,3)", "--output", path)
    stamp(path, 100)
    assert early.communicate()[0] == "100\n" and early.returncode == 0
    assert fors("wait-epoch", path, "--after", "99").out == "100\n"
    many = [waiting(path, "--after", "100", "--timeout", "60") for _ in range(8)]
    stamp(path, 101)
    assert [one.communicate()[0] for one in many] == ["101\n"] * 8
    stamp(path, 102, "a reason")
    assert fors("wait-epoch", path.parent, "--after", "101").out == "102\n"


def test_the_time_is_over(fors, stamp, tmp_path):
    path = tmp_path / "schedule"
    assert "no epoch above 0 within 0 seconds" in fors("wait-epoch", path, "--timeout", "0", code=1).err
    fors("plan", "--synthetic", "FT(2;3,3)", "--output", path)
    stamp(path, 100)
    assert "no epoch above 100 within 1 second" in fors("wait-epoch", path, "--timeout", "1", code=1).err
    assert "no epoch above 100" in fors("wait-epoch", path, "--after", "100", "--timeout", "0", code=1).err


def test_who_waits_for_what_is_none_is_told(fors, stamp, tmp_path):
    """A misspelt name would be waited for in silence, for ever; a device for certain."""
    path = tmp_path / "no-schedule"
    path.write_text("a letter\n")
    for wrong in (path, tmp_path / "absent", tmp_path):
        process = subprocess.Popen([FORS, "wait-epoch", wrong], stderr=subprocess.PIPE, text=True)
        assert "waiting for a schedule; now " in (line := process.stderr.readline()) and str(wrong) in line
        process.kill()
        process.communicate()
    assert "neither a file nor a folder" in fors("wait-epoch", "/dev/null", code=2).err


def test_bad_numbers(fors, tmp_path):
    for epoch in ("-1", "1x", "", "18446744073709551616"):
        assert "has to be an epoch" in fors("wait-epoch", tmp_path, "--after", epoch, code=2).err
    fors("wait-epoch", tmp_path, "--timeout", "86401", code=2)
    fors("wait-epoch", code=2)
