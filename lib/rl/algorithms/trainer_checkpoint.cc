// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_checkpoint.h"

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "rl/model/safetensors.h"
#include "rl/training/checkpoint.h"

namespace shoal::algorithms {
namespace {

constexpr std::int64_t kKeptCheckpoints = 3;
constexpr const char* kParametersFile = "parameters.safetensors";
constexpr const char* kOptimiserFile = "optimiser.safetensors";
constexpr const char* kTargetFile = "target.safetensors";
constexpr const char* kCountersFile = "counters.json";
constexpr const char* kMomentsFile = "moments.json";
constexpr const char* kFirstMoment = "first_moment";
constexpr const char* kSecondMoment = "second_moment";

std::string OptimiserFile(const TrainerCheckpoint& checkpoint) {
  const runtime::Shape first = {static_cast<std::int64_t>(checkpoint.first_moment.size())};
  const runtime::Shape second = {static_cast<std::int64_t>(checkpoint.second_moment.size())};
  const std::array<model::SafetensorsItem, 2> items = {
      {{kFirstMoment,
        {runtime::DType::kFloat32, first, std::as_bytes(std::span(checkpoint.first_moment))}},
       {kSecondMoment,
        {runtime::DType::kFloat32, second, std::as_bytes(std::span(checkpoint.second_moment))}}}};
  return model::WriteSafetensors(items, {});
}

std::string CountersFile(const TrainerCheckpoint& checkpoint) {
  const nlohmann::json counters = {{"updates", checkpoint.updates},
                                   {"clonings", checkpoint.clonings},
                                   {"optimiser", checkpoint.optimiser},
                                   {"optimiser_steps", checkpoint.optimiser_steps},
                                   {"learning_rate", checkpoint.learning_rate},
                                   {"seed", checkpoint.seed},
                                   {"note", checkpoint.note}};
  return counters.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Returns one of the optimiser's moments, of whichever length it has.
absl::StatusOr<std::vector<float>> MomentIn(const model::SafetensorsView& view, const char* name) {
  const model::SafetensorsView::Entry* const entry = view.Find(name);
  return view.Floats(name, entry == nullptr ? runtime::Shape() : entry->shape);
}

absl::StatusOr<std::vector<float>> ParametersIn(std::string_view file,
                                                const model::PolicySpec& spec,
                                                const model::ParameterLayout& layout) {
  std::vector<float> parameters(static_cast<std::size_t>(layout.total));
  SHOAL_RETURN_IF_ERROR(layout.Read(file, spec, parameters));
  return parameters;
}

absl::StatusOr<TrainerCheckpoint> ReadOrThrow(const training::Checkpoint& files,
                                              const model::PolicySpec& spec,
                                              const model::ParameterLayout& layout) {
  const auto file = [&](const char* name) -> std::string_view {
    const auto found = files.files.find(name);
    return found == files.files.end() ? std::string_view() : found->second;
  };
  const auto counters = nlohmann::json::parse(file(kCountersFile), nullptr, false);
  if (!counters.is_object()) return runtime::DataLoss("checkpoint: counters.json is no object");
  SHOAL_ASSIGN_OR_RETURN(const auto optimiser, model::SafetensorsView::Parse(file(kOptimiserFile)));
  TrainerCheckpoint checkpoint;
  SHOAL_ASSIGN_OR_RETURN(checkpoint.first_moment, MomentIn(optimiser, kFirstMoment));
  SHOAL_ASSIGN_OR_RETURN(checkpoint.second_moment, MomentIn(optimiser, kSecondMoment));
  SHOAL_ASSIGN_OR_RETURN(checkpoint.parameters, ParametersIn(file(kParametersFile), spec, layout));
  if (files.files.contains(kTargetFile)) {
    SHOAL_ASSIGN_OR_RETURN(checkpoint.target, ParametersIn(file(kTargetFile), spec, layout));
  }
  checkpoint.normalisation = file(kMomentsFile);
  // Checkpoints from before there was a choice are of AdamW.
  checkpoint.optimiser = counters.value("optimiser", std::string("adamw"));
  checkpoint.optimiser_steps = counters.at("optimiser_steps").get<std::int64_t>();
  checkpoint.updates = counters.at("updates").get<std::int64_t>();
  checkpoint.clonings = counters.value("clonings", std::int64_t{0});
  checkpoint.learning_rate = counters.at("learning_rate").get<double>();
  checkpoint.seed = counters.value("seed", std::uint64_t{0});
  checkpoint.note = counters.at("note").get<std::string>();
  return checkpoint;
}

}  // namespace

absl::Status WriteTrainerCheckpoint(const std::string& folder, const TrainerCheckpoint& checkpoint,
                                    const model::PolicySpec& spec,
                                    const model::ParameterLayout& layout) {
  training::Checkpoint files{.number = checkpoint.clonings + checkpoint.updates, .files = {}};
  files.files[kParametersFile] = layout.Write(checkpoint.parameters, spec, {});
  if (!checkpoint.target.empty()) {
    files.files[kTargetFile] = layout.Write(checkpoint.target, spec, {});
  }
  if (!checkpoint.normalisation.empty()) files.files[kMomentsFile] = checkpoint.normalisation;
  files.files[kOptimiserFile] = OptimiserFile(checkpoint);
  files.files[kCountersFile] = CountersFile(checkpoint);
  return training::WriteCheckpoint(folder, files, kKeptCheckpoints);
}

absl::StatusOr<TrainerCheckpoint> ReadTrainerCheckpoint(const std::string& folder,
                                                        const model::PolicySpec& spec,
                                                        const model::ParameterLayout& layout) {
  SHOAL_ASSIGN_OR_RETURN(const training::Checkpoint files, training::ReadNewestCheckpoint(folder));
  try {
    return ReadOrThrow(files, spec, layout);
  } catch (const std::exception& error) {
    return runtime::DataLoss(std::string("checkpoint: ") + error.what());
  }
}

}  // namespace shoal::algorithms
