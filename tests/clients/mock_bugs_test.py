# SPDX-License-Identifier: Apache-2.0
"""Tests that the mockserver does not have known bugs of other mock servers."""

import json
import socket
import tarfile
import unittest
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from connection import ROOT, SESSIONS, Answer, Connection, links
from service import CAPTURES, PASSWORD, REPOSITORY, Service
from service_case import ServiceCase


def captured_bodies(capture: str) -> dict[str, object]:
    """Returns the bodies of the archive by URI, read independently of the service."""
    bodies = {}
    with tarfile.open(REPOSITORY / "data" / "captures" / f"{capture}.tar.xz") as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            if path.name != "index.json":
                continue
            below = list(path.parent.parts[1:])
            if below[:2] == ["redfish", "v1"]:
                below = below[2:]
            bodies["/".join([ROOT, *below])] = json.load(archive.extractfile(member))
    return bodies


def reachable(bodies: dict[str, object]) -> set[str]:
    """Returns the URIs among `bodies` that links from the service root lead to."""
    found = {ROOT}
    waiting = [ROOT]
    while waiting:
        for link in links(bodies[waiting.pop()]):
            if link in bodies and link not in found:
                found.add(link)
                waiting.append(link)
    return found


def exchange(address: str, request: bytes, answers: int) -> list[bytes]:
    """Sends bytes unchanged over one connection and returns the status lines of the answers."""
    host, port = address.rsplit(":", 1)
    lines = []
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            for _ in range(answers):
                lines.append(stream.readline().strip())
                length = 0
                while (line := stream.readline().strip()) != b"":
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                stream.read(length)
    return lines


class MockBugs(ServiceCase):
    def reset_system(self, kind: str) -> None:
        action = self.connection.system()["Actions"]["#ComputerSystem.Reset"]
        answer = self.connection.send("POST", action["target"], {"ResetType": kind})
        self.assertTrue(answer.ok, answer.body)
        self.service.advance(600)

    def test_top_does_not_shorten_the_collection_for_everyone(self) -> None:
        uri = f"{ROOT}/Chassis/1U/Sensors"
        before = self.connection.get(uri)
        self.assertEqual(len(self.connection.get(f"{uri}?$top=1")["Members"]), 1)
        self.assertEqual(self.connection.get(uri), before)

    def test_expand_does_not_expand_the_collection_for_everyone(self) -> None:
        uri = f"{ROOT}/Chassis/1U/Sensors"
        before = self.connection.get(uri)
        expanded = self.connection.get(f"{uri}?$expand=.($levels=1)")
        self.assertIn("@odata.type", expanded["Members"][0])
        self.assertEqual(self.connection.get(uri), before)

    def test_a_patch_without_content_length_does_not_break_the_service(self) -> None:
        uri = self.connection.system()["@odata.id"]
        head = f"PATCH {uri} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        status = exchange(self.service.address, f"{head}\r\n".encode(), 1)[0]
        self.assertIn(status.split()[1], (b"400", b"411"))
        self.assertEqual(self.connection.send("GET", uri).status, 200)

    def test_a_patch_in_chunks_without_content_length_is_applied(self) -> None:
        uri = self.connection.system()["@odata.id"]
        body = b'{"AssetTag": "chunked"}'
        head = (
            f"PATCH {uri} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:5], body[5:]))
        statuses = exchange(self.service.address, head.encode() + chunks + b"0\r\n\r\n", 1)
        self.assertEqual(statuses[0].split()[1], b"200")
        self.assertEqual(self.connection.system()["AssetTag"], "chunked")

    def test_a_post_to_a_collection_whose_members_have_no_digits_does_not_loop(self) -> None:
        uri = f"{ROOT}/AccountService/Roles"
        role = {"RoleId": "Auditor", "AssignedPrivileges": ["Login"]}
        answer = self.connection.send("POST", uri, role)
        self.assertIn(answer.status, (201, 400, 405))
        members = self.connection.get(uri)["Members"]
        self.assertEqual(len(members), 4 if answer.status == 201 else 3)

    def test_a_reset_changes_the_power_state(self) -> None:
        self.assertEqual(self.connection.system()["PowerState"], "On")
        self.reset_system("ForceOff")
        self.assertEqual(self.connection.system()["PowerState"], "Off")
        self.reset_system("On")
        self.assertEqual(self.connection.system()["PowerState"], "On")

    def test_a_boot_override_of_once_reverts(self) -> None:
        boot = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}
        uri = self.connection.system()["@odata.id"]
        self.assertEqual(self.connection.send("PATCH", uri, {"Boot": boot}).status, 200)
        self.assertEqual(self.connection.system()["Boot"]["BootSourceOverrideEnabled"], "Once")
        self.reset_system("ForceRestart")
        self.assertEqual(self.connection.system()["Boot"]["BootSourceOverrideEnabled"], "Disabled")

    def test_two_requests_share_one_connection(self) -> None:
        request = f"GET {ROOT}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        statuses = exchange(self.service.address, request * 2, 2)
        self.assertEqual(statuses, [b"HTTP/1.1 200 OK"] * 2)

    def test_a_crawl_ends_and_finds_what_was_captured(self) -> None:
        captured = captured_bodies("dmtf-rackmount1")
        found = {uri for uri, answer in self.connection.crawl() if answer.status == 200}
        self.assertGreater(len(found), 200)
        self.assertEqual(found, reachable(captured))


