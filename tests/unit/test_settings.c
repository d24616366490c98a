/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of daemon/settings/settings.c: what is taken, and that each mistake is named with file and line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/files/publish.h"
#include "daemon/settings/settings.h"
#include "unit.h"

FREES(fors_settings_free, struct fors_settings *)

static char directory[64], conf[96], guids[96], options[128];

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/fors-settings-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(conf, sizeof(conf), "%s/fors.conf", directory);
	snprintf(guids, sizeof(guids), "%s/guids", directory);
	snprintf(options, sizeof(options), "other=1 fors_config=%s", conf);
	return 0;
}

static int remove_directory(void **state)
{
	unlink(conf);
	unlink(guids);
	return rmdir(directory);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static struct fors_settings *load(const char *text)
{
	const struct fors_sources sources = {.options = options};
	struct fors_settings *settings = NULL;

	put(conf, text);
	assert_int_equal(fors_settings_load(&sources, &settings, NULL), FORS_OK);
	return settings;
}

static void defaults(void **state)
{
	static const char *const none[] = {NULL, "", "verbose other=/etc/fors_config=/x.conf"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const struct fors_sources sources = {.options = none[i]};
		struct fors_settings *settings FREED(fors_settings_free) = NULL;

		assert_int_equal(fors_settings_load(&sources, &settings, NULL), FORS_OK);
		assert_string_equal(settings->limits.method, "auto");
		assert_int_equal(settings->limits.seconds, 0);
		assert_int_equal(settings->limits.steps, 0);
		assert_null(settings->state_dir);
		assert_null(fors_settings_participants(settings));
	}
}

static void keys_and_comments(void **state)
{
	struct fors_settings *settings = load("# a comment\n\n; another\n"
					      "method = closed-form   # how\n"
					      "ilp_seconds=60\nstate_dir = /some where\nplan_steps = 5000\n");

	assert_string_equal(settings->limits.method, "closed-form");
	assert_int_equal(settings->limits.seconds, 60);
	assert_int_equal(settings->limits.steps, 5000000000);
	assert_string_equal(settings->state_dir, "/some where");
	fors_settings_free(settings);
	fors_settings_free(load(""));
}

/* Limits are compared and digested as they are: nothing of an earlier name is left behind the last one. */
static void limits_of_the_same_words_are_the_same(void **state)
{
	struct fors_settings *once = load("method = exact\nplan_memory = 5\n"),
			     *again = load("method = closed-form\nplan_memory = 6\nplan_memory = 5\nmethod = exact\n");

	assert_memory_equal(&once->limits, &again->limits, sizeof(once->limits));
	fors_settings_free(once);
	fors_settings_free(again);
}

static void whose_tables(void **state)
{
	struct fors_settings *settings = load("schedule_over = any\n");

	assert_true(settings->is_over_any);
	fors_settings_free(settings);
	settings = load("schedule_over = any\nschedule_over = fors\n");
	assert_false(settings->is_over_any);
	fors_settings_free(settings);
	settings = load("");
	assert_false(settings->is_over_any);
	fors_settings_free(settings);
}

/* What the operator declares to fors watch. */
static void without_adaptive_routing(void **state)
{
	struct fors_settings *settings = load("");

	assert_int_equal(settings->static_sl, FORS_NOT_DECLARED);
	assert_false(settings->is_not_adaptive);
	fors_settings_free(settings);
	settings = load("static_sl = 15\nadaptive_routing = off\n");
	assert_int_equal(settings->static_sl, 15);
	assert_true(settings->is_not_adaptive);
	fors_settings_free(settings);
}

static void entries_for_jobs(void **state)
{
	struct fors_settings *settings = load("job_index = yes\njob_routes = owned\n");

	assert_true(settings->job_index && settings->job_routes);
	fors_settings_free(settings);
	settings = load("job_index = yes\njob_index = no\njob_routes = home\n");
	assert_false(settings->job_index || settings->job_routes);
	fors_settings_free(settings);
	settings = load("");
	assert_false(settings->job_index || settings->job_routes);
	fors_settings_free(settings);
}

static void links_drained(void **state)
{
	struct fors_settings *settings = load("degraded_links = dead\nhold_down = 30\nplan_memory = 300\n"
					      "exclude_links = Leaf 00[3], 0x10[4]\nexclude_links = MF0;sw/U1[1] ,\n"
					      "exclude_spines = a,\n  exclude_spines=b\nexclude_spines =\n");

	assert_int_equal(settings->degraded, FORS_SLOW_DEAD);
	assert_int_equal(settings->hold_down, 30);
	assert_int_equal(settings->limits.bytes, 300 << 20);
	assert_int_equal(settings->excluded_links.count, 3);
	assert_string_equal(settings->excluded_links.name[0], "Leaf 00[3]");
	assert_string_equal(settings->excluded_links.name[2], "MF0;sw/U1[1]");
	assert_int_equal(settings->excluded_spines.count, 2);
	fors_settings_free(settings);
	settings = load("degraded_links = auto\n");
	assert_int_equal(settings->degraded, FORS_SLOW_AUTO);
	fors_settings_free(settings);
	settings = load("");
	assert_int_equal(settings->degraded, FORS_SLOW_AUTO); /* by default */
	fors_settings_free(settings);
	settings = load("degraded_links = ignore\nhold_down = 0\nfabric_name = DAQ \"1\"\n");
	assert_string_equal(settings->fabric_name, "DAQ \"1\"");
	assert_int_equal(settings->degraded, FORS_SLOW_IGNORE);
	assert_int_equal(settings->hold_down, 0);
	assert_int_equal(settings->limits.bytes, 1 << 30);
	fors_settings_free(settings);
}

/* Lines of `nlines` times 80 names and one more of `rest`. */
static void put_names(const char *key, unsigned nlines, unsigned rest)
{
	FILE *file = fopen(conf, "w");

	assert_non_null(file);
	for (unsigned line = 0; line <= nlines; line++) {
		fprintf(file, "%s = ", key);
		for (unsigned n = 0; n < (line < nlines ? 80 : rest); n++)
			fputs("A,", file);
		fputc('\n', file);
	}
	fclose(file);
}

/* The limit holds for names, wherever in the lines they stand. */
static void at_most_4096_names(void **state)
{
	static const char *const keys[] = {"exclude_links", "exclude_spines"};
	const struct fors_sources sources = {.options = options};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct fors_settings *settings = NULL;
		struct fors_error error = {.text = ""};

		put_names(keys[i], 51, 16);
		assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_OK);
		assert_int_equal(settings->excluded_links.count + settings->excluded_spines.count, 4096);
		fors_settings_free(settings);
		settings = NULL;
		put_names(keys[i], 51, 17);
		assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_EINPUT);
		assert_non_null(strstr(error.text, ":52: "));
		assert_non_null(strstr(error.text, keys[i]));
		assert_non_null(strstr(error.text, "more than 4096 names"));
		assert_null(settings);
	}
}

