// SPDX-License-Identifier: Apache-2.0
// The forward and backward passes of a language trainer through its rank's part of a batch.
//
// A batch is cut into slices between sequences. On a CPU each of torch's threads runs its own
// slices through its own network. Slices run in one of two orders, which compute the same bits:
// SliceBySlice runs each slice through the whole network and back, so that activations of one slice
// exist at a time. UnitByUnit runs all slices through one unit of the network before the next
// (Gpt2Units), so that parameters and gradients of a unit are there only while it runs, and each
// unit is gathered as often for many slices as for one. It keeps each block's input for the
// backward pass and computes the block again there (Chen et al., "Training Deep Nets with Sublinear
// Memory Cost", 2016).
//
// The gradient of the input embeddings is added after those of all slices' outputs, in both orders.
//
// This header shows torch. Not thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/collectives/overlapped_sums.h"
#include "rl/training/zero_optimiser.h"
#include "text/language/gpt2_network.h"
#include "text/language/weighted_batch.h"

namespace shoal::language {

class BatchPass {
 public:
  struct Options {
    at::Device device = at::kCPU;
    // What the networks compute in.
    at::ScalarType compute = at::kFloat;
    // The tokens of a slice, at most, unless it is one sequence.
    std::int64_t slice_tokens = 1;
  };
  // Sums over targets: loss, weight, and the weight of the correctly predicted targets.
  using Sums = std::array<double, 3>;
  using Networks = std::vector<std::unique_ptr<Gpt2Network>>;

  // There is a network for each thread that runs slices, at least one. `networks` outlives this.
  BatchPass(const Networks& networks, const Options& options)
      : networks_(networks), options_(options) {}

  // Adds gradients to the networks' arrays if `with_gradients`. REQUIRES: the batch is valid.
  Sums SliceBySlice(const WeightedBatch& batch, bool with_gradients) const;
  // The same with gradients. Each thread adds a unit to `sums` when its last slice has completed
  // the gradient, all but the embeddings', which are complete when this returns. REQUIRES: the
  // networks are without an adapter; `sums` has as many parts as threads() of the batch.
  Sums SliceBySlice(const WeightedBatch& batch, collectives::OverlappedSums& sums) const;
  // How many networks run slices of the batch.
  std::size_t threads(const WeightedBatch& batch) const;
  // Gathers each unit when it is needed, and reduces each gradient as soon as it is complete. All
  // ranks make the same calls of `units`, however many slices each has. Returns its errors.
  // REQUIRES: the networks are by_unit and without an adapter; units.divides_parameters().
  absl::StatusOr<Sums> UnitByUnit(const WeightedBatch& batch, bool with_gradients,
                                  training::ZeroOptimiser& units) const;

 private:
  struct Slice;
  struct Tally;
  class InputGradients;

  // Returns where the batch is cut: sequence numbers.
  std::vector<std::int64_t> CutsOf(const WeightedBatch& batch) const;
  std::size_t ThreadsFor(std::size_t slices) const;
  // Calls run(thread, slice) for so many slices, those of one thread in ascending order.
  void ForEach(std::size_t slices,
               const std::function<void(std::size_t thread, std::size_t slice)>& run) const;
  // Computes the loss from the last layer's states, and its gradients where they are enabled.
  // Returns whether there was anything to differentiate.
  bool Loss(const Gpt2Network& network, const at::Tensor& hidden, const WeightedBatch& slice,
            Tally& tally) const;
  // `sums` may be null.
  Sums SliceBySlice(const WeightedBatch& batch, bool with_gradients,
                    collectives::OverlappedSums* sums) const;
  // The loss of the last slice of a thread. Adds all units but the embeddings to `sums`.
  bool LastLoss(Gpt2Network& network, const std::function<bool()>& loss,
                collectives::OverlappedSums& sums) const;
  absl::Status Forward(std::vector<Slice>& slices, bool with_gradients,
                       training::ZeroOptimiser& units) const;
  absl::Status Backward(std::vector<Slice>& slices, training::ZeroOptimiser& units) const;
  // Takes those of each thread.
  void AddInputGradients(const std::vector<InputGradients>& gradients) const;
  static Sums Total(const std::vector<Tally>& tallies);

  const Networks& networks_;
  const Options options_;
};

}  // namespace shoal::language
