// SPDX-License-Identifier: Apache-2.0
#include "inference/core/unroll_builder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/inference/core/random_life.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRow;

const PolicyShape kShape = testing::PlainShape();

const runtime::Tensor& Column(const Unroll& unroll, const std::string& name) {
  for (const UnrollColumn& column : unroll.step_columns) {
    if (column.name == name) return column.values;
  }
  FAIL("no column " << name);
  std::abort();
}

template <typename T>
std::vector<T> Values(const Unroll& unroll, const std::string& name) {
  const auto values = Column(unroll, name).values<T>();
  return {values.begin(), values.end()};
}

// Row `sequence` observes 10 * sequence, takes action `sequence` and has the value 100 + sequence.
class Life {
 public:
  explicit Life(const UnrollCut& cut) : builder_(kShape, cut) {}

  // Adds one row. `reward` is that of the action before it.
  std::optional<Unroll> Go(std::uint8_t flags, float reward = 0) {
    const std::uint64_t sequence = sequence_++;
    std::optional<Unroll> done;
    if ((flags & kFirst) == 0) done = builder_.SetOutcome(reward, flags);
    if (Row::EndsOnly(flags)) return done;
    REQUIRE(!done);
    const bool final_row = (flags & kFinal) != 0;
    const auto number = static_cast<float>(sequence);
    return builder_.Append(
        MakeRow({.sequence = sequence, .flags = flags, .observation = 10 * number, .episode = 3}),
        {.action = final_row ? -1 : static_cast<std::int64_t>(sequence),
         .log_probability = final_row ? 0 : -number,
         .value = 100 + number,
         .version = {1, sequence}});
  }

  std::size_t open_rows() const { return builder_.size(); }

 private:
  UnrollBuilder builder_;
  std::uint64_t sequence_ = 0;
};

TEST_CASE("Cut by length: the row after T bootstraps, and begins the next unroll") {
  Life life({.max_rows = 2});
  REQUIRE(!life.Go(kFirst));
  REQUIRE(!life.Go(0, 1));
  const auto unroll = life.Go(0, 2);
  REQUIRE(unroll);
  REQUIRE(unroll->length == 2);
  REQUIRE(unroll->first_sequence == 0);
  REQUIRE(unroll->steps == 2);
  REQUIRE(unroll->oldest == parameters::Version{1, 0});
  REQUIRE(unroll->newest == parameters::Version{1, 1});
  REQUIRE(Column(*unroll, "observation/x").shape() == runtime::Shape{3, 1});
  REQUIRE(Values<float>(*unroll, "observation/x") == std::vector<float>{0, 10, 20});
  REQUIRE(Values<std::int64_t>(*unroll, "action") == std::vector<std::int64_t>{0, 1});
  REQUIRE(Values<float>(*unroll, "behaviour_log_probability") == std::vector<float>{0, -1});
  REQUIRE(Values<float>(*unroll, "value") == std::vector<float>{100, 101, 102});
  REQUIRE(Values<float>(*unroll, "reward") == std::vector<float>{1, 2});
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") == std::vector<std::uint8_t>{kFirst, 0, 0});
  REQUIRE(Values<std::int64_t>(*unroll, "policy_step") == std::vector<std::int64_t>{0, 1});
  REQUIRE(Values<std::int64_t>(*unroll, "episode_id") == std::vector<std::int64_t>{3, 3, 3});
  REQUIRE(life.open_rows() == 1);
  REQUIRE(!life.Go(0, 3));
  const auto next = life.Go(0, 4);
  REQUIRE(next->first_sequence == 2);
  REQUIRE(Values<float>(*next, "observation/x") == std::vector<float>{20, 30, 40});
}

TEST_CASE("A terminated end row is folded into the row before it") {
  Life life({.max_rows = 3});
  REQUIRE(!life.Go(kFirst));
  REQUIRE(!life.Go(kTerminated, 7));
  REQUIRE(!life.Go(kFirst));
  REQUIRE(!life.Go(0, 1));
  const auto unroll = life.Go(0, 2);
  REQUIRE(unroll);
  REQUIRE(Values<float>(*unroll, "observation/x") == std::vector<float>{0, 20, 30, 40});
  REQUIRE(Values<float>(*unroll, "reward") == std::vector<float>{7, 1, 2});
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") ==
          std::vector<std::uint8_t>{kFirst | kTerminated, kFirst, 0, 0});
  REQUIRE(unroll->steps == 3);
}

