#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""exchange.py - an all-to-all exchange along the schedule, with mpi4py: mpirun -n RANKS python3 exchange.py SCHEDULE

Rank 0 reads the schedule and broadcasts it, so that all ranks hold the same epoch. A rank is on the server of its host's InfiniBand
port; where there is none FORSCHED_MAP names a file (man forsched_own_guid). Each server has one rank or several. Each rank sends its
number to each other one, and checks what it gets. Debian: python3-forsched python3-mpi4py.
"""
import sys

from mpi4py import MPI

import forsched


def from_all(world, ask):
    """The answers of all ranks. Where some have none all end, and the first of these says why."""
    try:
        answers = world.allgather((ask(), None))
    except (forsched.Error, OSError) as error:
        answers = world.allgather((None, str(error)))
    bad = [(rank, why) for rank, (_, why) in enumerate(answers) if why]
    if bad and bad[0][0] == world.rank:
        print(f"rank {world.rank}: {bad[0][1]}", file=sys.stderr)
    if bad:
        sys.exit(2)
    return [answer for answer, _ in answers]


def read(path):
    with forsched.open(path) as schedule:
        return schedule.copy()


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


def main(path):
    world = MPI.COMM_WORLD
    data = from_all(world, lambda: read(path) if world.rank == 0 else None)[0]
    with forsched.open_memory(data, path) as schedule:
        servers = from_all(world, lambda: schedule.find_guid(schedule.own_guid(world.rank)))
        me = servers[world.rank]
        ranks = {}
        for rank, server in enumerate(servers):
            ranks.setdefault(server, []).append(rank)
        if len(ranks) != schedule.nservers:
            sys.exit(f"{world.size} ranks on {len(ranks)} servers, but {schedule.nservers} servers in the schedule" if world.rank == 0 else 2)
        good = world.allreduce(exchange(world, schedule, me, ranks) == set(range(world.size)), MPI.LAND)
        if world.rank == 0:
            print(f"epoch {schedule.epoch}: {world.size} ranks on {schedule.nservers} servers, {schedule.nphases} phases, {'all right' if good else 'WRONG'}")
        return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
