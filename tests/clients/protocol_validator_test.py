# SPDX-License-Identifier: Apache-2.0
"""Runs DMTF's Redfish Protocol Validator over TLS, which checks answers header by header."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from service import CAPTURES, PASSWORD, Service

# The validator never asks for the stream of events, since its own source has switched that off.
_SWITCHED_OFF = {
    "SEC_SESSION_TERMINATION_SIDE_EFFECTS",
    "SERV_SSE_BLANK_LINES_BETWEEN_EVENTS",
    "SERV_SSE_CLOSE_CONNECTION_IF_EVENT_DEST_DELETED",
    "SERV_SSE_CONNECTION_OPEN_UNTIL_CLOSED",
    "SERV_SSE_DATA_FIELD_BASED_ON_PAYLOAD_FORMAT",
    "SERV_SSE_EVENTS_SENT_VIA_OPEN_CONNECTION",
    "SERV_SSE_EVENT_DEST_CONTEXT_OPAQUE_STR",
    "SERV_SSE_EVENT_DEST_DELETED_ON_CLOSE",
    "SERV_SSE_ID_FIELD_UNIQUELY_IDENTIFIES_PAYLOAD",
    "SERV_SSE_JSON_EVENT_MESSAGE_FORMAT",
    "SERV_SSE_JSON_METRIC_REPORT_FORMAT",
    "SERV_SSE_OPEN_CREATES_EVENT_DEST",
    "SERV_SSE_SUCCESSFUL_RESPONSE",
    "SERV_SSE_UNSUCCESSFUL_RESPONSE",
}
# These need an answer to multicast, which the service does not send.
_DISCOVERY = {
    "SERV_SSDP_AL_HEADER_POINTS_TO_SERVICE_ROOT",
    "SERV_SSDP_CAN_BE_DISABLED",
    "SERV_SSDP_MSEARCH_RESPONDS_TO_REDFISH_OR_ALL",
    "SERV_SSDP_M_SEARCH_RESPONSE_FORMAT",
    "SERV_SSDP_ST_HEADER_FORMAT",
    "SERV_SSDP_USN_MATCHES_SERVICE_ROOT_UUID",
    "SERV_SSDP_UUID_IN_CANONICAL_FORMAT",
}
# This needs one of the validator's own POSTs to be refused; it would then test less of the rest.
_NOTHING_REFUSED = {"REQ_DATA_MOD_ERRORS"}
_EVERYWHERE = _SWITCHED_OFF | _DISCOVERY | _NOTHING_REFUSED
# The validator reads these without looking into them. The test makes the service fail there.
_FAILING = {
    "dmtf-rackmount1": "/redfish/v1/CertificateService",
}
_OF_CAPTURE = {
    # AccountService says that Basic is not advertised, and no certificate is listed.
    "hpe-dl380a-gen12": {"RESP_HEADERS_WWW_AUTHENTICATE", "SEC_DEFAULT_CERT_REPLACE"},
}
_WARNED = {
    # Its accounts were captured without @odata.etag, and a new account is made from one of them.
    "dell-r750": {"PROTO_ETAG_HEADER_AND_PROPERTY"},
}
# Two tests of randomness reject a random token with a probability of one in a hundred each.
_BY_CHANCE = {"RESP_HEADERS_X_AUTH_TOKEN"}


# These variables would override --ca-bundle.
_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
}


@dataclass(frozen=True)
class Report:
    output: str
    rows: list[dict[str, str]]

    def lines(self, result: str) -> str:
        return "\n".join(
            " ".join(row[name] for name in ("Assertion", "Method", "URI", "Status code", "Message"))
            for row in self.rows
            if row["Result"] == result
        )

    def assertions(self, result: str) -> set[str]:
        return {row["Assertion"] for row in self.rows if row["Result"] == result}


def validate(capture: str) -> Report:
    with Service(capture, authentication=True, tls=True) as service:
        if path := _FAILING.get(capture):
            service.set_faults({"name": "failing", "path": path, "status": 500})
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [
                    Path(sys.executable).with_name("rf_protocol_validator"),
                    *("--rhost", service.url, "--ca-bundle", str(service.certificate)),
                    *("--user", service.user, "--password", PASSWORD),
                    *("--report-dir", folder, "--report-type", "tsv"),
                ],
                cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, timeout=240, check=False,
            )  # fmt: skip
            rows = []
            for report in Path(folder).glob("*.tsv"):
                with report.open(newline="") as lines:
                    reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
                    rows += list(reader)
    return Report(run.stdout + run.stderr, rows)


class ProtocolValidator(unittest.TestCase):
    """Runs all captures at once, since the validator mostly waits for multicast answers."""

    def test_nothing_fails_and_what_can_be_tested_is(self) -> None:
        with ThreadPoolExecutor(len(CAPTURES)) as pool:
            reports = dict(zip(CAPTURES, pool.map(validate, CAPTURES)))
        for capture, report in reports.items():
            with self.subTest(capture):
                self.assertGreater(len(report.rows), 200, report.output)
                if failures := report.lines("FAIL"):
                    self.fail(f"{failures}\n{report.output}")
                warned = _BY_CHANCE | _WARNED.get(capture, set())
                self.assertLessEqual(report.assertions("WARN"), warned, report.lines("WARN"))
                untested = report.assertions("NOT_TESTED")
                expected = _EVERYWHERE | _OF_CAPTURE.get(capture, set())
                if capture not in _FAILING:
                    expected = expected | {"RESP_STATUS_INTERNAL_SERVER_ERROR"}
                self.assertEqual(untested, expected, report.lines("NOT_TESTED"))


if __name__ == "__main__":
    unittest.main()
