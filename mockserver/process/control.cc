// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/control.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/faults/fault.h"
#include "mockserver/messages/json_object.h"
#include "mockserver/process/control_response.h"
#include "mockserver/process/control_teaching.h"
#include "redfish/capture/capture.h"

namespace shoal::mockserver {

namespace {

constexpr std::string_view kPrefix = "/shoal/v1/";
constexpr std::string_view kInstances = "instances";
constexpr std::int64_t kMaximumMilliseconds = std::int64_t{1000} * 60 * 60 * 24 * 366;

absl::StatusOr<std::chrono::milliseconds> Milliseconds(const Json& body, const std::string& name) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t number,
                         IntegerMember(body, name, {.maximum = kMaximumMilliseconds}));
  return std::chrono::milliseconds(number);
}

// Returns the options that `body` gives for an instance. `options` provides those that it does not
// give, such as rules and accounts.
absl::StatusOr<InstanceOptions> ParseOptions(const Json& body, InstanceOptions options) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(
      body,
      {"capture", "id", "seed", "power_transient_ms", "task_duration_ms", "manager_restart_ms",
       "mode", "clock", "authentication", "preconditions", "event_delivery", "faults", "port"}));
  SHOAL_ASSIGN_OR_RETURN(
      const std::int64_t seed,
      IntegerMember(body, "seed", {.maximum = std::numeric_limits<std::int64_t>::max()}));
  options.seed = static_cast<std::uint64_t>(seed);
  SHOAL_ASSIGN_OR_RETURN(options.power_transient, Milliseconds(body, "power_transient_ms"));
  SHOAL_ASSIGN_OR_RETURN(options.task_duration, Milliseconds(body, "task_duration_ms"));
  SHOAL_ASSIGN_OR_RETURN(options.manager_restart, Milliseconds(body, "manager_restart_ms"));
  SHOAL_ASSIGN_OR_RETURN(const bool is_static, IsSecond(body, "mode", "stateful", "static"));
  options.mode = is_static ? Mode::kStatic : Mode::kStateful;
  SHOAL_ASSIGN_OR_RETURN(const bool is_real, IsSecond(body, "clock", "virtual", "real"));
  options.clock = is_real ? ClockKind::kReal : ClockKind::kVirtual;
  if (body.contains("authentication")) {
    SHOAL_ASSIGN_OR_RETURN(const bool asks, IsSecond(body, "authentication", "none", "required"));
    options.authentication = asks ? Authentication::kRequired : Authentication::kNone;
  }
  SHOAL_ASSIGN_OR_RETURN(const bool conditions,
                         IsSecond(body, "preconditions", "optional", "required"));
  options.preconditions = conditions ? Preconditions::kRequired : Preconditions::kOptional;
  SHOAL_ASSIGN_OR_RETURN(const bool pushes, IsSecond(body, "event_delivery", "simulated", "push"));
  options.event_delivery = pushes ? EventDelivery::kPush : EventDelivery::kSimulated;
  if (const auto faults = body.find("faults"); faults != body.end()) {
    SHOAL_ASSIGN_OR_RETURN(options.faults, FaultSet::Parse({{"faults", *faults}}));
  }
  return options;
}

absl::Status Reset(Instance& instance, Json body) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"start", "watch", "faults"}));
  std::shared_ptr<const FaultSet> faults = instance.faults();
  if (const auto found = body.find("faults"); found != body.end()) {
    SHOAL_ASSIGN_OR_RETURN(faults, FaultSet::Parse(*found));
  }
  std::vector<redfish::StartOperation> start;
  if (const auto found = body.find("start"); found != body.end()) {
    SHOAL_ASSIGN_OR_RETURN(start, redfish::ParseStart(*found));
  }
  std::optional<redfish::Watch> watch;
  if (const auto found = body.find("watch"); found != body.end()) {
    SHOAL_ASSIGN_OR_RETURN(watch, redfish::Watch::Parse(std::move(*found)));
  }
  SHOAL_RETURN_IF_ERROR(instance.Reset(start, std::move(watch)));
  instance.SetFaults(std::move(faults));
  return absl::OkStatus();
}

absl::Status Advance(Instance& instance, const Json& body) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"milliseconds"}));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t milliseconds,
                         IntegerMember(body, "milliseconds", {.maximum = kMaximumMilliseconds}));
  instance.Advance(std::chrono::milliseconds(milliseconds));
  return absl::OkStatus();
}

http::ServerResponse History(const Instance& instance) {
  Json records = Json::array();
  for (const redfish::HistoryRecord& record : instance.history()) {
    records.push_back({{"kind", record.kind},
                       {"uri", record.uri},
                       {"detail", record.detail},
                       {"time", record.time}});
  }
  const double now = std::chrono::duration<double>(instance.now()).count();
  return ControlAnswer(200, {{"now", now}, {"records", std::move(records)}});
}

