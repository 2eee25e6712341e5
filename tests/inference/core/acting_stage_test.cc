// SPDX-License-Identifier: Apache-2.0
#include "inference/core/acting_stage.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRows;
using testing::RecordingSink;
using testing::RowSpec;

constexpr std::size_t kUnrollLength = 3;
constexpr std::uint64_t kEnvironments = 2;
constexpr std::uint64_t kRounds = 5;
// The steps after which an episode ends by itself.
constexpr std::size_t kEpisodeSteps = 4;

// What it does depends on the observation, on all rows of the episode before, and on the version.
class RememberingPolicy final : public ActingPolicy {
 public:
  explicit RememberingPolicy(std::uint64_t update) : update_(static_cast<float>(update)) {}
  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                           std::size_t /*replica*/) const override {
    model::PolicyOutputs outputs;
    for (std::size_t i = 0; i < static_cast<std::size_t>(inputs.rows); ++i) {
      const float core = 0.5F * inputs.core_state[i] + inputs.observation[i] + 0.25F * update_;
      outputs.action.push_back(std::lround(std::floor(core * 7)) % 2);
      outputs.log_probability.push_back(-core - static_cast<float>(inputs.draw[i]));
      outputs.value.push_back(core);
      outputs.core_state.push_back(core);
    }
    return outputs;
  }

 private:
  const float update_;
};

// An environment whose state is a sum over the actions of its episode.
struct World {
  explicit World(std::uint64_t number = 0) : environment(number) {}

  void Begin(std::uint64_t number) {
    episode = number;
    steps = 0;
    state = static_cast<float>(number) + 0.125F * static_cast<float>(environment);
  }
  // Returns whether the episode has ended.
  bool Step(std::int64_t action) {
    ++steps;
    state += static_cast<float>(action + 1) * 0.0625F;
    return steps == kEpisodeSteps;
  }

  std::uint64_t environment;
  std::uint64_t incarnation = 1;
  std::uint64_t sequence = 0;
  std::uint64_t episode = 0;
  std::size_t steps = 0;
  float state = 0;
};

// The numbers of an unroll, without the names of incarnation and epoch.
using Numbers = std::map<std::string, std::string>;

