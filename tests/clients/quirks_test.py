# SPDX-License-Identifier: Apache-2.0
"""Repeats what ordinary clients do beyond the standard, request by request, after their sources."""

import unittest
from urllib.parse import urlsplit

from connection import ROOT, SESSIONS, Connection, basic
from service import CAPTURES, PASSWORD, Service
from service_case import ServiceCase


class Quirks(ServiceCase):
    """One service for all tests. Each test starts with the capture as it was loaded."""


class Xcat(Quirks):
    """The client takes only 200 and 201 for success, and parses every body as JSON."""

    def test_a_patch_answers_200_with_json(self) -> None:
        system = self.connection.system()
        answer = self.connection.send("PATCH", system["@odata.id"], {"AssetTag": "x"})
        self.assertEqual(answer.status, 200)
        self.assertIsInstance(answer.json, dict)

    def test_an_action_answers_200_with_json(self) -> None:
        action = self.connection.system()["Actions"]["#ComputerSystem.Reset"]
        answer = self.connection.send("POST", action["target"], {"ResetType": "ForceOff"})
        self.assertEqual(answer.status, 200)
        self.assertIsInstance(answer.json, dict)

    def test_every_refusal_has_a_json_body(self) -> None:
        system = self.connection.system()["@odata.id"]
        refusals = [
            self.connection.send("GET", f"{ROOT}/Nowhere"),
            self.connection.send("DELETE", system),
            self.connection.send("PATCH", system, {"NoSuchProperty": 1}),
            self.connection.send("POST", f"{ROOT}/Nowhere", {}),
        ]
        self.assertEqual([answer.status for answer in refusals], [404, 405, 400, 404])
        for answer in refusals:
            self.assertIn("@Message.ExtendedInfo", answer.json["error"])


