// SPDX-License-Identifier: Apache-2.0
// Two encoders' vectors side by side: what a text says by its words, and what a language model
// makes of it.
//
// Each is weighted by the root of a half, so where both have length 1 so has the whole, and the
// cosine of two texts is the mean of both cosines. Where one is the zero vector, the whole has the
// length of that root. Thread-safe where both are.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

class JoinedEncoder final : public tokens::TextEncoder {
 public:
  JoinedEncoder(std::unique_ptr<tokens::TextEncoder> first,
                std::unique_ptr<tokens::TextEncoder> second);

  // "<first>+<second>".
  const std::string& version() const override { return version_; }
  // The sum of both.
  std::int64_t dimension() const override;
  // Errors of both; INTERNAL when one gives another shape than it says.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  const std::unique_ptr<tokens::TextEncoder> first_;
  const std::unique_ptr<tokens::TextEncoder> second_;
  const std::string version_;
};

}  // namespace shoal::embedding
