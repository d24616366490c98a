#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# test.sh - all tests of fors, from a fresh clone on a fresh Debian 12 machine.
#
#   scripts/test.sh            everything
#   scripts/test.sh STAGE...   some of: check e2e sanitize install packages threads distcheck fuzz try
#   scripts/test.sh --help     this, and nothing else
#
# e2e mostly waits: all others but check run beside it, and give way to it. So does try, the packages installed: it runs after e2e,
# beside those that it cannot disturb.
# Builds a copy of the sources in build-test/ and leaves all logs there. The last line of output is
# "N passed, N failed", and ", N skipped" if any were: test functions and pytest cases of all stages together, and one case for
# each thing that is good or bad as a whole (a build, an installation, a distribution).
# A test program that dies, hangs or leaks counts as failed.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"

work=$top/build-test
results=$work/results
all_stages="check e2e sanitize install packages threads distcheck fuzz try"
# They need nothing but processors, and run beside e2e: first those that what try installs could disturb.
disturbed_stages="sanitize install packages"
computing_stages="threads distcheck fuzz"
stages=("$@")
[ $# -gt 0 ] || read -ra stages <<<"$all_stages"
fuzz_seconds=${FORS_FUZZ_SECONDS:-3}

# whole NAME STATUS: one case that is good or bad as a whole.
whole() {
	local verdict=fail
	[ "$2" = 0 ] && verdict=pass
	echo "$verdict $1" >>"$results/whole"
	[ "$verdict" = pass ] || say "FAILED: $1"
}

# logged NAME SECONDS COMMAND...: run, output to NAME.log; it is ended when it takes ten times what an idle machine may need.
logged() {
	local name=$1 seconds=$2 started=$SECONDS status=0
	shift 2
	say "$name ..."
	timeout -k 10 "$((10 * seconds))" "$@" >"$work/$name.log" 2>&1 </dev/null || status=$?
	say "$name: $([ $status = 0 ] && echo done || echo "exit $status"), $((SECONDS - started)) s"
	return $status
}

# counted KIND NAME WHAT STATUS: add the cases of a run to those of the others.
counted() {
	python3 "$top/scripts/count_results.py" "$@" >>"$results/cases" || whole "counting $2" 1
}

# checked NAME DIR [MAKE-ARGUMENT...]: make check (or what is given) there; its cases are counted from what the test programs wrote.
checked() {
	local name=$1 dir=$2 status=0
	shift 2
	find "$dir" -name '*.trs' -delete
	CMOCKA_MESSAGE_OUTPUT=TAP logged "$name" 1500 make -C "$dir" -k "-j$(jobs)" "${@:-check}" || status=$?
	counted automake "$name" "$dir" "$status"
}

# pytested NAME PATH...: pytest there, with the build in use; counted from its JUnit report. Four times as many modules at once as there
# are processors: simulated fabrics mostly wait. The tests of a module stay together, some go on with one fabric.
pytested() {
	local name=$1 status=0
	shift
	set -- -n "$((4 * $(jobs)))" --dist loadscope "$@"
	FORS_BUILDDIR=$work/build logged "$name" 1500 pytest-3 -q -p no:cacheprovider \
		--junitxml="$results/$name.xml" "$@" || status=$?
	counted junit "$name" "$results/$name.xml" "$status"
}

prepare() {
	need $build_packages $run_packages $test_packages $testbed_packages
	! is_one_of packages "${stages[*]}" || need $packaging_packages rpm
	want $slurm_packages
	want $other_mpi_packages
	copy_sources "$work/fors"
	(cd "$work/fors" && find . -type f ! -name .gitignore | cut -d/ -f2- | LC_ALL=C sort) >"$work/sources"
	rm -rf "$results" "$work/build" "$work/build-sanitize" "$work/build-threads" "$work/packages"
	mkdir -p "$results"
	logged autogen 120 "$work/fors/autogen.sh"
	whole autogen $?
}

build() {
	[ -f "$work/build/.built" ] && return 0
	configure_in "$work/build" "$work/fors" --enable-werror CFLAGS="-g1 -O2" && logged build 600 make -C "$work/build" "-j$(jobs)"
	local status=$?
	whole build $status
	[ $status = 0 ] && touch "$work/build/.built"
}

# Python tests that need no simulated fabric, unless make check ran them.
stage_check() {
	build || return 1
	FORS_TESTS_AT_ONCE=$((2 * $(jobs))) checked check "$work/build"
	pytested scripts "$work/fors/tests/scripts"
}

stage_e2e() {
	build && build_sanitized && make -C "$work/build" tests/cli/stamp_schedule >>"$work/build.log" 2>&1 &&
		FORS_SANITIZED_BUILDDIR=$work/build-sanitize pytested e2e "$work/fors/tests/e2e"
}

# A report needs lines and no variables: -g1, which compiles in three quarters of the time of -g.
build_sanitized() {
	[ -f "$work/build-sanitize/.built" ] && return 0
	configure_in "$work/build-sanitize" "$work/fors" --enable-werror --enable-sanitizers CFLAGS="-g1 -O1" &&
		logged sanitize-build 600 make -C "$work/build-sanitize" "-j$(jobs)"
	local status=$?
	whole sanitize-build $status
	[ $status = 0 ] && touch "$work/build-sanitize/.built"
}

stage_sanitize() {
	build_sanitized && FORS_TESTS_AT_ONCE=$(jobs) UBSAN_OPTIONS=print_stacktrace=1 checked sanitize "$work/build-sanitize"
}

# The worker and the planners' threads under ThreadSanitizer.
stage_threads() {
	configure_in "$work/build-threads" "$work/fors" --enable-werror --enable-sanitizers=thread CFLAGS="-g1 -O1"
	whole threads-configure $?
	TSAN_OPTIONS=halt_on_error=1 checked threads "$work/build-threads" check-TESTS \
		TESTS="tests/unit/test_worker tests/unit/test_worker_entries tests/unit/test_worker_jobs tests/unit/test_copies tests/unit/test_copier tests/unit/test_advisor tests/unit/test_memory tests/unit/test_verify"
}

# use_installed ROOT: a program that finds libforsched by pkg-config, compiles and runs.
use_installed() {
	local lib=$1/usr/local/lib flags
	printf '#include <forsched.h>\nint main(void) { return !*forsched_version(); }\n' >"$work/use.c"
	flags=$(PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$1 pkg-config --cflags --libs forsched) || return 1
	# shellcheck disable=SC2086
	gcc -Wall -Werror "$work/use.c" -o "$work/use" $flags && LD_LIBRARY_PATH=$lib "$work/use"
}

# What an administrator gets, and nothing left behind.
stage_install() {
	local root=$work/install-root missing=0 file
	build || return 1
	rm -rf "$root"
	logged install 120 make -C "$work/build" install "DESTDIR=$root"
	whole install $?
	for file in bin/fors lib/libfors.so libexec/fors/fors-outbox libexec/fors/fors-lab libexec/fors/fors-trial lib/libforsched.so.0 lib/libforsched-mpi.so \
		lib/pkgconfig/forsched.pc include/forsched.h share/man/man3/forsched.3 share/man/man7/libforsched-mpi.7 share/man/man7/forsched-python.7 \
		share/bash-completion/completions/fors.bash share/fish/vendor_completions.d/fors.fish share/zsh/site-functions/_fors \
		share/fors/opensm@.service.d/fors.conf share/fors/slurm/fors-slurmctld share/fors/slurm/fors-task-prolog share/fors/slurm/fors-slurm.service share/fors/watch/fors-watch.service share/man/man1/fors.1 share/man/man1/fors-lab.1 share/man/man5/fors.conf.5 share/man/man8/opensm-fors.8; do
		[ -e "$root/usr/local/$file" ] || { say "not installed: $file"; missing=1; }
	done
	whole "installed files" $missing
	python3 "$top/scripts/check_links.py" --inside "$root/usr/local/share/doc/fors" >"$work/links.log"
	whole "all links of the installed documentation lead somewhere in it" $?
	use_installed "$root" >"$work/use-installed.log" 2>&1
	whole "a program builds with what is installed" $?
	FORS_PREFIX=$root/usr/local pytested installed "$work/fors/tests/installed"
	logged uninstall 120 make -C "$work/build" uninstall "DESTDIR=$root"
	[ -z "$(find "$root" -type f -o -type l)" ]
	whole "uninstall leaves nothing" $?
}

# The tarball builds, installs and cleans up, which needs no optimiser, and it has all sources: what the tests are made of was compiled before.
stage_distcheck() {
	build || return 1
	logged distcheck 900 make -C "$work/build" "-j$(jobs)" distcheck TESTS= check_PROGRAMS= check_LTLIBRARIES= \
		DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O0 --disable-dependency-tracking"
	whole distcheck $?
	tar -tzf "$work"/build/fors-*.tar.gz | cut -d/ -f2- | LC_ALL=C sort | LC_ALL=C comm -13 - "$work/sources" >"$work/not-packed"
	[ ! -s "$work/not-packed" ] || say "not in the tarball: $(tr '\n' ' ' <"$work/not-packed")"
	[ ! -s "$work/not-packed" ]
	whole "the tarball has all sources" $?
}

# A few seconds for each reader of files; `make fuzz FUZZ_SECONDS=600` is what finds more. libFuzzer, for which clang compiles all once
# more, pays for itself in minutes.
stage_fuzz() {
	local driver=fuzz_program=tests/fuzz/mutate
	[ "$fuzz_seconds" -lt 60 ] || driver=
	build_sanitized || return 1
	logged fuzz 1800 make -C "$work/build-sanitize" "-j$(jobs)" fuzz "FUZZ_SECONDS=$fuzz_seconds" $driver
	whole fuzz $?
}

# The Debian packages, and the RPM source package: built and examined. Nothing is measured in them, so the compiler's best would be waste.
stage_packages() {
	DEB_CFLAGS_APPEND="-O1 -g1" logged package-build 900 "$top/scripts/packages.sh" build "$work/packages"
	whole "packages build, lintian is content" $?
	logged package-rpm 300 "$top/scripts/packages.sh" rpm "$work/packages"
	whole "RPM source package" $?
}

# The Debian packages: installed, used for the demo under the plain opensm, removed.
stage_try() {
	compgen -G "$work/packages/*.deb" >/dev/null || stage_packages
	logged package-try 900 "$top/scripts/packages.sh" try "$work/packages"
	whole "installed packages run the demo and leave nothing behind" $?
}

# is_one_of WORD LIST
is_one_of() {
	[[ " $2 " = *" $1 "* ]]
}

# those_of LIST STAGE...: the stages that are in the list, in their order.
those_of() {
	local list=$1 stage
	shift
	for stage; do
		! is_one_of "$stage" "$list" || echo "$stage"
	done
}

run_each() {
	local stage
	for stage; do
		"stage_$stage"
	done
}

# try_beside PID: the stage try, as soon as those are done that what it installs could disturb; PID runs them.
try_beside() {
	while kill -0 "$1" 2>/dev/null && [ ! -e "$work/undisturbed" ]; do
		sleep 1
	done
	stage_try
}

# run_beside_e2e STAGE...: e2e, and those that compute one after the other, which get the time that it leaves.
run_beside_e2e() {
	rm -f "$work/undisturbed"
	build && build_sanitized || return 1
	(
		renice -n 19 "$BASHPID" >/dev/null
		run_each $(those_of "$disturbed_stages" "$@")
		touch "$work/undisturbed"
		run_each $(those_of "$computing_stages" "$@")
	) &
	stage_e2e
	! is_one_of try "$*" || try_beside $!
	wait
}

run_stages() {
	is_one_of e2e "$*" || { run_each "$@"; return; }
	run_each $(those_of check "$@")
	run_beside_e2e "$@"
}

answer_help "$@"
for stage in "${stages[@]}"; do
	is_one_of "$stage" "$all_stages" || die "no stage '$stage', only: $all_stages; scripts/test.sh --help says more"
done
prepare
run_stages "${stages[@]}"
python3 "$top/scripts/count_results.py" sum "$results"
