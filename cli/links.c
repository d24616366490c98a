/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * links.c - lists of links, and pages that fit the terminal, for people.
 *
 * A row begins with its label; what belongs to it and is a line of its own stands two columns further in than the row's text,
 * and the rest of a line that was broken four columns further in than the line.
 *
 * A switch of which all links are in a list is what somebody has to look at, and not twenty cables: it is one line,
 * by its name. That all are there follows from how many leaves, or spines, it is linked to.
 */
#include "cli/cli.h"
#include "cli/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "core/base/text.h"

#define LISTED 10 /* lines; --json lists all links */
#define BROKEN 4  /* how much further in the rest of a broken line begins */
#define EQUAL 3	  /* repairs that give back as much, named */
#define NAMED 5	  /* servers that are lost */
#define NARROWEST 45

/* --- whole switches --------------------------------------------------------------------------------------------- */

static const char *end_of(const struct fors_link *link, bool is_spine)
{
	return is_spine ? link->b : link->a;
}

/* The links of one switch; *nothers: how many switches are at their other ends, each counted once. */
static size_t count_links(const struct fors_links *links, const char *name, bool is_spine, int64_t *nothers)
{
	size_t count = 0, before = 0;

	*nothers = 0;
	for (size_t i = 0; i < links->count; i++) {
		if (strcmp(end_of(&links->link[i], is_spine), name) != 0)
			continue;
		count++;
		for (before = 0; before < i; before++)
			if (!strcmp(links->link[before].a, links->link[i].a) &&
			    !strcmp(links->link[before].b, links->link[i].b))
				break;
		*nothers += before == i;
	}
	return count;
}

/* Are all links of the link's spine, or leaf, in the list? How many they are; 0: not all. */
static size_t whole_switch(const struct fors_status *status, const struct fors_links *links,
			   const struct fors_link *link, bool is_spine)
{
	int64_t nothers, wanted = is_spine ? status->leaves : status->spines;
	size_t count = count_links(links, end_of(link, is_spine), is_spine, &nothers);

	return wanted > 1 && nothers == wanted ? count : 0;
}

/* Did an earlier link of the list name this switch? */
static bool is_told(const struct fors_links *links, size_t i, bool is_spine)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(end_of(&links->link[j], is_spine), end_of(&links->link[i], is_spine)))
			return true;
	return false;
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

/* How long ago a Unix time was when the status was known, as ", for 5 min"; nothing when it is not known. */
static void print_since(const struct fors_status *status, int64_t since_ms)
{
	double age = since_ms < 0 ? -1 : cli_age((uint64_t)since_ms);

	if (age >= 0 && status->known_until_ms >= 0)
		age -= cli_age((uint64_t)status->known_until_ms);
	if (age < 0)
		return;
	printf(", for ");
	cli_print_age(age);
}

/* NULL: the line belongs to the row above. */
static void print_label(const char *label)
{
	printf("%-*s", label ? CLI_LABEL : CLI_BELOW, label ? label : "");
}

/* A cable of a switch that is gone; the switch is told with the first of them. False: it is none. */
static bool is_of_dead(const struct fors_status *status, const struct fors_links *links, size_t i, const char *label,
		       bool *is_new)
{
	const struct fors_dead_switch *one =
		links == &status->dead_links ? fors_dead_end(status, &links->link[i]) : NULL;

	if (!one)
		return false;
	*is_new = true;
	for (size_t j = 0; j < i; j++)
		*is_new = *is_new && fors_dead_end(status, &links->link[j]) != one;
	if (*is_new) {
		print_label(label);
		printf("%s (%s), ", one->name, fors_level_name(one->level));
		printf(one->cables == 1 ? "its only cable" : "all %u cables", one->cables);
	}
	return true;
}

