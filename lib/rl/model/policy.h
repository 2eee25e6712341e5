// SPDX-License-Identifier: Apache-2.0
// One version of the policy network, evaluated for a batch of rows.
//
//   SHOAL_ASSIGN_OR_RETURN(auto policy, Policy::FromSafetensors(spec, bytes, previous.get()));
//   SHOAL_ASSIGN_OR_RETURN(PolicyOutputs outputs, policy->Act(inputs, cache));
//
// A Policy is immutable. Several threads may call Act, each with a SimilarityCache of its own. The
// choice is a pure function of parameters, inputs and draws: the same row gives the same action
// whenever it is evaluated. The other rows of the batch change a log-probability only by rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/cluster.h"
#include "platform/runtime/status.h"
#include "rl/model/action_values.h"
#include "rl/model/candidate_mark.h"
#include "rl/model/candidate_table.h"
#include "rl/model/compute_device.h"
#include "rl/model/policy_spec.h"
#include "rl/model/similarity_cache.h"

namespace shoal::model {

enum class Choice : std::uint8_t {
  // Sample from the policy's distribution with the row's draw.
  kSample,
  // Take the most probable action, the lowest index among equals; of a box, the mean.
  kGreedy,
  // Sample every legal action with the same probability, with the row's draw. Of a box, sample
  // uniformly.
  kUniform,
  // With the row's probability epsilon choose as kUniform, otherwise as kGreedy.
  kEpsilonGreedy,
  // Take the legal candidate whose rank by similarity to the goal is similarity_rank: from 0,
  // modulo the number of legal candidates.
  kSimilarity,
  // Take forced_action.
  kForced,
  // Take no action: action -1, log-probability 0.
  kValueOnly,
};

// The inputs of B rows; every vector is row-major. O, F, D, S and n are the spec's
// observation_size, content_count, embedding_size, core_state_size and action_count.
struct PolicyInputs {
  PolicyInputs() = default;
  // Frames lie in `frame_memory`, which must outlive this. A GPU copies them fastest from
  // HostMemoryFor it (host_memory.h).
  explicit PolicyInputs(std::pmr::memory_resource* frame_memory) : frames(frame_memory) {}

  std::int64_t rows = 0;
  std::vector<float> observation;         // [B, O]; empty with a convolution
  std::pmr::vector<std::uint8_t> frames;  // [B, O]                           (convolution)
  std::vector<std::uint16_t> contents;    // [B, F, D], binary16; zeros: no content
  std::vector<std::uint8_t> goal_keys;    // [B, 16], content key of the goal   (candidates)
  std::vector<float> past_requests;       // [B, D]                             (past_requests)
  std::vector<float> core_state;          // [B, S], before the row
  std::vector<std::uint8_t> first;        // [B], 1: core_state and past_requests count as zero
  MarkRows marks;                         // B rows                             (candidate_marks)
  std::vector<std::uint8_t> legal;        // [B, n], 1: legal; empty: all       (discrete)
  std::vector<std::shared_ptr<const CandidateTable>> tables;  //                   (candidates)
  std::vector<std::int32_t> table;  // [B], index into tables             (candidates)
  std::vector<Choice> choice;       // [B]
  std::vector<double> draw;         // [B], in [0, 1)
  std::vector<double> box_draws;    // [B, n, 2], in [0, 1)               (box)
  std::vector<double> epsilon;      // [B], in [0, 1]; may be empty when no row is kEpsilonGreedy
  std::vector<std::int64_t> forced_action;    // [B]; may be empty when no row is kForced
  std::vector<std::int64_t> similarity_rank;  // [B]; may be empty when no row is kSimilarity
};

struct PolicyOutputs {
  std::vector<std::int64_t> action;  // [B]; -1 with a box
  // The action, where the box is [-1, 1]^n; 0 for kValueOnly. With the head "gaussian" it may lie
  // outside, and who acts takes the nearest point of the box. Empty without a box.
  std::vector<float> box_action;  // [B, n]
  // The log-probability of the action under the policy, or for kUniform and kEpsilonGreedy under
  // the distribution that chose it. With a box it is the logarithm of a density, which may be
  // above 0.
  std::vector<float> log_probability;  // [B]
  // The critic's value. With action values it is the greatest one of a legal action; with
  // twin_critics it is 0.
  std::vector<float> value;  // [B]
  // Q(s, a) of the action, 0 for kValueOnly. Empty without action values.
  std::vector<float> action_value;  // [B]
  std::vector<float> core_state;    // [B, S], after the row
};

class Policy {
 public:
  // `bytes` is a file that InitialParameters or PolicyTrainer::SerializeParameters wrote, whose
  // tensors may have been rounded to FLOAT16 since.
  // `previous` may be null; its cached keys are reused when it projects candidates in the same way.
  // Act computes on `device`, by FindComputeDevice; on a GPU it agrees with the CPU up to rounding,
  // and a draw close to the border between two actions may then choose the other one. Returns
  // INVALID_ARGUMENT or DATA_LOSS for a bad file, FAILED_PRECONDITION for a file of another spec or
  // a device that does not exist.
  static absl::StatusOr<std::shared_ptr<const Policy>> FromSafetensors(
      const PolicySpec& spec, std::string_view bytes, const Policy* previous,
      const ComputeDevice& device = {});
  ~Policy();

