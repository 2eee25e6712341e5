// SPDX-License-Identifier: Apache-2.0
#include "mockserver/control.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/extended_info.h"
#include "mockserver/request_body.h"
#include "redfish/capture.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kPrefix = "/shoal/v1/";
constexpr std::string_view kInstances = "instances";
constexpr std::int64_t kMaximumMilliseconds = std::int64_t{1000} * 60 * 60 * 24 * 366;

http::ServerResponse Answer(int status, const Json& body) {
  return {.status = status, .body = std::make_shared<const std::string>(Serialise(body))};
}

http::ServerResponse Error(int status, std::string_view code, const std::string& message) {
  return Answer(status, {{"error", {{"code", std::string(code)}, {"message", message}}}});
}

http::ServerResponse Error(const absl::Status& status) {
  const std::string message = runtime::Message(status);
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return Error(404, "NotFound", message);
    case absl::StatusCode::kResourceExhausted:
      return Error(429, "TooMany", message);
    default:
      return Error(400, "InvalidArgument", message);
  }
}

http::ServerResponse MethodNotAllowed(std::string_view allow) {
  http::ServerResponse answer = Error(405, "MethodNotAllowed", "use " + std::string(allow));
  http::AppendHeader(answer.header_lines, "Allow", allow);
  return answer;
}

http::ServerResponse Unknown(std::string_view id) {
  http::ServerResponse answer = Error(404, "NotFound", "no instance " + std::string(id));
  http::AppendHeader(answer.header_lines, kErrorHeader, kUnknownInstance);
  return answer;
}

absl::StatusOr<Json> Parse(std::string_view body) {
  RequestBody parsed = ParseRequestBody(body.empty() ? "{}" : body);
  if (!parsed.object.has_value()) return runtime::InvalidArgument("the body is not a JSON object");
  return *std::move(parsed.object);
}

// `name` of `object` as text or as a number; the default when absent.
absl::StatusOr<std::string> Text(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return runtime::InvalidArgument("\"" + name + "\" is a text");
  return found->get<std::string>();
}

absl::StatusOr<std::int64_t> Number(const Json& object, const std::string& name,
                                    std::int64_t maximum) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  const bool fits = found->is_number_unsigned() &&
                    found->get<std::uint64_t>() <= static_cast<std::uint64_t>(maximum);
  if (!fits) {
    return runtime::InvalidArgument("\"" + name + "\" is an integer from 0 to " +
                                    std::to_string(maximum));
  }
  return found->get<std::int64_t>();
}

absl::StatusOr<Authentication> ParseAuthentication(const Json& body, Authentication otherwise) {
  if (!body.contains("authentication")) return otherwise;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, Text(body, "authentication"));
  if (text == "none") return Authentication::kNone;
  if (text == "required") return Authentication::kRequired;
  return runtime::InvalidArgument("\"authentication\" is \"none\" or \"required\"");
}

absl::StatusOr<std::vector<redfish::StartOperation>> ParseStart(const Json& body) {
  std::vector<redfish::StartOperation> start;
  const auto found = body.find("start");
  if (found == body.end()) return start;
  if (!found->is_array()) return runtime::InvalidArgument("\"start\" is an array");
  for (const Json& item : *found) {
    if (!item.is_object() || !item.contains("value")) {
      return runtime::InvalidArgument("\"start\" has objects of uri, pointer, value");
    }
    SHOAL_ASSIGN_OR_RETURN(std::string uri, Text(item, "uri"));
    SHOAL_ASSIGN_OR_RETURN(std::string pointer, Text(item, "pointer"));
    start.push_back({std::move(uri), std::move(pointer), item.at("value")});
  }
  return start;
}

http::ServerResponse Progress(Instance& instance) {
  const Evaluation evaluation = instance.Evaluate();
  return Answer(200, {{"satisfied", evaluation.satisfied},
                      {"milestones", evaluation.milestones},
                      {"collateral", evaluation.collateral}});
}

absl::Status Reset(Instance& instance, const Json& body) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<redfish::StartOperation> start, ParseStart(body));
  std::optional<redfish::Watch> watch;
  if (const auto found = body.find("watch"); found != body.end()) {
    SHOAL_ASSIGN_OR_RETURN(watch, redfish::Watch::Parse(*found));
  }
  return instance.Reset(start, std::move(watch));
}

absl::Status Advance(Instance& instance, const Json& body) {
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t milliseconds,
                         Number(body, "milliseconds", kMaximumMilliseconds));
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
  return Answer(200, {{"now", now}, {"records", std::move(records)}});
}

