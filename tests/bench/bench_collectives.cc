// SPDX-License-Identifier: Apache-2.0
// Measures the sum of an array over ranks that are processes of this machine, over loopback.
//
//   bench_collectives [--ranks 2 4] [--megabytes 1 10 100] [--rounds 7] [--ring-min-bytes N]
//                     [--compress]
//   bench_collectives --ranks 2 --megabytes 10 --on-request
//
// Prints one JSON line for each number of ranks and size (10^6 bytes of float32): "milliseconds" is
// the median of the rounds. A round adds up the array several times, 100 MB in all or at least
// once, and its time is that of rank 0 from a barrier to the next one. Every rank checks the sum.
// With --compress sums travel in bfloat16, as with learner.gradient_compression.
// With --on-request a round runs for each line of standard input (rounds.h).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/log.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket_reducer.h"
#include "tests/bench/flags.h"
#include "tests/bench/forked_ranks.h"
#include "tests/bench/load.h"
#include "tests/bench/rounds.h"

namespace {

using namespace shoal;
using nlohmann::json;

struct Settings {
  std::vector<std::int64_t> ranks = {2, 4};
  std::vector<double> megabytes = {1, 10, 100};
  int rounds = 7;
  bool on_request = false;
  bool compress = false;
  collectives::GroupOptions group;
};

// One rank's part of the rounds.
class Summing {
 public:
  Summing(collectives::GradientReducer& reducer, double megabytes, bool compress)
      : reducer_(reducer),
        compress_(compress),
        repeats_(std::clamp(static_cast<int>(100 / megabytes), 1, 40)),
        values_(static_cast<std::size_t>(megabytes * 1e6 / sizeof(float))),
        residual_(compress ? values_.size() : 0) {}

  absl::StatusOr<bench::Round> Round() {
    std::fill(values_.begin(), values_.end(), 1.0F);
    std::fill(residual_.begin(), residual_.end(), 0.0F);
    SHOAL_RETURN_IF_ERROR(reducer_.Barrier());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats_; ++i) {
      SHOAL_RETURN_IF_ERROR(compress_ ? reducer_.AllReduceSumCompressed(values_, residual_)
                                      : reducer_.AllReduceSum(std::span<float>(values_)));
    }
    SHOAL_RETURN_IF_ERROR(reducer_.Barrier());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    float expected = 1;
    for (int i = 0; i < repeats_; ++i) {
      const float part = expected;
      for (std::int64_t rank = 1; rank < reducer_.world_size(); ++rank) expected += part;
    }
    // Each sum is rounded once a rank.
    const float apart = compress_ ? expected * static_cast<float>(repeats_) *
                                        static_cast<float>(reducer_.world_size()) / 256
                                  : 0;
    const auto right = [=](float value) { return std::abs(value - expected) <= apart; };
    if (!std::all_of(values_.begin(), values_.end(), right)) {
      return runtime::Internal("a wrong sum");
    }
    return bench::Round{took.count() / repeats_, expected};
  }

  // Rank 0 begins the rounds of the others by this, and ends them.
  absl::Status Begin(std::uint8_t more) {
    return reducer_.Broadcast(std::as_writable_bytes(std::span(&more, 1)));
  }
  absl::Status Follow() {
    for (std::uint8_t more = 1;;) {
      SHOAL_RETURN_IF_ERROR(reducer_.Broadcast(std::as_writable_bytes(std::span(&more, 1))));
      if (more == 0) return absl::OkStatus();
      SHOAL_RETURN_IF_ERROR(Round().status());
    }
  }

 private:
  collectives::GradientReducer& reducer_;
  const bool compress_;
  const int repeats_;
  std::vector<float> values_;
  std::vector<float> residual_;
};

absl::Status Follow(const Settings& settings, const collectives::RankEnvironment& environment,
                    double megabytes) {
  SHOAL_ASSIGN_OR_RETURN(const auto reducer,
                         collectives::SocketReducer::Create(environment, settings.group));
  return Summing(*reducer, megabytes, settings.compress).Follow();
}

absl::Status Lead(const Settings& settings, const collectives::RankEnvironment& environment,
                  double megabytes) {
  SHOAL_ASSIGN_OR_RETURN(const auto reducer,
                         collectives::SocketReducer::Create(environment, settings.group));
  Summing summing(*reducer, megabytes, settings.compress);
  SHOAL_ASSIGN_OR_RETURN(
      const std::vector<double> seconds,
      bench::RunRounds(settings.rounds, settings.on_request, [&]() -> absl::StatusOr<bench::Round> {
        SHOAL_RETURN_IF_ERROR(summing.Begin(1));
        return summing.Round();
      }));
  SHOAL_RETURN_IF_ERROR(summing.Begin(0));
  if (seconds.empty()) return absl::OkStatus();
  const bench::Spread spread = bench::SpreadOf(seconds);
  const json line = {{"bench", "collectives"},
                     {"ranks", environment.world_size},
                     {"megabytes", megabytes},
                     {"compressed", settings.compress},
                     {"rounds", seconds.size()},
                     {"milliseconds", spread.median * 1e3},
                     {"milliseconds_range", {spread.minimum * 1e3, spread.maximum * 1e3}}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status Run(const Settings& settings, std::int64_t ranks, double megabytes) {
  return bench::RunForkedRanks(ranks, [&](const collectives::RankEnvironment& environment) {
    return environment.rank == 0 ? Lead(settings, environment, megabytes)
                                 : Follow(settings, environment, megabytes);
  });
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  bench::Flags flags("Sums over ranks that are processes of this machine");
  flags.Add("--ranks", settings.ranks, "numbers of processes").InRange(2, 8);
  flags.Add("--megabytes", settings.megabytes, "of float32").InRange(0.000004, 1000.0);
  flags.Add("--rounds", settings.rounds).Positive();
  flags.Add("--ring-min-bytes", settings.group.ring_min_bytes, "0: over rank 0 alone");
  flags.Add("--compress", settings.compress, "sums in bfloat16, where they go around a ring");
  flags.Add("--on-request", settings.on_request, "a round for each line of standard input");
  if (const auto code = flags.Parse(argc, argv)) return *code;
  spdlog::set_level(spdlog::level::warn);
  for (const std::int64_t ranks : settings.ranks) {
    for (const double megabytes : settings.megabytes) {
      const absl::Status status = Run(settings, ranks, megabytes);
      if (status.ok()) continue;
      std::fprintf(stderr, "bench_collectives: %s\n", runtime::Message(status).c_str());
      return 1;
    }
  }
  return 0;
}
