/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* forsched.h alone, as strict C99: it has to bring along all that it needs. */
#include "libforsched/forsched.h"

int main(void)
{
	struct forsched *schedule;
	struct forsched_flow flow;

	if (forsched_open("/nowhere/schedule", &schedule, NULL) != FORSCHED_EFILE)
		return 1;
	flow.to = FORSCHED_NOBODY;
	return flow.to == FORSCHED_NOBODY ? 0 : 1;
}
