// SPDX-License-Identifier: Apache-2.0
#include "mockserver/instance/instance.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "mockserver/access/access.h"
#include "mockserver/access/credentials.h"
#include "mockserver/behaviours/actions.h"
#include "mockserver/behaviours/bios_actions.h"
#include "mockserver/behaviours/firmware.h"
#include "mockserver/behaviours/manager.h"
#include "mockserver/behaviours/tasks.h"
#include "mockserver/events/deliveries.h"
#include "mockserver/events/event_streams.h"
#include "mockserver/events/events.h"
#include "mockserver/faults/fault_injector.h"
#include "mockserver/instance/built_in_handlers.h"
#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/json_object.h"
#include "mockserver/messages/request_body.h"
#include "mockserver/messages/request_headers.h"
#include "mockserver/resources/members.h"
#include "mockserver/resources/patch.h"
#include "mockserver/resources/query.h"
#include "mockserver/rules/teaching.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/handler.h"
#include "mockserver/service/tree_pool.h"
#include "mockserver/service/world_documents.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/percent_encoding.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kPostOnly = "POST";
constexpr std::string_view kReadOnly = "GET, HEAD";
constexpr std::string_view kVersions = "/redfish";

// Returns the path of `uri` in canonical form. It writes into `storage` only when the path must
// change.
std::string_view CanonicalPath(std::string_view uri, std::string& storage) {
  const std::string_view path = uri.substr(0, uri.find_first_of("?#"));
  if (redfish::IsCanonicalUri(path)) return path;
  storage = redfish::CanonicalUri(path);
  return storage;
}

Response MethodNotAllowed(std::string_view allow) {
  Response response = ErrorResponse(405, "OperationNotAllowed");
  response.allow = allow;
  return response;
}

Response Missing(std::string_view uri) {
  return ErrorResponse(404, "ResourceMissingAtURI", {std::string(uri)});
}

// `left` is the time until the manager is back.
Response Restarting(std::chrono::milliseconds left) {
  const std::string seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(left).count());
  Response response = ErrorResponse(503, "ServiceTemporarilyUnavailable", {seconds});
  response.headers.emplace_back("Retry-After", seconds);
  return response;
}

// Returns null when the fault that strikes has another effect.
template <typename Effect>
const Effect* EffectOf(const Strikes& strikes) {
  return strikes.fault == nullptr ? nullptr : std::get_if<Effect>(&strikes.fault->effect);
}

Response VersionObject() { return JsonResponse(200, {{"v1", "/redfish/v1/"}}); }

}  // namespace

Instance::Instance(std::shared_ptr<const World> world, InstanceOptions options)
    : InstanceCore(std::move(world), std::move(options),
                   options.mode == Mode::kStateful ? BuiltInHandlers() : HandlerTable::None()),
      rules_(options_.rules),
      faults_(options_.faults, options_.seed) {}

Response Instance::Handle(const Request& request) {
  std::string storage;
  std::string_view uri = CanonicalPath(request.uri, storage);
  const bool is_escaped = uri.find('%') != std::string_view::npos && !Locate(uri).has_value() &&
                          FindAction(uri) == nullptr;
  if (is_escaped) {
    storage = redfish::DecodedPath(uri);
    uri = storage;
  }
  if (faults_.empty()) return Serve(request, uri);
  const std::optional<ResourceId> id = LocateTarget(request.method, uri);
  // Faults match the resource's own URI, so that other capitals cannot evade a fault.
  const std::string path(id.has_value() ? std::string_view(Description(*id).uri) : uri);
  const Strikes strikes = faults_.Next(request.method, path);
  return strikes.empty() ? Serve(request, uri) : ServeStruck(request, path, strikes);
}

