// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/control_savepoints.h"

#include <string>
#include <utility>

#include "mockserver/messages/json_object.h"
#include "mockserver/process/control_response.h"

namespace shoal::mockserver {
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
