// SPDX-License-Identifier: Apache-2.0
// Tensor-parallel ranks against one process that has the whole model.
#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <string>

#include "tests/doubles/ranks.h"
#include "tests/text/language/any_device.h"
#include "tests/text/language/small_batches.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2_layout.h"
#include "text/language/gpt2_network.h"
#include "text/language/language_trainer.h"
#include "text/language/rank_place.h"
#include "text/language/tensor_shards.h"
#include "text/language/trainer_memory.h"

namespace shoal::language {
namespace {

using collectives::GradientReducer;
using Kind = training::OptimiserOptions::Kind;

// Every gradient of these batches is above it, so that each step is clipped.
constexpr double kClips = 0.5;

// The parameters are those of the model with two heads, which are read otherwise.
Gpt2Parameters FourHeads() {
  Gpt2Parameters parameters = SmallGpt2();
  parameters.config.heads = 4;
  return parameters;
}

struct Ranks {
  std::size_t all = 1;
  std::int64_t tensor = 1;
};

// SGD, since with AdamW a gradient that is nothing but rounding makes as long a step as any other.
TrainerOptions Divided(const Ranks& ranks, Kind kind = Kind::kSgd) {
  return {.max_gradient_norm = kClips,
          .optimiser = {.kind = kind, .weight_decay = 0.1},
          .tensor_parallel = ranks.tensor};
}

double RateOf(const TrainerOptions& options) {
  return options.optimiser.kind == Kind::kSgd ? 0.1 : 1e-3;
}

// What a rank sees of a run.
struct Course {
  std::vector<double> losses;
  std::vector<double> norms;
  // Loss and accuracy after the last step.
  std::vector<double> evaluated;
  Gpt2Parameters end;
  std::int64_t parameter_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t moment_bytes = 0;
};

// Returns one of so many parts of the batch of a step.
using Part = std::function<WeightedBatch(std::uint64_t step, std::size_t part, std::size_t parts)>;

WeightedBatch EvenPart(std::uint64_t step, std::size_t part, std::size_t parts) {
  return Share(Batch(step), part, parts);
}

absl::Status Steps(LanguageTrainer& trainer, std::uint64_t first, std::uint64_t last,
                   const RankPlace& place, double rate, Course& course,
                   const Part& part = EvenPart) {
  const auto own = [&](std::uint64_t step) {
    return part(step, static_cast<std::size_t>(place.data_rank),
                static_cast<std::size_t>(place.data_ranks));
  };
  for (std::uint64_t step = first; step < last; ++step) {
    SHOAL_ASSIGN_OR_RETURN(const StepReport report, trainer.Step(own(step), rate));
    course.losses.push_back(report.loss.loss);
    course.norms.push_back(report.gradient_norm);
  }
  course.parameter_bytes = trainer.parameter_bytes();
  course.gradient_bytes = trainer.gradient_bytes();
  course.moment_bytes = trainer.moment_bytes();
  SHOAL_ASSIGN_OR_RETURN(course.end, trainer.Parameters());
  SHOAL_ASSIGN_OR_RETURN(const LossReport report, trainer.Evaluate(own(last)));
  course.evaluated = {report.loss, report.accuracy};
  return absl::OkStatus();
}

std::vector<Course> TenSteps(const Ranks& ranks, const TrainerOptions& options,
                             const Part& part = EvenPart, int threads = 1) {
  std::vector<Course> courses(ranks.all);
  doubles::RunRanks(ranks.all, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    at::set_num_threads(threads);
    SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                           LanguageTrainer::Create(FourHeads(), options, reducer));
    return Steps(*trainer, 0, 10, PlaceOf(reducer.rank(), reducer.world_size(), ranks.tensor),
                 RateOf(options), courses[rank], part);
  });
  return courses;
}

void RequireTheSameBits(const std::vector<Course>& courses, const Course& expected) {
  for (const Course& course : courses) {
    REQUIRE(course.losses == expected.losses);
    REQUIRE(course.norms == expected.norms);
    REQUIRE(course.evaluated == expected.evaluated);
    REQUIRE(course.end.flat == expected.end.flat);
  }
}

