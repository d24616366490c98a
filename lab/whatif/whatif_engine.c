/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif_engine.c - the stock opensm, once, on a simulated fabric.
 *
 * For each failure a new ibsim plays the fabric without those cables, and a new opensm routes it once and writes what
 * it did (opensm-lfts.dump). Nothing is left over from the failure before, which is what an opensm that starts on the
 * broken fabric does. All files are in a directory of their own under TMPDIR, and each ibsim has a name of its own, so
 * any number of these run side by side. Processes are ended by their pid, and end with this program whatever ends it:
 * ibsim would wait for clients for ever, and opensm for an ibsim that has gone.
 *
 * The simulated fabric has the GUIDs of the real one, and this may be the host of the real subnet manager. So its
 * opensm.conf stays out: fors would be loaded and publish what happens in the simulation.
 */
#define _GNU_SOURCE /* environ, pipe2() */

#include "whatif.h"
#include "cli/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "lab/model/routers/dump.h"

#define READY_SECONDS 30   /* for ibsim to start */
#define ROUTE_SECONDS 1800 /* for opensm to route once */
#define TRIES 3		   /* of opensm to complete a sweep */

static const char umad2sim_pattern[] = "/usr/lib*/{*/,}umad2sim/libumad2sim.so";

/* One simulated fabric. */
struct lab {
	char dir[256]; /* of all its files */
	char name[64]; /* IBSIM_SOCKNAME */
	char preload[512];
	pid_t ibsim;
	int console; /* ibsim's standard input; as long as it is open ibsim stays */
};

static atomic_uint lab_number;

/* --- small things ----------------------------------------------------------------------------------------------- */

static void pause_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5 * 1000 * 1000}, NULL);
}

static void path_in(const struct lab *lab, const char *name, char *path, size_t room)
{
	snprintf(path, room, "%s/%s", lab->dir, name);
}

static bool find_umad2sim(char *path, size_t room)
{
	glob_t found = {0};
	bool is_there = !glob(umad2sim_pattern, GLOB_BRACE, NULL, &found) && found.gl_pathc;

	if (is_there)
		snprintf(path, room, "%s", found.gl_pathv[0]);
	globfree(&found);
	return is_there;
}

/* The program in *file: in PATH, or where Debian has programs of root, which users do not have in PATH. */
static bool find_program(const char *name, char *file, size_t room)
{
	const char *path = getenv("PATH");
	char list[4096], *at = NULL;

	snprintf(list, sizeof(list), "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	for (char *dir = strtok_r(list, ":", &at); dir; dir = strtok_r(NULL, ":", &at)) {
		snprintf(file, room, "%s/%s", dir, name);
		if (!access(file, X_OK))
			return true;
	}
	return false;
}

int whatif_engine_check(void)
{
	static const char *const programs[] = {"ibsim", "opensm"};
	char path[4352];

	for (size_t i = 0; i < 2; i++)
		if (!find_program(programs[i], path, sizeof(path))) {
			cli_error("--engines needs the program %s, which is not here (Debian: apt-get install opensm "
				  "ibsim-utils)",
				  programs[i]);
			return CLI_BAD;
		}
	if (find_umad2sim(path, sizeof(path)))
		return CLI_GOOD;
	cli_error("--engines needs libumad2sim.so, which is not here (Debian: apt-get install ibsim-utils)");
	return CLI_BAD;
}

/* --- processes -------------------------------------------------------------------------------------------------- */

