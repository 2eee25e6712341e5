#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains CartPole-v1 with our programs and with other libraries, in turn, round by round (cartpole.sh says more).

  cartpole.py --bench build/bin/bench_end_to_end [--peers sb3 tianshou sample_factory rllib] [--rounds 3]
              [--seeds 1 2 3] [--max-seconds 180] [--max-steps 500000]

A run is solved when this program reads the line of its first greedy evaluation of 20 episodes with a mean return of
475. All evaluate every 5,000 environment steps (cartpole_judge.py). What a run does after that line is not part of its
seconds, nor of its steps a second. A peer is ended then. Ours goes on to its end; its seconds until the last good
evaluation, which ends training, and until its process has ended are told as well. All may take as many seconds and
environment steps; a line that comes later than --max-seconds does not count.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

from agent_runs import Failed, compared, end_runs_when_stopped, installed, lines_of, processor_seconds, tell

BAR = 475
# As in cartpole_judge.py, which imports packages of the peers.
STEPS_BETWEEN = 5_000
# The environment of Python packages in .deps of each peer.
PEERS = {"sb3": "agents", "tianshou": "agents", "sample_factory": "sample_factory", "rllib": "agents"}
# Seconds after its training that ours may take for its last evaluation and its report.
GRACE = 150
ROOT = pathlib.Path(os.getcwd())


class Evaluations:
    """What the lines of a run's evaluations say of it."""

    def __init__(self, arguments):
        self._arguments = arguments
        self.last = None
        self.solved = None
        # The seconds until the last good one.
        self.confirmed = arguments.max_seconds
        # Those until the solved line, or until the last one.
        self._processor = 0
        self._rate = 0

    def read(self, seconds, line, pid):
        """Takes a line that a run prints, and says whether it is solved."""
        if seconds > self._arguments.max_seconds or not line.startswith('{"env_steps"'):
            return self.solved is not None
        self.last = json.loads(line)
        if self.solved is None:
            self._processor = processor_seconds(pid)
            self._rate = self.last["steps_per_second"]
        if self.last["return"] >= BAR:
            self.confirmed = seconds
            self.solved = self.solved or (seconds, self.last["env_steps"])
        return self.solved is not None

    def told(self):
        """Returns what the run reached. Raises Failed if there was no evaluation."""
        if self.last is None:
            raise Failed(f"no evaluation in {self._arguments.max_seconds:.0f} s")
        seconds, steps = self.solved or (self._arguments.max_seconds, self.last["env_steps"])
        return {"reached": self.solved is not None, "seconds": seconds, "processor_seconds": self._processor,
                "env_steps": steps, "rate": self._rate}


def run_peer(name, seed, arguments):
    """Returns what one run of a peer reached."""
    folder = ROOT / ".deps" / PEERS[name]
    command = [folder / "bin/python", ROOT / f"tests/bench/peers/{name}_cartpole.py", "--seed", seed, "--max-steps",
               arguments.max_steps, "--bar", BAR]
    evaluations = Evaluations(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        for seconds, line, pid in lines_of(command, scratch, arguments.max_seconds):
            if evaluations.read(seconds, line, pid):
                break
    return evaluations.told()


def run_ours(seed, arguments):
    """Returns what one run of ours reached, as bench_end_to_end measures it."""
    command = [arguments.bench, "--tasks", "cartpole", "--seeds", seed, "--seconds", arguments.max_seconds,
               "--set", f"train.max_steps={arguments.max_steps}", "--set", f"train.evaluate_every_steps={STEPS_BETWEEN}",
               "--evaluations"]
    evaluations, measured = Evaluations(arguments), None
    for seconds, line, pid in lines_of(command, ROOT, arguments.max_seconds + GRACE):
        evaluations.read(seconds, line, pid)
        if line.startswith('{"bench"'):
            measured = json.loads(line)
    if measured is None:
        raise Failed(f"ours did not end {GRACE} s after its training should have")
    return {**evaluations.told(), "confirmed": evaluations.confirmed, "ended": measured["seconds"]}


def report(round_number, seed, name, run):
    print(f"round {round_number + 1}, seed {seed}: {name} {json.dumps(run)}", file=sys.stderr, flush=True)


def line_of(bench, name, key, ours, peer, better):
    """Returns a line that compares `key` of the rounds."""
    line = compared(bench, name, [one[key] for one in ours], [one[key] for one in peer], better)
    for told in ("env_steps", "processor_seconds"):
        line["ours_" + told] = statistics.median(one[told] for one in ours)
        line["peer_" + told] = statistics.median(one[told] for one in peer)
    line["ours_reached"] = all(one["reached"] for one in ours)
    line["reached"] = all(one["reached"] for one in peer)
    return line


def compare(name, ours, peer):
    """Prints the two lines of a peer."""
    seconds = line_of("cartpole_seconds", name, "seconds", ours, peer, lambda mine, theirs: theirs / mine)
    for key in ("confirmed", "ended"):
        seconds[f"ours_{key}"] = round(statistics.median(one[key] for one in ours), 3)
        seconds[f"ratio_{key}"] = round(statistics.median(b["seconds"] / a[key] for a, b in zip(ours, peer)), 3)
    tell(seconds)
    tell(line_of("cartpole_steps_per_second", name, "rate", ours, peer, lambda mine, theirs: mine / theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, nargs="+", help="used in turn; by default 1, 2, ... up to the rounds")
    parser.add_argument("--max-seconds", type=float, default=180)
    parser.add_argument("--max-steps", type=int, default=500_000)
    arguments = parser.parse_args()
    seeds = arguments.seeds or list(range(1, arguments.rounds + 1))
    failed, ours, peers = {}, [], {name: [] for name in arguments.peers}
    for name in arguments.peers:
        try:
            installed(PEERS[name])
        except Failed as error:
            failed[name] = str(error)
    for round_number in range(arguments.rounds):
        seed = seeds[round_number % len(seeds)]
        ours.append(run_ours(seed, arguments))
        report(round_number, seed, "ours", ours[-1])
        for name in arguments.peers:
            if name in failed:
                continue
            try:
                peers[name].append(run_peer(name, seed, arguments))
            except Failed as error:
                failed[name] = str(error)
                continue
            report(round_number, seed, name, peers[name][-1])
    for name in arguments.peers:
        if name in failed:
            tell({"bench": "cartpole", "peer_name": name, "failed": failed[name]})
        else:
            compare(name, ours, peers[name])


if __name__ == "__main__":
    end_runs_when_stopped()
    try:
        main()
    except Failed as error:
        sys.exit(f"error: {error}")