class Tokens(ServiceCase):
    """The bug: a token is always the same, and the server never checks it."""

    authentication = True

    def log_in(self, password: str = PASSWORD) -> Answer:
        account = {"UserName": self.service.user, "Password": password}
        return self.connection.send("POST", SESSIONS, account)

    def status_with(self, token: str) -> int:
        return self.connection.send("GET", f"{ROOT}/Systems", X_Auth_Token=token).status

    def test_a_wrong_password_gets_no_token(self) -> None:
        answer = self.log_in("wrong-password")
        self.assertEqual(answer.status, 401)
        self.assertNotIn("X-Auth-Token", answer.headers)

    def test_every_login_has_a_token_of_its_own(self) -> None:
        tokens = {self.log_in().headers["X-Auth-Token"] for _ in range(3)}
        self.assertEqual(len(tokens), 3)
        self.assertEqual([self.status_with(token) for token in tokens], [200] * 3)

    def test_a_token_that_nobody_was_given_is_refused(self) -> None:
        token = self.log_in().headers["X-Auth-Token"]
        self.assertEqual(self.status_with(token[::-1]), 401)
        self.assertEqual(self.status_with(token[:-1]), 401)

    def test_the_end_of_one_session_is_not_the_end_of_another(self) -> None:
        ended, kept = self.log_in(), self.log_in()
        session = urlsplit(ended.headers["Location"]).path
        token = ended.headers["X-Auth-Token"]
        self.assertTrue(self.connection.send("DELETE", session, X_Auth_Token=token).ok)
        self.assertEqual(self.status_with(token), 401)
        self.assertEqual(self.status_with(kept.headers["X-Auth-Token"]), 200)


class MockBugsOnDell(unittest.TestCase):
    def test_log_collections_do_not_explode_what_is_expanded(self) -> None:
        captured = len(json.dumps(captured_bodies("dell-r750")))
        with Service("dell-r750") as service, Connection(service.address) as connection:
            answer = connection.send("GET", f"{ROOT}/?$expand=*($levels=6)")
            self.assertEqual(answer.status, 200)
            self.assertIn("@odata.type", answer.json["AccountService"])
            self.assertLess(len(answer.body), captured)

    def test_settings_do_not_stay_pending_after_the_boot(self) -> None:
        with Service("dell-r750") as service, Connection(service.address) as connection:
            system = connection.system()
            bios = connection.get(system["Bios"]["@odata.id"])
            name, wanted = "BootMode", "Bios"
            self.assertNotEqual(bios["Attributes"][name], wanted)
            settings = bios["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
            answer = connection.send("PATCH", settings, {"Attributes": {name: wanted}})
            self.assertTrue(answer.ok, answer.body)
            self.assertNotEqual(connection.get(bios["@odata.id"])["Attributes"][name], wanted)
            target = system["Actions"]["#ComputerSystem.Reset"]["target"]
            self.assertTrue(connection.send("POST", target, {"ResetType": "ForceRestart"}).ok)
            service.advance(600)
            self.assertEqual(connection.get(bios["@odata.id"])["Attributes"][name], wanted)
            self.assertNotIn(name, connection.get(settings).get("Attributes", {}))


class MockBugsOnEveryCapture(unittest.TestCase):
    def test_a_captured_404_is_no_resource(self) -> None:
        stale_bodies = 0
        for capture in CAPTURES:
            stale = [uri for uri, body in captured_bodies(capture).items() if "error" in body]
            stale_bodies += len(stale)
            if not stale:
                continue
            with Service(capture) as service, Connection(service.address) as connection:
                for uri in stale:
                    with self.subTest(uri):
                        self.assertEqual(connection.send("GET", uri).status, 404)
        self.assertGreater(stale_bodies, 10)

    def test_no_uuid_is_null(self) -> None:
        for capture in CAPTURES:
            with self.subTest(capture), Service(capture) as service:
                with Connection(service.address) as connection:
                    for body in (connection.get(f"{ROOT}/"), connection.system()):
                        self.assertIsNotNone(body.get("UUID", ""))


if __name__ == "__main__":
    unittest.main()