static void publishing(void **state)
{
	struct fors_settings *settings =
		load("publish_dir = /net/daq\npublish_command = rsync -a \"$FORS_DIR\"/ h:x; true\n"
		     "publish_seconds = 5\n");

	assert_string_equal(settings->publish_dir, "/net/daq");
	assert_string_equal(settings->publish_command, "rsync -a \"$FORS_DIR\"/ h:x; true");
	assert_int_equal(settings->publish_seconds, 5);
	fors_settings_free(settings);
	settings = load("");
	assert_null(settings->publish_dir);
	assert_null(settings->publish_command);
	fors_settings_free(settings);
}

static void expect_trouble(enum fors_err err, const char *text)
{
	const struct fors_sources sources = {.options = options, .cn_guid_file = guids};
	struct fors_settings *settings = NULL;
	struct fors_error error = {.text = ""};

	assert_int_equal(fors_settings_load(&sources, &settings, &error), err);
	assert_null(settings);
	if (!strstr(error.text, text))
		fail_msg("'%s' does not say '%s'", error.text, text);
}

/* The name of the file names a folder. */
static void a_demand(void **state)
{
	static const char *const bad[] = {"/etc/.demand", "/etc/a b.txt", "/etc/", "events.txt"};
	struct fors_settings *settings =
		load("demand_file = /etc/fors/events.v2.txt\ndemand_dir = /etc/fors/demands\n");
	char name[FORS_DEMANDNAME_ROOM], text[200];

	assert_string_equal(settings->demand_file, "/etc/fors/events.v2.txt");
	assert_string_equal(settings->demand_dir, "/etc/fors/demands");
	assert_true(fors_demandname(settings->demand_file, name));
	assert_string_equal(name, "+events.v2");
	assert_true(fors_demandname("/etc/fors/plain", name));
	assert_string_equal(name, "+plain");
	fors_settings_free(settings);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "demand_file = %s\n", bad[i]);
		put(conf, text);
		expect_trouble(FORS_EINPUT, "/fors.conf:1: demand_file");
	}
	put(conf, "demand_file = /a\njobs_file = /b\n");
	expect_trouble(FORS_EINPUT, "exclude each other");
}

