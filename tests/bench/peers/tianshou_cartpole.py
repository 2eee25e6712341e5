#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CartPole-v1 by Tianshou's PPO, with the settings of its own test of it (test/discrete/test_ppo_discrete.py)."""
import gymnasium
import numpy
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import ActorCritic, Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

from cartpole_judge import Judge, one_thread, parse

ENVIRONMENTS = 20


class Ended(Exception):
    """Leaves the loop of training."""


def network():
    return Net(state_shape=(4,), hidden_sizes=[64, 64], activation=torch.nn.Tanh)


def main():
    arguments = parse()
    numpy.random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    one_thread()
    environments = DummyVectorEnv([lambda: gymnasium.make("CartPole-v1") for _ in range(ENVIRONMENTS)])
    environments.seed(arguments.seed)
    actor = DiscreteActor(preprocess_net=network(), action_shape=2)
    critic = DiscreteCritic(preprocess_net=network())
    for module in ActorCritic(actor, critic).modules():
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.orthogonal_(module.weight)
            torch.nn.init.zeros_(module.bias)
    policy = DiscreteActorPolicy(
        actor=actor, dist_fn=torch.distributions.Categorical, action_space=gymnasium.spaces.Discrete(2),
        deterministic_eval=True)
    algorithm = PPO(
        policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=3e-4), gamma=0.99, max_grad_norm=0.5, eps_clip=0.2,
        vf_coef=0.5, ent_coef=0.0, gae_lambda=0.95, return_scaling=False, dual_clip=None, value_clip=False,
        advantage_normalization=False, recompute_advantage=False)
    judge = Judge(arguments)

    def act(rows):
        with torch.no_grad():
            return policy(Batch(obs=rows, info={})).logits.argmax(dim=-1).numpy()

    # It is called before each collection.
    def evaluate(_, steps):
        if judge.ended(steps, act):
            raise Ended

    collector = Collector[CollectStats](algorithm, environments, VectorReplayBuffer(20_000, ENVIRONMENTS))
    judge.begin()
    try:
        algorithm.run_training(OnPolicyTrainerParams(
            training_collector=collector, max_epochs=1_000_000, epoch_num_steps=50_000, update_step_num_repetitions=10,
            batch_size=64, collection_step_num_env_steps=2_000, training_fn=evaluate, verbose=False,
            show_progress=False))
    except Ended:
        pass


if __name__ == "__main__":
    main()
