/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_format.h - the bytes of a published schedule, for whoever writes or reads them.
 *
 * Needs nothing else of fors. All numbers are little-endian; structs have no holes, so on a
 * little-endian machine the bytes can be read through them as they are.
 *
 * There are three versions. Version 1 is the plan of one exchange in a two-level tree that fors routes: a flow crosses one
 * spine, named by its lane. Version 2 is of any fabric and any engine's tables, with ways, service levels, a name. In both
 * each server sends one message to each other, and no size is told. Version 3 is version 2 for a demand, an exchange in
 * which messages have sizes: phases have lengths, and a message may be cut into pieces that go in several phases. A part
 * that a version does not have is empty, so one description serves all.
 *
 *   offset       size              what
 *   0            272               struct fors_sf_header: magic, byte order, version, epoch, sizes, offsets and CRCs of the
 *                                  parts, method, reason; its own CRC last
 *   272          136, not in v. 1  struct fors_sf_more: name, the fabric's epoch, sizes, offsets and CRCs; its own last
 *   408          32, version 3     struct fors_sf_sizes: granule, checksum of the demand, its own CRC last
 *   then         8 nphases, v. 3   length of each phase                                        lengths_crc
 *   then         80 nservers       struct fors_sf_server, ordered by leaf, then rank           servers_crc
 *   then         8 nlanes          node GUID of each lane's spine                              lanes_crc
 *   then         8 nswitches       node GUID of each switch on a way                           switches_crc
 *   then         8 nways           struct fors_sf_way: a switch, a port, the rest of the way   ways_crc
 *   then         8 nleaves, not 1  struct fors_sf_leaf: where its units begin, their CRC       leaves_crc
 *   then         12 nunits         struct fors_sf_unit: what flows from a leaf to a server have in common
 *   then         4 nrows           CRC of each row of cells; zeros up to a multiple of 8
 *   then         nrows x nphases   cells
 *                x cell_size       dense: a row per server, struct fors_sf_cell of 8 bytes
 *                                  rounds: a row per virtual leaf, numbers of 2 or 4 bytes
 *                                  units (version 2): a row per server, pairs of numbers, 4 or 8 bytes
 *                                  pieces (version 3): a row per server, struct fors_sf_piece of 24 bytes
 *
 * The offsets in the header are what this table says, no more; they are there so that a reader does not need to
 * know it. Header fields, offset and size: magic 0 8, byte_order 8 4, version 12 4, epoch 16 8, file_size 24 8,
 * fingerprint 32 8, layout 40 4, nservers 44 4, nphases 48 4, nleaves 52 4, nlanes 56 4, parts 60 4, round_length
 * 64 4, nrows 68 4, cell_size 72 4, npaths 76 4, servers_offset 80 8, lanes_offset 88 8, row_crc_offset 96 8,
 * cells_offset 104 8, servers_crc 112 4, lanes_crc 116 4, method 120 16, reason 136 128, reserved 264 4,
 * header_crc 268 4. In versions 2 and 3 then: name 272 64, fabric_epoch 336 8, nswitches 344 4, nways 348 4, nunits 352 4,
 * reserved 356 4, switches_offset 360 8, ways_offset 368 8, leaves_offset 376 8, units_offset 384 8, switches_crc 392 4,
 * ways_crc 396 4, leaves_crc 400 4, more_crc 404 4. In version 3 then: lengths_offset 408 8, granule 416 8, is_unit 424 4,
 * lengths_crc 428 4, demand_crc 432 4, sizes_crc 436 4.
 * Of a server: guid 0 8, lid 8 2, leaf 10 2, rank 12 2, lmc 14 1, reserved 15 1, desc 16 64. Of a way: rest 0 4, sw 4 2,
 * port 6 1, reserved 7 1. Of a leaf: first 0 4, crc 4 4. Of a unit: dst 0 2, top 2 2, way 4 4, path 8 1, sl 9 1,
 * reserved 10 2. Of a piece: a cell 0 8, bytes 8 8, in_bytes 16 8.
 *
 * Bytes per flow, for n servers on a leaf and one path from each leaf to each server: dense 8 + 12/n, units 4 + 12/n (8 +
 * 12/n when nservers x npaths is over 65,535), rounds 2/n or 4/n, in version 2 with 12/n of units; ways about 8/n
 * more. So 11,664 servers on leaves of 18 are 0.7 GB in units and 0.2 GB in rounds; 5,832 are 0.2 GB in units. In version 3
 * each server has 24 bytes for each phase. A file of version 2 or 3 has at most FORS_SF_MAX_BYTES; the writer refuses what
 * would be larger.
 *
 * What a reader has to check, in this order: magic, byte_order, version (a newer one may mean anything), header_crc,
 * more_crc, sizes_crc, file_size; lengths_crc; servers_crc; the CRC of each part that it uses. Files are replaced by
 * renaming: who has one open has a whole one, and who wants the next one opens the name again.
 *
 * The rules. A file is a schedule when all of them hold. Two readers ask for all of them, fors_schedule_decode() and
 * forsched_check(), and refuse the same files; tests/unit/test_schedule_rules.c compares their verdicts.
 * forsched_open() asks for what header, lengths, servers, lanes, switches and leaves tell: 1 but for the CRCs of rows,
 * units and ways, 2 to 6, 8 to 10, 13 and 16. A row that is used is asked for what concerns it.
 *
 *  1 The size of the file is file_size. magic and byte_order are those below, version is 1, 2 or 3; all CRCs are right.
 *  2 Bounds: nservers, nleaves and parts up to 49,151 (LIDs), nphases up to FORS_SF_MAX_PHASES, nlanes up to 254,
 *    npaths 1 to 128. Versions 2 and 3: nlanes is 0, nservers up to FORS_SF_MAX_SERVERS, nleaves x nservers x npaths up to
 *    FORS_SF_MAX_UNITS, file_size up to FORS_SF_MAX_BYTES.
 *  3 Withdrawn: nservers, nphases, nleaves, nlanes, parts, round_length, nrows, nswitches, nways and nunits are 0,
 *    cell_size is 8, npaths 1.
 *  4 Dense: at least one server and one phase; nrows is nservers, cell_size 8, parts and round_length 0.
 *    Units (version 2): the same, but cell_size is 4 when nservers x npaths is up to 65,535, else 8.
 *    Pieces (all of version 3, and nothing else): the same, but cell_size is 24. Version 3 is never withdrawn: who
 *    withdraws a demand's schedule writes one of version 2 under its name.
 *  5 Rounds: at least one server and one phase; parts and round_length at least 1, nphases is a multiple of
 *    round_length, nrows is nleaves x parts and up to 65,537; cell_size is 2 when nservers x (nlanes + 1) x npaths is
 *    up to 65,535, else 4.
 *  6 Offsets and file_size are what the table above says.
 *  7 npaths is 1 + the largest path index of all cells that name a receiver, also of those that stand for nobody; when
 *    none does, 1.
 *  8 What is unused is 0: reserved fields, what fills up to the cells, all of a text after its end. Texts have no bytes
 *    below 32 and no 127. method, reason and name end with a 0.
 *  9 Servers: lmc up to 7, LIDs lid .. lid + 2^lmc - 1 within 1 to 49,151 and of no other server, GUIDs all different.
 * 10 leaf is below nleaves and never falls; ranks on a leaf are 0, 1, 2 and so on. Rounds: rank / parts is below
 *    round_length.
 * 11 Each cell that names a receiver names one that is there, a path index below 2^lmc of that receiver, and a lane
 *    below nlanes or none; in versions 2 and 3 a service level up to 15 or none. Dense, units and pieces: nobody names
 *    itself, and all fields say what the others' rows say of the same flows. Pieces: reverse is the lower lmc bits of
 *    path, lmc that of the sender: a pair with pieces on several path indices has a queue pair for each of them.
 * 12 Nobody receives from two in one phase. Versions 1 and 2: each server sends to each other exactly once. Version 3: it
 *    sends to each other any number of times; 17 says more.
 *
 * Of versions 2 and 3:
 *
 * 13 Switches: none when there are no ways. Otherwise the first nleaves are those of the leaves, in their order, then
 *    those that are on a way, by ascending GUID. No GUID is 0, and all are different.
 * 14 Ways: sw is below nswitches; rest is below the way's own number, and port is not 0, or rest is FORS_SF_NONE, and
 *    port 0; at most FORS_SF_MAX_HOPS switches. No two are alike. Their numbers follow from the units: who goes through
 *    all units, in the file's order, and through the ways of each to the end, and gives numbers backwards from the end to
 *    those that have none yet, gives 0, 1, 2 and so on to nways - 1.
 * 15 Units: leaf l has units first .. first of the next leaf - 1, the last one up to nunits; the first leaf begins at 0.
 *    On a leaf (dst, path) ascend, and there is a flow from a server of the leaf (not dst itself) to dst on this path;
 *    way is below nways, begins at the leaf's switch and ends at that of dst's leaf, or is FORS_SF_NONE; top is a switch
 *    on that way, or FORS_SF_NO_TOP, and units with the same way have the same one; sl is up to 15 or FORS_SF_NO_SL, in
 *    the layouts dense and pieces always that. Something is said: a way or a service level.
 *
 * Of version 3 alone:
 *
 * 16 Lengths: granule is at least 1, is_unit 0 or 1. Each length is a multiple of granule, at least 1 and up to
 *    FORS_SF_MAX_LENGTH, and all together are up to FORS_SF_MAX_TIME.
 * 17 Pieces: bytes is 0 where dst is nobody, else a multiple of granule, at least 1, and at most the length of the phase.
 *    In each phase some piece is as long as that. All pieces of a pair have one service level, or none.
 * 18 The demand is what the pieces of each pair sum up to. demand_crc is the CRC of it: for each pair that has pieces, by
 *    ascending number of the sender, then of the receiver, three numbers of 8 bytes: port GUID of the sender, that of
 *    the receiver, and the sum. So a plan of the same demand has the same checksum, whatever its phases are, unless a
 *    server has moved.
 *
 * Where is_unit is 1 the messages of the demand have one size, which nobody said: bytes and lengths count messages.
 *
 * Beside the schedule lies the file `heartbeat`, text: Unix time in milliseconds, a blank, the epoch, a newline; digits
 * only. The subnet manager rewrites it every few seconds. It is stale when it is older than FORS_SF_STALE_MS, or ahead
 * of the reader's clock by more than FORS_SF_SKEW_MS: then a clock was wrong, and nobody can tell how old it is. Nobody
 * stands behind the schedule then; it stays right until a link changes.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_FORMAT_H
