# SPDX-License-Identifier: Apache-2.0
"""Reads the failures that a file allows: no other may occur, and each must occur."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).parent


def read(file: str) -> list[str]:
    """Reads the lines "failure # cause". '*' in a failure stands for anything."""
    known = []
    for line in (_FOLDER / file).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        failure, mark, cause = line.partition(" # ")
        if not mark or not cause.strip():
            raise ValueError(f"{file}: no cause: {line}")
        known.append(failure.strip())
    return known


def matches(known: str, failure: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, known.split("*"))), failure) is not None


def differences(file: str, failures: list[str]) -> str:
    """Returns a line for each failure that is not listed, and for each listed one that is gone."""
    known = read(file)
    unknown = [f for f in failures if not any(matches(k, f) for k in known)]
    gone = [k for k in known if not any(matches(k, f) for f in failures)]
    lines = [f"not known: {failure}" for failure in sorted(unknown)]
    lines += [f"in {file} but gone: {failure}" for failure in sorted(gone)]
    return "\n".join(lines)
