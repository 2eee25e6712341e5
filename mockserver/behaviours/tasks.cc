// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/tasks.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "mockserver/access/access.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/boot_queue.h"
#include "mockserver/resources/members.h"
#include "redfish/capture/redaction.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {
namespace {

constexpr int kQuarters = 4;
constexpr const char* kTaskType = "#Task.v1_4_3.Task";
constexpr std::string_view kMonitors = "/TaskMonitors";
constexpr std::string_view kMonitorMethods = "GET, HEAD, DELETE";

struct KeptTask {
  Task task;
  bool is_done = false;
  // The response that the monitor still has to give. Nothing once it was given, or when the task
  // was cancelled.
  std::optional<Response> result;
};

// Ids grow, so the first task is the oldest.
struct KeptTasks {
  std::map<ResourceId, KeptTask> tasks;
};

std::string TaskKey(ResourceId id) { return "task:" + std::to_string(id); }

std::optional<ResourceId> TaskServiceOf(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  return root ? editor.Linked(*root, "/Tasks") : std::nullopt;
}

// Returns null when the task is gone.
KeptTask* FindKept(Editor& editor, ResourceId id) {
  auto& tasks = editor.Notes<KeptTasks>().tasks;
  const auto found = tasks.find(id);
  return found == tasks.end() ? nullptr : &found->second;
}

std::chrono::milliseconds DurationOf(Editor& editor, ResourceId id) {
  const KeptTask* const kept = FindKept(editor, id);
  const auto own = kept == nullptr ? std::nullopt : kept->task.duration;
  return own.value_or(editor.options().task_duration);
}

void SetState(Editor& editor, ResourceId id, const char* state, const char* status) {
  editor.Set(id, "/TaskState", state);
  editor.Set(id, "/TaskStatus", status);
  editor.Record(redfish::kTaskRecord, id,
                {{"Name", editor.Text(id, "/Name")}, {"TaskState", state}});
}

// At any depth, which the parser of requests has bounded.
void EraseSecrets(Json& json) {
  if (json.is_array()) {
    for (Json& element : json) EraseSecrets(element);
  }
  if (!json.is_object()) return;
  for (auto item = json.begin(); item != json.end();) {
    if (redfish::IsSecretName(item.key(), {})) {
      item = json.erase(item);
    } else {
      EraseSecrets(*item++);
    }
  }
}

Json MessagesOf(const Response& response) {
  const Json* const messages =
      response.json == nullptr ? nullptr
                               : redfish::Resolve(*response.json, "/error/@Message.ExtendedInfo");
  return messages == nullptr ? Json::array({ExtendedInfo("Success")}) : *messages;
}

void Finish(Editor& editor, ResourceId id) {
  const KeptTask* const kept = FindKept(editor, id);
  if (kept == nullptr || kept->is_done) return;
  const Task task = kept->task;
  Response result = task.complete(editor);
  const bool failed = result.status >= 400;
  editor.Set(id, "/PercentComplete", failed ? 0 : 100);
  editor.Set(id, "/EndTime", editor.DateTime());
  editor.Set(id, "/Messages", MessagesOf(result));
  SetState(editor, id, failed ? "Exception" : "Completed", failed ? "Critical" : "OK");
  if (KeptTask* const still = FindKept(editor, id)) {
    still->is_done = true;
    still->result = std::move(result);
  }
}

void EndWork(Editor& editor, ResourceId id) {
  const KeptTask* const kept = FindKept(editor, id);
  if (kept == nullptr) return;
  const auto system = kept->task.awaits_boot_of;
  if (!system) return Finish(editor, id);
  SetState(editor, id, "Starting", "OK");
  OnNextBoot(editor, *system, TaskKey(id), [id](Editor& later) { Finish(later, id); });
}

void Work(Editor& editor, ResourceId id, int quarter) {
  const std::chrono::milliseconds whole = DurationOf(editor, id);
  if (whole.count() <= 0 || quarter == kQuarters) return EndWork(editor, id);
  editor.Set(id, "/PercentComplete", 100 * quarter / kQuarters);
  const auto delay = whole * (quarter + 1) / kQuarters - whole * quarter / kQuarters;
  editor.SetTimer(TaskKey(id), delay,
                  [id, quarter](Editor& later) { Work(later, id, quarter + 1); });
}

bool MakeRoom(Editor& editor, ResourceId service) {
  auto& tasks = editor.Notes<KeptTasks>().tasks;
  if (tasks.size() < kMaximumTasks) return true;
  if (editor.Text(service, "/CompletedTaskOverWritePolicy") == "Manual") return false;
  const auto oldest =
      std::find_if(tasks.begin(), tasks.end(), [](const auto& one) { return one.second.is_done; });
  if (oldest == tasks.end()) return false;
  editor.RemoveMember(oldest->first, Membership::kBookkeeping);
  tasks.erase(oldest);
  return true;
}

Response Accepted(Editor& editor, ResourceId id) {
  Response response = editor.Representation(id);
  response.status = 202;
  response.location = editor.Text(id, "/TaskMonitor");
  const auto quarter = std::chrono::ceil<std::chrono::seconds>(DurationOf(editor, id)) / 4;
  const auto seconds = std::max<std::chrono::seconds::rep>(quarter.count(), 1);
  response.headers.emplace_back("Retry-After", std::to_string(seconds));
  return response;
}

// Cancels the task and returns true. Returns false when it cannot be cancelled, and true for a task
// that is done.
bool Cancel(Editor& editor, ResourceId id) {
  KeptTask* const kept = FindKept(editor, id);
  if (kept == nullptr || kept->is_done) return true;
  if (!kept->task.is_cancellable) return false;
  kept->is_done = true;
  editor.CancelTimer(TaskKey(id));
  ForgetNextBoot(editor, TaskKey(id));
  editor.Set(id, "/EndTime", editor.DateTime());
  SetState(editor, id, "Cancelled", "Warning");
  return true;
}

Response NotCancellable() {
  Response response = ErrorResponse(405, "OperationNotAllowed");
  response.allow = "GET, HEAD";
  return response;
}

Response DeleteTask(Editor& editor, const Call& call) {
  const ResourceId id = call.resource;
  if (FindKept(editor, id) == nullptr) return DeleteMember(editor, id);
  if (!Cancel(editor, id)) return NotCancellable();
  editor.Notes<KeptTasks>().tasks.erase(id);
  editor.RemoveMember(id, Membership::kBookkeeping);
  return Done(editor);
}

// Returns the task whose monitor is at `uri`, as long as the monitor exists.
std::optional<ResourceId> MonitoredTask(Editor& editor, std::string_view uri) {
  const std::size_t slash = uri.rfind('/');
  if (editor.FindNotes<KeptTasks>() == nullptr || slash == std::string_view::npos) {
    return std::nullopt;
  }
  if (!uri.substr(0, slash).ends_with(kMonitors)) return std::nullopt;
  for (const auto& [id, kept] : editor.Notes<KeptTasks>().tasks) {
    const bool has_monitor = !kept.is_done || kept.result.has_value();
    if (has_monitor && editor.Text(id, "/TaskMonitor") == uri) return id;
  }
  return std::nullopt;
}

std::optional<Response> AnswerMonitor(Editor& editor, const Request& request,
                                      const Principal* principal, std::string_view uri) {
  const auto id = MonitoredTask(editor, uri);
  if (!id) return std::nullopt;
  if (request.method != Method::kOptions) {
    if (auto refusal = Forbid(editor, principal, request.method, *id, nullptr)) return refusal;
  }
  KeptTask& kept = *FindKept(editor, *id);
  switch (request.method) {
    case Method::kGet:
    case Method::kHead: {
      if (!kept.is_done) return Accepted(editor, *id);
      Response result = *kept.result;
      if (request.method == Method::kGet) kept.result.reset();
      return result;
    }
    case Method::kDelete:
      if (!Cancel(editor, *id)) return NotCancellable();
      kept.result.reset();
      return Done(editor);
    case Method::kOptions:
      return Response{.status = 204, .allow = kMonitorMethods};
    default:
      Response response = ErrorResponse(405, "OperationNotAllowed");
      response.allow = kMonitorMethods;
      return response;
  }
}

}  // namespace

