// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/algorithms/targets.h"
#include "tests/rl/algorithms/ranks.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kLength = 5;
constexpr std::int64_t kColumns = 6;
constexpr std::size_t kRows = kLength * kColumns;

model::PolicySpec NumbersSpec() {
  model::PolicySpec spec;
  spec.head = "discrete";
  spec.action_count = 4;
  spec.observation_size = 3;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {8};
  spec.value_hidden = {8};
  spec.query_init = 1;
  return spec;
}

AlgorithmOptions OneStep(const std::string& name) {
  AlgorithmOptions options;
  options.name = name;
  options.update_epochs = 1;
  options.minibatches = 1;
  options.optimiser = "sgd";
  options.momentum = 0;
  options.weight_decay = 0;
  options.learning_rate = 1;
  options.max_gradient_norm = 1e6;
  return options;
}

// Returns the log-probability of one action in the first rows of the batch, one at a time.
std::vector<float> LogProbabilities(const model::Policy& policy, const UnrollBatch& batch,
                                    std::int64_t action) {
  model::PolicyInputs inputs;
  inputs.rows = static_cast<std::int64_t>(kRows);
  inputs.observation.assign(
      batch.observation.begin(),
      batch.observation.begin() + inputs.rows * policy.spec().observation_size);
  inputs.first.assign(kRows, 0);
  inputs.choice.assign(kRows, model::Choice::kForced);
  inputs.draw.assign(kRows, 0);
  inputs.forced_action.assign(kRows, action);
  model::SimilarityCache cache;
  return policy.Act(inputs, cache)->log_probability;
}

// Rows of a policy that differs from the trained one: their importance weights are exp(-shift).
struct Sample {
  UnrollBatch batch;
  std::vector<double> shift;
};

Sample Draw(const model::PolicySpec& spec, const model::Policy* policy) {
  runtime::Random random(11);
  Sample sample;
  UnrollBatch& batch = sample.batch;
  batch.length = kLength;
  batch.columns = kColumns;
  const std::size_t all = kRows + kColumns;
  for (std::size_t i = 0; i < all * static_cast<std::size_t>(spec.observation_size); ++i) {
    batch.observation.push_back(static_cast<float>(random.Normal()));
  }
  for (std::size_t i = 0; i < all; ++i) batch.value.push_back(static_cast<float>(random.Normal()));
  batch.flags.assign(all, 0);
  for (std::size_t row = 0; row < kRows; ++row) {
    batch.action.push_back(static_cast<std::int64_t>(random.Below(4)));
    batch.reward.push_back(static_cast<float>(random.Normal()));
    batch.weight.push_back(row % 7 == 3 ? 0.0F : 1.0F);
    batch.staleness.push_back(static_cast<std::int64_t>(row * row / 9));
    sample.shift.push_back(0.4 * random.Normal());
    batch.behaviour_log_probability.push_back(static_cast<float>(sample.shift.back()));
  }
  if (policy == nullptr) return sample;
  for (std::int64_t action = 0; action < spec.action_count; ++action) {
    const std::vector<float> logs = LogProbabilities(*policy, batch, action);
    for (std::size_t row = 0; row < kRows; ++row) {
      if (batch.action[row] == action) batch.behaviour_log_probability[row] += logs[row];
    }
  }
  return sample;
}

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Variance(const std::vector<double>& values) {
  std::vector<double> squares;
  for (const double value : values) squares.push_back(std::pow(value - Mean(values), 2));
  return Mean(squares);
}

double EffectiveSize(const std::vector<double>& weights) {
  std::vector<double> squares;
  for (const double weight : weights) squares.push_back(weight * weight);
  return Mean(weights) * Mean(weights) / Mean(squares);
}

// Returns f(row) of every row with weight.
template <typename Function>
std::vector<double> Weighted(const UnrollBatch& batch, const Function& f) {
  std::vector<double> values;
  for (std::size_t row = 0; row < kRows; ++row) {
    if (batch.weight[row] > 0) values.push_back(f(row));
  }
  return values;
}

double ParameterNorm(const std::string& before, const std::string& after) {
  const auto left = model::SafetensorsView::Parse(before).value();
  const auto right = model::SafetensorsView::Parse(after).value();
  double squares = 0;
  for (const auto& entry : left.entries()) {
    const auto x = left.Floats(entry.name, entry.shape).value();
    const auto y = right.Floats(entry.name, entry.shape).value();
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(double{x[i]} - y[i], 2);
  }
  return std::sqrt(squares);
}

