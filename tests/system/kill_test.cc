// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "node_cluster.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/metrics.h"
#include "platform/runtime/mutex.h"
#include "rl/parameters/parameters_file.h"
#include "rl/parameters/subscriber.h"
#include "shoal_run.h"
#include "tests/doubles/environment_number.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

// Few environments, so that updates follow each other fast.
std::vector<std::string> ShortRun(const std::string& minutes,
                                  const std::vector<std::string>& settings = {}) {
  std::vector<std::string> arguments = {
      "train", "deploy/local/redfish.toml", "--minutes", minutes, "--goals", "1,3", "--episodes",
      "2"};
  std::vector<std::string> all = {"train.baselines=[]",
                                  "train.stop_score=1e9",
                                  "train.evaluate_every_seconds=0",
                                  "train.demonstration_episodes=0",
                                  "actor.environments=32",
                                  "actor.block_size=32",
                                  "inference.max_rows=32",
                                  "learner.round_unrolls=32"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

using Deadline = std::chrono::steady_clock::time_point;

Deadline After(seconds limit) { return std::chrono::steady_clock::now() + limit; }

// Returns whether environment steps and updates grow, measured from what is recorded after this
// call.
bool Flows(ShoalRun& run, Deadline deadline) {
  const std::size_t rows = run.recorded_rows();
  if (!Eventually(deadline, [&] { return run.recorded_rows() > rows; })) return false;
  const double steps = run.environment_steps();
  const double updates = run.updates();
  return Eventually(
      deadline, [&] { return run.environment_steps() > steps && run.updates() >= updates + 2; });
}

// Kills the only process of this kind, and requires that another takes its place and work goes on.
void KillOne(ShoalRun& run, const char* kind) {
  INFO(kind << "\n" << run.output());
  const std::vector<pid_t> pids = run.Children(kind);
  REQUIRE(pids.size() == 1);
  const Deadline deadline = After(seconds(20));
  REQUIRE(::kill(pids[0], SIGKILL) == 0);
  REQUIRE(Eventually(deadline, [&] {
    const std::vector<pid_t> now = run.Children(kind);
    return now.size() == 1 && now[0] != pids[0];
  }));
  REQUIRE(Flows(run, deadline));
}

std::uint64_t EpochOf(const ShoalRun& run) { return std::stoull(run.File("epoch")); }

// Ends the run, and requires that its ranks logged no use of an unroll twice and no unroll more
// often than `most` times. A line holds environment, incarnation, first sequence, epoch, update and
// use.
void RequireUses(ShoalRun& run, int most) {
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(10)));
  INFO(run.output());
  REQUIRE(run.exit().code == 130);
  std::set<std::string> uses;
  std::map<std::string, int> unrolls;
  int most_seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(run.folder() + "/run")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("unrolls") || !name.ends_with(".log")) continue;
    std::istringstream lines(run.File(name));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string numbers[6];
      for (std::string& number : numbers) words >> number;
      INFO(name << ": " << line);
      const std::string unroll = numbers[0] + " " + numbers[1] + " " + numbers[2];
      REQUIRE(uses.insert(unroll + " " + numbers[5]).second);
      most_seen = std::max(most_seen, ++unrolls[unroll]);
    }
  }
  REQUIRE(unrolls.size() > 100);
  REQUIRE(most_seen == most);
}

// The learner's supervisor and its ranks.
struct Group {
  pid_t supervisor = 0;
  std::vector<pid_t> ranks;
};

pid_t ParentOf(pid_t pid) {
  const std::string stat = runtime::ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t name_end = stat.rfind(") ");
  return name_end == std::string::npos ? 0 : std::atoi(stat.c_str() + name_end + 4);
}

Group LearnerGroup(const ShoalRun& run) {
  Group group;
  const std::vector<pid_t> pids = run.Children("learner");
  for (const pid_t pid : pids) {
    const bool forked = std::find(pids.begin(), pids.end(), ParentOf(pid)) != pids.end();
    if (forked) {
      group.ranks.push_back(pid);
    } else {
      group.supervisor = pid;
    }
  }
  return group;
}

