#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""exchange.py - an all-to-all exchange along the schedule, with mpi4py: mpirun -n RANKS python3 exchange.py SCHEDULE [MAP]

Rank 0 reads the schedule and broadcasts it, so that all ranks hold the same epoch. A rank is on the server with the port GUID of its
host's InfiniBand port; MAP, for trying it without one, is a file with a GUID on each line, the first for rank 0. Each server has one
rank or several. Each rank sends its number to each other one, and checks what it gets. Debian: python3-forsched python3-mpi4py.
"""
import glob
import sys

from mpi4py import MPI

import forsched


def own_guid():
    """The port GUID of this host's first InfiniBand port: the last 8 bytes of its GID."""
    for path in sorted(glob.glob("/sys/class/infiniband/*/ports/*/gids/0")):
        with open(path, encoding="ascii") as gid:
            return int("".join(gid.read().split(":")[4:]), 16)
    sys.exit("this host has no InfiniBand port: name a MAP")


def mapped_guid(path, rank):
    with open(path, encoding="ascii") as lines:
        return int(lines.read().split()[rank], 0)


def exchange(world, schedule, me, ranks):
    """What this rank gets: the numbers of all. ranks[server]: the ranks on it, in one order that all know."""
    mates = ranks[me]
    got = {world.rank} | {world.sendrecv(world.rank, mate, source=mate) for mate in mates if mate != world.rank}
    for flow in schedule.phases(me):
        coming = [world.irecv(source=rank) for rank in ranks.get(flow.from_, [])]
        peers = ranks.get(flow.to, [])
        first = mates.index(world.rank) * len(peers) // len(mates)  # spread over the receivers
        for peer in peers[first:] + peers[:first]:
            world.send(world.rank, peer)
        got |= {message.wait() for message in coming}
        world.Barrier()  # a phase ends for all at once
    return got


def main(path, mapping=None):
    world = MPI.COMM_WORLD
    data = None
    if world.rank == 0:
        with forsched.open(path) as schedule:
            data = schedule.copy()
    with forsched.open_memory(world.bcast(data), path) as schedule:
        me = schedule.find_guid(mapped_guid(mapping, world.rank) if mapping else own_guid())
        ranks = {}
        for rank, server in enumerate(world.allgather(me)):
            ranks.setdefault(server, []).append(rank)
        if len(ranks) != schedule.nservers:
            sys.exit(f"{world.size} ranks on {len(ranks)} servers, but {schedule.nservers} servers in the schedule")
        good = world.allreduce(exchange(world, schedule, me, ranks) == set(range(world.size)), MPI.LAND)
        if world.rank == 0:
            print(f"epoch {schedule.epoch}: {world.size} ranks on {schedule.nservers} servers, {schedule.nphases} phases, {'all right' if good else 'WRONG'}")
        return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
