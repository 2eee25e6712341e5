# SPDX-License-Identifier: Apache-2.0
"""Runs DMTF's Redfish Service Validator: it checks bodies against the CSDL that the service hosts."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import known_failures
from service import PASSWORD, Service

# Nobody listens there, so that the validator cannot fetch schemas from elsewhere.
_NOWHERE = "http://127.0.0.1:9"
_VALIDATING = re.compile(r"Validating (\S+)\.\.\.$")
_FAIL = re.compile(r" - ERROR - FAIL - (?:(/\S*) \(.*?\): )?([A-Z][A-Za-z ]* Error): (.*)$")
_TOTALS = re.compile(r"\|\s*(\d+)\s*\|\s*(\d+)\s*\|\s*(\d+)\s*\|\s*(\d+)\s*\|")


def failures_in(log: str) -> list[str]:
    """Reads lines "uri path kind" from the validator's log, which names resources first.

    The path is "-" where the whole resource fails.
    """
    failures = []
    uri = "-"
    for line in log.splitlines():
        if match := _VALIDATING.search(line):
            uri = match[1]
        elif match := _FAIL.search(line):
            failures.append(f"{uri} {match[1] or '-'} {match[2]}")
    return failures


class ServiceValidator(unittest.TestCase):
    def test_no_failure_but_those_of_the_captured_data(self) -> None:
        with (
            Service("dmtf-rackmount1", authentication=True) as service,
            tempfile.TemporaryDirectory() as folder,
        ):
            run = subprocess.run(
                [
                    Path(sys.executable).with_name("rf_service_validator"),
                    *("--rhost", service.url, "--user", service.user, "--password", PASSWORD),
                    *("--ext_http_proxy", _NOWHERE, "--ext_https_proxy", _NOWHERE),
                    *("--schema_directory", f"{folder}/csdl", "--logdir", f"{folder}/reports"),
                ],
                cwd=folder, capture_output=True, text=True, timeout=180, check=False,
            )  # fmt: skip
            logs = list(Path(folder).glob("reports/*/RedfishServiceValidatorDebug_*.log"))
            self.assertEqual(len(logs), 1, run.stdout + run.stderr)
            self.assertGreater(len(list(Path(folder).glob("csdl/*.xml"))), 100, run.stdout)
            failures = failures_in(logs[0].read_text())
        totals = _TOTALS.search(run.stdout)
        self.assertIsNotNone(totals, run.stdout)
        passed, _, failed, _ = map(int, totals.groups())
        self.assertGreater(passed, 5000, run.stdout)
        self.assertEqual(len(failures), failed, "some line of the report was not understood")
        if differences := known_failures.differences("known_failures.txt", failures):
            self.fail(f"{differences}\n{run.stdout}")


if __name__ == "__main__":
    unittest.main()
