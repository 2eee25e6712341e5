// SPDX-License-Identifier: Apache-2.0
// Measures the arithmetic of policies on frames of 84 x 84 x 4 bytes, which is the ceiling of a
// training on them: a batch of rows through the policy, and PPO's update of one epoch. Prints one
// JSON line for each convolution.
//
//   bench_pixels [rows of a minibatch] [rows of a batch that acts] [device] [threads]
//   [float32|bfloat16: of updates]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "platform/runtime/random.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/model/policy.h"
#include "rl/training/stopwatch.h"
#include "tests/bench/pixel_policy.h"

namespace shoal {
namespace {

constexpr std::int64_t kLength = 16;
constexpr std::int64_t kMinibatches = 4;
constexpr int kRounds = 3;
constexpr std::int64_t kActions = 6;

std::vector<std::uint8_t> Pixels(std::int64_t count, runtime::Random& random) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(count));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(random.Below(256));
  return pixels;
}

model::PolicyInputs Inputs(const model::PolicySpec& spec, std::int64_t rows,
                           runtime::Random& random) {
  model::PolicyInputs inputs;
  inputs.rows = rows;
  const std::vector<std::uint8_t> pixels = Pixels(rows * spec.frame_size(), random);
  inputs.frames.assign(pixels.begin(), pixels.end());
  inputs.goal_keys.resize(static_cast<std::size_t>(16 * rows));
  inputs.first.resize(static_cast<std::size_t>(rows));
  inputs.choice.assign(static_cast<std::size_t>(rows), model::Choice::kSample);
  inputs.draw.assign(static_cast<std::size_t>(rows), 0.5);
  return inputs;
}

algorithms::UnrollBatch Batch(const model::PolicySpec& spec, std::int64_t columns,
                              runtime::Random& random) {
  algorithms::UnrollBatch batch;
  batch.length = kLength;
  batch.columns = columns;
  const auto steps = static_cast<std::size_t>(kLength * columns);
  const auto rows = steps + static_cast<std::size_t>(columns);
  batch.frames = Pixels((kLength + 1) * columns * spec.frame_size(), random);
  batch.action.resize(steps);
  batch.behaviour_log_probability.assign(steps, -1.8F);
  for (std::size_t i = 0; i < steps; ++i) {
    batch.reward.push_back(static_cast<float>(random.Uniform()));
  }
  batch.value.assign(rows, 0.1F);
  batch.flags.resize(rows);
  batch.weight.assign(steps, 1.0F);
  return batch;
}

int Measure(const std::string& convolution, std::int64_t rows, std::int64_t acting_rows,
            const model::ComputeDevice& device, int threads) {
  const model::PolicySpec spec = bench::PixelPolicy(convolution, kActions);
  runtime::Random random(1);
  collectives::SingleRank alone;
  algorithms::AlgorithmOptions options;
  options.update_epochs = 1;
  options.minibatches = kMinibatches;
  const auto trainer = algorithms::PolicyTrainer::Create(spec, options, 1, alone, device).value();
  const auto batch = Batch(spec, rows * kMinibatches / kLength, random);
  double update_seconds = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    training::Stopwatch watch;
    if (!trainer->Update(batch).ok()) return 1;
    update_seconds = std::min(update_seconds, watch.Lap());
  }
  model::ComputeDevice acting = device;
  acting.precision = model::Precision::kFloat32;
  const auto policy = model::Policy::FromSafetensors(spec, trainer->SerializeParameters({}).value(),
                                                     nullptr, acting)
                          .value();
  const model::PolicyInputs inputs = Inputs(spec, acting_rows, random);
  model::SimilarityCache cache;
  double act_seconds = 1e9;
  for (int round = 0; round < 2 * kRounds; ++round) {
    training::Stopwatch watch;
    if (!policy->Act(inputs, cache).ok()) return 1;
    act_seconds = std::min(act_seconds, watch.Lap());
  }
  const auto updated = static_cast<double>(kLength * batch.columns);
  std::printf(
      "{\"bench\":\"pixels\",\"convolution\":\"%s\",\"device\":\"%s\",\"precision\":\"%s\","
      "\"threads\":%d,"
      "\"minibatch_rows\":%ld,\"acting_rows\":%ld,\"updated_rows_per_second\":%.0f,"
      "\"acted_rows_per_second\":%.0f,\"ceiling_steps_per_second\":%.0f}\n",
      convolution.c_str(), device.name.c_str(),
      device.precision == model::Precision::kBfloat16 ? "bfloat16" : "float32", threads,
      static_cast<long>(rows), static_cast<long>(acting_rows), updated / update_seconds,
      static_cast<double>(acting_rows) / act_seconds,
      1 / (update_seconds / updated + act_seconds / static_cast<double>(acting_rows)));
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 128;
  const std::int64_t acting_rows = argc > 2 ? std::atoll(argv[2]) : 32;
  const int threads = argc > 4 ? std::atoi(argv[4]) : 1;
  shoal::model::SetTorchThreads(threads);
  auto device = shoal::model::FindComputeDevice(argc > 3 ? argv[3] : "cpu");
  const auto precision = shoal::model::PrecisionNamed(argc > 5 ? argv[5] : "float32");
  if (!device.ok() || !precision.ok()) {
    const absl::Status& wrong = device.ok() ? precision.status() : device.status();
    std::fprintf(stderr, "%s\n", shoal::runtime::Message(wrong).c_str());
    return 2;
  }
  device->precision = *precision;
  for (const char* const convolution : {"small", "nature", "impala"}) {
    if (shoal::Measure(convolution, rows, acting_rows, *device, threads) != 0) return 1;
  }
  return 0;
}
