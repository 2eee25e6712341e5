// SPDX-License-Identifier: Apache-2.0
#include "text/language/trainer_checkpoint.h"

#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rl/model/safetensors.h"
#include "rl/model/torch_device.h"

namespace shoal::language {
namespace {

using nlohmann::json;
using runtime::DType;

constexpr const char* kStateFile = "trainer.safetensors";
constexpr const char* kCountersFile = "trainer.json";

json ToJson(const TrainerIdentity& identity) {
  return {{"config", json::parse(identity.config)},
          {"optimiser", static_cast<int>(identity.optimiser)}};
}

absl::StatusOr<TrainerSnapshot> Read(const training::Checkpoint& checkpoint,
                                     const TrainerIdentity& identity, std::int64_t size) {
  const auto file = [&](const char* name) -> runtime::SharedBytes {
    const auto found = checkpoint.files.find(name);
    return found == checkpoint.files.end() ? runtime::SharedBytes() : found->second.Joined();
  };
  const json counters = json::parse(file(kCountersFile).bytes, nullptr, false);
  if (!counters.is_object()) return runtime::DataLoss(std::string(kCountersFile) + " is no object");
  const json own = ToJson(identity);
  for (const auto& [key, value] : own.items()) {
    if (counters.value(key, json()) != value) {
      return runtime::FailedPrecondition("the checkpoint is of another " + key);
    }
  }
  TrainerSnapshot snapshot{
      .steps = counters.at("steps").get<std::int64_t>(), .parameters = {}, .moments = {}};
  snapshot.moments.steps = counters.at("optimiser_steps").get<std::int64_t>();
  const runtime::SharedBytes state = file(kStateFile);
  SHOAL_ASSIGN_OR_RETURN(const auto view, model::SafetensorsView::Parse(state.bytes));
  const auto tensor = [&](const char* name, std::int64_t count) -> absl::StatusOr<at::Tensor> {
    const auto values = view.Floats(name, runtime::Shape{count});
    if (values.ok()) return model::OnDevice(*values, at::kCPU);
    return runtime::FailedPrecondition("the checkpoint is of another model: " +
                                       runtime::Message(values.status()));
  };
  const std::int64_t squares = training::HasSecondMoment(identity.optimiser) ? size : 0;
  SHOAL_ASSIGN_OR_RETURN(snapshot.parameters, tensor("parameters", size));
  SHOAL_ASSIGN_OR_RETURN(snapshot.moments.first, tensor("first_moment", size));
  SHOAL_ASSIGN_OR_RETURN(snapshot.moments.second, tensor("second_moment", squares));
  return snapshot;
}

}  // namespace

void SaveTrainer(const TrainerIdentity& identity, const TrainerSnapshot& snapshot,
                 training::Checkpoint& checkpoint) {
  const training::FlatOptimiser::Moments& moments = snapshot.moments;
  std::vector<model::SafetensorsSlot> slots;
  training::FileContent data;
  const auto add = [&](const char* name, const at::Tensor& tensor) {
    const auto values = std::make_shared<const std::vector<float>>(model::OnHost(tensor));
    slots.push_back({name, DType::kFloat32, {static_cast<std::int64_t>(values->size())}});
    data.Append(
        {{reinterpret_cast<const char*>(values->data()), values->size() * sizeof(float)}, values});
  };
  add("parameters", snapshot.parameters);
  add("first_moment", moments.first);
  add("second_moment", moments.second);
  json counters = ToJson(identity);
  counters["optimiser_steps"] = moments.steps;
  counters["steps"] = snapshot.steps;
  training::FileContent& file = checkpoint.files[kStateFile];
  file = model::WriteSafetensorsHeader(slots, {});
  file.Append(data, 0, data.size());
  checkpoint.files[kCountersFile] = counters.dump(2) + "\n";
}

absl::StatusOr<TrainerSnapshot> ReadTrainer(const training::Checkpoint& checkpoint,
                                            const TrainerIdentity& identity, std::int64_t size) {
  try {
    return Read(checkpoint, identity, size);
  } catch (const std::exception& error) {
    return runtime::DataLoss(std::string("checkpoint: ") + error.what());
  }
}

}  // namespace shoal::language
