// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/replay_command.h"

#include <absl/strings/str_format.h>
#include <absl/strings/str_replace.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cli/cluster/cluster_file.h"
#include "cli/commands/command_result.h"
#include "platform/runtime/program.h"
#include "replay/client/shard_admin.h"

namespace shoal::cli {
namespace {

struct ReplayFlags {
  std::string config_path = kLatestCluster;
  std::string table;
  std::vector<std::string> settings;
  std::string checkpoint;
  std::uint64_t epoch = 0;
  std::uint64_t first_step = 0;
  std::uint64_t last_step = 0;
  std::optional<std::uint64_t> last_epoch = std::nullopt;
  double timeout_seconds = 5;

  runtime::Duration timeout() const {
    return std::chrono::duration_cast<runtime::Duration>(
        std::chrono::duration<double>(timeout_seconds));
  }
};

std::string Bytes(std::uint64_t bytes) {
  constexpr double kMebi = 1 << 20;
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / kMebi);
}

// "wait: max_size (2 streams)" or "go on".
std::string Flow(const std::string& wait, std::uint32_t streams, double seconds_since) {
  std::string text = wait.empty() ? "go on" : "wait: " + wait;
  if (!wait.empty() && streams > 0) {
    text += absl::StrFormat(" (%d %s)", streams, streams == 1 ? "stream" : "streams");
  }
  return text + absl::StrFormat(", the last one %.1f s ago", seconds_since);
}

std::string DescribeShard(const proto::TableInfo& table) {
  std::string text = absl::StrFormat("%d of %d items, %s of %s", table.size(), table.max_size(),
                                     Bytes(table.bytes()), Bytes(table.max_bytes()));
  if (table.max_memory_bytes() > 0) {
    text += absl::StrFormat(", %s of %s in memory and %s on disk", Bytes(table.memory_bytes()),
                            Bytes(table.max_memory_bytes()), Bytes(table.disk_bytes()));
  }
  if (table.reads_total() > 0) {
    text += absl::StrFormat(", %d reads", table.reads_total());
  }
  if (table.lost_total() > 0) {
    text += absl::StrFormat(", %d items lost on disk", table.lost_total());
  }
  if (table.samples_per_insert() > 0) {
    text += absl::StrFormat(", credit %.0f steps", table.credit_steps());
  }
  if (table.oldest_lag_steps() > 0) {
    text += absl::StrFormat(", the oldest %d versions behind", table.oldest_lag_steps());
  }
  return text + "\n    inserts " +
         Flow(table.insert_wait(), table.waiting_inserters(), table.seconds_since_insert()) +
         "\n    samples " +
         Flow(table.sample_wait(), table.waiting_samplers(), table.seconds_since_sample()) + "\n";
}

absl::StatusOr<std::vector<std::string>> ShardsOf(const ReplayFlags& flags) {
  SHOAL_ASSIGN_OR_RETURN(const runtime::ClusterOptions cluster, ReadClusterFile(flags.config_path));
  if (!cluster.replay.empty()) return cluster.replay;
  return runtime::InvalidArgument(flags.config_path + ": cluster.replay names no shard");
}

int RunInfo(const ReplayFlags& flags) {
  const auto shards = ShardsOf(flags);
  if (!shards.ok()) return FailCommand(shards.status());
  const auto answers = replay::client::AskShards(*shards, flags.timeout());
  std::fputs(DescribeTables(*shards, answers).c_str(), stdout);
  for (const auto& answer : answers) {
    if (!answer.ok()) return runtime::kExitFailed;
  }
  return 0;
}

// Asks all shards by `ask`, prints what each did as `describe` says of its reply, and returns the
// exit code: 2 if one refused, 1 if one did not answer.
template <typename Ask, typename Describe>
int RunOnEach(const ReplayFlags& flags, const Ask& ask, const Describe& describe) {
  const auto shards = ShardsOf(flags);
  if (!shards.ok()) return FailCommand(shards.status());
  const auto answers = ask(*shards);
  int code = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const absl::Status& status = answers[i].status();
    const std::string did = status.ok() ? describe(*answers[i]) : runtime::Message(status);
    std::printf("%s: %s\n", (*shards)[i].c_str(), did.c_str());
    if (status.ok() || code == runtime::kExitConfiguration) continue;
    const bool refused = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                         absl::IsFailedPrecondition(status);
    code = refused ? runtime::kExitConfiguration : runtime::kExitFailed;
  }
  return code;
}

int RunSet(const ReplayFlags& flags) {
  return RunOnEach(
      flags,
      [&flags](const auto& shards) {
        return replay::client::ConfigureShards(shards, flags.table, flags.settings,
                                               flags.timeout());
      },
      [](const proto::ConfigureReply&) { return std::string("changed"); });
}

