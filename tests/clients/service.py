# SPDX-License-Identifier: Apache-2.0
"""Starts the mockserver as a process on free loopback ports and stops it by its process id."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parents[2]
CAPTURES = ("dmtf-rackmount1", "openbmc-stock", "hpe-dl380a-gen12", "dell-r750")
# An account of each capture with all privileges, and its password unless another is configured.
ADMINISTRATORS = {
    "dmtf-rackmount1": "Administrator",
    "openbmc-stock": "root",
    "hpe-dl380a-gen12": "Administrator",
    "dell-r750": "root",
}
PASSWORD = "shoal-password"

_PROGRAMS = Path(os.environ.get("SHOAL_PROGRAMS", REPOSITORY / "build" / "bin"))


class Service:
    """A mockserver with one capture, as a context manager.

    Only this class knows the options of the program. The default instance serves the capture, so
    that clients need no prefix. Its virtual time moves only by `advance`. The service is open to
    everyone unless `authentication`, and uses plain HTTP unless `tls`.
    """

    def __init__(self, capture: str, authentication: bool = False, tls: bool = False) -> None:
        self.user = ADMINISTRATORS[capture]
        self.certificate: Path | None = None
        settings: dict[str, object] = {
            "mockserver.captures": [f"data/captures/{capture}.tar.xz"],
            "mockserver.listen": "127.0.0.1:0",
            "mockserver.control_listen": "127.0.0.1:0",
            "mockserver.clock": "virtual",
        }
        if authentication:
            settings["mockserver.authentication"] = "required"
        self._folder = tempfile.TemporaryDirectory()
        if tls:
            self.certificate = Path(self._folder.name) / "certificate.pem"
            key = self.certificate.with_name("key.pem")
            make_certificate(self.certificate, key)
            settings["mockserver.certificate_file"] = str(self.certificate)
            settings["mockserver.key_file"] = str(key)
        command = [str(_PROGRAMS / "mockserver")]
        for key, value in settings.items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        self._process = subprocess.Popen(
            command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._log: list[str] = []
        self.address, self._control = self._read_addresses()
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"{'https' if self.certificate else 'http'}://{self.address}"

    @property
    def log(self) -> str:
        return "".join(self._log)

    def advance(self, seconds: float) -> None:
        """Moves the virtual clock."""
        self._ask("POST", "advance", {"milliseconds": int(seconds * 1000)})

    def waits(self) -> AbstractContextManager[object]:
        """Makes time.sleep move the virtual clock instead of waiting, until the context ends."""
        return mock.patch("time.sleep", lambda seconds: self.advance(float(seconds)))

    def set_faults(self, *faults: dict) -> None:
        """Sets the faults that apply from now on (mockserver/faults/fault.h)."""
        self._ask("PUT", "faults", {"faults": faults})

    def reset(self) -> None:
        """Resets the service to the capture as it was loaded."""
        self._ask("POST", "reset", {})

    def stop(self) -> int:
        """Ends the process as an operator does and returns its exit code."""
        if self._process.poll() is None:
            self._process.terminate()
        code = self._process.wait(timeout=20)
        self._reader.join()
        self._process.stdout.close()
        self._folder.cleanup()
        return code

    def _read_addresses(self) -> tuple[str, str]:
        for line in self._process.stdout:
            self._log.append(line)
            if "event=listening" in line:
                words = dict(word.split("=", 1) for word in line.split() if "=" in word)
                return words["address"], words["control"]
        raise RuntimeError(f"mockserver did not start:\n{self.log}")

    def _read_log(self) -> None:
        for line in self._process.stdout:
            self._log.append(line)

    def _ask(self, method: str, verb: str, body: dict) -> None:
        request = urllib.request.Request(
            f"http://{self._control}/shoal/v1/instances/default/{verb}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()


def make_certificate(certificate: Path, key: Path) -> None:
    """Makes a self-signed certificate for 127.0.0.1."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
