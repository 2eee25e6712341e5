// SPDX-License-Identifier: Apache-2.0
// Updates that compute whole batches, as GPUs do, against those that go row by row, and updates in
// bfloat16 against those in float32.
#include <ATen/record_function.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rl/algorithms/algorithm.h"
#include "rl/algorithms/algorithm_registry.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/model/candidate_table_tensors.h"
#include "rl/model/parameter_layout.h"
#include "rl/model/policy.h"
#include "rl/model/torch_device.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"
#include "tests/rl/model/devices.h"

namespace shoal::algorithms {
namespace {

std::vector<float> ParametersOf(const PolicyTrainer& trainer, const model::PolicySpec& spec) {
  const model::ParameterLayout layout = model::ParameterLayout::Of(spec);
  std::vector<float> numbers(static_cast<std::size_t>(layout.total));
  REQUIRE(layout.Read(trainer.SerializeParameters({}).value(), spec, numbers).ok());
  return numbers;
}

// With this epsilon a step of the optimiser is proportional to the gradient, where otherwise the
// rounding of a small gradient would decide about its direction.
AlgorithmOptions Proportional(const std::string& name) {
  AlgorithmOptions options;
  options.name = name;
  options.adam_epsilon = 1.0;
  options.learning_rate = 0.5;
  options.minibatches = 2;
  options.update_epochs = 2;
  options.kl_stop = 0;
  return options;
}

void RequireSameUpdates(model::PolicySpec spec, const std::string& name, bool overlay) {
  INFO(name);
  const AlgorithmOptions options = Proportional(name);
  const auto algorithm = MakeAlgorithm(options).value();
  spec = SpecFor(*algorithm, spec);
  const auto by_rows = Trainer(spec, options, {});
  PointerTask task(spec, {});
  std::vector<UnrollBatch> batches;
  for (int i = 0; i < 2; ++i) {
    batches.push_back(task.Play(*PolicyOf(*by_rows, spec), 6));
    if (overlay) AddOverlay(batches.back(), spec.embedding_size);
  }
  std::vector<UpdateReport> expected;
  for (const UnrollBatch& batch : batches) expected.push_back(by_rows->Update(batch).value());
  const std::vector<float> parameters = ParametersOf(*by_rows, spec);
  for (const model::ComputeDevice& device : model::BatchDevices()) {
    INFO(device.name);
    const auto batched = Trainer(spec, options, device);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const UpdateReport report = batched->Update(batches[i]).value();
      REQUIRE(report.rows == expected[i].rows);
      REQUIRE(report.policy_loss == Approx(expected[i].policy_loss).margin(1e-4));
      REQUIRE(report.value_loss == Approx(expected[i].value_loss).margin(1e-4));
      REQUIRE(report.entropy == Approx(expected[i].entropy).margin(1e-4));
      REQUIRE(report.approximate_kl == Approx(expected[i].approximate_kl).margin(1e-4));
      REQUIRE(report.gradient_norm == Approx(expected[i].gradient_norm).epsilon(1e-3));
      REQUIRE(report.priorities.size() == expected[i].priorities.size());
      for (std::size_t b = 0; b < report.priorities.size(); ++b) {
        REQUIRE(report.priorities[b] == Approx(expected[i].priorities[b]).margin(1e-4));
      }
    }
    const std::vector<float> found = ParametersOf(*batched, spec);
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == Approx(parameters[i]).margin(1e-4));
    }
  }
}

TEST_CASE("whole batches change the parameters as rows do, for every algorithm over candidates") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  spec.dueling = true;
  for (const std::string_view name : AlgorithmNames()) {
    if (MakeAlgorithm({.name = std::string(name)}).value()->soft() != nullptr) continue;
    RequireSameUpdates(spec, std::string(name), /*overlay=*/true);
  }
}

TEST_CASE("whole batches train the keys of candidates and a recurrent core as rows do") {
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.train_keys = true;
  spec.core = GENERATE("gru", "lstm");
  for (const char* const name : {"ppo", "impala", "dqn"}) {
    RequireSameUpdates(spec, name, /*overlay=*/true);
  }
}