#define FORS_CORE_SCHEDULE_SCHEDULE_FORMAT_H

#include <stdint.h>

#define FORS_SF_MAGIC "FORSschd" /* 8 bytes, no end */
#define FORS_SF_VERSION 1	 /* of a plan over the lanes of a two-level tree */
#define FORS_SF_VERSION_WAYS 2	 /* of any other */
#define FORS_SF_VERSION_SIZES 3	 /* of a demand */
#define FORS_SF_NEWEST 3	 /* what there is */
#define FORS_SF_BYTE_ORDER 0x01020304u
#define FORS_SF_MAX_PHASES 65535	/* of any schedule, also before it is published */
#define FORS_SF_MAX_SERVERS 23170	/* of versions 2 and 3: 2^29 flows */
#define FORS_SF_MAX_UNITS (1u << 28)	/* of versions 2 and 3: nleaves x nservers x npaths */
#define FORS_SF_MAX_BYTES (1ull << 30)	/* of a file of version 2 or 3 */
#define FORS_SF_MAX_HOPS 254		/* switches on a way */
#define FORS_SF_MAX_LENGTH (1ull << 50) /* bytes of a phase */
#define FORS_SF_MAX_TIME (1ull << 60)	/* bytes of all phases, one after another */
#define FORS_SF_STALE_MS 60000		/* of a heartbeat; it is rewritten every few seconds */
#define FORS_SF_SKEW_MS 30000		/* by so much the clocks of two hosts may differ, and nobody is warned */

