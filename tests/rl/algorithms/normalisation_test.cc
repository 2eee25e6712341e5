// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/normalisation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/safetensors.h"
#include "rl/training/checkpoint.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/ranks.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

using estimators::RewardClipping;

constexpr double kReturnGamma = 0.9;

model::PolicySpec NormalisedSpec() {
  model::PolicySpec spec = SmallSpec();
  spec.normalise_observations = true;
  return spec;
}

// Rows of two numbers that are far from 0 and of different sizes; some rows have no weight, and
// some begin an episode.
UnrollBatch SomeRows(std::uint64_t seed, std::int64_t length = 6, std::int64_t columns = 4) {
  runtime::Random random(seed);
  UnrollBatch batch;
  batch.length = length;
  batch.columns = columns;
  for (std::int64_t row = 0; row < (length + 1) * columns; ++row) {
    batch.observation.push_back(static_cast<float>(1000 + 3 * random.Normal()));
    batch.observation.push_back(static_cast<float>(-0.5 + 0.01 * random.Normal()));
    batch.flags.push_back(random.Below(5) == 0 ? kFirst : 0);
    if (row >= length * columns) continue;
    batch.reward.push_back(static_cast<float>(20 * random.Normal()));
    batch.weight.push_back(random.Below(4) == 0 ? 0.0F : 1.0F);
  }
  return batch;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

// Two passes over the numbers of `rows` [R, width] at `offset` that have weight.
Moments MomentsOf(const std::vector<UnrollBatch>& batches, std::size_t offset, std::size_t width,
                  const std::vector<std::vector<float>>& rows) {
  std::vector<double> kept;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (std::size_t row = 0; row < batches[b].weight.size(); ++row) {
      if (batches[b].weight[row] > 0) kept.push_back(rows[b][row * width + offset]);
    }
  }
  Moments moments;
  for (const double number : kept) moments.mean += number / static_cast<double>(kept.size());
  double variance = 0;
  for (const double number : kept) {
    variance +=
        (number - moments.mean) * (number - moments.mean) / static_cast<double>(kept.size());
  }
  moments.deviation = std::sqrt(variance);
  return moments;
}

UnrollBatch Shaped(Normalisation& normalisation, UnrollBatch batch) {
  REQUIRE(normalisation.ShapeRewards(batch).ok());
  return batch;
}

std::vector<float> Parameter(std::string_view file, const std::string& name) {
  return model::SafetensorsView::Parse(file)->Floats(name, runtime::Shape{2}).value();
}

}  // namespace

TEST_CASE("moments of observations are those of all rows with weight, of several updates and ranks",
          "[normalisation]") {
  const std::vector<UnrollBatch> batches = {SomeRows(1), SomeRows(2), SomeRows(3, 2), SomeRows(4)};
  std::vector<std::vector<float>> rows;
  for (const UnrollBatch& batch : batches) rows.push_back(batch.observation);
  std::vector<std::string> texts(2);
  RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    Normalisation normalisation(NormalisedSpec(), {}, reducer);
    SHOAL_RETURN_IF_ERROR(normalisation.Observe(batches[rank]));
    SHOAL_RETURN_IF_ERROR(normalisation.Observe(batches[2 + rank]));
    texts[rank] = normalisation.Serialise();
    return absl::OkStatus();
  });
  REQUIRE(texts[0] == texts[1]);
  collectives::SingleRank alone;
  Normalisation merged(NormalisedSpec(), {}, alone);
  REQUIRE(merged.observation_mean() == std::vector<float>{0, 0});
  REQUIRE(merged.observation_scale() == std::vector<float>{1, 1});
  REQUIRE(merged.Restore(texts[0]).ok());
  REQUIRE(merged.Serialise() == texts[0]);
  for (std::size_t feature = 0; feature < 2; ++feature) {
    const Moments expected = MomentsOf(batches, feature, 2, rows);
    REQUIRE(merged.observation_mean()[feature] == Approx(expected.mean).epsilon(1e-6));
    REQUIRE(merged.observation_scale()[feature] == Approx(1 / expected.deviation).epsilon(1e-3));
  }
}