Response Instance::Serve(const Request& request, std::string_view uri, Later* later) {
  if (now_ < offline_until_) return Restarting(offline_until_ - now_);
  const auto answer = [&](const Principal* principal) {
    return later == nullptr ? Answer(request, uri, principal)
                            : AnswerLater(request, uri, principal, *later);
  };
  const bool is_anonymous = request.auth_token.empty() && request.authorization.empty();
  if (is_anonymous && options_.authentication == Authentication::kNone) return answer(nullptr);
  Editor editor(*this);
  Admission admission = Admit(editor, request, uri);
  if (admission.refusal) return *std::move(admission.refusal);
  return answer(admission.principal ? &*admission.principal : nullptr);
}

Response Instance::AnswerLater(const Request& request, std::string_view uri,
                               const Principal* principal, Later& later) {
  Editor editor(*this);
  if (!MayBecomeTask(editor, uri)) return Answer(request, uri, principal);
  const RequestObject object(request, true);
  Request parsed = request;
  if (!request.body.empty()) parsed.json = object.get();
  // Whether the request would succeed is known once it has been carried out.
  InstanceState before = *this;
  Response at_once = Answer(parsed, uri, principal);
  const bool is_plain = at_once.status < 300 && at_once.status != 202 &&
                        at_once.external == nullptr && at_once.Header("X-Auth-Token").empty();
  if (!is_plain) return at_once;
  static_cast<InstanceState&>(*this) = std::move(before);
  // The copies outlive the request. Its If-Match has been judged.
  const auto carry_out =
      [method = request.method, uri = std::string(uri),
       body = std::string(parsed.json == nullptr ? request.body : ""),
       json = parsed.json == nullptr ? nullptr : std::make_shared<const Json>(*parsed.json),
       content_type = std::string(request.content_type),
       user = principal == nullptr ? std::optional<Principal>() : *principal](Editor& editor_then) {
        const Request again{.method = method,
                            .uri = uri,
                            .body = body,
                            .json = json.get(),
                            .if_match = "*",
                            .content_type = content_type};
        auto& instance = static_cast<Instance&>(editor_then.instance());
        return instance.Answer(again, uri, user ? &*user : nullptr);
      };
  Response accepted = StartTask(
      editor, {.name = std::string(Name(request.method)) + " " + std::string(uri),
               .complete = carry_out,
               .payload = PayloadOf(request.method, uri,
                                    object.get() == nullptr ? Json::object() : *object.get()),
               .duration = later.duration});
  later.is_task = accepted.status == 202;
  return accepted;
}

Response Instance::Answer(const Request& request, std::string_view uri,
                          const Principal* principal) {
  const bool reads = Reads(request.method);
  const bool pushes = request.method == Method::kPost && options_.mode == Mode::kStateful &&
                      !Locate(uri).has_value() && IsPushUri(Editor(*this), uri);
  const BodyMedia media = pushes ? BodyMedia::kForm : BodyMedia::kJson;
  if (auto refusal = JudgeHeaders(request, options_.preconditions, media)) {
    return *std::move(refusal);
  }
  const bool queries = HasQuery(request.uri);
  if (queries && !reads) return ErrorResponse(400, "QueryNotSupportedOnOperation");

  if (rules_ != nullptr || external_handlers_ != nullptr) {
    Editor editor(*this);
    std::optional<Response> taught =
        AnswerAsTaught(editor, request, uri, principal, {rules_.get(), external_handlers_.get()});
    if (taught.has_value()) return *std::move(taught);
  }
  if (!reads) return Dispatch(request, uri, principal);
  Response response = Get(request, uri, queries, principal);
  const bool is_body = response.status == 200 && response.event_stream == 0;
  if (is_body && !Accepts(request.accept, response.content_type)) {
    return ErrorResponse(406, "HeaderInvalid", {"Accept"});
  }
  return response;
}

