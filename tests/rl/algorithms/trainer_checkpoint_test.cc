// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_checkpoint.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/large_memory.h"
#include "rl/model/safetensors.h"
#include "rl/training/checkpoint.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/algorithms/pointer_task.h"
#include "tests/rl/algorithms/trainers.h"

namespace shoal::algorithms {
namespace {

TrainerCheckpoint Newest(const std::string& folder, const model::PolicySpec& spec) {
  return ReadTrainerCheckpoint(training::ReadNewestCheckpoint(folder).value(), spec).value();
}

// A trainer after some updates, and its checkpoint.
struct Trained {
  explicit Trained(const model::PolicySpec& spec, const AlgorithmOptions& options = {})
      : trainer(Trainer(spec, options)), task(spec, {.epsilon = 0.5}) {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, spec), 6)).ok());
    }
    REQUIRE(trainer->Save(folder.path(), "a note").ok());
  }
  TrainerCheckpoint checkpoint() const { return Newest(folder.path(), SmallSpec()); }

  const doubles::TemporaryFolder folder;
  const std::unique_ptr<PolicyTrainer> trainer;
  PointerTask task;
};

model::PolicySpec Grown(model::PolicySpec spec) {
  spec.hidden = {24};
  spec.core_size += 3;
  spec.value_hidden.front() += 2;
  return spec;
}

// Returns the part of `numbers` that belongs to a vector of the checkpoint's network.
std::vector<float> PartOf(const TrainerCheckpoint& checkpoint, const SharedFloats& numbers,
                          const char* name) {
  const model::ParameterInfo& info = *checkpoint.layout.Find(name);
  return {numbers.begin() + info.offset, numbers.begin() + info.offset + info.size};
}

// Writes the checkpoint anew after `change` to its files.
template <typename Change>
void Rewrite(const std::string& folder, Change change) {
  training::Checkpoint files = training::ReadNewestCheckpoint(folder).value();
  change(files.files);
  REQUIRE(training::WriteCheckpoint(folder, files, 3).ok());
}

TEST_CASE("a checkpoint of another network is refused with the names of parameters and shapes") {
  const Trained trained(SmallSpec());
  model::PolicySpec other = SmallSpec();
  other.hidden = {24};
  const absl::Status refused = Trainer(other)->Load(trained.folder.path()).status();
  REQUIRE(absl::IsFailedPrecondition(refused));
  const std::string message(runtime::Message(refused));
  INFO(message);
  REQUIRE(message.find("another [policy] than this one's: changed torso.0.weight [16, ") !=
          std::string::npos);
  REQUIRE(message.find("] to [24, ") != std::string::npos);
  REQUIRE(message.find("torso.0.bias [16] to [24]") != std::string::npos);
  REQUIRE(message.find("learner.fit_parameters") != std::string::npos);
  other = SmallSpec();
  other.query_scale *= 2;
  const absl::Status scaled = Trainer(other)->Load(trained.folder.path()).status();
  REQUIRE(absl::IsFailedPrecondition(scaled));
  REQUIRE(runtime::Message(scaled).find("all its parameters have the same shapes") !=
          std::string::npos);
}

TEST_CASE("training goes on with a larger network, from the same outputs") {
  model::PolicySpec spec = SmallSpec();
  spec.core = GENERATE("none", "gru", "lstm");
  Trained trained(spec);
  const model::PolicySpec grown = Grown(spec);
  const auto trainer = Trainer(grown);
  const FittedCheckpoint fitted = trainer->LoadFitting(trained.folder.path()).value();
  REQUIRE(fitted.note == "a note");
  REQUIRE_FALSE(fitted.parameters.changed.empty());
  REQUIRE(trainer->updates() == 3);

  PointerTask before(spec, {.seed = 4});
  PointerTask after(grown, {.seed = 4});
  const UnrollBatch old = before.Play(*PolicyOf(*trained.trainer, spec), 6);
  const UnrollBatch now = after.Play(*PolicyOf(*trainer, grown), 6);
  REQUIRE(now.action == old.action);
  for (std::size_t i = 0; i < old.value.size(); ++i) {
    REQUIRE(now.value[i] == Approx(old.value[i]).margin(1e-5));
  }
  for (std::size_t i = 0; i < old.action.size(); ++i) {
    REQUIRE(now.behaviour_log_probability[i] ==
            Approx(old.behaviour_log_probability[i]).margin(1e-5));
  }

  const std::string digest = trainer->Digest();
  REQUIRE(trainer->Update(now).ok());
  REQUIRE(trainer->Digest() != digest);
  REQUIRE(trainer->updates() == 4);
}

