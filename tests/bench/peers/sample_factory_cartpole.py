#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CartPole-v1 by Sample Factory's asynchronous PPO, with the command line of its example sf_examples/train_gym_env.py.

The policy is evaluated in the main process, which otherwise only waits, so training goes on meanwhile.
"""
import gymnasium
import torch
from sample_factory.algo.runners.runner import AlgoObserver
from sample_factory.algo.utils.rl_utils import prepare_and_normalize_obs
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.model.actor_critic import create_actor_critic
from sample_factory.train import make_runner
from signal_slot.signal_slot import EventLoopObject

from cartpole_judge import Judge, one_thread, parse

EXAMPLE = """--algo=APPO --use_rnn=False --num_envs_per_worker=20 --policy_workers_per_policy=2 --recurrence=1
  --with_vtrace=False --batch_size=512 --reward_scale=0.1 --save_every_sec=10 --experiment_summaries_interval=10
  --env=CartPole-v1""".split()
NETWORK = "--actor_critic_share_weights=False --nonlinearity=tanh --encoder_mlp_layers 64 64".split()


class Learned(EventLoopObject):
    """Learns where the learner keeps the parameters that it shares with its other processes."""

    def __init__(self, runner):
        super().__init__(runner.event_loop, "learned")
        self._runner = runner
        self._shared = None
        self._policy = None
        runner.learners[0].model_initialized.connect(self.take)

    def take(self, model):
        _, self._shared, _, _ = model
        self._policy = create_actor_critic(
            self._runner.cfg, self._runner.env_info.obs_space, self._runner.env_info.action_space)
        self._policy.eval()

    def refresh(self):
        with self._runner.learners[0].param_server.policy_lock:
            self._policy.load_state_dict(self._shared)

    def act(self, rows):
        with torch.no_grad():
            seen = prepare_and_normalize_obs(self._policy, {"obs": torch.as_tensor(rows)})
            result = self._policy(seen, torch.zeros(len(rows), 1))
            return result["action_logits"].argmax(dim=-1).numpy()


class Evaluations(AlgoObserver):
    def __init__(self, judge):
        self._judge = judge
        self._learned = None

    def on_connect_components(self, runner):
        self._learned = Learned(runner)

    def on_training_step(self, runner, training_iteration_since_resume):
        steps = runner.env_steps.get(0, 0)
        # Its processes have started when the first update is done.
        if training_iteration_since_resume == 1:
            self._judge.begin(steps)
        if not self._judge.over and self._judge.due(steps):
            self._learned.refresh()
            if self._judge.ended(steps, self._learned.act):
                runner._stop_training()


def make_environment(name, cfg=None, env_config=None, render_mode=None):
    return gymnasium.make(name, render_mode=render_mode)


def main():
    arguments = parse()
    one_thread()
    register_env("CartPole-v1", make_environment)
    command = EXAMPLE + NETWORK + ["--device=cpu", f"--seed={arguments.seed}"]
    parser, _ = parse_sf_args(argv=command)
    _, runner = make_runner(parse_full_cfg(parser, command))
    runner.register_observer(Evaluations(Judge(arguments, concurrent=True)))
    runner.init()
    runner.run()


if __name__ == "__main__":
    main()