enum fors_sf_layout {
	FORS_SF_WITHDRAWN = 0, /* no servers, no phases; reason says why */
	FORS_SF_DENSE = 1,
	FORS_SF_ROUNDS = 2,
	FORS_SF_UNITS = 3,  /* version 2 */
	FORS_SF_PIECES = 4, /* version 3 */
};

/* At offset 0. Offsets count from the start of the file, CRCs are zlib's crc32() of the bytes of a section. */
struct fors_sf_header {
	char magic[8];
	uint32_t byte_order; /* FORS_SF_BYTE_ORDER */
	uint32_t version;    /* FORS_SF_VERSION, FORS_SF_VERSION_WAYS or FORS_SF_VERSION_SIZES */
	uint64_t epoch;
	uint64_t file_size;   /* of the whole file */
	uint64_t fingerprint; /* of the fabric */
	uint32_t layout;      /* enum fors_sf_layout */
	uint32_t nservers;    /* P */
	uint32_t nphases;     /* T */
	uint32_t nleaves;
	uint32_t nlanes;	 /* S */
	uint32_t parts;		 /* rounds: groups per leaf, else 0 */
	uint32_t round_length;	 /* rounds: phases per round, else 0 */
	uint32_t nrows;		 /* of cells: P (dense, units, pieces) or nleaves * parts (rounds) */
	uint32_t cell_size;	 /* 8 (dense), 2 or 4 (rounds), 4 or 8 (units), 24 (pieces) */
	uint32_t npaths;	 /* 1 + the largest path index used; cells that are numbers are written with it */
	uint64_t servers_offset; /* nservers struct fors_sf_server */
	uint64_t lanes_offset;	 /* nlanes uint64_t: GUID of the lane's spine */
	uint64_t row_crc_offset; /* nrows uint32_t: CRC of each row of cells; zeros to a multiple of 8 */
	uint64_t cells_offset;	 /* nrows rows of nphases cells, to the end of the file */
	uint32_t servers_crc;
	uint32_t lanes_crc;
	char method[16];     /* zero-padded, the last byte is 0 */
	char reason[128];    /* zero-padded, the last byte is 0 */
	uint32_t reserved;   /* 0 */
	uint32_t header_crc; /* of all bytes before it */
};

