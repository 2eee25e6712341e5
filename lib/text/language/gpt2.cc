// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2.h"

#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "text/language/batch_slices.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"
#include "text/language/precision.h"

namespace shoal::language {
namespace {

using runtime::DType;
using runtime::Tensor;

// Runs `work` without gradients, and returns torch's exceptions as a Status.
template <typename Work>
auto Infer(const char* what, const Work& work) -> decltype(work()) {
  return model::GuardTorch(what, [&] {
    const c10::InferenceMode mode;
    return work();
  });
}

// Copies the rows of `tensor` into `out` from row `row` on.
void CopyRows(const at::Tensor& tensor, std::int64_t row, Tensor& out) {
  const at::Tensor rows = tensor.to(at::kCPU, at::kFloat).contiguous();
  if (rows.numel() == 0) return;
  std::memcpy(out.mutable_bytes().data() + static_cast<std::size_t>(row * rows.size(1)) * 4,
              rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel()) * 4);
}

absl::Status CheckRanges(const TokenBatch& batch, std::span<const TokenRange> ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const TokenRange& range = ranges[i];
    const auto after = std::upper_bound(batch.starts.begin(), batch.starts.end(), range.begin);
    if (range.begin < 0 || range.end <= range.begin || after == batch.starts.end() ||
        range.end > *after) {
      return runtime::InvalidArgument("token range " + std::to_string(i) + " of [" +
                                      std::to_string(range.begin) + ", " +
                                      std::to_string(range.end) + ") lies in no sequence");
    }
  }
  return absl::OkStatus();
}

}  // namespace

struct Gpt2::State {
  Gpt2Config config;
  Gpt2Options options;
  at::Device device = at::kCPU;
  at::ScalarType compute = at::kFloat;
  // That of this model on a GPU, so that it waits neither for policies nor for their uploads.
  std::optional<c10::Stream> stream;
  std::unique_ptr<const Gpt2Network> network;

  absl::StatusOr<std::int64_t> Layer(std::int64_t layer) const {
    if (layer < -1 || layer > config.layers) {
      return runtime::InvalidArgument("layer " + std::to_string(layer) + " of a model with " +
                                      std::to_string(config.layers));
    }
    return layer < 0 ? config.layers : layer;
  }

  // Calls visit(first token, hidden states) for each slice of the batch (batch_slices.h).
  template <typename Visit>
  void EachSlice(const TokenBatch& batch, std::int64_t layer, Visit visit) const;

  // Returns the logits after the last token.
  std::vector<float> Next(std::span<const std::int32_t> sequence, KeyValues& past) const;
};

template <typename Visit>
void Gpt2::State::EachSlice(const TokenBatch& batch, std::int64_t layer, Visit visit) const {
  const c10::OptionalStreamGuard on_stream(stream);
  RunSlices(batch, device, options.slice_tokens, [&](std::int64_t first, std::int64_t last) {
    const PackedTokens tokens(batch.Slice(first, last), device);
    visit(batch.starts[static_cast<std::size_t>(first)], network->Hidden(tokens, layer));
  });
}

std::vector<float> Gpt2::State::Next(std::span<const std::int32_t> sequence,
                                     KeyValues& past) const {
  const std::int64_t seen = past.length();
  TokenBatch batch;
  batch.Append(sequence.subspan(static_cast<std::size_t>(seen)));
  PackedTokens tokens(batch, device);
  tokens.positions.add_(seen);
  const at::Tensor hidden = network->Continue(tokens, past);
  const at::Tensor logits =
      network->Logits(hidden.narrow(0, hidden.size(0) - 1, 1)).to(at::kCPU, at::kFloat);
  const float* begin = logits.data_ptr<float>();
  return {begin, begin + logits.numel()};
}

