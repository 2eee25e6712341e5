# SPDX-License-Identifier: Apache-2.0
"""The proofs of replay's speed, of its memory and disk, and of what the size of a table does to learning."""

import json
import math
import pathlib
import shutil
import statistics
import subprocess
import tomllib

import proof
from training_run import number_in_line, train

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each payload: how ours is reached, and how many times as many inserts and samples as dm-reverb's it should have.
REVERB = {"4-kb": (4096, [], 3, 6), "120-kb": (120 << 10, ["--shared-memory"], 2, 2),
          "3-mb": (3 << 20, ["--shared-memory"], 2, 2)}


def bench(*words):
    return ["build/bin/bench_replay", "--phases", "insert", "sample", "--seconds", "2", *words]


def speed():
    """Rings against a socket's ceiling, and prioritized tables beside uniform ones, in turn."""
    names = {"120-kb": 120 << 10, "3-mb": 3 << 20}
    rings = [proof.Piece(f"rings-{name}", bench("--bytes", str(size), "--shared-memory", "--rounds", "5"),
                         measure_rings, {"insert_of_ceiling": (">=", 0.8), "sample_of_ceiling": (">=", 0.8)})
             for name, size in names.items()]
    turns = [["bash", "-euc", "for round in 1 2 3 4 5; do for selector in uniform prioritized; do "
              + " ".join(bench("--bytes", str(size), "--rounds", "1", "--selector", "$selector")) + "; done; done"]
             for size in (4096, 120 << 10)]
    selectors = [proof.Piece(f"prioritized-{name}", command, measure_selectors,
                             {"insert_of_uniform": (">=", 0.85), "sample_of_uniform": (">=", 0.85)})
                 for name, command in zip(("4-kb", "120-kb"), turns)]
    together = [proof.Piece(f"together-{name}",
                            ["build/bin/bench_replay", "--phases", "both", "--bytes", str(size), "--shared-memory"],
                            measure_together) for name, size in names.items()]
    memory = proof.Piece("memory-4-kb", bench("--items", "262144", "--rounds", "1"), measure_memory,
                         {"resident_per_payload": ("<=", 1.1)})
    return proof.Proof("replay-speed", "payloads through shared memory come to .8 of what a socket carries one way, "
                       "prioritized tables to .85 of uniform ones, and a gigabyte of small items takes a tenth more; five "
                       "minutes on a machine that does nothing else (in CI: the bench is built)",
                       [*rings, *together, *selectors, memory])


def peers():
    pieces = [proof.Piece(name, ["tests/bench/peers/replay.sh", "--bytes", str(size), "--phases", "insert", "sample", *flags],
                          measure_peers, {"inserts": (">=", inserts), "samples": (">=", samples)})
              for name, (size, flags, inserts, samples) in REVERB.items()]
    return proof.Proof("replay-peers", "a shard takes and gives two to six times as many items as dm-reverb; ten minutes, and "
                       "installs dm-reverb", pieces)


def measure_peers(_, output):
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    ratios = {line["rate"]: line["ratio"] for line in lines if "ratio" in line}
    return {"inserts": ratios["inserted_per_second"], "samples": ratios["sampled_per_second"]}


def lines_of(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith('{"bench":"replay_')]


def measure_rings(_, output):
    shares = {line["bench"]: line["ceiling_share"] for line in lines_of(output) if line["shared_memory"]}
    return {"insert_of_ceiling": shares["replay_insert"], "sample_of_ceiling": shares["replay_sample"]}


def measure_together(_, output):
    line = [line for line in lines_of(output) if line["shared_memory"]][0]
    return {"of_ceiling": line["ceiling_share"], "inserts": line["inserted_per_second"],
            "samples": line["sampled_per_second"]}


def measure_memory(_, output):
    return {"resident_per_payload": lines_of(output)[0]["resident_per_payload"]}