TEST_CASE("a run that begins to normalise returns starts with no moments of them",
          "[normalisation]") {
  collectives::SingleRank alone;
  Normalisation before(NormalisedSpec(), {}, alone);
  REQUIRE(before.Observe(SomeRows(8)).ok());
  Normalisation after(NormalisedSpec(), {.normalise_returns = true}, alone);
  REQUIRE(after.Restore(before.Serialise()).ok());
  REQUIRE(after.observation_mean() == before.observation_mean());
  REQUIRE(after.return_deviation() == 0);
}

TEST_CASE("moments that are spoiled or of another policy are refused", "[normalisation]") {
  collectives::SingleRank alone;
  Normalisation normalisation(NormalisedSpec(), {}, alone);
  REQUIRE(normalisation.Restore("").ok());
  for (const char* text : {"{", "[]", "{\"observations\": 3}",
                           R"({"observations": {"count": 2, "mean": [1], "squares": [1]},
            "returns": {"count": 0, "mean": [], "squares": []}})",
                           R"({"observations": {"count": -2, "mean": [1, 1], "squares": [1, 1]},
            "returns": {"count": 0, "mean": [], "squares": []}})",
                           R"({"observations": {"count": 2, "mean": [1, 1], "squares": [1, 1]},
            "returns": 3})"}) {
    INFO(text);
    const std::string before = normalisation.Serialise();
    REQUIRE(absl::IsInvalidArgument(normalisation.Restore(text)));
    REQUIRE(normalisation.Serialise() == before);
  }
}

TEST_CASE("moments are fitted to more and to fewer numbers, and new ones soon count",
          "[normalisation]") {
  collectives::SingleRank alone;
  Normalisation normalisation(NormalisedSpec(), {.normalise_returns = true}, alone);
  REQUIRE(normalisation.Observe(SomeRows(5, 500)).ok());
  UnrollBatch rewarded = SomeRows(5);
  REQUIRE(normalisation.ShapeRewards(rewarded).ok());
  const std::vector<float> mean = normalisation.observation_mean();
  const std::vector<float> scale = normalisation.observation_scale();
  const std::string text = normalisation.Serialise();

  model::PolicySpec more = NormalisedSpec();
  more.observation_size = 3;
  Normalisation wider(more, {.normalise_returns = true}, alone);
  REQUIRE(wider.Restore(FitMoments(text, 3).value()).ok());
  REQUIRE(wider.observation_mean() == std::vector<float>{mean[0], mean[1], 0});
  REQUIRE(wider.observation_scale()[0] == Approx(scale[0]));
  REQUIRE(wider.observation_scale()[1] == Approx(scale[1]));
  REQUIRE(wider.observation_scale()[2] == Approx(1));
  REQUIRE(wider.return_deviation() == normalisation.return_deviation());
  UnrollBatch rows = SomeRows(6, 1000, 3);
  rows.weight.assign(3000, 1.0F);
  rows.observation.assign(3 * 3003, 50);
  REQUIRE(wider.Observe(rows).ok());
  REQUIRE(wider.observation_mean()[2] > 35);

  model::PolicySpec fewer = NormalisedSpec();
  fewer.observation_size = 1;
  Normalisation narrower(fewer, {}, alone);
  REQUIRE(narrower.Restore(FitMoments(text, 1).value()).ok());
  REQUIRE(narrower.observation_mean() == std::vector<float>{mean[0]});
  REQUIRE(narrower.observation_scale() == std::vector<float>{scale[0]});
  Normalisation anew(more, {.normalise_returns = true}, alone);
  REQUIRE(anew.Restore(FitMoments(text, 0).value()).ok());
  REQUIRE(anew.observation_mean() == std::vector<float>{0, 0, 0});
  REQUIRE(anew.observation_scale() == std::vector<float>{1, 1, 1});
  REQUIRE(anew.return_deviation() == normalisation.return_deviation());
  REQUIRE(absl::IsInvalidArgument(FitMoments("{", 3).status()));
  // Without moments of observations there are none to fit.
  Normalisation none(SmallSpec(), {.normalise_returns = true}, alone);
  REQUIRE(FitMoments(none.Serialise(), 3).value() == none.Serialise());
}

