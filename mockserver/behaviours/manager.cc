// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/manager.h"

#include <absl/strings/match.h>
#include <absl/time/time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "mockserver/access/credentials.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/captured_state.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kDateTime = "/DateTime";

// How far the clocks that clients have set are ahead of the service's.
struct ManagerClocks {
  std::map<ResourceId, absl::Duration> ahead;
};

absl::Time ServiceTime(const Editor& editor) {
  return absl::FromUnixMillis((editor.Epoch() + editor.now()).count());
}

// Converts "+05:30" to a zone. Any other text stands for UTC.
absl::TimeZone ZoneOf(const std::string& offset) {
  absl::Time midnight;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, "1970-01-01T00:00:00" + offset, &midnight, &error)) {
    return absl::UTCTimeZone();
  }
  return absl::FixedTimeZone(static_cast<int>(-absl::ToUnixSeconds(midnight)));
}

void SetClock(Editor& editor, ResourceId manager, const Json& asked) {
  absl::Time time;
  std::string error;
  const std::string text = editor.Text(manager, kDateTime);
  if (asked != Json(text) || !absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return;
  editor.Notes<ManagerClocks>().ahead[manager] = time - ServiceTime(editor);
}

Response PatchManager(Editor& editor, const Call& call) {
  PatchRules rules;
  const auto asked = call.body.find("DateTime");
  if (asked != call.body.end() && editor.options().clock == ClockKind::kReal) {
    rules.follow = [&editor, &call, asked] { SetClock(editor, call.resource, *asked); };
  }
  Response response = Patch(editor, call.resource, call.body, rules);
  ShowManagerTime(editor, call.resource, response);
  return response;
}

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
  editor.Notes<ManagerClocks>().ahead.erase(call.resource);
  return Restart(editor, call.resource, type);
}

}  // namespace

std::optional<std::string> ManagerTime(const Editor& editor, ResourceId id) {
  if (editor.options().clock != ClockKind::kReal || !editor.IsA(id, "Manager")) return std::nullopt;
  const std::string held = editor.Text(id, kDateTime);
  if (held.empty()) return std::nullopt;
  absl::Time time = ServiceTime(editor);
  if (const ManagerClocks* const clocks = editor.FindNotes<ManagerClocks>()) {
    const auto set = clocks->ahead.find(id);
    if (set != clocks->ahead.end()) time += set->second;
  }
  // The last day of the year 9999 has no time zone that makes it the year 10000.
  time = std::clamp(time, absl::UnixEpoch(), absl::FromUnixSeconds(253'402'214'400));
  const absl::TimeZone zone = ZoneOf(editor.Text(id, "/DateTimeLocalOffset"));
  if (absl::EndsWith(held, "Z") && zone == absl::UTCTimeZone()) {
    return absl::FormatTime("%E4Y-%m-%d%ET%H:%M:%SZ", time, zone);
  }
  return absl::FormatTime("%E4Y-%m-%d%ET%H:%M:%S%Ez", time, zone);
}

void ShowManagerTime(const Editor& editor, ResourceId id, Response& response) {
  if (response.json == nullptr || redfish::Resolve(*response.json, kDateTime) == nullptr) return;
  std::optional<std::string> time = ManagerTime(editor, id);
  if (!time) return;
  auto shown = std::make_shared<Json>(*response.json);
  (*shown)["DateTime"] = *std::move(time);
  if (response.body != nullptr) {
    response.body = std::make_shared<const std::string>(Serialise(*shown));
  }
  response.json = std::move(shown);
}

void AddManager(HandlerTable& handlers) {
  handlers.On(Method::kPatch, "Manager", &PatchManager);
  handlers.OnAction("Manager.Reset", &ResetManager);
  handlers.OnAction("Manager.ResetToDefaults", &ResetToDefaults);
}

}  // namespace shoal::mockserver
