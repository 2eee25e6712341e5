// SPDX-License-Identifier: Apache-2.0
// An encoder that keeps its vectors in a file. It looks in the file first, encodes the texts that
// are missing, and stores their vectors.
//
// version(), dimension() and the vectors are exactly those of the inner encoder. A text that occurs
// twice in a call is encoded once. Thread-safe if the inner encoder is.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "text/embedding/embedding_file.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

class StoredEncoder final : public tokens::TextEncoder {
 public:
  StoredEncoder(std::unique_ptr<tokens::TextEncoder> inner, std::shared_ptr<EmbeddingFile> file);

  const std::string& version() const override { return inner_->version(); }
  std::int64_t dimension() const override { return inner_->dimension(); }
  // Returns only the inner encoder's errors, or INTERNAL when it returns a shape other than it
  // declares.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  const std::unique_ptr<tokens::TextEncoder> inner_;
  const std::shared_ptr<EmbeddingFile> file_;
};

}  // namespace shoal::embedding
