// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// forsched.h as C++ sees it: compiled with all warnings, linked with the C library, and used.
#include "libforsched/forsched.h"

#include <cstdio>
#include <cstring>
#include <memory>

int main()
{
	struct forsched_error error;
	struct forsched *opened = nullptr;
	const enum forsched_err err = forsched_open_memory("FORSschd", 8, "eight bytes", &opened, &error);
	const std::unique_ptr<struct forsched, decltype(&forsched_close)> schedule(opened, forsched_close);

	std::printf("%s: %s\n", forsched_strerror(err), error.text);
	return err == FORSCHED_EFORMAT && !schedule && std::strstr(error.text, "eight bytes") ? 0 : 1;
}
