// SPDX-License-Identifier: Apache-2.0
#include "rl/training/zero_optimiser.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tests/doubles/ranks.h"

namespace shoal::training {
namespace {

constexpr std::int64_t kSize = 11;

std::vector<float> ValuesOf(const at::Tensor& tensor) {
  const float* const begin = tensor.data_ptr<float>();
  return {begin, begin + tensor.numel()};
}

// The eleven parameters come in units of five and six.
constexpr std::int64_t kFirstUnit = 5;

// Eleven parameters, of which the middle three have no weight decay and the last one does not
// change.
std::vector<float> SomeParameters() {
  std::vector<float> values;
  for (std::int64_t i = 0; i < kSize; ++i) values.push_back(1.0F / static_cast<float>(i + 2));
  return values;
}

// Room for them, with the gradients of two threads.
ZeroOptimiser::Arrays SomeArrays() {
  ZeroOptimiser::Arrays arrays;
  arrays.parts = {{0, 4, true}, {4, 3, false}, {7, 3, true}};
  for (const std::int64_t size : {kFirstUnit, kSize - kFirstUnit}) {
    arrays.parameters.push_back(at::zeros({size}));
    arrays.gradients.push_back(at::zeros({2, size}));
  }
  return arrays;
}

// A rank's gradient of a parameter, on one of its threads.
float GradientOf(std::int64_t parameter, std::int64_t thread, std::int64_t rank) {
  const std::int64_t i = thread * kSize + parameter;
  return (i % 3 == 0 ? -1.0F : 1.0F) / static_cast<float>(3 * i + 5 * rank + 1);
}

// Adds them for one unit, whose first parameter is number `origin`.
void Fill(const at::Tensor& gradients, std::int64_t origin, std::int64_t rank) {
  for (std::int64_t thread = 0; thread < gradients.size(0); ++thread) {
    float* const values = gradients[thread].data_ptr<float>();
    for (std::int64_t i = 0; i < gradients.size(1); ++i) {
      values[i] += GradientOf(origin + i, thread, rank);
    }
  }
}

// The most bytes that were there at once.
struct Most {
  std::int64_t parameter_bytes = 0;
  std::int64_t gradient_bytes = 0;
};

// Makes the gradients of a step and sums them over the ranks, as each stage has to.
absl::Status Differentiate(ZeroOptimiser& optimiser, const ZeroOptimiser::Arrays& arrays,
                           std::int64_t rank, Most& most) {
  const auto note = [&] {
    most.parameter_bytes = std::max(most.parameter_bytes, optimiser.parameter_bytes());
    most.gradient_bytes = std::max(most.gradient_bytes, optimiser.gradient_bytes());
  };
  if (!optimiser.divides_parameters()) optimiser.ClearGradients();
  std::int64_t origin = 0;
  for (std::size_t unit = 0; unit < arrays.parameters.size(); ++unit) {
    if (optimiser.divides_parameters()) {
      SHOAL_RETURN_IF_ERROR(optimiser.GatherUnit(unit));
      optimiser.ClearGradient(unit);
    }
    note();
    Fill(arrays.gradients[unit], origin, rank);
    origin += arrays.parameters[unit].numel();
    if (!optimiser.divides_parameters()) continue;
    optimiser.ReleaseUnit(unit);
    SHOAL_RETURN_IF_ERROR(optimiser.ReduceGradient(unit));
  }
  return optimiser.divides_parameters() ? absl::OkStatus() : optimiser.ReduceGradients();
}

// One rank's state after some steps.
struct End {
  std::vector<float> parameters;
  std::vector<float> first;
  std::vector<float> second;
  std::vector<double> norms;
  // While gradients are made, and between two steps.
  Most most;
  std::int64_t parameter_bytes = 0;
  std::int64_t moment_bytes = 0;
  std::int64_t gradient_bytes = 0;
};

std::vector<End> Train(std::size_t ranks, ZeroStage stage) {
  std::vector<End> ends(ranks);
  doubles::RunRanks(ranks, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    End& end = ends[rank];
    const ZeroOptimiser::Arrays arrays = SomeArrays();
    ZeroOptimiser optimiser({.weight_decay = 0.5}, stage, arrays, reducer);
    optimiser.RestoreParameters(at::tensor(SomeParameters()));
    for (int step = 0; step < 3; ++step) {
      SHOAL_RETURN_IF_ERROR(Differentiate(optimiser, arrays, reducer.rank(), end.most));
      SHOAL_ASSIGN_OR_RETURN(const double norm, optimiser.GradientNorm());
      end.norms.push_back(norm);
      optimiser.ScaleGradient(1 / norm);
      SHOAL_RETURN_IF_ERROR(optimiser.Step(0.1));
    }
    SHOAL_ASSIGN_OR_RETURN(const auto moments, optimiser.GatherMoments(Receivers::kAll));
    SHOAL_ASSIGN_OR_RETURN(const at::Tensor parameters,
                           optimiser.GatherParameters(Receivers::kAll));
    end.parameters = ValuesOf(parameters);
    end.first = ValuesOf(moments.first);
    end.second = ValuesOf(moments.second);
    end.parameter_bytes = optimiser.parameter_bytes();
    end.moment_bytes = optimiser.moment_bytes();
    end.gradient_bytes = optimiser.gradient_bytes();
    return absl::OkStatus();
  });
  return ends;
}

constexpr ZeroStage kStages[] = {ZeroStage::kNone, ZeroStage::kOptimiser, ZeroStage::kGradients,
                                 ZeroStage::kParameters};

}  // namespace

