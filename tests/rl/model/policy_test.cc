// SPDX-License-Identifier: Apache-2.0
#include "rl/model/policy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "rl/model/safetensors.h"
#include "rl/model/squashed_gaussian.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

TEST_CASE("sampling inverts the cumulative distribution in the order of the actions") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  const auto probabilities = Distribution(*policy, inputs, kCandidates);
  double below = 0;
  for (std::int64_t action = 0; action < kCandidates; ++action) {
    const double p = probabilities[static_cast<std::size_t>(action)];
    inputs.draw[0] = below + p / 2;
    const PolicyOutputs outputs = Act(*policy, inputs);
    REQUIRE(outputs.action[0] == action);
    REQUIRE(std::exp(static_cast<double>(outputs.log_probability[0])) == Approx(p));
    below += p;
  }
  REQUIRE(below == Approx(1));
  inputs.draw[0] = std::nextafter(1.0, 0.0);
  REQUIRE(Act(*policy, inputs).action[0] == kCandidates - 1);
}

TEST_CASE("a row gets the same answer alone, among others and from another policy object") {
  PolicySpec spec = Small();
  spec.core = GENERATE("gru", "lstm");
  const auto policy = PolicyOf(spec);
  PolicyInputs many = Inputs(spec, 5);
  many.tables.push_back(Table(6, {1}, 9));
  many.table = {0, 1, 0, 1, 1};
  const PolicyOutputs outputs = Act(*PolicyOf(spec), many);
  for (std::size_t row = 0; row < 5; ++row) {
    PolicyInputs one = Inputs(spec, 1);
    const auto take = [row](const auto& from, auto& to) {
      const std::size_t width = from.size() / 5;
      to.assign(from.begin() + static_cast<std::ptrdiff_t>(row * width),
                from.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    };
    take(many.observation, one.observation);
    take(many.contents, one.contents);
    take(many.goal_keys, one.goal_keys);
    take(many.draw, one.draw);
    take(many.table, one.table);
    one.tables = many.tables;
    const PolicyOutputs alone = Act(*policy, one);
    REQUIRE(alone.action[0] == outputs.action[row]);
    REQUIRE(alone.log_probability[0] == Approx(outputs.log_probability[row]).margin(1e-5));
    REQUIRE(alone.value[0] == Approx(outputs.value[row]).margin(1e-5));
  }
}

TEST_CASE("a removed candidate is never chosen, however it is asked") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  inputs.tables = {Table(5, {0, 6})};
  inputs.similarity_rank = {0};
  REQUIRE(inputs.tables[0]->legal_count() == 5);
  for (const Choice choice : {Choice::kSample, Choice::kUniform, Choice::kSimilarity}) {
    inputs.choice[0] = choice;
    for (int i = 0; i < 20; ++i) {
      inputs.draw[0] = i / 20.0;
      inputs.similarity_rank = {i};
      const std::int64_t action = Act(*policy, inputs).action[0];
      REQUIRE(inputs.tables[0]->legal(action));
    }
  }
  inputs.draw[0] = 0;
  inputs.choice[0] = Choice::kSample;
  REQUIRE(Act(*policy, inputs).action[0] == 1);
}

TEST_CASE("greedy takes the most probable action") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  const auto probabilities = Distribution(*policy, inputs, kCandidates);
  inputs.choice[0] = Choice::kGreedy;
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  REQUIRE(Act(*policy, inputs).action[0] == best - probabilities.begin());
}

TEST_CASE("uniform gives every legal action its share") {
  const PolicySpec spec = Small();
  PolicyInputs inputs = Inputs(spec, 1);
  inputs.tables = {Table(5, {2})};
  inputs.choice[0] = Choice::kUniform;
  inputs.draw[0] = 0.999;
  const PolicyOutputs outputs = Act(*PolicyOf(spec), inputs);
  REQUIRE(outputs.action[0] == 6);
  REQUIRE(outputs.log_probability[0] == Approx(-std::log(6.0)));
  inputs.draw[0] = 2.5 / 6;
  REQUIRE(Act(*PolicyOf(spec), inputs).action[0] == 3);
}

