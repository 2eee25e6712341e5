// SPDX-License-Identifier: Apache-2.0
#include "text/language/bert.h"

#include <c10/core/InferenceMode.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "platform/runtime/check.h"
#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "text/language/batch_slices.h"
#include "text/language/bert_network.h"
#include "text/language/precision.h"

namespace shoal::language {
namespace {

using runtime::DType;
using runtime::Tensor;

// Returns the sequence numbers of a batch by length.
std::vector<std::size_t> ByLength(const TokenBatch& batch) {
  std::vector<std::size_t> order(static_cast<std::size_t>(batch.sequences()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto length = [&batch](std::size_t s) {
    return batch.length(static_cast<std::int64_t>(s));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) < length(b); });
  return order;
}

TokenBatch InOrder(const TokenBatch& batch, const std::vector<std::size_t>& order) {
  TokenBatch ordered;
  for (const std::size_t s : order) {
    ordered.Append(std::span(batch.ids).subspan(
        static_cast<std::size_t>(batch.starts[s]),
        static_cast<std::size_t>(batch.starts[s + 1] - batch.starts[s])));
  }
  return ordered;
}

}  // namespace

struct Bert::State {
  BertConfig config;
  BertOptions options;
  at::Device device = at::kCPU;
  // That of this model on a GPU, so that it waits neither for policies nor for their uploads.
  std::optional<c10::Stream> stream;
  std::unique_ptr<const BertNetwork> network;

  // Calls visit(first sequence, last sequence, hidden states on the CPU) for each slice.
  template <typename Visit>
  absl::Status EachSlice(const TokenBatch& batch, const Visit& visit) const {
    return model::GuardTorch("BERT", [&]() -> absl::Status {
      const c10::InferenceMode mode;
      const c10::OptionalStreamGuard on_stream(stream);
      RunSlices(batch, device, options.slice_tokens, [&](std::int64_t first, std::int64_t last) {
        const PackedTokens tokens(batch.Slice(first, last), device);
        visit(first, last, network->Hidden(tokens).to(at::kCPU).contiguous());
      });
      return absl::OkStatus();
    });
  }
};

Bert::Bert(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Bert::~Bert() = default;

const BertConfig& Bert::config() const { return state_->config; }

absl::StatusOr<std::unique_ptr<Bert>> Bert::Load(const std::string& folder,
                                                 const BertOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const BertParameters parameters, ReadBertFolder(folder));
  return Create(parameters, options);
}

absl::StatusOr<std::unique_ptr<Bert>> Bert::Create(const BertParameters& parameters,
                                                   const BertOptions& options) {
  model::ApplyTorchThreads();
  SHOAL_RETURN_IF_ERROR(parameters.config.Validate());
  if (static_cast<std::int64_t>(parameters.flat.size()) != BertLayout(parameters.config).total) {
    return runtime::InvalidArgument("parameters are of another config");
  }
  if (options.slice_tokens < 1) return runtime::InvalidArgument("slice_tokens is less than 1");
  SHOAL_ASSIGN_OR_RETURN(const at::ScalarType compute, ComputeTypeOf(options.precision));
  auto state = std::make_unique<State>();
  state->config = parameters.config;
  state->options = options;
  SHOAL_ASSIGN_OR_RETURN(state->device, model::FindDevice(options.device));
  SHOAL_RETURN_IF_ERROR(model::GuardTorch("BERT", [&]() -> absl::Status {
    const c10::InferenceMode mode;
    state->stream = model::StreamOn(state->device, /*high_priority=*/false);
    const c10::OptionalStreamGuard on_stream(state->stream);
    state->network = std::make_unique<const BertNetwork>(
        state->config, model::OnDevice(parameters.flat, state->device), compute);
    return absl::OkStatus();
  }));
  return std::unique_ptr<Bert>(new Bert(std::move(state)));
}

absl::StatusOr<Tensor> Bert::HiddenStates(const TokenBatch& batch) const {
  SHOAL_CHECK(batch.attended.empty());
  const auto width = static_cast<std::size_t>(state_->config.width);
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config.vocabulary_size, state_->config.positions));
  Tensor out(DType::kFloat32, {batch.tokens(), state_->config.width});
  SHOAL_RETURN_IF_ERROR(
      state_->EachSlice(batch, [&](std::int64_t first, std::int64_t, const at::Tensor& hidden) {
        const auto row = static_cast<std::size_t>(batch.starts[static_cast<std::size_t>(first)]);
        std::memcpy(out.mutable_bytes().data() + row * width * sizeof(float),
                    hidden.const_data_ptr<float>(), hidden.nbytes());
      }));
  return out;
}

absl::StatusOr<Tensor> Bert::Means(const TokenBatch& batch) const {
  SHOAL_CHECK(batch.attended.empty());
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config.vocabulary_size, state_->config.positions));
  const auto width = static_cast<std::size_t>(state_->config.width);
  const std::vector<std::size_t> order = ByLength(batch);
  const TokenBatch ordered = InOrder(batch, order);
  Tensor out(DType::kFloat32, {batch.sequences(), state_->config.width});
  auto* means = reinterpret_cast<float*>(out.mutable_bytes().data());
  SHOAL_RETURN_IF_ERROR(state_->EachSlice(
      ordered, [&](std::int64_t first, std::int64_t last, const at::Tensor& hidden) {
        const float* token = hidden.const_data_ptr<float>();
        for (std::int64_t s = first; s < last; ++s) {
          float* mean = means + order[static_cast<std::size_t>(s)] * width;
          const std::int64_t length = ordered.length(s);
          for (std::int64_t i = 0; i < length; ++i, token += width) {
            for (std::size_t j = 0; j < width; ++j) mean[j] += token[j];
          }
          for (std::size_t j = 0; j < width; ++j) mean[j] /= static_cast<float>(length);
        }
      }));
  return out;
}

}  // namespace shoal::language
