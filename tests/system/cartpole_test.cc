// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

// Runs this many threads that only count.
class BusyCores {
 public:
  explicit BusyCores(int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) counted_.fetch_add(1);
      });
    }
  }
  ~BusyCores() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  BusyCores(const BusyCores&) = delete;
  BusyCores& operator=(const BusyCores&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> counted_ = 0;
  std::vector<std::thread> threads_;
};

const std::vector<std::string> kOverlap = {"--set", "inference.unroll_overlap=16", "--set",
                                           "learner.burn_in=16"};

// Trains in lock step for twenty updates, or as many as a setting of `more` says.
std::string DigestOfUpdates(const std::string& seed, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"train",      "deploy/local/cartpole.toml",
                                        "--seed",     seed,
                                        "--episodes", "1",
                                        "--set",      "run.deterministic=true",
                                        "--set",      "learner.updates=20",
                                        "--set",      "train.evaluate_every_seconds=0",
                                        "--set",      "train.baselines=[]"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  ShoalRun run(std::move(arguments));
  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  const std::string output = run.output();
  const std::size_t at = output.find("\ndigest=");
  REQUIRE(at != std::string::npos);
  return output.substr(at + 1, output.find('\n', at + 1) - at - 1);
}

// That of seed 1, which is computed once for all tests.
const std::string& DigestOfSeedOne() {
  static const std::string digest = DigestOfUpdates("1");
  return digest;
}

}  // namespace

TEST_CASE("CartPole is learned in half a minute from a cold start", "[cartpole]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE(NumberIn(run.last_line(), "seconds") <= 30);
  for (const char* file : {"config.toml", "run.json", "metrics.jsonl", "result.json", "report.html",
                           "logs/learner-0.log"}) {
    INFO(file);
    REQUIRE_FALSE(run.File(file).empty());
  }
}

TEST_CASE("what was published before training ended is judged, once for each interval of steps",
          "[cartpole]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--set",
                "train.max_steps=40000", "--set", "train.evaluate_every_steps=5000", "--set",
                "train.stop_score=1000", "--set", "train.baselines=[]"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  std::vector<double> judged;
  double most = 0;
  std::istringstream lines(run.File("evaluations.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    judged.push_back(row["environment_steps"]);
    most = std::max(most, row["return"].get<double>());
  }
  INFO(run.File("evaluations.jsonl"));
  REQUIRE(judged.size() > 1);
  REQUIRE(judged.back() >= 35000);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    REQUIRE(std::floor(judged[i] / 5000) == static_cast<double>(i + 1));
  }
  for (const char* mishap : {"error: ", "event=evaluation_skipped", "event=evaluation_lost"}) {
    REQUIRE(run.output().find(mishap) == std::string::npos);
  }
  // Several are judged at once, and the best is fetched while others are.
  const nlohmann::json best = nlohmann::json::parse(run.File("best/best.json"));
  REQUIRE(best["return_sum"].get<double>() / best["episodes"].get<double>() == Approx(most));
}

