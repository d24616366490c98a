#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# demo.sh - see fors work: 360 simulated servers, the stock opensm, cables cut and mended.
#
#   scripts/demo.sh [--levels 2|3] [--json] [--keep DIR]
#
# Installs what is missing (as root, on Debian 12), builds fors out of tree in build-demo/, runs for some
# three minutes: 360 servers below two levels, then 288 below three (--levels: one of them only); at the end, with two levels, fors watch
# beside minhop. Exit 0 when every schedule was verified.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"
work=$top/build-demo

answer_at_once "$top/scripts/demo/demo.py" "$@"
need $build_packages $run_packages
build_fors "$work"
exec python3 "$work/fors/scripts/demo/demo.py" "$@"
