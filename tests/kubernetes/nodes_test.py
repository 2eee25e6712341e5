# SPDX-License-Identifier: Apache-2.0
"""The learner of the overlay `elastic` on a machine without GPUs: a pod is lost with its volume, comes back and leaves,
while the other ones train on. Only what needs GPUs and the Redfish job is taken out of the manifests."""

import pathlib
import re
import shutil
import tempfile
import unittest
import urllib.request

import network
import sandbox
from manifests import build, pods

PATIENCE = 240
NODES = ["learner-0", "learner-1", "learner-2"]


class Nodes(unittest.TestCase):
    def setUp(self) -> None:
        objects = build("elastic")
        sandbox.without_gpus(objects, "StatefulSet", 1)
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.node = sandbox.Node(objects, pathlib.Path(folder))
        self.addCleanup(self.node.close)
        self.pods = {pod.name: pod for pod in pods(objects)}
        self.epoch = 0
        self.running = {name: self.start(name) for name in ("replay-0", "inference-0", "actor-0", *NODES)}

    def start(self, name: str) -> sandbox.Process:
        return self.node.start(self.pods[name])

    def acting(self) -> tuple[int, int]:
        """Returns the epoch and the step of the parameters by which inference acts, or zeros while it has none."""
        try:
            with urllib.request.urlopen(f"http://{self.running['inference-0'].address}:9100/metrics", timeout=5) as answer:
                text = answer.read().decode()
        except OSError:
            return 0, 0
        values = [re.search(rf"^shoal_inference_parameter_{name} (\S+)", text, re.MULTILINE) for name in ("epoch", "step")]
        return tuple(int(float(value[1])) if value else 0 for value in values)

    def await_parameters(self) -> None:
        """Waits until inference acts by parameters of a later epoch than it did before, and by some more of them after
        that. So it has found rank 0 of the newest group."""
        epoch = self.epoch
        self.assertTrue(network.eventually(lambda: self.acting()[0] > epoch, PATIENCE), self.node.logs())
        self.epoch, step = self.acting()
        self.assertTrue(network.eventually(lambda: self.acting() >= (self.epoch, step + 5), PATIENCE), self.node.logs())

    def await_group(self, name: str, ranks: int) -> None:
        """Waits until the newest group that the rank of a pod has been in is one of `ranks` ranks."""

        def joined() -> bool:
            groups = re.findall(r"event=epoch epoch=\d+ rank=\d+ ranks=(\d+)", self.running[name].output())
            return bool(groups) and int(groups[-1]) == ranks

        self.assertTrue(network.eventually(joined, PATIENCE), f"{name}, {ranks} ranks\n{self.node.logs()}")

    def test_nodes_come_and_go_and_inference_finds_rank_0_wherever_it_is(self) -> None:
        for name in NODES:
            self.await_group(name, 3)
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.node.await_probe(self.running[name], kind, PATIENCE)
        self.await_parameters()

        # The one at the first address of the rendezvous is lost, and so are its volume and whatever it did alone.
        self.running["learner-0"].kill()
        shutil.rmtree(self.node.claim("runs-learner-0"))
        for name in ("learner-1", "learner-2"):
            self.await_group(name, 2)
        self.await_parameters()

        self.running["learner-0"] = self.start("learner-0")
        for name in NODES:
            self.await_group(name, 3)
        self.await_parameters()

        self.assertEqual(self.running["learner-1"].stop(), 0, self.running["learner-1"].output())
        for name in ("learner-0", "learner-2"):
            self.await_group(name, 2)
        self.await_parameters()
        for name in ("learner-0", "learner-2"):
            self.assertNotIn("event=ranks_failed", self.running[name].output())


if __name__ == "__main__":
    network.enter()
    unittest.main()
