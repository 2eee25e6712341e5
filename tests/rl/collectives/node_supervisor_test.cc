// SPDX-License-Identifier: Apache-2.0
#include "rl/collectives/node_supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/collectives/launch.h"
#include "rl/collectives/socket.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::collectives {
namespace {

using doubles::Eventually;
using std::chrono::milliseconds;
using std::chrono::seconds;

// What ranks leave for the test, in memory that all of them share.
struct NodeTraces {
  // The newest group that a rank 0 has joined: its epoch, its size, rank 0's process and its port.
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::int64_t> world_size{0};
  std::atomic<pid_t> rank_0{0};
  std::atomic<std::uint16_t> port{0};
  // The ranks that stopped because they were asked to.
  std::atomic<int> stopped{0};
  std::atomic<int> failed{0};
  // Set by the test: rank 0 ends with this.
  std::atomic<int> end_with{-1};
};

NodeTraces& SharedNodeTraces() {
  void* const memory = ::mmap(nullptr, sizeof(NodeTraces), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  return *new (memory) NodeTraces;
}

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

// A rank that sums until it, or another one, is asked to stop, as a learner does in rounds.
int WorkAsRank(NodeTraces& traces, RankProgress* progress) {
  struct sigaction action = {};
  action.sa_handler = [](int) { asked_to_stop = true; };
  ::sigaction(SIGTERM, &action, nullptr);
  auto group =
      JoinGroup({.join_timeout = seconds(20), .call_timeout = seconds(20), .progress = progress});
  if (!group.ok()) return 1;
  if ((*group)->rank() == 0) {
    traces.rank_0 = ::getpid();
    const RankEnvironment environment = ReadRankEnvironment().value();
    traces.port = environment.master_port;
    traces.world_size = (*group)->world_size();
    traces.epoch = environment.epoch;
  }
  for (;;) {
    const int end = (*group)->rank() == 0 ? traces.end_with.load() : -1;
    if (end > 0) return end;
    std::array<double, 2> sums = {asked_to_stop ? 1.0 : 0.0, end == 0 ? 1.0 : 0.0};
    if (!(*group)->AllReduceSum(std::span<double>(sums)).ok()) {
      ++traces.failed;
      return 1;
    }
    if (sums[1] > 0) return 0;
    if (sums[0] > 0) {
      ++traces.stopped;
      return 0;
    }
    ::usleep(1000);
  }
}

// Nodes of one group on this machine, each a supervisor in a process of its own.
class Nodes {
 public:
  explicit Nodes(std::int64_t min_nodes, std::int64_t max_nodes) {
    std::uint16_t port = 0;
    ::close(Listen("127.0.0.1", port).value());
    options_ = {.min_nodes = min_nodes,
                .max_nodes = max_nodes,
                .rendezvous = {{.host = "127.0.0.1", .port = port}},
                .timing = {.introduction = seconds(5),
                           .beat_every = milliseconds(100),
                           .silence = seconds(20)},
                .settle = milliseconds(50),
                .patience = seconds(20),
                .precedence = milliseconds(200)};
  }
  ~Nodes() {
    for (const auto& [name, pid] : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    ::munmap(&traces_, sizeof(NodeTraces));
  }

  NodesOptions& options() { return options_; }
  NodeTraces& traces() { return traces_; }

  void Start(const std::string& name, std::int64_t ranks = 2) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(Run(name, ranks));
    pids_[name] = pid;
  }
  void Signal(const std::string& name, int signal) { REQUIRE(::kill(pids_.at(name), signal) == 0); }
  // Waits for the node's end and returns its exit code.
  int ExitCode(const std::string& name) {
    int status = 0;
    const bool ended =
        Eventually([&] { return ::waitpid(pids_.at(name), &status, WNOHANG) == pids_.at(name); });
    INFO(log());
    REQUIRE(ended);
    pids_.erase(name);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Waits for a newer group of so many ranks.
  void AwaitRanks(std::int64_t ranks) {
    const bool came =
        Eventually([&] { return traces_.epoch > seen_ && traces_.world_size == ranks; });
    INFO(log());
    REQUIRE(came);
    seen_ = traces_.epoch;
  }
  std::string log() const { return runtime::ReadFile(log_).value_or(""); }
  bool Logged(const std::string& text) const { return log().find(text) != std::string::npos; }

 private:
  int Run(const std::string& name, std::int64_t ranks) {
    // Catch would report a signal as a failure of the test case.
    for (const int signal : {SIGTERM, SIGABRT}) ::signal(signal, SIG_DFL);
    const int log = ::open(log_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    ::dup2(log, STDERR_FILENO);
    if (!runtime::SetUpLog(name, 0, "info").ok()) return 98;
    options_.name = name;
    NodeSupervisor supervisor(name, ranks, options_,
                              {.max_restarts = 1,
                               .min_back_off = milliseconds(1),
                               .limits = {.stop_grace = seconds(20)},
                               .stop_code = 43});
    const auto exit_code = supervisor.Run();
    if (!exit_code.ok()) {
      spdlog::error("event=refused reason={}",
                    runtime::Quoted(runtime::Message(exit_code.status())));
      return 99;
    }
    return *exit_code ? **exit_code : WorkAsRank(traces_, supervisor.progress());
  }

  const doubles::TemporaryFolder folder_;
  const std::string log_ = folder_.path() + "/log";
  NodeTraces& traces_ = SharedNodeTraces();
  NodesOptions options_;
  std::map<std::string, pid_t> pids_;
  std::uint64_t seen_ = 0;
};

// A service that answers no packet for a while, since its queue of connections is full.
class DeafService {
 public:
  DeafService() {
    REQUIRE(::listen(listener_, 0) == 0);
    // The queue takes one more than it says.
    queued_ = ConnectTo("127.0.0.1", port_, doubles::Soon(), "it").value();
  }
  ~DeafService() {
    ::close(queued_);
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  // Waits until so many connections after each other have been tried in vain.
  bool AwaitTries(std::size_t tries) {
    return Eventually([&] {
      std::istringstream lines(runtime::ReadFile("/proc/net/tcp").value());
      for (std::string line; std::getline(lines, line);) {
        std::string number, local, remote, state;
        std::istringstream(line) >> number >> local >> remote >> state;
        char end[16];
        std::snprintf(end, sizeof end, ":%04X", port_);
        constexpr const char* kSynSent = "02";
        if (remote.ends_with(end) && state == kSynSent) tried_.insert(local);
      }
      return tried_.size() >= tries;
    });
  }
  // Answers from now on, and returns the first line that a node sends.
  std::string Hear() {
    ::close(Accept(listener_, doubles::Soon()).value());
    const int node = Accept(listener_, doubles::Soon()).value();
    std::array<std::byte, 4> word{};
    REQUIRE(ReceiveAll(node, word, doubles::Soon(), "a node").ok());
    ::close(node);
    return std::string(reinterpret_cast<const char*>(word.data()), word.size());
  }

 private:
  std::uint16_t port_ = 0;
  const int listener_ = Listen("127.0.0.1", port_).value();
  int queued_ = -1;
  std::set<std::string> tried_;
};

}  // namespace

TEST_CASE("nodes with different numbers of ranks become one group, and end when one is done") {
  Nodes nodes(2, 2);
  nodes.Start("a", 1);
  nodes.Start("b", 3);
  nodes.AwaitRanks(4);
  nodes.traces().end_with = 0;
  REQUIRE(nodes.ExitCode("a") == 0);
  REQUIRE(nodes.ExitCode("b") == 0);
}

TEST_CASE("a node that is killed leaves the others, which go on alone, and comes back") {
  Nodes nodes(1, 2);
  nodes.Start("a");
  nodes.AwaitRanks(2);
  nodes.Start("b");
  nodes.AwaitRanks(4);
  REQUIRE(nodes.traces().stopped == 2);
  REQUIRE(nodes.traces().failed == 0);
  SECTION("the one that does not serve") {
    nodes.Signal("b", SIGKILL);
    REQUIRE(nodes.ExitCode("b") == 128 + SIGKILL);
    nodes.AwaitRanks(2);
    REQUIRE(nodes.Logged("cause=lost first_rank=0 world_size=2"));
    nodes.Start("b");
  }
  SECTION("the one that serves, and another one serves then") {
    nodes.Signal("a", SIGKILL);
    REQUIRE(nodes.ExitCode("a") == 128 + SIGKILL);
    nodes.AwaitRanks(2);
    REQUIRE(nodes.Logged("event=rendezvous_lost"));
    nodes.Start("a");
  }
  nodes.AwaitRanks(4);
  nodes.traces().end_with = 0;
  REQUIRE(nodes.ExitCode("a") == 0);
  REQUIRE(nodes.ExitCode("b") == 0);
}

TEST_CASE("a node that is asked to end lets all ranks finish their step, and the others go on") {
  Nodes nodes(1, 2);
  nodes.Start("a");
  nodes.AwaitRanks(2);
  nodes.Start("b");
  nodes.AwaitRanks(4);
  const std::string leaver = GENERATE("a", "b");
  nodes.Signal(leaver, SIGTERM);
  REQUIRE(nodes.ExitCode(leaver) == 43);
  nodes.AwaitRanks(2);
  REQUIRE(nodes.traces().stopped == 6);
  REQUIRE(nodes.traces().failed == 0);
  nodes.Signal(leaver == "a" ? "b" : "a", SIGTERM);
  REQUIRE(nodes.ExitCode(leaver == "a" ? "b" : "a") == 43);
}

TEST_CASE("a node that waits for others ends when it is asked to") {
  Nodes nodes(2, 2);
  nodes.Start("a");
  REQUIRE(Eventually([&] { return nodes.Logged("event=node_joined node=a"); }));
  nodes.Signal("a", SIGTERM);
  REQUIRE(nodes.ExitCode("a") == 43);
  REQUIRE(nodes.traces().epoch == 0);
}

TEST_CASE("a rank that dies makes the ranks of all nodes start again, as often as it is allowed") {
  Nodes nodes(2, 2);
  nodes.Start("a");
  nodes.Start("b");
  nodes.AwaitRanks(4);
  REQUIRE(::kill(nodes.traces().rank_0, SIGKILL) == 0);
  nodes.AwaitRanks(4);
  nodes.traces().end_with = 7;
  const std::array<int, 2> codes = {nodes.ExitCode("a"), nodes.ExitCode("b")};
  INFO(nodes.log());
  // That of the node that said it first.
  for (const int code : codes) REQUIRE((code == 7 || code == 1));
  REQUIRE(nodes.Logged("event=group_given_up failures=2"));
}

TEST_CASE("a node whose ranks no restart helps ends alone") {
  Nodes nodes(1, 2);
  nodes.Start("a");
  nodes.AwaitRanks(2);
  nodes.traces().end_with = runtime::kExitPermanent;
  REQUIRE(nodes.ExitCode("a") == runtime::kExitPermanent);
  nodes.traces().end_with = -1;
  nodes.Start("b");
  nodes.AwaitRanks(2);
}

TEST_CASE("two nodes of the same name do not train together") {
  Nodes nodes(1, 2);
  nodes.Start("a");
  nodes.AwaitRanks(2);
  nodes.options().patience = milliseconds(300);
  const std::uint64_t epoch = nodes.traces().epoch;
  Nodes others(1, 2);
  others.options() = nodes.options();
  others.Start("a");
  REQUIRE(others.ExitCode("a") == 99);
  INFO(others.log());
  REQUIRE(others.Logged("there is a node a already"));
  REQUIRE(nodes.traces().epoch == epoch);
}

TEST_CASE("a node that finds no service where it cannot serve says so in time") {
  Nodes nodes(1, 1);
  // An address for documentation, which no machine has.
  nodes.options().rendezvous = {{.host = "192.0.2.1", .port = 9}};
  nodes.options().patience = milliseconds(300);
  nodes.Start("a");
  REQUIRE(nodes.ExitCode("a") == 99);
  REQUIRE(nodes.Logged("no rendezvous at 192.0.2.1:9"));
}

TEST_CASE("the second address serves when nobody answers at the first") {
  Nodes nodes(1, 1);
  nodes.options().rendezvous.insert(nodes.options().rendezvous.begin(),
                                    {.host = "192.0.2.1", .port = 9});
  nodes.Start("a");
  nodes.AwaitRanks(2);
  REQUIRE(nodes.Logged("event=rendezvous_opened address=127.0.0.1"));
}

TEST_CASE("two names of one address are one service") {
  Nodes nodes(1, 1);
  const std::uint16_t port = nodes.options().rendezvous.front().port;
  nodes.options().rendezvous.push_back({.host = "127.1", .port = port});
  nodes.Start("a");
  nodes.AwaitRanks(2);
}

TEST_CASE("rank 0 listens until its group has joined, and not at all when it is alone") {
  const std::int64_t ranks = GENERATE(1, 2);
  Nodes nodes(1, 1);
  nodes.Start("a", ranks);
  nodes.AwaitRanks(ranks);
  const auto found = TryConnectTo("127.0.0.1", nodes.traces().port, doubles::Soon(), "rank 0");
  REQUIRE(absl::IsUnavailable(found.status()));
}

TEST_CASE("packets that are lost on the way to a service do not make a second one") {
  const std::size_t tries = GENERATE(1, 2);
  DeafService service;
  Nodes nodes(1, 2);
  nodes.options().rendezvous.push_back({.host = "127.0.0.1", .port = service.port()});
  nodes.Start("a");
  REQUIRE(service.AwaitTries(tries));
  REQUIRE(service.Hear() == "join");
  REQUIRE_FALSE(nodes.Logged("event=rendezvous_opened"));
}

TEST_CASE("flags of nodes are read, and those that make no sense are named") {
  const NodesOptions options =
      ParseNodes("2:4", "10.0.0.1:29400,[::1]:29401,name.lab:1", "a").value();
  REQUIRE(options.min_nodes == 2);
  REQUIRE(options.max_nodes == 4);
  REQUIRE(options.rendezvous.size() == 3);
  REQUIRE(options.rendezvous[1].host == "::1");
  REQUIRE(options.rendezvous[2].port == 1);
  REQUIRE(options.name == "a");
  REQUIRE(ParseNodes("3", "a:1", "").value().min_nodes == 3);
  REQUIRE(ParseNodes("3", "a:1", "").value().max_nodes == 3);
  REQUIRE_FALSE(ParseNodes("3", "a:1", "").value().name.empty());
  for (const char* const nodes : {"", "0", "2:1", "1:", ":2", "x", "1:2000", "1:2:3", "-1:2"}) {
    INFO(nodes);
    const absl::Status error = ParseNodes(nodes, "a:1", "a").status();
    REQUIRE(absl::IsInvalidArgument(error));
    REQUIRE(runtime::Message(error).starts_with("--nodes"));
  }
  for (const char* const address : {"", "a", "a:", ":1", "a:0", "a:70000", "a:1,", "a:1,,b:2"}) {
    INFO(address);
    REQUIRE(runtime::Message(ParseNodes("1", address, "a").status()).starts_with("--rendezvous"));
  }
  REQUIRE(runtime::Message(ParseNodes("1", "a:1", "a b").status()).starts_with("--node-name"));
}

}  // namespace shoal::collectives
