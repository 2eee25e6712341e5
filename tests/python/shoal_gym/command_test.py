# SPDX-License-Identifier: Apache-2.0
"""How the program shoal-gym-actor ends when an environment of somebody's own fails. actor_test.sh runs this file."""
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import installed_package
from actor_test import with_package
from protocol_test import Server

LIMIT_SECONDS = 60
ENVIRONMENTS = '''
import gymnasium
import numpy


class Failing(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (1,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, at_start):
        if at_start:
            raise AttributeError("no track.png,\\nno car.png")

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(1, numpy.float32), {}

    def step(self, action):
        raise OSError("the simulator has gone")


gymnasium.register("AtStart-v0", Failing, kwargs={"at_start": True})
gymnasium.register("InStep-v0", Failing, kwargs={"at_start": False})
'''


def setUpModule():
    installed_package.folder()


class CommandTest(unittest.TestCase):
    def run_actor(self, address, name, *flags):
        """Returns the exit code and what was printed."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        (Path(folder) / "failing_environments.py").write_text(ENVIRONMENTS)
        environment = with_package()
        environment["PYTHONPATH"] += f":{folder}"
        done = subprocess.run(
            [sys.executable, f"{installed_package.folder()}/bin/shoal-gym-actor", "--inference", address, "--environment",
             f"failing_environments:{name}", *flags],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS, check=False)
        return done.returncode, done.stdout

    def test_an_environment_whose_constructor_raises_anything_ends_the_program_for_good_in_a_sentence(self):
        code, output = self.run_actor("127.0.0.1:1", "AtStart-v0")
        self.assertEqual(code, 78, output)
        self.assertEqual(output.splitlines(), ["error: failing_environments:AtStart-v0 cannot be made: AttributeError: "
                                               "no track.png, no car.png"])

    def test_an_environment_that_fails_while_it_is_played_ends_the_program_so_that_it_is_started_again(self):
        for flags in ((), ("--evaluate", "2")):
            server = Server(self, lambda connection, row: 0)
            code, output = self.run_actor(server.address, "InStep-v0", *flags)
            self.assertEqual(code, 1, output)
            self.assertIn("OSError: the simulator has gone", output)

    def test_an_address_of_metrics_that_is_in_use_is_refused_in_a_sentence(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            code, output = self.run_actor("127.0.0.1:1", "InStep-v0", "--metrics", address)
        self.assertEqual(code, 2, output)
        self.assertTrue(output.startswith(f"error: --metrics {address}: "), output)


if __name__ == "__main__":
    unittest.main()
