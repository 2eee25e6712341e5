// SPDX-License-Identifier: Apache-2.0
#include "rl/training/zero_optimiser.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <vector>

#include "tests/doubles/ranks.h"

namespace shoal::training {
namespace {

constexpr std::int64_t kSize = 11;

std::vector<float> ValuesOf(const at::Tensor& tensor) {
  const float* const begin = tensor.data_ptr<float>();
  return {begin, begin + tensor.numel()};
}

// Eleven parameters, of which the middle three have no weight decay and the last one does not
// change, with the gradients of two threads.
ZeroOptimiser::Arrays SomeArrays() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kSize; ++i) values.push_back(1.0F / static_cast<float>(i + 2));
  return {.parameters = at::tensor(values),
          .gradients = at::zeros({2, kSize}),
          .parts = {{0, 4, true}, {4, 3, false}, {7, 3, true}}};
}

void Fill(const at::Tensor& gradients, std::int64_t rank) {
  float* const values = gradients.data_ptr<float>();
  for (std::int64_t i = 0; i < gradients.numel(); ++i) {
    values[i] += (i % 3 == 0 ? -1.0F : 1.0F) / static_cast<float>(3 * i + 5 * rank + 1);
  }
}

// One rank's state after some steps.
struct End {
  std::vector<float> parameters;
  std::vector<float> first;
  std::vector<float> second;
  std::vector<double> norms;
  std::int64_t moment_bytes = 0;
  // While gradients are there, and between two steps.
  std::int64_t full_gradient_bytes = 0;
  std::int64_t gradient_bytes = 0;
};

std::vector<End> Train(std::size_t ranks, ZeroStage stage) {
  std::vector<End> ends(ranks);
  doubles::RunRanks(ranks, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    End& end = ends[rank];
    const ZeroOptimiser::Arrays arrays = SomeArrays();
    ZeroOptimiser optimiser({.weight_decay = 0.5}, stage, arrays, reducer);
    for (int step = 0; step < 3; ++step) {
      optimiser.ClearGradients();
      end.full_gradient_bytes = optimiser.gradient_bytes();
      Fill(arrays.gradients, reducer.rank());
      SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradients());
      SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser.GradientNorm());
      end.norms.push_back(norm);
      optimiser.ScaleGradient(1 / norm);
      SHOAL_RETURN_IF_ERROR(optimiser.Step(0.1));
    }
    SHOAL_ASSIGN_OR_RETURN(const auto moments, optimiser.GatherMoments());
    end.parameters = ValuesOf(arrays.parameters);
    end.first = ValuesOf(moments.first);
    end.second = ValuesOf(moments.second);
    end.moment_bytes = optimiser.moment_bytes();
    end.gradient_bytes = optimiser.gradient_bytes();
    return absl::OkStatus();
  });
  return ends;
}

constexpr ZeroStage kStages[] = {ZeroStage::kNone, ZeroStage::kOptimiser, ZeroStage::kGradients};

}  // namespace

TEST_CASE("parameters, norms and moments have the same bits on all ranks and in all stages") {
  // Fourteen ranks are more than there are parameters.
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 14U}) {
    const End whole = Train(ranks, ZeroStage::kNone).front();
    REQUIRE(whole.parameters != ValuesOf(SomeArrays().parameters));
    REQUIRE(whole.parameters.back() == ValuesOf(SomeArrays().parameters).back());
    for (const ZeroStage stage : kStages) {
      INFO("ranks " << ranks << " stage " << static_cast<int>(stage));
      for (const End& end : Train(ranks, stage)) {
        REQUIRE(end.parameters == whole.parameters);
        REQUIRE(end.norms == whole.norms);
        REQUIRE(end.first == whole.first);
        REQUIRE(end.second == whole.second);
      }
    }
  }
}