/* A shell's ; is none of ours. */
static void a_command_has_semicolons(void **state)
{
	struct fors_settings *settings FREED(fors_settings_free) =
		load("publish_command = a ; b ;c\nexclude_spines = x ;y\n");

	assert_string_equal(settings->publish_command, "a ; b ;c");
	assert_string_equal(settings->excluded_spines.name[0], "x ;y");
}

/* These are read in OpenSM's sweep: nothing may wait for a writer, or never end. */
static void only_regular_files(void **state)
{
	put(conf, "");
	assert_int_equal(mkfifo(guids, 0600), 0);
	expect_trouble(FORS_EIO, "/guids: not a regular file");
	unlink(conf);
	assert_int_equal(mkfifo(conf, 0600), 0);
	expect_trouble(FORS_EIO, "/fors.conf: not a regular file");
	unlink(conf);
	assert_int_equal(symlink("/dev/zero", conf), 0);
	expect_trouble(FORS_EIO, "/fors.conf: not a regular file");
	unlink(conf);
	unlink(guids);
	put(conf, "");
	assert_int_equal(truncate(conf, 1 << 20), 0);
	expect_trouble(FORS_EINPUT, "/fors.conf: not a text");
	assert_int_equal(truncate(conf, (1 << 20) + 1), 0);
	expect_trouble(FORS_EIO, "/fors.conf: has 1048577 bytes; more than 1 MB are not read");
}

static void lines_may_be_indented(void **state)
{
	struct fors_settings *settings FREED(fors_settings_free) =
		load("  method = exact\n\thold_down = 5 \r\n   \n \t; nothing");

	assert_string_equal(settings->limits.method, "exact");
	assert_int_equal(settings->hold_down, 5);
}

/* publish_command is one line, and it is cut nowhere. */
static void a_line_of_4096_bytes(void **state)
{
	char text[4200] = "publish_command = ", value[4200];
	struct fors_settings *settings FREED(fors_settings_free) = NULL;

	memset(text + strlen(text), 'x', 4095 - strlen(text));
	strcat(text, "y");
	strcpy(value, strchr(text, 'x'));
	strcat(text, "\nhold_down = 7\n");
	settings = load(text);
	assert_string_equal(settings->publish_command, value);
	assert_int_equal(settings->hold_down, 7);
}

/* Whoever may write the file could run a command as root. */
static void others_give_no_command(void **state)
{
	const struct fors_sources sources = {.options = options};
	struct fors_settings *settings FREED(fors_settings_free) = NULL;
	struct fors_error error = {.text = ""};

	put(conf, "# one\npublish_command = true\n");
	chmod(conf, 0664);
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, ":2: publish_command: refused"));
	chmod(conf, 0644);
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_OK);
}

