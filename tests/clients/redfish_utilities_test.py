# SPDX-License-Identifier: Apache-2.0
"""Runs the library and some programs of DMTF's redfish_utilities on an iDRAC and an iLO.

Plain GETs show what an operation changed.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import redfish
import redfish_utilities
from redfish.rest.v1 import HttpClient, InvalidCredentialsError, SessionCreationError
from redfish_utilities.logs import log_container
from redfish_utilities.messages import RedfishOperationFailedError
from redfish_utilities.systems import RedfishNoAcceptableVirtualMediaError

from connection import FIRMWARE, IMAGE, ROOT, SESSIONS, SUBSCRIPTIONS
from service import PASSWORD
from service_case import ServiceCase

ACCOUNTS = f"{ROOT}/AccountService/Accounts"


class Operations(ServiceCase):
    """These tests run on both captures. The classes below define the differences."""

    authentication = True
    system: str
    manager: str
    # The name of a BIOS attribute, its captured value and another valid value.
    attribute: tuple[str, str, str]
    # The kind of the log's owner, the owner's Id, the log's Id and the number of its entries.
    log: tuple[log_container, str, str, int]
    # Accounts are created by PATCH of an empty slot, not by POST.
    has_account_slots: bool

    def setUp(self) -> None:
        super().setUp()
        self.enterContext(self.service.waits())
        # An operation that starts a task then waits for its end.
        redfish_utilities.config.__auto_task_handling__ = True
        self.client = self.log_in(self.service.user)

    def log_in(self, user: str, password: str = PASSWORD) -> HttpClient:
        client = redfish.redfish_client(
            base_url=self.service.url, username=user, password=password, max_retry=0
        )
        client.login(auth="session")
        self.addCleanup(self.log_out, client)
        return client

    def log_out(self, client: HttpClient) -> None:
        if client.get_session_key():
            client.logout()

    def assert_refused(self, user: str, password: str) -> None:
        with self.assertRaises((InvalidCredentialsError, SessionCreationError)):
            self.log_in(user, password)

    def run_program(self, name: str, *words: str) -> str:
        """Runs one of the programs, as an operator types it, and returns its output."""
        command = [sys.executable, str(Path(sys.executable).with_name(name))]
        command += ["--rhost", self.service.url, "--user", self.service.user]
        run = subprocess.run(
            [*command, "--password", PASSWORD, *words],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def boot(self) -> dict[str, Any]:
        return self.read(self.system)["Boot"]

    def reset_system(self, kind: str | None = None) -> None:
        redfish_utilities.system_reset(self.client, reset_type=kind)
        self.service.advance(1)

    def accounts(self) -> dict[str, dict[str, Any]]:
        return {account["UserName"]: account for account in self.members(ACCOUNTS)}

    # Sessions

    def test_a_login_is_a_session_and_a_logout_ends_it(self) -> None:
        mine = self.client.get_session_location().removeprefix(self.service.url)
        self.assertIn({"@odata.id": mine}, self.read(SESSIONS)["Members"])
        self.assertEqual(self.read(mine)["UserName"], self.service.user)
        key = self.client.get_session_key()
        self.client.logout()
        self.assertNotIn({"@odata.id": mine}, self.read(SESSIONS)["Members"])
        answer = self.connection.send("GET", self.system, X_Auth_Token=key)
        self.assertEqual(answer.status, 401)

    # Inventories

    def test_the_inventory_lists_each_component_of_the_system(self) -> None:
        listed: dict[str, list[dict[str, Any]]] = {}
        for chassis in redfish_utilities.get_system_inventory(self.client):
            for kind, components in chassis.items():
                if isinstance(components, list):
                    listed.setdefault(kind, []).extend(components)
        system = self.read(self.system)
        for kind in ("Processors", "Memory"):
            members = self.read(system[kind]["@odata.id"])["Members"]
            uris = {member["@odata.id"] for member in members}
            self.assertLessEqual(uris, {component["Uri"] for component in listed[kind]})
        for component in listed["Processors"] + listed["Memory"] + listed["Drives"]:
            resource = self.read(component["Uri"])
            for name in ("Model", "SerialNumber", "PartNumber"):
                self.assertEqual(component[name], resource.get(name), component["Uri"])

    def test_its_program_prints_the_inventory(self) -> None:
        printed = self.run_program("rf_sys_inventory.py", "--details")
        processors = self.members(self.read(self.system)["Processors"]["@odata.id"])
        self.assertIn(processors[0]["Model"].strip(), printed)

    def test_sensors_have_the_readings_of_their_chassis(self) -> None:
        readings = redfish_utilities.get_sensors(self.client)
        chassis = [chassis["Name"] for chassis in self.members(f"{ROOT}/Chassis")]
        self.assertEqual([listed["ChassisName"] for listed in readings], chassis)
        self.assertGreater(len(readings[0]["Readings"]), 40)

    def test_the_firmware_inventory_has_every_version(self) -> None:
        listed = redfish_utilities.get_firmware_inventory(self.client)
        versions = {item["@odata.id"]: item.get("Version") for item in self.members(FIRMWARE)}
        self.assertGreater(len(versions), 20)
        self.assertEqual({item["@odata.id"]: item.get("Version") for item in listed}, versions)

    # Boot override

    def test_an_override_for_one_boot_is_gone_after_it(self) -> None:
        redfish_utilities.set_system_boot(self.client, ov_target="Pxe", ov_enabled="Once")
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "Pxe")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Once")
        self.reset_system()
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "None")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Disabled")

    def test_an_override_for_every_boot_stays_until_it_is_taken_back(self) -> None:
        redfish_utilities.set_system_boot(
            self.client, ov_target="Hdd", ov_enabled="Continuous", ov_mode="Legacy"
        )
        self.reset_system()
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "Hdd")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Continuous")
        self.assertEqual(self.boot()["BootSourceOverrideMode"], "Legacy")
        redfish_utilities.set_system_boot(self.client, ov_target="None", ov_enabled="Disabled")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Disabled")

    def test_its_program_sets_an_override_and_resets(self) -> None:
        self.reset_system("ForceOff")
        self.reset_system("On")
        self.run_program("rf_boot_override.py", "--target", "BiosSetup")
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "BiosSetup")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Once")
        self.run_program("rf_power_reset.py", "--type", "ForceOff")
        self.service.advance(1)
        self.assertEqual(self.read(self.system)["PowerState"], "Off")

    # Power

    def test_resets_switch_the_system_off_and_on(self) -> None:
        for kind, state in (
            ("ForceOff", "Off"),
            ("On", "On"),
            ("GracefulRestart", "On"),
            ("GracefulShutdown", "Off"),
            ("PushPowerButton", "On"),
        ):
            with self.subTest(kind):
                self.reset_system(kind)
                self.assertEqual(self.read(self.system)["PowerState"], state)

    def test_a_reset_that_is_not_offered_is_refused(self) -> None:
        with self.assertRaisesRegex(RedfishOperationFailedError, "HTTP 400"):
            redfish_utilities.system_reset(self.client, reset_type="Suspend")
        self.assertEqual(self.read(self.system)["PowerState"], "On")

    # Accounts

    def test_an_account_is_added_changed_and_deleted(self) -> None:
        before = self.accounts()
        added = redfish_utilities.add_user(self.client, "ada", "First-pass-1", "Operator")
        self.assertEqual(added.status, 200 if self.has_account_slots else 201)
        self.assertEqual(self.accounts()["ada"]["RoleId"], "Operator")
        self.assertIsNone(self.accounts()["ada"]["Password"])
        self.assertIn("Redfish", self.accounts()["ada"]["AccountTypes"])

        redfish_utilities.modify_user(self.client, "ada", new_role="ReadOnly")
        self.assertEqual(self.accounts()["ada"]["RoleId"], "ReadOnly")
        redfish_utilities.modify_user(self.client, "ada", new_name="eve")
        self.assertIn("eve", self.accounts())
        self.assertNotIn("ada", self.accounts())

        redfish_utilities.delete_user(self.client, "eve")
        self.assertEqual(self.accounts().keys(), before.keys())

    def test_a_new_password_opens_and_the_old_one_no_longer(self) -> None:
        redfish_utilities.add_user(self.client, "ada", "First-pass-1", "Operator")
        if self.has_account_slots:
            redfish_utilities.modify_user(self.client, "ada", new_enabled=True)
        self.log_in("ada", "First-pass-1")
        redfish_utilities.modify_user(self.client, "ada", new_password="Second-pass-2")
        self.assert_refused("ada", "First-pass-1")
        self.log_in("ada", "Second-pass-2")

    def test_an_account_that_is_disabled_opens_nothing_until_it_is_enabled(self) -> None:
        redfish_utilities.add_user(self.client, "ada", "First-pass-1", "Operator")
        redfish_utilities.modify_user(self.client, "ada", new_enabled=False)
        self.assertFalse(self.accounts()["ada"]["Enabled"])
        self.assert_refused("ada", "First-pass-1")
        redfish_utilities.modify_user(self.client, "ada", new_enabled=True)
        self.log_in("ada", "First-pass-1")

    def test_its_program_adds_and_deletes_an_account(self) -> None:
        self.run_program("rf_accounts.py", "--add", "ada", "First-pass-1", "Administrator")
        self.assertEqual(self.accounts()["ada"]["RoleId"], "Administrator")
        self.run_program("rf_accounts.py", "--delete", "ada")
        self.assertNotIn("ada", self.accounts())

    # BIOS

    def test_a_bios_attribute_waits_for_the_boot(self) -> None:
        name, old, new = self.attribute
        bios = self.read(self.system)["Bios"]["@odata.id"]
        settings = self.read(bios)["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        redfish_utilities.set_system_bios(self.client, {name: new})
        current, future = redfish_utilities.get_system_bios(self.client)
        self.assertEqual((current[name], future[name]), (old, new))
        self.assertEqual(self.read(bios)["Attributes"][name], old)
        self.assertEqual(self.read(settings)["Attributes"][name], new)
        self.reset_system()
        self.assertEqual(self.read(bios)["Attributes"][name], new)
        redfish_utilities.reset_system_bios(self.client)
        self.reset_system()
        self.assertEqual(self.read(bios)["Attributes"][name], old)

    def test_an_unknown_bios_attribute_is_refused(self) -> None:
        with self.assertRaisesRegex(RedfishOperationFailedError, "HTTP 400"):
            redfish_utilities.set_system_bios(self.client, {"NoSuchAttribute": "x"})

    # Logs

    def test_a_log_is_listed_and_cleared(self) -> None:
        container, owner, name, count = self.log
        service = redfish_utilities.get_log_service(self.client, container, owner, name).dict
        entries = redfish_utilities.get_log_entries(self.client, container, owner, name)
        uri = service["Entries"]["@odata.id"]
        self.assertEqual([entry["Id"] for entry in entries], [e["Id"] for e in self.all_of(uri)])
        self.assertEqual(len(entries), count)
        redfish_utilities.clear_log_entries(self.client, container, owner, name)
        self.assertEqual(self.read(uri)["Members"], [])
        self.assertEqual(self.read(uri)["Members@odata.count"], 0)

    def all_of(self, uri: str) -> list[Any]:
        """Returns the members of a collection whose pages contain them in full."""
        page = self.read(uri)
        members = page["Members"]
        while "Members@odata.nextLink" in page:
            page = self.read(page["Members@odata.nextLink"])
            members += page["Members"]
        return members

    # The manager and its network

    def test_the_time_of_the_manager_is_set(self) -> None:
        redfish_utilities.set_manager(self.client, date_time="2031-02-03T04:05:06Z")
        self.assertEqual(self.read(self.manager)["DateTime"], "2031-02-03T04:05:06Z")

    def test_protocols_of_the_manager_are_switched_and_moved(self) -> None:
        uri = self.read(self.manager)["NetworkProtocol"]["@odata.id"]
        redfish_utilities.set_manager_network_protocol(
            self.client, network_protocol={"SSH": {"ProtocolEnabled": False, "Port": 2222}}
        )
        self.assertFalse(self.read(uri)["SSH"]["ProtocolEnabled"])
        self.assertEqual(self.read(uri)["SSH"]["Port"], 2222)
        before = self.read(uri)
        with self.assertRaisesRegex(RedfishOperationFailedError, "HTTP 400"):
            redfish_utilities.set_manager_network_protocol(
                self.client, network_protocol={"SSH": {"Port": 70000}}
            )
        self.assertEqual(self.read(uri), before)

    def test_the_network_of_the_manager_is_configured(self) -> None:
        name = redfish_utilities.get_manager_ethernet_interface_ids(self.client)[0]
        interface = redfish_utilities.get_manager_ethernet_interface(
            self.client, interface_id=name
        ).dict
        address = {"Address": "10.9.8.7", "SubnetMask": "255.255.255.0", "Gateway": "10.9.8.1"}
        redfish_utilities.set_manager_ethernet_interface(
            self.client,
            interface_id=name,
            hostname="shoal",
            vlan={"VLANEnable": True, "VLANId": 7},
            ipv4_addresses=[address],
            ipv6_addresses=[{"Address": "fd00::7", "PrefixLength": 64}],
        )
        changed = self.read(interface["@odata.id"])
        self.assertEqual(changed["HostName"], "shoal")
        self.assertEqual((changed["VLAN"]["VLANEnable"], changed["VLAN"]["VLANId"]), (True, 7))
        addresses = "IPv4StaticAddresses" if "IPv4StaticAddresses" in interface else "IPv4Addresses"
        self.assertLessEqual(address.items(), changed[addresses][0].items())
        self.assertEqual(changed["IPv6StaticAddresses"][0]["Address"], "fd00::7")

    def test_a_manager_that_is_reset_is_away_and_comes_back(self) -> None:
        redfish_utilities.manager_reset(self.client)
        self.assertEqual(self.connection.send("GET", ROOT).status, 503)
        self.service.advance(10)
        manager = redfish_utilities.get_manager(self.client)
        self.assertEqual(manager.dict, self.read(self.manager))

    # Virtual media

    def slots(self) -> dict[str, dict[str, Any]]:
        owner = self.read(self.system)
        if "VirtualMedia" not in owner:
            owner = self.read(self.manager)
        return {slot["Id"]: slot for slot in self.members(owner["VirtualMedia"]["@odata.id"])}

    def test_an_image_that_was_inserted_is_ejected(self) -> None:
        redfish_utilities.insert_virtual_media(self.client, IMAGE)
        (name,) = (name for name, slot in self.slots().items() if slot["Inserted"])
        slot = self.slots()[name]
        self.assertEqual((slot["Image"], slot["ConnectedVia"]), (IMAGE, "URI"))
        self.assertTrue({"CD", "DVD"} & set(slot["MediaTypes"]))
        redfish_utilities.eject_virtual_media(self.client, name)
        slot = self.slots()[name]
        self.assertFalse(slot["Inserted"])
        self.assertFalse(slot["Image"])
        self.assertEqual(slot["ConnectedVia"], "NotConnected")

    # Events, updates and certificates

    def test_a_subscription_is_made_and_deleted(self) -> None:
        destination = "https://listener.example/events"
        redfish_utilities.create_event_subscription(
            self.client, destination, client_context="shoal"
        )
        subscriptions = self.members(SUBSCRIPTIONS)
        (made,) = (made for made in subscriptions if made["Destination"] == destination)
        self.assertEqual(made["Context"], "shoal")
        redfish_utilities.delete_event_subscription(self.client, made["Id"])
        destinations = [listed["Destination"] for listed in self.members(SUBSCRIPTIONS)]
        self.assertNotIn(destination, destinations)

    def test_a_firmware_update_is_a_task_that_changes_the_version(self) -> None:
        answer = redfish_utilities.simple_update(self.client, "http://images.example/bmc-9.8.7.bin")
        self.assertTrue(answer.is_processing)
        answer = redfish_utilities.poll_task_monitor(self.client, answer, silent=True)
        self.assertIn(answer.status, (200, 204))
        self.assertEqual(self.read(self.manager)["FirmwareVersion"], "9.8.7")
        self.assertIn("9.8.7", [item.get("Version") for item in self.members(FIRMWARE)])

    def test_every_certificate_of_the_locations_is_listed(self) -> None:
        listed = redfish_utilities.get_all_certificates(self.client)
        locations = self.read(f"{ROOT}/CertificateService/CertificateLocations")
        links = [link["@odata.id"] for link in locations["Links"]["Certificates"]]
        self.assertGreater(len(links), 0)
        self.assertEqual([certificate["URI"] for certificate in listed], links)


class DellR750(Operations):
    capture = "dell-r750"
    system = f"{ROOT}/Systems/System.Embedded.1"
    manager = f"{ROOT}/Managers/iDRAC.Embedded.1"
    attribute = ("ProcVirtualization", "Enabled", "Disabled")
    log = (log_container.MANAGER, "iDRAC.Embedded.1", "Sel", 5)
    has_account_slots = True

    def test_an_image_is_pushed_in_parts(self) -> None:
        image = Path(self.enterContext(tempfile.TemporaryDirectory())) / "bmc-9.8.7.bin"
        image.write_bytes(b"firmware")
        answer = redfish_utilities.multipart_push_update(self.client, str(image))
        answer = redfish_utilities.poll_task_monitor(self.client, answer, silent=True)
        self.assertIn(answer.status, (200, 204))
        self.assertEqual(self.read(self.manager)["FirmwareVersion"], "9.8.7")


class HpeDl380aGen12(Operations):
    capture = "hpe-dl380a-gen12"
    system = f"{ROOT}/Systems/1"
    manager = f"{ROOT}/Managers/1"
    attribute = ("ProcHyperthreading", "Enabled", "Disabled")
    log = (log_container.SYSTEM, "1", "IML", 108)
    has_account_slots = False

    def test_an_image_that_was_inserted_is_ejected(self) -> None:
        """An iLO writes "" in an empty slot, but the library looks for null."""
        with self.assertRaises(RedfishNoAcceptableVirtualMediaError):
            redfish_utilities.insert_virtual_media(self.client, IMAGE)
        self.assertEqual({slot["Image"] for slot in self.slots().values()}, {""})


def load_tests(loader: unittest.TestLoader, *_: object) -> unittest.TestSuite:
    cases = (DellR750, HpeDl380aGen12)
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, cases))


if __name__ == "__main__":
    unittest.main()
