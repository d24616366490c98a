/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - methods, attributes and fields of management datagrams, by the InfiniBand Architecture Specification, volume 1,
 * chapters 13 to 15.
 */
#ifndef FORS_WATCH_WIRE_H
#define FORS_WATCH_WIRE_H

enum {
	FORS_METHOD_GET = 0x01,
	FORS_METHOD_SET = 0x02,
	FORS_METHOD_REPORT = 0x06,
	FORS_METHOD_GET_TABLE = 0x12,
	FORS_METHOD_REPORT_RESP = 0x86,
	FORS_METHOD_RESPONSE = 0x80,
};

enum {
	FORS_ATTR_NOTICE = 0x0002,
	FORS_ATTR_INFORM_INFO = 0x0003,
	FORS_ATTR_NODE_DESC = 0x0010,
	FORS_ATTR_NODE_INFO = 0x0011,
	FORS_ATTR_SWITCH_INFO = 0x0012,
	FORS_ATTR_PORT_INFO = 0x0015,
	FORS_ATTR_LINEAR_FT = 0x0019,
	FORS_ATTR_SM_INFO = 0x0020,
	FORS_ATTR_PATH_REC = 0x0035,
};

/* Logical and physical states of a port. */
enum { FORS_PORT_DOWN = 1, FORS_PORT_INIT = 2, FORS_PORT_ARMED = 3, FORS_PORT_ACTIVE = 4 };
enum { FORS_PHYS_LINK_UP = 5 };

/* States of a subnet manager. */
enum { FORS_SM_NOT_ACTIVE = 0, FORS_SM_DISCOVERING = 1, FORS_SM_STANDBY = 2, FORS_SM_MASTER = 3 };

#define FORS_SMP_DATA 64
#define FORS_LFT_BLOCK 64 /* entries in a block of a linear forwarding table */
#define FORS_NOTICE_SIZE 80

#endif
