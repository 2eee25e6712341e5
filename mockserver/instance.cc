// SPDX-License-Identifier: Apache-2.0
#include "mockserver/instance.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "mockserver/actions.h"
#include "mockserver/editor.h"
#include "mockserver/etag.h"
#include "mockserver/extended_info.h"
#include "mockserver/patch.h"
#include "mockserver/power.h"
#include "mockserver/query.h"
#include "redfish/capture.h"
#include "redfish/schema.h"
#include "redfish/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kPostOnly = "POST";
constexpr std::string_view kReadOnly = "GET, HEAD";
constexpr std::string_view kVersions = "/redfish";

// The path of `uri` in canonical form; rewrites into `storage` only when it must.
std::string_view CanonicalPath(std::string_view uri, std::string& storage) {
  const std::string_view path = uri.substr(0, uri.find_first_of("?#"));
  const bool is_canonical = path.starts_with('/') && path.size() > 1 && path.back() != '/' &&
                            path.find("//") == std::string_view::npos;
  if (is_canonical) return path;
  storage = redfish::CanonicalUri(uri);
  return storage;
}

Response MethodNotAllowed(std::string_view allow) {
  Response response = ErrorResponse(405, "OperationNotAllowed");
  response.allow = allow;
  return response;
}

// The media type without its parameters, as in "application/json;charset=utf-8".
std::string_view MediaType(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  return value;
}

