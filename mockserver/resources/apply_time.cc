// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/apply_time.h"

#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kOperationApplyTime = "@Redfish.OperationApplyTime";
constexpr const char* kSettingsApplyTime = "@Redfish.SettingsApplyTime";
constexpr const char* kWindowStart = "MaintenanceWindowStartTime";
constexpr const char* kWindowSeconds = "MaintenanceWindowDurationInSeconds";

constexpr std::array kNames = {
    std::pair("Immediate", ApplyTime::kImmediate), std::pair("OnReset", ApplyTime::kOnReset),
    std::pair("AtMaintenanceWindowStart", ApplyTime::kAtMaintenanceWindowStart),
    std::pair("InMaintenanceWindowOnReset", ApplyTime::kInMaintenanceWindowOnReset),
    std::pair("OnStartUpdateRequest", ApplyTime::kOnStartUpdateRequest)};

bool HasWindow(ApplyTime time) {
  return time == ApplyTime::kAtMaintenanceWindowStart ||
         time == ApplyTime::kInMaintenanceWindowOnReset;
}

std::optional<ApplyTime> Parse(std::string_view name) {
  for (const auto& [known, time] : kNames) {
    if (known == name) return time;
  }
  return std::nullopt;
}

std::vector<ApplyTime> TimesIn(const Json* list) {
  std::vector<ApplyTime> times;
  if (list == nullptr || !list->is_array()) return times;
  for (const Json& name : *list) {
    const auto time = name.is_string() ? Parse(name.get<std::string>()) : std::nullopt;
    if (time.has_value()) times.push_back(*time);
  }
  return times;
}

bool Has(const std::vector<ApplyTime>& times, ApplyTime time) {
  return std::find(times.begin(), times.end(), time) != times.end();
}

ApplyTimeChoice Refused(std::string_view id, std::initializer_list<std::string> args) {
  ApplyTimeChoice choice;
  choice.refusal = ErrorResponse(400, id, args);
  return choice;
}

ApplyTimeChoice Choose(const Json& value, const char* name, const std::vector<ApplyTime>& times) {
  if (!value.is_string()) return Refused("PropertyValueTypeError", {Excerpt(value, name), name});
  const auto time = Parse(value.get<std::string>());
  if (!time || !Has(times, *time)) {
    return Refused("PropertyValueNotInList", {Excerpt(value, name), name});
  }
  return {.time = *time, .refusal = std::nullopt};
}

ApplyTimeChoice Unchosen(const std::vector<ApplyTime>& times, ApplyTime preferred) {
  return {.time = Has(times, preferred) || times.empty() ? preferred : times.front(),
          .refusal = std::nullopt};
}

void SetWindow(const Json& asked, std::chrono::milliseconds epoch, ApplyTimeChoice& choice) {
  const std::string start = redfish::TextAt(asked, kWindowStart);
  if (start.empty()) {
    choice = Refused("PropertyMissing", {kWindowStart});
    return;
  }
  absl::Time time;
  std::string error;
  const absl::Time year_10000 = absl::FromUnixSeconds(253'402'300'800);
  if (!absl::ParseTime(absl::RFC3339_full, start, &time, &error) || time < absl::UnixEpoch() ||
      time >= year_10000) {
    choice = Refused("PropertyValueFormatError", {Excerpt(start, kWindowStart), kWindowStart});
    return;
  }
  choice.window_start = std::chrono::milliseconds(absl::ToUnixMillis(time)) - epoch;
  const auto seconds = asked.find(kWindowSeconds);
  if (seconds == asked.end()) return;
  constexpr std::int64_t kMost = 1'000'000'000;
  if (!seconds->is_number_integer() || *seconds < 1 || *seconds > kMost) {
    choice =
        Refused("PropertyValueOutOfRange", {Excerpt(*seconds, kWindowSeconds), kWindowSeconds});
    return;
  }
  choice.window_end = choice.window_start + std::chrono::seconds(seconds->get<std::int64_t>());
}

}  // namespace

ApplyTimeChoice OperationApplyTime(const Json& body, const Json* support) {
  const Json* const list =
      support == nullptr
          ? nullptr
          : redfish::Resolve(*support, "/@Redfish.OperationApplyTimeSupport/SupportedValues");
  std::vector<ApplyTime> times = TimesIn(list);
  std::erase_if(times, &HasWindow);
  if (times.empty()) times = {ApplyTime::kImmediate};
  const auto asked = body.find(kOperationApplyTime);
  return asked == body.end() ? Unchosen(times, ApplyTime::kImmediate)
                             : Choose(*asked, kOperationApplyTime, times);
}

ApplyTimeChoice SettingsApplyTime(const Editor& editor, ResourceId settings, const Json& body) {
  const auto active = editor.world().ActiveOf(settings);
  if (!active) return {};
  std::vector<ApplyTime> times =
      TimesIn(editor.Read(*active, "/@Redfish.Settings/SupportedApplyTimes"));
  if (times.empty()) times = {ApplyTime::kOnReset};
  const auto asked = body.find(kSettingsApplyTime);
  if (asked == body.end()) return Unchosen(times, ApplyTime::kOnReset);
  if (!asked->is_object()) {
    return Refused("PropertyValueTypeError",
                   {Excerpt(*asked, kSettingsApplyTime), kSettingsApplyTime});
  }
  const auto name = asked->find("ApplyTime");
  if (name == asked->end()) return Refused("PropertyMissing", {"ApplyTime"});
  ApplyTimeChoice choice = Choose(*name, "ApplyTime", times);
  if (!choice.refusal && HasWindow(choice.time)) SetWindow(*asked, editor.Epoch(), choice);
  return choice;
}

}  // namespace shoal::mockserver