TEST_CASE("epsilon-greedy takes a random legal action as often as it says, and states its odds") {
  PolicySpec spec = Small();
  spec.action_values = true;
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  inputs.tables = {Table(5, {2})};
  inputs.choice[0] = Choice::kGreedy;
  const std::int64_t greedy = Act(*policy, inputs).action[0];
  inputs.choice[0] = Choice::kEpsilonGreedy;
  inputs.epsilon = {0.3};
  constexpr int kDraws = 6000;
  std::map<std::int64_t, int> taken;
  for (int i = 0; i < kDraws; ++i) {
    inputs.draw[0] = (i + 0.5) / kDraws;
    const PolicyOutputs outputs = Act(*policy, inputs);
    ++taken[outputs.action[0]];
    const double odds = 0.3 / 6 + (outputs.action[0] == greedy ? 0.7 : 0);
    REQUIRE(outputs.log_probability[0] == Approx(std::log(odds)));
  }
  REQUIRE(taken.size() == 6);
  REQUIRE_FALSE(taken.contains(2));
  for (const auto& [action, count] : taken) {
    const double odds = 0.3 / 6 + (action == greedy ? 0.7 : 0);
    REQUIRE(count == Approx(kDraws * odds).margin(2));
  }
}

TEST_CASE(
    "with action values the value of a row is its greatest one, also where nothing is chosen") {
  PolicySpec spec = Small();
  spec.action_values = true;
  for (const bool dueling : {false, true}) {
    spec.dueling = dueling;
    const auto policy = PolicyOf(spec);
    PolicyInputs inputs = Inputs(spec, 1);
    inputs.tables = {Table(5, {2})};
    double greatest = -1e9;
    double sum = 0;
    inputs.choice[0] = Choice::kForced;
    for (std::int64_t action = 0; action < inputs.tables[0]->size(); ++action) {
      inputs.forced_action = {action};
      if (!inputs.tables[0]->legal(action)) continue;
      const double value = Act(*policy, inputs).action_value[0];
      greatest = std::max(greatest, value);
      sum += value;
    }
    inputs.choice[0] = Choice::kValueOnly;
    const PolicyOutputs outputs = Act(*policy, inputs);
    REQUIRE(outputs.action[0] == -1);
    REQUIRE(outputs.action_value[0] == 0);
    REQUIRE(outputs.value[0] == Approx(greatest).margin(1e-6));
    if (!dueling) continue;
    // The mean of dueling action values is the critic's value.
    spec.action_values = false;
    spec.dueling = false;
    const double value = Act(*PolicyOf(spec), inputs).value[0];
    REQUIRE(sum / 6 == Approx(value).margin(1e-5));
  }
}

TEST_CASE("ranks by similarity run through all candidates, the most similar first") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  const runtime::Tensor embeddings = Embeddings(5, kCandidates, spec.embedding_size);
  // The goal is candidate 4.
  const std::size_t bytes = static_cast<std::size_t>(spec.embedding_size) * 2;
  std::memcpy(inputs.contents.data(), embeddings.bytes().data() + 4 * bytes, bytes);
  inputs.choice[0] = Choice::kSimilarity;
  std::vector<bool> seen(static_cast<std::size_t>(kCandidates));
  for (std::int64_t rank = 0; rank < kCandidates; ++rank) {
    inputs.similarity_rank = {rank};
    const std::int64_t action = Act(*policy, inputs).action[0];
    if (rank == 0) REQUIRE(action == 4);
    seen[static_cast<std::size_t>(action)] = true;
  }
  REQUIRE(std::find(seen.begin(), seen.end(), false) == seen.end());
}

TEST_CASE("the similarity moves the logits by its weight and no more") {
  PolicySpec spec = Small();
  spec.similarity_weight = 0;
  const std::string bytes = InitialParameters(spec, 1).value();
  PolicyInputs inputs = Inputs(spec, 1);
  const auto without = Distribution(*PolicyOf(spec), inputs, kCandidates);
  spec.similarity_weight = 2;
  const auto with = Distribution(*PolicyOf(spec), inputs, kCandidates);
  double sum = 0;
  double square = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    const double z = (std::log(with[i]) - std::log(without[i])) / 2;
    sum += z;
    square += z * z;
  }
  const double mean = sum / static_cast<double>(kCandidates);
  REQUIRE(square / static_cast<double>(kCandidates) - mean * mean == Approx(1).epsilon(1e-3));
}

