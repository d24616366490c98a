#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# coverage.sh BUILD_DIR - which lines and branches all tests together run; started by `make coverage`.
#
# BUILD_DIR was configured with --enable-coverage. Results in BUILD_DIR/coverage: index.html and its like, summary.txt
# per file, all.info for other tools. Exit 1 when core/, daemon/ or plugin/ is below what is asked of it here, or a test failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"
answer_help "$@"
[ $# = 1 ] && [ -f "$1/config.status" ] || die "usage: coverage.sh BUILD_DIR, a configured build; coverage.sh --help says more"
build=$(cd "$1" && pwd)
out=$build/coverage
least="core=95 daemon=85 plugin=85 libforsched=95"
options="--rc lcov_branch_coverage=1 --rc geninfo_no_exception_branch=1 --quiet"

run_tests() {
	local status=0
	lcov $options --zerocounters --directory "$build"
	make -C "$build" -k check >"$out/check.log" 2>&1 || { status=1; echo "make check failed: $out/check.log"; }
	FORS_BUILDDIR=$build pytest-3 -q -p no:cacheprovider "$top/tests/e2e" >"$out/e2e.log" 2>&1 ||
		{ status=1; echo "end-to-end tests failed: $out/e2e.log"; }
	return $status
}

# capture NAME [OPTION]: what was counted, in NAME.info; with --initial all lines there are, as never run.
capture() {
	local name=$1
	shift
	lcov $options --capture "$@" --directory "$build" --base-directory "$build" --output-file "$out/$name.info" \
		2>"$out/lcov.log" || { tail -1 "$out/lcov.log"; return 1; }
}

# What the tests themselves are made of does not count. Sources must not change while this runs.
collect() {
	capture nothing --initial && capture run || return 1
	lcov $options --add-tracefile "$out/nothing.info" --add-tracefile "$out/run.info" --output-file "$out/everything.info"
	lcov $options --extract "$out/everything.info" "$top/core/*" "$top/daemon/*" "$top/plugin/*" "$top/libforsched/*" "$top/cli/*" "$top/lab/model/*" \
		"$top/ilp/*" --output-file "$out/all.info"
	genhtml $options --branch-coverage --prefix "$top" --output-directory "$out" "$out/all.info"
	lcov $options --list "$out/all.info" >"$out/summary.txt"
}

# module NAME: lines and branches of a folder in percent, as "95.1 80.3".
module() {
	awk -v module="/$1/" -F'[:,]' '
		/^SF:/ { is_in = index($0, module) > 0 }
		is_in && /^LF:/ { lines += $2 } is_in && /^LH:/ { hit += $2 }
		is_in && /^BRF:/ { branches += $2 } is_in && /^BRH:/ { taken += $2 }
		END { printf "%.1f %.1f\n", lines ? 100 * hit / lines : 0, branches ? 100 * taken / branches : 0 }' "$out/all.info"
}

mkdir -p "$out"
status=0
run_tests || status=1
collect || exit 1
for module in core daemon plugin libforsched cli lab/model ilp; do
	read -r lines branches <<<"$(module $module)"
	wanted=$(echo "$least" | sed -n "s/.*\b${module##*/}=\([0-9]*\).*/\1/p")
	verdict=
	if [ -n "$wanted" ]; then
		verdict="(at least $wanted %)"
		awk "BEGIN { exit !($lines < $wanted) }" && { verdict="BELOW $wanted %"; status=1; }
	fi
	printf '%-12s %5s %% of lines, %5s %% of branches %s\n' "$module/" "$lines" "$branches" "$verdict"
done | tee "$out/modules.txt"
grep -q BELOW "$out/modules.txt" && status=1
echo "per file: $out/summary.txt; per line: $out/index.html"
exit $status