Response Instance::Get(const Request& request, std::string_view uri, bool queries,
                       const Principal* principal) {
  const std::optional<ResourceId> id = Locate(uri);
  if (id.has_value()) {
    if (principal != nullptr) {
      auto refusal = Forbid(Editor(*this), principal, request.method, *id, nullptr);
      if (refusal) return *std::move(refusal);
    }
    return queries ? ReadByQuery(*id, request, principal) : Read(*id, request);
  }
  if (uri == kVersions) return VersionObject();
  const Document document =
      world_->documents() == nullptr ? Document{} : world_->documents()->Find(uri);
  if (document.bytes != nullptr) {
    return {.body = document.bytes, .content_type = document.content_type, .allow = kReadOnly};
  }
  if (FindAction(uri) != nullptr) return MethodNotAllowed(kPostOnly);
  return AnswerElsewhere(request, uri, principal);
}

Response Instance::AnswerElsewhere(const Request& request, std::string_view uri,
                                   const Principal* principal) {
  Editor editor(*this);
  std::optional<Response> response = handlers_.AnswerElsewhere(editor, request, principal, uri);
  return response.has_value() ? *std::move(response) : Missing(uri);
}

Response Instance::Complete(const ExternalCall& call, absl::StatusOr<ExternalReply> reply) {
  Editor editor(*this);
  return CompleteExternally(editor, call, std::move(reply));
}

Response Instance::Dispatch(const Request& request, std::string_view uri,
                            const Principal* principal) {
  const std::optional<ResourceId> id = LocateTarget(request.method, uri);
  const World::Action* const action = FindAction(uri);
  const bool acts = action != nullptr && (!id.has_value() || request.method == Method::kPost);
  if (!acts && !id.has_value()) {
    const bool is_document = world_->documents() != nullptr && world_->documents()->Has(uri);
    if (uri != kVersions && !is_document) return AnswerElsewhere(request, uri, principal);
    return request.method == Method::kOptions ? Response{.status = 204, .allow = kReadOnly}
                                              : MethodNotAllowed(kReadOnly);
  }
  const std::string_view allow = acts ? kPostOnly : AllowText(Description(*id).methods);
  if (request.method == Method::kOptions) return {.status = 204, .allow = allow};
  const bool takes =
      acts ? request.method == Method::kPost : Description(*id).methods.Take(request.method);
  if (!takes) return MethodNotAllowed(allow);
  if (acts) return Change(request, action->resource, action, principal);
  Editor editor(*this);
  const std::string etag = editor.ETag(*id);
  Response response = Change(request, *id, nullptr, principal);
  if (options_.mode == Mode::kStateful) {
    AnnounceRequest(editor, request.method, *id, etag, response);
  }
  return response;
}

Response Instance::Change(const Request& request, ResourceId id, const World::Action* action,
                          const Principal* principal) {
  Editor editor(*this);
  const bool may_be_empty = action != nullptr || request.method == Method::kDelete;
  const RequestObject body(request, may_be_empty);
  const Json* const object = body.get();
  const std::string_view name = action == nullptr ? std::string_view() : action->name;
  auto refusal = Forbid(editor, principal, request.method, id, object, name);
  if (refusal) return *std::move(refusal);
  if (!request.if_match.empty() && !Matches(request.if_match, editor.ETag(id))) {
    return ErrorResponse(412, "PreconditionFailed");
  }
  if (object == nullptr) return body.refusal();
  Response response = Perform(editor, {.request = request,
                                       .resource = id,
                                       .action = action,
                                       .body = *object,
                                       .principal = principal});
  if (principal != nullptr && response.status < 300) {
    editor.Record(kChangeRecord, id,
                  {{"UserName", principal->user},
                   {"Method", std::string(Name(request.method))},
                   {"Authentication", principal->session ? "Session" : "Basic"}});
  }
  return response;
}

