# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
One server of lab/testbed/reorder.py: reliable connections as InfiniBand has them, over UDP.

    queue_pair.py OWN_ADDRESS SECONDS WINDOW SEED ADDRESS...

Messages to the others in random order, one at a time. Packets of a connection are numbered. A receiver takes them in their order only:
it drops one that comes before another, and says which it misses (once, a NAK); the sender then goes back to that one. At the end it
prints what that came to, as JSON.
"""
import json
import random
import select
import socket
import struct
import sys
import time

PORT, MESSAGE, PAYLOAD = 4791, 100, bytes(880)  # packets of a message, bytes of a packet
PATIENCE = 5.0  # seconds until a packet counts as lost: queues are long when many send to one
START = 3.0     # seconds until all are there
DATA, ACK, NAK = range(3)


class Server:
    def __init__(self, own, window, seed, others):
        self.window, self.others, self.random = window, others, random.Random(seed)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 23)  # SO_RCVBUFFORCE: nothing is lost because this process is late
        self.socket.bind((own, PORT))
        self.socket.setblocking(False)
        self.sent = dict.fromkeys(others, 0)      # number of the first packet that was never sent
        self.expected = dict.fromkeys(others, 0)  # and that is to come
        self.has_asked = dict.fromkeys(others, False)
        self.count = dict.fromkeys(("messages", "accepted", "early", "naks", "resent", "lost"), 0)
        self.reordered = set()
        self._begin()

    def _begin(self):
        self.peer = self.random.choice(self.others)
        self.base = self.next = self.sent[self.peer]
        self.end, self.heard = self.base + MESSAGE, time.monotonic()

    def send(self):
        while self.next < min(self.end, self.base + self.window):
            try:
                self.socket.sendto(struct.pack("!BI", DATA, self.next) + PAYLOAD, (self.peer, PORT))
            except BlockingIOError:
                return
            self.count["resent"] += self.next < self.sent[self.peer]
            self.next += 1
            self.sent[self.peer] = max(self.sent[self.peer], self.next)

    def receive(self):
        packet, (peer, _) = self.socket.recvfrom(2048)
        kind, number = struct.unpack_from("!BI", packet)
        if kind == DATA:
            self._take(peer, number)
        elif peer == self.peer and self.base <= number <= self.end:
            self.base, self.heard = number, time.monotonic()
            self.next = number if kind == NAK else max(self.next, number)
            if self.base == self.end:
                self.count["messages"] += 1
                self._begin()

    def _take(self, peer, number):
        is_early = number > self.expected[peer]
        self.count["early"] += is_early
        if is_early:
            self.reordered.add(peer)
        if is_early and self.has_asked[peer]:
            return
        if number == self.expected[peer]:
            self.expected[peer] += 1
            self.count["accepted"] += 1
        self.has_asked[peer] = is_early
        self.count["naks"] += is_early
        try:
            self.socket.sendto(struct.pack("!BI", NAK if is_early else ACK, self.expected[peer]), (peer, PORT))
        except BlockingIOError:
            pass

    def run(self, seconds):
        time.sleep(START)
        self.heard = time.monotonic()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.send()
            while select.select([self.socket], [], [], 0.01)[0]:
                self.receive()
                self.send()
                if time.monotonic() > end:
                    break
            if time.monotonic() > self.heard + PATIENCE:
                self.count["lost"] += 1
                self.next, self.heard = self.base, time.monotonic()
        return dict(self.count, reordered=len(self.reordered))


def main():
    own, seconds, window, seed, *others = sys.argv[1:]
    print(json.dumps(Server(own, int(window), int(seed), others).run(float(seconds))))


if __name__ == "__main__":
    main()
