/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* formula.c - see formula.h. */
#include "formula.h"

#include <string.h>

static unsigned bits_of(uint32_t n)
{
	return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0;
}

/* ---- how many phases ---- */

static uint32_t one_phase(uint32_t n, uint32_t number)
{
	(void)n;
	(void)number;
	return 1;
}

static uint32_t to_all(uint32_t n, uint32_t number)
{
	(void)number;
	return n - 1;
}

static uint32_t by_bits(uint32_t n, uint32_t number)
{
	(void)number;
	return bits_of(n);
}

static uint32_t incast_phases(uint32_t n, uint32_t number)
{
	return number ? number : n;
}

static uint32_t hotspot_phases(uint32_t n, uint32_t number)
{
	return n - 1 + number;
}

static uint32_t six(uint32_t n, uint32_t number)
{
	(void)n;
	(void)number;
	return 6;
}

static uint32_t four(uint32_t n, uint32_t number)
{
	(void)n;
	(void)number;
	return 4;
}

/* ---- bits ---- */

static uint32_t complement(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return i ^ (n - 1);
}

static uint32_t reverse(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	uint32_t result = 0;

	(void)number;
	(void)phase;
	for (unsigned b = bits_of(n); b; b--, i >>= 1)
		result = result << 1 | (i & 1);
	return result;
}

/* The lowest `by` bits become the highest ones. */
static uint32_t rotate(uint32_t n, uint32_t i, unsigned by)
{
	unsigned bits = bits_of(n);

	return by < bits ? (i >> by | i << (bits - by)) & (n - 1) : i;
}

static uint32_t rotation(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return rotate(n, i, 1);
}

static uint32_t shuffle(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return n > 1 ? rotate(n, i, bits_of(n) - 1) : i;
}

static uint32_t transpose(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return rotate(n, i, bits_of(n) / 2);
}

/* ---- collectives ---- */

static uint32_t ahead(uint32_t n, uint32_t i, uint64_t by)
{
	return (uint32_t)((i + by) % n);
}

static uint32_t tornado(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return ahead(n, i, (n + (uint64_t)1) / 2 - 1);
}

static uint32_t ring(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	(void)phase;
	return ahead(n, i, 1);
}

static uint32_t exclusive_or(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)n;
	(void)number;
	return i ^ (phase + 1);
}

static uint32_t doubling(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)n;
	(void)number;
	return i ^ 1u << phase;
}

static uint32_t dissemination(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	return ahead(n, i, (uint64_t)1 << phase);
}

static uint32_t broadcast(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	uint64_t half = (uint64_t)1 << phase;

	(void)number;
	return i < half && i + half < n ? (uint32_t)(i + half) : n;
}

static uint32_t incast(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)n;
	(void)number;
	(void)i;
	return phase;
}

static uint32_t hotspot(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	return phase < n - 1 ? ahead(n, i, phase + (uint64_t)1) : 0;
}

/* ---- applications ---- */

static uint32_t in_pairs(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	(void)number;
	return n & (n - 1) ? ahead(n, i, phase + (uint64_t)1) : i ^ (phase + 1);
}

static uint32_t cg_phases(uint32_t n, uint32_t number)
{
	(void)number;
	return (bits_of(n) + 1) / 2 + 1;
}

/* Columns are the low bits; with twice as many columns as rows, two neighbours stand for one place of the transposition. */
static uint32_t conjugate_gradient(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	unsigned column_bits = (bits_of(n) + 1) / 2;
	uint32_t rows = n >> column_bits, pair = bits_of(n) % 2, place = i >> pair;

	(void)number;
	if (phase < column_bits)
		return i ^ 1u << (column_bits - 1 - phase);
	return (place % rows * rows + place / rows) << pair | (i & pair);
}

/* One step on a torus whose sides have bits as even as can be; on a side of 2 both ways lead to the same one, once. */
static uint32_t multi_grid(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	unsigned bits = bits_of(n), dimension = phase / 2, shift = 0, own;
	uint32_t at, side;

	(void)number;
	for (unsigned d = 0; d < dimension; d++)
		shift += (bits + 2 - d) / 3;
	own = (bits + 2 - dimension) / 3;
	side = 1u << own;
	at = i >> shift & (side - 1);
	if (phase % 2 && own < 2)
		return n;
	return (i & ~((side - 1) << shift)) | ((at + (phase % 2 ? side - 1 : 1)) & (side - 1)) << shift;
}

static uint32_t root_of(uint32_t n)
{
	uint32_t root = 0;

	while ((root + (uint64_t)1) * (root + 1) <= n)
		root++;
	return root;
}

