// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/supervisor.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>

#include "cli/cluster/local_cluster.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/program.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ProcessSpec Shell(const doubles::TemporaryFolder& folder, const std::string& name,
                  const std::string& script) {
  return {.name = name, .command = {"/bin/sh", "-c", script}, .log_path = folder.At(name + ".log")};
}

std::string TextOf(const std::string& path) { return runtime::ReadFile(path).value_or(""); }

// Polls until `condition` holds. Returns false after ten seconds.
template <typename Condition>
bool Eventually(Supervisor& supervisor, absl::Status& status, const Condition& condition) {
  const auto end = runtime::SystemClock().Now() + seconds(10);
  while (runtime::SystemClock().Now() < end) {
    status = supervisor.Poll();
    if (condition()) return true;
    ::usleep(2000);
  }
  return false;
}

SupervisorOptions Quick() {
  return {.min_back_off = milliseconds(10),
          .max_back_off = milliseconds(40),
          .settled_after = milliseconds(20),
          .stop_within = milliseconds(600),
          .stage_within = milliseconds(200)};
}

}  // namespace

TEST_CASE("a process that dies is started again") {
  const doubles::TemporaryFolder folder;
  Supervisor supervisor(Quick());
  REQUIRE(supervisor.Start(Shell(folder, "a", "echo run; exit 1"), 0).ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return supervisor.restarts() >= 3; }));
  REQUIRE(status.ok());
  const auto events = supervisor.TakeEvents();
  REQUIRE(events[0] == "event=ended process=a by=\"exit code 1\"\n  run");
  REQUIRE(events[1].starts_with("event=restarted process=a pid="));
}

TEST_CASE("a configuration error ends the run with the process's own words") {
  const doubles::TemporaryFolder folder;
  SupervisorOptions options = Quick();
  options.settled_after = seconds(3600);  // however slowly the shell starts
  Supervisor supervisor(options);
  REQUIRE(supervisor.Start(Shell(folder, "a", "echo 'a.toml:3: unknown key'; exit 2"), 0).ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return !status.ok(); }));
  REQUIRE(runtime::Message(status) == "a cannot start: a.toml:3: unknown key");
  REQUIRE(supervisor.restarts() == 0);
  // The end was reported by the status, so there is no event.
  REQUIRE(supervisor.TakeEvents().empty());
}

TEST_CASE("what no restart helps ends the run at once, though the process did start before") {
  const int code = GENERATE(runtime::kExitPermanent, runtime::kExitDiverged);
  const doubles::TemporaryFolder folder;
  const std::string go = folder.At("go");
  Supervisor supervisor(Quick());
  const std::string script = "while ! [ -e " + go +
                             " ]; do sleep 0.01; done; echo 'T error role=a index=0 event=failed "
                             "code=NOT_FOUND message=\"no capture \\\"x\\\"\"'; echo bye; exit " +
                             std::to_string(code);
  REQUIRE(supervisor.Start(Shell(folder, "a", script), 0).ok());
  absl::Status status;
  // The process settles, after which a configuration error is retried.
  const auto settled = runtime::SystemClock().Now() + milliseconds(60);
  REQUIRE(Eventually(supervisor, status, [&] { return runtime::SystemClock().Now() > settled; }));
  folder.Write("go", "");
  REQUIRE(Eventually(supervisor, status, [&] { return !status.ok(); }));
  REQUIRE(runtime::Message(status) == "a cannot go on: no capture \"x\"");
  REQUIRE(absl::IsOutOfRange(status) == (code == runtime::kExitDiverged));
  REQUIRE(supervisor.restarts() == 0);
  REQUIRE(supervisor.TakeEvents().empty());
}

TEST_CASE("a process that finishes with code 0 is done") {
  const doubles::TemporaryFolder folder;
  Supervisor supervisor(Quick());
  ProcessSpec spec = Shell(folder, "a", "exit 0");
  spec.finishes = true;
  REQUIRE(supervisor.Start(spec, 0).ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return supervisor.finished(); }));
  REQUIRE(supervisor.restarts() == 0);
}