TEST_CASE("parameters, norms and moments have the same bits on all ranks and in all stages") {
  // Fourteen ranks are more than there are parameters.
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 14U}) {
    const End whole = Train(ranks, ZeroStage::kNone).front();
    REQUIRE(whole.parameters != SomeParameters());
    REQUIRE(whole.parameters.back() == SomeParameters().back());
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

TEST_CASE("replicas are those of the first tensor-parallel rank, and count once in the norm") {
  // Ranks 0 and 1 are a tensor-parallel group, and so are 2 and 3. Numbers 3 to 6 are in both
  // units.
  constexpr std::int64_t kFirst = 3;
  constexpr std::int64_t kEnd = 7;
  double squares = 0;
  for (std::int64_t tensor = 0; tensor < 2; ++tensor) {
    for (std::int64_t i = 0; i < kSize; ++i) {
      if (tensor == 1 && i >= kFirst && i < kEnd) continue;
      double sum = 0;
      for (const std::int64_t rank : {tensor, tensor + 2}) {
        sum += GradientOf(i, 0, rank) + GradientOf(i, 1, rank);
      }
      squares += sum * sum;
    }
  }
  for (const ZeroStage stage : kStages) {
    INFO("stage " << static_cast<int>(stage));
    std::vector<std::vector<float>> ends(4);
    std::vector<double> norms(4);
    doubles::RunRanks(4, [&](std::size_t rank, collectives::GradientReducer& all) -> absl::Status {
      SHOAL_ASSIGN_OR_RETURN(const auto tensor, all.Split(static_cast<std::int64_t>(rank / 2)));
      SHOAL_ASSIGN_OR_RETURN(const auto data, all.Split(static_cast<std::int64_t>(rank % 2)));
      const ZeroOptimiser::Arrays arrays = SomeArrays();
      ZeroOptimiser optimiser({}, stage, arrays, *data,
                              {.group = tensor.get(), .parts = {{kFirst, kEnd - kFirst, true}}});
      optimiser.RestoreParameters(at::tensor(SomeParameters()));
      Most most;
      SHOAL_RETURN_IF_ERROR(Differentiate(optimiser, arrays, all.rank(), most));
      SHOAL_ASSIGN_OR_RETURN(norms[rank], optimiser.GradientNorm());
      SHOAL_RETURN_IF_ERROR(optimiser.Step(0.1));
      SHOAL_ASSIGN_OR_RETURN(const at::Tensor parameters,
                             optimiser.GatherParameters(Receivers::kAll));
      ends[rank] = ValuesOf(parameters);
      return absl::OkStatus();
    });
    REQUIRE(norms[0] == Approx(std::sqrt(squares)).epsilon(1e-6));
    REQUIRE(norms == std::vector<double>(4, norms[0]));
    REQUIRE(ends[2] == ends[0]);
    REQUIRE(ends[3] == ends[1]);
    REQUIRE(ends[1] != ends[0]);
    for (std::size_t i = kFirst; i < kEnd; ++i) {
      REQUIRE(ends[1][i] == ends[0][i]);
      REQUIRE(ends[0][i] != SomeParameters()[i]);
    }
  }
}

TEST_CASE("bits do not depend on where shares cut what an optimiser computes in blocks") {
  constexpr std::int64_t kMany = 1003;
  for (const auto kind : {OptimiserOptions::Kind::kAdamW, OptimiserOptions::Kind::kSgd}) {
    std::vector<std::vector<float>> results;
    for (const ZeroStage stage : kStages) {
      doubles::RunRanks(3, [&](std::size_t rank, collectives::GradientReducer& reducer) {
        const ZeroOptimiser::Arrays arrays{.parameters = {at::zeros({333}), at::zeros({670})},
                                           .gradients = {at::zeros({1, 333}), at::zeros({1, 670})},
                                           .parts = {{0, 500, true}, {500, 503, false}}};
        ZeroOptimiser optimiser({.kind = kind, .weight_decay = 0.1}, stage, arrays, reducer);
        optimiser.RestoreParameters(at::arange(1, kMany + 1, at::kFloat).reciprocal());
        Most most;
        for (int step = 0; step < 10; ++step) {
          SHOAL_RETURN_IF_ERROR(Differentiate(optimiser, arrays, reducer.rank(), most));
          SHOAL_RETURN_IF_ERROR(optimiser.Step(0.003));
        }
        SHOAL_ASSIGN_OR_RETURN(const at::Tensor parameters,
                               optimiser.GatherParameters(Receivers::kRankZero));
        if (rank == 0) results.push_back(ValuesOf(parameters));
        return rank == 0 || parameters.numel() == 0 ? absl::OkStatus()
                                                    : runtime::Internal("rank 1 got parameters");
      });
    }
    for (const std::vector<float>& result : results) REQUIRE(result == results[0]);
  }
}

TEST_CASE("a rank keeps the moments, the gradient and the parameters of its share by stage") {
  constexpr std::int64_t kFloat = sizeof(float);
  constexpr std::int64_t kSecondUnit = kSize - kFirstUnit;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    // Of five parameters the ranks have two, two and one; of six they have two each.
    const std::int64_t share = rank < 2 ? 4 : 3;
    const End whole = Train(3, ZeroStage::kNone)[rank];
    REQUIRE(whole.moment_bytes == 2 * kSize * kFloat);
    REQUIRE(whole.gradient_bytes == 2 * kSize * kFloat);
    const End moments = Train(3, ZeroStage::kOptimiser)[rank];
    REQUIRE(moments.moment_bytes == 2 * share * kFloat);
    REQUIRE(moments.gradient_bytes == 2 * kSize * kFloat);
    const End gradients = Train(3, ZeroStage::kGradients)[rank];
    REQUIRE(gradients.moment_bytes == 2 * share * kFloat);
    REQUIRE(gradients.most.gradient_bytes == 2 * kSize * kFloat);
    REQUIRE(gradients.gradient_bytes == share * kFloat);
    REQUIRE(gradients.parameter_bytes == kSize * kFloat);
    const End parameters = Train(3, ZeroStage::kParameters)[rank];
    REQUIRE(parameters.moment_bytes == 2 * share * kFloat);
    REQUIRE(parameters.gradient_bytes == share * kFloat);
    REQUIRE(parameters.parameter_bytes == share * kFloat);
    REQUIRE(parameters.most.parameter_bytes == (share + kSecondUnit) * kFloat);
    REQUIRE(parameters.most.gradient_bytes == (share + 2 * kSecondUnit) * kFloat);
  }
}

