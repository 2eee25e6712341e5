// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulation_options.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/results/run_files.h"

namespace shoal::cli {
namespace {

constexpr std::array<std::string_view, 5> kPrograms = {"actor", "mockserver", "inference", "replay",
                                                       "learner"};
constexpr char kSection[] = "simulation";

// The mean of one value over the rows that have it, or 0.
class Means {
 public:
  explicit Means(std::vector<nlohmann::json> rows) : rows_(std::move(rows)) {}

  double Of(const std::string& key) const {
    double sum = 0;
    double count = 0;
    for (const nlohmann::json& row : rows_) {
      const auto& from = row.contains(key) ? row : row.at("details");
      if (!from.contains(key) || !from.at(key).is_number()) continue;
      sum += from.at(key).get<double>();
      ++count;
    }
    return count > 0 ? sum / count : 0;
  }
  // Microseconds of a program's processors for each of what it does so many of in a second.
  double Cost(const std::string& program, double each_second) const {
    if (!(each_second > 0)) return 0;
    return 1e6 * Of("process_cpu_seconds/" + program) / each_second;
  }

 private:
  std::vector<nlohmann::json> rows_;
};

absl::Status Check(const SimulationOptions& options, const std::string& source) {
  for (const std::string_view program : kPrograms) {
    const bool placed = std::ranges::any_of(
        options.machines, [&](const SimulatedMachines& machine) { return machine.Runs(program); });
    if (!placed) {
      return runtime::InvalidArgument(source + ": no machine runs " + std::string(program) +
                                      "; name it in simulation.machine.programs");
    }
  }
  for (const SimulatedMachines& machine : options.machines) {
    for (const std::string& program : machine.programs) {
      if (std::ranges::find(kPrograms, program) != kPrograms.end()) continue;
      return runtime::InvalidArgument(source + ": machine " + machine.name + " runs " + program +
                                      ", which is none of actor, mockserver, inference, replay "
                                      "and learner");
    }
  }
  return absl::OkStatus();
}

}  // namespace

void SimulatedCosts::Visit(runtime::Visitor& visitor) {
  const auto time = [&visitor](std::string_view name, double& value, std::string_view help) {
    visitor.Knob(name, value, {.help = help, .unit = "us", .min = 0, .max = 1e9});
  };
  const auto bytes = [&visitor](std::string_view name, double& value, std::string_view help) {
    visitor.Knob(name, value, {.help = help, .unit = "bytes", .min = 0, .max = 1e13});
  };
  time("actor_step_us", actor_step_us, "an environment's step in the actor");
  time("service_step_us", service_step_us, "the same in the service that it drives over HTTP");
  time("environment_wait_us", environment_wait_us, "time of a step that takes no processor");
  time("inference_batch_us", inference_batch_us, "a batch of inference, besides its rows");
  time("inference_row_us", inference_row_us, "each row of it");
  time("inference_host_row_us", inference_host_row_us,
       "what a processor does for each row beside the device");
  visitor.Knob("inference_on_device", inference_on_device,
               {.help = "each inference server computes on devices of its own, those of "
                        "inference.device"});
  time("shard_item_us", shard_item_us, "an item's way through a replay shard");
  time("learner_update_us", learner_update_us, "an update, besides its rows");
  time("learner_row_us", learner_row_us, "each row of a rank, over all epochs");
  time("learner_host_row_us", learner_host_row_us,
       "what a processor does for each row beside the device");
  visitor.Knob("learner_on_device", learner_on_device,
               {.help = "each learner rank computes on a device of its own"});
  bytes("row_bytes", row_bytes, "a row on its way from an actor to inference and its answer");
  bytes("item_bytes", item_bytes, "an item of replay on the wire");
  bytes("parameter_bytes", parameter_bytes, "a published policy, and what ranks reduce");
}

bool SimulatedMachines::Runs(std::string_view program) const {
  return std::ranges::find(programs, program) != programs.end();
}

void SimulatedMachines::Visit(runtime::Visitor& visitor) {
  visitor.Knob("name", name, {.help = "what the output calls these machines"});
  visitor.Knob("count", count, {.help = "how many there are", .min = 1, .max = 100000});
  visitor.Knob("processors", processors, {.help = "of each", .min = 0.01, .max = 10000});
  visitor.Knob("gigabits_per_second", gigabits_per_second,
               {.help = "of each one's network, in each direction", .min = 0.001, .max = 100000});
  visitor.Knob("latency_us", latency_us,
               {.help = "from machine to machine", .unit = "us", .min = 0, .max = 1e7});
  visitor.Knob("programs", programs,
               {.help = "what runs there: actor, mockserver, inference, replay, learner"});
}

void SimulationOptions::Visit(runtime::Visitor& visitor) {
  visitor.Group("costs", costs);
  visitor.Groups("machine", machines);
}

std::string SimulationOptions::Print() const {
  SimulationOptions copy = *this;
  runtime::Config config;
  config.Add(kSection, copy);
  return config.Print();
}

absl::StatusOr<SimulationOptions> ReadSimulationFile(const std::string& path) {
  SimulationOptions options;
  runtime::Config config;
  config.Add(kSection, options);
  SHOAL_RETURN_IF_ERROR(config.Load(path, {}));
  SHOAL_RETURN_IF_ERROR(Check(options, path));
  return options;
}

absl::StatusOr<SimulationOptions> MeasureRun(const std::string& run_path, double processors) {
  std::vector<nlohmann::json> rows = ReadLines(run_path + "/metrics.jsonl");
  std::erase_if(rows, [](const nlohmann::json& row) {
    return !row.is_object() || !row.contains("details") || !row.at("details").is_object() ||
           !row.at("details").contains("learner_rows_per_second") ||
           row.at("details").at("learner_rows_per_second") == 0;
  });
  rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2));
  constexpr std::size_t kFewestRows = 5;
  const std::size_t measured = rows.size();
  const Means means(std::move(rows));
  if (measured < kFewestRows || !(means.Of("process_cpu_seconds/learner") > 0)) {
    return runtime::FailedPrecondition(
        run_path + " has " + std::to_string(measured) +
        " measurements of updates and processor time in its second half, too few to measure costs");
  }
  SimulationOptions options;
  SimulatedCosts& costs = options.costs;
  const double steps = means.Of("environment_steps_per_second");
  costs.actor_step_us = means.Cost("actor", steps);
  costs.service_step_us = means.Cost("mockserver", steps);
  // Inference answers more rows than there are steps: those of evaluations, the last ones of
  // episodes, and rows that are sent again. The steps have to bear them.
  costs.inference_row_us = means.Cost("inference", steps);
  // An item comes in once, and goes out as often as it is sampled.
  const double ways =
      means.Of("replay_inserted_per_second") + means.Of("replay_sampled_per_second");
  costs.shard_item_us = means.Cost("replay", ways / 2);
  costs.learner_row_us = means.Cost("learner", means.Of("learner_rows_per_second"));
  costs.parameter_bytes = means.Of("parameters_bytes");
  options.machines.front().processors = processors;
  return options;
}

}  // namespace shoal::cli
