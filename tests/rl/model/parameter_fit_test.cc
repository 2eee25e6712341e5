// SPDX-License-Identifier: Apache-2.0
#include "rl/model/parameter_fit.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/model/network.h"
#include "rl/model/torch_device.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

constexpr std::int64_t kFewRows = 4;

using Change = std::function<void(PolicySpec&)>;

// A network of which every number is drawn at random.
struct Made {
  explicit Made(const PolicySpec& of, std::uint64_t seed)
      : spec(of), layout(ParameterLayout::Of(of)), flat(static_cast<std::size_t>(layout.total)) {
    layout.Initialise(seed, flat);
    runtime::Random random(seed);
    for (const ParameterInfo& info : layout.parameters) {
      for (std::int64_t i = 0; i < info.size; ++i) {
        flat[static_cast<std::size_t>(info.offset + i)] +=
            static_cast<float>(0.1 * random.Normal());
      }
    }
  }
  Network network() const { return Network(spec, layout, OnDevice(flat, at::kCPU), {}); }
  float at(const std::string& name, std::int64_t place) const {
    return flat[static_cast<std::size_t>(layout.Find(name)->offset + place)];
  }

  PolicySpec spec;
  ParameterLayout layout;
  std::vector<float> flat;
};

// The network `spec` with the start values of a seed of its own, fitted to `old`.
struct Fit {
  Fit(const Made& old, const PolicySpec& spec) : network(spec, 99) {
    network.layout.Initialise(98, network.flat);
    report = FitParameters(old.layout, old.flat, network.layout, network.flat);
  }
  Made network;
  FitReport report;
};

at::Tensor Normal(runtime::Random& random, std::int64_t rows, std::int64_t columns) {
  at::Tensor drawn = at::empty({rows, columns}, at::kFloat);
  for (std::int64_t i = 0; i < drawn.numel(); ++i) {
    drawn.data_ptr<float>()[i] = static_cast<float>(random.Normal());
  }
  return drawn;
}

struct Rows {
  NetworkInputs inputs;
  std::map<std::string, at::Tensor> contents;  // by field
  at::Tensor state;                            // [R, S]
  at::Tensor action;                           // [R, n]
  at::Tensor candidates;                       // [N, D]
};

// Rows for `spec`, which begin with the numbers of `old` where these have any.
Rows RowsFor(const PolicySpec& spec, const Rows& old, std::uint64_t seed) {
  runtime::Random random(seed);
  const auto widened = [&](const at::Tensor& narrow, std::int64_t columns, std::int64_t rows) {
    if (!narrow.defined()) return Normal(random, rows, columns);
    return at::cat({narrow, Normal(random, rows, columns - narrow.size(1))}, 1);
  };
  Rows wide;
  wide.inputs.observation = widened(old.inputs.observation, spec.observation_size, kFewRows);
  for (const std::string& field : spec.content_fields) {
    const auto found = old.contents.find(field);
    wide.contents[field] = widened(found == old.contents.end() ? at::Tensor() : found->second,
                                   spec.embedding_size, kFewRows);
    wide.inputs.contents.push_back(wide.contents[field]);
  }
  wide.inputs.past_requests = widened(old.inputs.past_requests, spec.embedding_size, kFewRows);
  wide.inputs.mark_counts = widened(old.inputs.mark_counts, spec.candidate_marks, kFewRows);
  wide.action = widened(old.action, spec.action_count, kFewRows);
  wide.candidates = widened(old.candidates, spec.embedding_size, kCandidates);
  if (!spec.has_core()) return wide;
  // The state is one vector, or with an LSTM two.
  std::vector<at::Tensor> parts;
  for (std::int64_t part = 0; part < spec.core_state_size() / spec.core_size; ++part) {
    const std::int64_t size = old.state.defined() ? old.state.size(1) : 0;
    const std::int64_t width = spec.has_lstm() ? size / 2 : size;
    parts.push_back(widened(size > 0 ? old.state.narrow(1, part * width, width) : at::Tensor(),
                            spec.core_size, kFewRows));
  }
  wide.state = at::cat(parts, 1);
  return wide;
}

// What a network says of rows: scores, mark weights, the core's output, values.
std::vector<at::Tensor> Outputs(const Made& made, const Rows& rows) {
  const Network network = made.network();
  const at::Tensor features = network.Features(rows.inputs);
  at::Tensor hidden = network.Torso(features);
  at::Tensor core;
  if (made.spec.has_core()) hidden = core = network.CoreOutput(network.Core(hidden, rows.state));
  std::vector<at::Tensor> outputs = {network.Head(network.AtMean(hidden))};
  if (made.spec.has_candidates()) {
    outputs[0] = outputs[0].matmul(network.Keys(rows.candidates).t());
  }
  if (core.defined()) outputs.push_back(core);
  if (made.spec.candidate_marks > 0) outputs.push_back(network.MarkWeights(hidden));
  if (!made.spec.twin_critics) {
    outputs.push_back(network.Value(features, core).unsqueeze(1));
    return outputs;
  }
  for (int critic = 0; critic < 2; ++critic) {
    const at::Tensor seen = core.defined() ? at::cat({features, core}, 1) : features;
    outputs.push_back(
        network.Critic(critic, seen, made.spec.has_box() ? rows.action : at::Tensor()));
  }
  return outputs;
}

