// SPDX-License-Identifier: Apache-2.0
#include "placer/sequence_policy.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adam.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/placement/small_graphs.h"

namespace shoal::placer {
namespace {

// A chain of `groups` equal operations.
GroupFeatures Chain(std::size_t groups) {
  placement::Graph graph;
  placement::AddOperation(graph, 1, 1, {});
  for (std::size_t i = 1; i < groups; ++i) placement::AddOperation(graph, 1, 1, {i - 1});
  return FeaturesOf(graph,
                    placement::Simulator::Create(graph, placement::EqualDevices(2, 1000)).value());
}

TEST_CASE("a policy that has learned nothing draws each device about as often, by its seed") {
  at::set_num_threads(1);
  SequencePolicy policy(Chain(5), 4, 16, 1);
  const DrawnPlacements drawn = policy.Draw(400);
  REQUIRE(drawn.devices.size(0) == 400);
  REQUIRE(drawn.devices.size(1) == 5);
  for (std::int64_t device = 0; device < 4; ++device) {
    const double share = drawn.devices.eq(device).to(at::kFloat).mean().item<double>();
    REQUIRE(share == Approx(0.25).margin(0.05));
  }
  REQUIRE(drawn.entropy.mean().item<double>() == Approx(std::log(4)).epsilon(0.02));
  SequencePolicy same(Chain(5), 4, 16, 1);
  const DrawnPlacements again = same.Draw(400);
  REQUIRE(at::equal(again.devices, drawn.devices));
  REQUIRE(at::equal(again.log_probability, drawn.log_probability));
  SequencePolicy other(Chain(5), 4, 16, 2);
  REQUIRE_FALSE(at::equal(other.Draw(400).devices, drawn.devices));
}

TEST_CASE("all that is learned has a part in the probability of a placement") {
  SequencePolicy policy(Chain(5), 3, 8, 1);
  policy.Draw(4).log_probability.sum().backward();
  for (const at::Tensor& learned : policy.parameters()) {
    REQUIRE(learned.grad().defined());
    REQUIRE(learned.grad().abs().max().item<double>() > 0);
  }
}

// The mean of `reward` over placements, after some steps of learning from it.
template <typename Reward>
double LearnedReward(SequencePolicy& policy, const Reward& reward) {
  torch::optim::Adam adam(policy.parameters(), torch::optim::AdamOptions(0.01));
  for (int i = 0; i < 150; ++i) {
    const DrawnPlacements drawn = policy.Draw(32);
    const at::Tensor rewards = reward(drawn.devices);
    adam.zero_grad();
    (-((rewards - rewards.mean()) * drawn.log_probability).mean()).backward();
    adam.step();
  }
  return reward(policy.Draw(200).devices).mean().template item<double>();
}

TEST_CASE("the policy learns a device for each group from rewards of whole placements") {
  SequencePolicy by_group(Chain(6), 2, 16, 1);
  // The groups 0, 2 and 4 on device 0, the others on device 1.
  REQUIRE(LearnedReward(by_group, [](const at::Tensor& devices) {
            at::Tensor hits = at::zeros({devices.size(0)});
            for (std::int64_t i = 0; i < 6; ++i) hits += devices.select(1, i).eq(i % 2);
            return hits / 6;
          }) > 0.95);
}

}  // namespace
}  // namespace shoal::placer
