// SPDX-License-Identifier: Apache-2.0
// What code_points.h is made of: ranges of code points, made by tool/code_point_tables.py from what
// Hugging Face's `tokenizers` 0.23.3 (Unicode 16 and 17) answers for each of them.
#pragma once

#include <cstdint>
#include <span>

namespace shoal::tokens {

// Three numbers a range, in order: how far its first is from the last of the range before (0 at
// the start), how far its last is from its first, its classes (code_points.h).
std::span<const std::int32_t> ClassRanges();

// Four numbers a range: the same two, the distance of one member from the next, and what is to be
// added for the small letter.
std::span<const std::int32_t> LoweredRanges();

}  // namespace shoal::tokens
