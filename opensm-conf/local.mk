# opensm-conf: examples for the administrator; nothing goes to /etc by itself.
dist_doc_DATA = opensm-conf/fors.conf opensm-conf/opensm.conf.fors
