// SPDX-License-Identifier: Apache-2.0
#include "inference/core/environment_slot.h"

#include <catch2/catch.hpp>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

using testing::MakeRow;
using Kind = EnvironmentSlot::Decision::Kind;

// Takes the row and stores an answer to it.
EnvironmentSlot::Decision Step(EnvironmentSlot& slot, const testing::RowSpec& spec,
                               std::int64_t action = 0) {
  const Row row = MakeRow(spec);
  EnvironmentSlot::Decision decision = slot.Take(row);
  if (decision.kind == Kind::kProceed) {
    RowAnswer answer = AnswerTo(row, RowStatus::kOk);
    answer.action = action;
    answer.version = {2, 7};
    slot.Store(answer);
  }
  return decision;
}

TEST_CASE("A repeated row gets the answer it got") {
  EnvironmentSlot slot;
  REQUIRE(Step(slot, {.sequence = 0, .flags = kFirst}, 5).kind == Kind::kProceed);
  REQUIRE(Step(slot, {.sequence = 1}, 6).kind == Kind::kProceed);
  const auto repeat = Step(slot, {.sequence = 0, .flags = kFirst});
  REQUIRE(repeat.kind == Kind::kRepeat);
  REQUIRE(repeat.answer.action == 5);
  REQUIRE(repeat.answer.version == parameters::Version{2, 7});
  REQUIRE(Step(slot, {.sequence = 1}).answer.action == 6);
}

TEST_CASE("A repeated row gets the point of a box that it got") {
  EnvironmentSlot slot;
  const Row row = MakeRow({.sequence = 0, .flags = kFirst});
  REQUIRE(slot.Take(row).kind == Kind::kProceed);
  RowAnswer answer = AnswerTo(row, RowStatus::kOk);
  answer.box_action = {0.5F, -2.0F};
  slot.Store(answer);
  const auto repeat = slot.Take(row);
  REQUIRE(repeat.kind == Kind::kRepeat);
  REQUIRE(repeat.answer.box_action == std::vector<float>{0.5F, -2.0F});
}

TEST_CASE("A row older than the answers kept is invalid") {
  EnvironmentSlot slot;
  Step(slot, {.sequence = 0, .flags = kFirst});
  for (std::uint64_t i = 1; i <= EnvironmentSlot::kStoredAnswers; ++i) {
    Step(slot, {.environment = 9, .sequence = i});
  }
  const auto old = Step(slot, {.sequence = 0, .flags = kFirst});
  REQUIRE(old.kind == Kind::kInvalid);
  REQUIRE(old.answer.error.find("sequence 0") != std::string::npos);
}

TEST_CASE("An end row that comes after its successor is accepted and moves nothing") {
  EnvironmentSlot slot;
  Step(slot, {.sequence = 0, .flags = kFirst});
  const auto successor = Step(slot, {.sequence = 2, .flags = kFirst}, 7);
  REQUIRE(successor.kind == Kind::kProceed);
  REQUIRE(successor.lost);
  for (const std::uint8_t end : {kTerminated, kTruncated}) {
    const auto late = Step(slot, {.sequence = 1, .flags = end});
    REQUIRE(late.kind == Kind::kRepeat);
    REQUIRE(late.answer.status == RowStatus::kAccepted);
    REQUIRE(late.answer.sequence == 1);
    REQUIRE_FALSE(late.lost);
  }
  REQUIRE(Step(slot, {.sequence = 1}).kind == Kind::kInvalid);
  REQUIRE(Step(slot, {.sequence = 2, .flags = kFirst}).answer.action == 7);
  REQUIRE(Step(slot, {.sequence = 3}).kind == Kind::kProceed);
}

TEST_CASE("An older incarnation is fenced and a newer one starts anew") {
  EnvironmentSlot slot;
  Step(slot, {.incarnation = 5, .sequence = 0, .flags = kFirst});
  REQUIRE(Step(slot, {.incarnation = 4, .sequence = 1}).kind == Kind::kFenced);
  REQUIRE(Step(slot, {.incarnation = 6, .sequence = 0, .flags = kFirst}).kind == Kind::kProceed);
  REQUIRE(Step(slot, {.incarnation = 5, .sequence = 1}).kind == Kind::kFenced);
}

TEST_CASE("A newer incarnation drops the open unroll") {
  const PolicyShape shape = testing::PlainShape();
  EnvironmentSlot slot;
  slot.builder = std::make_unique<UnrollBuilder>(shape, UnrollCut{});
  Step(slot, {.incarnation = 1, .sequence = 0, .flags = kFirst});
  slot.builder->Append(MakeRow({.flags = kFirst}), {});
  REQUIRE(slot.builder->size() == 1);
  Step(slot, {.incarnation = 2, .sequence = 0, .flags = kFirst});
  REQUIRE(slot.builder->size() == 0);
}

TEST_CASE("An action is asked for only where an episode runs") {
  EnvironmentSlot slot;
  REQUIRE(Step(slot, {.sequence = 3}).kind == Kind::kInvalid);
  REQUIRE(Step(slot, {.sequence = 3, .flags = kTruncated}).kind == Kind::kIgnore);
  REQUIRE(Step(slot, {.sequence = 4, .flags = kFirst}).kind == Kind::kProceed);
  REQUIRE(Step(slot, {.sequence = 5, .flags = kTerminated}).kind == Kind::kProceed);
  REQUIRE(Step(slot, {.sequence = 6}).kind == Kind::kInvalid);
}

TEST_CASE("A gap is invalid, unless an episode begins after it") {
  EnvironmentSlot slot;
  Step(slot, {.sequence = 0, .flags = kFirst});
  const auto gap = Step(slot, {.sequence = 2});
  REQUIRE(gap.kind == Kind::kInvalid);
  REQUIRE(gap.answer.error.find("expected 1") != std::string::npos);
  REQUIRE(Step(slot, {.sequence = 1}).kind == Kind::kProceed);
  const auto first = Step(slot, {.sequence = 7, .flags = kFirst});
  REQUIRE(first.kind == Kind::kProceed);
  REQUIRE(first.lost);
}

TEST_CASE("A row that came before the answer to the last one is invalid") {
  EnvironmentSlot slot;
  const Row first = MakeRow({.sequence = 0, .flags = kFirst});
  REQUIRE(slot.Take(first).kind == Kind::kProceed);
  slot.BeginAnswer(first);
  REQUIRE(slot.Take(MakeRow({.sequence = 0, .flags = kFirst})).kind == Kind::kBeingAnswered);
  REQUIRE(slot.Take(MakeRow({.sequence = 1})).kind == Kind::kInvalid);
  slot.EndAnswer();
  REQUIRE(slot.Take(MakeRow({.sequence = 1})).kind == Kind::kProceed);
}

}  // namespace
}  // namespace shoal::inference
