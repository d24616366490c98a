/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_format.h - the bytes of a published schedule, for whoever writes or reads them.
 *
 * Needs nothing else of fors. All numbers are little-endian; structs have no holes, so a
 * mapped file can be read through them on a little-endian machine. The table of the
 * layout, and what a reader has to check, is at the head of schedule_file.c.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_SCHEDULE_FORMAT_H
#define FORS_CORE_SCHEDULE_FORMAT_H

#include <stdint.h>

#define FORS_SF_MAGIC "FORSschd" /* 8 bytes, no end */
#define FORS_SF_VERSION 1
#define FORS_SF_BYTE_ORDER 0x01020304u

enum fors_sf_layout {
	FORS_SF_WITHDRAWN = 0, /* no servers, no phases; reason says why */
	FORS_SF_DENSE = 1,
	FORS_SF_ROUNDS = 2,
};

/* At offset 0. Offsets count from the start of the file, CRCs are zlib's crc32() of the bytes of a section. */
struct fors_sf_header {
	char magic[8];
	uint32_t byte_order;     /* FORS_SF_BYTE_ORDER */
	uint32_t version;        /* FORS_SF_VERSION */
	uint64_t epoch;
	uint64_t file_size;      /* of the whole file */
	uint64_t fingerprint;    /* of the fabric */
	uint32_t layout;         /* enum fors_sf_layout */
	uint32_t nservers;       /* P */
	uint32_t nphases;        /* T */
	uint32_t nleaves;
	uint32_t nlanes;         /* S */
	uint32_t parts;          /* rounds: groups per leaf, else 0 */
	uint32_t round_length;   /* rounds: phases per round, else 0 */
	uint32_t nrows;          /* of cells: P (dense) or nleaves * parts (rounds) */
	uint32_t cell_size;      /* 8 (dense), 2 or 4 (rounds) */
	uint32_t npaths;         /* 1 + the largest path index used; rounds cells are written with it */
	uint64_t servers_offset; /* nservers struct fors_sf_server */
	uint64_t lanes_offset;   /* nlanes uint64_t: GUID of the lane's spine */
	uint64_t row_crc_offset; /* nrows uint32_t: CRC of each row of cells; zeros to a multiple of 8 */
	uint64_t cells_offset;   /* nrows rows of nphases cells, to the end of the file */
	uint32_t servers_crc;
	uint32_t lanes_crc;
	char method[16];         /* zero-padded, the last byte is 0 */
	char reason[128];        /* zero-padded, the last byte is 0 */
	uint32_t reserved;       /* 0 */
	uint32_t header_crc;     /* of all bytes before it */
};

/* A server; ordered by leaf, then rank. Its index here is its number in the cells. */
struct fors_sf_server {
	uint64_t guid;  /* port GUID */
	uint16_t lid;   /* base LID */
	uint16_t leaf;
	uint16_t rank;
	uint8_t lmc;
	uint8_t reserved; /* 0 */
	char desc[64];  /* node description, zero-padded, not terminated when it fills the field */
};

#define FORS_SF_IDLE 0xFFFF    /* no partner */
#define FORS_SF_NO_LANE 255    /* inside a leaf */

/*
 * Dense layout: what one server does in one phase, in one load.
 * It sends to dst: from LID (own base + reverse), to LID (dst's base + path).
 * It receives from src, on its own LID (own base + in_path).
 */
struct fors_sf_cell {
	uint16_t dst;    /* FORS_SF_IDLE: sends to nobody; path and reverse are 0, lane 255 then */
	uint16_t src;    /* FORS_SF_IDLE: nobody sends to it; in_path is 0 then */
	uint8_t path;    /* path index of the flow to dst */
	uint8_t reverse; /* path index of the flow from dst to this server, in whichever phase: the source path bits */
	uint8_t lane;    /* of the flow to dst */
	uint8_t in_path; /* path index of the flow from src */
};

/*
 * Rounds layout: a cell is one number of cell_size bytes, all ones: nobody, else
 *     (dst * (nlanes + 1) + lane) * npaths + path,     lane = nlanes: inside the leaf.
 * Row v, column (round * round_length + i): what the members of the virtual leaf v = leaf * parts + group do
 * at position i of the round, see schedule.h: in phase round * round_length + u the member number
 * (u + i) % round_length of v (the server of rank member * parts + group) sends to dst.
 */

#endif
