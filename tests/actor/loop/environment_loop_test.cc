// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/environment_loop.h"

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>

#include "tests/inference/client/scripted_server.h"

namespace shoal::actor {
namespace {

using test::Agree;
using test::Scripted;
using test::ScriptedServer;
using test::SeenRow;

// Plays episodes of four steps that end by number: terminated, truncated or lost.
class ScriptedEnvironment final : public Environment {
 public:
  void Reset(const EpisodeStart& start, Done done) override {
    episode_ = start.episode;
    steps_ = 0;
    done(Transition{.observation = {.numeric = {static_cast<float>(episode_), 0}}});
  }
  void Step(std::int64_t, Done done) override {
    ++steps_;
    if (steps_ == 4 && episode_ % 3 == 2) {
      done(runtime::Unavailable("scripted"));
      return;
    }
    Transition transition{
        .observation = {.numeric = {static_cast<float>(episode_), static_cast<float>(steps_)}},
        .reward = static_cast<float>(steps_)};
    if (steps_ == 4) transition.end = episode_ % 3 == 0 ? End::kTerminated : End::kTruncated;
    done(transition);
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c", .steps = steps_}; }

 private:
  std::uint64_t episode_ = 0;
  int steps_ = 0;
};

class ScriptedSource final : public EnvironmentSource {
 public:
  const EnvironmentSpec& spec() const override { return spec_; }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t count) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    for (std::size_t i = 0; i < count; ++i) {
      environments.push_back(std::make_unique<ScriptedEnvironment>());
    }
    return environments;
  }