http::ServerResponse Captures(const InstanceTable& table) {
  Json captures = Json::array();
  for (const auto& world : table.worlds()) {
    captures.push_back({{"name", world->capture().name()},
                        {"digest", world->capture().digest()},
                        {"resources", world->resources().size()}});
  }
  return Answer(200, {{"captures", std::move(captures)}});
}

}  // namespace

Control::Control(InstanceTable& table, runtime::Metrics& metrics)
    : table_(table),
      instances_(metrics.Gauge("shoal_mockserver_instances", "Instances, the default not counted")),
      resets_(metrics.Counter("shoal_mockserver_resets_total", "Resets of instances")) {}

http::ServerResponse Control::Handle(const http::ServerRequest& request) {
  http::ServerResponse answer = Route(request);
  instances_.Set(static_cast<double>(table_.size()));
  return answer;
}

http::ServerResponse Control::Route(const http::ServerRequest& request) {
  std::string_view path = request.target().substr(0, request.target().find('?'));
  if (!path.starts_with(kPrefix)) return Error(404, "NotFound", "the API is under /shoal/v1/");
  path.remove_prefix(kPrefix.size());
  const std::string_view method = request.method();
  if (path == "health" || path == "captures") {
    if (method != "GET") return MethodNotAllowed("GET");
    if (path == "captures") return Captures(table_);
    return Answer(200, {{"status", "serving"}, {"instances", table_.size()}});
  }
  if (path == kInstances) {
    return method == "POST" ? CreateInstance(request.body()) : MethodNotAllowed("POST");
  }
  if (path.starts_with("instances/")) {
    path.remove_prefix(kInstances.size() + 1);
    const std::size_t slash = path.find('/');
    const std::string_view verb =
        slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    return HandleInstance(method, path.substr(0, slash), verb, request.body());
  }
  return Error(404, "NotFound", "no " + std::string(kPrefix) + std::string(path));
}

http::ServerResponse Control::CreateInstance(std::string_view text) {
  const auto make = [&]() -> absl::StatusOr<Json> {
    SHOAL_ASSIGN_OR_RETURN(const Json body, Parse(text));
    SHOAL_ASSIGN_OR_RETURN(const std::string capture, Text(body, "capture"));
    SHOAL_ASSIGN_OR_RETURN(std::string id, Text(body, "id"));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t seed,
                           Number(body, "seed", std::numeric_limits<std::int64_t>::max()));
    SHOAL_ASSIGN_OR_RETURN(const std::int64_t transient,
                           Number(body, "power_transient_ms", kMaximumMilliseconds));
    InstanceOptions options = table_.options().instance;
    options.seed = static_cast<std::uint64_t>(seed);
    options.power_transient = std::chrono::milliseconds(transient);
    SHOAL_ASSIGN_OR_RETURN(options.authentication,
                           ParseAuthentication(body, options.authentication));
    SHOAL_ASSIGN_OR_RETURN(id, table_.Make(capture, std::move(id), std::move(options)));
    return Json{{"id", id}, {"capture", capture}};
  };
  const absl::StatusOr<Json> made = make();
  return made.ok() ? Answer(201, *made) : Error(made.status());
}

http::ServerResponse Control::HandleInstance(std::string_view method, std::string_view id,
                                             std::string_view verb, std::string_view text) {
  if (verb.empty()) {
    if (method != "DELETE") return MethodNotAllowed("DELETE");
    return table_.Delete(id) ? http::ServerResponse{.status = 204} : Unknown(id);
  }
  const bool reads = verb == "history";
  if (!reads && verb != "reset" && verb != "advance" && verb != "evaluate") {
    return Error(404, "NotFound", "no " + std::string(verb) + " of an instance");
  }
  if (method != (reads ? "GET" : "POST")) return MethodNotAllowed(reads ? "GET" : "POST");
  const absl::StatusOr<Json> body = Parse(text);
  if (!body.ok()) return Error(body.status());
  const std::shared_ptr<InstanceTable::Slot> slot = table_.Find(id);
  if (slot == nullptr) return Unknown(id);

  const runtime::MutexLock lock(slot->mutex);
  if (reads) return History(slot->instance);
  absl::Status status;
  if (verb == "reset") {
    resets_.Increment();
    status = Reset(slot->instance, *body);
  }
  if (verb == "advance") status = Advance(slot->instance, *body);
  return status.ok() ? Progress(slot->instance) : Error(status);
}

}  // namespace shoal::mockserver
