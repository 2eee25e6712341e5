# SPDX-License-Identifier: Apache-2.0
"""The learner of the overlay `multi-gpu` on a machine without GPUs: its pods form one group, end when one of them is
drained, and go on from the checkpoint. Only what needs GPUs and the Redfish job is taken out of the manifests."""

import pathlib
import re
import tempfile
import unittest

import network
import sandbox
from manifests import RESTART_ATTEMPT, build, pod_spec, pods

PATIENCE = 240
RANKS_OF_A_NODE = 2


class Ranks(unittest.TestCase):
    def setUp(self) -> None:
        objects = build("multi-gpu")
        sandbox.without_gpus(objects, "JobSet", RANKS_OF_A_NODE)
        container = pod_spec(objects, "JobSet", "learner")["containers"][0]
        next(one for one in container["env"] if one["name"] == "WORLD_SIZE")["value"] = str(2 * RANKS_OF_A_NODE)
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.node = sandbox.Node(objects, pathlib.Path(folder))
        self.addCleanup(self.node.close)
        self.pods = {pod.name: pod for pod in pods(objects)}
        for name in ("replay-0", "inference-0", "actor-0"):
            self.node.start(self.pods[name])

    def start_learner(self) -> list[sandbox.Process]:
        return [self.node.start(self.pods[name]) for name in ("learner-node-0-0", "learner-node-0-1")]

    def updates(self) -> int:
        """Returns the number of updates in the newest checkpoint, or 0."""
        names = [path.name for path in self.node.claim("runs").glob("kubernetes/checkpoints/*")]
        return max((int(found[0]) for name in names if (found := re.findall(r"\d+", name))), default=0)

    def train(self, learner: list[sandbox.Process], until: int) -> None:
        for process in learner:
            for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.node.await_probe(process, kind, PATIENCE)
        self.assertTrue(network.eventually(lambda: self.updates() >= until, PATIENCE), self.node.logs())

    def test_a_node_that_is_drained_ends_the_group_and_a_new_group_goes_on(self) -> None:
        first = self.start_learner()
        self.train(first, until=1)
        # What a Job takes for failed: the set must not count as complete.
        self.assertEqual(first[1].stop(), 143, first[1].output())
        self.assertEqual(first[0].child.wait(PATIENCE), 0, first[0].output())
        trained = self.updates()
        began = re.search(r"event=epoch epoch=(\d+)", first[0].output())
        assert began is not None
        following = int(began[1]) + 1
        for name in ("learner-node-0-0", "learner-node-0-1"):
            self.pods[name].annotations[RESTART_ATTEMPT] = "1"
        second = self.start_learner()
        self.train(second, until=trained + 1)
        for number, process in enumerate(second):
            self.assertIn("event=group_started epoch=1 ", process.output())
            for rank in range(number * RANKS_OF_A_NODE, (number + 1) * RANKS_OF_A_NODE):
                epoch = rf"index={rank} event=epoch epoch={following} rank={rank} ranks={2 * RANKS_OF_A_NODE}"
                self.assertRegex(process.output(), epoch)
                self.assertRegex(process.output(), rf"index={rank} event=resumed update={trained}")


if __name__ == "__main__":
    network.enter()
    unittest.main()
