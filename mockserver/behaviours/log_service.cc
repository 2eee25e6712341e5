// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/log_service.h"

namespace shoal::mockserver {
namespace {

Response ClearLog(Editor& editor, const Call& call) {
  if (const auto entries = editor.Linked(call.resource, "/Entries")) {
    editor.RemoveMembers(*entries);
  }
  editor.SetPresent(call.resource, "/DateTime", editor.DateTime());
  return Done(editor);
}

}  // namespace

void AddLogService(HandlerTable& handlers) { handlers.OnAction("LogService.ClearLog", &ClearLog); }

}  // namespace shoal::mockserver
