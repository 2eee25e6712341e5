// SPDX-License-Identifier: Apache-2.0
// Gathers the policy's inputs from rows and the memory of their environments.
//
// It reuses the same buffers for every batch. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "inference/core/environment_slot.h"
#include "inference/core/row_block.h"
#include "rl/model/policy.h"

namespace shoal::inference {

class InputGatherer {
 public:
  // `shape` and `frame_memory`, which holds the frames, must outlive the gatherer. `seed` is the
  // run's seed for sampling actions.
  InputGatherer(const PolicyShape& shape, std::uint64_t seed,
                std::pmr::memory_resource* frame_memory = std::pmr::get_default_resource());

  // Begins a batch of so many rows.
  void Begin(std::size_t rows);
  // `epsilon` is the probability of a random action, for training rows with action values.
  // REQUIRES: the row's embeddings and candidates are there, and the batch is not full.
  void Add(const Row& row, const EnvironmentSlot& slot, double epsilon);
  // REQUIRES: the batch is full.
  const model::PolicyInputs& inputs() const { return inputs_; }

 private:
  void AddObservation(const Row& row);
  void AddContents(const Row& row);
  void AddMemory(const Row& row, const EnvironmentSlot& slot);
  void AddLegal(const Row& row);
  void AddTable(const Row& row);
  void AddChoice(const Row& row, const EnvironmentSlot& slot, double epsilon);

  const PolicyShape& shape_;
  const std::uint64_t seed_;
  // Those of the two draws of each dimension of a box.
  std::vector<std::uint64_t> box_seeds_;
  model::PolicyInputs inputs_;
};

}  // namespace shoal::inference
