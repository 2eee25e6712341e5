# SPDX-License-Identifier: Apache-2.0
"""Runs rounds in turn with one of our programs (tests/bench/rounds.h) and computes both sides' figures."""
import json
import statistics
import subprocess


class Ours:
    """A program that runs a round on request."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"{command[0]} did not start")

    def round(self):
        """Runs a round and returns its seconds and its result."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [float(number) for number in self.process.stdout.readline().split()]

    def end(self):
        """Ends the program and returns its JSON line."""
        out, _ = self.process.communicate()
        return json.loads(out.splitlines()[-1])


def figures(tokens, ours, peer):
    """Returns figures for rounds of `tokens` tokens. Rates are medians; the ratio is that of the rounds' ratios."""
    ratios = sorted(theirs / mine for theirs, mine in zip(peer, ours))
    return {
        "ours": round(tokens / statistics.median(ours)), "peer": round(tokens / statistics.median(peer)),
        "ratio": round(statistics.median(ratios), 3), "ratio_min": round(ratios[0], 3),
        "ratio_max": round(ratios[-1], 3), "unit": "tokens/s"}


def milliseconds(bench, ours, peer):
    """Returns a line that compares rounds of both sides, in milliseconds: medians, and the least and the most."""
    line = {"bench": bench, "rounds": len(ours), "unit": "ms"}
    ratios = [theirs / mine for mine, theirs in zip(ours, peer)]
    for name, values in (("ours", ours), ("peer", peer), ("ratio", ratios)):
        line[name] = round(statistics.median(values), 3)
        line[name + "_range"] = [round(min(values), 3), round(max(values), 3)]
    return line
