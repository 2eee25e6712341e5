// SPDX-License-Identifier: Apache-2.0
#include "text/language/language_trainer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rl/model/policy.h"
#include "rl/model/torch_device.h"
#include "tests/doubles/ranks.h"
#include "tests/text/language/any_device.h"
#include "tests/text/language/small_batches.h"
#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using Kind = training::OptimiserOptions::Kind;

collectives::SingleRank& Alone() {
  static collectives::SingleRank alone;
  return alone;
}

std::unique_ptr<LanguageTrainer> Trainer(const TrainerOptions& options,
                                         collectives::GradientReducer& reducer = Alone()) {
  return LanguageTrainer::Create(SmallGpt2(), options, reducer).value();
}

// Computes loss and accuracy by their definition from the logits of the plain model.
LossReport BruteForce(const Gpt2Parameters& parameters, const WeightedBatch& batch) {
  const auto model = Gpt2::Create(parameters, nullptr, {}).value();
  const runtime::Tensor logits = model->Logits(batch.tokens).value();
  const auto vocabulary = static_cast<std::size_t>(parameters.config.vocabulary_size);
  double loss = 0;
  double right = 0;
  double targets = 0;
  for (std::int64_t s = 0; s < batch.tokens.sequences(); ++s) {
    const auto begin = static_cast<std::size_t>(batch.tokens.starts[static_cast<std::size_t>(s)]);
    const auto length = static_cast<std::size_t>(batch.tokens.length(s));
    for (std::size_t t = begin + 1; t < begin + length; ++t) {
      const auto row = logits.values<float>().subspan((t - 1) * vocabulary, vocabulary);
      double sum = 0;
      std::size_t best = 0;
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += std::exp(static_cast<double>(row[i]));
        if (row[i] > row[best]) best = i;
      }
      const auto id = static_cast<std::size_t>(batch.tokens.ids[t]);
      const double weight = batch.weights[t];
      loss += weight * (std::log(sum) - row[id]);
      right += best == id ? weight : 0;
      targets += weight;
    }
  }
  return {loss / targets, std::exp(loss / targets), right / targets, targets};
}

TEST_CASE("loss, perplexity and accuracy are those of the definition, over what counts alone") {
  const auto trainer = Trainer({.device = AnyDevice()});
  const WeightedBatch batch = Batch(1);
  const LossReport wanted = BruteForce(trainer->Parameters().value(), batch);
  const LossReport found = trainer->Evaluate(batch).value();
  REQUIRE(found.loss == Approx(wanted.loss).epsilon(1e-5));
  REQUIRE(found.perplexity == Approx(wanted.perplexity).epsilon(1e-4));
  REQUIRE(found.accuracy == Approx(wanted.accuracy));
  REQUIRE(found.targets == wanted.targets);
  REQUIRE(trainer->Step(batch, 0.01)->loss.loss == Approx(wanted.loss).epsilon(1e-5));
}

TEST_CASE("every device computes the logits and the gradients of the CPU, to 1e-4 in float32") {
  const std::string device = AnyDevice();
  const WeightedBatch batch = Batch(1);
  const auto logits_on = [&](const std::string& name) -> runtime::Tensor {
    const auto model = Gpt2::Create(SmallGpt2(), nullptr, {.device = name}).value();
    return model->Logits(batch.tokens).value();
  };
  // A step of this rate along the gradient, without momentum, weight decay or clipping, is the
  // gradient.
  const auto gradient_on = [&](const TrainerOptions& slices) {
    TrainerOptions options = slices;
    options.max_gradient_norm = 0;
    options.optimiser = {.kind = Kind::kSgd, .beta1 = 0, .weight_decay = 0};
    const auto trainer = Trainer(options);
    REQUIRE(trainer->Step(batch, 1).ok());
    std::vector<float> gradient = trainer->Parameters().value().flat;
    const Gpt2Parameters start = SmallGpt2();
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = start.flat[i] - gradient[i];
    return gradient;
  };
  const auto require_near = [](std::span<const float> found, std::span<const float> expected) {
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(found[i]) - expected[i]));
    }
    REQUIRE(largest <= 1e-4);
  };
  const runtime::Tensor expected = logits_on("cpu");
  require_near(logits_on(device).values<float>(), expected.values<float>());
  const std::vector<float> gradient = gradient_on({});
  REQUIRE(*std::max_element(gradient.begin(), gradient.end()) > 1e-2);
  // On a CPU, too, the slices make another order of sums.
  require_near(gradient_on({.device = device, .slice_tokens = 20}), gradient);
}

