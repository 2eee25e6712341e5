// SPDX-License-Identifier: Apache-2.0
// Encodes texts segment by segment, so that a resource in which one property changed costs a few
// segments.
//
// Of 207 changes of one property of a server's ComputerSystem, each made to the text first encoded,
// 137 cost one segment, 65 two and 5 three.
//
// A text is cut after kMaxTextBytes, at a UTF-8 boundary, and into content::SplitSegments of the
// default options, so that most candidates and sentences stay whole. Its vector is the mean of its
// segments' vectors, weighted by their bytes, scaled to length 1 and rounded to half precision; a
// text of one segment has the inner encoder's vector. Segments' vectors are kept in memory by
// content key, the least recently used leave first. The inner encoder gets each segment that is
// missing once, in slices of bounded bytes; shoal_embedding_chunks_found_total counts segments that
// were in memory, those of a call that are alike once.
//
// Thread-safe where the inner encoder is; a segment that two threads miss at once is encoded twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/content/content_key.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/embedding/embedding_store.h"
#include "text/embedding/optional_counter.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

struct ChunkedEncoderOptions {
  // Of segments' vectors in memory.
  std::size_t cache_bytes = std::size_t{256} << 20;
  // Text in one call of the inner encoder, or one segment.
  std::size_t slice_bytes = 8192;
};

class ChunkedEncoder final : public tokens::TextEncoder {
 public:
  static constexpr std::size_t kMaxTextBytes = std::size_t{32} << 10;

  // `metrics` may be null, and outlives this.
  ChunkedEncoder(std::unique_ptr<tokens::TextEncoder> inner, const ChunkedEncoderOptions& options,
                 runtime::Metrics* metrics);

  // "<the inner encoder's>-chunked<number of this algorithm>".
  const std::string& version() const override { return version_; }
  std::int64_t dimension() const override { return inner_->dimension(); }
  // Errors of the inner encoder; INTERNAL when it gives another shape than it says. Slices that
  // were encoded before an error are kept.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  struct Plan;
  absl::Status EncodeMissing(Plan& plan) const;

  const std::unique_ptr<tokens::TextEncoder> inner_;
  const ChunkedEncoderOptions options_;
  const std::string version_;
  const std::unique_ptr<EmbeddingStore> store_;
  OptionalCounter found_total_;
  OptionalCounter encoded_total_;
};

}  // namespace shoal::embedding
