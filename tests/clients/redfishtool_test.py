# SPDX-License-Identifier: Apache-2.0
"""Runs DMTF's redfishtool with one process for each command, as an operator types it."""

import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from service_case import ServiceCase


class Redfishtool(ServiceCase):
    def run_tool(self, *words: str) -> subprocess.CompletedProcess:
        command = [str(Path(sys.executable).with_name("redfishtool"))]
        command += ["--rhost", self.service.address, "--Auth", "None", "--Secure", "Never"]
        return subprocess.run(
            [*command, *words], capture_output=True, text=True, timeout=60, check=False
        )

    def ask(self, *words: str) -> Any:
        """Runs a command that must succeed and returns its parsed output, if there is any."""
        run = self.run_tool(*words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads(run.stdout) if run.stdout else None

    def test_it_finds_the_version_the_root_and_the_service_document(self) -> None:
        self.assertEqual(self.ask("versions"), {"v1": "/redfish/v1/"})
        self.assertEqual(self.ask("root")["Id"], "RootService")

    def test_it_lists_systems_chassis_managers_and_accounts(self) -> None:
        for words in (
            ("Systems", "list"),
            ("Chassis", "list"),
            ("Managers", "list"),
            ("AccountService", "Accounts", "list"),
        ):
            with self.subTest(words):
                self.assertEqual(self.ask(*words)["Members@odata.count"], 1)

    def test_it_reads_one_property_of_a_system_found_by_match(self) -> None:
        found = self.ask("Systems", "-M", "AssetTag:Chicago-45Z-2381", "-P", "PowerState")
        self.assertEqual(found, {"PowerState": "On"})

    def test_it_sets_the_asset_tag(self) -> None:
        self.assertEqual(self.ask("Systems", "-F", "setAssetTag", "x1"), {"AssetTag": "x1"})
        self.assertEqual(self.ask("Systems", "-F", "-P", "AssetTag"), {"AssetTag": "x1"})

    def test_it_lights_the_indicator(self) -> None:
        self.ask("Systems", "-F", "setIndicatorLed", "Lit")
        self.assertEqual(self.ask("Systems", "-F", "-P", "IndicatorLED"), {"IndicatorLED": "Lit"})

    def test_it_sets_the_boot_override(self) -> None:
        boot = self.ask("Systems", "-F", "setBootOverride", "Continuous", "Pxe")["Boot"]
        self.assertEqual(boot["BootSourceOverrideEnabled"], "Continuous")
        self.assertEqual(boot["BootSourceOverrideTarget"], "Pxe")

    def test_it_switches_a_system_off_and_on(self) -> None:
        self.ask("Systems", "-F", "reset", "ForceOff")
        self.assertEqual(self.ask("Systems", "-F", "-P", "PowerState"), {"PowerState": "Off"})
        self.ask("Systems", "-F", "reset", "On")
        self.assertEqual(self.ask("Systems", "-F", "-P", "PowerState"), {"PowerState": "On"})

    def test_it_says_that_a_kind_of_reset_is_not_offered(self) -> None:
        self.assertNotEqual(self.run_tool("Systems", "-F", "reset", "PowerCycle").returncode, 0)

    def test_it_patches_by_a_raw_request(self) -> None:
        uri = self.ask("Systems", "-F")["@odata.id"]
        self.ask("raw", "PATCH", uri, "-d", '{"AssetTag": "raw"}')
        self.assertEqual(self.ask("Systems", "-F", "-P", "AssetTag"), {"AssetTag": "raw"})


if __name__ == "__main__":
    unittest.main()
