// SPDX-License-Identifier: Apache-2.0
// Makes rows for tests of the core: a test sets some fields, and the others have sensible values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "inference/core/row_block.h"
#include "platform/runtime/mutex.h"

namespace shoal::inference::testing {

// Collects answers.
class RecordingSink final : public ReplySink {
 public:
  void Deliver(std::vector<RowAnswer> answers) override {
    const runtime::MutexLock lock(mutex_);
    delivered_ += answers.size();
    for (RowAnswer& answer : answers) answers_.push_back(std::move(answer));
    changed_.NotifyAll();
  }
  void Release() override {
    const runtime::MutexLock lock(mutex_);
    ++released_;
    delivered_at_release_ = delivered_;
    changed_.NotifyAll();
  }
  // Waits for `count` answers and takes them.
  std::vector<RowAnswer> Take(std::size_t count) {
    const runtime::MutexLock lock(mutex_);
    while (answers_.size() < count) changed_.Wait(mutex_);
    return std::exchange(answers_, {});
  }
  std::size_t size() const {
    const runtime::MutexLock lock(mutex_);
    return answers_.size();
  }
  int released() const {
    const runtime::MutexLock lock(mutex_);
    return released_;
  }
  // The number of answers that had come when the last message was released.
  std::size_t delivered_at_release() const {
    const runtime::MutexLock lock(mutex_);
    return delivered_at_release_;
  }

 private:
  mutable runtime::Mutex mutex_;
  runtime::CondVar changed_;
  std::vector<RowAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t delivered_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t delivered_at_release_ ABSL_GUARDED_BY(mutex_) = 0;
  int released_ ABSL_GUARDED_BY(mutex_) = 0;
};

struct RowSpec {
  std::uint64_t environment = 0;
  std::uint64_t incarnation = 1;
  std::uint64_t sequence = 0;
  std::uint8_t flags = 0;
  float reward = 0;
  float observation = 0;
  std::uint64_t episode = 0;
  bool evaluate = false;
  bool relabelled = false;
};

// O = 1, two actions, no contents.
inline PolicyShape PlainShape() { return {.action_count = 2, .observation_size = 1}; }

inline std::shared_ptr<const RowLayout> PlainLayout() {
  auto layout = std::make_shared<RowLayout>();
  layout->observations = {{"x", runtime::DType::kFloat32, {1}, 1, 4}};
  layout->observation_size = 1;
  layout->observation_bytes = 4;
  return layout;
}

inline std::shared_ptr<RowBlock> MakeBlock(const std::vector<RowSpec>& specs,
                                           std::shared_ptr<ReplySink> sink = nullptr) {
  static const std::shared_ptr<const RowLayout> layout = PlainLayout();
  auto block = std::make_shared<RowBlock>();
  block->rows = specs.size();
  block->layout = layout;
  block->sink = std::move(sink);
  for (const RowSpec& spec : specs) {
    block->environments.push_back(spec.environment);
    block->incarnations.push_back(spec.incarnation);
    block->sequences.push_back(spec.sequence);
    block->episodes.push_back(spec.episode);
    block->evaluate.push_back(spec.evaluate ? 1 : 0);
    block->relabelled.push_back(spec.relabelled ? 1 : 0);
    block->flags.push_back(spec.flags);
    block->rewards.push_back(spec.reward);
    block->observations.append(reinterpret_cast<const char*>(&spec.observation),
                               sizeof spec.observation);
  }
  return block;
}

inline std::vector<Row> MakeRows(const std::vector<RowSpec>& specs,
                                 std::shared_ptr<ReplySink> sink = nullptr) {
  const auto block = MakeBlock(specs, std::move(sink));
  std::vector<Row> rows;
  for (std::size_t i = 0; i < block->rows; ++i) rows.push_back({block, i});
  return rows;
}

inline Row MakeRow(const RowSpec& spec) { return MakeRows({spec}).front(); }

}  // namespace shoal::inference::testing