/* A link, or the switch that it stands for; false: that was told before. */
static bool print_link(const struct fors_status *status, const struct fors_links *links, size_t i, const char *label)
{
	const struct fors_link *link = &links->link[i];
	bool is_new;

	if (is_of_dead(status, links, i, label, &is_new))
		return is_new;
	for (int is_spine = 1; is_spine >= 0; is_spine--) {
		size_t count = whole_switch(status, links, link, is_spine);

		if (count && is_told(links, i, is_spine))
			return false;
		if (count) {
			print_label(label);
			printf("%s, all %zu cables", end_of(link, is_spine), count);
			return true;
		}
	}
	print_label(label);
	printf("%s[%u] - %s[%u]%s%s", link->a, link->a_port, link->b, link->b_port,
	       link->rate[0] && links == &status->degraded_links ? ", " : "",
	       links == &status->degraded_links ? link->rate : "");
	return true;
}

static const char *say_use(const struct fors_link *link)
{
	if (!link->is_used)
		return "; carries no servers' traffic";
	return link->is_planned ? "; in use" : "; in use by the tables, not by the schedule";
}

void cli_print_links(const char *label, const struct fors_status *status, const struct fors_links *links,
		     bool says_used)
{
	size_t lines = 0, i = 0;

	for (; i < links->count && lines < LISTED; i++) {
		if (!print_link(status, links, i, lines && label ? "" : label))
			continue;
		print_since(status, links->link[i].since_ms);
		printf("%s\n", !says_used ? "" : say_use(&links->link[i]));
		lines++;
	}
	if (i < links->count)
		printf("%*sand more, %zu %s in all (--json lists them)\n", label ? CLI_LABEL : CLI_BELOW, "",
		       links->count, fors_plural(links->count, "cable", "cables"));
}

/* Dead cables of switches that live. */
static size_t count_single(const struct fors_status *status)
{
	size_t single = 0;

	for (size_t i = 0; i < status->dead_links.count; i++)
		single += !fors_dead_end(status, &status->dead_links.link[i]);
	return single;
}

void cli_print_dead_links(const struct fors_status *status)
{
	size_t dead = status->dead_links.count, gone = status->dead_switches.count, single = count_single(status);

	if (!dead) {
		printf("dead        %s\n", status->lost_servers.count ? "no cable between switches" : "nothing");
		return;
	}
	printf("dead        ");
	if (gone)
		printf("%zu switch%s%s", gone, gone == 1 ? "" : "es", single ? " and " : "");
	if (single)
		printf("%zu cable%s", single, single == 1 ? "" : "s");
	printf("\n");
	cli_print_links(NULL, status, &status->dead_links, false);
}

/* " Node03-05 (0x0002...) at Leaf03[6]", as far as it is known. */
static void print_place(const struct fors_link *place, bool is_next)
{
	const char *name = *place->host ? place->host : place->b;

	printf("%s%s", is_next ? ", " : "", name);
	if (*place->host && *place->b && strcmp(place->host, place->b) != 0)
		printf(" (%s)", place->b);
	printf("%s%s[%u]", *name ? " at " : "", place->a, place->a_port);
}

/* Leaves that are gone with their servers: "; Leaf03 is dead", and the end of the line. Or a colon. */
static void print_gone(const struct fors_status *status)
{
	const struct fors_dead_switches *gone = &status->dead_switches;
	size_t told = 0;

	for (size_t i = 0; i < gone->count; i++)
		if (gone->one[i].servers && ++told <= NAMED)
			printf("%s%s is dead", told == 1 ? "; " : ", ", gone->one[i].name);
	if (told > NAMED)
		printf(" and %zu more", told - NAMED);
	if (told)
		printf("\n%*s", CLI_BELOW, "");
	else
		printf(": ");
}

void cli_print_warnings(const struct fors_warnings *warnings)
{
	for (unsigned i = 0; i < fors_warnings_kept(warnings); i++)
		printf("%-*s%s%s%s\n", CLI_LABEL, i ? "" : "warning", cli_colour(CLI_YELLOW), warnings->text[i],
		       cli_colour(CLI_PLAIN));
}

void cli_print_ca_ports(const struct fors_status *status)
{
	if (status->ca_ports > status->servers)
		printf("CA ports    %lld: %lld %s, %lld not participants, %lld %s on %s, %lld left out\n",
		       (long long)status->ca_ports, (long long)status->servers,
		       fors_plural(status->servers, "server", "servers"), (long long)status->not_participants,
		       (long long)status->guests, fors_plural(status->guests, "guest", "guests"),
		       status->tops >= 0 ? "middle switches and tops" : "spines", (long long)status->left_out);
}