TEST_CASE("whole batches train discrete heads as rows do") {
  model::PolicySpec spec = SmallSpec();
  spec.head = "discrete";
  spec.action_count = 4;
  spec.query_init = 1.0;
  for (const char* const name : {"ppo", "dqn"}) RequireSameUpdates(spec, name, /*overlay=*/false);
}

TEST_CASE("updates in bfloat16 follow those in float32 to three hundredths of their way") {
  const std::string name = GENERATE("ppo", "impala", "dqn", "iqn");
  INFO(name);
  model::PolicySpec spec = SmallSpec();
  spec.similarity_weight = 1;
  spec.candidate_marks = 3;
  spec.core = GENERATE("none", "gru");
  const AlgorithmOptions options = Proportional(name);
  spec = SpecFor(*MakeAlgorithm(options).value(), spec);
  const auto float32 = Trainer(spec, options);
  const std::vector<float> before = ParametersOf(*float32, spec);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*float32, spec), 6);
  const UpdateReport expected = float32->Update(batch).value();
  const std::vector<float> parameters = ParametersOf(*float32, spec);
  std::vector<model::ComputeDevice> devices = model::BatchDevices();
  devices.push_back({});
  for (model::ComputeDevice device : devices) {
    INFO(device.name);
    device.precision = model::Precision::kBfloat16;
    const auto bfloat16 = Trainer(spec, options, device);
    const UpdateReport report = bfloat16->Update(batch).value();
    REQUIRE(report.policy_loss == Approx(expected.policy_loss).margin(1e-2));
    REQUIRE(report.gradient_norm == Approx(expected.gradient_norm).epsilon(0.03));
    const double distance = RelativeDistance(ParametersOf(*bfloat16, spec), parameters, before);
    REQUIRE(distance < 0.03);
    // Of float32's rounding alone it would be a thousandth of that.
    REQUIRE(distance > 1e-4);
  }
}

TEST_CASE(
    "updates of frames in bfloat16 follow those in float32 to three hundredths of their way") {
  model::PolicySpec spec = SmallSpec();
  spec.head = "discrete";
  spec.action_count = 4;
  spec.convolution = GENERATE("small", "nature");
  spec.frame_shape = {36, 36, 2};
  spec.observation_size = 36 * 36 * 2;
  spec.content_fields = {};
  spec.past_requests = false;
  const AlgorithmOptions options = Proportional("ppo");
  const auto float32 = Trainer(spec, options);
  const std::vector<float> before = ParametersOf(*float32, spec);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*float32, spec), 4);
  REQUIRE(float32->Update(batch).ok());
  const std::vector<float> parameters = ParametersOf(*float32, spec);
  for (model::ComputeDevice device : model::BatchDevices()) {
    device.precision = model::Precision::kBfloat16;
    const auto bfloat16 = Trainer(spec, options, device);
    REQUIRE(bfloat16->Update(batch).ok());
    REQUIRE(RelativeDistance(ParametersOf(*bfloat16, spec), parameters, before) < 0.1);
  }
}

TEST_CASE("demonstrations are cloned in whole batches as row by row") {
  const model::PolicySpec spec = SmallSpec();
  const AlgorithmOptions options = Proportional("ppo");
  PointerTask experts(spec, {.expert = true});
  PointerTask task(spec, {});
  const auto by_rows = Trainer(spec, options, {});
  const UnrollBatch demonstrations = experts.Play(*PolicyOf(*by_rows, spec), 6);
  const UnrollBatch own = task.Play(*PolicyOf(*by_rows, spec), 6);
  const auto train = [&](PolicyTrainer& trainer) {
    const CloningReport report = trainer.CloneBehaviour(demonstrations, 0.5).value();
    REQUIRE(trainer.Update(own, {.demonstrations = demonstrations, .coefficient = 0.3}).ok());
    return report;
  };
  const CloningReport expected = train(*by_rows);
  const std::vector<float> parameters = ParametersOf(*by_rows, spec);
  for (const model::ComputeDevice& device : model::BatchDevices()) {
    const auto batched = Trainer(spec, options, device);
    const CloningReport report = train(*batched);
    REQUIRE(report.loss == Approx(expected.loss).margin(1e-5));
    REQUIRE(report.agreement == Approx(expected.agreement));
    const std::vector<float> found = ParametersOf(*batched, spec);
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == Approx(parameters[i]).margin(1e-4));
    }
  }
}