 private:
  const EnvironmentSpec spec_ = {
      .observation_name = "numeric", .observation_shape = {2}, .content_fields = {}, .actions = 2};
  const std::vector<Pair> pairs_ = {{.goal = "g", .capture = "c"}};
};

struct Fixture {
  runtime::Metrics metrics;
  ActorMetrics actor_metrics{metrics};
  ScriptedSource source;
};

LoopOptions Options(const std::string& address, std::size_t environments) {
  return {.environments = environments, .incarnation = 11, .inference = {address}};
}

void Ignore(const absl::Status&) {}

std::vector<SeenRow> RowsOf(const std::vector<SeenRow>& rows, std::uint64_t environment) {
  std::vector<SeenRow> own;
  for (const SeenRow& row : rows) {
    if (row.environment_id == environment) own.push_back(row);
  }
  return own;
}

TEST_CASE("Rows follow the protocol through terminated, truncated and lost episodes") {
  Fixture fixture;
  ScriptedServer server(Agree);
  TrainingPlan plan({.environments = 3});
  EnvironmentLoop loop(Options(server.address(), 3), fixture.source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  REQUIRE(server.Await([](const auto& rows) { return rows.size() >= 3 * 16; }));
  loop.Stop();
  const auto rows = RowsOf(server.rows(), 1);
  REQUIRE(rows.size() >= 15);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(rows[i].sequence == i);
    REQUIRE(rows[i].incarnation == 11);
  }
  REQUIRE(rows[0].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[0].reward == 0);
  for (const std::size_t i : {1, 2, 3}) {
    REQUIRE(rows[i].flags == proto::ROW_FLAG_NONE);
    REQUIRE(rows[i].reward == static_cast<float>(i));
  }
  REQUIRE(rows[4].flags == proto::ROW_FLAG_TERMINATED);
  REQUIRE(rows[4].reward == 4);
  REQUIRE(rows[4].episode_id == rows[0].episode_id);
  REQUIRE(rows[5].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[5].episode_id == rows[0].episode_id + 1);
  REQUIRE(rows[9].flags == (proto::ROW_FLAG_TRUNCATED | proto::ROW_FLAG_FINAL));
  REQUIRE(rows[9].observation == std::vector<float>{1, 4});
  REQUIRE(rows[9].reward == 4);
  REQUIRE(rows[10].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[14].flags == proto::ROW_FLAG_TRUNCATED);
  REQUIRE(rows[14].observation == std::vector<float>{0, 0});
}

TEST_CASE("The rows of environments that are ready together leave in one message") {
  Fixture fixture;
  ScriptedServer server(Agree);
  TrainingPlan plan({.environments = 40});
  EnvironmentLoop loop(Options(server.address(), 40), fixture.source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  REQUIRE(server.Await([](const auto& rows) { return rows.size() >= 40 * 5; }));
  loop.Stop();
  const auto sizes = server.message_sizes();
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(sizes[i] == 40);
  REQUIRE(sizes[4] == 80);
}

// Stops a server of epoch 1 while row 2 of each environment is unanswered, starts one of `epoch` at
// its address, and returns environment 0's rows at the new server.
std::vector<SeenRow> RowsAfterRestart(std::uint64_t epoch) {
  Fixture fixture;
  auto first = std::make_unique<ScriptedServer>(
      [](const SeenRow& row) {
        return row.sequence == 2 ? Scripted{.status = proto::ROW_OVERLOADED} : Agree(row);
      },
      1);
  const std::string address = first->address();
  TrainingPlan plan({.environments = 2});
  EnvironmentLoop loop(Options(address, 2), fixture.source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  REQUIRE(first->Await([](const auto& rows) { return rows.size() >= 6; }));
  first.reset();
  ScriptedServer second(Agree, epoch, address);
  REQUIRE(second.Await([](const auto& rows) { return rows.size() >= 4; }));
  loop.Stop();
  return RowsOf(second.rows(), 0);
}

TEST_CASE("A server with another epoch has running episodes cut off and new ones begun") {
  const auto rows = RowsAfterRestart(2);
  REQUIRE(rows[0].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[0].sequence == 3);
  REQUIRE(rows[0].episode_id == 2);
}

TEST_CASE("A server that comes back with the same epoch gets the unanswered rows again") {
  const auto rows = RowsAfterRestart(1);
  REQUIRE(rows[0].flags == proto::ROW_FLAG_NONE);
  REQUIRE(rows[0].sequence == 2);
  REQUIRE(rows[0].episode_id == 1);
}

// Holds the loop's thread until it is opened.
class Gate {
 public:
  void Open() {
    const runtime::MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Await() {
    const auto deadline = runtime::SystemClock().Now() + std::chrono::seconds(10);
    const runtime::MutexLock lock(mutex_);
    while (!open_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return;
    }
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
};

// Plays episodes of one step. Every reset but the first waits at the gate, on the loop's thread.
class GatedEnvironment final : public Environment {
 public:
  GatedEnvironment(boost::asio::any_io_executor executor, Gate& gate)
      : executor_(std::move(executor)), gate_(gate) {}
  void Reset(const EpisodeStart&, Done done) override {
    const Transition start{.observation = {.numeric = {0, 0}}};
    if (episodes_++ == 0) {
      done(start);
      return;
    }
    boost::asio::post(executor_, [this, start, done = std::move(done)] {
      gate_.Await();
      done(start);
    });
  }
  void Step(std::int64_t, Done done) override {
    done(Transition{.observation = {.numeric = {0, 1}}, .reward = 1, .end = End::kTerminated});
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c"}; }

 private:
  const boost::asio::any_io_executor executor_;
  Gate& gate_;
  int episodes_ = 0;
};

class GatedSource final : public EnvironmentSource {
 public:
  explicit GatedSource(Gate& gate) : gate_(gate) {}
  const EnvironmentSpec& spec() const override { return scripted_.spec(); }
  const std::vector<Pair>& pairs() const override { return scripted_.pairs(); }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor executor,
                                                   std::uint64_t, std::size_t) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(std::make_unique<GatedEnvironment>(executor, gate_));
    return environments;
  }

 private:
  const ScriptedSource scripted_ = ScriptedSource();
  Gate& gate_;
};

TEST_CASE(
    "A lost end row goes before the next episode's first, though the loop learns late of it") {
  Fixture fixture;
  Gate gate;
  const GatedSource source(gate);
  auto first = std::make_unique<ScriptedServer>(
      [](const SeenRow& row) {
        return row.sequence == 1 ? Scripted{.status = proto::ROW_OVERLOADED} : Agree(row);
      },
      1);
  const std::string address = first->address();
  TrainingPlan plan({.environments = 1});
  LoopOptions options = Options(address, 1);
  options.rows_per_message_min = 1;
  EnvironmentLoop loop(options, source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  REQUIRE(first->Await([](const auto& rows) { return rows.size() >= 2; }));
  first.reset();
  ScriptedServer second(Agree, 1, address);
  REQUIRE(second.AwaitHello());
  gate.Open();
  REQUIRE(second.Await([](const auto& rows) { return rows.size() >= 3; }));
  loop.Stop();
  const auto rows = second.rows();
  REQUIRE(rows[0].sequence == 1);
  REQUIRE(rows[0].flags == proto::ROW_FLAG_TERMINATED);
  REQUIRE(rows[1].sequence == 2);
  REQUIRE(rows[1].flags == proto::ROW_FLAG_FIRST);
}

TEST_CASE("A loop whose environments are all fenced says so") {
  Fixture fixture;
  ScriptedServer server([](const SeenRow&) { return Scripted{.status = proto::ROW_FENCED}; });
  TrainingPlan plan({.environments = 2});
  EnvironmentLoop loop(Options(server.address(), 2), fixture.source, plan, fixture.actor_metrics);
  runtime::Mutex mutex;
  runtime::CondVar changed;
  absl::Status end;
  loop.Start([&](const absl::Status& status) {
    const runtime::MutexLock lock(mutex);
    end = status;
    changed.NotifyAll();
  });
  {
    const runtime::MutexLock lock(mutex);
    while (end.ok()) changed.Wait(mutex);
  }
  loop.Stop();
  REQUIRE(absl::IsAborted(end));
}

TEST_CASE("An evaluation plays each episode of each pair and policy exactly once") {
  Fixture fixture;
  ScriptedServer server([](const SeenRow& row) {
    REQUIRE(row.mode == proto::ROW_MODE_EVALUATE);
    return Agree(row);
  });
  runtime::Mutex mutex;
  runtime::CondVar changed;
  bool all_done = false;
  std::multiset<std::string> played;
  EvaluationPlan plan(
      {.policies = {*ParsePolicy("current"), *ParsePolicy("uniform")},
       .pairs = fixture.source.pairs(),
       .episodes = 2},
      {.on_result =
           [&](const EpisodeAssignment& assignment, const EpisodeResult& result) {
             const runtime::MutexLock lock(mutex);
             REQUIRE(result.policy_step == 2);
             REQUIRE(result.total_reward == 10);
             played.insert(assignment.policy_name + std::to_string(assignment.start.episode));
           },
       .on_given_up = nullptr,
       .on_end =
           [&](const absl::Status& end) {
             const runtime::MutexLock lock(mutex);
             all_done = end.ok();
             changed.NotifyAll();
           }});
  LoopOptions options = Options(server.address(), 3);
  options.evaluate = true;
  EnvironmentLoop loop(options, fixture.source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  {
    const runtime::MutexLock lock(mutex);
    while (!all_done) changed.Wait(mutex);
  }
  loop.Stop();
  REQUIRE(played == std::multiset<std::string>{"current0", "current1", "uniform0", "uniform1"});
  std::set<std::string> policies;
  for (const SeenRow& row : server.rows()) policies.insert(row.policy);
  REQUIRE(policies == std::set<std::string>{"current: true", "uniform: true"});
}

// Refuses to start episodes of its first pair.
class RefusingEnvironment final : public Environment {
 public:
  explicit RefusingEnvironment(int& refused) : refused_(refused) {}
  void Reset(const EpisodeStart& start, Done done) override {
    pair_ = *start.pair;
    if (pair_ == 0) {
      ++refused_;
      done(runtime::InvalidArgument("status 400"));
      return;
    }
    done(Transition{.observation = {.numeric = {0, 0}}});
  }
  void Step(std::int64_t, Done done) override {
    done(Transition{.observation = {.numeric = {0, 1}}, .reward = 1, .end = End::kTerminated});
  }
  EpisodeFacts facts() const override {
    return {.goal = pair_ == 0 ? "bad" : "good", .capture = "c"};
  }

 private:
  int& refused_;
  std::size_t pair_ = 0;
};

class RefusingSource final : public EnvironmentSource {
 public:
  const EnvironmentSpec& spec() const override { return scripted_.spec(); }
  const std::vector<Pair>& pairs() const override { return pairs_; }
  std::vector<std::unique_ptr<Environment>> Create(boost::asio::any_io_executor, std::uint64_t,
                                                   std::size_t) const override {
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(std::make_unique<RefusingEnvironment>(refused));
    return environments;
  }
  mutable int refused = 0;

 private:
  const ScriptedSource scripted_ = ScriptedSource();
  const std::vector<Pair> pairs_ = {{.goal = "bad", .capture = "c"},
                                    {.goal = "good", .capture = "c"}};
};

TEST_CASE("A start that is refused a few times is given up, and the other pairs are played") {
  Fixture fixture;
  const RefusingSource source;
  ScriptedServer server(Agree);
  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::optional<absl::Status> ended;
  std::vector<std::string> given_up;
  int played = 0;
  EvaluationPlan plan(
      {.policies = {*ParsePolicy("current")}, .pairs = source.pairs(), .episodes = 3},
      {.on_result =
           [&](const EpisodeAssignment&, const EpisodeResult& result) {
             REQUIRE(result.facts.goal == "good");
             ++played;
           },
       .on_given_up =
           [&](const Pair& pair, const std::string& reason) {
             given_up.push_back(pair.goal + " " + pair.capture + " " + reason);
           },
       .on_end =
           [&](const absl::Status& end) {
             const runtime::MutexLock lock(mutex);
             ended = end;
             changed.NotifyAll();
           }});
  LoopOptions options = Options(server.address(), 1);
  options.reset_attempts = 3;
  EnvironmentLoop loop(options, source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  {
    const auto deadline = runtime::SystemClock().Now() + std::chrono::seconds(20);
    const runtime::MutexLock lock(mutex);
    while (!ended && changed.WaitUntil(mutex, deadline)) {
    }
  }
  loop.Stop();
  REQUIRE(ended.has_value());
  REQUIRE(ended->ok());
  REQUIRE(played == 3);
  REQUIRE(source.refused == 3);
  REQUIRE(given_up == std::vector<std::string>{"bad c status 400"});
}

TEST_CASE("A policy that nobody knows is an error that names it") {
  REQUIRE(ParsePolicy("3.14")->selector.pinned().step() == 14);
  REQUIRE(runtime::Message(ParsePolicy("best").status()).find("best") != std::string::npos);
  REQUIRE_FALSE(ParsePolicy("3.").ok());
}

}  // namespace
}  // namespace shoal::actor
