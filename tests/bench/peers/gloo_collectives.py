#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our sums over ranks with those of torch.distributed over gloo, in turn, round by round.

  gloo_collectives.py --bench build/bin/bench_collectives [--ranks 2 4] [--megabytes 1 10 100] [--rounds 7]

Both sides have as many processes on this machine, over loopback, and add up the same float32 arrays as often in a round.
While one side measures, the other one's processes wait. Prints one JSON line for each number of ranks and size. `ours`
and `peer` are medians in milliseconds; `ratio` is the median of the rounds' ratios: how many times as fast ours is. The
ranges are the least and the most of the rounds.
"""
import argparse
import json
import multiprocessing
import os
import socket
import time

import torch
import torch.distributed as dist

from rounds import Ours, milliseconds


def serve(rank, ranks, megabytes, port, orders, results):
    """Is one rank: runs a round for each order that it gets, and ends at None."""
    os.environ.update(GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=ranks)
    repeats = min(max(1, 100 // megabytes), 40)
    values = torch.empty(megabytes * 1_000_000 // 4)
    results.put(None)
    while orders.get() is not None:
        values.fill_(1)
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(repeats):
            dist.all_reduce(values)
        dist.barrier()
        seconds = (time.perf_counter() - begin) / repeats
        if not bool(((values / float(ranks) ** repeats - 1).abs() < 1e-4).all()):
            raise SystemExit("gloo: a wrong sum")
        results.put(seconds if rank == 0 else None)
    dist.destroy_process_group()


class Peer:
    """A group of gloo's, which runs a round on request."""

    def __init__(self, ranks, megabytes):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.orders = [multiprocessing.Queue() for _ in range(ranks)]
        self.results = multiprocessing.Queue()
        self.processes = [
            multiprocessing.Process(
                target=serve, args=(rank, ranks, megabytes, port, orders, self.results), daemon=True)
            for rank, orders in enumerate(self.orders)]
        for process in self.processes:
            process.start()
        self._collect()

    def _collect(self):
        found = [self.results.get(timeout=300) for _ in self.processes]
        return next((one for one in found if one is not None), None)

    def round(self):
        for orders in self.orders:
            orders.put(True)
        return self._collect()

    def end(self):
        for orders in self.orders:
            orders.put(None)
        for process in self.processes:
            process.join()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    for ranks in arguments.ranks:
        for megabytes in arguments.megabytes:
            mine = Ours([arguments.bench, "--ranks", str(ranks), "--megabytes", str(megabytes), "--on-request"])
            peer = Peer(ranks, megabytes)
            # The first round of each is not counted: it maps memory and opens windows of TCP.
            mine.round()
            peer.round()
            ours, theirs = [], []
            for _ in range(arguments.rounds):
                ours.append(1e3 * mine.round()[0])
                theirs.append(1e3 * peer.round())
            mine.end()
            peer.end()
            line = milliseconds(f"collectives_{ranks}_ranks_{megabytes}_mb", ours, theirs)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main()
