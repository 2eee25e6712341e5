// SPDX-License-Identifier: Apache-2.0
// The place in rank 0 where gradients of all ranks arrive, asynchronously: each is applied to the
// shared parameters as it comes, and its sender gets what they are then (A3C, Mnih et al. 2016;
// GORILA, Nair et al. 2015).
//
// The order of arrival decides: no rank waits for another one to compute, only for the gradients
// before its own to be applied. A gradient of another epoch, or computed from parameters that more
// than ExchangeOptions::max_staleness updates have changed since, is dropped. Ranks that are ready
// at the same time take turns. One thread calls Serve; the holder is called on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_client.h"
#include "rl/collectives/gradient_message.h"

namespace shoal::collectives {

// Who holds the parameters and knows how to apply a gradient. An error of any of these ends the
// exchange on all ranks.
class ParameterHolder {
 public:
  virtual ~ParameterHolder() = default;

  virtual ParameterNumber number() const = 0;
  // Hears of every message, before anything else becomes of it.
  virtual absl::Status Hear(std::int64_t rank, const Contribution& contribution) = 0;
  // Applies the gradient, which is not stale. Returns kApplied or kRefused.
  virtual absl::StatusOr<GradientFate> Apply(std::int64_t rank,
                                             const Contribution& contribution) = 0;
  // Hears of a gradient that is dropped because it is stale.
  virtual absl::Status Drop(std::int64_t rank, const Contribution& contribution) = 0;
  // Fills in values, note and whether to stop, for the sender of `contribution`.
  virtual absl::Status Answer(std::int64_t rank, const Contribution& contribution,
                              SharedParameters& answer) = 0;
};

class GradientHub {
 public:
  // Owns the sockets, one for each rank, of which rank 0 has one too. `holder` outlives this.
  GradientHub(std::vector<int> sockets, const ExchangeOptions& options, ParameterHolder& holder);
  ~GradientHub();
  GradientHub(const GradientHub&) = delete;
  GradientHub& operator=(const GradientHub&) = delete;

  // Serves until every rank has left; the first one that leaves has the others asked to. Returns
  // the holder's errors, and
  //   UNAVAILABLE        a rank was lost; the message names it
  //   DEADLINE_EXCEEDED  a rank was silent for ExchangeOptions::call_timeout; the message names it
  //   ABORTED            a rank failed alone and said so; the message names it and its reason
  //   INTERNAL           a rank sent what is no message; the message names it
  // Then all ranks that can be reached are told, and the exchange is over.
  absl::Status Serve();

 private:
  struct Rank {
    int socket = -1;
    bool left = false;
    Deadline silent_until = {};
  };

  // Returns the rank whose message comes next.
  absl::StatusOr<std::size_t> Next();
  absl::Status ServeOne(std::size_t rank);
  void Tell(const absl::Status& failure);

  const ExchangeOptions options_;
  ParameterHolder& holder_;
  std::vector<Rank> ranks_;
  // The rank that is looked at first.
  std::size_t turn_ = 0;
  bool stopping_ = false;
};

}  // namespace shoal::collectives
