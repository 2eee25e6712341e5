// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/launch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {
namespace {

constexpr const char* kNames[] = {
    "RANK",        "WORLD_SIZE",        "LOCAL_RANK",           "MASTER_ADDR",
    "MASTER_PORT", "SHOAL_GROUP_EPOCH", "SHOAL_MASTER_LISTENER"};

// Sets exactly these variables while it lives, and none afterwards.
class Variables {
 public:
  explicit Variables(const std::map<std::string, std::string>& values) {
    Clear();
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() { Clear(); }

 private:
  static void Clear() {
    for (const char* name : kNames) ::unsetenv(name);
  }
};

// Runs a process that launches `world_size` ranks of `body`, and returns its exit code.
int Launch(std::int64_t world_size, const std::function<int()>& body) {
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const auto launched = LaunchRanks({.program = "test", .world_size = world_size});
    if (!launched.ok()) ::_exit(99);
    ::_exit(launched->exit_code ? *launched->exit_code : body());
  }
  int status = 0;
  ::waitpid(launcher, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

LaunchOptions Flags(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "learner");
  return LaunchFlags("learner", static_cast<int>(arguments.size()), arguments.data());
}

absl::Status Refused(std::int64_t world_size, std::int64_t max_restarts = 3) {
  return LaunchRanks({.program = "test",
                      .world_size = world_size,
                      .supervision = {.max_restarts = max_restarts}})
      .status();
}

TEST_CASE("without variables we are a group of one") {
  const Variables none({});
  const RankEnvironment environment = ReadRankEnvironment().value();
  REQUIRE(environment.world_size == 1);
  REQUIRE(JoinGroup().value()->world_size() == 1);
}

TEST_CASE("variables that make no sense are named") {
  const auto error = [](const std::map<std::string, std::string>& values) {
    const Variables set(values);
    return std::string(ReadRankEnvironment().status().message());
  };
  REQUIRE(error({{"RANK", "x"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "9"}}).find("RANK=") == 0);
  REQUIRE(error({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "9"}}).find("RANK=") == 0);
  REQUIRE(error({{"RANK", "0"}, {"WORLD_SIZE", "-1"}}).find("WORLD_SIZE=") == 0);
  REQUIRE(error({{"RANK", "0"}, {"WORLD_SIZE", "2"}}).find("MASTER_PORT") != std::string::npos);
  REQUIRE(error({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}).find("MASTER") ==
          0);
  REQUIRE(error({{"RANK", "0"}, {"MASTER_PORT", "9"}, {"SHOAL_GROUP_EPOCH", "-1"}})
              .find("SHOAL_GROUP_EPOCH=") == 0);
}

TEST_CASE("launched ranks find each other and their exit code is the launcher's") {
  const Variables none({});
  REQUIRE(Launch(3, [] {
            auto group = JoinGroup();
            if (!group.ok()) return 1;
            std::array<double, 1> sum = {static_cast<double>((*group)->rank() + 1)};
            if (!(*group)->AllReduceSum(std::span<double>(sum)).ok()) return 2;
            return sum[0] == 6 ? 0 : 3;
          }) == 0);
}

TEST_CASE("a number of ranks that no node has is refused before anything is forked") {
  const Variables none({});
  REQUIRE(absl::IsInvalidArgument(Refused(0)));
  REQUIRE(absl::IsInvalidArgument(Refused(kMaxLocalRanks + 1)));
  REQUIRE(absl::IsInvalidArgument(Refused(2, -1)));
}

TEST_CASE("ranks and restarts are read from the flags in both ways of writing them") {
  REQUIRE(Flags({}).world_size == 1);
  REQUIRE(Flags({}).supervision.max_restarts == SupervisionOptions().max_restarts);
  const LaunchOptions apart = Flags({"--max-restarts", "7", "--world-size", "4"});
  REQUIRE(apart.world_size == 4);
  REQUIRE(apart.supervision.max_restarts == 7);
  const LaunchOptions together = Flags({"--world-size=2", "--max-restarts=0"});
  REQUIRE(together.world_size == 2);
  REQUIRE(together.supervision.max_restarts == 0);
  REQUIRE(Flags({"--world-sizes=2"}).world_size == 1);
  REQUIRE(Flags({"--world-size", "many"}).world_size == 0);
}

TEST_CASE("what is written as a rank's environment is read back") {
  const Variables none({});
  WriteRankEnvironment({.rank = 0,
                        .world_size = 3,
                        .local_rank = 0,
                        .master_address = "10.0.0.7",
                        .master_port = 4711,
                        .epoch = 12,
                        .master_listener = 5});
  const RankEnvironment read = ReadRankEnvironment().value();
  REQUIRE(read.rank == 0);
  REQUIRE(read.world_size == 3);
  REQUIRE(read.master_address == "10.0.0.7");
  REQUIRE(read.master_port == 4711);
  REQUIRE(read.epoch == 12);
  REQUIRE(read.master_listener == 5);
}

#ifndef SHOAL_CUDA
TEST_CASE("ranks over NCCL are refused by a build without it") {
  const Variables none({});
  REQUIRE(Launch(2, [] {
            return JoinGroup({.reduction = Reduction::kNccl}).status().code() ==
                           absl::StatusCode::kFailedPrecondition
                       ? 0
                       : 1;
          }) == 0);
}
#endif

TEST_CASE("a world of one and a process that is a rank already fork nothing") {
  const Variables none({});
  const auto launch = [](std::int64_t world_size) {
    return LaunchRanks({.program = "test", .world_size = world_size}).value();
  };
  REQUIRE_FALSE(launch(1).exit_code.has_value());
  REQUIRE(launch(1).progress == nullptr);
  const Variables rank({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "9"}});
  REQUIRE_FALSE(launch(4).exit_code.has_value());
}

}  // namespace
}  // namespace shoal::collectives
