# SPDX-License-Identifier: Apache-2.0
"""Trains a job, simulates the same cluster with the costs that the run has measured, and prints both as one line of JSON.

    python3 tests/bars/predicted_speed.py FOLDER FILE [--preset NAME] [--minutes N] [--set section.key=value]... [--costs RUN]

Unless costs of another run are given, the costs and the measured rate are of the same seconds: the second half of the run's
measurements. The machine that is simulated has as many processors as other programs left to the run in these seconds.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading

SHOAL = "build/bin/shoal"
# Nothing but training goes on, and for as long as it was told to.
TRAIN_ALONE = ["train.evaluate_every_seconds=0", "train.evaluate_every_steps=0", "train.final_episodes=1",
               "train.baselines=[]"]
CPU_SECONDS = "process_cpu_seconds/"


def flags_of(settings):
    return [word for setting in settings for word in ("--set", setting)]


def is_steady(row):
    """As MeasureRun of cli/simulation sees it."""
    return row.get("details", {}).get("learner_rows_per_second", 0) > 0


def second_half(rows):
    """Returns the positions of the rows from which costs are measured."""
    steady = [position for position, row in enumerate(rows) if is_steady(row)]
    return steady[len(steady) // 2:]


def rows_in(file):
    if not file.exists():
        return []
    whole, _, _ = file.read_text().rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def busy_seconds(stat):
    """Returns the seconds that all processors were busy since the machine began, from the text of /proc/stat."""
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in stat.splitlines()[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


class Machine(threading.Thread):
    """Notes each second how many rows the run has written, and how busy all processors were until then."""

    def __init__(self, file):
        super().__init__(daemon=True)
        self.file = file
        self.notes = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(1):
            busy = busy_seconds(pathlib.Path("/proc/stat").read_text())
            uptime = float(pathlib.Path("/proc/uptime").read_text().split()[0])
            self.notes.append((len(rows_in(self.file)), uptime, busy))

    def busy_between(self, first, last):
        """Returns how many processors were busy while rows `first` to `last` were written."""
        during = [note for note in self.notes if first < note[0] <= last + 1]
        if len(during) < 2:
            sys.exit("the run's measurements came too fast to be noted: give it more --minutes")
        return (during[-1][2] - during[0][2]) / (during[-1][1] - during[0][1])


def mean(rows, key):
    values = [row["details"].get(key, row.get(key)) for row in rows]
    return statistics.fmean(value for value in values if value is not None)


def programs_of(rows):
    """Returns how many processors each program kept busy."""
    keys = {key for row in rows for key in row["details"] if key.startswith(CPU_SECONDS)}
    return {key.removeprefix(CPU_SECONDS): mean(rows, key) for key in keys}


def most(shares):
    name = max(shares, key=shares.get)
    return f"{name} {shares[name]:.2f}"


def compare(rows, busy, simulate):
    """`simulate` returns the simulation's result for so many processors."""
    programs = programs_of(rows)
    count = os.cpu_count()
    free = max(0.05, count - max(0.0, busy - sum(programs.values())))
    result = simulate(free)
    measured = mean(rows, "environment_steps_per_second")
    ratio = result["environment_steps_per_second"] / measured
    return {"measured": measured, "simulated": result["environment_steps_per_second"], "ratio": ratio, "off": abs(ratio - 1),
            "processors": free, "used": sum(programs.values()), "first": result["limit"],
            "simulated_most": most(result["processor_time"]), "measured_most": most(programs)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("file")
    parser.add_argument("--preset")
    parser.add_argument("--minutes", default="1")
    parser.add_argument("--costs", help="folder of another run")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    arguments = parser.parse_args()
    cluster = [arguments.file, *(["--preset", arguments.preset] if arguments.preset else []), *flags_of(arguments.settings)]
    run = arguments.folder / "run"
    machine = Machine(run / "metrics.jsonl")
    machine.start()
    subprocess.run([SHOAL, "train", *cluster, "--seed", "1", "--name", "run", "--minutes", arguments.minutes,
                    *flags_of([f'run.directory="{arguments.folder}"', *TRAIN_ALONE])], check=True)
    machine.ended.set()
    rows = rows_in(run / "metrics.jsonl")
    positions = second_half(rows)

    def simulate(processors):
        command = [SHOAL, "simulate", *cluster, "--costs", arguments.costs or str(run), "--processors", f"{processors:.4f}",
                   "--seconds", "120", "--format", "json"]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    found = compare([rows[position] for position in positions], machine.busy_between(positions[0], positions[-1]), simulate)
    print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