TEST_CASE("bits do not depend on where shares cut what an optimiser computes in blocks") {
  constexpr std::int64_t kMany = 1003;
  for (const auto kind : {OptimiserOptions::Kind::kAdamW, OptimiserOptions::Kind::kSgd}) {
    std::vector<std::vector<float>> results;
    for (const ZeroStage stage : kStages) {
      doubles::RunRanks(3, [&](std::size_t rank, collectives::GradientReducer& reducer) {
        const at::Tensor parameters = at::arange(1, kMany + 1, at::kFloat).reciprocal();
        const at::Tensor gradients = at::zeros({1, kMany});
        ZeroOptimiser optimiser({.kind = kind, .weight_decay = 0.1}, stage,
                                {parameters, gradients, {{0, 500, true}, {500, 503, false}}},
                                reducer);
        for (int step = 0; step < 10; ++step) {
          optimiser.ClearGradients();
          Fill(gradients, reducer.rank());
          SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradients());
          SHOAL_RETURN_IF_ERROR(optimiser.Step(0.003));
        }
        if (rank == 0) results.push_back(ValuesOf(parameters));
        return absl::OkStatus();
      });
    }
    REQUIRE(results[1] == results[0]);
    REQUIRE(results[2] == results[0]);
  }
}

TEST_CASE("a rank keeps the moments of its share, and in stage 2 the gradient of its share") {
  constexpr std::int64_t kFloat = sizeof(float);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const std::int64_t share = rank < 2 ? 4 : 3;
    const End whole = Train(3, ZeroStage::kNone)[rank];
    REQUIRE(whole.moment_bytes == 2 * kSize * kFloat);
    REQUIRE(whole.gradient_bytes == 2 * kSize * kFloat);
    const End moments = Train(3, ZeroStage::kOptimiser)[rank];
    REQUIRE(moments.moment_bytes == 2 * share * kFloat);
    REQUIRE(moments.gradient_bytes == 2 * kSize * kFloat);
    const End gradients = Train(3, ZeroStage::kGradients)[rank];
    REQUIRE(gradients.moment_bytes == 2 * share * kFloat);
    REQUIRE(gradients.full_gradient_bytes == 2 * kSize * kFloat);
    REQUIRE(gradients.gradient_bytes == share * kFloat);
  }
}

TEST_CASE("one rank alone divides nothing") {
  for (const ZeroStage stage : kStages) {
    const End end = Train(1, stage).front();
    REQUIRE(end.moment_bytes == 2 * kSize * static_cast<std::int64_t>(sizeof(float)));
    REQUIRE(end.gradient_bytes == end.full_gradient_bytes);
  }
}

TEST_CASE("moments that were gathered are restored by shares") {
  for (const ZeroStage stage : kStages) {
    doubles::RunRanks(3, [&](std::size_t, collectives::GradientReducer& reducer) {
      ZeroOptimiser optimiser({}, stage, SomeArrays(), reducer);
      const at::Tensor first = SomeArrays().parameters;
      const at::Tensor second = first.mul(2);
      optimiser.Restore({first, second, 7});
      SHOAL_ASSIGN_OR_RETURN(const auto moments, optimiser.GatherMoments());
      const bool same = moments.first.equal(first) && moments.second.equal(second);
      return same && moments.steps == 7 ? absl::OkStatus() : runtime::Internal("other moments");
    });
  }
}

TEST_CASE("an error of the group comes back from each call that needs it") {
  for (const ZeroStage stage : {ZeroStage::kOptimiser, ZeroStage::kGradients}) {
    const auto ends =
        doubles::TryRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
          const ZeroOptimiser::Arrays arrays = SomeArrays();
          ZeroOptimiser optimiser({}, stage, arrays, reducer);
          optimiser.ClearGradients();
          if (rank == 1) {
            reducer.Abort(runtime::Internal("no memory"));
            return absl::OkStatus();
          }
          const absl::Status end = optimiser.ReduceGradients();
          if (optimiser.Step(0.1) != end) return runtime::Internal("another error of a step");
          if (optimiser.GatherMoments().status() != end) {
            return runtime::Internal("another error of gathering");
          }
          return end;
        });
    INFO(ends[0]);
    REQUIRE(absl::IsAborted(ends[0]));
    REQUIRE(doubles::Mentions(ends[0], "no memory"));
  }
}

}  // namespace shoal::training