http::ServerResponse Captures(const InstanceTable& table) {
  Json captures = Json::array();
  for (const auto& world : table.worlds()) {
    captures.push_back({{"name", world->capture().name()},
                        {"digest", world->capture().digest()},
                        {"resources", world->resources().size()}});
  }
  return ControlAnswer(200, {{"captures", std::move(captures)}});
}

}  // namespace

Control::Control(InstanceTable& table, runtime::Metrics& metrics, ControlOptions options,
                 EventSender* sender, InstancePorts* ports)
    : table_(table),
      options_(std::move(options)),
      sender_(sender),
      ports_(ports),
      instances_(metrics.Gauge("shoal_mockserver_instances", "Instances, the default not counted")),
      resets_(metrics.Counter("shoal_mockserver_resets_total", "Resets of instances")) {}

http::ServerResponse Control::Handle(const http::ServerRequest& request) {
  http::ServerResponse answer = Route(request);
  instances_.Set(static_cast<double>(table_.size()));
  return answer;
}

http::ServerResponse Control::Route(const http::ServerRequest& request) {
  std::string_view path = request.target().substr(0, request.target().find('?'));
  if (!path.starts_with(kPrefix))
    return ControlError(404, "NotFound", "the API is under /shoal/v1/");
  path.remove_prefix(kPrefix.size());
  const std::string_view method = request.method();
  if (path == "health" || path == "captures") {
    if (method != "GET") return ControlMethodNotAllowed("GET");
    if (path == "captures") return Captures(table_);
    return ControlAnswer(200, {{"status", "serving"}, {"instances", table_.size()}});
  }
  if (path == kInstances) {
    return method == "POST" ? CreateInstance(request.body()) : ControlMethodNotAllowed("POST");
  }
  if (path.starts_with("instances/")) {
    path.remove_prefix(kInstances.size() + 1);
    const std::size_t slash = path.find('/');
    const std::string_view verb =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    return HandleInstance(method, path.substr(0, slash), verb, request.body());
  }
  return ControlError(404, "NotFound", "no " + std::string(kPrefix) + std::string(path));
}

http::ServerResponse Control::CreateInstance(std::string_view text) {
  const absl::StatusOr<Json> made = Create(text);
  return made.ok() ? ControlAnswer(201, *made) : ControlError(made.status());
}

