# opensm-conf: examples for the administrator; nothing goes to /etc by itself.
examplesdir = $(docdir)/examples
dist_examples_DATA = opensm-conf/fors.conf opensm-conf/opensm.conf.fors

# A drop-in of systemd, which whoever wants it links to where systemd looks.
dropindir = $(pkgdatadir)/opensm@.service.d
dist_dropin_DATA = opensm-conf/systemd/fors.conf

# The same for Slurm: its prologues, and a unit.
slurmdir = $(pkgdatadir)/slurm
dist_slurm_DATA = opensm-conf/slurm/fors-slurm.service
dist_slurm_SCRIPTS = opensm-conf/slurm/fors-slurmctld opensm-conf/slurm/fors-task-prolog

# And for fors watch: a unit, its user, who may open the port, its settings.
watchdir = $(pkgdatadir)/watch
dist_watch_DATA = opensm-conf/watch/60-fors-watch.rules opensm-conf/watch/fors-watch.service opensm-conf/watch/fors-watch.sysusers \
	opensm-conf/watch/watch.conf
