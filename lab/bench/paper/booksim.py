# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Latency over load of a fat-tree, beside BookSim2 (Jiang et al., ISPASS 2013), where BOOKSIM names a program of it that somebody has built; nothing of
it is in this project. A 4-ary tree of three levels, 64 servers, packets of 8 flits of 64 bytes, any of the next common ancestors by chance.

BookSim2's routers have a pipeline, ours a switch time: one number, fitted to the latency of the empty network. Its uniform traffic has a server
send to itself as well; ours then sends to the next server of the same leaf, which is as far.
"""
import os
import pathlib
import re
import subprocess
import tempfile

from simulator import simulate

K, LEVELS, FLITS, FLIT, GBITS = 4, 3, 8, 64, 200
SERVERS, LANES, BUFFER = K ** LEVELS, 16, 4  # BUFFER: packets for each of its lanes
CYCLE = FLIT * 8 / GBITS  # ns
HEADER = 30
# A link is a cycle long, packets are not mixed on it; its allocators are given twice the speed of links, so that they do not decide.
SETTINGS = f"""topology = fattree; k = {K}; n = {LEVELS}; routing_function = nca; traffic = uniform; sim_type = latency; seed = 1;
packet_size = {FLITS}; injection_rate_uses_flits = 1; num_vcs = {LANES}; vc_buf_size = {BUFFER * FLITS}; hold_switch_for_packet = 1;
vc_allocator = islip; sw_allocator = islip; alloc_iters = 4; input_speedup = {LANES}; internal_speedup = 2.0; vc_prioritize_empty = 1;
credit_delay = 1; routing_delay = 0; sample_period = 1500; warmup_periods = 3; max_samples = 10; sim_count = 1;
"""


def _theirs(program, load, folder):
    """Mean latency of a packet from when it came to be, cycles; None: not stable, or no answer."""
    config = pathlib.Path(folder) / "booksim"
    config.write_text(f"{SETTINGS}injection_rate = {load};\n")
    try:
        done = subprocess.run([program, config], capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.findall(r"Packet latency average = ([0-9.]+) \(\d+ samples\)", done.stdout)
    return float(found[-1]) if found else None


def _uniform(folder):
    """Any server, as often as any other; for itself the next one of its leaf."""
    def goal(server, step):
        other = (server + step) % SERVERS
        return other if other != server else server // K * K + (server + 1) % K

    file = pathlib.Path(folder) / "uniform"
    file.write_text("".join("phase\n" + "".join(f"{s} {goal(s, step)}\n" for s in range(SERVERS)) for step in range(SERVERS)))
    return file


def _switches():
    """On the way of a packet, on average."""
    return sum((2 * level - 1) * (K ** level - (K ** (level - 1) if level > 1 else 0)) for level in range(1, LEVELS + 1)) / SERVERS


def _ours(load, switch, pattern, messages):
    """The same of ours, a switch taking so many cycles."""
    size = FLITS * FLIT - HEADER
    result = simulate("--synthetic", f"XGFT({LEVELS};{','.join([str(K)] * LEVELS)};1{f',{K}' * (LEVELS - 1)})", "--routing", "d-mod-k", "--policy", "random",
                      "--pattern-file", pattern, "--speed", GBITS, "--message", size, "--mtu", size, "--buffer", LANES * BUFFER * FLITS * FLIT,
                      "--wire-time", f"{CYCLE}ns", "--switch-time", f"{switch * CYCLE}ns", "--load", load * size / (size + HEADER), "--messages", messages)
    return result["message_latency"]["mean_ns"] / CYCLE


def measure(is_quick, program=None):
    """Rows (load, ours, theirs in cycles), and the fitted cycles of a switch; why not, when there is no program."""
    program = program or os.environ.get("BOOKSIM")
    if not program:
        return {"why": "BOOKSIM names no program of BookSim2"}
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as folder:
        empty, pattern, n = _theirs(program, 0.01, folder), _uniform(folder), _switches()
        if not empty:
            return {"why": f"BOOKSIM={program} gives no latency"}
        switch = (empty - FLITS - (n + 1)) / n
        loads = [0.3] if is_quick else [0.1, 0.3, 0.5, 0.7, 0.8]
        return {"switch": switch, "rows": [{"load": load, "ours": _ours(load, switch, pattern, 400 if is_quick else 4000), "theirs": _theirs(program, load, folder)} for load in loads]}