TEST_CASE("A3C learns CartPole with two ranks that do not wait for each other", "[asynchronous]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--preset", "a3c",
                "--minutes", "4", "--set", "train.evaluate_every_steps=5000", "--set",
                "train.stop_evaluations=1", "--set", "train.stop_confirm_episodes=100", "--set",
                "train.baselines=[]"});
  REQUIRE(run.WaitForExit(seconds(400)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  std::map<int, int> gradients;
  std::istringstream lines(run.File("learner.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    ++gradients[nlohmann::json::parse(line).value("gradient_rank", -1)];
  }
  REQUIRE(gradients.size() == 2);
  for (const auto& [rank, count] : gradients) REQUIRE(count > 10);
}

TEST_CASE("lock step refuses a preset of asynchronous gradients in one line", "[asynchronous]") {
  const std::string preset = GENERATE("a3c", "gorila");
  const EndedRun ended = RunToEnd({"train", "deploy/local/cartpole.toml", "--preset", preset,
                                   "--set", "run.deterministic=true"});
  INFO(ended.output);
  REQUIRE(ended.code != 0);
  REQUIRE(ended.Says("run.deterministic: not with learner.gradients = \"asynchronous\""));
}

TEST_CASE("the same seed gives the same parameters, bit by bit, on a busy machine too",
          "[determinism]") {
  const std::string& digest = DigestOfSeedOne();
  {
    const BusyCores load(4);
    REQUIRE(DigestOfUpdates("1") == digest);
  }
  REQUIRE(DigestOfUpdates("2") != digest);
}

TEST_CASE("each algorithm gives the same parameters each time, some also as several processes",
          "[determinism]") {
  const auto [preset, core, updates, several] =
      GENERATE(table<std::string, std::string, int, bool>({
          // These learn from a queue, cem and grpo from two episodes of each environment.
          {"ppo", "gru", 5, true},
          {"ppo_kl", "none", 5, false},
          {"a2c", "none", 5, false},
          {"impala", "none", 5, true},
          {"reinforce", "none", 5, false},
          {"cem", "none", 5, false},
          {"grpo", "none", 5, false},
          // These sample a table, and make more updates than one round earns.
          {"dqn", "none", 40, true},
          {"ape_x", "none", 40, false},
          {"iqn", "none", 40, false},
          {"r2d2", "gru", 20, true},
          {"sac_discrete", "none", 80, false},
      }));
  INFO(preset);
  const std::vector<std::string> arguments = {
      "--preset", preset,
      "--set",    "policy.core=\"" + core + "\"",
      "--set",    "learner.updates=" + std::to_string(updates)};
  std::vector<std::string> in_process = arguments;
  in_process.emplace_back("--in-process");
  REQUIRE(DigestOfUpdates("1", several ? arguments : in_process) ==
          DigestOfUpdates("1", in_process));
}

TEST_CASE("lock step that would wait for ever is refused in one line", "[determinism]") {
  const std::string setting = GENERATE("learner.round_unrolls=48", "actor.environments=16",
                                       "learner.publish_every_updates=2");
  const EndedRun ended = RunToEnd(
      {"train", "deploy/local/cartpole.toml", "--set", setting, "--set", "run.deterministic=true"});
  INFO(ended.output);
  REQUIRE(ended.code != 0);
  REQUIRE(ended.Says("run.deterministic needs"));
  REQUIRE(ended.Says(setting.substr(0, setting.find('='))));
}

TEST_CASE("lock step refuses what would change the order of a table that is sampled, in one line",
          "[determinism]") {
  const std::string setting = GENERATE("cluster.replay_shards=2", "learner.max_lag=4");
  const EndedRun ended = RunToEnd({"train", "deploy/local/cartpole.toml", "--preset", "dqn",
                                   "--set", setting, "--set", "run.deterministic=true"});
  INFO(ended.output);
  REQUIRE(ended.code != 0);
  REQUIRE(ended.Says("run.deterministic: algorithm dqn samples from a table, which "));
  REQUIRE(ended.Says(setting.starts_with("learner") ? "learner.max_lag = 0" : "cluster.replay"));
}

TEST_CASE("lock step refuses several devices of inference in one line", "[determinism]") {
  const EndedRun ended =
      RunToEnd({"train", "deploy/local/cartpole.toml", "--set", "inference.device=\"cpu,cpu\"",
                "--set", "run.deterministic=true"});
  INFO(ended.output);
  REQUIRE(ended.code != 0);
  REQUIRE(ended.Says("run.deterministic: not with several devices"));
}

TEST_CASE("one process gives the same parameters as programs that talk over the network",
          "[determinism]") {
  REQUIRE(DigestOfUpdates("1", {"--in-process"}) == DigestOfSeedOne());
  REQUIRE(DigestOfUpdates("2", {"--in-process"}) != DigestOfSeedOne());
}

TEST_CASE("unrolls that overlap travel in chunks and give the same parameters each time",
          "[determinism][chunks]") {
  const std::string digest = DigestOfUpdates("1", kOverlap);
  REQUIRE(DigestOfUpdates("1", kOverlap) == digest);
  REQUIRE(DigestOfSeedOne() != digest);
}

TEST_CASE("CartPole is learned from unrolls that overlap and burn in, and none is lost",
          "[cartpole][chunks]") {
  std::vector<std::string> arguments = {"train", "deploy/local/cartpole.toml", "--seed", "1"};
  arguments.insert(arguments.end(), kOverlap.begin(), kOverlap.end());
  ShoalRun run(std::move(arguments));
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  for (const char* event : {"event=sample_refused", "event=item_refused", "event=unroll_dropped",
                            "event=item_dropped", "event=content_refused"}) {
    INFO(event);
    for (const char* log : {"logs/learner-0.log", "logs/inference-0.log", "logs/replay-0.log"}) {
      REQUIRE_FALSE(run.File(log).empty());
      REQUIRE(run.File(log).find(event) == std::string::npos);
    }
  }
}

TEST_CASE("CartPole is learned by an inference server with two devices, and no unroll is lost",
          "[cartpole][devices]") {
  const bool in_process = GENERATE(false, true);
  std::vector<std::string> arguments = {"train", "deploy/local/cartpole.toml",  "--seed", "1",
                                        "--set", "inference.device=\"cpu,cpu\""};
  if (in_process) arguments.emplace_back("--in-process");
  ShoalRun run(std::move(arguments));
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE(run.output().find("event=ended") == std::string::npos);
  const std::string log = run.File(in_process ? "logs/local-0.log" : "logs/inference-0.log");
  REQUIRE(log.find("event=stopped") != std::string::npos);
  for (const char* event : {"event=forward_pass_failed", "event=unroll_dropped",
                            "event=drain_incomplete", "event=sample_refused"}) {
    INFO(event);
    REQUIRE(log.find(event) == std::string::npos);
  }
  bool both_act = false;
  std::istringstream rows(run.File("metrics.jsonl"));
  for (std::string row; std::getline(rows, row);) {
    const nlohmann::json details = nlohmann::json::parse(row)["details"];
    both_act = both_act || (details.value("inference_replica_rows/0", 0.0) > 0 &&
                            details.value("inference_replica_rows/1", 0.0) > 0);
  }
  REQUIRE(both_act);
}

TEST_CASE("two learner ranks in a ring learn CartPole and agree in every bit after every update",
          "[cartpole]") {
  // Its gradients are so small that they would go over rank 0.
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--world-size", "2", "--set",
                "learner.verify_ranks=true", "--set", "learner.ring_min_bytes=1"});
  REQUIRE(run.WaitForExit(seconds(240)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  // A rank with different parameters would have ended the group.
  REQUIRE(run.output().find("event=ended") == std::string::npos);
  REQUIRE(run.File("logs/learner-0.log").find("event=rank_ended") == std::string::npos);
  REQUIRE(run.Last("learner.jsonl", "straggler_ratio") >= 1);
  REQUIRE(run.Last("learner.jsonl", "data_skew") >= 1);
  REQUIRE(run.Last("learner.jsonl", "communication_seconds") > 0);
  REQUIRE(run.Last("learner.jsonl", "communication_bytes") > 0);
}

TEST_CASE("two ranks that undo updates and go back to checkpoints learn CartPole all the same",
          "[cartpole]") {
  // It moves back and forth, so it is judged good only well above the score that is required.
  ShoalRun run({"train",        "deploy/local/cartpole.toml",
                "--seed",       "1",
                "--world-size", "2",
                "--minutes",    "4",
                "--set",        "train.stop_score=490",
                "--set",        "learner.verify_ranks=true",
                "--set",        "learner.breaker.max_kl=0.01",
                "--set",        "learner.breaker.max_skips=3",
                "--set",        "learner.breaker.max_rollbacks=1000",
                "--set",        "learner.breaker.probation_updates=5"});
  REQUIRE(run.WaitForExit(seconds(360)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE(run.output().find("event=ended") == std::string::npos);
  const std::string log = run.File("logs/learner-0.log");
  REQUIRE(log.find("event=rolled_back") != std::string::npos);
  REQUIRE(log.find("event=rank_ended") == std::string::npos);
  REQUIRE_FALSE(run.File("quarantine").empty());
}

TEST_CASE("REINFORCE learns CartPole in four minutes", "[cartpole]") {
  ShoalRun run({"train", "deploy/local/cartpole-reinforce.toml", "--seed", "3"});
  REQUIRE(run.WaitForExit(seconds(300)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE(NumberIn(run.last_line(), "seconds") <= 240);
}

}  // namespace shoal::tests
