// SPDX-License-Identifier: Apache-2.0
// Measures training steps of a language model over ranks that are processes of this machine, with
// sums in the backward pass and after it, in turn.
//
//   bench_overlap [--ranks 2] [--width 512] [--layers 6] [--tokens 512] [--rounds 7] [--steps 3]
//
// The last line is one JSON object: of both kinds of steps the "milliseconds" of a step, of them
// "communication" within collective calls and "exposed" what of it the backward pass does not hide,
// on rank 0 as medians of the rounds with their ranges. Each rank has one thread and sequences of
// random tokens, as many as the others. Every rank checks that both kinds end with the same loss.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/measured_reducer.h"
#include "rl/collectives/socket_reducer.h"
#include "rl/model/policy.h"
#include "tests/bench/flags.h"
#include "tests/bench/forked_ranks.h"
#include "tests/bench/load.h"
#include "text/language/language_trainer.h"

namespace {

using namespace shoal;
using nlohmann::json;

struct Settings {
  std::int64_t ranks = 2;
  std::int64_t width = 512;
  std::int64_t layers = 6;
  std::int64_t vocabulary = 2000;
  std::int64_t tokens = 512;
  int rounds = 7;
  int steps = 3;
};

constexpr std::int64_t kSequence = 128;

language::Gpt2Config ConfigOf(const Settings& settings) {
  return {.vocabulary_size = settings.vocabulary,
          .positions = kSequence,
          .width = settings.width,
          .layers = settings.layers,
          .heads = settings.width / 64,
          .begin_token = -1,
          .end_token = -1};
}

language::WeightedBatch BatchOf(const Settings& settings, std::int64_t rank) {
  runtime::Random random(1, static_cast<std::uint64_t>(rank));
  language::WeightedBatch batch;
  for (std::int64_t left = settings.tokens; left > 0; left -= kSequence) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(std::min(left, kSequence)));
    for (std::int32_t& id : ids) {
      id = static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(settings.vocabulary)));
    }
    batch.tokens.Append(ids);
  }
  return batch;
}

// The times of a step, in seconds.
struct Times {
  std::vector<double> step;
  std::vector<double> communication;
  std::vector<double> exposed;
};

absl::Status RunRound(const Settings& settings, language::LanguageTrainer& trainer,
                      collectives::GradientReducer& reducer, const language::WeightedBatch& batch,
                      Times& times, double& loss) {
  SHOAL_RETURN_IF_ERROR(reducer.Barrier());
  const collectives::Communication before = reducer.communication();
  const auto begin = std::chrono::steady_clock::now();
  double overlapped = 0;
  for (int i = 0; i < settings.steps; ++i) {
    SHOAL_ASSIGN_OR_RETURN(const language::StepReport report, trainer.Step(batch, 1e-4));
    overlapped += report.overlapped_seconds;
    loss = report.loss.loss;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const double communication = reducer.communication().seconds - before.seconds;
  times.step.push_back(took.count() / settings.steps);
  times.communication.push_back(communication / settings.steps);
  times.exposed.push_back((communication - overlapped) / settings.steps);
  return absl::OkStatus();
}

json InMilliseconds(std::vector<double> seconds) {
  const bench::Spread spread = bench::SpreadOf(std::move(seconds));
  return {spread.median * 1e3, spread.minimum * 1e3, spread.maximum * 1e3};
}

void Print(const Settings& settings, const std::array<Times, 2>& times) {
  const double megabytes = static_cast<double>(ConfigOf(settings).parameter_count()) * 4e-6;
  json line = {{"bench", "overlap"},
               {"ranks", settings.ranks},
               {"megabytes", megabytes},
               {"tokens_of_rank", settings.tokens},
               {"rounds", settings.rounds}};
  for (const bool overlaps : {false, true}) {
    const Times& of_kind = times[overlaps ? 1 : 0];
    line[overlaps ? "overlapped" : "afterwards"] = {
        {"milliseconds", InMilliseconds(of_kind.step)},
        {"communication", InMilliseconds(of_kind.communication)},
        {"exposed", InMilliseconds(of_kind.exposed)}};
  }
  std::printf("%s\n", line.dump().c_str());
}

absl::Status RunRank(const Settings& settings, const collectives::RankEnvironment& environment) {
  model::SetTorchThreads(1);
  const collectives::GroupOptions group;
  SHOAL_ASSIGN_OR_RETURN(auto sockets, collectives::SocketReducer::Create(environment, group));
  collectives::MeasuredReducer reducer(std::move(sockets), nullptr, group.call_timeout);
  SHOAL_ASSIGN_OR_RETURN(const auto start, language::InitialGpt2(ConfigOf(settings), 1));
  const language::WeightedBatch batch = BatchOf(settings, environment.rank);
  std::array<std::unique_ptr<language::LanguageTrainer>, 2> trainers;
  for (const bool overlaps : {false, true}) {
    SHOAL_ASSIGN_OR_RETURN(
        trainers[overlaps ? 1 : 0],
        language::LanguageTrainer::Create(start, {.overlap_sums = overlaps}, reducer));
  }
  std::array<Times, 2> times;
  for (int round = 0; round < settings.rounds + 1; ++round) {
    // The first round warms up.
    if (round == 1) times = {};
    std::array<double, 2> losses{};
    for (const std::size_t kind : {0U, 1U}) {
      SHOAL_RETURN_IF_ERROR(
          RunRound(settings, *trainers[kind], reducer, batch, times[kind], losses[kind]));
    }
    if (losses[0] != losses[1]) return runtime::Internal("two kinds of steps differ");
  }
  if (environment.rank == 0) Print(settings, times);
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Training steps over ranks with sums in the backward pass and after it");
  flags.Add("--ranks", settings.ranks, "processes").InRange(2, 8);
  flags.Add("--width", settings.width, "of hidden states, a multiple of 64").InRange(64, 2048);
  flags.Add("--layers", settings.layers, "blocks").InRange(1, 48);
  flags.Add("--vocabulary", settings.vocabulary, "tokens").InRange(2, 100'000);
  flags.Add("--tokens", settings.tokens, "of a rank in a step").InRange(2, 100'000);
  flags.Add("--rounds", settings.rounds, "after one to warm up").Positive();
  flags.Add("--steps", settings.steps, "of a round").Positive();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  const absl::Status status =
      bench::RunForkedRanks(settings.ranks, [&](const collectives::RankEnvironment& environment) {
        return RunRank(settings, environment);
      });
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench_overlap: %s\n", runtime::Message(status).c_str());
  return 1;
}