class CollectedUnrolls final : public UnrollSink {
 public:
  absl::Status TryInsert(const Unroll& unroll) override {
    Numbers numbers;
    const auto add = [&numbers](const std::vector<UnrollColumn>& columns) {
      for (const UnrollColumn& column : columns) {
        const auto bytes = column.values.bytes();
        numbers[column.name] =
            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
    };
    add(unroll.step_columns);
    add(unroll.unroll_columns);
    numbers.erase("policy_epoch");
    const runtime::MutexLock lock(mutex_);
    unrolls_[{unroll.environment, unroll.first_sequence}] = std::move(numbers);
    ++count_;
    if (unroll.ends_round) rounds_[count_] = *unroll.ends_round;
    return absl::OkStatus();
  }
  std::map<std::pair<std::uint64_t, std::uint64_t>, Numbers> unrolls() const {
    const runtime::MutexLock lock(mutex_);
    return unrolls_;
  }
  // Which of those that have come ended a round, and in which version.
  std::map<std::size_t, parameters::Version> rounds() const {
    const runtime::MutexLock lock(mutex_);
    return rounds_;
  }
  // The number of all that have come, repeated ones too.
  std::size_t count() const {
    const runtime::MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable runtime::Mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Numbers> unrolls_ ABSL_GUARDED_BY(mutex_);
  std::size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::size_t, parameters::Version> rounds_ ABSL_GUARDED_BY(mutex_);
};

class StatesInMemory final : public RoundStates {
 public:
  void Keep(const RoundState& state) override {
    const runtime::MutexLock lock(mutex_);
    states_[state.update] = state;
    // Whoever looks at replay now must not see the round's last unroll yet.
    if (sink_ != nullptr) unrolls_at_keep_.push_back(sink_->count());
  }
  void Hold(std::uint64_t update) override {
    const runtime::MutexLock lock(mutex_);
    held_.insert(update);
  }
  std::optional<RoundState> Find(std::uint64_t update) override {
    const runtime::MutexLock lock(mutex_);
    const auto found = states_.find(update);
    return found == states_.end() ? std::nullopt : std::optional(found->second);
  }
  void Watch(const CollectedUnrolls& sink) {
    const runtime::MutexLock lock(mutex_);
    sink_ = &sink;
  }
  std::vector<std::size_t> unrolls_at_keep() const {
    const runtime::MutexLock lock(mutex_);
    return unrolls_at_keep_;
  }
  std::set<std::uint64_t> held() const {
    const runtime::MutexLock lock(mutex_);
    return held_;
  }

 private:
  mutable runtime::Mutex mutex_;
  const CollectedUnrolls* sink_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::map<std::uint64_t, RoundState> states_ ABSL_GUARDED_BY(mutex_);
  std::set<std::uint64_t> held_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::size_t> unrolls_at_keep_ ABSL_GUARDED_BY(mutex_);
};

// A server in lockstep, the environments that it acts for, and a learner that counts updates.
class Run {
 public:
  Run(CollectedUnrolls& unrolls, StatesInMemory& states) : unrolls_(unrolls) {
    shape_.core_state_size = 1;
    engine_ = std::make_unique<ActEngine>(ActOptions{.cut = {.max_rows = kUnrollLength}}, shape_,
                                          policies_, unrolls, metrics_);
    stage_ = std::make_unique<ActingStage>(
        batcher_, *engine_, policies_, metrics_,
        ActingStage::Lockstep{.environments = kEnvironments, .states = &states});
  }

  // Publishes a version, and plays until its round has brought this many unrolls.
  void Play(std::uint64_t epoch, std::uint64_t update, std::size_t unrolls = kEnvironments) {
    const std::size_t before = unrolls_.count();
    policies_.Put({.version = {epoch, update},
                   .policy = std::make_shared<RememberingPolicy>(update),
                   .update = update,
                   .checkpoint = update % 2 == 0});
    batcher_.SetPaused(false);
    batcher_.Wake();
    while (unrolls_.count() < before + unrolls) {
      for (const RowAnswer& answer : sink_->Take(1)) Take(answer);
    }
  }

  // Begins the first episode of each environment, as an actor does that has just started.
  void StartActors(std::uint64_t incarnation, std::uint64_t sequence = 0) {
    for (std::uint64_t i = 0; i < kEnvironments; ++i) {
      World world(i);
      world.incarnation = incarnation;
      world.sequence = sequence;
      world.Begin(0);
      worlds_[i] = world;
      Send(worlds_[i], {.flags = kFirst});
    }
  }

  const std::vector<RowAnswer>& resumed() const { return resumed_; }

 private:
  void Send(World& world, RowSpec row) {
    row.environment = world.environment;
    row.incarnation = world.incarnation;
    row.sequence = world.sequence++;
    row.episode = world.episode;
    row.observation = world.state;
    auto rows = MakeRows({row}, sink_);
    batcher_.Add(rows);
  }

  void Take(const RowAnswer& answer) {
    World& world = worlds_[answer.environment];
    if (answer.status == RowStatus::kAccepted) return;
    if (answer.status == RowStatus::kResumed) {
      resumed_.push_back(answer);
      world.incarnation = answer.resumed->incarnation;
      world.sequence = answer.resumed->next_sequence;
      world.Begin(answer.resumed->episode);
      const auto& actions = answer.resumed->actions.discrete;
      for (std::size_t i = 0; i + 1 < actions.size(); ++i) world.Step(actions[i]);
      Follow(world, actions.back());
      return;
    }
    REQUIRE(answer.status == RowStatus::kOk);
    Follow(world, answer.action);
  }

  void Follow(World& world, std::int64_t action) {
    const bool ended = world.Step(action);
    if (!ended) {
      Send(world, {.reward = world.state});
      return;
    }
    Send(world, {.flags = kTerminated, .reward = world.state});
    world.Begin(world.episode + 1);
    Send(world, {.flags = kFirst});
  }

  CollectedUnrolls& unrolls_;
  runtime::Metrics registry_;
  InferenceMetrics metrics_{registry_};
  PolicyShape shape_ = testing::PlainShape();
  PolicySet policies_{2};
  Batcher batcher_{{.max_rows = 8, .max_delay = runtime::Duration::zero()}};
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::map<std::uint64_t, World> worlds_;
  std::vector<RowAnswer> resumed_;
  std::unique_ptr<ActEngine> engine_;
  std::unique_ptr<ActingStage> stage_;
};

// Plays all rounds without a break.
void PlayWhole(CollectedUnrolls& unrolls, StatesInMemory& states) {
  Run run(unrolls, states);
  run.StartActors(1);
  for (std::uint64_t update = 0; update < kRounds; ++update) run.Play(1, update);
}

// An engine that goes on with the environments of a first round, for a policy with so large a core.
struct ResumedEngine {
  explicit ResumedEngine(std::size_t core) {
    StatesInMemory states;
    {
      Run run(unrolls, states);
      run.StartActors(1);
      run.Play(1, 0);
    }
    state = *states.Find(1);
    shape.core_state_size = core;
    engine.WorkInLockstep([](std::uint64_t) {}, true);
    engine.Resume(state.environments);
  }

  // Returns nothing for a row that is to be evaluated.
  std::optional<RowStatus> Answer(const RowSpec& row) {
    if (!engine.AnswerResumed(MakeRows({row}, sink).front())) return std::nullopt;
    return sink->Take(1).front().status;
  }

  RoundState state;
  CollectedUnrolls unrolls;
  runtime::Metrics registry;
  InferenceMetrics metrics{registry};
  PolicyShape shape = testing::PlainShape();
  PolicySet policies{2};
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  ActEngine engine{{.cut = {.max_rows = kUnrollLength}}, shape, policies, unrolls, metrics};
};

}  // namespace

TEST_CASE("The last unroll of each round says in which version the round was played") {
  CollectedUnrolls unrolls;
  StatesInMemory states;
  PlayWhole(unrolls, states);
  std::map<std::size_t, parameters::Version> expected;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    expected[(round + 1) * kEnvironments] = {1, round};
  }
  REQUIRE(unrolls.rounds() == expected);
}

