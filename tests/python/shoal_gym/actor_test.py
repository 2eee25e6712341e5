# SPDX-License-Identifier: Apache-2.0
"""The actor in Python with real processes on loopback. tests/python/shoal_gym/actor_test.sh runs this file."""
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import installed_package
from installed_package import ROOT

PROGRAMS = Path(os.environ.get("SHOAL_PROGRAMS", ROOT / "build/bin"))
LIMIT_SECONDS = 240


def free_ports(count):
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def with_package():
    return os.environ | {"PYTHONPATH": installed_package.folder()}


class Cluster:
    """Inference, replay and learner of CartPole without actors."""

    def __init__(self, test, *settings):
        self.folder = Path(test.enterContext(tempfile.TemporaryDirectory()))
        inference, replay, learner = (f"127.0.0.1:{port}" for port in free_ports(3))
        self.inference_address = inference
        self._flags = ["--config", str(ROOT / "deploy/local/cartpole.toml")]
        for setting in (f'cluster.inference=["{inference}"]', f'cluster.replay=["{replay}"]',
                        f'cluster.learner="{learner}"', f'run.directory="{self.folder}"', *settings):
            self._flags += ["--set", setting]
        self._test = test
        self.start("replay")
        self.start("learner")
        self.inference = self.start("inference")

    def start(self, program):
        with open(self.folder / f"{program}.log", "ab") as log:
            process = subprocess.Popen([PROGRAMS / program, *self._flags], cwd=ROOT, stdout=log, stderr=log)
        self._test.addCleanup(process.wait)
        self._test.addCleanup(process.kill)
        return process

    def logs(self):
        return "\n".join(f"{log.name}:\n{log.read_text()[-3000:]}" for log in self.folder.glob("*.log"))


class ActorTest(unittest.TestCase):
    def start_actor(self, address, *flags, log):
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, f"{installed_package.folder()}/bin/shoal-gym-actor", "--inference", address, *flags],
                stdout=output, stderr=subprocess.STDOUT, env=with_package())
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_actor(self, address, *flags):
        """Returns the exit code and what was printed."""
        log = Path(self.enterContext(tempfile.TemporaryDirectory())) / "actor.log"
        code = self.start_actor(address, *flags, log=log).wait(LIMIT_SECONDS)
        return code, log.read_text()

    def evaluate(self, cluster):
        code, output = self.run_actor(cluster.inference_address, "--environment", "CartPole-v1", "--evaluate", "20",
                                      "--seed", "5")
        self.assertEqual(code, 0, output + cluster.logs())
        result = re.search(r"^result episodes=20 return=([0-9.]+)$", output, re.MULTILINE)
        self.assertIsNotNone(result, output)
        return float(result[1])

    def test_a_cluster_learns_cartpole_of_gymnasium_from_this_actor(self):
        cluster = Cluster(self)
        before = self.evaluate(cluster)
        code, output = self.run_actor(cluster.inference_address, "--environment", "CartPole-v1", "--environments", "32",
                                      "--seed", "1", "--steps", "60000")
        self.assertEqual(code, 0, output + cluster.logs())
        after = self.evaluate(cluster)
        self.assertLess(before, 150, cluster.logs())
        self.assertGreater(after, 300, output + cluster.logs())

    def test_an_actor_goes_on_when_inference_starts_anew_and_ends_when_told(self):
        cluster = Cluster(self)
        log = cluster.folder / "actor.log"
        actor = self.start_actor(cluster.inference_address, "--environment", "CartPole-v1", log=log)
        opened = cluster.folder / "inference.log"
        self.await_text(opened, "event=stream_opened", 1, cluster)
        cluster.inference.send_signal(signal.SIGKILL)
        cluster.inference.wait()
        cluster.start("inference")
        self.await_text(opened, "event=stream_opened", 2, cluster)
        code, output = self.run_actor(cluster.inference_address, "--environment", "CartPole-v1", "--steps", "200",
                                      "--first-environment", "100")
        self.assertEqual(code, 0, output + cluster.logs())
        self.assertIsNone(actor.poll(), log.read_text())
        actor.send_signal(signal.SIGTERM)
        self.assertEqual(actor.wait(LIMIT_SECONDS), 0)

    def await_text(self, file, text, times, cluster):
        limit = time.monotonic() + LIMIT_SECONDS
        while file.read_text().count(text) < times:
            if time.monotonic() > limit:
                self.fail(f"{text} did not come {times} times\n{cluster.logs()}")
            time.sleep(0.05)

    def test_an_environment_that_the_policy_does_not_fit_is_refused_in_a_sentence(self):
        cluster = Cluster(self)
        code, output = self.run_actor(cluster.inference_address, "--environment", "Acrobot-v1")
        self.assertEqual(code, 2)
        self.assertIn("error: the policy has 2 actions, the environment 3", output)

        code, output = self.run_actor(cluster.inference_address, "--environment", "Pendulum-v1")
        self.assertEqual(code, 2)
        self.assertIn("error: the policy has discrete actions, the environment has another kind", output)

    def test_unknown_names_are_refused_before_connecting(self):
        code, output = self.run_actor("127.0.0.1:1", "--environment", "NoSuch-v0")
        self.assertEqual(code, 78)
        self.assertIn("error: ", output)
        self.assertIn("NoSuch", output)

    def test_frames_of_atari_are_bytes_of_84_by_84_by_4(self):
        code = ("from shoal_gym import environment\n"
                "pong = environment.make('ALE/Pong-v5')\n"
                "seen, _ = pong.reset(seed=1)\n"
                "frames = [pong.step(0)[0] for _ in range(30)]\n"
                "assert all((old[..., 1:] == new[..., :-1]).all() for old, new in zip(frames, frames[1:]))\n"
                "print(seen.dtype, seen.shape, frames[-1].max() > 0, environment.spec_of(pong))\n")
        output = subprocess.run([sys.executable, "-c", code], env=with_package(), text=True, capture_output=True,
                                check=True).stdout
        self.assertTrue(output.startswith("uint8 (84, 84, 4) True"), output)
        self.assertIn("dtype: UINT8", output)


if __name__ == "__main__":
    unittest.main()
