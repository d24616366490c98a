/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_lids.h - the LIDs that a dump of tables names, for a net whose text has none.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_DUMP_LIDS_H
#define FORS_CORE_NET_DUMP_LIDS_H

#include "net.h"

/*
 * LIDs for the CA and switch ports of `net` (indexed) that have none, from the text of a dump of tables, which names
 * the port GUID behind each LID ("portguid 0x..."). A port's LIDs are consecutive, 2^LMC of them; where the net has
 * them, the dump may lack some. Errors, with "name:line: ...": FORS_EINPUT (a LID of two ports; LIDs of a port with a gap),
 * FORS_ENOTAPPL (not those that the net gives it: net and tables are not of one time or fabric); FORS_ENOMEM.
 */
enum fors_err fors_lids_from_dump(struct fors_net *net, const char *text, size_t size, const char *name,
				  struct fors_error *error);

#endif
