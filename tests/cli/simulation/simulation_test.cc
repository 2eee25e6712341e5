// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulation.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/simulation/simulation_result.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

// A cluster in which a learner is never short of rows or behind.
SimulatedCluster Small() {
  SimulatedCluster cluster;
  cluster.environments = 4;
  cluster.rows_per_message = 4;
  cluster.max_rows = 4;
  cluster.unroll_length = 10;
  cluster.table_items = 1000;
  cluster.round_unrolls = 4;
  return cluster;
}

SimulationOptions Costs() {
  SimulationOptions options;
  options.costs = {.actor_step_us = 100,
                   .inference_batch_us = 200,
                   .inference_row_us = 50,
                   .shard_item_us = 10,
                   .learner_update_us = 100,
                   .learner_row_us = 1};
  options.machines.front().processors = 16;
  return options;
}

SimulationResult Run(const SimulatedCluster& cluster, const SimulationOptions& options,
                     double seconds = 3) {
  const auto result = Simulate(cluster, options, seconds);
  INFO(result.status());
  REQUIRE(result.ok());
  return *result;
}

double ShareOf(const SimulationResult& result, const std::string& resource) {
  for (const ResourceUse& use : result.resources) {
    if (use.resource == resource) return use.share;
  }
  return 0;
}

}  // namespace

TEST_CASE("one group of environments goes round in the time of a step and a batch") {
  // Four rows: 4 * 100 us in the actor, 200 + 4 * 50 us in inference.
  const SimulationResult result = Run(Small(), Costs());
  REQUIRE(result.environment_steps_per_second == Approx(4 / 800e-6).epsilon(0.01));
  REQUIRE(result.learner_rows_per_second == Approx(4 / 800e-6).epsilon(0.02));
  REQUIRE(result.batch_rows == 4);
  REQUIRE(ShareOf(result, "threads of actors") == Approx(0.5).epsilon(0.02));
  REQUIRE(ShareOf(result, "threads of inference") == Approx(0.5).epsilon(0.02));
  REQUIRE(result.limit.starts_with("round trips"));
  REQUIRE(result.environment_time[0].share == Approx(0.5).epsilon(0.02));
}

TEST_CASE("an inference server acts on as many devices as it has, if they are different ones") {
  SimulatedCluster cluster = Small();
  cluster.environments = 64;
  cluster.rows_per_message = 32;
  cluster.max_rows = 32;
  SimulationOptions options = Costs();
  options.costs.actor_step_us = 1;
  const auto steps = [&](const InferenceDevices& devices) {
    cluster.inference_devices = devices;
    return Run(cluster, options).environment_steps_per_second;
  };
  // A batch of 32 rows takes 200 + 32 * 50 us, and one of the 16 that a replica gets 1000 us.
  REQUIRE(steps({}) == Approx(32 / 1800e-6).epsilon(0.01));
  REQUIRE(steps({.replicas = 2, .devices = 1}) == Approx(2 * 16 / 1000e-6).epsilon(0.01));
  options.costs.inference_on_device = true;
  REQUIRE(steps({}) == Approx(32 / 1800e-6).epsilon(0.01));
  REQUIRE(steps({.replicas = 2, .devices = 2}) == Approx(2 * 16 / 1000e-6).epsilon(0.01));
  REQUIRE(steps({.replicas = 2, .devices = 1}) == Approx(16 / 1000e-6).epsilon(0.01));
  REQUIRE(ShareOf(Run(cluster, options), "device of inference") == Approx(1).epsilon(0.01));
}

TEST_CASE("rows wait for others as long as the delay, unless a batch is full") {
  SimulatedCluster cluster = Small();
  cluster.max_rows = 8;
  cluster.max_delay_seconds = 700e-6;
  REQUIRE(Run(cluster, Costs()).environment_steps_per_second == Approx(4 / 1500e-6).epsilon(0.01));
  cluster.environments = 8;
  const SimulationResult full = Run(cluster, Costs());
  REQUIRE(full.batch_rows > 7);
}

TEST_CASE("a batch that is not full begins when its oldest rows have waited long enough") {
  SimulatedCluster cluster = Small();
  // The actor steps four rows in 400 us, then two in 200 us. Six rows take 500 us in inference.
  cluster.environments = 6;
  cluster.max_rows = 100;
  cluster.max_delay_seconds = 1000e-6;
  REQUIRE(Run(cluster, Costs()).environment_steps_per_second ==
          Approx(6 / (400e-6 + 1000e-6 + 500e-6)).epsilon(0.01));
}

TEST_CASE("rows that came while others were acted on wait for a full batch, too") {
  SimulatedCluster cluster = Small();
  cluster.actors = 2;
  // One group of four fits into a batch, and two are enough for one to begin. So one group waits
  // until the other has been acted on and has stepped, 400 us each.
  cluster.max_rows = 6;
  cluster.max_delay_seconds = 10000e-6;
  REQUIRE(Run(cluster, Costs()).environment_steps_per_second == Approx(4 / 800e-6).epsilon(0.01));
}

