#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on frames with our programs and with Sample Factory, in turn, round by round (pixels.sh says more).

  pixels.py --bench build/bin/bench_end_to_end [--rounds 3] [--seconds 30]

Both have 16 environments a core, "small" (16 filters of 8 x 8, 32 of 4 x 4) with one layer of 128 and ReLU, and updates
of one epoch over four minibatches of 256 rows.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from agent_runs import Failed, compared, end_runs_when_stopped, installed, lines_of, tell

ROOT = pathlib.Path(os.getcwd())
CORES = len(os.sched_getaffinity(0))
# Seconds that a run of Sample Factory may take before its first update.
START = 90
OURS = ["policy.value_hidden=[]", 'policy.activation="relu"', "algorithm.update_epochs=1", "algorithm.kl_stop=0"]


def json_of(command):
    """Returns the JSON lines that a program prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{pathlib.Path(command[0]).name}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ours(arguments, seed):
    command = [arguments.bench, "--tasks", "pixels", "--seeds", seed, "--seconds", arguments.seconds]
    for knob in OURS:
        command += ["--set", knob]
    return json_of(command)[0]["steps_per_second"]


def sample_factory(arguments, seed):
    script = ROOT / "tests/bench/peers/sample_factory_pixels.py"
    command = [ROOT / ".deps/sample_factory/bin/python", script, "--seed", seed]
    told = None
    with tempfile.TemporaryDirectory() as scratch:
        for _, line, _ in lines_of(command, scratch, START + arguments.seconds):
            if line.startswith('{"env_steps"'):
                told = json.loads(line)
                if told["training_seconds"] >= arguments.seconds:
                    break
    if told is None:
        raise Failed("Sample Factory made no two updates")
    return told["env_steps"] / told["training_seconds"]


def ceiling(arguments):
    """Returns what all cores could train a second if they did nothing but forward and backward."""
    bench = pathlib.Path(arguments.bench).with_name("bench_pixels")
    if not bench.exists():
        raise Failed(f"no {bench}; type: cmake --build build --target bench_pixels")
    small = next(line for line in json_of([bench, 256, 32]) if line["convolution"] == "small")
    return CORES * small["ceiling_steps_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30)
    arguments = parser.parse_args()
    installed("sample_factory")
    mine, theirs, ceilings = [], [], []
    for seed in range(1, arguments.rounds + 1):
        ceilings.append(ceiling(arguments))
        mine.append(ours(arguments, seed))
        theirs.append(sample_factory(arguments, seed))
        print(f"round {seed}: ours {mine[-1]:.0f}, Sample Factory {theirs[-1]:.0f}, ceiling {ceilings[-1]:.0f}",
              file=sys.stderr, flush=True)
    line = compared("pixels_steps_per_second", "sample_factory", mine, theirs, lambda our, their: our / their)
    line["ceiling"] = round(statistics.median(ceilings))
    line["ceiling_share"] = round(statistics.median(rate / most for rate, most in zip(mine, ceilings)), 3)
    tell(line)


if __name__ == "__main__":
    end_runs_when_stopped()
    try:
        main()
    except Failed as error:
        sys.exit(f"error: {error}")
