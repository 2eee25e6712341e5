// SPDX-License-Identifier: Apache-2.0
// A random life of an environment: rows and outcomes as the engine gives them to unroll builders,
// with every column that an unroll may have.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference/core/unroll_builder.h"
#include "platform/runtime/random.h"
#include "tests/inference/core/row_maker.h"

namespace shoal::inference::testing {

// Two content fields, catalogs, marks, a core, and past requests.
inline PolicyShape RichShape() {
  PolicyShape shape;
  shape.candidates = true;
  shape.observation_size = 3;
  shape.content_count = 2;
  shape.candidate_marks = 3;
  shape.embedding_size = 2;
  shape.past_requests = true;
  shape.core_state_size = 2;
  return shape;
}

class RandomLife {
 public:
  // What a builder is told, in order.
  struct Event {
    bool is_row = false;
    // Of an outcome.
    float reward = 0;
    std::uint8_t flags = 0;
    // Of a row.
    Row row = {};
    UnrollBuilder::Step step = {};
    std::vector<float> core_state = {};
    std::vector<float> past_requests = {};
  };

  RandomLife(std::uint64_t environment, std::uint64_t seed)
      : environment_(environment), random_(seed) {
    auto layout = std::make_shared<RowLayout>();
    layout->observations = {{"x", runtime::DType::kFloat32, {1}, 1, 4},
                            {"count", runtime::DType::kInt64, {}, 1, 8},
                            {"pixel", runtime::DType::kUInt8, {}, 1, 1}};
    layout->observation_bytes = 13;
    layout->observation_size = 3;
    layout->content_fields = {"request", "answer"};
    layout->extras = {{"extra", runtime::DType::kInt32, {1}, 1, 4}};
    layout->extras_bytes = 4;
    layout_ = std::move(layout);
    for (int i = 0; i < 4; ++i) {
      auto catalog = std::make_shared<Candidates>();
      catalog->key = content::KeyOf("catalog " + std::to_string(i));
      if (i == 3) catalog->base = catalogs_[0];
      catalogs_.push_back(std::move(catalog));
    }
  }

  // Returns the events of the next row.
  std::vector<Event> Next() {
    const std::uint64_t draw = random_.Below(100);
    const auto reward = static_cast<float>(random_.Below(10));
    if (!running_) {
      running_ = true;
      ++episode_;
      return {RowEvent(kFirst)};
    }
    if (draw < 6) {
      running_ = false;
      ++sequence_;
      return {Outcome(reward, kTerminated)};
    }
    if (draw < 10) {
      running_ = false;
      constexpr auto kCut = static_cast<std::uint8_t>(kTruncated | kFinal);
      return {Outcome(reward, kCut), RowEvent(kCut)};
    }
    if (draw < 13) {
      // Rows were lost, and another episode begins.
      sequence_ += 3;
      ++episode_;
      return {Outcome(0, kTruncated), RowEvent(kFirst)};
    }
    return {Outcome(reward, 0), RowEvent(0)};
  }

  static std::optional<Unroll> Tell(UnrollBuilder& builder, const Event& event) {
    if (!event.is_row) return builder.SetOutcome(event.reward, event.flags);
    UnrollBuilder::Step step = event.step;
    step.core_state = event.core_state;
    step.past_requests = event.past_requests;
    return builder.Append(event.row, step);
  }

 private:
  static Event Outcome(float reward, std::uint8_t flags) {
    return {.reward = reward, .flags = flags};
  }

  Event RowEvent(std::uint8_t flags) {
    Event event{.is_row = true};
    const std::uint64_t sequence = sequence_++;
    event.row = MakeRow({.environment = environment_,
                         .sequence = sequence,
                         .flags = flags,
                         .observation = static_cast<float>(random_.Normal()),
                         .episode = episode_,
                         .relabelled = episode_ % 3 == 0});
    RowBlock& block = *event.row.block;
    block.layout = layout_;
    while (block.observations.size() < layout_->observation_bytes) {
      block.observations.push_back(static_cast<char>(random_.Below(3)));
    }
    for (std::size_t i = 0; i < layout_->extras_bytes; ++i) {
      block.extras.push_back(static_cast<std::byte>(random_.Below(256)));
    }
    for (int field = 0; field < 2; ++field) {
      const std::uint64_t text = random_.Below(4);
      block.content_keys.push_back(text == 0 ? content::ContentKey{}
                                             : content::KeyOf("text " + std::to_string(text)));
    }
    block.candidates = {catalogs_[random_.Below(catalogs_.size())]};
    std::vector<model::CandidateMark> marks;
    for (std::uint32_t candidate = 0; candidate < 3; ++candidate) {
      if (random_.Below(2) == 0) marks.push_back({candidate, 1});
    }
    block.marks.Add(marks);
    const bool acts = (flags & kFinal) == 0;
    event.step.action = acts ? static_cast<std::int64_t>(random_.Below(5)) : -1;
    event.step.log_probability = acts ? -static_cast<float>(random_.Uniform()) : 0;
    event.step.value = static_cast<float>(random_.Normal());
    event.step.forced = acts && random_.Below(20) == 0;
    event.step.version = {1, sequence / 5};
    event.core_state = {static_cast<float>(sequence), static_cast<float>(random_.Normal())};
    event.past_requests = {static_cast<float>(sequence), static_cast<float>(random_.Normal())};
    return event;
  }

  const std::uint64_t environment_;
  runtime::Random random_;
  std::shared_ptr<const RowLayout> layout_;
  std::vector<std::shared_ptr<const Candidates>> catalogs_;
  std::uint64_t sequence_ = 0;
  std::uint64_t episode_ = 0;
  bool running_ = false;
};

}  // namespace shoal::inference::testing
