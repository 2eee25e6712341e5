#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares checkpoints of a learner with those of torch, in turn, round by round.

  torch_checkpoint.py --bench build/bin/bench_checkpoint [--megabytes 500] [--rounds 5] [--directory build/checkpoints]

The state is one array of parameters with two moments, in as many parts as our policy has layers. Every file is on the
disk (fsync) before a checkpoint counts as saved, on both sides; torch's are synced after it has written them. Prints one
JSON line for each of: how long training waits (beside torch.distributed.checkpoint.async_save, the one that lets it go
on), how long until a checkpoint is on the disk and how long to read it (beside torch.save and
torch.distributed.checkpoint.save). `ours` and `peer` are medians in milliseconds; `ratio` is the median of the rounds'
ratios: how many times as fast ours is. The ranges are the least and the most of the rounds.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time
import warnings

import torch
import torch.distributed.checkpoint as dcp

from rounds import milliseconds

WIDTH = 2048


def state_of(megabytes):
    layers = round(megabytes * 1e6 / (3 * 4 * WIDTH * WIDTH))
    return {f"{kind}.{layer}": torch.randn(WIDTH, WIDTH)
            for kind in ("parameters", "first_moment", "second_moment") for layer in range(layers)}


def sync(folder):
    """Waits until all files of the folder are on the disk, and their names."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def timed(what):
    begin = time.perf_counter()
    found = what()
    return 1e3 * (time.perf_counter() - begin), found


class Peers:
    """Saves and reads the state in three ways. Each round replaces the files of the one before."""

    def __init__(self, state, directory):
        self.state, self.directory = state, directory

    def fresh(self, name):
        folder = self.directory / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def plain(self):
        folder = self.fresh("plain")
        saved, _ = timed(lambda: (torch.save(self.state, folder / "state.pt"), sync(folder)))
        read, found = timed(lambda: torch.load(folder / "state.pt", weights_only=True))
        self.check(found)
        return {"save_saved": saved, "save_read": read}

    def distributed(self):
        folder = self.fresh("distributed")
        saved, _ = timed(lambda: (dcp.save(self.state, checkpoint_id=folder, no_dist=True), sync(folder)))
        found = {name: torch.empty_like(value) for name, value in self.state.items()}
        read, _ = timed(lambda: dcp.load(found, checkpoint_id=folder, no_dist=True))
        self.check(found)
        return {"distributed_saved": saved, "distributed_read": read}

    def asynchronous(self):
        folder = self.fresh("asynchronous")
        begin = time.perf_counter()
        stall, future = timed(lambda: dcp.async_save(self.state, checkpoint_id=folder, no_dist=True))
        future.result()
        sync(folder)
        return {"async_stall": stall, "async_saved": 1e3 * (time.perf_counter() - begin)}

    def check(self, found):
        if not all(torch.equal(found[name], value) for name, value in self.state.items()):
            raise SystemExit("torch: read something else than was saved")

    def round(self):
        return self.plain() | self.distributed() | self.asynchronous()


def ours(arguments):
    command = [arguments.bench, "--directory", arguments.directory / "ours", "--megabytes", str(arguments.megabytes),
               "--rounds", "2"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compare(bench, mine, theirs):
    print(json.dumps(milliseconds(bench, mine, theirs)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("build/checkpoints"))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    (arguments.directory / "ours").mkdir(parents=True, exist_ok=True)
    peers = Peers(state_of(arguments.megabytes), arguments.directory)
    # The first round of each is not counted: it imports and starts what a later one has.
    peers.round()
    mine, theirs = [], []
    for _ in range(arguments.rounds):
        mine.append(ours(arguments))
        theirs.append(peers.round())

    def of(values, name):
        return [one[name] for one in values]

    stalls, saved, read = of(mine, "stall_ms"), of(mine, "saved_ms"), of(mine, "read_ms")
    compare("checkpoint_stall_async_save", stalls, of(theirs, "async_stall"))
    compare("checkpoint_saved_async_save", saved, of(theirs, "async_saved"))
    compare("checkpoint_saved_save", saved, of(theirs, "save_saved"))
    compare("checkpoint_saved_distributed", saved, of(theirs, "distributed_saved"))
    compare("checkpoint_read_save", read, of(theirs, "save_read"))
    compare("checkpoint_read_distributed", read, of(theirs, "distributed_read"))
    copies = of(mine, "stall_of_copy")
    print(json.dumps({"bench": "checkpoint_stall_of_copy", "rounds": len(copies), "ratio": round(statistics.median(copies), 3),
                      "ratio_range": [round(min(copies), 3), round(max(copies), 3)]}))
    for name in ("ours", "plain", "distributed", "asynchronous"):
        shutil.rmtree(arguments.directory / name)


if __name__ == "__main__":
    main()
