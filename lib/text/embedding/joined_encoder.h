// SPDX-License-Identifier: Apache-2.0
// Concatenates the vectors of two encoders, such as a lexical one and a language model.
//
// Each vector is multiplied by sqrt(1/2). So where both have length 1, the whole has length 1, and
// the cosine of two texts is the mean of both cosines. Where one is the zero vector, the whole has
// length sqrt(1/2). Thread-safe if both encoders are.
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

  // Returns "<first>+<second>".
  const std::string& version() const override { return version_; }
  // Returns the sum of both dimensions.
  std::int64_t dimension() const override;
  // Returns the errors of both, or INTERNAL when one returns a shape other than it declares.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  const std::unique_ptr<tokens::TextEncoder> first_;
  const std::unique_ptr<tokens::TextEncoder> second_;
  const std::string version_;
};

}  // namespace shoal::embedding
