// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/split_value_gradient.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm_fit.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/relabelling.h"
#include "rl/algorithms/target_estimation.h"
#include "rl/algorithms/training_batch.h"
#include "rl/estimators/exploration_family.h"
#include "rl/estimators/value_transform.h"
#include "rl/model/parameter_layout.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kMembers = 3;
constexpr std::int64_t kSeen = 4;  // numbers of the task's observation
constexpr std::int64_t kChoices = 3;
constexpr std::int64_t kObservation = estimators::kSplitNumbers + kSeen + kMembers;
constexpr std::array<double, kMembers> kFactor = {0, 0.5, 1};

model::PolicySpec SplitSpec(const std::string& values, bool dueling) {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.action_values = true;
  spec.dueling = dueling;
  spec.split_values = values;
  spec.observation_size = kObservation;
  spec.action_count = kChoices;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {6};
  spec.value_hidden = {5};
  return spec;
}

AlgorithmOptions SplitOptions(bool transformed) {
  AlgorithmOptions options;
  options.name = "dqn";
  options.members = kMembers;
  options.gamma = 0.9;
  options.least_gamma = 0.5;
  options.n_step = 2;
  options.reward_scale = 2;
  options.huber = 0.7;
  options.transform_values = transformed;
  options.update_epochs = 1;
  options.minibatches = 1;
  return options;
}

// Two columns of seven rows: in the first an episode terminates with the third, in the second one
// is truncated with the fourth before a FINAL row; others go on.
UnrollBatch Episodes(std::uint64_t seed) {
  runtime::Random random(seed);
  UnrollBatch batch;
  batch.length = 7;
  batch.columns = 2;
  batch.flags.assign(16, 0);
  batch.flags[0] = batch.flags[1] = kFirst;
  batch.flags[2 * 2] = kTerminated;
  batch.flags[3 * 2] = kFirst;
  batch.flags[3 * 2 + 1] = kTruncated;
  batch.flags[4 * 2 + 1] = kFinal;
  batch.flags[5 * 2 + 1] = kFirst;
  std::array<std::size_t, 2> member = {1, 2};
  for (std::size_t row = 0; row < 16; ++row) {
    const bool first = (batch.flags[row] & kFirst) != 0;
    if (first && row > 1) member[row % 2] = (member[row % 2] + 1) % kMembers;
    batch.observation.push_back(static_cast<float>(kFactor[member[row % 2]]));
    batch.observation.push_back(first ? 0.0F : static_cast<float>(random.Uniform()));
    for (std::int64_t i = 0; i < kSeen; ++i) {
      batch.observation.push_back(static_cast<float>(random.Normal()));
    }
    for (std::size_t m = 0; m < kMembers; ++m) {
      batch.observation.push_back(m == member[row % 2] ? 1.0F : 0.0F);
    }
  }
  for (std::size_t row = 0; row < 14; ++row) {
    const bool acts = (batch.flags[row] & kFinal) == 0;
    batch.action.push_back(acts ? static_cast<std::int64_t>(random.Below(kChoices)) : -1);
    batch.reward.push_back(acts ? static_cast<float>(random.Normal()) : 0);
    batch.weight.push_back(acts ? 1.0F : 0.0F);
  }
  batch.behaviour_log_probability.assign(14, -1);
  batch.value.assign(16, 0);
  batch.importance = {0.5F, 1.0F};
  return batch;
}

// The network and the targets in plain loops over doubles.
struct Reference {
  const model::PolicySpec& spec;
  const model::ParameterLayout& layout;
  const AlgorithmOptions& options;
  const UnrollBatch& batch;

  using Flat = std::vector<double>;

  double Inverse(double x) const {
    return options.transform_values ? estimators::InverseSignedHyperbolic(x) : x;
  }
  double Transform(double x) const {
    return options.transform_values ? estimators::SignedHyperbolic(x) : x;
  }

