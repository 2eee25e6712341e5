// SPDX-License-Identifier: Apache-2.0
#include <ATen/record_function.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "rl/model/compute_devices.h"
#include "rl/model/policy.h"
#include "rl/model/torch_device.h"
#include "tests/rl/model/devices.h"
#include "tests/rl/model/small_policy.h"

namespace shoal::model {
namespace {

constexpr std::int64_t kRows = 48;

std::shared_ptr<const Policy> PolicyOn(const PolicySpec& spec, const ComputeDevice& device,
                                       const Policy* previous = nullptr) {
  return Policy::FromSafetensors(spec, InitialParameters(spec, 1).value(), previous, device)
      .value();
}

// Rows of two catalogs, one of which has removed candidates and overlays that append and remove
// others, with marks and all kinds of choices.
PolicyInputs MixedInputs(const PolicySpec& spec) {
  PolicyInputs inputs = Inputs(spec, kRows, 3);
  const auto catalog = Table(6, {1, 4}, 9);
  const auto appends = CandidateTable::Create(Embeddings(8, 3, spec.embedding_size),
                                              std::vector<std::uint32_t>{2}, catalog)
                           .value();
  const auto removes = CandidateTable::Create(Embeddings(9, 1, spec.embedding_size),
                                              std::vector<std::uint32_t>{0, 9}, catalog)
                           .value();
  inputs.tables = {Table(5, {}), catalog, appends, removes};
  const Choice choices[] = {Choice::kSample,   Choice::kGreedy,        Choice::kUniform,
                            Choice::kForced,   Choice::kEpsilonGreedy, Choice::kSimilarity,
                            Choice::kValueOnly};
  for (std::size_t row = 0; row < static_cast<std::size_t>(kRows); ++row) {
    inputs.table[row] = static_cast<std::int32_t>(row % 4);
    inputs.choice[row] = choices[row % 7];
    inputs.epsilon.push_back(row % 3 == 0 ? 0.0 : 0.5);
    inputs.forced_action.push_back(3);
    inputs.similarity_rank.push_back(static_cast<std::int64_t>(row % 2));
    inputs.first[row] = row % 5 == 0 ? 1 : 0;
    // Several rows have a goal in common.
    inputs.goal_keys[16 * row] = static_cast<std::uint8_t>(row % 6);
    const std::size_t width = static_cast<std::size_t>(spec.embedding_size);
    const std::size_t fields = static_cast<std::size_t>(spec.content_count());
    std::memcpy(inputs.contents.data() + row * fields * width,
                inputs.contents.data() + (row % 6) * fields * width, width * 2);
    if (spec.candidate_marks > 0) {
      const std::vector<CandidateMark> marks = {{.candidate = 2, .bits = 0b101},
                                                {.candidate = 5, .bits = 0b010}};
      inputs.marks.Add(row % 2 == 0 ? std::span<const CandidateMark>(marks)
                                    : std::span<const CandidateMark>());
    }
  }
  return inputs;
}

void RequireEqual(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(a[i] == Approx(b[i]).margin(1e-4));
}

template <typename Numbers>
void Rotate(Numbers& numbers, std::int64_t rows, std::int64_t by) {
  const auto width = static_cast<std::int64_t>(numbers.size()) / rows;
  std::rotate(numbers.begin(), numbers.begin() + by % rows * width, numbers.end());
}

// The number `batch` of batches whose rows see, choose and draw otherwise each time.
PolicyInputs Varied(PolicyInputs inputs, std::int64_t batch) {
  Rotate(inputs.observation, kRows, batch);
  Rotate(inputs.core_state, kRows, batch);
  Rotate(inputs.choice, kRows, 7 * batch);
  Rotate(inputs.first, kRows, 2 * batch);
  Rotate(inputs.draw, kRows, 3 * batch);
  Rotate(inputs.legal, kRows, batch);
  Rotate(inputs.table, kRows, batch);
  return inputs;
}

void RequireAgreement(const PolicySpec& spec, const PolicyInputs& inputs) {
  const auto by_rows = PolicyOf(spec);
  for (const ComputeDevice& device : ActingDevices()) {
    INFO(device.name << (device.graphs ? " with graphs" : ""));
    const auto policy = PolicyOn(spec, device);
    for (std::int64_t number = 0; number < (device.graphs ? 5 : 1); ++number) {
      const PolicyInputs varied = Varied(inputs, number);
      const PolicyOutputs rows = Act(*by_rows, varied);
      const PolicyOutputs batch = Act(*policy, varied);
      REQUIRE(batch.action == rows.action);
      RequireEqual(batch.log_probability, rows.log_probability);
      RequireEqual(batch.value, rows.value);
      RequireEqual(batch.action_value, rows.action_value);
      RequireEqual(batch.core_state, rows.core_state);
      RequireEqual(batch.box_action, rows.box_action);
    }
  }
}

// The operations that wait for a device or copy from it, of one call.
struct Waits {
  int scalars = 0;
  int copies = 0;
};

template <typename Call>
Waits CountWaits(const Call& call) {
  static Waits waits;
  waits = {};
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        const std::string name = function.name();
        if (name == "aten::_local_scalar_dense" || name == "aten::nonzero") ++waits.scalars;
        return nullptr;
      }));
  const CopyCounts before = Copies();
  call();
  waits.copies = static_cast<int>(Copies().up - before.up + Copies().down - before.down);
  at::removeCallback(handle);
  return waits;
}