TEST_CASE("the report of an update has what a computation row by row finds") {
  const model::PolicySpec spec = NumbersSpec();
  const AlgorithmOptions options = OneStep("ppo");
  const auto trainer = Trainer(spec, options);
  const auto policy = PolicyOf(*trainer, spec);
  const Sample sample = Draw(spec, policy.get());
  const UnrollBatch& batch = sample.batch;
  const std::string before = trainer->SerializeParameters({}).value();
  const UpdateReport report = trainer->Update(batch).value();

  const auto ratio = [&](std::size_t row) { return std::exp(-sample.shift[row]); };
  REQUIRE(report.approximate_kl == Approx(Mean(Weighted(batch, [&](std::size_t row) {
                                     return ratio(row) - 1 - std::log(ratio(row));
                                   }))).epsilon(1e-4));
  REQUIRE(report.effective_sample_size ==
          Approx(EffectiveSize(Weighted(batch, ratio))).epsilon(1e-4));
  REQUIRE(report.algorithm_metrics.at(0).first == "clip_fraction");
  REQUIRE(report.algorithm_metrics.at(0).second ==
          Approx(Mean(Weighted(batch, [&](std::size_t row) {
            return std::abs(ratio(row) - 1) > options.clip ? 1.0 : 0.0;
          }))).epsilon(1e-6));

  std::vector<double> entropy(kRows, 0);
  for (std::int64_t action = 0; action < spec.action_count; ++action) {
    const std::vector<float> logs = LogProbabilities(*policy, batch, action);
    for (std::size_t row = 0; row < kRows; ++row) entropy[row] -= std::exp(logs[row]) * logs[row];
  }
  REQUIRE(report.entropy == Approx(Mean(Weighted(batch, [&](std::size_t row) {
                              return entropy[row];
                            }))).epsilon(1e-5));

  const Targets targets = GeneralisedTargets(batch, BehaviourView(batch), options.targets());
  const double left = Variance(Weighted(
      batch, [&](std::size_t row) { return double{targets.value[row]} - batch.value[row]; }));
  const double whole =
      Variance(Weighted(batch, [&](std::size_t row) { return double{targets.value[row]}; }));
  REQUIRE(report.explained_variance == Approx(1 - left / whole).epsilon(1e-4));

  // A step of plain gradient descent with rate 1 is the gradient.
  REQUIRE(report.gradient_norm ==
          Approx(ParameterNorm(before, trainer->SerializeParameters({}).value())).epsilon(1e-4));
}

TEST_CASE("the report counts rows by how many publications they are behind") {
  const model::PolicySpec spec = NumbersSpec();
  const Sample sample = Draw(spec, nullptr);
  const UpdateReport report = Trainer(spec, OneStep("ppo"))->Update(sample.batch).value();
  std::vector<double> expected(report.staleness_rows.size(), 0);
  for (const double behind : Weighted(sample.batch, [&](std::size_t row) {
         return static_cast<double>(sample.batch.staleness[row]);
       })) {
    std::size_t bucket = 0;
    while (bucket < kStalenessBounds.size() && behind > kStalenessBounds[bucket]) ++bucket;
    ++expected[bucket];
  }
  REQUIRE(std::vector<double>(report.staleness_rows.begin(), report.staleness_rows.end()) ==
          expected);
  for (const double rows : expected) REQUIRE(rows > 0);
}

TEST_CASE(
    "the drift is of the rows that acted by the parameters that are trained, and of no other") {
  const model::PolicySpec spec = NumbersSpec();
  const auto trainer = Trainer(spec, OneStep("ppo"));
  Sample sample = Draw(spec, PolicyOf(*trainer, spec).get());
  const UpdateReport unknown = trainer->Update(sample.batch).value();
  REQUIRE(unknown.current_rows == 0);
  REQUIRE(unknown.log_probability_drift == 0);

  sample = Draw(spec, PolicyOf(*trainer, spec).get());
  sample.batch.newest_is_trained = true;
  const UpdateReport report = trainer->Update(sample.batch).value();
  std::vector<double> drift;
  for (std::size_t row = 0; row < kRows; ++row) {
    const bool counts = sample.batch.weight[row] > 0 && sample.batch.staleness[row] == 0;
    if (counts) drift.push_back(std::abs(sample.shift[row]));
  }
  REQUIRE(drift.size() == 3);
  REQUIRE(report.current_rows == 3);
  REQUIRE(report.log_probability_drift == Approx(Mean(drift)).epsilon(1e-4));
}

TEST_CASE("the steps of an update are no drift, however far they move the policy") {
  const model::PolicySpec spec = NumbersSpec();
  AlgorithmOptions options = OneStep("ppo");
  options.update_epochs = 4;
  options.minibatches = 2;
  const auto trainer = Trainer(spec, options);
  const auto policy = PolicyOf(*trainer, spec);
  Sample sample = Draw(spec, policy.get());
  sample.batch.newest_is_trained = true;
  for (std::size_t row = 0; row < kRows; ++row) {
    sample.batch.staleness[row] = 0;
    sample.batch.behaviour_log_probability[row] -= static_cast<float>(sample.shift[row]);
  }
  const UpdateReport report = trainer->Update(sample.batch).value();
  REQUIRE(report.current_rows > 10);
  REQUIRE(report.log_probability_drift < 1e-5);
  REQUIRE(report.approximate_kl > 1e-3);
}

