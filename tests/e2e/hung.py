# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A file system that hangs: FUSE, and nobody who answers, as a network file system whose server is gone.

    with Hung(folder):                  whoever touches anything below `folder` waits until the end
    with Hung(folder, is_deaf=False):   likewise, and at no signal: the server has taken the request

At the end all who wait get an error, and the folder is again what it was before.
"""
import ctypes
import os
import struct
import threading

import pytest

MNT_FORCE, MNT_DETACH, FUSE_INIT = 1, 2, 26


class Hung:
    def __init__(self, folder, is_deaf=True):
        self.folder, self.is_deaf = os.fsencode(folder), is_deaf
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        try:
            self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            pytest.skip("no /dev/fuse here")
        options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % self.device
        if self.libc.mount(b"hung", self.folder, b"fuse", 6, options):
            os.close(self.device)
            pytest.skip("may not mount FUSE here")
        self.greeted = threading.Event()
        self.reader = threading.Thread(target=self._greet, daemon=True)
        self.reader.start()
        if self.is_deaf:
            self.reader.join(10)
        else:
            self.greeted.wait(100)
        return self

    def _greet(self):
        """The kernel says hello once, and wants an answer; what it asks afterwards gets none."""
        request = os.read(self.device, 1 << 17)
        length, opcode, unique = struct.unpack_from("=IIQ", request)
        assert opcode == FUSE_INIT
        answer = struct.pack("=IIIIHHIIHHI7I", 7, 31, 65536, 0, 16, 16, 65536, 1, 1, 0, 0, *[0] * 7)
        os.write(self.device, struct.pack("=IiQ", 16 + len(answer), 0, unique) + answer)
        self.greeted.set()
        while not self.is_deaf:  # a request that was read makes its process wait in state D
            try:
                os.read(self.device, 1 << 17)
            except OSError:
                return

    def __exit__(self, *exc):
        self.libc.umount2(self.folder, MNT_DETACH | MNT_FORCE)  # which ends every request
        if not self.is_deaf:
            self.reader.join(10)
        os.close(self.device)
