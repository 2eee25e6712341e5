// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/rank_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::collectives {
namespace {

using doubles::Eventually;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::size_t kMostGroups = 8;
constexpr std::size_t kRanks = 2;

// What ranks leave for the test, in memory that all of them share.
struct Traces {
  // By group and rank. 0 where none was started.
  std::array<std::array<std::atomic<pid_t>, kRanks>, kMostGroups> pids{};
  std::array<std::atomic<std::uint64_t>, kMostGroups> epochs{};
  // Whether a rank found one of the group before still there.
  std::atomic<bool> overlap{false};
  std::atomic<int> ready{0};
};

Traces& SharedTraces() {
  void* const memory =
      ::mmap(nullptr, sizeof(Traces), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) Traces;
}

// A rank as its body sees it.
struct Member {
  std::size_t rank;
  // The number of groups before this one.
  std::size_t group;
  GroupOptions options;
  std::string failures;
  Traces& traces;
};

std::string ToText(const std::map<std::string, std::int64_t>& failures) {
  std::string text;
  for (const auto& [cause, count] : failures) text += cause + "=" + std::to_string(count) + " ";
  return text;
}

SupervisionOptions Quick() {
  return {.max_restarts = 3,
          .min_back_off = milliseconds(1),
          .max_back_off = milliseconds(4),
          .settled_after = hours(1),
          .limits = {.stop_grace = std::chrono::seconds(20), .stopped = hours(1)}};
}

// A supervisor in a process of its own with kRanks ranks.
class Supervised {
 public:
  Supervised(const SupervisionOptions& options, const std::function<int(const Member&)>& body)
      : traces_(SharedTraces()), log_(folder_.path() + "/log") {
    pid_ = ::fork();
    if (pid_ == 0) ::_exit(Run(options, body));
  }
  ~Supervised() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::munmap(&traces_, sizeof(Traces));
  }

