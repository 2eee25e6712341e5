// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/zeros.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/soft_gradient.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/safetensors.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/point_episodes.h"
#include "tests/rl/algorithms/trainers.h"
#include "tests/rl/model/devices.h"

namespace shoal::algorithms {
namespace {

AlgorithmOptions SacOptions() {
  AlgorithmOptions options;
  options.name = "sac";
  options.update_epochs = 1;
  options.minibatches = 1;
  options.max_gradient_norm = 0;
  options.adam_epsilon = 1e-8;
  return options;
}

model::PolicySpec SoftSpec(const std::string& head) {
  model::PolicySpec spec;
  spec.head = head;
  spec.twin_critics = true;
  spec.observation_size = 3;
  spec.action_count = 2;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {8};
  spec.value_hidden = {8};
  spec.query_init = 1;
  return spec;
}

// A batch without ends, of random observations and actions.
UnrollBatch RandomBatch(const model::PolicySpec& spec, std::int64_t length, std::int64_t columns) {
  runtime::Random random(3);
  const auto rows = static_cast<std::size_t>(length * columns);
  const std::size_t all = rows + static_cast<std::size_t>(columns);
  UnrollBatch batch;
  batch.length = length;
  batch.columns = columns;
  for (std::size_t i = 0; i < all * static_cast<std::size_t>(spec.observation_size); ++i) {
    batch.observation.push_back(static_cast<float>(random.Normal()));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (!spec.has_box()) {
      batch.action.push_back(
          static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(spec.action_count))));
    }
    for (std::int64_t i = 0; spec.has_box() && i < spec.action_count; ++i) {
      batch.box_action.push_back(static_cast<float>(2 * random.Uniform() - 1));
    }
    batch.reward.push_back(static_cast<float>(random.Normal()));
  }
  batch.behaviour_log_probability.assign(rows, 0);
  batch.weight.assign(rows, 1);
  batch.value.assign(all, 0);
  batch.flags.assign(all, 0);
  return batch;
}

TEST_CASE("A soft target earns the entropy of every row that it arrives in, and of none beyond") {
  UnrollBatch batch;
  batch.length = 5;
  batch.columns = 1;
  batch.flags = {kFirst, kTerminated, kFirst | kTruncated, kFinal, kFirst, 0};
  batch.reward = {1, 2, 3, 0, 5};
  batch.value.assign(6, 0);
  batch.weight = {1, 1, 1, 0, 1};
  batch.behaviour_log_probability.assign(5, 0);
  const std::vector<float> value = {10, 20, 30, 40, 50, 60};
  const std::vector<float> bonus = {.1F, .2F, .3F, .4F, .5F, .6F};
  AlgorithmOptions options = SacOptions();
  options.gamma = 0.5;
  const auto targets = [&](std::int64_t n) {
    options.n_step = n;
    const auto sac = MakeAlgorithm(options).value();
    return sac->soft()->Estimate(batch, {.value = value, .entropy_bonus = bonus});
  };
  const std::vector<float> one = targets(1);
  REQUIRE(one[0] == Approx(1 + .5 * (20 + .2)));
  REQUIRE(one[1] == Approx(2));
  REQUIRE(one[2] == Approx(3 + .5 * (40 + .4)));
  REQUIRE(one[4] == Approx(5 + .5 * (60 + .6)));
  const std::vector<float> two = targets(2);
  REQUIRE(two[0] == Approx(1 + .5 * .2 + .5 * 2));
  REQUIRE(two[2] == Approx(3 + .5 * (40 + .4)));
  batch.flags = {kFirst, 0, kTruncated, kFirst, 0, 0};
  // The last observation of the first episode was lost: its last row states what it is worth.
  REQUIRE(targets(3)[0] == Approx(1 + .5 * (.2 + 2) + .25 * (.3 + 30)));
}

