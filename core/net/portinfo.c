/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "portinfo.h"

enum { CAN_EXTENDED = 1u << 14, HAS_ALSO = 1u << 15, CAN_EXTENDED_2 = 0x0800 };
enum { ACTIVE_QDR = 4 };

struct fors_portinfo fors_portinfo_read(const uint8_t *bytes)
{
	return (struct fors_portinfo){
		.able = (uint32_t)bytes[20] << 24 | (uint32_t)bytes[21] << 16 | (uint32_t)bytes[22] << 8 | bytes[23],
		.also_able = (uint16_t)(bytes[60] << 8 | bytes[61]),
		.width = bytes[31],
		.speed = bytes[35],
		.extended = bytes[62],
		.extended_2 = bytes[56],
	};
}

/* What a field says if it says one of the first n values; 0: unknown. */
static uint8_t one_of(const uint8_t *values, unsigned n, unsigned field)
{
	return field < n ? values[field] : 0;
}

/* The fields of the newer speeds; 0 where they mean nothing. Active is in the upper half of the first. */
static unsigned extended(const struct fors_portinfo *port, const struct fors_portinfo *able)
{
	return able->able & CAN_EXTENDED ? port->extended : 0;
}

/* One unused bit, two of active speeds, two of supported ones, three of enabled ones. */
static unsigned extended_2(const struct fors_portinfo *port, const struct fors_portinfo *able)
{
	bool can = able->able & CAN_EXTENDED && able->able & HAS_ALSO && able->also_able & CAN_EXTENDED_2;

	return can ? port->extended_2 & 0x7F : 0;
}

bool fors_portinfo_tells_less(const struct fors_portinfo *port, const struct fors_portinfo *able)
{
	return able->able & CAN_EXTENDED && !extended(port, able) && !extended_2(port, able) &&
	       (port->speed >> 4 == ACTIVE_QDR || !(port->speed >> 4));
}

static uint8_t speed_of(const struct fors_portinfo *port, const struct fors_portinfo *able)
{
	static const uint8_t plain[] = {0, FORS_SDR, FORS_DDR, 0, FORS_QDR};
	static const uint8_t newer[] = {0, FORS_FDR, FORS_EDR, 0, FORS_HDR, 0, 0, 0, FORS_NDR};
	static const uint8_t newest[] = {0, FORS_XDR};

	if (extended_2(port, able) >> 5)
		return one_of(newest, sizeof(newest), extended_2(port, able) >> 5);
	if (extended(port, able) >> 4)
		return one_of(newer, sizeof(newer), extended(port, able) >> 4);
	return fors_portinfo_tells_less(port, able) ? 0 : one_of(plain, sizeof(plain), port->speed >> 4);
}

void fors_portinfo_rate(const struct fors_portinfo *port, const struct fors_portinfo *able, struct fors_port *to)
{
	static const uint8_t lanes[] = {0, 1, 4, 0, 8, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 2};
	uint8_t width = one_of(lanes, sizeof(lanes), port->width), speed = speed_of(port, able);

	to->width = speed ? width : 0;
	to->speed = width ? speed : FORS_SPEED_UNKNOWN;
}
