// SPDX-License-Identifier: Apache-2.0
#include "mockserver/instance/built_in_handlers.h"

#include "mockserver/access/accounts.h"
#include "mockserver/access/roles.h"
#include "mockserver/access/sessions.h"
#include "mockserver/behaviours/bios_actions.h"
#include "mockserver/behaviours/boot_options.h"
#include "mockserver/behaviours/certificates.h"
#include "mockserver/behaviours/ethernet_interface.h"
#include "mockserver/behaviours/firmware.h"
#include "mockserver/behaviours/log_service.h"
#include "mockserver/behaviours/manager.h"
#include "mockserver/behaviours/network_adapter.h"
#include "mockserver/behaviours/network_protocol.h"
#include "mockserver/behaviours/power.h"
#include "mockserver/behaviours/secure_boot.h"
#include "mockserver/behaviours/sensor.h"
#include "mockserver/behaviours/tasks.h"
#include "mockserver/behaviours/telemetry.h"
#include "mockserver/behaviours/virtual_media.h"
#include "mockserver/behaviours/volumes.h"
#include "mockserver/events/event_streams.h"
#include "mockserver/events/events.h"
#include "mockserver/events/subscriptions.h"
#include "mockserver/resources/boot_queue.h"
#include "mockserver/resources/settings.h"

namespace shoal::mockserver {

const HandlerTable& BuiltInHandlers() {
  static const HandlerTable kTable = [] {
    HandlerTable table;
    AddAccounts(table);
    AddBiosActions(table);
    AddBootOptions(table);
    AddBootQueue(table);
    AddCertificates(table);
    AddEthernetInterface(table);
    AddEventStreams(table);
    AddEvents(table);
    AddFirmware(table);
    AddLogService(table);
    AddManager(table);
    AddNetworkAdapter(table);
    AddNetworkProtocol(table);
    AddPower(table);
    AddRoles(table);
    AddSecureBoot(table);
    AddSensor(table);
    AddSessions(table);
    AddSettings(table);
    AddSubscriptions(table);
    AddTasks(table);
    AddTelemetry(table);
    AddVirtualMedia(table);
    AddVolumes(table);
    return table;
  }();
  return kTable;
}

}  // namespace shoal::mockserver
