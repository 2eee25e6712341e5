// SPDX-License-Identifier: Apache-2.0
#include "inference/core/act_engine.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

#include "inference/core/acting_stage.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRows;
using testing::RecordingSink;

// Action and value of a row are its observation, the core state counts rows, and sampled actions
// show the version.
class CountingPolicy final : public ActingPolicy {
 public:
  explicit CountingPolicy(std::size_t core) : core_(core) {}
  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                           std::size_t /*replica*/) const override {
    model::PolicyOutputs outputs;
    const auto rows = static_cast<std::size_t>(inputs.rows);
    batches.push_back(rows);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool value_only = inputs.choice[i] == model::Choice::kValueOnly;
      outputs.action.push_back(value_only ? -1 : static_cast<std::int64_t>(inputs.observation[i]));
      outputs.log_probability.push_back(0);
      outputs.value.push_back(inputs.observation[i]);
      for (std::size_t c = 0; c < core_; ++c) {
        outputs.core_state.push_back(inputs.core_state[i * core_ + c] + 1);
      }
    }
    last_core = outputs.core_state;
    draws = inputs.draw;
    choices = inputs.choice;
    return outputs;
  }
  mutable std::vector<std::size_t> batches;
  mutable std::vector<float> last_core;
  mutable std::vector<double> draws;
  mutable std::vector<model::Choice> choices;

 private:
  const std::size_t core_;
};

class ScriptedReplay final : public UnrollSink {
 public:
  absl::Status TryInsert(const Unroll& unroll) override {
    const runtime::MutexLock lock(mutex_);
    if (room_ == 0) return runtime::ResourceExhausted("full");
    --room_;
    taken_.push_back(unroll.environment);
    columns_.clear();
    for (const UnrollColumn& column : unroll.step_columns) columns_.insert(column.name);
    return absl::OkStatus();
  }
  void SetRoom(std::size_t room) {
    const runtime::MutexLock lock(mutex_);
    room_ = room;
  }
  // The names of the last unroll's columns of steps.
  std::set<std::string> columns() const {
    const runtime::MutexLock lock(mutex_);
    return columns_;
  }
  std::vector<std::uint64_t> taken() const {
    const runtime::MutexLock lock(mutex_);
    return taken_;
  }

 private:
  mutable runtime::Mutex mutex_;
  std::size_t room_ ABSL_GUARDED_BY(mutex_) = 1000;
  std::vector<std::uint64_t> taken_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> columns_ ABSL_GUARDED_BY(mutex_);
};

struct ActEngineFixture {
  explicit ActEngineFixture(std::size_t unroll_length = 2, std::size_t core = 0) {
    shape.core_state_size = core;
    policy = std::make_shared<CountingPolicy>(core);
    policies.Put({{1, 1}, policy});
    engine = std::make_unique<ActEngine>(ActOptions{.cut = {.max_rows = unroll_length}}, shape,
                                         policies, replay, metrics);
  }
  std::vector<RowAnswer> Go(const std::vector<testing::RowSpec>& specs) {
    engine->Evaluate(MakeRows(specs, sink));
    return sink->Take(0);
  }
  runtime::Metrics registry;
  InferenceMetrics metrics{registry};
  PolicyShape shape = testing::PlainShape();
  PolicySet policies{2};
  std::shared_ptr<CountingPolicy> policy;
  ScriptedReplay replay;
  std::shared_ptr<RecordingSink> sink = std::make_shared<RecordingSink>();
  std::unique_ptr<ActEngine> engine;
};

TEST_CASE("Rows of a batch share one forward pass and get their own answers") {
  ActEngineFixture fixture;
  const auto answers = fixture.Go({{.environment = 1, .flags = kFirst, .observation = 1},
                                   {.environment = 2, .flags = kFirst, .observation = 0}});
  REQUIRE(fixture.policy->batches == std::vector<std::size_t>{2});
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].action == 1);
  REQUIRE(answers[1].action == 0);
  REQUIRE(answers[0].version == parameters::Version{1, 1});
  REQUIRE(fixture.sink->released() == 1);
}

