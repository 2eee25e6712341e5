# SPDX-License-Identifier: Apache-2.0
"""Every overlay builds, and keeps every rule of breaches.py."""

import re
import unittest

from breaches import RULES
from manifests import OVERLAYS, ROOT, build, pods


class Overlays(unittest.TestCase):
    def test_there_are_the_three_that_the_readme_names(self) -> None:
        self.assertEqual(OVERLAYS, ["dev", "multi-gpu", "single-gpu"])

    def test_each_keeps_every_rule(self) -> None:
        for overlay in OVERLAYS:
            objects = build(overlay)
            self.assertGreater(len(pods(objects)), 4)
            for rule in RULES:
                with self.subTest(overlay=overlay, rule=rule.__name__):
                    self.assertEqual(rule(objects), [])


class Images(unittest.TestCase):
    def test_the_context_of_their_build_holds_what_is_built_and_copied(self) -> None:
        context = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
        built = re.findall(r"add_subdirectory\((\w+)", (ROOT / "CMakeLists.txt").read_text())
        copied = re.findall(r"^COPY (\w+)", (ROOT / "deploy/docker/Dockerfile").read_text(), re.MULTILINE)
        self.assertIn("learner", built)
        self.assertIn("deploy", copied)
        self.assertLessEqual(set(built + copied), context)


if __name__ == "__main__":
    unittest.main()
