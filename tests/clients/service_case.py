# SPDX-License-Identifier: Apache-2.0
"""Tests of one service: each begins with the capture as it was loaded."""

import unittest

from connection import Connection
from service import Service


class ServiceCase(unittest.TestCase):
    """dmtf-rackmount1, open to everyone unless `authentication`."""

    authentication = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("dmtf-rackmount1", authentication=cls.authentication)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.service.reset()
        self.connection = self.enterContext(Connection(self.service.address))