TEST_CASE("a linear schedule ends at its share of the rate and stays there") {
  const model::PolicySpec spec = NumbersSpec();
  AlgorithmOptions options = OneStep("ppo");
  options.learning_rate = 1e-3;
  options.schedule = "linear";
  options.schedule_updates = 4;
  options.schedule_end = 0.2;
  const auto trainer = Trainer(spec, options);
  const UnrollBatch batch = Draw(spec, nullptr).batch;
  for (const double share : {1.0, 0.8, 0.6, 0.4, 0.2, 0.2}) {
    REQUIRE(trainer->Update(batch).value().learning_rate == Approx(share * 1e-3));
  }
}

TEST_CASE("the weight of the entropy goes in a straight line to its end, and the loss with it") {
  const model::PolicySpec spec = NumbersSpec();
  AlgorithmOptions options = OneStep("ppo");
  options.learning_rate = 0;
  options.entropy = 0.4;
  options.schedule_updates = 4;
  const UnrollBatch batch = Draw(spec, nullptr).batch;
  const auto constant = Trainer(spec, options);
  const UpdateReport unchanged = constant->Update(batch).value();
  REQUIRE(constant->Update(batch).value().entropy_coefficient == 0.4);
  options.entropy_end = 0.8;
  const auto trainer = Trainer(spec, options);
  for (const double weight : {0.4, 0.5, 0.6, 0.7, 0.8, 0.8}) {
    const UpdateReport report = trainer->Update(batch).value();
    REQUIRE(report.entropy_coefficient == Approx(weight));
    REQUIRE(report.policy_loss ==
            Approx(unchanged.policy_loss - (weight - 0.4) * unchanged.entropy));
  }
}

TEST_CASE("the exponent of importance weights goes in a straight line to its end") {
  AlgorithmOptions options;
  options.schedule_updates = 10;
  for (const std::int64_t updates : {0, 5, 10, 99}) {
    REQUIRE(options.ImportanceExponentAfter(updates) == options.importance_exponent);
  }
  options.importance_exponent_end = 1;
  REQUIRE(options.ImportanceExponentAfter(0) == 0.4);
  REQUIRE(options.ImportanceExponentAfter(5) == Approx(0.7));
  REQUIRE(options.ImportanceExponentAfter(10) == 1);
  REQUIRE(options.ImportanceExponentAfter(99) == 1);
}

TEST_CASE("with action values the effective sample size is that of replay's importance weights") {
  const std::string name = GENERATE("dqn", "sac");
  model::PolicySpec spec = NumbersSpec();
  spec.action_values = name == "dqn";
  spec.twin_critics = name == "sac";
  UnrollBatch batch = Draw(spec, nullptr).batch;
  batch.importance = {1, 0.5F, 0.25F, 0.75F, 0.125F, 1};
  const UpdateReport report = Trainer(spec, OneStep(name))->Update(batch).value();
  REQUIRE(report.effective_sample_size ==
          Approx(EffectiveSize(Weighted(batch, [&](std::size_t row) {
            return double{batch.importance[row % kColumns]};
          }))).epsilon(1e-6));
}

std::vector<double> NumbersOf(const UpdateReport& report) {
  std::vector<double> numbers = {report.rows,
                                 report.policy_loss,
                                 report.value_loss,
                                 report.entropy,
                                 report.approximate_kl,
                                 report.effective_sample_size,
                                 report.log_probability_drift,
                                 report.current_rows,
                                 report.explained_variance,
                                 report.max_absolute_value,
                                 report.mean_return,
                                 report.gradient_norm,
                                 report.mean_staleness,
                                 report.max_staleness};
  numbers.insert(numbers.end(), report.staleness_rows.begin(), report.staleness_rows.end());
  for (const auto& [name, value] : report.algorithm_metrics) numbers.push_back(value);
  return numbers;
}

TEST_CASE("the report of an update is the same for any number of ranks") {
  const AlgorithmOptions options = OneStep(GENERATE("ppo", "impala"));
  const model::PolicySpec spec = NumbersSpec();
  const auto alone = Trainer(spec, options);
  const UnrollBatch batch = Draw(spec, PolicyOf(*alone, spec).get()).batch;
  UnrollBatch empty;
  empty.length = kLength;
  const std::vector<UnrollBatch> parts = {Columns(batch, spec, 0, 1), empty,
                                          Columns(batch, spec, 1, kColumns)};
  std::vector<UpdateReport> reports(parts.size());
  RunRanks(parts.size(), [&](std::size_t rank, collectives::GradientReducer& reducer) {
    SHOAL_ASSIGN_OR_RETURN(const auto trainer,
                           PolicyTrainer::Create(spec, options, kTrainerSeed, reducer));
    SHOAL_ASSIGN_OR_RETURN(reports[rank], trainer->Update(parts[rank]));
    return absl::OkStatus();
  });
  const std::vector<double> expected = NumbersOf(alone->Update(batch).value());
  for (const UpdateReport& report : reports) {
    const std::vector<double> numbers = NumbersOf(report);
    REQUIRE(numbers.size() == expected.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      INFO("number " << i);
      REQUIRE(numbers[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-9));
    }
  }
}

}  // namespace
}  // namespace shoal::algorithms
