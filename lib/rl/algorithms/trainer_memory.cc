// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/model/convolution.h"
#include "rl/model/parameter_layout.h"
#include "rl/training/optimiser_options.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kDouble = sizeof(double);
constexpr std::int64_t kIndex = sizeof(std::int64_t);
constexpr std::int64_t kMostRows = std::int64_t{1} << 31;

// The floats of one row in a forward pass.
struct RowFloats {
  // What is selected from the batch for the network.
  std::int64_t inputs = 0;
  // The most that a convolution holds at once in a forward pass. In a backward pass it comes last,
  // when what other layers kept is free.
  std::int64_t convolving = 0;
  // The widest outputs of the other layers.
  std::int64_t widest = 0;
  // All outputs of layers, which gradients need.
  std::int64_t layers = 0;

  std::int64_t with_gradients() const { return inputs + layers + 2 * widest; }
  std::int64_t without_gradients() const { return inputs + std::max(convolving, 2 * widest); }
};

// Adds what a convolution keeps for the gradient, and returns how many numbers it makes of a row.
std::int64_t AddConvolution(const model::PolicySpec& spec, RowFloats& row) {
  const model::Convolution convolution = model::ConvolutionOf(spec).value();
  const auto holds = [&row](std::int64_t size) { row.convolving = std::max(row.convolving, size); };
  // The frame as floats; its bytes are there only until the features are.
  row.inputs += spec.frame_size();
  for (std::size_t i = 0; i < convolution.layers.size(); ++i) {
    const model::ConvolutionLayer& layer = convolution.layers[i];
    row.layers += layer.out.size();
    holds((i == 0 ? spec.frame_size() / kFloat : layer.in.size()) + layer.out.size());
    if (!convolution.residual || i % model::kResidualLayers > 0) continue;
    // The pool keeps its output and the place of each maximum, as int64. A block holds its input,
    // its output and what is between them.
    const std::int64_t pooled = convolution.layers[i + 1].in.size();
    row.layers += 3 * pooled;
    holds(layer.out.size() + pooled);
    holds(5 * pooled);
  }
  // The last ReLU of a residual network, and the flattened copy.
  row.layers += (convolution.residual ? 2 : 1) * convolution.out.size();
  return convolution.out.size();
}

RowFloats RowFloatsOf(const model::PolicySpec& spec, std::int64_t quantiles) {
  const std::int64_t pasts = spec.past_requests ? 1 : 0;
  const std::int64_t texts = spec.content_count() + pasts;
  RowFloats row{.inputs = spec.number_count() + texts * spec.embedding_size + spec.candidate_marks};
  const auto add = [&row](std::int64_t width, std::int64_t times = 1) {
    row.widest = std::max(row.widest, width);
    row.layers += width * times;
  };
  const std::int64_t seen =
      spec.has_convolution() ? AddConvolution(spec, row) : spec.seen_number_count();
  const std::int64_t features = seen + texts * spec.projection_size + spec.candidate_marks;
  add(features);
  const std::int64_t networks = spec.has_split_values() ? 2 : 1;
  for (const std::int64_t width : spec.hidden) add(width, networks);
  std::int64_t last = spec.hidden.empty() ? features : spec.hidden.back();
  if (spec.has_core()) {
    // Gates of input and state, the gates' values, and the state after the row.
    add(spec.core_size, spec.has_lstm() ? 14 : 12);
    add(features + spec.core_size);
    last = spec.core_size;
  }
  const std::int64_t out =
      spec.has_candidates() ? spec.projection_size : (spec.has_box() ? 2 : 1) * spec.action_count;
  const std::int64_t heads = std::max<std::int64_t>(1, quantiles);
  // The torso's output repeated, the embedding of the fraction, its positive part and the product.
  if (quantiles > 0) add(heads * last, 4);
  add(heads * (out + spec.candidate_marks), 2 * networks);
  // RunGaussianHead keeps five numbers of each dimension for the gradient, in double precision, and
  // holds five more while it adds up the density.
  if (spec.has_gaussian()) add(5 * spec.action_count, kDouble / kFloat);
  const std::int64_t critics = spec.twin_critics || spec.has_split_values() ? 2 : 1;
  for (const std::int64_t width : spec.value_hidden) add(width, critics);
  return row;
}

