// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <catch2/catch.hpp>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

// A run in one process that goes on until it is stopped.
std::vector<std::string> LongRun() {
  return {"train",       "deploy/local/cartpole.toml",
          "--seed",      "1",
          "--minutes",   "5",
          "--set",       "train.stop_score=1e9",
          "--set",       "train.evaluate_every_seconds=0",
          "--in-process"};
}

// Returns whether updates are recorded beyond those that are recorded now.
bool Flows(const ShoalRun& run) {
  const double updates = run.updates();
  return Eventually(seconds(60), [&] { return run.updates() >= updates + 2; });
}

}  // namespace

TEST_CASE("CartPole is learned in one process, with the run directory of a cluster of programs",
          "[in_process]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--in-process"});
  REQUIRE(Eventually(seconds(60), [&] { return run.updates() > 0; }));
  REQUIRE(run.Children("local").size() == 1);
  for (const char* program : {"replay", "inference", "learner"}) {
    INFO(program);
    REQUIRE(run.Children(program).empty());
  }
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE_FALSE(run.output().find("event=ended") != std::string::npos);
  for (const char* file : {"config.toml", "run.json", "metrics.jsonl", "result.json", "report.html",
                           "learner.jsonl", "logs/local-0.log"}) {
    INFO(file);
    REQUIRE_FALSE(run.File(file).empty());
  }
  // The metrics of every part are there.
  for (const char* part :
       {"shoal_environment_steps_total", "shoal_inference_", "shoal_replay_", "shoal_learner_"}) {
    INFO(part);
    REQUIRE(run.File("metrics_table.json").find(part) != std::string::npos);
  }
}

TEST_CASE("Ctrl-C ends one process in order, and its run can be resumed", "[in_process]") {
  ShoalRun run(LongRun());
  REQUIRE(Eventually(seconds(60), [&] { return run.updates() >= 5; }));
  run.Interrupt();
  const bool ended = run.WaitForExit(seconds(5));
  INFO(run.output() << run.File("logs/local-0.log"));
  REQUIRE(ended);
  REQUIRE(run.exit().code == 130);
  REQUIRE(run.output().find("killed") == std::string::npos);
  REQUIRE(run.Children().empty());
  REQUIRE(run.File("logs/local-0.log").find("event=stopped code=0 whole=true") !=
          std::string::npos);

  const std::uint64_t epoch = std::stoull(run.File("epoch"));
  const std::string log = run.folder() + "/resumed.log";
  auto resumed = cli::ChildProcess::Start(
      {.name = "local",
       .command = {SHOAL_PROGRAMS "/local", "--config", run.folder() + "/run/config.toml"},
       .log_path = log});
  REQUIRE(resumed.ok());
  const auto says = [&](const std::string& words) {
    return runtime::ReadFile(log).value_or("").find(words) != std::string::npos;
  };
  const double updates = run.Last("learner.jsonl", "update");
  REQUIRE(Eventually(seconds(60), [&] {
    return says("event=epoch epoch=" + std::to_string(epoch + 1)) &&
           run.Last("learner.jsonl", "update") > updates;
  }));
  REQUIRE(says("event=resumed"));
  (*resumed)->RequestStop();
  REQUIRE(Eventually(seconds(5), [&] { return (*resumed)->Poll().has_value(); }));
  REQUIRE((*resumed)->Poll()->code == 0);
}

TEST_CASE("one process that is killed is started again and goes on from its checkpoint",
          "[in_process]") {
  ShoalRun run(LongRun());
  REQUIRE(Eventually(seconds(60), [&] { return run.updates() >= 120; }));
  const std::vector<pid_t> before = run.Children("local");
  REQUIRE(before.size() == 1);
  REQUIRE(::kill(before[0], SIGKILL) == 0);
  REQUIRE(Eventually(seconds(20), [&] {
    const std::vector<pid_t> now = run.Children("local");
    return now.size() == 1 && now != before;
  }));
  REQUIRE(Flows(run));
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(10)));
  INFO(run.output());
  REQUIRE(run.exit().code == 130);
  const std::string log = run.File("logs/local-0.log");
  REQUIRE(Count(log, "event=start ") == 2);
  REQUIRE(log.find("event=resumed update=1") != std::string::npos);
}

TEST_CASE("a learner with several ranks is refused in one process, before it starts",
          "[in_process]") {
  const EndedRun ended =
      RunToEnd({"train", "deploy/local/cartpole.toml", "--in-process", "--world-size", "2"});
  REQUIRE(ended.code == 2);
  REQUIRE(ended.Says("cluster.learner_ranks: one process has one rank, not 2"));
}

}  // namespace shoal::tests
