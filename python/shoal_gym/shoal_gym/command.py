# SPDX-License-Identifier: Apache-2.0
"""The program shoal-gym-actor.

Exit codes are those of the actor in C++ (lib/platform/runtime/program.h of the repository): 2 where a server refuses what
is sent or an address is in use, 78 for an environment that cannot be made, after which no restart helps. An error of the
environment while it is played ends the program with 1, after which a restart may help.
"""
import argparse
import contextlib
import signal
import sys

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


def _make(arguments, closing):
    """The constructor of an environment may raise anything."""
    try:
        for _ in range(arguments.environments):
            made = environment.make(arguments.environment)
            closing.callback(made.close)
            yield made
    except environment.UnsuitableEnvironment as error:
        _fail(_PERMANENT, error)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        _fail(_PERMANENT, f"{arguments.environment} cannot be made: {reason}")


def _ended(arguments, closing):
    planned = (arguments.evaluate or 0) * len(arguments.policies)
    if not arguments.evaluate or not arguments.output:
        return EndedEpisodes(planned or 100)
    log = EvaluationLog(arguments.output, arguments.environment, planned)
    closing.callback(log.close)
    return EndedEpisodes(planned, log.add)


def _serve_metrics(arguments, actor, ended):
    if not arguments.metrics:
        return
    try:
        metrics.serve(arguments.metrics, actor, ended)
    except OSError as error:
        _fail(_REFUSED, f"--metrics {arguments.metrics}: {error}")


def main():
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.ExitStack() as closing:
        environments = list(_make(arguments, closing))
        ended = _ended(arguments, closing)
        limit = None if arguments.evaluate else arguments.steps
        actor = Actor(arguments.inference, environment.spec_of(environments[0]), _players(arguments, environments, ended),
                      ended, bool(arguments.evaluate), lambda steps: limit is not None and steps >= limit)
        _serve_metrics(arguments, actor, ended)
        try:
            actor.run()
        except Refused as error:
            _fail(_REFUSED, error)
        except KeyboardInterrupt:
            pass
    if arguments.evaluate:
        print(f"result episodes={ended.count} return={ended.mean_return():.1f}")