void cli_print_not_hosts(const struct fors_status *status)
{
	if (*status->not_hosts)
		printf("%-*s%s: routed, but in no exchange\n", CLI_LABEL, "no hosts", status->not_hosts);
}

void cli_print_alone(const struct fors_status *status)
{
	int64_t more = status->phases - status->phases_alone;

	if (status->phases_alone > 0 && more > 0)
		printf("%-*s%lld %s more than if the %lld %s no part %s not there\n", CLI_LABEL, "others",
		       (long long)more, fors_plural(more, "phase", "phases"), (long long)status->not_participants,
		       fors_plural(status->not_participants, "port that takes", "ports that take"),
		       fors_plural(status->not_participants, "was", "were"));
}

void cli_print_lost(const struct fors_status *status, int64_t intact)
{
	const struct fors_links *lost = &status->lost_servers;

	if (!lost->count)
		return;
	printf("%-*s%zu", CLI_LABEL, "lost", lost->count);
	if (intact > 0)
		printf(" of %lld", (long long)intact);
	printf(" server%s", lost->count == 1 && intact <= 1 ? "" : "s");
	print_gone(status);
	for (size_t i = 0; i < lost->count && i < NAMED; i++)
		print_place(&lost->link[i], i > 0);
	if (lost->count > NAMED)
		printf(" and %zu more (--json lists them)", lost->count - NAMED);
	printf("\n");
}

void cli_print_flapping(const struct fors_status *status)
{
	const struct fors_links *flapping = &status->flapping_links;

	for (size_t i = 0; i < flapping->count && i < LISTED; i++)
		printf("%-*s%s[%u] - %s[%u] changed %u %s in the last hour: exclude it\n", CLI_LABEL,
		       i ? "" : "flapping", flapping->link[i].a, flapping->link[i].a_port, flapping->link[i].b,
		       flapping->link[i].b_port, flapping->link[i].changes,
		       fors_plural(flapping->link[i].changes, "time", "times"));
	if (flapping->count > LISTED)
		printf("%*sand more, %zu in all (--json lists them)\n", CLI_LABEL, "", flapping->count);
}

/* Where most servers are slower than the fastest these are no fault, and the few fast ones what makes them slow. */
static void print_mixed(const struct fors_status *status)
{
	const struct fors_links *slow = &status->slow_servers;

	printf("mixed       %zu of %lld servers are slower than the fastest, which say what full speed is, %g Gbit/s; the first is %s[%u], %s\n",
	       slow->count, (long long)status->servers, (double)status->full_speed_mbits / 1000, slow->link[0].b,
	       slow->link[0].b_port, slow->link[0].rate);
	printf("%*swithout the %lld fast %s it is that of the others\n", CLI_LABEL, "",
	       (long long)(status->servers - (int64_t)slow->count),
	       fors_plural(status->servers - (int64_t)slow->count, "one", "ones"));
}

void cli_print_slow_servers(const struct fors_status *status)
{
	const struct fors_links *slow = &status->slow_servers;

	if (2 * (int64_t)slow->count > status->servers) {
		print_mixed(status);
		return;
	}
	for (size_t i = 0; i < slow->count && i < LISTED; i++)
		printf("%-*s%s[%u] - %s[%u], %s: a server's own cable\n", CLI_LABEL, i ? "" : "slow", slow->link[i].a,
		       slow->link[i].a_port, slow->link[i].b, slow->link[i].b_port, slow->link[i].rate);
	if (slow->count > LISTED)
		printf("%*sand more, %zu in all (--json lists them)\n", CLI_LABEL, "", slow->count);
	if (slow->count && status->fast_bound > 0)
		printf("%*swithout %s the exchange of the other %lld needs %lld %s at full speed, or some more\n",
		       CLI_LABEL, "", slow->count == 1 ? "it" : "these",
		       (long long)(status->servers - (int64_t)slow->count), (long long)status->fast_bound,
		       fors_plural(status->fast_bound, "phase", "phases"));
}