/* At offset 272, in versions 2 and 3. */
struct fors_sf_more {
	char name[64];	       /* of the job or demand, zero-padded, the last byte is 0; empty: the whole fabric */
	uint64_t fabric_epoch; /* under which the tables that it was verified on were first published; 0: its own */
	uint32_t nswitches;    /* on ways, and those of the leaves */
	uint32_t nways;
	uint32_t nunits;
	uint32_t reserved;	  /* 0 */
	uint64_t switches_offset; /* nswitches uint64_t: node GUIDs */
	uint64_t ways_offset;	  /* nways struct fors_sf_way */
	uint64_t leaves_offset;	  /* nleaves struct fors_sf_leaf */
	uint64_t units_offset;	  /* nunits struct fors_sf_unit */
	uint32_t switches_crc;
	uint32_t ways_crc;
	uint32_t leaves_crc;
	uint32_t more_crc; /* of all bytes of the file before it: a header's, and these */
};

/* At offset 408, in version 3. */
struct fors_sf_sizes {
	uint64_t lengths_offset; /* nphases uint64_t: bytes of the longest piece of each phase */
	uint64_t granule;	 /* that all pieces are whole multiples of */
	uint32_t is_unit;	 /* 1: numbers of bytes are numbers of messages of one size */
	uint32_t lengths_crc;
	uint32_t demand_crc; /* rule 18 */
	uint32_t sizes_crc;  /* of all bytes of the file before it */
};

