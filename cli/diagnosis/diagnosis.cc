// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis/diagnosis.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace shoal::cli {
namespace {

// One table, over the shards that answered.
struct WholeTable {
  std::uint64_t size = 0;
  std::uint64_t max_size = 0;
  std::uint64_t min_size = 0;
  std::uint64_t bytes = 0;
  std::uint64_t max_bytes = 0;
  double credit = 0;
  double error_buffer = 0;
  std::uint32_t waiting_inserters = 0;
  std::uint32_t waiting_samplers = 0;
  // The shortest ones.
  double since_insert = 1e300;
  double since_sample = 1e300;
  // What makes each shard wait that does, and how many do.
  std::map<std::string, int> insert_waits;
  std::map<std::string, int> sample_waits;
  int shards = 0;

  void Add(const proto::TableInfo& shard) {
    size += shard.size();
    max_size += shard.max_size();
    min_size += shard.min_size();
    bytes += shard.bytes();
    max_bytes += shard.max_bytes();
    credit += shard.credit_steps();
    error_buffer += shard.error_buffer();
    waiting_inserters += shard.waiting_inserters();
    waiting_samplers += shard.waiting_samplers();
    since_insert = std::min(since_insert, shard.seconds_since_insert());
    since_sample = std::min(since_sample, shard.seconds_since_sample());
    if (!shard.insert_wait().empty()) ++insert_waits[shard.insert_wait()];
    if (!shard.sample_wait().empty()) ++sample_waits[shard.sample_wait()];
    ++shards;
  }

