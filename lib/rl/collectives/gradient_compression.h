// SPDX-License-Identifier: Apache-2.0
// Whether the gradients that ranks sum may be compressed (rounded_sum.h), as knobs and flags ask
// for it.
#pragma once

#include <string>

#include "platform/runtime/status.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {

// What a program's user has asked for, and what the options are called there.
struct CompressionRequest {
  // "none" or "bfloat16".
  std::string value;
  // Of the request itself, of GroupOptions::reduction, and of GroupOptions::ring_min_bytes.
  std::string name;
  std::string reduction_name;
  std::string ring_name;
  // Why the program does not sum whole gradients; empty where it does.
  std::string obstacle = {};

  bool compresses() const { return value != "none"; }
};

// Returns INVALID_ARGUMENT, which begins with the request's name, for an unknown value, and where
// gradients are to be compressed that do not go around a ring whole.
absl::Status CheckCompression(const CompressionRequest& request, const GroupOptions& group);

}  // namespace shoal::collectives
