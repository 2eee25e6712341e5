#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CartPole-v1 by RLlib's PPO, with the settings of its own example (rllib/examples/algorithms/ppo/cartpole_ppo.py).

That example has four runners of sixteen environments, for a machine with more cores: here there is one for each core.
"""
import logging
import os

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from cartpole_judge import Judge, one_thread, parse


def main():
    arguments = parse()
    one_thread()
    cores = len(os.sched_getaffinity(0))
    ray.init(num_cpus=cores + 2, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=min(4, cores), num_envs_per_env_runner=16)
        .learners(num_learners=0)
        .training(lr=0.0003, num_epochs=6, vf_loss_coeff=0.01)
        .rl_module(model_config=DefaultModelConfig(
            fcnet_hiddens=[64, 64], fcnet_activation="tanh", vf_share_layers=False))
        .debugging(seed=arguments.seed, log_level="ERROR"))
    algorithm = config.build_algo()
    judge = Judge(arguments)

    def act(rows):
        with torch.no_grad():
            answer = algorithm.get_module().forward_inference({Columns.OBS: torch.as_tensor(rows)})
            return answer[Columns.ACTION_DIST_INPUTS].argmax(dim=-1).numpy()

    judge.begin()
    while not judge.over:
        judge.ended(algorithm.train()["num_env_steps_sampled_lifetime"], act)
    ray.shutdown()


if __name__ == "__main__":
    main()
