// SPDX-License-Identifier: Apache-2.0
// The seam between texts and vectors: lexical vectors now, a language model later.
//
// An embedding is a function of (version(), text) alone, whatever batch it is in: whoever holds the
// version and a content key may cache it for ever. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/status.h"
#include "runtime/tensor.h"

namespace shoal::tokens {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Names the function: another version gives other vectors for the same text.
  virtual const std::string& version() const = 0;
  // D.
  virtual std::int64_t dimension() const = 0;
  // FLOAT16 [N, D], one row a text, of length 1; the zero vector for a text without words.
  virtual absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const = 0;
};

}  // namespace shoal::tokens
