// SPDX-License-Identifier: Apache-2.0
// Measures how long one minibatch of an algorithm takes on one core, or on a GPU, with four
// catalogs of real sizes, and how long one batch of rows takes through the policy, operation by
// operation and by recorded forward passes (0 on a core). Prints one JSON line.
//
//   bench_update [rows of a minibatch] [train_keys 0|1] [device] [rows of a batch that acts]
//                [ppo|dqn|iqn] [float32|bfloat16: of the layers in updates] [width of both layers]
//                [passes of an update]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "platform/runtime/random.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/model/policy.h"
#include "rl/training/stopwatch.h"

namespace shoal {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr std::int64_t kSizes[] = {219, 3602, 6950, 8852};
constexpr std::int64_t kLength = 16;
constexpr std::int64_t kMinibatches = 4;
constexpr int kRounds = 3;
constexpr int kActingRounds = 10;

std::vector<std::uint16_t> UnitVectors(runtime::Random& random, std::int64_t rows,
                                       std::int64_t size) {
  std::vector<std::uint16_t> halves;
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  for (std::int64_t i = 0; i < rows * size; ++i) {
    halves.push_back(runtime::ToHalf(static_cast<float>(scale * random.Normal())));
  }
  return halves;
}

model::PolicyInputs Inputs(const model::PolicySpec& spec, std::int64_t rows,
                           const std::vector<std::uint16_t>& embeddings, runtime::Random& random) {
  model::PolicyInputs inputs;
  inputs.rows = rows;
  const auto dimension = static_cast<std::size_t>(spec.embedding_size);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < spec.observation_size; ++i) {
      inputs.observation.push_back(static_cast<float>(random.Uniform()));
    }
    for (std::int64_t f = 0; f < spec.content_count(); ++f) {
      const std::size_t at = random.Below(64) * dimension;
      inputs.contents.insert(inputs.contents.end(), &embeddings[at], &embeddings[at] + dimension);
    }
    inputs.past_requests.resize(inputs.past_requests.size() + dimension);
    inputs.goal_keys.resize(inputs.goal_keys.size() + 16);
    inputs.goal_keys[static_cast<std::size_t>(row) * 16] = static_cast<std::uint8_t>(row % 64);
    inputs.first.push_back(0);
    inputs.table.push_back(static_cast<std::int32_t>(row % 4));
    inputs.choice.push_back(model::Choice::kSample);
    inputs.draw.push_back(random.Uniform());
  }
  return inputs;
}

algorithms::UnrollBatch Batch(
    const model::PolicySpec& spec, std::int64_t columns,
    const std::vector<std::uint16_t>& embeddings,
    const std::vector<std::shared_ptr<const model::CandidateTable>>& tables,
    runtime::Random& random) {
  algorithms::UnrollBatch batch;
  batch.length = kLength;
  batch.columns = columns;
  batch.tables = tables;
  batch.embeddings = embeddings;
  batch.past_requests.resize(static_cast<std::size_t>(columns * spec.embedding_size));
  for (std::int64_t t = 0; t <= kLength; ++t) {
    for (std::int64_t b = 0; b < columns; ++b) {
      for (std::int64_t i = 0; i < spec.observation_size; ++i) {
        batch.observation.push_back(static_cast<float>(random.Uniform()));
      }
      batch.content_index.push_back(static_cast<std::int32_t>(b));
      batch.content_index.push_back(static_cast<std::int32_t>(random.Below(256)));
      batch.content_index.push_back(static_cast<std::int32_t>(random.Below(256)));
      batch.catalog.push_back(static_cast<std::int32_t>(b % 4));
      batch.value.push_back(0.1F);
      batch.flags.push_back(t == 0 ? algorithms::kFirst : 0);
      if (t == kLength) continue;
      batch.action.push_back(static_cast<std::int64_t>(random.Below(219)));
      batch.behaviour_log_probability.push_back(-8.0F);
      batch.reward.push_back(static_cast<float>(random.Uniform()));
      batch.weight.push_back(1.0F);
    }
  }
  return batch;
}

// Returns the least time of a batch after those that warm up, or a negative number.
double ActSeconds(const model::PolicySpec& spec, const std::string& parameters,
                  const model::PolicyInputs& inputs, const model::ComputeDevice& device) {
  const auto policy = model::Policy::FromSafetensors(spec, parameters, nullptr, device).value();
  model::SimilarityCache cache;
  double least = 1e9;
  for (int round = 0; round < kActingRounds; ++round) {
    training::Stopwatch watch;
    if (!policy->Act(inputs, cache).ok()) return -1;
    least = std::min(least, watch.Lap());
  }
  return least;
}

