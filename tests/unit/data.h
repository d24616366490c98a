/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * data.h - what tests of the readers share: files of tests/data, nets compared, texts compared.
 */
#ifndef FORS_TESTS_DATA_H
#define FORS_TESTS_DATA_H

#include <string.h>

#include "core/net/net.h"
#include "unit.h"

/* The file tests/data/NAME, terminated too, owned by the caller; the test ends when it cannot be read. */
char *data_read(const char *name, size_t *size);

/* The net of a text, of a file in tests/data, or of a specification; the test ends when there is none. */
struct fors_net *data_net(const char *text, size_t size);
struct fors_net *data_net_file(const char *name);
struct fors_net *data_net_spec(const char *spec);

/* End the test where two nets differ (in anything but where a subnet manager runs). */
void data_same_net(const struct fors_net *a, const struct fors_net *b);

/* End the test unless `text` contains `part`; both are printed then. */
void data_contains(const char *text, const char *part);

#endif
