// SPDX-License-Identifier: Apache-2.0
// Work that takes time: a Task of the service's TaskService and a task monitor (DSP0266,
// "Asynchronous operations").
//
//   return StartTask(editor, {.name = "Create volume", .complete = [=](Editor& later) {
//     return Created(later, AddVolume(later, ...));
//   }});
//
// The request that starts it answers 202 with the Task, Retry-After, and as Location the monitor,
// <TaskService>/TaskMonitors/<id>. The work lasts InstanceOptions::task_duration, PercentComplete
// following in quarters; a task of 0 is done when the request is answered. One that also waits for
// a boot is then Starting until its system boots: a boot before that is too early. `complete` does
// what was asked for and gives the operation's own response; an error makes the task an Exception.
//
// GET of the monitor: 202 with the Task until then, the operation's own response once, then 404.
// DELETE of the monitor cancels what is not done and leaves the Task; DELETE of the Task also
// removes it. 405 while the task is not cancellable.
//
// At most kMaximumTasks are kept. A service whose CompletedTaskOverWritePolicy is Manual then
// refuses further ones with 503 until a client deletes some; any other drops the oldest that is
// done. Tasks are the service's own bookkeeping and never a side effect.
//
// Every state is recorded as "task" of the Task with {"Name", "TaskState"}: "the update has ended
// well" is {"happened": {"kind": "task", "detail": {"Name": "Firmware update", "TaskState":
// "Completed"}}}.
//
// A service without a TaskService does the work at once and answers with its own response.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumTasks = 64;

struct Task {
  std::string name;
  // What it captures must be values: instances are copied.
  std::function<Response(Editor&)> complete;
  bool is_cancellable = true;
  // The system whose boot ends it.
  std::optional<ResourceId> awaits_boot_of = std::nullopt;
};

// The response to the request that asked for the work.
Response StartTask(Editor& editor, Task task);

void AddTasks(HandlerTable& handlers);

}  // namespace shoal::mockserver