Response Instance::Perform(Editor& editor, const Call& call) {
  if (call.action != nullptr) {
    const Handler* const handler = handlers_.FindAction(call.action->name);
    if (handler == nullptr || !IsDefined(editor, *call.action)) {
      return ErrorResponse(404, "ActionNotSupported", {call.action->name});
    }
    std::vector<Json> problems = JudgeParameters(editor, *call.action, call.body);
    return problems.empty() ? (*handler)(editor, call) : ErrorResponse(400, std::move(problems));
  }
  const World::Resource& resource = Description(call.resource);
  const Handler* const handler = handlers_.Find(call.request.method, resource.odata_type);
  if (handler != nullptr) return (*handler)(editor, call);
  if (options_.mode == Mode::kStatic) return Missing(resource.uri);
  switch (call.request.method) {
    case Method::kPost:
      return PostMember(editor, call.resource, call.body);
    case Method::kDelete:
      return DeleteMember(editor, call.resource);
    default:
      return Patch(editor, call.resource, call.body);
  }
}

Response Instance::Read(ResourceId id, const Request& request) {
  Editor editor(*this);
  Response response = editor.Representation(id);
  ShowManagerTime(editor, id, response);
  if (!request.if_none_match.empty() && Matches(request.if_none_match, response.etag)) {
    response.status = 304;
    response.body = nullptr;
    response.json = nullptr;
  }
  return response;
}

Response Instance::ReadByQuery(ResourceId id, const Request& request, const Principal* principal) {
  Query query;
  if (std::optional<Response> refusal = ParseQuery(request.uri, query)) return *std::move(refusal);
  const Editor editor(*this);
  std::deque<Json> of_now;
  const auto read = [&](ResourceId which) -> const Json& {
    const auto time = ManagerTime(editor, which);
    if (!time) return editor.Read(which);
    Json& shown = of_now.emplace_back(editor.Read(which));
    shown["DateTime"] = *time;
    return shown;
  };
  const auto find = [&](const std::string& uri) -> const Json* {
    const auto found = Locate(uri);
    return found && MayShow(editor, principal, *found) ? &read(*found) : nullptr;
  };
  Response response = mockserver::Answer(query, request.uri, read(id), world_->schema(), find);
  response.allow = AllowText(Description(id).methods);
  response.link = Description(id).link;
  return response;
}

void Instance::Clear() {
  if (options_.clock == ClockKind::kReal) past_ += now_;
  GiveTreesBack();
  static_cast<InstanceState&>(*this) = InstanceState(options_.seed);
  faults_.Restart();
}

void Instance::GiveTreesBack() {
  if (options_.trees == nullptr) return;
  const std::size_t captured = world_->resources().size();
  for (auto& [id, delta] : deltas_) {
    if (id >= captured) continue;
    if (std::shared_ptr<Json> tree = delta.TakeTree()) {
      options_.trees->Give(world_->resource(id).json, std::move(tree));
    }
  }
}

void Instance::Advance(std::chrono::milliseconds by) {
  const std::chrono::milliseconds end = now_ + std::max(by, std::chrono::milliseconds(0));
  while (true) {
    const auto next = std::min_element(timers_.begin(), timers_.end(), [](auto& a, auto& b) {
      return std::tie(a.second.due, a.second.order) < std::tie(b.second.due, b.second.order);
    });
    if (next == timers_.end() || next->second.due > end) break;
    const Timer timer = std::move(next->second);
    timers_.erase(next);
    now_ = timer.due;
    Editor editor(*this);
    timer.run(editor);
  }
  now_ = end;
}

std::vector<Delivery> Instance::TakeDeliveries() {
  Editor editor(*this);
  return TakeDueDeliveries(editor);
}

void Instance::ReportDelivery(std::uint64_t number, bool delivered) {
  Editor editor(*this);
  ConcludeDelivery(editor, number, delivered);
}

std::optional<std::string> Instance::TakeStreamText(std::uint64_t stream) {
  Editor editor(*this);
  return mockserver::TakeStreamText(editor, stream);
}

void Instance::CloseStream(std::uint64_t stream) {
  Editor editor(*this);
  CloseEventStream(editor, stream);
}