TEST_CASE("every device and both precisions learn alike") {
  const auto plain = Trainer({});
  const auto same = Trainer({.device = AnyDevice()});
  const auto rounded =
      Trainer({.device = AnyDevice(), .precision = runtime::DType::kBFloat16, .slice_tokens = 30});
  double first = 0;
  for (std::uint64_t step = 0; step < 20; ++step) {
    const WeightedBatch batch = Batch(step % 2);
    const double loss = plain->Step(batch, 0.01)->loss.loss;
    REQUIRE(same->Step(batch, 0.01)->loss.loss == Approx(loss).epsilon(2e-3));
    REQUIRE(rounded->Step(batch, 0.01)->loss.loss == Approx(loss).epsilon(0.05));
    if (step == 0) first = loss;
  }
  REQUIRE(plain->Evaluate(Batch(0))->loss < 0.8 * first);
}

TEST_CASE("a step copies up twice for each slice and down once for all of them") {
  // Copies are counted on the thread that makes them.
  model::SetTorchThreads(1);
  const auto trainer = Trainer({.device = AnyDevice(), .slice_tokens = 20});
  const WeightedBatch batch = Batch(1);
  const auto slices = static_cast<std::uint64_t>(Cuts(batch.tokens, 20).size() - 1);
  REQUIRE(slices > 2);
  const model::CopyCounts before = model::Copies();
  REQUIRE(trainer->Step(batch, 0.01).ok());
  REQUIRE(model::Copies().up == before.up + 2 * slices);
  REQUIRE(model::Copies().down == before.down + 1);
}

TEST_CASE("what does not count as a target changes nothing, whatever stands there last") {
  WeightedBatch batch;
  batch.tokens.Append(SomeIds(12));
  batch.weights.assign(12, 1.0F);
  batch.weights[11] = 0;
  const auto trainer = Trainer({});
  const LossReport before = trainer->Evaluate(batch).value();
  batch.tokens.ids[11] = (batch.tokens.ids[11] + 1) % 50;
  REQUIRE(trainer->Evaluate(batch)->loss == before.loss);
  REQUIRE(before.targets == 10);
}

TEST_CASE("a batch that is cut into slices makes the step that it makes as a whole") {
  for (const Kind kind : {Kind::kAdamW, Kind::kSgd, Kind::kLion}) {
    const auto whole = Trainer({.optimiser = {.kind = kind}});
    const auto cut = Trainer({.slice_tokens = 8, .optimiser = {.kind = kind}});
    // The sign function is not continuous, so Lion is compared before rounding can flip a sign.
    const std::uint64_t steps = kind == Kind::kLion ? 1 : 3;
    for (std::uint64_t step = 0; step < steps; ++step) {
      const StepReport a = whole->Step(Batch(step), 1e-3).value();
      const StepReport b = cut->Step(Batch(step), 1e-3).value();
      REQUIRE(a.loss.loss == Approx(b.loss.loss).epsilon(1e-5));
      REQUIRE(a.gradient_norm == Approx(b.gradient_norm).epsilon(1e-5));
      REQUIRE(a.loss.targets == b.loss.targets);
    }
    REQUIRE(LargestDifference(whole->Parameters().value(), cut->Parameters().value()) < 1e-5);
    REQUIRE(LargestDifference(whole->Parameters().value(), SmallGpt2()) > 1e-4);
  }
}

TEST_CASE("two ranks with a share of each batch become what one rank becomes, and the same bits") {
  const auto alone = Trainer({});
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < 5; ++step) {
    losses.push_back(alone->Step(Batch(step), 1e-3)->loss.loss);
  }
  std::vector<Gpt2Parameters> ends(2);
  std::vector<std::vector<double>> seen(2);
  std::vector<double> evaluated(2);
  doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = LanguageTrainer::Create(SmallGpt2(), {}, reducer).value();
    for (std::uint64_t step = 0; step < 5; ++step) {
      SHOAL_ASSIGN_OR_RETURN(const StepReport report,
                             trainer->Step(Share(Batch(step), rank, 2), 1e-3));
      seen[rank].push_back(report.loss.loss);
    }
    SHOAL_ASSIGN_OR_RETURN(const LossReport report, trainer->Evaluate(Share(Batch(9), rank, 2)));
    evaluated[rank] = report.loss;
    ends[rank] = trainer->Parameters().value();
    return absl::OkStatus();
  });
  REQUIRE(ends[0].flat == ends[1].flat);
  REQUIRE(LargestDifference(ends[0], alone->Parameters().value()) < 1e-5);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    REQUIRE(seen[0][i] == seen[1][i]);
    REQUIRE(seen[0][i] == Approx(losses[i]).epsilon(1e-5));
  }
  REQUIRE(evaluated[0] == Approx(alone->Evaluate(Batch(9))->loss).epsilon(1e-5));
}

