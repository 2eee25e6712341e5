# SPDX-License-Identifier: Apache-2.0
"""Gymnasium's environments in the form that a Shoal policy acts in: one tensor is seen, and actions are numbers or vectors."""
import gymnasium
import numpy

from shoal_gym import messages

_DTYPES = {name.lower(): number for name, number in messages.DType.items()}


class UnsuitableEnvironment(Exception):
    """The environment has observations or actions that cannot be sent."""


def _preprocessed_atari(name):
    """Frames as DQN saw them (Mnih et al., Nature 518, 2015): uint8 [84, 84, 4], every fourth frame, the newest last."""
    try:
        import ale_py
        import cv2  # noqa: F401, AtariPreprocessing resizes with it
    except ImportError as error:
        raise UnsuitableEnvironment(f"{name} needs the extra atari: pip install 'shoal-gym[atari]' ({error})") from error
    gymnasium.register_envs(ale_py)
    game = gymnasium.make(name, frameskip=1)
    game = gymnasium.wrappers.AtariPreprocessing(game, noop_max=30, frame_skip=4, screen_size=84)
    game = gymnasium.wrappers.FrameStackObservation(game, 4)
    pixels = gymnasium.spaces.Box(0, 255, (84, 84, 4), numpy.uint8)
    return gymnasium.wrappers.TransformObservation(game, lambda frames: numpy.moveaxis(frames, 0, -1), pixels)


def make(name):
    """Makes the environment `name`, such as "CartPole-v1" or "ALE/Pong-v5".

    A name may begin with a module that registers it, as in "my_package:MyTask-v0". Observations that are no Box are
    flattened to one. Raises UnsuitableEnvironment, or gymnasium's own error for a name that it does not know.
    """
    environment = _preprocessed_atari(name) if name.startswith("ALE/") else gymnasium.make(name)
    if not isinstance(environment.observation_space, gymnasium.spaces.Box):
        if not environment.observation_space.is_np_flattenable:
            raise UnsuitableEnvironment(f"{name} has observations without a fixed size: {environment.observation_space}")
        environment = gymnasium.wrappers.FlattenObservation(environment)
    actions = environment.action_space
    bounded = isinstance(actions, gymnasium.spaces.Box) and actions.is_bounded() and (actions.low < actions.high).all()
    if not (isinstance(actions, gymnasium.spaces.Discrete) or bounded):
        raise UnsuitableEnvironment(f"{name} has the actions {actions}; only Discrete and a bounded Box can be sent")
    if str(environment.observation_space.dtype) not in _DTYPES:
        raise UnsuitableEnvironment(f"{name} has observations of {environment.observation_space.dtype}")
    return environment


def spec_of(environment):
    """Returns the message that announces the environment to inference."""
    seen = environment.observation_space
    spec = messages.EnvironmentSpec()
    spec.observations.add(name="numeric", dtype=_DTYPES[str(seen.dtype)], shape=seen.shape)
    actions = environment.action_space
    if isinstance(actions, gymnasium.spaces.Box):
        spec.action.box.low.extend(actions.low.ravel().tolist())
        spec.action.box.high.extend(actions.high.ravel().tolist())
    else:
        spec.action.discrete.count = int(actions.n)
    return spec