TEST_CASE("An unroll whose last row terminated is complete at once, and row T is zeros") {
  Life life({.max_rows = 2});
  life.Go(kFirst);
  REQUIRE(!life.Go(0, 1));
  const auto unroll = life.Go(kTerminated, 5);
  REQUIRE(unroll);
  REQUIRE(unroll->length == 2);
  REQUIRE(Values<float>(*unroll, "observation/x") == std::vector<float>{0, 10, 0});
  REQUIRE(Values<float>(*unroll, "value") == std::vector<float>{100, 101, 0});
  REQUIRE(Values<float>(*unroll, "reward") == std::vector<float>{1, 5});
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") ==
          std::vector<std::uint8_t>{kFirst, kTerminated, 0});
  REQUIRE(life.open_rows() == 0);
}

TEST_CASE("The final observation of a truncated episode is a row without action") {
  Life life({.max_rows = 3});
  life.Go(kFirst);
  REQUIRE(!life.Go(kTruncated | kFinal, 4));
  REQUIRE(!life.Go(kFirst));
  const auto unroll = life.Go(0, 6);
  REQUIRE(unroll);
  REQUIRE(Values<std::int64_t>(*unroll, "action") == std::vector<std::int64_t>{0, -1, 2});
  REQUIRE(Values<float>(*unroll, "behaviour_log_probability") == std::vector<float>{0, 0, -2});
  REQUIRE(Values<float>(*unroll, "reward") == std::vector<float>{4, 0, 6});
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") ==
          std::vector<std::uint8_t>{kFirst | kTruncated, kFinal, kFirst, 0});
  REQUIRE(unroll->steps == 2);
}

TEST_CASE("A final row that bootstraps does not begin the next unroll") {
  Life life({.max_rows = 1});
  life.Go(kFirst);
  const auto unroll = life.Go(kTruncated | kFinal, 4);
  REQUIRE(unroll);
  REQUIRE(unroll->length == 1);
  REQUIRE(Values<float>(*unroll, "value") == std::vector<float>{100, 101});
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") ==
          std::vector<std::uint8_t>{kFirst | kTruncated, kFinal});
  REQUIRE(life.open_rows() == 0);
}

TEST_CASE("Truncated without final observation: the row gets no weight") {
  Life life({.max_rows = 2});
  life.Go(kFirst);
  REQUIRE(!life.Go(kTruncated, 9));
  REQUIRE(!life.Go(kFirst));
  const auto unroll = life.Go(0, 1);
  REQUIRE(unroll);
  REQUIRE(Values<std::uint8_t>(*unroll, "flags") ==
          std::vector<std::uint8_t>{kFirst | kTruncated, kFirst, 0});
  REQUIRE(unroll->steps == 1);
}

TEST_CASE("Relabelled rows are marked and counted, and unrolls without any have no such column") {
  UnrollBuilder builder(kShape, {.max_rows = 3});
  const auto add = [&](std::uint64_t sequence, std::uint8_t flags, bool relabelled) {
    if ((flags & kFirst) == 0) builder.SetOutcome(1, flags);
    return builder.Append(MakeRow({.sequence = sequence, .flags = flags, .relabelled = relabelled}),
                          {.action = 1, .version = {1, 1}});
  };
  const auto has_column = [](const Unroll& unroll) {
    return std::any_of(unroll.step_columns.begin(), unroll.step_columns.end(),
                       [](const UnrollColumn& column) { return column.name == "relabelled"; });
  };
  add(0, kFirst, false);
  add(1, 0, false);
  builder.SetOutcome(1, kTerminated);
  add(3, kFirst, true);
  const auto mixed = add(4, 0, true);
  REQUIRE(mixed.has_value());
  REQUIRE(has_column(*mixed));
  REQUIRE(Values<bool>(*mixed, "relabelled") == std::vector<bool>{false, false, true});
  REQUIRE(mixed->steps == 3);
  REQUIRE(mixed->uncounted_steps == 1);
  builder.SetOutcome(1, kTerminated);
  add(6, kFirst, false);
  add(7, 0, false);
  REQUIRE(add(8, 0, false)->uncounted_steps == 1);
  add(9, 0, false);
  add(10, 0, false);
  const auto plain = add(11, 0, false);
  REQUIRE(plain->uncounted_steps == 0);
  REQUIRE_FALSE(has_column(*plain));
}