Gpt2::Gpt2(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Gpt2::~Gpt2() = default;

const Gpt2Config& Gpt2::config() const { return state_->config; }

absl::StatusOr<std::unique_ptr<Gpt2>> Gpt2::Load(const std::string& folder,
                                                 const Gpt2Options& options) {
  SHOAL_ASSIGN_OR_RETURN(const Gpt2Parameters parameters, ReadGpt2Folder(folder));
  return Create(parameters, nullptr, options);
}

absl::StatusOr<std::unique_ptr<Gpt2>> Gpt2::Create(const Gpt2Parameters& parameters,
                                                   const LoraParameters* adapter,
                                                   const Gpt2Options& options) {
  model::ApplyTorchThreads();
  SHOAL_RETURN_IF_ERROR(parameters.config.Validate());
  if (adapter != nullptr) SHOAL_RETURN_IF_ERROR(adapter->options.Validate());
  if (static_cast<std::int64_t>(parameters.flat.size()) != Gpt2Layout(parameters.config).total ||
      (adapter != nullptr && static_cast<std::int64_t>(adapter->flat.size()) !=
                                 LoraLayout(parameters.config, adapter->options).total)) {
    return runtime::InvalidArgument("parameters are of another config");
  }
  if (options.slice_tokens < 1) return runtime::InvalidArgument("slice_tokens is less than 1");
  SHOAL_ASSIGN_OR_RETURN(const at::ScalarType compute, ComputeTypeOf(options.precision));
  auto state = std::make_unique<State>();
  state->config = parameters.config;
  state->options = options;
  state->compute = compute;
  SHOAL_ASSIGN_OR_RETURN(state->device, model::FindDevice(options.device));
  const absl::Status made = Infer("GPT-2", [&]() -> absl::Status {
    state->stream = model::StreamOn(state->device, /*high_priority=*/false);
    const c10::OptionalStreamGuard on_stream(state->stream);
    auto network = std::make_unique<Gpt2Network>(
        state->config, model::OnDevice(parameters.flat, state->device), at::Tensor(),
        NetworkOptions{.compute = state->compute, .checkpoint = false});
    if (adapter != nullptr) {
      network->Adapt(adapter->options, model::OnDevice(adapter->flat, state->device), at::Tensor());
    }
    state->network = std::move(network);
    return absl::OkStatus();
  });
  SHOAL_RETURN_IF_ERROR(made);
  return std::unique_ptr<Gpt2>(new Gpt2(std::move(state)));
}

absl::StatusOr<Tensor> Gpt2::HiddenStates(const TokenBatch& batch, std::int64_t layer) const {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t depth, state_->Layer(layer));
  return Infer("hidden states", [&]() -> absl::StatusOr<Tensor> {
    Tensor out(DType::kFloat32, {batch.tokens(), state_->config.width});
    state_->EachSlice(batch, depth, [&](std::int64_t first, const at::Tensor& hidden) {
      CopyRows(hidden, first, out);
    });
    return out;
  });
}

absl::StatusOr<Tensor> Gpt2::Embed(const TokenBatch& batch, std::span<const TokenRange> ranges,
                                   const EmbedOptions& options) const {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config));
  SHOAL_RETURN_IF_ERROR(CheckRanges(batch, ranges));
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t depth, state_->Layer(options.layer));
  return Infer("embedding", [&]() -> absl::StatusOr<Tensor> {
    Tensor out(DType::kFloat32, {static_cast<std::int64_t>(ranges.size()), state_->config.width});
    state_->EachSlice(batch, depth, [&](std::int64_t first, const at::Tensor& hidden) {
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::int64_t begin = ranges[i].begin - first;
        const std::int64_t end = ranges[i].end - first;
        if (begin < 0 || begin >= hidden.size(0)) continue;
        const at::Tensor row = options.pooling == EmbedOptions::Pooling::kMean
                                   ? hidden.narrow(0, begin, end - begin).mean(0, true)
                                   : hidden.narrow(0, end - 1, 1);
        CopyRows(row, static_cast<std::int64_t>(i), out);
      }
    });
    return out;
  });
}

absl::StatusOr<Tensor> Gpt2::Logits(const TokenBatch& batch) const {
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config));
  return Infer("logits", [&]() -> absl::StatusOr<Tensor> {
    Tensor out(DType::kFloat32, {batch.tokens(), state_->config.vocabulary_size});
    state_->EachSlice(batch, state_->config.layers,
                      [&](std::int64_t first, const at::Tensor& hidden) {
                        CopyRows(state_->network->Logits(hidden), first, out);
                      });
    return out;
  });
}

absl::StatusOr<Generated> Gpt2::Generate(std::span<const std::int32_t> prompt,
                                         const GenerateOptions& options) const {
  SHOAL_RETURN_IF_ERROR(options.sampler.Validate());
  if (options.max_tokens < 0) return runtime::InvalidArgument("max_tokens is negative");
  TokenBatch batch;
  batch.Append(prompt);
  SHOAL_RETURN_IF_ERROR(batch.Validate(state_->config));
  return Infer("generation", [&]() -> absl::StatusOr<Generated> {
    const c10::OptionalStreamGuard on_stream(state_->stream);
    const auto room = state_->config.positions - batch.tokens();
    KeyValues past(state_->config, batch.tokens() + std::min(room, options.max_tokens),
                   at::TensorOptions(state_->device).dtype(state_->compute));
    std::vector<std::int32_t> sequence(prompt.begin(), prompt.end());
    runtime::Random random(options.seed);
    TokenMask mask(state_->config.vocabulary_size);
    Generated generated;
    while (static_cast<std::int64_t>(generated.tokens.size()) < options.max_tokens) {
      const std::vector<float> logits = state_->Next(sequence, past);
      mask.AllowAll();
      if (options.filter) options.filter(sequence, mask);
      const std::int64_t id = ChooseToken(logits, mask, options.sampler, random);
      generated.end = Generated::End::kNothingAllowed;
      if (id < 0) return generated;
      const auto token = static_cast<std::int32_t>(id);
      generated.end = Generated::End::kStopToken;
      const auto& stops = options.stop_tokens;
      if (std::find(stops.begin(), stops.end(), token) != stops.end()) return generated;
      generated.tokens.push_back(token);
      sequence.push_back(token);
      generated.end = Generated::End::kPositions;
      if (static_cast<std::int64_t>(sequence.size()) >= state_->config.positions) return generated;
    }
    generated.end = Generated::End::kMaxTokens;
    return generated;
  });
}

}  // namespace shoal::language