/* Cell (x, y): to the next one and the one before of x, of y, and of the diagonal that the third dimension follows. */
static uint32_t block_tridiagonal(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	uint32_t side = root_of(n), step = phase % 2 ? side - 1 : 1, x = i % side, y = i / side;

	(void)number;
	if (phase / 2 != 1)
		x = (x + (phase / 2 == 2 ? side - step : step)) % side;
	if (phase / 2 != 0)
		y = (y + step) % side;
	return y * side + x;
}

static uint32_t weather(uint32_t n, uint32_t number, uint32_t phase, uint32_t i)
{
	static const int64_t steps[] = {1, -1, 16, -16};
	int64_t to = i + steps[phase];

	(void)number;
	return to >= 0 && to < n && (phase > 1 || to / 16 == i / 16) ? (uint32_t)to : n;
}

/* ---- names ---- */

static const struct fors_formula formulas[] = {
	{"bitcomplement", "bit-complement", .is_of_two = true, .nphases = one_phase, .to = complement},
	{"bitreverse", "bit-reverse", .is_of_two = true, .nphases = one_phase, .to = reverse},
	{"bitrotation", "bit-rotation", .is_of_two = true, .nphases = one_phase, .to = rotation},
	{"bitshuffle", "bit-shuffle", .is_of_two = true, .nphases = one_phase, .to = shuffle},
	{"bittranspose", "bit-transpose", .is_of_four = true, .nphases = one_phase, .to = transpose},
	{"tornado", "tornado", .nphases = one_phase, .to = tornado},
	{"ring", "ring", .nphases = to_all, .to = ring},
	{"xor", "xor", .is_of_two = true, .nphases = to_all, .to = exclusive_or},
	{"recursivedoubling", "recursive-doubling", .is_of_two = true, .nphases = by_bits, .to = doubling},
	{"dissemination", "dissemination", .nphases = by_bits, .to = dissemination},
	{"broadcast", "broadcast", .nphases = by_bits, .to = broadcast},
	{"incast", "incast", .may_have = true, .nphases = incast_phases, .to = incast},
	{"hotspot", "hotspot(k)", .may_have = true, .must_have = true, .nphases = hotspot_phases, .to = hotspot},
	{"nasft", "NAS-FT", .nphases = to_all, .to = in_pairs},
	{"nasis", "NAS-IS", .nphases = to_all, .to = in_pairs},
	{"nascg", "NAS-CG", .is_of_two = true, .nphases = cg_phases, .to = conjugate_gradient},
	{"nasmg", "NAS-MG", .is_of_two = true, .nphases = six, .to = multi_grid},
	{"nasbt", "NAS-BT", .is_square = true, .nphases = six, .to = block_tridiagonal},
	{"wrf", "WRF", .nphases = four, .to = weather},
};

#define NFORMULAS (sizeof(formulas) / sizeof(formulas[0]))
#define MOST_HOT_PHASES 1000000

const struct fors_formula *fors_formula_at(size_t i)
{
	return i < NFORMULAS ? &formulas[i] : NULL;
}

const struct fors_formula *fors_formula_find(const char *name)
{
	for (size_t i = 0; i < NFORMULAS; i++)
		if (!strcmp(name, formulas[i].name))
			return &formulas[i];
	return NULL;
}

enum fors_err fors_formula_check(const struct fors_formula *f, uint32_t n, uint32_t number, struct fors_error *error)
{
	bool is_of_two = n && !(n & (n - 1));
	uint32_t root = root_of(n);

	if (n < 2)
		return fors_fail(error, FORS_EINPUT, "pattern %s is for two servers at least", f->shown);
	if ((f->is_of_two || f->is_of_four) && !is_of_two)
		return fors_fail(error, FORS_EINPUT, "pattern %s is for a power of two of servers; there are %u",
				 f->shown, n);
	if (f->is_of_four && bits_of(n) % 2)
		return fors_fail(error, FORS_EINPUT, "pattern %s is for a power of four of servers; there are %u",
				 f->shown, n);
	if (f->is_square && root * root != n)
		return fors_fail(error, FORS_EINPUT, "pattern %s is for a square of servers; there are %u", f->shown,
				 n);
	if (number > (f->to == incast ? n : MOST_HOT_PHASES))
		return fors_fail(error, FORS_EINPUT, "pattern %s(%u): at most %u", f->name, number,
				 f->to == incast ? n : MOST_HOT_PHASES);
	return FORS_OK;
}