TEST_CASE("Cut by episode: an unroll is an episode") {
  Life life({.by_episode = true, .max_rows = 100});
  life.Go(kFirst);
  life.Go(0, 1);
  const auto terminated = life.Go(kTerminated, 2);
  REQUIRE(terminated);
  REQUIRE(terminated->length == 2);
  REQUIRE(Values<float>(*terminated, "reward") == std::vector<float>{1, 2});
  life.Go(kFirst);
  const auto truncated = life.Go(kTruncated | kFinal, 3);
  REQUIRE(truncated);
  REQUIRE(truncated->length == 1);
  REQUIRE(truncated->first_sequence == 3);
  REQUIRE(Values<float>(*truncated, "value") == std::vector<float>{103, 104});
  life.Go(kFirst);
  const auto lost = life.Go(kTruncated, 3);
  REQUIRE(lost);
  REQUIRE(lost->steps == 0);
}

TEST_CASE("An episode longer than the limit is cut there") {
  Life life({.by_episode = true, .max_rows = 2});
  life.Go(kFirst);
  life.Go(0, 1);
  REQUIRE(life.Go(0, 2));
  REQUIRE(life.open_rows() == 1);
}

TEST_CASE("The state of the core and of past requests is that before row 0") {
  PolicyShape shape = kShape;
  shape.core_state_size = 2;
  shape.past_requests = true;
  shape.embedding_size = 1;
  UnrollBuilder builder(shape, {.max_rows = 1});
  const std::vector<float> before = {1, 2};
  const std::vector<float> later = {3, 4};
  const std::vector<float> past = {5};
  builder.Append(MakeRow({.flags = kFirst}), {.core_state = before, .past_requests = past});
  builder.SetOutcome(0, 0);
  const auto unroll = builder.Append(MakeRow({.sequence = 1}), {.core_state = later});
  REQUIRE(unroll);
  REQUIRE(unroll->unroll_columns.size() == 2);
  REQUIRE(unroll->unroll_columns[0].name == "core/state");
  REQUIRE(unroll->unroll_columns[0].values.values<float>()[1] == 2);
  REQUIRE(unroll->unroll_columns[1].name == "past_requests");
  REQUIRE(unroll->unroll_columns[1].values.values<float>()[0] == 5);
}

TEST_CASE("The marks of candidates lie row after row, and a row of zeros has none") {
  PolicyShape shape = kShape;
  shape.candidates = true;
  shape.candidate_marks = 3;
  const auto catalog = std::make_shared<const Candidates>();
  const auto row = [&catalog](std::uint64_t sequence, std::uint8_t flags,
                              const std::vector<model::CandidateMark>& marks) {
    Row made = MakeRow({.sequence = sequence, .flags = flags});
    made.block->candidates = {catalog};
    made.block->marks.Add(marks);
    return made;
  };
  UnrollBuilder builder(shape, {.max_rows = 2});
  builder.Append(row(0, kFirst, {{7, 1}}), {});
  builder.SetOutcome(0, 0);
  builder.Append(row(1, 0, {{2, 5}, {9, 4}}), {});
  const auto unroll = builder.SetOutcome(0, kTerminated);
  REQUIRE(unroll);
  const auto column = [&unroll](const std::string& name) {
    for (const UnrollColumn& one : unroll->unroll_columns) {
      if (one.name != name) continue;
      const auto values = one.values.values<std::int32_t>();
      return std::vector<std::int32_t>(values.begin(), values.end());
    }
    return std::vector<std::int32_t>{-1};
  };
  REQUIRE(column("marks/count") == std::vector<std::int32_t>{1, 2, 0});
  REQUIRE(column("marks/candidate") == std::vector<std::int32_t>{7, 2, 9});
  REQUIRE(column("marks/bits") == std::vector<std::int32_t>{1, 5, 4});
}

