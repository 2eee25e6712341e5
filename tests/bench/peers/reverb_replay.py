#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our replay with dm-reverb, in turn, round by round. Prints one JSON line for each rate of each phase.

  reverb_replay.py --bench build/bin/bench_replay [--bytes 4096] [--selector uniform] [--phases insert sample both]
                   [--seconds 2] [--rounds 5] [--writers 1] [--samplers 1] [--shards 1] [--unix | --shared-memory]

dm-reverb's server is a process of its own, and so is each of its clients, since Python has one lock. Everything of it goes
over TCP, and so does ours unless it is told --unix or --shared-memory. Payloads are random bytes of the same number, and a
sampler adds up the words of each. A writer keeps 256 items on their way; a sampler asks for as many at once as it likes.
`ratio` is the median of the rounds' ratios: how many times as many items ours has.

The same rounds also measure what replay_references.py has, beside the way of ours that is nearest: cpprb beside a shard
within the bench's process, Redis beside the sockets of ours. These lines have no ratio.
"""
import argparse
import json
import multiprocessing
import statistics
import subprocess
import time

import numpy
import reverb

from replay_clients import ReplayClients, start
from replay_references import REFERENCES

TABLE = "unrolls"
RATES = {"insert": ["inserted_per_second"], "sample": ["sampled_per_second"],
         "both": ["inserted_per_second", "sampled_per_second"]}
SELECTORS = {"uniform": reverb.selectors.Uniform, "prioritized": lambda: reverb.selectors.Prioritized(0.6)}


def serve(selector, capacity, told):
    table = reverb.Table(TABLE, sampler=SELECTORS[selector](), remover=reverb.selectors.Fifo(), max_size=capacity,
                         rate_limiter=reverb.rate_limiters.MinSize(1))
    server = reverb.Server([table], port=None)
    told.send(server.port)
    server.wait()


class ReverbClient:
    def __init__(self, port, size):
        self.client = reverb.Client(f"127.0.0.1:{port}")
        self.payload = numpy.random.default_rng(1).integers(0, 255, size, dtype=numpy.uint8)
        self.checksum = 0

    def insert(self, seconds, items=2**62):
        count, begin = 0, time.perf_counter()
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            while time.perf_counter() - begin < seconds and count < items:
                for _ in range(16):
                    writer.append({"bytes": self.payload})
                    writer.create_item(TABLE, 0.5, {"bytes": writer.history["bytes"][-1:]})
                    count += 1
                writer.flush(block_until_num_items=256)
            writer.flush()
        return count / (time.perf_counter() - begin)

    def sample(self, seconds):
        count, begin = 0, time.perf_counter()
        for sample in self.client.sample(TABLE, num_samples=2**30, emit_timesteps=False):
            self.checksum += int(sample.data[0].view(numpy.uint64).sum())
            count += 1
            if count % 64 == 0 and time.perf_counter() - begin >= seconds:
                break
        return count / (time.perf_counter() - begin)


def ours(arguments, phase):
    """Returns the bench's lines: over the sockets or memory that were asked for, and within its process."""
    command = [arguments.bench, "--bytes", arguments.bytes, "--selector", arguments.selector, "--phases", phase,
               "--seconds", arguments.seconds, "--rounds", 1, "--writers", arguments.writers,
               "--samplers", arguments.samplers, "--shards", arguments.shards, "--in-process"]
    command += ["--shared-memory"] if arguments.shared_memory else ["--unix"] if arguments.unix else []
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    outside = next(line for line in lines
                   if not line["in_process"] and line["shared_memory"] == arguments.shared_memory)
    return outside, next(line for line in lines if line["in_process"])


def median(lines, rate):
    return round(statistics.median(line[rate] for line in lines))


def print_line(arguments, name, rate, line, **figures):
    print(json.dumps({
        "bench": name, "rate": rate, "bytes": arguments.bytes, "selector": arguments.selector,
        "writers": arguments.writers, "samplers": arguments.samplers, "shards": arguments.shards,
        "unix": line["unix"], "shared_memory": line["shared_memory"], "in_process": line["in_process"],
        "rounds": arguments.rounds, **figures}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--bytes", type=int, default=4096)
    parser.add_argument("--selector", choices=SELECTORS, default="uniform")
    parser.add_argument("--phases", nargs="+", choices=["insert", "sample", "both"],
                        default=["insert", "sample"])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    for clients in ("--writers", "--samplers", "--shards"):
        parser.add_argument(clients, type=int, default=1)
    sockets = parser.add_mutually_exclusive_group()
    sockets.add_argument("--unix", action="store_true", help="ours over sockets in the file system")
    sockets.add_argument("--shared-memory", action="store_true", help="ours through shared memory")
    arguments = parser.parse_args()
    capacity = min(max(2**28 // arguments.bytes, 16), 100000)
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(arguments.selector, capacity, there), daemon=True)
    server.start()
    words = (here.recv(), arguments.bytes)
    peers = ReplayClients([start(ReverbClient, words) for _ in range(arguments.writers)],
                          [start(ReverbClient, words) for _ in range(arguments.samplers)])
    references = [reference(arguments, capacity) for reference in REFERENCES
                  if any(reference.does(phase, arguments.selector) for phase in arguments.phases)]
    for store in [peers, *references]:
        store.fill(capacity + capacity // 8)
    for phase in arguments.phases:
        lines, inside, others = [], [], []
        beside = {reference: [] for reference in references if reference.does(phase, arguments.selector)}
        for _ in range(arguments.rounds):
            line, within = ours(arguments, phase)
            lines.append(line)
            inside.append(within)
            others.append(peers.measure(phase, arguments.seconds))
            for reference, measured in beside.items():
                measured.append(reference.measure(phase, arguments.seconds))
        for rate in RATES[phase]:
            ratios = [line[rate] / other[rate] for line, other in zip(lines, others)]
            print_line(arguments, f"replay_{phase}_dm_reverb", rate, lines[0], ours=median(lines, rate),
                       peer=median(others, rate), ratio=round(statistics.median(ratios), 2),
                       ratio_range=[round(min(ratios), 2), round(max(ratios), 2)],
                       ceiling_share=round(statistics.median(line["ceiling_share"] for line in lines), 3))
            for reference, measured in beside.items():
                near = inside if reference.IN_PROCESS else lines
                print_line(arguments, f"replay_{phase}_{reference.NAME}", rate, near[0], ours=median(near, rate),
                           reference=median(measured, rate))
    for store in [peers, *references]:
        store.end()
    server.terminate()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main()