// With AdamW norms differ, because it enlarges rounding errors, which says nothing about the sums.
TEST_CASE(
    "gradients of two ranks, or of many slices, stay those of one where nothing enlarges "
    "rounding") {
  constexpr std::uint64_t kSteps = 10;
  const TrainerOptions options{.max_gradient_norm = 0, .optimiser = {.kind = Kind::kSgd}};
  TrainerOptions slices = options;
  slices.slice_tokens = 8;
  const auto norms = [&](LanguageTrainer& trainer, std::size_t rank, std::size_t ranks) {
    std::vector<double> found;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      found.push_back(trainer.Step(Share(Batch(step), rank, ranks), 0.05).value().gradient_norm);
    }
    return found;
  };
  const std::vector<double> one = norms(*Trainer(options), 0, 1);
  const std::vector<double> cut = norms(*Trainer(slices), 0, 1);
  std::vector<std::vector<double>> two(2);
  doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = LanguageTrainer::Create(SmallGpt2(), options, reducer).value();
    two[rank] = norms(*trainer, rank, 2);
    return absl::OkStatus();
  });
  REQUIRE(two[0] == two[1]);
  REQUIRE(one.front() != Approx(one.back()).epsilon(0.01));
  for (std::size_t i = 0; i < kSteps; ++i) {
    REQUIRE(two[0][i] == Approx(one[i]).epsilon(1e-6));
    REQUIRE(cut[i] == Approx(one[i]).epsilon(1e-6));
  }
}

TEST_CASE("two ranks that add up four slices each make the steps of one rank with eight") {
  constexpr std::uint64_t kSteps = 10;
  constexpr std::int64_t kLength = 10;
  const TrainerOptions options{
      .slice_tokens = kLength, .max_gradient_norm = 0, .optimiser = {.kind = Kind::kSgd}};
  const auto batch_of = [](std::uint64_t step) {
    WeightedBatch batch;
    for (std::uint64_t i = 0; i < 8; ++i) {
      batch.tokens.Append(SomeIds(kLength, step + 100 * i));
      // As unequal as weights can be.
      for (std::uint64_t t = 0; t < kLength; ++t) batch.weights.push_back(t > i ? 1.0F : 0.0F);
    }
    return batch;
  };
  REQUIRE(Cuts(batch_of(0).tokens, kLength).size() - 1 == 8);
  REQUIRE(Cuts(Share(batch_of(0), 0, 2).tokens, kLength).size() - 1 == 4);
  const auto alone = Trainer(options);
  std::vector<double> losses;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    losses.push_back(alone->Step(batch_of(step), 0.05)->loss.loss);
  }
  std::vector<std::vector<double>> seen(2);
  std::vector<Gpt2Parameters> ends(2);
  doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = LanguageTrainer::Create(SmallGpt2(), options, reducer).value();
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      SHOAL_ASSIGN_OR_RETURN(const StepReport report,
                             trainer->Step(Share(batch_of(step), rank, 2), 0.05));
      seen[rank].push_back(report.loss.loss);
    }
    ends[rank] = trainer->Parameters().value();
    return absl::OkStatus();
  });
  REQUIRE(seen[0] == seen[1]);
  REQUIRE(ends[0].flat == ends[1].flat);
  for (std::size_t i = 0; i < kSteps; ++i) REQUIRE(seen[0][i] == Approx(losses[i]).epsilon(1e-6));
  REQUIRE(LargestDifference(ends[0], alone->Parameters().value()) < 1e-6);
  REQUIRE(LargestDifference(ends[0], SmallGpt2()) > 1e-3);
}

TEST_CASE("a rank without a sequence takes part") {
  std::vector<Gpt2Parameters> ends(2);
  doubles::RunRanks(2, [&](std::size_t rank, collectives::GradientReducer& reducer) {
    const auto trainer = LanguageTrainer::Create(SmallGpt2(), {}, reducer).value();
    SHOAL_RETURN_IF_ERROR(trainer->Step(Share(Batch(1, 1), rank, 2), 1e-3).status());
    ends[rank] = trainer->Parameters().value();
    return absl::OkStatus();
  });
  REQUIRE(ends[0].flat == ends[1].flat);
}

