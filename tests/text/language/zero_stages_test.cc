// SPDX-License-Identifier: Apache-2.0
// What ranks of a language trainer divide among them in each stage of ZeRO.
#include <ATen/Parallel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/doubles/ranks.h"
#include "tests/rl/model/memory_meter.h"
#include "tests/text/language/any_device.h"
#include "tests/text/language/small_batches.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"
#include "text/language/language_trainer.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

using Kind = training::OptimiserOptions::Kind;

// Passes every call on, after it wrote down which one it is and said so.
class WatchedReducer final : public collectives::GradientReducer {
 public:
  WatchedReducer(collectives::GradientReducer& inner, std::vector<std::string>& calls)
      : inner_(inner), calls_(calls) {}

  // Called before each call.
  std::function<void()> watch = [] {};

  std::int64_t rank() const override { return inner_.rank(); }
  std::int64_t world_size() const override { return inner_.world_size(); }
  absl::Status AllReduceSum(std::span<float> values) override {
    Note("sum", values.size());
    return inner_.AllReduceSum(values);
  }
  absl::Status AllReduceSum(std::span<double> values) override {
    Note("sum of doubles", values.size());
    return inner_.AllReduceSum(values);
  }
  absl::Status AllReduceMax(std::span<double> values) override {
    return inner_.AllReduceMax(values);
  }
  absl::Status AllReduceMin(std::span<double> values) override {
    return inner_.AllReduceMin(values);
  }
  absl::Status ReduceScatterSum(std::span<float> values) override {
    Note("scatter", values.size());
    return inner_.ReduceScatterSum(values);
  }
  absl::Status AllGather(std::span<float> values) override {
    Note("gather", values.size());
    return inner_.AllGather(values);
  }
  absl::Status Broadcast(std::span<std::byte> bytes) override { return inner_.Broadcast(bytes); }
  absl::Status Barrier() override { return inner_.Barrier(); }
  void Abort(const absl::Status& reason) override { inner_.Abort(reason); }

 private:
  void Note(const std::string& call, std::size_t size) {
    calls_.push_back(call + " " + std::to_string(size));
    watch();
  }

  collectives::GradientReducer& inner_;
  std::vector<std::string>& calls_;
};

// What a run of a trainer shows, on one of its ranks.
struct Course {
  std::vector<double> losses;
  std::vector<double> norms;
  // After each step.
  std::vector<std::vector<float>> parameters;
  // Loss and accuracy after the last step.
  std::vector<double> evaluated;
  // The collective calls, and how many there were in the last step.
  std::vector<std::string> calls;
  std::size_t calls_of_step = 0;
  // Between two steps.
  std::int64_t parameter_bytes = 0;
  std::int64_t moment_bytes = 0;
  std::int64_t gradient_bytes = 0;
  // At most, at a collective call of the last step.
  std::int64_t most_parameter_bytes = 0;
  std::int64_t most_gradient_bytes = 0;
};

constexpr std::int64_t kZeroStages = 4;
// Every gradient of these batches is above it.
constexpr double kClips = 0.5;

TrainerOptions InStage(std::int64_t stage) {
  return {.max_gradient_norm = kClips, .zero_stage = static_cast<training::ZeroStage>(stage)};
}

// Returns a rank's part of the batch of a step.
using Part = std::function<WeightedBatch(std::uint64_t step, std::size_t rank, std::size_t ranks)>;

WeightedBatch EvenPart(std::uint64_t step, std::size_t rank, std::size_t ranks) {
  return Share(Batch(step), rank, ranks);
}

absl::Status Steps(LanguageTrainer& trainer, std::uint64_t first, std::uint64_t last,
                   const collectives::GradientReducer& reducer, Course& course,
                   const Part& part = EvenPart) {
  const auto rank = static_cast<std::size_t>(reducer.rank());
  const auto ranks = static_cast<std::size_t>(reducer.world_size());
  for (std::uint64_t step = first; step < last; ++step) {
    course.most_parameter_bytes = 0;
    course.most_gradient_bytes = 0;
    const std::size_t before = course.calls.size();
    SHOAL_ASSIGN_OR_RETURN(const StepReport report, trainer.Step(part(step, rank, ranks), 1e-3));
    course.calls_of_step = course.calls.size() - before;
    course.losses.push_back(report.loss.loss);
    course.norms.push_back(report.gradient_norm);
    course.parameter_bytes = trainer.parameter_bytes();
    course.moment_bytes = trainer.moment_bytes();
    course.gradient_bytes = trainer.gradient_bytes();
    SHOAL_ASSIGN_OR_RETURN(Gpt2Parameters parameters, trainer.Parameters());
    course.parameters.push_back(std::move(parameters.flat));
  }
  SHOAL_ASSIGN_OR_RETURN(const LossReport report, trainer.Evaluate(part(last, rank, ranks)));
  course.evaluated = {report.loss, report.accuracy};
  return absl::OkStatus();
}

