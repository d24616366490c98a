#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""event_builder.py - an event from sources to builders along the schedule of a demand: mpirun -n P python3 event_builder.py SCHEDULE

The demand says who sends how much to whom (fors plan --demand --output, or demand_file of the plugin). There is one rank on each server,
found as in exchange.py. Messages go in pieces, and a phase ends for all at once. Each byte is compared. Debian: python3-forsched
python3-mpi4py.
"""
import sys

from mpi4py import MPI

import forsched


def told(source, to, size):
    return bytes((source * 31 + to * 17 + at * 7) & 255 for at in range(size))


def build(world, schedule, me, rank_on):
    """What comes to this server along the schedule: {server: bytes}."""
    out, got = {}, {}
    for flow in schedule.phases(me):
        piece, coming = schedule.piece(me, flow.phase), None
        if flow.from_ is not None:
            event = got.setdefault(flow.from_, bytearray(piece.in_total))
            coming = world.Irecv(memoryview(event)[piece.in_offset:piece.in_offset + piece.in_bytes], source=rank_on[flow.from_])
        if flow.to is not None:
            data = out.setdefault(flow.to, told(me, flow.to, piece.total))
            world.Send(data[piece.offset:piece.offset + piece.bytes], dest=rank_on[flow.to])
        if coming:
            coming.Wait()
        world.Barrier()
    return got


def main(path):
    world = MPI.COMM_WORLD
    with forsched.open(path) as schedule:
        me = schedule.find_guid(schedule.own_guid(world.rank))
        rank_on = {server: rank for rank, server in enumerate(world.allgather(me))}
        if len(rank_on) != schedule.nservers or world.size != schedule.nservers:
            sys.exit("start one rank on each server of the schedule" if world.rank == 0 else 2)
        sends, receives = schedule.role(me)
        got = build(world, schedule, me, rank_on)
        good = world.allreduce(all(event == told(source, me, len(event)) for source, event in got.items()) and bool(got) == receives, MPI.LAND)
        totals = world.allreduce(sum(map(len, got.values()))), world.allreduce(int(sends)), world.allreduce(int(receives))
        if world.rank == 0:
            print(f"{totals[0]} bytes from {totals[1]} sources to {totals[2]} builders in {schedule.nphases} phases, {'all right' if good else 'WRONG'}")
        return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