TEST_CASE("A version that comes while a batch is sorted acts from the next batch on") {
  ActEngineFixture fixture;
  fixture.policies.OnMissing([&](const PolicySelector&) {
    fixture.policies.Put({{1, 2}, std::make_shared<CountingPolicy>(0)});
  });
  auto rows = MakeRows({{.environment = 1, .flags = kFirst},
                        {.environment = 2, .flags = kFirst, .evaluate = true},
                        {.environment = 3, .flags = kFirst}},
                       fixture.sink);
  const PolicySelector missing{PolicySelector::Kind::kPinned, {1, 9}};
  rows.front().block->selectors = {{}, missing, {}};
  fixture.engine->Evaluate(std::move(rows));
  std::map<std::uint64_t, parameters::Version> versions;
  for (const RowAnswer& answer : fixture.sink->Take(3)) {
    versions[answer.environment] = answer.version;
  }
  REQUIRE(fixture.policies.current().version == parameters::Version{1, 2});
  REQUIRE(versions[1] == parameters::Version{1, 1});
  REQUIRE(versions[3] == parameters::Version{1, 1});
  const auto next = fixture.Go({{.environment = 4, .flags = kFirst}});
  REQUIRE(next.front().version == parameters::Version{1, 2});
}

TEST_CASE("A forced action has no weight, but that of a relabelled row has") {
  ActEngineFixture fixture(1);
  const auto go = [&](std::uint64_t sequence, bool relabelled) {
    const std::uint8_t flags = sequence == 0 ? kFirst : 0;
    const auto rows = MakeRows(
        {{.environment = 1, .sequence = sequence, .flags = flags, .relabelled = relabelled}},
        fixture.sink);
    rows.front().block->forced = {1};
    fixture.engine->Evaluate(rows);
    REQUIRE(fixture.sink->Take(1).front().status == RowStatus::kOk);
    REQUIRE(fixture.policy->choices.front() == model::Choice::kForced);
  };
  go(0, false);
  go(1, true);
  REQUIRE(fixture.replay.columns().contains("forced"));
  REQUIRE_FALSE(fixture.replay.columns().contains("relabelled"));
  go(2, true);
  REQUIRE_FALSE(fixture.replay.columns().contains("forced"));
  REQUIRE(fixture.replay.columns().contains("relabelled"));
}

TEST_CASE("A message is released after its last answer, whatever the answer is") {
  ActEngineFixture fixture;
  std::size_t answered = 0;
  const auto go = [&](const testing::RowSpec& row, RowStatus status) {
    const auto answers = fixture.Go({row});
    REQUIRE(answers.size() == 1);
    REQUIRE(answers[0].status == status);
    REQUIRE(fixture.sink->released() == static_cast<int>(++answered));
    REQUIRE(fixture.sink->delivered_at_release() == answered);
  };
  const testing::RowSpec first{.environment = 1, .incarnation = 2, .flags = kFirst};
  go(first, RowStatus::kOk);
  go(first, RowStatus::kOk);  // a repeat
  go({.environment = 1, .incarnation = 1, .flags = kFirst}, RowStatus::kFenced);
  go({.environment = 1, .incarnation = 2, .sequence = 9}, RowStatus::kInvalid);
  go({.environment = 1, .incarnation = 2, .sequence = 1, .flags = kTerminated},
     RowStatus::kAccepted);
}

TEST_CASE("A row whose version is being fetched comes again and is then answered by it") {
  ActEngineFixture fixture;
  std::vector<PolicySelector> asked;
  fixture.policies.OnMissing([&](const PolicySelector& selector) { asked.push_back(selector); });
  const PolicySelector initial{PolicySelector::Kind::kInitial};
  const auto go = [&] {
    const auto block =
        testing::MakeBlock({{.environment = 1, .flags = kFirst, .evaluate = true}}, fixture.sink);
    block->selectors = {initial};
    fixture.engine->Evaluate({{block, 0}});
    const auto answers = fixture.sink->Take(0);
    REQUIRE(answers.size() == 1);
    return answers[0];
  };
  REQUIRE(go().status == RowStatus::kOverloaded);
  REQUIRE(go().status == RowStatus::kOverloaded);
  REQUIRE(asked.size() == 1);
  fixture.policies.PutFetched(asked[0], {{1, 0}, fixture.policy});
  const RowAnswer answer = go();
  REQUIRE(answer.status == RowStatus::kOk);
  REQUIRE(answer.version == parameters::Version{1, 0});
}

