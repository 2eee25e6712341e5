// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "rl/collectives/socket.h"

namespace shoal::collectives {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGrace{5};
constexpr const char* kListenerName = "SHOAL_MASTER_LISTENER";

absl::Status ReadNumber(const char* name, std::int64_t min, std::int64_t max, std::int64_t& value) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return absl::OkStatus();
  const std::string_view view(text);
  std::int64_t parsed = 0;
  const auto result = std::from_chars(view.data(), view.data() + view.size(), parsed);
  if (result.ec != std::errc() || result.ptr != view.data() + view.size() || parsed < min ||
      parsed > max) {
    return runtime::InvalidArgument(std::string(name) + "='" + text + "' is no number from " +
                                    std::to_string(min) + " to " + std::to_string(max));
  }
  value = parsed;
  return absl::OkStatus();
}

void Describe(std::int64_t rank, std::int64_t world_size, std::uint16_t port, int listener) {
  const auto set = [](const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), /*overwrite=*/1);
  };
  set("RANK", std::to_string(rank));
  set("LOCAL_RANK", std::to_string(rank));
  set("WORLD_SIZE", std::to_string(world_size));
  set("MASTER_ADDR", "127.0.0.1");
  set("MASTER_PORT", std::to_string(port));
  if (rank == 0) set(kListenerName, std::to_string(listener));
}

sigset_t SupervisedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals, signal);
  return signals;
}

int ExitCodeOf(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class Supervisor {
 public:
  explicit Supervisor(std::vector<pid_t> ranks) : ranks_(std::move(ranks)) {}

  int Run() {
    const sigset_t signals = SupervisedSignals();
    Reap();
    while (!ranks_.empty()) {
      // An earlier wait may have consumed SIGCHLD, so look again after a second at most.
      const timespec pause{.tv_sec = ending_ ? 0 : 1, .tv_nsec = ending_ ? 100'000'000 : 0};
      const int signal = ::sigtimedwait(&signals, nullptr, &pause);
      if (signal == SIGTERM || signal == SIGINT) End();
      Reap();
      if (ending_ && SteadyClock::now() > kill_at_) SignalAll(SIGKILL);
    }
    return exit_code_;
  }

  void End() {
    if (ending_) return;
    ending_ = true;
    kill_at_ = SteadyClock::now() + kGrace;
    SignalAll(SIGTERM);
  }

 private:
  void SignalAll(int signal) {
    for (const pid_t rank : ranks_) ::kill(rank, signal);
  }

  void Reap() {
    for (auto rank = ranks_.begin(); rank != ranks_.end();) {
      int status = 0;
      if (::waitpid(*rank, &status, WNOHANG) != *rank) {
        ++rank;
        continue;
      }
      rank = ranks_.erase(rank);
      if (status != 0) {
        if (exit_code_ == 0) exit_code_ = ExitCodeOf(status);
        End();
      }
    }
  }

  std::vector<pid_t> ranks_;
  bool ending_ = false;
  SteadyClock::time_point kill_at_;
  int exit_code_ = 0;
};

void BecomeRank(const sigset_t& mask, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_Exit(1);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace

absl::StatusOr<RankEnvironment> ReadRankEnvironment() {
  RankEnvironment environment;
  if (std::getenv("RANK") == nullptr) return environment;
  constexpr std::int64_t kMaxRanks = 65536;
  std::int64_t port = 0;
  std::int64_t listener = -1;
  SHOAL_RETURN_IF_ERROR(ReadNumber("WORLD_SIZE", 1, kMaxRanks, environment.world_size));
  SHOAL_RETURN_IF_ERROR(ReadNumber("RANK", 0, environment.world_size - 1, environment.rank));
  SHOAL_RETURN_IF_ERROR(ReadNumber("LOCAL_RANK", 0, kMaxRanks, environment.local_rank));
  SHOAL_RETURN_IF_ERROR(ReadNumber("MASTER_PORT", 1, 65535, port));
  SHOAL_RETURN_IF_ERROR(ReadNumber(kListenerName, -1, 1 << 20, listener));
  if (const char* const address = std::getenv("MASTER_ADDR")) environment.master_address = address;
  if (port == 0 && environment.world_size > 1) {
    return runtime::InvalidArgument("RANK and WORLD_SIZE are set, MASTER_PORT is not");
  }
  environment.master_port = static_cast<std::uint16_t>(port);
  environment.master_listener = environment.rank == 0 ? static_cast<int>(listener) : -1;
  return environment;
}

std::int64_t WorldSizeFlag(int argc, const char* const* argv) {
  constexpr std::string_view kFlag = "--world-size";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == kFlag && i + 1 < argc) return std::atoll(argv[i + 1]);
    if (argument.starts_with("--world-size=")) return std::atoll(argv[i] + kFlag.size() + 1);
  }
  return 1;
}

absl::StatusOr<std::optional<int>> LaunchRanks(std::int64_t world_size) {
  if (world_size < 1 || world_size > kMaxLocalRanks) {
    return runtime::InvalidArgument("world size " + std::to_string(world_size) +
                                    " is not from 1 to " + std::to_string(kMaxLocalRanks));
  }
  if (world_size == 1 || std::getenv("RANK") != nullptr) return std::nullopt;
  std::uint16_t port = 0;
  SHOAL_ASSIGN_OR_RETURN(const int listener, Listen("127.0.0.1", port));
  const sigset_t signals = SupervisedSignals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t parent = ::getpid();
  std::vector<pid_t> ranks;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      BecomeRank(before, parent);
      if (rank != 0) ::close(listener);
      Describe(rank, world_size, port, listener);
      return std::nullopt;
    }
    if (child < 0) {
      Supervisor supervisor(std::move(ranks));
      supervisor.End();
      supervisor.Run();
      ::close(listener);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      return runtime::ResourceExhausted("cannot fork rank " + std::to_string(rank));
    }
    ranks.push_back(child);
  }
  ::close(listener);
  const int exit_code = Supervisor(std::move(ranks)).Run();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return std::optional<int>(exit_code);
}

}  // namespace shoal::collectives
