// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_pooler.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "rl/model/torch_device.h"
#include "rl/model/torch_guard.h"
#include "rl/model/torch_threads.h"
#include "text/language/state_network.h"

namespace shoal::language {

struct StatePooler::State {
  StateConfig config;
  StatePoolerOptions options;
  std::unique_ptr<const StateNetwork> network;

  void Pool(const HiddenTexts& texts, runtime::Tensor& latents) const;
};

// Texts of like length are padded together.
void StatePooler::State::Pool(const HiddenTexts& texts, runtime::Tensor& latents) const {
  std::vector<std::int64_t> order;
  for (std::int64_t text = 0; text < texts.texts(); ++text) {
    if (texts.length(text) > 0) order.push_back(text);
  }
  std::ranges::stable_sort(order, {}, [&](std::int64_t text) { return texts.length(text); });
  if (order.empty()) return;
  auto* const values = const_cast<float*>(texts.states.values<float>().data());
  const at::Tensor hidden =
      network->Standardised(at::from_blob(values, texts.states.shape(), at::kFloat));
  const auto size = static_cast<std::size_t>(config.latent);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() &&
           static_cast<std::int64_t>(end + 1 - begin) * texts.length(order[end]) <=
               options.slice_tokens) {
      ++end;
    }
    const std::vector<std::int64_t> slice(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                          order.begin() + static_cast<std::ptrdiff_t>(end));
    const at::Tensor pooled = network->Latents(Padded(hidden, texts.starts, slice)).contiguous();
    for (std::size_t i = 0; i < slice.size(); ++i) {
      std::memcpy(
          latents.mutable_values<float>().data() + static_cast<std::size_t>(slice[i]) * size,
          pooled.data_ptr<float>() + i * size, size * sizeof(float));
    }
    begin = end;
  }
}

StatePooler::StatePooler(std::unique_ptr<const State> state) : state_(std::move(state)) {}
StatePooler::~StatePooler() = default;

absl::StatusOr<std::unique_ptr<StatePooler>> StatePooler::Create(
    const StateParameters& parameters, const StatePoolerOptions& options) {
  model::ApplyTorchThreads();
  SHOAL_RETURN_IF_ERROR(parameters.config.Validate());
  if (options.slice_tokens < 1) return runtime::InvalidArgument("slice_tokens is less than 1");
  const model::ParameterLayout layout = PoolingLayout(parameters.config);
  if (static_cast<std::int64_t>(parameters.flat.size()) != layout.total) {
    return runtime::InvalidArgument("parameters are of another config");
  }
  auto state = std::make_unique<State>();
  state->config = parameters.config;
  state->options = options;
  const absl::Status made = model::GuardTorch("state pooler", [&]() -> absl::Status {
    const c10::InferenceMode mode;
    state->network = std::make_unique<StateNetwork>(
        state->config, layout, model::OnDevice(parameters.flat, at::kCPU), at::Tensor());
    return absl::OkStatus();
  });
  SHOAL_RETURN_IF_ERROR(made);
  return std::unique_ptr<StatePooler>(new StatePooler(std::move(state)));
}

const StateConfig& StatePooler::config() const { return state_->config; }

absl::StatusOr<runtime::Tensor> StatePooler::Latents(const HiddenTexts& texts) const {
  SHOAL_RETURN_IF_ERROR(texts.Validate(state_->config.width));
  runtime::Tensor latents(runtime::DType::kFloat32, {texts.texts(), state_->config.latent});
  SHOAL_RETURN_IF_ERROR(model::GuardTorch("state pooler", [&]() -> absl::Status {
    const c10::InferenceMode mode;
    state_->Pool(texts, latents);
    return absl::OkStatus();
  }));
  if (!std::ranges::all_of(latents.values<float>(), [](float x) { return std::isfinite(x); })) {
    return runtime::Internal("a latent of the state encoder is no finite number");
  }
  return latents;
}

}  // namespace shoal::language
