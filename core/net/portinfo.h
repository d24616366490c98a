/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * portinfo.h - what a port's PortInfo says of the width and speed of its link (InfiniBand Architecture Specification,
 * volume 1, 14.2.5.6).
 *
 * Speeds came in three steps, each with fields of its own: SDR to QDR; FDR to NDR ("extended"); XDR ("extended 2"). Whether the
 * newer fields mean anything stands in the capability masks: those of an adapter's port, of a switch only those of its port 0.
 * A link at a newer speed has QDR, or nothing, in the older fields.
 *
 * So QDR may be anything where the newer fields were not filled in. Some switches fill them in only for who says in bit 31
 * of the question (SMSupportExtendedSpeeds) that he understands them, and OpenSM 3.3.23 and 3.3.24 do not say so when they
 * sweep. A port that can have extended speeds always supports one; where none is named nothing was told, and QDR is
 * unknown. What is unknown is never taken for slow. SDR and DDR are what they say.
 */
#ifndef FORS_CORE_NET_PORTINFO_H
#define FORS_CORE_NET_PORTINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "rates.h"

#define FORS_PORTINFO 64		    /* bytes of a PortInfo */
#define FORS_PORTINFO_ALL_SPEEDS (1u << 31) /* in the question: tell extended speeds */

/* The fields, as they stand there. */
struct fors_portinfo {
	uint32_t able;	    /* CapabilityMask; means nothing in ports of switches but port 0 */
	uint16_t also_able; /* CapabilityMask2 */
	uint8_t width;
	uint8_t speed, extended, extended_2; /* in each what is active, and something else */
};

/* From the bytes of a PortInfo, at least FORS_PORTINFO. */
struct fors_portinfo fors_portinfo_read(const uint8_t *bytes);

/* Were extended speeds not told, though there are some? *able: the port's own, of a switch that of port 0. */
bool fors_portinfo_tells_less(const struct fors_portinfo *port, const struct fors_portinfo *able);

/* Width and speed into *to: both, or both unknown. Other members stay. */
void fors_portinfo_rate(const struct fors_portinfo *port, const struct fors_portinfo *able, struct fors_port *to);

#endif