TEST_CASE("whole batches and single rows give the same actions, probabilities and values") {
  PolicySpec spec = Small();
  SECTION("candidates") { RequireAgreement(spec, MixedInputs(spec)); }
  SECTION("candidates with marks and a recurrent core") {
    spec.candidate_marks = 3;
    spec.core = GENERATE("gru", "lstm");
    RequireAgreement(spec, MixedInputs(spec));
  }
  SECTION("action values of candidates") {
    spec.action_values = true;
    spec.dueling = GENERATE(false, true);
    RequireAgreement(spec, MixedInputs(spec));
  }
  SECTION("action values that are means of quantiles") {
    spec.action_values = true;
    spec.quantile_cosines = 5;
    RequireAgreement(spec, MixedInputs(spec));
  }
  SECTION("goals that are compared by the first numbers of their embeddings") {
    spec.similarity_weight = 3;
    spec.past_requests = false;
    RequireAgreement(spec, MixedInputs(spec));
  }
}

TEST_CASE("whole batches choose discrete actions as single rows do") {
  PolicySpec spec = Small();
  spec.head = "discrete";
  spec.action_count = 5;
  spec.action_values = GENERATE(false, true);
  PolicyInputs inputs = Inputs(spec, kRows, 4);
  const Choice choices[] = {Choice::kSample, Choice::kGreedy, Choice::kUniform,
                            Choice::kEpsilonGreedy, Choice::kValueOnly};
  for (std::size_t row = 0; row < static_cast<std::size_t>(kRows); ++row) {
    inputs.choice[row] = choices[row % 5];
    inputs.epsilon.push_back(0.6);
    for (std::size_t a = 0; a < 5; ++a) inputs.legal.push_back((row + a) % 3 == 0 ? 0 : 1);
  }
  RequireAgreement(spec, inputs);
  inputs.legal.clear();
  RequireAgreement(spec, inputs);
}

TEST_CASE("whole batches choose points of a box as single rows do") {
  PolicySpec spec = Small();
  spec.head = GENERATE("box", "gaussian");
  spec.action_count = 2;
  spec.twin_critics = !spec.has_gaussian();
  PolicyInputs inputs = Inputs(spec, kRows, 4);
  runtime::Random random(5);
  for (std::int64_t i = 0; i < kRows * 4; ++i) inputs.box_draws.push_back(random.Uniform());
  for (std::size_t row = 0; row < static_cast<std::size_t>(kRows); row += 3) {
    inputs.choice[row] = Choice::kGreedy;
    inputs.choice[row + 1] = Choice::kUniform;
  }
  RequireAgreement(spec, inputs);
}

