/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unit.h - cmocka, after what it wants to be included before it. */
#ifndef FORS_TESTS_UNIT_H
#define FORS_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
