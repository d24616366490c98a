/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: one table of keys, each with a function that checks and stores its value.
 * conf.c takes the lines apart and counts them, so that each complaint names file and line. Keys of fors.conf that this
 * version does not know yet are refused like misspelt ones: silently ignoring what an administrator wrote is worse.
 */
#include "settings.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/guidlist.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/fabric/places.h"
#include "core/net/netfile.h"
#include "core/net/others.h"
#include "core/fabric/places_file.h"
#include "core/planners/planner.h"
#include "daemon/base/conf.h"
#include "daemon/files/input.h"
#include "daemon/files/publish.h"

#define GUIDS_MAX_MB 16u  /* a list of 49,151 GUIDs needs 1 MB, some more with names beside them */
#define FABRIC_MAX_MB 64u /* the text of a fabric of as many servers needs 20 MB */
#define CONF_MAX_MB 1u	  /* of hundreds of lines */
#define NAMES_MAX 4096u	  /* of all lines of one key; more cables than that are no drain before maintenance */
#define DAY 86400u
#define DEMAND_DIR_MAX (FORS_CONF_LINE_MAX - 96u) /* room for '/', the name of a demand and its ending */
#define PLAN_MEMORY (UINT64_C(1) << 30)
#define PUBLISH_SECONDS 30u

/* While fors.conf is being read. */
struct reading {
	struct fors_settings *settings;
	const char *path;
	struct stat info; /* of the file */
	unsigned line;
	struct fors_error *error;
};

/* A key of fors.conf: how its value is checked, and where it goes. */
struct key {
	const char *name;
	enum fors_err (*set)(struct reading *reading, const struct key *key, const char *value);
	size_t member;	      /* of struct fors_settings */
	unsigned least, most; /* of a number */
	unsigned unit;	      /* of a number that is a limit (uint64_t); 0: of one that is not (unsigned) */
	const char *no, *yes; /* of two words: those for false and true */
};

static void *member_of(const struct reading *r, const struct key *key)
{
	return (char *)r->settings + key->member;
}

static bool is_method(const char *name)
{
	size_t n;
	const struct fors_method *const *method = fors_methods(&n);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(method[i]->name, name))
			return true;
	}
	return !strcmp(name, "auto");
}

static enum fors_err set_method(struct reading *r, const struct key *key, const char *value)
{
	if (!is_method(value))
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: there is no method '%.40s'; try auto", r->path,
				 r->line, key->name, value);
	fors_limit_method(&r->settings->limits, value);
	return FORS_OK;
}

static enum fors_err set_number(struct reading *r, const struct key *key, const char *value)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || end == value || *end || *value == '-' || *value == '+' || number < key->least ||
	    number > key->most)
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: '%.40s' is not a whole number from %u to %u",
				 r->path, r->line, key->name, value, key->least, key->most);
	if (key->unit)
		*(uint64_t *)member_of(r, key) = (uint64_t)number * key->unit;
	else
		*(unsigned *)member_of(r, key) = (unsigned)number;
	return FORS_OK;
}

/* One of two words. */
static enum fors_err set_word(struct reading *r, const struct key *key, const char *value)
{
	if (strcmp(value, key->no) && strcmp(value, key->yes))
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: '%.40s' is neither '%s' nor '%s'", r->path, r->line,
				 key->name, value, key->no, key->yes);
	*(bool *)member_of(r, key) = !strcmp(value, key->yes);
	return FORS_OK;
}

static enum fors_err set_degraded_links(struct reading *r, const struct key *key, const char *value)
{
	if (fors_slow_how_named(value, &r->settings->degraded))
		return FORS_OK;
	return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: '%.40s' is neither 'auto' nor 'ignore' nor 'dead'", r->path,
			 r->line, key->name, value);
}

/* Lists may be spread over several lines: each adds to those before. */
static enum fors_err set_names(struct reading *r, const struct key *key, const char *value)
{
	struct fors_names *names = member_of(r, key);
	enum fors_err err = fors_names_add(names, value, r->error);

	if (!err && names->count > NAMES_MAX)
		err = fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: more than %u names in all", r->path, r->line,
				key->name, NAMES_MAX);
	return err;
}

/* A text of the settings' own in place of the one before. */
static enum fors_err set_text(struct reading *r, const struct key *key, const char *value)
{
	char **text = member_of(r, key), *copy = strdup(value);

	if (!copy)
		return fors_fail_memory(r->error);
	free(*text);
	*text = copy;
	return FORS_OK;
}

