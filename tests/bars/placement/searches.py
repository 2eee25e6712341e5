#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pieces of the proofs `placement`, `placement-tuning` and `placement-policy`: they run `shoal place` and print one line of
JSON.

    searches.py small NUMBER FOLDER            samples that each search needs until the optimum of a small network
    searches.py pooled FOLDER                  the same of all small networks and seeds together, from the folders of those
    searches.py large NAME FOLDER              the searches against each other and against rules on a real network
    searches.py trial SEARCH NUMBER FOLDER     one configuration of a search on the networks that are for tuning
    searches.py chosen FOLDER                  the best configuration of each search, from the folders of all trials
    searches.py policy NAME RUN FOLDER         a policy that has learned on other networks against `post` on a real one

searches.toml has the configurations, seeds and budgets.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import tomllib

import graphs

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# The seconds of a step that does not fit.
FAILED = 100
LEARNED = ("post", "placement-ppo", "placement-cem", "softmax-reinforce")
RULES = ("one device", "even split", "expert", "HEFT", "Scotch", "METIS")


def settings():
    return tomllib.loads((HERE / "searches.toml").read_text())


def place(graph, devices, searches, evaluations, seed, folder, overrides=(), more=()):
    """Runs `shoal place` and returns its methods by name."""
    saved = folder / "placement.json"
    command = [ROOT / "build/bin/shoal", "place", graph, "--devices", devices, "--searches", ",".join(searches),
               "--evaluations", str(evaluations), "--seed", str(seed), "--save", saved, *more]
    for override in overrides:
        command += ["--set", override]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return {method["method"]: method for method in json.loads(saved.read_text())["methods"]}


def samples_until(method, seconds, budget):
    """Returns how many placements were tried until a step took no longer; the budget if none did."""
    return next((tried for tried, best in method["improvements"] if best <= seconds), budget)


def median_interval(values):
    """Returns the median, and the order statistics around it that enclose the true one with at least 93 %."""
    values = sorted(values)
    count = len(values)
    outside, rank = 0.0, 0
    while rank < (count - 1) // 2 and 2 * (outside + math.comb(count, rank) / 2**count) <= 0.07:
        outside += math.comb(count, rank) / 2**count
        rank += 1
    rank = max(rank - 1, 0)
    return statistics.median(values), values[rank], values[count - 1 - rank]


def generated(folder, seed, groups, devices):
    graph, machine = folder / "graph.json", folder / "devices.toml"
    graph.write_text(graphs.network(seed, groups))
    machine.write_text(graphs.devices(seed, devices))
    return graph, machine


def samples_by_search(curves, seconds, budget):
    """Returns how many samples each learned search tried until a step took no longer, by seed."""
    return {search: [samples_until(methods[search], seconds, budget) for methods in curves] for search in LEARNED}


def medians_of(samples):
    """Returns the medians of samples by search, their intervals, and that of `post` as a multiple of the least other one."""
    values = {}
    for search in LEARNED:
        median, low, high = median_interval(samples[search])
        values |= {search: median, f"{search}_low": low, f"{search}_high": high}
    values["post_of_others"] = values["post"] / min(values[search] for search in LEARNED if search != "post")
    return values


def overrides(search, number):
    section = f"placement.search.{search.removeprefix('placement-').replace('-', '_')}"
    configuration = settings()["configurations"][search][number - 1]
    return [f"{section}.{key}={value}" for key, value in configuration.items()]


def chosen_overrides(size):
    return [word for search, number in settings()["chosen"][size].items() for word in overrides(search, number)]


def small(number, folder):
    part = settings()["small"]
    one, budget = part["networks"][number - 1], part["evaluations"]
    graph, devices = generated(folder, one["seed"], one["groups"], part["devices"])
    every = part["devices"] ** one["groups"]
    least = place(graph, devices, ["brute-force"], every, 1, folder)["brute-force"]["step_seconds"]
    curves = [place(graph, devices, LEARNED, budget, seed, folder, chosen_overrides("small")) for seed in part["seeds"]]
    samples = samples_by_search(curves, least, budget)
    (folder / "samples.json").write_text(json.dumps(samples))
    return medians_of(samples)


def pooled(folder):
    every = [json.loads(path.read_text()) for path in sorted(folder.glob("small-*/samples.json"))]
    if len(every) != len(settings()["small"]["networks"]):
        raise SystemExit(f"{folder} has the samples of {len(every)} networks")
    return medians_of({search: [count for one in every for count in one[search]] for search in LEARNED})


def large(name, folder):
    part = settings()["large"]
    one, budget = part[name], part["evaluations"]
    graph, devices = ROOT / "data/placement/graphs" / f"{name}.json", ROOT / "data/placement/devices" / one["devices"]
    curves = [place(graph, devices, [*LEARNED, "annealing"], budget, seed, folder,
                    one["overrides"] + chosen_overrides("large")) for seed in part["seeds"]]

    def best(method):
        return statistics.median(methods[method].get("step_seconds", math.inf) for methods in curves)

    least = min(methods[search].get("step_seconds", math.inf) for methods in curves for search in LEARNED)
    values = medians_of(samples_by_search(curves, 1.01 * least, budget))
    steps = {method: best(method) for method in ("post", "annealing", *RULES)}
    return values | {"post_ms": 1e3 * steps["post"]} | post_of_rules(steps)


