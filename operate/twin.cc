// SPDX-License-Identifier: Apache-2.0
#include "operate/twin.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

// How long a change of power and a task take on the twin. Each is shorter than one look of a plan.
constexpr std::chrono::seconds kTransient{1};
constexpr std::chrono::seconds kTask{2};
// The time that passes before each request, so that no two resets have the same time.
constexpr std::chrono::seconds kBetween{2};
// The date on the twin, which no captured host shows.
constexpr std::chrono::seconds kEpoch{2'000'000'000};
// The savepoint of the instance at which the stage begins.
constexpr char kStart[] = "start";

// Properties that change by themselves, or that each service fills in on its own.
bool IsVolatile(std::string_view pointer) {
  static constexpr std::array<std::string_view, 9> kEndings = {
      "Time",   "DateTime",     "PercentComplete", "TaskState", "TaskStatus",
      "Health", "HealthRollup", "Messages",        "Members"};
  return pointer.find("/@") != pointer.npos || pointer.find("@odata") != pointer.npos ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return pointer.ends_with(ending); });
}

bool IsBelow(std::string_view pointer, std::string_view above) {
  return pointer.starts_with(above) &&
         (pointer.size() == above.size() || pointer[above.size()] == '/');
}

redfish::StartOperation Start(std::string method, std::string uri, Json body) {
  redfish::StartOperation operation;
  operation.method = std::move(method);
  operation.uri = std::move(uri);
  operation.value = std::move(body);
  return operation;
}

// Returns the POST whose work a task holds back, such as until a boot. Nothing where `body` is no
// such task, or does not tell.
std::optional<redfish::StartOperation> AwaitedBy(const Json& body) {
  const std::string state = redfish::TextAt(body, "TaskState");
  const bool waits = redfish::TextAt(body, "@odata.type").starts_with("#Task.") &&
                     (state == "New" || state == "Pending" || state == "Starting");
  const Json* const payload = waits ? redfish::Resolve(body, "/Payload") : nullptr;
  if (payload == nullptr || !payload->is_object()) return std::nullopt;
  Json sent = content::ParseJson(redfish::TextAt(*payload, "JsonBody"));
  if (redfish::TextAt(*payload, "HttpOperation") != "POST" || !sent.is_object()) {
    return std::nullopt;
  }
  return Start("POST", redfish::TextAt(*payload, "TargetUri"), std::move(sent));
}

std::string AttributePointer(const std::string& name) {
  return redfish::AppendPointer("/Attributes", name);
}

void AddAsked(const Json& json, std::set<redfish::PropertyPath>& asked) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("pointer")) {
    asked.insert({redfish::TextAt(json, "uri"), redfish::TextAt(json, "pointer")});
  }
  for (const Json& item : json) AddAsked(item, asked);
}

}  // namespace

std::set<redfish::PropertyPath> AskedBy(const Json& predicate) {
  std::set<redfish::PropertyPath> asked;
  AddAsked(predicate, asked);
  return asked;
}

absl::StatusOr<std::unique_ptr<Twin>> Twin::Create(std::shared_ptr<const redfish::Capture> present,
                                                   std::shared_ptr<const redfish::Schema> schema,
                                                   TwinOptions options) {
  SHOAL_ASSIGN_OR_RETURN(auto world,
                         mockserver::World::Create(std::move(present), std::move(schema)));
  std::unique_ptr<Twin> twin(new Twin(std::move(world), std::move(options)));
  SHOAL_RETURN_IF_ERROR(twin->instance_.Reset());
  SHOAL_RETURN_IF_ERROR(twin->instance_.Reset(twin->FindPending()));
  SHOAL_RETURN_IF_ERROR(twin->BeginStage(twin->options_.watch, {}));
  return twin;
}

absl::Status Twin::BeginStage(std::optional<redfish::Watch> watch, std::vector<Step> earlier) {
  earlier_ = std::move(earlier);
  instance_.BeginWatch(std::move(watch));
  SHOAL_RETURN_IF_ERROR(instance_.Save(kStart));
  return StartOver();
}

