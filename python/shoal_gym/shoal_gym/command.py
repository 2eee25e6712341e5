# SPDX-License-Identifier: Apache-2.0
"""The program shoal-gym-actor.

Exit codes are those of the actor in C++ (lib/platform/runtime/program.h of the repository): 2 where a server refuses what
is sent or an address is in use, 78 for an environment that cannot be made, after which no restart helps.
"""
import argparse
import signal
import sys

import gymnasium

from shoal_gym import environment, messages, metrics
from shoal_gym.act_stream import Refused
from shoal_gym.actor import Actor
from shoal_gym.episode_player import EndedEpisodes, EpisodePlayer, OwnEpisodes, SharedEpisodes
from shoal_gym.evaluation_log import EvaluationLog

# Set in the ids of evaluations, so that they never coincide with those of training.
_EVALUATION = 1 << 63
_REFUSED = 2
_PERMANENT = 78


def _count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _policy(text):
    messages.selector_of(text)
    return text


def _fail(code, error):
    print(f"error: {error}", file=sys.stderr)
    sys.exit(code)


def _arguments():
    parser = argparse.ArgumentParser(description="Plays a Gymnasium environment for a Shoal cluster.")
    parser.add_argument("--inference", required=True, metavar="HOST:PORT", help="the inference server, or unix:PATH")
    parser.add_argument("--environment", required=True, metavar="NAME",
                        help="such as CartPole-v1, ALE/Pong-v5 (extra atari) or my_package:MyTask-v0")
    parser.add_argument("--environments", type=_count, default=8, help="how many are played at once (8)")
    parser.add_argument("--first-environment", type=int, default=0, metavar="ID",
                        help="id of the first one; actors of one cluster need ids that do not overlap (0)")
    parser.add_argument("--seed", type=int, default=1, help="episodes are a function of it (1)")
    parser.add_argument("--steps", type=_count, help="stop after this many steps of training; default: play on")
    parser.add_argument("--evaluate", type=_count, metavar="EPISODES",
                        help="play that many episodes greedily with the newest parameters, train on none of them, and "
                             "print `result episodes=... return=...`")
    parser.add_argument("--policies", type=_policy, nargs="+", default=["current"], metavar="POLICY",
                        help="play the episodes of --evaluate under each of these: current, initial, uniform, or the "
                             "version EPOCH.STEP of the parameters")
    parser.add_argument("--evaluate-seconds", type=float, default=0,
                        help="begin no episode of --evaluate but the first of each policy after so many seconds; 0: all")
    parser.add_argument("--output", metavar="FILE", help="write the episodes of --evaluate there, one JSON object a line")
    parser.add_argument("--metrics", metavar="HOST:PORT", help="serve metrics there; default: none")
    return parser.parse_args()


def _players(arguments, environments, ended):
    """In training each environment plays its episodes 0, 1, 2 and so on; an evaluation's are shared out."""
    shared = SharedEpisodes(arguments.evaluate or 0, arguments.policies, arguments.evaluate_seconds)
    for i, made in enumerate(environments):
        number = arguments.first_environment + i
        if arguments.evaluate:
            yield EpisodePlayer(made, number | _EVALUATION, (arguments.seed, _EVALUATION), shared, ended)
        else:
            yield EpisodePlayer(made, number, (arguments.seed, number), OwnEpisodes(), ended)


def main():
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        environments = [environment.make(arguments.environment) for _ in range(arguments.environments)]
    except (environment.UnsuitableEnvironment, gymnasium.error.Error, ImportError) as error:
        _fail(_PERMANENT, error)
    planned = (arguments.evaluate or 0) * len(arguments.policies)
    ended = EndedEpisodes(planned or 100)
    if arguments.evaluate and arguments.output:
        ended = EndedEpisodes(planned, EvaluationLog(arguments.output, arguments.environment, planned).add)
    players = list(_players(arguments, environments, ended))
    limit = None if arguments.evaluate else arguments.steps
    actor = Actor(arguments.inference, environment.spec_of(environments[0]), players, ended, bool(arguments.evaluate),
                  lambda steps: limit is not None and steps >= limit)
    try:
        if arguments.metrics:
            metrics.serve(arguments.metrics, actor, ended)
        actor.run()
    except (Refused, OSError) as error:
        _fail(_REFUSED, error)
    except KeyboardInterrupt:
        pass
    finally:
        for player in players:
            player.close()
    if arguments.evaluate:
        print(f"result episodes={ended.count} return={ended.mean_return():.1f}")
