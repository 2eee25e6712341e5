// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan_memory_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "cli/cluster/effective_config.h"
#include "cli/cluster/inference_devices.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/memory_plan.h"
#include "cli/commands/command_result.h"
#include "cli/commands/planned_cluster.h"
#include "platform/content/parse_json.h"
#include "platform/runtime/cluster.h"
#include "platform/runtime/process_usage.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

struct PlanMemoryFlags {
  PlanFlags cluster;
  std::optional<double> device_gibibytes;
  std::string format = "text";
};

// Adds what the learner program says of its updates.
absl::Status AddUpdates(const std::vector<std::string>& arguments, const EffectiveConfig& config,
                        std::int64_t ranks, MemoryPlan& plan) {
  const bool by_length = config.Text("inference.unroll_cut") != "episode";
  const std::int64_t rows =
      config.Integer(by_length ? "inference.unroll_length" : "inference.max_episode_rows")
          .value_or(1);
  std::vector<std::string> command = {ProgramFolder() + "/learner"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(),
                 {"--set", "run.log_level=\"error\"", "--plan-memory", std::to_string(rows)});
  SHOAL_ASSIGN_OR_RETURN(const std::string text, RunToEnd(command));
  const nlohmann::json memory = content::ParseJson(text);
  if (!memory.is_object()) return runtime::Internal("the learner's answer is no JSON: " + text);
  plan.parameters = memory.value("parameters", std::int64_t{0});
  plan.trained = memory.value("trained", std::int64_t{0});
  const std::string smaller_policy = "smaller layers in [policy]";
  const std::string fewer_rows =
      "more algorithm.accumulation_steps or algorithm.minibatches, fewer learner.round_unrolls or "
      "more learner ranks";
  const auto add = [&](std::int64_t processes, const char* key, const std::string& purpose,
                       const std::string& remedy) {
    plan.items.push_back({.process = "learner",
                          .processes = processes,
                          .purpose = purpose,
                          .bytes = memory.value(key, std::int64_t{0}),
                          .on_device = true,
                          .remedy = remedy});
  };
  const auto add_trainer = [&](std::int64_t processes, const std::string& whose) {
    add(processes, "parameter_bytes", whose + "parameters", smaller_policy);
    add(processes, "target_bytes", whose + "target network", smaller_policy);
    add(processes, "gradient_bytes", whose + "gradients", smaller_policy);
    add(processes, "optimiser_bytes", whose + "optimiser",
        "algorithm.optimiser lion or sgd, or " + smaller_policy);
    add(processes, "rollback_bytes", whose + "state before an update", smaller_policy);
  };
  add_trainer(ranks, "");
  // Rank 0 holds the parameters beside its worker, which computes gradients as other ranks do.
  if (config.Text("learner.gradients") == "asynchronous") add_trainer(1, "holder's ");
  add(ranks, "batch_bytes", "batch", "fewer learner.round_unrolls or more learner ranks");
  add(ranks, "activation_bytes", "activations of a minibatch", fewer_rows);
  std::erase_if(plan.items, [](const MemoryItem& item) { return item.bytes == 0; });
  return absl::OkStatus();
}

