// SPDX-License-Identifier: Apache-2.0
// Gives the bodies of responses to one encoder and all other texts, such as goals, requests and
// choices, to another.
//
// The text itself tells whether it is a body (lexical/text_object.h). So the vector still depends
// on the text alone, and caches, replay and demonstrations need to know nothing of it. All vectors
// have the larger of both dimensions; a shorter one is followed by zeros, which change no product.
// Thread-safe if both encoders are.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

class BodyEncoder final : public tokens::TextEncoder {
 public:
  BodyEncoder(std::unique_ptr<tokens::TextEncoder> others,
              std::unique_ptr<tokens::TextEncoder> bodies);

  // Returns "<others>|<bodies>|<number>". The number tells rules of what a body is apart, so that
  // vectors which were kept under another rule are not used.
  const std::string& version() const override { return version_; }
  // Returns the larger of both dimensions.
  std::int64_t dimension() const override;
  std::int64_t body_dimension() const override { return bodies_->dimension(); }
  // Returns the errors of both, or INTERNAL when one returns a shape other than it declares.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  const std::unique_ptr<tokens::TextEncoder> others_;
  const std::unique_ptr<tokens::TextEncoder> bodies_;
  const std::string version_;
};

}  // namespace shoal::embedding