absl::Status Twin::StartOver() {
  steps_.clear();
  seen_.clear();
  sessions_.clear();
  task_.clear();
  SHOAL_RETURN_IF_ERROR(instance_.Restore(kStart));
  Close();
  return absl::OkStatus();
}

Twin::Twin(std::shared_ptr<const mockserver::World> world, TwinOptions options)
    : world_(std::move(world)),
      options_(std::move(options)),
      instance_(world_, {.power_transient = kTransient,
                         .task_duration = kTask,
                         .epoch = kEpoch,
                         .account_password = options_.account_password,
                         .writes_texts = false}) {}

std::vector<redfish::StartOperation> Twin::FindPending() {
  std::vector<redfish::StartOperation> pending;
  const auto add = [&](redfish::StartOperation operation) {
    pending.push_back(std::move(operation));
    if (!instance_.Reset(pending).ok()) pending.pop_back();
  };
  for (mockserver::ResourceId id = 0; id < world_->resources().size(); ++id) {
    const auto settings = world_->SettingsOf(id);
    const Json& active = *world_->resource(id).json;
    if (auto awaited = AwaitedBy(active)) add(*std::move(awaited));
    const Json* const reset = redfish::Resolve(active, "/Actions/#Bios.ResetBios");
    if (reset != nullptr && active.value("ResetBiosToDefaultsPending", Json()) == Json(true)) {
      add(Start("POST", redfish::TextAt(*reset, "target"), Json::object()));
    }
    if (!settings) continue;
    const Json& later = *world_->resource(*settings).json;
    if (!active.contains("Attributes") || !later.contains("Attributes")) continue;
    Json attributes = Json::object();
    for (const auto& [name, value] : later.at("Attributes").items()) {
      const Json* const now = redfish::Resolve(active, AttributePointer(name));
      if (now != nullptr && *now != value) attributes[name] = value;
    }
    if (attributes.empty()) continue;
    add(Start("PATCH", world_->resource(*settings).uri, {{"Attributes", std::move(attributes)}}));
  }
  return pending;
}

redfish::PlanReply Twin::Send(const redfish::PlanRequest& request) {
  const std::string uri = redfish::CanonicalUri(request.uri);
  touched_.insert(uri);
  const bool changes = request.method != "GET" && request.method != "HEAD";
  if (changes) {
    instance_.Advance(kBetween);
    Close();
  }
  const mockserver::Response answer =
      instance_.Handle({.method = mockserver::ParseMethod(request.method),
                        .uri = request.uri,
                        .json = request.body.is_null() ? nullptr : &request.body,
                        .auth_token = request.token});
  const std::string token = answer.Header("X-Auth-Token");
  Json body = answer.json == nullptr ? Json() : *answer.json;
  if (request.uri.ends_with(redfish::kExpandQuery)) {
    for (std::string& member : redfish::MemberUris(body)) touched_.insert(std::move(member));
  }
  if (changes) {
    Step step = {.method = request.method,
                 .uri = uri,
                 .body = request.body,
                 .status = answer.status,
                 .location = redfish::CanonicalUri(answer.location)};
    if (answer.location.empty()) step.location.clear();
    const auto session = sessions_.find(request.token);
    if (!request.token.empty() && session != sessions_.end()) step.session = session->second;
    if (!token.empty()) sessions_[token] = steps_.size();
    task_ = answer.status == 202 && body.is_object() ? redfish::LinkTarget(body) : "";
    steps_.push_back(std::move(step));
  }
  return {.status = answer.status,
          .body = std::move(body),
          .location = answer.location,
          .token = token};
}

void Twin::Wait(std::chrono::seconds time) { instance_.Advance(time); }

const Json* Twin::Find(std::string_view uri) const {
  touched_.insert(std::string(uri));
  return instance_.Find(uri);
}

const std::vector<redfish::HistoryRecord>& Twin::history() const { return instance_.history(); }

bool Twin::HasPassword(std::string_view uri, std::string_view name,
                       std::string_view password) const {
  return instance_.HasPassword(uri, name, password);
}

std::vector<Step> Twin::TakeSteps() {
  Close();
  return std::exchange(steps_, {});
}

