# SPDX-License-Identifier: Apache-2.0
"""When a peer has solved CartPole-v1: the rule that is the same for all, and the lines that cartpole.py reads.

Every 5,000 environment steps (or at the end of the update in which they are reached) the policy plays 20 greedy
episodes, which are stepped together so that a library answers all of them with one forward pass. A mean return of 475
or more solves the task and ends the program.
"""
import argparse
import json
import time

import gymnasium
import numpy
import torch

EPISODES = 20
STEPS_BETWEEN = 5_000


def parse():
    """Returns the arguments that cartpole.py gives to every peer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--bar", type=float, required=True)
    return parser.parse_args()


def one_thread():
    """Gives torch one thread in this process: its own default is one for each core, and networks as small as these are
    slower with two. Other processes of a library use the other cores."""
    torch.set_num_threads(1)


def greedy_return(act, seed):
    """Returns the mean return of 20 episodes. `act` takes observations [20, 4] and returns as many actions."""
    environments = [gymnasium.make("CartPole-v1", disable_env_checker=True) for _ in range(EPISODES)]
    observations = numpy.stack([environment.reset(seed=seed + i)[0] for i, environment in enumerate(environments)])
    returns = numpy.zeros(EPISODES)
    going_on = numpy.ones(EPISODES, dtype=bool)
    while going_on.any():
        actions = act(observations)
        for i in numpy.flatnonzero(going_on):
            observations[i], reward, terminated, truncated, _ = environments[i].step(int(actions[i]))
            returns[i] += reward
            going_on[i] = not (terminated or truncated)
    return float(returns.mean())


class Judge:
    """Evaluates when it is due. Training is taken to wait meanwhile, unless `concurrent`."""

    def __init__(self, arguments, concurrent=False):
        self._arguments = arguments
        self._concurrent = concurrent
        self._next = STEPS_BETWEEN
        self._begun = None
        self._begun_steps = 0
        self._evaluating = 0.0
        # Whether training may end: the task is solved, or the steps are used up.
        self.over = False

    def begin(self, steps=0):
        """Says that training is measured from now, after so many steps."""
        self._begun = time.perf_counter()
        self._begun_steps = steps

    def due(self, steps):
        return steps >= self._next

    def ended(self, steps, act):
        """Evaluates if it is due. Returns `over`."""
        if not self.due(steps):
            return self.over
        self._next = (steps // STEPS_BETWEEN + 1) * STEPS_BETWEEN
        begin = time.perf_counter()
        training = begin - self._begun - self._evaluating
        # Seeds of evaluations differ from those of training, which count from the run's seed.
        mean = greedy_return(act, 1_000_000 + 1_000 * self._arguments.seed)
        if not self._concurrent:
            self._evaluating += time.perf_counter() - begin
        line = {"env_steps": int(steps), "return": mean, "steps_per_second": (steps - self._begun_steps) / training}
        print(json.dumps(line), flush=True)
        self.over = mean >= self._arguments.bar or steps >= self._arguments.max_steps
        return self.over
