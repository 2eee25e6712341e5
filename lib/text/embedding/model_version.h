// SPDX-License-Identifier: Apache-2.0
// The version of vectors that a model makes.
//
// A function of its arguments alone, safe for any number of threads.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shoal::embedding {

// Returns "<kind>-<16 hex digits>", a hash of all `parameters` and of `stated`: whatever else
// determines a vector, such as the algorithm, the config and the tokenizer's fingerprint.
std::string ModelVersion(std::string_view kind, std::string_view stated,
                         std::span<const float> parameters);

}  // namespace shoal::embedding