bool Instance::HasEventsToSend() {
  if (notes_.empty() || options_.event_delivery != EventDelivery::kPush) return false;
  const Editor editor(*this);
  return HasDueDeliveries(editor) || HasEventStreams(editor);
}

redfish::Progress Instance::Evaluate() {
  if (!watch_.has_value()) return {};
  if (!evaluated_) {
    watch_->Update(*this, progress_);
    progress_.collateral = CountCollateral();
    evaluated_ = true;
  }
  return progress_;
}

void Instance::EvaluateOther(const redfish::Watch& watch, redfish::Progress& progress) const {
  watch.Update(*this, progress);
  progress.collateral = CountMembers(watch);
  for (const auto& [id, delta] : deltas_) {
    progress.collateral +=
        delta.CountSideEffectsAfresh(world_->schema(), watch, Description(id).uri);
  }
}

std::int64_t Instance::CountCollateral() {
  std::int64_t count = CountMembers(*watch_);
  for (auto& [id, delta] : deltas_) {
    count += delta.CountSideEffects(world_->schema(), *watch_, Description(id).uri);
  }
  return count;
}

std::int64_t Instance::CountMembers(const redfish::Watch& watch) const {
  std::int64_t count = 0;
  for (const auto& [collection, members] : membership_) {
    if (!watch.Allows(Description(collection).uri, "/Members")) count += members;
  }
  return count;
}

void Instance::SetFaults(std::shared_ptr<const FaultSet> faults) {
  faults_ = FaultInjector(std::move(faults), options_.seed);
}

Response Instance::ServeStruck(const Request& request, std::string_view uri,
                               const Strikes& strikes) {
  for (const Fault* const delay : strikes.delays) {
    RecordFault(*delay, request.method, uri, strikes.request);
  }
  const auto* const malformed = EffectOf<MalformedFault>(strikes);
  const auto* const task = EffectOf<TaskFault>(strikes);
  // Those two strike only some answers.
  if (strikes.fault != nullptr && malformed == nullptr && task == nullptr) {
    RecordFault(*strikes.fault, request.method, uri, strikes.request);
  }

  Response response;
  const auto* const drop = EffectOf<DropFault>(strikes);
  if (const auto* const status = EffectOf<StatusFault>(strikes); status != nullptr) {
    response = FaultResponse(*status, uri);
  } else if (task != nullptr) {
    Later later{.duration = task->duration};
    response = Serve(request, uri, &later);
    if (later.is_task) {
      RecordFault(*strikes.fault, request.method, uri, strikes.request);
    } else {
      faults_.TakeBack(strikes);
    }
  } else if (drop == nullptr || *drop == DropFault::kAnswer) {
    response = Serve(request, uri);
  }
  response.dropped = drop != nullptr;
  if (response.dropped && response.event_stream != 0) {
    CloseStream(std::exchange(response.event_stream, 0));
  }
  if (malformed != nullptr && faults_.Spoil(strikes, response)) {
    RecordFault(*strikes.fault, request.method, uri, strikes.request);
  }

  response.latency = strikes.latency();
  if (options_.clock == ClockKind::kVirtual) Advance(response.latency);
  return response;
}

void Instance::RecordFault(const Fault& fault, Method method, std::string_view uri,
                           std::uint64_t number) {
  Json detail = fault.Summary();
  detail["method"] = std::string(Name(method));
  detail["request"] = number;
  const double seconds = std::chrono::duration<double>(now_).count();
  Append({std::string(kFaultRecord), std::string(uri), std::move(detail), seconds});
}

absl::Status Instance::Reset(std::span<const redfish::StartOperation> start,
                             std::optional<redfish::Watch> watch) {
  Clear();
  ++resets_;
  for (const redfish::StartOperation& operation : start) {
    const absl::Status status = PerformStart(operation);
    if (status.ok()) continue;
    Clear();
    return runtime::Annotate(status, "start");
  }
  history_ = std::make_shared<History>();
  BeginWatch(std::move(watch));
  return absl::OkStatus();
}

