#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes classic_control.csv: episodes of PyPI's gymnasium.

  .deps/gymnasium/bin/python tests/golden/classic_control_golden.py [--output FILE]

tests/actor/environments/classic/classic_control_golden_test.cc reads the file. A line is the start of an episode or a step:
  environment,episode,action,reward,terminated,truncated,state...,observation...
The state and the observation are those after the step; their numbers are separated by spaces. At a start the action is
empty. States are float64, observations and the pendulum's torques float32, all with as many digits as tell them apart.
"""
import argparse
from pathlib import Path

import gymnasium
import numpy

ROOT = Path(__file__).resolve().parents[2]


def balance(state, draw):
    position, velocity, angle, turning = state
    return int(angle + 0.5 * turning + 0.05 * position + 0.1 * velocity > 0)


def pump_acrobot(state, draw):
    return 2 if state[2] < 0 else 0


def follow_velocity(state, draw):
    return 2 if state[1] >= 0 else 0


def run_into_the_left_end(state, draw):
    if draw.uniform() < 0.1:
        return 1
    return 0 if state[0] > 0.2 else follow_velocity(state, draw)


def swing(state, draw):
    angle, velocity = state
    upright = (angle + numpy.pi) % (2 * numpy.pi) - numpy.pi
    if abs(upright) < 0.4:
        return numpy.array([-12 * upright - 3 * velocity], dtype=numpy.float32)
    return numpy.array([2 if velocity > 0 else -2], dtype=numpy.float32)


def any_torque(state, draw):
    return draw.uniform(-3, 3, size=1).astype(numpy.float32)


def any_of(count):
    return lambda state, draw: int(draw.integers(count))


# For each environment a policy that ends an episode and one that runs into the limit of time, where both exist.
EPISODES = [("CartPole-v1", any_of(2)), ("CartPole-v1", balance), ("Acrobot-v1", pump_acrobot), ("Acrobot-v1", any_of(3)),
            ("MountainCar-v0", follow_velocity), ("MountainCar-v0", run_into_the_left_end), ("Pendulum-v1", any_torque),
            ("Pendulum-v1", swing)]


def numbers(values):
    return " ".join(str(value) for value in numpy.asarray(values))


def play(name, policy, episode):
    environment = gymnasium.make(name)
    draw = numpy.random.default_rng(episode)
    observation, _ = environment.reset(seed=episode)
    state = numpy.asarray(environment.unwrapped.state, dtype=numpy.float64)
    yield f"{name},{episode},,0,0,0,{numbers(state)},{numbers(observation)}"
    ended = False
    while not ended:
        action = policy(state, draw)
        observation, reward, terminated, truncated, _ = environment.step(action)
        state = numpy.asarray(environment.unwrapped.state, dtype=numpy.float64)
        taken = action[0] if isinstance(action, numpy.ndarray) else action
        yield (f"{name},{episode},{taken},{reward},{int(terminated)},{int(truncated)},"
               f"{numbers(state)},{numbers(observation)}")
        ended = terminated or truncated


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", default=ROOT / "tests/golden/classic_control.csv", type=Path)
    arguments = parser.parse_args()
    lines = [line for episode, (name, policy) in enumerate(EPISODES) for line in play(name, policy, episode)]
    arguments.output.write_text("".join(line + "\n" for line in lines))
    print(f"{len(lines)} lines")


if __name__ == "__main__":
    main()
