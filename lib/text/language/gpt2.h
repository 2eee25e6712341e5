// SPDX-License-Identifier: Apache-2.0
// A GPT-2 for inference: hidden states, embeddings, logits, generation.
//
//   SHOAL_ASSIGN_OR_RETURN(auto model, Gpt2::Load("models/gpt2", {}));
//   SHOAL_ASSIGN_OR_RETURN(runtime::Tensor vectors, model->Embed(batch, ranges, {}));
//
// Immutable; any thread may call it, though torch's own threads (rl/model/policy.h,
// SetTorchThreads) work best for one caller at a time. Batches are checked: errors are
// INVALID_ARGUMENT as in TokenBatch::Validate, and INTERNAL with torch's message, for example when
// the device is out of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/language/gpt2_config.h"
#include "text/language/gpt2_folder.h"
#include "text/language/lora.h"
#include "text/language/sampler.h"
#include "text/language/token_batch.h"
#include "text/language/token_filter.h"

namespace shoal::language {

struct Gpt2Options {
  // "cpu", "cuda" or "cuda:<n>"; FAILED_PRECONDITION when there is no such device.
  std::string device = "cpu";
  // kFloat32 or kBFloat16. With kBFloat16, matrices and attention take half the memory and, on
  // CUDA, a fraction of the time. The residual, norms and results stay float32.
  runtime::DType precision = runtime::DType::kFloat32;
  // A larger batch runs in slices of whole sequences with at most this many tokens, which bounds
  // memory and keeps a layer's numbers in the processor's cache.
  std::int64_t slice_tokens = 2048;
};

// The tokens [begin, end) of the batch's array, all of one sequence.
struct TokenRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct EmbedOptions {
  // The number of blocks before the hidden states; 0 means the embeddings, -1 the last (normed).
  std::int64_t layer = -1;
  // The mean of the range's hidden states, or those of its last token.
  enum class Pooling : std::uint8_t { kMean, kLast } pooling = Pooling::kMean;
};

struct GenerateOptions {
  SamplerOptions sampler = {};
  // The seed of sampling.
  std::uint64_t seed = 0;
  std::int64_t max_tokens = 64;
  // Any of these tokens ends the text and is not part of it.
  std::vector<std::int32_t> stop_tokens = {};
  TokenFilter filter = {};
};

struct Generated {
  enum class End : std::uint8_t { kMaxTokens, kStopToken, kPositions, kNothingAllowed };
  // The generated tokens without the prompt.
  std::vector<std::int32_t> tokens;
  End end = End::kMaxTokens;
};

class Gpt2 {
 public:
  // Returns the errors of ReadGpt2Folder.
  static absl::StatusOr<std::unique_ptr<Gpt2>> Load(const std::string& folder,
                                                    const Gpt2Options& options);
  // `adapter` may be null. Returns INVALID_ARGUMENT when a size does not fit the config.
  static absl::StatusOr<std::unique_ptr<Gpt2>> Create(const Gpt2Parameters& parameters,
                                                      const LoraParameters* adapter,
                                                      const Gpt2Options& options);
  ~Gpt2();

  const Gpt2Config& config() const;

  // Returns [T, D], float32, the states after `layer` blocks (as EmbedOptions::layer).
  absl::StatusOr<runtime::Tensor> HiddenStates(const TokenBatch& batch, std::int64_t layer) const;
  // Returns one row for each range, [R, D], float32. INVALID_ARGUMENT when a range is empty or
  // exceeds its sequence.
  absl::StatusOr<runtime::Tensor> Embed(const TokenBatch& batch, std::span<const TokenRange> ranges,
                                        const EmbedOptions& options) const;
  // Returns [T, V], float32: the logits of the token after each token.
  absl::StatusOr<runtime::Tensor> Logits(const TokenBatch& batch) const;
  // Generates a continuation of `prompt`, which is a function of (parameters, prompt, options).
  absl::StatusOr<Generated> Generate(std::span<const std::int32_t> prompt,
                                     const GenerateOptions& options) const;

 private:
  struct State;
  explicit Gpt2(std::unique_ptr<const State> state);
  const std::unique_ptr<const State> state_;
};

}  // namespace shoal::language