  std::vector<double> Layer(const Flat& flat, const std::string& name,
                            const std::vector<double>& in, bool last) const {
    const model::ParameterInfo& weight = *layout.Find(name + ".weight");
    const model::ParameterInfo& bias = *layout.Find(name + ".bias");
    REQUIRE(weight.shape[1] == static_cast<std::int64_t>(in.size()));
    std::vector<double> out;
    for (std::int64_t o = 0; o < weight.shape[0]; ++o) {
      double sum = flat[static_cast<std::size_t>(bias.offset + o)];
      for (std::size_t i = 0; i < in.size(); ++i) {
        sum += flat[static_cast<std::size_t>(weight.offset + o * weight.shape[1]) + i] * in[i];
      }
      out.push_back(last ? sum : std::tanh(sum));
    }
    return out;
  }

  // The action values of one of the two networks, "" or "intrinsic.".
  std::vector<double> Values(const Flat& flat, const std::string& network, std::size_t row) const {
    const float* const begin = &batch.observation[row * kObservation];
    const std::vector<double> seen(begin + estimators::kSplitNumbers, begin + kObservation);
    std::vector<double> values =
        Layer(flat, network + "head", Layer(flat, network + "torso.0", seen, false), true);
    if (!spec.dueling) return values;
    const double value =
        Layer(flat, network + "value.out", Layer(flat, network + "value.0", seen, false), true)[0];
    double mean = 0;
    for (const double one : values) mean += one / kChoices;
    for (double& one : values) one += value - mean;
    return values;
  }

  double Number(std::size_t row, std::int64_t place) const {
    return batch.observation[row * kObservation + static_cast<std::size_t>(place)];
  }

  std::size_t Preferred(const Flat& flat, std::size_t row) const {
    const auto extrinsic = Values(flat, "", row);
    const auto intrinsic = Values(flat, "intrinsic.", row);
    std::vector<double> mixed;
    for (std::size_t a = 0; a < kChoices; ++a) {
      mixed.push_back(Transform(Inverse(extrinsic[a]) +
                                Number(row, estimators::kFactorPlace) * Inverse(intrinsic[a])));
    }
    return static_cast<std::size_t>(std::max_element(mixed.begin(), mixed.end()) - mixed.begin());
  }

  double Gamma(std::size_t row) const {
    const auto family = estimators::NguFamily(
        kMembers,
        {.greatest_beta = 1, .greatest_gamma = options.gamma, .least_gamma = options.least_gamma});
    for (std::size_t m = 0; m < kMembers; ++m) {
      if (Number(row, kObservation - kMembers + static_cast<std::int64_t>(m)) == 1) {
        return family[m].gamma;
      }
    }
    return 0;
  }

  // The target of a row's value by n steps and double Q.
  double Target(const Flat& trained, const Flat& target, const std::string& network,
                std::size_t row) const {
    double sum = 0;
    double discount = 1;
    for (std::int64_t step = 0; step < options.n_step; ++step, row += 2) {
      const bool terminated = (batch.flags[row] & kTerminated) != 0;
      double reward = batch.reward[row];
      if (!network.empty()) {
        reward = terminated ? 0 : Number(row + 2, estimators::kIntrinsicRewardPlace);
      }
      sum += discount * options.reward_scale * reward;
      if (terminated) return Transform(sum);
      discount *= Gamma(row);
      const bool ends = (batch.flags[row] & kTruncated) != 0 || row + 2 >= 14;
      if (!ends && step + 1 < options.n_step) continue;
      const double next = Values(target, network, row + 2)[Preferred(trained, row + 2)];
      return Transform(sum + discount * Inverse(next));
    }
    return 0;
  }

  double Error(const Flat& flat, const std::string& network, std::size_t row, double target) const {
    return Values(flat, network, row)[static_cast<std::size_t>(batch.action[row])] - target;
  }

  double Huber(double error) const {
    const double size = std::abs(error);
    return size <= options.huber ? size * size / 2 : options.huber * (size - options.huber / 2);
  }
};

// The parameters of a network with random numbers everywhere, biases included.
at::Tensor RandomParameters(const model::ParameterLayout& layout, std::uint64_t seed) {
  const at::Tensor flat = at::zeros({layout.total}, at::kFloat);
  runtime::Random random(seed);
  for (const model::ParameterInfo& info : layout.parameters) {
    float* const begin = flat.data_ptr<float>() + info.offset;
    std::generate(begin, begin + info.size,
                  [&] { return static_cast<float>(0.7 * random.Normal()); });
  }
  return flat;
}