void Instance::BeginWatch(std::optional<redfish::Watch> watch) {
  for (auto& [id, delta] : deltas_) delta.BeginEpisode();
  membership_.clear();
  came_.clear();
  watch_ = std::move(watch);
  progress_ = {};
  evaluated_ = false;
  Evaluate();
}

absl::Status Instance::PerformStart(const redfish::StartOperation& operation) {
  const std::string uri = redfish::CanonicalUri(operation.uri);
  if (!operation.method.empty()) {
    const Response response =
        Answer({.method = ParseMethod(operation.method),
                .uri = uri,
                .json = operation.value.is_null() ? nullptr : &operation.value,
                .if_match = "*"},
               uri, nullptr);
    if (response.status >= 300) {
      return runtime::FailedPrecondition(
          operation.method + " " + uri + " is answered " + std::to_string(response.status) + " " +
          (response.body == nullptr ? std::string() : response.body->substr(0, 300)));
    }
    Advance(std::max({options_.task_duration, options_.power_transient, options_.manager_restart}));
    return absl::OkStatus();
  }
  const std::optional<ResourceId> id = Locate(uri);
  if (!id.has_value()) {
    return runtime::NotFound(world_->capture().name() + " has no resource " + operation.uri);
  }
  Editor editor(*this);
  if (operation.pointer.starts_with('/') && editor.Set(*id, operation.pointer, operation.value)) {
    return absl::OkStatus();
  }
  return runtime::InvalidArgument("pointer \"" + operation.pointer + "\" leads nowhere in " +
                                  operation.uri);
}

bool Instance::HasPassword(std::string_view uri, std::string_view name,
                           std::string_view password) const {
  const std::optional<ResourceId> id = Locate(uri);
  if (!id.has_value()) return false;
  // The editor is used only for reading.
  const Editor editor(const_cast<Instance&>(*this));
  return editor.IsA(*id, "Bios") ? HasBiosPassword(editor, *id, name, password)
                                 : mockserver::HasPassword(editor, *id, password);
}

absl::Status Instance::Save(std::string name) {
  if (!IsName(name)) {
    return runtime::InvalidArgument("\"name\" is 1 to 64 letters, digits, '-', '_' and '.'");
  }
  if (savepoints_.size() >= kMaximumSavepoints && !savepoints_.contains(name)) {
    return runtime::ResourceExhausted("there are " + std::to_string(kMaximumSavepoints) +
                                      " savepoints, the limit");
  }
  savepoints_.insert_or_assign(std::move(name), Savepoint{.state = *this,
                                                          .rules = rules_,
                                                          .external_handlers = external_handlers_,
                                                          .faults = faults_});
  return absl::OkStatus();
}

absl::Status Instance::Restore(std::string_view name) {
  const auto found = savepoints_.find(name);
  if (found == savepoints_.end()) {
    return runtime::NotFound("no savepoint " + std::string(name));
  }
  const Savepoint& savepoint = found->second;
  const std::set<std::uint64_t> open = OpenStreams(Editor(*this));
  if (options_.clock == ClockKind::kReal) past_ += now_ - savepoint.state.now_;
  static_cast<InstanceState&>(*this) = savepoint.state;
  rules_ = savepoint.rules;
  external_handlers_ = savepoint.external_handlers;
  faults_ = savepoint.faults;
  ++resets_;
  Editor editor(*this);
  ResendDeliveries(editor);
  for (const std::uint64_t stream : OpenStreams(editor)) {
    if (!open.contains(stream)) CloseEventStream(editor, stream);
  }
  return absl::OkStatus();
}

bool Instance::Forget(std::string_view name) {
  const auto found = savepoints_.find(name);
  if (found == savepoints_.end()) return false;
  savepoints_.erase(found);
  return true;
}

}  // namespace shoal::mockserver