def measure_selectors(_, output):
    """Returns the medians, over the rounds, of the rates of prioritized tables by those of uniform ones."""
    measured = {}
    for phase, rate in (("insert", "inserted_per_second"), ("sample", "sampled_per_second")):
        lines = [line for line in lines_of(output) if line["bench"] == f"replay_{phase}"]
        rates = {selector: [line[rate] for line in lines if line["selector"] == selector]
                 for selector in ("uniform", "prioritized")}
        ratios = [ours / other for ours, other in zip(rates["prioritized"], rates["uniform"], strict=True)]
        measured[f"{phase}_of_uniform"] = statistics.median(ratios)
    return measured


def measure_capacity(_, output):
    line = json.loads(output[output.rindex('{"bench":"replay_capacity"'):].splitlines()[0])
    return {name: line[name] for name in ("of_disk", "resident_of_memory", "samples_per_second", "inserts_per_second")}


def measure_checkpoint(_, output):
    line = json.loads(output[output.rindex('{"bench":"replay_checkpoint"'):].splitlines()[0])
    return {name: line[name] for name in ("longest_hold_ms", "longest_hold_alone_ms", "insert_p999_ratio",
                                          "sample_p999_ratio", "checkpoint_seconds")}


def measure_size(folder, _):
    """Returns the steps until the bar was reached and the best evaluation, the one that ended training included."""
    rows = [json.loads(line) for line in (folder / "run/evaluations.jsonl").read_text().splitlines()]
    line = json.loads((folder / "run/result.json").read_text())["line"]
    reached = number_in_line("reached_steps", line) if "reached_steps=" in line else math.inf
    return {"reached": reached, "best": max(row["return"] for row in rows),
            "env_steps": number_in_line("env_steps", line)}


def size():
    """How many environment steps DQN needs with tables of several sizes. It compares, so there are no bars."""
    study = tomllib.loads((ROOT / "tests/bars/replay_size.toml").read_text())
    pieces, groups = [], []
    for transitions in study["transitions"]:
        sets = [f"replay.table.0.max_size={transitions // study['unroll_length']}",
                f"inference.unroll_length={study['unroll_length']}", *study["settings"]]
        groups.append(proof.Group(f"{transitions}", len(study["seeds"])))
        for seed in study["seeds"]:
            command = train("cartpole", seed, "--preset", "dqn", "--minutes", "20",
                            *(word for setting in sets for word in ("--set", setting)))
            pieces.append(proof.Piece(f"{transitions}-{seed}", command, measure_size))
    return proof.Proof("replay-size", "in how many environment steps DQN learns CartPole with tables of replay of 1,000 to "
                       "500,000 transitions, three seeds; twenty minutes (in CI: system_cartpole)", pieces, groups)


def real_time():
    """Other programs preempt no thread that holds a lock, where the system allows this."""
    command = ["chrt", "-r", "1"]
    is_allowed = shutil.which("chrt") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if is_allowed else []


def checkpoint():
    return proof.Proof("replay-checkpoint", "a checkpoint of a table of 2 GB holds no lock for more than 20 ms and inserts and "
                       "samples up no more than twice as long; five minutes (in CI: replay_durability)",
                       [proof.Piece("2-gb", [*real_time(), "build/bin/bench_replay_durability", "--directory", "{folder}",
                                             "--checkpoint-gb", "2", "--seconds", "5", "--rounds", "5"], measure_checkpoint,
                                    {"longest_hold_ms": ("<=", 20), "insert_p999_ratio": ("<=", 2),
                                     "sample_p999_ratio": ("<=", 2)})])


def capacity():
    command = ["build/bin/bench_replay_capacity", "--directory", "{folder}", "--gigabytes", "8", "--memory-gigabytes", "1"]
    ways = [("uniform", ["--sampler", "uniform"], 0.7), ("fifo", ["--sampler", "fifo"], 0.9), ("chunks", ["--chunks"], 0.7)]
    return proof.Proof("capacity", "a replay table of 8 GB with 1 GB of memory gives items, and items that share chunks, nearly "
                       "as fast as the disk reads; fifteen minutes (in CI: replay_durability)",
                       [proof.Piece(name, [*command, *flags], measure_capacity,
                                    {"of_disk": (">=", share), "resident_of_memory": ("<=", 1.2)})
                        for name, flags, share in ways])
