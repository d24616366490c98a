#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# demo-slurm.sh - several jobs at once: a real Slurm on simulated servers, and lanes that each job owns.
#
#   scripts/demo-slurm.sh [--nodes 12|36|360] [--keep DIR]
#
# Installs what is missing (as root, on Debian 12), builds fors out of tree in build-demo/, runs for less
# than a minute; Slurm's daemons listen on the loopback device only, and are ended. Exit 0 when no two jobs share a cable.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"
work=$top/build-demo

answer_at_once "$top/scripts/demo/demo_slurm.py" "$@"
need $build_packages $run_packages $slurm_packages
build_fors "$work"
exec python3 "$work/fors/scripts/demo/demo_slurm.py" "$@"