// What an update copies, and how often it waits for one number.
struct Traffic {
  std::uint64_t up = 0;
  std::uint64_t down = 0;
  std::uint64_t scalars = 0;
};

Traffic TrafficOf(PolicyTrainer& trainer, const UnrollBatch& batch) {
  static std::uint64_t scalars;
  scalars = 0;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        if (std::string(function.name()) == "aten::_local_scalar_dense") ++scalars;
        return nullptr;
      }));
  const model::CopyCounts before = model::Copies();
  REQUIRE(trainer.Update(batch).ok());
  const model::CopyCounts after = model::Copies();
  at::removeCallback(handle);
  return {.up = after.up - before.up, .down = after.down - before.down, .scalars = scalars};
}

TEST_CASE("an update copies its batch, targets and minibatches up once, and waits once a step") {
  // Copies are counted on the thread that makes them.
  model::SetTorchThreads(1);
  const bool candidates = GENERATE(false, true);
  const bool on_policy = GENERATE(false, true);
  model::PolicySpec spec = SmallSpec();
  if (!candidates) {
    spec.head = "discrete";
    spec.action_count = 4;
    spec.query_init = 1.0;
  }
  AlgorithmOptions options = Proportional(on_policy ? "ppo" : "dqn");
  // On a CPU torch's Adam asks its count of steps, too.
  options.optimiser = "sgd";
  spec = SpecFor(*MakeAlgorithm(options).value(), spec);
  PointerTask task(spec, {});
  const UnrollBatch batch = task.Play(*PolicyOf(*Trainer(spec, options, {}), spec), 6);
  for (const model::ComputeDevice& device : model::BatchDevices()) {
    INFO(device.name);
    const auto traffic_with = [&](std::int64_t minibatches) {
      options.minibatches = minibatches;
      const auto trainer = Trainer(spec, options, device);
      REQUIRE(trainer->Update(batch).ok());
      return TrafficOf(*trainer, batch);
    };
    const Traffic few = traffic_with(2);
    const Traffic many = traffic_with(4);
    const auto epochs = static_cast<std::uint64_t>(options.update_epochs);
    // A head over candidates sends each minibatch's rows of every catalog in one copy.
    REQUIRE(many.up - few.up == (candidates ? 2 * epochs : 0));
    REQUIRE(many.down - few.down == 2 * epochs);
    // The norm of the gradient, by which it is clipped.
    REQUIRE(many.scalars - few.scalars == 2 * epochs);
    if (on_policy) {
      REQUIRE(few.up == 3 + (candidates ? 2 * epochs : 0));
      REQUIRE(few.down == 2 * epochs);
      REQUIRE(few.scalars == 2 * epochs + 1);
    }
  }
}

TEST_CASE("a checkpoint of one device continues on another") {
  const model::PolicySpec spec = SmallSpec();
  const AlgorithmOptions options = Proportional("ppo");
  PointerTask task(spec, {});
  const auto by_rows = Trainer(spec, options, {});
  const UnrollBatch first = task.Play(*PolicyOf(*by_rows, spec), 6);
  const UnrollBatch second = task.Play(*PolicyOf(*by_rows, spec), 6);
  REQUIRE(by_rows->Update(first).ok());
  const doubles::TemporaryFolder folder;
  REQUIRE(by_rows->Save(folder.path(), "note").ok());
  REQUIRE(by_rows->Update(second).ok());
  const std::vector<float> expected = ParametersOf(*by_rows, spec);
  for (const model::ComputeDevice& device : model::BatchDevices()) {
    const auto batched = Trainer(spec, options, device);
    REQUIRE(batched->Load(folder.path()).value() == "note");
    REQUIRE(batched->Update(second).ok());
    const std::vector<float> found = ParametersOf(*batched, spec);
    for (std::size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i] == Approx(expected[i]).margin(1e-4));
    }
  }
}

}  // namespace
}  // namespace shoal::algorithms
