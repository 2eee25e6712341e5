# SPDX-License-Identifier: Apache-2.0
"""The commands of a piece that trains or evaluates in its own folder, and the numbers of the line that they end with."""

import os
import re

SHOAL = os.environ.get("SHOAL_PROGRAMS", "build/bin") + "/shoal"


def train(preset, seed, *more):
    return [SHOAL, "train", f"deploy/local/{preset}.toml", "--seed", str(seed), "--name", "run",
            "--set", 'run.directory="{folder}"', *more]


def number_in_line(key, line):
    """Returns the number, which may be nan or inf. Raises a ValueError where there is none."""
    found = re.search(rf"\b{key}=(\S+)", line)
    if found is None:
        raise ValueError(f"no {key}= in {line!r}")
    return float(found[1])


def evaluate(run, seed, *more):
    return [SHOAL, "evaluate", run, "--seed", str(seed), "--name", "run", "--set", 'run.directory="{folder}"', *more]
