/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "inside.h"

int fors_test_engine(void)
{
	return run_snapshot_tests() + run_engine_tests();
}
