// SPDX-License-Identifier: Apache-2.0
// The version of vectors that a model makes.
//
// A function of its arguments alone, safe for any number of threads.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/tensor.h"

namespace shoal::embedding {

// Returns "<kind>-<16 hex digits>", a hash of all `parameters` and of `stated`: whatever else
// determines a vector, such as the algorithm, the config and the tokenizer's fingerprint.
std::string ModelVersion(std::string_view kind, std::string_view stated,
                         std::span<const float> parameters);

// Returns what `stated` begins with for a model that computes in `precision`: nothing for float32,
// so that vectors which were stored before there was a choice keep their version.
std::string StatedPrecision(runtime::DType precision);

}  // namespace shoal::embedding