  // Returns INVALID_ARGUMENT, naming the vector, when a size differs from the shapes above, or a
  // table index, a mark or a forced action is out of range. A NaN in an observation makes the
  // outputs of that row meaningless, but of no other row.
  absl::StatusOr<PolicyOutputs> Act(const PolicyInputs& inputs, SimilarityCache& cache) const;

  const PolicySpec& spec() const;

 private:
  struct State;
  explicit Policy(std::unique_ptr<const State> state);
  const std::unique_ptr<const State> state_;
};

// Returns the parameters before any update as a safetensors file, a function of (spec, seed), or
// INVALID_ARGUMENT for a bad spec.
absl::StatusOr<std::string> InitialParameters(const PolicySpec& spec, std::uint64_t seed);

// Sets the number of threads that torch uses inside one operation, for the whole process. It is 1
// unless this is called before any other use of this folder; later calls do nothing. Results are
// the same bits only for the same number of threads.
void SetTorchThreads(int threads);
// The same for a process of a run that has a knob torch_threads: its value, or 1 in deterministic
// mode. In one process that holds several parts, as local/ does, the first call counts for all.
void SetTorchThreads(const runtime::RunOptions& run, std::int64_t torch_threads);

// Checks whether inputs fit a spec. Returns INVALID_ARGUMENT naming the vector and the row.
absl::Status CheckInputs(const PolicySpec& spec, const PolicyInputs& inputs);

// Chooses one row's action from its logits. It is a pure function of the inputs and the logits.
struct RowLogits {
  // [n], kIllegalLogit where the action is illegal.
  std::span<const float> logits;
  // Returns the similarity of each action to the goal, [n]. It is called for kSimilarity only.
  std::function<std::vector<float>()> similarity;
};

// Replaces the critic's value of the row by its greatest action value, and writes that of the
// chosen action, whose number of the head is `chosen`. REQUIRES: the spec has action_values.
void RecordActionValue(const PolicySpec& spec, const ActionValueRow& summary, float chosen,
                       std::int64_t row, PolicyOutputs& outputs);

// Writes the action and the log_probability of `row`; writes nothing for kValueOnly. Sampling
// inverts the cumulative distribution in the order of the actions. REQUIRES: CheckInputs accepted
// `inputs`.
void ChooseAction(const RowLogits& logits, const PolicyInputs& inputs, std::int64_t row,
                  PolicyOutputs& outputs);

}  // namespace shoal::model
