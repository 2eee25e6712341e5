// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/environment_loop.h"

#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>

#include "tests/actor/loop/scripted_environment.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::actor {
namespace {

using test::Agree;
using test::Fixture;
using test::Ignore;
using test::Options;
using test::RowsOf;
using test::Scripted;
using test::ScriptedServer;
using test::ScriptedSource;
using test::SeenRow;

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

// The server answers the first row with an episode that goes on, and the others as ever.
std::vector<SeenRow> RowsAfterResumption(const proto::ResumedEpisode& episode, std::size_t rows,
                                         const UniformSource& source = ScriptedSource()) {
  runtime::Metrics metrics;
  ActorMetrics actor_metrics(metrics);
  ScriptedServer server([&](const SeenRow& row) {
    Scripted scripted = Agree(row);
    if (row.incarnation == 11) {
      scripted.status = proto::ROW_RESUMED;
      scripted.resumed = episode;
    }
    return scripted;
  });
  TrainingPlan plan({.environments = 1});
  EnvironmentLoop loop(Options(server.address(), 1), source, plan, actor_metrics);
  loop.Start(Ignore);
  REQUIRE(server.Await([&](const auto& seen) { return seen.size() >= rows; }));
  loop.Stop();
  return server.rows();
}

proto::ResumedEpisode Episode(std::uint64_t id, std::size_t actions) {
  proto::ResumedEpisode episode;
  episode.set_episode_id(id);
  episode.set_incarnation(30);
  episode.set_next_sequence(17);
  for (std::size_t i = 0; i < actions; ++i) episode.add_actions(1);
  return episode;
}

TEST_CASE("An episode that goes on is begun again and played up to the row that is wanted") {
  // The environment's second episode, numbered 1, is cut off after four steps.
  const auto rows = RowsAfterResumption(Episode(2, 3), 5);
  REQUIRE(rows[0].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[1].incarnation == 30);
  REQUIRE(rows[1].sequence == 17);
  REQUIRE(rows[1].episode_id == 2);
  REQUIRE(rows[1].flags == proto::ROW_FLAG_NONE);
  REQUIRE(rows[1].observation == std::vector<float>{1, 3});
  REQUIRE(rows[1].reward == 3);
  REQUIRE(rows[2].sequence == 18);
  REQUIRE(rows[2].flags == (proto::ROW_FLAG_TRUNCATED | proto::ROW_FLAG_FINAL));
  REQUIRE(rows[3].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[3].episode_id == 3);
  REQUIRE(rows[3].observation == std::vector<float>{2, 0});
}

TEST_CASE("The last action of an episode that goes on may end it") {
  const auto rows = RowsAfterResumption(Episode(1, 4), 3);
  REQUIRE(rows[1].flags == proto::ROW_FLAG_TERMINATED);
  REQUIRE(rows[1].sequence == 17);
  REQUIRE(rows[1].episode_id == 1);
  REQUIRE(rows[2].flags == proto::ROW_FLAG_FIRST);
  REQUIRE(rows[2].sequence == 18);
  REQUIRE(rows[2].episode_id == 2);
}

TEST_CASE("An episode that cannot go on is followed by another one") {
  // More actions than the episode has, none at all, and a number that no episode has.
  for (const auto& [id, actions] : {std::pair{2, 9}, {2, 0}, {0, 2}}) {
    INFO(id << " " << actions);
    const auto rows = RowsAfterResumption(
        Episode(static_cast<std::uint64_t>(id), static_cast<std::size_t>(actions)), 2);
    REQUIRE(rows[1].flags == proto::ROW_FLAG_FIRST);
    REQUIRE(rows[1].incarnation == 30);
    REQUIRE(rows[1].sequence == 18);
  }
}

// Plays one episode without an end.
class EndlessEnvironment final : public Environment {
 public:
  void Reset(const EpisodeStart&, Done done) override { done(State()); }
  void Step(std::int64_t, Done done) override {
    ++steps_;
    done(State());
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c"}; }

 private:
  Transition State() const { return {.observation = {.numeric = {static_cast<float>(steps_), 0}}}; }
  int steps_ = 0;
};

TEST_CASE("An episode of many actions goes on without a deep stack") {
  constexpr std::size_t kActions = 500'000;
  const UniformSource endless(ScriptedSource().spec(), {{.goal = "g", .capture = "c"}},
                              [] { return std::make_unique<EndlessEnvironment>(); });
  const auto rows = RowsAfterResumption(Episode(1, kActions), 2, endless);
  REQUIRE(rows[1].observation == std::vector<float>{kActions, 0});
}

class FrameEnvironment final : public Environment {
 public:
  static constexpr const char* kFrame = "\x01\xff\x80\x7f\x05\x06\x07\x08";

