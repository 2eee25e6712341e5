# SPDX-License-Identifier: Apache-2.0
"""Runs DMTF's use-case checkers: accounts, power, boot override, manager networks, queries."""

import io
import logging
import unittest
from contextlib import redirect_stdout
from unittest import mock

from redfish_use_case_checkers import (
    account_management,
    boot_override,
    logger,
    manager_ethernet_interfaces,
    power_control,
    query_parameters,
)
from redfish_use_case_checkers.system_under_test import SystemUnderTest

import known_failures
from service import CAPTURES, PASSWORD, Service

_CHECKERS = (
    account_management,
    power_control,
    boot_override,
    manager_ethernet_interfaces,
    query_parameters,
)


class Recorded(SystemUnderTest):
    """Records the results of the checkers."""

    def __init__(self, service: Service) -> None:
        super().__init__(service.url, service.user, PASSWORD, relaxed=False)
        self.failures: list[str] = []
        self.passed: set[str] = set()

    def add_test_result(
        self, category_name: str, test_name: str, operation: str, result: str, msg: str = ""
    ) -> None:
        super().add_test_result(category_name, test_name, operation, result, msg)
        if result in ("FAIL", "FAILWARN"):
            self.failures.append(f"{operation}: {msg.splitlines()[0]}")
        elif result == "PASS":
            self.passed.add(category_name)


def check(capture: str) -> Recorded:
    """Runs all checkers in this process, where their waits take no time."""
    with Service(capture, authentication=True) as service, service.waits():
        with redirect_stdout(io.StringIO()):
            system = Recorded(service)
            for checker in _CHECKERS:
                checker.use_cases(system)
            system.logout()
    return system


class UseCaseCheckers(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        # The checkers' own program opens a log file here.
        logger.logger = mock.Mock(spec=logging.Logger)

    def test_no_failure_but_those_of_the_captured_data(self) -> None:
        systems = {capture: check(capture) for capture in CAPTURES}
        for capture, system in systems.items():
            with self.subTest(capture):
                self.assertEqual(system.passed, {checker.CAT_NAME for checker in _CHECKERS})
                self.assertEqual(system.fail_count, len(system.failures))
        failures = [f"{capture} {f}" for capture, s in systems.items() for f in s.failures]
        if differences := known_failures.differences("known_use_case_failures.txt", failures):
            self.fail(differences)


if __name__ == "__main__":
    unittest.main()
