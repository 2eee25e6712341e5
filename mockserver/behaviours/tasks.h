// SPDX-License-Identifier: Apache-2.0
// Work that takes time, as a Task of the service's TaskService with a task monitor (DSP0266,
// "Asynchronous operations").
//
//   return StartTask(editor, {.name = "Create volume", .complete = [=](Editor& later) {
//     return Created(later, AddVolume(later, ...));
//   }});
//
// The request that starts a task is answered with 202, the Task, Retry-After and, as Location, the
// monitor <TaskService>/TaskMonitors/<id>. The work lasts InstanceOptions::task_duration unless the
// task says otherwise, and PercentComplete advances in quarters; with a duration of 0 it is done
// when the request is answered. A task that also waits for a boot is then in the state Starting
// until its system boots; a boot before that does not count. `complete` does the work and returns
// the operation's own response; an error makes the task an Exception.
//
// GET of the monitor is 202 with the Task until the work is done, then the operation's own response
// once, then 404. DELETE of the monitor cancels an unfinished task and leaves the Task; DELETE of
// the Task also removes it. Both are 405 while the task is not cancellable.
//
// At most kMaximumTasks are kept. When they are all in use, a service whose
// CompletedTaskOverWritePolicy is Manual refuses further tasks with 503 until a client deletes
// some; any other drops the oldest finished one. Tasks are the service's own bookkeeping and never
// a side effect.
//
// Every state is recorded as "task" of the Task with {"Name", "TaskState"}: "the update has
// succeeded" is {"happened": {"kind": "task", "detail": {"Name": "Firmware update", "TaskState":
// "Completed"}}}.
//
// A service without a TaskService does the work at once and answers with the operation's own
// response.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

inline constexpr std::size_t kMaximumTasks = 64;

struct Task {
  std::string name;
  // Captures must be values, because instances are copied.
  std::function<Response(Editor&)> complete;
  bool is_cancellable = true;
  // The system whose boot completes the task.
  std::optional<ResourceId> awaits_boot_of = std::nullopt;
  // What the Task shows as Payload; null for nothing.
  Json payload = nullptr;
  // How long the work takes, where that is not InstanceOptions::task_duration.
  std::optional<std::chrono::milliseconds> duration = std::nullopt;
};

// Returns the Payload of a Task that carries out a request: the method, the target and the body
// without passwords.
Json PayloadOf(Method method, std::string_view target, Json body);
// Does so for the request that calls the action of `call`.
Json PayloadOf(const Editor& editor, const Call& call);

// Whether a request to the canonical `uri` may be carried out by a task: the service has tasks, and
// the request is not about them.
bool MayBecomeTask(const Editor& editor, std::string_view uri);

// Starts the task and returns the response to the request that asked for the work.
Response StartTask(Editor& editor, Task task);

void AddTasks(HandlerTable& handlers);

}  // namespace shoal::mockserver