TEST_CASE("a larger network that was fitted goes on to solve the task") {
  const Trained trained(SmallSpec());
  const model::PolicySpec grown = Grown(SmallSpec());
  const auto trainer = Trainer(grown);
  REQUIRE(trainer->LoadFitting(trained.folder.path()).ok());
  PointerTask task(grown, {.columns = 32});
  for (int i = 0; i < 60; ++i) {
    REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, grown), 6)).ok());
  }
  task.TakeSuccess();
  task.Play(*PolicyOf(*trainer, grown), 30);
  REQUIRE(task.TakeSuccess() > 0.8);
}

TEST_CASE("what the optimiser remembers is carried over; what is new starts cautiously") {
  const Trained trained(SmallSpec());
  const TrainerCheckpoint old = trained.checkpoint();
  TrainerCheckpoint now = old;
  const model::FitReport report = FitToNetwork(Grown(SmallSpec()), 1, now).value();
  REQUIRE(report.dropped.empty());
  REQUIRE(now.optimiser_steps == old.optimiser_steps);
  REQUIRE(now.first_moment.size() == static_cast<std::size_t>(now.layout.trainable));
  const auto mean =
      static_cast<float>(std::accumulate(old.second_moment.begin(), old.second_moment.end(), 0.0) /
                         static_cast<double>(old.second_moment.size()));
  REQUIRE(mean > 0);
  for (const char* name : {"torso.0.bias", "value.0.bias"}) {
    const auto first = PartOf(old, old.first_moment, name);
    auto first_now = PartOf(now, now.first_moment, name);
    const auto second = PartOf(old, old.second_moment, name);
    auto second_now = PartOf(now, now.second_moment, name);
    REQUIRE(first_now.size() > first.size());
    REQUIRE(std::all_of(first_now.begin() + static_cast<std::ptrdiff_t>(first.size()),
                        first_now.end(), [](float moment) { return moment == 0; }));
    REQUIRE(std::all_of(second_now.begin() + static_cast<std::ptrdiff_t>(first.size()),
                        second_now.end(), [&](float moment) { return moment == mean; }));
    first_now.resize(first.size());
    second_now.resize(second.size());
    REQUIRE(first_now == first);
    REQUIRE(second_now == second);
  }
}

TEST_CASE("a checkpoint that is fitted to its own network goes on with the same bits") {
  model::PolicySpec spec = SmallSpec();
  spec.normalise_observations = true;
  Trained trained(spec);
  const auto trainer = Trainer(spec);
  const FittedCheckpoint fitted = trainer->LoadFitting(trained.folder.path()).value();
  REQUIRE(ToString(fitted.parameters).empty());
  const UnrollBatch next = trained.task.Play(*PolicyOf(*trainer, spec), 6);
  REQUIRE(trainer->Update(next).ok());
  REQUIRE(trained.trainer->Update(next).ok());
  REQUIRE(trainer->Digest() == trained.trainer->Digest());
}

