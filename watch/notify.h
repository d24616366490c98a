/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notify.h - a word to the service manager, as sd_notify(3) says it: a datagram to the socket that NOTIFY_SOCKET names.
 * Threads: one.
 */
#ifndef FORS_WATCH_NOTIFY_H
#define FORS_WATCH_NOTIFY_H

#include <stdbool.h>

/* Say "READY=1", "STOPPING=1", "WATCHDOG=1"; lines may be several. Without a socket, or a listener, nothing happens. */
void fors_notify(const char *text);

/* How often the service manager wants to hear "WATCHDOG=1" from this process, in milliseconds; 0: never. */
unsigned fors_notify_watchdog_ms(void);

#endif
