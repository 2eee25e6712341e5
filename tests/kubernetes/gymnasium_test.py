# SPDX-License-Identifier: Apache-2.0
"""Actors in Python with the arguments and probes of the manifests: they train, and move to another server of inference.

It needs .deps/gymnasium (deploy/install.sh install_gymnasium), which takes the place of the image's Python, and is skipped
without it."""

import pathlib
import sys
import tempfile
import unittest
import urllib.request
from collections.abc import Callable

import network
import sandbox
from manifests import ROOT, build_with, find, pods

PATIENCE = 120
PYTHON = ROOT / ".deps/gymnasium"


def install_package(folder: pathlib.Path) -> None:
    flags = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
    package = ROOT / "python/shoal_gym"
    network.run(PYTHON / "bin/python", "-m", "pip", "install", *flags, "--target", folder, package)


class Gymnasium(unittest.TestCase):
    def setUp(self) -> None:
        objects = build_with("dev", "gymnasium")
        find(objects, "StatefulSet", "inference")["spec"]["replicas"] = 2
        package = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        package.chmod(0o755)
        install_package(package)
        self.node = sandbox.Node(
            objects,
            pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())),
            [(PYTHON, "/shoal/python"), (package, "/shoal/package")],
            {"PATH": "/shoal/python/bin:/shoal/bin:/usr/bin:/bin", "PYTHONPATH": "/shoal/package"},
        )
        self.addCleanup(self.node.close)
        names = ("replay-0", "inference-0", "inference-1", "learner-0", "actor-0")
        self.running = {pod.name: self.node.start(pod) for pod in pods(objects) if pod.name in names}

    def published(self) -> int:
        files = self.node.claim("runs").glob("kubernetes/parameters/*.safetensors")
        return max((int(path.stem.split("-")[2]) for path in files), default=0)

    def await_that(self, holds: Callable[[], bool]) -> None:
        self.assertTrue(network.eventually(holds, PATIENCE), self.node.logs())

    def test_an_actor_in_python_is_probed_trains_moves_and_ends(self) -> None:
        actor = self.running["actor-0"]
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            for process in self.running.values():
                self.node.await_probe(process, kind, PATIENCE)
        self.await_that(lambda: self.published() >= 3)

        self.node.change("inference-servers", servers="inference-1.inference:5000\n")
        addresses = [self.running[name].address for name in ("inference-0", "inference-1")]
        self.await_that(lambda: [(one, 5000) in actor.connections() for one in addresses] == [False, True])
        trained = self.published()
        self.await_that(lambda: self.published() >= trained + 3)

        with urllib.request.urlopen(f"http://{actor.address}:9100/metrics", timeout=10) as answer:
            self.assertIn('shoal_act_rows_total{status="ok"}', answer.read().decode())
        self.assertTrue(actor.ready("readinessProbe"))
        self.assertEqual(actor.stop(), 0, actor.output())


if __name__ == "__main__":
    if not (PYTHON / "bin/python").exists():
        print("skipped: no .deps/gymnasium; type: deploy/install.sh install_gymnasium (0.3 GB)")
        sys.exit(network.SKIPPED)
    network.enter()
    unittest.main()
