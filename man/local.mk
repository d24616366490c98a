# man
dist_man_MANS += man/fors.1