static enum fors_err set_path(struct reading *r, const struct key *key, const char *value)
{
	if (value[0] != '/')
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: '%.200s' is not an absolute path", r->path, r->line,
				 key->name, value);
	return set_text(r, key, value);
}

/* The name of the file, without its ending, becomes that of a folder. */
static enum fors_err set_demand(struct reading *r, const struct key *key, const char *value)
{
	const char *base = strrchr(value, '/');
	char name[FORS_DEMANDNAME_ROOM];

	if (base && !fors_demandname(value, name))
		return fors_fail(
			r->error, FORS_EINPUT,
			"%s:%u: %s: '%.40s' without its ending names a folder: letters, digits, and . _ - in between, up to %d",
			r->path, r->line, key->name, base + 1, FORS_DEMANDNAME_ROOM - 3);
	return set_path(r, key, value);
}

/* A path of a file there, DIR/NAME.demand, has to be no longer than a line. */
static enum fors_err set_demand_dir(struct reading *r, const struct key *key, const char *value)
{
	if (strlen(value) > DEMAND_DIR_MAX)
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: '%.40s...' is too long: up to %u characters",
				 r->path, r->line, key->name, value, DEMAND_DIR_MAX);
	return set_path(r, key, value);
}

/* It becomes a label in the metrics, where every character is allowed; but a name is to be typed in queries. */
static enum fors_err set_fabric_name(struct reading *r, const struct key *key, const char *value)
{
	size_t length = strlen(value);

	if (!length || length >= sizeof(r->settings->fabric_name))
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: %s: 1 to %zu characters are wanted", r->path, r->line,
				 key->name, sizeof(r->settings->fabric_name) - 1);
	memcpy(r->settings->fabric_name, value, length + 1);
	return FORS_OK;
}

/* It runs as the user of opensm, root as a rule: whoever may write the file must be trusted as much. */
static enum fors_err set_publish_command(struct reading *r, const struct key *key, const char *value)
{
	if ((r->info.st_uid && r->info.st_uid != geteuid()) || (r->info.st_mode & 022))
		return fors_fail(
			r->error, FORS_EINPUT,
			"%s:%u: publish_command: refused, because others may write this file; chown it to root and chmod it to 0644",
			r->path, r->line);
	if (!*value)
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: publish_command: no command given", r->path, r->line);
	return set_text(r, key, value);
}

#define MEMBER(name) .member = offsetof(struct fors_settings, name)
#define NUMBER(from, to) .set = set_number, .least = (from), .most = (to)
/* The first word of the two is what there is without the key. */
#define WORDS(no_, yes_) .set = set_word, .no = (no_), .yes = (yes_)

static const struct key keys[] = {
	{"method", .set = set_method},
	{"ilp_seconds", NUMBER(1, DAY), MEMBER(limits.seconds), .unit = 1},
	{"plan_steps", NUMBER(1, 1000000), MEMBER(limits.steps), .unit = 1000000},
	{"plan_memory", NUMBER(1, 1u << 20), MEMBER(limits.bytes), .unit = 1u << 20},
	{"fors_mode", WORDS("on", "shadow"), MEMBER(is_shadow)},
	{"schedule_over", WORDS("fors", "any"), MEMBER(is_over_any)},
	{"static_sl", NUMBER(0, 15), MEMBER(static_sl)},
	{"adaptive_routing", WORDS("on", "off"), MEMBER(is_not_adaptive)},
	{"degraded_links", .set = set_degraded_links},
	{"exclude_links", .set = set_names, MEMBER(excluded_links)},
	{"not_hosts", .set = set_names, MEMBER(not_hosts)},
	{"exclude_spines", .set = set_names, MEMBER(excluded_spines)},
	{"hold_down", NUMBER(0, DAY), MEMBER(hold_down)},
	{"fabric_name", .set = set_fabric_name},
	{"rehome", WORDS("auto", "never"), MEMBER(rehome_never)},
	{"state_dir", .set = set_path, MEMBER(state_dir)},
	{"reference_fabric", .set = set_path, MEMBER(reference_fabric)},
	{"publish_dir", .set = set_path, MEMBER(publish_dir)},
	{"publish_command", .set = set_publish_command, MEMBER(publish_command)},
	{"publish_seconds", NUMBER(1, 3600), MEMBER(publish_seconds)},
	{"participants_file", .set = set_path, MEMBER(participants_file)},
	{"jobs_file", .set = set_path, MEMBER(jobs_file)},	   /* which the worker reads whenever it changes */
	{"demand_dir", .set = set_demand_dir, MEMBER(demand_dir)}, /* where the demands are that it names: likewise */
	{"demand_file", .set = set_demand, MEMBER(demand_file)},   /* likewise */
	{"jobs_keep", WORDS("yes", "no"), MEMBER(jobs_move)},
	{"job_index", WORDS("no", "yes"), MEMBER(job_index)},
	{"job_routes", WORDS("home", "owned"), MEMBER(job_routes)},
};