TEST_CASE("ranks that get nothing of what is gathered have gathered with the others") {
  for (const ZeroStage stage : kStages) {
    doubles::RunRanks(3, [&](std::size_t rank, collectives::GradientReducer& reducer) {
      ZeroOptimiser optimiser({}, stage, SomeArrays(), reducer);
      const at::Tensor all = at::tensor(SomeParameters());
      optimiser.RestoreParameters(all);
      optimiser.RestoreMoments({all.mul(2), all.mul(3), 7});
      SHOAL_ASSIGN_OR_RETURN(const auto moments, optimiser.GatherMoments(Receivers::kRankZero));
      SHOAL_ASSIGN_OR_RETURN(const auto parameters,
                             optimiser.GatherParameters(Receivers::kRankZero));
      if (rank != 0) return reducer.Barrier();
      const bool same = parameters.equal(all) && moments.first.equal(all.mul(2)) &&
                        moments.second.equal(all.mul(3));
      return same ? reducer.Barrier() : runtime::Internal("other values");
    });
  }
}

TEST_CASE("one rank alone divides nothing") {
  for (const ZeroStage stage : kStages) {
    const End end = Train(1, stage).front();
    REQUIRE(end.moment_bytes == 2 * kSize * static_cast<std::int64_t>(sizeof(float)));
    REQUIRE(end.gradient_bytes == 2 * kSize * static_cast<std::int64_t>(sizeof(float)));
    REQUIRE(end.parameter_bytes == kSize * static_cast<std::int64_t>(sizeof(float)));
  }
}