TEST_CASE("a trainer that restored a checkpoint goes on with the same bits") {
  const runtime::DType precision = GENERATE(runtime::DType::kFloat32, runtime::DType::kBFloat16);
  for (const Kind kind : {Kind::kAdamW, Kind::kSgd, Kind::kLion}) {
    const TrainerOptions options{.precision = precision, .optimiser = {.kind = kind}};
    const auto first = Trainer(options);
    for (std::uint64_t step = 0; step < 3; ++step) REQUIRE(first->Step(Batch(step), 1e-3).ok());
    training::Checkpoint checkpoint;
    REQUIRE(first->Save(checkpoint).ok());
    const auto second = Trainer(options);
    REQUIRE(second->Restore(checkpoint).ok());
    REQUIRE(second->steps() == 3);
    for (std::uint64_t step = 3; step < 6; ++step) {
      REQUIRE(first->Step(Batch(step), 1e-3)->loss.loss ==
              second->Step(Batch(step), 1e-3)->loss.loss);
    }
    REQUIRE(first->Parameters().value().flat == second->Parameters().value().flat);
  }
}

TEST_CASE("a checkpoint of something else is refused and changes nothing") {
  training::Checkpoint checkpoint;
  REQUIRE(Trainer({})->Save(checkpoint).ok());
  const auto other = Trainer({.optimiser = {.kind = Kind::kSgd}});
  REQUIRE(absl::IsFailedPrecondition(other->Restore(checkpoint)));
  const auto adapter = Trainer({.adapter = LoraOptions{}});
  REQUIRE(absl::IsFailedPrecondition(adapter->Restore(checkpoint)));
  const auto same = Trainer({});
  const Gpt2Parameters before = same->Parameters().value();
  for (const char* file : {"trainer.safetensors", "trainer.json"}) {
    training::Checkpoint damaged = checkpoint;
    damaged.files[file] = "{}";
    REQUIRE_FALSE(same->Restore(damaged).ok());
    damaged.files.erase(file);
    REQUIRE_FALSE(same->Restore(damaged).ok());
  }
  REQUIRE(same->Parameters().value().flat == before.flat);
}

TEST_CASE("AdamW is what its paper says, and spares biases and norms from decay") {
  const Gpt2Parameters start = SmallGpt2();
  const auto layout = Gpt2Layout(start.config);
  const double rate = 1e-2;
  // The first step moves each parameter by the rate against the gradient's sign, then applies
  // decay.
  const TrainerOptions plain{.max_gradient_norm = 0, .optimiser = {.weight_decay = 0}};
  const TrainerOptions decaying{.max_gradient_norm = 0, .optimiser = {.weight_decay = 0.5}};
  const auto without = Trainer(plain);
  const auto with = Trainer(decaying);
  REQUIRE(without->Step(Batch(1), rate).ok());
  REQUIRE(with->Step(Batch(1), rate).ok());
  const auto a = without->Parameters().value().flat;
  const auto b = with->Parameters().value().flat;
  for (const auto& info : layout.parameters) {
    INFO(info.name);
    const bool decays = info.shape.size() == 2;
    for (std::int64_t i = info.offset; i < info.offset + info.size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double moved = a[at] - start.flat[at];
      REQUIRE(std::abs(moved) <= rate * 1.001);
      REQUIRE(b[at] == Approx(a[at] - (decays ? rate * 0.5 * start.flat[at] : 0)).margin(1e-6));
    }
  }
}

TEST_CASE("SGD steps along the gradient, which is clipped by its norm") {
  const Gpt2Parameters start = SmallGpt2();
  const TrainerOptions options{.max_gradient_norm = 0.01,
                               .optimiser = {.kind = Kind::kSgd, .weight_decay = 0}};
  const auto trainer = Trainer(options);
  REQUIRE(trainer->Step(Batch(1), 1)->gradient_norm > 0.01);
  const auto end = trainer->Parameters().value().flat;
  double sum = 0;
  for (std::size_t i = 0; i < end.size(); ++i) {
    sum += std::pow(static_cast<double>(end[i]) - start.flat[i], 2);
  }
  REQUIRE(std::sqrt(sum) == Approx(0.01).epsilon(1e-3));
}

