# SPDX-License-Identifier: Apache-2.0
"""Reads the failures that known_failures.txt allows: no other may occur, and each must occur."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

_FILE = Path(__file__).with_name("known_failures.txt")


@dataclass(frozen=True, order=True)
class Failure:
    """A failure. `path` is a property's path in the resource, or "-" for the whole resource."""

    uri: str
    path: str
    kind: str

    def __str__(self) -> str:
        return f"{self.uri} {self.path} {self.kind}"


def read() -> list[Failure]:
    """Reads the lines "uri path kind # cause". '*' in a URI stands for anything."""
    known = []
    for line in _FILE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        failure, mark, cause = line.partition(" # ")
        uri, path, kind = failure.split(maxsplit=2)
        if not mark or not cause.strip():
            raise ValueError(f"{_FILE.name}: no cause: {line}")
        known.append(Failure(uri, path, kind.strip()))
    return known


def matches(known: Failure, failure: Failure) -> bool:
    same_place = fnmatchcase(failure.uri, known.uri) and failure.path == known.path
    return same_place and failure.kind == known.kind


def differences(failures: list[Failure]) -> str:
    """Returns a line for each failure that is not listed, and for each listed one that is gone."""
    known = read()
    unknown = [f for f in failures if not any(matches(k, f) for k in known)]
    gone = [k for k in known if not any(matches(k, f) for f in failures)]
    lines = [f"not known: {failure}" for failure in sorted(unknown)]
    lines += [f"in {_FILE.name} but gone: {failure}" for failure in sorted(gone)]
    return "\n".join(lines)
