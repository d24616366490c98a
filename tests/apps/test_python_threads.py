# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The Python module forsched between threads: whoever closes or refreshes a schedule hurts nobody who uses it.

Each in a process of its own, whose freed memory is overwritten (MALLOC_PERTURB_), so that a use after the end does not go well by chance.
"""
import os
import subprocess
import sys
import textwrap

import pytest

from test_python import LIBRARY, TOP, plan, stamp

MODULE = os.environ.get("FORSCHED_PYTHON", os.path.join(TOP, "libforsched", "python"))

HEAD = """\
import sys, threading, time
sys.setswitchinterval(1e-5)
import forsched

def all_of(schedule):
    "One after the other, whatever it offers."
    info = schedule.info
    uses = [lambda: schedule.info, lambda: schedule.more, lambda: repr(schedule), lambda: schedule.servers, lambda: schedule.server(1), lambda: schedule.flow(1, 1),
            lambda: list(schedule.phases(2)), lambda: list(schedule.sends(3)), lambda: list(schedule.ways(4)), lambda: schedule.way(1, 1), lambda: schedule.sl(1, 1),
            lambda: schedule.prepare(5), lambda: schedule.check(), lambda: len(schedule.copy()), lambda: schedule.find_guid(schedule.server(0).guid),
            lambda: schedule.find_lid(schedule.server(0).lid), lambda: schedule.path_index, lambda: schedule.newest(), lambda: schedule.newer(), lambda: schedule.epoch,
            lambda: schedule.nphases]
    while True:
        for use in uses:
            use()

def run(work, *arguments):
    "Until it is closed."
    def body():
        try:
            work(*arguments)
        except ValueError as error:
            seen.append(str(error))
        except BaseException as error:
            wrong.append(repr(error))
            raise
    thread = threading.Thread(target=body)
    thread.start()
    return thread