static enum fors_err fail_unknown(const struct reading *r, const char *name)
{
	const char *known[sizeof(keys) / sizeof(keys[0])];
	size_t count = sizeof(keys) / sizeof(keys[0]), nearest;

	for (size_t i = 0; i < count; i++)
		known[i] = keys[i].name;
	nearest = fors_text_nearest(name, known, count);
	if (nearest == FORS_NO_TEXT)
		return fors_fail(r->error, FORS_EINPUT, "%s:%u: unknown key '%.60s'", r->path, r->line, name);
	return fors_fail(r->error, FORS_EINPUT, "%s:%u: unknown key '%.60s'; is '%s' meant?", r->path, r->line, name,
			 known[nearest]);
}

static enum fors_err set_key(void *context, unsigned line, const char *name, const char *value)
{
	struct reading *r = context;

	r->line = line;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(keys[i].name, name))
			return keys[i].set(r, &keys[i], value);
	}
	return fail_unknown(r, name);
}

/* Who takes part is said once: by the jobs, or for all of the fabric. */
static enum fors_err check_pairs(const char *path, const struct fors_settings *settings, struct fors_error *error)
{
	if (settings->jobs_file && settings->participants_file)
		return fors_fail(
			error, FORS_EINPUT,
			"%s: jobs_file and participants_file exclude each other: with jobs_file each job has its own servers",
			path);
	if (settings->jobs_file && settings->demand_file)
		return fors_fail(
			error, FORS_EINPUT,
			"%s: jobs_file and demand_file exclude each other: a job has a demand of its own (demand_dir)",
			path);
	return FORS_OK;
}

static enum fors_err read_conf(const char *path, struct fors_stamps *stamps, struct fors_settings *settings,
			       struct fors_error *error)
{
	struct reading r = {.settings = settings, .path = path, .error = error};
	char *text;
	enum fors_err err = fors_input_read(path, CONF_MAX_MB, &r.info, &text, stamps, error);

	if (err)
		return err;
	if (strlen(text) < (size_t)r.info.st_size)
		err = fors_fail(error, FORS_EINPUT, "%s: not a text: it has control characters", path);
	else
		err = fors_conf_read(text, path, set_key, &r, error);
	free(text);
	return err ? err : check_pairs(path, settings, error);
}

static enum fors_err read_guids(const char *path, struct fors_stamps *stamps, uint64_t **guid, size_t *count,
				struct fors_error *error)
{
	struct stat info;
	char *text;
	enum fors_err err = fors_input_read(path, GUIDS_MAX_MB, &info, &text, stamps, error);

	if (err)
		return err;
	err = fors_guidlist_read(text, (size_t)info.st_size, path, guid, count, error);
	free(text);
	return err;
}

/* The value of "fors_config=" in event_plugin_options, in *path (NULL: not there), owned by the caller. */
static enum fors_err find_conf(const char *options, char **path, struct fors_error *error)
{
	static const char key[] = "fors_config=";
	const char *separators = " \t,;";

	*path = NULL;
	while (options && *(options += strspn(options, separators))) {
		size_t length = strcspn(options, separators);

		if (length >= sizeof(key) - 1 && !strncmp(options, key, sizeof(key) - 1)) {
			if (options[sizeof(key) - 1] != '/')
				return fors_fail(error, FORS_EINPUT,
						 "event_plugin_options: fors_config= needs an absolute path");
			*path = strndup(options + sizeof(key) - 1, length - sizeof(key) + 1);
			return *path ? FORS_OK : fors_fail_memory(error);
		}
		options += length;
	}
	return FORS_OK;
}

static enum fors_err load_conf(const struct fors_sources *sources, struct fors_settings *settings,
			       struct fors_error *error)
{
	char *path;
	enum fors_err err = find_conf(sources->options, &path, error);

	if (!err && path)
		err = read_conf(path, sources->stamps, settings, error);
	free(path);
	return err;
}

