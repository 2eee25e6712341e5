// SPDX-License-Identifier: Apache-2.0
#include "text/language/batch_pass.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "rl/model/torch_device.h"
#include "rl/training/gradient_watch.h"
#include "text/language/causal_loss.h"
#include "text/language/packed_attention.h"

namespace shoal::language {
namespace {

// The minimum number of slices for each thread, unless they would be smaller than kMinSlice.
constexpr std::int64_t kSlicesPerThread = 2;
constexpr std::int64_t kMinSlice = 256;

WeightedBatch SliceOf(const WeightedBatch& batch, std::int64_t first, std::int64_t last) {
  WeightedBatch slice{batch.tokens.Slice(first, last), {}};
  if (!batch.weights.empty()) {
    const auto begin = batch.tokens.starts[static_cast<std::size_t>(first)];
    slice.weights.assign(batch.weights.begin() + begin,
                         batch.weights.begin() + begin + slice.tokens.tokens());
  }
  return slice;
}

at::Tensor Embed(const Gpt2Network& network, const PackedTokens& tokens) {
  const at::NoGradGuard no_gradients;
  return network.Embed(tokens);
}

}  // namespace

// Sums while slices run. What the device computes stays there, so that nothing waits for it.
struct BatchPass::Tally {
  explicit Tally(at::Device device)
      : loss_and_correct(at::zeros({2}, at::TensorOptions(at::kDouble).device(device))) {}

  at::Tensor loss_and_correct;  // [2], float64
  double weight = 0;
};

// The gradients of what one thread's slices have embedded.
class BatchPass::InputGradients {
 public:
  void Add(const PackedTokens& tokens, const at::Tensor& gradient) {
    ids_.push_back(tokens.ids);
    positions_.push_back(tokens.positions);
    gradients_.push_back(gradient);
  }
  void AddTo(Gpt2Network& network) const {
    if (ids_.empty()) return;
    network.AddEmbeddingGradient(at::cat(ids_), at::cat(positions_), at::cat(gradients_));
  }

 private:
  std::vector<at::Tensor> ids_;
  std::vector<at::Tensor> positions_;
  std::vector<at::Tensor> gradients_;
};

struct BatchPass::Slice {
  Slice(WeightedBatch of, at::Device device) : batch(std::move(of)), tokens(batch.tokens, device) {}

  WeightedBatch batch;
  PackedTokens tokens;
  // Of the blocks that still have to run backward, and last of what ran last.
  std::vector<at::Tensor> inputs;
  // Of the last one of `inputs`; undefined where no token is a target.
  at::Tensor gradient;
};

std::vector<std::int64_t> BatchPass::CutsOf(const WeightedBatch& batch) const {
  const auto threads = static_cast<std::int64_t>(networks_.size());
  const std::int64_t share = batch.tokens.tokens() / (threads * kSlicesPerThread);
  return Cuts(batch.tokens, threads == 1
                                ? options_.slice_tokens
                                : std::min(options_.slice_tokens, std::max(share, kMinSlice)));
}

std::size_t BatchPass::ThreadsFor(std::size_t slices) const {
  return slices < networks_.size() ? 1 : networks_.size();
}

std::size_t BatchPass::threads(const WeightedBatch& batch) const {
  return ThreadsFor(CutsOf(batch).size() - 1);
}

void BatchPass::ForEach(std::size_t slices,
                        const std::function<void(std::size_t, std::size_t)>& run) const {
  const std::size_t threads = ThreadsFor(slices);
  if (threads == 1) {
    for (std::size_t i = 0; i < slices; ++i) run(0, i);
    return;
  }
  at::parallel_for(0, static_cast<std::int64_t>(threads), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (auto thread = static_cast<std::size_t>(begin);
                          thread < static_cast<std::size_t>(end); ++thread) {
                       for (std::size_t i = thread; i < slices; i += threads) run(thread, i);
                     }
                   });
}

