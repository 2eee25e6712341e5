// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/gradient_client.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "rl/collectives/rank_failure.h"
#include "rl/collectives/rank_name.h"

namespace shoal::collectives {
namespace {

constexpr const char* kHub = "rank 0";

}  // namespace

GradientClient::GradientClient(int socket, std::int64_t rank, const ExchangeOptions& options)
    : socket_(socket), rank_(rank), options_(options) {
  if (options_.progress != nullptr) {
    options_.progress->call_timeout_ms = options_.call_timeout.count();
  }
}

GradientClient::~GradientClient() { ::close(socket_); }

absl::StatusOr<SharedParameters> GradientClient::Ask(const Contribution& contribution) {
  // The hub gives up first, so that its verdict reaches this rank.
  const Deadline deadline = std::chrono::steady_clock::now() + options_.call_timeout + kTellTime;
  const absl::Status sent = Send(socket_, contribution, deadline, kHub);
  if (sent.ok()) return ReceiveShared(socket_, options_.limits, deadline, kHub);
  // A hub that has failed stops reading; what it said before can still be read.
  const Deadline heard = std::min(deadline, std::chrono::steady_clock::now() + kTellTime);
  const auto told = ReceiveShared(socket_, options_.limits, heard, kHub);
  return told.ok() || absl::IsDeadlineExceeded(told.status()) ? sent : told.status();
}

absl::StatusOr<SharedParameters> GradientClient::Exchange(const Contribution& contribution) {
  if (!failure_.ok()) return failure_;
  RankProgress* const progress = options_.progress;
  if (progress != nullptr) ++progress->calls;
  absl::StatusOr<SharedParameters> shared = Ask(contribution);
  failure_ = shared.status();
  if (progress == nullptr) return shared;
  ++progress->calls;
  absl::StatusCode none = absl::StatusCode::kOk;
  progress->failure.compare_exchange_strong(none, failure_.code());
  return shared;
}

void GradientClient::Abort(const absl::Status& reason) {
  if (!failure_.ok()) return;
  failure_ = absl::AbortedError(RankName(rank_) + " failed alone: " + runtime::Message(reason));
  (void)TellFailure(socket_, failure_, std::chrono::steady_clock::now() + kTellTime, kHub);
}

}  // namespace shoal::collectives
