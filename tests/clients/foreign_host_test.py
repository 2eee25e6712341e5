# SPDX-License-Identifier: Apache-2.0
"""`shoal do` on a service that is not ours: OpenStack's sushy-emulator with its fake driver, over TLS."""

import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
from pathlib import Path

from service import REPOSITORY, make_certificate

_SHOAL = Path(os.environ.get("SHOAL_PROGRAMS", REPOSITORY / "build" / "bin")) / "shoal"
_EMULATOR = Path(sys.executable).with_name("sushy-emulator")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ForeignHost(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.certificate = self.folder / "certificate.pem"
        key = self.folder / "key.pem"
        make_certificate(self.certificate, key)
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        configuration = self.folder / "emulator.conf"
        configuration.write_text(
            f"SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'\nSUSHY_EMULATOR_LISTEN_PORT = {port}\n"
            f"SUSHY_EMULATOR_SSL_CERT = '{self.certificate}'\nSUSHY_EMULATOR_SSL_KEY = '{key}'\n"
            f"SUSHY_EMULATOR_STATE_DIR = '{self.folder}'\n"
        )
        emulator = subprocess.Popen(
            [str(_EMULATOR), "--fake", "--config", str(configuration)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(emulator.wait)
        self.addCleanup(emulator.terminate)
        self.wait_until_it_answers()
        self.system = self.read("/redfish/v1/Systems")["Members"][0]["@odata.id"]

    def read(self, uri: str) -> dict:
        trust = ssl.create_default_context(cafile=str(self.certificate))
        with urllib.request.urlopen(self.url + uri, timeout=10, context=trust) as answer:
            return json.load(answer)

    def wait_until_it_answers(self) -> None:
        limit = time.monotonic() + 60
        while True:
            try:
                self.read("/redfish/v1/")
                return
            except OSError:
                if time.monotonic() > limit:
                    raise
                time.sleep(0.1)

    def do(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [
                *(str(_SHOAL), "do", "--host", self.url, "--ca-file", str(self.certificate)),
                *("--audit", str(self.folder / "audit"), "--attempts", "2", "--settle", "10"),
                *("--doubt", "1", "--execute", *words),
            ],
            cwd=REPOSITORY, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200,
        )  # fmt: skip

    def test_power_goes_on_and_off(self) -> None:
        for goal, state in (("power_on", "On"), ("graceful_off", "Off")):
            with self.subTest(goal):
                ended = self.do("--goal", goal)
                self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
                self.assertEqual(self.read(self.system)["PowerState"], state)

    def test_boot_device_is_set_and_an_override_for_ever_is_a_difference(self) -> None:
        ended = self.do("--goal", "pxe_once")
        # The emulator takes every override for a continuous one, so nothing is restarted.
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertIn("does not show its result: /Boot/BootSourceOverrideEnabled", ended.stdout)
        self.assertEqual(self.read(self.system)["PowerState"], "Off")
        self.assertEqual(self.read(self.system)["Boot"]["BootSourceOverrideTarget"], "Pxe")

    def test_virtual_media_is_inserted(self) -> None:
        (self.folder / "install.iso").write_bytes(b"\0" * 4096)
        folder = str(self.folder)

        class Files(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=folder)

            def log_message(self, *_: object) -> None:
                pass

        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        ended = self.do("--goal", "iso_boot", "--set", f"Host=127.0.0.1:{server.server_port}")
        self.assertIn("request 1 is done, as on the twin", ended.stdout, ended.stdout + ended.stderr)
        media = self.read(f"{self.system}/VirtualMedia/Cd")
        self.assertTrue(media["Inserted"])


if __name__ == "__main__":
    unittest.main()
