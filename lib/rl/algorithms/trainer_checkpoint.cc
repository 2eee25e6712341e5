// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/trainer_checkpoint.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/large_memory.h"
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

// Returns a file of items that lie in what `owner` keeps.
training::FileContent FileOf(std::span<const model::SafetensorsItem> items,
                             const model::Metadata& metadata,
                             const std::shared_ptr<const void>& owner) {
  training::FileContent file = model::WriteSafetensorsHeader(items, metadata);
  for (const model::SafetensorsItem& item : items) {
    const std::span<const std::byte> bytes = item.tensor.bytes;
    file.Append({{reinterpret_cast<const char*>(bytes.data()), bytes.size()}, owner});
  }
  return file;
}

training::FileContent ParametersFile(const SharedFloats& parameters,
                                     const TrainerCheckpoint& checkpoint) {
  return FileOf(checkpoint.layout.Items(parameters),
                model::ParameterLayout::MetadataOf(checkpoint.spec, {}), parameters.owner());
}

training::FileContent OptimiserFile(const TrainerCheckpoint& checkpoint) {
  const runtime::Shape first = {static_cast<std::int64_t>(checkpoint.first_moment.size())};
  const runtime::Shape second = {static_cast<std::int64_t>(checkpoint.second_moment.size())};
  const std::array<model::SafetensorsItem, 2> items = {
      {{kFirstMoment,
        {runtime::DType::kFloat32, first, std::as_bytes(std::span(checkpoint.first_moment))}},
       {kSecondMoment,
        {runtime::DType::kFloat32, second, std::as_bytes(std::span(checkpoint.second_moment))}}}};
  return FileOf(items, {},
                std::make_shared<std::array<SharedFloats, 2>>(
                    std::array{checkpoint.first_moment, checkpoint.second_moment}));
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

// Returns one of the optimiser's moments, `trainable` numbers or none, from a file that `owner`
// keeps.
absl::StatusOr<SharedFloats> MomentIn(const model::SafetensorsView& view, const char* name,
                                      std::int64_t trainable,
                                      const std::shared_ptr<const void>& owner) {
  const model::SafetensorsView::Entry* const entry = view.Find(name);
  const bool none = entry != nullptr && entry->bytes.empty();
  const runtime::Shape shape = {none ? 0 : trainable};
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, view.FloatBytes(name, shape));
  const std::size_t size = bytes.size() / sizeof(float);
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0) {
    return SharedFloats(owner, {reinterpret_cast<const float*>(bytes.data()), size});
  }
  std::vector<float> values(size);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return SharedFloats(std::move(values));
}

absl::StatusOr<SharedFloats> ParametersIn(std::string_view file,
                                          const TrainerCheckpoint& checkpoint) {
  const auto size = static_cast<std::size_t>(checkpoint.layout.total);
  const std::shared_ptr<char> memory = runtime::NewLargeMemory(size * sizeof(float));
  const std::span<float> parameters(reinterpret_cast<float*>(memory.get()), size);
  SHOAL_RETURN_IF_ERROR(checkpoint.layout.Read(file, checkpoint.spec, parameters));
  return SharedFloats(memory, parameters);
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
  const auto file = [&](const char* name) -> runtime::SharedBytes {
    const auto found = files.files.find(name);
    return found == files.files.end() ? runtime::SharedBytes() : found->second.Joined();
  };
  const auto counters = nlohmann::json::parse(file(kCountersFile).bytes, nullptr, false);
  if (!counters.is_object()) return runtime::DataLoss("checkpoint: counters.json is no object");
  const runtime::SharedBytes optimiser_file = file(kOptimiserFile);
  SHOAL_ASSIGN_OR_RETURN(const auto optimiser, model::SafetensorsView::Parse(optimiser_file.bytes));
  TrainerCheckpoint checkpoint;
  checkpoint.spec = expected;
  if (files.files.contains(kPolicyFile)) {
    SHOAL_ASSIGN_OR_RETURN(checkpoint.spec,
                           model::PolicySpec::Parse(file(kPolicyFile).bytes, kPolicyFile));
  }
  checkpoint.layout = model::ParameterLayout::Of(checkpoint.spec);
  SHOAL_ASSIGN_OR_RETURN(checkpoint.parameters,
                         ParametersIn(file(kParametersFile).bytes, checkpoint));
  if (files.files.contains(kTargetFile)) {
    SHOAL_ASSIGN_OR_RETURN(checkpoint.target, ParametersIn(file(kTargetFile).bytes, checkpoint));
  }
  const std::int64_t trainable = checkpoint.layout.trainable;
  SHOAL_ASSIGN_OR_RETURN(checkpoint.first_moment,
                         MomentIn(optimiser, kFirstMoment, trainable, optimiser_file.owner));
  SHOAL_ASSIGN_OR_RETURN(checkpoint.second_moment,
                         MomentIn(optimiser, kSecondMoment, trainable, optimiser_file.owner));
  checkpoint.normalisation = file(kMomentsFile).bytes;
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
  files.files[kPolicyFile] = checkpoint.spec.Print();
  files.files[kParametersFile] = ParametersFile(checkpoint.parameters, checkpoint);
  if (!checkpoint.target.empty()) {
    files.files[kTargetFile] = ParametersFile(checkpoint.target, checkpoint);
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

std::string NoteOf(const training::Checkpoint& files) {
  const auto found = files.files.find(kCountersFile);
  if (found == files.files.end()) return "";
  const auto counters = nlohmann::json::parse(found->second.Joined().bytes, nullptr, false);
  const bool has =
      counters.is_object() && counters.contains("note") && counters["note"].is_string();
  return has ? counters["note"].get<std::string>() : "";
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
    const SharedFloats second = checkpoint.second_moment;
    const double mean =
        std::accumulate(second.begin(), second.end(), 0.0) / static_cast<double>(second.size());
    checkpoint.second_moment = model::FitMoments(from, second, to, static_cast<float>(mean));
  }
  return report;
}

}  // namespace shoal::algorithms
