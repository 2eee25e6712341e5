# SPDX-License-Identifier: Apache-2.0
"""Proofs that take hours. A proof consists of pieces that run one after the other. It is resumable and ends in a table.

The measurements of a finished piece are kept as FOLDER/PIECE.json. An interrupted proof continues with the first piece
that has no such file, and an interrupted piece starts again. A piece that fails or takes too long counts as finished.
"""

import dataclasses
import json
import math
import operator
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import time
from typing import Callable

LIMIT_SECONDS = 2.5 * 3600
# The time that an interrupted program has to stop its own children.
GRACE_SECONDS = 30

COMPARISONS = {">=": operator.ge, "<=": operator.le}


@dataclasses.dataclass
class Piece:
    """A command; `{folder}` in its words and its environment is replaced by an empty folder of its own."""

    name: str
    command: list[str]
    # Returns the measurements by name, from the piece's folder and its output. Those without a bar may be words.
    measure: Callable[[pathlib.Path, str], dict[str, float | str]] = lambda folder, output: {}
    # The bars for measured values, such as {"success": (">=", 0.97)}.
    bars: dict[str, tuple[str, float]] = dataclasses.field(default_factory=dict)
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    limit_seconds: float = LIMIT_SECONDS


def measure_last_line(_, output):
    """The measurements of a piece whose command prints them as one line of JSON at its end."""
    return json.loads(output.splitlines()[-1])


@dataclasses.dataclass
class Group:
    """Pieces that differ in their seed alone, such as ppo-1 and ppo-2 of the group ppo. Of these enough have to hold."""

    name: str
    least: int
    # The bars for medians over the pieces.
    medians: dict[str, tuple[str, float]] = dataclasses.field(default_factory=dict)

    def has(self, piece):
        return piece.rpartition("-")[0] == self.name


@dataclasses.dataclass
class Proof:
    name: str
    # One line: what the proof shows, how long it takes, and which test covers it in CI.
    says: str
    pieces: list[Piece]
    # Pieces of no group all have to hold.
    groups: list[Group] = dataclasses.field(default_factory=list)


def only(whole, names):
    """Returns a proof of these groups and pieces alone. Raises a ValueError for a name that the proof has not."""
    groups = [group for group in whole.groups if group.name in names]
    pieces = [piece for piece in whole.pieces if piece.name in names or any(group.has(piece.name) for group in groups)]
    known = {*(group.name for group in whole.groups), *(piece.name for piece in whole.pieces)}
    if unknown := [name for name in names if name not in known]:
        alone = [piece.name for piece in whole.pieces if not any(group.has(piece.name) for group in whole.groups)]
        there = ", ".join([*(group.name for group in whole.groups), *alone])
        raise ValueError(f"{whole.name} has no group or piece {', '.join(unknown)}; there are: {there}")
    return dataclasses.replace(whole, pieces=pieces, groups=groups)


def forget(proof, folder):
    """Removes what is finished of the proof's pieces."""
    for piece in proof.pieces:
        (folder / f"{piece.name}.json").unlink(missing_ok=True)


def stop(process):
    """Ends a program and everything that it started."""
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_piece(piece, folder):
    """Runs the piece and returns its measurements, and why it failed if it did."""
    own = folder / piece.name
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    log = folder / f"{piece.name}.log"
    command = [word.replace("{folder}", str(own)) for word in piece.command]
    environment = {name: value.replace("{folder}", str(own)) for name, value in piece.environment.items()}
    started = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, **environment})
        try:
            code = process.wait(piece.limit_seconds)
        except subprocess.TimeoutExpired:
            stop(process)
            return {}, f"took more than {piece.limit_seconds:.0f} s, see {log}"
        except BaseException:
            stop(process)
            raise
    if code != 0:
        return {}, f"exit code {code}, see {log}"
    try:
        values = piece.measure(own, log.read_text(errors="replace"))
    except (OSError, ValueError, LookupError, ArithmeticError) as error:
        return {}, f"nothing to measure: {error!r}, see {log}"
    return {"minutes": (time.monotonic() - started) / 60, **values}, ""


def broken_bars(bars, values):
    return [name for name, (sign, bound) in bars.items()
            if name not in values or not COMPARISONS[sign](values[name], bound)]


def run(proof, folder, say=print):
    """Runs the pieces that are not finished, prints the table and returns whether all bars hold."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for piece in proof.pieces:
        kept = folder / f"{piece.name}.json"
        if not kept.exists():
            say(f"{proof.name}: {piece.name}", flush=True)
            values, failure = run_piece(piece, folder)
            partial = kept.with_suffix(".partial")
            partial.write_text(json.dumps({"values": values, "failure": failure}))
            partial.rename(kept)
        result = json.loads(kept.read_text())
        broken = broken_bars(piece.bars, result["values"])
        verdict = result["failure"] or ("misses " + ", ".join(broken) if broken else "holds")
        rows.append((piece.name, result["values"], verdict))
    groups = [group_row(group, rows) for group in proof.groups]
    spreads = [row for group, median in zip(proof.groups, groups) for row in (*spread_rows(group, rows), median)]
    print_table(proof, rows + spreads, say)
    alone = [row for row in rows if not any(group.has(row[0]) for group in proof.groups)]
    return all(verdict.startswith("holds") for _, _, verdict in alone + groups)


def over_group(group, rows, summarize):
    """Returns a summary of each measurement over the group's pieces. A piece without one counts as infinite."""
    own = [values for name, values, _ in rows if group.has(name)]
    names = dict.fromkeys(name for values in own for name in values)
    return {name: summarize(values.get(name, math.inf) for values in own) for name in names}


def spread_rows(group, rows):
    return [(f"{group.name} {name}", over_group(group, rows, summarize), "")
            for name, summarize in (("min", min), ("max", max))]


def group_row(group, rows):
    """Returns the medians of a group's pieces, and whether enough of these hold."""
    own = [row for row in rows if group.has(row[0])]
    medians = over_group(group, rows, statistics.median)
    holding = sum(verdict == "holds" for _, _, verdict in own)
    missed = broken_bars(group.medians, medians)
    verdict = "misses" if holding < group.least else "holds"
    if missed:
        verdict = "misses the median of " + ", ".join(missed)
    return f"{group.name} median", medians, f"{verdict} ({holding} of {len(own)}, {group.least} needed)"


def cell(value):
    return value if isinstance(value, str) else f"{value:.3f}"


def print_table(proof, rows, say):
    bars = {name: f"{name} {sign} {bound:g}" for piece in proof.pieces for name, (sign, bound) in piece.bars.items()}
    names = list(dict.fromkeys([*bars, *(name for _, values, _ in rows for name in values)]))
    table = [["piece", *(bars.get(name, name) for name in names), "verdict"]]
    for piece, values, verdict in rows:
        table.append([piece, *(cell(values[name]) if name in values else "" for name in names), verdict])
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        say("  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip())