int RunCheckpoint(const ReplayFlags& flags) {
  return RunOnEach(
      flags,
      [&flags](const auto& shards) {
        return replay::client::CheckpointShards(shards, flags.checkpoint, flags.timeout());
      },
      [](const proto::CheckpointReply& reply) { return reply.directory(); });
}

int RunExclude(const ReplayFlags& flags) {
  if (flags.last_epoch && *flags.last_epoch < flags.epoch) {
    return FailCommand(runtime::InvalidArgument("--last-epoch is below EPOCH"));
  }
  return RunOnEach(
      flags,
      [&flags](const auto& shards) {
        proto::ExcludeRequest request;
        request.set_epoch(flags.epoch);
        request.set_first_step(flags.first_step);
        request.set_last_step(flags.last_step);
        request.set_last_epoch(flags.last_epoch.value_or(flags.epoch));
        return replay::client::ExcludeFromShards(shards, request, flags.timeout());
      },
      [](const proto::ExcludeReply& reply) {
        return absl::StrFormat("%d items removed", reply.removed());
      });
}

void AddConfig(CLI::App& command, ReplayFlags& flags) {
  command.add_option("--config", flags.config_path, "cluster file of the running cluster")
      ->capture_default_str();
  command.add_option("--timeout", flags.timeout_seconds, "seconds to wait at most")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
}

}  // namespace

std::string DescribeTables(std::span<const std::string> addresses,
                           std::span<const absl::StatusOr<proto::InfoReply>> answers) {
  struct Shown {
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;
    std::string shards;
    std::set<std::string> signatures;
  };
  std::map<std::string, Shown> tables;
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].ok()) {
      text += addresses[i] + " does not answer: " + runtime::Message(answers[i].status()) + "\n";
      continue;
    }
    for (const proto::TableInfo& table : answers[i]->tables()) {
      Shown& shown = tables[table.name()];
      shown.items += table.size();
      shown.bytes += table.bytes();
      shown.shards += "  " + addresses[i] + ": " + DescribeShard(table);
      if (!table.signature().empty()) shown.signatures.insert(table.signature());
    }
  }
  for (const auto& [name, shown] : tables) {
    text += absl::StrFormat("table %s: %d items, %s\n", name, shown.items, Bytes(shown.bytes)) +
            shown.shards;
    for (const std::string& signature : shown.signatures) {
      text += "  columns:\n    " + absl::StrReplaceAll(signature, {{"\n", "\n    "}}) + "\n";
    }
  }
  return text;
}

void AddReplay(CLI::App& app, std::function<int()>& action) {
  CLI::App* const replay =
      app.add_subcommand("replay", "Tables of a running cluster's replay shards");
  replay->require_subcommand(1);
  const auto flags = std::make_shared<ReplayFlags>();
  CLI::App* const info = replay->add_subcommand(
      "info", "Print the tables of all shards: sizes, credit, who waits for what, columns");
  AddConfig(*info, *flags);
  info->callback([flags, &action] { action = [flags] { return RunInfo(*flags); }; });
  CLI::App* const set = replay->add_subcommand(
      "set",
      "Change options of a table on all shards while they run; shards that start later have "
      "those of the cluster file");
  set->add_option("TABLE", flags->table, "name of the table")->required();
  set->add_option("SETTING", flags->settings,
                  "option=value, as in [[replay.table]]: max_size, max_bytes, memory_bytes, "
                  "max_times_sampled, max_staleness, max_age_seconds, min_size, "
                  "samples_per_insert, error_buffer")
      ->required();
  AddConfig(*set, *flags);
  set->callback([flags, &action] { action = [flags] { return RunSet(*flags); }; });
  CLI::App* const checkpoint = replay->add_subcommand(
      "checkpoint",
      "Have all shards write their durable tables below replay.directory, while they go on");
  checkpoint
      ->add_option("ID", flags->checkpoint,
                   "names the folder, as the id of the learner's checkpoint that belongs to it")
      ->required();
  AddConfig(*checkpoint, *flags);
  checkpoint->callback([flags, &action] { action = [flags] { return RunCheckpoint(*flags); }; });
  CLI::App* const exclude = replay->add_subcommand(
      "exclude",
      "Remove all items in which one of these versions of the policy acted, and refuse such items "
      "from now on");
  exclude->add_option("EPOCH", flags->epoch, "the versions' epoch, a start of the learner")
      ->required();
  exclude->add_option("FIRST", flags->first_step, "the first of the versions' steps")->required();
  exclude->add_option("LAST", flags->last_step, "the last of them")->required();
  exclude->add_option("--last-epoch", flags->last_epoch,
                      "the epoch of LAST, if it is a later one; all versions between are excluded");
  AddConfig(*exclude, *flags);
  exclude->callback([flags, &action] { action = [flags] { return RunExclude(*flags); }; });
}

}  // namespace shoal::cli
