// SPDX-License-Identifier: Apache-2.0
// A small task for policies: the goal is the (noisy) embedding of one candidate, and choosing that
// candidate has reward 1.
//
// Episodes have three steps. Every third column ends them by truncation with a final observation,
// and the other columns by termination. The task plays the part of actor and inference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy.h"

namespace shoal::algorithms {

class Algorithm;

struct PointerTaskOptions {
  std::vector<std::int64_t> table_sizes = {6, 9};
  std::int64_t columns = 8;
  // The standard deviation of the noise on each goal, relative to its norm.
  double noise = 0.0;
  std::uint64_t seed = 1;
  // With action values, the probability of a random action.
  double epsilon = 0.3;
  // If true, the right candidate is chosen, whatever the policy would do.
  bool expert = false;
};

class PointerTask {
 public:
  // `spec` is like SmallSpec, with any sizes, head, core, convolution and past_requests.
  PointerTask(const model::PolicySpec& spec, const PointerTaskOptions& options);

  // Plays the next `length` rows of every column with `policy`, and the row that follows.
  UnrollBatch Play(const model::Policy& policy, std::int64_t length);

  // Returns the share of right answers since the last call.
  double TakeSuccess();

 private:
  struct Column {
    std::size_t table = 0;
    std::int64_t target = 0;
    std::vector<std::uint16_t> goal;
    // The row within the episode, or -1 for the final observation.
    std::int64_t step = 0;
    std::int64_t episode = 0;
    std::vector<std::uint16_t> request;
    std::vector<float> past;
    std::vector<float> core;
  };

  void Begin(Column& column, std::size_t index);
  bool Truncates(std::size_t index) const { return index % 3 == 0; }
  std::vector<model::CandidateMark> MarksOf(std::size_t column) const;
  void AppendObservation(std::size_t column, model::PolicyInputs& inputs) const;
  model::PolicyInputs Inputs() const;
  void Observe(const model::PolicyInputs& inputs, UnrollBatch& batch) const;
  void Advance(const model::PolicyOutputs& outputs, std::int64_t t, UnrollBatch& batch);

  const model::PolicySpec spec_;
  const PointerTaskOptions options_;
  std::vector<std::vector<std::uint16_t>> embeddings_;  // [N, D] of each table
  std::vector<std::shared_ptr<const model::CandidateTable>> tables_;
  std::vector<Column> columns_;
  model::SimilarityCache cache_;
  std::uint64_t clock_ = 0;
  double right_ = 0;
  double answers_ = 0;
};

// Candidates with 12 numbers in an embedding, projections of 8 and hidden layers of 16. The
// similarity has weight 0.
model::PolicySpec SmallSpec();

// Returns `spec` with the action values and the quantiles that `algorithm` needs, and without what
// it has no use for.
model::PolicySpec SpecFor(const Algorithm& algorithm, model::PolicySpec spec);

// Gives every second row of the first catalog an overlay, which appends two candidates.
void AddOverlay(UnrollBatch& batch, std::int64_t embedding_size);

}  // namespace shoal::algorithms