void RequireClose(const Course& course, const Course& alone) {
  REQUIRE(course.losses.size() == alone.losses.size());
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    REQUIRE(course.losses[i] == Approx(alone.losses[i]).epsilon(1e-5));
    REQUIRE(course.norms[i] == Approx(alone.norms[i]).epsilon(1e-5));
  }
  REQUIRE(course.evaluated[0] == Approx(alone.evaluated[0]).epsilon(1e-5));
  REQUIRE(LargestDifference(course.end, alone.end) < 1e-5);
}

constexpr std::array<Ranks, 4> kGrids = {{{2, 2}, {4, 2}, {4, 4}, {6, 2}}};

}  // namespace

TEST_CASE(
    "tensor-parallel ranks make the steps of one process, alone and beside data parallelism") {
  const Course alone = TenSteps({}, Divided({})).front();
  REQUIRE(alone.norms.front() > kClips);
  REQUIRE(LargestDifference(alone.end, FourHeads()) > 1e-3);
  for (const Ranks& ranks : kGrids) {
    INFO(ranks.all << " ranks, of which " << ranks.tensor << " divide the model");
    const std::vector<Course> courses = TenSteps(ranks, Divided(ranks));
    RequireTheSameBits(courses, courses[0]);
    RequireClose(courses[0], alone);
  }
}

TEST_CASE("tensor-parallel ranks on any device have the losses of one process on the CPU") {
  const Course alone = TenSteps({}, Divided({})).front();
  const Ranks ranks{.all = 2, .tensor = 2};
  TrainerOptions options = Divided(ranks);
  options.device = AnyDevice();
  INFO(options.device);
  const std::vector<Course> courses = TenSteps(ranks, options);
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    REQUIRE(courses[0].losses[i] == Approx(alone.losses[i]).epsilon(1e-4));
    REQUIRE(courses[1].losses[i] == Approx(alone.losses[i]).epsilon(1e-4));
  }
}

TEST_CASE(
    "tensor-parallel ranks keep the losses of one process with AdamW, and checkpoint blocks") {
  for (const bool checkpoint_blocks : {false, true}) {
    TrainerOptions options = Divided({}, Kind::kAdamW);
    const Course alone = TenSteps({}, options).front();
    options.tensor_parallel = 2;
    options.checkpoint_blocks = checkpoint_blocks;
    const std::vector<Course> courses = TenSteps({.all = 4, .tensor = 2}, options);
    RequireTheSameBits(courses, courses[0]);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      REQUIRE(courses[0].losses[i] == Approx(alone.losses[i]).epsilon(1e-5));
      REQUIRE(courses[0].norms[i] == Approx(alone.norms[i]).epsilon(1e-4));
    }
    REQUIRE(LargestDifference(courses[0].end, alone.end) < 1e-4);
  }
}

TEST_CASE("ranks with the same part of the model divide it further by the stages of ZeRO") {
  const Ranks ranks{.all = 4, .tensor = 2};
  for (const Kind kind : {Kind::kSgd, Kind::kAdamW}) {
    TrainerOptions options = Divided(ranks, kind);
    const Course whole = TenSteps(ranks, options).front();
    for (std::int64_t stage = 1; stage < 4; ++stage) {
      INFO("stage " << stage);
      options.zero_stage = static_cast<training::ZeroStage>(stage);
      RequireTheSameBits(TenSteps(ranks, options), whole);
    }
  }
}

TEST_CASE(
    "groups with unequal numbers of slices, or none, and several threads make the same steps") {
  // The first group has the long sequences, the second one short one, and the third none.
  const Part uneven = [](std::uint64_t step, std::size_t part, std::size_t parts) {
    const WeightedBatch batch = Batch(step);
    if (parts == 1) return batch;
    WeightedBatch own;
    for (std::size_t s = 0; s < 6; ++s) {
      if ((s == 1 ? 1U : 0U) != part) continue;
      const WeightedBatch one = Share(batch, s, 6);
      own.tokens.Append(one.tokens.ids);
      own.weights.insert(own.weights.end(), one.weights.begin(), one.weights.end());
    }
    return own;
  };
  TrainerOptions options = Divided({});
  options.slice_tokens = 8;
  const Course alone = TenSteps({}, options, uneven).front();
  options.tensor_parallel = 2;
  for (const std::int64_t stage : {0, 3}) {
    options.zero_stage = static_cast<training::ZeroStage>(stage);
    for (const int threads : {1, 2}) {
      const auto courses = TenSteps({.all = 6, .tensor = 2}, options, uneven, threads);
      RequireTheSameBits(courses, courses[0]);
      RequireClose(courses[0], alone);
    }
  }
}