/* The last line that says so counts, as it does when all of them are good. */
static enum fors_err note_mode(void *context, unsigned line, const char *name, const char *value)
{
	bool *is_shadow = context;

	(void)line;
	if (!strcmp(name, "fors_mode"))
		*is_shadow = !strcmp(value, "shadow");
	return FORS_OK;
}

bool fors_settings_wants_shadow(const struct fors_sources *sources)
{
	bool is_shadow = false;
	struct fors_error error;
	struct stat info;
	char *path = NULL, *text = NULL;

	if (!find_conf(sources->options, &path, &error) && path &&
	    !fors_input_read(path, CONF_MAX_MB, &info, &text, NULL, &error))
		(void)fors_conf_read(text, path, note_mode, &is_shadow, &error);
	free(text);
	free(path);
	return is_shadow;
}

static enum fors_err load_guids(const struct fors_sources *sources, struct fors_settings *settings,
				struct fors_error *error)
{
	const char *participants = settings->participants_file ? settings->participants_file : sources->cn_guid_file;
	enum fors_err err = FORS_OK;

	if (sources->root_guid_file)
		err = read_guids(sources->root_guid_file, sources->stamps, &settings->root, &settings->nroots, error);
	if (!err && participants) {
		settings->has_participants = true;
		err = read_guids(participants, sources->stamps, &settings->participants.guid,
				 &settings->participants.count, error);
	}
	return err;
}

static enum fors_err read_names(const struct fors_net *net, struct fors_settings *settings, struct fors_error *error)
{
	struct fors_directory directory;
	uint32_t nreplaced;
	enum fors_err err = fors_directory_make(net, &directory, error);

	if (err)
		return err;
	settings->reference_names = fors_namebook_new();
	err = settings->reference_names ? fors_namebook_learn(settings->reference_names, &directory, &nreplaced, error)
					: fors_fail_memory(error);
	fors_directory_clear(&directory);
	return err;
}

/* The roots are known by now. */
static enum fors_err load_reference(struct fors_stamps *stamps, struct fors_settings *settings,
				    struct fors_error *error)
{
	const char *path = settings->reference_fabric;
	struct fors_net *net = NULL;
	struct fors_error why;
	struct stat info;
	char *text;
	enum fors_err err = fors_input_read(path, FABRIC_MAX_MB, &info, &text, stamps, error);

	if (err)
		return err;
	err = fors_netfile_read(text, (size_t)info.st_size, path, &net, NULL, error);
	free(text);
	if (err)
		return err;
	fors_others_mark(net, &settings->not_hosts);
	err = fors_places_refer(net, settings->root, settings->nroots, &settings->reference, &why);
	if (!err)
		err = read_names(net, settings, &why);
	fors_net_free(net);
	if (err == FORS_ENOMEM)
		return fors_fail_memory(error);
	return err ? fors_fail(error, FORS_EINPUT, "%s: no reference fabric: %.350s", path, why.text) : FORS_OK;
}

enum fors_err fors_settings_load(const struct fors_sources *sources, struct fors_settings **settings,
				 struct fors_error *error)
{
	struct fors_settings *loaded = calloc(1, sizeof(*loaded));
	enum fors_err err;

	if (!loaded)
		return fors_fail_memory(error);
	fors_limit_method(&loaded->limits, "auto");
	loaded->publish_seconds = PUBLISH_SECONDS;
	loaded->static_sl = FORS_NOT_DECLARED;
	loaded->limits.bytes = PLAN_MEMORY;
	err = load_conf(sources, loaded, error);
	if (!err)
		err = load_guids(sources, loaded, error);
	if (!err && loaded->reference_fabric)
		err = load_reference(sources->stamps, loaded, error);
	if (err)
		fors_settings_free(loaded);
	else
		*settings = loaded;
	return err;
}

void fors_settings_free(struct fors_settings *settings)
{
	if (!settings)
		return;
	free(settings->state_dir);
	free(settings->reference_fabric);
	fors_places_free(settings->reference);
	fors_namebook_free(settings->reference_names);
	free(settings->participants_file);
	free(settings->jobs_file);
	free(settings->demand_dir);
	free(settings->demand_file);
	fors_names_clear(&settings->excluded_links);
	fors_names_clear(&settings->excluded_spines);
	fors_names_clear(&settings->not_hosts);
	free(settings->publish_dir);
	free(settings->publish_command);
	free(settings->participants.guid);
	free(settings->root);
	free(settings);
}
