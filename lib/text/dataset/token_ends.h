// SPDX-License-Identifier: Apache-2.0
// Where in a text each of its tokens ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/tokenizer.h"

namespace shoal::dataset {

// For each of `ids`, which `tokenizer` made of `text`, the offset after its last byte; a token
// begins where the one before it ends. A normaliser may have put blanks in, or taken some out, and
// changed the case of letters: a blank that it put in has no bytes. FAILED_PRECONDITION naming the
// byte of `text` at which the tokens say something else.
absl::StatusOr<std::vector<std::size_t>> TokenEnds(const tokens::Tokenizer& tokenizer,
                                                   std::string_view text,
                                                   std::span<const std::int32_t> ids);

}  // namespace shoal::dataset
