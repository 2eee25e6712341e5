// SPDX-License-Identifier: Apache-2.0
// When a client wants its change to take effect (DSP0266, "Settings resource" and "Operation apply
// time").
//
//   {"Attributes": {..}, "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}
//   {"RAIDType": "RAID1", .., "@Redfish.OperationApplyTime": "OnReset"}
//
// A service lists the apply times that it supports beside the settings object, or beside the
// operation. It accepts only those; any other is 400.
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
  // The maintenance window on the virtual clock. It covers all time when the apply time needs no
  // window.
  std::chrono::milliseconds window_start = std::chrono::milliseconds::min();
  std::chrono::milliseconds window_end = std::chrono::milliseconds::max();
  // The answer to the request when the client's choice is not valid.
  std::optional<Response> refusal;
};

// Reads the apply time of an operation. `support` is the object that carries
// @Redfish.OperationApplyTimeSupport; without that annotation only Immediate is supported. A client
// that does not choose gets Immediate where it is supported, else the first supported one.
// Operations do not take maintenance windows.
ApplyTimeChoice OperationApplyTime(const Json& body, const Json* support);

// Reads the apply time of a PATCH of `settings`. Where the service lists none, only OnReset is
// supported. A client that does not choose gets OnReset where it is supported, else the first
// supported one. A maintenance window needs its start; without a duration it does not end.
ApplyTimeChoice SettingsApplyTime(const Editor& editor, ResourceId settings, const Json& body);

}  // namespace shoal::mockserver
