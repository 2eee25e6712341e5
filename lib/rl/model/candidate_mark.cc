// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_mark.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace shoal::model {
namespace {

// Calls `body` with the position of each bit that is set.
template <typename Body>
void ForEachBit(std::uint32_t bits, const Body& body) {
  for (; bits != 0; bits &= bits - 1) body(static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

void AddMarkWeights(std::span<const CandidateMark> marks, std::span<const float> weights,
                    std::span<float> logits) {
  for (const CandidateMark& mark : marks) {
    float sum = 0;
    ForEachBit(mark.bits, [&](std::size_t kind) { sum += weights[kind]; });
    logits[mark.candidate] += sum;
  }
}

void AddMarkGradient(std::span<const CandidateMark> marks, std::span<const float> by_logits,
                     std::span<float> by_weights) {
  for (const CandidateMark& mark : marks) {
    const float by_logit = by_logits[mark.candidate];
    ForEachBit(mark.bits, [&](std::size_t kind) { by_weights[kind] += by_logit; });
  }
}

void CountMarks(std::span<const CandidateMark> marks, std::span<float> features) {
  std::fill(features.begin(), features.end(), 0.0F);
  for (const CandidateMark& mark : marks) {
    ForEachBit(mark.bits, [&](std::size_t kind) { features[kind] += 1; });
  }
  for (float& feature : features) feature = 0.25F * std::log1p(feature);
}

bool AreValid(std::span<const CandidateMark> marks, std::int64_t candidates, std::int64_t kinds) {
  std::int64_t last = -1;
  for (const CandidateMark& mark : marks) {
    const auto candidate = static_cast<std::int64_t>(mark.candidate);
    if (candidate <= last || candidate >= candidates) return false;
    if (std::bit_width(mark.bits) > kinds) return false;
    last = candidate;
  }
  return true;
}

}  // namespace shoal::model
