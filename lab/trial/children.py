# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What both ends need: a child process that ends with its parent, even where that is killed."""
import ctypes
import signal

LIBC = ctypes.CDLL(None)


def dies_with_us():
    LIBC.prctl(1, signal.SIGKILL)