int Run(std::int64_t rows, bool train_keys, const std::string& device_name,
        std::int64_t acting_rows, const std::string& algorithm, const std::string& precision,
        std::int64_t width, std::int64_t passes) {
  model::SetTorchThreads(1);
  auto device = model::FindComputeDevice(device_name);
  const auto named = model::PrecisionNamed(precision);
  if (!device.ok() || !named.ok()) {
    const absl::Status& wrong = device.ok() ? named.status() : device.status();
    std::fprintf(stderr, "%s\n", runtime::Message(wrong).c_str());
    return 2;
  }
  device->precision = *named;
  model::PolicySpec spec;
  spec.observation_size = 16;
  spec.train_keys = train_keys;
  spec.hidden = {width, width};
  spec.action_values = algorithm != "ppo";
  if (algorithm == "iqn") spec.quantile_cosines = 64;
  runtime::Random random(1);
  std::vector<std::shared_ptr<const model::CandidateTable>> tables;
  for (const std::int64_t size : kSizes) {
    runtime::Tensor tensor(runtime::DType::kFloat16, {size, spec.embedding_size});
    const auto vectors = UnitVectors(random, size, spec.embedding_size);
    std::memcpy(tensor.mutable_bytes().data(), vectors.data(), tensor.bytes().size());
    tables.push_back(model::CandidateTable::Create(tensor, {}).value());
  }
  const auto embeddings = UnitVectors(random, 256, spec.embedding_size);
  collectives::SingleRank alone;
  algorithms::AlgorithmOptions options;
  options.name = algorithm;
  options.update_epochs = passes;
  options.minibatches = kMinibatches;
  const auto created = algorithms::PolicyTrainer::Create(spec, options, 1, alone, *device);
  if (!created.ok()) {
    std::fprintf(stderr, "%s\n", runtime::Message(created.status()).c_str());
    return 2;
  }
  const auto& trainer = *created;
  const auto batch = Batch(spec, rows * kMinibatches / kLength, embeddings, tables, random);
  if (!trainer->Update(batch).ok()) return 1;
  algorithms::UpdateReport best{.estimate_seconds = 1e9, .gradient_seconds = 1e9};
  double cpu = CpuSeconds();
  double update_seconds = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    training::Stopwatch watch;
    const auto report = trainer->Update(batch).value();
    update_seconds = std::min(update_seconds, watch.Lap());
    best.estimate_seconds = std::min(best.estimate_seconds, report.estimate_seconds);
    best.gradient_seconds = std::min(best.gradient_seconds, report.gradient_seconds);
    best.step_seconds = report.step_seconds;
  }
  cpu = (CpuSeconds() - cpu) / kRounds;
  model::PolicyInputs inputs = Inputs(spec, acting_rows, embeddings, random);
  inputs.tables = tables;
  const std::string parameters = trainer->SerializeParameters({}).value();
  model::ComputeDevice acting = *device;
  acting.precision = model::Precision::kFloat32;
  const double graphs_seconds = acting.graphs ? ActSeconds(spec, parameters, inputs, acting) : 0.0;
  acting.graphs = false;
  const double act_seconds = ActSeconds(spec, parameters, inputs, acting);
  if (graphs_seconds < 0 || act_seconds < 0) return 1;
  const auto steps = static_cast<double>(kMinibatches * passes);
  std::printf(
      "{\"bench\":\"update\",\"algorithm\":\"%s\",\"device\":\"%s\",\"precision\":\"%s\",\"rows\":%"
      "ld,"
      "\"train_keys\":%s,\"minibatch_ms\":%.2f,\"update_ms\":%.1f,\"update_cpu_ms\":%.1f,"
      "\"estimate_ms\":%.1f,\"step_ms\":%.2f,\"parameters_mb\":%.2f,\"acting_rows\":%ld,"
      "\"act_ms\":%.3f,\"act_graphs_ms\":%.3f}\n",
      algorithm.c_str(), device->name.c_str(), precision.c_str(), static_cast<long>(rows),
      train_keys ? "true" : "false", 1e3 * best.gradient_seconds / steps, 1e3 * update_seconds,
      1e3 * cpu, 1e3 * best.estimate_seconds, 1e3 * best.step_seconds / steps,
      static_cast<double>(parameters.size()) / 1e6, static_cast<long>(acting_rows),
      1e3 * act_seconds, 1e3 * graphs_seconds);
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 512;
  return shoal::Run(rows, argc > 2 && std::atoi(argv[2]) != 0, argc > 3 ? argv[3] : "cpu",
                    argc > 4 ? std::atoll(argv[4]) : 64, argc > 5 ? argv[5] : "ppo",
                    argc > 6 ? argv[6] : "float32", argc > 7 ? std::atoll(argv[7]) : 256,
                    argc > 8 ? std::atoll(argv[8]) : 1);
}