// The greatest difference between what an old network and one that grew say of the same rows, by
// the greatest number of that output where it is above 1.
double Difference(const Made& old, const Made& grown) {
  const Rows rows = RowsFor(old.spec, {}, 3);
  const auto before = Outputs(old, rows);
  const auto after = Outputs(grown, RowsFor(grown.spec, rows, 4));
  REQUIRE(before.size() == after.size());
  double greatest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    at::Tensor same = after[i].narrow(1, 0, before[i].size(1));
    if (old.spec.has_box() && i == 0 && after[0].size(1) != before[0].size(1)) {
      const std::int64_t n = old.spec.action_count;
      same = at::cat({after[0].narrow(1, 0, n), after[0].narrow(1, grown.spec.action_count, n)}, 1);
    }
    const auto size = std::max(1.0, before[i].abs().max().item<double>());
    greatest = std::max(greatest, same.sub(before[i]).abs().max().item<double>() / size);
  }
  return greatest;
}

PolicySpec Discrete() {
  PolicySpec spec = Small();
  spec.head = "discrete";
  spec.action_count = 3;
  spec.content_fields = {};
  spec.past_requests = false;
  return spec;
}

PolicySpec Everything() {
  PolicySpec spec = Small();
  spec.hidden = {12, 9};
  spec.candidate_marks = 2;
  spec.normalise_observations = true;
  return spec;
}

void Grow(PolicySpec& spec) {
  for (std::int64_t& width : spec.hidden) width += 7;
  for (std::int64_t& width : spec.value_hidden) width += 3;
  spec.core_size += 4;
  spec.observation_size += 2;
  spec.embedding_size += 5;
  spec.projection_size += 3;
  if (spec.has_candidates()) {
    spec.candidate_marks += 1;
    spec.content_fields = {"goal", "found", "request", "body"};
  } else {
    spec.action_count += 1;
  }
}

TEST_CASE("a network that only grew computes the same outputs as before", "[parameter_fit]") {
  PolicySpec spec = GENERATE(Everything(), Discrete());
  spec.core = GENERATE("none", "gru", "lstm");
  const Made old(spec, 5);
  Grow(spec);
  const Fit fit(old, spec);
  REQUIRE(Difference(old, fit.network) < 1e-6);
  REQUIRE(fit.report.dropped.empty());
}

TEST_CASE("twin critics that grew value what they did before", "[parameter_fit]") {
  PolicySpec spec = Discrete();
  spec.twin_critics = true;
  spec.head = GENERATE("discrete", "box");
  const Made old(spec, 5);
  Grow(spec);
  const Fit fit(old, spec);
  // Of a box that has one more dimension critics see one more number.
  REQUIRE(Difference(old, fit.network) < 1e-6);
  REQUIRE(fit.network.at("log_temperature", 0) == old.at("log_temperature", 0));
}

TEST_CASE("quantiles of a network that grew are what they were", "[parameter_fit]") {
  PolicySpec spec = Discrete();
  spec.action_values = true;
  spec.quantile_cosines = 8;
  const Made old(spec, 5);
  Grow(spec);
  spec.quantile_cosines += 3;
  REQUIRE(Difference(old, Fit(old, spec).network) < 1e-6);
}

