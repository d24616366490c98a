# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What runs on a host during a trial. It is sent there as text, so nothing is installed: `python3 -c ... ADDRESS TOKEN NAME LIMIT`.

It connects back to the command, does what lines of JSON say, and ends with all that it started as soon as that connection ends, whatever
ended it, or after LIMIT seconds. A host that holds the timer of a disabled cable (op "guard") enables it before that.
"""
import ctypes
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time

CHUNK = 65536
out = threading.Lock()
waiting, held = {}, {}  # flow id -> its connection, ready to send; command that enables -> its timer


def dies_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def say(**answer):
    with out:
        control.sendall(json.dumps(answer).encode() + b"\n")


def release(command):
    """Enable a cable whose timer this host holds; only the first who asks does it."""
    if held.pop(command, None):
        for _ in range(10):
            if not subprocess.run(shlex.split(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode:
                return
            time.sleep(1)


def end():
    for command in list(held):
        release(command)
    os.killpg(os.getpgrp(), signal.SIGKILL)


# -- bytes over TCP, from the address of one LID to that of another

def serve(listener):
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=take, args=(peer,), daemon=True).start()


def take(peer):
    """Read as many bytes as the first eight say, then thank for them."""
    peer.settimeout(limit)
    peer.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 0x10)  # thanks go first where switches heed that: the testbed's do
    try:
        left = int.from_bytes(peer.recv(8, socket.MSG_WAITALL), "big")
        while left:
            data = peer.recv(min(left, CHUNK))
            if not data:
                return
            left -= len(data)
        peer.sendall(b"!")
        peer.recv(1)
    except OSError:
        pass
    finally:
        peer.close()


def echo(sock):
    while True:
        data, sender = sock.recvfrom(64)
        sock.sendto(data, sender)


def prepare_tcp(flow):
    peer = socket.socket()
    peer.settimeout(limit)
    peer.bind((flow["from"], 0))
    peer.connect((flow["to"], flow["port"]))
    return peer


def send_tcp(flow, peer):
    left, begun = flow["bytes"], time.monotonic()
    peer.sendall(left.to_bytes(8, "big"))
    while left:
        left -= peer.send(bytes(min(left, CHUNK)))
    if peer.recv(1) != b"!":
        raise OSError("the receiver has gone")
    seconds = time.monotonic() - begun
    peer.close()
    return seconds


# -- perftest: a pair of ib_write_bw for each flow

def perftest(flow, server=None):
    words = ["ib_write_bw", "-d", flow["device"], "-p", str(flow["port"]), "-s", str(CHUNK), "-n", str(max(5, flow["bytes"] // CHUNK)), "-S",
             str(flow["sl"]), "-F", "--report_gbits"]
    return subprocess.Popen(words + ([server] if server else []), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            preexec_fn=dies_with_us)


def send_perftest(flow, _):
    for _ in range(5):  # the other end may not listen yet
        done = perftest(flow, flow["to"])
        text = done.communicate(timeout=limit)[0]
        rows = [line.split() for line in text.splitlines() if line.split()[:1] == [str(CHUNK)]]
        if not done.returncode and rows:
            return flow["bytes"] * 8 / (float(rows[-1][3]) * 1e9)
        time.sleep(1)
    raise OSError("ib_write_bw: " + text[-300:])


# -- what the command asks for

def prepare(order):
    """Connect, so that "go" has only bytes to send."""
    for flow in order["flows"]:
        waiting[flow["id"]] = flow, prepare_tcp(flow) if order["kind"] == "tcp" else None
    say(ready=order["phase"])


def listen(order):
    for flow in order["flows"]:
        threading.Thread(target=perftest(flow).communicate, daemon=True).start()
    say(ready=order["phase"])


def go(order):
    send, results, threads = send_tcp if order["kind"] == "tcp" else send_perftest, {}, []

    def one(number, flow, peer):
        results[number] = send(flow, peer)

    for number, (flow, peer) in waiting.items():
        threads.append(threading.Thread(target=one, args=(number, flow, peer), daemon=True))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = len(waiting) - len(results)
    waiting.clear()
    say(done=order["phase"], seconds=results, lost=lost)


def probe(order):
    """Ask along one path again and again: the longest time without an answer, and whether the last question had one."""
    begun = last = time.monotonic()
    longest, good = 0, False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if not order.get("command"):
            sock.bind((order["from"], 0))
            sock.settimeout(0.05)
        while time.monotonic() < begun + order["seconds"] and not stopped.is_set():
            if order.get("command"):
                good = not subprocess.run(shlex.split(order["command"]), stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode
            else:
                try:
                    sock.sendto(b"?", (order["to"], order["port"]))
                    good = bool(sock.recv(64))
                except OSError:
                    good = False
            now = time.monotonic()
            longest, last = (max(longest, now - last), now) if good else (longest, last)
            time.sleep(0.005)
    say(probed=order["id"], longest=max(longest, time.monotonic() - last), good=good)


def guard(order):
    """Hold the timer of a cable; that it can be enabled from here is tried at once, while it is."""
    done = subprocess.run(shlex.split(order["command"]), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise OSError(f"{order['command']}: {(done.stdout + done.stderr)[-300:]}")
    held[order["command"]] = threading.Timer(order["seconds"], release, [order["command"]])
    held[order["command"]].daemon = True
    held[order["command"]].start()
    say(guards=True)


def unguard(order):
    held.pop(order["command"], None)
    say(guards=False)


def obey(order):
    try:
        {"prepare": prepare, "listen": listen, "go": go, "probe": probe, "guard": guard, "unguard": unguard,
         "halt": lambda _: stopped.set()}[order["op"]](order)
    except Exception as error:  # whatever it is, the command has to know
        say(failed=str(error), phase=order.get("phase"))


def main():
    global control, limit, stopped
    address, token, name, limit = sys.argv[-4], sys.argv[-3], sys.argv[-2], float(sys.argv[-1])
    if os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: end())
    signal.alarm(int(limit) + 5)
    stopped = threading.Event()
    if address.startswith("/"):
        control = socket.socket(socket.AF_UNIX)
        control.connect(address)
    else:
        host, port = address.rsplit(":", 1)
        control = socket.create_connection((host, int(port)), 30)
        control.settimeout(None)
        control.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        control.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
        control.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    listener = socket.socket()
    listener.bind(("", 0))
    listener.listen(1024)
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    questions.bind(("", listener.getsockname()[1]))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    threading.Thread(target=echo, args=(questions,), daemon=True).start()
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        try:
            os.nice(-19)
        except OSError:
            pass
    say(token=token, host=name or socket.gethostname(), port=listener.getsockname()[1])
    for line in control.makefile():
        threading.Thread(target=obey, args=(json.loads(line),), daemon=True).start()
    end()


try:
    main()
finally:
    end()