TEST_CASE("in bfloat16 tensor-parallel ranks agree with one process as far as its digits go") {
  TrainerOptions options = Divided({});
  options.precision = runtime::DType::kBFloat16;
  const Course alone = TenSteps({}, options).front();
  options.tensor_parallel = 2;
  const std::vector<Course> courses = TenSteps({.all = 2, .tensor = 2}, options);
  RequireTheSameBits(courses, courses[0]);
  for (std::size_t i = 0; i < alone.losses.size(); ++i) {
    REQUIRE(courses[0].losses[i] == Approx(alone.losses[i]).epsilon(0.01));
  }
}

TEST_CASE("a checkpoint of any tensor parallelism and stage goes on with any other") {
  struct Case {
    Ranks ranks;
    std::int64_t stage = 0;
  };
  const std::array<Case, 4> cases = {{{{1, 1}, 0}, {{2, 2}, 0}, {{4, 2}, 3}, {{4, 4}, 0}}};
  for (const Kind kind : {Kind::kSgd, Kind::kAdamW}) {
    const Course alone = TenSteps({}, Divided({}, kind)).front();
    for (const Case& before : cases) {
      TrainerOptions options = Divided(before.ranks, kind);
      options.zero_stage = static_cast<training::ZeroStage>(before.stage);
      training::Checkpoint checkpoint;
      std::vector<Course> through(before.ranks.all);
      doubles::RunRanks(
          before.ranks.all, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
            SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                                   LanguageTrainer::Create(FourHeads(), options, reducer));
            const RankPlace place =
                PlaceOf(reducer.rank(), reducer.world_size(), before.ranks.tensor);
            SHOAL_RETURN_IF_ERROR(Steps(*trainer, 0, 5, place, RateOf(options), through[rank]));
            training::Checkpoint files;
            SHOAL_RETURN_IF_ERROR(trainer->Save(files));
            if (rank == 0) checkpoint = files;
            if (rank != 0 && !files.files.empty()) return runtime::Internal("files of a rank");
            return Steps(*trainer, 5, 10, place, RateOf(options), through[rank]);
          });
      REQUIRE(checkpoint.files.size() == 2);
      for (const Case& after : cases) {
        INFO(before.ranks.tensor << " before, then " << after.ranks.tensor);
        TrainerOptions other = Divided(after.ranks, kind);
        other.zero_stage = static_cast<training::ZeroStage>(after.stage);
        std::vector<Course> courses(after.ranks.all);
        doubles::RunRanks(
            after.ranks.all, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
              SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                                     LanguageTrainer::Create(FourHeads(), other, reducer));
              SHOAL_RETURN_IF_ERROR(trainer->Restore(checkpoint));
              return Steps(*trainer, 5, 10,
                           PlaceOf(reducer.rank(), reducer.world_size(), after.ranks.tensor),
                           RateOf(other), courses[rank]);
            });
        RequireTheSameBits(courses, courses[0]);
        for (std::size_t i = 0; i < 5; ++i) {
          REQUIRE(courses[0].losses[i] == Approx(alone.losses[5 + i]).epsilon(1e-5));
        }
        if (kind == Kind::kSgd) REQUIRE(LargestDifference(courses[0].end, alone.end) < 1e-5);
        // The same ranks go on with the same bits as if nothing had been saved.
        if (&before == &after) REQUIRE(courses[0].end.flat == through[0].end.flat);
      }
    }
  }
}

TEST_CASE("only rank 0 gets the model where it alone receives, and gets it whole") {
  std::vector<std::size_t> sizes(4);
  doubles::RunRanks(4, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                           LanguageTrainer::Create(FourHeads(), Divided({4, 2}), reducer));
    SHOAL_ASSIGN_OR_RETURN(const Gpt2Parameters found,
                           trainer->Parameters(training::Receivers::kRankZero));
    sizes[rank] = found.flat.size();
    return rank != 0 || found.flat == FourHeads().flat ? absl::OkStatus()
                                                       : runtime::Internal("another model");
  });
  REQUIRE(sizes == std::vector<std::size_t>{FourHeads().flat.size(), 0, 0, 0});
}