TEST_CASE("stages end in order, and each gets SIGTERM") {
  const doubles::TemporaryFolder folder;
  const std::string log = folder.At("order");
  Supervisor supervisor(Quick());
  for (const int stage : {2, 0, 1}) {
    const std::string name = std::to_string(stage);
    REQUIRE(supervisor
                .Start(Shell(folder, name,
                             "trap 'echo " + name + " >> " + log + "; exit 0' TERM; touch " + log +
                                 name + "; while :; do sleep 0.01; done"),
                       stage)
                .ok());
  }
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] {
    return std::filesystem::exists(log + "0") && std::filesystem::exists(log + "1") &&
           std::filesystem::exists(log + "2");
  }));
  REQUIRE(supervisor.Stop());
  REQUIRE(TextOf(log) == "0\n1\n2\n");
}

TEST_CASE("what ignores SIGTERM is killed in time, with what it started") {
  const doubles::TemporaryFolder folder;
  const std::string pids = folder.At("pids");
  Supervisor supervisor(Quick());
  REQUIRE(
      supervisor
          .Start(Shell(folder, "a",
                       "trap '' TERM; sleep 100 & echo $! > " + pids + "; while :; do wait; done"),
                 0)
          .ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return TextOf(pids).ends_with('\n'); }));
  const auto start = runtime::SystemClock().Now();
  REQUIRE_FALSE(supervisor.Stop());
  REQUIRE(runtime::SystemClock().Now() - start < seconds(3));
  const pid_t grandchild = std::stoi(TextOf(pids));
  REQUIRE(Eventually(supervisor, status, [&] {
    const std::string state = TextOf("/proc/" + std::to_string(grandchild) + "/stat");
    return state.empty() || state.find(" Z ") != std::string::npos;
  }));
}

TEST_CASE("stages that do not end leave the last one time to end by itself") {
  const doubles::TemporaryFolder folder;
  const std::string started = folder.At("started");
  SupervisorOptions options = Quick();
  options.stop_within = milliseconds(2000);
  options.stage_within = milliseconds(700);
  Supervisor supervisor(options);
  for (int stage = 0; stage < 3; ++stage) {
    const std::string name = std::to_string(stage);
    const std::string script =
        "trap '' TERM; touch " + started + name + "; while :; do sleep 0.05; done";
    REQUIRE(supervisor.Start(Shell(folder, name, script), stage).ok());
  }
  const std::string script = "trap 'sleep 0.1; echo ended; exit 0' TERM; touch " + started +
                             "3; while :; do sleep 0.01; done";
  REQUIRE(supervisor.Start(Shell(folder, "last", script), 3).ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] {
    for (const char* name : {"0", "1", "2", "3"}) {
      if (!std::filesystem::exists(started + name)) return false;
    }
    return true;
  }));
  REQUIRE_FALSE(supervisor.Stop());
  REQUIRE(TextOf(folder.At("last.log")) == "ended\n");
}

namespace {

// Returns a process that obeys orders as the program local does, and writes them to its log. It
// ends when it is told to stop `last`.
ProcessSpec Obedient(const doubles::TemporaryFolder& folder, const std::string& last) {
  ProcessSpec spec = Shell(folder, "a",
                           "while read -r order; do echo \"$order\" >&2; echo \"done $order\"; "
                           "[ \"$order\" = 'stop " +
                               last + "' ] && exit 1; done; sleep 100");
  spec.parts = {{0, "actors"}, {1, "learner"}};
  return spec;
}

}  // namespace

TEST_CASE("a stage that is a part of a process is stopped by an order, and the process goes on") {
  const doubles::TemporaryFolder folder;
  Supervisor supervisor(Quick());
  REQUIRE(supervisor.Start(Obedient(folder, "nothing"), 3).ok());
  REQUIRE(supervisor.StopStage(0));
  REQUIRE(TextOf(folder.At("a.log")) == "stop actors\n");
  REQUIRE(supervisor.StopStage(1));
  REQUIRE(supervisor.StopStage(2));
  REQUIRE(TextOf(folder.At("a.log")) == "stop actors\nstop learner\n");
  REQUIRE(supervisor.Poll().ok());
  REQUIRE(supervisor.TakeEvents().empty());
  REQUIRE(supervisor.Stop());
}

