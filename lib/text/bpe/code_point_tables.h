// SPDX-License-Identifier: Apache-2.0
// The tables behind code_points.h: ranges of code points. tool/code_point_tables.py generates them
// by asking Hugging Face's `tokenizers` 0.23.3 (Unicode 16 and 17) about every code point.
#pragma once

#include <cstdint>
#include <span>

namespace shoal::tokens {

// Returns three numbers for each range, in order: the distance of its first code point from the
// last one of the previous range (from 0 at the start), the distance of its last from its first,
// and its classes (code_points.h).
std::span<const std::int32_t> ClassRanges();

// Returns four numbers for each range: the first two as above, the distance between its members,
// and the difference to the small letter.
std::span<const std::int32_t> LoweredRanges();

}  // namespace shoal::tokens
