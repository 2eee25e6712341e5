# SPDX-License-Identifier: Apache-2.0
"""Plays one environment, episode after episode, and turns it into rows in the order that proto/act.proto asks for."""
import collections
import time
from dataclasses import dataclass

import gymnasium
import numpy

from shoal_gym.messages import Flag


@dataclass(frozen=True, eq=False)
class Row:
    environment_id: int
    incarnation: int
    sequence: int
    episode_id: int
    reward: float
    flags: int
    observation: numpy.ndarray


class EndedEpisodes:
    """How many episodes have ended, and the returns of the last `window` of them."""

    def __init__(self, window):
        self.count = 0
        self._returns = collections.deque(maxlen=window)

    def add(self, total):
        self.count += 1
        self._returns.append(total)

    def mean_return(self):
        return sum(self._returns) / max(1, len(self._returns))


class OwnEpisodes:
    """The episodes of an environment in training: 0, 1, 2 and so on."""

    def __init__(self):
        self._next = 0

    def next(self):
        """Returns the number of the next episode."""
        self._next += 1
        return self._next - 1

    def again(self, number):
        """Hands out the episode `number`, and the later ones after it."""
        self._next = number + 1
        return number


class SharedEpisodes:
    """The episodes of an evaluation, each of which is played once, by whichever environment comes first."""

    def __init__(self, count):
        self._numbers = iter(range(count))

    def next(self):
        """Returns the number of the next episode, or None when the environment may rest."""
        return next(self._numbers, None)


class EpisodePlayer:
    """Plays `episodes`, of OwnEpisodes or SharedEpisodes. Episodes that end are added to `ended`.

    An episode is a function of (seed, its number, its stream), so that the same number gives the same episode.
    """

    def __init__(self, environment, environment_id, seed, episodes, ended):
        self.environment_id = environment_id
        # Later incarnations win: it is the time of the start, unless the server says otherwise.
        self.incarnation = time.time_ns()
        self._environment = environment
        self._seed = seed
        self._episodes = episodes
        self._ended = ended
        self._actions = environment.action_space
        self._sequence = 0
        self._episode_id = 0
        self._return = 0.0

    def _action_of(self, answer):
        if isinstance(self._actions, gymnasium.spaces.Discrete):
            return int(self._actions.start) + answer
        return answer.reshape(self._actions.shape).astype(self._actions.dtype)

    def begin(self):
        """Begins the next episode. Returns its first row in a list, which is empty when there is none."""
        episode = self._episodes.next()
        if episode is None:
            return []
        observation = self._reset(episode)
        self._episode_id += 1
        return [self._row(0.0, Flag["ROW_FLAG_FIRST"], observation)]

    def resume(self, resumed):
        """Goes on with an episode that the server knows (ResumedEpisode): begins it again and takes its actions. Returns
        the rows that follow the last one, or those of another episode where the environment is not the same again."""
        self.incarnation = resumed.incarnation
        other_sequence = max(self._sequence, resumed.next_sequence + 1)
        self._sequence = resumed.next_sequence
        self._episode_id = resumed.episode_id
        actions = list(resumed.actions)
        if resumed.box_actions:
            actions = numpy.array(resumed.box_actions, dtype="<f4").reshape(-1, *self._actions.shape)
        # A training episode's id is one more than its number.
        self._reset(self._episodes.again(resumed.episode_id - 1))
        for action in actions[:-1]:
            _, reward, terminated, truncated, _ = self._environment.step(self._action_of(action))
            self._return += float(reward)
            if terminated or truncated:
                self._sequence = other_sequence
                return self.begin()
        return self.step(actions[-1])

    def _reset(self, episode):
        # Gymnasium's seeds are below 2^31 for some environments.
        seed = int(numpy.random.SeedSequence((*self._seed, episode)).generate_state(1)[0] >> 1)
        observation, _ = self._environment.reset(seed=seed)
        self._return = 0.0
        return observation

    def step(self, action):
        """Takes the action that answered the last row. Returns the rows that follow: one within an episode; at its end
        the row that ends it and, where there is another episode, the row that begins it."""
        observation, reward, terminated, truncated, _ = self._environment.step(self._action_of(action))
        self._return += float(reward)
        if terminated:
            ending = self._row(reward, Flag["ROW_FLAG_TERMINATED"], numpy.zeros_like(observation))
        elif truncated:
            ending = self._row(reward, Flag["ROW_FLAG_TRUNCATED"] | Flag["ROW_FLAG_FINAL"], observation)
        else:
            return [self._row(reward, 0, observation)]
        self._ended.add(self._return)
        return [ending, *self.begin()]

    def close(self):
        self._environment.close()

    def _row(self, reward, flags, observation):
        space = self._environment.observation_space
        # A copy, as environments may write into the array that they returned.
        row = Row(self.environment_id, self.incarnation, self._sequence, self._episode_id, float(reward), flags,
                  numpy.array(observation, dtype=space.dtype))
        self._sequence += 1
        return row
