// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/twin_service.h"

#include <memory>
#include <utility>

namespace shoal::actor {

void TwinService::Reset(const std::string&, const redfish::Episode& episode, ResetDone done) {
  const absl::Status status = twin_.StartOver();
  if (!status.ok()) {
    done(status);
    return;
  }
  watch_ = episode.watch;
  state_ = {};
  done(Look());
}

void TwinService::Send(const ServiceRequest& request, Done done) {
  redfish::PlanReply reply = twin_.Send(
      {.method = request.method, .uri = request.uri, .body = request.body, .token = request.token});
  ServiceResponse response{.status = reply.status,
                           .token = std::move(reply.token),
                           .location = std::move(reply.location),
                           .progress = Look()};
  if (!reply.body.is_null()) {
    response.json = std::make_shared<const nlohmann::json>(std::move(reply.body));
  }
  done(std::move(response));
}

void TwinService::Advance(std::chrono::seconds by, Done done) {
  twin_.Wait(by);
  done(ServiceResponse{.progress = Look()});
}

Progress TwinService::Look() {
  watch_->Update(twin_, state_);
  return {.satisfied = state_.satisfied, .milestones = state_.milestones};
}

}  // namespace shoal::actor