absl::StatusOr<Json> Control::Create(std::string_view text) {
  SHOAL_ASSIGN_OR_RETURN(const Json body, ParseControlBody(text));
  SHOAL_ASSIGN_OR_RETURN(const std::string capture, TextMember(body, "capture"));
  SHOAL_ASSIGN_OR_RETURN(std::string id, TextMember(body, "id"));
  SHOAL_ASSIGN_OR_RETURN(InstanceOptions options, ParseOptions(body, table_.options().instance));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t port, IntegerMember(body, "port", {.maximum = 65'535}));
  const bool wants_port = body.contains("port");
  if (wants_port && ports_ == nullptr) {
    return runtime::InvalidArgument("\"port\": no instance has one of its own here");
  }
  SHOAL_ASSIGN_OR_RETURN(id, table_.Make(capture, std::move(id), std::move(options)));
  Json made = {{"id", id}, {"capture", capture}};
  if (ports_ == nullptr) return made;
  // Closes the port of an instance that was replaced.
  ports_->Close(id);
  if (!wants_port) return made;
  absl::StatusOr<std::string> address = ports_->Open(id, static_cast<std::uint16_t>(port));
  if (!address.ok()) {
    table_.Delete(id);
    return runtime::Annotate(address.status(), "\"port\"");
  }
  made["address"] = *std::move(address);
  return made;
}

http::ServerResponse Control::DeleteInstance(std::string_view id) {
  const std::shared_ptr<InstanceTable::Slot> slot = id == kDefaultId ? nullptr : table_.Find(id);
  if (slot == nullptr || !table_.Delete(id)) return ControlUnknownInstance(id);
  if (ports_ != nullptr) ports_->Close(id);
  {
    const runtime::MutexLock lock(slot->mutex);
    slot->instance.Reset().IgnoreError();
  }
  // The reset has ended the instance's event streams.
  if (sender_ != nullptr) sender_->Flush(slot);
  return {.status = 204};
}

http::ServerResponse Control::HandleInstance(std::string_view method, std::string_view id,
                                             std::string_view verb, std::string_view text) {
  if (verb.empty()) {
    if (method != "DELETE") return ControlMethodNotAllowed("DELETE");
    return DeleteInstance(id);
  }
  if (IsTeaching(verb)) return Teach(method, id, verb, text);
  const bool reads = verb == "history";
  const bool is_savepoint = IsSavepoint(verb);
  if (!reads && !is_savepoint && verb != "reset" && verb != "advance" && verb != "evaluate") {
    return ControlError(404, "NotFound", "no " + std::string(verb) + " of an instance");
  }
  if (!is_savepoint && method != (reads ? "GET" : "POST")) {
    return ControlMethodNotAllowed(reads ? "GET" : "POST");
  }
  absl::StatusOr<Json> body = ParseControlBody(text);
  if (!body.ok()) return ControlError(body.status());
  const std::shared_ptr<InstanceTable::Slot> slot = table_.Find(id);
  if (slot == nullptr) return ControlUnknownInstance(id);

  http::ServerResponse answer;
  {
    const runtime::MutexLock lock(slot->mutex);
    slot->CatchUp(table_.clock().Now());
    answer = is_savepoint ? HandleSavepoint({method, verb, *body}, slot->instance)
                          : Act(slot->instance, verb, *std::move(body));
  }
  // A flush is needed after a reset or restore, too, because these end event streams.
  if (sender_ != nullptr) sender_->Flush(slot);
  return answer;
}

http::ServerResponse Control::Act(Instance& instance, std::string_view verb, Json body) {
  if (verb == "history") return History(instance);
  absl::Status status;
  if (verb == "reset") {
    resets_.Increment();
    status = Reset(instance, std::move(body));
  }
  if (verb == "advance") status = Advance(instance, body);
  return status.ok() ? ControlProgress(instance.Evaluate()) : ControlError(status);
}

http::ServerResponse Control::Teach(std::string_view method, std::string_view id,
                                    std::string_view verb, std::string_view text) {
  const absl::StatusOr<Json> body = ParseControlBody(text);
  if (!body.ok()) return ControlError(body.status());
  const std::shared_ptr<InstanceTable::Slot> slot = table_.Find(id);
  if (slot == nullptr) return ControlUnknownInstance(id);
  return HandleTeaching({method, verb, *body}, options_.external_handler_hosts, *slot);
}

namespace {

constexpr std::string_view kSave = "savepoint";
constexpr std::string_view kRestore = "restore";
constexpr std::string_view kAll = "savepoints";
constexpr std::string_view kOnePrefix = "savepoints/";

Json Describe(const std::string& name, const Savepoint& savepoint) {
  return {{"name", name},
          {"now", std::chrono::duration<double>(savepoint.state.now_).count()},
          {"records", savepoint.state.history_->size()},
          {"changed_resources", savepoint.state.deltas_.size()}};
}

http::ServerResponse TellAll(const Instance& instance) {
  Json list = Json::array();
  for (const auto& [name, savepoint] : instance.savepoints()) {
    list.push_back(Describe(name, savepoint));
  }
  return ControlAnswer(200, {{kAll, std::move(list)}});
}

http::ServerResponse Forget(std::string_view name, Instance& instance) {
  if (instance.Forget(name)) return {.status = 204};
  return ControlError(404, "NotFound", "no savepoint " + std::string(name));
}

absl::StatusOr<http::ServerResponse> SaveOrRestore(bool saves, const Json& body,
                                                   Instance& instance) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(body, {"name"}));
  SHOAL_ASSIGN_OR_RETURN(const std::string name, NameMember(body, "name"));
  if (saves) {
    SHOAL_RETURN_IF_ERROR(instance.Save(name));
    return ControlAnswer(201, Describe(name, instance.savepoints().at(name)));
  }
  SHOAL_RETURN_IF_ERROR(instance.Restore(name));
  return ControlProgress(instance.Evaluate());
}

}  // namespace

bool IsSavepoint(std::string_view verb) {
  return verb == kSave || verb == kRestore || verb == kAll || verb.starts_with(kOnePrefix);
}

http::ServerResponse HandleSavepoint(const SavepointRequest& request, Instance& instance) {
  if (request.verb == kAll) {
    return request.method == "GET" ? TellAll(instance) : ControlMethodNotAllowed("GET");
  }
  if (request.verb.starts_with(kOnePrefix)) {
    if (request.method != "DELETE") return ControlMethodNotAllowed("DELETE");
    return Forget(request.verb.substr(kOnePrefix.size()), instance);
  }
  if (request.method != "POST") return ControlMethodNotAllowed("POST");
  absl::StatusOr<http::ServerResponse> done =
      SaveOrRestore(request.verb == kSave, request.body, instance);
  return done.ok() ? *std::move(done) : ControlError(done.status());
}

}  // namespace shoal::mockserver
