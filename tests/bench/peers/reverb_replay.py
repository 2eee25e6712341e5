#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our replay with dm-reverb, in turn, round by round. Prints one JSON line for each phase.

  reverb_replay.py --bench build/bin/bench_replay [--bytes 4096] [--selector uniform] [--phases insert sample]
                   [--seconds 2] [--rounds 5]

dm-reverb's server is a process of its own, and everything goes over TCP, as with ours. Payloads are random bytes of the
same number, and a sampler adds up the words of each. One writer keeps 256 items on their way; one sampler asks for as
many at once as it likes. `ratio` is the median of the rounds' ratios: how many times as many items ours has.
"""
import argparse
import json
import multiprocessing
import statistics
import subprocess
import time

import numpy
import reverb

TABLE = "unrolls"
SELECTORS = {"uniform": reverb.selectors.Uniform, "prioritized": lambda: reverb.selectors.Prioritized(0.6)}


def serve(selector, capacity, told):
    table = reverb.Table(TABLE, sampler=SELECTORS[selector](), remover=reverb.selectors.Fifo(), max_size=capacity,
                         rate_limiter=reverb.rate_limiters.MinSize(1))
    server = reverb.Server([table], port=None)
    told.send(server.port)
    server.wait()


class Peer:
    def __init__(self, port, size):
        self.client = reverb.Client(f"127.0.0.1:{port}")
        self.payload = numpy.random.default_rng(1).integers(0, 255, size, dtype=numpy.uint8)
        self.checksum = 0

    def insert(self, seconds, items=2**62):
        count, start = 0, time.perf_counter()
        with self.client.trajectory_writer(num_keep_alive_refs=1) as writer:
            while time.perf_counter() - start < seconds and count < items:
                for _ in range(16):
                    writer.append({"bytes": self.payload})
                    writer.create_item(TABLE, 0.5, {"bytes": writer.history["bytes"][-1:]})
                    count += 1
                writer.flush(block_until_num_items=256)
            writer.flush()
        return count / (time.perf_counter() - start)

    def sample(self, seconds):
        count, start = 0, time.perf_counter()
        for sample in self.client.sample(TABLE, num_samples=2**30, emit_timesteps=False):
            self.checksum += int(sample.data[0].view(numpy.uint64).sum())
            count += 1
            if count % 64 == 0 and time.perf_counter() - start >= seconds:
                break
        return count / (time.perf_counter() - start)


def ours(arguments, phase):
    command = [arguments.bench, "--bytes", arguments.bytes, "--selector", arguments.selector, "--phases", phase,
               "--seconds", arguments.seconds, "--rounds", 1]
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", required=True)
    parser.add_argument("--bytes", type=int, default=4096)
    parser.add_argument("--selector", choices=SELECTORS, default="uniform")
    parser.add_argument("--phases", nargs="+", choices=["insert", "sample"], default=["insert", "sample"])
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    capacity = min(max(2**28 // arguments.bytes, 16), 100000)
    here, there = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(arguments.selector, capacity, there), daemon=True)
    server.start()
    peer = Peer(here.recv(), arguments.bytes)
    peer.insert(1e9, capacity + capacity // 8)
    for phase in arguments.phases:
        rate = {"insert": "inserted_per_second", "sample": "sampled_per_second"}[phase]
        measure = peer.insert if phase == "insert" else peer.sample
        lines, rates = [], []
        for _ in range(arguments.rounds):
            lines.append(ours(arguments, phase))
            rates.append(measure(arguments.seconds))
        ratios = [line[rate] / other for line, other in zip(lines, rates)]
        print(json.dumps({
            "bench": f"replay_{phase}_dm_reverb", "bytes": arguments.bytes, "selector": arguments.selector,
            "rounds": arguments.rounds, "ours": round(statistics.median(line[rate] for line in lines)),
            "peer": round(statistics.median(rates)), "ratio": round(statistics.median(ratios), 2),
            "ratio_range": [round(min(ratios), 2), round(max(ratios), 2)],
            "ceiling_share": round(statistics.median(line["ceiling_share"] for line in lines), 3)}), flush=True)
    server.terminate()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main()
