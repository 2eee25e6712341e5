// SPDX-License-Identifier: Apache-2.0
// A cluster works for a while on accounts that come and go, so that nearly every episode makes new
// bodies, candidates and overlays, with bounds so small that they are reached early. From then on
// no process may grow. The policy is updated all the time but hardly changes: a policy that learns
// changes the load (the length of episodes, the overlays in a batch) and with it the memory.
//
// SHOAL_SOAK_SECONDS says for how long; without it, a minute and a half.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/median.h"
#include "platform/runtime/process_usage.h"
#include "shoal_run.h"
#include "tests/doubles/environment_number.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

constexpr double kMebibyte = 1 << 20;

seconds SoakTime() {
  return seconds(std::max(30, doubles::EnvironmentNumber("SHOAL_SOAK_SECONDS", 90)));
}

std::vector<std::string> Arguments() {
  // Goal 8 makes an account under a new name in each episode; its URI holds the name on OpenBMC.
  std::vector<std::string> arguments = {
      "train",     "deploy/local/redfish.toml",    "--minutes", "0", "--goals", "4,8",
      "--capture", "openbmc-stock,dmtf-rackmount1"};
  for (const char* setting :
       {"train.evaluate_every_seconds=0", "train.demonstration_episodes=0",
        "algorithm.learning_rate=1e-7", "learner.round_unrolls=64",
        "inference.content_cache_bytes=16777216", "inference.catalog_cache_bytes=16777216",
        "inference.similarity_cache_bytes=4194304", "inference.encoder_chunk_cache_bytes=4194304",
        "replay.content_capacity_bytes=33554432", "replay.unused_content_bytes=8388608",
        "learner.content_capacity_bytes=50331648", "learner.unroll_id_window=2048",
        "learner.recent_parameters_bytes=16777216", "environment.response_cache_bytes=16777216"}) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return arguments;
}

}  // namespace

TEST_CASE("no process grows while accounts come and go", "[soak]") {
  constexpr const char* kPrograms[] = {"mockserver", "actor", "inference", "replay", "learner"};
  ShoalRun run(Arguments());
  // By then every cache of the learner has been in use for some rounds.
  constexpr double kWarmUpUpdates = 40;
  REQUIRE(Eventually(seconds(300), [&] { return run.updates() >= kWarmUpUpdates; }));
  std::map<std::string, pid_t> pids;
  for (const char* program : kPrograms) {
    const std::vector<pid_t> found = run.Children(program);
    REQUIRE(found.size() == 1);
    pids[program] = found[0];
  }

  const runtime::TimePoint start = runtime::SystemClock().Now();
  const auto third = std::chrono::duration_cast<runtime::Duration>(SoakTime()) / 3;
  std::map<std::string, std::vector<double>> thirds[3];
  double steps_of_third[3] = {};
  for (auto next = start; next < start + 3 * third; next += std::chrono::milliseconds(500)) {
    std::this_thread::sleep_until(next);
    const auto part = static_cast<std::size_t>((next - start) / third);
    for (const auto& [program, pid] : pids) {
      thirds[part][program].push_back(runtime::ResidentBytes(pid) / kMebibyte);
    }
    steps_of_third[part] = run.environment_steps();
  }

  std::ostringstream table;
  table << "resident MiB, the median of each third\n";
  for (const auto& [program, pid] : pids) {
    table << program;
    for (const auto& part : thirds) table << ' ' << runtime::Median(part.at(program));
    table << '\n';
  }
  WARN(table.str());
  INFO(run.output());
  // It worked all the time, and no process was started anew.
  REQUIRE(steps_of_third[1] > steps_of_third[0]);
  REQUIRE(steps_of_third[2] > steps_of_third[1]);
  for (const auto& [program, pid] : pids) {
    INFO(program << "\n" << table.str());
    REQUIRE(run.Children(program) == std::vector<pid_t>{pid});
    REQUIRE(runtime::Median(thirds[2].at(program)) <=
            1.02 * runtime::Median(thirds[1].at(program)) + 4);
  }
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(15)));
}

}  // namespace shoal::tests
