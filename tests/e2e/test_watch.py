# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors watch --once beside a stock opensm: what it reads is what ibnetdiscover and dump_fts read, and nothing is changed."""
import json
import re

import pytest

import harness
import over
import watching
from harness import FatTree
from watching import STOCK, may_leave, most_out, read_log, read_once, start, watch


def listener(sim):
    """A host that does not run opensm."""
    return list(sim.topology.hcas)[-1]


@pytest.mark.parametrize("name", watching.FABRICS)
def test_as_the_tools_read_it(fabric, tmp_path, name):
    sim, sm = start(fabric, name)
    node = listener(sim)
    net, lfts, told = read_once(sim, node, tmp_path)
    theirs, dump = sim.run(["ibnetdiscover"], node), sim.run(["dump_fts"], node)
    (tmp_path / "theirs.net").write_text(theirs)
    (tmp_path / "theirs.lfts").write_text(dump)
    harness.fors("diff", tmp_path / "theirs.net", tmp_path / "watch.net")
    harness.fors("diff", "--lfts", tmp_path / "theirs.lfts", tmp_path / "watch.lfts")
    assert harness.parse_tables(lfts) == harness.parse_tables(dump)
    assert "consistent" in told
    # the same plan, or the same refusal, byte for byte
    plans = []
    for prefix in ("theirs", "watch"):
        out = tmp_path / f"{prefix}.plan"
        done = harness.fors("plan", "--fabric", tmp_path / f"{prefix}.net", "--lfts", tmp_path / f"{prefix}.lfts", "--output", out, code=None)
        plans.append((done.returncode, done.stderr.replace(prefix, ""), out.read_bytes() if out.exists() else None))
    assert plans[0] == plans[1] and plans[0][0] in (0, 1)
    # from another port the same bytes
    if len(sim.topology.hcas) > 2:
        other = list(sim.topology.hcas)[1]
        assert read_once(sim, other, tmp_path)[:2] == (net, lfts)


# ---------------------------------------------------------------------------
# What leaves

@pytest.mark.parametrize("window", (None, 1, 16))
def test_only_questions_and_never_more_than_the_window(fabric, tmp_path, window):
    """Without a rate: with one, a simulator that answers between two questions never has two."""
    sim, sm = fabric(over.two_levels(), **STOCK, lmc=1)
    sm.wait_up()
    log = tmp_path / "mads"
    read_once(sim, listener(sim), tmp_path, "--rate", 0, *(["--window", window] if window else []), preload=[harness.compiled("umad_spy")],
              env={"FORS_SPY_LOG": str(log)})
    mads = read_log(log)
    sent = [mad for mad in mads if mad.what == "S"]
    assert len(sent) > 100 and all(map(may_leave, sent)), [mad for mad in sent if not may_leave(mad)][:3]
    assert all(mad.method == watching.GET for mad in sent)
    assert (most_out(mads) <= (window or 4)) and (window == 1 or most_out(mads) > 1)


def test_a_rate_is_kept(fabric, tmp_path):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    log = tmp_path / "mads"
    read_once(sim, listener(sim), tmp_path, "--rate", 500, preload=[harness.compiled("umad_spy")], env={"FORS_SPY_LOG": str(log)})
    sent = [mad.ms for mad in read_log(log) if mad.what == "S"]
    most = max(sum(1 for other in sent if ms <= other < ms + 1000) for ms in sent)
    assert most <= 505


@pytest.mark.parametrize("percent", (1, 10))
def test_lost_packets_are_asked_for_again(fabric, tmp_path, percent):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    node = listener(sim)
    whole = read_once(sim, node, tmp_path)[:2]
    lossy = read_once(sim, node, tmp_path, "--timeout", 20, "--retries", 9, preload=[harness.compiled("umad_spy")],
                      env={"FORS_SPY_DROP": str(percent)})
    assert lossy[:2] == whole


def test_a_reading_with_a_lost_packet_is_none(fabric, tmp_path):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    net = tmp_path / "none.net"
    done = watch(sim, listener(sim), "--once", "--output-net", net, "--timeout", 5, "--retries", 0,
                 preload=[harness.compiled("umad_spy")], env={"FORS_SPY_DROP": "50"})
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and not net.exists()


# ---------------------------------------------------------------------------
# What may be wrong

