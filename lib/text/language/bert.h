// SPDX-License-Identifier: Apache-2.0
// A BERT for inference: hidden states, and their mean over each sequence.
//
// Immutable; any thread may call it, though torch's own threads (rl/model/policy.h,
// SetTorchThreads) work best for one caller at a time. Batches are checked: errors are
// INVALID_ARGUMENT as in TokenBatch::Validate, and INTERNAL with torch's message, for example when
// the device is out of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/language/bert_config.h"
#include "text/language/bert_folder.h"
#include "text/language/token_batch.h"

namespace shoal::language {

struct BertOptions {
  // "cpu", "cuda" or "cuda:<n>"; FAILED_PRECONDITION when there is no such device.
  std::string device = "cpu";
  // As in Gpt2Options.
  runtime::DType precision = runtime::DType::kFloat32;
  // A larger batch runs in slices of whole sequences with at most this many tokens, which bounds
  // memory and keeps a layer's numbers in the processor's cache. At least 1.
  std::int64_t slice_tokens = 1024;
};

class Bert {
 public:
  // Returns the errors of ReadBertFolder.
  static absl::StatusOr<std::unique_ptr<Bert>> Load(const std::string& folder,
                                                    const BertOptions& options);
  // Returns INVALID_ARGUMENT when a size does not fit the config.
  static absl::StatusOr<std::unique_ptr<Bert>> Create(const BertParameters& parameters,
                                                      const BertOptions& options);
  ~Bert();

  const BertConfig& config() const;

  // Returns the last hidden states, [T, D], float32. REQUIRES: `batch` has no `attended`, here and
  // below.
  absl::StatusOr<runtime::Tensor> HiddenStates(const TokenBatch& batch) const;
  // Returns the mean of each sequence's last hidden states, [S, D], float32. Sequences of equal
  // length are computed together, whatever their places in the batch.
  absl::StatusOr<runtime::Tensor> Means(const TokenBatch& batch) const;

 private:
  struct State;
  explicit Bert(std::unique_ptr<const State> state);
  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::language