TEST_CASE("a smaller network goes on too, with every optimiser") {
  for (const std::string_view name : training::OptimiserNames()) {
    INFO(name);
    AlgorithmOptions options;
    options.optimiser = name;
    options.learning_rate = 1e-4;
    const Trained trained(SmallSpec(), options);
    model::PolicySpec smaller = SmallSpec();
    smaller.hidden = {5};
    const auto trainer = Trainer(smaller, options);
    REQUIRE(trainer->LoadFitting(trained.folder.path()).ok());
    PointerTask task(smaller, {});
    REQUIRE(trainer->Update(task.Play(*PolicyOf(*trainer, smaller), 6)).ok());
  }
}

TEST_CASE(
    "the target network is fitted like the trained one, and begins as it where there is none") {
  AlgorithmOptions options;
  options.name = "dqn";
  model::PolicySpec spec = SmallSpec();
  spec.action_values = true;
  const Trained trained(spec, options);
  const TrainerCheckpoint old = trained.checkpoint();
  REQUIRE(old.target != old.parameters);
  const auto trainer = Trainer(Grown(spec), options);
  const doubles::TemporaryFolder next;
  const auto fitted = [&] {
    REQUIRE(trainer->LoadFitting(trained.folder.path()).ok());
    REQUIRE(trainer->Save(next.path(), "").ok());
    return Newest(next.path(), spec);
  };
  const TrainerCheckpoint now = fitted();
  auto bias = PartOf(now, now.target, "torso.0.bias");
  bias.resize(16);
  REQUIRE(bias == PartOf(old, old.target, "torso.0.bias"));

  Rewrite(trained.folder.path(), [](auto& files) { files.erase("target.safetensors"); });
  REQUIRE(absl::IsFailedPrecondition(Trainer(spec, options)->Load(trained.folder.path()).status()));
  const TrainerCheckpoint without = fitted();
  REQUIRE(without.target == without.parameters);
}

TEST_CASE("a checkpoint that does not say its network fits that network alone") {
  const Trained trained(SmallSpec());
  Rewrite(trained.folder.path(), [](auto& files) { files.erase("policy.toml"); });
  REQUIRE(Trainer(SmallSpec())->Load(trained.folder.path()).ok());
  REQUIRE(Trainer(SmallSpec())->LoadFitting(trained.folder.path()).ok());
  const auto other = Trainer(Grown(SmallSpec()));
  REQUIRE(absl::IsFailedPrecondition(other->Load(trained.folder.path()).status()));
  REQUIRE(absl::IsFailedPrecondition(other->LoadFitting(trained.folder.path()).status()));
}

TEST_CASE("a snapshot lies in memory of an earlier one that nobody has any more, and in no other") {
  const Trained trained(SmallSpec());
  runtime::LargeMemoryPool memory;
  std::optional<TrainerCheckpoint> first = trained.trainer->Snapshot("", memory);
  REQUIRE(first->parameters == trained.checkpoint().parameters);
  const std::set<const float*> places = {first->parameters.data(), first->first_moment.data(),
                                         first->second_moment.data()};
  const std::vector<float> before(first->parameters.begin(), first->parameters.end());
  std::optional<training::Checkpoint> files = FilesOf(*first);
  first.reset();

  PointerTask task(SmallSpec(), {.epsilon = 0.5});
  const auto update = [&] {
    REQUIRE(trained.trainer->Update(task.Play(*PolicyOf(*trained.trainer, SmallSpec()), 6)).ok());
  };
  update();
  {
    // The files still have the first one.
    const TrainerCheckpoint second = trained.trainer->Snapshot("", memory);
    REQUIRE_FALSE(places.contains(second.parameters.data()));
    const auto read = ReadTrainerCheckpoint(*files, SmallSpec());
    REQUIRE(read->parameters == before);
    REQUIRE_FALSE(second.parameters == read->parameters);
  }
  files.reset();
  update();
  const TrainerCheckpoint third = trained.trainer->Snapshot("", memory);
  const TrainerCheckpoint fourth = trained.trainer->Snapshot("", memory);
  std::set<const float*> reused;
  for (const TrainerCheckpoint* one : {&third, &fourth}) {
    for (const SharedFloats* numbers :
         {&one->parameters, &one->first_moment, &one->second_moment}) {
      reused.insert(numbers->data());
    }
  }
  REQUIRE(reused.size() == 6);
  REQUIRE(std::includes(reused.begin(), reused.end(), places.begin(), places.end()));
}

