// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/telemetry.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/captured_state.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kReportType = "#MetricReport.v1_5_0.MetricReport";

bool IsSegment(const std::string& name) {
  return !name.empty() && name.size() <= 128 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

Response SubmitTestMetricReport(Editor& editor, const Call& call) {
  const auto reports = editor.Linked(call.resource, "/MetricReports");
  if (!reports) return ErrorResponse(404, "ActionNotSupported", {call.action->name});
  const std::string name = redfish::TextAt(call.body, "MetricReportName");
  if (!IsSegment(name)) {
    return ErrorResponse(400, "ActionParameterValueFormatError",
                         {name, "MetricReportName", call.action->name});
  }
  if (const auto earlier = editor.Find(editor.Uri(*reports) + '/' + name)) {
    editor.RemoveMember(*earlier);
  }
  if (editor.Members(*reports).size() >= kMaximumMetricReports) {
    return ErrorResponse(503, "CreateLimitReachedForResource");
  }
  Json values = call.body.value("GeneratedMetricReportValues", Json::array());
  editor.AddMember(*reports, name,
                   {{"@odata.type", kReportType},
                    {"Id", name},
                    {"Name", name},
                    {"Timestamp", editor.DateTime()},
                    {"MetricValues", std::move(values)}});
  return Done(editor);
}

Response ClearMetricReports(Editor& editor, const Call& call) {
  if (const auto reports = editor.Linked(call.resource, "/MetricReports")) {
    editor.RemoveMembers(*reports);
  }
  return Done(editor);
}

Response RestoreLinked(Editor& editor, const Call& call, const char* pointer) {
  if (const auto collection = editor.Linked(call.resource, pointer)) {
    const std::string uri = editor.Uri(*collection);
    RestoreCaptured(editor, uri);
  }
  return Done(editor);
}

Response ResetDefinitions(Editor& editor, const Call& call) {
  return RestoreLinked(editor, call, "/MetricReportDefinitions");
}

Response ResetTriggers(Editor& editor, const Call& call) {
  return RestoreLinked(editor, call, "/Triggers");
}

}  // namespace

void AddTelemetry(HandlerTable& handlers) {
  handlers.OnAction("TelemetryService.SubmitTestMetricReport", &SubmitTestMetricReport);
  handlers.OnAction("TelemetryService.ClearMetricReports", &ClearMetricReports);
  handlers.OnAction("TelemetryService.ResetMetricReportDefinitionsToDefaults", &ResetDefinitions);
  handlers.OnAction("TelemetryService.ResetTriggersToDefaults", &ResetTriggers);
}

}  // namespace shoal::mockserver
