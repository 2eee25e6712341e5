// SPDX-License-Identifier: Apache-2.0
#include "rl/model/network.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/gru_cell.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/lstm_cell.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>

#include <numbers>
#include <utility>

#include "rl/estimators/exploration_family.h"
#include "rl/estimators/value_transform.h"

namespace shoal::model {
namespace {

constexpr double kObservationLimit = 10;

// h and h^-1 of estimators/value_transform.h.
at::Tensor SignedHyperbolic(const at::Tensor& x) {
  return x.abs().add(1).sqrt().sub(1).mul(x.sign()).add(x, estimators::kHyperbolicEpsilon);
}

at::Tensor InverseSignedHyperbolic(const at::Tensor& x) {
  constexpr double kEpsilon = estimators::kHyperbolicEpsilon;
  // In double precision, since the root differs from 1 by little.
  const at::Tensor size = x.to(at::kDouble).abs();
  const at::Tensor root = size.add(1 + kEpsilon).mul(4 * kEpsilon).add(1).sqrt().sub(1);
  return root.div(2 * kEpsilon).square().sub(1).to(x.scalar_type()).mul(x.sign());
}

}  // namespace

Network::Network(const PolicySpec& spec, const ParameterLayout& layout, const at::Tensor& flat,
                 const at::Tensor& gradient)
    : spec_(spec),
      convolution_(spec.has_convolution() ? ConvolutionOf(spec).value() : Convolution()) {
  for (const ParameterInfo& info : layout.parameters) {
    at::Tensor view = flat.narrow(0, info.offset, info.size).view(info.shape).detach();
    if (gradient.defined() && info.offset < layout.trainable) {
      view.requires_grad_(true);
      view.mutable_grad() = gradient.narrow(0, info.offset, info.size).view(info.shape);
    }
    parameters_.emplace(info.name, std::move(view));
  }
}

at::Tensor Network::Linear(const std::string& name, const at::Tensor& input) const {
  return at::linear(input, Parameter(name + ".weight"), Parameter(name + ".bias"));
}

at::Tensor Network::Stack(const std::string& name, std::size_t layers, at::Tensor input) const {
  for (std::size_t i = 0; i < layers; ++i) {
    input = Linear(name + "." + std::to_string(i), input);
    input = spec_.activation == "relu" ? at::relu(input) : at::tanh(input);
  }
  return input;
}

at::Tensor Network::Convolve(const ConvolutionLayer& layer, const at::Tensor& input) const {
  const at::Tensor weight =
      Parameter(layer.name + ".weight")
          .view({layer.out.channels, layer.in.channels, layer.filter, layer.filter});
  return at::conv2d(input, weight, Parameter(layer.name + ".bias"), layer.stride, layer.padding);
}

at::Tensor Network::Convolved(const at::Tensor& frames) const {
  const FrameShape& frame = convolution_.layers.front().in;
  // The channels of a pixel lie side by side, as torch's kernels like them best.
  const auto precision = Parameter(convolution_.layers.front().name + ".weight").scalar_type();
  at::Tensor x = frames.view({frames.size(0), frame.height, frame.width, frame.channels})
                     .permute({0, 3, 1, 2})
                     .to(precision)
                     .mul_(1.0 / 255);
  if (!convolution_.residual) {
    for (const ConvolutionLayer& layer : convolution_.layers) x = Convolve(layer, x).relu_();
    return x.flatten(1);
  }
  for (std::size_t i = 0; i < convolution_.layers.size(); i += kResidualLayers) {
    const ConvolutionLayer* const layer = &convolution_.layers[i];
    x = at::max_pool2d(Convolve(layer[0], x), /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
    for (const int block : {1, 3}) {
      x = x.add(Convolve(layer[block + 1], Convolve(layer[block], at::relu(x)).relu_()));
    }
  }
  return at::relu(x).flatten(1);
}

at::Tensor Network::Features(const NetworkInputs& inputs) const {
  std::vector<at::Tensor> parts;
  const auto seen = [&](const at::Tensor& observation) {
    const std::int64_t count = spec_.seen_number_count();
    return observation.narrow(1, observation.size(1) - count, count);
  };
  if (spec_.has_convolution()) {
    parts.push_back(inputs.convolved.defined() ? inputs.convolved : Convolved(inputs.observation));
  } else if (spec_.normalise_observations) {
    parts.push_back(seen(inputs.observation.sub(Parameter(kObservationMean))
                             .mul_(Parameter(kObservationScale))
                             .clamp_(-kObservationLimit, kObservationLimit)));
  } else if (spec_.observation_size > 0) {
    parts.push_back(seen(inputs.observation));
  }
  for (std::size_t i = 0; i < spec_.content_fields.size(); ++i) {
    const std::string& field = spec_.content_fields[i];
    parts.push_back(at::linear(inputs.contents[i].narrow(1, 0, spec_.content_size(field)),
                               Parameter("content." + field)));
  }
  if (spec_.past_requests) {
    parts.push_back(at::linear(inputs.past_requests, Parameter("past_requests")));
  }
  if (spec_.candidate_marks > 0) parts.push_back(inputs.mark_counts);
  return parts.size() == 1 ? parts[0] : at::cat(parts, 1);
}

at::Tensor Network::Torso(const at::Tensor& features) const {
  return Stack("torso", spec_.hidden.size(), features);
}

at::Tensor Network::Core(const at::Tensor& torso, const at::Tensor& state) const {
  const at::Tensor& by_input = Parameter("core.input.weight");
  const at::Tensor& by_state = Parameter("core.state.weight");
  const at::Tensor& input_bias = Parameter("core.input.bias");
  const at::Tensor& state_bias = Parameter("core.state.bias");
  if (!spec_.has_lstm()) {
    return at::gru_cell(torso, state, by_input, by_state, input_bias, state_bias);
  }
  const at::Tensor cells = state.narrow(1, spec_.core_size, spec_.core_size);
  const auto [output, next_cells] =
      at::lstm_cell(torso, {CoreOutput(state), cells}, by_input, by_state, input_bias, state_bias);
  return at::cat({output, next_cells}, 1);
}

at::Tensor Network::CoreOutput(const at::Tensor& state) const {
  return state.narrow(1, 0, spec_.core_size);
}

at::Tensor Network::FractionEmbedding(const at::Tensor& fraction) const {
  const at::Tensor frequencies =
      at::arange(spec_.quantile_cosines, fraction.options()).mul_(std::numbers::pi);
  const at::Tensor cosines = at::cos(fraction.unsqueeze(1).mul(frequencies));
  return at::relu(Linear("quantiles", cosines));
}

at::Tensor Network::AtFractions(const at::Tensor& input, const at::Tensor& fraction) const {
  return input.mul(FractionEmbedding(fraction));
}

at::Tensor Network::AtMean(const at::Tensor& input) const {
  if (!spec_.has_quantiles()) return input;
  const at::Tensor fractions =
      at::arange(kMeanFractions, input.options()).add_(0.5).div_(kMeanFractions);
  return input.mul(FractionEmbedding(fractions).mean(0, /*keepdim=*/true));
}

at::Tensor Network::Head(const at::Tensor& input) const {
  const at::Tensor out = Linear("head", input);
  if (spec_.has_gaussian()) {
    return at::cat({out, Parameter(kLogDeviation).expand({out.size(0), spec_.action_count})}, 1);
  }
  return spec_.has_candidates() ? out.mul(spec_.query_scale) : out;
}

at::Tensor Network::MarkWeights(const at::Tensor& input) const {
  return Linear("marks", input).mul(spec_.query_scale);
}

at::Tensor Network::Dueling(const at::Tensor& advantage, const at::Tensor& value) {
  return advantage.sub(advantage.mean(1, /*keepdim=*/true)).add(value.unsqueeze(1));
}

SplitValues Network::Split(const at::Tensor& features, const at::Tensor& hidden) const {
  SplitValues values = {
      .extrinsic = Head(hidden),
      .intrinsic =
          Linear("intrinsic.head", Stack("intrinsic.torso", spec_.hidden.size(), features))};
  if (!spec_.dueling) return values;
  const at::Tensor value =
      Linear("intrinsic.value.out", Stack("intrinsic.value", spec_.value_hidden.size(), features));
  return {.extrinsic = Dueling(values.extrinsic, Value(features, /*core=*/at::Tensor())),
          .intrinsic = Dueling(values.intrinsic, value.squeeze(1))};
}

at::Tensor Network::Mixed(const SplitValues& values, const at::Tensor& observation) const {
  const at::Tensor factor = observation.narrow(1, estimators::kFactorPlace, 1);
  if (spec_.split_values == "sum") return values.extrinsic.add(values.intrinsic.mul(factor));
  return SignedHyperbolic(InverseSignedHyperbolic(values.extrinsic)
                              .add(InverseSignedHyperbolic(values.intrinsic).mul(factor)));
}

at::Tensor Network::ActingHead(const NetworkInputs& inputs, const at::Tensor& features,
                               const at::Tensor& hidden) const {
  if (!spec_.has_split_values()) return Head(hidden);
  return Mixed(Split(features, hidden), inputs.observation);
}

at::Tensor Network::Critic(int critic, const at::Tensor& features, const at::Tensor& action) const {
  const std::string name = "critic." + std::to_string(critic);
  const at::Tensor input = action.defined() ? at::cat({features, action}, 1) : features;
  return Linear(name + ".out", Stack(name, spec_.value_hidden.size(), input));
}

at::Tensor Network::Value(const at::Tensor& features, const at::Tensor& core) const {
  const at::Tensor input = core.defined() ? at::cat({features, core}, 1) : features;
  return Linear("value.out", Stack("value", spec_.value_hidden.size(), input)).squeeze(1);
}

at::Tensor Network::Keys(const at::Tensor& embeddings) const {
  return at::linear(embeddings, Parameter("key"));
}

}  // namespace shoal::model