  void Reset(const EpisodeStart&, Done done) override {
    done(Transition{.observation = {.frame = kFrame}});
  }
  void Step(std::int64_t, Done done) override {
    done(Transition{.observation = {.frame = kFrame}, .end = End::kTerminated});
  }
  EpisodeFacts facts() const override { return {.goal = "g", .capture = "c"}; }
};

TEST_CASE("A frame is sent byte by byte") {
  Fixture fixture;
  ScriptedServer server(Agree);
  const UniformSource source({.observation_name = "frame",
                              .observation_shape = {2, 4},
                              .observation_dtype = runtime::DType::kUInt8,
                              .actions = 2},
                             {{.goal = "g", .capture = "c"}},
                             [] { return std::make_unique<FrameEnvironment>(); });
  TrainingPlan plan({.environments = 1});
  EnvironmentLoop loop(Options(server.address(), 1), source, plan, fixture.actor_metrics);
  loop.Start(Ignore);
  REQUIRE(server.Await([](const auto& rows) { return rows.size() >= 2; }));
  loop.Stop();
  const auto bytes_of = [](const SeenRow& row) {
    const auto bytes = std::as_bytes(std::span(row.observation));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const auto rows = server.rows();
  REQUIRE(bytes_of(rows[0]) == FrameEnvironment::kFrame);
  REQUIRE(bytes_of(rows[1]) == std::string(8, '\0'));
}

// Bit flipping with three bits, played by one environment.
struct BitFlipLoop {
  explicit BitFlipLoop(const std::string& address) {
    environment.kind = "bit_flip";
    environment.simulation.bits = kBits;
    source = *MakeSource({.environment = environment, .cluster = cluster, .hindsight = true});
    LoopOptions options = Options(address, 1);
    options.hindsight = {.strategy = "future", .goals = 100};
    loop = std::make_unique<EnvironmentLoop>(options, *source, plan, actor_metrics);
  }

  static constexpr std::size_t kBits = 3;
  EnvironmentOptions environment;
  runtime::ClusterOptions cluster;
  runtime::Metrics metrics;
  ActorMetrics actor_metrics{metrics};
  std::unique_ptr<EnvironmentSource> source;
  TrainingPlan plan{{.environments = 1}};
  std::unique_ptr<EnvironmentLoop> loop;
};

// The bits of a row, and those of its goal.
std::vector<float> BitsOf(const SeenRow& row) {
  return {row.observation.begin(), row.observation.begin() + BitFlipLoop::kBits};
}
std::vector<float> GoalOf(const SeenRow& row) {
  return {row.observation.begin() + BitFlipLoop::kBits, row.observation.end()};
}

Scripted FlipBySequence(const SeenRow& row) {
  Scripted scripted = Agree(row);
  scripted.action = static_cast<std::int64_t>(row.sequence * row.sequence % BitFlipLoop::kBits);
  return scripted;
}

// Splits rows into episodes, without the last, which may be cut off.
std::vector<std::vector<SeenRow>> EpisodesOf(const std::vector<SeenRow>& rows) {
  std::vector<std::vector<SeenRow>> episodes;
  for (const SeenRow& row : rows) {
    if ((row.flags & proto::ROW_FLAG_FIRST) != 0) episodes.emplace_back();
    episodes.back().push_back(row);
  }
  episodes.pop_back();
  return episodes;
}

// Requires that `told` is `played` up to the step that made its bits `goal`, and pursues that.
void RequireTold(const std::vector<SeenRow>& told, const std::vector<SeenRow>& played,
                 const std::vector<float>& goal) {
  REQUIRE(told.size() <= played.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    const bool last = i + 1 == told.size();
    REQUIRE(told[i].mode == proto::ROW_MODE_RELABELLED);
    REQUIRE(told[i].episode_id == told[0].episode_id);
    REQUIRE(told[i].reward == (i == 0 || last ? 0.0F : -1.0F));
    REQUIRE(((told[i].flags & proto::ROW_FLAG_TERMINATED) != 0) == last);
    if (last) break;
    REQUIRE(BitsOf(told[i]) == BitsOf(played[i]));
    REQUIRE(GoalOf(told[i]) == goal);
    REQUIRE(BitsOf(told[i]) != goal);
    REQUIRE(told[i].forced == FlipBySequence(played[i]).action);
  }
  std::vector<float> reached = BitsOf(told[told.size() - 2]);
  float& flipped = reached[static_cast<std::size_t>(told[told.size() - 2].forced)];
  flipped = 1 - flipped;
  REQUIRE(reached == goal);
}

TEST_CASE("With hindsight an episode is told again under all it achieved, before the next begins") {
  ScriptedServer server(FlipBySequence);
  BitFlipLoop flip(server.address());
  flip.loop->Start(Ignore);
  REQUIRE(server.Await([](const auto& rows) { return rows.size() >= 400; }));
  flip.loop->Stop();
  const auto rows = server.rows();
  for (std::size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i].sequence == i);
  const auto episodes = EpisodesOf(rows);
  std::size_t told_in_all = 0;
  for (std::size_t i = 0; i < episodes.size();) {
    const auto& played = episodes[i++];
    REQUIRE(played.front().mode == proto::ROW_MODE_TRAIN);
    std::set<std::vector<float>> goals;
    // The bits of an end row are known when it was cut off, and are the goal when it was reached.
    for (std::size_t row = 1; row < played.size(); ++row) {
      if ((played[row].flags & proto::ROW_FLAG_TERMINATED) == 0) goals.insert(BitsOf(played[row]));
    }
    goals.erase(BitsOf(played.front()));
    for (; i < episodes.size() && episodes[i].front().mode != proto::ROW_MODE_TRAIN; ++i) {
      const std::vector<float> goal = GoalOf(episodes[i].front());
      REQUIRE(goals.erase(goal) == 1);
      RequireTold(episodes[i], played, goal);
      ++told_in_all;
    }
    if (i < episodes.size()) REQUIRE(goals.empty());
  }
  REQUIRE(told_in_all > 40);
}

TEST_CASE("A server that restarts costs what was still to be told, and play goes on") {
  auto first = std::make_unique<ScriptedServer>(
      [](const SeenRow& row) {
        // The first row that is told again is never answered.
        if (row.mode == proto::ROW_MODE_RELABELLED)
          return Scripted{.status = proto::ROW_OVERLOADED};
        return FlipBySequence(row);
      },
      1);
  BitFlipLoop flip(first->address());
  flip.loop->Start(Ignore);
  REQUIRE(first->Await([](const auto& rows) {
    return !rows.empty() && rows.back().mode == proto::ROW_MODE_RELABELLED;
  }));
  const std::string address = first->address();
  first.reset();
  ScriptedServer second(FlipBySequence, 2, address);
  REQUIRE(second.Await([](const auto& rows) { return rows.size() >= 20; }));
  flip.loop->Stop();
  REQUIRE(second.rows().front().mode == proto::ROW_MODE_TRAIN);
  REQUIRE(second.rows().front().flags == proto::ROW_FLAG_FIRST);
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
  const UniformSource scripted_ = ScriptedSource();
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

TEST_CASE("A start that is refused a few times is given up, and the other pairs are played") {
  Fixture fixture;
  int refused = 0;
  const UniformSource source(ScriptedSource().spec(),
                             {{.goal = "bad", .capture = "c"}, {.goal = "good", .capture = "c"}},
                             [&refused] { return std::make_unique<RefusingEnvironment>(refused); });
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
  REQUIRE(refused == 3);
  REQUIRE(given_up == std::vector<std::string>{"bad c status 400"});
}

TEST_CASE("A policy that nobody knows is an error that names it") {
  REQUIRE(ParsePolicy("3.14")->selector.pinned().step() == 14);
  REQUIRE(runtime::Message(ParsePolicy("best").status()).find("best") != std::string::npos);
  REQUIRE_FALSE(ParsePolicy("3.").ok());
}

}  // namespace
}  // namespace shoal::actor
