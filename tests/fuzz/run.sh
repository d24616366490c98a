#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh PROGRAM SECONDS [TARGET...] - fuzz each target for SECONDS; PROGRAM is tests/fuzz/fuzz or tests/fuzz/mutate.
#
# Started by `make fuzz` in the build folder. In ./fuzz/TARGET: the inputs found so far (libFuzzer goes on from
# them), the log, and crash-*, leak-*, timeout-*: a finding. Mend it, and put that file into tests/fuzz/corpus/TARGET/, a text
# into tests/fuzz/seeds.
set -eu
case " $* " in
*" -h "* | *" --help "*)
	sed -n '3,${ /^#/!q; s/^# \{0,1\}//p }' "$0"
	exit 0
	;;
esac
[ $# -ge 2 ] && [ -x "$1" ] || { echo "usage: run.sh PROGRAM SECONDS [TARGET...]" >&2; exit 2; }
program=$(realpath "$1")
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
shift 2
[ $# -gt 0 ] || set -- $(sed -n 's/^\tTARGET(\([a-z]*\).*/\1/p' "$here/targets.c" | grep -vx "${FORS_FUZZ_WITHOUT:-}")

# Which folder of seeds, and which dictionary, a target has.
family() {
	case $1 in
	sealed | forsched | header) echo schedule ;;
	*) echo "$1" ;;
	esac
}

# All seeds of a target, as files in ./seeds.
seeds() {
	mkdir -p seeds
	[ ! -d "$here/corpus/$(family "$1")" ] || cp "$here/corpus/$(family "$1")"/* seeds
	awk -v "target=$1" '/^== / { file = $2 == target ? "seeds/" $3 : ""; lines = 0; next }
		file { printf "%s%s", (lines++ ? "\n" : ""), $0 > file }' "$here/seeds"
}

# The run of one target; its log in TARGET/log.
fuzz() {
	seeds "$1"
	case $program in
	*/mutate) timeout -k 5 $((seconds + 60)) "$program" "$1" "$seconds" 1 seeds/* ;;
	*)
		dictionary=$here/dict/$(family "$1")
		[ -f "$dictionary" ] && set -- "$1" "-dict=$dictionary"
		mkdir -p found
		FORS_FUZZ_TARGET=$1 "$program" ${2:+"$2"} -max_total_time="$seconds" -timeout=20 -max_len=16384 \
			-print_final_stats=1 -artifact_prefix=./ found seeds
		;;
	esac
}

# One line: how many inputs, how many edges of the program they reached, and whether anything was found.
report() {
	runs=$(sed -n 's/.*number_of_executed_units: *//p; s/^.*: \([0-9]*\) inputs$/\1/p' "$1/log" | tail -1)
	edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$1/log" | tail -1)
	echo "fuzz $1: ${runs:-0} inputs${edges:+, $edges edges}, $2"
}

# The run of one target and its report, beside others; a file FAILED tells the end of this script.
try() {
	verdict="nothing found"
	mkdir -p "$1"
	rm -f "$1/FAILED"
	(cd "$1" && fuzz "$1") >"$1/log" 2>&1 || { verdict="FAILED, see fuzz/$1"; touch "$1/FAILED"; }
	report "$1" "$verdict"
}

# As many targets at once as there are processors: each of them uses one, and all take the same time.
status=0
running=0
at_once=$(nproc 2>/dev/null || echo 1)
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
mkdir -p fuzz
cd fuzz
for target; do
	try "$target" &
	running=$(((running + 1) % at_once))
	[ $running != 0 ] || wait
done
wait
for target; do
	[ ! -e "$target/FAILED" ] || status=1
done
exit $status