Json PayloadOf(Method method, std::string_view target, Json body) {
  EraseSecrets(body);
  return {{"HttpOperation", Name(method)},
          {"TargetUri", target},
          {"JsonBody", body.dump(-1, ' ', false, Json::error_handler_t::replace)}};
}

Json PayloadOf(const Editor& editor, const Call& call) {
  return PayloadOf(Method::kPost, editor.Text(call.resource, call.action->pointer + "/target"),
                   call.body);
}

bool MayBecomeTask(const Editor& editor, std::string_view uri) {
  const auto service = TaskServiceOf(editor);
  if (!service || !editor.Linked(*service, "/Tasks")) return false;
  const std::string& own = editor.Uri(*service);
  return !uri.starts_with(own) || (uri.size() > own.size() && uri[own.size()] != '/');
}

Response StartTask(Editor& editor, Task task) {
  const auto service = TaskServiceOf(editor);
  const auto collection = service ? editor.Linked(*service, "/Tasks") : std::nullopt;
  if (!collection) return task.complete(editor);
  if (!MakeRoom(editor, *service)) return ErrorResponse(503, "CreateLimitReachedForResource");
  const std::string name = editor.NewMemberName(*collection);
  const std::vector<ResourceId> others = editor.Members(*collection);
  const std::string monitor = editor.Uri(*service) + std::string(kMonitors) + '/' + name;
  Json json = {{"@odata.type", others.empty() ? kTaskType : editor.resource(others[0]).odata_type},
               {"Id", name},
               {"Name", task.name},
               {"TaskState", "New"},
               {"TaskStatus", "OK"},
               {"PercentComplete", 0},
               {"StartTime", editor.DateTime()},
               {"TaskMonitor", monitor},
               {"Messages", Json::array()}};
  if (!task.payload.is_null()) json["Payload"] = std::exchange(task.payload, nullptr);
  const ResourceId id =
      editor.AddMember(*collection, name, std::move(json), Membership::kBookkeeping);
  editor.Notes<KeptTasks>().tasks[id] = {.task = std::move(task), .result = std::nullopt};
  SetState(editor, id, "Running", "OK");
  Work(editor, id, 0);
  return Accepted(editor, id);
}

void AddTasks(HandlerTable& handlers) {
  handlers.On(Method::kDelete, "Task", &DeleteTask);
  handlers.OnElsewhere(&AnswerMonitor);
}

}  // namespace shoal::mockserver