// Does `fault` to the group of two ranks, and requires that its supervisor notices it within
// `bound`, calls it `cause`, and that two other ranks then go on with the work.
void Strike(ShoalRun& run, const std::string& cause, seconds bound,
            const std::function<void(const Group&)>& fault) {
  const Group before = LearnerGroup(run);
  INFO(cause << "\n" << run.File("logs/learner-0.log"));
  REQUIRE(before.ranks.size() == 2);
  const std::string event = "event=group_restarts cause=" + cause;
  const std::size_t seen = Count(run.File("logs/learner-0.log"), event);
  fault(before);
  REQUIRE(
      Eventually(bound, [&] { return Count(run.File("logs/learner-0.log"), event) == seen + 1; }));
  REQUIRE(Flows(run, After(seconds(30))));
  const Group after = LearnerGroup(run);
  REQUIRE(after.supervisor == before.supervisor);
  REQUIRE(after.ranks.size() == 2);
  for (const pid_t rank : before.ranks) {
    REQUIRE(std::find(after.ranks.begin(), after.ranks.end(), rank) == after.ranks.end());
  }
}

void KillAll(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) REQUIRE(::kill(pid, SIGKILL) == 0);
}

// Returns what each evaluation during training returned so far.
std::vector<double> EvaluatedReturns(const ShoalRun& run) {
  std::vector<double> returns;
  std::istringstream lines(run.File("evaluations.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_object()) returns.push_back(row.value("return", 0.0));
  }
  return returns;
}

// Waits until an evaluation that began after this call returns 475 or more, and returns that.
double AwaitSolved(const ShoalRun& run) {
  // One may be under way.
  const std::size_t before = EvaluatedReturns(run).size() + 1;
  double best = 0;
  const bool solved = Eventually(seconds(120), [&] {
    const std::vector<double> returns = EvaluatedReturns(run);
    for (std::size_t i = before; i < returns.size(); ++i) best = std::max(best, returns[i]);
    return best >= 475;
  });
  INFO(run.output());
  REQUIRE(solved);
  return best;
}

// What a learner publishes, by version. Thread-safe.
class PublishedVersions {
 public:
  explicit PublishedVersions(std::string address) : address_(std::move(address)) { Renew(); }

  // Subscribes as somebody who knows no version yet, so that an old one is heard, too.
  void Renew() {
    subscriber_.reset();
    auto subscriber = parameters::Subscriber::Create(
        {.address = address_, .client = "test"},
        [this](const parameters::Parameters& published) { Note(published); }, metrics_);
    REQUIRE(subscriber.ok());
    subscriber_ = *std::move(subscriber);
  }
  std::size_t count() const {
    const runtime::MutexLock lock(mutex_);
    return digests_.size();
  }
  // The versions of which there were two that differ.
  std::set<std::string> contradictions() const {
    const runtime::MutexLock lock(mutex_);
    return contradictions_;
  }

 private:
  void Note(const parameters::Parameters& published) {
    const std::string digest = parameters::Sha256(*published.bytes);
    const runtime::MutexLock lock(mutex_);
    const auto [known, is_new] = digests_.emplace(published.version, digest);
    if (!is_new && known->second != digest) contradictions_.insert(ToString(published.version));
  }

  const std::string address_;
  runtime::Metrics metrics_;
  mutable runtime::Mutex mutex_;
  std::map<parameters::Version, std::string> digests_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> contradictions_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<parameters::Subscriber> subscriber_;
};

// The processes of a run that are to be killed together, the rank that `draw` says where it is one.
// There are none while they start again.
std::vector<pid_t> Victims(const ShoalRun& run, const std::string& kind, std::uint64_t draw) {
  if (kind != "supervisor" && kind != "rank" && kind != "ranks") return run.Children(kind);
  const Group group = LearnerGroup(run);
  if (kind == "ranks") return group.ranks;
  if (kind == "supervisor" && group.supervisor != 0) return {group.supervisor};
  if (kind == "rank" && !group.ranks.empty()) return {group.ranks[draw % group.ranks.size()]};
  return {};
}

}  // namespace