TEST_CASE("Environments go on after a restart of everything as if there had been none") {
  CollectedUnrolls whole;
  StatesInMemory kept;
  PlayWhole(whole, kept);
  REQUIRE(kept.held() == std::set<std::uint64_t>{2, 4});

  // The learner has made update `saved`, and a kill ends all before or within the round after it.
  const std::uint64_t saved = GENERATE(1, 2, 3, 4);
  const bool acted = GENERATE(false, true);
  CollectedUnrolls unrolls;
  StatesInMemory states;
  {
    Run run(unrolls, states);
    run.StartActors(1);
    for (std::uint64_t update = 0; update < saved; ++update) run.Play(1, update);
    if (acted) run.Play(1, saved, 1);
  }
  Run run(unrolls, states);
  run.StartActors(100);
  for (std::uint64_t update = saved; update < kRounds; ++update) run.Play(2, update);
  REQUIRE(run.resumed().size() == kEnvironments);
  // Neither the incarnation of the unrolls that replay has, nor one that is made anew.
  REQUIRE(run.resumed().front().resumed->incarnation == 2);
  REQUIRE(unrolls.unrolls() == whole.unrolls());
}

TEST_CASE("A learner that starts again finds the environments where its checkpoint left them") {
  CollectedUnrolls whole;
  StatesInMemory kept;
  PlayWhole(whole, kept);
  CollectedUnrolls unrolls;
  StatesInMemory states;
  Run run(unrolls, states);
  run.StartActors(1);
  for (std::uint64_t update = 0; update < 3; ++update) run.Play(1, update);
  // Its checkpoint is of update 2, so the third round is played again, with the same result.
  for (std::uint64_t update = 2; update < kRounds; ++update) run.Play(2, update);
  REQUIRE(unrolls.unrolls() == whole.unrolls());
}

TEST_CASE("A server that starts again alone goes on with the same incarnation, so nothing is new") {
  CollectedUnrolls whole;
  StatesInMemory kept;
  PlayWhole(whole, kept);
  CollectedUnrolls unrolls;
  StatesInMemory states;
  {
    Run run(unrolls, states);
    run.StartActors(1);
    for (std::uint64_t update = 0; update < 3; ++update) run.Play(1, update);
    run.Play(1, 3, 1);
  }
  // Its actors live on and begin other episodes.
  Run run(unrolls, states);
  run.StartActors(1, 50);
  for (std::uint64_t update = 3; update < kRounds; ++update) run.Play(1, update);
  REQUIRE(run.resumed().size() == kEnvironments);
  REQUIRE(run.resumed().front().resumed->incarnation == 1);
  REQUIRE(unrolls.unrolls() == whole.unrolls());
}

TEST_CASE("The server tells an actor again that has not heard, and fences one that is outdated") {
  ResumedEngine resumed(1);
  const std::uint64_t next = resumed.state.environments[0].next_sequence;
  REQUIRE(resumed.Answer({.incarnation = 7, .flags = kFirst}) == RowStatus::kResumed);
  REQUIRE(resumed.Answer({.incarnation = 7, .flags = kFirst}) == RowStatus::kResumed);
  REQUIRE(resumed.Answer({.incarnation = 5, .flags = kFirst}) == RowStatus::kFenced);
  REQUIRE(resumed.Answer({.incarnation = 7, .sequence = 1, .flags = kTerminated}) ==
          RowStatus::kAccepted);
  REQUIRE(resumed.Answer({.incarnation = 1, .sequence = next, .flags = kFirst}) ==
          RowStatus::kResumed);
  REQUIRE(resumed.Answer({.incarnation = 1, .sequence = next + 1}) == RowStatus::kResumed);
  REQUIRE(resumed.Answer({.incarnation = 1, .sequence = next}) == std::nullopt);
}

TEST_CASE("An actor that cannot go on begins another episode") {
  ResumedEngine resumed(1);
  const std::uint64_t next = resumed.state.environments[0].next_sequence;
  REQUIRE(resumed.Answer({.incarnation = 7, .flags = kFirst}) == RowStatus::kResumed);
  REQUIRE(resumed.Answer({.incarnation = 1, .sequence = next + 1, .flags = kFirst}) ==
          std::nullopt);
}

TEST_CASE("A state of another policy is not gone on with") {
  ResumedEngine resumed(0);
  REQUIRE(resumed.Answer({.incarnation = 7, .flags = kFirst}) == std::nullopt);
}

TEST_CASE("A round's state is kept before replay has all of its unrolls") {
  CollectedUnrolls unrolls;
  StatesInMemory states;
  states.Watch(unrolls);
  Run run(unrolls, states);
  run.StartActors(1);
  for (std::uint64_t update = 0; update < 3; ++update) run.Play(1, update);
  const std::vector<std::size_t> seen = states.unrolls_at_keep();
  REQUIRE(seen.size() == 3);
  for (std::size_t round = 0; round < seen.size(); ++round) {
    REQUIRE(seen[round] < kEnvironments * (round + 1));
  }
}

}  // namespace shoal::inference