void cli_print_speeds(int64_t mbits, int64_t least, int64_t most)
{
	if (most <= 1)
		return;
	printf("speeds      full speed is %g Gbit/s; a cable between switches carries ", (double)mbits / 1000);
	if (least < most)
		printf("%lld to ", (long long)least);
	printf("%lld %s in a phase\n", (long long)most, fors_plural(most, "flow", "flows"));
}

const char *cli_no_conflict(uint32_t max_load)
{
	return max_load > 1 ? "no link carries more in a phase than its speed allows"
			    : "no link carries two in a phase";
}

/* What of full speed is left at such a length; negative: there is none. */
static void print_share(const char *what, int64_t servers, double length, const char *unit)
{
	if (length > 0)
		printf("; %s %.1f %%%s", what, 100 * (double)servers / length, unit);
	else
		printf("; %s no way between some leaves", what);
}

/*
 * What is done about slow links between switches (degraded_choice of struct fors_status), and what the exchange of so many
 * servers takes about, in phases at full speed, with all of them in use and with none; nothing where none is slow.
 */
static void print_choice(const char *choice, int64_t servers, double ignored, double drained)
{
	const char *colon = strchr(choice, ':');

	if (!*choice || servers <= 0)
		return;
	printf("%*sslow links between switches: %s (degraded_links = %.*s)", CLI_BELOW, "",
	       colon			 ? colon + 2
	       : !strcmp(choice, "dead") ? "drained"
					 : "in use",
	       colon ? (int)(colon - choice) : (int)strlen(choice), choice);
	print_share("with slow links", servers, ignored, " of full speed");
	print_share("drained", servers, drained, "");
	printf("\n");
}

void cli_print_slow(const struct fors_status *status)
{
	if (status->slow_phases > 0)
		printf("%*sslow links hold up %lld of %lld phases: the exchange takes as long as %.1f phases at full speed\n",
		       CLI_BELOW, "", (long long)status->slow_phases, (long long)status->phases, status->length);
	print_choice(status->degraded_choice, status->servers, status->ignored_length, status->drained_length);
}

/* --- what to mend first ----------------------------------------------------------------------------------------- */

static double speed_of(const struct fors_status *status, int64_t phases)
{
	return 100 * (double)status->servers / (double)phases;
}

static void print_mended(const struct fors_link *link)
{
	if (*link->a)
		printf("%s[%u] - %s[%u]", link->a, link->a_port, link->b, link->b_port);
	else
		printf("%s with all its cables", link->b);
}

/* What comes of a repair if nothing else is mended. */
static void print_speeds(const struct fors_status *status, int64_t phases)
{
	if (status->phases > 0)
		printf(" alone: %.1f %% -> %.1f %%", speed_of(status, status->phases), speed_of(status, phases));
	else
		printf(" alone: fors routes again, at %.1f %% of full speed", speed_of(status, phases));
}

/* Repairs from one on that give back as much: how many. */
static uint32_t count_equal(const struct fors_gains *repairs, uint32_t first)
{
	uint32_t next = first + 1;

	while (next < repairs->count && repairs->gain[next].phases == repairs->gain[first].phases)
		next++;
	return next - first;
}

/* Any one of several repairs. */
static void print_equal(const struct fors_status *status, uint32_t first, uint32_t count)
{
	printf("any one of these %u", count);
	print_speeds(status, status->repairs.gain[first].phases);
	printf("\n%*s", CLI_BELOW, "");
	for (uint32_t i = 0; i < count && i < EQUAL; i++) {
		printf("%s", i ? ", " : "");
		print_mended(&status->repairs.gain[first + i].link);
	}
	if (count > EQUAL)
		printf(" and %u more (--json lists them)", count - EQUAL);
}