TEST_CASE("a slow learner holds the environments back, and the whole rate is its own") {
  SimulationOptions options = Costs();
  options.costs.learner_row_us = 1000;
  options.costs.learner_update_us = 0;
  SimulatedCluster cluster = Small();
  cluster.table_items = 8;
  const SimulationResult result = Run(cluster, options, 30);
  REQUIRE(result.environment_steps_per_second == Approx(1000).epsilon(0.02));
  REQUIRE(result.learner_rows_per_second == Approx(1000).epsilon(0.02));
  REQUIRE(result.limit == "threads of learners");
  REQUIRE(result.environment_time[2].resource == "room in replay");
  REQUIRE(result.environment_time[2].share > 0.5);
  REQUIRE(result.learner_waits_share < 0.02);
}

TEST_CASE("a longer queue makes what is trained older, until items are too old") {
  SimulationOptions options = Costs();
  options.costs.learner_row_us = 1000;
  SimulatedCluster cluster = Small();
  double before = -1;
  for (const std::int64_t items : {4, 16, 64}) {
    cluster.table_items = items;
    const SimulationResult result = Run(cluster, options, 60);
    REQUIRE(result.staleness > before);
    REQUIRE(result.stale_share == 0);
    before = result.staleness;
  }
  cluster.max_lag = 3;
  const SimulationResult bounded = Run(cluster, options, 60);
  REQUIRE(bounded.staleness <= 3);
  REQUIRE(bounded.stale_share > 0.1);
}

TEST_CASE("uses of items follow samples_per_insert in a table that keeps them") {
  SimulatedCluster cluster = Small();
  cluster.queue = false;
  cluster.samples_per_insert = 3;
  cluster.error_buffer_steps = 200;
  const SimulationResult result = Run(cluster, Costs(), 10);
  REQUIRE(result.learner_rows_per_second ==
          Approx(3 * result.environment_steps_per_second).epsilon(0.03));
}

TEST_CASE("what is used up is named") {
  SimulatedCluster cluster = Small();
  cluster.actors = 8;
  const auto limit = [&cluster](const auto& change) {
    SimulationOptions options = Costs();
    SimulatedCluster changed = cluster;
    change(changed, options);
    return Run(changed, options).limit;
  };
  REQUIRE(limit([](SimulatedCluster&, SimulationOptions&) {}) == "threads of inference");
  REQUIRE(limit([](SimulatedCluster& changed, SimulationOptions& options) {
            changed.inference_servers = 8;
            options.machines.front().processors = 2;
          }) == "processors of machine");
  REQUIRE(limit([](SimulatedCluster&, SimulationOptions& options) {
            options.costs.inference_on_device = true;
          }) == "device of inference");
  REQUIRE(limit([](SimulatedCluster& changed, SimulationOptions& options) {
            changed.inference_servers = 8;
            options.costs.shard_item_us = 10000;
            changed.table_items = 64;
          }) == "threads of replay");
  REQUIRE(limit([](SimulatedCluster& changed, SimulationOptions& options) {
            changed.inference_servers = 8;
            SimulatedMachines actors = options.machines.front();
            actors.name = "edge";
            actors.programs = {"actor", "mockserver"};
            actors.gigabits_per_second = 0.1;
            options.machines.front().programs = {"inference", "replay", "learner"};
            options.machines.push_back(actors);
          }) == "network of edge");
}

TEST_CASE("a queue that is short for the way to it is named") {
  SimulatedCluster cluster = Small();
  cluster.table_items = 2;
  SimulationOptions options = Costs();
  SimulatedMachines far = options.machines.front();
  far.name = "far";
  far.latency_us = 50000;
  far.programs = {"replay", "learner"};
  options.machines.front().programs = {"actor", "mockserver", "inference"};
  options.machines.front().latency_us = 50000;
  options.machines.push_back(far);
  REQUIRE_THAT(Run(cluster, options).limit, Catch::Contains("wait for each other"));
  cluster.table_items = 1000;
  REQUIRE_THAT(Run(cluster, options).limit, Catch::Contains("round trips"));
}

TEST_CASE("ranks on machines of their own spend time on reductions, on one machine they do not") {
  SimulatedCluster cluster = Small();
  cluster.learner_ranks = 2;
  cluster.reductions = 4;
  SimulationOptions options = Costs();
  options.costs.parameter_bytes = 1e6;
  REQUIRE(Run(cluster, options).learner_reduces_share == 0);
  SimulatedMachines learners = options.machines.front();
  learners.name = "learners";
  learners.count = 2;
  learners.gigabits_per_second = 8;
  learners.latency_us = 100;
  learners.programs = {"learner"};
  options.machines.front().programs = {"actor", "mockserver", "inference", "replay"};
  options.machines.push_back(learners);
  const SimulationResult result = Run(cluster, options);
  // A ring of two sends the parameters once in each of four reductions: 1 ms and twice 100 us.
  REQUIRE(result.learner_reduces_share ==
          Approx(4 * 1.2e-3 * result.updates_per_second).epsilon(0.03));
}