TEST_CASE("a checkpoint's files are those that the writers of single files write") {
  const Trained trained(SmallSpec());
  const TrainerCheckpoint checkpoint = trained.checkpoint();
  const training::Checkpoint files = FilesOf(checkpoint);
  REQUIRE(files.files.at("parameters.safetensors") ==
          checkpoint.layout.Write(checkpoint.parameters, checkpoint.spec, {}));
  const runtime::Shape shape = {checkpoint.layout.trainable};
  const auto item = [&](const char* name, const SharedFloats& numbers) -> model::SafetensorsItem {
    return {name,
            {runtime::DType::kFloat32, shape, std::as_bytes(std::span<const float>(numbers))}};
  };
  const std::vector<model::SafetensorsItem> items = {
      item("first_moment", checkpoint.first_moment),
      item("second_moment", checkpoint.second_moment)};
  REQUIRE(files.files.at("optimiser.safetensors") == model::WriteSafetensors(items, {}));
}

TEST_CASE("moments that lie at an odd place of a file are read too") {
  const Trained trained(SmallSpec());
  const TrainerCheckpoint checkpoint = trained.checkpoint();
  training::Checkpoint files = FilesOf(checkpoint);
  const std::string moments(files.files.at("optimiser.safetensors").Joined().bytes);
  const auto shifted = std::make_shared<const std::string>("x" + moments);
  files.files["optimiser.safetensors"] = {};
  files.files["optimiser.safetensors"].Append({std::string_view(*shifted).substr(1), shifted});
  const TrainerCheckpoint read = ReadTrainerCheckpoint(files, SmallSpec()).value();
  REQUIRE(read.first_moment == checkpoint.first_moment);
  REQUIRE(read.second_moment == checkpoint.second_moment);
}

TEST_CASE("files that no trainer wrote are errors, and the trainer stays as it was") {
  const Trained trained(SmallSpec());
  const auto trainer = Trainer(Grown(SmallSpec()));
  const std::string digest = trainer->Digest();
  const std::vector<float> few(3);
  const runtime::Shape shape = {3};
  const model::SafetensorsItem first = {
      "first_moment", {runtime::DType::kFloat32, shape, std::as_bytes(std::span(few))}};
  const model::SafetensorsItem second = {
      "second_moment", {runtime::DType::kFloat32, shape, std::as_bytes(std::span(few))}};
  const std::vector<model::SafetensorsItem> items = {first, second};
  const std::vector<std::pair<const char*, std::string>> spoiled = {
      {"policy.toml", "[policy]\nhidden = \"many\"\n"},
      {"policy.toml", "[policy]\nhidden = [3]\n"},
      {"policy.toml", "[policy"},
      {"parameters.safetensors", "no tensors"},
      {"optimiser.safetensors", model::WriteSafetensors(items, {})},
      {"counters.json", "[]"},
      {"counters.json", "{\"updates\": \"many\"}"},
      {"moments.json", "{\"observations\": 3}"}};
  for (const auto& [name, text] : spoiled) {
    INFO(name << ": " << text);
    const doubles::TemporaryFolder folder;
    training::Checkpoint files = training::ReadNewestCheckpoint(trained.folder.path()).value();
    files.files[name] = text;
    REQUIRE(training::WriteCheckpoint(folder.path(), files, 1).ok());
    const absl::Status refused = trainer->LoadFitting(folder.path()).status();
    REQUIRE_FALSE(refused.ok());
    REQUIRE_FALSE(absl::IsNotFound(refused));
  }
  REQUIRE(trainer->Digest() == digest);
  REQUIRE(trainer->updates() == 0);
}

}  // namespace
}  // namespace shoal::algorithms
