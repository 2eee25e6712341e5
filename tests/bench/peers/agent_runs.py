# SPDX-License-Identifier: Apache-2.0
"""Runs whole trainings of ours and of other libraries as processes, and compares them."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A run that ended by itself and was not done."""


def processor_seconds(root):
    """Returns the processor time that a process and all that it has started have taken so far."""
    children, used = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(stat.parent.name), stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(rest[1]), []).append(pid)
        # utime, stime and those of children that have ended.
        used[pid] = sum(int(ticks) for ticks in rest[11:15])
    total, left = 0, [root]
    while left:
        pid = left.pop()
        total += used.get(pid, 0)
        left += children.get(pid, [])
    return total / TICKS


def lines_of(command, folder, seconds):
    """Runs a program until the limit and yields its lines, each with the seconds since its start and its process id."""
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)

    def end():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    too_long = threading.Event()
    limit = threading.Timer(seconds, lambda: (too_long.set(), end()))
    limit.start()
    last = ""
    try:
        for line in process.stdout:
            last = line.strip() or last
            yield time.monotonic() - start, line, process.pid
        if process.wait() != 0 and not too_long.is_set():
            raise Failed(f"exit code {process.returncode}: {last}")
    finally:
        limit.cancel()
        end()
        process.wait()


def end_runs_when_stopped():
    """Makes SIGTERM end the program as an interrupt does, so that lines_of ends the run that goes on."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def installed(environment):
    """Makes the environment of a peer if it is missing. Raises Failed with the reason."""
    command = ["deploy/install.sh", f"install_{environment}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        last = ""
        for line in process.stderr:
            sys.stderr.write(line)
            last = line.strip() or last
    if process.returncode != 0:
        raise Failed(f"cannot be installed: {last}")


def compared(bench, name, ours, peer, better):
    """Returns one line: medians, the median of the rounds' ratios, and the least and the most of each."""
    line = {"bench": bench, "peer_name": name, "rounds": len(ours)}
    ratios = [better(*pair) for pair in zip(ours, peer)]
    for label, values in (("ours", ours), ("peer", peer), ("ratio", ratios)):
        line[label] = round(statistics.median(values), 3)
        line[label + "_range"] = [round(min(values), 3), round(max(values), 3)]
    return line


def tell(line):
    print(json.dumps(line), flush=True)
