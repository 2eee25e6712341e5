// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/recorded_service.h"

#include "redfish/catalog/candidate.h"

namespace shoal::actor {

void RecordedService::Reset(const std::string&, const redfish::Episode&, ResetDone done) {
  next_ = 0;
  done(recording_.start[goal_]);
}

void RecordedService::Send(const ServiceRequest& request, Done done) {
  if (next_ >= recording_.exchanges.size() || recording_.exchanges[next_].request != request) {
    done(runtime::FailedPrecondition("the recorded episode did not send " + request.method + " " +
                                     request.uri));
    return;
  }
  const Recording::Exchange& exchange = recording_.exchanges[next_++];
  ServiceResponse response = exchange.response;
  response.progress = exchange.others[goal_];
  done(std::move(response));
}

void RecordedService::Advance(std::chrono::seconds, Done done) {
  Send({.method = std::string(redfish::kWaitMethod)}, std::move(done));
}

}  // namespace shoal::actor
