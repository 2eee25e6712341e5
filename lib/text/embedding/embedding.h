// SPDX-License-Identifier: Apache-2.0
// The vector of a text: D binary16 numbers, immutable and shared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace shoal::embedding {

using Embedding = std::shared_ptr<const std::vector<std::uint16_t>>;

}  // namespace shoal::embedding