void Twin::Close() {
  for (const mockserver::World::Resource& resource : world_->resources()) {
    const Json* const now = instance_.Find(resource.uri);
    if (now == resource.json.get() && !seen_.contains(resource.uri)) continue;
    Compare(resource.uri, now);
  }
  // What a client made is found by its collection, which has changed as well.
  std::set<std::string> made;
  for (const auto& [uri, body] : seen_) {
    if (body) {
      for (std::string& member : redfish::MemberUris(*body)) made.insert(std::move(member));
    }
    if (!world_->Find(uri)) made.insert(uri);
  }
  if (!steps_.empty() && !steps_.back().location.empty()) made.insert(steps_.back().location);
  if (!task_.empty()) made.insert(task_);
  for (const std::string& uri : made) {
    if (!world_->Find(uri)) Compare(uri, instance_.Find(uri));
  }
  if (!task_.empty() && !steps_.empty()) {
    const Json* const task = instance_.Find(task_);
    steps_.back().task_state = task == nullptr ? "" : redfish::TextAt(*task, "TaskState");
  }
  task_.clear();
}

void Twin::Compare(const std::string& uri, const Json* now) {
  const auto id = world_->Find(uri);
  auto known = seen_.find(uri);
  if (known == seen_.end()) {
    std::optional<Json> before;
    if (id) before = *world_->resource(*id).json;
    known = seen_.emplace(uri, std::move(before)).first;
  }
  std::optional<Json>& before = known->second;
  if (!steps_.empty() && (before.has_value() || now != nullptr)) {
    Step& step = steps_.back();
    const std::string type = redfish::TextAt(now == nullptr ? *before : *now, "@odata.type");
    const auto add = [&](Effect effect) {
      effect.uri = uri;
      effect.matters = Matters(step, effect, type);
      step.effects.push_back(std::move(effect));
      touched_.insert(uri);
    };
    if (before.has_value() != (now != nullptr)) {
      const Json there = {{"@odata.id", uri}};
      add({.pointer = "",
           .before = before ? there : Json(),
           .after = now == nullptr ? Json() : there});
    } else if (now != nullptr) {
      for (const std::string& pointer : redfish::ChangedLeaves(*before, *now)) {
        const Json* const old_value = redfish::Resolve(*before, pointer);
        const Json* const new_value = redfish::Resolve(*now, pointer);
        add({.pointer = pointer,
             .before = old_value == nullptr ? Json() : *old_value,
             .after = new_value == nullptr ? Json() : *new_value});
      }
    }
  }
  before = now == nullptr ? std::optional<Json>() : *now;
}

bool Twin::Matters(const Step& step, const Effect& effect, std::string_view type) const {
  if (effect.pointer.empty()) {
    return effect.after.is_null() ? effect.uri == step.uri
                                  : step.status == 201 && effect.uri == step.location;
  }
  if (IsVolatile(effect.pointer)) return false;
  // A step may also change what an earlier one has put into the settings object of the resource.
  const auto id = world_->Find(effect.uri);
  const auto settings = id ? world_->SettingsOf(*id) : std::nullopt;
  const std::string later = settings ? world_->resource(*settings).uri : effect.uri;
  const auto asks = [&](const Step& one) {
    const bool is_here = one.uri == later || (one.uri == effect.uri && &one == &step);
    return is_here && one.body.is_object() && redfish::Resolve(one.body, effect.pointer) != nullptr;
  };
  const bool is_asked = std::any_of(steps_.begin(), steps_.end(), asks) ||
                        std::any_of(earlier_.begin(), earlier_.end(), asks);
  const bool is_goal = std::any_of(
      options_.asked.begin(), options_.asked.end(), [&](const redfish::PropertyPath& asked) {
        return (asked.uri.empty() || asked.uri == effect.uri) && !asked.pointer.empty() &&
               IsBelow(effect.pointer, asked.pointer);
      });
  const bool is_power =
      effect.pointer == "/PowerState" && redfish::IsAtOrBelow(step.uri, effect.uri);
  return is_asked || is_goal || is_power || world_->schema().IsWritable(type, effect.pointer);
}

}  // namespace shoal::operate
