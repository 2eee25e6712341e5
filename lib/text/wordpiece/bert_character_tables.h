// SPDX-License-Identifier: Apache-2.0
// The tables behind bert_characters.h: ranges of code points. tool/bert_character_tables.py
// generates them by asking Hugging Face's `tokenizers` 0.23.3 about every code point.
#pragma once

#include <cstdint>
#include <span>

namespace shoal::tokens {

// Returns three numbers for each range, in order: the distance of its first code point from the
// last one of the previous range (from 0 at the start), the distance of its last from its first,
// and its classes (bert_characters.h).
std::span<const std::int32_t> BertClassRanges();

// Returns for each range of code points that change when accents are stripped: the first two
// numbers as above, the number of code points that each becomes, and these code points.
std::span<const std::int32_t> AccentRanges();

}  // namespace shoal::tokens
