// SPDX-License-Identifier: Apache-2.0
// Language models whose ranks sum gradients while the backward pass runs.
#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "rl/collectives/measured_reducer.h"
#include "rl/collectives/overlapped_sums.h"
#include "tests/doubles/ranks.h"
#include "tests/text/language/any_device.h"
#include "tests/text/language/small_batches.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/batch_pass.h"
#include "text/language/gpt2_layout.h"
#include "text/language/language_trainer.h"

namespace shoal::language {
namespace {

constexpr std::uint64_t kOverlappedSteps = 10;

// What a rank has after its steps.
struct OverlappedCourse {
  std::vector<double> losses;
  std::vector<double> norms;
  std::vector<float> parameters;
  double overlapped_seconds = 0;
};

struct OverlapSetting {
  std::size_t ranks = 1;
  TrainerOptions options = {};
  int threads = 1;
  // Whether the first rank has the long texts, the second one a short one, and the others none.
  bool uneven = false;
};

WeightedBatch PartOfRank(const OverlapSetting& setting, std::uint64_t step, std::size_t rank) {
  const WeightedBatch batch = Batch(step);
  // Ranks of a tensor-parallel group train on the same batch.
  if (setting.options.tensor_parallel > 1) return batch;
  if (!setting.uneven) return Share(batch, rank, setting.ranks);
  if (rank == 1) return Share(batch, 0, 6);
  WeightedBatch part;
  for (std::size_t s = 1; rank == 0 && s < 6; ++s) {
    const WeightedBatch one = Share(batch, s, 6);
    part.tokens.Append(one.tokens.ids);
    part.weights.insert(part.weights.end(), one.weights.begin(), one.weights.end());
  }
  return part;
}

std::vector<OverlappedCourse> TrainRanksBy(const OverlapSetting& setting, bool overlaps) {
  std::vector<OverlappedCourse> courses(setting.ranks);
  const auto ends = doubles::TryRanks(
      setting.ranks,
      [&](std::size_t rank, collectives::GradientReducer& reducer) -> absl::Status {
        at::set_num_threads(setting.threads);
        TrainerOptions options = setting.options;
        options.overlap_sums = overlaps;
        // A reducer that is measured belongs to the one that measures it.
        SHOAL_ASSIGN_OR_RETURN(auto all_ranks, reducer.Split(0));
        collectives::MeasuredReducer measured(std::move(all_ranks), nullptr,
                                              doubles::kPatientGroup.call_timeout);
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               LanguageTrainer::Create(SmallGpt2(), options, measured));
        OverlappedCourse& course = courses[rank];
        for (std::uint64_t step = 0; step < kOverlappedSteps; ++step) {
          SHOAL_ASSIGN_OR_RETURN(const StepReport report,
                                 trainer->Step(PartOfRank(setting, step, rank), 1e-3));
          course.losses.push_back(report.loss.loss);
          course.norms.push_back(report.gradient_norm);
          course.overlapped_seconds += report.overlapped_seconds;
        }
        SHOAL_ASSIGN_OR_RETURN(const Gpt2Parameters parameters, trainer->Parameters());
        course.parameters = parameters.flat;
        return absl::OkStatus();
      },
      doubles::PatientGroup(1));
  for (std::size_t rank = 0; rank < setting.ranks; ++rank) {
    INFO("rank " << rank << ": " << ends[rank]);
    REQUIRE(ends[rank].ok());
  }
  return courses;
}

// Every gradient of these batches is above what they are clipped to.
TrainerOptions SlicedOptions(training::ZeroStage stage = training::ZeroStage::kNone) {
  return {.slice_tokens = 16, .max_gradient_norm = 0.5, .zero_stage = stage};
}

void RequireNoBitChanges(const OverlapSetting& setting) {
  INFO("ranks " << setting.ranks << " threads " << setting.threads << " uneven " << setting.uneven);
  const std::vector<OverlappedCourse> apart = TrainRanksBy(setting, false);
  for (const OverlappedCourse& course : TrainRanksBy(setting, true)) {
    REQUIRE(course.losses == apart[0].losses);
    REQUIRE(course.norms == apart[0].norms);
    REQUIRE(course.parameters == apart[0].parameters);
  }
  for (const OverlappedCourse& course : apart) REQUIRE(course.overlapped_seconds == 0);
}

TEST_CASE("1, 2 and 4 ranks make the same steps with sums in the backward pass as after it") {
  const std::vector<double> alone = TrainRanksBy({.options = SlicedOptions()}, true)[0].losses;
  for (const std::size_t ranks : {1U, 2U, 4U}) {
    for (const auto stage : {training::ZeroStage::kNone, training::ZeroStage::kOptimiser,
                             training::ZeroStage::kGradients}) {
      const OverlapSetting setting{.ranks = ranks, .options = SlicedOptions(stage)};
      RequireNoBitChanges(setting);
      const std::vector<double> losses = TrainRanksBy(setting, true)[0].losses;
      for (std::uint64_t step = 0; step < kOverlappedSteps; ++step) {
        REQUIRE(losses[step] == Approx(alone[step]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("sums in the backward pass leave the losses of one rank on the CPU, on any device") {
  const std::vector<double> alone = TrainRanksBy({.options = SlicedOptions()}, true)[0].losses;
  OverlapSetting setting{.ranks = 2, .options = SlicedOptions()};
  setting.options.device = AnyDevice();
  const std::vector<OverlappedCourse> courses = TrainRanksBy(setting, true);
  REQUIRE(courses[0].parameters == courses[1].parameters);
  for (std::uint64_t step = 0; step < kOverlappedSteps; ++step) {
    REQUIRE(courses[0].losses[step] == Approx(alone[step]).epsilon(1e-4));
  }
}

TEST_CASE("neither uneven parts, threads, precision, checkpointed blocks nor compression matter") {
  for (const int threads : {1, 2}) {
    OverlapSetting setting{
        .ranks = 4, .options = SlicedOptions(), .threads = threads, .uneven = true};
    RequireNoBitChanges(setting);
    setting.options.precision = runtime::DType::kBFloat16;
    RequireNoBitChanges(setting);
    setting.options.checkpoint_blocks = true;
    setting.options.compress_gradients = true;
    RequireNoBitChanges(setting);
  }
}

TEST_CASE("an adapter, stage 3 and tensor parallelism sum after the backward pass") {
  TrainerOptions adapter = SlicedOptions();
  adapter.adapter = LoraOptions{.rank = 2};
  TrainerOptions divided = SlicedOptions(training::ZeroStage::kParameters);
  TrainerOptions parallel = SlicedOptions();
  parallel.tensor_parallel = 2;
  for (const TrainerOptions& options : {adapter, divided, parallel}) {
    for (const OverlappedCourse& course : TrainRanksBy({.ranks = 2, .options = options}, true)) {
      REQUIRE(course.overlapped_seconds == 0);
    }
  }
}

TEST_CASE("a unit is complete while the backward pass still runs through those before it") {
  at::set_num_threads(1);
  const Gpt2Parameters model = SmallGpt2();
  const std::vector<std::int64_t> sizes = Gpt2Units(model.config);
  for (const bool checkpoint : {false, true}) {
    for (const auto compute : {at::kFloat, at::kBFloat16}) {
      std::vector<at::Tensor> parameters;
      std::vector<at::Tensor> gradients;
      std::int64_t offset = 0;
      for (const std::int64_t size : sizes) {
        parameters.push_back(at::zeros({size}));
        std::copy_n(model.flat.data() + offset, size, parameters.back().data_ptr<float>());
        gradients.push_back(at::zeros({size}));
        offset += size;
      }
      BatchPass::Networks networks;
      networks.push_back(std::make_unique<Gpt2Network>(
          model.config, parameters, gradients,
          NetworkOptions{.compute = compute, .checkpoint = checkpoint}));
      const BatchPass pass(networks, {.compute = compute, .slice_tokens = 1000});
      std::vector<at::Tensor> complete(sizes.size());
      std::vector<bool> earlier_are_there;
      {
        collectives::OverlappedSums sums(
            sizes.size(), 1,
            {.collect =
                 [&](std::size_t unit) {
                   complete[unit] = gradients[unit].clone();
                   if (unit > 1) {
                     earlier_are_there.push_back(gradients[unit - 1].count_nonzero().item<bool>());
                   }
                 },
             .sum = [](std::size_t) { return absl::OkStatus(); }});
        REQUIRE(pass.threads(Batch(1)) == 1);
        pass.SliceBySlice(Batch(1), sums);
        REQUIRE(sums.Finish().ok());
      }
      REQUIRE(earlier_are_there == std::vector<bool>(sizes.size() - 2, false));
      for (std::size_t unit = 0; unit < sizes.size(); ++unit) {
        REQUIRE(gradients[unit].count_nonzero().item<bool>());
        REQUIRE(complete[unit].equal(gradients[unit]));
      }
    }
  }
}

// Makes a step as rank 0 of two, and returns its error. The other rank does something else.
absl::Status StepBeside(
    const std::function<void(collectives::GradientReducer& reducer, std::future<void> over)>& other,
    const collectives::GroupOptions& group) {
  std::promise<void> over;
  return doubles::TryRanks(
      2,
      [&](std::size_t rank, collectives::GradientReducer& reducer) -> absl::Status {
        if (rank == 1) {
          other(reducer, over.get_future());
          return absl::OkStatus();
        }
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               LanguageTrainer::Create(SmallGpt2(), SlicedOptions(), reducer));
        const absl::Status end = trainer->Step(Batch(1), 1e-3).status();
        over.set_value();
        return end;
      },
      group)[0];
}

TEST_CASE("a rank that fails alone in a step ends that of the others with its reason") {
  const absl::Status end =
      StepBeside([](auto& reducer, auto) { reducer.Abort(runtime::Internal("out of texts")); },
                 doubles::PatientGroup(1));
  INFO(end);
  REQUIRE(absl::IsAborted(end));
  REQUIRE(doubles::Mentions(end, "rank 1"));
  REQUIRE(doubles::Mentions(end, "out of texts"));
}

TEST_CASE("a rank that does not come to the first sum of a step is late, by its name") {
  const absl::Status end = StepBeside([](auto&, auto over) { over.wait(); },
                                      doubles::Within(std::chrono::milliseconds(100), 1));
  INFO(end);
  REQUIRE(absl::IsDeadlineExceeded(end));
  REQUIRE(doubles::Mentions(end, "rank 1"));
}

TEST_CASE("what the backward pass hides of the sums is told") {
  double hidden = 0;
  for (const OverlappedCourse& course :
       TrainRanksBy({.ranks = 2, .options = SlicedOptions()}, true)) {
    hidden += course.overlapped_seconds;
  }
  REQUIRE(hidden > 0);
}

}  // namespace
}  // namespace shoal::language
