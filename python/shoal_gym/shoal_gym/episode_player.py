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
    # The policy that answers in an evaluation, as command.py names it.
    policy: str


@dataclass(frozen=True)
class Episode:
    """An episode that is to be played: its number, from which its start follows, and the policy that acts."""
    number: int
    policy: str = "current"


class EndedEpisodes:
    """How many episodes have ended, and the returns of the last `window` of them.

    `on_end(episode, steps, total)` is called for each.
    """

    def __init__(self, window, on_end=lambda episode, steps, total: None):
        self.count = 0
        self._on_end = on_end
        self._returns = collections.deque(maxlen=window)

    def add(self, episode, steps, total):
        self.count += 1
        self._returns.append(total)
        self._on_end(episode, steps, total)

    def mean_return(self):
        return sum(self._returns) / max(1, len(self._returns))


class OwnEpisodes:
    """The episodes of an environment in training: 0, 1, 2 and so on."""

    def __init__(self):
        self._next = 0

    def next(self):
        self._next += 1
        return Episode(self._next - 1)

    def again(self, number):
        """Hands out the episode `number`, and the later ones after it."""
        self._next = number + 1
        return Episode(number)

    def give_back(self, episode):
        """An episode that did not end is not played again."""


class SharedEpisodes:
    """The episodes of an evaluation: the same numbers under each of `policies`, in turn, so that one is never far ahead
    of another. Each is played once, by whichever environment comes first.

    From `seconds` after the first one on, the first episode of each policy is handed out alone; 0 for no such limit.
    """

    def __init__(self, count, policies=("current",), seconds=0):
        self._left = collections.deque(Episode(number, policy) for number in range(count) for policy in policies)
        self._seconds = seconds
        self._begun = None

    def next(self):
        """Returns the next episode, or None when the environment may rest."""
        self._begun = self._begun or time.monotonic()
        over = self._seconds > 0 and time.monotonic() - self._begun > self._seconds
        while self._left:
            episode = self._left.popleft()
            if not over or episode.number == 0:
                return episode
        return None

    def again(self, number):
        """Returns None: an evaluation plays an episode from its start instead."""

    def give_back(self, episode):
        """Hands out an episode again that did not end."""
        self._left.appendleft(episode)


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
        self._episode = None
        self._steps = 0
        self._return = 0.0

    def _action_of(self, answer):
        if isinstance(self._actions, gymnasium.spaces.Discrete):
            return int(self._actions.start) + answer
        return answer.reshape(self._actions.shape).astype(self._actions.dtype)

    def begin(self):
        """Begins the next episode. Returns its first row in a list, which is empty when there is none."""
        self._episode = self._episodes.next()
        if self._episode is None:
            return []
        observation = self._reset()
        self._episode_id += 1
        return [self._row(0.0, Flag["ROW_FLAG_FIRST"], observation)]

    def begin_again(self):
        """The same after a server has forgotten the episode under way, if there is one."""
        self.give_up()
        return self.begin()

    def give_up(self):
        """Leaves the episode under way, if there is one, to other environments."""
        if self._episode is not None:
            self._episodes.give_back(self._episode)
        self._episode = None

    def rests(self):
        """Returns whether no episode is under way."""
        return self._episode is None

    def resume(self, resumed):
        """Goes on with an episode that the server knows (ResumedEpisode): begins it again and takes its actions. Returns
        the rows that follow the last one, or those of another episode in an evaluation and where the environment is not the
        same again."""
        self.incarnation = resumed.incarnation
        other_sequence = max(self._sequence, resumed.next_sequence + 1)
        self._sequence = resumed.next_sequence
        self._episode_id = resumed.episode_id
        actions = list(resumed.actions)
        if resumed.box_actions:
            actions = numpy.array(resumed.box_actions, dtype="<f4").reshape(-1, *self._actions.shape)
        # A training episode's id is one more than its number.
        episode = self._episodes.again(resumed.episode_id - 1)
        if episode is None:
            self._sequence = other_sequence
            return self.begin_again()
        self._episode = episode
        self._reset()
        for action in actions[:-1]:
            _, reward, terminated, truncated, _ = self._environment.step(self._action_of(action))
            self._steps += 1
            self._return += float(reward)
            if terminated or truncated:
                self._sequence = other_sequence
                return self.begin()
        return self.step(actions[-1])

    def _reset(self):
        # Gymnasium's seeds are below 2^31 for some environments.
        seed = int(numpy.random.SeedSequence((*self._seed, self._episode.number)).generate_state(1)[0] >> 1)
        observation, _ = self._environment.reset(seed=seed)
        self._steps = 0
        self._return = 0.0
        return observation

    def step(self, action):
        """Takes the action that answered the last row. Returns the rows that follow: one within an episode; at its end
        the row that ends it and, where there is another episode, the row that begins it."""
        observation, reward, terminated, truncated, _ = self._environment.step(self._action_of(action))
        self._steps += 1
        self._return += float(reward)
        if terminated:
            ending = self._row(reward, Flag["ROW_FLAG_TERMINATED"], numpy.zeros_like(observation))
        elif truncated:
            ending = self._row(reward, Flag["ROW_FLAG_TRUNCATED"] | Flag["ROW_FLAG_FINAL"], observation)
        else:
            return [self._row(reward, 0, observation)]
        self._ended.add(self._episode, self._steps, self._return)
        return [ending, *self.begin()]

    def _row(self, reward, flags, observation):
        space = self._environment.observation_space
        # A copy, as environments may write into the array that they returned.
        row = Row(self.environment_id, self.incarnation, self._sequence, self._episode_id, float(reward), flags,
                  numpy.array(observation, dtype=space.dtype), self._episode.policy)
        self._sequence += 1
        return row