// Adds the limits that the file sets, and the parameters that inference retains.
void AddLimits(const EffectiveConfig& config, const runtime::ClusterOptions& cluster,
               std::int64_t gpus, MemoryPlan& plan) {
  const auto add = [&](const std::string& process, std::int64_t processes,
                       const std::string& purpose, const std::string& knob,
                       std::int64_t times = 1) {
    const std::int64_t bytes = config.Integer(knob).value_or(0) * times;
    if (bytes == 0) return;
    plan.items.push_back({.process = process,
                          .processes = processes,
                          .purpose = purpose,
                          .bytes = bytes,
                          .limit = true,
                          .remedy = "a lower " + knob});
  };
  const std::int64_t parameter_bytes = plan.parameters * static_cast<std::int64_t>(sizeof(float));
  add("learner", cluster.learner_ranks, "contents and catalogs", "learner.content_capacity_bytes");
  add("learner", cluster.learner_ranks, "chunks", "learner.chunk_cache_bytes");
  add("learner", 1, "recent parameters", "learner.recent_parameters_bytes");
  const std::int64_t replicas =
      InferenceDevices::Of(config.Text("inference.device").value_or("auto"), gpus).replicas;
  plan.items.push_back(
      {.process = "inference",
       .processes = cluster.inference_servers,
       .purpose = "retained parameters",
       .bytes =
           parameter_bytes * config.Integer("inference.retained_versions").value_or(1) * replicas,
       .limit = true,
       .remedy = "a lower inference.retained_versions"});
  add("inference", cluster.inference_servers, "embeddings", "inference.content_cache_bytes");
  add("inference", cluster.inference_servers, "catalogs", "inference.catalog_cache_bytes");
  add("inference", cluster.inference_servers, "similarities", "inference.similarity_cache_bytes",
      replicas);
  add("inference", cluster.inference_servers, "waiting texts", "inference.waiting_text_bytes");
  add("inference", cluster.inference_servers, "unrolls on their way", "inference.outbox_bytes");
  const bool spills_chunks = config.Integer("replay.content_memory_bytes").value_or(0) > 0;
  add("replay", cluster.replay_shards, "contents",
      spills_chunks ? "replay.content_memory_bytes" : "replay.content_capacity_bytes");
  for (int i = 0;; ++i) {
    const std::string table = "replay.table[" + std::to_string(i) + "]";
    const auto name = config.Text(table + ".name");
    if (!name) break;
    const bool spills = config.Integer(table + ".memory_bytes").value_or(0) > 0;
    add("replay", cluster.replay_shards, "table " + *name,
        table + (spills ? ".memory_bytes" : ".max_bytes"));
  }
}

struct Planned {
  MemoryPlan plan;
  MemoryPlaces places;
};

absl::StatusOr<Planned> PlanOf(const PlanMemoryFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const PlannedCluster cluster,
                         GatherCluster(flags.cluster, {"replay", "inference", "learner"}));
  Planned planned{.plan = {},
                  .places = {.host_bytes = runtime::MachineBytes(), .device_bytes = {}}};
  if (flags.device_gibibytes) {
    planned.places.device_bytes =
        static_cast<std::int64_t>(*flags.device_gibibytes * (std::int64_t{1} << 30));
  }
  SHOAL_RETURN_IF_ERROR(
      AddUpdates(cluster.arguments, cluster.config, cluster.cluster.learner_ranks, planned.plan));
  AddLimits(cluster.config, cluster.cluster, flags.cluster.gpus, planned.plan);
  return planned;
}

int RunPlanMemory(const PlanMemoryFlags& flags) {
  const absl::StatusOr<Planned> planned = PlanOf(flags);
  if (!planned.ok()) return FailCommand(planned.status());
  const auto& [plan, places] = *planned;
  std::fputs((flags.format == "json" ? ToJson(plan, places) : ToText(plan, places)).c_str(),
             stdout);
  return Judge(plan, places).fit == Fit::kDoesNotFit ? runtime::kExitFailed : 0;
}

}  // namespace

void AddPlanMemory(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<PlanMemoryFlags>();
  CLI::App* const plan = app.add_subcommand(
      "plan-memory",
      "Say what the processes of a cluster file take of memory, and whether it fits; start none");
  AddPlanFlags(*plan, flags->cluster);
  plan->add_option("--device-memory", flags->device_gibibytes,
                   "GiB of the device that each learner rank has for itself; default: ranks "
                   "update in the host's memory")
      ->check(CLI::Range(0.001, 1e6));
  plan->add_option("--format", flags->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  plan->callback([flags, &action] { action = [flags] { return RunPlanMemory(*flags); }; });
}

}  // namespace shoal::cli
