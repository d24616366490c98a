/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - the program fors-watch, which `fors watch` starts: it opens the port of the fabric, the command does not. The
 * command explains and checks the options, and passes them on as words: fors-watch once ca=mlx5_0 window=4 net=FILE ...,
 * or fors-watch serve config=FILE ...
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mkey.h"
#include "once.h"
#include "service.h"

#define CACHE_DIR "/var/lib/fors-watch" /* the state folder is in its folder "fors", unless state_dir says otherwise */

enum { NO = 1, BAD = 2 };

static volatile sig_atomic_t is_ended, is_hung_up;

static void end(int number)
{
	(void)number;
	is_ended = 1;
}

static void hang_up(int number)
{
	(void)number;
	is_hung_up = 1;
}

/* Once for each signal, or for several that came together; one that comes meanwhile is not lost. */
static bool is_reload(void *context)
{
	(void)context;
	if (!is_hung_up)
		return false;
	is_hung_up = 0;
	return true;
}

static bool is_stopped(void *context)
{
	(void)context;
	return is_ended;
}

/* What follows "name=" in the words; NULL: no such word. */
static const char *text_of(char **words, const char *name)
{
	size_t length = strlen(name);

	for (; *words; words++)
		if (!strncmp(*words, name, length) && (*words)[length] == '=')
			return *words + length + 1;
	return NULL;
}

static unsigned number_of(char **words, const char *name)
{
	const char *text = text_of(words, name);

	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static struct fors_mads_setup setup_of(char **words)
{
	return (struct fors_mads_setup){.ca = text_of(words, "ca"),
					.port = number_of(words, "port"),
					.window = number_of(words, "window"),
					.rate = number_of(words, "rate"),
					.timeout_ms = number_of(words, "timeout"),
					.retries = number_of(words, "retries"),
					.is_stopped = is_stopped};
}

static enum fors_err read_m_key(char **words, struct fors_mads_setup *setup, struct fors_error *error)
{
	const char *path = text_of(words, "m-key-file");

	return path ? fors_mkey_read(path, &setup->m_key, error) : FORS_OK;
}

static int run_once(char **words)
{
	struct fors_once once = {.mads = setup_of(words), .net = text_of(words, "net"), .lfts = text_of(words, "lfts")};
	struct fors_error error = {0};
	enum fors_err err = read_m_key(words, &once.mads, &error);

	if (!err)
		err = fors_once_run(&once, &error);

	if (err)
		fprintf(stderr, "fors watch: %s\n", error.text);
	return err == FORS_OK ? 0 : err == FORS_ETIMEOUT || err == FORS_ECANCELLED ? NO : BAD;
}

static int serve(char **words)
{
	struct fors_service_setup setup = {
		.mads = setup_of(words), .config = text_of(words, "config"), .is_reload = is_reload};
	struct fors_error error = {0};

	setenv("OSM_CACHE_DIR", CACHE_DIR, 0);
	if (!read_m_key(words, &setup.mads, &error) && !fors_service_run(&setup, &error))
		return 0;
	fprintf(stderr, "fors watch: %s\n", error.text);
	return BAD;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end}, again = {.sa_handler = hang_up, .sa_flags = SA_RESTART};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &again, NULL);
	if (argc > 1 && !strcmp(argv[1], "once"))
		return run_once(argv + 2);
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve(argv + 2);
	fprintf(stderr, "fors-watch: this program is started by `fors watch`\n");
	return BAD;
}
