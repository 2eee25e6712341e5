// SPDX-License-Identifier: Apache-2.0
// Trains the two maps of an adapter (text/embedding/adapter.h) by contrast: of all requests of a
// service, those that a sentence asks for are to be the nearest.
//
// A step takes one service and some of its queries, and compares each with requests of that
// service: those that any of these queries asks for, and others by chance. With s the cosines of a
// query and the requests, divided by a learned temperature, the loss of the query is
//     logsumexp(s) - logsumexp(s of its relevant requests),
// the InfoNCE loss (van den Oord, Li and Vinyals, "Representation Learning with Contrastive
// Predictive Coding", 2018) with several positives in one logarithm, so that one of several right
// requests suffices. Every negative comes from the same service as its positive and is therefore
// hard: what tells two services apart never helps. Services and groups of queries (goals) are drawn
// with equal chances, however many requests or sentences they have.
//
// Both maps start as the same random projection, which keeps inner products nearly as they are. The
// same sets, options and number of torch's threads (rl/model/policy.h, SetTorchThreads) give the
// same bits on the same machine.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/embedding/adapter.h"

namespace shoal::encoder {

struct AdapterTrainerOptions {
  // K: the numbers of a mapped vector, within 1 and 4096.
  std::int64_t size = 256;
  std::int64_t steps = 250;
  // The queries of a step.
  std::int64_t batch = 48;
  // The requests of a step beside the relevant ones.
  std::int64_t negatives = 512;
  // The rate rises over 30 steps and then falls by half a cosine to 0.
  double learning_rate = 1e-3;
  double weight_decay = 0.01;
  // The temperature at the start.
  double temperature = 0.1;
  // The share of steps on the descriptions of a service that has some.
  double description_share = 0.1;
  std::uint64_t seed = 1;

  // Returns INVALID_ARGUMENT naming the option that is out of range.
  absl::Status Validate() const;
};

// The vectors of a service's requests and of sentences that ask for some of them.
struct TuningSet {
  runtime::Tensor requests;  // FLOAT16 [M, D]
  runtime::Tensor queries;   // FLOAT16 [Q, D]
  // The requests that each query asks for: indices in [0, M), at least one.
  std::vector<std::set<std::int64_t>> relevant;
  // Query numbers by goal.
  std::vector<std::vector<std::int64_t>> goals;
  // Numbers of the queries that are descriptions.
  std::vector<std::int64_t> descriptions;
};

struct TrainedMaps {
  embedding::AffineMap sentences;
  embedding::AffineMap requests;
  // Running means at the end.
  double loss = 0;
  double temperature = 0;
};

// Called after each step with the number of steps that are done and the running mean of the loss.
using TuningObserver = std::function<void(std::int64_t, double)>;

// Sets without queries of goals are left out. `observer` may be empty. Returns INVALID_ARGUMENT for
// bad options, for no set with queries, and for sets whose numbers do not fit each other; INTERNAL
// with torch's message, or when the loss is not finite.
absl::StatusOr<TrainedMaps> TrainAdapter(std::span<const TuningSet> sets,
                                         const AdapterTrainerOptions& options,
                                         const TuningObserver& observer);

}  // namespace shoal::encoder