TEST_CASE("sampling in whole batches follows the policy's distribution") {
  const PolicySpec spec = Small();
  const auto distribution = Distribution(*PolicyOf(spec), Inputs(spec, 1), kCandidates);
  constexpr std::int64_t kDraws = 4000;
  PolicyInputs one = Inputs(spec, 1);
  PolicyInputs many = Inputs(spec, kDraws);
  for (std::size_t row = 0; row < static_cast<std::size_t>(kDraws); ++row) {
    const auto spread = [row](const auto& from, auto& to) {
      std::copy(from.begin(), from.end(),
                to.begin() + static_cast<std::ptrdiff_t>(row * from.size()));
    };
    spread(one.observation, many.observation);
    spread(one.contents, many.contents);
    spread(one.goal_keys, many.goal_keys);
    spread(one.past_requests, many.past_requests);
    many.draw[row] = (static_cast<double>(row) + 0.5) / static_cast<double>(kDraws);
  }
  for (const ComputeDevice& device : ActingDevices()) {
    std::vector<double> taken(static_cast<std::size_t>(kCandidates));
    for (const std::int64_t action : Act(*PolicyOn(spec, device), many).action) {
      taken[static_cast<std::size_t>(action)] += 1;
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      REQUIRE(taken[i] == Approx(distribution[i] * static_cast<double>(kDraws)).margin(2));
    }
  }
}

TEST_CASE("a batch is copied up once and down once, and nothing else waits for the device") {
  PolicySpec spec = Small();
  spec.candidate_marks = 3;
  spec.core = GENERATE("gru", "lstm");
  spec.action_values = true;
  const PolicyInputs inputs = MixedInputs(spec);
  for (const ComputeDevice& device : ActingDevices()) {
    const auto policy = PolicyOn(spec, device);
    SimilarityCache cache;
    for (int batch = 0; batch < 2; ++batch) REQUIRE(policy->Act(inputs, cache).ok());
    const Waits waits = CountWaits([&] { REQUIRE(policy->Act(inputs, cache).ok()); });
    REQUIRE(waits.copies == 2);
    REQUIRE(waits.scalars == 0);
  }
}

TEST_CASE("the next version of a policy acts on the same device with its own parameters") {
  const PolicySpec spec = Small();
  const PolicyInputs inputs = MixedInputs([] {
    PolicySpec plain = Small();
    return plain;
  }());
  for (const ComputeDevice& device : ActingDevices()) {
    const auto first = PolicyOn(spec, device);
    for (int batch = 0; batch < 2; ++batch) Act(*first, inputs);
    const auto next =
        Policy::FromSafetensors(spec, InitialParameters(spec, 2).value(), first.get(), device)
            .value();
    RequireEqual(Act(*next, inputs).value, Act(*PolicyOf(spec, 2), inputs).value);
    RequireEqual(Act(*first, inputs).value, Act(*PolicyOf(spec), inputs).value);
  }
}

TEST_CASE("a device is found by its name, or refused with a reason") {
  REQUIRE(FindComputeDevice("cpu")->name == "cpu");
  REQUIRE_FALSE(FindComputeDevice("cpu")->whole_batches);
  REQUIRE(absl::IsInvalidArgument(FindComputeDevice("gpu").status()));
  REQUIRE(absl::IsInvalidArgument(FindComputeDevice("cuda:x").status()));
  REQUIRE(absl::IsFailedPrecondition(FindComputeDevice("cuda:99").status()));
  REQUIRE(absl::IsFailedPrecondition(FindGpu("cpu", 0).status()));
  const auto found = FindComputeDevice("auto");
  REQUIRE(found.ok());
  REQUIRE(found->whole_batches == (found->name != "cpu"));
}