TEST_CASE("Observations keep their dtypes, and an unroll of another policy than 0 names it") {
  PolicyShape shape = kShape;
  shape.policy_id = 3;
  auto layout = std::make_shared<RowLayout>();
  layout->observations = {{"pixels", runtime::DType::kUInt8, {2}, 2, 2},
                          {"count", runtime::DType::kInt64, {}, 1, 8}};
  layout->observation_size = 3;
  layout->observation_bytes = 10;
  const auto row = [&layout](std::uint64_t sequence, std::uint8_t flags) {
    Row made = MakeRow({.sequence = sequence, .flags = flags});
    made.block->layout = layout;
    made.block->observations.assign(10, '\0');
    made.block->observations[1] = static_cast<char>(200);
    made.block->observations[2] = static_cast<char>(sequence + 1);
    return made;
  };
  UnrollBuilder builder(shape, {.max_rows = 1});
  builder.Append(row(0, kFirst), {});
  builder.SetOutcome(0, 0);
  const auto unroll = builder.Append(row(1, 0), {});
  REQUIRE(unroll);
  const runtime::Tensor& pixels = Column(*unroll, "observation/pixels");
  REQUIRE(pixels.shape() == runtime::Shape{2, 2});
  REQUIRE(pixels.values<std::uint8_t>()[3] == 200);
  const runtime::Tensor& count = Column(*unroll, "observation/count");
  REQUIRE(count.shape() == runtime::Shape{2});
  REQUIRE(count.values<std::int64_t>()[1] == 2);
  REQUIRE(unroll->unroll_columns.back().name == "policy_id");
  REQUIRE(unroll->unroll_columns.back().values.values<std::int64_t>()[0] == 3);
}

TEST_CASE("With an overlap the next unroll begins so many rows before the bootstrap row") {
  Life life({.max_rows = 3, .overlap = 2});
  life.Go(kFirst);
  life.Go(0, 1);
  life.Go(0, 2);
  const auto first = life.Go(0, 3);
  REQUIRE(first);
  REQUIRE(first->shared_rows == 0);
  REQUIRE(life.open_rows() == 3);
  const auto second = life.Go(0, 4);
  REQUIRE(second);
  REQUIRE(second->first_sequence == 1);
  REQUIRE(second->shared_rows == 3);
  // Only one of its rows is a new step.
  REQUIRE(second->steps == 3);
  REQUIRE(second->uncounted_steps == 2);
  REQUIRE(first->uncounted_steps == 0);
  REQUIRE(second->shared_with == 0);
  REQUIRE(Values<float>(*second, "value") == std::vector<float>{101, 102, 103, 104});
  REQUIRE(Values<float>(*second, "reward") == std::vector<float>{2, 3, 4});
  REQUIRE(second->unroll_columns.at(0).name == "overlap");
  REQUIRE(second->unroll_columns.at(0).values.values<std::int64_t>()[0] == 2);
  // The episode ends within it, and the next one begins without rows of this one.
  const auto third = life.Go(kTerminated, 5);
  REQUIRE(third);
  REQUIRE(third->first_sequence == 2);
  REQUIRE(life.open_rows() == 0);
  life.Go(kFirst);
  life.Go(0, 6);
  life.Go(0, 7);
  const auto fourth = life.Go(0, 8);
  REQUIRE(fourth);
  REQUIRE(fourth->first_sequence == 6);
  REQUIRE(fourth->shared_rows == 0);
  REQUIRE(fourth->unroll_columns.empty());
}

void RequireEqual(const std::vector<UnrollColumn>& a, const std::vector<UnrollColumn>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].name);
    REQUIRE(a[i].name == b[i].name);
    REQUIRE(a[i].values.shape() == b[i].values.shape());
    REQUIRE(std::ranges::equal(a[i].values.bytes(), b[i].values.bytes()));
  }
}

