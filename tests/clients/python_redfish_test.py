# SPDX-License-Identifier: Apache-2.0
"""Uses DMTF's python-redfish over TLS: log in, change, reset, create an account, follow a task."""

import unittest

import redfish
from redfish.rest.v1 import HttpClient, InvalidCredentialsError, RestResponse

from service import PASSWORD, Service

ACCOUNTS = "/redfish/v1/AccountService/Accounts"
SYSTEMS = "/redfish/v1/Systems"


class PythonRedfish(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("dmtf-rackmount1", authentication=True, tls=True)
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.service.reset()

    def client(self, user: str = "", password: str = PASSWORD) -> HttpClient:
        """Returns a client that has a session, which ends with the test."""
        client = redfish.redfish_client(
            base_url=self.service.url,
            username=user or self.service.user,
            password=password,
            cafile=str(self.service.certificate),
            max_retry=0,
        )
        client.login(auth="session")
        self.addCleanup(client.logout)
        return client

    def system(self, client: HttpClient) -> RestResponse:
        return client.get(client.get(SYSTEMS).dict["Members"][0]["@odata.id"])

    def test_login_makes_a_session_and_logout_ends_it(self) -> None:
        client = self.client()
        location = client.get_session_location()
        members = client.get("/redfish/v1/SessionService/Sessions").dict["Members"]
        self.assertIn({"@odata.id": location.removeprefix(self.service.url)}, members)
        client.logout()
        self.assertEqual(client.get(SYSTEMS).status, 401)

    def test_a_wrong_password_is_refused(self) -> None:
        with self.assertRaises(InvalidCredentialsError):
            self.client(password="wrong-password")

    def test_a_patch_under_the_etag_changes_the_system(self) -> None:
        client = self.client()
        system = self.system(client)
        headers = {"If-Match": system.getheader("ETag")}
        uri = system.dict["@odata.id"]
        self.assertEqual(client.patch(uri, body={"AssetTag": "lib"}, headers=headers).status, 200)
        self.assertEqual(self.system(client).dict["AssetTag"], "lib")
        self.assertEqual(client.patch(uri, body={"AssetTag": "x"}, headers=headers).status, 412)

    def test_a_reset_switches_the_system_off(self) -> None:
        client = self.client()
        target = self.system(client).dict["Actions"]["#ComputerSystem.Reset"]["target"]
        self.assertEqual(client.post(target, body={"ResetType": "ForceOff"}).status, 200)
        self.service.advance(1)
        self.assertEqual(self.system(client).dict["PowerState"], "Off")

    def test_an_account_that_was_made_can_log_in_and_do_what_its_role_may(self) -> None:
        administrator = self.client()
        account = {"UserName": "reader", "Password": "Read-0nly-please", "RoleId": "ReadOnly"}
        made = administrator.post(ACCOUNTS, body=account)
        self.assertEqual(made.status, 201)
        uri = made.dict["@odata.id"]
        self.assertTrue(made.getheader("Location").endswith(uri))
        self.assertIsNone(made.dict["Password"])

        reader = self.client("reader", "Read-0nly-please")
        system = self.system(reader)
        self.assertEqual(system.status, 200)
        refused = reader.patch(system.dict["@odata.id"], body={"AssetTag": "x"})
        self.assertEqual(refused.status, 403)
        info = refused.dict["error"]["@Message.ExtendedInfo"][0]
        self.assertTrue(info["MessageId"].endswith(".InsufficientPrivilege"))

        reader.logout()
        self.assertIn(administrator.delete(uri).status, (200, 204))
        self.assertEqual(administrator.get(uri).status, 404)
        with self.assertRaises(InvalidCredentialsError):
            self.client("reader", "Read-0nly-please")

    def test_a_firmware_update_is_a_task_to_its_end(self) -> None:
        client = self.client()
        update = client.get("/redfish/v1/UpdateService").dict
        target = update["Actions"]["#UpdateService.SimpleUpdate"]["target"]
        started = client.post(target, body={"ImageURI": "https://images.example/bmc-1.1.bin"})
        self.assertTrue(started.is_processing)
        self.assertGreaterEqual(started.retry_after, 1)
        answer = started.monitor(client)
        self.assertTrue(answer.is_processing)
        self.service.advance(5)
        answer = started.monitor(client)
        self.assertIn(answer.status, (200, 204))
        tasks = client.get("/redfish/v1/TaskService/Tasks").dict["Members"]
        states = [client.get(task["@odata.id"]).dict["TaskState"] for task in tasks]
        self.assertIn("Completed", states)


if __name__ == "__main__":
    unittest.main()
