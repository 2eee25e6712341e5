// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/manager.h"

#include <string>

#include "mockserver/access/credentials.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/captured_state.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

Response Restart(Editor& editor, ResourceId manager, const std::string& type) {
  editor.Record(redfish::kResetRecord, manager, {{"ResetType", type}});
  editor.GoOffline(editor.options().manager_restart);
  editor.SetTimer(
      "manager:" + editor.Uri(manager), editor.options().manager_restart,
      [manager](Editor& later) { later.SetPresent(manager, "/LastResetTime", later.DateTime()); });
  return Done(editor);
}

Response ResetManager(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetType");
  return Restart(editor, call.resource, type.empty() ? "GracefulRestart" : type);
}

bool IsNetwork(const World::Resource& resource) {
  const std::string_view type = resource.odata_type;
  return type.find("EthernetInterface") != std::string_view::npos ||
         type.find("ManagerNetworkProtocol") != std::string_view::npos;
}

void RestoreAccounts(Editor& editor) {
  const auto service = AccountService(editor);
  if (!service) return;
  const std::string uri = editor.Uri(*service);
  RestoreCaptured(editor, uri);
  const auto accounts = editor.Linked(*service, "/Accounts");
  if (!accounts) return;
  for (const ResourceId account : editor.Members(*accounts)) {
    ForgetPassword(editor, account);
    Unlock(editor, account);
  }
}

Response ResetToDefaults(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetType");
  if (type.empty()) {
    return ErrorResponse(400, "ActionParameterMissing", {call.action->name, "ResetType"});
  }
  const bool keeps_network = type != "ResetAll";
  const std::string uri = editor.Uri(call.resource);
  RestoreCaptured(editor, uri, [keeps_network](const World::Resource& resource) {
    return keeps_network && IsNetwork(resource);
  });
  if (type != "PreserveNetworkAndUsers") RestoreAccounts(editor);
  return Restart(editor, call.resource, type);
}

}  // namespace

void AddManager(HandlerTable& handlers) {
  handlers.OnAction("Manager.Reset", &ResetManager);
  handlers.OnAction("Manager.ResetToDefaults", &ResetToDefaults);
}

}  // namespace shoal::mockserver
