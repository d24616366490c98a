# man
dist_man_MANS += man/fors.1 man/fors-lab.1
dist_man_MANS += man/fors.conf.5 man/opensm-fors.8
dist_man_MANS += man/forsched.3 man/forsched_flow.3 man/forsched_newest.3 man/forsched_open.3 man/forsched_server.3
if HAVE_MPI
dist_man_MANS += man/libforsched-mpi.7
else
EXTRA_DIST += man/libforsched-mpi.7
endif

# Each function under its own name too: a page that only names the page of its group.
forsched_aliases = \
	man/forsched_check.3 man/forsched_close.3 man/forsched_copy.3 man/forsched_epoch.3 man/forsched_find_guid.3 \
	man/forsched_find_lid.3 man/forsched_heartbeat.3 man/forsched_heartbeat_is_stale.3 man/forsched_info.3 \
	man/forsched_job_path.3 man/forsched_links.3 man/forsched_more.3 man/forsched_nphases.3 man/forsched_nservers.3 man/forsched_open_memory.3 man/forsched_open_newer.3 man/forsched_own_guid.3 \
	man/forsched_path_index.3 man/forsched_phase_bytes.3 man/forsched_piece.3 man/forsched_prepare.3 man/forsched_refresh.3 \
	man/forsched_role.3 man/forsched_sizes.3 \
	man/forsched_sl.3 man/forsched_strerror.3 man/forsched_version.3 man/forsched_watch_close.3 \
	man/forsched_watch_fd.3 man/forsched_watch_newest.3 man/forsched_watch_open.3 man/forsched_watch_wait.3 man/forsched_way.3
man_MANS = $(forsched_aliases)
CLEANFILES += $(forsched_aliases)
$(forsched_aliases): man/local.mk
	@$(MKDIR_P) man
	@case $(@F) in \
	forsched_find_*|forsched_own_guid*) page=forsched_server;; \
	forsched_links*|forsched_path_index*|forsched_phase_bytes*|forsched_piece*|forsched_prepare*|forsched_role*|forsched_sizes*|forsched_sl*|forsched_way*) page=forsched_flow;; \
	forsched_heartbeat*|forsched_open_newer*|forsched_refresh*|forsched_watch*) page=forsched_newest;; \
	forsched_strerror*|forsched_version*) page=forsched;; \
	*) page=forsched_open;; \
	esac; echo ".so man3/$$page.3" >$@
