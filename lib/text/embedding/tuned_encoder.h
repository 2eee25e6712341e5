// SPDX-License-Identifier: Apache-2.0
// The vectors of an adapter beside those of its base encoder.
//
// A vector is [K + D]: the adapter's K numbers times sqrt(1 - s), then the base's D numbers times
// sqrt(s), where s is the adapter's base_share. So where both have length 1 the whole has length 1,
// and the cosine of two texts is (1 - s) times that of the adapter plus s times that of the base.
// The first K numbers alone compare goals and requests; the rest keeps what the adapter leaves out,
// such as the state in a resource's body. Requests, choices and bodies take the map of requests;
// all other texts, goals among them, that of sentences. Thread-safe if the base is.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "text/embedding/adapter.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

class TunedEncoder final : public tokens::TextEncoder {
 public:
  // Returns the errors of Validate, and FAILED_PRECONDITION when the adapter was trained on vectors
  // of another version or size than those of `base`.
  static absl::StatusOr<std::unique_ptr<TunedEncoder>> Create(
      std::unique_ptr<tokens::TextEncoder> base, AdapterParameters adapter);

  // Returns "<the base's version>+tuned-<16 hex digits>", where the digits are a hash of the
  // algorithm and of the adapter's numbers.
  const std::string& version() const override { return version_; }
  // Returns K + D.
  std::int64_t dimension() const override { return adapter_.size + adapter_.base_size; }
  // Returns the base's errors, or INTERNAL when it returns a shape other than it declares.
  absl::StatusOr<runtime::Tensor> Encode(std::span<const std::string_view> texts) const override;

 private:
  TunedEncoder(std::unique_ptr<tokens::TextEncoder> base, AdapterParameters adapter);

  const std::unique_ptr<tokens::TextEncoder> base_;
  const AdapterParameters adapter_;
  const std::string version_;
};

}  // namespace shoal::embedding
