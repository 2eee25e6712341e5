// SPDX-License-Identifier: Apache-2.0
// Faults of a training on CartPole, injected from outside, that the learner's circuit breaker is to
// see and to undo: what the run learns is as good as without them.
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "cli/metrics/metric_text.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "shoal_run.h"
#include "tests/doubles/environment_number.h"

namespace shoal::tests {
namespace fs = std::filesystem;
namespace {

using std::chrono::seconds;

// Of returns that are positive, the median absolute deviation is the median at most. Thus a
// negative return is below the median by more than one, however steeply returns have risen.
constexpr char kNegativeReturns[] = "learner.breaker.return_deviations=1";

// The folder of the programs in which actor and learner are tests/system/faulty_actor.cc and
// faulty_learner.cc.
const std::string& FaultyPrograms() {
  static const std::string folder = [] {
    for (const char* program : {"shoal", "inference", "replay", "mockserver"}) {
      const fs::path link = fs::path(SHOAL_FAULTY_PROGRAMS) / program;
      fs::remove(link);
      fs::create_hard_link(fs::path(SHOAL_PROGRAMS) / program, link);
    }
    return std::string(SHOAL_FAULTY_PROGRAMS);
  }();
  return folder;
}

std::vector<std::string> CartPole(const std::vector<std::string>& settings) {
  const int seed = doubles::EnvironmentNumber("SHOAL_BREAKER_SEED", 1);
  std::vector<std::string> arguments = {"train", "deploy/local/cartpole.toml", "--seed",
                                        std::to_string(seed)};
  std::vector<std::string> all = {"train.baselines=[]", "learner.checkpoint_every_updates=10",
                                  "learner.breaker.patience=10", "learner.breaker.window=20"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

// Returns the number of updates of a run's newest checkpoint, 0 without one.
int NewestCheckpoint(const ShoalRun& run) {
  std::set<int> numbers = {0};
  for (const auto& entry : fs::directory_iterator(run.folder() + "/run/checkpoints")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("checkpoint-")) numbers.insert(std::stoi(name.substr(11)));
  }
  return *numbers.rbegin();
}

std::string CheckpointFolder(int number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%012d", number);
  return std::string("checkpoints/checkpoint-") + digits;
}

// Returns the checkpoint of the first rollback, which has to come.
int RolledBackTo(const ShoalRun& run) {
  constexpr std::string_view kRolledBack = "event=rolled_back update=";
  std::string log;
  REQUIRE(Eventually(seconds(10), [&] {
    log = run.File("logs/learner-0.log");
    return log.find(kRolledBack) != std::string::npos;
  }));
  return std::stoi(log.substr(log.find(kRolledBack) + kRolledBack.size()));
}

// Prints what `./test --bars breaker` compares.
void RequireLearned(ShoalRun& run) {
  REQUIRE(run.WaitForExit(seconds(200)));
  INFO(run.output() << "\n" << run.File("logs/learner-0.log"));
  REQUIRE(run.exit().code == 0);
  const double greedy = NumberIn(" " + run.last_line().substr(7), "greedy");
  REQUIRE(greedy >= 475);
  REQUIRE(run.output().find("event=ended") == std::string::npos);
  REQUIRE(run.File("logs/learner-0.log").find("event=rank_ended") == std::string::npos);
  std::printf("recovered greedy=%g updates=%.0f env_steps=%.0f\n", greedy, run.updates(),
              run.environment_steps());
}

// A run whose environments misbehave from Strike to Relent.
class FaultyRun : public ShoalRun {
 public:
  explicit FaultyRun(const std::vector<std::string>& settings,
                     const std::vector<std::string>& more = {})
      : ShoalRun(Arguments(settings, more), FaultyPrograms()) {}

  // Begins the fault once the policy has learned something and has a checkpoint to go back to: fast
  // runs learn something before their first checkpoint.
  void Strike(const std::string& fault) {
    REQUIRE(Eventually(seconds(60), [this] {
      return Last("learner.jsonl", "episode_return") > 60 && NewestCheckpoint(*this) > 0;
    }));
    REQUIRE(runtime::WriteFileAtomically(FaultFile(), fault).ok());
  }
  void Relent() const { fs::remove(FaultFile()); }

  // Returns how often the breaker undid updates, by "reason action".
  std::map<std::string, int> Trips() const {
    std::map<std::string, int> trips;
    std::istringstream lines(File("learner.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line, nullptr, false);
      if (!row.is_object() || !row.contains("action")) continue;
      ++trips[row.value("reason", "") + " " + row.value("action", "")];
    }
    return trips;
  }
  void AwaitTrip(const std::string& trip) {
    INFO(trip << "\n" << output() << "\n" << File("logs/learner-0.log"));
    REQUIRE(Eventually(seconds(150), [&] { return Trips()[trip] > 0; }));
  }
  // Returns the value of a counter of a program, by its labels.
  double Counter(const std::string& program, const std::string& name,
                 const std::map<std::string, std::string>& labels) const {
    const std::string knob = program + ".metrics_listen=\"";
    for (const pid_t pid : Children(program)) {
      const std::string words =
          runtime::ReadFile("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
      const std::size_t at = words.find(knob);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + knob.size();
      const auto samples = cli::ScrapeMetrics(words.substr(begin, words.find('"', begin) - begin));
      if (!samples.ok()) continue;
      for (const cli::MetricSample& sample : *samples) {
        if (sample.name == name && sample.labels == labels) return sample.value;
      }
    }
    return 0;
  }
  double CountedTrips(const std::string& reason, const std::string& action) const {
    return Counter("learner", "shoal_learner_breaker_trips_total",
                   {{"reason", reason}, {"action", action}});
  }

 private:
  static std::vector<std::string> Arguments(const std::vector<std::string>& settings,
                                            const std::vector<std::string>& more) {
    std::vector<std::string> arguments = CartPole(settings);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string FaultFile() const { return folder() + "/run/fault"; }
};

}  // namespace

// What the other runs are compared with.
TEST_CASE("CartPole is learned without a fault, and nothing is undone", "[.][without_fault]") {
  const std::string ranks = GENERATE(as<std::string>(), "1", "2");
  FaultyRun run({}, {"--world-size", ranks});
  RequireLearned(run);
  REQUIRE(run.Trips().empty());
}

TEST_CASE("rewards of the wrong sign show in returns, and what they taught is forgotten",
          "[breaker]") {
  const bool damaged = GENERATE(false, true);
  FaultyRun run({kNegativeReturns, "learner.breaker.patience=60"});
  run.Strike("flipped");
  // No checkpoint is written while a symptom counts.
  REQUIRE(Eventually(seconds(60), [&] { return run.Last("learner.jsonl", "episode_return") < 0; }));
  const int newest = NewestCheckpoint(run);
  if (damaged) {
    const std::string folder = run.folder() + "/run/" + CheckpointFolder(newest);
    fs::resize_file(folder + "/parameters.safetensors", 100);
  }
  run.AwaitTrip("return roll_back");
  run.Relent();
  REQUIRE(Eventually(seconds(10), [&] { return run.CountedTrips("return", "roll_back") >= 1; }));
  RequireLearned(run);
  REQUIRE_FALSE(run.File("quarantine").empty());
  // It may be an older one that evaluations returned more of.
  const int target = RolledBackTo(run);
  REQUIRE(target <= newest);
  REQUIRE((!damaged || target < newest));
}

TEST_CASE("rewards that keep the wrong sign end training with the exit code of divergence",
          "[breaker]") {
  FaultyRun run({kNegativeReturns});
  run.Strike("flipped");
  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output() << "\n" << run.File("logs/learner-0.log"));
  REQUIRE(run.exit().code == runtime::kExitDiverged);
  std::map<std::string, int> trips = run.Trips();
  REQUIRE(trips.extract("return soften").mapped() >= 1);
  REQUIRE(trips == std::map<std::string, int>{{"return roll_back", 3}, {"return end", 1}});
  REQUIRE(run.output().find("training diverged") != std::string::npos);
}

// Returns whether an evaluation was below 475 after one that was not.
bool HasFallen(const std::string& evaluations) {
  bool reached = false;
  std::istringstream lines(evaluations);
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (!row.is_object()) continue;
    const bool is_high = row.value("return", 0.0) >= 475;
    if (reached && !is_high) return true;
    reached = reached || is_high;
  }
  return false;
}

TEST_CASE("evaluations far below those before lead back to the version that they returned most of",
          "[breaker]") {
  // A checkpoint is rarer than the time in which evaluations show what went wrong.
  FaultyRun run({"learner.breaker.evaluation_deviations=6", "learner.breaker.evaluation_window=5",
                 "learner.checkpoint_every_updates=1000000", "learner.checkpoint_every_seconds=20",
                 "learner.keep_best_checkpoints=1", "train.evaluate_every_seconds=0.5",
                 "train.stop_score=1e9", "train.minutes=10"});
  const auto evaluated = [&run] { return run.Last("evaluations.jsonl", "return"); };
  REQUIRE(Eventually(seconds(120), [&] { return evaluated() >= 475; }));
  const int before = NewestCheckpoint(run);
  REQUIRE(Eventually(seconds(60), [&] { return NewestCheckpoint(run) > before; }));
  run.Strike("flipped");
  run.AwaitTrip("evaluation_return roll_back");
  run.Relent();
  const auto target = nlohmann::json::parse(
      run.File(CheckpointFolder(RolledBackTo(run)) + "/manifest.json"), nullptr, false);
  INFO(target);
  REQUIRE(target.at("return").at("of") == "evaluation");
  REQUIRE(target.at("return").at("mean") >= 400);
  REQUIRE(run.CountedTrips("evaluation_return", "roll_back") == 1);
  REQUIRE(Eventually(seconds(10), [&] { return HasFallen(run.File("evaluations.jsonl")); }));
  REQUIRE(Eventually(seconds(120), [&] { return evaluated() >= 475; }));
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(20)));
}

TEST_CASE("numbers of one rank that are not finite are undone on both, and CartPole is learned",
          "[breaker]") {
  FaultyRun run({"learner.verify_ranks=true"}, {"--world-size", "2"});
  run.Strike("huge");
  run.AwaitTrip("not_finite roll_back");
  REQUIRE(
      Eventually(seconds(10), [&] { return run.CountedTrips("not_finite", "roll_back") >= 1; }));
  REQUIRE(run.CountedTrips("not_finite", "skip") >= 9);
  REQUIRE(run.CountedTrips("not_finite", "soften") >= 1);
  run.Relent();
  RequireLearned(run);
}

TEST_CASE("rewards that are no numbers are refused before anything is learned from them",
          "[breaker]") {
  FaultyRun run({});
  run.Strike("nan");
  REQUIRE(Eventually(seconds(60), [&] {
    return run.Counter("actor", "shoal_episodes_aborted_total", {{"reason", "row_refused"}}) >= 3;
  }));
  run.Relent();
  RequireLearned(run);
  REQUIRE(run.Trips().empty());
}

TEST_CASE("environments that lose their episodes are noticed, and CartPole is learned after",
          "[breaker]") {
  FaultyRun run({"learner.breaker.max_lost_episodes=0.5"});
  run.Strike("lost");
  run.AwaitTrip("lost_episodes roll_back");
  run.Relent();
  RequireLearned(run);
}

TEST_CASE("three updates at a thousand times the learning rate are undone, and CartPole is learned",
          "[breaker]") {
  FaultyRun run({});
  run.Strike("fast");
  const auto undone = [&run] {
    int count = 0;
    for (const auto& [trip, times] : run.Trips()) count += times;
    return count;
  };
  // Whichever update shows the fault, by its own numbers or by the gradients that follow.
  REQUIRE(Eventually(seconds(60), [&] { return undone() >= 1; }));
  for (const auto& [trip, times] : run.Trips()) {
    INFO(trip);
    const std::size_t space = trip.find(' ');
    REQUIRE(Eventually(seconds(10), [&] {
      return run.CountedTrips(trip.substr(0, space), trip.substr(space + 1)) >= times;
    }));
  }
  RequireLearned(run);
}

}  // namespace shoal::tests