std::vector<Course> TenSteps(std::size_t ranks, const TrainerOptions& options,
                             const Part& part = EvenPart, int threads = 1) {
  std::vector<Course> courses(ranks);
  doubles::RunRanks(ranks, [&](std::size_t rank, collectives::GradientReducer& group) {
    Course& course = courses[rank];
    WatchedReducer reducer(group, course.calls);
    at::set_num_threads(threads);
    const auto trainer = LanguageTrainer::Create(SmallGpt2(), options, reducer).value();
    reducer.watch = [&] {
      course.most_parameter_bytes =
          std::max(course.most_parameter_bytes, trainer->parameter_bytes());
      course.most_gradient_bytes = std::max(course.most_gradient_bytes, trainer->gradient_bytes());
    };
    return Steps(*trainer, 0, 10, reducer, course, part);
  });
  return courses;
}

void RequireTheSame(const std::vector<Course>& courses, const Course& whole) {
  for (const Course& course : courses) {
    REQUIRE(course.losses == whole.losses);
    REQUIRE(course.norms == whole.norms);
    REQUIRE(course.parameters == whole.parameters);
    REQUIRE(course.evaluated == whole.evaluated);
    REQUIRE(course.calls == courses[0].calls);
  }
}

TEST_CASE("every ZeRO stage makes the same steps, to the bit, and each rank keeps its share") {
  const Course alone = TenSteps(1, InStage(0)).front();
  REQUIRE(alone.norms.front() > kClips);
  const Gpt2Config config = SmallGpt2().config;
  const std::int64_t all = Gpt2Layout(config).total * static_cast<std::int64_t>(sizeof(float));
  for (const std::size_t ranks : {1U, 2U, 3U, 4U}) {
    const std::vector<Course> whole = TenSteps(ranks, InStage(0));
    for (std::int64_t stage = 0; stage < kZeroStages; ++stage) {
      INFO("ranks " << ranks << " stage " << stage);
      const std::vector<Course> divided = TenSteps(ranks, InStage(stage));
      RequireTheSame(divided, whole[0]);
      std::int64_t parameters = 0;
      std::int64_t moments = 0;
      std::int64_t gradients = 0;
      for (const Course& course : divided) {
        parameters += course.parameter_bytes;
        moments += course.moment_bytes;
        gradients += course.gradient_bytes;
      }
      for (std::size_t i = 0; i < alone.losses.size(); ++i) {
        REQUIRE(divided[0].losses[i] == Approx(alone.losses[i]).epsilon(1e-5));
      }
      const auto copies = static_cast<std::int64_t>(ranks);
      REQUIRE(parameters == all * (stage < 3 ? copies : 1));
      REQUIRE(moments == 2 * all * (stage < 1 ? copies : 1));
      REQUIRE(gradients == all * (stage < 2 ? copies : 1));
    }
  }
}

TEST_CASE("the memory that is planned for a rank is what it keeps, and at most takes in a step") {
  const Gpt2Config config = SmallGpt2().config;
  struct Case {
    std::size_t ranks;
    int threads = 1;
  };
  for (const auto& [ranks, threads] : {Case{1}, {2}, {3}, {4}, {1, 2}, {2, 2}}) {
    for (std::int64_t stage = 0; stage < kZeroStages; ++stage) {
      INFO("ranks " << ranks << " stage " << stage << " threads " << threads);
      const Course course = TenSteps(ranks, InStage(stage), EvenPart, threads).front();
      const TrainerMemory memory = EstimateTrainerMemory(
          config, InStage(stage), {.ranks = static_cast<std::int64_t>(ranks), .threads = threads});
      REQUIRE(memory.kept_parameter_bytes == course.parameter_bytes);
      REQUIRE(memory.kept_gradient_bytes == course.gradient_bytes);
      REQUIRE(memory.moment_bytes == course.moment_bytes);
      if (stage != 3 || ranks == 1) continue;
      REQUIRE(memory.parameter_bytes == course.most_parameter_bytes);
      REQUIRE(memory.gradient_bytes == course.most_gradient_bytes);
      REQUIRE(memory.parameter_bytes < 4 * Gpt2Layout(config).total);
    }
  }
}