TEST_CASE("A bad row is refused and the others are answered") {
  ActEngineFixture fixture;
  const auto answers = fixture.Go(
      {{.environment = 1, .sequence = 4}, {.environment = 2, .flags = kFirst, .observation = 1}});
  REQUIRE(answers.size() == 2);
  const bool swapped = answers[0].environment == 2;
  REQUIRE(answers[swapped ? 1 : 0].status == RowStatus::kInvalid);
  REQUIRE(answers[swapped ? 0 : 1].status == RowStatus::kOk);
}

TEST_CASE("A row repeated within a batch is evaluated once and answered twice") {
  ActEngineFixture fixture;
  const auto answers = fixture.Go({{.environment = 1, .flags = kFirst, .observation = 1},
                                   {.environment = 1, .flags = kFirst, .observation = 1}});
  REQUIRE(answers.size() == 2);
  REQUIRE(fixture.policy->batches == std::vector<std::size_t>{1});
  REQUIRE(answers[1].status == RowStatus::kOk);
  REQUIRE(answers[1].action == 1);
}

TEST_CASE("Of two incarnations in one batch the older is fenced and leaves no trace") {
  ActEngineFixture fixture(1, 1);
  const auto answers = fixture.Go(
      {{.incarnation = 1, .flags = kFirst}, {.incarnation = 2, .flags = kFirst, .observation = 1}});
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].status == RowStatus::kFenced);
  REQUIRE(answers[1].status == RowStatus::kOk);
  REQUIRE(answers[1].action == 1);
  REQUIRE(fixture.replay.taken().empty());
  fixture.Go({{.incarnation = 2, .sequence = 1}});
  REQUIRE(fixture.policy->last_core == std::vector<float>{2});
  REQUIRE(fixture.replay.taken().size() == 1);
}

TEST_CASE("An environment that was idle for long leaves its place to others") {
  ActEngineFixture fixture;
  ActEngine engine({.cut = {.max_rows = 2}, .max_environments = 2}, fixture.shape, fixture.policies,
                   fixture.replay, fixture.metrics);
  int minute = 0;
  const auto go = [&](const testing::RowSpec& spec) {
    auto block = testing::MakeBlock({spec}, fixture.sink);
    block->arrived = runtime::TimePoint(std::chrono::minutes(minute));
    engine.Evaluate({{block, 0}});
    block.reset();
    return fixture.sink->Take(1)[0].status;
  };
  REQUIRE(go({.environment = 1, .flags = kFirst}) == RowStatus::kOk);
  for (std::uint64_t sequence = 0; sequence <= 15; ++sequence, ++minute) {
    const std::uint8_t flags = sequence == 0 ? kFirst : 0;
    REQUIRE(go({.environment = 2, .sequence = sequence, .flags = flags}) == RowStatus::kOk);
    REQUIRE(go({.environment = 3, .flags = kFirst}) == RowStatus::kInvalid);
  }
  REQUIRE(go({.environment = 3, .flags = kFirst}) == RowStatus::kOk);
  REQUIRE(go({.environment = 2, .sequence = 16}) == RowStatus::kOk);
  REQUIRE(go({.environment = 1, .sequence = 1}) == RowStatus::kInvalid);
}

TEST_CASE("A pause of all environments makes none of them idle") {
  ActEngineFixture fixture;
  fixture.Go({{.environment = 1, .flags = kFirst}, {.environment = 2, .flags = kFirst}});
  auto block = testing::MakeBlock(
      {{.environment = 1, .sequence = 1}, {.environment = 2, .sequence = 1}}, fixture.sink);
  block->arrived = runtime::TimePoint(std::chrono::hours(5));
  fixture.engine->Evaluate({{block, 0}});
  fixture.engine->Evaluate({{block, 1}});
  for (const RowAnswer& answer : fixture.sink->Take(2)) REQUIRE(answer.status == RowStatus::kOk);
}

