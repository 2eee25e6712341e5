// SPDX-License-Identifier: Apache-2.0
#include "rl/model/acting_graphs.h"

#include <ATen/ops/full.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "rl/model/batch_plan.h"
#include "rl/model/device_graph.h"
#include "rl/model/key_cache.h"
#include "rl/model/shape_bucket.h"
#include "rl/model/torch_device.h"
#include "tests/rl/model/devices.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

std::optional<c10::Stream> RecordingStream(at::Device device) {
  if (device.is_cpu()) return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, false);
}

// One version of a policy over candidates, and the batches that it acts on.
class Version {
 public:
  Version(const PolicySpec& spec, std::uint64_t seed)
      : spec_(std::make_shared<const PolicySpec>(spec)),
        layout_(ParameterLayout::Of(spec)),
        flat_(Parameters(layout_, seed)),
        network_(spec, layout_, flat_, /*gradient=*/at::Tensor()),
        keys_(KeyCache::For(network_, nullptr, nullptr)) {}

  const ParameterLayout& layout() const { return layout_; }

  PolicyOutputs Act(
      ActingGraphs& graphs, const PolicyInputs& inputs,
      const std::function<void()>& before_candidates = [] {}) const {
    const c10::InferenceMode inference;
    SimilarityCache cache;
    const auto plan = std::make_shared<BatchPlan>(spec_, inputs, cache, at::kCPU, /*padded=*/true);
    const auto candidates = [&](const BatchPlan& sent) {
      before_candidates();
      return CandidatesOf(sent);
    };
    return plan->Outputs(
        inputs, graphs.Run(plan, {.network = network_, .flat = flat_, .candidates = candidates}));
  }

 private:
  static at::Tensor Parameters(const ParameterLayout& layout, std::uint64_t seed) {
    std::vector<float> flat(static_cast<std::size_t>(layout.total));
    layout.Initialise(seed, flat);
    return OnDevice(flat, at::kCPU);
  }

  std::vector<ActingGraphs::Candidates> CandidatesOf(const BatchPlan& plan) const {
    const auto keys = [this](const CandidateTable& table) { return keys_->Of(table, network_); };
    std::vector<ActingGraphs::Candidates> candidates;
    for (const BatchPlan::Group& group : plan.groups()) {
      candidates.push_back({.keys = keys(*group.members.catalog),
                            .cosines = {},
                            .appended_keys = group.candidates->AppendedKeys(plan.batch(), keys)});
      for (const SimilarityCache::Row& goal : group.goals) {
        candidates.back().cosines.push_back(OnDevice(goal->cosine, at::kCPU));
      }
    }
    return candidates;
  }

  const std::shared_ptr<const PolicySpec> spec_;
  const ParameterLayout layout_;
  const at::Tensor flat_;
  const Network network_;
  const std::shared_ptr<const KeyCache> keys_;
};

// Rows that choose among the candidates of one table, the same in all batches.
PolicyInputs InputsOfOneTable(const PolicySpec& spec, std::int64_t rows, std::uint64_t seed = 2) {
  static const auto table = Table(5, {});
  PolicyInputs inputs = Inputs(spec, rows, seed);
  inputs.tables = {table};
  return inputs;
}

ActingGraphs GraphsOf(const PolicySpec& spec, const Version& version,
                      std::size_t shapes = ActingGraphs::kMaximumShapes) {
  return ActingGraphs(spec, version.layout(), at::kCPU, std::nullopt, shapes);
}

// What the version does without anything that was recorded before.
PolicyOutputs OneByOne(const PolicySpec& spec, const Version& version, const PolicyInputs& inputs) {
  ActingGraphs fresh = GraphsOf(spec, version);
  return version.Act(fresh, inputs);
}

void RequireSame(const PolicyOutputs& a, const PolicyOutputs& b) {
  REQUIRE(a.action == b.action);
  REQUIRE(a.log_probability == b.log_probability);
  REQUIRE(a.value == b.value);
}

TEST_CASE("numbers of rows and terms are rounded up to few others") {
  for (const auto& [count, bucket] : {std::pair{0, 32},
                                      {32, 32},
                                      {33, 64},
                                      {64, 64},
                                      {65, 96},
                                      {257, 288},
                                      {513, 576},
                                      {4096, 4096},
                                      {4097, 4608}}) {
    REQUIRE(RowBucket(count) == bucket);
  }
  REQUIRE(TermBucket(0) == 0);
  REQUIRE(TermBucket(1) == 64);
  REQUIRE(TermBucket(64) == 64);
  REQUIRE(TermBucket(65) == 128);
}