std::vector<double> NumbersOf(const at::Tensor& flat) {
  const float* const begin = flat.data_ptr<float>();
  return {begin, begin + flat.numel()};
}

TEST_CASE("Both values learn what a plain reading of the paper's equations gives them as targets") {
  const bool transformed = GENERATE(false, true);
  const bool dueling = GENERATE(false, true);
  const model::PolicySpec spec = SplitSpec(transformed ? "transformed" : "sum", dueling);
  REQUIRE(spec.Validate().ok());
  const AlgorithmOptions options = SplitOptions(transformed);
  const auto algorithm = MakeAlgorithm(options).value();
  const auto layout = model::ParameterLayout::Of(spec);
  const at::Tensor flat = RandomParameters(layout, 3);
  const at::Tensor old = RandomParameters(layout, 4);
  const at::Tensor gradient = at::zeros({layout.trainable}, at::kFloat);
  const UnrollBatch unrolls = Episodes(8);
  REQUIRE(unrolls.Validate(spec).ok());
  const Reference reference{spec, layout, options, unrolls};
  std::vector<double> parameters = NumbersOf(flat);
  const std::vector<double> target_parameters = NumbersOf(old);

  SplitValueGradient trained(spec, layout, flat, gradient, model::Precision::kFloat32);
  const SplitValueGradient target(spec, layout, old, {}, model::Precision::kFloat32);
  PolicyGradient unused(spec, layout, flat, {}, HeadArithmetic::kRows);
  TrainingBatch batch(unrolls, spec, *algorithm, at::kCPU);
  const Targets targets =
      EstimateTargets(batch, {.trained = unused, .split = &trained, .split_target = &target}, spec,
                      StepDraws(1, 0, 0));
  std::vector<double> extrinsic(14);
  std::vector<double> intrinsic(14);
  std::vector<std::int64_t> items;
  for (std::size_t row = 0; row < 14; ++row) {
    if (batch.weight[row] == 0) continue;
    items.push_back(static_cast<std::int64_t>(row));
    extrinsic[row] = reference.Target(parameters, target_parameters, "", row);
    intrinsic[row] = reference.Target(parameters, target_parameters, "intrinsic.", row);
    REQUIRE(targets.value[row] == Approx(extrinsic[row]).epsilon(1e-4).margin(1e-4));
    REQUIRE(targets.intrinsic[row] == Approx(intrinsic[row]).epsilon(1e-4).margin(1e-4));
  }
  REQUIRE(items.size() == 13);

  batch.targets.emplace(targets, at::kCPU);
  MinibatchSums sums =
      trained.Add(batch.data({}), IndexList::Of(items, at::kCPU), batch.absolute_error);
  double of_task = 0;
  double of_novelty = 0;
  const auto add_losses = [&] {
    of_task = of_novelty = 0;
    for (const std::int64_t item : items) {
      const auto row = static_cast<std::size_t>(item);
      const double weight = unrolls.importance[row % 2];
      of_task += weight * reference.Huber(reference.Error(parameters, "", row, extrinsic[row]));
      of_novelty +=
          weight * reference.Huber(reference.Error(parameters, "intrinsic.", row, intrinsic[row]));
    }
    return of_task + of_novelty;
  };
  add_losses();
  REQUIRE(sums.weight() == 13);
  REQUIRE(sums.policy_loss() == Approx(of_task).epsilon(1e-3));
  REQUIRE(sums.value_loss() == Approx(of_novelty).epsilon(1e-3));
  for (const std::int64_t item : items) {
    const auto row = static_cast<std::size_t>(item);
    const double error = std::abs(reference.Error(parameters, "", row, extrinsic[row])) +
                         std::abs(reference.Error(parameters, "intrinsic.", row, intrinsic[row]));
    REQUIRE(batch.absolute_error[row] == Approx(error).epsilon(1e-3).margin(1e-3));
  }
  for (const model::ParameterInfo& info : layout.parameters) {
    for (std::int64_t i = info.offset; i < info.offset + info.size; ++i) {
      constexpr double kStep = 1e-4;
      double& parameter = parameters[static_cast<std::size_t>(i)];
      const double before = parameter;
      parameter = before + kStep;
      const double above = add_losses();
      parameter = before - kStep;
      const double below = add_losses();
      parameter = before;
      CAPTURE(info.name, i - info.offset);
      REQUIRE(gradient[i].item<double>() ==
              Approx((above - below) / (2 * kStep)).epsilon(5e-3).margin(5e-3));
    }
  }
}

