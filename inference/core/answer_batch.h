// SPDX-License-Identifier: Apache-2.0
// A batch of answers, grouped by the stream that they go to, and counted by status when they leave.
//
// The batch keeps the blocks of the answered rows alive until their answers are delivered. A
// message therefore gives its place in the stream's window back only after its last answer.
// Otherwise a stream that drains could end before that answer is sent. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "inference/core/inference_metrics.h"
#include "inference/core/row_block.h"

namespace shoal::inference {

class AnswerBatch {
 public:
  explicit AnswerBatch(InferenceMetrics& metrics) : metrics_(metrics) {}

  // Adds an answer for the sink of the row's block.
  void Add(const Row& row, RowAnswer&& answer);
  // Hands each sink its answers in the order of Add, in one call for each sink.
  void Deliver();

 private:
  struct Group {
    std::shared_ptr<ReplySink> sink;
    std::vector<RowAnswer> answers;
    std::vector<std::shared_ptr<const RowBlock>> blocks;
  };

  InferenceMetrics& metrics_;
  std::vector<Group> groups_;
  // The answers by status.
  std::array<std::size_t, kRowStatusCount> counts_{};
};

}  // namespace shoal::inference
