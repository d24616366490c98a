# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# common.sh - what test.sh, demo.sh and bench share; sourced, never run.
# Expects $top, the top of the source tree.

# Debian 12 packages: to build, to test, to simulate.
build_packages="gcc libc6-dev make autoconf automake libtool pkg-config
	zlib1g-dev libjansson-dev libopensm-dev libibumad-dev liblpsolve55-dev libsuitesparse-dev
	libopenmpi-dev"
run_packages="python3 opensm ibsim-utils infiniband-diags ibutils"
testbed_packages="iproute2"
slurm_packages="slurmctld slurmd slurm-client"
other_mpi_packages="mpich libmpich-dev"
test_packages="chromium clang-format-14 fish g++ libcmocka-dev python3-jsonschema python3-pytest python3-pytest-xdist valgrind lp-solve python3-mpi4py python3-numpy clang libclang-rt-14-dev gfortran
	openmpi-bin libibverbs-dev librdmacm-dev libucx-dev mandoc poppler-utils prometheus prometheus-node-exporter zsh"
packaging_packages="build-essential debhelper dh-python dpkg-dev fakeroot lintian libcmocka-dev openmpi-bin libibverbs-dev librdmacm-dev libucx-dev
	python3-jsonschema python3-pytest"

# libtool and the recipes of make in /bin/sh, which Debian has for its speed: a fifth of a build's processor time.
export CONFIG_SHELL=/bin/sh

say() {
	echo "$(basename "$0"): $*" >&2
}

die() {
	say "$*"
	exit 2
}

# The comment at the head of the running script, which says what it does and takes.
show_head() {
	sed -n '3,${ /^#/!q; s/^# \{0,1\}//p }' "$0"
}

# asks_for_help ARGUMENT...
asks_for_help() {
	local argument
	for argument; do
		case $argument in
		-h | --help) return 0 ;;
		esac
	done
	return 1
}

# answer_help ARGUMENT...: who asks for help gets it, and nothing else happens.
answer_help() {
	! asks_for_help "$@" || { show_head; exit 0; }
}

# answer_at_once PROGRAM ARGUMENT...: the same for a Python program; what it does not understand ends here too, before
# anything is installed or built. The program ends after its arguments where FORS_ONLY_ARGUMENTS is set.
answer_at_once() {
	local program=$1
	shift
	if command -v python3 >/dev/null; then
		! asks_for_help "$@" || PYTHONDONTWRITEBYTECODE=1 exec python3 "$program" --help
		FORS_ONLY_ARGUMENTS=1 PYTHONDONTWRITEBYTECODE=1 python3 "$program" "$@" || exit
	else
		answer_help "$@"
	fi
}

is_installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q "install ok installed"
}

# need PACKAGE...: install what is missing; as somebody other than root, name the command.
need() {
	local package missing=
	command -v dpkg-query >/dev/null || { say "not a Debian system: expecting these to be there: $*"; return 0; }
	for package; do
		is_installed "$package" || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || die "packages are missing. As root: apt-get install$missing"
	say "installing$missing"
	# shellcheck disable=SC2086
	without_daemons install_quietly $missing || die "cannot install: apt-get install$missing"
}

# want PACKAGE...: the same, but do without them when they cannot be had: what needs them is skipped, and counted so.
want() {
	(need "$@") || say "going on without: $*"
}

install_quietly() {
	{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "$@"; } \
		</dev/null >/dev/null 2>&1
}

# Debian starts opensm when it is installed; on a machine with InfiniBand hardware that would be a surprise.
without_daemons() {
	local policy=/usr/sbin/policy-rc.d status=0
	[ ! -e $policy ] || { "$@"; return; }
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
	"$@" || status=$?
	rm -f $policy
	return $status
}

# copy_sources DIR: the source tree without anything built, so that no build of yours is touched or used.
copy_sources() {
	rm -rf "$1"
	mkdir -p "$1"
	if [ "$(git -C "$top" rev-parse --show-toplevel 2>/dev/null)" = "$top" ]; then
		(cd "$top" && git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
			[ -e "$file" ] && printf '%s\0' "$file"
		done | tar -c --null -T -) | tar -x -C "$1"
	else
		tar -c -C "$top" --exclude='./build*' --exclude='*.o' --exclude='*.lo' --exclude='*.la' --exclude=.libs \
			--exclude=.deps --exclude=config.status --exclude=./Makefile --exclude=./config.h . | tar -x -C "$1"
	fi
}

# configure_in DIR SOURCES OPTION...: an out-of-tree configure, quiet unless it fails; for a build that is made once.
configure_in() {
	local dir=$1 sources=$2
	shift 2
	mkdir -p "$dir"
	(cd "$dir" && "$sources/configure" -q --disable-dependency-tracking "$@") >"$dir.configure.log" 2>&1 || {
		tail -20 "$dir.configure.log" >&2
		return 1
	}
}

jobs() {
	nproc 2>/dev/null || echo 2
}

# build_fors DIR: build a copy of the sources out of tree in DIR/build, and let FORS_BUILDDIR name it.
build_fors() {
	say "building fors ..."
	copy_sources "$1/fors"
	{ "$1/fors/autogen.sh" && configure_in "$1/build" "$1/fors" && make -C "$1/build" "-j$(jobs)"; } \
		>"$1/build.log" 2>&1 || { tail -20 "$1/build.log" >&2; die "fors does not build; see $1/build.log"; }
	export FORS_BUILDDIR=$1/build
}
