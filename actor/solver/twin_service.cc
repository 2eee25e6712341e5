// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/twin_service.h"

#include <memory>
#include <utility>

namespace shoal::actor {

void TwinService::Reset(const std::string&, const redfish::Episode&, ResetDone done) {
  const absl::Status status = twin_.StartOver();
  if (!status.ok()) {
    done(status);
    return;
  }
  done(twin_.Evaluate());
}

void TwinService::Send(const ServiceRequest& request, Done done) {
  redfish::PlanReply reply = twin_.Send(
      {.method = request.method, .uri = request.uri, .body = request.body, .token = request.token});
  ServiceResponse response{.status = reply.status,
                           .token = std::move(reply.token),
                           .location = std::move(reply.location),
                           .progress = twin_.Evaluate()};
  if (!reply.body.is_null()) {
    response.json = std::make_shared<const nlohmann::json>(std::move(reply.body));
  }
  done(std::move(response));
}

void TwinService::Advance(std::chrono::seconds by, Done done) {
  twin_.Wait(by);
  done(ServiceResponse{.progress = twin_.Evaluate()});
}

}  // namespace shoal::actor