TEST_CASE("With Retrace both targets look on along the actions that the mixed values prefer") {
  const model::PolicySpec spec = SplitSpec("sum", true);
  AlgorithmOptions options = SplitOptions(false);
  options.retrace = true;
  options.lambda = 0.8;
  const auto algorithm = MakeAlgorithm(options).value();
  const auto layout = model::ParameterLayout::Of(spec);
  const at::Tensor flat = RandomParameters(layout, 3);
  const at::Tensor old = RandomParameters(layout, 4);
  const UnrollBatch unrolls = Episodes(9);
  const Reference reference{spec, layout, options, unrolls};
  const std::vector<double> parameters = NumbersOf(flat);
  const std::vector<double> old_parameters = NumbersOf(old);
  const SplitValueGradient trained(spec, layout, flat, {}, model::Precision::kFloat32);
  const SplitValueGradient target(spec, layout, old, {}, model::Precision::kFloat32);
  PolicyGradient unused(spec, layout, flat, {}, HeadArithmetic::kRows);
  const TrainingBatch batch(unrolls, spec, *algorithm, at::kCPU);
  const Targets targets =
      EstimateTargets(batch, {.trained = unused, .split = &trained, .split_target = &target}, spec,
                      StepDraws(1, 0, 0));
  for (const std::string network : {"", "intrinsic."}) {
    const std::vector<float>& found = network.empty() ? targets.value : targets.intrinsic;
    std::vector<double> expected(16);
    int traced = 0;
    for (std::size_t row = 14; row-- > 0;) {
      if (batch.weight[row] == 0) continue;
      const bool terminated = (unrolls.flags[row] & kTerminated) != 0;
      double reward = unrolls.reward[row];
      if (!network.empty()) {
        reward = terminated ? 0 : reference.Number(row + 2, estimators::kIntrinsicRewardPlace);
      }
      expected[row] = options.reward_scale * reward;
      if (!terminated) {
        const std::size_t next = row + 2;
        const auto values = reference.Values(old_parameters, network, next);
        const std::size_t preferred = reference.Preferred(parameters, next);
        double after = values[preferred];
        const bool goes_on = next < 14 && batch.weight[next] > 0 &&
                             (unrolls.flags[row] & kTruncated) == 0 &&
                             unrolls.action[next] == static_cast<std::int64_t>(preferred);
        if (goes_on) {
          after += options.lambda * (expected[next] - values[preferred]);
          ++traced;
        }
        expected[row] += reference.Gamma(row) * after;
      }
      REQUIRE(found[row] == Approx(expected[row]).epsilon(1e-4).margin(1e-4));
    }
    REQUIRE(traced > 0);
  }
}

TEST_CASE("A row's intrinsic reward is in the row after it, and there is none at the end") {
  UnrollBatch batch;
  batch.length = 4;
  batch.columns = 1;
  batch.flags = {kFirst, kTruncated, kFinal, kFirst | kTerminated, 0};
  batch.observation = {1, 0, 1, 10, 1, 20, 1, 0, 1, 99};
  REQUIRE(IntrinsicRewards(batch) == std::vector<float>{10, 20, 0, 0});
}

