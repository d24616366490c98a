#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# run.sh BUILD_DIR SECONDS [SEED] - fuzz every reader for SECONDS altogether.
# BUILD_DIR was configured with --enable-sanitizers and built. Inputs that crash stay in BUILD_DIR/fuzz/crash-*.
set -eu
build=$(cd "$1" && pwd)
seconds=$2
seed=${3:-1}
targets="netfile lftfile guidlist schedule spec status"

make -s -C "$build" tests/fuzz/mutate
mkdir -p "$build/fuzz/seeds"
cd "$build/fuzz"

# Seeds: what fors itself writes about two small fabrics, and some text by hand.
export ASAN_OPTIONS=detect_leaks=0
n=0
for spec in "FT(2;3,3)" "FT(2;2,3;servers=3;cables=2;empty=0/1,2/2)"; do
	n=$((n + 1))
	echo -n "$spec" >"seeds/spec.$n"
	"$build/fors" fabric --synthetic "$spec" >"seeds/netfile.$n" 2>/dev/null || rm -f "seeds/netfile.$n"
	"$build/fors" plan --synthetic "$spec" --lmc 2 --json --output "seeds/schedule.$n" >"seeds/status.$n" || true
done
cat >"seeds/netfile.hand" <<'END'
switchguid=0x200000(200000)
Switch	4 "S-0000000000200000"		# "Leaf00" base port 0 lid 2 lmc 0
[1]	"H-0000000000100000"[1](100001) 		# "Node00-00" lid 1 4xSDR
[2]	"S-0000000000200001"[1]		# "Spine00" lid 3 4xSDR

Switch	4 "S-0000000000200001"		# "Spine00" base port 0 lid 3 lmc 0
[1]	"S-0000000000200000"[2]		# "Leaf00" lid 2 4xSDR

caguid=0x100000
Ca	1 "H-0000000000100000"		# "Node00-00"
[1](100001) 	"S-0000000000200000"[1]		# lid 1 lmc 0 "Leaf00" lid 2 4xSDR
END
cat >"seeds/lftfile.hand" <<'END'
Unicast lids [0-3] of switch Lid 2 guid 0x0000000000200000 ('Leaf00'):
0x0001 001 # Channel Adapter portguid 0x0000000000100001: 'Node00-00'
0x0002 000 # Switch portguid 0x0000000000200000: 'Leaf00'
0x0003 255
3 lids dumped
END
printf '# participants\n0x0000000000100001 node\n0x100003\n' >"seeds/guidlist.hand"

count=$(echo "$targets" | wc -w)
for target in $targets; do
	export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
	timeout -k 5 $((seconds / count + 60)) "$build/tests/fuzz/mutate" "$target" $((seconds / count + 1)) "$seed" \
		"seeds/$target".*
done