std::int64_t BatchBytes(const model::PolicySpec& spec, const UpdateShape& shape,
                        std::int64_t quantiles) {
  const std::int64_t steps = shape.length * shape.columns;
  const std::int64_t rows = steps + shape.columns;
  const std::int64_t past = spec.past_requests ? spec.embedding_size : 0;
  // Observation, sums of requests, marks and whether the row begins an episode; a row's contents;
  // its recorded value.
  const std::int64_t row = kFloat * (spec.number_count() + past + spec.candidate_marks + 1) +
                           spec.frame_size() + kIndex * spec.content_count() + kDouble;
  // Log probability, weight, importance and the two targets; quantiles and their fractions.
  std::int64_t step = 5 * kDouble + quantiles * (kDouble + kFloat);
  if (spec.has_box()) step += kFloat * spec.action_count;
  std::int64_t bytes = rows * row + steps * step + kFloat * shape.columns * spec.core_state_size() +
                       kFloat * (shape.contents + 1) * spec.embedding_size;
  if (!spec.has_candidates() && !spec.has_box()) bytes += rows * spec.action_count;
  return bytes;
}

}  // namespace

std::int64_t TrainerMemory::total_bytes() const {
  return parameter_bytes + target_bytes + gradient_bytes + optimiser_bytes + rollback_bytes +
         batch_bytes + activation_bytes;
}

absl::StatusOr<TrainerMemory> EstimateTrainerMemory(const model::PolicySpec& spec,
                                                    const AlgorithmOptions& options,
                                                    const UpdateShape& shape) {
  SHOAL_RETURN_IF_ERROR(spec.Validate());
  if (shape.length < 0 || shape.columns < 0 || shape.contents < 0 || shape.contents > kMostRows ||
      (shape.columns > 0 && shape.length >= kMostRows / shape.columns)) {
    return runtime::InvalidArgument("a batch of " + std::to_string(shape.columns) + " unrolls of " +
                                    std::to_string(shape.length) + " rows");
  }
  SHOAL_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(options));
  SHOAL_ASSIGN_OR_RETURN(const training::OptimiserOptions optimiser, options.optimiser_options());
  const Requirements requirements = algorithm->requirements();
  const model::ParameterLayout layout = model::ParameterLayout::Of(spec);

  TrainerMemory memory;
  for (const model::ParameterInfo& info : layout.parameters) {
    memory.parameters += info.size;
    if (info.offset < layout.trainable) memory.trained += info.size;
  }
  memory.parameter_bytes = kFloat * layout.total;
  memory.target_bytes = algorithm->policy() == nullptr ? memory.parameter_bytes : 0;
  memory.gradient_bytes = kFloat * layout.trainable;
  memory.optimiser_bytes =
      kFloat * layout.trainable * (training::HasSecondMoment(optimiser.kind) ? 2 : 1);
  memory.rollback_bytes = kFloat * layout.trainable + memory.optimiser_bytes;

  const std::int64_t quantiles = spec.has_quantiles() ? options.quantiles : 0;
  memory.batch_bytes = BatchBytes(spec, shape, quantiles);
  const RowFloats row = RowFloatsOf(spec, quantiles);
  const std::int64_t parts = requirements.minibatches * options.accumulation_steps;
  const auto part = [parts](std::int64_t items) { return (items + parts - 1) / parts; };
  // What runs forward and backward at once has rows, and with a core whole columns.
  const std::int64_t rows =
      spec.has_core() ? part(shape.columns) * shape.length : part(shape.length * shape.columns);
  memory.activation_bytes = kFloat * rows * row.with_gradients();
  if (requirements.current_policy || algorithm->policy() == nullptr) {
    const std::int64_t all = (shape.length + 1) * shape.columns;
    memory.activation_bytes =
        std::max(memory.activation_bytes, kFloat * all * row.without_gradients());
  }
  return memory;
}

std::string ToJson(const TrainerMemory& memory) {
  return nlohmann::json{{"parameters", memory.parameters},
                        {"trained", memory.trained},
                        {"parameter_bytes", memory.parameter_bytes},
                        {"target_bytes", memory.target_bytes},
                        {"gradient_bytes", memory.gradient_bytes},
                        {"optimiser_bytes", memory.optimiser_bytes},
                        {"rollback_bytes", memory.rollback_bytes},
                        {"batch_bytes", memory.batch_bytes},
                        {"activation_bytes", memory.activation_bytes}}
      .dump();
}

}  // namespace shoal::algorithms
