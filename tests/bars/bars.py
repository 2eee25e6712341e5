# SPDX-License-Identifier: Apache-2.0
"""The proofs that take too long for every change: `./test --bars` lists them, `./test --bars NAME` runs one.

  ./test --bars NAME [--only GROUP ...] [--again]

--only runs some of its groups, such as ppo-cartpole of learning, or pieces, such as ppo-cartpole-3. A piece that goes on
from another one needs that, too. Finished pieces are kept in runs/bars/NAME-DIGEST, so the same command continues a proof,
and one without --only goes on with what it leaves; --again starts afresh. The digest is that of the sources: what changes
documents alone forgets no piece.
"""

import argparse
import collections
import hashlib
import json
import math
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tomllib

import placement_proofs
import proof
import replay_proofs
from training_run import SHOAL, evaluate, number_in_line, train

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure_goals(folder, _):
    result = json.loads((folder / "run/result.json").read_text())
    learned = [pair for pair in result["pairs"] if pair["policy"] == "learned" and pair["episodes"] > 0]
    return {"success": result["totals"]["learned"]["success"],
            "worst_pair": min(pair["success"] for pair in learned),
            "steps_per_optimal": result["totals"]["learned"].get("steps_per_optimal", math.inf),
            "env_steps": number_in_line("env_steps", result["line"])}


def measure_suite(folder, _):
    result = json.loads((folder / "run/result.json").read_text())
    by_goal = collections.defaultdict(lambda: [0.0, 0])
    for pair in result["pairs"]:
        if pair["policy"] == "learned" and pair["episodes"] > 0:
            by_goal[pair["goal"]][0] += pair["success"] * pair["episodes"]
            by_goal[pair["goal"]][1] += pair["episodes"]
    learned = result["totals"]["learned"]
    return {"success": learned["success"],
            "worst_goal": min(successes / episodes for successes, episodes in by_goal.values()),
            "steps_per_optimal": learned.get("steps_per_optimal", math.inf), "clean": learned["clean"],
            "env_steps": number_in_line("env_steps", result["line"])}


def measure_held_out(folder, _):
    totals = json.loads((folder / "run/result.json").read_text())["totals"]
    return {"unseen": totals["learned, zero-shot"]["success"], "seen": totals["learned"]["success"],
            "similarity": totals["similarity, zero-shot"]["success"]}


def measure_held_out_suite(folder, _):
    """Returns the mean success over the goals that the policy could learn on two captures or more."""
    result = json.loads((folder / "run/result.json").read_text())
    unseen, captures = collections.defaultdict(lambda: [0.0, 0]), collections.defaultdict(set)
    for pair in result["pairs"]:
        if pair["policy"] != "learned" or pair["episodes"] == 0:
            continue
        if pair["capture"] == result["held_out"]:
            unseen[pair["goal"]][0] += pair["success"] * pair["episodes"]
            unseen[pair["goal"]][1] += pair["episodes"]
        else:
            captures[pair["goal"]].add(pair["capture"])
    rates = [successes / episodes for goal, (successes, episodes) in unseen.items() if len(captures[goal]) >= 2]
    return {"unseen": sum(rates) / len(rates), "goals": len(rates), "seen": result["totals"]["learned"]["success"],
            "similarity": result["totals"]["similarity, zero-shot"]["success"]}


def measure_success(folder, _):
    return {"success": json.loads((folder / "run/result.json").read_text())["totals"]["learned"]["success"]}


def measure_exchange(_, output):
    line = output[output.rindex("result exchanged="):]
    return {"exchanged": number_in_line("exchanged", line), "pairs": number_in_line("pairs", line)}


def measure_return(folder, _):
    line = json.loads((folder / "run/result.json").read_text())["line"]
    return {"greedy": number_in_line("greedy", line), "seconds": number_in_line("seconds", line)}


def measure_learning(folder, _):
    line = json.loads((folder / "run/result.json").read_text())["line"]
    reached = number_in_line("reached_steps", line) if "reached_steps=" in line else math.inf
    return {"reached": reached, "greedy": number_in_line("greedy", line), "seconds": number_in_line("seconds", line),
            "env_steps": number_in_line("env_steps", line)}