TEST_CASE("ranks with unequal numbers of slices, or none, make the same steps in every stage") {
  // The first rank has the long sequences, the second one short one, and the others have none.
  const Part uneven = [](std::uint64_t step, std::size_t rank, std::size_t ranks) {
    const WeightedBatch batch = Batch(step);
    if (ranks == 1) return batch;
    WeightedBatch part;
    for (std::size_t s = 0; s < 6; ++s) {
      if ((s == 1 ? 1U : 0U) != rank) continue;
      const auto begin = batch.tokens.starts[s];
      const auto end = batch.tokens.starts[s + 1];
      part.tokens.Append(
          std::span(batch.tokens.ids)
              .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
      part.weights.insert(part.weights.end(), batch.weights.begin() + begin,
                          batch.weights.begin() + end);
    }
    return part;
  };
  struct Case {
    std::size_t ranks;
    int threads = 1;
    runtime::DType precision = runtime::DType::kFloat32;
  };
  for (const Case& one : {Case{.ranks = 2},
                          {.ranks = 4},
                          {.ranks = 2, .threads = 2},
                          {.ranks = 3, .precision = runtime::DType::kBFloat16}}) {
    TrainerOptions options = InStage(0);
    options.precision = one.precision;
    options.slice_tokens = 8;
    const Course alone = TenSteps(1, options, uneven, one.threads).front();
    const Course whole = TenSteps(one.ranks, options, uneven, one.threads).front();
    for (std::int64_t stage = 1; stage < kZeroStages; ++stage) {
      INFO("ranks " << one.ranks << " stage " << stage << " threads " << one.threads);
      options.zero_stage = static_cast<training::ZeroStage>(stage);
      RequireTheSame(TenSteps(one.ranks, options, uneven, one.threads), whole);
    }
    if (one.precision != runtime::DType::kFloat32) continue;
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      REQUIRE(whole.losses[i] == Approx(alone.losses[i]).epsilon(1e-5));
    }
  }
}

// On a GPU sums of one kernel need not have the same order each time.
TEST_CASE("two ranks on any device have the losses of one on the CPU, in every stage") {
  const Course alone = TenSteps(1, InStage(0)).front();
  TrainerOptions options = InStage(0);
  options.device = AnyDevice();
  for (std::int64_t stage = 0; stage < kZeroStages; ++stage) {
    INFO("stage " << stage << " on " << options.device);
    options.zero_stage = static_cast<training::ZeroStage>(stage);
    const std::vector<Course> courses = TenSteps(2, options);
    REQUIRE(courses[0].parameters == courses[1].parameters);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      REQUIRE(courses[0].losses[i] == Approx(alone.losses[i]).epsilon(1e-4));
    }
  }
}

TEST_CASE("stage 3 gathers each unit twice in a step and sums it once, however many slices run") {
  TrainerOptions options = InStage(3);
  const std::size_t units = Gpt2Units(SmallGpt2().config).size();
  for (const std::int64_t slice_tokens : {8, 1000}) {
    options.slice_tokens = slice_tokens;
    // The last norm runs once, so it is gathered once. The loss and the norm are sums, too.
    REQUIRE(TenSteps(2, options).front().calls_of_step == 2 * units - 1 + units + 2);
  }
}

TEST_CASE("the precision, checkpointed blocks and the optimiser change no bit between stages") {
  for (const Kind kind : {Kind::kAdamW, Kind::kSgd, Kind::kLion, Kind::kAdam, Kind::kRmsProp}) {
    TrainerOptions options{.checkpoint_blocks = kind == Kind::kAdam,
                           .optimiser = {.kind = kind, .weight_decay = 0.3}};
    const Course whole = TenSteps(3, options).front();
    options.zero_stage = training::ZeroStage::kParameters;
    RequireTheSame(TenSteps(3, options), whole);
  }
}

