# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Agents on hosts: started by one line of settings, asked over a socket that they open, and gone when that is closed."""
import base64
import json
import os
import resource
import secrets
import selectors
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

from children import dies_with_us
from settings import words

AT_ONCE = 64  # programs that start hosts at the same time


class HostsError(Exception):
    """Hosts did not come, or were lost, or a flow failed; .hosts: which."""

    def __init__(self, text, hosts=()):
        super().__init__(text)
        self.hosts = sorted(hosts)


def few(names):
    names = sorted(names)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


class Hosts:
    """Ends with close(); what runs on hosts ends by itself when this process does."""

    def __init__(self, settings, names, limit):
        self.settings, self.limit, self.token = settings, limit, secrets.token_hex(16)
        self.connection, self.port, self.rest = {}, {}, {}  # of hosts by name
        self.programs, self.lost = [], set()
        self.folder = tempfile.TemporaryDirectory(prefix="fors-trial-")
        self.errors = open(Path(self.folder.name, "errors"), "a+b")  # of all programs that start hosts
        self.selector = selectors.DefaultSelector()
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)  # a connection for each host
        try:
            self._listen()
            self._start(list(names))
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def _listen(self):
        address = self.settings.control or socket.getfqdn()
        if address.startswith("/"):
            Path(address).unlink(missing_ok=True)
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(address)
            self.address = address
        else:
            host, _, port = address.partition(":")
            self.listener = socket.create_server(("", int(port or 0)), backlog=4096)
            self.address = f"{host}:{self.listener.getsockname()[1]}"
        self.listener.listen(4096)
        self.selector.register(self.listener, selectors.EVENT_READ, None)

    def _command(self, name):
        text = base64.b64encode(zlib.compress(Path(__file__).with_name("agent.py").read_bytes(), 9)).decode()
        code = f"import zlib,base64;exec(zlib.decompress(base64.b64decode('{text}')))"
        return " ".join(map(shlex.quote, ["timeout", "-k", "5", str(self.limit + 60), self.settings.python, "-c", code, self.address, self.token, name,
                                          str(self.limit)]))

    def _start(self, names):
        end = time.monotonic() + self.settings.start_timeout
        in_one = "{hosts}" in self.settings.run
        todo, self.expected = [",".join(names)] if in_one else list(names), set(names)
        while todo or len(self.connection) < len(names):
            while todo and len(self.programs) - len(self.connection) < AT_ONCE:
                what = todo.pop(0)
                self.programs.append(subprocess.Popen(
                    words(self.settings.run, host=what, hosts=what, command=self._command("" if in_one else what)), stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=self.errors, start_new_session=True, preexec_fn=dies_with_us))
            self.hear(0.2)
            if time.monotonic() > end:
                missing = set(names) - self.connection.keys()
                raise HostsError(f"{len(missing)} of {len(names)} hosts did not answer within {self.settings.start_timeout} s: {few(missing)}"
                                 + self._said(), missing)

    def _said(self):
        """The last line that a program wrote that starts a host."""
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 4096))
        lines = self.errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"; the setting run said last: {last[:200]}" if last else ""

    def hear(self, seconds):
        """What hosts say within this time at most: [(host, answer)]."""
        heard = []
        for key, _ in self.selector.select(seconds):
            if key.fileobj is self.listener:
                peer, _ = self.listener.accept()
                self.selector.register(peer, selectors.EVENT_READ, [None, b""])
                continue
            try:
                data = key.fileobj.recv(65536)
            except OSError:
                data = b""
            heard += self._take(key, data)
        return heard

    def _take(self, key, data):
        state = key.data
        if not data:
            self.selector.unregister(key.fileobj)
            key.fileobj.close()
            if state[0]:
                self.lost.add(state[0])
                self.connection.pop(state[0], None)
            return []
        *lines, state[1] = (state[1] + data).split(b"\n")
        heard = []
        for line in lines:
            answer = json.loads(line)
            if state[0]:
                heard.append((state[0], answer))
            elif answer.get("token") == self.token and answer["host"] in self.expected:
                state[0] = answer["host"]
                self.connection[state[0]], self.port[state[0]] = key.fileobj, answer["port"]
        return heard

    def tell(self, host, **order):
        try:
            self.connection[host].sendall(json.dumps(order).encode() + b"\n")
        except (KeyError, OSError):
            raise HostsError(f"{host} was lost", [host]) from None

    def wait(self, hosts, key, value, seconds, watch=None):
        """{host: its answer with key = value}; watch() is called meanwhile."""
        answers, end = {}, time.monotonic() + seconds
        while len(answers) < len(hosts):
            for host, answer in self.hear(0.2):
                if answer.get(key) == value:
                    answers[host] = answer
                elif "failed" in answer and answer.get("phase") in (None, value):
                    raise HostsError(f"{host}: {answer['failed']}", [host])
            if self.lost & set(hosts):
                raise HostsError(f"lost: {few(self.lost & set(hosts))}", self.lost & set(hosts))
            if watch:
                watch()
            if time.monotonic() > end:
                late = set(hosts) - answers.keys()
                raise HostsError(f"no answer within {seconds} s: {few(late)}", late)
        return answers

    def close(self):
        for peer in list(self.connection.values()) + [self.listener]:
            peer.close()
        self.selector.close()
        end = time.monotonic() + 10
        for program in self.programs:
            try:
                program.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
        self.errors.close()
        self.folder.cleanup()