/* A way through the fabric: a switch, the port out of it, and the way from the next switch on. */
struct fors_sf_way {
	uint32_t rest;	  /* its number; FORS_SF_NONE: this is the last switch */
	uint16_t sw;	  /* number of the switch */
	uint8_t port;	  /* out of it; 0 at the last: to the server */
	uint8_t reserved; /* 0 */
};

/* The units of a leaf. */
struct fors_sf_leaf {
	uint32_t first; /* number of its first */
	uint32_t crc;	/* of the bytes of all of its units */
};

/* What all flows from the servers of a leaf to one server over one path index have in common. */
struct fors_sf_unit {
	uint16_t dst;	   /* the receiving server */
	uint16_t top;	   /* number of the topmost switch of a tree on the way; FORS_SF_NO_TOP: that has no meaning */
	uint32_t way;	   /* its number; FORS_SF_NONE: not known */
	uint8_t path;	   /* path index */
	uint8_t sl;	   /* service level; FORS_SF_NO_SL: not known, or (dense) in the cells */
	uint16_t reserved; /* 0 */
};

/* A server; ordered by leaf, then rank. Its index here is its number in the cells. */
struct fors_sf_server {
	uint64_t guid; /* port GUID */
	uint16_t lid;  /* base LID */
	uint16_t leaf;
	uint16_t rank;
	uint8_t lmc;
	uint8_t reserved; /* 0 */
	char desc[64];	  /* node description, zero-padded, not terminated when it fills the field */
};

#define FORS_SF_IDLE 0xFFFF /* no partner */
#define FORS_SF_NO_LANE 255 /* inside a leaf */
#define FORS_SF_NO_SL 255   /* nobody said which service level */
#define FORS_SF_NO_TOP 0xFFFF
#define FORS_SF_NONE 0xFFFFFFFFu

/*
 * Dense layout: what one server does in one phase, in one load.
 * It sends to dst: from LID (own base + reverse), to LID (dst's base + path).
 * It receives from src, on its own LID (own base + in_path).
 */
struct fors_sf_cell {
	uint16_t dst;	 /* FORS_SF_IDLE: sends to nobody; path and reverse are 0, lane 255 then */
	uint16_t src;	 /* FORS_SF_IDLE: nobody sends to it; in_path is 0 then */
	uint8_t path;	 /* path index of the flow to dst */
	uint8_t reverse; /* path index of the flow from dst to this server, in whichever phase: the source path bits */
	uint8_t lane; /* of the flow to dst; in versions 2 and 3 its service level, FORS_SF_NO_SL: not known or to nobody */
	uint8_t in_path; /* path index of the flow from src */
};

/* Pieces layout: the same, and how much of a message goes. */
struct fors_sf_piece {
	struct fors_sf_cell cell;
	uint64_t bytes;	   /* to dst; 0: to nobody */
	uint64_t in_bytes; /* from src; 0: from nobody */
};

/*
 * Rounds layout: a cell is one number of cell_size bytes, all ones: nobody, else
 *     (dst * (nlanes + 1) + lane) * npaths + path,     lane = nlanes: inside the leaf.
 * Row v, column (round * round_length + i): what the members of the virtual leaf v = leaf * parts + group do
 * at position i of the round: in phase round * round_length + u, u = 0 .. round_length - 1, the member number
 * (u + i) % round_length of v (the server of that leaf with rank member * parts + group) sends to dst; nobody does where
 * there is no such server, or where it is dst itself. What a server receives, and the path index of the opposite flow, are
 * not in its own row: they follow from the others'. In version 2 nlanes is 0, and so is lane.
 *
 * Units layout: a cell is two numbers of half a cell_size each, all ones: nobody, else
 *     partner * npaths + path
 * first the receiver and the path index of the flow to it, then the sender from which one is received and the path index of
 * that flow. The path index of the flow back from a receiver stands where that flow arrives, in the same row.
 */

#endif
