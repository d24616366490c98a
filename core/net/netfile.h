/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netfile.h - ibnetdiscover text, which is ibsim's input too: read and written.
 * Thread rules: pure; what is read belongs to the caller.
 */
#ifndef FORS_CORE_NET_NETFILE_H
#define FORS_CORE_NET_NETFILE_H

#include "net.h"
#include "core/base/warnings.h"

/*
 * The net in `text` (size bytes, need not be terminated), indexed, in *net,
 * owned by the caller. `name` (a file name) opens error texts: "name:line: ...".
 * Where the text gives no GUIDs they are numbered as ibsim numbers them, so that
 * opensm under ibsim sees the same; CA ports without a cable have none (0). A cable is
 * degraded when it is slower than the most common one between switches (other cables: than
 * the most common one of those).
 * Lines that are no part of such a text (a terminal's banner or prompt) are passed over, up to 100 and a tenth of the
 * text, and *warnings says how many there were, and the first; with warnings NULL none is accepted.
 * Errors: FORS_EINPUT (not such a text, empty, truncated, binary; a duplicate node
 * id or GUID; a link to a missing node or port; a port used twice; ends that
 * disagree), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_netfile_read(const char *text, size_t size, const char *name, struct fors_net **net,
				struct fors_warnings *warnings, struct fors_error *error);

/*
 * The text of `net` in *text (terminated, *size bytes without the end), owned by the
 * caller (free()); fors_netfile_read() of it gives the same net, but for what stands in no
 * such text: where a subnet manager runs, the GUID and LID of a CA port without a cable; and a
 * degraded cable is lost where most cables are. Errors: FORS_ENOMEM.
 */
enum fors_err fors_netfile_write(const struct fors_net *net, char **text, size_t *size, struct fors_error *error);

#endif