bool IsAnyOf(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::any_of(types.begin(), types.end(), [type](std::string_view one) {
    return std::equal(type.begin(), type.end(), one.begin(), one.end(), [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  });
}

bool Accepts(std::string_view header, std::string_view uri) {
  if (header.empty()) return true;
  while (!header.empty()) {
    const std::string_view one = header.substr(0, header.find(','));
    header.remove_prefix(std::min(header.size(), one.size() + 1));
    if (IsAnyOf(MediaType(one), {"application/json", "application/*", "*/*"})) return true;
    if (uri.ends_with("/$metadata") && IsAnyOf(MediaType(one), {"application/xml"})) return true;
  }
  return false;
}

// What a client says of its own protocol must fit this service's (DSP0266, "Request headers").
std::optional<Response> JudgeHeaders(const Request& request) {
  if (!request.odata_version.empty() && request.odata_version != "4.0") {
    return ErrorResponse(412, "HeaderInvalid", {"OData-Version"});
  }
  if (!Accepts(request.accept, request.uri)) return ErrorResponse(406, "HeaderInvalid", {"Accept"});
  const bool has_json = request.content_type.empty() || request.body.empty() ||
                        IsAnyOf(MediaType(request.content_type), {"application/json"});
  if (!has_json) return ErrorResponse(415, "HeaderInvalid", {"Content-Type"});
  return std::nullopt;
}

Response VersionObject() { return JsonResponse(200, {{"v1", "/redfish/v1/"}}); }

}  // namespace

Instance::Instance(std::shared_ptr<const World> world, InstanceOptions options)
    : world_(std::move(world)), options_(options) {}

Response Instance::Handle(const Request& request) {
  std::string storage;
  const std::string_view uri = CanonicalPath(request.uri, storage);
  const bool reads = request.method == Method::kGet || request.method == Method::kHead;
  if (std::optional<Response> refusal = JudgeHeaders(request)) return *std::move(refusal);
  const bool queries = HasQuery(request.uri);
  if (queries && !reads) return ErrorResponse(400, "QueryNotSupportedOnOperation");

  const World::Action* const action = world_->FindAction(uri);
  if (request.method == Method::kOptions) return Options(uri, action);
  if (action != nullptr && request.method == Method::kPost) {
    Editor editor(*this);
    return PostAction(editor, *action, request);
  }
  if (const std::optional<ResourceId> id = world_->Find(uri)) {
    if (reads) return queries ? ReadByQuery(*id, request) : Read(*id, request);
    const World::Resource& resource = world_->resource(*id);
    if (request.method != Method::kPatch || !resource.patchable) {
      return MethodNotAllowed(resource.allow);
    }
    Editor editor(*this);
    return Patch(editor, *id, request);
  }
  if (action != nullptr) return MethodNotAllowed(kPostOnly);
  if (uri == kVersions) return reads ? VersionObject() : MethodNotAllowed(kReadOnly);
  return ErrorResponse(404, "ResourceMissingAtURI", {std::string(uri)});
}

Response Instance::Options(std::string_view uri, const World::Action* action) const {
  const std::optional<ResourceId> id = world_->Find(uri);
  if (uri == kVersions) return {.status = 204, .allow = kReadOnly};
  if (!id.has_value() && action == nullptr) {
    return ErrorResponse(404, "ResourceMissingAtURI", {std::string(uri)});
  }
  return {.status = 204, .allow = id.has_value() ? world_->resource(*id).allow : kPostOnly};
}

Response Instance::Read(ResourceId id, const Request& request) {
  Editor editor(*this);
  Response response = editor.Resource(id);
  if (!request.if_none_match.empty() && Matches(request.if_none_match, response.etag)) {
    response.status = 304;
    response.body = nullptr;
    response.json = nullptr;
  }
  return response;
}

Response Instance::ReadByQuery(ResourceId id, const Request& request) {
  Query query;
  if (std::optional<Response> refusal = ParseQuery(request.uri, query)) return *std::move(refusal);
  Response response = Answer(query, request.uri, *Find(world_->resource(id).uri),
                             [this](const std::string& uri) { return Find(uri); });
  response.allow = world_->resource(id).allow;
  return response;
}

absl::Status Instance::Reset(std::span<const redfish::StartOperation> start,
                             std::optional<redfish::Watch> watch) {
  const auto clear = [this] {
    deltas_.clear();
    pending_.clear();
    history_.clear();
    timers_.clear();
    now_ = std::chrono::milliseconds(0);
    watch_.reset();
    progress_ = {};
    evaluated_ = false;
  };
  clear();
  Editor editor(*this);
  for (const redfish::StartOperation& operation : start) {
    const std::optional<ResourceId> id = world_->Find(redfish::CanonicalUri(operation.uri));
    if (!id.has_value()) {
      clear();
      return runtime::NotFound("start: " + world_->capture().name() + " has no resource " +
                               operation.uri);
    }
    if (!operation.pointer.starts_with('/') ||
        !editor.Set(*id, operation.pointer, operation.value)) {
      clear();
      return runtime::InvalidArgument("start: pointer \"" + operation.pointer +
                                      "\" leads nowhere in " + operation.uri);
    }
  }
  for (auto& [id, delta] : deltas_) {
    delta.start = delta.json;
    delta.collateral = 0;
  }
  watch_ = std::move(watch);
  Evaluate();
  return absl::OkStatus();
}

void Instance::Advance(std::chrono::milliseconds by) {
  const std::chrono::milliseconds end = now_ + std::max(by, std::chrono::milliseconds(0));
  while (true) {
    const auto next =
        std::min_element(timers_.begin(), timers_.end(), [](const Timer& a, const Timer& b) {
          return std::tie(a.due, a.system) < std::tie(b.due, b.system);
        });
    if (next == timers_.end() || next->due > end) break;
    const Timer timer = *next;
    timers_.erase(next);
    now_ = timer.due;
    Editor editor(*this);
    CompletePowerTransient(editor, timer.system, timer.power_on);
  }
  now_ = end;
}

Evaluation Instance::Evaluate() {
  if (!watch_.has_value()) return {};
  if (!evaluated_) {
    watch_->Update(*this, progress_);
    evaluation_ = {progress_.satisfied, progress_.milestones, CountCollateral()};
    evaluated_ = true;
  }
  return evaluation_;
}

std::int64_t Instance::CountCollateral() {
  std::int64_t count = 0;
  for (auto& [id, delta] : deltas_) {
    if (delta.collateral < 0) {
      const auto changes = redfish::SideEffects(world_->schema(), *watch_, world_->resource(id).uri,
                                                *delta.start, *delta.json);
      delta.collateral = static_cast<std::int64_t>(changes.size());
    }
    count += delta.collateral;
  }
  return count;
}

const Json* Instance::Find(std::string_view uri) const {
  const std::optional<ResourceId> id = world_->Find(uri);
  if (!id.has_value()) return nullptr;
  const auto delta = deltas_.find(*id);
  return delta == deltas_.end() ? world_->resource(*id).json.get() : delta->second.json.get();
}

}  // namespace shoal::mockserver
