// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_checkpoint.h"

#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "rl/algorithms/normalisation.h"
#include "rl/model/safetensors.h"

namespace shoal::algorithms {
namespace {

constexpr const char* kPolicyFile = "policy.toml";
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
                                   {"kl_coefficient", checkpoint.kl_coefficient},
                                   {"seed", checkpoint.seed},
                                   {"note", checkpoint.note}};
  return counters.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Returns one of the optimiser's moments, `trainable` numbers or none.
absl::StatusOr<std::vector<float>> MomentIn(const model::SafetensorsView& view, const char* name,
                                            std::int64_t trainable) {
  const model::SafetensorsView::Entry* const entry = view.Find(name);
  const bool none = entry != nullptr && entry->bytes.empty();
  return view.Floats(name, runtime::Shape{none ? 0 : trainable});
}

absl::StatusOr<std::vector<float>> ParametersIn(std::string_view file,
                                                const TrainerCheckpoint& checkpoint) {
  std::vector<float> parameters(static_cast<std::size_t>(checkpoint.layout.total));
  SHOAL_RETURN_IF_ERROR(checkpoint.layout.Read(file, checkpoint.spec, parameters));
  return parameters;
}

// Returns the parameters of a network `to` that keep what fits.
std::vector<float> Fitted(const model::ParameterLayout& from, std::span<const float> old,
                          const model::ParameterLayout& to, std::uint64_t seed,
                          model::FitReport& report) {
  std::vector<float> values(static_cast<std::size_t>(to.total));
  to.Initialise(seed, values);
  report = model::FitParameters(from, old, to, values);
  return values;
}

absl::StatusOr<TrainerCheckpoint> ReadOrThrow(const training::Checkpoint& files,
                                              const model::PolicySpec& expected) {
  const auto file = [&](const char* name) -> std::string_view {
    const auto found = files.files.find(name);
    return found == files.files.end() ? std::string_view() : found->second;
  };
  const auto counters = nlohmann::json::parse(file(kCountersFile), nullptr, false);
  if (!counters.is_object()) return runtime::DataLoss("checkpoint: counters.json is no object");
  SHOAL_ASSIGN_OR_RETURN(const auto optimiser, model::SafetensorsView::Parse(file(kOptimiserFile)));
  TrainerCheckpoint checkpoint;
  checkpoint.spec = expected;
  if (files.files.contains(kPolicyFile)) {
    SHOAL_ASSIGN_OR_RETURN(checkpoint.spec,
                           model::PolicySpec::Parse(file(kPolicyFile), kPolicyFile));
  }
  checkpoint.layout = model::ParameterLayout::Of(checkpoint.spec);
  SHOAL_ASSIGN_OR_RETURN(checkpoint.parameters, ParametersIn(file(kParametersFile), checkpoint));
  if (files.files.contains(kTargetFile)) {
    SHOAL_ASSIGN_OR_RETURN(checkpoint.target, ParametersIn(file(kTargetFile), checkpoint));
  }
  const std::int64_t trainable = checkpoint.layout.trainable;
  SHOAL_ASSIGN_OR_RETURN(checkpoint.first_moment, MomentIn(optimiser, kFirstMoment, trainable));
  SHOAL_ASSIGN_OR_RETURN(checkpoint.second_moment, MomentIn(optimiser, kSecondMoment, trainable));
  checkpoint.normalisation = file(kMomentsFile);
  // Checkpoints from before there was a choice are of AdamW.
  checkpoint.optimiser = counters.value("optimiser", std::string("adamw"));
  checkpoint.optimiser_steps = counters.at("optimiser_steps").get<std::int64_t>();
  checkpoint.updates = counters.at("updates").get<std::int64_t>();
  checkpoint.clonings = counters.value("clonings", std::int64_t{0});
  checkpoint.learning_rate = counters.at("learning_rate").get<double>();
  checkpoint.kl_coefficient = counters.value("kl_coefficient", 0.0);
  checkpoint.seed = counters.value("seed", std::uint64_t{0});
  checkpoint.note = counters.at("note").get<std::string>();
  return checkpoint;
}

}  // namespace

training::Checkpoint FilesOf(const TrainerCheckpoint& checkpoint) {
  training::Checkpoint files{.number = checkpoint.clonings + checkpoint.updates, .files = {}};
  const model::ParameterLayout& layout = checkpoint.layout;
  files.files[kPolicyFile] = checkpoint.spec.Print();
  files.files[kParametersFile] = layout.Write(checkpoint.parameters, checkpoint.spec, {});
  if (!checkpoint.target.empty()) {
    files.files[kTargetFile] = layout.Write(checkpoint.target, checkpoint.spec, {});
  }
  if (!checkpoint.normalisation.empty()) files.files[kMomentsFile] = checkpoint.normalisation;
  files.files[kOptimiserFile] = OptimiserFile(checkpoint);
  files.files[kCountersFile] = CountersFile(checkpoint);
  return files;
}

absl::StatusOr<TrainerCheckpoint> ReadTrainerCheckpoint(const training::Checkpoint& files,
                                                        const model::PolicySpec& expected) {
  try {
    return ReadOrThrow(files, expected);
  } catch (const std::exception& error) {
    return runtime::DataLoss(std::string("checkpoint: ") + error.what());
  }
}

absl::StatusOr<model::FitReport> FitToNetwork(const model::PolicySpec& spec, std::uint64_t seed,
                                              TrainerCheckpoint& checkpoint) {
  if (!checkpoint.normalisation.empty()) {
    // Values that are split put numbers before those of the task, which moments do not tell apart.
    const bool fits = checkpoint.spec.has_split_values() == spec.has_split_values();
    SHOAL_ASSIGN_OR_RETURN(checkpoint.normalisation,
                           FitMoments(checkpoint.normalisation, fits ? spec.observation_size : 0));
  }
  const model::ParameterLayout from =
      std::exchange(checkpoint.layout, model::ParameterLayout::Of(spec));
  const model::ParameterLayout& to = checkpoint.layout;
  checkpoint.spec = spec;
  model::FitReport report;
  if (!checkpoint.target.empty()) {
    checkpoint.target = Fitted(from, checkpoint.target, to, seed, report);
  }
  checkpoint.parameters = Fitted(from, checkpoint.parameters, to, seed, report);
  if (!checkpoint.first_moment.empty()) {
    checkpoint.first_moment = model::FitMoments(from, checkpoint.first_moment, to, 0);
  }
  if (!checkpoint.second_moment.empty()) {
    const std::vector<float>& second = checkpoint.second_moment;
    const double mean =
        std::accumulate(second.begin(), second.end(), 0.0) / static_cast<double>(second.size());
    checkpoint.second_moment = model::FitMoments(from, second, to, static_cast<float>(mean));
  }
  return report;
}

}  // namespace shoal::algorithms