TEST_CASE("An environment that waits for replay is never idle") {
  ActEngineFixture fixture(1);
  fixture.replay.SetRoom(0);
  fixture.Go({{.environment = 1, .flags = kFirst}});
  fixture.Go({{.environment = 1, .sequence = 1}});
  for (int minute = 1; minute < 40; ++minute) {
    auto block = testing::MakeBlock({{.environment = 2, .flags = kTruncated}}, fixture.sink);
    block->arrived = runtime::TimePoint(std::chrono::minutes(minute));
    fixture.engine->Evaluate({{block, 0}});
  }
  fixture.replay.SetRoom(9);
  fixture.engine->RetryParked();
  fixture.sink->Take(0);
  REQUIRE(fixture.Go({{.environment = 1, .sequence = 2}})[0].status == RowStatus::kOk);
}

TEST_CASE("End row and next episode go in one batch; memory begins anew") {
  ActEngineFixture fixture(2, 1);
  fixture.Go({{.sequence = 0, .flags = kFirst}});
  fixture.Go({{.sequence = 1}});
  REQUIRE(fixture.policy->last_core == std::vector<float>{2});
  const auto answers =
      fixture.Go({{.sequence = 2, .flags = kTerminated}, {.sequence = 3, .flags = kFirst}});
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].status == RowStatus::kAccepted);
  REQUIRE(answers[1].status == RowStatus::kOk);
  REQUIRE(fixture.policy->last_core == std::vector<float>{1});
  REQUIRE(fixture.replay.taken().size() == 1);
}

TEST_CASE("A final row is evaluated for its value beside the next episode's first row") {
  ActEngineFixture fixture(4);
  fixture.Go({{.sequence = 0, .flags = kFirst}});
  const auto answers = fixture.Go({{.sequence = 1, .flags = kTruncated | kFinal},
                                   {.sequence = 2, .flags = kFirst, .observation = 1}});
  REQUIRE(answers.size() == 2);
  REQUIRE(answers[0].status == RowStatus::kAccepted);
  REQUIRE(answers[1].action == 1);
  REQUIRE(fixture.policy->choices ==
          std::vector<model::Choice>{model::Choice::kValueOnly, model::Choice::kSample});
}

TEST_CASE("The draw of a step is a function of environment, episode and step") {
  ActEngineFixture one;
  ActEngineFixture two;
  one.Go({{.environment = 3, .flags = kFirst, .episode = 8}});
  two.Go({{.environment = 5, .flags = kFirst}, {.environment = 3, .flags = kFirst, .episode = 8}});
  REQUIRE(one.policy->draws[0] == two.policy->draws[1]);
  one.Go({{.environment = 3, .sequence = 1, .episode = 8}});
  REQUIRE(one.policy->draws[0] != two.policy->draws[1]);
}

TEST_CASE("An environment whose unroll finds no room waits, and no other") {
  ActEngineFixture fixture(1);
  fixture.replay.SetRoom(0);
  fixture.Go({{.environment = 1, .flags = kFirst}, {.environment = 2, .flags = kFirst}});
  const auto answers = fixture.Go(
      {{.environment = 1, .sequence = 1}, {.environment = 3, .flags = kFirst, .observation = 1}});
  REQUIRE(answers.size() == 1);
  REQUIRE(answers[0].environment == 3);
  REQUIRE(fixture.engine->parked() == 1);
  REQUIRE(fixture.sink->released() == 1);
  fixture.engine->RetryParked();
  REQUIRE(fixture.sink->size() == 0);
  fixture.replay.SetRoom(1);
  fixture.engine->RetryParked();
  const auto late = fixture.sink->Take(1);
  REQUIRE(late[0].environment == 1);
  REQUIRE(late[0].sequence == 1);
  REQUIRE(fixture.replay.taken() == std::vector<std::uint64_t>{1});
  REQUIRE(fixture.sink->released() == 2);
}

TEST_CASE("An actor that comes back while its environment is parked gets the answer later") {
  ActEngineFixture fixture(1);
  fixture.replay.SetRoom(0);
  fixture.Go({{.environment = 1, .flags = kFirst}});
  fixture.Go({{.environment = 1, .sequence = 1, .observation = 1}});
  const auto again = std::make_shared<RecordingSink>();
  fixture.engine->Evaluate(MakeRows({{.environment = 1, .sequence = 1, .observation = 1}}, again));
  REQUIRE(again->size() == 0);
  fixture.engine->ReleaseParked();
  REQUIRE(again->Take(1)[0].action == 1);
  REQUIRE(fixture.policy->batches.size() == 2);
}