TEST_CASE("moments that were gathered are restored by shares") {
  for (const ZeroStage stage : kStages) {
    doubles::RunRanks(3, [&](std::size_t, collectives::GradientReducer& reducer) {
      ZeroOptimiser optimiser({}, stage, SomeArrays(), reducer);
      const at::Tensor first = at::tensor(SomeParameters());
      const at::Tensor second = first.mul(2);
      optimiser.RestoreMoments({first, second, 7});
      SHOAL_ASSIGN_OR_RETURN(const auto moments, optimiser.GatherMoments(Receivers::kAll));
      const bool same = moments.first.equal(first) && moments.second.equal(second);
      return same && moments.steps == 7 ? absl::OkStatus() : runtime::Internal("other moments");
    });
  }
}

TEST_CASE("an error of the group comes back from each call that needs it") {
  for (const ZeroStage stage :
       {ZeroStage::kOptimiser, ZeroStage::kGradients, ZeroStage::kParameters}) {
    const auto ends =
        doubles::TryRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
          const ZeroOptimiser::Arrays arrays = SomeArrays();
          ZeroOptimiser optimiser({}, stage, arrays, reducer);
          const bool divides = optimiser.divides_parameters();
          if (!divides) optimiser.ClearGradients();
          if (rank == 1) {
            reducer.Abort(runtime::Internal("no memory"));
            return absl::OkStatus();
          }
          absl::Status end;
          if (divides) {
            end = optimiser.GatherUnit(0);
            optimiser.ClearGradient(0);
            if (optimiser.ReduceGradient(0) != end) return runtime::Internal("another of a sum");
            if (optimiser.GatherParameters(Receivers::kAll).status() != end) {
              return runtime::Internal("another error of parameters");
            }
          } else {
            end = optimiser.ReduceGradients();
            if (optimiser.Step(0.1) != end) return runtime::Internal("another error of a step");
          }
          if (optimiser.GatherMoments(Receivers::kAll).status() != end) {
            return runtime::Internal("another error of moments");
          }
          return end;
        });
    INFO(ends[0]);
    REQUIRE(absl::IsAborted(ends[0]));
    REQUIRE(doubles::Mentions(ends[0], "no memory"));
  }
}

}  // namespace shoal::training
