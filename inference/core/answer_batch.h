// SPDX-License-Identifier: Apache-2.0
// Answers on their way out, gathered by the stream that they go to, counted by status.
//
// Not thread-safe.
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

  void Add(const std::shared_ptr<ReplySink>& sink, RowAnswer&& answer);
  // Hands each sink its answers in the order of Add, in one call a sink.
  void Deliver();

 private:
  struct Group {
    std::shared_ptr<ReplySink> sink;
    std::vector<RowAnswer> answers;
  };

  InferenceMetrics& metrics_;
  std::vector<Group> groups_;
};

}  // namespace shoal::inference