TEST_CASE("several devices are found by a list, or the entry that is wrong is named") {
  const auto refusal = [](const std::string& names) {
    return runtime::Message(FindComputeDevices(names).status());
  };
  REQUIRE(FindComputeDevices("cpu")->size() == 1);
  const auto three = FindComputeDevices("cpu, cpu,cpu");
  REQUIRE(three.ok());
  REQUIRE(three->size() == 3);
  for (const ComputeDevice& device : *three) REQUIRE(device.name == "cpu");
  REQUIRE(refusal("cpu,") == "in the list 'cpu,', '' is none of cpu, cuda:<n>");
  REQUIRE(refusal("cpu,cuda") == "in the list 'cpu,cuda', 'cuda' is none of cpu, cuda:<n>");
  REQUIRE(refusal("cpu,cuda:*") == "device 'cuda:*' is none of auto, cpu, cuda, cuda:<n>");
  REQUIRE(absl::IsFailedPrecondition(FindComputeDevices("cpu,cuda:99").status()));
  std::string many = "cpu";
  for (std::size_t i = 1; i < kMaxComputeDevices; ++i) many += ",cpu";
  REQUIRE(FindComputeDevices(many)->size() == kMaxComputeDevices);
  REQUIRE(refusal(many + ",cpu") == "a list of devices has at most 64 entries");
  const auto gpus = FindComputeDevices("cuda:*");
  if (FindComputeDevice("cuda").ok()) {
    REQUIRE(gpus->front().name == "cuda:0");
    REQUIRE(gpus->back().whole_batches);
  } else {
    REQUIRE(absl::IsFailedPrecondition(gpus.status()));
  }
}

TEST_CASE("arrays that are sent together arrive as they were, empty ones too") {
  for (const ComputeDevice& device : BatchDevices()) {
    DeviceBatch batch(FindDevice(device.name).value());
    const std::vector<float> floats = {1.5F, -2.0F, 3.0F};
    const std::vector<std::int64_t> longs = {7, -8};
    const std::vector<std::uint8_t> bytes = {1, 0, 255};
    const auto a = batch.Add(floats);
    const auto b = batch.Add(bytes);
    const auto c = batch.Add(longs);
    const auto d = batch.Add(std::vector<double>());
    batch.Send();
    const auto host = ToHost({batch.Get(b, {3}), batch.Get(a, {3, 1}), batch.Get(c, {2})});
    REQUIRE(std::memcmp(host[0].const_data_ptr(), bytes.data(), 3) == 0);
    REQUIRE(std::memcmp(host[1].const_data_ptr(), floats.data(), 12) == 0);
    REQUIRE(std::memcmp(host[2].const_data_ptr(), longs.data(), 16) == 0);
    REQUIRE(host[1].sizes() == at::IntArrayRef({3, 1}));
    REQUIRE(batch.Get(d, {0}).numel() == 0);
  }
}

TEST_CASE("tensors that are copied up together arrive as they were, in one copy") {
  const at::Tensor floats = CopyUp(std::vector<float>{1.5F, -2.0F, 3.0F, 4.0F}, at::kCPU);
  const at::Tensor longs = CopyUp(std::vector<std::int64_t>{7, -8}, at::kCPU);
  const std::vector<at::Tensor> sources = {floats.gt(0),           floats.view({2, 2}).t(),
                                           floats.to(at::kDouble), at::Tensor(),
                                           longs.narrow(0, 0, 0),  longs};
  for (const ComputeDevice& device : BatchDevices()) {
    const at::Device place = FindDevice(device.name).value();
    const CopyCounts before = Copies();
    std::vector<at::Tensor> copies = CopyUp(sources, place);
    REQUIRE(Copies().up == before.up + 1);
    std::vector<at::Tensor> moved = sources;
    std::vector<at::Tensor*> places;
    for (at::Tensor& tensor : moved) places.push_back(&tensor);
    MoveTogether(places, place);
    REQUIRE(Copies().up == before.up + 2);
    at::Tensor absent;
    at::Tensor empty = longs.narrow(0, 0, 0);
    MoveTogether({&absent, &empty}, place);
    REQUIRE(Copies().up == before.up + 2);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      REQUIRE(copies[i].defined() == sources[i].defined());
      if (!sources[i].defined()) continue;
      REQUIRE(copies[i].device() == place);
      REQUIRE(moved[i].device() == place);
      REQUIRE(copies[i].to(at::kCPU).equal(sources[i]));
      REQUIRE(moved[i].to(at::kCPU).equal(sources[i]));
      REQUIRE((copies[i].numel() == 0 || !copies[i].is_alias_of(sources[i])));
    }
  }
}

}  // namespace
}  // namespace shoal::model
