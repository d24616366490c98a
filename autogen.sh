#!/bin/sh
# Make ./configure. Needs autoconf, automake, libtool and pkg-config. Takes no arguments.
set -e
case ${1:-} in
"") ;;
-h | --help)
	sed -n '2s/^# //p' "$0"
	exit 0
	;;
*)
	echo "autogen.sh: unknown argument '$1'; it takes none" >&2
	exit 2
	;;
esac
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
	command -v "$tool" >/dev/null 2>&1 || {
		echo "autogen.sh: $tool not found. On Debian: apt-get install autoconf automake libtool pkg-config" >&2
		exit 1
	}
done
mkdir -p m4 build-aux
autoreconf --install --force
# At its end configure removes core dumps, "rm -f core"; here core is a room of the house.
sed -i 's/rm -f core \*\.core /rm -f *.core /' configure