TEST_CASE("a value-only row gets a value and the next state, and no action") {
  PolicySpec spec = Small();
  spec.core = GENERATE("gru", "lstm");
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  const PolicyOutputs acted = Act(*policy, inputs);
  inputs.choice[0] = Choice::kValueOnly;
  const PolicyOutputs outputs = Act(*policy, inputs);
  REQUIRE(outputs.action[0] == -1);
  REQUIRE(outputs.log_probability[0] == 0);
  REQUIRE(outputs.value == acted.value);
  REQUIRE(outputs.core_state == acted.core_state);
}

TEST_CASE("the first row of an episode sees neither state nor past requests") {
  PolicySpec spec = Small();
  spec.core = GENERATE("gru", "lstm");
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  inputs.first[0] = 1;
  PolicyInputs clean = inputs;
  std::fill(clean.past_requests.begin(), clean.past_requests.end(), 0.0F);
  std::fill(clean.core_state.begin(), clean.core_state.end(), 0.0F);
  REQUIRE(Act(*policy, inputs).value == Act(*policy, clean).value);
  REQUIRE(Act(*policy, inputs).core_state == Act(*policy, clean).core_state);
  inputs.first[0] = 0;
  REQUIRE(Act(*policy, inputs).value != Act(*policy, clean).value);
}

// The layers of a policy as numbers, computed one by one in double precision.
class PlainNetwork {
 public:
  explicit PlainNetwork(const std::string& bytes) : view_(SafetensorsView::Parse(bytes).value()) {}

  // Returns weight * input + bias of a layer.
  std::vector<double> Linear(const std::string& name, const std::vector<double>& input) const {
    const std::vector<float> weight = Numbers(name + ".weight");
    const std::vector<float> bias = Numbers(name + ".bias");
    std::vector<double> out(bias.begin(), bias.end());
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t j = 0; j < input.size(); ++j) {
        out[i] += double{weight[i * input.size() + j]} * input[j];
      }
    }
    return out;
  }

 private:
  std::vector<float> Numbers(const std::string& name) const {
    for (const auto& entry : view_.entries()) {
      if (entry.name == name) return view_.Floats(name, entry.shape).value();
    }
    FAIL("no parameter " << name);
    return {};
  }

  const SafetensorsView view_;
};

TEST_CASE("an LSTM's output and cells are those of its equations, and only its output is seen") {
  PolicySpec spec = Small();
  spec.head = "discrete";
  spec.action_count = 4;
  spec.content_fields = {};
  spec.past_requests = false;
  spec.hidden = {};
  spec.value_hidden = {};
  spec.core = "lstm";
  const ParameterLayout layout = ParameterLayout::Of(spec);
  runtime::Random random(3);
  std::vector<float> flat;
  for (std::int64_t i = 0; i < layout.total; ++i) {
    flat.push_back(static_cast<float>(random.Normal()));
  }
  const std::string bytes = layout.Write(flat, spec, {});
  const PlainNetwork network(bytes);
  PolicyInputs inputs = Inputs(spec, 1);
  const auto width = static_cast<std::size_t>(spec.core_size);
  REQUIRE(inputs.core_state.size() == 2 * width);
  for (float& number : inputs.core_state) number = static_cast<float>(random.Normal());

  // Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; the gates are those
  // of input, forgetting, the new content and output.
  const std::vector<double> seen(inputs.observation.begin(), inputs.observation.end());
  const auto cells = inputs.core_state.begin() + static_cast<std::ptrdiff_t>(width);
  const std::vector<double> by_input = network.Linear("core.input", seen);
  const std::vector<double> by_state =
      network.Linear("core.state", {inputs.core_state.begin(), cells});
  const auto gate = [&](std::size_t number, std::size_t i) {
    return by_input[number * width + i] + by_state[number * width + i];
  };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  std::vector<double> output;
  std::vector<double> next;
  for (std::size_t i = 0; i < width; ++i) {
    next.push_back(sigmoid(gate(1, i)) * cells[static_cast<std::ptrdiff_t>(i)] +
                   sigmoid(gate(0, i)) * std::tanh(gate(2, i)));
    output.push_back(sigmoid(gate(3, i)) * std::tanh(next.back()));
  }
  const auto policy = Policy::FromSafetensors(spec, bytes, nullptr).value();
  const PolicyOutputs outputs = Act(*policy, inputs);
  REQUIRE(outputs.core_state.size() == 2 * width);
  for (std::size_t i = 0; i < width; ++i) {
    REQUIRE(outputs.core_state[i] == Approx(output[i]).margin(1e-5));
    REQUIRE(outputs.core_state[width + i] == Approx(next[i]).margin(1e-5));
  }

  std::vector<double> critic = seen;
  critic.insert(critic.end(), output.begin(), output.end());
  REQUIRE(outputs.value[0] == Approx(network.Linear("value.out", critic)[0]).margin(1e-5));
  const std::vector<double> logits = network.Linear("head", output);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  const double log_probability =
      logits[static_cast<std::size_t>(outputs.action[0])] - std::log(sum);
  REQUIRE(outputs.log_probability[0] == Approx(log_probability).margin(1e-5));
}

