# SPDX-License-Identifier: Apache-2.0
"""Every overlay builds, and keeps every rule of breaches.py."""

import os
import pathlib
import re
import tempfile
import unittest

from breaches import QUEUE_NAME, RULES
from manifests import FOLDER, OVERLAYS, ROOT, build, build_with, find, images, pods


class Overlays(unittest.TestCase):
    def test_there_are_those_that_the_readme_names(self) -> None:
        self.assertEqual(OVERLAYS, ["dev", "elastic", "multi-gpu", "queued", "single-gpu", "trainjob"])
        for overlay in OVERLAYS:
            self.assertIn(f"| `{overlay}` |", (FOLDER / "README.md").read_text())

    def test_each_keeps_every_rule(self) -> None:
        for overlay in OVERLAYS:
            objects = build(overlay)
            self.assertGreater(len(pods(objects)), 4)
            for rule in RULES:
                with self.subTest(overlay=overlay, rule=rule.__name__):
                    self.assertEqual(rule(objects), [])

    def test_a_train_job_has_the_pods_of_the_job_set_in_whose_place_it_is(self) -> None:
        of_set, of_job = (
            [(pod.name, pod.labels, pod.spec) for pod in pods(build(overlay)) if pod.component == "learner"]
            for overlay in ("multi-gpu", "trainjob")
        )
        self.assertEqual(of_set, of_job)
        self.assertIsNone(find(build("trainjob"), "JobSet", "learner"))

    def test_a_train_job_waits_in_a_queue_as_a_job_set_does(self) -> None:
        objects = build_with("trainjob", "kueue")
        self.assertEqual(find(objects, "TrainJob", "learner")["metadata"]["labels"], {QUEUE_NAME: "learners"})
        for rule in RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(rule(objects), [])

    def test_actors_in_python_need_other_images_and_another_job_alone(self) -> None:
        objects = build_with("dev", "gymnasium")
        used = {one["image"] for pod in pods(objects) for one in pod.containers}
        self.assertLessEqual({"shoal-actor-gymnasium", "shoal-observer-gymnasium"}, used)
        self.assertTrue(used.isdisjoint({"shoal-actor", "shoal-observer"}))
        for rule in RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(rule(objects), [])

    def test_learners_on_one_node_and_on_several_get_the_same_demonstrations(self) -> None:
        recorders = []
        for overlay in ("single-gpu", "multi-gpu"):
            learner = next(pod for pod in pods(build(overlay)) if pod.component == "learner")
            recorders.append(next(one for one in learner.spec["initContainers"] if one["name"] == "demonstrations"))
        single, multiple = recorders
        for key in ("command", "args", "image", "volumeMounts"):
            self.assertEqual(single.get(key), multiple.get(key), key)


class Readme(unittest.TestCase):
    text = (FOLDER / "README.md").read_text()

    def test_its_overlay_of_ones_own_builds_and_trains_ones_own_job(self) -> None:
        overlay = re.search(r"```yaml\n(.+?)```", self.text, re.DOTALL)[1]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "my.toml").write_text("[run]\n")
            shipped = os.path.relpath(FOLDER / "overlays", folder.resolve())
            (folder / "kustomization.yaml").write_text(overlay.replace("../single-gpu", f"{shipped}/single-gpu"))
            objects = build(folder)
        self.assertIn("registry.example.org/shoal-replay:1.0", str(objects))
        learner = next(pod for pod in pods(objects) if pod.component == "learner")
        jobs = next(one["configMap"]["name"] for one in learner.spec["volumes"] if one["name"] == "jobs")
        self.assertEqual(find(objects, "ConfigMap", jobs)["data"]["my.toml"], "[run]\n")
        cluster = next(one["data"] for one in objects if one["metadata"]["name"].startswith("cluster-"))
        self.assertEqual(cluster["JOB"], "my.toml")

    def test_its_commands_name_what_the_overlay_has(self) -> None:
        objects = build("dev")
        loaded = re.search(r"kind load docker-image (.+)", self.text)[1].split()
        self.assertEqual(set(loaded), {one["image"] for pod in pods(objects) for one in pod.containers})
        self.assertIsNotNone(find(objects, "Namespace", re.search(r"kubectl -n (\S+)", self.text)[1]))
        self.assertIsNotNone(find(objects, "Job", re.search(r"wait .+ job/(\S+)", self.text)[1]))
        pod, folder = re.search(r"kubectl -n \S+ cp (\S+):(\S+)", self.text).groups()
        learner = next(one for one in pods(objects) if one.name == pod)
        self.assertIn(folder, [mount["mountPath"] for mount in learner.spec["containers"][0]["volumeMounts"]])
        for image in re.findall(r"-t (\S+-cuda)", self.text):
            self.assertIn(image, images())


class Images(unittest.TestCase):
    def test_the_context_of_their_build_holds_what_is_built_and_copied(self) -> None:
        context = {
            line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
        }
        built = re.findall(r"add_subdirectory\((\w+)", (ROOT / "CMakeLists.txt").read_text())
        copied = re.findall(r"^COPY (\w+)", (ROOT / "deploy/docker/Dockerfile").read_text(), re.MULTILINE)
        self.assertIn("learner", built)
        self.assertIn("deploy", copied)
        self.assertLessEqual(set(built + copied), context)


if __name__ == "__main__":
    unittest.main()
