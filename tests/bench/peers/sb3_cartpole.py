#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CartPole-v1 by Stable-Baselines3's PPO, with the settings that RL Baselines3 Zoo recommends for it."""
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

from cartpole_judge import Judge, one_thread, parse

# The zoo trains for so many steps, over which rate and clip go to 0.
SCHEDULED_STEPS = 100_000


class Evaluations(BaseCallback):
    def __init__(self, judge):
        super().__init__()
        self._judge = judge

    def _on_step(self):
        return not self._judge.ended(self.num_timesteps, lambda rows: self.model.predict(rows, deterministic=True)[0])


def linear(begin):
    return lambda left: left * begin


def main():
    arguments = parse()
    one_thread()
    model = PPO(
        "MlpPolicy", make_vec_env("CartPole-v1", n_envs=8, seed=arguments.seed), n_steps=32, batch_size=256,
        n_epochs=20, gae_lambda=0.8, gamma=0.98, ent_coef=0.0, learning_rate=linear(1e-3), clip_range=linear(0.2),
        policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]}, "activation_fn": torch.nn.Tanh},
        seed=arguments.seed, device="cpu")
    judge = Judge(arguments)
    judge.begin()
    # A run that the zoo's schedule does not solve goes on for as many steps rather than end. Stable-Baselines3 counts
    # all steps so far as progress, so rate and clip begin again at 1/2 of the zoo's, then at 1/3, and so on, and go to 0.
    while not judge.over:
        model.learn(SCHEDULED_STEPS, Evaluations(judge), reset_num_timesteps=False)


if __name__ == "__main__":
    main()