  // The wait that most shards have, or nothing if one goes on.
  static std::string Shared(const std::map<std::string, int>& waits, int shards) {
    int waiting = 0;
    std::pair<std::string, int> most = {"", 0};
    for (const auto& wait : waits) {
      waiting += wait.second;
      if (wait.second > most.second) most = wait;
    }
    return waiting == shards ? most.first : "";
  }
};

double Mebi(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

std::string WhyInsertsWait(const WholeTable& table, const std::string& wait) {
  if (wait == "max_size") {
    return absl::StrFormat("the table is full (%d of %d items)", table.size, table.max_size);
  }
  if (wait == "max_bytes") {
    return absl::StrFormat("the table is full (%.1f of %.1f MiB)", Mebi(table.bytes),
                           Mebi(table.max_bytes));
  }
  if (wait == "memory_bytes") return "the memory is full and the disk is slow or fails";
  if (wait == "contents") return "contents that items use fill the shards";
  return absl::StrFormat("samples are behind (%.0f steps of credit, %.0f are allowed)",
                         table.credit, table.error_buffer);
}

std::string WhySamplesWait(const WholeTable& table, const std::string& wait) {
  if (wait == "disk") return "payloads cannot be read from disk";
  if (wait == "min_size") return absl::StrFormat("%d of %d items", table.size, table.min_size);
  return absl::StrFormat("samples are ahead (%.0f steps of credit, %.0f are allowed)", table.credit,
                         -table.error_buffer);
}

class Doctor {
 public:
  explicit Doctor(double patience_seconds) : patience_(patience_seconds) {}

  void Look(const ClusterState& state) {
    for (const ServingProcess& process : state.serving) {
      Heard(process.health.ok());
      if (process.health.ok()) continue;
      Block(process.role + " " + process.address,
            "does not serve: " + runtime::Message(process.health));
    }
    std::map<std::string, WholeTable> tables;
    for (const ShardAnswer& shard : state.shards) {
      if (!shard.info.ok()) continue;
      for (const proto::TableInfo& table : shard.info->tables()) tables[table.name()].Add(table);
    }
    for (const auto& [name, table] : tables) LookAtTable(name, table);
    for (const MeasuredProcess& process : state.measured) LookAtMetrics(process, state);
  }

  Diagnosis Take() {
    std::stable_partition(out_.findings.begin(), out_.findings.end(),
                          [](const Finding& finding) { return finding.blocks; });
    const bool blocked = !out_.findings.empty() && out_.findings.front().blocks;
    out_.verdict = !heard_ ? Verdict::kUnknown : blocked ? Verdict::kBlocked : Verdict::kHealthy;
    return std::move(out_);
  }

 private:
  void Block(std::string about, const std::string& what) { Find(true, std::move(about), what); }
  void Note(std::string about, const std::string& what) { Find(false, std::move(about), what); }
  void Find(bool blocks, std::string about, const std::string& what) {
    std::string sentence = about + " " + what + ".";
    sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
    out_.findings.push_back({blocks, std::move(about), std::move(sentence)});
  }
  void Heard(bool answered) { heard_ = heard_ || answered; }

  void LookAtTable(const std::string& name, const WholeTable& table) {
    const std::string insert_wait = WholeTable::Shared(table.insert_waits, table.shards);
    const std::string sample_wait = WholeTable::Shared(table.sample_waits, table.shards);
    const bool inserts_stand = !insert_wait.empty() && table.since_insert > patience_;
    const bool samples_stand = !sample_wait.empty() && table.since_sample > patience_;
    if (inserts_stand && table.waiting_inserters > 0) {
      const std::string learner =
          table.waiting_samplers == 0 ? ", and no learner asks for items" : "";
      Block("inserts into table " + name,
            absl::StrFormat("wait: %s, and its learner has not sampled for %.0f s%s",
                            WhyInsertsWait(table, insert_wait), table.since_sample, learner));
    }
    if (samples_stand && table.waiting_samplers > 0) {
      Block("samplers of table " + name,
            absl::StrFormat("wait: %s, and no item has come in for %.0f s",
                            WhySamplesWait(table, sample_wait), table.since_insert));
    }
    if (!inserts_stand && !samples_stand && table.waiting_samplers == 0 &&
        table.since_sample > patience_ && table.size > 0) {
      Note("table " + name, absl::StrFormat("is sampled by nobody: it holds %d items", table.size));
    }
    if (sample_wait.empty() && !table.sample_waits.empty() && table.waiting_samplers > 0) {
      Note("table " + name, absl::StrFormat("gives no items on %d of %d shards",
                                            CountOf(table.sample_waits), table.shards));
    }
  }

  static int CountOf(const std::map<std::string, int>& waits) {
    int count = 0;
    for (const auto& [wait, shards] : waits) count += shards;
    return count;
  }

  void LookAtMetrics(const MeasuredProcess& process, const ClusterState& state) {
    Heard(process.metrics.ok());
    if (!process.metrics.ok()) {
      // The health of all others was asked.
      if (!process.name.starts_with("actor")) return;
      Block(process.name, "does not answer: " + runtime::Message(process.metrics.status()));
      return;
    }
    for (const MetricSample& sample : *process.metrics) {
      if (sample.name == "shoal_sampler_live_shards" &&
          sample.value < static_cast<double>(state.shards.size())) {
        Note(process.name, absl::StrFormat("is connected to %.0f of %d replay shards", sample.value,
                                           state.shards.size()));
      }
      if (sample.name == "shoal_inserter_dropped_total" && sample.value > 0) {
        const auto reason = sample.labels.find("reason");
        Note(process.name,
             absl::StrFormat("has dropped %.0f items (%s); its log says why", sample.value,
                             reason == sample.labels.end() ? "" : reason->second));
      }
      if (sample.name == "shoal_inserter_shard_live" && sample.value == 0) {
        const auto shard = sample.labels.find("shard");
        Note(process.name, "is not connected to replay shard " +
                               (shard == sample.labels.end() ? std::string("?") : shard->second));
      }
    }
  }

  const double patience_;
  bool heard_ = false;
  Diagnosis out_;
};

std::string VerdictOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHealthy:
      return "healthy";
    case Verdict::kBlocked:
      return "blocked";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

Diagnosis Diagnose(const ClusterState& state, double patience_seconds) {
  Doctor doctor(patience_seconds);
  doctor.Look(state);
  return doctor.Take();
}

std::string ToText(const Diagnosis& diagnosis) {
  std::string text;
  for (const Finding& finding : diagnosis.findings) text += finding.sentence + "\n";
  switch (diagnosis.verdict) {
    case Verdict::kHealthy:
      return text + "The cluster is healthy.\n";
    case Verdict::kBlocked:
      return text + "Something blocks.\n";
    case Verdict::kUnknown:
      return text + "Nobody answers: is the cluster running, and is this its file?\n";
  }
  return text;
}

std::string ToJson(const Diagnosis& diagnosis) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& finding : diagnosis.findings) {
    findings.push_back(
        {{"blocks", finding.blocks}, {"about", finding.about}, {"sentence", finding.sentence}});
  }
  const nlohmann::ordered_json out = {{"verdict", VerdictOf(diagnosis.verdict)},
                                      {"findings", std::move(findings)}};
  return out.dump(1) + "\n";
}

}  // namespace shoal::cli
