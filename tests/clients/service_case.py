# SPDX-License-Identifier: Apache-2.0
"""A base class of tests of one service. Each test starts with the capture as it was loaded."""

import unittest
from typing import Any

from connection import Connection, basic
from service import PASSWORD, Service


class ServiceCase(unittest.TestCase):
    """Tests of `capture`, which is open to everyone unless `authentication`."""

    capture = "dmtf-rackmount1"
    authentication = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service(cls.capture, authentication=cls.authentication)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.service.reset()
        self.connection = self.enterContext(Connection(self.service.address))

    def read(self, uri: str) -> Any:
        """Returns the body of a plain GET by the administrator."""
        return self.connection.get(uri, Authorization=basic(self.service.user, PASSWORD))

    def members(self, uri: str) -> list[Any]:
        """Reads each member of a collection by a plain GET."""
        return [self.read(member["@odata.id"]) for member in self.read(uri)["Members"]]
