// SPDX-License-Identifier: Apache-2.0
// Checks whether inputs fit a spec.
#pragma once

#include "platform/runtime/status.h"
#include "rl/model/policy.h"
#include "rl/model/policy_spec.h"

namespace shoal::model {

// Returns INVALID_ARGUMENT naming the vector and the row.
absl::Status CheckInputs(const PolicySpec& spec, const PolicyInputs& inputs);

}  // namespace shoal::model