TEST_CASE("any one process may be killed: the flow goes on, and no unroll is trained twice",
          "[kills]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  for (const char* kind : {"actor", "inference", "replay", "learner", "mockserver"}) {
    KillOne(run, kind);
  }
  RequireUses(run, 1);
}

TEST_CASE("a shard that dies again and again makes no unroll train twice", "[kills]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  for (int kill = 0; kill < 3; ++kill) KillOne(run, "replay");
  RequireUses(run, 1);
}

TEST_CASE("a table that gives unrolls out twice has each trained at most twice, over kills too",
          "[kills]") {
  ShoalRun run(ShortRun("5", {"replay.table.0.max_times_sampled=2"}));
  REQUIRE(Flows(run, After(seconds(60))));
  for (const char* kind : {"replay", "learner", "replay"}) KillOne(run, kind);
  RequireUses(run, 2);
}

TEST_CASE("A3C's ranks start again when one of the two is killed, fails or stops",
          "[asynchronous]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--preset", "a3c",
                "--minutes", "5", "--set", "train.stop_evaluations=1000", "--set",
                "train.baselines=[]", "--set", "learner.checkpoint_every_updates=10"});
  REQUIRE(Flows(run, After(seconds(60))));
  const std::uint64_t epoch = EpochOf(run);
  Strike(run, "signal", seconds(10), [](const Group& group) { KillAll({group.ranks.back()}); });
  Strike(run, "exit", seconds(10), [](const Group& group) {
    const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    REQUIRE(::prlimit(group.ranks.back(), RLIMIT_NOFILE, &none, nullptr) == 0);
  });
  Strike(run, "stopped", seconds(20),
         [](const Group& group) { REQUIRE(::kill(group.ranks.back(), SIGSTOP) == 0); });
  REQUIRE(EpochOf(run) == epoch + 3);
  RequireUses(run, 1);
}

TEST_CASE(
    "two ranks in a ring learn CartPole although they are killed, stopped, starved and orphaned",
    "[ranks]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--world-size", "2",
                "--minutes", "5", "--set", "train.stop_evaluations=1000", "--set",
                "train.baselines=[]", "--set", "learner.verify_ranks=true", "--set",
                "learner.checkpoint_every_updates=10", "--set", "learner.ring_min_bytes=1"});
  REQUIRE(Flows(run, After(seconds(60))));
  const std::uint64_t epoch = EpochOf(run);
  Strike(run, "signal", seconds(10), [](const Group& group) { KillAll({group.ranks.back()}); });
  // The first rank alone opens files, so it gets an error that the other does not have.
  Strike(run, "exit", seconds(10), [](const Group& group) {
    const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    for (const pid_t rank : group.ranks) {
      REQUIRE(::prlimit(rank, RLIMIT_NOFILE, &none, nullptr) == 0);
    }
  });
  Strike(run, "stopped", seconds(20),
         [](const Group& group) { REQUIRE(::kill(group.ranks.front(), SIGSTOP) == 0); });

  for (const char* cause : {"signal", "exit", "stopped"}) {
    INFO(cause);
    REQUIRE(run.File("metrics.jsonl")
                .find("\"learner_group_failures/" + std::string(cause) + "\":1.0") !=
            std::string::npos);
  }

  const Group orphaned = LearnerGroup(run);
  KillAll({orphaned.supervisor});
  REQUIRE(Eventually(seconds(10), [&] {
    const std::vector<pid_t> now = run.Children("learner");
    return now.size() == 3 && std::none_of(now.begin(), now.end(), [&](pid_t pid) {
             return pid == orphaned.supervisor || pid == orphaned.ranks[0] ||
                    pid == orphaned.ranks[1];
           });
  }));
  REQUIRE(Flows(run, After(seconds(30))));
  Strike(run, "signal", seconds(10), [](const Group& group) { KillAll(group.ranks); });

  REQUIRE(EpochOf(run) == epoch + 5);
  (void)AwaitSolved(run);
  RequireUses(run, 1);
}