def post_of_rules(steps):
    """Returns the step of `post` as a multiple of annealing's and of each rule's, and the largest multiple of those rules that
    are not optimal already; 0 if all are."""
    values = {f"post_of_{method.replace(' ', '_')}": steps["post"] / steps[method] for method in ("annealing", *RULES)}
    least = min(steps.values())
    return values | {"post_of_not_optimal": max((steps["post"] / steps[rule] for rule in RULES
                                                 if steps[rule] > least * (1 + 1e-9)), default=0)}


def simulations_of_choices(graph, devices):
    """Returns how often the simulator runs for one placement by the policy: before each choice once for every device."""
    groups = len(json.loads(graph.read_text())["groups"])
    return groups * sum(device.get("count", 1) for device in tomllib.loads(devices.read_text())["placement"]["device"])


def policy(name, run, folder):
    """The policy's own choices, and what is found around them with a tenth of the placements that `post` tries. The simulator
    runs once for each placement of `post` and of the refinement, and more often for one of the policy."""
    part, one = settings()["policy"], settings()["large"][name]
    graph, devices = ROOT / "data/placement/graphs" / f"{name}.json", ROOT / "data/placement/devices" / one["devices"]
    # The policy's first placement is one of the tenth.
    samples = part["evaluations"] // 10 - part["refine"] - 1
    curves = [place(graph, devices, ["post"], part["evaluations"], seed, folder, one["overrides"],
                    ["--policy", run, "--samples", str(samples), "--refine", str(part["refine"])])
              for seed in part["seeds"]]
    simulations = simulations_of_choices(graph, devices)
    return policy_against_post(curves) | {
        "policy_simulations": simulations,
        "tenth_simulations_of_post": ((1 + samples) * simulations + part["refine"]) / part["evaluations"]}


def policy_against_post(curves):
    """Returns medians over seeds, as multiples of that of `post`."""
    steps = {method: statistics.median(methods[method].get("step_seconds", math.inf) for methods in curves)
             for method in ("post", "policy", "policy samples", "policy refined", "first choices")}
    values = {f"{method.replace(' ', '_')}_of_post": steps[method] / steps["post"]
              for method in ("policy", "policy samples", "first choices")}
    # Refinement begins with the best sample, so its best is the best of all the tenth.
    return values | {"tenth_of_post": steps["policy refined"] / steps["post"], "post_ms": 1e3 * steps["post"]}


def trial(search, number, folder):
    tuning = settings()["tuning"]
    curves = {}
    for size in ("small", "large"):
        curves[size] = []
        for one in tuning[size]:
            graph, devices = generated(folder, one["seed"], one["groups"], one["devices"])
            curves[size].append([place(graph, devices, [search], tuning[f"{size}_evaluations"], seed, folder,
                                       overrides(search, number))[search] for seed in tuning[f"{size}_seeds"]])
    (folder / "curves.json").write_text(json.dumps(curves))
    return {}


def chosen(folder):
    """The score of a configuration is a geometric mean over networks and seeds. On small networks it is that of the samples
    until the best step that any configuration found on that network; on large ones, where hardly any comes as near, it is
    that of its own best step, as a multiple of that one."""
    tuning = settings()["tuning"]
    trials = {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob("*/curves.json"))}

    def score(size, curves):
        logs = []
        for i, methods in enumerate(curves[size]):
            least = min(method.get("step_seconds", math.inf) for other in trials.values() for method in other[size][i])
            logs += [math.log(samples_until(method, least, tuning[f"{size}_evaluations"]) if size == "small" else
                              method.get("step_seconds", FAILED) / least) for method in methods]
        return math.exp(statistics.mean(logs))

    values = {}
    for size in ("small", "large"):
        for search, configurations in settings()["configurations"].items():
            own = {number: score(size, trials[f"{search}-{number}"]) for number in range(1, 1 + len(configurations))}
            best = min(own, key=own.get)
            values |= {f"{size}_{search}": best, f"{size}_{search}_score": own[best]}
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    for run, arguments in ((small, {"number": int}), (pooled, {}), (large, {"name": str}), (trial, {"search": str, "number": int}),
                           (policy, {"name": str, "run": str}), (chosen, {})):
        command = what.add_parser(run.__name__)
        command.set_defaults(run=run)
        for name, kind in (arguments | {"folder": pathlib.Path}).items():
            command.add_argument(name, type=kind)
    arguments = vars(parser.parse_args())
    run = arguments.pop("run")
    arguments.pop("what")
    print(json.dumps(run(**arguments)))


if __name__ == "__main__":
    main()