static void participants_override_cn_guid_file(void **state)
{
	struct fors_sources sources = {.options = options, .cn_guid_file = "/dev/null/none", .root_guid_file = guids};
	struct fors_settings *settings = NULL;
	char text[160];

	put(guids, "0x10 first\n0x20\n");
	snprintf(text, sizeof(text), "participants_file = %s\n", guids);
	put(conf, text);
	assert_int_equal(fors_settings_load(&sources, &settings, NULL), FORS_OK);
	assert_int_equal(fors_settings_participants(settings)->count, 2);
	assert_int_equal(settings->nroots, 2);
	assert_int_equal(settings->root[1], 0x20);
	fors_settings_free(settings);

	put(conf, "");
	assert_int_equal(fors_settings_load(&sources, &settings, NULL), FORS_EIO);
	sources.cn_guid_file = guids;
	assert_int_equal(fors_settings_load(&sources, &settings, NULL), FORS_OK);
	assert_int_equal(fors_settings_participants(settings)->count, 2);
	fors_settings_free(settings);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *line, *word;
	} mistake[] = {
		{"\nmetod = auto\n", ":2: ", "metod"},
		{"method = best\n", ":1: ", "best"},
		{"method =\n", ":1: ", "method"},
		{"ilp_seconds = -1\n", ":1: ", "-1"},
		{"ilp_seconds = 1s\n", ":1: ", "1s"},
		{"ilp_seconds = 99999999999999999999\n", ":1: ", "86400"},
		{"# x\n# y\nstate_dir = here\n", ":3: ", "absolute"},
		{"no equals sign\n", ":1: ", "key = value"},
		{"method = auto\nnonsense\nmetod = auto\n", ":2: ", "key = value"},
		{"[fors]\nmethod = auto\n", ":1: ", "[fors]"},
		{"fors_mode = off\n", ":1: ", "neither 'on' nor 'shadow'"},
		{"schedule_over = all\n", ":1: ", "neither 'fors' nor 'any'"},
		{"static_sl = 16\n", ":1: ", "from 0 to 15"},
		{"adaptive_routing = no\n", ":1: ", "neither 'on' nor 'off'"},
		{"degraded_links = maybe\n", ":1: ", "neither 'auto' nor 'ignore' nor 'dead'"},
		{"degraded_links =\n", ":1: ", "degraded_links"},
		{"hold_down = -3\n", ":1: ", "hold_down"},
		{"# nothing like it\nqqqqqqqqqqqq = 1\n", ":2: unknown key 'qqqqqqqqqqqq'", "qqqqqqqqqqqq'"},
		{"hold_down = -18446744073709551611\n", ":1: ", "hold_down"}, /* 5, where numbers wrap */
		{"hold_down = 86401\n", ":1: ", "from 0 to 86400"},
		{"plan_memory = 0\n", ":1: ", "from 1 to 1048576"},
		{"plan_memory = 1G\n", ":1: ", "plan_memory"},
		{"plan_steps = 0\n", ":1: ", "plan_steps: '0' is not a whole number from 1 to 1000000"},
		{"plan_steps = 0.5\n", ":1: ", "from 1 to 1000000"},
		{"\npublish_dir = here\n", ":2: ", "absolute"},
		{"publish_command =\n", ":1: ", "no command"},
		{"publish_seconds = 0\n", ":1: ", "from 1 to 3600"},
		{"fabric_name =\n", ":1: ", "1 to 63 characters"},
		{"fabric_name = 0123456789012345678901234567890123456789012345678901234567890123\n", ":1: ", "1 to 63"},
		{"exclude_link = x\n", ":1: ", "unknown key 'exclude_link'"},
		{"participants_file = /dev/null/none\n", "/dev/null/none: ", "opened"},
		{"jobs_file = jobs\n", ":1: ", "absolute"},
		{"demand_dir = demands\n", ":1: ", "absolute"},
		{"jobs_keep = perhaps\n", ":1: ", "jobs_keep: 'perhaps' is neither 'yes' nor 'no'"},
		{"rehome = always\n", ":1: ", "rehome: 'always' is neither 'auto' nor 'never'"},
		{"job_index = 1\n", ":1: ", "job_index: '1' is neither 'no' nor 'yes'"},
		{"job_routes = sar\n", ":1: ", "job_routes: 'sar' is neither 'home' nor 'owned'"},
		{"jobs_file = /run/jobs\nparticipants_file = /dev/null\n", ": ",
		 "jobs_file and participants_file exclude each other"},
	};
	const struct fors_sources sources = {.options = options};

	for (size_t i = 0; i < sizeof(mistake) / sizeof(mistake[0]); i++) {
		struct fors_settings *settings = NULL;
		struct fors_error error = {.text = ""};

		put(conf, mistake[i].text);
		assert_int_not_equal(fors_settings_load(&sources, &settings, &error), FORS_OK);
		assert_null(settings);
		if (!strstr(error.text, mistake[i].line) || !strstr(error.text, mistake[i].word))
			fail_msg("%s gives: %s", mistake[i].text, error.text);
	}
}

/* The files in it have longer paths, which are lines, too. */
static void a_long_folder_of_demands(void **state)
{
	const struct fors_sources sources = {.options = options};
	struct fors_settings *settings = NULL;
	struct fors_error error;
	char text[4200] = "demand_dir = /";

	memset(text + strlen(text), 'x', 4000 - 1);
	put(conf, text);
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_OK);
	fors_settings_free(settings);
	settings = NULL;
	memset(text + strlen(text), 'x', 1);
	put(conf, text);
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, ":1: demand_dir: '/xxx"));
	assert_non_null(strstr(error.text, "up to 4000 characters"));
}

