// SPDX-License-Identifier: Apache-2.0
// One version of the policy network, evaluated for a batch of rows.
//
//   SHOAL_ASSIGN_OR_RETURN(auto policy, Policy::FromSafetensors(spec, bytes, previous.get()));
//   SHOAL_ASSIGN_OR_RETURN(PolicyOutputs outputs, policy->Act(inputs, cache));
//
// A Policy is immutable; Act may run on several threads, each with a SimilarityCache of its own.
// Choosing is a pure function of parameters, inputs and draws: the same row gives the same action
// whatever time it comes; which other rows share the batch moves a log-probability by rounding
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/candidate_table.h"
#include "rl/model/policy_spec.h"
#include "rl/model/similarity_cache.h"

namespace shoal::model {

enum class Choice : std::uint8_t {
  // By the policy's distribution, with the row's draw.
  kSample,
  // The most probable action, the lower index among equals.
  kGreedy,
  // Every legal action with the same probability, with the row's draw.
  kUniform,
  // The candidate of rank similarity_rank (from 0, modulo the legal ones) by similarity to the
  // goal.
  kSimilarity,
  // forced_action.
  kForced,
  // None: action -1, log-probability 0.
  kValueOnly,
};

// B rows; every vector is row-major. O, F, D, S, n: the spec's observation_size, content_count,
// embedding_size, core_state_size, action_count.
struct PolicyInputs {
  std::int64_t rows = 0;
  std::vector<float> observation;       // [B, O]
  std::vector<std::uint16_t> contents;  // [B, F, D], binary16; zeros: no content
  std::vector<std::uint8_t> goal_keys;  // [B, 16], content key of the goal   (candidates)
  std::vector<float> past_requests;     // [B, D]                             (past_requests)
  std::vector<float> core_state;        // [B, S], before the row
  std::vector<std::uint8_t> first;      // [B], 1: core_state and past_requests count as zero
  std::vector<std::uint8_t> legal;      // [B, n], 1: legal; empty: all       (discrete)
  std::vector<std::shared_ptr<const CandidateTable>> tables;  //                   (candidates)
  std::vector<std::int32_t> table;            // [B], index into tables             (candidates)
  std::vector<Choice> choice;                 // [B]
  std::vector<double> draw;                   // [B], in [0, 1)
  std::vector<std::int64_t> forced_action;    // [B]; may be empty when no row is kForced
  std::vector<std::int64_t> similarity_rank;  // [B]; may be empty when no row is kSimilarity
};

struct PolicyOutputs {
  std::vector<std::int64_t> action;  // [B]
  // Of the action under the policy; for kUniform: under the uniform distribution.
  std::vector<float> log_probability;  // [B]
  std::vector<float> value;            // [B]
  std::vector<float> core_state;       // [B, S], after the row
};

class Policy {
 public:
  // `bytes`: a file of SerializeParameters or InitialParameters. `previous` may be null; its cached
  // keys are taken over when the projection of the candidates is the same. INVALID_ARGUMENT or
  // DATA_LOSS for a bad file, FAILED_PRECONDITION for one of another spec.
  static absl::StatusOr<std::shared_ptr<const Policy>> FromSafetensors(const PolicySpec& spec,
                                                                       std::string_view bytes,
                                                                       const Policy* previous);
  ~Policy();

  // INVALID_ARGUMENT, naming the vector, when a size is not as above, or a table index or forced
  // action is out of range. A NaN in an observation makes that row's outputs meaningless, no
  // other's.
  absl::StatusOr<PolicyOutputs> Act(const PolicyInputs& inputs, SimilarityCache& cache) const;

  const PolicySpec& spec() const;

 private:
  struct State;
  explicit Policy(std::unique_ptr<const State> state);
  const std::unique_ptr<const State> state_;
};

// Parameters before any update, as a safetensors file; a function of (spec, seed).
// INVALID_ARGUMENT for a bad spec.
absl::StatusOr<std::string> InitialParameters(const PolicySpec& spec, std::uint64_t seed);

// Threads that torch uses inside one operation, for the whole process: 1 unless this is called
// before any other use of this folder; later calls do nothing. Results are the same bits only for
// the same number.
void SetTorchThreads(int threads);

}  // namespace shoal::model
