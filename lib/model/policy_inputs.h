// SPDX-License-Identifier: Apache-2.0
// Whether inputs fit a spec.
#pragma once

#include "model/policy.h"
#include "model/policy_spec.h"
#include "runtime/status.h"

namespace shoal::model {

// INVALID_ARGUMENT naming the vector and the row.
absl::Status CheckInputs(const PolicySpec& spec, const PolicyInputs& inputs);

}  // namespace shoal::model
