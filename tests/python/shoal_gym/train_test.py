# SPDX-License-Identifier: Apache-2.0
"""`shoal train` with an environment of Gymnasium: real processes on loopback. actor_test.sh runs this file."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request
from pathlib import Path

import installed_package
from actor_test import free_ports
from installed_package import ROOT
from serving_test import await_that, health_of

PROGRAMS = Path(os.environ.get("SHOAL_PROGRAMS", ROOT / "build/bin"))
LIMIT_SECONDS = 300


class TrainTest(unittest.TestCase):
    def train(self, *flags, environment):
        """Returns the exit code, what was printed, and the run's folder."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        done = subprocess.run(
            [PROGRAMS / "shoal", "train", "deploy/local/gymnasium.toml", "--seed", "1", "--name", "run",
             "--set", f'run.directory="{folder}"', *flags],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=LIMIT_SECONDS, check=False)
        return done.returncode, done.stdout, folder / "run"

    def test_a_run_starts_actors_in_python_and_judges_what_it_learned(self):
        code, output, run = self.train(
            "--set", f'environment.gymnasium.python="{sys.executable}"', "--set", "train.max_steps=60000", "--set",
            "cluster.actors=2", "--set", "actor.environments=16",
            environment=os.environ | {"PYTHONPATH": installed_package.folder()})
        self.assertEqual(code, 0, output)
        totals = json.loads((run / "result.json").read_text())["totals"]
        self.assertGreater(totals["learned"]["return"], 200, output)
        self.assertLess(totals["uniform"]["return"], 60, output)
        self.assertEqual(totals["learned"]["episodes"], 20)
        # shoal counts the steps that the actors serve as metrics.
        last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
        self.assertGreater(last["environment_steps"], 30000)
        self.assertTrue("environments wait for" in (run / "report.html").read_text(), output)
        opened = [line for line in (run / "logs/inference-0.log").read_text().splitlines()
                  if "event=stream_opened" in line and "shoal-gym-actor" in line]
        self.assertGreaterEqual(len(opened), 2)

    def test_a_python_without_the_package_ends_the_run_with_how_to_install_it(self):
        with tempfile.TemporaryDirectory() as empty:
            code, output, _ = self.train("--set", f'environment.gymnasium.python="{sys.executable}"',
                                         environment=os.environ | {"PYTHONPATH": empty})
        self.assertNotEqual(code, 0)
        self.assertIn("No module named 'shoal_gym'", output)
        self.assertIn("pip install ./python/shoal_gym", output)

    def test_a_missing_python_ends_the_run_and_names_the_knob(self):
        code, output, _ = self.train("--set", 'environment.gymnasium.python="/nowhere/python3"', environment=os.environ)
        self.assertNotEqual(code, 0)
        self.assertIn('environment.gymnasium.python: cannot start "/nowhere/python3"', output)

    def test_an_actor_imports_nothing_from_the_working_directory(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        for module in ("gymnasium", "shoal_gym"):
            (Path(folder) / f"{module}.py").write_text("raise SystemExit('from the working directory')\n")
        done = subprocess.run(
            [PROGRAMS / "actor", "--config", ROOT / "deploy/local/gymnasium.toml", "--set",
             'cluster.inference=["127.0.0.1:1"]', "--set", f'environment.gymnasium.python="{sys.executable}"', "--set",
             'environment.gymnasium.name="NoSuch-v0"'],
            cwd=folder, env=os.environ | {"PYTHONPATH": installed_package.folder()}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS, check=False)
        self.assertEqual(done.returncode, 78, done.stdout)
        self.assertIn("NoSuch", done.stdout)

    def test_an_actor_with_the_arguments_of_its_manifest_serves_health_and_metrics(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        health, metrics, nobody = (f"127.0.0.1:{port}" for port in free_ports(3))
        (folder / "servers").write_text(f"{nobody}\n")
        actor = subprocess.Popen(
            [PROGRAMS / "actor", "--config", ROOT / "deploy/local/gymnasium.toml", "--set",
             f"cluster.inference_file={folder}/servers", "--set", f"actor.health_listen={health}", "--set",
             f"actor.metrics_listen={metrics}", "--set", f'environment.gymnasium.python="{sys.executable}"'],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": installed_package.folder()}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(actor.wait)
        self.addCleanup(actor.kill)
        await_that(lambda: health_of(health)[0] == 0)
        with urllib.request.urlopen(f"http://{metrics}/metrics") as answer:
            self.assertIn("shoal_environment_steps_total 0", answer.read().decode())
        actor.terminate()
        self.assertEqual(actor.wait(LIMIT_SECONDS), 0)

    def test_an_environment_that_does_not_exist_ends_the_run_in_a_sentence(self):
        code, output, _ = self.train(
            "--set", f'environment.gymnasium.python="{sys.executable}"', "--set",
            'environment.gymnasium.name="NoSuch-v0"',
            environment=os.environ | {"PYTHONPATH": installed_package.folder()})
        self.assertNotEqual(code, 0)
        self.assertIn("NoSuch", output)


if __name__ == "__main__":
    unittest.main()
