// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/launch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "rl/collectives/gradient_reducer.h"

namespace shoal::collectives {
namespace {

constexpr const char* kNames[] = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"};

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
int Launch(std::int64_t world_size, const std::function<int()>& body,
           const std::function<void(pid_t)>& meanwhile = {}) {
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    // Catch would report a signal as a failure of the test case.
    for (const int signal : {SIGTERM, SIGABRT}) ::signal(signal, SIG_DFL);
    const auto result = LaunchRanks(world_size);
    if (!result.ok()) ::_exit(99);
    ::_exit(*result ? **result : body());
  }
  if (meanwhile) meanwhile(launcher);
  int status = 0;
  ::waitpid(launcher, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
  REQUIRE(absl::IsInvalidArgument(LaunchRanks(0).status()));
  REQUIRE(absl::IsInvalidArgument(LaunchRanks(kMaxLocalRanks + 1).status()));
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

TEST_CASE("when one rank fails the others are ended and its code is the result") {
  const Variables none({});
  REQUIRE(Launch(3, [] {
            if (std::string(std::getenv("RANK")) == "1") return 7;
            ::pause();
            return 0;
          }) == 7);
  REQUIRE(Launch(2, [] {
            if (std::string(std::getenv("RANK")) == "0") ::raise(SIGKILL);
            ::pause();
            return 0;
          }) == 128 + SIGKILL);
}

TEST_CASE("a stop request to the launcher reaches the ranks") {
  const Variables none({});
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const int code = Launch(
      2,
      [&] {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        ::sigprocmask(SIG_BLOCK, &signals, nullptr);
        (void)!::write(ready[1], "x", 1);
        int signal = 0;
        ::sigwait(&signals, &signal);
        return 0;
      },
      [&](pid_t launcher) {
        char byte[1];
        (void)!::read(ready[0], byte, 1);
        (void)!::read(ready[0], byte, 1);
        ::kill(launcher, SIGTERM);
      });
  ::close(ready[0]);
  ::close(ready[1]);
  REQUIRE(code == 0);
}

TEST_CASE("a world of one and a process that is a rank already fork nothing") {
  const Variables none({});
  REQUIRE_FALSE(LaunchRanks(1).value().has_value());
  REQUIRE(absl::IsInvalidArgument(LaunchRanks(0).status()));
  const Variables rank({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_PORT", "9"}});
  REQUIRE_FALSE(LaunchRanks(4).value().has_value());
}

}  // namespace
}  // namespace shoal::collectives
