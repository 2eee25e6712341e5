// SPDX-License-Identifier: Apache-2.0
#include "replay/client/priority_outbox.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace shoal::replay::client {

absl::Status PriorityOutbox::Add(std::span<const PriorityUpdate> updates) {
  for (const PriorityUpdate& update : updates) {
    if (update.shard >= waiting_.size()) {
      return runtime::InvalidArgument("there is no shard " + std::to_string(update.shard));
    }
    if (!std::isfinite(update.priority) || update.priority < 0) {
      return runtime::InvalidArgument("priority " + std::to_string(update.priority) +
                                      " is not a finite number of at least 0");
    }
  }
  for (const PriorityUpdate& update : updates) {
    std::deque<proto::PriorityUpdate>& waiting = waiting_[update.shard];
    if (waiting.size() >= kMaxWaiting) {
      waiting.pop_front();
      ++dropped_total_;
    }
    proto::PriorityUpdate& out = waiting.emplace_back();
    *out.mutable_id() = update.id;
    out.set_priority(update.priority);
  }
  return absl::OkStatus();
}

bool PriorityOutbox::MoveTo(proto::SampleRequest& request, std::size_t shard) {
  std::deque<proto::PriorityUpdate>& waiting = waiting_[shard];
  const std::size_t count = std::min(waiting.size(), kMaxInMessage);
  for (std::size_t i = 0; i < count; ++i, waiting.pop_front()) {
    *request.add_priorities() = std::move(waiting.front());
  }
  return !waiting.empty();
}

void PriorityOutbox::Clear(std::size_t shard) {
  dropped_total_ += waiting_[shard].size();
  waiting_[shard].clear();
}

}  // namespace shoal::replay::client