// The oracle is a builder without overlap that sees the environment from the unroll's first row on.
TEST_CASE("An unroll that overlaps is the one that a builder makes that begins at its first row") {
  const PolicyShape shape = testing::RichShape();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    runtime::Random random(seed);
    UnrollCut cut{.by_episode = random.Below(2) == 0, .max_rows = 1 + random.Below(8)};
    UnrollCut without = cut;
    cut.overlap = random.Below(cut.max_rows);
    UnrollBuilder builder(shape, cut);
    testing::RandomLife life(7, seed);
    std::vector<testing::RandomLife::Event> past;
    std::uint64_t earliest_next = 0;
    std::size_t unrolls = 0;
    for (int step = 0; step < 400; ++step) {
      for (testing::RandomLife::Event& event : life.Next()) {
        std::optional<Unroll> unroll = testing::RandomLife::Tell(builder, event);
        past.push_back(std::move(event));
        if (!unroll) continue;
        ++unrolls;
        REQUIRE(unroll->first_sequence >= earliest_next);
        UnrollBuilder oracle(shape, without);
        std::optional<Unroll> expected;
        std::vector<std::uint64_t> sequences;
        std::uint64_t episode_begin = 0;
        for (const auto& earlier : past) {
          if (earlier.is_row && (earlier.row.flags() & kFirst) != 0) {
            episode_begin = earlier.row.sequence();
          }
          const bool before = sequences.empty() &&
                              !(earlier.is_row && earlier.row.sequence() == unroll->first_sequence);
          if (before) continue;
          if (earlier.is_row) sequences.push_back(earlier.row.sequence());
          REQUIRE(!expected);
          expected = testing::RandomLife::Tell(oracle, earlier);
        }
        REQUIRE(expected);
        REQUIRE(unroll->length == expected->length);
        REQUIRE(unroll->steps == expected->steps);
        REQUIRE(unroll->oldest == expected->oldest);
        REQUIRE(unroll->newest == expected->newest);
        REQUIRE(unroll->catalog_keys == expected->catalog_keys);
        REQUIRE(unroll->content_keys == expected->content_keys);
        RequireEqual(unroll->step_columns, expected->step_columns);
        std::erase_if(unroll->unroll_columns,
                      [](const UnrollColumn& column) { return column.name == "overlap"; });
        RequireEqual(unroll->unroll_columns, expected->unroll_columns);
        // Where the next one may begin: the overlap before the bootstrap row, in its episode.
        const bool ended = !past.back().is_row || (past.back().row.flags() & kFinal) != 0;
        const std::uint64_t by_rows =
            sequences[sequences.size() - 1 - std::min(sequences.size() - 1, cut.overlap)];
        earliest_next = ended ? sequences.back() + 1 : std::max(by_rows, episode_begin);
        REQUIRE(builder.size() ==
                (ended ? 0
                       : static_cast<std::size_t>(std::ranges::count_if(
                             sequences, [&](std::uint64_t it) { return it >= earliest_next; }))));
      }
    }
    REQUIRE(unrolls > 10);
  }
}

TEST_CASE(
    "Points of a box are a column of floats, with zeros in the FINAL row, also with overlap") {
  PolicyShape shape = kShape;
  shape.box = true;
  UnrollBuilder builder(shape, {.max_rows = 2, .overlap = 1});
  const std::vector<std::vector<float>> points = {{.1F, .2F}, {.3F, .4F}, {.5F, .6F}};
  builder.Append(MakeRow({.flags = kFirst}), {.box_action = points[0]});
  builder.SetOutcome(0, 0);
  builder.Append(MakeRow({.sequence = 1}), {.box_action = points[1]});
  builder.SetOutcome(0, 0);
  const auto first = builder.Append(MakeRow({.sequence = 2}), {.box_action = points[2]});
  REQUIRE(first);
  REQUIRE(Column(*first, "action").shape() == runtime::Shape{2, 2});
  REQUIRE(Values<float>(*first, "action") == std::vector<float>{.1F, .2F, .3F, .4F});
  builder.SetOutcome(0, kTruncated | kFinal);
  const auto second =
      builder.Append(MakeRow({.sequence = 3, .flags = kTruncated | kFinal}), {.box_action = {}});
  REQUIRE(second);
  REQUIRE(Values<float>(*second, "action") == std::vector<float>{.3F, .4F, .5F, .6F});
}

}  // namespace
}  // namespace shoal::inference