bool BatchPass::Loss(const Gpt2Network& network, const at::Tensor& hidden,
                     const WeightedBatch& slice, Tally& tally) const {
  const CausalLoss loss = ComputeCausalLoss(hidden, network.embedding(), slice.tokens,
                                            slice.weights, {.compute = options_.compute});
  const bool differentiates = at::GradMode::is_enabled() && loss.weight > 0;
  if (differentiates) loss.sum.backward();
  tally.loss_and_correct.add_(at::stack({loss.sum.detach(), loss.correct}));
  tally.weight += loss.weight;
  return differentiates;
}

void BatchPass::AddInputGradients(const std::vector<InputGradients>& gradients) const {
  ForEach(gradients.size(),
          [&](std::size_t, std::size_t thread) { gradients[thread].AddTo(*networks_[thread]); });
}

BatchPass::Sums BatchPass::Total(const std::vector<Tally>& tallies) {
  Sums total{};
  std::vector<at::Tensor> on_device;
  for (const Tally& tally : tallies) on_device.push_back(tally.loss_and_correct);
  const std::vector<at::Tensor> on_host = model::ToHost(on_device);
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const double* const values = on_host[i].const_data_ptr<double>();
    total[0] += values[0];
    total[1] += tallies[i].weight;
    total[2] += values[1];
  }
  return total;
}

bool BatchPass::LastLoss(Gpt2Network& network, const std::function<bool()>& loss,
                         collectives::OverlappedSums& sums) const {
  const std::vector<std::vector<at::Tensor>> leaves = network.UnitLeaves();
  const std::size_t last_norm = leaves.size() - 1;
  const auto add = [&](std::size_t unit) {
    if (unit < last_norm) network.CollectGradients(static_cast<std::int64_t>(unit) - 1);
    sums.Add(unit);
  };
  const training::GradientWatch watch(leaves, add);
  const bool differentiated = loss();
  for (std::size_t unit = last_norm; unit > 0; --unit) {
    if (!watch.reported(unit)) add(unit);
  }
  return differentiated;
}

BatchPass::Sums BatchPass::SliceBySlice(const WeightedBatch& batch, bool with_gradients) const {
  return SliceBySlice(batch, with_gradients, nullptr);
}

BatchPass::Sums BatchPass::SliceBySlice(const WeightedBatch& batch,
                                        collectives::OverlappedSums& sums) const {
  return SliceBySlice(batch, /*with_gradients=*/true, &sums);
}

BatchPass::Sums BatchPass::SliceBySlice(const WeightedBatch& batch, bool with_gradients,
                                        collectives::OverlappedSums* sums) const {
  const std::vector<std::int64_t> cuts = CutsOf(batch);
  const std::size_t slices = cuts.size() - 1;
  const std::size_t threads = ThreadsFor(slices);
  std::vector<Tally> tallies;
  for (std::size_t i = 0; i < networks_.size(); ++i) tallies.emplace_back(options_.device);
  std::vector<InputGradients> input_gradients(networks_.size());
  ForEach(slices, [&](std::size_t thread, std::size_t i) {
    const at::AutoGradMode mode(with_gradients);
    Gpt2Network& network = *networks_[thread];
    const WeightedBatch slice = SliceOf(batch, cuts[i], cuts[i + 1]);
    const PackedTokens tokens(slice.tokens, options_.device);
    const bool differentiates_input = with_gradients && network.trains();
    const at::Tensor input = Embed(network, tokens).requires_grad_(differentiates_input);
    const auto loss = [&] {
      return Loss(network, network.RunBlocks(input, tokens), slice, tallies[thread]);
    };
    if (sums != nullptr && i + threads >= slices) {
      if (!LastLoss(network, loss, *sums)) return;
    } else {
      if (!loss()) return;
      network.CollectGradients();
    }
    if (differentiates_input) input_gradients[thread].Add(tokens, input.grad());
  });
  AddInputGradients(input_gradients);
  return Total(tallies);
}

