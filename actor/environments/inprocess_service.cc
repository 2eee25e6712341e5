// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/inprocess_service.h"

#include <utility>

#include "platform/http/message.h"

namespace shoal::actor {

absl::StatusOr<ServiceFaults> InProcessService::SetFaults(const ServiceFaults& faults) {
  SHOAL_ASSIGN_OR_RETURN(faults_, mockserver::FaultSet::Parse(ToJson(faults)));
  return faults;
}

void InProcessService::Reset(const std::string& capture, const redfish::Episode& episode,
                             ResetDone done) {
  done(ResetNow(capture, episode));
}

absl::StatusOr<redfish::Progress> InProcessService::ResetNow(const std::string& capture,
                                                             const redfish::Episode& episode) {
  auto instance = instances_.find(capture);
  if (instance == instances_.end()) {
    const auto world = worlds_.find(capture);
    if (world == worlds_.end()) return runtime::NotFound("no capture " + capture);
    instance = instances_.try_emplace(capture, world->second, options_).first;
  }
  SHOAL_RETURN_IF_ERROR(instance->second.Reset(episode.start, episode.watch));
  if (faults_ != nullptr) instance->second.SetFaults(faults_);
  current_ = &instance->second;
  others_.clear();
  return current_->Evaluate();
}

void InProcessService::Send(const ServiceRequest& request, Done done) {
  const auto ask = [&] {
    return current_->Handle({.method = mockserver::ParseMethod(request.method),
                             .uri = request.uri,
                             .json = request.body.is_null() ? nullptr : &request.body,
                             .if_match = request.if_match,
                             .auth_token = request.token});
  };
  mockserver::Response answer = ask();
  if (answer.dropped && http::IsSafe(request.method)) answer = ask();
  if (answer.dropped) {
    done(runtime::Unavailable(request.uri + ": no answer"));
    return;
  }
  done(ServiceResponse{.status = answer.status,
                       .body = std::move(answer.body),
                       .json = std::move(answer.json),
                       .etag = std::move(answer.etag),
                       .token = answer.Header("X-Auth-Token"),
                       .location = std::move(answer.location),
                       .progress = current_->Evaluate()});
}

void InProcessService::Advance(std::chrono::seconds by, Done done) {
  current_->Advance(by);
  done(ServiceResponse{.progress = current_->Evaluate()});
}

absl::Status InProcessService::WatchOthers(std::vector<redfish::Watch> watches) {
  others_.clear();
  for (redfish::Watch& watch : watches) others_.push_back({.watch = std::move(watch)});
  return absl::OkStatus();
}

std::vector<redfish::Progress> InProcessService::OtherProgress() {
  std::vector<redfish::Progress> progress;
  for (Other& other : others_) {
    current_->EvaluateOther(other.watch, other.progress);
    progress.push_back(other.progress);
  }
  return progress;
}

}  // namespace shoal::actor