TEST_CASE("shares need not be even, nor have parameters of one kind, whatever the optimiser is") {
  for (const Kind kind : {Kind::kAdamW, Kind::kSgd, Kind::kLion, Kind::kAdam, Kind::kRmsProp}) {
    TrainerOptions options{.optimiser = {.kind = kind, .weight_decay = 0.3},
                           .adapter = LoraOptions{.rank = 3}};
    const std::vector<Course> whole = TenSteps(4, options);
    for (const auto stage : {training::ZeroStage::kOptimiser, training::ZeroStage::kGradients}) {
      options.zero_stage = stage;
      for (const Course& course : TenSteps(4, options)) {
        REQUIRE(course.losses == whole[0].losses);
        REQUIRE(course.parameters == whole[0].parameters);
      }
    }
  }
}

TEST_CASE("a checkpoint of any stage and number of ranks goes on with any other") {
  const Course alone = TenSteps(1, InStage(0)).front();
  for (std::int64_t stage = 0; stage < kZeroStages; ++stage) {
    training::Checkpoint checkpoint;
    std::vector<Course> before(2);
    doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
      const auto trainer = LanguageTrainer::Create(SmallGpt2(), InStage(stage), reducer).value();
      SHOAL_RETURN_IF_ERROR(Steps(*trainer, 0, 5, reducer, before[rank]));
      training::Checkpoint files;
      SHOAL_RETURN_IF_ERROR(trainer->Save(files));
      if (rank == 0) checkpoint = files;
      if (rank != 0 && !files.files.empty()) return runtime::Internal("files of rank 1");
      return Steps(*trainer, 5, 10, reducer, before[rank]);
    });
    REQUIRE(checkpoint.files.size() == 2);
    for (const std::size_t ranks : {1U, 2U, 3U}) {
      for (std::int64_t other = 0; other < kZeroStages; ++other) {
        INFO("stage " << stage << " with 2 ranks, then " << other << " with " << ranks);
        std::vector<Course> after(ranks);
        doubles::RunRanks(ranks, [&](std::size_t rank, collectives::GradientReducer& reducer) {
          const auto trainer =
              LanguageTrainer::Create(SmallGpt2(), InStage(other), reducer).value();
          SHOAL_RETURN_IF_ERROR(trainer->Restore(checkpoint));
          return Steps(*trainer, 5, 10, reducer, after[rank]);
        });
        for (std::size_t i = 0; i < 5; ++i) {
          REQUIRE(after[0].losses[i] == Approx(alone.losses[5 + i]).epsilon(1e-5));
          REQUIRE(after[ranks - 1].parameters[i] == after[0].parameters[i]);
          if (ranks == 2) REQUIRE(after[0].parameters[i] == before[0].parameters[5 + i]);
        }
      }
    }
  }
}

TEST_CASE("a gradient that is not finite in one share ends the step of all ranks with the mark") {
  Gpt2Parameters huge = SmallGpt2();
  for (float& x : huge.flat) x *= 1e30F;
  for (std::int64_t stage = 0; stage < kZeroStages; ++stage) {
    doubles::RunRanks(3, [&](std::size_t rank, collectives::GradientReducer& reducer) {
      const auto trainer = LanguageTrainer::Create(huge, InStage(stage), reducer).value();
      const absl::Status end = trainer->Step(Share(Batch(1), rank, 3), 1e-3).status();
      if (!collectives::IsShared(end))
        return runtime::Internal("no shared failure: " + end.ToString());
      return trainer->Parameters().value().flat == huge.flat
                 ? reducer.Barrier()
                 : runtime::Internal("parameters changed");
    });
  }
}

