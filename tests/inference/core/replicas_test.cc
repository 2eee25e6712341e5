// SPDX-License-Identifier: Apache-2.0
// Several acting threads, each with a replica of the policy, over one set of versions.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "inference/core/acting_stage.h"
#include "inference/core/batcher_set.h"
#include "platform/runtime/thread.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRows;
using testing::RecordingSink;
using testing::RowSpec;

constexpr std::size_t kReplicas = 3;
constexpr std::uint64_t kPlayers = 12;
constexpr std::size_t kPlayedRows = 4;
constexpr std::uint64_t kBroken = 1;

// Which environments each replica saw, in all versions. An observation is the environment's id.
class Seen {
 public:
  void Add(std::size_t replica, std::uint64_t environment) {
    const runtime::MutexLock lock(mutex_);
    seen_[environment].insert(replica);
  }
  std::map<std::uint64_t, std::set<std::size_t>> seen() const {
    const runtime::MutexLock lock(mutex_);
    return seen_;
  }

 private:
  mutable runtime::Mutex mutex_;
  std::map<std::uint64_t, std::set<std::size_t>> seen_ ABSL_GUARDED_BY(mutex_);
};

enum class Fault : std::uint8_t { kNone, kStatus, kException };

// An action is the number of rows that the episode's state has counted.
class ReplicatedPolicy final : public ActingPolicy {
 public:
  ReplicatedPolicy(Seen& seen, Fault fault) : seen_(seen), fault_(fault) {}
  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                           std::size_t replica) const override {
    if (replica == kBroken && fault_ == Fault::kStatus) {
      return runtime::Internal("the device is gone");
    }
    if (replica == kBroken && fault_ == Fault::kException) throw std::runtime_error("no device");
    model::PolicyOutputs outputs;
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.rows); ++i) {
      seen_.Add(replica, static_cast<std::uint64_t>(inputs.observation[i]));
      outputs.core_state.push_back(inputs.core_state[i] + 1);
      outputs.action.push_back(static_cast<std::int64_t>(inputs.core_state[i]));
      outputs.log_probability.push_back(0);
      outputs.value.push_back(0);
    }
    return outputs;
  }

 private:
  Seen& seen_;
  const Fault fault_;
};

class CountedUnrolls final : public UnrollSink {
 public:
  explicit CountedUnrolls(std::size_t room = 1000000) : room_(room) {}
  absl::Status TryInsert(const Unroll& unroll) override {
    const runtime::MutexLock lock(mutex_);
    if (room_ == 0) return runtime::ResourceExhausted("full");
    --room_;
    firsts_[unroll.environment].insert(unroll.first_sequence);
    return absl::OkStatus();
  }
  std::map<std::uint64_t, std::set<std::uint64_t>> firsts() const {
    const runtime::MutexLock lock(mutex_);
    return firsts_;
  }

 private:
  mutable runtime::Mutex mutex_;
  std::size_t room_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::set<std::uint64_t>> firsts_ ABSL_GUARDED_BY(mutex_);
};

struct ReplicasFixture {
  explicit ReplicasFixture(Fault fault = Fault::kNone, std::size_t room = 1000000)
      : broken(fault), unrolls(room) {
    shape.core_state_size = 1;
    for (std::size_t i = 0; i < kReplicas; ++i) {
      metrics.push_back(std::make_unique<InferenceMetrics>(registry, i));
      engines.push_back(
          std::make_unique<ActEngine>(ActOptions{.replica = i, .cut = {.max_rows = kPlayedRows}},
                                      shape, policies, unrolls, *metrics[i]));
      stages.push_back(std::make_unique<ActingStage>(batchers[i], *engines[i], policies,
                                                     *metrics[i], ActingStage::Lockstep{},
                                                     "act-" + std::to_string(i)));
    }
  }
  void Publish(std::uint64_t step) {
    policies.Put({{1, step}, std::make_shared<ReplicatedPolicy>(seen, broken)});
    batchers.SetPaused(false);
    batchers.Wake();
  }
  // Sends a row of every environment in one message.
  void Send(std::uint64_t sequence) {
    std::vector<RowSpec> specs;
    for (std::uint64_t i = 0; i < kPlayers; ++i) specs.push_back(RowOf(i, sequence));
    auto rows = MakeRows(specs, sink);
    batchers.Add(rows);
  }
  static RowSpec RowOf(std::uint64_t environment, std::uint64_t sequence) {
    return {.environment = environment,
            .sequence = sequence,
            .flags = sequence == 0 ? kFirst : std::uint8_t{0},
            .observation = static_cast<float>(environment)};
  }
  // Collects the answers to `count` rows.
  std::vector<RowAnswer> Answers(std::size_t count) {
    std::vector<RowAnswer> all;
    while (all.size() < count) {
      for (RowAnswer& answer : sink->Take(1)) all.push_back(std::move(answer));
    }
    return all;
  }

  const Fault broken;
  Seen seen;
  CountedUnrolls unrolls;
  runtime::Metrics registry;
  PolicyShape shape = testing::PlainShape();
  PolicySet policies{2};
  BatcherSet batchers{kReplicas, {.max_rows = 8, .max_delay = runtime::Duration::zero()}};
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::vector<std::unique_ptr<InferenceMetrics>> metrics;
  std::vector<std::unique_ptr<ActEngine>> engines;
  std::vector<std::unique_ptr<ActingStage>> stages;
};

