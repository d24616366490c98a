#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages.sh - build the Debian packages, and see them work: as root, on Debian 12.
#
#   scripts/packages.sh build DIR   dpkg-buildpackage of a copy of the sources in DIR; lintian has nothing to say
#   scripts/packages.sh try DIR     install the packages from DIR, run tests/installed on them, and the pages of
#                                   fors status and the demo under the plain opensm, remove them again, and see that nothing is left
#   scripts/packages.sh rpm DIR     an RPM source package from `make dist`
#   scripts/packages.sh rpms DIR    RPM packages from `make dist`, some minutes; Debian's rpmbuild knows the names of no
#                                   other distribution's packages, so it is not asked what they need
#
# The tests of the packages' own build are left out: `make check` runs them elsewhere.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/scripts/common.sh"

# Output of a step goes to a log; on failure its end is shown.
step() {
	local log=$1
	shift
	"$@" >"$dir/$log.log" 2>&1 </dev/null || { tail -30 "$dir/$log.log" >&2; die "$log failed; see $dir/$log.log"; }
}

# The packages name no person and no address: reports go to the issue tracker (SECURITY.md).
nameless=malformed-contact,bogus-mail-host-in-debian-changelog,no-nmu-in-changelog,source-nmu-has-incorrect-version-number

build() {
	need $build_packages $packaging_packages
	rm -rf "$dir"
	copy_sources "$dir/fors"
	(cd "$dir/fors" && DEB_BUILD_OPTIONS="nocheck parallel=$(jobs)" step build dpkg-buildpackage -us -uc)
	step lintian lintian --allow-root --fail-on error,warning --info --suppress-tags "$nameless" "$dir"/fors_*.changes
	[ ! -s "$dir/lintian.log" ] || { cat "$dir/lintian.log"; die "lintian is not content"; }
	ls "$dir"/*.deb
}

# The packages in DIR, without those of debugging symbols.
package_names() {
	local deb
	for deb in "$dir"/*.deb; do
		dpkg-deb -f "$deb" Package
	done | grep -v -- '-dbgsym$'
}

any_installed() {
	local name
	for name in $(package_names); do
		! is_installed "$name" || { echo "$name"; return 0; }
	done
	return 1
}

remove() {
	# shellcheck disable=SC2046
	DEBIAN_FRONTEND=noninteractive apt-get -y purge $(package_names) >"$dir/remove.log" 2>&1 </dev/null
}

# Whatever happens, the machine is as it was.
try() {
	local name left=0 file
	name=$(any_installed) && die "$name is installed on this machine: try the packages on another"
	need $run_packages python3-pytest
	trap remove EXIT
	without_daemons install_quietly $(find "$dir" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*') || die "the packages cannot be installed"
	for name in $(package_names); do dpkg -L "$name"; done | sort -u >"$dir/files"
	step links python3 "$top/scripts/check_links.py" --inside /usr/share/doc/fors
	step installed env FORS_PREFIX=/usr pytest-3 -q -p no:cacheprovider "$top/tests/installed"
	(cd / && FORS_BUILDDIR=installed step statuses pytest-3 -q -p no:cacheprovider "$top/tests/e2e/test_statuses.py")
	(cd / && FORS_BUILDDIR=installed step demo python3 "$top/scripts/demo/demo.py" --levels 2)
	trap - EXIT
	remove || die "the packages cannot be removed; see $dir/remove.log"
	while IFS= read -r file; do
		if [ -f "$file" ]; then
			say "left behind: $file"
			left=1
		fi
	done <"$dir/files"
	return $left
}

# tarball: what both kinds of RPM packages are made from, in DIR/build.
tarball() {
	need $build_packages rpm
	mkdir -p "$dir/rpm"
	copy_sources "$dir/dist"
	step autogen "$dir/dist/autogen.sh"
	configure_in "$dir/build" "$dir/dist"
	step dist make -C "$dir/build" dist
}

rpm() {
	tarball
	step rpm rpmbuild -ts --nodeps --define "_topdir $dir/rpm" "$dir"/build/fors-*.tar.gz
	ls "$dir"/rpm/SRPMS/*.src.rpm
}

# rpmbuild fails when the packages leave out a file that `make install` installs.
rpms() {
	tarball
	step rpms rpmbuild -tb --nodeps --without check --define "_topdir $dir/rpm" --define "_smp_mflags -j$(jobs)" "$dir"/build/fors-*.tar.gz
	ls "$dir"/rpm/RPMS/*/*.rpm
}

usage="usage: packages.sh build|try|rpm|rpms DIR; packages.sh --help says more"
answer_help "$@"
[ $# = 2 ] || die "$usage"
case $1 in
build | try | rpm | rpms) ;;
*) die "no step '$1'; $usage" ;;
esac
case $2 in
-*) die "unknown option '$2'; $usage" ;;
esac
mkdir -p "$2"
dir=$(cd "$2" && pwd)
"$1"
