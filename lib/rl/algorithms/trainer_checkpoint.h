// SPDX-License-Identifier: Apache-2.0
// What a trainer needs to go on with the same bits, in the host's memory, and its files in a
// checkpoint (training/checkpoint.h): policy.toml, parameters.safetensors, target.safetensors where
// there is a target network, optimiser.safetensors, moments.json where anything is normalised,
// counters.json.
//
// A checkpoint of one network can be fitted to another one.
//
// The functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"
#include "rl/algorithms/shared_floats.h"
#include "rl/model/parameter_fit.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy_spec.h"
#include "rl/training/checkpoint.h"

namespace shoal::algorithms {

struct TrainerCheckpoint {
  // The network, and the layout of its parameters.
  model::PolicySpec spec;
  model::ParameterLayout layout;
  SharedFloats parameters;  // [total]
  SharedFloats target;      // [total], or empty without a target network
  // What the optimiser remembers (training/flat_optimiser.h): its name, its moments, [trainable]
  // or empty where it has none, and the number of its steps.
  std::string optimiser;
  SharedFloats first_moment;
  SharedFloats second_moment;
  std::int64_t optimiser_steps = 0;
  // The running moments of observations and returns, as Normalisation writes them; empty without
  // any.
  std::string normalisation;
  std::int64_t updates = 0;
  std::int64_t clonings = 0;
  double learning_rate = 0;
  // 0 without a penalty on the KL.
  double kl_coefficient = 0;
  std::uint64_t seed = 0;
  // It belongs to the trainer's caller.
  std::string note;
};

// What is left of a checkpoint that may have been of another network.
struct FittedCheckpoint {
  std::string note;
  model::FitReport parameters;
};

// Returns the files of a checkpoint, numbered by updates and clonings, which share its numbers.
training::Checkpoint FilesOf(const TrainerCheckpoint& checkpoint);

// Reads a checkpoint of whichever network; moments may share the bytes of its files. One without
// policy.toml, as earlier versions wrote them, must be of `expected`. Returns FAILED_PRECONDITION
// when it has no policy.toml and its parameters are of another network than `expected`, and
// DATA_LOSS or INVALID_ARGUMENT when a file is not what a trainer writes. REQUIRES: `expected` is
// valid.
absl::StatusOr<TrainerCheckpoint> ReadTrainerCheckpoint(const training::Checkpoint& files,
                                                        const model::PolicySpec& expected);

// Returns the note of a checkpoint, of which counters.json is enough; empty where there is none.
std::string NoteOf(const training::Checkpoint& files);

// Makes of a checkpoint one of the network `spec` (model/parameter_fit.h), and returns what became
// of its parameters. What is new in parameters and target network has the start values of `seed`.
// The optimiser's first moment of it is 0 and its second one the mean of all others, since it would
// make steps of many times the learning rate if it were 0. INVALID_ARGUMENT for moments of
// observations that nobody wrote. REQUIRES: `spec` is valid.
absl::StatusOr<model::FitReport> FitToNetwork(const model::PolicySpec& spec, std::uint64_t seed,
                                              TrainerCheckpoint& checkpoint);

}  // namespace shoal::algorithms