TEST_CASE("recorded work reads its inputs where they lie, and leaves its result where it lay") {
  for (const ComputeDevice& name : BatchDevices()) {
    const at::Device device = FindDevice(name.name).value();
    const at::Tensor input = at::full({5}, 3.0, at::TensorOptions(at::kFloat).device(device));
    DeviceGraph graph(device, RecordingStream(device), GraphMemory::On(device),
                      [input] { return input.mul(2).add(1); });
    const void* const place = graph.output().const_data_ptr();
    for (const float number : {4.0F, -1.0F}) {
      at::Tensor(input).fill_(number);
      graph.Replay();
      REQUIRE(graph.output().const_data_ptr() == place);
      REQUIRE(OnHost(graph.output()) == std::vector<float>(5, 2 * number + 1));
    }
  }
}

TEST_CASE("work that waits for the device cannot be recorded on a GPU, and leaves it usable") {
  const ComputeDevice& name = BatchDevices().back();
  if (name.name == "cpu") {
    WARN("this machine has no GPU");
    return;
  }
  const at::Device device = FindDevice(name.name).value();
  const at::Tensor input = at::full({5}, 3.0, at::TensorOptions(at::kFloat).device(device));
  const auto stream = RecordingStream(device);
  const GraphMemory memory = GraphMemory::On(device);
  REQUIRE_THROWS_AS(DeviceGraph(device, stream, memory,
                                [input] { return input.mul(input.sum().item<double>()); }),
                    c10::Error);
  DeviceGraph graph(device, stream, memory, [input] { return input.mul(2); });
  graph.Replay();
  REQUIRE(OnHost(graph.output()) == std::vector<float>(5, 6.0F));
}

TEST_CASE("the first batch of a shape runs one by one, the second is recorded, others repeat it") {
  const PolicySpec spec = Small();
  const Version version(spec, 1);
  ActingGraphs graphs = GraphsOf(spec, version);
  for (const std::uint64_t seed : {2U, 3U, 4U, 5U}) {
    // All of these have 32 rows when they are rounded up.
    const PolicyInputs inputs = InputsOfOneTable(spec, static_cast<std::int64_t>(20 + seed), seed);
    RequireSame(version.Act(graphs, inputs), OneByOne(spec, version, inputs));
  }
  REQUIRE(graphs.counts().one_by_one == 1);
  REQUIRE(graphs.counts().recorded == 1);
  REQUIRE(graphs.counts().repeated == 3);
}

TEST_CASE("another version acts by its own parameters and keys, and records nothing") {
  PolicySpec spec = Small();
  spec.train_keys = GENERATE(false, true);
  const Version first(spec, 1);
  const Version second(spec, 2);
  ActingGraphs graphs = GraphsOf(spec, first);
  const PolicyInputs inputs = InputsOfOneTable(spec, 20);
  first.Act(graphs, inputs);
  first.Act(graphs, inputs);
  for (const Version* const version : {&second, &first, &second}) {
    RequireSame(version->Act(graphs, inputs), OneByOne(spec, *version, inputs));
  }
  REQUIRE(first.Act(graphs, inputs).value != second.Act(graphs, inputs).value);
  REQUIRE(graphs.counts().recorded == 1);
  REQUIRE(graphs.counts().one_by_one == 1);
}

TEST_CASE("of more shapes than the limit the least recently used one is forgotten") {
  const PolicySpec spec = Small();
  const Version version(spec, 1);
  ActingGraphs graphs = GraphsOf(spec, version, /*shapes=*/2);
  const PolicyInputs small = InputsOfOneTable(spec, 20);
  const PolicyInputs middle = InputsOfOneTable(spec, 40);
  const PolicyInputs large = InputsOfOneTable(spec, 70);
  for (const PolicyInputs* const inputs : {&small, &small, &middle, &middle, &small}) {
    version.Act(graphs, *inputs);
  }
  REQUIRE(graphs.counts().recorded == 2);
  version.Act(graphs, large);  // in place of `middle`
  version.Act(graphs, small);
  REQUIRE(graphs.counts().repeated == 4);
  REQUIRE(graphs.counts().one_by_one == 3);
  version.Act(graphs, middle);
  REQUIRE(graphs.counts().one_by_one == 4);
  RequireSame(version.Act(graphs, middle), OneByOne(spec, version, middle));
  REQUIRE(graphs.counts().recorded == 3);
}

TEST_CASE("a shape that cannot be recorded runs one by one from then on") {
  const PolicySpec spec = Small();
  const Version version(spec, 1);
  ActingGraphs graphs = GraphsOf(spec, version);
  const PolicyInputs inputs = InputsOfOneTable(spec, 20);
  int calls = 0;
  const auto fails_once = [&calls] { TORCH_CHECK(++calls != 2, "this cannot be recorded"); };
  for (int batch = 0; batch < 4; ++batch) {
    RequireSame(version.Act(graphs, inputs, fails_once), OneByOne(spec, version, inputs));
  }
  REQUIRE(graphs.counts().one_by_one == 4);
  REQUIRE(graphs.counts().recorded == 0);
}

}  // namespace
}  // namespace shoal::model
