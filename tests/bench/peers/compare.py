#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints one JSON line for several rounds: compare.py BENCH FILE METRIC [METRIC ...]

FILE holds two JSON lines for each round, ours and then the peer's. Figures are medians, and a ratio is the median of
the rounds' ratios, so that other load on the machine affects both. The first metric is `ours`, `peer` and `ratio`; the
others have their name before these. Both must have counted the same `tokens`.
"""
import json
import statistics
import sys


def main():
    bench, path, *metrics = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    ours, peer = lines[0::2], lines[1::2]
    for a, b in zip(ours, peer):
        for name in set(a) & set(b):
            if name.endswith("_tokens") and a[name] != b[name]:
                sys.exit(f"{bench}: {name} differs: ours {a[name]}, peer {b[name]}")
    result = {"bench": bench, "rounds": len(peer)}
    for index, metric in enumerate(metrics):
        prefix = "" if index == 0 else metric.split("_")[0] + "_"
        ratios = [a[metric] / b[metric] for a, b in zip(ours, peer)]
        result[prefix + "ours"] = round(statistics.median(a[metric] for a in ours), 3)
        result[prefix + "peer"] = round(statistics.median(b[metric] for b in peer), 3)
        result[prefix + "ratio"] = round(statistics.median(ratios), 3)
        result[prefix + "ratio_range"] = [round(min(ratios), 3), round(max(ratios), 3)]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