TEST_CASE("the memory that is planned for a tensor-parallel rank is what it keeps") {
  const Gpt2Config config = FourHeads().config;
  const TrainerMemory whole = EstimateTrainerMemory(config, Divided({}), {});
  for (const Ranks& ranks : kGrids) {
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      for (const int threads : {1, 2}) {
        INFO("ranks " << ranks.all << " tensor " << ranks.tensor << " stage " << stage);
        TrainerOptions options = Divided(ranks, Kind::kAdamW);
        options.zero_stage = static_cast<training::ZeroStage>(stage);
        const Course course = TenSteps(ranks, options, EvenPart, threads).front();
        const TrainerMemory memory = EstimateTrainerMemory(
            config, options, {.ranks = static_cast<std::int64_t>(ranks.all), .threads = threads});
        REQUIRE(memory.kept_parameter_bytes == course.parameter_bytes);
        REQUIRE(memory.kept_gradient_bytes == course.gradient_bytes);
        REQUIRE(memory.moment_bytes == course.moment_bytes);
        REQUIRE(memory.parameters == whole.parameters);
        REQUIRE(memory.trained == whole.trained);
        REQUIRE(memory.kept_parameter_bytes < whole.parameter_bytes);
      }
    }
  }
}

TEST_CASE("what does not divide the heads or the ranks is refused with both numbers") {
  const auto refusal = [](const TrainerOptions& options, std::int64_t ranks) {
    const absl::Status status = options.ValidateFor(FourHeads().config, ranks);
    REQUIRE(absl::IsInvalidArgument(status));
    return runtime::Message(status);
  };
  REQUIRE(refusal({.tensor_parallel = 3}, 3) ==
          "tensor parallelism of 3 ranks does not divide the model's 4 heads evenly");
  REQUIRE(refusal({.tensor_parallel = 8}, 8) ==
          "tensor parallelism of 8 ranks does not divide the model's 4 heads evenly");
  REQUIRE(refusal({.tensor_parallel = 2}, 3) ==
          "tensor parallelism of 2 ranks needs a multiple of so many, but there are 3");
  REQUIRE(refusal({.tensor_parallel = 0}, 1).find("less than 1") != std::string::npos);
  REQUIRE(refusal({.tensor_parallel = 2, .adapter = LoraOptions{.rank = 2}}, 2).find("adapter") !=
          std::string::npos);
  collectives::SingleRank alone;
  REQUIRE(absl::IsInvalidArgument(
      LanguageTrainer::Create(FourHeads(), {.tensor_parallel = 2}, alone).status()));
}

TEST_CASE("a rank that is lost within a step ends the step of its group, which names the ranks") {
  const auto ends =
      doubles::TryRanks(4, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               LanguageTrainer::Create(FourHeads(), Divided({4, 2}), reducer));
        if (rank == 3) return absl::OkStatus();
        return trainer->Step(EvenPart(0, rank / 2, 2), 0.1).status();
      });
  REQUIRE(absl::IsUnavailable(ends[2]));
  REQUIRE(runtime::Message(ends[2]) ==
          "in the group of ranks 2, 3, counted from 0: rank 1 was lost: it closed the connection");
  // Rank 1 has the same part of the model as rank 3, and rank 0 the same as rank 2, which ended.
  REQUIRE(absl::IsUnavailable(ends[1]));
  REQUIRE(absl::IsUnavailable(ends[0]));
}

TEST_CASE("a rank that fails alone tells the ranks that it meets why") {
  const auto ends =
      doubles::TryRanks(2, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
        SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                               LanguageTrainer::Create(FourHeads(), Divided({2, 2}), reducer));
        if (rank == 0) return trainer->Step(EvenPart(0, 0, 1), 0.1).status();
        trainer->Abort(runtime::Internal("the disk is full"));
        return reducer.Barrier();
      });
  REQUIRE(absl::IsAborted(ends[0]));
  REQUIRE(runtime::Message(ends[0]).find("the disk is full") != std::string::npos);
}

TEST_CASE("a gradient that is not finite ends the step of all ranks with the mark") {
  Gpt2Parameters huge = FourHeads();
  for (float& x : huge.flat) x *= 1e30F;
  doubles::RunRanks(4, [&](std::size_t rank, GradientReducer& reducer) -> absl::Status {
    SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                           LanguageTrainer::Create(huge, Divided({4, 2}), reducer));
    const absl::Status end = trainer->Step(EvenPart(1, rank / 2, 2), 1e-3).status();
    if (!collectives::IsShared(end)) return runtime::Internal("not shared: " + end.ToString());
    SHOAL_ASSIGN_OR_RETURN(const Gpt2Parameters found, trainer->Parameters());
    return found.flat == huge.flat ? absl::OkStatus() : runtime::Internal("parameters changed");
  });
}