TEST_CASE("a process that is started again is told again which of its parts have stopped") {
  const doubles::TemporaryFolder folder;
  Supervisor supervisor(Quick());
  REQUIRE(supervisor.Start(Obedient(folder, "learner"), 3).ok());
  REQUIRE(supervisor.StopStage(0));
  REQUIRE(supervisor.StopStage(1));
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return supervisor.restarts() >= 1; }));
  REQUIRE(Eventually(supervisor, status, [&] {
    return TextOf(folder.At("a.log")).starts_with("stop actors\nstop learner\nstop actors\n");
  }));
}

TEST_CASE("a part that does not stop in time is reported, and nothing waits for it") {
  const doubles::TemporaryFolder folder;
  ProcessSpec spec = Shell(folder, "a", "exec sleep 100");
  spec.parts = {{0, "actors"}};
  Supervisor supervisor(Quick());
  REQUIRE(supervisor.Start(spec, 3).ok());
  REQUIRE_FALSE(supervisor.StopStage(0));
  REQUIRE(supervisor.Stop());
}

TEST_CASE("a process with parts says that its work is done, and goes on") {
  const doubles::TemporaryFolder folder;
  ProcessSpec spec = Shell(folder, "a", "printf 'fini'; sleep 0.05; echo shed; exec sleep 100");
  spec.parts = {{0, "actors"}};
  Supervisor supervisor(Quick());
  REQUIRE(supervisor.Start(spec, 3).ok());
  absl::Status status;
  REQUIRE(Eventually(supervisor, status, [&] { return supervisor.finished(); }));
  REQUIRE(status.ok());
  REQUIRE(supervisor.restarts() == 0);
}

TEST_CASE("a program that is not there is named") {
  Supervisor supervisor;
  const absl::Status status = supervisor.Start({.name = "a", .command = {"/nowhere/actor"}}, 0);
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(runtime::Message(status).find("/nowhere/actor") != std::string::npos);
}

TEST_CASE("a command's output comes back, or its errors") {
  REQUIRE(RunToEnd({"/bin/sh", "-c", "echo out; echo error >&2"}).value() == "out\n");
  const auto refused = RunToEnd({"/bin/sh", "-c", "echo out; echo wrong key >&2; exit 2"});
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(runtime::Message(refused.status()) == "wrong key");
  REQUIRE(absl::IsInternal(RunToEnd({"/bin/sh", "-c", "kill -9 $$"}).status()));
}

TEST_CASE("several commands run side by side, and each has its own outcome") {
  const doubles::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  // Opening either end of the pipe waits for the other one.
  const auto outcomes =
      RunAllToEnd({{"/usr/bin/timeout", "10", "cat", pipe},
                   {"/nowhere/actor"},
                   {"/bin/sh", "-c", "echo wrong key >&2; exit 2"},
                   {"/usr/bin/timeout", "10", "/bin/sh", "-c", "echo written > " + pipe}});
  REQUIRE(outcomes.size() == 4);
  REQUIRE(outcomes[0].value() == "written\n");
  REQUIRE(absl::IsNotFound(outcomes[1].status()));
  REQUIRE(runtime::Message(outcomes[2].status()) == "wrong key");
  REQUIRE(outcomes[3].value().empty());
}

TEST_CASE("free addresses are all different") {
  auto addresses = FreeLoopbackAddresses(50);
  REQUIRE(addresses.ok());
  std::sort(addresses->begin(), addresses->end());
  REQUIRE(std::unique(addresses->begin(), addresses->end()) == addresses->end());
}

TEST_CASE("no address is given on which another process is about to listen") {
  // All but one in ten of the ports.
  std::set<std::string> taken;
  for (int port = 0; port < 65536; ++port) {
    if (port % 10 != 7) taken.insert("127.0.0.1:" + std::to_string(port));
  }
  const auto addresses = FreeLoopbackAddresses(20, taken);
  REQUIRE(addresses.ok());
  for (const std::string& address : *addresses) REQUIRE_FALSE(taken.contains(address));
}

}  // namespace shoal::cli