TEST_CASE("CartPole is learned although any process is killed at any moment, again and again",
          "[random_kills]") {
  const int kills = doubles::EnvironmentNumber("SHOAL_KILLS", 6);
  const int seed = doubles::EnvironmentNumber("SHOAL_KILL_SEED", 1);
  const std::string learner = "127.0.0.1:" + std::to_string(FreePort());
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", std::to_string(seed),
                "--world-size", "2", "--minutes", "60", "--set", "train.stop_evaluations=1000",
                "--set", "train.baselines=[]", "--set", "learner.verify_ranks=true", "--set",
                "learner.checkpoint_every_updates=10", "--set",
                "cluster.learner=\"" + learner + "\""});
  PublishedVersions published(learner);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  constexpr std::array kKinds = {"supervisor", "rank", "ranks", "replay", "inference", "actor"};
  for (int kill = 0; kill < kills; ++kill) {
    const std::string kind = kKinds[static_cast<std::size_t>(kill) % kKinds.size()];
    INFO("kill " << kill << " of " << kind << "\n" << run.output());
    // Some come before the run has recovered from the one before.
    const std::size_t versions = published.count() + random() % 30;
    REQUIRE(Eventually(seconds(120), [&] { return published.count() >= versions; }));
    const std::uint64_t draw = random();
    std::vector<pid_t> victims;
    REQUIRE(Eventually(seconds(60), [&] {
      victims = Victims(run, kind, draw);
      return !victims.empty();
    }));
    for (const pid_t pid : victims) ::kill(pid, SIGKILL);
    published.Renew();
  }
  const double solved = AwaitSolved(run);
  const double updates = run.updates();
  RequireUses(run, 1);
  REQUIRE(published.contradictions().empty());
  REQUIRE(published.count() > 20);
  std::printf("killed kills=%d greedy=%.1f versions=%zu updates=%.0f\n", kills, solved,
              published.count(), updates);
}

TEST_CASE("a kill during the final evaluation does not cost the result", "[kills]") {
  for (const char* kind : {"inference", "actor"}) {
    INFO(kind);
    // The first evaluation during training ends it, and its version is the one that is evaluated.
    ShoalRun run(ShortRun(
        "2", {"train.stop_score=0", "train.stop_evaluations=1", "train.stop_mutations=0",
              "train.stop_steps=0", "train.stop_pair_success=0", "train.evaluate_every_seconds=5",
              "train.evaluate_episodes=2", "train.final_episodes=30"}));
    REQUIRE(Eventually(seconds(90), [&] { return !run.File("evaluations/final.log").empty(); }));
    const std::vector<pid_t> pids = run.Children(kind);
    REQUIRE(pids.size() == 1);
    REQUIRE(::kill(pids[0], SIGKILL) == 0);
    REQUIRE(run.WaitForExit(seconds(120)));
    INFO(run.output());
    REQUIRE(run.exit().code == 0);
    REQUIRE(run.last_line().starts_with("result success="));
  }
}

TEST_CASE("Ctrl-C ends everything within five seconds and leaves no process behind",
          "[interrupt]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  REQUIRE(run.Children().size() == 5);
  const std::vector<pid_t> children = run.Children();
  run.Interrupt();
  const bool ended = run.WaitForExit(seconds(5));
  INFO(run.output());
  REQUIRE(ended);
  REQUIRE(run.exit().code == 130);
  REQUIRE(run.output().find("killed") == std::string::npos);
  REQUIRE(run.Children().empty());
}

TEST_CASE("when shoal itself is killed, nothing is left either", "[interrupt]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Eventually(seconds(30), [&] { return run.Children().size() == 5; }));
  run.Kill();
  REQUIRE(run.WaitForExit(seconds(5)));
  REQUIRE(Eventually(seconds(5), [&] { return run.Children().empty(); }));
}

}  // namespace shoal::tests