TEST_CASE("an LSTM begins by remembering") {
  PolicySpec spec = Small();
  spec.core = "lstm";
  const std::string bytes = InitialParameters(spec, 1).value();
  const auto view = SafetensorsView::Parse(bytes).value();
  const std::vector<std::int64_t> shape = {4 * spec.core_size};
  REQUIRE(view.Floats("core.input.bias", shape).value() ==
          std::vector<float>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  REQUIRE(view.Floats("core.state.bias", shape).value() == std::vector<float>(20));
}

TEST_CASE("a policy with a GRU is described as it was before there were LSTMs") {
  PolicySpec spec = Small();
  spec.core = "gru";
  REQUIRE(spec.Digest() == "b561360c576542440c3851ad8d30764c6fcd2183c739c91611e38853a1db3352");
  spec.core = "lstm";
  REQUIRE(absl::IsFailedPrecondition(
      Policy::FromSafetensors(spec, InitialParameters(PolicySpec(), 1).value(), nullptr).status()));
}

TEST_CASE("illegal discrete actions are never taken") {
  PolicySpec spec = Small();
  spec.head = "discrete";
  spec.action_count = 4;
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 1);
  inputs.legal = {0, 1, 0, 0};
  for (const Choice choice : {Choice::kSample, Choice::kGreedy, Choice::kUniform}) {
    inputs.choice[0] = choice;
    const PolicyOutputs outputs = Act(*policy, inputs);
    REQUIRE(outputs.action[0] == 1);
    REQUIRE(outputs.log_probability[0] == Approx(0).margin(1e-6));
  }
}

TEST_CASE("a NaN in one row leaves the other rows alone") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  PolicyInputs inputs = Inputs(spec, 2);
  const PolicyOutputs clean = Act(*policy, inputs);
  inputs.observation[0] = std::numeric_limits<float>::quiet_NaN();
  const PolicyOutputs outputs = Act(*policy, inputs);
  REQUIRE(outputs.action[1] == clean.action[1]);
  REQUIRE(outputs.value[1] == clean.value[1]);
  REQUIRE(outputs.action[0] >= 0);
}

TEST_CASE("of a body's embedding the network sees the first body_size numbers and no others") {
  PolicySpec spec = Small();
  spec.body_size = 4;
  const auto policy = PolicyOf(spec);
  const PolicyInputs inputs = Inputs(spec, 1);
  const auto before = Distribution(*policy, inputs, kCandidates);
  const auto with = [&](std::size_t number) {
    PolicyInputs changed = inputs;
    // The body is the third content.
    changed.contents[2 * static_cast<std::size_t>(spec.embedding_size) + number] =
        runtime::ToHalf(3.0F);
    return Distribution(*policy, changed, kCandidates);
  };
  for (const std::size_t unseen : {4, 9}) REQUIRE(with(unseen) == before);
  for (const std::size_t seen : {0, 3}) REQUIRE(with(seen) != before);
}

