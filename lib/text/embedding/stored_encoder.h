// SPDX-License-Identifier: Apache-2.0
// An encoder whose vectors are kept in a file: asks the file first, encodes what it lacks, keeps
// that.
//
// version() and dimension() are the inner encoder's, and so are the vectors, to the bit. A text
// that occurs twice in a call is encoded once. Thread-safe where the inner encoder is.
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
  // Errors of the inner encoder alone; INTERNAL when it gives another shape than it says.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  const std::unique_ptr<tokens::TextEncoder> inner_;
  const std::shared_ptr<EmbeddingFile> file_;
};

}  // namespace shoal::embedding
