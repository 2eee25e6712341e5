#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains on frames of 84 x 84 x 4 bytes by Sample Factory's asynchronous PPO, and prints how many steps it has made.

The frames are random and come from a small pool, so its environment costs next to nothing. Of the settings that decide
about speed, the convolution, layers, rows of an update and epochs are ours (pixels.py); others are those of its example
for Atari (sf_examples/atari/atari_params.py), with asynchronous collection.
"""
import argparse
import json
import time

import gymnasium
import numpy
import torch
from sample_factory.algo.runners.runner import AlgoObserver
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.train import make_runner

POOL = 64
LONGEST_EPISODE = 200
SETTINGS = """--algo=APPO --env=pixels --device=cpu --use_rnn=False --recurrence=1 --with_vtrace=False --async_rl=True
  --encoder_conv_architecture=convnet_impala --nonlinearity=relu --obs_scale=255 --normalize_input=False
  --num_envs_per_worker=16 --rollout=32 --batch_size=256 --num_batches_per_epoch=4 --num_epochs=1 --max_grad_norm=0.5
  --learning_rate=0.00025 --adam_eps=1e-5 --encoder_conv_mlp_layers 128""".split()


class Pixels(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 255, (4, 84, 84), numpy.uint8)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self._frames = numpy.random.default_rng(1).integers(0, 256, (POOL, 4, 84, 84), numpy.uint8)
        self._steps = 0

    def reset(self, *, seed=None, options=None):
        self._steps = 0
        return self._frames[0], {}

    def step(self, action):
        self._steps += 1
        over = self._steps == LONGEST_EPISODE
        return self._frames[self._steps % POOL], float(action == 1), over, False, {}


class Progress(AlgoObserver):
    def __init__(self):
        self._first = None

    def on_training_step(self, runner, training_iteration_since_resume):
        steps, now = runner.env_steps.get(0, 0), time.perf_counter()
        if steps == 0:
            return
        if self._first is None:
            self._first = (steps, now)
        elif steps > self._first[0]:
            line = {"env_steps": steps - self._first[0], "training_seconds": now - self._first[1]}
            print(json.dumps(line), flush=True)


def make_environment(name, cfg=None, env_config=None, render_mode=None):
    return Pixels(render_mode)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    seed = parser.parse_args().seed
    torch.set_num_threads(1)
    register_env("pixels", make_environment)
    command = SETTINGS + [f"--seed={seed}"]
    _, runner = make_runner(parse_full_cfg(parse_sf_args(argv=command)[0], command))
    runner.register_observer(Progress())
    runner.init()
    runner.run()


if __name__ == "__main__":
    main()