TEST_CASE("a block sums twice in its forward pass and twice in its backward pass") {
  const Gpt2Config config = FourHeads().config;
  const TensorShards shards(config, 2);
  const std::vector<float> own = shards.ShardOf(FourHeads().flat, 1);
  const at::Tensor flat = at::tensor(own);
  int sums = 0;
  const Gpt2Network network(config, flat, at::zeros_like(flat),
                            {.tensor_ranks = 2, .tensor_sum = [&](const at::Tensor&) { ++sums; }});
  const PackedTokens tokens(Batch(1).tokens, at::kCPU);
  const at::Tensor hidden = network.RunBlocks(network.Embed(tokens), tokens);
  REQUIRE(sums == 2 * config.layers);
  hidden.sum().backward();
  REQUIRE(sums == 4 * config.layers);
}

TEST_CASE("each rank has its heads of queries, keys and values, and its rows of what follows") {
  const Gpt2Config config = FourHeads().config;
  const model::ParameterLayout layout = Gpt2Layout(config);
  const TensorShards shards(config, 2);
  // Each number says where it is in the whole model.
  std::vector<float> whole(static_cast<std::size_t>(layout.total));
  std::iota(whole.begin(), whole.end(), 0.0F);
  const std::vector<float> own = shards.ShardOf(whole, 1);
  REQUIRE(static_cast<std::int64_t>(own.size()) == Gpt2Layout(config, 2).total);
  const auto element = [&](const std::string& name, std::int64_t row, std::int64_t column) {
    const auto* const info = shards.shard().Find("transformer.h.1." + name);
    return own[static_cast<std::size_t>(info->offset + row * info->shape.back() + column)];
  };
  const auto place = [&](const std::string& name, std::int64_t row, std::int64_t column) {
    const auto* const info = layout.Find("transformer.h.1." + name);
    return static_cast<float>(info->offset + row * info->shape.back() + column);
  };
  // Of 16 columns of queries, 16 of keys and 16 of values, rank 1 has the last eight of each.
  for (std::int64_t which = 0; which < 3; ++which) {
    for (const std::int64_t row : {0, 5, 15}) {
      for (const std::int64_t column : {0, 7}) {
        REQUIRE(element("attn.c_attn.weight", row, 8 * which + column) ==
                place("attn.c_attn.weight", row, 16 * which + 8 + column));
      }
    }
    REQUIRE(element("attn.c_attn.bias", 0, 8 * which + 3) ==
            place("attn.c_attn.bias", 0, 16 * which + 8 + 3));
  }
  REQUIRE(element("attn.c_proj.weight", 2, 9) == place("attn.c_proj.weight", 8 + 2, 9));
  REQUIRE(element("mlp.c_fc.weight", 3, 31) == place("mlp.c_fc.weight", 3, 32 + 31));
  REQUIRE(element("mlp.c_fc.bias", 0, 5) == place("mlp.c_fc.bias", 0, 32 + 5));
  REQUIRE(element("mlp.c_proj.weight", 4, 15) == place("mlp.c_proj.weight", 32 + 4, 15));
  for (const char* const name :
       {"ln_1.weight", "ln_2.bias", "attn.c_proj.bias", "mlp.c_proj.bias"}) {
    REQUIRE(element(name, 0, 11) == place(name, 0, 11));
  }
}

TEST_CASE("the parts of all ranks make the whole again, whatever their number is") {
  const Gpt2Parameters parameters = FourHeads();
  for (const std::int64_t ranks : {1, 2, 4}) {
    const TensorShards shards(parameters.config, ranks);
    std::vector<float> whole(parameters.flat.size());
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::vector<float> own = shards.ShardOf(parameters.flat, rank);
      for (std::size_t i = 0; i < shards.shard().parameters.size(); ++i) {
        const auto& info = shards.shard().parameters[i];
        shards.Place(i, rank,
                     std::span(own).subspan(static_cast<std::size_t>(info.offset),
                                            static_cast<std::size_t>(info.size)),
                     whole);
      }
    }
    REQUIRE(whole == parameters.flat);
  }
}

}  // namespace shoal::language