TEST_CASE("Evaluation rows are greedy, build no unrolls and never park") {
  ActEngineFixture fixture(1);
  fixture.replay.SetRoom(0);
  REQUIRE(fixture.Go({{.flags = kFirst, .evaluate = true}}).size() == 1);
  REQUIRE(fixture.policy->choices[0] == model::Choice::kGreedy);
  REQUIRE(fixture.Go({{.sequence = 1, .evaluate = true}}).size() == 1);
  REQUIRE(fixture.engine->parked() == 0);
}

TEST_CASE("A version that is not here is refused by name; the initial one stays") {
  ActEngineFixture fixture;
  fixture.policies.PutFetched({PolicySelector::Kind::kInitial}, {{1, 1}, fixture.policy});
  for (std::uint64_t step = 2; step < 9; ++step) {
    fixture.policies.Put({{1, step}, std::make_shared<CountingPolicy>(0)});
  }
  auto block = testing::MakeBlock({{.environment = 1, .flags = kFirst, .evaluate = true},
                                   {.environment = 2, .flags = kFirst, .evaluate = true}},
                                  fixture.sink);
  block->selectors = {{PolicySelector::Kind::kPinned, {1, 3}}, {PolicySelector::Kind::kInitial}};
  fixture.engine->Evaluate({{block, 0}, {block, 1}});
  const auto answers = fixture.sink->Take(2);
  REQUIRE(answers[0].status == RowStatus::kInvalid);
  REQUIRE(answers[0].error == "parameters of version 1.3 are not here");
  REQUIRE(answers[1].version == parameters::Version{1, 1});
}

// Chooses the same point for every row.
class PointPolicy final : public ActingPolicy {
 public:
  absl::StatusOr<model::PolicyOutputs> Act(const model::PolicyInputs& inputs,
                                           std::size_t /*replica*/) const override {
    model::PolicyOutputs outputs;
    for (std::int64_t i = 0; i < inputs.rows; ++i) {
      outputs.action.push_back(-1);
      outputs.box_action.insert(outputs.box_action.end(), {1.5F, -0.5F});
      outputs.log_probability.push_back(0.25F);
      outputs.value.push_back(0);
    }
    return outputs;
  }
};

TEST_CASE("An environment gets the nearest point of its box, in its own units") {
  ActEngineFixture fixture;
  fixture.shape.box = true;
  PolicySet policies{2};
  policies.Put({{1, 1}, std::make_shared<PointPolicy>()});
  ActEngine engine({.cut = {.max_rows = 2}}, fixture.shape, policies, fixture.replay,
                   fixture.metrics);
  const auto rows = MakeRows({{.environment = 1, .flags = kFirst}}, fixture.sink);
  auto layout = std::make_shared<RowLayout>(*rows.front().block->layout);
  layout->action_low = {-2, 0};
  layout->action_high = {2, 8};
  rows.front().block->layout = layout;
  engine.Evaluate(rows);
  REQUIRE(fixture.sink->Take(1).front().box_action == std::vector<float>{2, 2});
}

TEST_CASE("The stage waits for parameters, then acts; draining lets parked answers go") {
  ActEngineFixture fixture(1);
  PolicySet policies{2};
  ActEngine engine({.cut = {.max_rows = 1}}, fixture.shape, policies, fixture.replay,
                   fixture.metrics);
  Batcher batcher({.max_rows = 8, .max_delay = runtime::Duration::zero()});
  ActingStage stage(batcher, engine, policies, fixture.metrics, {});
  auto rows = MakeRows({{.environment = 1, .flags = kFirst, .observation = 1}}, fixture.sink);
  batcher.Add(rows);
  batcher.Wake();
  REQUIRE(fixture.sink->size() == 0);
  policies.Put({{1, 1}, fixture.policy});
  batcher.SetPaused(false);
  REQUIRE(fixture.sink->Take(1)[0].action == 1);
  fixture.replay.SetRoom(0);
  rows = MakeRows({{.environment = 1, .sequence = 1}}, fixture.sink);
  batcher.Add(rows);
  stage.Drain();
  REQUIRE(fixture.sink->Take(1)[0].sequence == 1);
}

}  // namespace
}  // namespace shoal::inference
