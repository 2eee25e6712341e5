// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "shoal_run.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {

using std::chrono::seconds;

TEST_CASE("a run in process without one capture is judged on it too, again later, and reported",
          "[commands]") {
  ShoalRun run({"train", "deploy/local/redfish.toml", "--minutes", "0.3", "--goals", "1,3",
                "--access", "inprocess", "--hold-out", "openbmc-stock", "--episodes", "4", "--set",
                "train.demonstration_episodes=4", "--set", "learner.demonstration_updates=20"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result success="));
  REQUIRE(run.output().find("zero-shot") != std::string::npos);
  // The run has an encoder of its own, since the shipped one has seen the held-out capture.
  REQUIRE_FALSE(run.File("encoder.idf").empty());
  REQUIRE(run.File("config.toml").find("/run/encoder.idf") != std::string::npos);

  ShoalRun evaluation({"evaluate", run.folder() + "/run", "--episodes", "2", "--name", "again",
                       "--set", "run.directory=\"" + run.folder() + "\""});
  REQUIRE(evaluation.WaitForExit(seconds(90)));
  INFO(evaluation.output());
  REQUIRE(evaluation.exit().code == 0);
  REQUIRE(evaluation.last_line().starts_with("result success="));

  ShoalRun ablation({"evaluate", run.folder() + "/run", "--episodes", "1", "--name", "blind",
                     "--ablate", "bodies", "--set", "train.baselines=[]", "--set",
                     "run.directory=\"" + run.folder() + "\""});
  REQUIRE(ablation.WaitForExit(seconds(90)));
  INFO(ablation.output());
  REQUIRE(ablation.exit().code == 0);
  REQUIRE(ablation.last_line().starts_with("result ablate=bodies success="));
  REQUIRE(ablation.last_line().find(" full=") != std::string::npos);

  ShoalRun exchange({"evaluate", run.folder() + "/run", "--episodes", "2", "--name", "two",
                     "--exchange", "--goals", "204", "--capture", "dmtf-mpf", "--set",
                     "train.baselines=[]", "--set", "run.directory=\"" + run.folder() + "\""});
  REQUIRE(exchange.WaitForExit(seconds(90)));
  INFO(exchange.output());
  REQUIRE(exchange.exit().code == 0);
  REQUIRE(exchange.last_line().starts_with("result exchanged="));
  REQUIRE(exchange.last_line().find(" pairs=0") == std::string::npos);

  ShoalRun report({"report", run.folder() + "/run"});
  REQUIRE(report.WaitForExit(seconds(20)));
  REQUIRE(report.exit().code == 0);
  REQUIRE(run.File("report.html").find("<svg") != std::string::npos);
}

TEST_CASE("evaluating a run that has learned nothing says so at once", "[commands]") {
  ShoalRun run({"evaluate", "data", "--name", "none"});
  REQUIRE(run.WaitForExit(seconds(20)));
  INFO(run.output());
  REQUIRE(run.exit().code == 2);
}

TEST_CASE("a cluster that is only kept up ends when asked", "[commands]") {
  ShoalRun run({"up", "deploy/local/cartpole.toml"});
  REQUIRE(Eventually(seconds(60), [&] { return run.updates() > 0; }));
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(5)));
  REQUIRE(run.Children().empty());
}

