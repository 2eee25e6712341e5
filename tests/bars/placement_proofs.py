# SPDX-License-Identifier: Apache-2.0
"""The proofs of placement: searches beside one another and beside rules, and a policy on networks that it never saw."""

import json
import pathlib
import tomllib

import proof
from training_run import number_in_line, train

PLACEMENT = pathlib.Path(__file__).resolve().parent / "placement"


def placement_piece(name, *words, folder="{folder}", bars=None):
    return proof.Piece(name, ["python3", str(PLACEMENT / "searches.py"), *words, folder], proof.measure_last_line, bars or {})


def placement():
    """Whether `post` needs fewer placements than each other search, and whether its best is as good as any method's."""
    settings = tomllib.loads((PLACEMENT / "searches.toml").read_text())
    fewer = {"post_of_others": ("<=", 0.999)}
    small = [placement_piece(f"small-{number}", "small", str(number), bars=fewer)
             for number in range(1, 1 + len(settings["small"]["networks"]))]
    pooled = placement_piece("pooled", "pooled", folder="{folder}/..", bars=fewer)
    best = {"post_of_annealing": ("<=", 1.01), "post_of_not_optimal": ("<=", 1 - 1e-9), "minutes": ("<=", 10),
            **{f"post_of_{rule}": ("<=", 1) for rule in ("one_device", "even_split", "expert", "HEFT", "Scotch", "METIS")}}
    large = [placement_piece(name, "large", name, bars=fewer | best)
             for name, part in settings["large"].items() if isinstance(part, dict)]
    return proof.Proof("placement", "whether the search post finds the optimum of small networks in fewer placements than its "
                       "parts and REINFORCE, and on six networks the best of all methods; a quarter of an hour (in CI: placement)",
                       [*small, pooled, *large], [proof.Group("small", len(small), fewer)])


def placement_tuning():
    """Every search gets as many configurations on networks that are judged nowhere."""
    settings = tomllib.loads((PLACEMENT / "searches.toml").read_text())
    trials = [placement_piece(f"{search}-{number}", "trial", search, str(number))
              for search, configurations in settings["configurations"].items()
              for number in range(1, 1 + len(configurations))]
    return proof.Proof("placement-tuning", "which configuration of each search for placements is the best on generated "
                       "networks; ten minutes", [*trials, placement_piece("chosen", "chosen", folder="{folder}/..")])


def measure_placing(folder, _):
    line = json.loads((folder / "run/result.json").read_text())["line"]
    return {"root_of_rules": -number_in_line("greedy", line) / 100, "env_steps": number_in_line("env_steps", line)}


def placement_policy():
    """Whether a policy that has only seen random networks places real ones as well as a search that tries placements."""
    part = tomllib.loads((PLACEMENT / "searches.toml").read_text())["policy"]
    bars = {"policy_of_post": ("<=", 1.1), "tenth_of_post": ("<=", 1.001)}
    pieces = [piece for seed in part["trainings"]
              for piece in (proof.Piece(f"trained-{seed}", train("placement", seed), measure_placing),
                            *(placement_piece(f"{name}-{seed}", "policy", name, f"{{folder}}/../trained-{seed}/run", bars=bars)
                              for name in part["networks"]))]
    return proof.Proof("placement-policy", "whether a policy that never saw three networks places them within 10 % of the "
                       "search post without trying a whole placement, and as well as it with a tenth of its placements, where "
                       "the simulator runs for every group on every device before the policy chooses; three quarters of an "
                       "hour (in CI: system_placement)", pieces,
                       [proof.Group(name, 2) for name in part["networks"]])
