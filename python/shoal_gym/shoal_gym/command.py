# SPDX-License-Identifier: Apache-2.0
"""The program shoal-gym-actor.

Exit codes are those of the actor in C++ (lib/platform/runtime/program.h of the repository): 2 where a server refuses what
is sent or an address is in use, 78 for an environment that cannot be made, after which no restart helps. An error of the
environment while it is played ends the program with 1, after which a restart may help.
"""
import argparse
import contextlib
import os
import queue
import signal
import sys
import threading

from shoal_gym import environment, messages
from shoal_gym.act_stream import Refused
from shoal_gym.actor import Actor
from shoal_gym.episode_player import EndedEpisodes, EpisodePlayer, OwnEpisodes, SharedEpisodes
from shoal_gym.evaluation_log import EvaluationLog
from shoal_gym.health import HealthServer
from shoal_gym.inference_servers import InferenceServers
from shoal_gym.metrics import ActorMetrics

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


def _address(text):
    port = text.rpartition(":")[2]
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' has no port from 0 to 65535")
    return text


def _fail(code, error):
    print(f"error: {error}", file=sys.stderr)
    sys.exit(code)


def _arguments():
    parser = argparse.ArgumentParser(description="Plays a Gymnasium environment for a Shoal cluster.")
    servers = parser.add_mutually_exclusive_group(required=True)
    servers.add_argument("--inference", metavar="HOST:PORT", help="the inference server, or unix:PATH")
    servers.add_argument("--inference-file", metavar="FILE",
                         help="names inference servers, one a line, and is read again while the actor plays; "
                              "actors take them in turn, by --first-environment")
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
    parser.add_argument("--metrics", type=_address, metavar="HOST:PORT", help="serve metrics there; default: none")
    parser.add_argument("--health", type=_address, metavar="HOST:PORT",
                        help="serve gRPC's health service there; default: none")
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


def _ended(arguments, closing, metrics):
    planned = (arguments.evaluate or 0) * len(arguments.policies)
    readers = [lambda episode, steps, total: metrics.count_episode(steps, total)]
    if arguments.evaluate and arguments.output:
        log = EvaluationLog(arguments.output, arguments.environment, planned)
        closing.callback(log.close)
        readers.append(log.add)

    def tell(*ended):
        for reader in readers:
            reader(*ended)

    return EndedEpisodes(planned or 100, tell)


def _servers(arguments):
    try:
        return InferenceServers(arguments.inference, arguments.inference_file,
                                arguments.first_environment // arguments.environments)
    except ValueError as error:
        _fail(_PERMANENT, error)


def _serve(flag, address, start):
    try:
        return start(address) if address else None
    except OSError as error:
        _fail(_REFUSED, f"{flag} {address}: {error}")


def _end_when_told(actor):
    """From now on SIGTERM and SIGINT raise nothing where they come, as gRPC would keep its locks for ever; a thread passes
    them on. A second one ends the process at once. Returns the list that those heard are added to."""
    heard = []
    told = queue.SimpleQueue()

    def hear(number, _):
        signal.signal(number, signal.SIG_DFL)
        heard.append(number)
        told.put(number)

    def wait():
        told.get()
        actor.end()

    threading.Thread(target=wait, daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, hear)
    return heard


def main():
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    metrics = ActorMetrics()
    servers = _servers(arguments)
    with contextlib.ExitStack() as closing:
        # Before environments are made, which may take long: an address in use is told at once.
        _serve("--metrics", arguments.metrics, metrics.serve)
        health = _serve("--health", arguments.health, HealthServer)
        if health:
            # Also where no environment can be made: Python's own end would wait for the server's threads.
            closing.callback(health.stop)
        environments = list(_make(arguments, closing))
        ended = _ended(arguments, closing, metrics)
        limit = None if arguments.evaluate else arguments.steps
        actor = Actor(servers, environment.spec_of(environments[0]), _players(arguments, environments, ended), ended,
                      bool(arguments.evaluate), lambda steps: limit is not None and steps >= limit, metrics)
        heard = _end_when_told(actor)
        if health:
            # What is called last ends first: whoever asks hears it before environments are closed, which may take long.
            closing.callback(health.stop)
            health.set_serving()
        try:
            actor.run()
        except Refused as error:
            _fail(_REFUSED, error)
    if arguments.evaluate and signal.SIGTERM not in heard:
        print(f"result episodes={ended.count} return={ended.mean_return():.1f}")
    if heard:
        # Python's own end stops gRPC's threads where they are, also with a lock that it then waits for.
        sys.stdout.flush()
        os._exit(0)
