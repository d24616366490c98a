# The command fors.
bin_PROGRAMS += fors
fors_SOURCES = \
	cli/cli.h \
	cli/cmd_fabric.c \
	cli/cmd_forget.c \
	cli/cmd_plan.c \
	cli/cmd_schedule.c \
	cli/cmd_status.c \
	cli/cmd_verify.c \
	cli/file.c \
	cli/folders.c \
	cli/fors.c \
	cli/load.c \
	cli/options.c \
	cli/out.c
fors_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fors_LDADD = libforscore.la $(JANSSON_LIBS)

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = cli/fors.bash