TEST_CASE("The temperature holds -1 nat for each dimension, or a share of the greatest entropy") {
  AlgorithmOptions options = SacOptions();
  options.target_entropy_share = 0.5;
  const auto sac = MakeAlgorithm(options).value();
  model::PolicySpec spec = SoftSpec("box");
  spec.action_count = 3;
  REQUIRE(sac->soft()->TargetEntropy(spec) == -3);
  spec.head = "discrete";
  REQUIRE(sac->soft()->TargetEntropy(spec) == Approx(0.5 * std::log(3)));
}

// Compares the gradients of each part of the network with central differences of the one loss that
// it is trained on, along random directions. So no loss reaches another's parameters.
void RequireOwnGradients(const model::PolicySpec& spec) {
  const auto layout = model::ParameterLayout::Of(spec);
  const auto values_of = [](const at::Tensor& tensor) {
    return std::span(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
  };
  const at::Tensor flat = at::zeros({layout.total}, at::kFloat);
  const at::Tensor target = at::zeros({layout.total}, at::kFloat);
  const at::Tensor gradient = at::zeros({layout.trainable}, at::kFloat);
  layout.Initialise(5, values_of(flat));
  layout.Initialise(6, values_of(target));
  const at::Tensor target_before = target.clone();
  const auto sac = MakeAlgorithm(SacOptions()).value();
  const UnrollBatch batch = RandomBatch(spec, 4, 3);
  const BatchTensors tensors =
      MakeBatchTensors(batch, spec, RowWeights(batch), EvaluatedRows::kAll, at::kCPU);
  runtime::Random random(9);
  const auto noise_of = [&](std::int64_t rows) {
    if (!spec.has_box()) return at::Tensor();
    at::Tensor noise = at::zeros({rows, spec.action_count}, at::kFloat);
    for (float& number : values_of(noise)) number = static_cast<float>(random.Normal());
    return noise;
  };
  const at::Tensor noise = noise_of(12);
  constexpr double kTargetEntropy = 0.3;
  SoftGradient soft(spec, layout, {.trained = flat, .target = target, .gradient = gradient},
                    kTargetEntropy, model::Precision::kFloat32);
  const SoftRowsOfBatch rows = soft.Evaluate(tensors, 15, noise_of(15));
  const TargetTensors targets(
      Targets{.advantage = std::vector<float>(12),
              .value = sac->soft()->Estimate(
                  batch, {.value = rows.value, .entropy_bonus = rows.entropy_bonus})},
      at::kCPU);
  std::vector<std::int64_t> items(12);
  std::iota(items.begin(), items.end(), 0);
  std::vector<float> absolute_error(12);
  const auto losses = [&] {
    gradient.zero_();
    return soft.Add({batch, tensors, targets, *sac}, IndexList::Of(items, at::kCPU), noise,
                    absolute_error);
  };
  for (const model::ParameterInfo& info : layout.parameters) {
    INFO(info.name);
    MinibatchSums sums = losses();
    const auto own = values_of(gradient).subspan(static_cast<std::size_t>(info.offset),
                                                 static_cast<std::size_t>(info.size));
    if (info.name == "log_temperature") {
      REQUIRE(own[0] == Approx(sums.entropy() - 12 * kTargetEntropy).epsilon(1e-4));
      continue;
    }
    std::vector<float> direction;
    double expected = 0;
    for (const float by : own) {
      direction.push_back(static_cast<float>(random.Normal()));
      expected += static_cast<double>(by) * direction.back();
    }
    const auto moved = [&](float step) {
      const auto parameters = values_of(flat).subspan(static_cast<std::size_t>(info.offset));
      for (std::size_t i = 0; i < direction.size(); ++i) parameters[i] += step * direction[i];
      MinibatchSums at = losses();
      return info.name.starts_with("critic.") ? at.value_loss() : at.policy_loss();
    };
    constexpr float kStep = 1e-3F;
    const double after = moved(kStep);
    const double before = moved(-2 * kStep);
    moved(kStep);
    REQUIRE(std::abs(expected) > 1e-4);
    REQUIRE((after - before) / (2 * static_cast<double>(kStep)) ==
            Approx(expected).epsilon(0.02).margin(0.02));
  }
  REQUIRE(target.equal(target_before));
}

TEST_CASE("Critics, policy and temperature each follow the gradient of their own loss alone") {
  RequireOwnGradients(SoftSpec("box"));
  RequireOwnGradients(SoftSpec("discrete"));
}

// Three states and two actions. Action 0 of state 2 terminates; action 1 of state 2 is truncated
// with a final observation, which is worth its future.
constexpr std::size_t kStates = 3;
constexpr std::size_t kActions = 2;
constexpr double kRewards[kStates][kActions] = {{0.0, 0.3}, {0.5, -0.2}, {1.0, 0.1}};
constexpr std::size_t kNext[kStates][kActions] = {{1, 0}, {2, 0}, {0, 1}};
constexpr double kGamma = 0.8;

bool Terminates(std::size_t state, std::size_t action) { return state == 2 && action == 0; }

using Table = std::array<std::array<double, kActions>, kStates>;

// Soft value iteration (Haarnoja et al. 2017, "Reinforcement learning with deep energy-based
// policies", section 3): V(s) = temperature * log sum exp(Q(s, a) / temperature).
Table SoftValues(double temperature) {
  Table values{};
  for (int sweep = 0; sweep < 500; ++sweep) {
    std::array<double, kStates> of_state{};
    for (std::size_t s = 0; s < kStates; ++s) {
      double sum = 0;
      for (const double value : values[s]) sum += std::exp(value / temperature);
      of_state[s] = temperature * std::log(sum);
    }
    for (std::size_t s = 0; s < kStates; ++s) {
      for (std::size_t a = 0; a < kActions; ++a) {
        values[s][a] = kRewards[s][a] + (Terminates(s, a) ? 0 : kGamma * of_state[kNext[s][a]]);
      }
    }
  }
  return values;
}

// Every state with every action, each as an unroll of one row.
UnrollBatch EveryTransition() {
  UnrollBatch batch;
  batch.length = 1;
  batch.columns = kStates * kActions;
  batch.observation.assign(2 * kStates * kActions * kStates, 0);
  batch.flags.assign(2 * kStates * kActions, 0);
  for (std::size_t s = 0; s < kStates; ++s) {
    for (std::size_t a = 0; a < kActions; ++a) {
      const std::size_t column = s * kActions + a;
      const std::size_t after = kStates * kActions + column;
      batch.observation[column * kStates + s] = 1;
      if (Terminates(s, a)) {
        batch.flags[column] = kTerminated;
      } else {
        batch.observation[after * kStates + kNext[s][a]] = 1;
      }
      if (s == 2 && a == 1) {
        batch.flags[column] = kTruncated;
        batch.flags[after] = kFinal;
      }
      batch.action.push_back(static_cast<std::int64_t>(a));
      batch.reward.push_back(static_cast<float>(kRewards[s][a]));
    }
  }
  batch.behaviour_log_probability.assign(kStates * kActions, 0);
  batch.weight.assign(kStates * kActions, 1);
  batch.value.assign(2 * kStates * kActions, 0);
  return batch;
}

TEST_CASE("On a tabular process SAC finds the values of soft value iteration") {
  // Without hidden layers and with one observation for each state the networks are tables.
  model::PolicySpec spec = SoftSpec("discrete");
  spec.hidden = {};
  spec.value_hidden = {};
  AlgorithmOptions options = SacOptions();
  options.gamma = kGamma;
  options.learning_rate = 5e-3;
  constexpr int kUpdates = 6000;
  options.schedule = "linear";
  options.schedule_updates = kUpdates;
  options.target_rate = 0.05;
  options.target_entropy_share = 0.7;
  const auto trainer = Trainer(spec, options);
  const UnrollBatch batch = EveryTransition();
  double entropy = 0;
  for (int update = 0; update < kUpdates; ++update) {
    entropy = trainer->Update(batch).value().entropy;
  }
  REQUIRE(entropy == Approx(0.7 * std::log(2)).margin(0.01));
  const std::string file = trainer->SerializeParameters({}).value();
  const auto parameters = model::SafetensorsView::Parse(file).value();
  const auto numbers_of = [&](const std::string& name, const runtime::Shape& shape) {
    return parameters.Floats(name, shape).value();
  };
  const double temperature = std::exp(numbers_of("log_temperature", {1})[0]);
  const Table exact = SoftValues(temperature);
  for (const std::string critic : {"critic.0", "critic.1"}) {
    const auto weight = numbers_of(critic + ".out.weight", {kActions, kStates});
    const auto bias = numbers_of(critic + ".out.bias", {kActions});
    for (std::size_t s = 0; s < kStates; ++s) {
      for (std::size_t a = 0; a < kActions; ++a) {
        INFO(critic << ", state " << s << ", action " << a << ", temperature " << temperature);
        const double value = weight[a * kStates + s] + bias[a];
        REQUIRE(value == Approx(exact[s][a]).margin(0.02));
      }
    }
  }
}

TEST_CASE("SAC learns which point of a box the observation names") {
  model::PolicySpec spec = SoftSpec("box");
  spec.activation = "relu";
  spec.hidden = {32};
  spec.value_hidden = {64};
  AlgorithmOptions options = SacOptions();
  options.learning_rate = 5e-3;
  // A temperature of 1, as at the start, leaves the policy near to the best points.
  options.reward_scale = 10;
  const auto trainer = Trainer(spec, options);
  const auto mean_reward = [&] {
    const UnrollBatch greedy =
        PointEpisodes(*PolicyOf(*trainer, spec), 200, 1000, model::Choice::kGreedy);
    return std::accumulate(greedy.reward.begin(), greedy.reward.end(), 0.0) / 200;
  };
  REQUIRE(mean_reward() < -0.15);
  for (std::uint64_t update = 0; update < 1000; ++update) {
    const UnrollBatch batch =
        PointEpisodes(*PolicyOf(*trainer, spec), 64, update, model::Choice::kSample);
    REQUIRE(trainer->Update(batch).ok());
  }
  REQUIRE(mean_reward() > -0.05);
}

TEST_CASE("A soft trainer that loaded a checkpoint goes on with the same bits") {
  const doubles::TemporaryFolder folder;
  const model::PolicySpec spec = SoftSpec("box");
  const UnrollBatch batch = RandomBatch(spec, 4, 3);
  const auto one = Trainer(spec, SacOptions());
  for (int update = 0; update < 3; ++update) REQUIRE(one->Update(batch).ok());
  REQUIRE(one->Save(folder.path(), "").ok());
  const auto other = Trainer(spec, SacOptions());
  REQUIRE(other->Load(folder.path()).ok());
  const UpdateReport report = one->Update(batch).value();
  REQUIRE(other->Update(batch).value().policy_loss == report.policy_loss);
  REQUIRE(one->Digest() == other->Digest());
  REQUIRE(report.priorities.size() == 3);
}

TEST_CASE("Twin critics go with SAC alone, and are not cloned") {
  collectives::SingleRank alone;
  const auto refused = [&](const model::PolicySpec& spec, const std::string& name) {
    AlgorithmOptions options = SacOptions();
    options.name = name;
    return PolicyTrainer::Create(spec, options, 1, alone).status().code();
  };
  model::PolicySpec spec = SoftSpec("discrete");
  REQUIRE(refused(spec, "ppo") == absl::StatusCode::kInvalidArgument);
  const auto trainer = Trainer(spec, SacOptions());
  REQUIRE(trainer->CloneBehaviour(RandomBatch(spec, 2, 2), 1e-3).status().code() ==
          absl::StatusCode::kInvalidArgument);
  spec.twin_critics = false;
  REQUIRE(refused(spec, "sac") == absl::StatusCode::kInvalidArgument);
  spec.head = "box";
  REQUIRE(spec.Validate().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("A rate that follows the KL is refused where no KL is measured") {
  collectives::SingleRank alone;
  AlgorithmOptions options = SacOptions();
  options.schedule = "kl";
  const auto refused = PolicyTrainer::Create(SoftSpec("discrete"), options, 1, alone);
  REQUIRE(refused.status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(runtime::Message(refused.status()).starts_with("algorithm.schedule: "));
}

TEST_CASE(
    "A soft update on a device changes the parameters as one on the CPU does, in bfloat16 nearly") {
  const model::PolicySpec spec = SoftSpec(GENERATE("box", "discrete"));
  AlgorithmOptions options = SacOptions();
  options.adam_epsilon = 1;
  const UnrollBatch batch = RandomBatch(spec, 4, 3);
  const auto layout = model::ParameterLayout::Of(spec);
  const auto train = [&](const model::ComputeDevice& device) {
    collectives::SingleRank alone;
    const auto trainer = PolicyTrainer::Create(spec, options, 1, alone, device).value();
    for (int i = 0; i < 2; ++i) REQUIRE(trainer->Update(batch).ok());
    std::vector<float> numbers(static_cast<std::size_t>(layout.total));
    REQUIRE(layout.Read(trainer->SerializeParameters({}).value(), spec, numbers).ok());
    return numbers;
  };
  std::vector<float> before(static_cast<std::size_t>(layout.total));
  layout.Initialise(1, before);
  const std::vector<float> expected = train({});
  for (model::ComputeDevice device : model::BatchDevices()) {
    const std::vector<float> found = train(device);
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == Approx(expected[i]).margin(1e-4));
    }
    device.precision = model::Precision::kBfloat16;
    const double distance = RelativeDistance(train(device), expected, before);
    REQUIRE(distance < 0.03);
    REQUIRE(distance > 1e-4);
  }
}

TEST_CASE("A soft step whose gradients are accumulated is that of an undivided minibatch") {
  const model::PolicySpec spec = SoftSpec(GENERATE("box", "discrete"));
  const UnrollBatch batch = RandomBatch(spec, 4, 3);
  AlgorithmOptions options = SacOptions();
  options.adam_epsilon = 1;
  std::vector<std::vector<float>> ends;
  std::vector<std::vector<float>> priorities;
  for (const std::int64_t parts : {1, 5}) {
    options.accumulation_steps = parts;
    const auto trainer = Trainer(spec, options);
    for (int i = 0; i < 2; ++i) priorities.push_back(trainer->Update(batch).value().priorities);
    ends.push_back(trainer->Parameters());
  }
  const std::vector<float> before = Trainer(spec, options)->Parameters();
  REQUIRE(ends[0] != ends[1]);
  REQUIRE(RelativeDistance(ends[1], ends[0], before) < 1e-5);
  for (std::size_t i = 0; i < priorities[1].size(); ++i) {
    REQUIRE(priorities[3][i] == Approx(priorities[1][i]).epsilon(1e-5));
  }
}

TEST_CASE("A batch with actions outside of the box, or of another size, is refused") {
  const model::PolicySpec spec = SoftSpec("box");
  const auto trainer = Trainer(spec, SacOptions());
  UnrollBatch batch = RandomBatch(spec, 2, 2);
  batch.box_action[1] = 1.5F;
  REQUIRE(trainer->Update(batch).status().code() == absl::StatusCode::kInvalidArgument);
  batch.box_action[1] = std::nanf("");
  REQUIRE(trainer->Update(batch).status().code() == absl::StatusCode::kInvalidArgument);
  batch.box_action.pop_back();
  REQUIRE(trainer->Update(batch).status().code() == absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal::algorithms