TEST_CASE("policies act on a list of devices, and updates are made on the first", "[commands]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--device", "cpu, cpu", "--set",
                "learner.updates=2", "--set", "train.final_episodes=2", "--set",
                "train.baselines=[]", "--set", "train.evaluate_every_seconds=0"});
  REQUIRE(run.WaitForExit(seconds(60)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  const std::string config = run.File("config.toml");
  REQUIRE(Count(config, "\ndevice = \"cpu, cpu\"") == 1);
  REQUIRE(Count(config, "\ndevice = \"cpu\"") == 1);
}

TEST_CASE("the memory of a cluster is told before anything has started", "[commands]") {
  const std::string file = "deploy/local/cartpole.toml";
  const EndedRun fits = RunToEnd({"plan-memory", file});
  INFO(fits.output);
  REQUIRE(fits.code == 0);
  // Torso 4 x 64 + 64 and 64 x 64 + 64, the critic the same, and heads of 2 and of 1 output.
  REQUIRE(fits.Says("parameters 9155, of which 9155 are trained"));
  const EndedRun small =
      RunToEnd({"plan-memory", file, "--device-memory", "0.001", "--world-size", "2"});
  INFO(small.output);
  REQUIRE(small.code == 0);
  const EndedRun wide =
      RunToEnd({"plan-memory", file, "--device-memory", "0.001", "--set", "policy.hidden=[2048]"});
  INFO(wide.output);
  REQUIRE(wide.code == 1);
  REQUIRE(wide.Says("verdict: does not fit"));
  REQUIRE(wide.Says("smaller with"));
  const EndedRun wrong = RunToEnd({"plan-memory", file, "--set", "policy.action_count=0"});
  INFO(wrong.output);
  REQUIRE(wrong.code == 2);
  REQUIRE(wrong.Says("learner: policy.action_count: at least 1 is needed"));
}

TEST_CASE("each device of an inference server has its parameters and caches in the memory's plan",
          "[commands]") {
  const auto bytes_by_purpose = [](const std::string& device) {
    const EndedRun plan = RunToEnd({"plan-memory", "deploy/local/cartpole.toml", "--format", "json",
                                    "--gpus", "4", "--set", "inference.device=\"" + device + "\""});
    INFO(plan.output);
    REQUIRE(plan.code == 0);
    const nlohmann::json items = nlohmann::json::parse(plan.last_line)["items"];
    std::map<std::string, std::int64_t> bytes;
    for (const auto& item : items) {
      if (item["process"] == "inference") bytes[item["purpose"]] = item["bytes"];
    }
    return bytes;
  };
  const auto one = bytes_by_purpose("cpu");
  const auto three = bytes_by_purpose("cpu,cpu,cpu");
  const auto gpus = bytes_by_purpose("cuda:*");
  for (const std::string purpose : {"retained parameters", "similarities"}) {
    INFO(purpose);
    REQUIRE(three.at(purpose) == 3 * one.at(purpose));
    REQUIRE(gpus.at(purpose) == 4 * one.at(purpose));
  }
  REQUIRE(three.at("embeddings") == one.at("embeddings"));
}

TEST_CASE("the memory's plan has a second trainer on rank 0 where gradients are asynchronous",
          "[commands]") {
  const EndedRun plan = RunToEnd({"plan-memory", "deploy/local/cartpole.toml", "--format", "json",
                                  "--world-size", "3", "--preset", "a3c"});
  INFO(plan.output);
  REQUIRE(plan.code == 0);
  const nlohmann::json all = nlohmann::json::parse(plan.last_line)["items"];
  std::map<std::string, nlohmann::json> items;
  for (const auto& item : all) {
    if (item["process"] == "learner") items[item["purpose"]] = item;
  }
  for (const std::string array : {"parameters", "gradients", "optimiser"}) {
    INFO(array);
    REQUIRE(items.at(array)["processes"] == 3);
    REQUIRE(items.at("holder's " + array)["processes"] == 1);
    REQUIRE(items.at("holder's " + array)["bytes"] == items.at(array)["bytes"]);
  }
  REQUIRE_FALSE(items.contains("holder's batch"));
}

TEST_CASE("the speed of a cluster is told before anything has started", "[commands]") {
  const std::string file = "deploy/local/redfish.toml";
  const EndedRun small = RunToEnd({"simulate", file});
  INFO(small.output);
  REQUIRE(small.code == 0);
  REQUIRE(small.Says("environment steps/s"));
  REQUIRE(small.Says("limit: "));
  const EndedRun large =
      RunToEnd({"simulate", file, "--costs", "data/simulation/gpu_nodes.toml", "--world-size", "8",
                "--set", "cluster.actors=100", "--set", "cluster.inference_servers=4", "--set",
                "learner.round_unrolls=1024", "--set", "replay.table.unrolls.max_size=512"});
  INFO(large.output);
  REQUIRE(large.code == 0);
  REQUIRE(large.Says("limit: threads of inference"));
  const EndedRun printed = RunToEnd({"simulate", file, "--print-costs"});
  REQUIRE(printed.code == 0);
  REQUIRE(printed.Says("learner_row_us"));
  const EndedRun wrong = RunToEnd({"simulate", file, "--costs", file});
  INFO(wrong.output);
  REQUIRE(wrong.code == 2);
  REQUIRE(wrong.Says("must each take some time"));
}

TEST_CASE("a machine is measured, and a network is placed on it", "[commands]") {
  const doubles::TemporaryFolder folder;
  const std::string devices = folder.path() + "/cpu.toml";
  const std::string graph = "data/placement/graphs/resnet50-batch4.json";
  const EndedRun measured = RunToEnd(
      {"place", "profile", "--output", devices, "--seconds", "0", "--threads", "1"}, seconds(240));
  INFO(measured.output);
  REQUIRE(measured.code == 0);
  REQUIRE(measured.Says("a step of ResNet-50 with 4 images: predicted "));
  const EndedRun placed = RunToEnd({"place", graph, "--devices", devices, "--evaluations", "10"});
  INFO(placed.output);
  REQUIRE(placed.code == 0);
  REQUIRE(placed.Says("on 1 devices"));
  REQUIRE(placed.Says("best placement: one device"));
  // What is missing is known before anything is measured.
  const EndedRun nowhere = RunToEnd({"place", "profile", "--threads", "1"});
  REQUIRE(nowhere.code == 2);
  REQUIRE(nowhere.Says("--output is required"));
  const EndedRun nothing = RunToEnd({"place", "--devices", devices});
  REQUIRE(nothing.code == 2);
  REQUIRE(nothing.Says("GRAPH is required"));
}

TEST_CASE("a capture held out that is none of the captures is named", "[commands]") {
  ShoalRun run({"train", "deploy/local/redfish.toml", "--hold-out", "dell"});
  REQUIRE(run.WaitForExit(seconds(20)));
  REQUIRE(run.exit().code == 2);
  REQUIRE(run.output().find("hold-out \"dell\"") != std::string::npos);
}

}  // namespace shoal::tests
