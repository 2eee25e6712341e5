// SPDX-License-Identifier: Apache-2.0
// Answers on their way out, gathered by the stream that they go to, counted by status.
//
// The batch holds the blocks of the rows that it answers until their answers are delivered, so that
// a message's place in its stream's window is given back after its last answer and never before: a
// stream that drains would else end with the answer unsent. Not thread-safe.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "inference/core/inference_metrics.h"
#include "inference/core/row_block.h"

namespace shoal::inference {

class AnswerBatch {
 public:
  explicit AnswerBatch(InferenceMetrics& metrics) : metrics_(metrics) {}

  // The answer goes to the sink of the row's block.
  void Add(const Row& row, RowAnswer&& answer);
  // Hands each sink its answers in the order of Add, in one call a sink.
  void Deliver();

 private:
  struct Group {
    std::shared_ptr<ReplySink> sink;
    std::vector<RowAnswer> answers;
    std::vector<std::shared_ptr<const RowBlock>> blocks;
  };

  InferenceMetrics& metrics_;
  std::vector<Group> groups_;
};

}  // namespace shoal::inference