TEST_CASE(
    "Relabelled unrolls name a policy that was drawn, with its factor, and are otherwise kept") {
  const UnrollBatch played = Episodes(8);
  std::set<std::size_t> drawn;
  int kept = 0;
  const auto family = estimators::NguFamily(kMembers, {.greatest_beta = 1});
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps; ++step) {
    UnrollBatch batch = played;
    RelabelPolicies(batch, kMembers, 0.5, StepDraws(1, 0, step));
    for (std::size_t column = 0; column < 2; ++column) {
      std::set<std::size_t> named;
      bool same = true;
      for (std::size_t row = column; row < 16; row += 2) {
        const auto begin =
            batch.observation.begin() + static_cast<std::ptrdiff_t>(row) * kObservation;
        const auto before =
            played.observation.begin() + static_cast<std::ptrdiff_t>(row) * kObservation;
        const auto members = begin + kObservation - kMembers;
        const auto member =
            static_cast<std::size_t>(std::max_element(members, members + kMembers) - members);
        REQUIRE(std::accumulate(members, members + kMembers, 0.0F) == 1);
        REQUIRE(std::equal(begin + 1, members, before + 1));
        same = same && std::equal(begin, begin + kObservation, before);
        named.insert(member);
      }
      if (same) {
        ++kept;
        continue;
      }
      REQUIRE(named.size() == 1);
      REQUIRE(batch.observation[column * kObservation + estimators::kFactorPlace] ==
              Approx(family[*named.begin()].beta));
      drawn.insert(*named.begin());
    }
    UnrollBatch again = played;
    RelabelPolicies(again, kMembers, 0.5, StepDraws(1, 0, step));
    REQUIRE(again.observation == batch.observation);
  }
  REQUIRE(drawn.size() == kMembers);
  // Six standard deviations of 400 draws are 60.
  REQUIRE(std::abs(kept - kSteps) < 60);
}

TEST_CASE("Inference acts on the mixed values that the learner's targets prefer") {
  const model::PolicySpec spec = SplitSpec(GENERATE("sum", "transformed"), GENERATE(false, true));
  const auto layout = model::ParameterLayout::Of(spec);
  const at::Tensor flat = RandomParameters(layout, 3);
  const std::string bytes =
      layout.Write({flat.data_ptr<float>(), static_cast<std::size_t>(layout.total)}, spec, {});
  const UnrollBatch unrolls = Episodes(8);
  const AlgorithmOptions options = SplitOptions(spec.split_values == "transformed");
  const Reference reference{spec, layout, options, unrolls};
  model::PolicyInputs inputs;
  inputs.rows = 16;
  inputs.observation = unrolls.observation;
  inputs.first.assign(16, 0);
  inputs.choice.assign(16, model::Choice::kGreedy);
  inputs.draw.assign(16, 0.5);
  const bool masked = GENERATE(false, true);
  if (masked) {
    for (int row = 0; row < 16; ++row) inputs.legal.insert(inputs.legal.end(), {1, 0, 1});
  }
  for (const bool whole_batches : {false, true}) {
    const auto policy =
        model::Policy::FromSafetensors(spec, bytes, nullptr, {.whole_batches = whole_batches})
            .value();
    model::SimilarityCache cache;
    const model::PolicyOutputs outputs = policy->Act(inputs, cache).value();
    for (std::size_t row = 0; row < 16; ++row) {
      const auto extrinsic = reference.Values(NumbersOf(flat), "", row);
      const auto intrinsic = reference.Values(NumbersOf(flat), "intrinsic.", row);
      std::size_t best = 0;
      double greatest = -1e9;
      for (std::size_t a = 0; a < kChoices; a += masked ? 2 : 1) {
        const double mixed = reference.Transform(reference.Inverse(extrinsic[a]) +
                                                 reference.Number(row, estimators::kFactorPlace) *
                                                     reference.Inverse(intrinsic[a]));
        if (mixed <= greatest) continue;
        greatest = mixed;
        best = a;
      }
      REQUIRE(outputs.action[row] == static_cast<std::int64_t>(best));
      REQUIRE(outputs.value[row] == Approx(greatest).epsilon(1e-4).margin(1e-4));
      REQUIRE(outputs.action_value[row] == Approx(greatest).epsilon(1e-4).margin(1e-4));
    }
  }
}

TEST_CASE("A trainer of split values learns both") {
  const model::PolicySpec spec = SplitSpec("transformed", true);
  AlgorithmOptions options = SplitOptions(true);
  options.learning_rate = 1e-2;
  options.target_updates = 10;
  options.max_gradient_norm = 0;
  const auto trainer = Trainer(spec, options);
  const UnrollBatch batch = Episodes(8);
  const UpdateReport first = trainer->Update(batch).value();
  UpdateReport last;
  for (int update = 0; update < 600; ++update) last = trainer->Update(batch).value();
  REQUIRE(last.policy_loss < 0.02 * first.policy_loss);
  REQUIRE(last.value_loss < 0.02 * first.value_loss);
  REQUIRE(last.priorities.size() == 2);
}