// Runs a server whose broken replica throws, in a process of its own. Returns how that process
// ended, and fills `says` with what it wrote to standard error.
int EndOfThrowingServer(std::string& says) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Ends a child that hangs.
    ::alarm(30);
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    try {
      ReplicasFixture fixture(Fault::kException);
      fixture.Publish(1);
      fixture.Send(0);
      (void)fixture.Answers(kPlayers);
      ::_exit(0);
    } catch (...) {
      ::_exit(1);
    }
  }
  ::close(ends[1]);
  char buffer[256];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    says.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("Environments keep replica, state and unrolls, and versions only rise, as these change") {
  ReplicasFixture fixture;
  fixture.Publish(1);
  std::atomic<bool> done = false;
  runtime::Thread learner("learner", [&] {
    for (std::uint64_t step = 2; !done.load(); ++step) fixture.Publish(step);
  });
  constexpr std::uint64_t kSteps = 400;
  std::map<std::uint64_t, parameters::Version> last;
  std::vector<std::string> wrong;
  for (std::uint64_t sequence = 0; sequence <= kSteps; ++sequence) {
    fixture.Send(sequence);
    for (const RowAnswer& answer : fixture.Answers(kPlayers)) {
      const bool right = answer.status == RowStatus::kOk && answer.sequence == sequence &&
                         answer.action == static_cast<std::int64_t>(sequence) &&
                         answer.version >= last[answer.environment];
      if (!right) wrong.push_back(std::to_string(answer.environment));
      last[answer.environment] = answer.version;
    }
  }
  done.store(true);
  learner.Join();
  REQUIRE(wrong.empty());
  const auto seen = fixture.seen.seen();
  REQUIRE(seen.size() == kPlayers);
  std::map<std::size_t, int> environments;
  for (const auto& [environment, replicas] : seen) {
    REQUIRE(replicas.size() == 1);
    ++environments[*replicas.begin()];
  }
  for (std::size_t i = 0; i < kReplicas; ++i) REQUIRE(environments[i] == kPlayers / kReplicas);
  const auto firsts = fixture.unrolls.firsts();
  REQUIRE(firsts.size() == kPlayers);
  for (const auto& [environment, sequences] : firsts) {
    std::set<std::uint64_t> expected;
    for (std::uint64_t first = 0; first < kSteps; first += kPlayedRows) expected.insert(first);
    REQUIRE(sequences == expected);
  }
}

TEST_CASE("A new version acts on every replica at once") {
  ReplicasFixture fixture;
  for (std::uint64_t step = 1; step < 20; ++step) {
    fixture.Publish(step);
    fixture.Send(step - 1);
    for (const RowAnswer& answer : fixture.Answers(kPlayers)) {
      REQUIRE(answer.version == parameters::Version{1, step});
    }
  }
}

TEST_CASE("A replica whose forward pass fails refuses its rows with the reason; the others act") {
  ReplicasFixture fixture(Fault::kStatus);
  fixture.Publish(1);
  fixture.Send(0);
  std::size_t refused = 0;
  for (const RowAnswer& answer : fixture.Answers(kPlayers)) {
    const bool on_broken = fixture.batchers.IndexOf(answer.environment) == kBroken;
    REQUIRE(answer.status == (on_broken ? RowStatus::kInvalid : RowStatus::kOk));
    if (!on_broken) continue;
    ++refused;
    REQUIRE(answer.error == "the policy cannot be evaluated: the device is gone");
  }
  REQUIRE(refused == kPlayers / kReplicas);
}

TEST_CASE("An exception on one device ends the process, naming the thread") {
  std::string says;
  const int status = EndOfThrowingServer(says);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGABRT);
  REQUIRE(says.find("thread act-1: uncaught exception: no device") != std::string::npos);
}

TEST_CASE("Draining answers what waits for replay on every replica") {
  ReplicasFixture fixture(Fault::kNone, /*room=*/0);
  fixture.Publish(1);
  for (std::uint64_t sequence = 0; sequence < kPlayedRows; ++sequence) {
    fixture.Send(sequence);
    (void)fixture.Answers(kPlayers);
  }
  // Their answers wait for room in replay, which has none.
  fixture.Send(kPlayedRows);
  for (const auto& stage : fixture.stages) stage->Drain();
  for (const RowAnswer& answer : fixture.Answers(kPlayers)) {
    REQUIRE(answer.status == RowStatus::kOk);
    REQUIRE(answer.sequence == kPlayedRows);
  }
  fixture.stages.clear();
  REQUIRE(fixture.registry.Counter("shoal_inference_dropped_unrolls_total", "").Value() ==
          kPlayers);
}

TEST_CASE("Gauges are sums over the replicas, and each replica's rows are counted apart") {
  ReplicasFixture fixture;
  fixture.Publish(1);
  fixture.Send(0);
  (void)fixture.Answers(kPlayers);
  // Joins the threads, after which all metrics are final.
  fixture.stages.clear();
  REQUIRE(fixture.registry.Gauge("shoal_inference_environments", "").Value() == kPlayers);
  REQUIRE(fixture.registry.Counter("shoal_inference_rows_total", "", {{"status", "ok"}}).Value() ==
          kPlayers);
  for (const char* const replica : {"0", "1", "2"}) {
    INFO(replica);
    REQUIRE(
        fixture.registry.Counter("shoal_inference_replica_rows_total", "", {{"replica", replica}})
            .Value() == kPlayers / kReplicas);
  }
  fixture.engines.clear();
  fixture.metrics.pop_back();
  REQUIRE(fixture.registry.Gauge("shoal_inference_environments", "").Value() ==
          kPlayers - kPlayers / kReplicas);
}

}  // namespace shoal::inference
