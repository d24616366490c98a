# opensm-conf: examples for the administrator; nothing goes to /etc by itself.
examplesdir = $(docdir)/examples
dist_examples_DATA = opensm-conf/fors.conf opensm-conf/opensm.conf.fors
