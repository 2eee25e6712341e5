// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/manager.h"

#include <string>

#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

Response ResetManager(Editor& editor, const Call& call) {
  const std::string type = redfish::TextAt(call.body, "ResetType");
  editor.Record(redfish::kResetRecord, call.resource,
                {{"ResetType", type.empty() ? "GracefulRestart" : type}});
  editor.GoOffline(editor.options().manager_restart);
  const ResourceId manager = call.resource;
  editor.SetTimer(
      "manager:" + editor.Uri(manager), editor.options().manager_restart,
      [manager](Editor& later) { later.SetPresent(manager, "/LastResetTime", later.DateTime()); });
  return Done(editor);
}

}  // namespace

void AddManager(HandlerTable& handlers) { handlers.OnAction("Manager.Reset", &ResetManager); }

}  // namespace shoal::mockserver