TEST_CASE("each optimiser learns a text by heart") {
  struct Case {
    Kind kind;
    double rate;
  };
  for (const Case& one : {Case{Kind::kAdamW, 1e-2}, {Kind::kSgd, 0.1}, {Kind::kLion, 2e-3}}) {
    const auto trainer =
        Trainer({.optimiser = {.kind = one.kind, .beta2 = 0.95, .weight_decay = 0.01}});
    const WeightedBatch batch = Batch(3);
    const double before = trainer->Evaluate(batch)->loss;
    for (int i = 0; i < 60; ++i) REQUIRE(trainer->Step(batch, one.rate).ok());
    const LossReport after = trainer->Evaluate(batch).value();
    INFO(static_cast<int>(one.kind));
    REQUIRE(after.loss < 0.2 * before);
    REQUIRE(after.accuracy > 0.9);
  }
}

TEST_CASE("checkpointed blocks make the same step") {
  const auto plain = Trainer({});
  const auto sparing = Trainer({.checkpoint_blocks = true});
  REQUIRE(plain->Step(Batch(1), 1e-3).ok());
  REQUIRE(sparing->Step(Batch(1), 1e-3).ok());
  REQUIRE(LargestDifference(plain->Parameters().value(), sparing->Parameters().value()) < 1e-6);
}

TEST_CASE("an adapter learns while the model below stays as it is") {
  const auto trainer = Trainer({.adapter = LoraOptions{.rank = 4}, .seed = 5});
  const WeightedBatch batch = Batch(3);
  REQUIRE(trainer->Parameters().value().flat == SmallGpt2().flat);
  const double before = trainer->Evaluate(batch)->loss;
  for (int i = 0; i < 30; ++i) REQUIRE(trainer->Step(batch, 1e-2).ok());
  const double after = trainer->Evaluate(batch)->loss;
  REQUIRE(after < before);
  const auto merged = LanguageTrainer::Create(trainer->Parameters().value(), {}, Alone()).value();
  REQUIRE(merged->Evaluate(batch)->loss == Approx(after).epsilon(1e-4));
  const LoraParameters adapter = *trainer->Adapter().value();
  const auto model = Gpt2::Create(SmallGpt2(), &adapter, {}).value();
  REQUIRE(model->Logits(batch.tokens).ok());
}

TEST_CASE("a step without a target is counted and changes nothing") {
  const auto trainer = Trainer({});
  WeightedBatch batch = Batch(1);
  batch.weights.assign(batch.weights.size(), 0.0F);
  const StepReport report = trainer->Step(batch, 1e-3).value();
  REQUIRE(report.step == 1);
  REQUIRE(report.loss.targets == 0);
  REQUIRE(trainer->Parameters().value().flat == SmallGpt2().flat);
  REQUIRE(trainer->Evaluate({})->targets == 0);
}

TEST_CASE("a loss that is not finite leaves the parameters of before") {
  Gpt2Parameters huge = SmallGpt2();
  for (float& x : huge.flat) x *= 1e30F;
  const auto trainer = LanguageTrainer::Create(huge, {}, Alone()).value();
  REQUIRE(absl::IsInternal(trainer->Step(Batch(1), 1e-3).status()));
  REQUIRE(trainer->Parameters().value().flat == huge.flat);
  REQUIRE(trainer->steps() == 0);
}

TEST_CASE("a batch or options that make no sense are refused") {
  const auto trainer = Trainer({});
  WeightedBatch batch = Batch(1);
  batch.weights.pop_back();
  REQUIRE(absl::IsInvalidArgument(trainer->Step(batch, 1e-3).status()));
  batch.weights.push_back(std::numeric_limits<float>::infinity());
  REQUIRE(absl::IsInvalidArgument(trainer->Evaluate(batch).status()));
  batch = Batch(1);
  batch.tokens.ids[3] = 50;
  REQUIRE(absl::IsInvalidArgument(trainer->Step(batch, 1e-3).status()));
  const auto refused = [](const TrainerOptions& options) {
    return absl::IsInvalidArgument(LanguageTrainer::Create(SmallGpt2(), options, Alone()).status());
  };
  REQUIRE(refused({.device = "tpu"}));
  REQUIRE(refused({.precision = runtime::DType::kInt64}));
  REQUIRE(refused({.slice_tokens = -1}));
  REQUIRE(refused({.max_gradient_norm = -1}));
  REQUIRE(refused({.optimiser = {.beta2 = 1}}));
  REQUIRE(refused({.optimiser = {.weight_decay = std::nan("")}}));
  REQUIRE(refused({.adapter = LoraOptions{.rank = 0}}));
}

}  // namespace
}  // namespace shoal::language
