// SPDX-License-Identifier: Apache-2.0
// What a row of a head's numbers says as action values: the greatest, its action, and the mean over
// the legal actions. Pure; an illegal action has the number kIllegalLogit (candidate_table.h).
#pragma once

#include <cstdint>
#include <span>

#include "rl/model/candidate_table.h"

namespace shoal::model {

// A threshold: the numbers of legal actions lie above it, those of illegal actions below it.
inline constexpr float kSurelyIllegalLogit = kIllegalLogit / 2;

struct ActionValueRow {
  float maximum = 0;
  // The lowest index among equals.
  std::int64_t greedy_action = 0;
  float mean = 0;
  // The number of legal actions; with 0 the rest has no meaning.
  std::int64_t legal = 0;
};

// REQUIRES: at least one number.
ActionValueRow SummariseActionValues(std::span<const float> head);

}  // namespace shoal::model
