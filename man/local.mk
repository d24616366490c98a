# man
dist_man_MANS += man/fors.1
dist_man_MANS += man/fors.conf.5 man/opensm-fors.8