TEST_CASE("a spec says what is wrong with the size of a body, and is another one with it") {
  PolicySpec spec = Small();
  const std::string without = spec.Digest();
  spec.body_field = "answer";
  REQUIRE(spec.Digest() == without);
  spec.body_size = 4;
  const auto error = [&] { return runtime::Message(spec.Validate()); };
  REQUIRE(error() == "policy.body_field: not one of content_fields, and body_size needs it");
  spec.body_field = "body";
  REQUIRE(spec.Validate().ok());
  REQUIRE(spec.Digest() != without);
  spec.body_size = 11;
  REQUIRE(error() == "policy.body_size: 11, embedding_size is 10");
  spec.body_size = 4;
  spec.body_field = "request";
  REQUIRE(error().starts_with("policy.body_field: request is also the goal"));
}

TEST_CASE("inputs that do not fit are refused by name") {
  const PolicySpec spec = Small();
  const auto policy = PolicyOf(spec);
  const auto error = [&](auto change) {
    PolicyInputs inputs = Inputs(spec, 2);
    change(inputs);
    SimilarityCache cache;
    return std::string(policy->Act(inputs, cache).status().message());
  };
  const auto says = [](const std::string& message, const char* name) {
    return message.find(name) != std::string::npos;
  };
  REQUIRE(says(error([](PolicyInputs& i) { i.observation.pop_back(); }), "observation"));
  REQUIRE(says(error([](PolicyInputs& i) { i.contents.clear(); }), "contents"));
  REQUIRE(says(error([](PolicyInputs& i) { i.table[1] = 1; }), "table of row 1"));
  REQUIRE(says(error([](PolicyInputs& i) { i.draw[0] = 1; }), "draw of row 0"));
  REQUIRE(says(error([](PolicyInputs& i) { i.choice[0] = Choice::kForced; }), "forced_action"));
  REQUIRE(says(error([](PolicyInputs& i) {
                 i.choice[1] = Choice::kForced;
                 i.forced_action = {0, kCandidates};
               }),
               "forced_action of row 1"));
  REQUIRE(says(error([](PolicyInputs& i) { i.tables[0] = nullptr; }), "table is null"));
  REQUIRE(says(error([](PolicyInputs& i) { i.goal_keys.pop_back(); }), "goal_keys"));
}

TEST_CASE("parameters of another policy or with damage are refused") {
  const PolicySpec spec = Small();
  const std::string bytes = InitialParameters(spec, 1).value();
  PolicySpec other = spec;
  other.query_scale = 5;
  REQUIRE(absl::IsFailedPrecondition(Policy::FromSafetensors(other, bytes, nullptr).status()));
  REQUIRE_FALSE(Policy::FromSafetensors(spec, bytes.substr(0, bytes.size() - 4), nullptr).ok());
  std::string poisoned = bytes;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(poisoned.data() + poisoned.size() - 4, &nan, 4);
  REQUIRE(absl::IsInvalidArgument(Policy::FromSafetensors(spec, poisoned, nullptr).status()));
}

TEST_CASE("initial parameters are a function of spec and seed") {
  const PolicySpec spec = Small();
  REQUIRE(InitialParameters(spec, 1).value() == InitialParameters(spec, 1).value());
  REQUIRE(InitialParameters(spec, 1).value() != InitialParameters(spec, 2).value());
  PolicySpec bad = spec;
  bad.goal_field = "nowhere";
  REQUIRE(absl::IsInvalidArgument(InitialParameters(bad, 1).status()));
  bad = spec;
  bad.hidden = {0};
  REQUIRE_FALSE(InitialParameters(bad, 1).ok());
}

PolicySpec BoxSpec() {
  PolicySpec spec = Small();
  spec.head = "box";
  spec.action_count = 2;
  spec.twin_critics = true;
  spec.content_fields = {};
  spec.past_requests = false;
  return spec;
}

PolicyInputs BoxInputs(std::int64_t rows) {
  PolicyInputs inputs = Inputs(BoxSpec(), rows);
  runtime::Random random(4);
  for (std::int64_t i = 0; i < 4 * rows; ++i) inputs.box_draws.push_back(random.Uniform());
  return inputs;
}