absl::StatusOr<BatchPass::Sums> BatchPass::UnitByUnit(const WeightedBatch& batch,
                                                      bool with_gradients,
                                                      training::ZeroOptimiser& units) const {
  const std::vector<std::int64_t> cuts = CutsOf(batch);
  std::vector<Slice> slices;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    slices.emplace_back(SliceOf(batch, cuts[i], cuts[i + 1]), options_.device);
  }
  SHOAL_RETURN_IF_ERROR(Forward(slices, with_gradients, units));
  const std::size_t embeddings = 0;
  const auto last_norm = static_cast<std::size_t>(networks_[0]->config().layers) + 1;
  std::vector<Tally> tallies;
  for (std::size_t i = 0; i < networks_.size(); ++i) tallies.emplace_back(options_.device);
  for (const std::size_t unit : {embeddings, last_norm}) {
    SHOAL_RETURN_IF_ERROR(units.GatherUnit(unit));
    if (with_gradients) units.ClearGradient(unit);
  }
  ForEach(slices.size(), [&](std::size_t thread, std::size_t i) {
    const at::AutoGradMode mode(with_gradients);
    Slice& slice = slices[i];
    const at::Tensor input = slice.inputs.back().requires_grad_(with_gradients);
    const Gpt2Network& network = *networks_[thread];
    Loss(network, network.LastNormed(input), slice.batch, tallies[thread]);
    slice.gradient = input.grad();
    slice.inputs.pop_back();
  });
  for (const std::size_t unit : {embeddings, last_norm}) units.ReleaseUnit(unit);
  if (with_gradients) {
    SHOAL_RETURN_IF_ERROR(units.ReduceGradient(last_norm));
    SHOAL_RETURN_IF_ERROR(Backward(slices, units));
    std::vector<InputGradients> input_gradients(networks_.size());
    ForEach(slices.size(), [&](std::size_t thread, std::size_t i) {
      const Slice& slice = slices[i];
      if (slice.gradient.defined()) input_gradients[thread].Add(slice.tokens, slice.gradient);
    });
    AddInputGradients(input_gradients);
    SHOAL_RETURN_IF_ERROR(units.ReduceGradient(embeddings));
  }
  return Total(tallies);
}

absl::Status BatchPass::Forward(std::vector<Slice>& slices, bool with_gradients,
                                training::ZeroOptimiser& units) const {
  SHOAL_RETURN_IF_ERROR(units.GatherUnit(0));
  ForEach(slices.size(), [&](std::size_t thread, std::size_t i) {
    slices[i].inputs.push_back(Embed(*networks_[thread], slices[i].tokens));
  });
  units.ReleaseUnit(0);
  for (std::int64_t block = 0; block < networks_[0]->config().layers; ++block) {
    const std::size_t unit = static_cast<std::size_t>(block) + 1;
    SHOAL_RETURN_IF_ERROR(units.GatherUnit(unit));
    for (const auto& network : networks_) network->Hold(block);
    ForEach(slices.size(), [&](std::size_t thread, std::size_t i) {
      const at::NoGradGuard no_gradients;
      Slice& slice = slices[i];
      at::Tensor output = networks_[thread]->RunBlock(block, slice.inputs.back(), slice.tokens);
      if (!with_gradients) slice.inputs.pop_back();
      slice.inputs.push_back(std::move(output));
    });
    for (const auto& network : networks_) network->Drop(block);
    units.ReleaseUnit(unit);
  }
  return absl::OkStatus();
}

absl::Status BatchPass::Backward(std::vector<Slice>& slices, training::ZeroOptimiser& units) const {
  for (std::int64_t block = networks_[0]->config().layers - 1; block >= 0; --block) {
    const std::size_t unit = static_cast<std::size_t>(block) + 1;
    SHOAL_RETURN_IF_ERROR(units.GatherUnit(unit));
    units.ClearGradient(unit);
    for (const auto& network : networks_) network->Hold(block);
    ForEach(slices.size(), [&](std::size_t thread, std::size_t i) {
      const at::AutoGradMode mode(true);
      Slice& slice = slices[i];
      const at::Tensor input = slice.inputs.back().requires_grad_(true);
      slice.inputs.pop_back();
      if (!slice.gradient.defined()) return;
      Gpt2Network& network = *networks_[thread];
      network.RunBlock(block, input, slice.tokens).backward(slice.gradient);
      network.CollectGradients(block);
      slice.gradient = input.grad();
    });
    for (const auto& network : networks_) network->Drop(block);
    units.ReleaseUnit(unit);
    SHOAL_RETURN_IF_ERROR(units.ReduceGradient(unit));
  }
  return absl::OkStatus();
}

}  // namespace shoal::language
