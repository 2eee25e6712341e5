// SPDX-License-Identifier: Apache-2.0
// A small task for policies: the goal is the (noisy) embedding of one candidate, and asking for
// that candidate is worth 1.
//
// Episodes have three steps; every third column ends them by truncation with a final observation,
// the others by termination. Plays the part of actor and inference.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rl/algorithms/unroll_batch.h"
#include "rl/model/policy.h"

namespace shoal::algorithms {

struct PointerTaskOptions {
  std::vector<std::int64_t> table_sizes = {6, 9};
  std::int64_t columns = 8;
  // Deviation of the noise on each goal, relative to its norm.
  double noise = 0.0;
  std::uint64_t seed = 1;
  // The right candidate is asked for, whatever the policy would do.
  bool expert = false;
};

class PointerTask {
 public:
  // `spec`: as SmallSpec, with any sizes, head, core and past_requests.
  PointerTask(const model::PolicySpec& spec, const PointerTaskOptions& options);

  // The next `length` rows of every column, by `policy`, and the one that follows.
  UnrollBatch Play(const model::Policy& policy, std::int64_t length);

  // Share of right answers since the last call.
  double TakeSuccess();

 private:
  struct Column {
    std::size_t table = 0;
    std::int64_t target = 0;
    std::vector<std::uint16_t> goal;
    // Row within the episode; -1: the final observation.
    std::int64_t step = 0;
    std::int64_t episode = 0;
    std::vector<std::uint16_t> request;
    std::vector<float> past;
    std::vector<float> core;
  };

  void Begin(Column& column, std::size_t index);
  bool Truncates(std::size_t index) const { return index % 3 == 0; }
  model::PolicyInputs Inputs() const;
  void Observe(const model::PolicyInputs& inputs, UnrollBatch& batch) const;
  void Advance(const model::PolicyOutputs& outputs, std::int64_t t, UnrollBatch& batch);

  const model::PolicySpec spec_;
  const PointerTaskOptions options_;
  std::vector<std::vector<std::uint16_t>> embeddings_;  // a table's [N, D]
  std::vector<std::shared_ptr<const model::CandidateTable>> tables_;
  std::vector<Column> columns_;
  model::SimilarityCache cache_;
  std::uint64_t clock_ = 0;
  double right_ = 0;
  double answers_ = 0;
};

// Candidates, 12 numbers an embedding, projections of 8, hidden 16; the similarity tells nothing
// (weight 0).
model::PolicySpec SmallSpec();

}  // namespace shoal::algorithms