TEST_CASE("points of a box are sampled by the row's draws, greedily from the mean, or uniformly") {
  const auto policy = PolicyOf(BoxSpec());
  PolicyInputs inputs = BoxInputs(4);
  inputs.choice = {Choice::kSample, Choice::kGreedy, Choice::kUniform, Choice::kValueOnly};
  const PolicyOutputs outputs = Act(*policy, inputs);
  REQUIRE(outputs.action == std::vector<std::int64_t>(4, -1));
  REQUIRE(outputs.box_action.size() == 8);
  for (const float number : outputs.box_action) REQUIRE(std::abs(number) <= 1);
  REQUIRE(outputs.box_action[4] == Approx(2 * inputs.box_draws[8] - 1));
  REQUIRE(outputs.log_probability[2] == Approx(-2 * std::log(2)));
  REQUIRE(outputs.box_action[6] == 0);
  REQUIRE(outputs.log_probability[3] == 0);
  for (double& draw : inputs.box_draws) draw = draw / 2;
  const PolicyOutputs others = Act(*policy, inputs);
  REQUIRE(others.box_action[0] != outputs.box_action[0]);
  REQUIRE(others.box_action[2] == outputs.box_action[2]);
}

TEST_CASE("a Gaussian acts by its mean or around it, and states the density of what it draws") {
  PolicySpec spec = BoxSpec();
  spec.head = "gaussian";
  spec.twin_critics = false;
  const ParameterLayout layout = ParameterLayout::Of(spec);
  std::vector<float> flat(static_cast<std::size_t>(layout.total));
  layout.Initialise(1, flat);
  const auto deviations = layout.Find(kLogDeviation);
  REQUIRE(deviations->size == 2);
  const auto at = static_cast<std::size_t>(deviations->offset);
  flat[at] = 0.3F;
  flat[at + 1] = -1.2F;
  const auto policy =
      Policy::FromSafetensors(spec, layout.Write(flat, spec, {}), /*previous=*/nullptr).value();
  PolicyInputs greedy = BoxInputs(1);
  greedy.choice = {Choice::kGreedy};
  const PolicyOutputs means = Act(*policy, greedy);
  bool outside = false;
  for (int draw = 0; draw < 40; ++draw) {
    PolicyInputs inputs = BoxInputs(1);
    inputs.choice = {Choice::kSample};
    for (std::size_t i = 0; i < 4; ++i) {
      inputs.box_draws[i] = std::fmod(inputs.box_draws[i] + 0.13 * draw, 1.0);
    }
    const PolicyOutputs outputs = Act(*policy, inputs);
    double expected = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double deviation = std::exp(flat[at + i]);
      const double noise = NormalOf(inputs.box_draws[2 * i], inputs.box_draws[2 * i + 1]);
      REQUIRE(outputs.box_action[i] == Approx(means.box_action[i] + deviation * noise));
      expected -= noise * noise / 2 + flat[at + i] + 0.9189385332046727;
      outside = outside || std::abs(outputs.box_action[i]) > 1;
    }
    REQUIRE(outputs.log_probability[0] == Approx(expected).margin(1e-5));
  }
  REQUIRE(outside);
}

TEST_CASE("a Gaussian goes with neither twin critics nor action values, and a box needs critics") {
  PolicySpec spec = BoxSpec();
  spec.head = "gaussian";
  REQUIRE(absl::IsInvalidArgument(spec.Validate()));
  spec.twin_critics = false;
  REQUIRE(spec.Validate().ok());
  spec.core = "gru";
  REQUIRE(spec.Validate().ok());
  spec.action_values = true;
  REQUIRE(absl::IsInvalidArgument(spec.Validate()));
  spec = BoxSpec();
  spec.twin_critics = false;
  const std::string message = runtime::Message(spec.Validate());
  REQUIRE(message.find("gaussian") != std::string::npos);
}

TEST_CASE("a box refuses choices among numbers and draws outside of their range") {
  const auto policy = PolicyOf(BoxSpec());
  SimilarityCache cache;
  PolicyInputs inputs = BoxInputs(1);
  inputs.box_draws[3] = 1;
  REQUIRE(absl::IsInvalidArgument(policy->Act(inputs, cache).status()));
  inputs = BoxInputs(1);
  inputs.choice = {Choice::kForced};
  inputs.forced_action = {0};
  REQUIRE(absl::IsInvalidArgument(policy->Act(inputs, cache).status()));
  inputs = BoxInputs(1);
  inputs.box_draws.pop_back();
  REQUIRE(absl::IsInvalidArgument(policy->Act(inputs, cache).status()));
}

}  // namespace
}  // namespace shoal::model