TEST_CASE("a learner that gets no rows at all waits all the time") {
  SimulatedCluster cluster = Small();
  cluster.unroll_length = 100000000;
  const SimulationResult result = Run(cluster, Costs());
  REQUIRE(result.updates_per_second == 0);
  REQUIRE(result.learner_waits_share == Approx(1));
}

TEST_CASE("programs keep processors busy in proportion to what they do") {
  const SimulationResult result = Run(Small(), Costs());
  const double steps = result.environment_steps_per_second;
  REQUIRE(result.processor_time.size() == 5);
  REQUIRE(result.processor_time[0].resource == "actor");
  REQUIRE(result.processor_time[0].share == Approx(steps * 100e-6).epsilon(0.01));
  REQUIRE(result.processor_time[2].resource == "inference");
  REQUIRE(result.processor_time[2].share == Approx(steps * 100e-6).epsilon(0.01));
  REQUIRE(result.processor_time[4].resource == "learner");
  REQUIRE(result.processor_time[4].share ==
          Approx(result.updates_per_second * (100e-6 + 40e-6)).epsilon(0.01));
}

TEST_CASE("simulating twice gives the same numbers") {
  SimulatedCluster cluster = Small();
  cluster.actors = 5;
  cluster.inference_servers = 2;
  cluster.replay_shards = 3;
  cluster.learner_ranks = 2;
  REQUIRE(ToJson(Run(cluster, Costs())) == ToJson(Run(cluster, Costs())));
}

TEST_CASE("costs under which nothing takes time are refused") {
  REQUIRE(absl::IsInvalidArgument(Simulate(Small(), {}, 1).status()));
}

TEST_CASE("a file says what is wrong with it") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.path() + "/costs.toml";
  const auto message = [&path](const std::string& text) {
    std::ofstream(path) << text;
    const auto options = ReadSimulationFile(path);
    REQUIRE(absl::IsInvalidArgument(options.status()));
    return runtime::Message(options.status());
  };
  REQUIRE_THAT(message("[simulation.costs]\nactor_step_us = -1\n"),
               Catch::Contains("actor_step_us"));
  REQUIRE_THAT(message("[simulation.costs]\nactor_step = 1\n"), Catch::Contains("did you mean"));
  REQUIRE_THAT(message("[[simulation.machine]]\nname = \"a\"\nprograms = [\"actor\"]\n"),
               Catch::Contains("no machine runs mockserver"));
  REQUIRE_THAT(message("[[simulation.machine]]\nname = \"a\"\n"
                       "programs = [\"actor\", \"mockserver\", \"inference\", \"replay\", "
                       "\"learner\", \"database\"]\n"),
               Catch::Contains("database"));
  REQUIRE(absl::IsNotFound(ReadSimulationFile(folder.path() + "/none.toml").status()));
}

TEST_CASE("costs of a run are the processor time of each program over what it did") {
  const doubles::TemporaryFolder folder;
  REQUIRE(absl::IsFailedPrecondition(MeasureRun(folder.path(), 2).status()));
  std::ofstream file(folder.path() + "/metrics.jsonl");
  for (int i = 0; i < 20; ++i) {
    // The first half of a run does not count.
    const std::string learner = i < 10 ? "9" : "0.5";
    file << R"({"environment_steps_per_second":1000,"details":{"learner_rows_per_second":2000,)"
         << R"("inference_rows_per_second":1250,"replay_inserted_per_second":100,)"
         << R"("replay_sampled_per_second":300,)"
         << R"("parameters_bytes":4000,"process_cpu_seconds/actor":0.2,)"
         << R"("process_cpu_seconds/mockserver":0.1,"process_cpu_seconds/inference":0.25,)"
         << R"("process_cpu_seconds/replay":0.05,"process_cpu_seconds/learner":)" << learner
         << "}}\n";
  }
  file.close();
  const auto options = MeasureRun(folder.path(), 4);
  REQUIRE(options.ok());
  REQUIRE(options->costs.actor_step_us == Approx(200));
  REQUIRE(options->costs.service_step_us == Approx(100));
  // Steps bear the rows that are no steps.
  REQUIRE(options->costs.inference_row_us == Approx(250));
  // An item came in and went out three times.
  REQUIRE(options->costs.shard_item_us == Approx(250));
  REQUIRE(options->costs.learner_row_us == Approx(250));
  REQUIRE(options->costs.parameter_bytes == 4000);
  REQUIRE(options->machines.front().processors == 4);
  // What was printed reads as what it was.
  std::ofstream(folder.path() + "/costs.toml") << options->Print();
  const auto read = ReadSimulationFile(folder.path() + "/costs.toml");
  REQUIRE(read.ok());
  REQUIRE(read->Print() == options->Print());
}

}  // namespace shoal::cli
