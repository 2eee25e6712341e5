# SPDX-License-Identifier: Apache-2.0
"""The overlay `dev` trains: the commands of its manifests run as they stand, each pod in namespaces of its own."""

import pathlib
import re
import tempfile
import unittest
import urllib.request

import network
import sandbox
from manifests import build, find, pods
from network_policies import may_connect

PATIENCE = 240
# CartPole ends after 500 steps. Chance reaches about 20.
GOOD_RETURN = 400


class Dev(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.objects = build("dev")
        # The second server is started later.
        find(cls.objects, "StatefulSet", "inference")["spec"]["replicas"] = 2
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.node = sandbox.Node(cls.objects, pathlib.Path(folder))
        cls.addClassCleanup(cls.node.close)
        cls.pods = {pod.name: pod for pod in pods(cls.objects)}
        cls.processes = {name: cls.node.start(pod) for name, pod in cls.pods.items() if name != "inference-1"}
        cls.observer = cls.processes["observer"]
        cls.serving = [one for one in cls.processes.values() if one is not cls.observer]
        cls.seen: set[tuple[str, str, int]] = set()

    def test_1_every_probe_of_every_pod_succeeds(self) -> None:
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            for process in self.serving:
                self.node.await_probe(process, kind, PATIENCE)

    def test_2_the_observer_ends_with_a_trained_policy(self) -> None:
        def ended() -> bool:
            self.seen.update(self.node.connections())
            return self.observer.child.poll() is not None

        self.assertTrue(network.eventually(ended, PATIENCE), self.node.logs())
        self.assertEqual(self.observer.child.returncode, 0, self.node.logs())
        result = re.search(r"^result greedy=([\d.]+)", self.observer.output(), re.MULTILINE)
        self.assertIsNotNone(result, self.observer.output())
        self.assertGreaterEqual(float(result[1]), GOOD_RETURN)
        for process in self.serving:
            self.assertIsNone(process.child.poll(), f"{process.pod.name} has ended: {process.output()}")

    def test_3_parameters_and_report_are_in_the_claim(self) -> None:
        runs = self.node.claim("runs")
        published = [int(path.stem.split("-")[2]) for path in runs.glob("kubernetes/parameters/*.safetensors")]
        self.assertGreater(max(published, default=0), 10)
        self.assertTrue(list(runs.glob("kubernetes/checkpoints/*")))
        self.assertTrue(list(runs.glob("cartpole-*/report.html")))

    def test_4_actors_that_run_find_servers_that_are_added_and_leave_those_that_are_removed(self) -> None:
        added = self.node.start(self.pods["inference-1"])
        self.serving.append(added)
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.node.await_probe(added, kind, PATIENCE)
        actor, removed = self.processes["actor-0"], self.processes["inference-0"]
        first, second = "inference-0.inference:5000", "inference-1.inference:5000"
        self.node.change("inference-servers", servers=f"{first}\n{second}\n")
        self.await_output(actor, "event=inference_servers_changed servers=2")
        # All environments of this job are one block, which one of two servers has and the last one must have.
        self.node.change("inference-servers", servers=f"{second}\n")
        self.await_output(actor, "event=inference_servers_changed servers=1")
        self.await_output(added, 'event=stream_opened client="actor ')

        def moved() -> bool:
            self.seen.update(self.node.connections())
            return (removed.address, 5000) not in actor.connections() and (added.address, 5000) in actor.connections()

        self.assertTrue(network.eventually(moved, PATIENCE), self.node.logs())
        self.assertIsNone(actor.child.poll(), actor.output())

    def await_output(self, process: sandbox.Process, text: str) -> None:
        self.assertTrue(network.eventually(lambda: text in process.output(), PATIENCE), f"{text}\n{self.node.logs()}")

    def test_5_policies_allow_every_connection_that_was_made(self) -> None:
        for source, target, port in sorted(self.seen):
            self.assertTrue(
                may_connect(self.objects, self.pods[source], self.pods[target], port),
                f"{source} connected to {target}:{port}, which no policy allows",
            )
        components = {(self.pods[source].component, self.pods[target].component) for source, target, _ in self.seen}
        self.assertLessEqual(
            {
                ("actor", "inference"),
                ("inference", "learner"),
                ("inference", "replay"),
                ("learner", "replay"),
                ("observer", "inference"),
            },
            components,
        )

    def test_6_the_learner_counts_what_the_autoscaler_reads(self) -> None:
        address = self.processes["learner-0"].address
        with urllib.request.urlopen(f"http://{address}:9100/metrics", timeout=10) as answer:
            self.assertIn('shoal_learner_phase_seconds_total{phase="waiting"}', answer.read().decode())

    def test_7_every_pod_ends_within_its_grace_when_it_is_asked_to(self) -> None:
        for process in self.serving:
            self.assertEqual(process.stop(), 0, f"{process.pod.name}: {process.output()[-2000:]}")


if __name__ == "__main__":
    network.enter()
    unittest.main()