TEST_CASE("each kind of growth alone leaves the outputs as they were", "[parameter_fit]") {
  PolicySpec spec = Everything();
  spec.core = "gru";
  const Made old(spec, 6);
  const std::vector<Change> changes = {
      [](PolicySpec& grown) { grown.hidden.back() += 1; },
      [](PolicySpec& grown) { grown.hidden.front() += 20; },
      [](PolicySpec& grown) { grown.value_hidden.front() += 1; },
      [](PolicySpec& grown) { grown.core_size += 1; },
      [](PolicySpec& grown) { grown.observation_size += 1; },
      [](PolicySpec& grown) { grown.candidate_marks += 1; },
      [](PolicySpec& grown) { grown.projection_size += 1; },
      [](PolicySpec& grown) { grown.embedding_size += 1; },
      [](PolicySpec& grown) { grown.content_fields.insert(grown.content_fields.begin(), "new"); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO(i);
    PolicySpec grown = spec;
    changes[i](grown);
    const Fit fit(old, grown);
    REQUIRE(Difference(old, fit.network) < 1e-6);
    REQUIRE(fit.report.changed.size() + fit.report.added.size() > 0);
  }
}

PolicySpec OnFrames(const std::string& convolution, std::int64_t side, std::int64_t channels) {
  PolicySpec spec = Discrete();
  spec.convolution = convolution;
  spec.frame_shape = {side, side, channels};
  spec.observation_size = side * side * channels;
  return spec;
}

// Frames of the channels of `frames` [R, P, C], and drawn ones after them.
NetworkInputs Frames(const at::Tensor& frames, std::int64_t channels) {
  NetworkInputs inputs;
  runtime::Random random(8);
  at::Tensor more = at::empty({frames.size(0), frames.size(1), channels - frames.size(2)});
  for (std::int64_t i = 0; i < more.numel(); ++i) {
    more.data_ptr<float>()[i] = static_cast<float>(random.Below(256));
  }
  inputs.observation = at::cat({frames, more}, 2).flatten(1).to(at::kByte);
  return inputs;
}

TEST_CASE("a convolution that sees more channels, before wider layers, computes what it did",
          "[parameter_fit]") {
  const std::string convolution = GENERATE("small", "nature", "impala");
  const std::int64_t side = 36;
  const PolicySpec spec = OnFrames(convolution, side, 2);
  const Made old(spec, 5);
  PolicySpec grown = OnFrames(convolution, side, 3);
  grown.hidden.front() += 5;
  const Fit fit(old, grown);
  const at::Tensor none = at::empty({kFewRows, side * side, 0});
  const at::Tensor seen =
      Frames(none, 2).observation.view({kFewRows, side * side, 2}).to(at::kFloat);
  const auto outputs = [](const Made& made, const NetworkInputs& inputs) {
    const Network network = made.network();
    const at::Tensor features = network.Features(inputs);
    return at::cat(
        {network.Head(network.Torso(features)), network.Value(features, at::Tensor()).unsqueeze(1)},
        1);
  };
  const at::Tensor before = outputs(old, Frames(seen, 2));
  const at::Tensor after = outputs(fit.network, Frames(seen, 3));
  REQUIRE(after.sub(before).abs().max().item<double>() <
          1e-5 * std::max(1.0, before.abs().max().item<double>()));
  REQUIRE(fit.report.dropped.empty());
}

TEST_CASE("filters fit frames of another size, and what reads their places starts anew",
          "[parameter_fit]") {
  const Made old(OnFrames("nature", 36, 1), 5);
  const Fit fit(old, OnFrames("nature", 44, 1));
  const ParameterInfo& filters = *old.layout.Find("convolution.1.weight");
  for (std::int64_t i = 0; i < filters.size; ++i) {
    REQUIRE(fit.network.at("convolution.1.weight", i) == old.at("convolution.1.weight", i));
  }
  REQUIRE(ToString(fit.report) ==
          "added torso.0.weight [12, 256], value.0.weight [8, 256]; "
          "dropped torso.0.weight [12, 64], value.0.weight [8, 64]");
}

TEST_CASE("a policy that gets a convolution in front keeps the layers that do not read it",
          "[parameter_fit]") {
  PolicySpec flat = Discrete();
  const Made old(flat, 5);
  const Fit fit(old, OnFrames("impala", 6, 1));
  REQUIRE(fit.report.kept == std::vector<std::string>{"torso.0.bias", "head.weight", "head.bias",
                                                      "value.0.bias", "value.out.weight",
                                                      "value.out.bias"});
  // Another convolution starts anew, except that the two of DQN have layers of the same filters.
  const Made nature(OnFrames("nature", 36, 1), 5);
  const Fit other(nature, OnFrames("impala", 36, 1));
  REQUIRE(other.report.kept == fit.report.kept);
  const Fit small(nature, OnFrames("small", 36, 1));
  REQUIRE(small.report.changed.front() == "convolution.0.weight [32, 64] to [16, 64]");
  for (std::int64_t i = 0; i < 16 * 64; ++i) {
    REQUIRE(small.network.at("convolution.0.weight", i) == nature.at("convolution.0.weight", i));
  }
}

TEST_CASE("what is new can learn: units that were added have weights, and gradients reach them",
          "[parameter_fit]") {
  PolicySpec spec = Discrete();
  const Made old(spec, 5);
  spec.hidden = {20};
  const Fit fit(old, spec);
  const at::Tensor gradient = at::zeros({fit.network.layout.total}, at::kFloat);
  const Network network(spec, fit.network.layout, OnDevice(fit.network.flat, at::kCPU), gradient);
  const Rows rows = RowsFor(spec, {}, 3);
  network.Head(network.Torso(network.Features(rows.inputs))).pow(2).sum().backward();
  const ParameterInfo& head = *fit.network.layout.Find("head.weight");
  for (std::int64_t unit = 12; unit < 20; ++unit) {
    REQUIRE(fit.network.at("head.weight", unit) == 0);
    REQUIRE(gradient[head.offset + unit].item<float>() != 0);
    REQUIRE(fit.network.at("torso.0.weight", unit * spec.observation_size) != 0);
  }
}

TEST_CASE("a network that shrank keeps the corner that it has", "[parameter_fit]") {
  PolicySpec spec = Discrete();
  spec.core = "gru";
  const Made old(spec, 5);
  spec.hidden = {7};
  spec.core_size = 3;
  spec.observation_size = 2;
  const Fit fit(old, spec);
  const std::int64_t gates[] = {0, 1, 2};
  for (std::int64_t unit = 0; unit < 7; ++unit) {
    for (std::int64_t input = 0; input < 2; ++input) {
      REQUIRE(fit.network.at("torso.0.weight", unit * 2 + input) ==
              old.at("torso.0.weight", unit * 3 + input));
    }
    for (const std::int64_t gate : gates) {
      for (std::int64_t cell = 0; cell < 3; ++cell) {
        REQUIRE(fit.network.at("core.input.weight", (gate * 3 + cell) * 7 + unit) ==
                old.at("core.input.weight", (gate * 5 + cell) * 12 + unit));
      }
    }
  }
  // The critic sees the observation, then the core's output.
  REQUIRE(fit.network.at("value.0.weight", 2) == old.at("value.0.weight", 3));
  for (const at::Tensor& output : Outputs(fit.network, RowsFor(spec, {}, 3))) {
    REQUIRE(std::isfinite(output.sum().item<float>()));
  }
  REQUIRE(fit.report.added.empty());
  REQUIRE(fit.report.dropped.empty());
  REQUIRE(fit.report.kept == std::vector<std::string>{"head.bias", "value.0.bias",
                                                      "value.out.weight", "value.out.bias"});
}

TEST_CASE("a report names what was kept, changed, added and dropped", "[parameter_fit]") {
  PolicySpec spec = Discrete();
  spec.core = "gru";
  const Made old(spec, 5);
  spec.core = "lstm";
  spec.hidden = {16};
  spec.value_hidden = {8, 4};
  const Fit fit(old, spec);
  REQUIRE(ToString(fit.report) ==
          "changed torso.0.weight [12, 3] to [16, 3], torso.0.bias [12] to [16], "
          "value.0.weight [8, 8] to [8, 8]; "
          "added core.input.weight [20, 16], core.input.bias [20], core.state.weight [20, 5], "
          "core.state.bias [20], head.weight [3, 5], value.1.weight [4, 8], value.1.bias [4], "
          "value.out.weight [1, 4]; "
          "dropped core.input.weight [15, 12], core.input.bias [15], core.state.weight [15, 5], "
          "core.state.bias [15], head.weight [3, 5], value.out.weight [1, 8]");
  REQUIRE(fit.report.kept ==
          std::vector<std::string>{"head.bias", "value.0.bias", "value.out.bias"});
  // An LSTM's forget gates are new, so they begin open.
  REQUIRE(fit.network.at("core.input.bias", 5) == 1);

  const Fit same(old, old.spec);
  REQUIRE(ToString(same.report).empty());
  REQUIRE(same.network.flat == old.flat);
}

TEST_CASE("numbers beside parameters follow them, and what is new gets the number that is given",
          "[parameter_fit]") {
  PolicySpec spec = Small();
  const Made old(spec, 5);
  const auto moments =
      std::vector<float>(old.flat.begin(), old.flat.begin() + old.layout.trainable);
  spec.hidden = {13};
  spec.train_keys = true;
  const ParameterLayout to = ParameterLayout::Of(spec);
  const std::vector<float> fitted = FitMoments(old.layout, moments, to, 7);
  REQUIRE(fitted.size() == static_cast<std::size_t>(to.trainable));
  const auto number = [&](const char* name, std::int64_t place) {
    return fitted[static_cast<std::size_t>(to.Find(name)->offset + place)];
  };
  REQUIRE(number("torso.0.bias", 11) == old.at("torso.0.bias", 11));
  REQUIRE(number("torso.0.bias", 12) == 7);
  REQUIRE(number("torso.0.bias", 13) == 0);
  REQUIRE(number("head.weight", 13) == old.at("head.weight", 12));
  REQUIRE(number("head.weight", 12) == 7);
  // Keys were not trained.
  REQUIRE(number("key", 0) == 7);
}

}  // namespace
}  // namespace shoal::model
