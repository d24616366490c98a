#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# demo.sh - see fors work: 360 simulated servers, the stock opensm, cables cut and mended.
#
#   scripts/demo.sh [--json] [--keep DIR]
#
# Installs what is missing (as root, on Debian 12), builds fors out of tree in build-demo/, runs for less
# than a minute. Exit 0 when every schedule was verified.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"
work=$top/build-demo

need $build_packages $run_packages
say "building fors ..."
copy_sources "$work/fors"
{ "$work/fors/autogen.sh" && configure_in "$work/build" "$work/fors" && make -C "$work/build" "-j$(jobs)"; } \
	>"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; die "fors does not build; see $work/build.log"; }
FORS_BUILDDIR=$work/build exec python3 "$work/fors/scripts/demo/demo.py" "$@"
