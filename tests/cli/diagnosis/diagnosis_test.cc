// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnosis/diagnosis.h"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

namespace shoal::cli {
namespace {

constexpr double kPatience = 5;

proto::TableInfo Unrolls() {
  proto::TableInfo table;
  table.set_name("unrolls");
  table.set_size(10);
  table.set_max_size(1024);
  table.set_max_bytes(1 << 30);
  table.set_min_size(1);
  table.set_waiting_samplers(1);
  return table;
}

// A cluster of two shards, one inference server and a learner, all of which serve.
ClusterState Cluster(const std::function<void(proto::TableInfo&)>& change_first = {},
                     const std::function<void(proto::TableInfo&)>& change_second = {}) {
  ClusterState state;
  state.serving = {{"replay shard", "a:1", absl::OkStatus()},
                   {"replay shard", "b:1", absl::OkStatus()},
                   {"inference server", "c:1", absl::OkStatus()},
                   {"learner", "d:1", absl::OkStatus()}};
  for (const auto& change : {change_first, change_second}) {
    proto::InfoReply info;
    *info.add_tables() = Unrolls();
    if (change) change(*info.mutable_tables(0));
    state.shards.push_back({change_first ? "a:1" : "b:1", std::move(info)});
  }
  return state;
}

std::string Text(const ClusterState& state) { return ToText(Diagnose(state, kPatience)); }

TEST_CASE("a cluster whose processes serve and whose tables move is healthy") {
  REQUIRE(Text(Cluster()) == "The cluster is healthy.\n");
  REQUIRE(Diagnose(Cluster(), kPatience).verdict == Verdict::kHealthy);
}

TEST_CASE("a wait is no block while something moves") {
  const auto brief = [](proto::TableInfo& table) {
    table.set_sample_wait("min_size");
    table.set_seconds_since_sample(4.9);
    table.set_insert_wait("max_size");
    table.set_waiting_inserters(2);
    table.set_seconds_since_insert(0.1);
  };
  REQUIRE(Diagnose(Cluster(brief, brief), kPatience).verdict == Verdict::kHealthy);
}

TEST_CASE("samplers that wait for items are counted over all shards") {
  const auto below = [](proto::TableInfo& table) {
    table.set_size(406);
    table.set_min_size(500);
    table.set_sample_wait("min_size");
    table.set_seconds_since_sample(30);
    table.set_seconds_since_insert(12.2);
  };
  const Diagnosis diagnosis = Diagnose(Cluster(below, below), kPatience);
  REQUIRE(diagnosis.verdict == Verdict::kBlocked);
  REQUIRE(diagnosis.findings.size() == 1);
  REQUIRE(diagnosis.findings[0].about == "samplers of table unrolls");
  REQUIRE(diagnosis.findings[0].sentence ==
          "Samplers of table unrolls wait: 812 of 1000 items, and no item has come in for 12 s.");
}

TEST_CASE("samplers that wait for a disk that fails say so") {
  const auto failing = [](proto::TableInfo& table) {
    table.set_sample_wait("disk");
    table.set_waiting_samplers(1);
    table.set_seconds_since_sample(30);
    table.set_seconds_since_insert(8);
  };
  REQUIRE(Text(Cluster(failing, failing))
              .starts_with("Samplers of table unrolls wait: payloads cannot be read from disk"));
}

TEST_CASE("inserts that wait for a learner say what is full and since when nobody samples") {
  const auto full = [](proto::TableInfo& table) {
    table.set_size(1024);
    table.set_insert_wait("max_size");
    table.set_waiting_inserters(1);
    table.set_waiting_samplers(0);
    table.set_seconds_since_insert(11);
    table.set_seconds_since_sample(12);
  };
  REQUIRE(
      Text(Cluster(full, full)) ==
      "Inserts into table unrolls wait: the table is full (2048 of 2048 items), and its learner "
      "has not sampled for 12 s, and no learner asks for items.\nSomething blocks.\n");
  const auto memory = [&full](proto::TableInfo& table) {
    full(table);
    table.set_insert_wait("memory_bytes");
  };
  REQUIRE(
      Text(Cluster(memory, memory))
          .starts_with("Inserts into table unrolls wait: the memory is full and the disk is slow "
                       "or fails"));
  const auto ahead = [&full](proto::TableInfo& table) {
    full(table);
    table.set_insert_wait("samples_per_insert");
    table.set_waiting_samplers(1);
    table.set_credit_steps(360);
    table.set_error_buffer(50);
  };
  REQUIRE(Text(Cluster(ahead, ahead))
              .starts_with("Inserts into table unrolls wait: samples are behind (720 steps of "
                           "credit, 100 are allowed)"));
}

TEST_CASE("a shard that waits while another goes on is worth a note and blocks nobody") {
  const auto empty = [](proto::TableInfo& table) {
    table.set_size(0);
    table.set_sample_wait("min_size");
    table.set_seconds_since_sample(60);
  };
  const Diagnosis diagnosis = Diagnose(Cluster(empty), kPatience);
  REQUIRE(diagnosis.verdict == Verdict::kHealthy);
  REQUIRE(diagnosis.findings.size() == 1);
  REQUIRE_FALSE(diagnosis.findings[0].blocks);
  REQUIRE(diagnosis.findings[0].sentence == "Table unrolls gives no items on 1 of 2 shards.");
}

TEST_CASE("whoever is down is named with the reason, before what is only worth a note") {
  ClusterState state = Cluster();
  state.serving[3].health = runtime::Unavailable("connection refused");
  state.shards[1].info = runtime::Unavailable("connection refused");
  MetricSample dropped = {.name = "shoal_inserter_dropped_total",
                          .labels = {{"reason", "refused"}},
                          .counter = true,
                          .value = 3};
  state.measured = {{"inference-0", std::vector<MetricSample>{dropped}},
                    {"actor-0", runtime::Unavailable("no route")}};
  const Diagnosis diagnosis = Diagnose(state, kPatience);
  REQUIRE(diagnosis.verdict == Verdict::kBlocked);
  REQUIRE(ToText(diagnosis) ==
          "Learner d:1 does not serve: connection refused.\n"
          "Actor-0 does not answer: no route.\n"
          "Inference-0 has dropped 3 items (refused); its log says why.\n"
          "Something blocks.\n");
}

TEST_CASE("where nobody answers the doctor cannot tell") {
  ClusterState state = Cluster();
  for (ServingProcess& process : state.serving) process.health = runtime::Unavailable("gone");
  state.shards.clear();
  REQUIRE(Diagnose(state, kPatience).verdict == Verdict::kUnknown);
  REQUIRE(Diagnose({}, kPatience).verdict == Verdict::kUnknown);
}

TEST_CASE("as JSON a diagnosis has its verdict and each finding") {
  ClusterState state = Cluster();
  state.serving[0].health = runtime::Unavailable("gone");
  const nlohmann::json parsed = nlohmann::json::parse(ToJson(Diagnose(state, kPatience)));
  REQUIRE(parsed["verdict"] == "blocked");
  REQUIRE(parsed["findings"][0]["blocks"] == true);
  REQUIRE(parsed["findings"][0]["about"] == "replay shard a:1");
  REQUIRE(parsed["findings"][0]["sentence"] == "Replay shard a:1 does not serve: gone.");
}

TEST_CASE("the list of processes of a run is read as it was written, and anything else refused") {
  const std::vector<MetricsAddress> written = {{"actor-0", "a:1"}, {"learner-0", "b:2"}};
  const auto read = ParseMetricsAddresses(ToJson(written));
  REQUIRE(read.ok());
  REQUIRE(read->size() == 2);
  REQUIRE((*read)[1].name == "learner-0");
  REQUIRE((*read)[1].address == "b:2");
  for (const char* text :
       {"", "{}", "[3]", R"([{"name": "actor-0"}])", R"([{"name": 3, "metrics": "a"}])"}) {
    REQUIRE(absl::IsInvalidArgument(ParseMetricsAddresses(text).status()));
  }
}

}  // namespace
}  // namespace shoal::cli
