// SPDX-License-Identifier: Apache-2.0
// `encoder train`: pre-training and fine-tuning of a language model on a dataset.
//
// The output folder gets run.json (the options), checkpoints/ (training/checkpoint.h), model/ with
// config.json, model.safetensors and tokenizer.json, and what training_log.h says; model/ is the
// best on what is held out, else the latest. A run that is asked to stop writes a checkpoint. One
// that was ended in any way goes on from its latest checkpoint with the same bits as if it had not
// been ended, on as many ranks and threads as before; on others with the same numbers but for
// rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "encoder/token_choice.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/collectives/gradient_reducer.h"

namespace shoal::encoder {

struct PretrainingOptions {
  std::string dataset;
  std::string output;
  // A preset's sizes with the dataset's vocabulary, random by `seed`; or a folder to start from.
  std::string preset = "tiny";
  std::string model;
  // The longest text of a model from scratch; 0: the preset's. Positions that no text reaches stay
  // random.
  std::int64_t positions = 0;
  // Captures that the model never learns from and is measured on.
  std::vector<std::string> hold_out;
  // Continue the run in `output`, with the same options, or start one where there is none.
  // Otherwise a folder with a run is refused.
  bool resume = false;

  // A run lasts until it has seen so many tokens, the last text whole; 0: so many steps; 0: so many
  // epochs.
  std::int64_t tokens = 0;
  std::int64_t steps = 0;
  std::int64_t epochs = 5;
  // Tokens of one step, over all ranks.
  std::int64_t batch_tokens = 8192;
  // At once on a rank; gradients of a larger batch add up.
  std::int64_t slice_tokens = 2048;
  std::string loss = "all";       // Curriculum
  std::string attention = "all";  // TokenChoice without "random"
  // What counts in evaluations, a TokenChoice without "random"; empty: as in the curriculum's last
  // stage, or all where that is random.
  std::string evaluate_on;
  // What is held out is measured on about so many tokens, every n-th text of it; 0: on all.
  std::int64_t evaluate_tokens = 0;

  std::string optimiser = "adamw";
  double learning_rate = 1e-3;
  std::string schedule = "cosine";
  double warmup = 0.05;
  double floor = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double weight_decay = 0.1;
  double max_gradient_norm = 1;
  // 0: all parameters; else an adapter of this rank alone (language/lora.h).
  std::int64_t lora_rank = 0;
  double lora_alpha = 16;

  std::int64_t evaluate_every = 100;
  std::int64_t checkpoint_every = 100;
  std::int64_t keep_checkpoints = 3;
  // The type of the numbers in model/: "float32", "float16" or "bfloat16". Training and checkpoints
  // use float32 in any case.
  std::string weights = "float32";
  // Ends after so many evaluations in a row none of which was better than the best by
  // `least_improvement` in loss; 0: never.
  std::int64_t patience = 0;
  double least_improvement = 0;

  std::uint64_t seed = 1;
  std::string device = "cpu";
  bool bfloat16 = false;
  bool checkpoint_blocks = false;
  // Threads of one rank; 0 divides the processor's threads among the ranks.
  int threads = 0;
  // How long ranks wait for each other.
  collectives::GroupOptions group;

  // What `weights` names, or INVALID_ARGUMENT.
  absl::StatusOr<runtime::DType> WeightsType() const;
  // INVALID_ARGUMENT naming the flag whose value is out of range.
  absl::Status Validate() const;
  // What makes a run the run that it is, as JSON: all but `output`, `resume`, `threads`, how often
  // and how short something is written, and what only changes speed.
  std::string Identity() const;
};

// What is learned from; texts are borrowed.
struct TrainingMaterial {
  std::vector<Chunk> training;
  std::vector<Chunk> held_out;
  std::int64_t vocabulary_size = 0;
  // Tokens of the longest text.
  std::int64_t longest = 0;
  // Equal only for the same texts.
  std::string fingerprint;
  // To copy beside the model; empty: none.
  std::string tokenizer;
};

// Runs to the end; rank 0 writes, and its last line to `out` sums up. `stop` is asked before each
// step: where it is true on any rank, all end at that step with a checkpoint, and the last line
// says how to go on. INVALID_ARGUMENT for options and material that do not fit; FAILED_PRECONDITION
// when the output folder holds another run; what LanguageTrainer and training::WriteCheckpoint
// return.
absl::Status Pretrain(const PretrainingOptions& options, const TrainingMaterial& material,
                      collectives::GradientReducer& reducer, const std::function<bool()>& stop,
                      std::ostream& out);

// Opens the dataset, divides it, joins the group of ranks and trains, until SIGINT or SIGTERM. Call
// it from the main thread, before torch has others. NOT_FOUND naming a capture to hold out that the
// dataset has not; errors of dataset::Dataset::Open.
absl::Status TrainOnDataset(const PretrainingOptions& options, std::ostream& out);

}  // namespace shoal::encoder