/* The environment with some variables set anew; names end in '='. Free the list, not what it holds. */
static const char **environment_with(const char *const *more, size_t count)
{
	size_t n = 0, kept = 0;
	const char **list;

	while (environ[n])
		n++;
	list = malloc((n + count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < n; i++) {
		bool is_replaced = false;

		for (size_t k = 0; k < count; k++)
			if (!strncmp(environ[i], more[k], strcspn(more[k], "=") + 1))
				is_replaced = true;
		if (!is_replaced)
			list[kept++] = environ[i];
	}
	for (size_t k = 0; list && k < count; k++)
		list[kept++] = more[k];
	if (list)
		list[kept] = NULL;
	return list;
}

/* In the new process; only what is safe after fork() in a program with threads. Does not return. */
static void become(const char *file, const char *const *argv, const char **environment, int input, int output,
		   pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || dup2(input, STDIN_FILENO) < 0 ||
	    dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
		_exit(126);
	execve(file, (char *const *)argv, (char *const *)environment);
	_exit(127);
}

/* Start a program; its input is `input` (-1: /dev/null), what it prints goes to the file `output`. */
static enum fors_err start(const char *const *argv, const char *const *more, size_t count, int input,
			   const char *output, pid_t *pid, struct fors_error *error)
{
	const char **environment = environment_with(more, count);
	int from = input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : input;
	int to = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char file[4352] = "";
	pid_t parent = getpid(), child = -1;
	int status;

	if (environment && from >= 0 && to >= 0 && find_program(argv[0], file, sizeof(file)))
		child = fork();
	status = errno;
	if (!child)
		become(file, argv, environment, from, to, parent);
	if (input < 0 && from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	free(environment);
	if (child < 0)
		return fors_fail(error, FORS_EIO, "%s cannot be started: %s", argv[0], strerror(status));
	*pid = child;
	return FORS_OK;
}

static void end_process(pid_t pid)
{
	double start = cli_now_ms();

	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (cli_now_ms() - start > 3000)
			kill(pid, SIGKILL);
		pause_a_little();
	}
}

/* Wait for the end of a process that should not take longer. */
static enum fors_err wait_for(pid_t pid, const char *name, unsigned seconds, struct fors_error *error)
{
	double start = cli_now_ms();
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (whatif_is_stopped()) {
			end_process(pid);
			return fors_fail(error, FORS_ECANCELLED, "stopped");
		}
		if (cli_now_ms() - start > seconds * 1e3) {
			end_process(pid);
			return fors_fail(error, FORS_ETIMEOUT, "%s did not end within %u s", name, seconds);
		}
		pause_a_little();
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return FORS_OK;
	return fors_fail(error, FORS_EIO, "%s failed (%s %d)", name, WIFEXITED(status) ? "exit code" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* --- files ------------------------------------------------------------------------------------------------------ */

/* A whole file, terminated; NULL: it is not there. */
static char *slurp(const struct lab *lab, const char *name, size_t *size)
{
	char path[512], *text = NULL;
	struct stat st;
	int fd;

	path_in(lab, name, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (text = malloc((size_t)st.st_size + 1))) {
		ssize_t n = read(fd, text, (size_t)st.st_size);

		*size = n < 0 ? 0 : (size_t)n;
		text[*size] = '\0';
	}
	close(fd);
	return text;
}

static enum fors_err write_text(const struct lab *lab, const char *name, const char *text, size_t size,
				struct fors_error *error)
{
	char path[512];
	FILE *file;
	bool is_good;

	path_in(lab, name, path, sizeof(path));
	file = fopen(path, "we");
	is_good = file && fwrite(text, 1, size, file) == size;
	if (file && fclose(file))
		is_good = false;
	return is_good ? FORS_OK : fors_fail(error, FORS_EIO, "%s: cannot be written: %s", path, strerror(errno));
}

static enum fors_err write_net(const struct lab *lab, const struct fors_net *net, struct fors_error *error)
{
	char *text = NULL;
	size_t size = 0;
	enum fors_err err = fors_netfile_write(net, &text, &size, error);

	if (!err)
		err = write_text(lab, "net", text, size, error);
	free(text);
	return err;
}

/* Everything in the directory, and the directory. */
static void remove_files(const struct lab *lab)
{
	char pattern[512];
	glob_t found = {0};

	snprintf(pattern, sizeof(pattern), "%s/*", lab->dir);
	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
	rmdir(lab->dir);
}

/* --- a simulated fabric ----------------------------------------------------------------------------------------- */

static enum fors_err open_lab(struct lab *lab, struct fors_error *error)
{
	const char *tmp = getenv("TMPDIR");
	char library[400];

	*lab = (struct lab){.ibsim = -1, .console = -1};
	snprintf(lab->dir, sizeof(lab->dir), "%.200s/fors-whatif-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(lab->dir)) {
		lab->dir[0] = '\0';
		return fors_fail(error, FORS_EIO, "no directory for temporary files can be made: %s", strerror(errno));
	}
	snprintf(lab->name, sizeof(lab->name), "fors-whatif-%ld-%u", (long)getpid(), lab_number++);
	if (!find_umad2sim(library, sizeof(library)))
		return fors_fail(error, FORS_EIO, "libumad2sim.so has gone");
	snprintf(lab->preload, sizeof(lab->preload), "LD_PRELOAD=%s", library);
	return FORS_OK;
}

static void close_lab(struct lab *lab)
{
	if (lab->ibsim > 0)
		end_process(lab->ibsim);
	if (lab->console >= 0)
		close(lab->console);
	if (lab->dir[0])
		remove_files(lab);
}

static enum fors_err wait_until_ready(const struct lab *lab, struct fors_error *error)
{
	double start = cli_now_ms();

	while (cli_now_ms() - start < READY_SECONDS * 1e3 && !whatif_is_stopped()) {
		size_t size = 0;
		char *text = slurp(lab, "ibsim.out", &size);
		bool is_ready = text && strstr(text, "simulator ready");

		free(text);
		if (is_ready)
			return FORS_OK;
		pause_a_little();
	}
	return fors_fail(error, FORS_ETIMEOUT, "ibsim was not ready within %u s", READY_SECONDS);
}

static enum fors_err start_ibsim(struct lab *lab, const struct fors_net *net, struct fors_error *error)
{
	char nodes[16], ports[16], file[512], out[512], socket[128];
	const char *argv[] = {"ibsim", "-s", "-N", nodes, "-S", nodes, "-P", ports, "-L", "49152", file, NULL};
	const char *more[] = {socket};
	int ends[2];
	enum fors_err err;

	snprintf(nodes, sizeof(nodes), "%u", net->nnodes + 64);
	snprintf(ports, sizeof(ports), "%u", 2 * net->nports + 1024);
	snprintf(socket, sizeof(socket), "IBSIM_SOCKNAME=%s", lab->name);
	path_in(lab, "net", file, sizeof(file));
	path_in(lab, "ibsim.out", out, sizeof(out));
	if (pipe2(ends, O_CLOEXEC))
		return fors_fail(error, FORS_EIO, "no pipe: %s", strerror(errno));
	err = start(argv, more, 1, ends[0], out, &lab->ibsim, error);
	close(ends[0]);
	lab->console = ends[1];
	return err ? err : wait_until_ready(lab, error);
}

static enum fors_err run_opensm(const struct lab *lab, const char *host, const char *engine, unsigned lmc,
				struct fors_error *error)
{
	static const char no_settings[] = "# none: every key has its default\n";
	char lmc_text[8], conf[512], log[512], out[512], socket[128], sim_host[128], tmp[300], cache[300];
	const char *argv[] = {"opensm", "-F", conf, "-o", "-D", "0x43", "-f", log, "-R", engine, "-l", lmc_text, NULL};
	const char *more[] = {socket, sim_host, tmp, cache, lab->preload};
	pid_t pid;
	enum fors_err err;

	snprintf(lmc_text, sizeof(lmc_text), "%u", lmc);
	snprintf(socket, sizeof(socket), "IBSIM_SOCKNAME=%s", lab->name);
	snprintf(sim_host, sizeof(sim_host), "SIM_HOST=%s", host);
	snprintf(tmp, sizeof(tmp), "OSM_TMP_DIR=%s", lab->dir);
	snprintf(cache, sizeof(cache), "OSM_CACHE_DIR=%s", lab->dir);
	path_in(lab, "opensm.conf", conf, sizeof(conf));
	path_in(lab, "log", log, sizeof(log));
	path_in(lab, "opensm.out", out, sizeof(out));
	err = write_text(lab, "opensm.conf", no_settings, strlen(no_settings), error);
	if (!err)
		err = start(argv, more, sizeof(more) / sizeof(more[0]), -1, out, &pid, error);
	return err ? err : wait_for(pid, "opensm", ROUTE_SECONDS, error);
}

/* Did opensm complete its sweep? On a busy machine it waits in vain for an answer of ibsim's now and then. */
static bool is_complete(const struct lab *lab)
{
	size_t size = 0;
	char *log = slurp(lab, "log", &size);
	bool is_so = log && strstr(log, "SUBNET UP");

	free(log);
	return is_so;
}

/* The tables that opensm makes, as text; from another run where one did not complete, and from the last one in any case. */
static enum fors_err ask_opensm(const struct lab *lab, const char *host, const char *engine, unsigned lmc, char **text,
				size_t *size, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*text = NULL;
	for (unsigned i = 0; !err && i < TRIES && (!*text || !is_complete(lab)); i++) {
		char old[512];

		free(*text);
		path_in(lab, "log", old, sizeof(old));
		unlink(old);
		err = run_opensm(lab, host, engine, lmc, error);
		*text = err ? NULL : slurp(lab, "opensm-lfts.dump", size);
	}
	if (!err && !*text)
		err = fors_fail(error, FORS_EIO, "opensm wrote no tables (opensm-lfts.dump)");
	return err;
}

/* Which engine did the work? "... osm_ucast_mgr_process: minhop tables configured on all switches" */
static void read_log(const struct lab *lab, const char *engine, struct whatif_result *result)
{
	static const char before[] = "osm_ucast_mgr_process: ", after[] = " tables configured";
	size_t size = 0;
	char *text = slurp(lab, "log", &size), *end = text ? strstr(text, after) : NULL, *at = NULL;

	for (char *next = text; end && (next = strstr(next, before)) && next < end; next += strlen(before))
		at = next + strlen(before);
	if (at && ((size_t)(end - at) != strlen(engine) || strncmp(at, engine, strlen(engine))))
		snprintf(result->note, sizeof(result->note), "%s gave up, %.*s did it", engine, (int)(end - at), at);
	free(text);
}

/* --- its answer ------------------------------------------------------------------------------------------------- */

/* Servers that opensm cannot see got no LID: what they send, and what is sent to them, does not arrive. */
static void add_unseen(uint64_t all, uint64_t seen, struct whatif_result *result)
{
	if (seen >= all)
		return;
	result->broken += all * (all - 1) - seen * (seen ? seen - 1 : 0);
	result->shift = 0;
}

/* Server list of the net, in the order that plans have, with the LIDs of the dump. */
static enum fors_err judge(const struct whatif *whatif, struct fors_net *net, const char *text, size_t size,
			   struct whatif_result *result, struct fors_error *error)
{
	struct fors_endpoint *server = NULL;
	struct fors_lfts *lfts = NULL;
	uint32_t count = 0;
	enum fors_err err = fors_lftfile_read(text, size, "opensm-lfts.dump", &lfts, error);

	if (!err)
		err = fors_lids_from_dump(net, text, size, "opensm-lfts.dump", error);
	if (!err)
		err = whatif_servers(whatif, net, &server, &count, error);
	if (!err && count)
		err = whatif_shift(whatif, NULL, net, lfts, server, count, result, error);
	if (!err && count == whatif->nservers)
		err = whatif_plan_over(whatif, net, lfts, NULL, result, NULL, error);
	if (!err)
		add_unseen(whatif->nservers, count, result);
	result->throughput = result->shift;
	free(server);
	fors_lfts_free(lfts);
	return err;
}

static void forget_lids(struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++)
		net->port[i].lid = net->port[i].lmc = 0;
}

/* A server that opensm can sit on. */
static const char *a_host(const struct whatif *whatif, const struct fors_net *net)
{
	const struct fors_fabric *fabric = whatif->intact.fabric;

	if (fabric)
		return fabric->nservers ? net->node[fabric->server[0].node].id : NULL;
	for (uint32_t node = 0; node < net->nnodes; node++)
		if (net->node[node].type == FORS_CA && fors_net_port(net, node, 1)->peer != FORS_NONE)
			return net->node[node].id;
	return NULL;
}

static enum fors_err simulate(const struct whatif *whatif, struct fors_net *net, const char *engine,
			      struct whatif_result *result, struct fors_error *error)
{
	struct lab lab;
	char *text = NULL;
	size_t size = 0;
	enum fors_err err = open_lab(&lab, error);

	forget_lids(net);
	if (!err)
		err = write_net(&lab, net, error);
	if (!err)
		err = start_ibsim(&lab, net, error);
	if (!err)
		err = ask_opensm(&lab, a_host(whatif, net), engine, whatif->lmc, &text, &size, error);
	if (!err) {
		read_log(&lab, engine, result);
		err = judge(whatif, net, text, size, result, error);
	}
	free(text);
	close_lab(&lab);
	return err;
}

enum fors_err whatif_engine(const struct whatif *whatif, const struct whatif_case *one, const char *engine,
			    struct whatif_result *result, struct fors_error *error)
{
	struct fors_net *net = NULL;
	enum fors_err err;

	if (!whatif->nservers)
		return FORS_OK;
	err = whatif_net(whatif, one, &net, error);
	if (!err)
		err = simulate(whatif, net, engine, result, error);
	fors_net_free(net);
	return err;
}
