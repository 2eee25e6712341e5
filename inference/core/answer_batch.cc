// SPDX-License-Identifier: Apache-2.0
#include "inference/core/answer_batch.h"

#include <algorithm>

namespace shoal::inference {

void AnswerBatch::Add(const Row& row, RowAnswer&& answer) {
  const std::shared_ptr<ReplySink>& sink = row.block->sink;
  ++counts_[static_cast<std::size_t>(answer.status)];
  if (groups_.empty() || groups_.back().sink != sink) {
    const auto found = std::find_if(groups_.begin(), groups_.end(),
                                    [&sink](const Group& group) { return group.sink == sink; });
    if (found == groups_.end()) {
      groups_.push_back({sink, {}, {}});
    } else {
      std::iter_swap(found, groups_.end() - 1);
    }
  }
  Group& group = groups_.back();
  group.answers.push_back(std::move(answer));
  if (group.blocks.empty() || group.blocks.back() != row.block) group.blocks.push_back(row.block);
}

void AnswerBatch::Deliver() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) metrics_.CountRows(static_cast<RowStatus>(i), counts_[i]);
  }
  counts_ = {};
  for (Group& group : groups_) group.sink->Deliver(std::move(group.answers));
  groups_.clear();
}

}  // namespace shoal::inference
