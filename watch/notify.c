/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* notify.c - a datagram of a few bytes is no reason to need libsystemd. */
#include "notify.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void fors_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (!length || length >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0'; /* a name that is in no file system */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}

unsigned fors_notify_watchdog_ms(void)
{
	const char *span = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long us = span ? strtoull(span, NULL, 10) : 0;

	if (pid && strtoull(pid, NULL, 10) != (unsigned long long)getpid())
		return 0;
	return us / 1000 > UINT_MAX ? UINT_MAX : (unsigned)(us / 1000);
}
