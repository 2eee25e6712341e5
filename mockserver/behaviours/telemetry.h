// SPDX-License-Identifier: Apache-2.0
// The actions of a TelemetryService. SubmitTestMetricReport adds a MetricReport of the given name
// and values, and replaces an earlier one of that name. ClearMetricReports removes all reports.
// ResetMetricReportDefinitionsToDefaults restores the captured definitions, and
// ResetTriggersToDefaults the captured triggers.
#pragma once

#include <cstddef>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumMetricReports = 64;

void AddTelemetry(HandlerTable& handlers);

}  // namespace shoal::mockserver