  // Waits for the supervisor's end and returns its exit code.
  int ExitCode() {
    int status = 0;
    const bool ended = Eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    INFO(log());
    REQUIRE(ended);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // The number of groups that were started.
  std::size_t groups() const {
    std::size_t groups = 0;
    while (groups < kMostGroups && traces_.pids[groups][0] + traces_.pids[groups][1] > 0) ++groups;
    return groups;
  }
  pid_t pid() const { return pid_; }
  Traces& traces() const { return traces_; }
  std::string log() const { return runtime::ReadFile(log_).value_or(""); }
  bool Logged(const std::string& text) const { return log().find(text) != std::string::npos; }

 private:
  int Run(const SupervisionOptions& options, const std::function<int(const Member&)>& body) {
    // Catch would report a signal as a failure of the test case.
    for (const int signal : {SIGTERM, SIGABRT}) ::signal(signal, SIG_DFL);
    const int log = ::open(log_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    ::dup2(log, STDERR_FILENO);
    if (!runtime::SetUpLog("test", 0, "info").ok()) return 98;
    RankSupervisor supervisor({.local_ranks = kRanks, .world_size = kRanks}, options);
    const auto exit_code = supervisor.Run();
    if (!exit_code.ok()) return 99;
    if (*exit_code) return **exit_code;
    const RankEnvironment environment = ReadRankEnvironment().value();
    Member member{.rank = static_cast<std::size_t>(environment.rank),
                  .group = 0,
                  .options = {.join_timeout = std::chrono::seconds(30),
                              .call_timeout = std::chrono::seconds(30),
                              .progress = supervisor.progress()},
                  .failures = ToText(supervisor.failures()),
                  .traces = traces_};
    for (const auto& [cause, count] : supervisor.failures()) {
      member.group += static_cast<std::size_t>(count);
    }
    traces_.epochs[member.group] = environment.epoch;
    traces_.pids[member.group][member.rank] = ::getpid();
    for (std::size_t rank = 0; member.group > 0 && rank < kRanks; ++rank) {
      const pid_t earlier = traces_.pids[member.group - 1][rank];
      if (earlier > 0 && ::kill(earlier, 0) == 0) traces_.overlap = true;
    }
    return body(member);
  }

  const doubles::TemporaryFolder folder_;
  Traces& traces_;
  const std::string log_;
  pid_t pid_ = 0;
};

// Ends by SIGTERM, or not at all.
int WaitForEver() {
  for (;;) ::pause();
}

void BlockTermination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

std::unique_ptr<GradientReducer> Joined(const Member& member) {
  auto group = JoinGroup(member.options);
  if (!group.ok()) ::_exit(50);
  return *std::move(group);
}

// Whether the process is stopped, as by SIGSTOP.
bool IsStopped(pid_t pid) {
  const std::string text = runtime::ReadFile("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'T';
}

}  // namespace

TEST_CASE("when a rank is killed the others end, then all start again under a larger epoch") {
  Supervised run(Quick(), [](const Member& member) {
    if (member.group == 1) return member.failures == "signal=1 " ? 0 : 60;
    if (member.rank == 1) ::raise(SIGKILL);
    return WaitForEver();
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 2);
  REQUIRE_FALSE(run.traces().overlap);
  REQUIRE(run.traces().epochs[1] > run.traces().epochs[0]);
  REQUIRE(run.Logged("rank=1 by=\"signal 9 (Killed)\""));
  REQUIRE(
      run.Logged("event=group_restarts cause=signal local_rank=1 exit_code=137 restart=1 of=3"));
}

TEST_CASE("when all ranks are killed at once all start again") {
  Supervised run(Quick(), [](const Member& member) {
    if (member.group == 1) return 0;
    ::raise(SIGKILL);
    return 1;
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 2);
}

TEST_CASE("a rank that stays stopped is killed without being asked, and all start again") {
  SupervisionOptions options = Quick();
  options.limits.stopped = milliseconds(20);
  options.limits.stop_grace = hours(1);
  Supervised run(options, [](const Member& member) {
    if (member.group == 1) return member.failures == "stopped=1 " ? 0 : 60;
    if (member.rank == 1) ::raise(SIGSTOP);
    return WaitForEver();
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 2);
  REQUIRE_FALSE(run.traces().overlap);
}

TEST_CASE("a rank that is stopped and goes on in time is left alone") {
  Supervised run(Quick(), [](const Member& member) {
    if (member.rank == 1) ::raise(SIGSTOP);
    return 0;
  });
  const auto& pid = run.traces().pids[0][1];
  REQUIRE(
      Eventually([&] { return pid > 0 && IsStopped(pid) && run.Logged("event=rank_stopped"); }));
  REQUIRE(::kill(pid, SIGCONT) == 0);
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 1);
}

TEST_CASE("a rank that hangs is given up when the others have waited long enough for it") {
  SupervisionOptions options = Quick();
  options.limits.stop_grace = milliseconds(20);
  Supervised run(options, [](const Member& member) {
    if (member.group == 1) return member.failures == "deadline=1 " ? 0 : 60;
    Member hasty = member;
    hasty.options.call_timeout = milliseconds(100);
    const auto group = Joined(hasty);
    if (member.rank == 0) return group->Barrier().ok() ? 61 : 1;
    BlockTermination();
    return WaitForEver();
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 2);
  REQUIRE(run.Logged("event=group_restarts cause=deadline local_rank=1"));
}

TEST_CASE("a group in which nobody calls any more is given up") {
  Supervised run(Quick(), [](const Member& member) {
    if (member.group == 1) return member.failures == "stalled=1 " ? 0 : 60;
    Member hasty = member;
    hasty.options.call_timeout = milliseconds(50);
    const auto group = Joined(hasty);
    return WaitForEver();
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 2);
}

TEST_CASE("the rank that failed alone is named, though the others ended before it") {
  SupervisionOptions options = Quick();
  options.max_restarts = 0;
  Supervised run(options, [](const Member& member) {
    BlockTermination();
    const auto group = Joined(member);
    if (member.rank == 0) return group->Barrier().ok() ? 61 : 1;
    group->Abort(runtime::Internal("no room"));
    // The supervisor asks this rank to end once it has reaped the other.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    int signal = 0;
    ::sigwait(&signals, &signal);
    return 7;
  });
  REQUIRE(run.ExitCode() == 7);
  REQUIRE(run.Logged("event=group_given_up cause=exit local_rank=1 exit_code=7"));
}

TEST_CASE("nothing is started again after an exit code for which no restart helps") {
  for (const int code :
       {runtime::kExitConfiguration, runtime::kExitPermanent, runtime::kExitDiverged}) {
    Supervised run(Quick(), [code](const Member& member) {
      BlockTermination();
      const auto group = Joined(member);
      (void)group->Barrier();
      return member.rank == 0 ? 1 : code;
    });
    REQUIRE(run.ExitCode() == code);
    REQUIRE(run.groups() == 1);
  }
}

TEST_CASE("a group that never came together is not started again, unless a signal ended it") {
  Supervised refused(Quick(), [](const Member&) { return 106; });
  REQUIRE(refused.ExitCode() == 106);
  REQUIRE(refused.groups() == 1);

  Supervised killed(Quick(), [](const Member& member) {
    if (member.group == 0) ::raise(SIGKILL);
    return 0;
  });
  REQUIRE(killed.ExitCode() == 0);
  REQUIRE(killed.groups() == 2);
}

TEST_CASE("the pause before a restart doubles up to its limit, and restarts come to an end") {
  Supervised run(Quick(), [](const Member& member) {
    BlockTermination();
    const auto group = Joined(member);
    (void)group->Barrier();
    return 9;
  });
  REQUIRE(run.ExitCode() == 9);
  REQUIRE(run.groups() == 4);
  REQUIRE(run.Logged("restart=1 of=3 back_off_ms=1\n"));
  REQUIRE(run.Logged("restart=2 of=3 back_off_ms=2\n"));
  REQUIRE(run.Logged("restart=3 of=3 back_off_ms=4\n"));
  REQUIRE(run.Logged("event=group_given_up cause=exit local_rank=0 exit_code=9"));
}

TEST_CASE("a group that has worked for long enough gets its restarts back") {
  SupervisionOptions options = Quick();
  options.max_restarts = 1;
  options.settled_after = milliseconds(0);
  Supervised run(options, [](const Member& member) {
    BlockTermination();
    const auto group = Joined(member);
    (void)group->Barrier();
    return member.group == 5 ? 0 : 9;
  });
  REQUIRE(run.ExitCode() == 0);
  REQUIRE(run.groups() == 6);
  REQUIRE_FALSE(run.Logged("restart=2"));
}

TEST_CASE("a stop request reaches the ranks, and nothing is started again after it") {
  for (const int signal : {SIGTERM, SIGINT}) {
    Supervised run(Quick(), [](const Member& member) {
      BlockTermination();
      sigset_t signals;
      sigemptyset(&signals);
      sigaddset(&signals, SIGTERM);
      ++member.traces.ready;
      int got = 0;
      ::sigwait(&signals, &got);
      return member.rank == 0 ? 0 : 3;
    });
    REQUIRE(Eventually([&] { return run.traces().ready == 2; }));
    REQUIRE(::kill(run.pid(), signal) == 0);
    REQUIRE(run.ExitCode() == 3);
    REQUIRE(run.groups() == 1);
  }
}

TEST_CASE("a rank that does not end when asked is killed") {
  SupervisionOptions options = Quick();
  options.limits.stop_grace = milliseconds(20);
  Supervised run(options, [](const Member& member) {
    BlockTermination();
    ++member.traces.ready;
    return WaitForEver();
  });
  REQUIRE(Eventually([&] { return run.traces().ready == 2; }));
  REQUIRE(::kill(run.pid(), SIGTERM) == 0);
  REQUIRE(run.ExitCode() == 128 + SIGKILL);
}

TEST_CASE("a stop request during the pause before a restart ends the supervisor at once") {
  SupervisionOptions options = Quick();
  options.min_back_off = hours(1);
  options.stop_code = 143;
  Supervised run(options, [](const Member&) {
    ::raise(SIGKILL);
    return 0;
  });
  REQUIRE(Eventually([&] { return run.Logged("event=group_restarts"); }));
  REQUIRE(::kill(run.pid(), SIGTERM) == 0);
  REQUIRE(run.ExitCode() == 143);
  REQUIRE(run.groups() == 1);
}

TEST_CASE("when the supervisor is killed no rank outlives it, not even a stopped one") {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Supervised run(Quick(), [](const Member& member) {
    BlockTermination();
    ++member.traces.ready;
    if (member.rank == 1) ::raise(SIGSTOP);
    return WaitForEver();
  });
  const auto& pids = run.traces().pids[0];
  REQUIRE(Eventually([&] { return run.traces().ready == 2 && IsStopped(pids[1]); }));
  REQUIRE(::kill(run.pid(), SIGKILL) == 0);
  REQUIRE(run.ExitCode() == 128 + SIGKILL);
  std::vector<int> ends;
  for (const auto& pid : pids) {
    int status = 0;
    if (!Eventually([&] { return ::waitpid(pid, &status, WNOHANG) == pid; })) ::kill(pid, SIGKILL);
    ends.push_back(status);
  }
  for (const int status : ends) {
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
  }
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

}  // namespace shoal::collectives
