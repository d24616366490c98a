# opensm-conf