def test_no_right_to_open_a_port_is_one_sentence(fabric):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    done = watch(sim, listener(sim), "--once", preload=[harness.compiled("umad_spy")], env={"FORS_SPY_DENIED": "1"})
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no right to open" in done.stderr and "/dev/infiniband/umad" in done.stderr


def test_nodes_with_an_m_key(fabric, tmp_path):
    """Without the key a sentence that names the option; with it what is read without keys; other files are refused."""
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    node, key = listener(sim), tmp_path / "key"
    locked = {"preload": [harness.compiled("umad_spy")], "env": {"FORS_SPY_MKEY": "0x1234abcd"}}
    whole = read_once(sim, node, tmp_path)[:2]
    for text in ("0x1234abcd\n", "# by OpenSM\n\n0x0002c903000e0b72 0x1234abcd\n0x0002c903000e0b73 0x1234abcd\n"):
        key.write_text(text)
        assert read_once(sim, node, tmp_path, "--m-key-file", key, **locked)[:2] == whole
    for text, words in (("0x1 0x2\n0x3 0x4\n", "another M_Key"), ("", "no M_Key"), ("key\n", "line 1"), ("1 2 3\n", "line 1")):
        key.write_text(text)
        done = watch(sim, node, "--once", "--m-key-file", key)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1
    done = watch(sim, node, "--once", "--timeout", 5, "--retries", 0, **locked)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_no_such_adapter(fabric):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    done = watch(sim, listener(sim), "--once", "--ca", "mlx5_7")
    assert done.returncode == 2 and "mlx5_7" in done.stderr and done.stderr.count("\n") == 1


def test_without_a_manager_two_equal_readings_count(fabric, tmp_path):
    sim, sm = fabric(over.two_levels(), **STOCK)
    sm.wait_up()
    node = listener(sim)
    before = read_once(sim, node, tmp_path)
    assert "sent nothing meanwhile" in before[2]
    sm.stop()
    after = read_once(sim, node, tmp_path)
    assert "two readings" in after[2] and "none answers" in after[2]
    assert after[1] == before[1]


# ---------------------------------------------------------------------------
# What it is worth

def numbers(told):
    """{label: (percent, phases or None)} of the lines that --explain adds."""
    found = {}
    for line in told.splitlines():
        row = re.match(r"(today|scheduled|as engine|LMC 1)\s+(?:about )?([\d.]+) %(?: of full speed)?(?:, (\d+) phases)?", line)
        if row:
            found[row.group(1)] = float(row.group(2)), int(row.group(3)) if row.group(3) else None
    return found


def told_json(*arguments):
    return json.loads(harness.fors(*arguments, "--json").stdout)


@pytest.mark.parametrize("name", ("two-dead-cable", "uneven", "three", "torus"))
def test_an_explanation_says_what_the_other_commands_find(fabric, tmp_path, name):
    sim, _ = start(fabric, name)
    told = read_once(sim, listener(sim), tmp_path, "--explain")[2]
    files = "--fabric", tmp_path / "watch.net", "--lfts", tmp_path / "watch.lfts"
    found = numbers(told)
    shift = told_json("analyze", *files, "--pattern", "linear-shift")
    assert found["today"][0] == pytest.approx(100 * shift["sync_throughput"], abs=0.06)
    assert found["scheduled"][1] == told_json("plan", *files)["phases"]
    if name == "torus":
        assert "as engine   none" in told
    else:
        assert found["as engine"][1] == told_json("plan", "--fabric", tmp_path / "watch.net")["phases"]
    if "LMC 1" in found:
        assert found["LMC 1"][1] < found["scheduled"][1]


def test_the_estimate_for_a_second_lid_is_near_what_opensm_writes(fabric, tmp_path):
    """minhop on FT(2;8,8) with a dead cable: estimated at LMC 0, then planned over its tables at LMC 1."""
    tree = FatTree(8, 8)
    sim, sm = fabric(tree, **STOCK)
    sm.wait_up()
    mark = sm.log_end()
    sim.unlink(*tree.uplink(0, 0)[:2])
    sm.sighup()
    sm.wait_up(mark)
    estimate = numbers(read_once(sim, listener(sim), tmp_path, "--explain")[2])["LMC 1"][1]
    sm.stop()
    second = harness.OpenSM(sim, tmp_path / "second", lmc=1, **STOCK)
    fabric.also(second)
    second.wait_up()
    real = numbers(read_once(sim, listener(sim), tmp_path, "--explain")[2])["scheduled"][1]
    assert abs(estimate - real) <= 0.1 * real