TEST_CASE("a return looks back to the start of its unroll or episode", "[normalisation]") {
  UnrollBatch batch;
  batch.length = 3;
  batch.columns = 2;
  batch.reward = {1, 10, 2, 20, 3, 30};
  batch.flags = {0, 0, 0, kFirst, 0, 0, 0, 0};
  const std::vector<float> returns = BackwardReturns(batch, 0.5);
  REQUIRE(returns == std::vector<float>{1, 10, 2.5F, 20, 4.25F, 40});
}

TEST_CASE("rewards are clipped, then divided by the deviation of returns, the batch's own included",
          "[normalisation]") {
  collectives::SingleRank alone;
  const std::vector<UnrollBatch> batches = {SomeRows(5), SomeRows(6)};
  Normalisation symmetric(SmallSpec(), {.clipping = RewardClipping::kSymmetric, .limit = 7}, alone);
  Normalisation asymmetric(SmallSpec(), {.clipping = RewardClipping::kAsymmetric}, alone);
  Normalisation both(SmallSpec(),
                     {.clipping = RewardClipping::kSymmetric,
                      .limit = 7,
                      .normalise_returns = true,
                      .gamma = kReturnGamma},
                     alone);
  std::vector<UnrollBatch> clipped;
  std::vector<std::vector<float>> returns;
  for (const UnrollBatch& batch : batches) {
    clipped.push_back(Shaped(symmetric, batch));
    returns.push_back(BackwardReturns(clipped.back(), kReturnGamma));
    const UnrollBatch squashed = Shaped(asymmetric, batch);
    const UnrollBatch divided = Shaped(both, batch);
    const double deviation = MomentsOf(clipped, 0, 1, returns).deviation;
    REQUIRE(both.return_deviation() == Approx(deviation).epsilon(1e-6));
    for (std::size_t row = 0; row < batch.reward.size(); ++row) {
      const double reward = batch.reward[row];
      REQUIRE(clipped.back().reward[row] == Approx(std::clamp(reward, -7.0, 7.0)));
      REQUIRE(squashed.reward[row] == Approx(estimators::AsymmetricReward(reward)));
      REQUIRE(divided.reward[row] == Approx(std::clamp(reward, -7.0, 7.0) / deviation));
    }
  }
}

TEST_CASE("a reward that is far from all others counts as ten deviations", "[normalisation]") {
  collectives::SingleRank alone;
  Normalisation normalisation(SmallSpec(), {.normalise_returns = true, .gamma = 0}, alone);
  UnrollBatch batch = SomeRows(7, 400);
  std::fill(batch.weight.begin(), batch.weight.end(), 1.0F);
  std::fill(batch.reward.begin(), batch.reward.end(), 0.0F);
  batch.reward[3] = 1000;
  REQUIRE(Shaped(normalisation, batch).reward[3] == 10);
}

TEST_CASE("the next version's network carries the moments, and its rows count as on policy",
          "[normalisation]") {
  const model::PolicySpec spec = NormalisedSpec();
  AlgorithmOptions options;
  options.update_epochs = 1;
  options.minibatches = 1;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {});
  const auto played = [&] { return task.Play(*PolicyOf(*trainer, spec), 6); };
  const UnrollBatch first = played();
  REQUIRE(Parameter(trainer->SerializeParameters({}).value(), model::kObservationMean) ==
          std::vector<float>{0, 0});
  REQUIRE(trainer->Update(first).ok());
  const Moments steps = MomentsOf({first}, 0, 2, {first.observation});
  const std::string file = trainer->SerializeParameters({}).value();
  // The other number is always 1, so it has no deviation.
  REQUIRE(Parameter(file, model::kObservationMean)[0] == Approx(steps.mean));
  REQUIRE(Parameter(file, model::kObservationMean)[1] == 1);
  REQUIRE(Parameter(file, model::kObservationScale)[0] == Approx(1 / steps.deviation));
  // Before its one step, the learner gives the rows the probabilities with which they were played.
  const auto report = trainer->Update(played());
  REQUIRE(report.ok());
  REQUIRE(report->approximate_kl < 1e-9);
  REQUIRE(report->approximate_kl > -1e-9);
}

