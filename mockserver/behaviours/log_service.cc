// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/log_service.h"

#include <string>
#include <utility>

#include "mockserver/behaviours/tasks.h"
#include "mockserver/messages/extended_info.h"

namespace shoal::mockserver {
namespace {

Response ClearLog(Editor& editor, const Call& call) {
  if (const auto entries = editor.Linked(call.resource, "/Entries")) {
    editor.RemoveMembers(*entries);
  }
  editor.SetPresent(call.resource, "/DateTime", editor.DateTime());
  return Done(editor);
}

// Completes a task. The collection may be gone by then.
Response AddDiagnosticEntry(Editor& editor, ResourceId log, const Json& parameters) {
  const auto entries = editor.Linked(log, "/Entries");
  if (!entries) return ErrorResponse(404, "ResourceMissingAtURI", {editor.Uri(log)});
  const std::string name = editor.NewMemberName(*entries);
  Json entry = {{"@odata.type", "#LogEntry.v1_15_0.LogEntry"},
                {"Id", name},
                {"Name", "Diagnostic data"},
                {"EntryType", "Event"},
                {"Severity", "OK"},
                {"Created", editor.DateTime()},
                {"Message", "Diagnostic data was collected."}};
  for (const char* type : {"DiagnosticDataType", "OEMDiagnosticDataType"}) {
    if (const auto given = parameters.find(type); given != parameters.end()) entry[type] = *given;
  }
  return Created(editor, editor.AddMember(*entries, name, std::move(entry)));
}

Response CollectDiagnosticData(Editor& editor, const Call& call) {
  return StartTask(editor,
                   {.name = "Collect diagnostic data",
                    .complete = [log = call.resource, parameters = call.body](Editor& later) {
                      return AddDiagnosticEntry(later, log, parameters);
                    }});
}

}  // namespace

void AddLogService(HandlerTable& handlers) {
  handlers.OnAction("LogService.ClearLog", &ClearLog);
  handlers.OnAction("LogService.CollectDiagnosticData", &CollectDiagnosticData);
}

}  // namespace shoal::mockserver