static void long_lines_and_bad_lists(void **state)
{
	const struct fors_sources sources = {.options = options, .root_guid_file = guids};
	struct fors_settings *settings = NULL;
	struct fors_error error;
	char text[4200] = "\npublish_command = ";

	memset(text + strlen(text), 'x', 4098 - strlen(text)); /* the first byte is an empty line */
	put(guids, "");
	put(conf, text);
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, ":2: line longer than 4096 bytes"));
	put(conf, "");
	put(guids, "0x1\nzero\n");
	assert_int_equal(fors_settings_load(&sources, &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "guids:2: "));
}

static void bad_paths(void **state)
{
	static const char *const bad[] = {"fors_config=", "fors_config=relative.conf",
					  "fors_config=/dev/null/fors.conf", "fors_config=/tmp"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct fors_sources sources = {.options = bad[i]};
		struct fors_settings *settings = NULL;
		struct fors_error error = {.text = ""};

		assert_int_not_equal(fors_settings_load(&sources, &settings, &error), FORS_OK);
		assert_non_null(strchr(error.text, ':'));
	}
}

/* The file with GUIDs serves as the reference. */
static enum fors_err refer(const char *text, struct fors_settings **settings, struct fors_error *error)
{
	const struct fors_sources sources = {.options = options};
	char line[160];

	put(guids, text);
	snprintf(line, sizeof(line), "reference_fabric = %s\n", guids);
	put(conf, line);
	return fors_settings_load(&sources, settings, error);
}

static void a_reference_fabric(void **state)
{
	static const char tree[] =
		"Switch 3 \"L0\"\n[1] \"A\"[1]\n[2] \"S\"[1]\n\nSwitch 3 \"L1\"\n[1] \"B\"[1]\n[2] \"S\"[2]\n\n"
		"Switch 3 \"S\"\n\nHca 1 \"A\"\n\nHca 1 \"B\"\n";
	struct fors_settings *settings = NULL;
	struct fors_error error;

	if (refer(tree, &settings, &error))
		fail_msg("%s", error.text);
	assert_string_equal(settings->reference_fabric, guids);
	assert_non_null(settings->reference);
	fors_settings_free(settings);
	settings = NULL;
	assert_int_equal(refer("", &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, guids));
	assert_int_equal(refer("Switch 3 \"L0\"\n", &settings, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "no reference fabric"));
	assert_int_equal(refer("Switch 3 \"L0\"\n", &settings, NULL), FORS_EINPUT);
	assert_null(settings);
	put(conf, "reference_fabric = here\n");
	assert_int_equal(fors_settings_load(&(struct fors_sources){.options = options}, &settings, &error),
			 FORS_EINPUT);
	assert_non_null(strstr(error.text, "not an absolute path"));
}

/* Options end where they end, whatever comes behind. */
static void options_end_with_a_nul(void **state)
{
	static const char text[] = "verbose\0fors_config=not-absolute";
	struct fors_settings *settings FREED(fors_settings_free) = NULL;

	assert_int_equal(fors_settings_load(&(struct fors_sources){.options = text}, &settings, NULL), FORS_OK);
	assert_int_equal(settings->publish_seconds, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(keys_and_comments),
		cmocka_unit_test(whose_tables),
		cmocka_unit_test(limits_of_the_same_words_are_the_same),
		cmocka_unit_test(without_adaptive_routing),
		cmocka_unit_test(entries_for_jobs),
		cmocka_unit_test(links_drained),
		cmocka_unit_test(at_most_4096_names),
		cmocka_unit_test(publishing),
		cmocka_unit_test(a_demand),
		cmocka_unit_test(a_command_has_semicolons),
		cmocka_unit_test(only_regular_files),
		cmocka_unit_test(lines_may_be_indented),
		cmocka_unit_test(others_give_no_command),
		cmocka_unit_test(participants_override_cn_guid_file),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(a_line_of_4096_bytes),
		cmocka_unit_test(a_long_folder_of_demands),
		cmocka_unit_test(long_lines_and_bad_lists),
		cmocka_unit_test(bad_paths),
		cmocka_unit_test(a_reference_fabric),
		cmocka_unit_test(options_end_with_a_nul),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
