// SPDX-License-Identifier: Apache-2.0
// The interface of encoders, which turn texts into vectors: by words (lexical_encoder.h) or by a
// language model (embedding/).
//
// An embedding is a function of (version(), text), whatever batch it is in, so it may be cached for
// ever by version and content key. For a language model this holds up to rounding: the rest of the
// batch, the device and the number of threads may change the last bits. Thread-safe.
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

  // Identifies the function: another version gives other vectors for the same text.
  virtual const std::string& version() const = 0;
  // D: the length of a vector.
  virtual std::int64_t dimension() const = 0;
  // The numbers of a vector that may differ from zero where the text is the body of a response, the
  // first ones; smaller than D where bodies have an encoder of their own
  // (embedding/body_encoder.h).
  virtual std::int64_t body_dimension() const { return dimension(); }
  // Returns FLOAT16 [N, D], one row of length 1 for each text. A text without words, such as the
  // empty one, gets the zero vector.
  virtual absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const = 0;
};

}  // namespace shoal::tokens