# A preset on a task: the bar of the return, the environment steps within which it has to be reached, and of how many seeds.
LEARNING = [
    ("ppo", "cartpole", 475, 200_000, 10), ("ppo_kl", "cartpole", 475, 500_000, 9), ("a2c", "cartpole", 475, 500_000, 9),
    ("a3c", "cartpole", 475, 500_000, 9), ("ga3c", "cartpole", 475, 500_000, 9), ("gorila", "cartpole", 475, 300_000, 9),
    ("reinforce", "cartpole", 475, 500_000, 9), ("impala", "cartpole", 475, 1_000_000, 9),
    ("dqn", "cartpole", 475, 300_000, 9), ("ape_x", "cartpole", 475, 300_000, 9), ("iqn", "cartpole", 475, 300_000, 9),
    ("cem", "cartpole", 475, 1_000_000, 8), ("grpo", "cartpole", 475, 1_000_000, 8), ("ppo", "acrobot", -100, 1_000_000, 10),
    ("dqn", "acrobot", -100, 300_000, 10), ("ppo", "catch", 1, 200_000, 10), ("impala", "catch", 1, 200_000, 10),
    ("dqn", "catch", 1, 200_000, 10), ("ppo", "cartpole-masked", 300, 1_000_000, 10),
    ("r2d2", "cartpole-masked", 300, 1_000_000, 5), ("ppo", "corridor", 1, 1_000_000, 10),
    ("r2d2", "corridor", 1, 1_000_000, 5), ("r2d3", "mountain_car", -130, 300_000, 5), ("ngu", "maze", 1, 2_000_000, 4),
    ("agent57", "maze", 1, 2_000_000, 4),
    ("dqn_her", "bit_flip", -5.5, 300_000, 9), ("sac_discrete", "cartpole", 475, 300_000, 9),
    ("sac", "pendulum_continuous", -200, 30_000, 10)]


def learning_command(preset, task, seed, bar, steps, settings=()):
    sets = ["train.evaluate_every_steps=5000", "train.stop_evaluations=1", f"train.stop_score={bar}",
            f"train.max_steps={steps}", "train.evaluate_episodes=20", "train.stop_confirm_episodes=100",
            "train.final_episodes=100", "train.baselines=[]", *settings]
    return train(task, seed, "--preset", preset, "--minutes", "20",
                 *(word for setting in sets for word in ("--set", setting)))


def not_learned():
    """Returns pieces and groups of what lacks the one thing that its task needs, and so may not get far."""
    bar_of_task = {task: bar for _, task, bar, _, _ in LEARNING}
    pieces, groups = [], []
    for side in tomllib.loads((ROOT / "tests/bars/not_learned.toml").read_text())["sides"]:
        name = f"not-{side['name']}-{side['task']}"
        groups.append(proof.Group(name, side["seeds"]))
        for seed in range(1, 1 + side["seeds"]):
            command = learning_command(side["preset"], side["task"], seed, bar_of_task[side["task"]], side["steps"],
                                       side["settings"])
            # What has not been trained for so long proves nothing.
            bars = {"greedy": ("<=", side["greedy"]), "env_steps": (">=", side["steps"])}
            pieces.append(proof.Piece(f"{name}-{seed}", command, measure_learning, bars))
    return pieces, groups


def learning_pieces(preset, task, bar, steps, seeds, limit_seconds=proof.LIMIT_SECONDS):
    return [proof.Piece(f"{preset}-{task}-{seed}", learning_command(preset, task, seed, bar, steps), measure_learning,
                        {"reached": ("<=", steps)}, limit_seconds=limit_seconds) for seed in range(1, 1 + seeds)]


def learning():
    """Twenty greedy episodes have to reach the bar, and a hundred fresh ones have to confirm it, or must not."""
    pieces, groups = [], []
    for preset, task, bar, steps, least in LEARNING:
        name = f"{preset}-{task}"
        medians = {"reached": ("<=", 80_000)} if name == "ppo-cartpole" else {}
        groups.append(proof.Group(name, least, medians))
        pieces += learning_pieces(preset, task, bar, steps, 5 if preset in ("r2d2", "r2d3", "ngu", "agent57") else 10)
    pieces_without, groups_without = not_learned()
    return proof.Proof("learning", "each preset learns its small tasks within its environment steps, ten seeds, and what lacks "
                       "what a task needs does not; three hours (in CI: system_learning, three of them)",
                       pieces + pieces_without, groups + groups_without)


# The bars that take a few seconds a seed.
SHORT = ("ppo-cartpole", "impala-cartpole", "ppo-catch")


