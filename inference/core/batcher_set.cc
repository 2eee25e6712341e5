// SPDX-License-Identifier: Apache-2.0
#include "inference/core/batcher_set.h"

#include <iterator>
#include <utility>

namespace shoal::inference {

BatcherSet::BatcherSet(std::size_t count, const BatcherOptions& options, runtime::Clock& clock) {
  for (std::size_t i = 0; i < count; ++i) {
    batchers_.push_back(std::make_unique<Batcher>(options, clock));
  }
}

void BatcherSet::Add(std::vector<Row>& rows) {
  if (size() == 1) {
    batchers_.front()->Add(rows);
    return;
  }
  std::vector<std::vector<Row>> parts(size());
  for (Row& row : rows) parts[IndexOf(row.environment())].push_back(std::move(row));
  rows.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    batchers_[i]->Add(parts[i]);
    rows.insert(rows.end(), std::make_move_iterator(parts[i].begin()),
                std::make_move_iterator(parts[i].end()));
  }
}

void BatcherSet::SetPaused(bool paused) {
  for (const auto& batcher : batchers_) batcher->SetPaused(paused);
}

void BatcherSet::Wake() {
  for (const auto& batcher : batchers_) batcher->Wake();
}

}  // namespace shoal::inference
