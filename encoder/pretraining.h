// SPDX-License-Identifier: Apache-2.0
// `encoder train`: pre-training and fine-tuning of a language model on a dataset.
//
// The output folder gets run.json (the options), checkpoints/ (rl/training/checkpoint.h), model/
// with config.json, model.safetensors and tokenizer.json, and the files of training_log.h. model/
// holds the parameters that did best on the held-out texts, or the latest ones if nothing is held
// out. A run that is asked to stop writes a checkpoint. A run that ended in any way goes on from
// its latest checkpoint. On as many ranks and threads as before it computes the same bits as if it
// had not ended; on other numbers of them, the same up to rounding. A run with compressed gradients
// that was asked to stop goes on up to rounding too, since a checkpoint drops residuals.
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
  // Folders. The command line requires both, unless memory is planned.
  std::string dataset;
  std::string output;
  // The model starts with random parameters from `seed` in a preset's sizes with the dataset's
  // vocabulary, or from the folder `model`.
  std::string preset = "tiny";
  std::string model;
  // The longest text of a model from scratch, in tokens. 0 means the preset's. Positions that no
  // text reaches stay random.
  std::int64_t positions = 0;
  // Captures that the model never learns from and is evaluated on.
  std::vector<std::string> hold_out;
  // Whether to continue the run in `output` with the same options, or start one if there is none.
  // Otherwise a folder with a run is refused.
  bool resume = false;

  // A run ends when it has seen this many tokens, with its last text whole. If `tokens` is 0, it
  // ends after this many steps, and if `steps` is 0, too, after this many epochs.
  std::int64_t tokens = 0;
  std::int64_t steps = 0;
  std::int64_t epochs = 5;
  // Tokens of one step over all ranks.
  std::int64_t batch_tokens = 8192;
  // Tokens that a rank computes at once. Gradients of the slices of a batch add up. 0: as in
  // language::TrainerOptions.
  std::int64_t slice_tokens = 0;
  std::string loss = "all";       // Curriculum
  std::string attention = "all";  // TokenChoice without "random"
  // The tokens that count in evaluations, a TokenChoice without "random". Empty means the
  // curriculum's last stage, or all tokens if that stage is random.
  std::string evaluate_on;
  // Evaluations use about this many tokens of the held-out texts: every n-th text. 0 means all
  // texts.
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
  // In which numbers gradients travel around the ring: "none" for float32, or "bfloat16" with what
  // rounding takes added to the next ones. For stages 0 and 1 of ZeRO, over sockets.
  std::string compress = "none";
  // What ranks divide among them (rl/training/zero_stage.h): 0 to 3.
  std::int64_t zero_stage = 0;
  // Whether ranks begin to sum gradients while the backward pass runs.
  bool overlap = true;
  // How many ranks that follow one another divide the blocks' matrices
  // (text/language/rank_place.h). It divides the model's heads and the number of ranks.
  std::int64_t tensor_parallel = 1;
  // 0 trains all parameters. Otherwise only an adapter of this rank is trained
  // (text/language/lora.h).
  std::int64_t lora_rank = 0;
  double lora_alpha = 16;

  std::int64_t evaluate_every = 100;
  std::int64_t checkpoint_every = 100;
  std::int64_t keep_checkpoints = 3;
  // The type of the numbers in model/: "float32", "float16" or "bfloat16". Training and checkpoints
  // always use float32.
  std::string weights = "float32";
  // The run ends after this many evaluations in a row that did not improve the best loss by
  // `least_improvement`. 0 means never.
  std::int64_t patience = 0;
  double least_improvement = 0;

  std::uint64_t seed = 1;
  // "auto", "cpu", "cuda" or "cuda:<n>" (rl/model/compute_device.h).
  std::string device = "cpu";
  // The number of this rank among those of its machine, which share the GPUs.
  std::int64_t local_rank = 0;
  bool bfloat16 = false;
  bool checkpoint_blocks = false;
  // Threads of one rank. 0 divides the processor's threads among the ranks.
  int threads = 0;
  // How ranks form a group, and how long they wait for each other.
  collectives::GroupOptions group;

  // Returns the type that `weights` names, or INVALID_ARGUMENT.
  absl::StatusOr<runtime::DType> WeightsType() const;
  // Returns INVALID_ARGUMENT naming the flag whose value is out of range.
  absl::Status Validate() const;
  // Returns the options that identify a run, as JSON: all but `dataset`, `output`, `resume`,
  // `local_rank`, `threads`, the frequency, number and type of what is written, and options that
  // only change speed.
  std::string Identity() const;
};

// The texts of a run, borrowed.
struct TrainingMaterial {
  std::vector<Chunk> training;
  std::vector<Chunk> held_out;
  std::int64_t vocabulary_size = 0;
  // The length of the longest text, in tokens.
  std::int64_t longest = 0;
  // Equal only for the same texts.
  std::string fingerprint;
  // A file to copy beside the model, or empty for none.
  std::string tokenizer;
};

// Trains to the end. Rank 0 writes the files, and its last line on `out` sums up. `stop` is called
// before each step. When it returns true on any rank, all ranks end at that step with a checkpoint,
// and the last line says how to go on. Returns INVALID_ARGUMENT for options and texts that do not
// fit, FAILED_PRECONDITION when the output folder holds another run, and the errors of
// LanguageTrainer and training::WriteCheckpoint.
absl::Status Pretrain(const PretrainingOptions& options, const TrainingMaterial& material,
                      collectives::GradientReducer& reducer, const std::function<bool()>& stop,
                      std::ostream& out);

// Opens the dataset, divides it, joins the group of ranks and trains until SIGINT or SIGTERM. Must
// be called from the main thread before torch has started others. Returns NOT_FOUND naming a
// held-out capture that the dataset lacks, and the errors of dataset::Dataset::Open.
absl::Status TrainOnDataset(const PretrainingOptions& options, std::ostream& out);

struct MemoryRequest {
  // 0: nobody asks.
  std::int64_t ranks = 0;
  // What each rank has for itself; 0: its part of this machine's memory.
  double gibibytes = 0;
  bool json = false;
};

// Prints what each of so many ranks would take for its trainer: a table of the ways to divide it
// and whether they fit (memory_table.h), or what the options say as a JSON object of one line
// (text/language/trainer_memory.h). Nothing of the model's size is allocated for a model from
// scratch. Without a dataset the vocabulary is the preset's. Returns RESOURCE_EXHAUSTED after a
// table where what the options say does not fit, INVALID_ARGUMENT for a GPU whose memory is not
// given, and the errors of TrainOnDataset.
absl::Status PrintMemory(const PretrainingOptions& options, const MemoryRequest& request,
                         std::ostream& out);

}  // namespace shoal::encoder