/* Servers that are lost come before any speed: their dead leaves, and those whose leaf is alive. */
static void print_lost_first(const struct fors_status *status)
{
	const struct fors_dead_switches *gone = &status->dead_switches;
	const struct fors_links *lost = &status->lost_servers;
	size_t told = 0;

	print_label("mend first");
	for (size_t i = 0; i < gone->count; i++)
		if (gone->one[i].servers && ++told <= NAMED)
			printf("%s%s", told > 1 ? ", " : "", gone->one[i].name);
	for (size_t i = 0; i < lost->count; i++)
		if (fors_status_is_alone(status, &lost->link[i]) && ++told <= NAMED)
			print_place(&lost->link[i], told > 1);
	if (told > NAMED)
		printf(" and %zu more", told - NAMED);
	printf(": %zu %s lost\n", lost->count, fors_plural(lost->count, "server is", "servers are"));
}

/* One row for repairs that give back as much. */
static void print_gains(const struct fors_status *status, uint32_t first, uint32_t count)
{
	print_label(first || status->lost_servers.count ? "" : "mend first");
	if (count > 1) {
		print_equal(status, first, count);
	} else {
		print_mended(&status->repairs.gain[first].link);
		print_speeds(status, status->repairs.gain[first].phases);
	}
	printf("\n");
}

void cli_print_repairs(const struct fors_status *status)
{
	const struct fors_gains *repairs = &status->repairs;
	const char *label;

	if (!repairs->is_known || status->servers <= 0 || status->phases == status->servers)
		return;
	if (status->lost_servers.count)
		print_lost_first(status);
	for (uint32_t i = 0, count; i < repairs->count; i += count) {
		count = count_equal(repairs, i);
		print_gains(status, i, count);
	}
	label = repairs->count || status->lost_servers.count ? "" : "mend first";
	if (!repairs->count && !repairs->untried)
		printf("%-*sno repair gives anything back alone: it takes several\n", CLI_LABEL, label);
	if (repairs->untried)
		printf("%-*s%u more %s not tried, for want of time\n", CLI_LABEL, label, repairs->untried,
		       fors_plural(repairs->untried, "repair was", "repairs were"));
}

/* --- pages -------------------------------------------------------------------------------------------------- */

/* The width of the terminal, or what COLUMNS says; 0: neither, so lines are as long as they are. */
static int screen_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = columns ? atoi(columns) : 0;

	if (width <= 0 && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	return width > 0 && width < NARROWEST ? NARROWEST : width;
}

/*
 * How many columns a word has: sequences that switch colours have none, and of a UTF-8 character only its first byte
 * counts.
 */
static int columns_of(const char *word, int length)
{
	int columns = 0;

	for (int i = 0; i < length; i++) {
		if (word[i] == '\033')
			while (i < length && word[i] != 'm')
				i++;
		else
			columns += ((unsigned char)word[i] & 0xc0) != 0x80;
	}
	return columns;
}

/* Where the rest of a broken line begins. */
static int rest_of(const char *line)
{
	int blanks = (int)strspn(line, " ");

	return (blanks > CLI_LABEL ? blanks : CLI_LABEL) + BROKEN;
}

/* A line without its end, broken at blanks. */
static void print_folded(const char *line, int length, int width)
{
	int column = 0, rest = rest_of(line);

	for (int at = 0; at < length;) {
		int blanks = (int)strspn(line + at, " "), word = (int)strcspn(line + at + blanks, " \n");
		int columns = columns_of(line + at + blanks, word);

		if (column > rest - BROKEN && column + blanks + columns > width) {
			printf("\n%*s", rest, "");
			column = rest;
			at += blanks;
			blanks = 0;
		}
		printf("%.*s", blanks + word, line + at);
		column += blanks + columns;
		at += blanks + word;
	}
}

static void print_lines(const char *text)
{
	int width = screen_width();

	while (*text) {
		int length = (int)strcspn(text, "\n");

		if (width)
			print_folded(text, length, width);
		else
			printf("%.*s", length, text);
		text += length;
		if (*text == '\n')
			putchar(*text++);
	}
}

/* What is printed goes into memory first, because only whole lines can be broken well. */
void cli_print_page(void (*print)(const void *context), const void *context)
{
	FILE *screen = stdout, *page;
	char *text = NULL;
	size_t size;

	page = open_memstream(&text, &size);
	stdout = page ? page : screen;
	print(context);
	stdout = screen;
	if (page && !fclose(page))
		print_lines(text);
	free(text);
}
