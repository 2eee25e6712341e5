// SPDX-License-Identifier: Apache-2.0
// A rank's end of an asynchronous exchange: it sends a gradient and gets the newest parameters.
//
// It waits for the holder of the parameters, and never for another rank. Used from one thread. The
// first error ends the exchange: every later call returns it, so the process must end. The errors
// of Exchange are those of GradientHub::Serve, which tells every rank what it failed of;
// DEADLINE_EXCEEDED if the hub does not answer within ExchangeOptions::call_timeout plus two
// seconds; and UNAVAILABLE if it is lost.
#pragma once

#include <chrono>
#include <cstdint>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_message.h"
#include "rl/collectives/rank_progress.h"

namespace shoal::collectives {

struct ExchangeOptions {
  MessageLimits limits;
  // Gradients that were computed from parameters of more updates ago are dropped. 0 takes any of
  // the epoch.
  std::uint64_t max_staleness = 0;
  // The time within which one message must arrive whole, and the longest that a rank may be silent.
  std::chrono::milliseconds call_timeout = std::chrono::seconds(600);
  // Where a launched rank reports its calls, or null.
  RankProgress* progress = nullptr;
};

class GradientClient {
 public:
  // Owns the socket, which leads to the hub.
  GradientClient(int socket, std::int64_t rank, const ExchangeOptions& options);
  ~GradientClient();
  GradientClient(const GradientClient&) = delete;
  GradientClient& operator=(const GradientClient&) = delete;

  // After a contribution that leaves, no other call is allowed.
  absl::StatusOr<SharedParameters> Exchange(const Contribution& contribution);
  // Tells the hub, and by it every other rank, that this rank has failed alone, and why. Does
  // nothing after an error of Exchange.
  void Abort(const absl::Status& reason);

 private:
  absl::StatusOr<SharedParameters> Ask(const Contribution& contribution);

  const int socket_;
  const std::int64_t rank_;
  const ExchangeOptions options_;
  absl::Status failure_;
};

}  // namespace shoal::collectives
