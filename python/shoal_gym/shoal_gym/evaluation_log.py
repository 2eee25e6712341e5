# SPDX-License-Identifier: Apache-2.0
"""The file of an evaluation, one JSON object a line, as `shoal` reads it (actor/loop/evaluation_log.h of the repository):
first how many episodes are planned, then each episode that ended."""
import json
from pathlib import Path


class EvaluationLog:
    """Each line is flushed at once, so a reader sees only whole lines."""

    def __init__(self, path, environment, episodes):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "w", encoding="utf-8")
        self._environment = environment
        self._write({"pairs": 1, "episodes": episodes})

    def add(self, episode, steps, total):
        self._write({"policy": episode.policy, "goal": "", "capture": self._environment, "episode": episode.number,
                     "steps": steps, "return": total})

    def close(self):
        self._file.close()

    def _write(self, line):
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
