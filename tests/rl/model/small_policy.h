// SPDX-License-Identifier: Apache-2.0
// A small policy, rows for it to act on, and tables of made-up candidates.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"
#include "rl/model/policy.h"

namespace shoal::model {

inline constexpr std::int64_t kCandidates = 7;

inline PolicySpec Small() {
  PolicySpec spec;
  spec.observation_size = 3;
  spec.embedding_size = 10;
  spec.projection_size = 6;
  spec.hidden = {12};
  spec.value_hidden = {8};
  spec.core_size = 5;
  spec.query_init = 1.0;
  return spec;
}

inline std::vector<std::uint16_t> Halves(std::uint64_t seed, std::int64_t count) {
  runtime::Random random(seed);
  std::vector<std::uint16_t> halves;
  for (std::int64_t i = 0; i < count; ++i) {
    halves.push_back(runtime::ToHalf(static_cast<float>(0.3 * random.Normal())));
  }
  return halves;
}

inline runtime::Tensor Embeddings(std::uint64_t seed, std::int64_t rows, std::int64_t size) {
  runtime::Tensor tensor(runtime::DType::kFloat16, {rows, size});
  const auto halves = Halves(seed, rows * size);
  if (!halves.empty()) {
    std::memcpy(tensor.mutable_bytes().data(), halves.data(), tensor.bytes().size());
  }
  return tensor;
}

inline std::shared_ptr<const CandidateTable> Table(std::uint64_t seed,
                                                   const std::vector<std::uint32_t>& removed,
                                                   std::int64_t rows = kCandidates) {
  return CandidateTable::Create(Embeddings(seed, rows, Small().embedding_size), removed).value();
}

inline std::shared_ptr<const Policy> PolicyOf(const PolicySpec& spec, std::uint64_t seed = 1) {
  return Policy::FromSafetensors(spec, InitialParameters(spec, seed).value(), nullptr).value();
}

inline PolicyInputs Inputs(const PolicySpec& spec, std::int64_t rows, std::uint64_t seed = 2) {
  runtime::Random random(seed);
  PolicyInputs inputs;
  inputs.rows = rows;
  for (std::int64_t i = 0; i < rows * spec.number_count(); ++i) {
    inputs.observation.push_back(static_cast<float>(random.Normal()));
  }
  for (std::int64_t i = 0; i < rows * spec.frame_size(); ++i) {
    inputs.frames.push_back(static_cast<std::uint8_t>(random.Below(256)));
  }
  inputs.contents = Halves(seed, rows * spec.content_count() * spec.embedding_size);
  const auto size = static_cast<std::size_t>(rows);
  inputs.goal_keys.resize(16 * size);
  for (std::size_t i = 0; i < size; ++i)
    inputs.goal_keys[16 * i] = static_cast<std::uint8_t>(i + 1);
  if (spec.past_requests) {
    inputs.past_requests.assign(size * static_cast<std::size_t>(spec.embedding_size), 0.5F);
  }
  inputs.core_state.assign(size * static_cast<std::size_t>(spec.core_state_size()), 0.25F);
  inputs.first.assign(size, 0);
  inputs.choice.assign(size, Choice::kSample);
  for (std::size_t i = 0; i < size; ++i) inputs.draw.push_back(random.Uniform());
  if (spec.has_candidates()) {
    inputs.table.assign(size, 0);
    inputs.tables = {Table(5, {})};
  }
  return inputs;
}

inline PolicyOutputs Act(const Policy& policy, const PolicyInputs& inputs) {
  SimilarityCache cache;
  return policy.Act(inputs, cache).value();
}

// Returns the policy's distribution over the candidates of row 0.
inline std::vector<double> Distribution(const Policy& policy, PolicyInputs inputs,
                                        std::int64_t count) {
  std::vector<double> probabilities;
  for (std::int64_t action = 0; action < count; ++action) {
    inputs.choice[0] = Choice::kForced;
    inputs.forced_action = {action};
    probabilities.push_back(std::exp(static_cast<double>(Act(policy, inputs).log_probability[0])));
  }
  return probabilities;
}

}  // namespace shoal::model