seen, wrong = [], []
"""


def process(code, *arguments):
    done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(code), *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": MODULE, "FORSCHED_LIBRARY": str(LIBRARY), "MALLOC_PERTURB_": "165"})
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


@pytest.fixture(params=["file", "version 2", "memory"])
def path(request, tmp_path):
    made = plan(tmp_path / "schedule", "FT(2;6,5)", "--lmc", "3", "--method", "exact")
    stamp(made, 100, more="wsn" if request.param == "version 2" else "")
    return made if request.param != "memory" else f"memory:{made}"


def test_close_beside_threads(path):
    """All of them end with a ValueError, none with a signal."""
    process("""
        path = sys.argv[1]
        def opened():
            if not path.startswith("memory:"):
                return forsched.open(path)
            with open(path[7:], "rb") as file:
                return forsched.open_memory(file.read())
        def flows(schedule):
            while True:
                for phase in range(20):
                    schedule.flow(3, phase)
        for turn in range(40):
            schedule, seen[:] = opened(), []
            uses = [flows] * 6 if turn % 2 or path.startswith("memory:") else [all_of] * 6
            threads = [run(use, schedule) for use in uses]
            time.sleep(0.002 * (turn % 5))
            closers = [threading.Thread(target=schedule.close) for _ in range(2)]
            for closer in closers:
                closer.start()
            for thread in threads + closers:
                thread.join()
            assert seen == ["the schedule is closed"] * 6 and not wrong, (seen, wrong)
        """, path)


def test_a_context_manager_beside_threads(path):
    process("""
        if sys.argv[1].startswith("memory:"):
            sys.exit()
        def rows(schedule):
            while True:
                list(schedule.phases(7))
        for turn in range(40):
            with forsched.open(sys.argv[1]) as schedule:
                threads = [run(rows, schedule) for _ in range(4)]
            for thread in threads:
                thread.join()
        assert not wrong, wrong
        """, path)


def test_refresh_beside_threads(tmp_path):
    """What one call says is of one epoch; many refresh, and nobody goes back."""
    first = plan(tmp_path / "first", "FT(2;4,4)")
    second = plan(tmp_path / "second", "FT(2;3,3)")
    for epoch in range(100, 160):
        stamp(second if epoch % 2 else first, epoch)
        (tmp_path / f"{epoch}").write_bytes((second if epoch % 2 else first).read_bytes())
    process("""
        import os
        folder = sys.argv[1]
        os.link(f"{folder}/100", f"{folder}/schedule")
        schedule, done = forsched.open(folder), []
        def reader():
            last = 0
            while not done:
                info = schedule.info
                assert (info.nservers == 9) == bool(info.epoch % 2) and info.epoch >= last, (info, last)
                last = info.epoch
                assert len(schedule.servers) in (9, 16) and len(list(schedule.phases(0))) in (9, 16) and len(list(schedule.sends(0))) in (8, 15)
        def refresher():
            while not done:
                schedule.refresh()
        threads = [run(reader) for _ in range(4)] + [run(refresher) for _ in range(3)]
        for epoch in range(101, 160):
            os.rename(f"{folder}/{epoch}", f"{folder}/schedule")
            time.sleep(0.005)
        time.sleep(0.05)
        schedule.refresh()
        assert schedule.epoch == 159
        done.append(True)
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        """, tmp_path)


def test_refresh_does_not_open_what_is_closed(tmp_path):
    first = stamp(plan(tmp_path / "schedule", "FT(2;3,3)"), 100)
    with_more = tmp_path / "newer"
    with_more.write_bytes(first.read_bytes())
    stamp(with_more, 101)
    process("""
        import os
        for turn in range(300):
            schedule = forsched.open(f"{sys.argv[1]}/schedule")
            threads = [run(schedule.refresh) for _ in range(3)] + [run(schedule.close)]
            if turn == 100:
                os.rename(f"{sys.argv[1]}/newer", f"{sys.argv[1]}/schedule")
            for thread in threads:
                thread.join()
            assert "closed" in repr(schedule)
        assert not wrong and len(os.listdir("/proc/self/fd")) < 10, (wrong, os.listdir("/proc/self/fd"))
        """, tmp_path)


def test_iterators_go_on_with_what_they_began_with(tmp_path):
    path = stamp(plan(tmp_path / "schedule", "FT(2;4,4)"), 100)
    process("""
        import os
        schedule = forsched.open(sys.argv[1])
        wanted = [list(schedule.phases(1)), list(schedule.sends(1)), list(schedule.ways(1))]
        iterators = [schedule.phases(1), schedule.sends(1), schedule.ways(1), schedule.phases(2)]
        got = [[next(iterator)] for iterator in iterators[:3]]
        schedule.close()
        assert [one + list(iterator) for one, iterator in zip(got, iterators)] == wanted
        try:
            next(iterators[3])
            sys.exit("it began when it was closed")
        except ValueError:
            pass
        del iterators
        assert sys.argv[1] not in [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")]
        """, path)


def test_a_watch_between_threads(tmp_path):
    """Several wait for one, and are told; a wait without end ends when another thread closes it."""
    path = stamp(plan(tmp_path / "schedule", "FT(2;3,3)"), 100)
    newer = tmp_path / "newer"
    newer.write_bytes(path.read_bytes())
    stamp(newer, 101)
    process("""
        import os
        watch, found = forsched.Watch(sys.argv[1]), []
        threads = [run(lambda: found.append(watch.wait(100))) for _ in range(4)]
        for _ in range(200):
            assert watch.newest() == 100
        os.rename(f"{sys.argv[1]}/newer", f"{sys.argv[1]}/schedule")
        for thread in threads:
            thread.join()
        assert found == [101] * 4 and not wrong
        for turn in range(30):
            watch, seen[:] = forsched.Watch(sys.argv[1]), []
            def look():
                while True:
                    watch.newest(), watch.fileno()
            threads = [run(watch.wait, 101), run(watch.wait, 101, 600), run(look), run(look)]
            time.sleep(0.001 * turn)
            watch.close()
            for thread in threads:
                thread.join()
            assert seen == ["the watch is closed"] * 4 and not wrong, (seen, wrong)
        """, tmp_path)