TEST_CASE("a trainer's memory is known from its options") {
  const Gpt2Config config = SmallGpt2().config;
  const std::int64_t total = Gpt2Layout(config).total;
  const TrainerMemory plain = EstimateTrainerMemory(config, {}, {.ranks = 4, .threads = 2});
  REQUIRE(plain.parameters == total);
  REQUIRE(plain.parameter_bytes == 4 * total);
  REQUIRE(plain.gradient_bytes == 2 * 4 * total);
  REQUIRE(plain.kept_gradient_bytes == plain.gradient_bytes);
  REQUIRE(plain.moment_bytes == 2 * 4 * total);
  const TrainerMemory divided = EstimateTrainerMemory(config, InStage(2), {.ranks = 4});
  REQUIRE(divided.gradient_bytes == 4 * total);
  REQUIRE(divided.kept_gradient_bytes >= total);
  REQUIRE(divided.kept_gradient_bytes < total + 4 * 5);
  REQUIRE(divided.moment_bytes == 2 * divided.kept_gradient_bytes);
  // Both embeddings, one of the equal blocks, and the last norm.
  const std::vector<std::int64_t> units = Gpt2Units(config);
  REQUIRE(units[1] == units[3]);
  const TrainerMemory by_unit = EstimateTrainerMemory(config, InStage(3), {.ranks = 4});
  REQUIRE(by_unit.parameters == total);
  REQUIRE(by_unit.kept_parameter_bytes == divided.kept_gradient_bytes);
  REQUIRE(by_unit.kept_gradient_bytes == divided.kept_gradient_bytes);
  REQUIRE(by_unit.parameter_bytes == by_unit.kept_parameter_bytes + 4 * units[1]);
  REQUIRE(by_unit.gradient_bytes == by_unit.kept_gradient_bytes + 4 * (units[0] + units[1]));
  REQUIRE(EstimateTrainerMemory(config, InStage(3), {}).parameter_bytes == 4 * total);
  const TrainerMemory adapter =
      EstimateTrainerMemory(config, {.adapter = LoraOptions{.rank = 4}}, {});
  REQUIRE(adapter.trained == LoraLayout(config, LoraOptions{.rank = 4}).total);
  REQUIRE(adapter.parameter_bytes == 4 * (total + adapter.trained));
  REQUIRE(adapter.moment_bytes == 2 * 4 * adapter.trained);
  const TrainerMemory rounded =
      EstimateTrainerMemory(config, {.precision = runtime::DType::kBFloat16}, {});
  REQUIRE(rounded.parameter_bytes > plain.parameter_bytes);
  REQUIRE(rounded.parameter_bytes < 2 * plain.parameter_bytes);
}

TEST_CASE("a step takes at most about what is planned, activations and the loss included") {
  at::set_num_threads(1);
  const Gpt2Config config{.vocabulary_size = 500,
                          .positions = 64,
                          .width = 64,
                          .layers = 6,
                          .heads = 4,
                          .begin_token = -1,
                          .end_token = 0};
  constexpr std::size_t kSequences = 16;
  WeightedBatch batch;
  for (std::uint64_t i = 0; i < kSequences; ++i) batch.tokens.Append(SomeIds(64, i));
  collectives::SingleRank alone;
  for (const bool checkpointed : {false, true}) {
    for (const auto precision : {runtime::DType::kFloat32, runtime::DType::kBFloat16}) {
      const TrainerOptions options{.precision = precision, .checkpoint_blocks = checkpointed};
      const TrainerMemory memory =
          EstimateTrainerMemory(config, options, {.batch_tokens = 64 * kSequences});
      const auto meter = std::make_shared<model::MemoryMeter>();
      const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, meter);
      const auto trainer =
          LanguageTrainer::Create(InitialGpt2(config, 1).value(), options, alone).value();
      REQUIRE(trainer->Step(batch, 1e-3).ok());
      const double ratio =
          static_cast<double>(memory.device_bytes()) / static_cast<double>(meter->peak());
      INFO("checkpointed " << checkpointed << ", " << memory.activation_bytes << " of activations, "
                           << meter->peak() << " in all, ratio " << ratio);
      REQUIRE(ratio > 0.85);
      REQUIRE(ratio < 1.2);
    }
  }
}

TEST_CASE("an adapter's model is not divided") {
  collectives::SingleRank alone;
  const auto refused = LanguageTrainer::Create(
      SmallGpt2(),
      {.zero_stage = training::ZeroStage::kParameters, .adapter = LoraOptions{.rank = 2}}, alone);
  REQUIRE(absl::IsInvalidArgument(refused.status()));
}

}  // namespace
}  // namespace shoal::language
