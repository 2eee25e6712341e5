// SPDX-License-Identifier: Apache-2.0
// `encoder train-state`: trains a state encoder (text/language/state_trainer.h) on the bodies of
// captures, on top of a language model that stays as it is.
//
// The output folder gets run.json (the options), metrics.jsonl, checkpoints/
// (rl/training/checkpoint.h) and model/, which the knob `body_encoder = "state:<folder>"` names.
// A run that is asked to stop, or that was killed, goes on from its latest checkpoint and computes
// the same bits as if it had not ended. One process trains; there are no ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/action.h"
#include "encoder/capture_bodies.h"
#include "platform/runtime/status.h"
#include "text/embedding/encoder_source.h"
#include "text/embedding/language_states.h"

namespace shoal::encoder {

struct StateTrainingOptions {
  // Names, archives or folders (redfish/capture/capture_path.h).
  std::vector<std::string> captures;
  // Of these, the ones that are never learned from, only measured on.
  std::vector<std::string> hold_out;
  std::string output;
  // The language model beneath: "gpt2:<preset or folder>", "sentence" or "sentence:<folder>".
  std::string base = "gpt2:tiny";
  // The number of its blocks before the hidden states: 0 means the embeddings, -1 the last.
  std::int64_t layer = -1;
  // Where presets and the sentence encoder are; its `encoder` is not read.
  embedding::EncoderSource source;
  std::string data = "data";
  // Whether to continue the run in `output` with the same options, or start one if there is none.
  bool resume = false;

  // The sizes of the pooling (language::StateConfig).
  std::int64_t latent = 128;
  std::int64_t channels = 128;
  std::int64_t kernel = 5;
  std::int64_t layers = 2;

  std::int64_t steps = 400;
  // The bodies of a step, the neighbours of one type among them, the share of properties that a
  // view lacks, and the bytes of a body (state_views.h).
  std::int64_t bodies = 16;
  std::int64_t of_one_type = 2;
  double left_out = 0.15;
  std::int64_t body_bytes = 4096;
  double learning_rate = 1e-3;
  double warmup = 0.05;
  double floor = 0.05;
  double reconstruction_weight = 1;
  double contrast_weight = 1;
  double temperature = 0.1;

  std::int64_t evaluate_every = 50;
  // The batches of an evaluation.
  std::int64_t evaluate_batches = 4;
  std::int64_t checkpoint_every = 100;
  std::uint64_t seed = 1;
  // Torch's threads; 0: all of the processor's.
  int threads = 0;

  // Returns INVALID_ARGUMENT naming the flag whose value is out of range.
  absl::Status Validate() const;
  // Returns the options that identify a run, as JSON.
  std::string Identity() const;
};

// Trains to the end or until `stop`, which is called before each step, returns true. The last line
// on `out` sums up or says how to go on. Returns INVALID_ARGUMENT for options that do not fit,
// NOT_FOUND naming a held-out capture that is none of `captures`, FAILED_PRECONDITION when the
// output folder holds another run, and the errors of StateTrainer and training::WriteCheckpoint.
absl::Status TrainState(const StateTrainingOptions& options,
                        const std::vector<CaptureBodies>& captures,
                        const embedding::LanguageStates& base, const std::function<bool()>& stop,
                        std::ostream& out);

// Reads the captures and the language model and trains until SIGINT or SIGTERM. Returns the errors
// of LoadBodies and embedding::MakeLanguageStates.
absl::Status TrainStateOnCaptures(const StateTrainingOptions& options, std::ostream& out);

void AddTrainStateCommand(CLI::App& app, Action& action);

}  // namespace shoal::encoder
