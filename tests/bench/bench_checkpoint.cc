// SPDX-License-Identifier: Apache-2.0
// Measures how long a learner that saves a checkpoint keeps training waiting, how long it takes
// until the checkpoint is on the disk, and how long it takes to go on from it.
//
//   bench_checkpoint --directory DIR [--megabytes 500] [--rounds 5]
//
// Prints one JSON line. The state is that of a policy under Adam: parameters and two moments of
// each, 10^6 bytes a megabyte in all. In each round, one thread copies as many bytes into memory
// that it has used before, which is what "copy_ms" tells; then one checkpoint is saved as the
// learner saves it ("stall_ms", "saved_ms"), and read ("read_ms"). The first checkpoint of a
// process alone needs memory that is new, so it is not counted; "first_stall_ms" tells what it made
// training wait for. Figures are medians; "stall_of_copy" is that of the rounds' ratios.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/runtime/large_memory.h"
#include "platform/runtime/median.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/training/checkpoint.h"
#include "rl/training/shared_checkpoints.h"
#include "tests/bench/flags.h"

namespace shoal {
namespace {

using Steady = std::chrono::steady_clock;

struct Settings {
  std::string directory;
  double megabytes = 500;
  int rounds = 5;
};

struct Figures {
  std::vector<double> copy;
  std::vector<double> stall;
  std::vector<double> stall_of_copy;
  std::vector<double> saved;
  std::vector<double> read;
};

double Milliseconds(Steady::time_point from) {
  return std::chrono::duration<double, std::milli>(Steady::now() - from).count();
}

// A policy whose parameters and moments have about so many bytes.
model::PolicySpec SpecOf(double megabytes) {
  constexpr std::int64_t kWidth = 2048;
  constexpr double kBytesOfLayer = 3.0 * sizeof(float) * kWidth * kWidth;
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.observation_size = 16;
  spec.action_count = 4;
  spec.content_fields = {};
  spec.past_requests = false;
  const auto layers = static_cast<std::size_t>(megabytes * 1e6 / kBytesOfLayer + 0.5) + 1;
  spec.hidden.assign(layers, kWidth);
  return spec;
}

double CopyMilliseconds(const std::vector<float>& state, std::vector<float>& copy) {
  const auto begin = Steady::now();
  std::memcpy(copy.data(), state.data(), state.size() * sizeof(float));
  const double took = Milliseconds(begin);
  // Keeps the compiler from leaving out a copy that nobody reads.
  asm volatile("" : : "g"(copy.data()) : "memory");
  return took;
}

absl::Status RunRound(algorithms::PolicyTrainer& trainer, runtime::LargeMemoryPool& snapshots,
                      training::SharedCheckpoints& checkpoints, const std::string& folder,
                      Figures& figures) {
  const auto begin = Steady::now();
  SHOAL_RETURN_IF_ERROR(checkpoints.Settle());
  checkpoints.Begin([&]() -> training::SharedCheckpoints::MakeFiles {
    const auto state =
        std::make_shared<algorithms::TrainerCheckpoint>(trainer.Snapshot("bench", snapshots));
    // Each has a number of its own, as after an update.
    ++state->updates;
    return [state] { return algorithms::FilesOf(*state); };
  });
  figures.stall.push_back(Milliseconds(begin));
  while (!checkpoints.written()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  SHOAL_RETURN_IF_ERROR(checkpoints.Settle());
  figures.saved.push_back(Milliseconds(begin));
  const auto reading = Steady::now();
  SHOAL_RETURN_IF_ERROR(trainer.Load(folder).status());
  figures.read.push_back(Milliseconds(reading));
  return absl::OkStatus();
}

absl::Status Measure(const Settings& settings) {
  const model::PolicySpec spec = SpecOf(settings.megabytes);
  collectives::SingleRank alone;
  algorithms::AlgorithmOptions options;
  options.optimiser = "adam";
  SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                         algorithms::PolicyTrainer::Create(spec, options, 1, alone));
  const std::string folder = settings.directory + "/checkpoints";
  SHOAL_ASSIGN_OR_RETURN(
      const auto checkpoints,
      training::SharedCheckpoints::Create({.root = folder, .keep = {.newest = 2}}, alone));
  runtime::LargeMemoryPool snapshots;
  Figures first;
  SHOAL_RETURN_IF_ERROR(RunRound(*trainer, snapshots, *checkpoints, folder, first));
  std::vector<float> same_size(
      static_cast<std::size_t>(trainer->parameter_count() + 2 * trainer->gradient_size()), 1.0F);
  std::vector<float> copy(same_size.size());
  Figures figures;
  for (int round = 0; round < settings.rounds; ++round) {
    figures.copy.push_back(CopyMilliseconds(same_size, copy));
    SHOAL_RETURN_IF_ERROR(RunRound(*trainer, snapshots, *checkpoints, folder, figures));
    figures.stall_of_copy.push_back(figures.stall.back() / figures.copy.back());
  }
  const nlohmann::json line = {
      {"bench", "checkpoint"},
      {"megabytes", static_cast<double>(same_size.size() * sizeof(float)) / 1e6},
      {"rounds", settings.rounds},
      {"copy_ms", runtime::Median(figures.copy)},
      {"first_stall_ms", first.stall.front()},
      {"stall_ms", runtime::Median(figures.stall)},
      {"stall_of_copy", runtime::Median(figures.stall_of_copy)},
      {"saved_ms", runtime::Median(figures.saved)},
      {"read_ms", runtime::Median(figures.read)}};
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Measures checkpoints of a learner");
  flags.Add("--directory", settings.directory, "where checkpoints are written").Required();
  flags.Add("--megabytes", settings.megabytes, "of the state, in millions of bytes")
      .InRange(60.0, 20'000.0)
      .ShowDefault();
  flags.Add("--rounds", settings.rounds, "checkpoints that are saved and read")
      .InRange(1, 1'000)
      .ShowDefault();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::Status status = Measure(settings);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", runtime::Message(status).c_str());
  return 1;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) { return shoal::Main(argc, argv); }