TEST_CASE("a network with moments sees what one without them sees of normalised observations",
          "[normalisation]") {
  const model::PolicySpec spec = NormalisedSpec();
  model::PolicySpec plain = spec;
  plain.normalise_observations = false;
  // The parameters that both have start alike.
  const auto layout = model::ParameterLayout::Of(spec);
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(1, flat);
  const auto set = [&](const char* name, std::size_t i, float number) {
    flat[static_cast<std::size_t>(layout.Find(name)->offset) + i] = number;
  };
  set(model::kObservationMean, 0, 1);
  set(model::kObservationScale, 0, 0.5F);
  set(model::kObservationMean, 1, -2);
  set(model::kObservationScale, 1, 100);
  const auto policy =
      model::Policy::FromSafetensors(spec, layout.Write(flat, spec, {}), nullptr).value();
  const auto other =
      model::Policy::FromSafetensors(plain, model::InitialParameters(plain, 1).value(), nullptr)
          .value();
  PointerTask task(spec, {});
  const UnrollBatch seen = task.Play(*policy, 6);
  PointerTask same(plain, {});
  UnrollBatch normalised = same.Play(*other, 6);
  // The second number, 1, is 300 deviations from its mean and counts as 10.
  for (std::size_t row = 0; row < normalised.observation.size() / 2; ++row) {
    normalised.observation[2 * row] = (seen.observation[2 * row] - 1) / 2;
    normalised.observation[2 * row + 1] = 10;
  }
  AlgorithmOptions options;
  options.update_epochs = 1;
  options.minibatches = 1;
  UnrollBatch compared = seen;
  compared.observation = normalised.observation;
  collectives::SingleRank alone;
  const auto learner = PolicyTrainer::Create(plain, options, 1, alone).value();
  const auto report = learner->Update(compared);
  REQUIRE(report.ok());
  REQUIRE(std::abs(report->approximate_kl) < 1e-9);
}

TEST_CASE("a run with moments goes on with the same bits from its checkpoint", "[normalisation]") {
  model::PolicySpec spec = NormalisedSpec();
  AlgorithmOptions options;
  options.normalise_returns = true;
  const doubles::TemporaryFolder folder;
  const auto first = Trainer(spec, options);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*first, spec), 6);
  REQUIRE(first->Update(batch)->return_deviation > 0);
  REQUIRE(first->Save(folder.path(), "").ok());
  const UnrollBatch next = task.Play(*PolicyOf(*first, spec), 6);
  const auto report = first->Update(next);
  REQUIRE(report.ok());
  const auto second = Trainer(spec, options);
  REQUIRE(second->Load(folder.path()).ok());
  REQUIRE(second->Update(next)->return_deviation == report->return_deviation);
  REQUIRE(second->Digest() == first->Digest());
}

TEST_CASE("the target network normalises as the trained one does", "[normalisation]") {
  model::PolicySpec spec = NormalisedSpec();
  spec.action_values = true;
  AlgorithmOptions options;
  options.name = "dqn";
  options.update_epochs = 1;
  options.minibatches = 1;
  const auto trainer = Trainer(spec, options);
  PointerTask task(spec, {});
  REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).ok());
  const doubles::TemporaryFolder folder;
  REQUIRE(trainer->Save(folder.path(), "").ok());
  auto checkpoint = training::ReadNewestCheckpoint(folder.path()).value();
  for (const char* name : {model::kObservationMean, model::kObservationScale}) {
    REQUIRE(Parameter(checkpoint.files.at("target.safetensors").Joined().bytes, name) ==
            Parameter(checkpoint.files.at("parameters.safetensors").Joined().bytes, name));
  }
  REQUIRE(checkpoint.files.at("target.safetensors") !=
          checkpoint.files.at("parameters.safetensors"));
}

}  // namespace shoal::algorithms
