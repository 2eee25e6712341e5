// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/launch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

constexpr const char* kNames[] = {
    "RANK",        "WORLD_SIZE",  "LOCAL_RANK",        "GROUP_RANK",
    "MASTER_ADDR", "MASTER_PORT", "SHOAL_GROUP_EPOCH", "SHOAL_MASTER_LISTENER"};

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

// Runs a process that launches `local_ranks` ranks of `body`, and returns its exit code.
int Launch(std::int64_t local_ranks, const std::function<int()>& body) {
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const auto launched = LaunchRanks({.program = "test", .local_ranks = local_ranks});
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

absl::Status Refused(std::int64_t local_ranks, std::int64_t max_restarts = 3) {
  return LaunchRanks({.program = "test",
                      .local_ranks = local_ranks,
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

TEST_CASE("the ranks of several nodes form one group, whichever node starts first") {
  std::uint16_t port = 0;
  const auto free = Listen("127.0.0.1", port);
  REQUIRE(free.ok());
  ::close(*free);
  const auto node = [port](int group_rank, std::int64_t local_ranks) {
    const Variables variables({{"GROUP_RANK", std::to_string(group_rank)},
                               {"WORLD_SIZE", std::to_string(2 * local_ranks)},
                               {"MASTER_ADDR", "127.0.0.1"},
                               {"MASTER_PORT", std::to_string(port)}});
    return Launch(local_ranks, [&] {
      const RankEnvironment environment = ReadRankEnvironment().value();
      if (environment.rank != group_rank * local_ranks + environment.local_rank) return 1;
      auto group = JoinGroup();
      if (!group.ok()) return 2;
      std::array<double, 1> digits = {std::pow(10.0, static_cast<double>((*group)->rank()))};
      if (!(*group)->AllReduceSum(std::span<double>(digits)).ok()) return 3;
      return digits[0] == (local_ranks == 1 ? 11 : 1111) ? 0 : 4;
    });
  };
  for (const std::int64_t local_ranks : {std::int64_t{2}, std::int64_t{1}}) {
    INFO(local_ranks << " ranks a node");
    const pid_t second = ::fork();
    if (second == 0) ::_exit(node(1, local_ranks));
    REQUIRE(node(0, local_ranks) == 0);
    int status = 0;
    REQUIRE(::waitpid(second, &status, 0) == second);
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("a node that does not fit its group is refused before anything is forked") {
  const std::map<std::string, std::string> good = {
      {"GROUP_RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "9"}};
  const auto error = [&](const std::string& name, const std::string& value) {
    std::map<std::string, std::string> values = good;
    values.erase(name);
    if (!value.empty()) values[name] = value;
    const Variables set(values);
    const absl::Status status = LaunchRanks({.program = "test", .local_ranks = 2}).status();
    REQUIRE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  REQUIRE(error("GROUP_RANK", "2").find("GROUP_RANK='2'") == 0);
  REQUIRE(error("GROUP_RANK", "x").find("GROUP_RANK='x'") == 0);
  REQUIRE(error("WORLD_SIZE", "1").find("WORLD_SIZE='1'") == 0);
  REQUIRE(error("WORLD_SIZE", "5").find("no multiple of the 2 ranks") != std::string::npos);
  for (const char* const name : {"WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    REQUIRE(error(name, "") == std::string("GROUP_RANK is set, ") + name + " is not");
  }
}

TEST_CASE("a number of ranks that no node has is refused before anything is forked") {
  const Variables none({});
  REQUIRE(absl::IsInvalidArgument(Refused(0)));
  REQUIRE(absl::IsInvalidArgument(Refused(kMaxLocalRanks + 1)));
  REQUIRE(absl::IsInvalidArgument(Refused(2, -1)));
}

TEST_CASE("ranks and restarts are read from the flags in both ways of writing them") {
  REQUIRE(Flags({}).local_ranks == 1);
  REQUIRE(Flags({}).supervision.max_restarts == SupervisionOptions().max_restarts);
  const LaunchOptions apart =
      Flags({"--max-restarts", "7", "--world-size", "4", "--stop-code", "143"});
  REQUIRE(apart.local_ranks == 4);
  REQUIRE(apart.supervision.max_restarts == 7);
  REQUIRE(apart.supervision.stop_code == 143);
  const LaunchOptions together = Flags({"--world-size=2", "--max-restarts=0"});
  REQUIRE(together.local_ranks == 2);
  REQUIRE(together.supervision.max_restarts == 0);
  REQUIRE(Flags({"--world-sizes=2"}).local_ranks == 1);
  REQUIRE(Flags({"--world-size", "many"}).local_ranks == 0);
}

TEST_CASE("a node among others that come and go is named by its flags, and has no number") {
  const LaunchOptions options = Flags(
      {"--nodes", "1:2", "--rendezvous=10.0.0.1:29400", "--node-name", "a", "--world-size=2"});
  REQUIRE(options.nodes == "1:2");
  REQUIRE(options.rendezvous == "10.0.0.1:29400");
  REQUIRE(options.node_name == "a");
  REQUIRE(Flags({}).nodes.empty());
  const Variables none({});
  const auto error = [](LaunchOptions launch) {
    const absl::Status status = LaunchRanks(launch).status();
    REQUIRE(absl::IsInvalidArgument(status));
    return std::string(status.message());
  };
  REQUIRE(error(Flags({"--nodes=1:2"})).find("--rendezvous ''") == 0);
  REQUIRE(error(Flags({"--rendezvous=10.0.0.1:29400"})).find("--nodes ''") == 0);
  const std::map<std::string, std::string> number = {{"GROUP_RANK", "0"}};
  const Variables numbered(number);
  REQUIRE(error(options).find("GROUP_RANK is set") == 0);
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
  const auto launch = [](std::int64_t local_ranks) {
    return LaunchRanks({.program = "test", .local_ranks = local_ranks}).value();
  };
  REQUIRE_FALSE(launch(1).exit_code.has_value());
  REQUIRE(launch(1).progress == nullptr);
  const Variables rank({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "9"}});
  REQUIRE_FALSE(launch(4).exit_code.has_value());
}

}  // namespace
}  // namespace shoal::collectives