class Maas(Quirks):
    """The client repeats requests with a final slash, follows 308, takes If-Match from bodies."""

    def send(self, method: str, uri: str, body: object = None, **headers: str):
        answer = self.connection.send(method, uri, body, **headers)
        if answer.status == 308:
            uri = urlsplit(answer.headers["Location"]).path
            answer = self.connection.send(method, uri, body, **headers)
        return answer

    def test_a_slash_at_the_end_is_the_same_resource(self) -> None:
        system = self.connection.system()
        uri = system["@odata.id"] + "/"
        self.assertEqual(self.send("GET", uri).json, system)
        self.assertTrue(self.send("PATCH", uri, {"AssetTag": "slash"}).ok)
        self.assertEqual(self.connection.system()["AssetTag"], "slash")

    def test_a_slash_at_the_end_is_the_same_action(self) -> None:
        action = self.connection.system()["Actions"]["#ComputerSystem.Reset"]
        answer = self.send("POST", action["target"] + "/", {"ResetType": "ForceOff"})
        self.assertTrue(answer.ok)
        self.assertEqual(self.connection.system()["PowerState"], "Off")

    def test_power_on_over_the_network_by_pxe(self) -> None:
        uri = self.connection.system()["@odata.id"]
        target = self.connection.system()["Actions"]["#ComputerSystem.Reset"]["target"]
        self.assertTrue(self.send("POST", target, {"ResetType": "ForceOff"}).ok)
        system = self.send("GET", uri).json
        version = {"If_Match": system["@odata.etag"]} if "@odata.etag" in system else {}
        boot = {"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}
        self.assertTrue(self.send("PATCH", uri, boot, **version).ok)
        self.assertTrue(self.send("POST", target, {"ResetType": "On"}).ok)
        self.assertEqual(self.connection.system()["PowerState"], "On")


class EtagInBody(unittest.TestCase):
    """MAAS takes ETags from bodies. A captured ETag must change when the resource changes."""

    def test_an_etag_in_a_body_names_the_version_that_the_body_is(self) -> None:
        for capture in CAPTURES:
            with self.subTest(capture), Service(capture) as service:
                with Connection(service.address) as connection:
                    system = connection.system()
                    name = "AssetTag" if "AssetTag" in system else "IndicatorLED"
                    for value in ("Lit", "Off"):
                        before = connection.send("GET", system["@odata.id"])
                        etag = before.json.get("@odata.etag", before.headers["ETag"])
                        self.assertEqual(etag, before.headers["ETag"])
                        answer = connection.send(
                            "PATCH", system["@odata.id"], {name: value}, If_Match=etag
                        )
                        self.assertEqual(answer.status, 200)


class Sushy(Quirks):
    """After 412 the client repeats the request with the ETag made strong, then without one."""

    def patch(self, uri: str, etag: str, body: object) -> list[int]:
        statuses = []
        for version in ({"If_Match": etag}, {"If_Match": etag.removeprefix("W/")}, {}):
            statuses.append(self.connection.send("PATCH", uri, body, **version).status)
            if statuses[-1] != 412:
                break
        return statuses

    def test_a_fresh_etag_needs_no_repetition(self) -> None:
        uri = self.connection.system()["@odata.id"]
        etag = self.connection.send("GET", uri).headers["ETag"]
        self.assertEqual(self.patch(uri, etag, {"AssetTag": "sushy"}), [200])

    def test_a_strong_etag_names_the_same_version(self) -> None:
        uri = self.connection.system()["@odata.id"]
        etag = self.connection.send("GET", uri).headers["ETag"].removeprefix("W/")
        self.assertEqual(self.patch(uri, etag, {"AssetTag": "sushy"}), [200])

    def test_a_stale_etag_ends_in_success_without_one(self) -> None:
        uri = self.connection.system()["@odata.id"]
        etag = self.connection.send("GET", uri).headers["ETag"]
        self.assertEqual(self.patch(uri, etag, {"AssetTag": "first"}), [200])
        self.assertEqual(self.patch(uri, etag, {"AssetTag": "second"}), [412, 412, 200])
        self.assertEqual(self.connection.system()["AssetTag"], "second")


class Ansible(Quirks):
    """The client sends If-Match whenever the resource has an ETag."""

    def test_each_change_under_the_newest_etag_succeeds(self) -> None:
        uri = self.connection.system()["@odata.id"]
        for tag in ("one", "two", "three"):
            etag = self.connection.send("GET", uri).headers["ETag"]
            answer = self.connection.send("PATCH", uri, {"AssetTag": tag}, If_Match=etag)
            self.assertEqual(answer.status, 200)

    def test_an_action_takes_no_notice_of_an_etag(self) -> None:
        system = self.connection.system()
        etag = self.connection.send("GET", system["@odata.id"]).headers["ETag"]
        target = system["Actions"]["#ComputerSystem.Reset"]["target"]
        answer = self.connection.send("POST", target, {"ResetType": "ForceOff"}, If_Match=etag)
        self.assertEqual(answer.status, 200)


class Paging(Quirks):
    """Clients follow Members@odata.nextLink until there is none."""

    def test_pages_of_one_give_every_member_once_and_the_whole_count(self) -> None:
        uri = f"{ROOT}/Chassis/1U/Sensors"
        whole = [member["@odata.id"] for member in self.connection.get(uri)["Members"]]
        paged = []
        page = f"{uri}?$top=1"
        while page is not None and len(paged) <= len(whole):
            body = self.connection.get(page)
            self.assertEqual(len(body["Members"]), 1)
            self.assertEqual(body["Members@odata.count"], len(whole))
            paged += [member["@odata.id"] for member in body["Members"]]
            page = body.get("Members@odata.nextLink")
        self.assertGreater(len(whole), 5)
        self.assertEqual(paged, whole)


class Login(ServiceCase):
    """Clients log in to a service that requires authentication."""

    authentication = True

    def setUp(self) -> None:
        super().setUp()
        self.account = {"UserName": self.service.user, "Password": PASSWORD}

    def test_gofish_finds_the_sessions_without_authentication(self) -> None:
        sessions = self.connection.get(f"{ROOT}/")["Links"]["Sessions"]["@odata.id"]
        self.assertEqual(self.connection.send("POST", sessions, self.account).status, 201)

    def test_python_redfish_gets_location_and_token_and_logs_out_once(self) -> None:
        answer = self.connection.send("POST", SESSIONS, self.account)
        token = answer.headers["X-Auth-Token"]
        session = urlsplit(answer.headers["Location"]).path
        self.assertEqual(self.connection.get(session, X_Auth_Token=token)["UserName"],
                         self.service.user)  # fmt: skip
        logout = self.connection.send("DELETE", session, X_Auth_Token=token)
        self.assertIn(logout.status, (200, 204))
        self.assertEqual(self.connection.send("GET", SESSIONS, X_Auth_Token=token).status, 401)

    def test_sushy_falls_back_to_basic_on_any_resource(self) -> None:
        answer = self.connection.send("GET", f"{ROOT}/Systems")
        self.assertEqual(answer.status, 401)
        self.assertIn("Basic", answer.headers["WWW-Authenticate"])
        authorization = basic(self.service.user, PASSWORD)
        self.connection.get(f"{ROOT}/Systems", Authorization=authorization)

    def test_sushy_gets_a_location_and_a_time_to_wait_with_202(self) -> None:
        authorization = basic(self.service.user, PASSWORD)
        action = f"{ROOT}/UpdateService/Actions/UpdateService.SimpleUpdate"
        image = {"ImageURI": "https://images.example/bmc-1.1.bin"}
        answer = self.connection.send("POST", action, image, Authorization=authorization)
        self.assertEqual(answer.status, 202)
        self.assertGreaterEqual(int(answer.headers["Retry-After"]), 1)
        monitor = urlsplit(answer.headers["Location"]).path
        again = self.connection.send("GET", monitor, Authorization=authorization)
        self.assertEqual(again.status, 202)


class Gofish(unittest.TestCase):
    """The client finds sessions only by the links of the service root."""

    def test_the_root_of_every_capture_links_its_sessions(self) -> None:
        for capture in CAPTURES:
            with self.subTest(capture), Service(capture) as service:
                with Connection(service.address) as connection:
                    sessions = connection.get(f"{ROOT}/")["Links"]["Sessions"]["@odata.id"]
                    self.assertIn("Members", connection.get(sessions))


if __name__ == "__main__":
    unittest.main()
