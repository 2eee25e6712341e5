// SPDX-License-Identifier: Apache-2.0
#include "text/language/trainer_checkpoint.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
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
  const auto file = [&](const char* name) -> std::string_view {
    const auto found = checkpoint.files.find(name);
    return found == checkpoint.files.end() ? std::string_view() : found->second;
  };
  const json counters = json::parse(file(kCountersFile), nullptr, false);
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
  SHOAL_ASSIGN_OR_RETURN(const auto view, model::SafetensorsView::Parse(file(kStateFile)));
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
  std::vector<std::pair<const char*, std::vector<float>>> tensors;
  tensors.emplace_back("parameters", model::OnHost(snapshot.parameters));
  tensors.emplace_back("first_moment", model::OnHost(moments.first));
  tensors.emplace_back("second_moment", model::OnHost(moments.second));
  std::vector<runtime::Shape> shapes;
  for (const auto& tensor : tensors) {
    shapes.push_back({static_cast<std::int64_t>(tensor.second.size())});
  }
  std::vector<model::SafetensorsItem> items;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    items.push_back({tensors[i].first,
                     {DType::kFloat32, shapes[i], std::as_bytes(std::span(tensors[i].second))}});
  }
  json counters = ToJson(identity);
  counters["optimiser_steps"] = moments.steps;
  counters["steps"] = snapshot.steps;
  checkpoint.files[kStateFile] = model::WriteSafetensors(items, {});
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
