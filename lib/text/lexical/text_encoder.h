// SPDX-License-Identifier: Apache-2.0
// The seam between texts and vectors: by words (lexical_encoder.h) or by a language model
// (embedding/).
//
// An embedding is a function of (version(), text), whatever batch it is in: whoever holds the
// version and a content key may keep it for ever. A language model's is so but for rounding: what
// else is in a batch, the device and the number of threads may change its last bits. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"

namespace shoal::tokens {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Names the function: another version gives other vectors for the same text.
  virtual const std::string& version() const = 0;
  // D.
  virtual std::int64_t dimension() const = 0;
  // FLOAT16 [N, D], one row a text, of length 1; the zero vector for a text without words, the
  // empty one above all.
  virtual absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const = 0;
};

}  // namespace shoal::tokens
