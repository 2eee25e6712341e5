#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains CartPole-v1 with our programs and with other libraries, in turn, round by round (cartpole.sh says more).

  cartpole.py [--peers sb3 tianshou sample_factory rllib] [--rounds 3] [--seeds 1 2 3] [--max-seconds 180]
              [--max-steps 500000]

A run is solved when this program reads the line of its first greedy evaluation of 20 episodes with a mean return of
475: a peer evaluates every 5,000 environment steps (cartpole_judge.py), ours as its cluster file says. What a run does
after that line is not part of its seconds. A peer is ended then. Ours goes on to its end; its seconds until the last
good evaluation, which ends training, and until its process has ended are told as well.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile

from agent_runs import Failed, compared, end_runs_when_stopped, installed, lines_of, processor_seconds, tell

BAR = 475
# The environment of Python packages in .deps of each peer.
PEERS = {"sb3": "agents", "tianshou": "agents", "sample_factory": "sample_factory", "rllib": "agents"}
OUR_EVALUATION = re.compile(r"evaluation \d+ after (\d+) steps: return (-?[\d.]+)")
ROOT = pathlib.Path(os.getcwd())


def run_peer(name, seed, arguments):
    """Returns what one run of a peer reached."""
    folder = ROOT / ".deps" / PEERS[name]
    command = [folder / "bin/python", ROOT / f"tests/bench/peers/{name}_cartpole.py", "--seed", seed, "--max-steps",
               arguments.max_steps, "--bar", BAR]
    evaluation = None
    with tempfile.TemporaryDirectory() as scratch:
        for seconds, line, pid in lines_of(command, scratch, arguments.max_seconds):
            if not line.startswith('{"env_steps"'):
                continue
            evaluation = json.loads(line)
            processor = processor_seconds(pid)
            if evaluation["return"] >= BAR:
                break
    if evaluation is None:
        raise Failed(f"no evaluation in {arguments.max_seconds:.0f} s")
    reached = evaluation["return"] >= BAR
    return {
        "reached": reached, "seconds": seconds if reached else arguments.max_seconds,
        "processor_seconds": processor, "env_steps": evaluation["env_steps"],
        "rate": evaluation["steps_per_second"]}


def rate_of_updates(path):
    """Returns environment steps per second from our first update to the last."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    updates = [json.loads(line) for line in lines]
    if len(updates) < 2:
        raise Failed("ours made no two updates")
    first, last = updates[0], updates[-1]
    return (last["environment_steps"] - first["environment_steps"]) / (last["unix_seconds"] - first["unix_seconds"])


def run_ours(seed, arguments):
    """Returns what one run of ours reached."""
    good, ended, evaluated, processor = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        command = [ROOT / "build/bin/shoal", "train", "deploy/local/cartpole.toml", "--seed", seed, "--name", "run",
                   "--set", f'run.directory="{scratch}"']
        for ended, line, pid in lines_of(command, ROOT, arguments.max_seconds):
            found = OUR_EVALUATION.search(line)
            if not found:
                continue
            evaluated = int(found[1])
            # Until the first good one.
            processor = processor if good else processor_seconds(pid)
            if float(found[2]) >= BAR:
                good.append((ended, evaluated))
        rate = rate_of_updates(pathlib.Path(scratch) / "run/learner.jsonl")
    told = good or [(arguments.max_seconds, evaluated)]
    return {
        "reached": bool(good), "seconds": told[0][0], "confirmed": told[-1][0], "ended": ended,
        "processor_seconds": processor, "env_steps": told[0][1], "rate": rate}


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