def learning_short():
    """Three seeds of the short bars, of which as many have to hold as of the ten, in proportion."""
    pieces, groups = [], []
    for preset, task, bar, steps, least in LEARNING:
        if f"{preset}-{task}" in SHORT:
            groups.append(proof.Group(f"{preset}-{task}", 3 * least // 10))
            pieces += learning_pieces(preset, task, bar, steps, 3, limit_seconds=150)
    return proof.Proof("learning-short", "three seeds of the short bars of learning; a minute (in CI: system_learning)",
                       pieces, groups)


def measure_curve(folder, _):
    """Returns the success of greedy evaluations while training, between two of them in proportion, and that at the end."""
    rows = [json.loads(line) for line in (folder / "run/evaluations.jsonl").read_text().splitlines()]
    result = json.loads((folder / "run/result.json").read_text())

    def success_at(key, mark):
        before = {"success": 0, key: 0}
        for row in rows:
            if row[key] >= mark:
                share = (mark - before[key]) / (row[key] - before[key])
                return before["success"] + share * (row["success"] - before["success"])
            before = row
        return before["success"] if rows and key == "seconds" else math.inf

    return {**{f"s{mark}": success_at("seconds", mark) for mark in (30, 60, 90, 120)},
            **{f"k{mark}": success_at("environment_steps", 1000 * mark) for mark in (25, 50, 100, 200)},
            "final": result["totals"]["learned"]["success"], "env_steps": number_in_line("env_steps", result["line"])}


def algorithm_piece(study, name, rate, seed, label, settings=()):
    algorithm = study["algorithms"][name]
    preset = ["--preset", algorithm["preset"]] if "preset" in algorithm else []
    sets = [*study["settings"], *algorithm.get("settings", []), f"algorithm.learning_rate={rate}", *settings]
    command = train("redfish", seed, *preset, *(word for setting in sets for word in ("--set", setting)))
    return proof.Piece(f"{name}-{label}", command, measure_curve)


def algorithms():
    """How algorithms learn the goals of ./run, and before that with which of two rates. They compare, so there are no bars."""
    study = tomllib.loads((ROOT / "tests/bars/redfish_algorithms.toml").read_text())
    trials = [algorithm_piece(study, name, rate, study["tuning_seed"], rate, study["tuning_settings"])
              for name, algorithm in study["algorithms"].items() for rate in algorithm["rates"]]
    pieces = [algorithm_piece(study, name, algorithm["rates"][0], seed, seed)
              for seed in study["seeds"] for name, algorithm in study["algorithms"].items()]
    groups = [proof.Group(name, len(study["seeds"])) for name in study["algorithms"]]
    return [proof.Proof("algorithms", "how five algorithms learn the goals of ./run in two minutes, by seconds and by thousands "
                        "of environment steps, five seeds; an hour and a quarter (in CI: system_captures)", pieces, groups),
            proof.Proof("algorithms-tuning", "the same in one minute with each of two learning rates, with a seed that is not "
                        "judged; a quarter of an hour", trials)]


# One capture of each vendor that no other capture is of.
VENDORS = ("openbmc-stock", "hpe-dl380a-gen12", "dell-r750")
OWN_WORDS = "tests/bars/own_words.toml"


def measure_unseen(_, output):
    """Returns the scores by sentences and encoder, where MiniLM is the sentence encoder, with evaluate's first."""
    line = output[output.rindex("result held_out="):].splitlines()[0]
    scores = {name.replace("_sentence_", "_minilm_"): float(value)
              for name, value in re.findall(r"(\w+_(?:top1|top5|mrr))=(\S+)", line)}
    return {f"{sentences}_{encoder}_{score}": scores[f"{kind}_{encoder}_{score}"]
            for sentences, kind in (("evaluate", "evaluation"), ("own", "own_words"))
            for encoder in ("tuned", "minilm", "lexical") for score in ("top1", "top5", "mrr")}


def mean_of_pieces(names):
    def measure(folder, _):
        values = [json.loads((folder.parent / f"{name}.json").read_text())["values"] for name in names]
        return {key: statistics.mean(one[key] for one in values) for key in values[0] if key != "minutes"}
    return measure


def measure_seen(_, output):
    line = output[output.rindex("result encoder="):].splitlines()[0]
    return {f"seen_{score}": number_in_line(score, line) for score in ("top1", "top5", "mrr")}


def retrieval():
    """Adapters are tuned without the capture that they are measured on; the one that ships has seen all, and has no bar."""
    bars = {"evaluate_tuned_top5": (">=", 0.85), "evaluate_tuned_mrr": (">=", 0.65)}
    cache = ["--cache", "{folder}/../vectors.sqlite"]
    pieces = [proof.Piece(capture, ["build/bin/encoder", "evaluate", "--held-out", capture, "--seeds", "3", "--by-goal",
                                    "--phrasings", OWN_WORDS, "--work", "{folder}", *cache], measure_unseen)
              for capture in VENDORS]
    mean = proof.Piece("mean", ["true"], mean_of_pieces(VENDORS), bars)
    seen = [proof.Piece(name, ["build/bin/encoder", "evaluate", "--encoder", "tuned", "--captures", *VENDORS, "--by-goal",
                               *more, *cache], measure_seen)
            for name, more in (("shipped-evaluate", ()), ("shipped-own", ("--phrasings", OWN_WORDS)))]
    return proof.Proof("retrieval", "a tuned encoder finds a request on a shortest way to a goal among all of a vendor's host "
                       "from which it has learned nothing; ten minutes, needs MiniLM (in CI: encoder_evaluation, without it)",
                       [*pieces, mean, *seen])


def all_proofs():
    learn = [proof.Piece(f"seed-{seed}", train("redfish", seed), measure_goals,
                         {"success": (">=", 0.97), "worst_pair": (">=", 0.70), "steps_per_optimal": ("<=", 1.5)})
             for seed in range(1, 4)]
    suite = [proof.Piece(f"{minutes}-minutes-{seed}", train("suite", seed, "--minutes", str(minutes)), measure_suite,
                         {"success": (">=", success), "worst_goal": (">=", 0.70), "steps_per_optimal": ("<=", 1.5),
                          "clean": (">=", 0.97)})
             for minutes, seed, success in ((30, 1, 0.80), (30, 2, 0.80), (30, 3, 0.80), (60, 1, 0.90))]
    # Blind twins see no bodies, nor what only bodies tell, such as the members of a collection.
    reading = [proof.Piece(f"{name}-{seed}", train("reading", seed, *more), measure_goals, bars)
               for seed in range(1, 4)
               for name, more, bars in (
                   ("reads", (), {"success": (">=", 0.90)}),
                   ("blind", ("--set", 'environment.ablate="bodies"'), {"success": ("<=", 0.45)}))]
    decisive = [proof.Piece("trained", train("reading", 1), measure_goals, {"success": (">=", 0.90)}),
                *(proof.Piece(name, evaluate("{folder}/../trained/run", 1, "--exchange", "--episodes", "20", "--goals",
                                             "201,202,203,204", "--set", f'environment.ablate="{ablate}"',
                                             "--set", "train.baselines=[]"),
                              measure_exchange, {"pairs": (">=", 200), "exchanged": (comparison, share)})
                  for name, ablate, comparison, share in (("reads", "", ">=", 0.90), ("blind", "bodies", "<=", 0.50)))]
    held_out = [proof.Piece(f"{capture}-{seed}", train("redfish", seed, "--hold-out", capture), measure_held_out,
                            {"unseen": (">=", 0.90), "seen": (">=", 0.97)})
                for seed in range(1, 4) for capture in ("hpe-dl380a-gen12", "dell-r750", "openbmc-stock")]
    held_out_suite = [proof.Piece(capture, train("suite", 1, "--hold-out", capture), measure_held_out_suite,
                                  {"unseen": (">=", 0.60)})
                      for capture in ("dell-r750", "openbmc-stock", "hpe-dl380a-gen12")]
    words = [piece for seed in range(1, 4)
             for piece in (proof.Piece(f"trained-{seed}", train("redfish", seed), measure_goals, {"success": (">=", 0.97)}),
                           proof.Piece(f"own-words-{seed}",
                                       evaluate(f"{{folder}}/../trained-{seed}/run", seed, "--episodes", "40",
                                                "--phrasings", "tests/bars/own_words.toml"),
                                       measure_success, {"success": (">=", 0.90)}))]
    cartpole = [proof.Piece(f"{preset.stem}-{seed}", train(preset.stem, seed), measure_return,
                            {"greedy": (">=", 475), "seconds": ("<=", 30)})
                for preset in sorted((ROOT / "deploy/local").glob("cartpole*.toml")) for seed in range(1, 6)]
    soak = [proof.Piece("hour", ["ctest", "--test-dir", "build", "--label-regex", "soak", "--no-tests=error",
                                 "--output-on-failure"], environment={"SHOAL_SOAK_SECONDS": "3600"})]
    def test(name, environment):
        return [proof.Piece(name, ["ctest", "--test-dir", "build", "--tests-regex", f"^{name}$", "--no-tests=error",
                                   "--output-on-failure"], environment=environment)]
    return [
        proof.Proof("learn", "./run learns every pair with seeds 1 to 3; half an hour (in CI: system_commands)", learn),
        proof.Proof("suite", "./run --suite learns all goals, in half an hour with seeds 1 to 3 and in an hour; three "
                    "hours", suite),
        proof.Proof("reading", "a policy that reads reaches goals of which a blind one reaches less than half; forty "
                    "minutes (in CI: mockserver_goals)", reading),
        proof.Proof("decisive", "in nine of ten of 200 pairs of worlds that differ in the decisive value alone, a policy's "
                    "requests follow it; half an hour (in CI: cli, with the expert)", decisive),
        proof.Proof("held-out", "a policy reaches the eight goals of ./run on a vendor's host that it never saw, seeds 1 "
                    "to 3; an hour and a quarter", held_out),
        proof.Proof("held-out-suite", "a policy reaches goals of the suite on a vendor's host that it never saw, where two "
                    "other captures have the goal; an hour and three quarters", held_out_suite),
        proof.Proof("words", "the policy of ./run reaches its goals in sentences that were written without sight of any "
                    "other, seeds 1 to 3; forty minutes", words),
        proof.Proof("parse", "shoal goals parse understands 400 sentences of somebody who had seen no phrasing, and refuses "
                    "100 others; a minute (in CI: intent, with other sentences)",
                    test("intent", {"SHOAL_SAID": "tests/text/intent/unseen.tsv"})),
        proof.Proof("cartpole", "each CartPole configuration learns with five seeds in half a minute each; ten minutes "
                    "(in CI: system_cartpole)", cartpole),
        retrieval(),
        learning(),
        learning_short(),
        *algorithms(),
        replay_proofs.size(),
        placement_proofs.placement(),
        placement_proofs.placement_tuning(),
        placement_proofs.placement_policy(),
        proof.Proof("soak", "no process grows while a cluster works for an hour (in CI: a minute and a half of it)", soak),
        proof.Proof("goals", "a search finds no way to a goal that is shorter than its optimum of at most five mutations; "
                    "two minutes (in CI: four mutations)", test("mockserver_goals", {"SHOAL_SEARCH_MUTATIONS": "5"})),
        proof.Proof("do", "of 200 drawn goals on failing hosts nine in ten are reached, and 20 operations that are killed "
                    "are finished or explained; ten minutes (in CI: ten goals, four kills)", operations()),
        proof.Proof("do-policy", "a policy trained for half an hour solves nine in ten of 200 drawn goals on failing "
                    "hosts; three quarters of an hour (in CI: actor)", operations_by_policy()),
        proof.Proof("crawl", "a crawl of each capture equals it though it is killed at 50 moments; three minutes (in CI: "
                    "at ten)", test("discovery_whole", {"SHOAL_CRAWL_KILLS": "50"})),
        proof.Proof("kills", "CartPole is learned though supervisor, one rank, all, shard, inference and actor are killed at "
                    "100 random moments, and no version is published with two contents; ten minutes (in CI: six kills)", random_kills()),
        breaker(),
        collectives(),
        publish(),
        simulate(),
        proof.Proof("replay-kills", "a shard that is killed at 200 moments under load, or whose power goes, loses no "
                    "acknowledged item and gives none too often; ten minutes (in CI: five kills)",
                    [*test("system_replay_kills", {"SHOAL_REPLAY_KILLS": "200"}),
                     proof.Piece("power_cuts", ["build/tests/replay_durability_test", "[power_cuts]"],
                                 environment={"SHOAL_REPLAY_KILLS": "200"})]),
        replay_proofs.checkpoint(),
        replay_proofs.speed(),
        replay_proofs.peers(),
        replay_proofs.capacity(),
    ]


def measure_collectives(_, output):
    """Returns how many times as fast as gloo's our sum is, in the worst case of ranks and sizes."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"bench":')]
    return {"cases": len(lines), "ratio": min((line["ratio"] for line in lines), default=0)}


def collectives():
    """Two and four ranks, each with 1, 10 and 100 MB. The script fetches torch with gloo (5 GB), once."""
    pieces = [proof.Piece(f"{ranks}-ranks", ["tests/bench/peers/collectives.sh", "--ranks", str(ranks)],
                          measure_collectives, {"cases": (">=", 3), "ratio": (">=", 1)}) for ranks in (2, 4)]
    return proof.Proof("collectives", "sums over two and four ranks of 1, 10 and 100 MB take no longer than those of "
                       "torch.distributed over gloo; ten minutes, needs build/bin/bench_collectives (in CI: collectives)", pieces)


# An update as the main job's, of 2,048 rows in three passes, with layers of 2,400 numbers, 30 MB; then its publication.
UPDATE_AND_PUBLISH = """build/bin/bench_update 512 0 cpu 64 ppo float32 2400 3 &&
build/bin/bench_publish --subscribers 4 --rounds 21 --megabytes 30"""


def measure_publish(_, output):
    lines = {line["bench"]: line for line in map(json.loads, (one for one in output.splitlines() if one.startswith('{"')))}
    update, published = lines["update"], lines["publish"]
    return {"parameters_mb": update["parameters_mb"], "update_ms": update["update_ms"],
            "delivered_ms": published["delivered_ms"]["median"], "call_ms": published["call_ms"]["median"],
            "making_file_ms": published["making_file_ms"]["median"],
            "of_an_update": published["call_ms"]["median"] / update["update_ms"]}


def publish():
    """Versions of 30 MB. The call, in which the learner makes the file, is compared with an update of the same run."""
    return proof.Proof("publish", "30 MB of parameters reach four subscribers within 300 ms, and making and publishing the file "
                       "keeps the learner for less than 1 % of an update of a policy of that size on one core; two minutes, "
                       "needs build/bin/bench_publish and bench_update (in CI: parameters)",
                       [proof.Piece("30-mb", ["bash", "-c", UPDATE_AND_PUBLISH], measure_publish,
                                    {"parameters_mb": (">=", 30), "delivered_ms": ("<=", 300), "of_an_update": ("<=", 0.01)})])


# A piece's name, its cluster file, its flags and the piece whose costs it takes, if not its own. The main job clones its
# demonstrations only for a while, since they are no part of its speed.
MAIN_JOB = ["--minutes", "2", "--set", "learner.demonstration_updates=20"]
SIMULATED = [("cartpole", "cartpole", [], None), ("cartpole-impala", "cartpole-impala", [], None),
             ("cartpole-dqn", "cartpole", ["--preset", "dqn"], None), ("redfish", "redfish", MAIN_JOB, None),
             ("redfish-32", "redfish", [*MAIN_JOB, "--set", "actor.environments=32"], "redfish")]


def simulate():
    """Jobs with different limits are simulated with the costs of their own run, and one with those of a larger cluster."""
    pieces = [proof.Piece(name, ["python3", str(ROOT / "tests/bars/predicted_speed.py"), "{folder}", f"deploy/local/{file}.toml",
                                 *flags, *(["--costs", f"{{folder}}/../{other}/run"] if other else [])],
                          proof.measure_last_line, {"off": ("<=", 0.2)})
              for name, file, flags, other in SIMULATED]
    return proof.Proof("simulate", "shoal simulate predicts the environment steps a second of four jobs on this machine within "
                       "20 % from what their runs cost, and of one of them with a quarter of the environments; nine minutes (in "
                       "CI: cli)", pieces)


def random_kills():
    """Ten runs with ten kills each, beside three without any."""
    return [proof.Piece(f"{kills}-kills-{seed}", ["build/tests/system_test", "[random_kills]", "-w", "NoTests"],
                        measure_random_kills, {"kills": (">=", kills), "greedy": (">=", 475)},
                        {"SHOAL_KILLS": str(kills), "SHOAL_KILL_SEED": str(seed)})
            for kills, seeds in ((0, range(1, 4)), (10, range(1, 11))) for seed in seeds]


# Each fault of a training, and the test that injects it.
FAULTS = {"without": "[without_fault]", "flipped": "rewards of the wrong sign*", "one_rank": "numbers of one rank*",
          "no_numbers": "rewards that are no numbers*", "lost": "environments that lose*", "fast": "three updates*"}


def breaker():
    """Each fault with five seeds, beside runs without any. Two runs make a piece of the first two."""
    learned = {"greedy": (">=", 475)}
    pieces = [proof.Piece(f"{fault}-{seed}", ["build/tests/system_test", test, "-w", "NoTests"], measure_recovery, learned,
                          {"SHOAL_BREAKER_SEED": str(seed)}) for fault, test in FAULTS.items() for seed in range(1, 6)]
    return proof.Proof("breaker", "CartPole is learned as well with each fault that the circuit breaker knows as without, "
                       "seeds 1 to 5; ten minutes (in CI: system_breaker)", pieces,
                       [proof.Group(fault, 5) for fault in FAULTS])


def measure_recovery(_, output):
    """Returns the worst of a piece's runs."""
    lines = [line for line in output.splitlines() if line.startswith("recovered ")]
    worst = {"greedy": min, "updates": max, "env_steps": max}
    return {name: of_all(number_in_line(name, line) for line in lines) for name, of_all in worst.items()}


def measure_random_kills(_, output):
    line = output[output.rindex("killed kills="):].splitlines()[0]
    return {name: number_in_line(name, line) for name in ("kills", "greedy", "versions", "updates")}


def measure_operations(_, output):
    return {"reached": number_in_line("reached", output[output.rindex("do goals="):]),
            "unannounced": number_in_line("unannounced", output[output.rindex("do goals="):])}


def measure_kills(_, output):
    line = output[output.rindex("do kills="):]
    return {"kills": number_in_line("kills", line),
            "told": number_in_line("finished", line) + number_in_line("explained", line)}


OPERATIONS = "build/tests/system_capture_test"


def drawn_goals(**environment):
    return [proof.Piece(f"goals-{first}", [OPERATIONS, "drawn goals*"], measure_operations,
                        {"reached": (">=", 0.9), "unannounced": ("<=", 0)},
                        {"SHOAL_DO_FIRST": str(first), "SHOAL_DO_GOALS": "100", **environment}) for first in (0, 100)]


def operations():
    killed = proof.Piece("kills", [OPERATIONS, "[do_kills]"], measure_kills, {"kills": (">=", 20), "told": (">=", 20)},
                         {"SHOAL_DO_KILLS": "20"})
    return [*drawn_goals(), killed]


def operations_by_policy():
    trained = proof.Piece("trained", train("suite", 1, "--minutes", "30"), measure_suite)
    return [trained, *drawn_goals(SHOAL_DO_POLICY="{folder}/../trained/run")]


DOCUMENTS = (":!docs", ":!*.md")


def digest_of_sources(root):
    """Names the content of all files but documents and what git ignores, whether it was added or not."""
    said = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".", *DOCUMENTS],
                          cwd=root, capture_output=True, check=False)
    names = sorted({*said.stdout.decode().split("\0")} - {""})
    if not names:
        return "unknown"
    digest = hashlib.sha256()
    for path in (root / name for name in names):
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.relative_to(root)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:12]


def main():
    parser = argparse.ArgumentParser(prog="./test --bars", description="Runs one of the slow proofs.")
    parser.add_argument("name", nargs="?", help="which one; without it, the proofs are listed")
    parser.add_argument("--only", nargs="+", metavar="GROUP", help="run these groups or pieces of it alone")
    parser.add_argument("--again", action="store_true", help="forget what is finished of it, or of those groups")
    arguments = parser.parse_args()
    proofs = {one.name: one for one in all_proofs()}
    if arguments.name is None:
        for one in proofs.values():
            print(f"{one.name:18}{one.says}")
        return 0
    if arguments.name not in proofs:
        parser.error(f"there is no proof {arguments.name!r}; there are: {', '.join(proofs)}")
    chosen = proofs[arguments.name]
    if arguments.only:
        try:
            chosen = proof.only(chosen, arguments.only)
        except ValueError as error:
            parser.error(str(error))
    folder = ROOT / "runs/bars" / f"{arguments.name}-{digest_of_sources(ROOT)}"
    if arguments.again:
        proof.forget(chosen, folder)
    # SIGTERM stops the running piece as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return 0 if proof.run(chosen, folder) else 1
    except KeyboardInterrupt:
        print("interrupted; the same line goes on where this ended", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
