# SPDX-License-Identifier: Apache-2.0
"""Runs OpenStack's sushy, by which Ironic manages bare metal, on an iDRAC and an iLO.

Plain GETs show what an operation changed.
"""

import logging
import unittest
from typing import Any

import sushy
from sushy.auth import BasicAuth, SessionAuth, SessionOrBasicAuth
from sushy.exceptions import AccessError, BadRequestError, HTTPError, MissingAttributeError
from sushy.resources.system.storage.storage import Storage

from connection import FIRMWARE, IMAGE, ROOT, SESSIONS, SUBSCRIPTIONS
from service import PASSWORD
from service_case import ServiceCase



class Operations(ServiceCase):
    """These tests run on both captures. The classes below define the differences."""

    authentication = True
    system: str
    manager: str
    # The name of a BIOS attribute, its captured value and another valid value.
    attribute: tuple[str, str, str]
    # The sizes of all drives, and the number of volumes of each storage that has a collection.
    drives: list[int]
    volumes: dict[str, int]

    def setUp(self) -> None:
        super().setUp()
        # The client warns of each captured property that violates its schema.
        logging.getLogger("sushy").setLevel(logging.CRITICAL)
        self.enterContext(self.service.waits())
        self.auth = SessionOrBasicAuth(username=self.service.user, password=PASSWORD)
        self.root = self.log_in(self.auth)
        self.host = self.root.get_system()

    def log_in(self, auth: BasicAuth | SessionAuth) -> sushy.Sushy:
        root = sushy.Sushy(self.service.url, auth=auth, server_side_retries=5)
        self.addCleanup(auth.close)
        return root

    def reset_host(self, kind: sushy.ResetType) -> None:
        self.host.reset_system(kind)
        self.service.advance(1)
        self.host.refresh()

    def boot(self) -> dict[str, Any]:
        return self.read(self.system)["Boot"]

    # Sessions

    def test_it_works_in_a_session_and_ends_it(self) -> None:
        session = self.auth.get_session_resource_id()
        self.assertIn({"@odata.id": session}, self.read(SESSIONS)["Members"])
        listed = self.root.get_session_service().sessions.members_identities
        self.assertIn(session, listed)
        self.auth.close()
        self.assertNotIn({"@odata.id": session}, self.read(SESSIONS)["Members"])

    def test_a_session_that_ran_out_is_followed_by_another(self) -> None:
        first = self.auth.get_session_resource_id()
        self.service.advance(self.read(f"{ROOT}/SessionService")["SessionTimeout"] + 1)
        self.host.refresh()
        second = self.auth.get_session_resource_id()
        self.assertNotEqual(first, second)
        self.assertIn({"@odata.id": second}, self.read(SESSIONS)["Members"])

    def test_basic_authentication_makes_no_session(self) -> None:
        before = self.read(SESSIONS)["Members"]
        root = self.log_in(BasicAuth(username=self.service.user, password=PASSWORD))
        self.assertEqual(root.get_system().path, self.host.path)
        self.assertEqual(self.read(SESSIONS)["Members"], before)

    def test_a_wrong_password_is_refused(self) -> None:
        with self.assertRaises(AccessError):
            self.log_in(SessionAuth(username=self.service.user, password="wrong-password"))

    # Power

    def test_resets_switch_the_system_off_and_on(self) -> None:
        self.assertEqual(self.host.power_state, sushy.PowerState.ON)
        for kind, state in (
            (sushy.ResetType.FORCE_OFF, sushy.PowerState.OFF),
            (sushy.ResetType.ON, sushy.PowerState.ON),
            (sushy.ResetType.FORCE_RESTART, sushy.PowerState.ON),
            (sushy.ResetType.GRACEFUL_RESTART, sushy.PowerState.ON),
            (sushy.ResetType.GRACEFUL_SHUTDOWN, sushy.PowerState.OFF),
            (sushy.ResetType.PUSH_POWER_BUTTON, sushy.PowerState.ON),
            (sushy.ResetType.NMI, sushy.PowerState.ON),
        ):
            with self.subTest(kind):
                self.reset_host(kind)
                self.assertEqual(self.host.power_state, state)
                self.assertEqual(self.read(self.system)["PowerState"], state.value)

    def test_the_makers_refuse_to_restart_what_is_off(self) -> None:
        self.reset_host(sushy.ResetType.FORCE_OFF)
        with self.assertRaises(HTTPError) as refused:
            self.host.reset_system(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(refused.exception.status_code, 409)
        self.assertEqual(self.read(self.system)["PowerState"], "Off")

    # Boot

    def test_a_boot_device_for_once_is_gone_after_the_boot(self) -> None:
        self.assertIn(sushy.BootSource.PXE, self.host.get_allowed_system_boot_source_values())
        self.host.set_system_boot_options(
            sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE
        )
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "Pxe")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Once")
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(self.host.boot.target, sushy.BootSource.NONE)
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Disabled")

    def test_a_boot_device_for_good_stays(self) -> None:
        self.host.set_system_boot_options(
            sushy.BootSource.HDD,
            enabled=sushy.BootSourceOverrideEnabled.CONTINUOUS,
            mode=sushy.BootSourceOverrideMode.LEGACY,
        )
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(self.host.boot.target, sushy.BootSource.HDD)
        self.assertEqual(self.boot()["BootSourceOverrideTarget"], "Hdd")
        self.assertEqual(self.boot()["BootSourceOverrideEnabled"], "Continuous")
        self.assertEqual(self.boot()["BootSourceOverrideMode"], "Legacy")

    # BIOS

    def test_a_bios_attribute_waits_for_the_boot(self) -> None:
        name, old, new = self.attribute
        bios = self.host.bios
        settings = self.read(bios.path)["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        bios.set_attribute(name, new)
        bios.refresh()
        self.assertEqual(bios.attributes[name], old)
        self.assertEqual(bios.pending_attributes[name], new)
        self.assertEqual(self.read(bios.path)["Attributes"][name], old)
        self.assertEqual(self.read(settings)["Attributes"][name], new)
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(self.read(bios.path)["Attributes"][name], new)

    def test_the_bios_is_reset_at_the_boot(self) -> None:
        name, old, new = self.attribute
        bios = self.host.bios
        bios.set_attribute(name, new)
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        bios.reset_bios()
        self.assertEqual(self.read(bios.path)["Attributes"][name], new)
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(self.read(bios.path)["Attributes"][name], old)

    def test_a_value_that_the_attribute_may_not_have_is_refused(self) -> None:
        with self.assertRaises(BadRequestError):
            self.host.bios.set_attribute(self.attribute[0], "NoSuchValue")

    def test_the_registry_of_bios_attributes_names_the_values(self) -> None:
        registry = self.host.bios.get_attribute_registry()
        name, old, new = self.attribute
        (entry,) = (e for e in registry.registry_entries.attributes if e.name == name)
        self.assertEqual({value["ValueName"] for value in entry.allowable_values}, {old, new})

    # Secure boot

    def test_secure_boot_is_in_force_from_the_next_boot(self) -> None:
        secure_boot = self.host.secure_boot
        self.assertFalse(secure_boot.enabled)
        secure_boot.set_enabled(True)
        self.assertTrue(self.read(secure_boot.path)["SecureBootEnable"])
        self.assertEqual(self.read(secure_boot.path)["SecureBootCurrentBoot"], "Disabled")
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.assertEqual(self.read(secure_boot.path)["SecureBootCurrentBoot"], "Enabled")
        secure_boot.refresh()
        self.assertEqual(secure_boot.current_boot, sushy.SecureBootCurrentBoot.ENABLED)

    def test_without_keys_secure_boot_is_to_be_set_up(self) -> None:
        secure_boot = self.host.secure_boot
        secure_boot.reset_keys(sushy.SecureBootResetKeysType.DELETE_ALL_KEYS)
        self.assertEqual(self.read(secure_boot.path)["SecureBootMode"], "SetupMode")
        secure_boot.reset_keys(sushy.SecureBootResetKeysType.RESET_ALL_KEYS_TO_DEFAULT)
        self.assertEqual(self.read(secure_boot.path)["SecureBootMode"], "UserMode")

    # Virtual media

    def test_an_image_is_inserted_and_ejected(self) -> None:
        slots = self.root.get_manager().virtual_media.get_members()
        (slot,) = (slot for slot in slots if sushy.VirtualMediaType.CD in slot.media_types)
        slot.insert_media(IMAGE)
        slot.refresh()
        self.assertTrue(slot.inserted)
        held = self.read(slot.path)
        self.assertEqual((held["Image"], held["ConnectedVia"]), (IMAGE, "URI"))
        self.assertTrue(held["Inserted"])
        self.assertTrue(held["WriteProtected"])
        with self.assertRaises(HTTPError) as refused:
            slot.insert_media(IMAGE)
        self.assertEqual(refused.exception.status_code, 409)
        slot.eject_media()
        held = self.read(slot.path)
        self.assertFalse(held["Image"])
        self.assertFalse(held["Inserted"])
        self.assertEqual(held["ConnectedVia"], "NotConnected")

    # Hardware

    def test_storage_and_volumes_are_listed(self) -> None:
        self.assertEqual(self.host.storage.drives_sizes_bytes, self.drives)
        volumes = {}
        for storage in self.host.storage.get_members():
            try:
                listed = storage.volumes.get_members()
            except MissingAttributeError:
                self.assertNotIn("Volumes", self.read(storage.path))
                continue
            volumes[storage.identity] = len(listed)
            for volume in listed:
                self.assertEqual(volume.capacity_bytes, self.read(volume.path)["CapacityBytes"])
        self.assertEqual(volumes, self.volumes)

    def make_mirror(self, storage: Storage, when: sushy.ApplyTime | None = None) -> None:
        drives = [{"@odata.id": drive.path} for drive in storage.drives[:2]]
        mirror = {"RAIDType": "RAID1", "Name": "mirror", "Links": {"Drives": drives}}
        storage.volumes.create(mirror, apply_time=when)

    def volume_names(self, storage: Storage) -> list[str]:
        return [volume["Name"] for volume in self.members(storage.volumes.path)]

    def test_processors_and_networks_are_those_of_the_service(self) -> None:
        system = self.read(self.system)
        processors = self.members(system["Processors"]["@odata.id"])
        self.assertEqual(
            self.host.processors.summary.count,
            sum(processor.get("TotalThreads") or 0 for processor in processors),
        )
        networks = self.members(system["EthernetInterfaces"]["@odata.id"])
        healthy = {n["MACAddress"].lower() for n in networks if n["Status"]["Health"] == "OK"}
        self.assertGreater(len(healthy), 2)
        summary = self.host.ethernet_interfaces.summary
        self.assertEqual({address.lower() for address in summary}, healthy)

    def test_chassis_and_managers_of_the_system_are_found(self) -> None:
        system = self.read(self.system)
        for found, links in (
            (self.host.chassis, system["Links"]["Chassis"]),
            (self.host.managers, system["Links"]["ManagedBy"]),
        ):
            self.assertEqual([{"@odata.id": one.path} for one in found], links)

    # The manager

    def test_the_time_of_the_manager_is_set(self) -> None:
        self.root.get_manager().set_datetime("2031-02-03T04:05:06Z")
        self.assertEqual(self.read(self.manager)["DateTime"], "2031-02-03T04:05:06Z")

    def test_it_waits_for_a_manager_that_is_reset(self) -> None:
        self.root.get_manager().reset_manager(sushy.ResetType.GRACEFUL_RESTART)
        self.assertEqual(self.connection.send("GET", ROOT).status, 503)
        self.host.refresh()
        self.assertEqual(self.host.power_state.value, self.read(self.system)["PowerState"])

    # Events and updates

    def test_a_subscription_is_made_and_deleted(self) -> None:
        destination = "https://listener.example/events"
        made = self.root.get_event_service().subscriptions.create(
            {"Destination": destination, "Protocol": "Redfish", "Context": "shoal"}
        )
        self.assertEqual(self.read(made.path)["Destination"], destination)
        made.delete()
        self.assertNotIn({"@odata.id": made.path}, self.read(SUBSCRIPTIONS)["Members"])

    def test_a_firmware_update_is_a_task_that_changes_the_version(self) -> None:
        updates = self.root.get_update_service()
        started = updates.simple_update("http://images.example/bmc-9.8.7.bin")
        # sushy follows the task in the answer's body, but only the task monitor answers 202.
        uri = self.read(started.task_monitor_uri)["TaskMonitor"]
        monitor = self.root.get_task_monitor(uri)
        self.assertTrue(monitor.check_is_processing)
        self.assertEqual(monitor.task.task_state, sushy.TaskState.RUNNING)
        monitor.wait(60)
        self.assertFalse(monitor.is_processing)
        self.assertEqual(self.read(started.task_monitor_uri)["TaskState"], "Completed")
        self.assertEqual(self.read(self.manager)["FirmwareVersion"], "9.8.7")
        versions = [item.version for item in updates.firmware_inventory.get_members()]
        self.assertIn("9.8.7", versions)


class DellR750(Operations):
    capture = "dell-r750"
    system = f"{ROOT}/Systems/System.Embedded.1"
    manager = f"{ROOT}/Managers/iDRAC.Embedded.1"
    attribute = ("ProcVirtualization", "Enabled", "Disabled")
    drives = [1920383410176] * 3
    volumes = {"CPU.1": 3, "AHCI.Embedded.1-1": 0, "AHCI.Embedded.2-1": 0}

    def test_the_indicator_blinks_and_stops(self) -> None:
        for led in (sushy.IndicatorLED.BLINKING, sushy.IndicatorLED.LIT):
            self.host.set_indicator_led(led)
            self.assertEqual(self.read(self.system)["IndicatorLED"], led.value)

    def test_a_volume_is_made_at_the_boot(self) -> None:
        (storage,) = (s for s in self.host.storage.get_members() if s.identity == "CPU.1")
        self.make_mirror(storage, sushy.ApplyTime.ON_RESET)
        self.service.advance(10)
        self.assertNotIn("mirror", self.volume_names(storage))
        self.reset_host(sushy.ResetType.FORCE_RESTART)
        self.service.advance(10)
        self.assertIn("mirror", self.volume_names(storage))


class HpeDl380aGen12(Operations):
    capture = "hpe-dl380a-gen12"
    system = f"{ROOT}/Systems/1"
    manager = f"{ROOT}/Managers/1"
    attribute = ("ProcHyperthreading", "Enabled", "Disabled")
    drives = [480103981056] * 2 + [3200631791616] * 4
    volumes = {"DE010000": 1}

    @unittest.expectedFailure
    def test_the_registry_of_bios_attributes_names_the_values(self) -> None:
        """The capture links the registry in lower case, but its folder has capitals.

        An iLO ignores the case of paths, and the service does not.
        """
        super().test_the_registry_of_bios_attributes_names_the_values()

    def test_a_volume_is_deleted_and_another_is_made_of_its_drives(self) -> None:
        (storage,) = (s for s in self.host.storage.get_members() if s.identity == "DE010000")
        (volume,) = storage.volumes.get_members()
        with self.assertRaises(HTTPError) as refused:
            self.make_mirror(storage)
        self.assertEqual(refused.exception.status_code, 409)
        volume.delete()
        self.service.advance(10)
        self.assertEqual(self.volume_names(storage), [])
        self.make_mirror(storage)
        self.service.advance(10)
        self.assertEqual(self.volume_names(storage), ["mirror"])

    def test_an_indicator_that_is_not_there_is_refused(self) -> None:
        with self.assertRaises(BadRequestError):
            self.host.set_indicator_led(sushy.IndicatorLED.BLINKING)


def load_tests(loader: unittest.TestLoader, *_: object) -> unittest.TestSuite:
    cases = (DellR750, HpeDl380aGen12)
    return unittest.TestSuite(map(loader.loadTestsFromTestCase, cases))


if __name__ == "__main__":
    unittest.main()
