# SPDX-License-Identifier: Apache-2.0
"""A base class of tests of one service. Each test starts with the capture as it was loaded."""

import unittest

from connection import Connection
from service import Service


class ServiceCase(unittest.TestCase):
    """Tests of dmtf-rackmount1, which is open to everyone unless `authentication`."""

    authentication = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("dmtf-rackmount1", authentication=cls.authentication)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.service.reset()
        self.connection = self.enterContext(Connection(self.service.address))
