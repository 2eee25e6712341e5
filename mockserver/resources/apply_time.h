// SPDX-License-Identifier: Apache-2.0
// When a client wants its change to take effect (DSP0266, "Settings resource" and "Operation apply
// time").
//
//   {"Attributes": {..}, "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}
//   {"RAIDType": "RAID1", .., "@Redfish.OperationApplyTime": "OnReset"}
//
// A service says what it supports beside the settings object, or beside the operation; only that is
// accepted, the rest is 400.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

enum class ApplyTime : std::uint8_t {
  kImmediate,
  kOnReset,
  kAtMaintenanceWindowStart,
  kInMaintenanceWindowOnReset,
  kOnStartUpdateRequest,
};

struct ApplyTimeChoice {
  ApplyTime time = ApplyTime::kImmediate;
  // The maintenance window on the virtual clock; all of the time for what needs none.
  std::chrono::milliseconds window_start = std::chrono::milliseconds::min();
  std::chrono::milliseconds window_end = std::chrono::milliseconds::max();
  // What to answer when the client's choice is none.
  std::optional<Response> refusal;
};

// Of an operation; `support` is the object that carries @Redfish.OperationApplyTimeSupport, which
// lists Immediate alone when it is missing. A client that does not choose gets Immediate, or the
// first one supported. Maintenance windows are not for operations.
ApplyTimeChoice OperationApplyTime(const Json& body, const Json* support);

// Of a PATCH of `settings`. Where the service does not list any, OnReset alone is supported. A
// client that does not choose gets OnReset, or the first one supported. A maintenance window needs
// its start; without a duration it does not end.
ApplyTimeChoice SettingsApplyTime(const Editor& editor, ResourceId settings, const Json& body);

}  // namespace shoal::mockserver