TEST_CASE("A trainer relabels the share of unrolls that it is told to, however it takes a step") {
  const model::PolicySpec spec = SplitSpec("sum", true);
  const auto trained = [&](double share, bool by_rank) {
    AlgorithmOptions options = SplitOptions(false);
    options.relabelled_share = share;
    const auto trainer = Trainer(spec, options);
    const UnrollBatch batch = Episodes(8);
    if (by_rank) {
      return trainer->ComputeGradient(batch).value().values;
    }
    REQUIRE(trainer->Update(batch).ok());
    return trainer->Parameters();
  };
  for (const bool by_rank : {false, true}) {
    REQUIRE(trained(0, by_rank) == trained(0, by_rank));
    REQUIRE(trained(1, by_rank) != trained(0, by_rank));
  }
}

TEST_CASE("Split values are refused where there is no family, or no network that has them") {
  collectives::SingleRank alone;
  const auto create = [&](const model::PolicySpec& spec, const AlgorithmOptions& options) {
    return PolicyTrainer::Create(spec, options, 1, alone).status();
  };
  const model::PolicySpec spec = SplitSpec("sum", true);
  REQUIRE(create(spec, SplitOptions(false)).ok());
  REQUIRE(absl::IsInvalidArgument(create(spec, SplitOptions(true))));
  AlgorithmOptions alone_options = SplitOptions(false);
  alone_options.members = 0;
  REQUIRE(absl::IsInvalidArgument(create(spec, alone_options)));
  AlgorithmOptions relabelling = SplitOptions(false);
  relabelling.relabelled_share = 0.5;
  REQUIRE(create(spec, relabelling).ok());
  REQUIRE(absl::IsInvalidArgument(create(SplitSpec("none", true), relabelling)));
  REQUIRE(absl::IsInvalidArgument(CheckClones(spec)));
  REQUIRE(CheckClones(SplitSpec("none", true)).ok());
  const auto refused = [&](const auto& change) {
    model::PolicySpec changed = spec;
    change(changed);
    return absl::IsInvalidArgument(changed.Validate());
  };
  REQUIRE(refused([](auto& it) { it.split_values = "product"; }));
  REQUIRE(refused([](auto& it) { it.core = "gru"; }));
  REQUIRE(refused([](auto& it) { it.head = "candidates"; }));
  REQUIRE(refused([](auto& it) { it.action_values = it.dueling = false; }));
  REQUIRE(refused([](auto& it) { it.observation_size = 1; }));
  REQUIRE(spec.Digest() != SplitSpec("none", true).Digest());
  model::PolicySpec task = spec;
  task.observation_size = 4;
  REQUIRE(SplitOptions(false).AppendMembers(task).ok());
  REQUIRE(task.observation_size == kObservation);
}

TEST_CASE("A middle discount makes the family that of Agent57") {
  AlgorithmOptions options = SplitOptions(false);
  options.members = 12;
  options.gamma = 0.99;
  options.middle_gamma = 0.95;
  options.least_gamma = 0.9;
  const auto gammas = options.action_value_targets().member_gamma;
  const auto family = estimators::Agent57Family(
      12, {.greatest_gamma = 0.99, .middle_gamma = 0.95, .least_gamma = 0.9});
  for (std::size_t i = 0; i < 12; ++i) REQUIRE(gammas[i] == family[i].gamma);
  REQUIRE(gammas[7] == 0.95);
  model::PolicySpec spec = SplitSpec("sum", true);
  REQUIRE(options.AppendMembers(spec).ok());
  for (const double middle : {0.995, 0.85}) {
    options.middle_gamma = middle;
    REQUIRE(absl::IsInvalidArgument(options.AppendMembers(spec)));
  }
  options.middle_gamma = 0.95;
  options.members = 9;
  REQUIRE(absl::IsInvalidArgument(options.AppendMembers(spec)));
}

}  // namespace
}  // namespace shoal::algorithms
