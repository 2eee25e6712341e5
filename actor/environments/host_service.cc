// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/host_service.h"

#include <thread>
#include <utility>

#include "operate/host_state.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/log.h"

namespace shoal::actor {
namespace {

// Nothing interrupts a wait of an actor, so waits are short.
bool Sleep(runtime::Duration time) {
  std::this_thread::sleep_for(time);
  return false;
}

nlohmann::json Refusal(const absl::Status& reason) {
  return {
      {"error",
       {{"code", "Base.1.0.InsufficientPrivilege"}, {"message", std::string(reason.message())}}}};
}

}  // namespace

void RealHostOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("url", url, {.help = "https://host[:port], for access = \"host\""});
  access.Visit(visitor);
  visitor.Knob("methods", methods,
               {.help = "POST, PATCH, PUT or DELETE, by which the host may be changed; none: it is "
                        "only read"});
  visitor.Knob("uris", uris,
               {.help = "patterns of paths that may be written, * within a segment, ** across; "
                        "none: any"});
  visitor.Knob("budget", budget,
               {.help = "requests that may change the host, over all episodes of a process",
                .unit = "requests",
                .min = 0,
                .max = 1e9});
}

absl::StatusOr<HostTerms> TermsOf(const RealHostOptions& options) {
  if (options.url.empty()) {
    return runtime::InvalidArgument(
        "environment.access is host, but environment.host.url is empty");
  }
  if (options.methods.empty() != (options.budget == 0)) {
    return runtime::InvalidArgument(
        "environment.host.methods and environment.host.budget only make sense together: without "
        "them a host is only read");
  }
  for (const std::string& method : options.methods) {
    if (operate::kChangingMethods.contains(method)) continue;
    return runtime::InvalidArgument("environment.host.methods: " + method +
                                    " is none of POST, PATCH, PUT and DELETE");
  }
  HostTerms terms;
  operate::PasswordFiles passwords;
  SHOAL_ASSIGN_OR_RETURN(terms.options,
                         operate::HostOptionsOf(options.access, options.url, passwords));
  terms.permissions.budget = options.budget;
  terms.permissions.methods.insert(options.methods.begin(), options.methods.end());
  SHOAL_RETURN_IF_ERROR(terms.permissions.AllowUris(options.uris, "environment.host.uris:"));
  return terms;
}

HostService::HostService(HostTerms terms, std::shared_ptr<operate::Budget> budget)
    : terms_(std::move(terms)),
      budget_(std::move(budget)),
      host_(terms_.options, runtime::SystemClock(), Sleep) {}

HostService::~HostService() {
  if (entered_) host_.Leave();
}

void HostService::Reset(const std::string&, const redfish::Episode& episode, ResetDone done) {
  done(Begin(episode));
}

void HostService::Send(const ServiceRequest& request, Done done) { done(Exchange(request)); }

void HostService::Advance(std::chrono::seconds by, Done done) {
  host_.Wait(by);
  const absl::StatusOr<redfish::Progress> progress = Look();
  if (!progress.ok()) {
    done(progress.status());
    return;
  }
  done(ServiceResponse{.progress = *progress});
}

absl::StatusOr<redfish::Progress> HostService::Begin(const redfish::Episode& episode) {
  if (!entered_) SHOAL_RETURN_IF_ERROR(host_.Enter());
  entered_ = true;
  watch_ = episode.watch;
  progress_ = {};
  return Look();
}

absl::StatusOr<ServiceResponse> HostService::Exchange(const ServiceRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads) {
    const absl::Status permitted = Permit(request);
    if (!permitted.ok()) {
      return ServiceResponse{.status = 403,
                             .json = std::make_shared<const nlohmann::json>(Refusal(permitted)),
                             .progress = progress_};
    }
  }
  absl::StatusOr<operate::HostAnswer> answer = reads ? host_.Get(request.uri, request.token)
                                                     : host_.Send({.method = request.method,
                                                                   .uri = request.uri,
                                                                   .body = request.body,
                                                                   .if_match = request.if_match,
                                                                   .token = request.token});
  if (!answer.ok()) return answer.status();
  ServiceResponse response{.status = answer->status,
                           .etag = std::move(answer->etag),
                           .token = std::move(answer->token),
                           .location = std::move(answer->location),
                           .progress = progress_};
  if (!answer->body.is_null()) {
    response.json = std::make_shared<const nlohmann::json>(std::move(answer->body));
  }
  if (!reads) {
    spdlog::info("event=host_changed host={} method={} uri={} status={} left={}",
                 terms_.options.name, request.method, request.uri, answer->status, budget_->left());
    SHOAL_ASSIGN_OR_RETURN(response.progress, Look());
  }
  return response;
}

absl::Status HostService::Permit(const ServiceRequest& request) {
  if (terms_.permissions.methods.empty()) {
    return absl::PermissionDeniedError("the host is only read");
  }
  SHOAL_RETURN_IF_ERROR(terms_.permissions.CheckRequest(request.method, request.uri));
  return budget_->Take();
}

absl::StatusOr<redfish::Progress> HostService::Look() {
  static const std::vector<redfish::HistoryRecord> kNoHistory;
  operate::HostState seen(host_, kNoHistory);
  watch_->Update(seen, progress_);
  SHOAL_RETURN_IF_ERROR(seen.status());
  return progress_;
}

}  // namespace shoal::actor
